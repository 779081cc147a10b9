// Codes of a tile as bytes in lanes, and their dot products with rows of signed bytes.
//
// A unit of a tile is 16 lanes: tokens of a key, channels of a value. Along a unit run its elements:
// channels of a key, tokens of a value; four of them lie in the bytes of a lane. So the two halves
// of attention are one loop: lanes times elements, against rows of 8-bit elements that are broadcast
// four at a time: queries for keys, weights for values.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_CODES_INL_H_
#undef KVPLEAT_SIMD_CODES_INL_H_
#else
#define KVPLEAT_SIMD_CODES_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/sides-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// Part of a tile that a dot product runs over.
struct CodeSpan {
  const std::uint8_t* unit;  // the first unit
  std::uint32_t unit_bytes;
  std::uint32_t units;    // at most 4
  std::uint32_t run;      // elements along a unit, padding included
  std::uint32_t element;  // the first one, a multiple of the span of a step
  std::uint32_t count;    // elements; what is missing in the last step meets zeros in the rows
  std::intptr_t to_next;  // bytes from a line to the same line of what is read next
};

// Loads codes of kBits bits. A step is what a line of the narrowest plane holds: kSpan elements, in
// kQuads registers of 4 elements in every lane. Registers of odd index may hold their code times
// 2^kOddShift: the field where it lies in its byte, without a shift.
template <std::uint32_t kBits>
struct UniformCodes {
  using L = LaneTools;
  static constexpr std::uint32_t kWidest = std::bit_floor(kBits);
  static constexpr std::uint32_t kNarrowest = kBits & (~kBits + 1u);
  static constexpr std::uint32_t kSpan = 32 / kNarrowest;
  static constexpr std::uint32_t kQuads = kSpan / 4;
  static constexpr bool kOnePlane = kWidest == kBits;
  static constexpr std::uint32_t kOddShift =
      kOnePlane && (kBits <= 2 || (kBits == 4 && L::kWholeBytes)) ? kBits : 0;
  // Whether codes take bit 7, in place or not.
  static constexpr bool kWhole = kBits == 8 || (kBits == 4 && kOddShift == 4);
  static constexpr float kCentre = static_cast<float>((1u << kBits) - 1u) * 0.5f;

