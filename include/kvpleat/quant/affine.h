// AffineQuant: value = code * step + low, codes 0 .. 2^bits - 1 over the group's range (asymmetric,
// "min/max").
#pragma once

#include <cstdint>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/quant/side_text.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Stored per group: Side step, Side low.
//   low  = the largest Side not above the group's minimum
//   step = the smallest Side not below (maximum - low) / (2^bits - 1)
//   code = round half to even((x - low) / step), clamped to 0 .. 2^bits - 1; step, low as stored
// A group of equal values: low = the nearest Side, step = 0, all codes 0. Error <= step / 2 plus
// one float rounding; step exceeds the ideal one by at most the rounding of Side. With half or
// bfloat16 sides decode is exact before its one rounding, so every target gives equal bits; float
// sides round the product first; fused kernels promise 1 ulp of it.
template <std::uint32_t kBitCount, std::uint32_t kGroupSize = kWholeHead,
          Axis kGroupAxis = Axis::kChannels, class SideType = Half>
struct AffineQuant {
  static_assert(kBitCount >= 1 && kBitCount <= 8, "kvpleat: AffineQuant takes 1 to 8 bits");
  static_assert(kIsSignedSide<SideType>,
                "kvpleat: AffineQuant stores its side data as Half, BFloat16 or float");
  using Side = SideType;
  static constexpr std::uint32_t kBits = kBitCount;
  static constexpr std::uint32_t kGroup = kGroupSize;
  static constexpr Axis kAxis = kGroupAxis;
  static constexpr bool kExactMerge = true;
  static constexpr bool kLinear = true;  // value = code * step + offset: tiles have fused kernels
  static constexpr std::uint32_t kTop = (1u << kBits) - 1u;
  // Largest magnitude it takes: low, step and the range itself must be representable.
  static constexpr float kLargest =
      lower_of(SideTraits<Side>::kLargest, 0x1p126f) * (kTop == 1 ? 0.5f : 1.0f);
  static constexpr auto kId = Text("quant=affine;bits=") + number_text<kBits>() +
                              ";group=" + number_text<kGroup>() + ";axis=" + kAxisText<kAxis> +
                              ";side=" + kSideText<Side>;

  struct Stat {
    float lowest = kInfinity;
    float highest = -kInfinity;
  };
  struct Scale {
    Side step{};
    Side low{};
  };

  KVPLEAT_HD constexpr void observe(float x, Stat& stat) const {
    stat.lowest = lower_of(stat.lowest, x);
    stat.highest = upper_of(stat.highest, x);
  }
  KVPLEAT_HD static constexpr Stat merge(const Stat& a, const Stat& b) {
    return {lower_of(a.lowest, b.lowest), upper_of(a.highest, b.highest)};
  }
  KVPLEAT_HD constexpr Scale scale(const Stat& stat) const {
    if (!(stat.lowest <= stat.highest)) return {};  // empty group
    if (stat.lowest == stat.highest) return {Side{}, nearest<Side>(stat.lowest)};
    const Side low = at_most<Side>(stat.lowest);
    return {at_least<Side>((stat.highest - to_float(low)) / static_cast<float>(kTop)), low};
  }
  KVPLEAT_HD constexpr std::uint32_t encode(float x, const Scale& scale) const {
    const float step = to_float(scale.step);
    return step > 0.0f ? round_to_code((x - to_float(scale.low)) / step, kTop) : 0u;
  }
  KVPLEAT_HD constexpr float decode(std::uint32_t code, const Scale& scale) const {
    const float step = to_float(scale.step);
    const float low = to_float(scale.low);
    // 8 bits times at most 11 are exact in float: fused or not, the sum is the same.
    if constexpr (sizeof(Side) == 2) return static_cast<float>(code) * step + low;
    return product(static_cast<float>(code), step) + low;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
