// CodebookQuant: value = level * scale, levels from a codebook for data of unit RMS (Lloyd-Max).
// The quantizer of TurboQuant (arXiv:2504.19874) and of rotated formats.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/log_scale.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/quant/lloyd_max.h"
#include "kvpleat/quant/side_text.h"

namespace kvpleat::inline KVPLEAT_ISA {

// What is stored of the size of a group x with levels c.
enum class ScalePolicy : std::uint8_t {
  kNorm,          // |x| / sqrt(n), as TurboQuant publishes it: decoded rows are too short
  kMatchedNorm,   // |x| / |c|: decoded rows have the length of x
  kLeastSquares,  // <c,x> / <c,c>: least squared error; for values
  kUnbiased,      // <x,x> / <c,x>: <decoded, x> = <x,x>, so that inner products with a vector have
                  //   no bias over rotations (DRIVE, EDEN; arXiv:2604.18555); for keys
};
template <ScalePolicy kPolicy>
inline constexpr auto kPolicyText = Text("norm");
template <>
inline constexpr auto kPolicyText<ScalePolicy::kMatchedNorm> = Text("matched_norm");
template <>
inline constexpr auto kPolicyText<ScalePolicy::kLeastSquares> = Text("least_squares");
template <>
inline constexpr auto kPolicyText<ScalePolicy::kUnbiased> = Text("unbiased");

// Stored per group: Side scale.
//   coding = the Side nearest to sqrt(sum of x^2 / n), sum in double in the order of the numeric
//            law; the quotient x / coding is one float
//   code   = number of thresholds below x / coding; threshold i is the midpoint of levels i and
//            i + 1, a quotient on it takes the lower code; 0 .. 2^bits - 1, ascending with x
//   scale  = the Side nearest to the policy's value above, from sums in double in the same order;
//            kNorm: coding
//   value  = float(level * scale), one rounded product
// coding = 0 (all members zero, or too small for Side): scale 0, all codes 0, all values zero.
// Error: with q = x / coding, |x - value| <= coding * |q - level| + |level| * |coding - scale|,
// |q - level| <= half the gap between the levels around q, or the distance to the last one. Over
// rotated vectors of d channels the mean of |x - value|^2 / |x|^2 is the distortion of the
// codebook: 0.358 0.1145 0.0334 0.0091 at d = 64 for 1 to 4 bits, 0.361 0.1160 0.0340 0.0093 at
// 128.
// Bits per element: kBits + 8 * sizeof(Side) / group length.
template <std::uint32_t kBitCount, class Codebook,
          ScalePolicy kScalePolicy = ScalePolicy::kLeastSquares, class SideType = Half,
          std::uint32_t kGroupSize = kWholeHead>
struct CodebookQuant {
  static_assert(kBitCount >= 1 && kBitCount <= 6, "kvpleat: CodebookQuant takes 1 to 6 bits");
  static_assert(kIsSignedSide<SideType> || std::is_same_v<SideType, LogScale8>,
                "kvpleat: CodebookQuant stores its scale as Half, BFloat16, float or LogScale8");
  using Side = SideType;
  using Book = Codebook;
  static constexpr ScalePolicy kPolicy = kScalePolicy;
  static constexpr std::uint32_t kBits = kBitCount;
  static constexpr std::uint32_t kGroup = kGroupSize;
  static constexpr Axis kAxis = Axis::kChannels;
  static constexpr bool kExactMerge = false;  // sums in double: the fixed order only
  static constexpr std::uint32_t kCount = 1u << kBits;
  static constexpr std::array<float, kCount> kLevels = Book::template levels<kBits>();
  static constexpr std::array<float, kCount - 1> kThresholds = [] {
    std::array<float, kCount - 1> thresholds{};
    for (std::uint32_t i = 0; i + 1 < kCount; ++i)
      thresholds[i] = 0.5f * kLevels[i] + 0.5f * kLevels[i + 1];  // halves are exact
    return thresholds;
  }();
  static constexpr auto kId = Text("quant=codebook;bits=") + number_text<kBits>() +
                              ";book=" + Book::kId + ";scale=" + kPolicyText<kPolicy> +
                              ";group=" + number_text<kGroup>() + ";axis=channels" +
                              ";side=" + kSideText<Side>;