  // Bytes of the planes before the one that holds bits kShift.. of the code.
  template <std::uint32_t kShift>
  static HWY_INLINE std::uint32_t plane_at(std::uint32_t run) {
    std::uint32_t at = 0;
    for (std::uint32_t rest = kBits, shift = 0; shift < kShift;) {
      const std::uint32_t width = std::bit_floor(rest);
      at += ceil_div(run, 32 / width) * 64;
      shift += width;
      rest -= width;
    }
    return at;
  }
  static constexpr std::uint32_t lines_of(std::uint32_t width) { return kSpan * width / 32; }
  static HWY_INLINE typename L::I32 multiply(typename L::I32 sum, typename L::B8 code,
                                             typename L::B8 row) {
    if constexpr (kWhole) {
      return L::dot_u8s8(sum, code, row);
    } else {
      return L::dot_u7s8(sum, code, row);
    }
  }
  static HWY_INLINE typename L::I32 multiply_at(typename L::I32 sum, typename L::B8 code,
                                                const std::uint8_t* row) {
    if constexpr (kWhole) {
      return L::dot_u8s8_at(sum, code, row);
    } else {
      return L::dot_u7s8_at(sum, code, row);
    }
  }
  // Asks for the lines of a step, one block further.
  template <std::uint32_t kShift = 0>
  static HWY_INLINE void prefetch(const CodeSpan& span, const std::uint8_t* lane,
                                  std::uint32_t step) {
    constexpr std::uint32_t kWidth = std::bit_floor(kBits - kShift);
    constexpr std::uint32_t kLines = lines_of(kWidth);
    const std::uint8_t* at = lane + plane_at<kShift>(span.run) + step * (kLines * 64);
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kLines; ++i)
        L::prefetch_from(at + 64 * i, span.to_next);
    if constexpr (kShift + kWidth < kBits) prefetch<kShift + kWidth>(span, lane, step);
  }
  // codes[i]: elements step * kSpan + 4 * i .. + 3 of one register of lanes, which begins at `lane`.
  static HWY_INLINE void load(const std::uint8_t* lane, std::uint32_t run, std::uint32_t step,
                              typename L::B8 (&codes)[kQuads]) {
    load_plane<0>(lane, run, step, codes);
  }

 private:
  template <std::uint32_t kShift>
  static HWY_INLINE void load_plane(const std::uint8_t* lane, std::uint32_t run, std::uint32_t step,
                                    typename L::B8 (&codes)[kQuads]) {
    constexpr std::uint32_t kWidth = std::bit_floor(kBits - kShift);
    constexpr std::uint32_t kLines = lines_of(kWidth);
    constexpr std::uint32_t kFields = 8 / kWidth;
    const std::uint8_t* at = lane + plane_at<kShift>(run) + step * (kLines * 64);
    typename L::B8 lines[kLines];
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kLines; ++i) lines[i] = L::load_b8(at + 64 * i);
    fields<kShift, kWidth, kFields>(lines, codes, std::make_index_sequence<kQuads>());
    if constexpr (kShift + kWidth < kBits) load_plane<kShift + kWidth>(lane, run, step, codes);
  }
  template <std::uint32_t kShift, std::uint32_t kWidth, std::uint32_t kFields, class Lines,
            std::size_t... kIndices>
  static HWY_INLINE void fields(const Lines& lines, typename L::B8 (&codes)[kQuads],
                                std::index_sequence<kIndices...>) {
    (put<kShift, kWidth, kIndices, kIndices % kFields * kWidth>(lines[kIndices / kFields], codes),
     ...);
  }
  // Adds bits kFrom.. of a line to the code of a quad, at bit kShift, or where an odd quad has it.
  template <std::uint32_t kShift, std::uint32_t kWidth, std::size_t kQuad, std::uint32_t kFrom>
  static HWY_INLINE void put(typename L::B8 line, typename L::B8 (&codes)[kQuads]) {
    constexpr std::uint32_t kTo = kShift + (kQuad % 2 == 1 ? kOddShift : 0);
    constexpr auto kMask = static_cast<std::uint8_t>(((1u << kWidth) - 1u) << kTo);
    typename L::B8 field;
    if constexpr (kWidth == 8) {
      field = line;
    } else if constexpr (kFrom >= kTo) {
      field = L::template field<static_cast<int>(kFrom - kTo)>(line, L::set_byte(kMask));
    } else {
      field = L::template field_up<static_cast<int>(kTo - kFrom)>(line, L::set_byte(kMask));
    }
    codes[kQuad] = kShift == 0 ? field : L::or_(codes[kQuad], field);
  }
};

// Lanes of keys: a tile of up to 64 tokens whose groups run along channels.
struct KeyTile {
  CodeSpan span;  // all its channels
  const abi::TileView* view;
  const std::uint8_t* rows;  // [queries * planes][stride], of the first channel
  std::uint32_t stride;
  const float* groups;        // [queries][3][padded groups]: unit, bias, total
  std::uint32_t next;         // padded groups
  const std::uint8_t* side;   // of the first unit
  std::uint32_t side_stride;  // bytes from unit to unit
  float* scores;              // [queries][score_stride], of the first unit
  std::uint32_t score_stride;
};
// Lanes of values: up to 64 channels, over tokens whose weights are in one unit.
struct ValueTile {
  CodeSpan span;
  const abi::TileView* view;
  const std::uint8_t* rows;  // [queries * planes][64]
  const float* unit;         // [queries]
  const float* bias;
  const float* total;        // sum of the weights, if there is
  const std::uint8_t* side;  // the scales of the channels, or null
  std::uint32_t channel;     // of the first lane
  float* sums;               // [queries, padded dim], 64-byte aligned
};

// What products of a register of lanes add to the sums of queries, as they are, or where scales of
// channels are left to apply.
class ValueSums {
 public:
  using L = LaneTools;

  HWY_INLINE ValueSums(const ValueTile& tile, std::uint32_t lane)
      : tile_(tile), channel_(tile.channel + lane) {}

  HWY_INLINE void add(std::uint32_t q, L::F32 value) const {
    float* sums = at(q);
    L::store_f32(sums, L::add(L::load_f32(sums), value));
  }
  HWY_INLINE void add(std::uint32_t q, L::F32 value, const Sides& sides) const {
    float* sums = at(q);
    const L::F32 low = L::mul_add(sides.low, L::set_f32(tile_.total[q]), L::load_f32(sums));
    L::store_f32(sums, L::mul_add(sides.step, value, low));
  }
  [[nodiscard]] HWY_INLINE Sides sides() const {
    const SideReader reader(*tile_.view);
    return reader.load(tile_.side + channel_ * reader.bytes, tile_.view->padded_dim * reader.bytes);
  }

