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
#include "kvpleat/simd/sides-inl.h"
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

  // Units [unit, end_unit) of the 64 tokens from slot `tile` on; queries from `query` on.
  struct Part {
    const std::uint8_t* block;
    std::uint32_t tile;
    std::uint32_t unit;
    std::uint32_t end_unit;
    std::uint32_t query;
    std::intptr_t to_next;
  };
  // Where the scores of the 64 tokens go.
  struct Scores {
    float* to;
    std::uint32_t stride;

    [[nodiscard]] float* row(std::uint32_t i) const {
      return to + static_cast<std::size_t>(i) * stride;
    }
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
    constexpr std::uint32_t kMost = kPlanes == 1 ? 4 : kPlanes == 2 ? 2 : 1;
    std::uint32_t written = 0;
    for (std::uint32_t r = 0; r < a_.run_count; ++r) {
      const BlockRun& run = a_.runs[r];
      const std::intptr_t to_next = L::to_next(a_, r);
      const std::uint32_t end = run.slot + run.count;
      for (std::uint32_t tile = run.slot / kTile * kTile; tile < end; tile += kTile) {
        const std::uint32_t from = upper_of(run.slot, tile) - tile;
        const std::uint32_t n = lower_of(end, tile + kTile) - tile - from;
        for (std::uint32_t j = 0; j < a_.query_count;) {
          const Part part{run.bytes.block,         tile, from / 16,
                          ceil_div(from + n, 16u), j,    j == 0 ? to_next : 0};
          const std::uint32_t left = a_.query_count - j;
          if (left >= kMost) {
            tokens<kPlanes, kMost>(part, from, n, written);
            j += kMost;
          } else if (kMost == 4 && left >= 2) {
            if constexpr (kMost == 4) tokens<kPlanes, 2>(part, from, n, written);
            j += 2;
          } else {
            tokens<kPlanes, 1>(part, from, n, written);
            j += 1;
          }
        }
        written += n;
      }
    }
  }

  // Scores of tokens [from, from + n) of a tile, kCount queries; the first goes to scores[written].
  template <std::uint32_t kPlanes, std::uint32_t kCount>
  void tokens(const Part& part, std::uint32_t from, std::uint32_t n, std::uint32_t written) const {
    float* to = a_.scores + static_cast<std::size_t>(part.query) * a_.stride + written;
    // A whole tile is written where it belongs.
    alignas(64) float buffer[kCount * kTile];
    const bool whole = n == kTile;
    const Scores scores{whole ? to : buffer, whole ? a_.stride : kTile};
    if (view_.seal != 1) {
      folded<kPlanes, kCount>(part, scores);
    } else if constexpr (kPlanes == 0) {
      exact(part, scores.to);
    } else {
      grouped<kPlanes, kCount>(part, scores);
    }
    if (view_.slots > 0) {
      for (std::uint32_t i = 0; i < kCount; ++i) {
        InlineSlots::score<kPlanes>(view_, layout_, a_, part.block, part.tile / 16 + part.unit,
                                    part.tile / 16 + part.end_unit, part.query + i,
                                    scores.row(i) + part.unit * 16);
      }
    }
    if (whole) return;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      std::memcpy(to + static_cast<std::size_t>(i) * a_.stride, buffer + i * kTile + from,
                  n * sizeof(float));
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
  // The first side value of a group in a unit.
  [[nodiscard]] HWY_INLINE const std::uint8_t* side_of(const Part& part, std::uint32_t g,
                                                       std::uint32_t unit) const {
    return part.block + view_.side_at +
           static_cast<std::size_t>(((part.tile / 16 + unit) * view_.groups + g) * view_.fields *
                                    16) *
               side_bytes_;
  }
  [[nodiscard]] const float* query(std::uint32_t j) const {
    return reinterpret_cast<const float*>(a_.work + layout_.floats(j));
  }
  [[nodiscard]] const float* groups_of(std::uint32_t j) const {
    return reinterpret_cast<const float*>(a_.work + layout_.groups(j));
  }

  template <std::uint32_t kPlanes, std::uint32_t kCount>
  void grouped(const Part& part, const Scores& scores) const {
    KeyTile tile;
    tile.span = span_of(part, part.unit, part.end_unit, 0, view_.dim);
    tile.view = &view_;
    tile.rows = a_.work + layout_.rows(part.query, kPlanes);
    tile.stride = layout_.stride;
    tile.groups = groups_of(part.query);
    tile.next = layout_.padded_groups;
    tile.side = side_of(part, 0, part.unit);
    tile.side_stride = view_.groups * view_.fields * 16 * side_bytes_;
    tile.scores = scores.to + part.unit * 16;
    tile.score_stride = scores.stride;
    kernels_.score[CodeKernels::index(kCount, kPlanes)](tile);
  }
  void exact(const Part& part, float* scores) const {
    const SideReader reader(view_);
    alignas(64) float products[kTile];
    const float* of = groups_of(part.query);
    for (std::uint32_t g = 0; g < view_.groups; ++g, ++of) {
      const std::uint32_t begin = g * view_.group_channels;
      const std::uint32_t channels = lower_of(view_.group_channels, view_.dim - begin);
      kernels_.floats(span_of(part, part.unit, part.end_unit, begin, channels),
                      query(part.query) + begin, kernels_.centre, products + part.unit * 16);
      const F32 bias = L::set_f32(of[layout_.padded_groups]);
      const F32 total = L::set_f32(of[2 * layout_.padded_groups]);
      for (std::uint32_t lane = part.unit * 16; lane < part.end_unit * 16; lane += L::kLanes) {
        const Sides sides =
            reader.load(side_of(part, g, lane / 16) + lane % 16 * side_bytes_, 16 * side_bytes_);
        const F32 before = g == 0 ? L::zero_f32() : L::load_f32(scores + lane);
        L::store_f32(scores + lane,
                     L::mul_add(sides.step, L::add(L::load_f32(products + lane), bias),
                                L::mul_add(sides.low, total, before)));
      }
    }
  }

  // Queries times the steps of a group of tokens.
  struct Folded {
    static constexpr std::uint32_t kStride = 640;
    alignas(64) std::uint8_t rows[4 * kStride];  // [count * planes][stride of the layout]
    alignas(64) float floats[kStride];
    float units[4 * kStride / kFold];  // [count][segments]
    float bias[4];
  };

  template <std::uint32_t kPlanes, std::uint32_t kCount>
  void folded(const Part& part, const Scores& scores) const {
    const std::uint32_t seal_units = view_.seal / 16;
    for (std::uint32_t unit = part.unit; unit < part.end_unit;) {
      // Units of the same group of tokens.
      const std::uint32_t group = (part.tile / 16 + unit) / seal_units;
      const std::uint32_t end_unit =
          lower_of(part.end_unit, (group + 1) * seal_units - part.tile / 16);
      Folded folded;
      for (std::uint32_t i = 0; i < kCount; ++i) fold<kPlanes>(part, group, i, folded);
      const CodeSpan span = span_of(part, unit, end_unit, 0, view_.dim);
      float* to = scores.to + unit * 16;
      if constexpr (kPlanes > 0) {
        kernels_.score_folded[CodeKernels::index(kCount, kPlanes)](
            span, folded.rows, layout_.stride, folded.units, folded.bias, to, scores.stride);
      } else {
        kernels_.floats(span, folded.floats, kernels_.centre, to);
        for (std::uint32_t lane = 0; lane < (end_unit - unit) * 16; lane += L::kLanes)
          L::store_f32(to + lane, L::add(L::load_f32(to + lane), L::set_f32(folded.bias[0])));
      }
      unit = end_unit;
    }
  }
  // Row i: query part.query + i times the steps of a group. Four units at a time: what makes one is a
  // chain of reductions.
  template <std::uint32_t kPlanes>
  void fold(const Part& part, std::uint32_t group, std::uint32_t i, Folded& folded) const {
    constexpr std::uint32_t kVectors = kFold / L::kLanes;
    const SideReader reader(view_);
    const std::uint32_t next = view_.padded_dim * side_bytes_;
    const std::uint8_t* side =
        part.block + view_.side_at +
        static_cast<std::size_t>(group * view_.fields * view_.padded_dim) * side_bytes_;
    const float* row = query(part.query + i);
    const F32 about_zero = L::set_f32(kernels_.centre - view_.zero);
    F32 bias[L::kParts];
    KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) bias[p] = L::zero_f32();
    for (std::uint32_t c = 0; c < view_.dim; c += 4 * kFold) {
      alignas(64) float values[4][kFold];
      F32 tops[4];
      for (std::uint32_t k = 0; k < 4; ++k) {
        tops[k] = L::zero_f32();
        KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v) {
          const std::uint32_t at = c + k * kFold + v * L::kLanes;
          F32 value = L::zero_f32();
          if (at < view_.dim) {
            const F32 q = L::load_f32(row + at);
            Sides sides = reader.load(side + at * side_bytes_, next);
            if (view_.dim - at < L::kLanes) {  // side data of padding channels may hold anything
              const L::M32 valid = L::first(view_.dim - at);
              sides.step = L::select(valid, sides.step, L::zero_f32());
              sides.low = L::select(valid, sides.low, L::zero_f32());
            }
            value = L::mul(q, sides.step);
            F32& sum = bias[v % L::kParts];
            sum = L::mul_add(value, about_zero, sum);
            sum = L::mul_add(q, sides.low, sum);
            tops[k] = L::upper(tops[k], L::abs(value));
          }
          L::store_f32(values[k] + v * L::kLanes, value);
        }
      }
      if constexpr (kPlanes == 0) {
        std::memcpy(folded.floats + c, values, sizeof values);
      } else {
        float largest[4];
        L::reduce_max_of4(tops, largest);
        const std::uint32_t units = lower_of(4u, (layout_.stride - c) / kFold);
        float* unit = folded.units + i * ceil_div(view_.dim, kFold) + c / kFold;
        for (std::uint32_t k = 0; k < units; ++k) {
          const F32 factor = L::set_f32(RowPlanes::factor_of(largest[k], kPlanes));
          const float step = RowPlanes::unit_of(largest[k], kPlanes);
          const std::uint32_t at = c + k * kFold;
          if (at < view_.dim) unit[k] = step;
          std::uint8_t* bytes = folded.rows + i * kPlanes * layout_.stride + at;
          const F32 centre = L::set_f32(step * kernels_.centre);
          I32 codes[L::kParts];
          KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) codes[p] = L::zero_i32();
          KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v) {
            RowPlanes::put(L::load_f32(values[k] + v * L::kLanes), factor, kPlanes, layout_.stride,
                           bytes + v * L::kLanes, codes[v % L::kParts]);
          }
          KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) bias[p] =
              L::neg_mul_add(centre, L::to_f32(codes[p]), bias[p]);
        }
      }
    }
    folded.bias[i] = L::sum16(bias);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
