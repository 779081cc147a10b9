// RenewedScale: symmetric codes whose scale holds for many tokens and is renewed as they come.
// SealedScale: the same codes with one exact scale for a group of tokens that wait for each other.
#pragma once

#include <cstdint>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

// What happens to a token outside the range once a block has no room for a further scale.
enum class RenewOverflow : std::uint8_t {
  kClip,    // its codes are clamped and counted (EncodeCounters::clipped)
  kRefuse,  // the append fails with kRange and changes nothing
};

template <RenewOverflow kOverflow>
inline constexpr auto kOverflowText = Text("clip");
template <>
inline constexpr auto kOverflowText<RenewOverflow::kRefuse> = Text("refuse");

// kTokens tokens of a head are a block, and a block has at most kEntries steps, binary16 each, with
// the slot from which each holds. With range(step) = (top + 1/2) * step, top = 2^(bits-1) - 1, and
// m = the largest magnitude of a token (of what stays with the dense codes):
//   slot 0      step = the smallest half not below max(m, p) / top, where p is the largest
//               magnitude that the block before stores as dense codes (0: there is none)
//   a token with m > range(step in force)
//               opens an entry, if there is room: the smallest half not below (5/4 * m) / top, from
//               its slot on. The quarter is headroom: without it independent tokens would open
//               about ln(128) = 5 entries per block, one for every new maximum
//   code        round half to even(x / step), clamped to +-top; kept as code + 2^(bits-1)
//   value       code * step. While everything so far is zero there is no entry, and the step is 0
// Error <= step / 2 but for what is clipped. No byte changes after it is written: bytes of a token
// are a function of the tokens before it. A large token widens the step of those that follow in its
// block and in the next one (whose first step covers what this block stores): split outliers off.
template <std::uint32_t kBitCount = 8, std::uint32_t kTokens = 128,
          RenewOverflow kOverflow = RenewOverflow::kClip>
struct RenewedScale {
  static_assert(kBitCount >= 2 && kBitCount <= 8, "kvpleat: RenewedScale takes 2 to 8 bits");
  static_assert(kTokens >= 64 && kTokens <= 256 && kTokens % 64 == 0,
                "kvpleat: RenewedScale renews every 64, 128, 192 or 256 tokens");
  using Side = Half;
  static constexpr std::uint32_t kBits = kBitCount;
  static constexpr std::uint32_t kGroup = kTokens;
  static constexpr Axis kAxis = Axis::kTokens;
  static constexpr bool kExactMerge = true;
  static constexpr bool kSealed = false;
  static constexpr bool kRefuses = kOverflow == RenewOverflow::kRefuse;
  static constexpr std::uint32_t kEntries = 8;
  static constexpr std::int32_t kTop = (1 << (kBits - 1)) - 1;
  static constexpr std::uint32_t kZero = 1u << (kBits - 1);  // the code of 0
  // Largest magnitude it takes: a step with headroom must be representable.
  static constexpr float kLargest = kLargestHalf * static_cast<float>(kTop) * 0.75f;
  static constexpr auto kId = Text("quant=renewed;bits=") + number_text<kBits>() +
                              ";tokens=" + number_text<kTokens>() +
                              ";entries=8;overflow=" + kOverflowText<kOverflow> + ";side=f16";

  struct Stat {
    float largest = 0.0f;  // of the magnitudes
  };
  struct Scale {
    Side step{};
  };

  KVPLEAT_HD constexpr void observe(float x, Stat& stat) const {
    stat.largest = upper_of(stat.largest, magnitude(x));
  }
  KVPLEAT_HD static constexpr Stat merge(const Stat& a, const Stat& b) {
    return {upper_of(a.largest, b.largest)};
  }
  // The step for the first token of a block, or for a sealed block.
  KVPLEAT_HD constexpr Scale scale(const Stat& stat) const {
    return {at_least<Side>(stat.largest / static_cast<float>(kTop))};
  }
  // The step of a further entry.
  KVPLEAT_HD constexpr Scale opened(const Stat& stat) const {
    return {at_least<Side>(product(1.25f, stat.largest) / static_cast<float>(kTop))};
  }
  // Exact: at most 9 bits times at most 11.
  KVPLEAT_HD static constexpr float range(const Scale& scale) {
    return to_float(scale.step) * (static_cast<float>(kTop) + 0.5f);
  }
  KVPLEAT_HD constexpr std::uint32_t encode(float x, const Scale& scale) const {
    const float step = to_float(scale.step);
    const std::int32_t code = step > 0.0f ? round_to_signed(x / step, kTop) : 0;
    return static_cast<std::uint32_t>(code + static_cast<std::int32_t>(kZero));
  }
  KVPLEAT_HD constexpr float decode(std::uint32_t code, const Scale& scale) const {
    const auto steps =
        static_cast<float>(static_cast<std::int32_t>(code) - static_cast<std::int32_t>(kZero));
    return steps * to_float(scale.step);
  }
};

// One step for all kTokens tokens of a head, the smallest half not below their largest magnitude /
// top; the tokens wait as open rows until the group is complete. What renewing saves is this wait.
template <std::uint32_t kBitCount = 8, std::uint32_t kTokens = 128>
struct SealedScale : RenewedScale<kBitCount, kTokens> {
  static constexpr bool kSealed = true;
  static constexpr std::uint32_t kEntries = 1;
  static constexpr auto kId = Text("quant=sealed;bits=") + number_text<kBitCount>() +
                              ";tokens=" + number_text<kTokens>() + ";side=f16";
};

}  // namespace kvpleat::inline KVPLEAT_ISA
