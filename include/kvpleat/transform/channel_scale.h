// ChannelScale: divides every channel by its own scale before quantization and multiplies the query
// instead, so that channels of unlike size share groups and codebooks.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/bind.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Profile: scale[dim] per head, 2^-64 .. 2^64 (calibrate/channel_stats.h). Scales that are equal
// inside a RoPE pair commute with the rotation; whether they are is the caller's choice.
//   coded = row / scale    query' = query * scale    row = coded * scale
// each one rounded operation: q . x is kept within 2 ulp per product, a row within 1 ulp per
// element; scales that are powers of two keep both exactly. Without a profile the transform is not
// usable.
struct ChannelScale {
  static constexpr auto kId = Text("transform=channel_scale");
  static constexpr bool kPositional = false;
  static constexpr bool kHasOffset = false;
  static constexpr std::uint32_t profile_size(std::uint32_t dim) { return dim; }
  static ChannelScale bind(const BindContext& context) {
    ChannelScale transform;
    transform.scale = context.profile;
    return transform;
  }
  template <std::uint32_t kDim>
  static bool valid(const float* profile) {
    if (profile == nullptr) return false;
    for (std::uint32_t c = 0; c < kDim; ++c) {
      if (!usable_scale(profile[c])) return false;
    }
    return true;
  }

  const float* scale = nullptr;

  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t, float* coded) const {
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = row[c] / scale[c];
  }
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = product(query[c], scale[c]);
  }
  template <std::uint32_t kDim>
  void add_score_offset(const float*, const std::int64_t*, std::uint32_t, float*) const {}
  template <std::uint32_t kDim>
  void restore(const float* coded, float, std::int64_t, float* row) const {
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] = product(coded[c], scale[c]);
  }
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    float smallest = kLargestFloat;
    for (std::uint32_t c = 0; c < kDim; ++c) smallest = lower_of(smallest, scale[c]);
    return input_bound / smallest;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
