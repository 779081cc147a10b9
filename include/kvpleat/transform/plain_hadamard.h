// PlainHadamard: an orthonormal Hadamard transform without random signs, as llama.cpp rotates its
// caches. It turns an outlier channel into an even offset of its block just as RandomHadamard does,
// but a row that is constant over a block stays a spike: in its first channel.
#pragma once

#include <cmath>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/transform/bind.h"
#include "kvpleat/transform/hadamard.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Blocks of n channels, n the largest power of two that divides head_dim (128: one block; 192:
// three of 64; an odd head_dim: none, the identity). Natural (Sylvester) order, scaled by
// 1/sqrt(n): the matrix of llama.cpp where that rotates (64 divides head_dim), computed in stages
// of adds and subtracts where llama.cpp multiplies by the matrix, so results differ in the last
// bits. Its own inverse.
struct PlainHadamard {
  static constexpr auto kId = Text("transform=hadamard");
  static constexpr bool kPositional = false;
  static constexpr bool kHasOffset = false;
  static constexpr std::uint32_t profile_size(std::uint32_t) { return 0; }
  static PlainHadamard bind(const BindContext&) { return {}; }

  template <std::uint32_t kDim>
  static constexpr std::uint32_t kBlock = kDim&(~kDim + 1u);  // the lowest digit that is set

  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t, float* coded) const {
    if (coded != row) {
      for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = row[c];
    }
    for (std::uint32_t c = 0; c < kDim; c += kBlock<kDim>)
      hadamard_in_place(coded + c, kBlock<kDim>);
  }
  // The transform is orthonormal, so scores are kept by rotating the query alike.
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    forward<kDim>(query, 0, coded);
  }
  template <std::uint32_t kDim>
  void add_score_offset(const float*, const std::int64_t*, std::uint32_t, float*) const {}
  template <std::uint32_t kDim>
  void restore(const float* coded, float, std::int64_t position, float* row) const {
    forward<kDim>(coded, position, row);
  }
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    return input_bound * std::sqrt(static_cast<float>(kBlock<kDim>));
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
