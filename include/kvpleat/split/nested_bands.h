// NestedBands: any number of outer and inner bands around Oaken's middle one.
// Source: Oaken (ISCA 2025), table 3: 4/90/3/3, 2/2/90/6 and 2/2/90/3/3, shares from outside to
// inside. ThresholdSplit is the case of one outer and one inner band.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/outlier.h"
#include "kvpleat/split/threshold.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Thresholds come in pairs, low[k] <= high[k], each pair inside the one before; n = kOuter + kInner
// of them. A value beyond pair k and no earlier one lies in band k from outside: kOuter outer bands,
// the middle, kInner inner bands; beyond none, in the innermost. A value on a threshold belongs to
// the inward band.
// Profile: low[0] <= .. <= low[n-1] <= high[n-1] <= .. <= high[0], each representable as binary16
// and at most 32752. Without a profile the splitter is not usable.
template <std::uint32_t kOuter, std::uint32_t kInner>
struct NestedBands {
  static_assert(kOuter + kInner >= 1 && kOuter + kInner <= 4,
                "kvpleat: NestedBands has 1 to 4 bands besides the middle");
  static constexpr auto kId =
      Text("split=nested_bands;outer=") + number_text<kOuter>() + ";inner=" + number_text<kInner>();
  static constexpr std::uint32_t kMaxOutliers = 0xffffffffu;  // every element may be one
  static constexpr std::uint32_t kOuterBands = kOuter;
  static constexpr std::uint32_t kInnerBands = kInner;
  static constexpr std::uint32_t kPairs = kOuter + kInner;
  static constexpr std::uint32_t kProfileSize = 2 * kPairs;

  float low[kPairs] = {};  // from outside
  float high[kPairs] = {};

  static NestedBands bind(const float* profile) {
    NestedBands split;
    for (std::uint32_t k = 0; k < kPairs; ++k) {
      split.low[k] = profile[k];
      split.high[k] = profile[kProfileSize - 1 - k];
    }
    return split;
  }
  static bool valid(const float* profile) { return valid_thresholds(profile, kProfileSize); }

  KVPLEAT_HD constexpr BandSide band(float x) const {
    for (std::uint32_t k = 0; k < kPairs; ++k) {
      if (x > high[k]) return from_outside(k, false, x);
      if (x < low[k]) return from_outside(k, true, x);
    }
    return from_outside(kPairs, x < 0.0f, x);
  }
  // The threshold that a value of an outer or the middle band went beyond; 0 for a middle band
  // without inner ones.
  KVPLEAT_HD constexpr float edge(BandSide at) const {
    const std::uint32_t k = at.band == Band::kOuter ? at.nested : kOuter;
    if (k >= kPairs) return 0.0f;
    return at.low ? low[k] : high[k];
  }

 private:
  // k + 1 <= n: k < n without comparing with zero, which nvcc tells of.
  KVPLEAT_HD static constexpr BandSide from_outside(std::uint32_t k, bool is_low, float x) {
    if (k + 1 <= kOuter) return {Band::kOuter, is_low, static_cast<std::uint8_t>(k)};
    if (k == kOuter) return {Band::kMiddle, is_low, 0};
    return {Band::kInner, x < 0.0f, static_cast<std::uint8_t>(k - kOuter - 1)};
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
