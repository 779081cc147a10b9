// Thresholds of NestedBands from samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kvpleat/calibrate/thresholds.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/status.h"

namespace kvpleat::inline KVPLEAT_ISA {

// thresholds[2 * pairs], the profile of a NestedBands of that many pairs, from n values, which are
// reordered. shares_ppm[pairs]: shares of the bands from outside to inside, the innermost left out:
// 2/2/90/3/3 is {20000, 20000, 900000, 30000}. They add up: with s the sum of the first k + 1, pair
// k are the r-th values from either end, r = (n - 1) * s / 2000000, rounded to binary16.
// {40000, 900000} gives what band_thresholds gives for 4/90/6. O(n * pairs).
// kInvalid: no values, or shares above 1000000 together; kNonFinite: a NaN; kRange: a threshold
// beyond 32752.
inline Status nested_thresholds(float* values, std::size_t n, const std::uint32_t* shares_ppm,
                                std::uint32_t pairs, float* thresholds) noexcept {
  if (n == 0 || values == nullptr) return Status::kInvalid;
  std::uint64_t sum = 0;
  for (std::uint32_t k = 0; k < pairs; ++k) sum += shares_ppm[k];
  if (sum > 1000000u) return Status::kInvalid;
  for (std::size_t i = 0; i < n; ++i) {
    if (values[i] != values[i]) return Status::kNonFinite;
  }
  const auto ranked = [&](std::size_t rank) {
    std::nth_element(values, values + rank, values + n, Ascending{});
    return to_float(to_half(values[rank]));
  };
  // All ranks are looked at before the first threshold is written. The extreme ones bound the rest.
  const std::size_t outermost =
      pairs == 0 ? 0 : static_cast<std::size_t>((n - 1) * std::uint64_t{shares_ppm[0]} / 2000000u);
  if (!(magnitude(ranked(outermost)) <= kLargestHalf * 0.5f) ||
      !(magnitude(ranked(n - 1 - outermost)) <= kLargestHalf * 0.5f)) {
    return Status::kRange;
  }
  sum = 0;
  for (std::uint32_t k = 0; k < pairs; ++k) {
    sum += shares_ppm[k];
    const auto rank = static_cast<std::size_t>((n - 1) * sum / 2000000u);
    thresholds[k] = ranked(rank);
    thresholds[2 * pairs - 1 - k] = ranked(n - 1 - rank);
  }
  return Status::kOk;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
