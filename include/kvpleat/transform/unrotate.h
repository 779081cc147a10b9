// Unrotate: keys are coded as they were before RoPE, where a channel keeps its range from token to
// token. Source: KVQuant, arXiv:2401.18079 (pre-RoPE keys).
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/transform/bind.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Coded row: R(-p) k of the post-RoPE key k of position p, byte-exact everywhere (Rope::rotate).
// Keys only. q . k is no product of one coded query with the coded row, since the rotation differs
// from token to token: scores are taken on restored rows (kScoresRestored), at the price of one
// rotation per token, head and step. In a Chain it comes first; what follows works on keys before
// RoPE.
struct Unrotate {
  static constexpr auto kId = Text("transform=unrotate");
  static constexpr bool kPositional = true;
  static constexpr bool kHasOffset = false;
  static constexpr bool kScoresRestored = true;
  static constexpr std::uint32_t profile_size(std::uint32_t) { return 0; }
  static Unrotate bind(const BindContext& context) {
    Unrotate unrotate;
    unrotate.rope = context.rope;
    return unrotate;
  }

  const Rope* rope = nullptr;

  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t position, float* coded) const {
    rotate<kDim>(row, -position, coded);
  }
  // Of restored rows: the query as it is.
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = query[c];
  }
  template <std::uint32_t kDim>
  void add_score_offset(const float*, const std::int64_t*, std::uint32_t, float*) const {}
  template <std::uint32_t kDim>
  void restore(const float* coded, float, std::int64_t position, float* row) const {
    rotate<kDim>(coded, position, row);
  }
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    return 1.5f * input_bound;  // a rotated pair is at most sqrt(2) times its larger member
  }

 private:
  template <std::uint32_t kDim>
  void rotate(const float* row, std::int64_t position, float* out) const {
    if constexpr (kDim < 2) {  // no pair; and a compiler that looks for one warns
      *out = *row;
    } else {
      rope->rotate(row, kDim, position, out);
    }
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
