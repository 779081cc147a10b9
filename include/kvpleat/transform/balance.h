// Balance: shapes the noise of a rotated format. Every channel is divided by a calibrated scale
// before the rotation and multiplied after it, so that the noise of the rotation, equal in all
// coded channels, is spread over the channels as the scales are.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/bind.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Profile: scale[dim] per head, 2^-64 .. 2^64, or 0, which counts as 1, so that no profile is none.
//   coded = row / scale    query' = query * scale    row = coded * scale
// each one rounded operation. ChannelScale is the same map, but asks for a profile.
// With channel variances s_c^2 and weights w_c of a channel's error, the noise of a rotation at a
// fixed rate is proportional to mean(s_c^2 / scale_c^2) * sum(w_c scale_c^2): least for
// scale_c^2 = s_c / sqrt(w_c). calibrate/rotated.h computes it.
struct Balance {
  static constexpr auto kId = Text("transform=balance");
  static constexpr bool kPositional = false;
  static constexpr bool kHasOffset = false;
  static constexpr std::uint32_t profile_size(std::uint32_t dim) { return dim; }
  static Balance bind(const BindContext& context) {
    Balance balance;
    balance.scale = context.profile;
    return balance;
  }
  template <std::uint32_t kDim>
  static bool valid(const float* profile) {
    for (std::uint32_t c = 0; profile != nullptr && c < kDim; ++c) {
      if (profile[c] != 0.0f && !usable_scale(profile[c])) return false;
    }
    return true;
  }

  const float* scale = nullptr;

  [[nodiscard]] float of(std::uint32_t channel) const {
    return scale != nullptr && scale[channel] > 0.0f ? scale[channel] : 1.0f;
  }
  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t, float* coded) const {
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = row[c] / of(c);
  }
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = product(query[c], of(c));
  }
  template <std::uint32_t kDim>
  void add_score_offset(const float*, const std::int64_t*, std::uint32_t, float*) const {}
  template <std::uint32_t kDim>
  void restore(const float* coded, float, std::int64_t, float* row) const {
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] = product(coded[c], of(c));
  }
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    float smallest = kLargestFloat;
    for (std::uint32_t c = 0; c < kDim; ++c) smallest = lower_of(smallest, of(c));
    return input_bound / smallest;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
