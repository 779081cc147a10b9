// RuleAllocator: a fixed rule on a token's features, the baseline of learned ones.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/tokens.h"

namespace kvpleat::inline KVPLEAT_ISA {

// lanes[0] .. lanes[3]: from few bits to many. The level of a token starts at `base`:
//   position < first_tokens                     level 3 and nothing else is asked: attention sinks
//   importance >= important                     + 1
//   entropy >= uncertain (nats) or
//     confidence in (0, unsure]                 + 1: the model was undecided here
//   rarity >= rare (nats)                       + 1
//   the level is at most 3
// Fields that a caller does not know keep their defaults (0), which add nothing. The defaults of
// the thresholds are round numbers and not fitted: importance 0.01 is one percent of the attention
// mass, entropy 2 nats about seven equally likely tokens, rarity 9 nats one token in 8000.
// kWaits: whether the features are known only after the forward pass, so that tokens wait in the
// tail (append with kUndecided) until commit.
template <bool kWaits = true>
struct RuleAllocator {
  static constexpr bool kDeferred = kWaits;
  std::uint8_t lanes[4] = {0, 1, 2, 3};
  std::uint32_t base = 0;
  std::uint32_t first_tokens = 4;
  float important = 0.01f;
  float uncertain = 2.0f;
  float unsure = 0.2f;
  float rare = 9.0f;

  [[nodiscard]] std::uint32_t choose(const TokenInfo& info) const noexcept {
    if (info.position < first_tokens) return lanes[3];
    std::uint32_t level = base;
    level += info.importance >= important ? 1u : 0u;
    const bool undecided =
        info.entropy >= uncertain || (info.confidence > 0.0f && info.confidence <= unsure);
    level += undecided ? 1u : 0u;
    level += info.rarity >= rare ? 1u : 0u;
    return lanes[level < 3 ? level : 3];
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
