// MidRiseQuant: value = (code + 1/2) * step, codes on both sides of zero and none on it.
#pragma once

#include <cstdint>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/quant/side_text.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Stored per group: Side step.
//   step = the smallest Side not below max|x| / 2^(bits-1); 0 where half of that is above max|x|
//          (max|x| below 2^-25 with half sides), so that reading is never worse than zeros
//   code = floor(x / step), clamped to -2^(bits-1) .. 2^(bits-1) - 1; kept as code + 2^(bits-1)
//   value = (code + 1/2) * step
// All 2^bits levels are used, where symmetric codes waste one: at 2 bits the levels are -1.5, -0.5,
// 0.5 and 1.5 steps. Zero is not among them; a group of step 0 reads as zeros. Error <= step / 2
// (max|x| if the step is 0), on Gaussian data and 64 values per scale 0.386 of the root mean square
// at 2 bits (min/max codes: 0.450; codes -1 .. 1: 0.720).
template <std::uint32_t kBitCount, std::uint32_t kGroupSize = kWholeHead,
          Axis kGroupAxis = Axis::kChannels, class SideType = Half>
struct MidRiseQuant {
  static_assert(kBitCount >= 1 && kBitCount <= 8, "kvpleat: MidRiseQuant takes 1 to 8 bits");
  static_assert(kIsSignedSide<SideType>,
                "kvpleat: MidRiseQuant stores its side data as Half, BFloat16 or float");
  using Side = SideType;
  static constexpr std::uint32_t kBits = kBitCount;
  static constexpr std::uint32_t kGroup = kGroupSize;
  static constexpr Axis kAxis = kGroupAxis;
  static constexpr bool kExactMerge = true;
  static constexpr std::int32_t kHalfRange = 1 << (kBits - 1);
  // Largest magnitude it takes: the step must be representable.
  static constexpr float kLargest =
      sizeof(Side) == 4
          ? 0x1p126f
          : lower_of(SideTraits<Side>::kLargest, 0x1p119f) * static_cast<float>(kHalfRange);
  static constexpr auto kId = Text("quant=mid_rise;bits=") + number_text<kBits>() +
                              ";group=" + number_text<kGroup>() + ";axis=" + kAxisText<kAxis> +
                              ";side=" + kSideText<Side>;

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
  KVPLEAT_HD constexpr Scale scale(const Stat& stat) const {
    const Side step = at_least<Side>(stat.largest / static_cast<float>(kHalfRange));
    return {to_float(step) * 0.5f > stat.largest ? Side{} : step};
  }
  KVPLEAT_HD constexpr std::uint32_t encode(float x, const Scale& scale) const {
    const float step = to_float(scale.step);
    if (!(step > 0.0f)) return static_cast<std::uint32_t>(kHalfRange);
    const float top = static_cast<float>(kHalfRange);
    const float steps = x / step;
    const float within = steps < -top ? -top : steps > top - 1.0f ? top - 1.0f : steps;
    // The cast rounds towards zero; one less is the floor of what lies below zero.
    auto code = static_cast<std::int32_t>(within);
    if (static_cast<float>(code) > within) --code;
    return static_cast<std::uint32_t>(code + kHalfRange);
  }
  KVPLEAT_HD constexpr float decode(std::uint32_t code, const Scale& scale) const {
    const auto twice = static_cast<float>(2 * (static_cast<std::int32_t>(code) - kHalfRange) + 1);
    // At most 9 bits times at most 11 are exact in float.
    const float middle = twice * 0.5f;
    if constexpr (sizeof(Side) == 2) return middle * to_float(scale.step);
    return product(middle, to_float(scale.step));
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