 private:
  [[nodiscard]] HWY_INLINE float* at(std::uint32_t q) const {
    return tile_.sums + static_cast<std::size_t>(q) * tile_.view->padded_dim + channel_;
  }

  const ValueTile& tile_;
  const std::uint32_t channel_;
};

// Dot products of codes with the 8-bit rows of kQueries queries in kPlanes planes: product = 128 *
// high + low, or the one there is. Sums are exact up to there: |row| * code summed over the
// elements, and that times 2^kOddShift, must stay below 2^31.
template <class Codes, std::uint32_t kQueries, std::uint32_t kPlanes>
struct CodeDots {
  using L = LaneTools;
  using F32 = L::F32;
  using I32 = L::I32;
  static constexpr std::uint32_t kRows = kQueries * kPlanes;

  // scores = sum over groups of step * (unit * product + bias) + low * total.
  static HWY_NOINLINE void score(const KeyTile& tile) {
    each_block(tile.span.units, [&](auto count, std::uint32_t block) HWY_ATTR {
      score_blocks<decltype(count)::value>(tile, block);
    });
  }
  // scores = bias + sum over segments of kSegment channels of unit * product.
  //   units: [queries][segments]
  static HWY_NOINLINE void score_folded(const CodeSpan& span, const std::uint8_t* rows,
                                        std::uint32_t stride, const float* units, const float* bias,
                                        float* scores, std::uint32_t score_stride) {
    each_block(span.units, [&](auto count, std::uint32_t block) HWY_ATTR {
      folded_blocks<decltype(count)::value>(span, block, rows, stride, units, bias,
                                            scores + block * L::kLanes, score_stride);
    });
  }
  // sums += unit * product + bias, or step * that + low * total.
  static HWY_NOINLINE void accumulate(const ValueTile& tile) {
    each_block(
        tile.span.units, [&](auto count, std::uint32_t block) HWY_ATTR
        __attribute__((always_inline)) { accumulate_blocks<decltype(count)::value>(tile, block); });
  }

  static constexpr std::uint32_t kSegment = 32;

 private:
  // Registers of lanes at once, so that the broadcasts of a row are shared, and a dot product waits
  // for none before it: vpdpbusd has a latency of 4 to 5. Widths in planes spend their time on
  // putting codes together: one at a time, which compiles in a third of the time. One row: one at a
  // time as well, so that a block is read from its first byte to its last, as the hardware's
  // prefetcher needs it. In L2 that costs 0.8 ns per token of int4 keys and values; from memory it
  // takes 6.8, with two at a time 8.3, with four 9.9 (one core of a Zen 4 server, g++ 12).
  static constexpr std::uint32_t kBlocks = !Codes::kOnePlane || Codes::kWidest == 1 ? 1
                                           : L::kLanes != 16                        ? 4 / kRows
                                           : KVPLEAT_LANES == KVPLEAT_LANES_PLAIN   ? 1
                                           : kRows == 1                             ? 1
                                           : kRows == 4                             ? 2
                                                                                    : 4;
  // Two sums, of the even and the odd registers of a step.
  static constexpr std::uint32_t kClasses = Codes::kQuads > 1 ? 2 : 1;

  template <std::uint32_t kCount>
  struct State {
    I32 acc[kRows][kCount][kClasses];
    const std::uint8_t* lanes[kCount];
  };

