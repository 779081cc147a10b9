// Weighted sums of values in canonical tiles.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_ACCUMULATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_ACCUMULATE_INL_H_
#undef KVPLEAT_SIMD_ACCUMULATE_INL_H_
#else
#define KVPLEAT_SIMD_ACCUMULATE_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/codes-inl.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/query-inl.h"
#include "kvpleat/simd/slots-inl.h"
#include "kvpleat/simd/work.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// Sum of p[t] * x[t][c] over 64 tokens and up to 4 queries at a time; x = (code - zero) * step +
// low, and codes are taken about their centre (score-inl.h):
//   groups along channels:  rows w[t] = p[t] * step[t], one unit per 64 tokens and group;
//                           unit * (row . codes) + bias, the bias in floats
//   groups along tokens:    rows p[t], one unit per group of tokens (64 at most);
//                           step[c] * (unit * (row . codes) + bias) + low[c] * sum of p
// Weights times steps below 2^-120 count as none.
class TileAccumulate {
 public:
  static void accumulate(const abi::TileView& view, const abi::AccumulateArguments& a,
                         const CodeKernels& kernels) {
    if (a.arithmetic == abi::Arithmetic::kExact) {
      TileAccumulate(view, a, kernels).run<0>();
    } else if (a.arithmetic == abi::Arithmetic::kAccurate) {
      TileAccumulate(view, a, kernels).run<2>();
    } else {
      TileAccumulate(view, a, kernels).run<1>();
    }
  }

 private:
  using L = LaneTools;
  using F32 = L::F32;
  using I32 = L::I32;
  static constexpr std::uint32_t kTile = 64;

  // Slots [tile + from, tile + from + tokens) of a block, `count` queries from `query` on. The
  // weights of the queries, [count][kTile], are 0 where no token takes part.
  struct Part {
    const std::uint8_t* block;
    std::uint32_t tile;
    std::uint32_t from;
    std::uint32_t tokens;
    std::uint32_t query;
    std::uint32_t count;
    std::intptr_t to_next;
    const float* weights;
  };
  // Rows of the queries of a part over its tokens, and what turns products into sums:
  // unit * product + bias.
  struct Rows {
    alignas(64) std::uint8_t bytes[4 * kTile];  // [count * planes][kTile]
    alignas(64) float floats[4 * kTile];        // [count][kTile]
    float unit[4];
    float bias[4];
    float total[4];  // sum of the weights
    bool any;
  };

  const abi::TileView& view_;
  const abi::AccumulateArguments& a_;
  const CodeKernels& kernels_;
  const std::uint32_t unit_bytes_;
  const std::uint32_t side_bytes_;

  TileAccumulate(const abi::TileView& view, const abi::AccumulateArguments& a,
                 const CodeKernels& kernels)
      : view_(view),
        a_(a),
        kernels_(kernels),
        unit_bytes_(tile_unit_bytes(view.bits, view.block_tokens)),
        side_bytes_(L::side_bytes(view.side)) {}

  template <std::uint32_t kPlanes>
  void run() const {
    constexpr std::uint32_t kMost = kPlanes == 2 ? 2 : 4;
    std::uint32_t read = 0;
    for (std::uint32_t r = 0; r < a_.run_count; ++r) {
      const BlockRun& run = a_.runs[r];
      const BlockRun* next = r + 1 < a_.run_count ? a_.runs + r + 1 : a_.ahead;
      const std::intptr_t to_next = L::distance(run.bytes.block, next);
      const std::uint32_t end = run.slot + run.count;
      for (std::uint32_t tile = run.slot / kTile * kTile; tile < end; tile += kTile) {
        const std::uint32_t from = upper_of(run.slot, tile);
        const std::uint32_t n = lower_of(end, tile + kTile) - from;
        for (std::uint32_t j = 0; j < a_.query_count;) {
          const std::uint32_t left = a_.query_count - j;
          const std::uint32_t count = left >= kMost ? kMost : left >= 2 ? 2 : 1;
          alignas(64) float weights[kMost * kTile];
          for (std::uint32_t i = 0; i < count; ++i) {
            float* row = weights + i * kTile;
            if (n < kTile) std::memset(row, 0, kTile * sizeof(float));
            std::memcpy(row + (from - tile),
                        a_.weights + static_cast<std::size_t>(j + i) * a_.stride + read,
                        n * sizeof(float));
          }
          Part part{run.bytes.block, tile, 0, kTile, j, count, j == 0 ? to_next : 0, weights};
          if (view_.seal == 1) {
            grouped<kPlanes>(part);
          } else {
            const std::uint32_t tokens = lower_of(view_.seal, kTile);
            for (part.from = (from - tile) / tokens * tokens; part.from < from - tile + n;
                 part.from += tokens) {
              part.tokens = tokens;
              sealed<kPlanes>(part);
            }
          }
          j += count;
        }
        if (view_.slots > 0)
          InlineSlots::accumulate(view_, a_, run.bytes.block, from, n, a_.weights + read);
        read += n;
      }
    }
  }