  // Scale over coding is a weighted mean of q / level for every policy but kNorm (or the root of
  // one of its squares): at most the largest end of a cell over its level, or, where the last cell
  // counts, largest |q| over the last level.
  static constexpr float kInnerRatio = [] {
    float largest = 1.0f;
    for (std::uint32_t i = kCount / 2; i + 1 < kCount; ++i)
      largest = upper_of(largest, kThresholds[i] / kLevels[i]);
    return largest;
  }();
  // Largest magnitude it takes, so that a scale fits Side: coding is at most max|x|, |q| * coding
  // as well. 3 % for the rounding of coding (LogScale8: 2.2 %).
  static constexpr float kLargest = lower_of(SideTraits<Side>::kLargest, 0x1p120f) / 1.03f /
                                    upper_of(kInnerRatio, 1.0f / kLevels[kCount - 1]);
  // The same for groups of kMembers whose RMS is at most that bound: |q| <= sqrt(kMembers).
  template <std::uint32_t kMembers>
  static constexpr float kLargestRms = [] {
    float root = 1.0f;
    while (root * root < static_cast<float>(kMembers)) root += 1.0f;
    return lower_of(SideTraits<Side>::kLargest, 0x1p120f) / 1.03f /
           upper_of(kInnerRatio, root / kLevels[kCount - 1]);
  }();

  struct Stat {
    double energy = 0.0;
    double count = 0.0;
  };
  struct Scale {
    Side norm{};
  };
  struct Refinement {
    double energy = 0.0;  // <x,x>
    double both = 0.0;    // <c,x>
    double levels = 0.0;  // <c,c>
  };

  void observe(float x, Stat& stat) const {
    stat.energy += static_cast<double>(x) * static_cast<double>(x);
    stat.count += 1.0;
  }
  static Stat merge(const Stat& a, const Stat& b) {
    return {a.energy + b.energy, a.count + b.count};
  }
  Scale scale(const Stat& stat) const {
    if (!(stat.energy > 0.0)) return {};
    return {nearest<Side>(static_cast<float>(std::sqrt(stat.energy / stat.count)))};
  }
  std::uint32_t encode(float x, const Scale& scale) const {
    const float coding = to_float(scale.norm);
    if (!(coding > 0.0f)) return 0;
    const float quotient = x / coding;
    std::uint32_t code = 0;
    for (std::uint32_t half = kCount / 2; half > 0; half /= 2)
      code += quotient > kThresholds[code + half - 1] ? half : 0u;
    return code;
  }
  float decode(std::uint32_t code, const Scale& scale) const {
    return product(kLevels[code], to_float(scale.norm));
  }

  void observe_code(float x, std::uint32_t code, const Scale&, Refinement& sums) const {
    const auto value = static_cast<double>(x);
    const auto level = static_cast<double>(kLevels[code]);
    sums.energy += value * value;
    sums.both += value * level;
    sums.levels += level * level;
  }
  static Refinement merge_refinement(const Refinement& a, const Refinement& b) {
    return {a.energy + b.energy, a.both + b.both, a.levels + b.levels};
  }
  Scale refine(const Scale& coding, const Refinement& sums) const {
    if constexpr (kPolicy == ScalePolicy::kNorm) return coding;
    // A level has the sign of its member, so that both > 0 unless nothing took part.
    if (!(to_float(coding.norm) > 0.0f && sums.both > 0.0)) return {};
    double exact = 0.0;
    if constexpr (kPolicy == ScalePolicy::kMatchedNorm) {
      exact = std::sqrt(sums.energy / sums.levels);
    } else if constexpr (kPolicy == ScalePolicy::kLeastSquares) {
      exact = sums.both / sums.levels;
    } else {
      exact = sums.energy / sums.both;
    }
    return {nearest<Side>(static_cast<float>(exact))};
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
