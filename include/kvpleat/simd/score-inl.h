// Scores of keys in canonical tiles.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_SCORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_SCORE_INL_H_
#undef KVPLEAT_SIMD_SCORE_INL_H_
#else
#define KVPLEAT_SIMD_SCORE_INL_H_
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

// q . x of 64 tokens and up to 4 queries at a time. x = (code - zero) * step + low, and codes are
// taken about their centre, so that what a query loses by rounding meets small numbers:
//   groups along channels:  sum over g of step * (unit * (row . codes) + bias) + low * total
//   groups along tokens:    the steps go into the query, once per group of tokens: rows of
//                           q[c] * step[c] in units per 32 channels (one unit for all would drown
//                           the others beside a channel of large values), and
//                           sum over 32s of unit * (row . codes), + bias
class TileScore {
 public:
  static void score(const abi::TileView& view, const abi::ScoreArguments& a,
                    const CodeKernels& kernels) {
    if (a.arithmetic == abi::Arithmetic::kExact) {
      TileScore(view, a, kernels).run<0>();
    } else if (a.arithmetic == abi::Arithmetic::kAccurate) {
      TileScore(view, a, kernels).run<2>();
    } else {
      TileScore(view, a, kernels).run<1>();
    }
  }

 private:
  using L = LaneTools;
  using F32 = L::F32;
  using I32 = L::I32;
  static constexpr std::uint32_t kTile = 64;
  static constexpr std::uint32_t kFold = 32;  // channels of a unit where steps go into the query

  // Units [unit, end_unit) of the 64 tokens from slot `tile` on, `count` queries from `query` on.
  struct Part {
    const std::uint8_t* block;
    std::uint32_t tile;
    std::uint32_t unit;
    std::uint32_t end_unit;
    std::uint32_t query;
    std::uint32_t count;
    std::intptr_t to_next;
  };

  const abi::TileView& view_;
  const abi::ScoreArguments& a_;
  const CodeKernels& kernels_;
  const WorkLayout layout_;
  const std::uint32_t unit_bytes_;
  const std::uint32_t side_bytes_;

  TileScore(const abi::TileView& view, const abi::ScoreArguments& a, const CodeKernels& kernels)
      : view_(view),
        a_(a),
        kernels_(kernels),
        layout_(view),
        unit_bytes_(tile_unit_bytes(view.bits, view.padded_dim)),
        side_bytes_(L::side_bytes(view.side)) {}

