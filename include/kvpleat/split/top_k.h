// TopKSplit: the kCount elements of largest magnitude of each token's head vector are outliers.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Ties: the lowest channel first. Overflow: cannot happen, the count is exact (fewer only if the
// vector is shorter).
template <std::uint32_t kCount>
struct TopKSplit {
  static_assert(kCount >= 1 && kCount <= 64, "kvpleat: TopKSplit keeps 1 to 64 outliers per token");
  static constexpr auto kId = Text("split=top_k;outliers=") + number_text<kCount>();
  static constexpr std::uint32_t kMaxOutliers = kCount;
  static constexpr std::uint32_t kProfileSize = 0;
  static TopKSplit bind(const float*) { return {}; }
  static bool valid(const float*) { return true; }

  // Writes the outliers' channels in ascending order to channels[kCount]; returns how many. O(dim *
  // log kCount) typical.
  std::uint32_t split(const float* row, std::uint32_t dim, std::uint16_t* channels) const {
    float kept[kCount];  // magnitudes, descending; equal magnitudes in ascending channel order
    std::uint32_t count = 0;
    for (std::uint32_t c = 0; c < dim; ++c) {
      const float size = magnitude(row[c]);
      if (count == kCount && !(size > kept[count - 1])) continue;
      std::uint32_t at = count < kCount ? count++ : kCount - 1;
      for (; at > 0 && size > kept[at - 1]; --at) {
        kept[at] = kept[at - 1];
        channels[at] = channels[at - 1];
      }
      kept[at] = size;
      channels[at] = static_cast<std::uint16_t>(c);
    }
    for (std::uint32_t i = 1; i < count; ++i) {  // few entries: insertion sort by channel
      const std::uint16_t channel = channels[i];
      std::uint32_t at = i;
      for (; at > 0 && channels[at - 1] > channel; --at) channels[at] = channels[at - 1];
      channels[at] = channel;
    }
    return count;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
