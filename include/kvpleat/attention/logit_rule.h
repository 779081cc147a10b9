// Logit rules: what happens to a scaled score before the softmax.
#pragma once

#include <cmath>
#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Whether a rule says that logit(score) is score (kPlain): it is not called then.
template <class Rule>
constexpr bool plain_rule() {
  if constexpr (requires { Rule::kPlain; }) {
    return Rule::kPlain;
  } else {
    return false;
  }
}

// logit = scale * q . k
struct PlainLogit {
  static constexpr bool kSink = false;
  static constexpr bool kPlain = true;
  [[nodiscard]] float logit(float score) const noexcept { return score; }
  [[nodiscard]] float sink(std::uint32_t) const noexcept { return 0.0f; }
};

// logit = cap * tanh(score / cap), as Gemma 2 does.
struct SoftCap {
  static constexpr bool kSink = false;
  float cap = 50.0f;
  [[nodiscard]] float logit(float score) const noexcept { return cap * std::tanh(score / cap); }
  [[nodiscard]] float sink(std::uint32_t) const noexcept { return 0.0f; }
};

// One learned logit per query head that takes its share of the softmax and adds no value.
//   logits: [query heads of the group], the caller's.
struct LearnedSink {
  static constexpr bool kSink = true;
  static constexpr bool kPlain = true;
  const float* logits = nullptr;
  [[nodiscard]] float logit(float score) const noexcept { return score; }
  [[nodiscard]] float sink(std::uint32_t query_head) const noexcept { return logits[query_head]; }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
