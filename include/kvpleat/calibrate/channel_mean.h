// ChannelMean: the mean of each channel over tokens, the profile of Center and PhaseCenter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Means of rows [tokens, stride], the first dim channels, into mean[dim]. For PhaseCenter the rows
// are keys *before* RoPE. Sums in double, in token order. No tokens: zeros.
inline void channel_mean(const float* rows, std::size_t tokens, std::size_t stride,
                         std::uint32_t dim, float* mean) noexcept {
  for (std::uint32_t c = 0; c < dim; ++c) {
    double sum = 0.0;
    for (std::size_t t = 0; t < tokens; ++t) sum += static_cast<double>(rows[t * stride + c]);
    mean[c] = tokens == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(tokens));
  }
}

}  // namespace kvpleat::inline KVPLEAT_ISA