  [[nodiscard]] HWY_INLINE CodeSpan span_of(const Part& part, std::uint32_t unit,
                                            std::uint32_t units) const {
    return {part.block + static_cast<std::size_t>(unit) * unit_bytes_,
            unit_bytes_,
            units,
            view_.block_tokens,
            part.tile + part.from,
            part.tokens,
            part.to_next};
  }

  // Makes row i of values (16 * n of them in floats) that are not negative.
  template <std::uint32_t kPlanes>
  HWY_INLINE void put_row(const Part& part, std::uint32_t i, const F32* values, F32 top, float bias,
                          Rows& rows) const {
    const std::uint32_t vectors = part.tokens / L::kLanes;
    const float largest = L::reduce_max(top);
    if constexpr (kPlanes == 0) {
      for (std::uint32_t v = 0; v < vectors; ++v)
        L::store_f32(rows.floats + i * kTile + v * L::kLanes, values[v]);
      rows.unit[i] = 1.0f;
      rows.bias[i] = bias;
    } else {
      const float factor = RowPlanes::factor_of(largest);
      const float unit = RowPlanes::unit_of(largest, kPlanes);
      I32 codes = L::zero_i32();
      for (std::uint32_t v = 0; v < vectors; ++v)
        RowPlanes::put(values[v], factor, kPlanes, kTile,
                       rows.bytes + i * kPlanes * kTile + v * L::kLanes, codes);
      rows.unit[i] = unit;
      rows.bias[i] = bias - unit * (kernels_.centre * static_cast<float>(L::reduce_add(codes)));
    }
    rows.any = rows.any || largest > 0.0f || bias != 0.0f;
  }

  // Adds what the rows of a part give for channels of units [unit, end_unit).
  template <std::uint32_t kPlanes, class Finish>
  HWY_INLINE void add_units(const Part& part, std::uint32_t unit, std::uint32_t end_unit,
                            const Rows& rows, Finish finish) const {
    alignas(64) std::int32_t sums[4 * kTile];
    alignas(64) float exact[4 * kTile];
    for (; unit < end_unit; unit += 4) {
      const std::uint32_t units = lower_of(4u, end_unit - unit);
      const CodeSpan span = span_of(part, unit, units);
      if constexpr (kPlanes > 0) {
        kernels_.dot(span, rows.bytes, kTile, part.count * kPlanes, sums);
      } else {
        for (std::uint32_t i = 0; i < part.count; ++i)
          kernels_.floats(span, rows.floats + i * kTile, kernels_.centre, exact + i * kTile);
      }
      for (std::uint32_t i = 0; i < part.count; ++i) {
        const F32 scale = L::set_f32(rows.unit[i]);
        const F32 bias = L::set_f32(rows.bias[i]);
        float* to = a_.sums + static_cast<std::size_t>(part.query + i) * view_.dim + unit * 16;
        for (std::uint32_t b = 0; b < units * L::kParts; ++b) {
          const std::uint32_t channel = unit * 16 + b * L::kLanes;
          if (channel >= view_.dim) break;
          F32 product;
          if constexpr (kPlanes == 0) {
            product = L::load_f32(exact + i * kTile + b * L::kLanes);
          } else {
            const std::int32_t* at = sums + i * kPlanes * kTile + b * L::kLanes;
            product = L::to_f32(L::load_i32(at));
            if constexpr (kPlanes == 2) {
              product = L::mul_add(product, L::set_f32(128.0f), L::to_f32(L::load_i32(at + kTile)));
            }
          }
          const F32 value = L::mul_add(scale, product, bias);
          float* lanes = to + b * L::kLanes;
          if (HWY_LIKELY(channel + L::kLanes <= view_.dim)) {
            L::store_f32(lanes, finish(i, channel, value, L::load_f32(lanes)));
          } else {
            const std::uint32_t n = view_.dim - channel;
            L::store_first_f32(lanes, finish(i, channel, value, L::load_first_f32(lanes, n)), n);
          }
        }
      }
    }
  }

