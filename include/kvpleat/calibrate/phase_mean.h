// PhaseMean: PhaseCenter's mean of keys before RoPE, from keys as engines have them, after RoPE.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/transform/rope.h"

namespace kvpleat::inline KVPLEAT_ISA {

// mean[dim] of R(-positions[t]) row t over rows [tokens, stride], the first dim channels, dim >=
// rope.dims. Each row is rotated back as Rope rotates (one float rounding per channel), sums are
// double in token order: the same bytes everywhere. Any tokens will do, for example the first 64 of
// the sequence (KvCache::set_profile); scores are exact whatever the mean is. dim <= 576. No
// tokens: zeros.
inline void phase_mean(const Rope& rope, const float* rows, const std::int64_t* positions,
                       std::size_t tokens, std::size_t stride, std::uint32_t dim,
                       float* mean) noexcept {
  constexpr std::uint32_t kLargestDim = 2 * Rope::kMaxPairs;
  KVPLEAT_ASSERT(dim <= kLargestDim && dim >= rope.dims);
  double sums[kLargestDim] = {};
  float row[kLargestDim];
  for (std::size_t t = 0; t < tokens; ++t) {
    rope.rotate(rows + t * stride, dim, -positions[t], row);
    for (std::uint32_t c = 0; c < dim; ++c) sums[c] += static_cast<double>(row[c]);
  }
  for (std::uint32_t c = 0; c < dim; ++c)
    mean[c] = tokens == 0 ? 0.0f : static_cast<float>(sums[c] / static_cast<double>(tokens));
}

}  // namespace kvpleat::inline KVPLEAT_ISA