  template <class Run>
  static HWY_INLINE void each_block(std::uint32_t units, Run run) {
    const std::uint32_t blocks = units * L::kParts;
    std::uint32_t block = 0;
    for (; block + kBlocks <= blocks; block += kBlocks)
      run(std::integral_constant<std::uint32_t, kBlocks>(), block);
    if constexpr (kBlocks > 1) {
      for (; block < blocks; ++block) run(std::integral_constant<std::uint32_t, 1>(), block);
    }
  }
  template <std::uint32_t kCount>
  static HWY_INLINE void clear(State<kCount>& state) {
    KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRows; ++r) {
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
        KVPLEAT_UNROLL for (std::uint32_t c = 0; c < kClasses; ++c) state.acc[r][b][c] =
            L::zero_i32();
      }
    }
  }
  template <std::uint32_t kCount>
  static HWY_INLINE void locate(const CodeSpan& span, std::uint32_t block, State<kCount>& state) {
    KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
      state.lanes[b] = span.unit + (block + b) / L::kParts * span.unit_bytes +
                       (block + b) % L::kParts * L::kBytes;
    }
  }
  // Elements [element, element + count); rows: at the first of them.
  template <std::uint32_t kCount>
  static HWY_INLINE void steps(const CodeSpan& span, std::uint32_t block, std::uint32_t element,
                               std::uint32_t count, const std::uint8_t* rows, std::uint32_t stride,
                               State<kCount>& state) {
    clear(state);
    const std::uint32_t end = ceil_div(element + count, Codes::kSpan);
    for (std::uint32_t step = element / Codes::kSpan; step < end; ++step, rows += Codes::kSpan) {
      typename L::B8 codes[kCount][Codes::kQuads];
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
        Codes::load(state.lanes[b], span.run, step, codes[b]);
        if (L::kParts == 1 || (block + b) % L::kParts == 0)
          Codes::prefetch(span, state.lanes[b], step);
      }
      KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRows; ++r) {
        KVPLEAT_UNROLL for (std::uint32_t i = 0; i < Codes::kQuads; ++i) {
          const typename L::B8 four = L::bcast4(rows + r * stride + 4 * i);
          KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
            I32& sum = state.acc[r][b][kClasses == 1 ? 0 : i % 2];
            sum = Codes::multiply(sum, codes[b][i], four);
          }
        }
      }
    }
  }
  // One row of one register of lanes, over all elements of a span. Few instructions for a step, so
  // that the next lanes begin while the sums of these wait for each other: 2.6 -> 2.1 ns per token of
  // int4 values in L2, 3.3 -> 3.0 from memory. Keys would take 1.5 instead of 1.8 ns in L2, but 3.4
  // instead of 3.0 from memory, whose answers cannot keep up with what is asked for (one core of a
  // Zen 4 server, g++ 12).
  static constexpr bool kShortSteps = kRows == 1 && kBlocks == 1 && L::kLanes == 16;
  static HWY_INLINE void short_steps(const CodeSpan& span, const std::uint8_t* rows,
                                     State<1>& state) {
    constexpr std::uint32_t kSteps = lower_of(8u, 64 / Codes::kSpan);
    clear(state);
    const std::uint32_t end = ceil_div(span.element + span.count, Codes::kSpan);
    std::uint32_t step = span.element / Codes::kSpan;
    for (; step + kSteps <= end; step += kSteps, rows += kSteps * Codes::kSpan) {
      KVPLEAT_UNROLL for (std::uint32_t s = 0; s < kSteps; ++s)
          short_step(span, step + s, rows + s * Codes::kSpan, state);
    }
    for (; step < end; ++step, rows += Codes::kSpan) short_step(span, step, rows, state);
  }
  static HWY_INLINE void short_step(const CodeSpan& span, std::uint32_t step,
                                    const std::uint8_t* rows, State<1>& state) {
    typename L::B8 codes[Codes::kQuads];
    Codes::load(state.lanes[0], span.run, step, codes);
    Codes::prefetch(span, state.lanes[0], step);
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < Codes::kQuads; ++i) {
      I32& sum = state.acc[0][0][kClasses == 1 ? 0 : i % 2];
      sum = Codes::multiply_at(sum, codes[i], rows + 4 * i);
    }
  }
  static HWY_INLINE I32 odd(I32 sum) {
    if constexpr (Codes::kOddShift == 0) {
      return sum;
    } else {
      return L::template shift_right<static_cast<int>(Codes::kOddShift)>(sum);
    }
  }
  static HWY_INLINE F32 total(const I32 (&acc)[kClasses]) {
    if constexpr (kClasses == 2) {
      return L::to_f32(L::add(acc[0], odd(acc[1])));
    } else {
      return L::to_f32(acc[0]);
    }
  }
  template <std::uint32_t kCount>
  static HWY_INLINE F32 product(const State<kCount>& state, std::uint32_t q, std::uint32_t b) {
    const F32 high = total(state.acc[q * kPlanes][b]);
    if constexpr (kPlanes == 1) {
      return high;
    } else {
      return L::mul_add(high, L::set_f32(128.0f), total(state.acc[q * kPlanes + 1][b]));
    }
  }

  template <std::uint32_t kCount>
  static HWY_INLINE void score_blocks(const KeyTile& tile, std::uint32_t block) {
    const abi::TileView& view = *tile.view;
    const SideReader reader(view);
    State<kCount> state;
    locate(tile.span, block, state);
    F32 scores[kQueries][kCount];
    KVPLEAT_UNROLL for (std::uint32_t q = 0; q < kQueries; ++q) {
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) scores[q][b] = L::zero_f32();
    }
    const float* of = tile.groups;
    const std::uint8_t* side = tile.side;
    for (std::uint32_t begin = 0; begin < view.dim; begin += view.group_channels, ++of) {
      steps(tile.span, block, begin, lower_of(view.group_channels, view.dim - begin),
            tile.rows + begin, tile.stride, state);
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
        const std::uint8_t* at = side + (block + b) / L::kParts * tile.side_stride;
        if (L::kParts == 1 || (block + b) % L::kParts == 0) L::prefetch_from(at, tile.span.to_next);
        const Sides sides =
            reader.load(at + (block + b) % L::kParts * L::kLanes * reader.bytes, 16 * reader.bytes);
        KVPLEAT_UNROLL for (std::uint32_t q = 0; q < kQueries; ++q) {
          const float* mine = of + q * 3 * tile.next;
          const F32 sum =
              L::mul_add(L::set_f32(mine[0]), product(state, q, b), L::set_f32(mine[tile.next]));
          const F32 rest = L::mul_add(sides.low, L::set_f32(mine[2 * tile.next]), scores[q][b]);
          scores[q][b] = L::mul_add(sides.step, sum, rest);
        }
      }
      side += view.fields * 16 * reader.bytes;
    }
    KVPLEAT_UNROLL for (std::uint32_t q = 0; q < kQueries; ++q) {
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
        L::store_f32(tile.scores + q * tile.score_stride + (block + b) * L::kLanes, scores[q][b]);
      }
    }
  }

  template <std::uint32_t kCount>
  static HWY_INLINE void folded_blocks(const CodeSpan& span, std::uint32_t block,
                                       const std::uint8_t* rows, std::uint32_t stride,
                                       const float* units, const float* bias, float* scores,
                                       std::uint32_t score_stride) {
    State<kCount> state;
    locate(span, block, state);
    F32 sums[kQueries][kCount];
    KVPLEAT_UNROLL for (std::uint32_t q = 0; q < kQueries; ++q) {
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) sums[q][b] = L::set_f32(bias[q]);
    }
    const std::uint32_t segments = ceil_div(span.count, kSegment);
    for (std::uint32_t s = 0; s < segments; ++s) {
      steps(span, block, s * kSegment, lower_of(kSegment, span.count - s * kSegment),
            rows + s * kSegment, stride, state);
      KVPLEAT_UNROLL for (std::uint32_t q = 0; q < kQueries; ++q) {
        const F32 unit = L::set_f32(units[q * segments + s]);
        KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) sums[q][b] =
            L::mul_add(unit, product(state, q, b), sums[q][b]);
      }
    }
    KVPLEAT_UNROLL for (std::uint32_t q = 0; q < kQueries; ++q) {
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b)
          L::store_f32(scores + q * score_stride + b * L::kLanes, sums[q][b]);
    }
  }

  template <std::uint32_t kCount>
  static HWY_INLINE void accumulate_blocks(const ValueTile& tile, std::uint32_t block) {
    State<kCount> state;
    locate(tile.span, block, state);
    if constexpr (kShortSteps) {
      short_steps(tile.span, tile.rows, state);
    } else {
      steps(tile.span, block, tile.span.element, tile.span.count, tile.rows, 64, state);
    }
    if (HWY_LIKELY(tile.side == nullptr)) {
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
        KVPLEAT_UNROLL for (std::uint32_t q = 0; q < kQueries; ++q)
            ValueSums(tile, (block + b) * L::kLanes)
                .add(q, value(tile, state, q, b));
      }
      return;
    }
    KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
      const ValueSums sums(tile, (block + b) * L::kLanes);
      const Sides sides = sums.sides();  // once for all queries
      KVPLEAT_UNROLL for (std::uint32_t q = 0; q < kQueries; ++q)
          sums.add(q, value(tile, state, q, b), sides);
    }
  }
  template <std::uint32_t kCount>
  static HWY_INLINE F32 value(const ValueTile& tile, const State<kCount>& state, std::uint32_t q,
                              std::uint32_t b) {
    return L::mul_add(L::set_f32(tile.unit[q]), product(state, q, b), L::set_f32(tile.bias[q]));
  }
};

