// MinifloatQuant: values as minifloats (FP8, FP4) times a scale: fixed by a profile, or stored per
// group as a half, a power of two (MXFP4) or an e4m3 number below a scale of the head (NVFP4).
#pragma once

#include <cstdint>
#include <type_traits>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/minifloat.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/quant/side_text.h"

namespace kvpleat::inline KVPLEAT_ISA {

// The Side of a quantizer that stores no scale.
struct NoSide {};

template <>
inline constexpr auto kSideText<NoSide> = Text("none");

// What codes may be.
template <class Element>
struct MinifloatElement;
template <>
struct MinifloatElement<Fp8E4m3> {
  static constexpr std::uint32_t kBits = 8;
  static constexpr float kLargest = kLargestE4m3;
  static constexpr std::uint32_t kLargestExponent = 8;  // of the power of two below kLargest
  static constexpr auto kText = Text("e4m3");
  KVPLEAT_HD static constexpr Fp8E4m3 nearest(float x) { return to_e4m3(x); }
};
template <>
struct MinifloatElement<Fp8E5m2> {
  static constexpr std::uint32_t kBits = 8;
  static constexpr float kLargest = kLargestE5m2;
  static constexpr std::uint32_t kLargestExponent = 15;
  static constexpr auto kText = Text("e5m2");
  KVPLEAT_HD static constexpr Fp8E5m2 nearest(float x) { return to_e5m2(x); }
};
template <>
struct MinifloatElement<Fp4E2m1> {
  static constexpr std::uint32_t kBits = 4;
  static constexpr float kLargest = kLargestE2m1;
  static constexpr std::uint32_t kLargestExponent = 2;
  static constexpr auto kText = Text("e2m1");
  KVPLEAT_HD static constexpr Fp4E2m1 nearest(float x) { return to_e2m1(x); }
};

// How a stored scale is found.
enum class ScaleSearch : std::uint8_t {
  kRule,        // by the rule of its type, below
  kNeighbours,  // the rule's byte or one of its neighbours, whichever loses least
};
template <ScaleSearch>
inline constexpr auto kSearchText = Text("none");
template <>
inline constexpr auto kSearchText<ScaleSearch::kNeighbours> = Text("0,+1,-1,+4,+5");

// Stored per group: one Side, the scale; nothing for NoSide. M = largest Element, h = the head's
// scale (profile, one float; 1 without one), a = max|x| of the group.
//   Side                    s, the step of the codes   rule for the stored scale
//   NoSide                  h                          (nothing stored)
//   Half, BFloat16, float   scale                      the smallest not below a / M
//   E8m0                    scale                      2^(floor(log2 a) - floor(log2 M)), >= 2^-127
//                                                      (OCP Microscaling Formats 1.0, 6.3)
//   Fp8E4m3                 scale * h, rounded         nearest to (a / M) / h
//   code  = Element nearest to x / s, ties to even, beyond M: M; 0 if s is 0
//   value = Element * s, rounded once
// kNeighbours: the rule's byte + 0, + 1, - 1, for Fp8E4m3 also + 4, + 5 (about 1.5 times the scale:
// a becomes 4 instead of 6), kept within 0 .. the largest number; the one whose codes lose least,
// the first of equals. No scale byte is ever NaN.
// Error: half an Element step, times s; and a value beyond M s clips to it. That happens
//   NoSide: if |x| > M h. Such values are stored as +-M and counted (EncodeCounters::saturated): a
//     scale fixed in advance may meet larger data. Nothing else is lost.
//   E8m0: between M s and 2^(1 + floor(log2 M)) s, by definition of the rule (at most a quarter of
//     the value).
//   Fp8E4m3: by up to a sixteenth, where the scale was rounded down (more below 2^-6, where it is
//     subnormal); where a > 448 M h, the largest scale is stored and values beyond 448 M h are
//     counted as above. A scale that rounds to 0 (a / M / h <= 2^-10) stores zeros.
// Half, BFloat16, float: nothing clips; what needs a larger scale is refused before anything is
// written (kLargest). A group of one magnitude m stores the Side nearest to m and codes of +-1.
// The profile's scale is within 2^-64 .. 2^64 (a cache that was given none holds 0: bound as 1).
template <class ElementType, class SideType, std::uint32_t kGroupSize = kWholeHead,
          ScaleSearch kScaleSearch = ScaleSearch::kRule>
struct MinifloatQuant {
  using Element = ElementType;
  using Side = SideType;
  using Traits = MinifloatElement<Element>;
  static constexpr bool kStatic = std::is_same_v<Side, NoSide>;
  static constexpr bool kPowerOfTwo = std::is_same_v<Side, E8m0>;
  static constexpr bool kTwoLevels = std::is_same_v<Side, Fp8E4m3>;
  static constexpr bool kProfiled = kStatic || kTwoLevels;
  static constexpr bool kSearches = kScaleSearch == ScaleSearch::kNeighbours;
  static_assert(
      kStatic || kPowerOfTwo || kTwoLevels || kIsSignedSide<Side>,
      "kvpleat: MinifloatQuant stores its scale as Half, BFloat16, float, E8m0 or Fp8E4m3, "
      "or takes it from the profile (NoSide)");
  static_assert(!kSearches || kPowerOfTwo || kTwoLevels,
                "kvpleat: MinifloatQuant searches one-byte scales only (E8m0, Fp8E4m3)");
  static_assert(!kStatic || kGroupSize == kWholeHead,
                "kvpleat: a scale per head has no groups: leave kGroupSize at kWholeHead");
  static constexpr std::uint32_t kBits = Traits::kBits;
  static constexpr std::uint32_t kGroup = kGroupSize;
  static constexpr Axis kAxis = Axis::kChannels;
  static constexpr bool kExactMerge = true;
  // Largest magnitude it takes: the scale must be representable, and every product finite.
  static constexpr float kLargest = [] {
    if constexpr (kProfiled || kPowerOfTwo || sizeof(Side) == 4) {
      return 0x1p125f;
    } else {
      return lower_of(SideTraits<Side>::kLargest, 0x1p100f) * Traits::kLargest;
    }
  }();
  static constexpr auto kId = Text("quant=minifloat;element=") + Traits::kText +
                              ";group=" + number_text<kGroup>() + ";side=" + kSideText<Side> +
                              ";search=" + kSearchText<kScaleSearch>;

