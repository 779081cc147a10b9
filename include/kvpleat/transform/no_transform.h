// NoTransform: coded space is the input space.
#pragma once

#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/transform/bind.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct NoTransform {
  static constexpr auto kId = Text("transform=none");
  static constexpr bool kPositional = false;
  static constexpr bool kHasOffset = false;
  static constexpr std::uint32_t profile_size(std::uint32_t) { return 0; }
  static NoTransform bind(const BindContext&) { return {}; }

  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t, float* coded) const {
    std::memcpy(coded, row, kDim * sizeof(float));
  }
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    std::memcpy(coded, query, kDim * sizeof(float));
  }
  template <std::uint32_t kDim>
  void add_score_offset(const float*, const std::int64_t*, std::uint32_t, float*) const {}
  template <std::uint32_t kDim>
  void restore(const float* coded, float, std::int64_t, float* row) const {
    if (coded != row) std::memcpy(row, coded, kDim * sizeof(float));
  }
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    return input_bound;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
