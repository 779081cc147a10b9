// Median and limit of a sample, for MadSplit and MadClamp over a tensor or over channels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/core/status.h"
#include "kvpleat/split/mad.h"

namespace kvpleat::inline KVPLEAT_ISA {

// profile[2] = median, limit of n values, as MadOfTensor takes them. limit 0 (off) where MAD is 0
// or under 2^-14 of the largest magnitude. O(64 n). kInvalid: no values, or 2^32 and more;
// kNonFinite: a NaN or an infinity.
inline Status mad_profile(const float* values, std::size_t n, float* profile) noexcept {
  if (n == 0 || n > 0xffffffffu || values == nullptr) return Status::kInvalid;
  if (!is_finite(largest_magnitude(values, n))) return Status::kNonFinite;
  const MadLimits limits = mad::limits_of(static_cast<std::uint32_t>(n),
                                          [values](std::uint32_t i) { return values[i]; });
  profile[0] = limits.median;
  profile[1] = is_finite(limits.limit) ? limits.limit : 0.0f;
  return Status::kOk;
}

// The same for every channel of rows of `dim` floats: profile[dim][2], as MadOfChannel takes it.
inline Status mad_channel_profile(Rows rows, std::uint32_t dim, float* profile) noexcept {
  if (rows.count == 0 || rows.count > 0xffffffffu || rows.data == nullptr) return Status::kInvalid;
  for (std::size_t t = 0; t < rows.count; ++t) {
    if (!is_finite(largest_magnitude(rows[t], dim))) return Status::kNonFinite;
  }
  for (std::uint32_t c = 0; c < dim; ++c) {
    const MadLimits limits = mad::limits_of(static_cast<std::uint32_t>(rows.count),
                                            [&](std::uint32_t t) { return rows[t][c]; });
    profile[static_cast<std::size_t>(2) * c] = limits.median;
    profile[static_cast<std::size_t>(2) * c + 1] = is_finite(limits.limit) ? limits.limit : 0.0f;
  }
  return Status::kOk;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