  template <std::uint32_t kPlanes>
  void grouped(const Part& part) const {
    constexpr std::uint32_t kVectors = kTile / L::kLanes;
    const F32 about_zero = L::set_f32(kernels_.centre - view_.zero);
    for (std::uint32_t g = 0; g < view_.groups; ++g) {
      const std::uint8_t* side =
          part.block + view_.side_at +
          static_cast<std::size_t>(g * view_.fields * view_.block_tokens + part.tile) * side_bytes_;
      Rows rows;
      rows.any = false;
      for (std::uint32_t i = 0; i < part.count; ++i) {
        const float* weights = part.weights + i * kTile;
        F32 values[kVectors];
        F32 top = L::zero_f32();
        F32 bias[L::kParts];
        KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) bias[p] = L::zero_f32();
        KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v) {
          const std::uint32_t at = v * L::kLanes;
          const F32 p = L::load_f32(weights + at);
          // Side data of slots that take no part may hold anything.
          const L::M32 takes_part = L::less(L::zero_f32(), p);
          if (i == 0) L::prefetch_from(side + at * side_bytes_, part.to_next);
          F32 w = p;
          F32 step = L::set_f32(1.0f);
          if (view_.fields > 0) {
            step = L::load_side(view_.side, side + at * side_bytes_);
            w = L::select(takes_part, L::mul(p, step), L::zero_f32());
          }
          F32& sum = bias[v % L::kParts];
          if (view_.fields == 2) {
            F32 low = L::load_side(view_.side, side + (view_.block_tokens + at) * side_bytes_);
            if (view_.zero_stored) low = L::neg_mul_add(low, step, L::zero_f32());
            sum = L::mul_add(p, L::select(takes_part, low, L::zero_f32()), sum);
          }
          sum = L::mul_add(w, about_zero, sum);
          top = L::upper(top, w);
          values[v] = w;
        }
        put_row<kPlanes>(part, i, values, top, L::sum16(bias), rows);
      }
      if (!rows.any) continue;
      const std::uint32_t end = lower_of((g + 1) * view_.group_channels, view_.dim);
      add_units<kPlanes>(part, g * view_.group_channels / 16, ceil_div(end, 16u), rows,
                         [](std::uint32_t, std::uint32_t, F32 value, F32 sum)
                             HWY_ATTR { return L::add(sum, value); });
    }
  }

  template <std::uint32_t kPlanes>
  void sealed(const Part& part) const {
    constexpr std::uint32_t kVectors = kTile / L::kLanes;
    const std::uint32_t vectors = part.tokens / L::kLanes;
    const std::uint8_t* side = part.block + view_.side_at +
                               static_cast<std::size_t>((part.tile + part.from) / view_.seal *
                                                        view_.fields * view_.padded_dim) *
                                   side_bytes_;
    Rows rows;
    rows.any = false;
    for (std::uint32_t i = 0; i < part.count; ++i) {
      const float* weights = part.weights + i * kTile + part.from;
      F32 values[kVectors];
      F32 top = L::zero_f32();
      F32 total[L::kParts];
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) total[p] = L::zero_f32();
      for (std::uint32_t v = 0; v < vectors; ++v) {
        values[v] = L::load_f32(weights + v * L::kLanes);
        top = L::upper(top, values[v]);
        total[v % L::kParts] = L::add(total[v % L::kParts], values[v]);
      }
      rows.total[i] = L::sum16(total);
      put_row<kPlanes>(part, i, values, top, rows.total[i] * (kernels_.centre - view_.zero), rows);
    }
    if (!rows.any) return;
    add_units<kPlanes>(part, 0, view_.padded_dim / 16, rows,
                       [&](std::uint32_t i, std::uint32_t channel, F32 value, F32 sum) HWY_ATTR {
                         if (view_.fields == 0) return L::add(sum, value);
                         const F32 step = L::load_side(view_.side, side + channel * side_bytes_);
                         if (view_.fields == 2) {
                           F32 low = L::load_side(
                               view_.side, side + (view_.padded_dim + channel) * side_bytes_);
                           if (view_.zero_stored) low = L::neg_mul_add(low, step, L::zero_f32());
                           sum = L::mul_add(low, L::set_f32(rows.total[i]), sum);
                         }
                         return L::mul_add(step, value, sum);
                       });
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
