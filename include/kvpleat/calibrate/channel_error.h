// ChannelError: what rows lost on their way through a format, channel by channel. The error of all
// channels together hides what a huge one does to its neighbours.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct ChannelError {
  double mean = 0.0;        // over channels
  double worst = 0.0;       // of a channel
  std::uint32_t where = 0;  // that channel; the lowest of equals
};

// rows, read: [tokens, stride], the first dim channels: as appended, and as KvCache::read gives
// them. The ratio of a channel is its sum of squared errors over its sum of squared deviations from
// its own mean: 1 says that the mean alone would have served as well. ratios: [dim] or null.
// A constant channel: 0 if it comes back, else infinite. No tokens: zeros. Sums in double, in token
// order. O(tokens * dim).
inline ChannelError channel_error(const float* rows, const float* read, std::size_t tokens,
                                  std::size_t stride, std::uint32_t dim,
                                  double* ratios = nullptr) noexcept {
  ChannelError error;
  for (std::uint32_t c = 0; c < dim; ++c) {
    double mean = 0.0;
    for (std::size_t t = 0; t < tokens; ++t) mean += static_cast<double>(rows[t * stride + c]);
    if (tokens > 0) mean /= static_cast<double>(tokens);
    double lost = 0.0;
    double spread = 0.0;
    for (std::size_t t = 0; t < tokens; ++t) {
      const auto x = static_cast<double>(rows[t * stride + c]);
      const double difference = x - static_cast<double>(read[t * stride + c]);
      lost += difference * difference;
      spread += (x - mean) * (x - mean);
    }
    const double ratio = lost == 0.0 ? 0.0 : lost / spread;
    if (ratios != nullptr) ratios[c] = ratio;
    error.mean += ratio / dim;
    if (ratio > error.worst || c == 0) {
      error.worst = ratio;
      error.where = c;
    }
  }
  return error;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
