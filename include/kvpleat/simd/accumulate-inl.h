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
#include "kvpleat/simd/sides-inl.h"
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
// Weights times steps below 2^-114 count as none.
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
  static constexpr std::uint32_t kMaxDim = 576;

  // Slots [slot, slot + tokens) of a block and their weights, [count][stride]: 0 where no token
  // takes part.
  struct Part {
    const std::uint8_t* block;
    std::uint32_t slot;
    std::uint32_t tokens;
    std::intptr_t to_next;
    const float* weights;
    std::size_t stride;
  };
  // Rows of the queries over a part, for channels of units [unit, end_unit), and what turns products
  // into sums: scale * product + bias.
  template <std::uint32_t kPlanes>
  struct Rows {
    alignas(64) std::uint8_t bytes[4 * kTile];  // [count * planes][kTile]
    alignas(64) float floats[kPlanes == 0 ? kTile : 1];
    float scale[4];
    float bias[4];
    float total[4];  // sum of the weights, where scales lie along tokens
    bool any;        // whether they add anything
    // On the way there, [count] each: weights times steps; the largest of a lane; what is left of the
    // bias in a lane.
    alignas(64) float values[kPlanes == 0 ? 1 : 2 * kTile];
    alignas(64) float tops[2 * 16];
    alignas(64) float left[2 * 16];
    const std::uint8_t* block;
    const std::uint8_t* side;  // the scales of the channels, or null
    std::uint32_t slot;
    std::uint32_t tokens;
    std::uint32_t unit;
    std::uint32_t end_unit;
    std::intptr_t to_next;
  };
  // What makes rows is a chain of reductions, and products wait for them. So a few are made together,
  // stage by stage: chains that do not wait for each other. Four queries have four such chains.
  template <std::uint32_t kCount>
  static constexpr bool kStaged = kCount < 4;
  template <std::uint32_t kPlanes>
  struct Batch {
    static constexpr std::uint32_t kRoom = 4;
    Rows<kPlanes> rows[kRoom];
    std::uint32_t count = 0;
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
    constexpr std::uint32_t kMost = kPlanes == 1 ? 4 : kPlanes == 2 ? 2 : 1;
    for (std::uint32_t j = 0; j < a_.query_count;) {
      const std::uint32_t left = a_.query_count - j;
      if (left >= kMost) {
        pass<kPlanes, kMost>(j);
        j += kMost;
      } else if (kMost == 4 && left >= 2) {
        if constexpr (kMost == 4) pass<kPlanes, 2>(j);
        j += 2;
      } else {
        pass<kPlanes, 1>(j);
        j += 1;
      }
    }
    if (view_.slots == 0) return;
    std::uint32_t read = 0;
    for (std::uint32_t r = 0; r < a_.run_count; ++r) {
      InlineSlots::accumulate(view_, a_, a_.runs[r].bytes.block, a_.runs[r].slot, a_.runs[r].count,
                              a_.weights + read);
      read += a_.runs[r].count;
    }
  }

  // kCount queries from j on, over all runs.
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  void pass(std::uint32_t j) const {
    // Sums of the call, in whole registers: those of the caller need not be aligned, and a load that
    // meets the halves of a store waits for it to leave the core.
    alignas(64) float sums[kCount * kMaxDim];
    for (std::uint32_t c = 0; c < kCount * view_.padded_dim; c += 16) {
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p)
          L::store_f32(sums + c + p * L::kLanes, L::zero_f32());
    }
    Batch<kPlanes> batch;
    std::uint32_t read = 0;
    for (std::uint32_t r = 0; r < a_.run_count; ++r) {
      const BlockRun& run = a_.runs[r];
      const std::intptr_t to_next = j == 0 ? L::to_next(a_, r) : 0;
      const std::uint32_t end = run.slot + run.count;
      for (std::uint32_t tile = run.slot / kTile * kTile; tile < end; tile += kTile) {
        const std::uint32_t from = upper_of(run.slot, tile) - tile;
        const std::uint32_t n = lower_of(end, tile + kTile) - tile - from;
        const float* weights = a_.weights + static_cast<std::size_t>(j) * a_.stride + read;
        alignas(64) float padded[kCount * kTile];
        Part part{run.bytes.block, tile, kTile, to_next, weights, a_.stride};
        if (n < kTile) {
          std::memset(padded, 0, sizeof padded);
          for (std::uint32_t i = 0; i < kCount; ++i) {
            std::memcpy(padded + i * kTile + from,
                        weights + static_cast<std::size_t>(i) * a_.stride, n * sizeof(float));
          }
          part.weights = padded;
          part.stride = kTile;
        }
        if (view_.seal == 1) {
          for (std::uint32_t g = 0; g < view_.groups; ++g) {
            Rows<kPlanes>& rows = batch.rows[batch.count];
            if (n == kTile) {
              weigh<kPlanes, kCount, true>(part, g, rows);
            } else {
              weigh<kPlanes, kCount, false>(part, g, rows);
            }
            push<kPlanes, kCount>(sums, batch);
          }
        } else {
          const std::uint32_t tokens = lower_of(view_.seal, kTile);
          for (std::uint32_t at = from / tokens * tokens; at < from + n; at += tokens) {
            const Part group{part.block,   tile + at,         tokens,
                             part.to_next, part.weights + at, part.stride};
            weigh_sealed<kPlanes, kCount>(group, batch.rows[batch.count]);
            push<kPlanes, kCount>(sums, batch);
          }
        }
        finish<kPlanes, kCount>(sums, batch);
        read += n;
      }
    }
    for (std::uint32_t i = 0; i < kCount; ++i) {
      float* to = a_.sums + static_cast<std::size_t>(j + i) * view_.dim;
      const float* from = sums + i * view_.padded_dim;
      for (std::uint32_t c = 0; c < view_.dim; c += L::kLanes) {
        const std::uint32_t n = view_.dim - c;
        if (n >= L::kLanes) {
          L::store_f32(to + c, L::add(L::load_f32(to + c), L::load_f32(from + c)));
        } else {
          L::store_first_f32(to + c, L::add(L::load_first_f32(to + c, n), L::load_f32(from + c)),
                             n);
        }
      }
    }
  }
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  HWY_INLINE void push(float* sums, Batch<kPlanes>& batch) const {
    if (++batch.count == batch.kRoom) finish<kPlanes, kCount>(sums, batch);
  }
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  void finish(float* sums, Batch<kPlanes>& batch) const {
    if constexpr (kPlanes > 0 && kStaged<kCount>) {
      for (std::uint32_t i = 0; i < batch.count; ++i) code_rows<kPlanes, kCount>(batch.rows[i]);
      for (std::uint32_t i = 0; i < batch.count; ++i) sum_rows<kPlanes, kCount>(batch.rows[i]);
    }
    for (std::uint32_t i = 0; i < batch.count; ++i) add<kPlanes, kCount>(sums, batch.rows[i]);
    batch.count = 0;
  }

  // Rows of weights times the steps of group g.
  // kWhole: all slots take part.
  template <std::uint32_t kPlanes, std::uint32_t kCount, bool kWhole>
  HWY_INLINE void weigh(const Part& part, std::uint32_t g, Rows<kPlanes>& rows) const {
    constexpr std::uint32_t kVectors = kTile / L::kLanes;
    const SideReader reader(view_);
    const std::uint32_t next = view_.block_tokens * side_bytes_;
    const std::uint8_t* side =
        part.block + view_.side_at +
        static_cast<std::size_t>(g * view_.fields * view_.block_tokens + part.slot) * side_bytes_;
    const F32 about_zero = L::set_f32(kernels_.centre - view_.zero);
    F32 values[kCount][kVectors];
    F32 bias[kCount][L::kParts];
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) {
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) bias[i][p] = L::zero_f32();
    }
    KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v) {
      const std::uint32_t at = v * L::kLanes;
      const std::uint8_t* first = side + at * side_bytes_;
      if (at % 32 == 0) {
        L::prefetch_from(first, part.to_next);
        L::prefetch_from(first + next, part.to_next);
      }
      const Sides sides = reader.load(first, next);
      // What a weight adds whatever the code.
      const F32 middle = L::mul_add(sides.step, about_zero, sides.low);
      KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) {
        const F32 p = L::load_f32(part.weights + i * part.stride + at);
        F32& sum = bias[i][v % L::kParts];
        if constexpr (kWhole) {
          values[i][v] = L::mul(p, sides.step);
          sum = L::mul_add(p, middle, sum);
        } else {
          // Side data of slots that take no part may hold anything: NaN times 0 is no 0.
          const L::M32 takes_part = L::less(L::zero_f32(), p);
          values[i][v] = L::select(takes_part, L::mul(p, sides.step), L::zero_f32());
          sum = L::select(takes_part, L::mul_add(p, middle, sum), sum);
        }
      }
    }
    put_rows<kPlanes, kCount>(part, values, bias, rows);
    rows.side = nullptr;
    rows.unit = g * view_.group_channels / 16;
    rows.end_unit = ceil_div(lower_of((g + 1) * view_.group_channels, view_.dim), 16u);
  }
  // Rows of weights of tokens that share their scales.
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  HWY_INLINE void weigh_sealed(const Part& part, Rows<kPlanes>& rows) const {
    constexpr std::uint32_t kVectors = kTile / L::kLanes;
    const F32 about_zero = L::set_f32(kernels_.centre - view_.zero);
    F32 values[kCount][kVectors];
    F32 bias[kCount][L::kParts];
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) {
      F32 total[L::kParts];
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) total[p] = L::zero_f32();
      KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v) {
        const std::uint32_t at = v * L::kLanes;
        values[i][v] = L::zero_f32();
        if (at < part.tokens) values[i][v] = L::load_f32(part.weights + i * part.stride + at);
        total[v % L::kParts] = L::add(total[v % L::kParts], values[i][v]);
      }
      rows.total[i] = L::sum16(total);
      // Rounded: a compiler may join the product to the first addition of sum16, on one target and
      // not on another.
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) bias[i][p] =
          L::rounded_mul(total[p], about_zero);
    }
    put_rows<kPlanes, kCount>(part, values, bias, rows);
    rows.side = part.block + view_.side_at +
                static_cast<std::size_t>(part.slot / view_.seal * view_.fields * view_.padded_dim) *
                    side_bytes_;
    rows.unit = 0;
    rows.end_unit = view_.padded_dim / 16;
  }

  // Makes rows of values, negative ones too: a step may be. One or two wait for the other rows of
  // the batch.
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  HWY_INLINE void put_rows(const Part& part, const F32 (&values)[kCount][kTile / L::kLanes],
                           const F32 (&bias)[kCount][L::kParts], Rows<kPlanes>& rows) const {
    constexpr std::uint32_t kVectors = kTile / L::kLanes;
    rows.block = part.block;
    rows.slot = part.slot;
    rows.tokens = part.tokens;
    rows.to_next = part.to_next;
    F32 tops[kCount];
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) {
      tops[i] = L::abs(values[i][0]);
      KVPLEAT_UNROLL for (std::uint32_t v = 1; v < kVectors; ++v) tops[i] =
          L::upper(tops[i], L::abs(values[i][v]));
    }
    if constexpr (kPlanes == 0 || !kStaged<kCount>) {
      F32 left[kCount][L::kParts];
      KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) {
        KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) left[i][p] = bias[i][p];
      }
      if constexpr (kPlanes == 0) {
        KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v)
            L::store_f32(rows.floats + v * L::kLanes, values[0][v]);
        rows.scale[0] = 1.0f;
        rows.any = L::reduce_max(tops[0]) > 0.0f;
      } else {
        code<kPlanes, kCount>(
            tops, [&](std::uint32_t i, std::uint32_t v) HWY_ATTR { return values[i][v]; }, left,
            rows);
      }
      sum<kPlanes, kCount>(left, rows);
    } else {
      KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) {
        L::store_f32(rows.tops + i * 16, tops[i]);
        KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v)
            L::store_f32(rows.values + i * kTile + v * L::kLanes, values[i][v]);
        KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p)
            L::store_f32(rows.left + i * 16 + p * L::kLanes, bias[i][p]);
      }
    }
  }
  // The stages of rows that wait: codes, and what is left of the bias.
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  HWY_INLINE void code_rows(Rows<kPlanes>& rows) const {
    F32 tops[kCount];
    F32 left[kCount][L::kParts];
    load_left<kPlanes, kCount>(rows, left);
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) tops[i] =
        L::load_f32(rows.tops + i * 16);
    code<kPlanes, kCount>(
        tops,
        [&](std::uint32_t i, std::uint32_t v)
            HWY_ATTR { return L::load_f32(rows.values + i * kTile + v * L::kLanes); },
        left, rows);
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) {
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p)
          L::store_f32(rows.left + i * 16 + p * L::kLanes, left[i][p]);
    }
  }
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  HWY_INLINE void sum_rows(Rows<kPlanes>& rows) const {
    F32 left[kCount][L::kParts];
    load_left<kPlanes, kCount>(rows, left);
    sum<kPlanes, kCount>(left, rows);
  }
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  static HWY_INLINE void load_left(const Rows<kPlanes>& rows, F32 (&left)[kCount][L::kParts]) {
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) {
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) left[i][p] =
          L::load_f32(rows.left + i * 16 + p * L::kLanes);
    }
  }
  // Codes of value(row, register), which tops are the largest of. Takes the middle code off `left`.
  template <std::uint32_t kPlanes, std::uint32_t kCount, class Value>
  HWY_INLINE void code(const F32 (&tops)[kCount], Value value, F32 (&left)[kCount][L::kParts],
                       Rows<kPlanes>& rows) const {
    constexpr std::uint32_t kVectors = kTile / L::kLanes;
    float largest[kCount];
    if constexpr (kCount == 4) {
      L::reduce_max_of4(tops, largest);
    } else {
      KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) largest[i] = L::reduce_max(tops[i]);
    }
    bool any = false;
    float factors[kCount];
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) {
      any = any || largest[i] > 0.0f;
      factors[i] = RowPlanes::factor_of(largest[i], kPlanes);
      rows.scale[i] = RowPlanes::unit_of(largest[i], kPlanes);
    }
    rows.any = any;
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) {
      const F32 factor = L::set_f32(factors[i]);
      I32 sums[L::kParts];
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) sums[p] = L::zero_i32();
      KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; v += 4) {
        I32 codes[4];
        KVPLEAT_UNROLL for (std::uint32_t k = 0; k < 4; ++k) {
          codes[k] = L::nearest_i32(L::mul(value(i, v + k), factor));
          I32& sum = sums[(v + k) % L::kParts];
          sum = L::add(sum, codes[k]);
        }
        RowPlanes::store(codes, kPlanes, kTile, rows.bytes + i * kPlanes * kTile + v * L::kLanes);
      }
      const F32 centre = L::set_f32(rows.scale[i] * kernels_.centre);
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) left[i][p] =
          L::neg_mul_add(centre, L::to_f32(sums[p]), left[i][p]);
    }
  }
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  HWY_INLINE void sum(const F32 (&left)[kCount][L::kParts], Rows<kPlanes>& rows) const {
    if constexpr (kCount == 4) {
      L::sum16_of4(left, rows.bias);
    } else {
      KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) rows.bias[i] = L::sum16(left[i]);
    }
    bool any = rows.any;
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) any = any || rows.bias[i] != 0.0f;
    rows.any = any;
  }

  // Adds what rows give.
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  void add(float* sums, const Rows<kPlanes>& rows) const {
    bool any = rows.any;
    if (rows.side != nullptr)
      KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kCount; ++i) any = any || rows.total[i] > 0.0f;
    if (!any) return;
    ValueTile tile;
    tile.view = &view_;
    tile.rows = rows.bytes;
    tile.unit = rows.scale;
    tile.bias = rows.bias;
    tile.total = rows.total;
    tile.side = rows.side;
    tile.sums = sums;
    for (std::uint32_t unit = rows.unit; unit < rows.end_unit; unit += 4) {
      tile.span = {rows.block + static_cast<std::size_t>(unit) * unit_bytes_,
                   unit_bytes_,
                   lower_of(4u, rows.end_unit - unit),
                   view_.block_tokens,
                   rows.slot,
                   rows.tokens,
                   rows.to_next};
      tile.channel = unit * 16;
      if constexpr (kPlanes > 0) {
        kernels_.accumulate[CodeKernels::index(kCount, kPlanes)](tile);
      } else {
        alignas(64) float products[kTile];
        kernels_.floats(tile.span, rows.floats, kernels_.centre, products);
        for (std::uint32_t lane = 0; lane < tile.span.units * 16; lane += L::kLanes) {
          const F32 value = L::add(L::load_f32(products + lane), L::set_f32(rows.bias[0]));
          const ValueSums sums_of(tile, lane);
          if (tile.side == nullptr) {
            sums_of.add(0, value);
          } else {
            sums_of.add(0, value, sums_of.sides());
          }
        }
      }
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