// The same in floats, for one row: sums[lane] = sum of (code - centre) * row[element]. The centre
// keeps the sum small where the rest of it is known exactly.
template <class Codes>
struct CodeFloats {
  using L = LaneTools;

  static HWY_NOINLINE void dot(const CodeSpan& span, const float* row, float centre, float* sums) {
    for (std::uint32_t block = 0; block < span.units * L::kParts; ++block) {
      const std::uint8_t* lane =
          span.unit + block / L::kParts * span.unit_bytes + block % L::kParts * L::kBytes;
      const std::uint32_t first = span.element / Codes::kSpan;
      const std::uint32_t end = ceil_div(span.element + span.count, Codes::kSpan);
      const float* at = row;
      // Two: the sum of one would wait for each addition before it.
      typename L::F32 sum[2] = {L::zero_f32(), L::zero_f32()};
      for (std::uint32_t step = first; step < end; ++step, at += Codes::kSpan) {
        typename L::B8 codes[Codes::kQuads];
        Codes::load(lane, span.run, step, codes);
        KVPLEAT_UNROLL for (std::uint32_t i = 0; i < Codes::kQuads; ++i) {
          const float unit = i % 2 == 1 ? 1.0f / static_cast<float>(1u << Codes::kOddShift) : 1.0f;
          const typename L::I32 four = L::as_i32(codes[i]);
          sum[0] = add<0>(four, unit, centre, at + 4 * i, sum[0]);
          sum[1] = add<8>(four, unit, centre, at + 4 * i + 1, sum[1]);
          sum[0] = add<16>(four, unit, centre, at + 4 * i + 2, sum[0]);
          sum[1] = add<24>(four, unit, centre, at + 4 * i + 3, sum[1]);
        }
      }
      L::store_f32(sums + block * L::kLanes, L::add(sum[0], sum[1]));
    }
  }