  // kPlanes: 8-bit planes of a query; 0: floats.
  template <std::uint32_t kPlanes>
  void run() const {
    constexpr std::uint32_t kMost = kPlanes == 2 ? 2 : 4;
    std::uint32_t written = 0;
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
          const Part part{run.bytes.block,
                          tile,
                          (from - tile) / 16,
                          ceil_div(from - tile + n, 16u),
                          j,
                          count,
                          j == 0 ? to_next : 0};
          alignas(64) float scores[kMost * kTile];
          if (view_.seal == 1) {
            grouped<kPlanes>(part, scores);
          } else {
            folded<kPlanes>(part, scores);
          }
          for (std::uint32_t i = 0; i < count; ++i) {
            if (view_.slots > 0) {
              InlineSlots::score<kPlanes>(view_, layout_, a_, part.block, tile / 16 + part.unit,
                                          tile / 16 + part.end_unit, j + i,
                                          scores + i * kTile + part.unit * 16);
            }
            std::memcpy(a_.scores + static_cast<std::size_t>(j + i) * a_.stride + written,
                        scores + i * kTile + (from - tile), n * sizeof(float));
          }
          j += count;
        }
        written += n;
      }
    }
  }

  [[nodiscard]] HWY_INLINE CodeSpan span_of(const Part& part, std::uint32_t unit,
                                            std::uint32_t end_unit, std::uint32_t channel,
                                            std::uint32_t channels) const {
    return {part.block + static_cast<std::size_t>(part.tile / 16 + unit) * unit_bytes_,
            unit_bytes_,
            end_unit - unit,
            view_.padded_dim,
            channel,
            channels,
            part.to_next};
  }
  // Products of one query as floats.
  template <std::uint32_t kPlanes>
  static HWY_INLINE F32 products(const std::int32_t* sums) {
    const F32 high = L::to_f32(L::load_i32(sums));
    if constexpr (kPlanes == 1) return high;
    return L::mul_add(high, L::set_f32(128.0f), L::to_f32(L::load_i32(sums + kTile)));
  }

  template <std::uint32_t kPlanes>
  void grouped(const Part& part, float* scores) const {
    alignas(64) std::int32_t sums[4 * kTile];
    alignas(64) float exact[4 * kTile];
    for (std::uint32_t g = 0; g < view_.groups; ++g) {
      const std::uint32_t begin = g * view_.group_channels;
      const std::uint32_t channels = lower_of(view_.group_channels, view_.dim - begin);
      const CodeSpan span = span_of(part, part.unit, part.end_unit, begin, channels);
      if constexpr (kPlanes > 0) {
        kernels_.dot(span, a_.work + layout_.rows(part.query, kPlanes) + begin, layout_.stride,
                     part.count * kPlanes, sums + part.unit * 16);
      } else {
        for (std::uint32_t i = 0; i < part.count; ++i)
          kernels_.floats(span, query(part.query + i) + begin, kernels_.centre,
                          exact + i * kTile + part.unit * 16);
      }
      const auto* groups = reinterpret_cast<const float*>(a_.work + layout_.groups(part.query)) + g;
      for (std::uint32_t b = part.unit * L::kParts; b < part.end_unit * L::kParts; ++b) {
        const std::uint8_t* side = side_of(part, g, b);
        if (b % L::kParts == 0) L::prefetch_from(side, part.to_next);
        F32 step = L::set_f32(1.0f);
        F32 low = L::zero_f32();
        if (view_.fields > 0) step = L::load_side(view_.side, side);
        if (view_.fields == 2) {
          low = L::load_side(view_.side, side + 16 * side_bytes_);
          if (view_.zero_stored) low = L::neg_mul_add(low, step, L::zero_f32());
        }
        for (std::uint32_t i = 0; i < part.count; ++i) {
          const float* of = groups + i * 3 * layout_.padded_groups;
          float* at = scores + i * kTile + b * L::kLanes;
          F32 product;
          if constexpr (kPlanes > 0) {
            product = products<kPlanes>(sums + i * kPlanes * kTile + b * L::kLanes);
          } else {
            product = L::load_f32(exact + i * kTile + b * L::kLanes);
          }
          const F32 before = g == 0 ? L::zero_f32() : L::load_f32(at);
          const F32 rest = L::mul_add(low, L::set_f32(of[2 * layout_.padded_groups]), before);
          const F32 sum =
              L::mul_add(L::set_f32(of[0]), product, L::set_f32(of[layout_.padded_groups]));
          L::store_f32(at, L::mul_add(step, sum, rest));
        }
      }
    }
  }
  // The first side value of lanes b of a group.
  [[nodiscard]] HWY_INLINE const std::uint8_t* side_of(const Part& part, std::uint32_t g,
                                                       std::uint32_t b) const {
    const std::uint32_t unit = part.tile / 16 + b / L::kParts;
    return part.block + view_.side_at +
           static_cast<std::size_t>((unit * view_.groups + g) * view_.fields * 16 +
                                    b % L::kParts * L::kLanes) *
               side_bytes_;
  }
  [[nodiscard]] const float* query(std::uint32_t j) const {
    return reinterpret_cast<const float*>(a_.work + layout_.floats(j));
  }

  // A query times the steps of a group of tokens.
  struct Folded {
    alignas(64) std::uint8_t rows[2 * 640];  // [planes][stride]
    alignas(64) float floats[640];
    float units[640 / kFold];
    float bias;
  };

  template <std::uint32_t kPlanes>
  void folded(const Part& part, float* scores) const {
    constexpr std::uint32_t kRows = kPlanes == 2 ? 2 : 1;
    const std::uint32_t seal_units = view_.seal / 16;
    for (std::uint32_t unit = part.unit; unit < part.end_unit;) {
      // Units of the same group of tokens.
      const std::uint32_t in_block = part.tile / 16 + unit;
      const std::uint32_t group = in_block / seal_units;
      const std::uint32_t end_unit =
          lower_of(part.end_unit, (group + 1) * seal_units - part.tile / 16);
      for (std::uint32_t i = 0; i < part.count; ++i) {
        Folded folded;
        fold<kPlanes>(part, group, part.query + i, folded);
        float* out = scores + i * kTile;
        for (std::uint32_t b = unit * L::kParts; b < end_unit * L::kParts; ++b)
          L::store_f32(out + b * L::kLanes, L::set_f32(folded.bias));
        for (std::uint32_t c = 0; c < view_.dim; c += kFold) {
          const CodeSpan span = span_of(part, unit, end_unit, c, lower_of(kFold, view_.dim - c));
          alignas(64) std::int32_t sums[2 * kTile];
          alignas(64) float exact[kTile];
          if constexpr (kPlanes > 0) {
            kernels_.dot(span, folded.rows + c, layout_.stride, kRows, sums + unit * 16);
          } else {
            kernels_.floats(span, folded.floats + c, kernels_.centre, exact + unit * 16);
          }
          const F32 scale = L::set_f32(kPlanes > 0 ? folded.units[c / kFold] : 1.0f);
          for (std::uint32_t b = unit * L::kParts; b < end_unit * L::kParts; ++b) {
            F32 product;
            if constexpr (kPlanes > 0) {
              product = products<kPlanes>(sums + b * L::kLanes);
            } else {
              product = L::load_f32(exact + b * L::kLanes);
            }
            float* at = out + b * L::kLanes;
            L::store_f32(at, L::mul_add(scale, product, L::load_f32(at)));
          }
        }
      }
      unit = end_unit;
    }
  }
  template <std::uint32_t kPlanes>
  void fold(const Part& part, std::uint32_t group, std::uint32_t j, Folded& folded) const {
    constexpr std::uint32_t kVectors = kFold / L::kLanes;
    const std::uint8_t* side =
        part.block + view_.side_at +
        static_cast<std::size_t>(group * view_.fields * view_.padded_dim) * side_bytes_;
    const float* row = query(j);
    const F32 about_zero = L::set_f32(kernels_.centre - view_.zero);
    F32 bias[L::kParts];
    KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) bias[p] = L::zero_f32();
    float correction = 0.0f;
    for (std::uint32_t c = 0; c < layout_.stride; c += kFold) {
      F32 values[kVectors];
      F32 top = L::zero_f32();
      KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v) {
        const std::uint32_t at = c + v * L::kLanes;
        values[v] = L::zero_f32();
        if (at < view_.dim) {
          // Side data of padding channels may hold anything.
          const L::M32 valid = L::first(view_.dim - at);
          const F32 q = L::load_f32(row + at);
          F32 step = L::set_f32(1.0f);
          if (view_.fields > 0)
            step =
                L::select(valid, L::load_side(view_.side, side + at * side_bytes_), L::zero_f32());
          values[v] = L::mul(q, step);
          F32& sum = bias[v % L::kParts];
          sum = L::mul_add(values[v], about_zero, sum);
          if (view_.fields == 2) {
            F32 low = L::load_side(view_.side, side + (view_.padded_dim + at) * side_bytes_);
            if (view_.zero_stored) low = L::neg_mul_add(low, step, L::zero_f32());
            sum = L::mul_add(q, L::select(valid, low, L::zero_f32()), sum);
          }
          top = L::upper(top, L::abs(values[v]));
        }
      }
      if constexpr (kPlanes == 0) {
        KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v)
            L::store_f32(folded.floats + c + v * L::kLanes, values[v]);
      } else {
        const float largest = L::reduce_max(top);
        const float factor = RowPlanes::factor_of(largest);
        I32 codes = L::zero_i32();
        KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v) RowPlanes::put(
            values[v], factor, kPlanes, layout_.stride, folded.rows + c + v * L::kLanes, codes);
        const float unit = RowPlanes::unit_of(largest, kPlanes);
        folded.units[c / kFold] = unit;
        correction += unit * (kernels_.centre * static_cast<float>(L::reduce_add(codes)));
      }
    }
    folded.bias = L::sum16(bias) - correction;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
