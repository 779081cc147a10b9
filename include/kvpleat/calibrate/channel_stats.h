// Channel statistics: the root mean square of each channel over tokens, and what is made of it: the
// profile of ChannelScale, and the channels that ChannelSplit keeps apart.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/rope.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Root mean square of rows [tokens, stride], the first dim channels, into rms[dim]. For a split or
// a scale behind a centre the rows are centred ones. Sums in double, in token order. No tokens:
// zeros.
inline void channel_rms(const float* rows, std::size_t tokens, std::size_t stride,
                        std::uint32_t dim, float* rms) noexcept {
  for (std::uint32_t c = 0; c < dim; ++c) {
    double sum = 0.0;
    for (std::size_t t = 0; t < tokens; ++t) {
      const auto x = static_cast<double>(rows[t * stride + c]);
      sum += x * x;
    }
    rms[c] = tokens == 0 ? 0.0f : static_cast<float>(std::sqrt(sum / static_cast<double>(tokens)));
  }
}

// Makes scales (or RMS) equal inside each RoPE pair: the root mean square of both. A diagonal
// matrix commutes with the rotation only then.
inline void equalize_pairs(const Rope& rope, float* scale) noexcept {
  for (std::uint32_t i = 0; i < rope.pairs(); ++i) {
    const auto a = static_cast<double>(scale[rope.first(i)]);
    const auto b = static_cast<double>(scale[rope.second(i)]);
    const auto both = static_cast<float>(std::sqrt(0.5 * (a * a + b * b)));
    scale[rope.first(i)] = both;
    scale[rope.second(i)] = both;
  }
}

// ChannelScale's profile from rms[dim]: the RMS itself, kept within its bounds; 1 for a channel
// that is always zero.
inline void channel_scales(const float* rms, std::uint32_t dim, float* scale) noexcept {
  for (std::uint32_t c = 0; c < dim; ++c)
    scale[c] = rms[c] > 0.0f ? nearest_usable_scale(rms[c]) : 1.0f;
}

// ChannelSplit's profile: the `count` channels of largest RMS, ascending, as floats. Ties: the
// lowest channel first. O(dim^2). count <= dim; no NaN.
inline void largest_channels(const float* rms, std::uint32_t dim, std::uint32_t count,
                             float* channels) noexcept {
  KVPLEAT_ASSERT(count <= dim);
  // A channel is taken if fewer than `count` others come before it.
  std::uint32_t taken = 0;
  for (std::uint32_t c = 0; c < dim && taken < count; ++c) {
    std::uint32_t before = 0;
    for (std::uint32_t d = 0; d < dim; ++d)
      before += rms[d] > rms[c] || (rms[d] == rms[c] && d < c) ? 1u : 0u;
    if (before < count) channels[taken++] = static_cast<float>(c);
  }
}

}  // namespace kvpleat::inline KVPLEAT_ISA