 private:
  template <int kByte>
  static HWY_INLINE typename L::F32 add(typename L::I32 four, float unit, float centre,
                                        const float* row, typename L::F32 sum) {
    const typename L::I32 code =
        L::and_(kByte == 0 ? four : L::template shift_right<kByte>(four), L::set_i32(255));
    const typename L::F32 value =
        L::mul_add(L::to_f32(code), L::set_f32(unit), L::set_f32(-centre));
    return L::mul_add(value, L::set_f32(*row), sum);
  }
};

// The kernels of one kind of codes, for drivers that do not depend on it: for 1, 2 and 4 queries in
// one plane, then 1 and 2 in two.
struct CodeKernels {
  static constexpr std::uint32_t index(std::uint32_t queries, std::uint32_t planes) {
    return planes == 1 ? queries / 2 : 2 + queries;
  }
  void (*score[5])(const KeyTile&);
  void (*score_folded[5])(const CodeSpan&, const std::uint8_t*, std::uint32_t, const float*,
                          const float*, float*, std::uint32_t);
  void (*accumulate[5])(const ValueTile&);
  void (*floats)(const CodeSpan&, const float*, float, float*);
  float centre;  // the middle of the codes

  template <class Codes>
  static constexpr CodeKernels of() {
    return {{&CodeDots<Codes, 1, 1>::score, &CodeDots<Codes, 2, 1>::score,
             &CodeDots<Codes, 4, 1>::score, &CodeDots<Codes, 1, 2>::score,
             &CodeDots<Codes, 2, 2>::score},
            {&CodeDots<Codes, 1, 1>::score_folded, &CodeDots<Codes, 2, 1>::score_folded,
             &CodeDots<Codes, 4, 1>::score_folded, &CodeDots<Codes, 1, 2>::score_folded,
             &CodeDots<Codes, 2, 2>::score_folded},
            {&CodeDots<Codes, 1, 1>::accumulate, &CodeDots<Codes, 2, 1>::accumulate,
             &CodeDots<Codes, 4, 1>::accumulate, &CodeDots<Codes, 1, 2>::accumulate,
             &CodeDots<Codes, 2, 2>::accumulate},
            &CodeFloats<Codes>::dot,
            Codes::kCentre};
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
