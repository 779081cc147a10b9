// RangeSplit: what lies outside [-1, 1] is an outlier. For rows whose channels were scaled so that
// their ordinary part lies inside (Chain<Center, ChannelScale>): the interval then is each
// channel's own pair of thresholds.
// Source: KVQuant, arXiv:2401.18079 (per-channel outliers).
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/split/top_k.h"

namespace kvpleat::inline KVPLEAT_ISA {

// kCap: most outliers of a token, 1 to 64; 0: as many as there are. Overflow: the kCap of largest
// magnitude, ties to the lowest channel; the others stay dense, where they saturate.
template <std::uint32_t kCap = 0>
struct RangeSplit {
  static_assert(kCap <= 64, "kvpleat: RangeSplit caps outliers at 1 to 64 per token, 0: no cap");
  static constexpr auto kId = Text("split=range;cap=") + number_text<kCap>();
  static constexpr std::uint32_t kMaxOutliers = kCap == 0 ? 576 : kCap;
  static constexpr std::uint32_t kProfileSize = 0;
  static RangeSplit bind(const float*) { return {}; }
  static bool valid(const float*) { return true; }

  std::uint32_t split(const float* row, std::uint32_t dim, std::uint16_t* channels) const {
    std::uint32_t count = 0;
    for (std::uint32_t c = 0; c < dim; ++c) {
      if (!(magnitude(row[c]) > 1.0f)) continue;
      // More than fit: they are all among the largest magnitudes of the row.
      if constexpr (kCap > 0) {
        if (count == kCap) return TopKSplit<kCap>{}.split(row, dim, channels);
      }
      channels[count++] = static_cast<std::uint16_t>(c);
    }
    return count;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