  struct Stat {
    float smallest = kInfinity;  // of the magnitudes
    float largest = 0.0f;
  };
  struct Nothing {};
  struct OneScale {
    Side scale{};
  };
  using Scale = std::conditional_t<kStatic, Nothing, OneScale>;

  float head_scale = 1.0f;

  // The largest value under a head's scale of 1.
  static constexpr float kTop = kTwoLevels ? Traits::kLargest * kLargestE4m3 : Traits::kLargest;
  // For ProfiledQuantizer; the others have no bind.
  static constexpr std::uint32_t kProfileSize = kProfiled ? 1 : 0;
  static MinifloatQuant bind(const float* profile) requires(kProfiled) {
    MinifloatQuant quant;
    if (profile != nullptr && profile[0] != 0.0f) quant.head_scale = profile[0];
    return quant;
  }
  static bool valid(const float* profile) requires(kProfiled) {
    return profile == nullptr || usable_scale(profile[0]);
  }
  // Whether the head's scale is too small for x.
  [[nodiscard]] bool saturates(float x) const requires(kProfiled) {
    return magnitude(x) > product(kTop, head_scale);
  }

  KVPLEAT_HD constexpr void observe(float x, Stat& stat) const {
    stat.smallest = lower_of(stat.smallest, magnitude(x));
    stat.largest = upper_of(stat.largest, magnitude(x));
  }
  KVPLEAT_HD static constexpr Stat merge(const Stat& a, const Stat& b) {
    return {lower_of(a.smallest, b.smallest), upper_of(a.largest, b.largest)};
  }
  KVPLEAT_HD constexpr Scale scale(const Stat& stat) const {
    if constexpr (kStatic) {
      return {};
    } else if constexpr (kPowerOfTwo || kTwoLevels) {
      return {Side{static_cast<std::uint8_t>(rule_byte(stat))}};
    } else {
      if (stat.smallest == stat.largest && stat.largest <= SideTraits<Side>::kLargest)
        return {kvpleat::nearest<Side>(stat.largest)};
      return {at_least<Side>(stat.largest / Traits::kLargest)};
    }
  }

  // The rule's byte, then others around it.
  static constexpr std::uint32_t kCandidates = kTwoLevels ? 5 : 3;
  KVPLEAT_HD constexpr Scale candidate(const Stat& stat, std::uint32_t k) const
      requires(kSearches) {
    constexpr std::int32_t kOffsets[5] = {0, 1, -1, 4, 5};
    constexpr std::int32_t kLast = kTwoLevels ? 0x7e : 254;
    const std::int32_t byte = static_cast<std::int32_t>(rule_byte(stat)) + kOffsets[k];
    return {Side{static_cast<std::uint8_t>(upper_of(lower_of(byte, kLast), 0))}};
  }

  KVPLEAT_HD constexpr std::uint32_t encode(float x, const Scale& scale) const {
    const float s = step(scale);
    return s > 0.0f ? Traits::nearest(x / s).bits : 0u;
  }
  KVPLEAT_HD constexpr float decode(std::uint32_t code, const Scale& scale) const {
    return product(to_float(Element{static_cast<std::uint8_t>(code)}), step(scale));
  }
  // Of the codes of a group.
  KVPLEAT_HD constexpr float step(const Scale& scale) const {
    if constexpr (kStatic) {
      return head_scale;
    } else if constexpr (kTwoLevels) {
      return product(to_float(scale.scale), head_scale);
    } else {
      return to_float(scale.scale);
    }
  }

 private:
  KVPLEAT_HD constexpr std::uint32_t rule_byte(const Stat& stat) const {
    if constexpr (kTwoLevels) {
      return to_e4m3(stat.largest / Traits::kLargest / head_scale).bits;
    } else {
      // The exponent byte of a float is floor(log2) + 127, and so is that of E8m0.
      const float largest = stat.largest;  // nvcc 13.0 stops at a bit_cast of the member
      const std::uint32_t exponent = __builtin_bit_cast(std::uint32_t, largest) >> 23;
      return exponent - lower_of(exponent, Traits::kLargestExponent);
    }
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
