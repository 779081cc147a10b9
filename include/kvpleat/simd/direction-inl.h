// What the coefficient of a direction (codec/direction.h) adds to scores and sums: one byte per
// token, beside the tile.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_DIRECTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_DIRECTION_INL_H_
#undef KVPLEAT_SIMD_DIRECTION_INL_H_
#else
#define KVPLEAT_SIMD_DIRECTION_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// In floats, whatever the arithmetic: it is a few operations per 16 tokens.
struct Direction {
  using L = LaneTools;
  using F32 = L::F32;

  // scores[j * stride + t] += coefficient[t] * (step * query j . direction)
  static void score(const abi::TileView& view, const abi::ScoreArguments& a) {
    if (view.direction == nullptr) return;
    float along[abi::kMaxQueries];
    for (std::uint32_t j = 0; j < a.query_count; ++j) {
      along[j] = dot(view.direction, a.queries + static_cast<std::size_t>(j) * view.dim, view.dim) *
                 view.direction[view.dim];
    }
    std::uint32_t written = 0;
    for (std::uint32_t r = 0; r < a.run_count; ++r) {
      const BlockRun& run = a.runs[r];
      each_lanes(view, run, L::run_ahead(a, r),
                 [&](std::uint32_t t, std::uint32_t n, F32 coefficients) HWY_ATTR {
                   for (std::uint32_t j = 0; j < a.query_count; ++j) {
                     float* at = a.scores + static_cast<std::size_t>(j) * a.stride + written + t;
                     const F32 share = L::set_f32(along[j]);
                     if (HWY_LIKELY(n == L::kLanes)) {
                       L::store_f32(at, L::mul_add(coefficients, share, L::load_f32(at)));
                     } else {
                       const F32 before = L::load_first_f32(at, n);
                       L::store_first_f32(at, L::mul_add(coefficients, share, before), n);
                     }
                   }
                 });
      written += run.count;
    }
  }

  // sums[j * dim + c] += (step * sum over t of weights[j][t] * coefficient[t]) * direction[c]
  static void accumulate(const abi::TileView& view, const abi::AccumulateArguments& a) {
    if (view.direction == nullptr) return;
    // Sixteen partial sums per query, by the token in its run.
    F32 shares[abi::kMaxQueries][L::kParts];
    for (std::uint32_t j = 0; j < a.query_count; ++j) {
      for (std::uint32_t p = 0; p < L::kParts; ++p) shares[j][p] = L::zero_f32();
    }
    std::uint32_t read = 0;
    for (std::uint32_t r = 0; r < a.run_count; ++r) {
      const BlockRun& run = a.runs[r];
      each_lanes(view, run, L::run_ahead(a, r),
                 [&](std::uint32_t t, std::uint32_t n, F32 coefficients) HWY_ATTR {
                   for (std::uint32_t j = 0; j < a.query_count; ++j) {
                     const float* at =
                         a.weights + static_cast<std::size_t>(j) * a.stride + read + t;
                     const F32 weights =
                         HWY_LIKELY(n == L::kLanes) ? L::load_f32(at) : L::load_first_f32(at, n);
                     F32& share = shares[j][t / L::kLanes % L::kParts];
                     share = L::mul_add(coefficients, weights, share);
                   }
                 });
      read += run.count;
    }
    for (std::uint32_t j = 0; j < a.query_count; ++j) {
      add(view, L::sum16(shares[j]) * view.direction[view.dim],
          a.sums + static_cast<std::size_t>(j) * view.dim);
    }
  }

 private:
  // Calls visit(token of the run, count, coefficients) for up to kLanes tokens at a time.
  template <class Visit>
  static HWY_INLINE void each_lanes(const abi::TileView& view, const BlockRun& run,
                                    const BlockRun* next, Visit visit) {
    const std::uint8_t* codes = run.bytes.block + view.coefficients_at + run.slot;
    if (next != nullptr) L::prefetch(next->bytes.block + view.coefficients_at + next->slot);
    std::uint32_t t = 0;
    for (; t + L::kLanes <= run.count; t += L::kLanes)
      visit(t, L::kLanes, L::to_f32(L::load_s8(codes + t)));
    if (t < run.count) {  // a block may end with them
      std::uint8_t rest[L::kLanes] = {};
      std::memcpy(rest, codes + t, run.count - t);
      visit(t, run.count - t, L::to_f32(L::load_s8(rest)));
    }
  }
  static float dot(const float* x, const float* y, std::uint32_t n) {
    F32 sums[L::kParts];
    KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) sums[p] = L::zero_f32();
    for (std::uint32_t c = 0; c < n; c += 16) {
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) {
        const std::uint32_t at = c + p * L::kLanes;
        if (at >= n) break;
        sums[p] = L::mul_add(L::load_first_f32(x + at, n - at), L::load_first_f32(y + at, n - at),
                             sums[p]);
      }
    }
    return L::sum16(sums);
  }
  static void add(const abi::TileView& view, float share, float* sums) {
    const F32 all = L::set_f32(share);
    for (std::uint32_t c = 0; c < view.dim; c += L::kLanes) {
      const std::uint32_t n = view.dim - c;
      const F32 direction = L::load_first_f32(view.direction + c, n);
      L::store_first_f32(sums + c, L::mul_add(direction, all, L::load_first_f32(sums + c, n)), n);
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
