// ZeroPointQuant: value = (code - zero point) * step with an integer zero point: zero is a code.
#pragma once

#include <cstdint>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/quant/side_text.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Stored per group: Side step, Side zero (an integer 0 .. 2^bits - 1, exact in every Side).
//   the range [low, high] of the group is extended to include 0
//   step = the smallest Side not below (high - low) / (2^bits - 1)
//   zero = round half to even(-low / step)
//   code = round half to even(x / step) + zero, clamped to 0 .. 2^bits - 1
//   value = (code - zero) * step
// Zero reads back as zero. Error <= step / 2: the rounded zero point shifts the codes by at most
// half a step, so the clamp is reached only by what lies half a step beyond it. All zeros: step 0,
// zero 0, code 0. A range on one side of zero, far from it, wastes codes: use AffineQuant.
template <std::uint32_t kBitCount, std::uint32_t kGroupSize = kWholeHead,
          Axis kGroupAxis = Axis::kChannels, class SideType = Half>
struct ZeroPointQuant {
  static_assert(kBitCount >= 2 && kBitCount <= 8, "kvpleat: ZeroPointQuant takes 2 to 8 bits");
  static_assert(kIsSignedSide<SideType>,
                "kvpleat: ZeroPointQuant stores its side data as Half, BFloat16 or float");
  using Side = SideType;
  static constexpr std::uint32_t kBits = kBitCount;
  static constexpr std::uint32_t kGroup = kGroupSize;
  static constexpr Axis kAxis = kGroupAxis;
  static constexpr bool kExactMerge = true;
  static constexpr std::uint32_t kTop = (1u << kBits) - 1u;
  // Largest magnitude it takes: the range is at most twice that, the step must be representable.
  static constexpr float kLargest =
      sizeof(Side) == 4
          ? 0x1p126f
          : lower_of(SideTraits<Side>::kLargest, 0x1p118f) * static_cast<float>(kTop / 2u);
  static constexpr auto kId = Text("quant=zero_point;bits=") + number_text<kBits>() +
                              ";group=" + number_text<kGroup>() + ";axis=" + kAxisText<kAxis> +
                              ";side=" + kSideText<Side>;

  struct Stat {
    float lowest = 0.0f;   // never above zero
    float highest = 0.0f;  // never below zero
  };
  struct Scale {
    Side step{};
    Side zero{};
  };

  KVPLEAT_HD constexpr void observe(float x, Stat& stat) const {
    stat.lowest = lower_of(stat.lowest, x);
    stat.highest = upper_of(stat.highest, x);
  }
  KVPLEAT_HD static constexpr Stat merge(const Stat& a, const Stat& b) {
    return {lower_of(a.lowest, b.lowest), upper_of(a.highest, b.highest)};
  }
  KVPLEAT_HD constexpr Scale scale(const Stat& stat) const {
    const Side step = at_least<Side>((stat.highest - stat.lowest) / static_cast<float>(kTop));
    if (!(to_float(step) > 0.0f)) return {};
    const std::uint32_t zero = round_to_code(-stat.lowest / to_float(step), kTop);
    return {step, nearest<Side>(static_cast<float>(zero))};
  }
  KVPLEAT_HD constexpr std::uint32_t encode(float x, const Scale& scale) const {
    const float step = to_float(scale.step);
    if (!(step > 0.0f)) return 0;
    const auto zero = static_cast<std::int32_t>(to_float(scale.zero));
    const std::int32_t code = round_to_signed(x / step, static_cast<std::int32_t>(kTop)) + zero;
    return static_cast<std::uint32_t>(upper_of(lower_of(code, static_cast<std::int32_t>(kTop)), 0));
  }
  KVPLEAT_HD constexpr float decode(std::uint32_t code, const Scale& scale) const {
    const float steps = static_cast<float>(code) - to_float(scale.zero);
    // At most 8 bits times at most 11 are exact in float.
    if constexpr (sizeof(Side) == 2) return steps * to_float(scale.step);
    return product(steps, to_float(scale.step));
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
