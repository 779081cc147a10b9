// ThresholdSplit: Oaken's three bands by four thresholds per layer, separately for keys and values.
// Source: Oaken (ISCA 2025), equation 1. Outer: large magnitudes of both signs. Inner: the
// near-zero band. Middle: the rest.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/outlier.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Whether n thresholds are ascending, representable as binary16, and at most half its range (a
// shifted value must fit as well).
inline bool valid_thresholds(const float* thresholds, std::uint32_t n) {
  if (thresholds == nullptr) return false;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!(magnitude(thresholds[i]) <= kLargestHalf * 0.5f) ||
        to_float(to_half(thresholds[i])) != thresholds[i])
      return false;
    if (i > 0 && thresholds[i] < thresholds[i - 1]) return false;
  }
  return true;
}

// Profile: outer_low <= inner_low <= inner_high <= outer_high, each representable as binary16 (it
// is rounded once, when the profile is made, and that value both compares and shifts). A value on
// an outer threshold is middle, on an inner threshold inner. Without a profile the splitter is not
// usable.
struct ThresholdSplit {
  static constexpr auto kId = Text("split=threshold;bands=3");
  static constexpr std::uint32_t kMaxOutliers = 0xffffffffu;  // every element may be one
  static constexpr std::uint32_t kProfileSize = 4;
  static constexpr std::uint32_t kOuterBands = 1;
  static constexpr std::uint32_t kInnerBands = 1;

  float outer_low = 0.0f;
  float inner_low = 0.0f;
  float inner_high = 0.0f;
  float outer_high = 0.0f;

  static ThresholdSplit bind(const float* profile) {
    ThresholdSplit split;
    split.outer_low = profile[0];
    split.inner_low = profile[1];
    split.inner_high = profile[2];
    split.outer_high = profile[3];
    return split;
  }
  static bool valid(const float* profile) { return valid_thresholds(profile, kProfileSize); }

  KVPLEAT_HD constexpr BandSide band(float x) const {
    if (x > outer_high) return {Band::kOuter, false};
    if (x < outer_low) return {Band::kOuter, true};
    if (x > inner_high) return {Band::kMiddle, false};
    if (x < inner_low) return {Band::kMiddle, true};
    return {Band::kInner, x < 0.0f};
  }
  // The threshold that a value of the outer or the middle band went beyond.
  KVPLEAT_HD constexpr float edge(BandSide at) const {
    if (at.band == Band::kOuter) return at.low ? outer_low : outer_high;
    return at.low ? inner_low : inner_high;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
