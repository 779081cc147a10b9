// Thresholds: Oaken's four thresholds from samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Shares in parts per million; the middle band is the rest. 4/90/6: {40000, 60000}.
struct BandShares {
  std::uint32_t outer_ppm = 40000;
  std::uint32_t inner_ppm = 60000;
};

// The order that ranks are taken in. A type of ours, so that the code std makes from it carries our
// instruction-set tag.
struct Ascending {
  bool operator()(float a, float b) const noexcept { return a < b; }
};

// ranks[4] = outer low, inner low, inner high, outer high of n values, which are reordered. The
// outer two cut half of the outer share off each tail; the inner two hold the inner share around
// the median. Integer ranks: for a cumulative share s the r-th from either end, r = (n - 1) * s /
// 2000000. Exactly values of the sample, not rounded. O(n). kInvalid: no values, or shares above
// 1000000 together; kNonFinite: a NaN, which has no rank. Nothing is written then.
inline Status band_ranks(float* values, std::size_t n, BandShares shares, float* ranks) noexcept {
  if (n == 0 || values == nullptr || shares.outer_ppm > 1000000u ||
      shares.inner_ppm > 1000000u - shares.outer_ppm) {
    return Status::kInvalid;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (values[i] != values[i]) return Status::kNonFinite;
  }
  const auto rank = [n](std::uint64_t ppm) {
    return static_cast<std::size_t>((n - 1) * ppm / 2000000u);
  };
  const std::size_t outer = rank(shares.outer_ppm);
  const std::size_t inner = rank(1000000u - shares.inner_ppm);
  const std::size_t at[4] = {outer, inner, n - 1 - inner, n - 1 - outer};
  for (int i = 0; i < 4; ++i) {
    std::nth_element(values, values + at[i], values + n, Ascending{});
    ranks[i] = values[at[i]];
  }
  return Status::kOk;
}

// The thresholds of one sample: its band_ranks, rounded to binary16. kRange: a threshold beyond
// 32752; otherwise as band_ranks. Over several samples: threshold_profiler.h.
inline Status band_thresholds(float* values, std::size_t n, BandShares shares,
                              float* thresholds) noexcept {
  float found[4];
  if (const Status status = band_ranks(values, n, shares, found); !ok(status)) return status;
  for (float& t : found) {
    t = to_float(to_half(t));
    if (!(magnitude(t) <= kLargestHalf * 0.5f)) return Status::kRange;
  }
  for (int i = 0; i < 4; ++i) thresholds[i] = found[i];
  return Status::kOk;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
