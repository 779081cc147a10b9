// SymmetricQuant: value = code * step, signed codes around zero.
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
//   step = the smallest Side not below max|x| / (2^(bits-1) - 1)
//   code = round half to even(x / step), clamped to +-(2^(bits-1) - 1); kept as code + 2^(bits-1)
// A group whose members all have the same magnitude m: step = the nearest Side to m, codes +-1, so
// m itself is kept (9.0 stays 9.0 at every width). All zeros: step 0, code 0. Error <= step / 2.
template <std::uint32_t kBitCount, std::uint32_t kGroupSize = kWholeHead,
          Axis kGroupAxis = Axis::kChannels, class SideType = Half>
struct SymmetricQuant {
  static_assert(kBitCount >= 2 && kBitCount <= 8, "kvpleat: SymmetricQuant takes 2 to 8 bits");
  static_assert(kIsSignedSide<SideType>,
                "kvpleat: SymmetricQuant stores its side data as Half, BFloat16 or float");
  using Side = SideType;
  static constexpr std::uint32_t kBits = kBitCount;
  static constexpr std::uint32_t kGroup = kGroupSize;
  static constexpr Axis kAxis = kGroupAxis;
  static constexpr bool kExactMerge = true;
  static constexpr bool kLinear = true;  // value = code * step + offset: tiles have fused kernels
  static constexpr std::int32_t kTop = (1 << (kBits - 1)) - 1;
  static constexpr std::uint32_t kZero = 1u << (kBits - 1);  // the code of 0
  // Largest magnitude it takes: the step must be representable.
  static constexpr float kLargest =
      sizeof(Side) == 4 ? 0x1p126f
                        : lower_of(SideTraits<Side>::kLargest, 0x1p119f) * static_cast<float>(kTop);
  static constexpr auto kId = Text("quant=symmetric;bits=") + number_text<kBits>() +
                              ";group=" + number_text<kGroup>() + ";axis=" + kAxisText<kAxis> +
                              ";side=" + kSideText<Side>;

  struct Stat {
    float smallest = kInfinity;  // of the magnitudes
    float largest = 0.0f;
  };
  struct Scale {
    Side step{};
  };

  KVPLEAT_HD constexpr void observe(float x, Stat& stat) const {
    stat.smallest = lower_of(stat.smallest, magnitude(x));
    stat.largest = upper_of(stat.largest, magnitude(x));
  }
  KVPLEAT_HD static constexpr Stat merge(const Stat& a, const Stat& b) {
    return {lower_of(a.smallest, b.smallest), upper_of(a.largest, b.largest)};
  }
  KVPLEAT_HD constexpr Scale scale(const Stat& stat) const {
    if (stat.smallest == stat.largest && stat.largest <= SideTraits<Side>::kLargest) {
      return {nearest<Side>(stat.largest)};
    }
    return {at_least<Side>(stat.largest / static_cast<float>(kTop))};
  }
  KVPLEAT_HD constexpr std::uint32_t encode(float x, const Scale& scale) const {
    const float step = to_float(scale.step);
    const std::int32_t code = step > 0.0f ? round_to_signed(x / step, kTop) : 0;
    return static_cast<std::uint32_t>(code + static_cast<std::int32_t>(kZero));
  }
  KVPLEAT_HD constexpr float decode(std::uint32_t code, const Scale& scale) const {
    const auto steps =
        static_cast<float>(static_cast<std::int32_t>(code) - static_cast<std::int32_t>(kZero));
    // 8 bits times at most 11 are exact in float, whatever is added to them.
    if constexpr (sizeof(Side) == 2) return steps * to_float(scale.step);
    return product(steps, to_float(scale.step));
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
