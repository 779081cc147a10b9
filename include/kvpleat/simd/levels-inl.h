// Kernels of codebook tiles: codes of 1 to 6 bits stand for the levels of a codebook (CodebookQuant).
// Groups run along channels, each with one scale per token.
//
// A code is turned into the byte of its level by a lookup in a register; levels are
// level_unit * (-127 .. 127), and the middle of a codebook is zero, so that there is nothing to
// centre. Dot products are those of unsigned and signed bytes:
//   keys:    levels + 128 with the 8-bit query; the sum of the query takes the 128 back, exactly
//   values:  8-bit weights, 0 .. 255, with the levels
// What is rounded, beside float sums (x: channel or token, of `largest` magnitude in a group):
//   kFast:      queries to largest / 127, weights times scale to largest / 255 over 64 tokens, levels
//               to level_unit. A level is off by 0.29 level_unit (RMS): .0077 of the length of a
//               row of 4-bit codes, .0011 of one of 2 bits, which is below a tenth of what the
//               codes themselves are off by.
//   kAccurate:  queries to largest / 16319, weights to largest / 32767, levels to level_unit / 128;
//               products of two low halves (64 * 64 of 2^-28 and less) are left out
//   kExact:     nothing
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_LEVELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_LEVELS_INL_H_
#undef KVPLEAT_SIMD_LEVELS_INL_H_
#else
#define KVPLEAT_SIMD_LEVELS_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/log_scale.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/role.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/codes-inl.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/query-inl.h"
#include "kvpleat/simd/slots-inl.h"
#include "kvpleat/simd/work.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What only these kernels ask of a target.
struct LevelLanes : LaneTools {
#if KVPLEAT_LANES != KVPLEAT_LANES_PLAIN
  // Every byte moved by kBits, to the right if positive. What comes in from the neighbour is left.
  template <int kBits>
  static HWY_INLINE B8 move(B8 a) {
    if constexpr (kBits == 0) {
      return a;
    } else if constexpr (kBits > 0) {
      return hn::BitCast(DB(), hn::ShiftRight<kBits>(hn::BitCast(DW(), a)));
    } else {
      return hn::BitCast(DB(), hn::ShiftLeft<-kBits>(hn::BitCast(DW(), a)));
    }
  }
  // Bits of a where they are set in the mask, else of b. (IfVecThenElse takes whole bytes by their
  // upper bit on SSE4 and AVX2.)
  static HWY_INLINE B8 blend(B8 mask, B8 a, B8 b) {
#if KVPLEAT_LANES == KVPLEAT_LANES_SSE || KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    return xor_(b, and_(mask, xor_(a, b)));
#else
    return hn::IfVecThenElse(mask, a, b);
#endif
  }
  // table[index].
  static HWY_INLINE F32 gather(const float* table, I32 index) {
    return hn::GatherIndex(DF(), table, index);
  }
  // LogScale8 as its table has it: a root times a power of two is exact.
  static HWY_INLINE F32 load_log_scale(const std::uint8_t* at) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    const I32 code = load_u8(at);
    const I32 place = add(code, set_i32(8));
    const F32 root{_mm512_permutexvar_ps(place.raw, load_f32(log_scale::kRoots).raw)};
    const I32 octave = shift_left<23>(sub(shift_right<4>(place), set_i32(8)));
    const F32 value = bits_f32(add(bits_i32(root), octave));
    return F32{_mm512_maskz_mov_ps(_mm512_test_epi32_mask(code.raw, code.raw), value.raw)};
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    return gather(log_scale::kValues.data(), load_u8(at));
#else
    return load_side(abi::Side::kLogScale8, at);
#endif
  }
#else
  template <int kBits>
  static HWY_INLINE B8 move(const B8& a) {
    B8 v;
    for (std::uint32_t i = 0; i < kBytes; ++i)
      v.byte[i] = static_cast<std::uint8_t>(kBits >= 0 ? a.byte[i] >> kBits : a.byte[i] << -kBits);
    return v;
  }
  static HWY_INLINE B8 blend(const B8& mask, const B8& a, const B8& b) {
    return select_bytes(mask, a, b);
  }
  static HWY_INLINE F32 gather(const float* table, const I32& index) {
    F32 v;
    for (std::uint32_t i = 0; i < kLanes; ++i) v.lane[i] = table[index.lane[i]];
    return v;
  }
  static HWY_INLINE F32 load_log_scale(const std::uint8_t* at) {
    return load_side(abi::Side::kLogScale8, at);
  }
#endif
  // kLanes scales in a row.
  static HWY_INLINE F32 load_step(abi::Side side, const std::uint8_t* at) {
    if (HWY_LIKELY(side == abi::Side::kHalf)) return load_half(at);
    return side == abi::Side::kLogScale8 ? load_log_scale(at) : load_side(side, at);
  }
};

// Codes of kBits bits as indices of a lookup. The lower kBits of a byte are the code, the others may
// be anything, since the tables repeat: that saves the masks. Two codes of 2 or 3 bits are one index
// for two tables, the even quad in the lower bits: that saves half of what puts indices together.
template <std::uint32_t kBits>
struct LevelCodes {
  using L = LevelLanes;
  using B8 = L::B8;
  using Codes = UniformCodes<kBits>;
  static constexpr std::uint32_t kSpan = Codes::kSpan;
  static constexpr std::uint32_t kQuads = Codes::kQuads;
  static constexpr std::uint32_t kWide = std::bit_floor(kBits);
  static constexpr std::uint32_t kNarrow = kBits - kWide;  // 0: one plane
  static constexpr std::uint32_t kWideLines = Codes::lines_of(kWide);
  static constexpr std::uint32_t kLines = kWideLines + (kNarrow > 0 ? 1 : 0);
  static_assert(kNarrow == 0 || Codes::lines_of(kNarrow) == 1);

  static HWY_INLINE void load(const std::uint8_t* lane, std::uint32_t run, std::uint32_t step,
                              B8 (&lines)[kLines]) {
    const std::uint8_t* at = lane + step * (kWideLines * 64);
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kWideLines; ++i) lines[i] =
        L::load_b8(at + 64 * i);
    if constexpr (kNarrow > 0)
      lines[kWideLines] = L::load_b8(lane + Codes::template plane_at<kWide>(run) + step * 64);
  }
  template <std::size_t kQuad>
  static HWY_INLINE B8 index(const B8 (&lines)[kLines]) {
    constexpr std::uint32_t kFields = 8 / kWide;
    const B8 wide =
        L::template move<static_cast<int>(kQuad % kFields * kWide)>(lines[kQuad / kFields]);
    if constexpr (kNarrow == 0) {
      return wide;
    } else {
      const B8 narrow =
          L::template move<static_cast<int>(kQuad * kNarrow) - static_cast<int>(kWide)>(
              lines[kWideLines]);
      return L::blend(L::set_byte(static_cast<std::uint8_t>((1u << kWide) - 1u)), wide, narrow);
    }
  }

  // The byte that stands for a code of quad kQuad, alone or beside its neighbour: bits of the wide
  // plane, two codes of them, then bits of the narrow one.
  template <std::size_t kQuad>
  static HWY_INLINE B8 place(const B8 (&lines)[kLines]) {
    if constexpr (!kPaired) {
      return index<kQuad>(lines);
    } else if constexpr (kNarrow == 0) {
      return index<kQuad / 2 * 2>(lines);
    } else {
      constexpr std::uint32_t kEven = kQuad / 2 * 2;
      constexpr std::uint32_t kFields = 8 / kWide;
      const B8 wide =
          L::template move<static_cast<int>(kEven % kFields * kWide)>(lines[kEven / kFields]);
      const B8 narrow =
          L::template move<static_cast<int>(kEven * kNarrow) - static_cast<int>(2 * kWide)>(
              lines[kWideLines]);
      return L::blend(L::set_byte(static_cast<std::uint8_t>((1u << 2 * kWide) - 1u)), wide, narrow);
    }
  }

  // A table of up to 16 entries is repeated in every 16 bytes, which is as far as targets without
  // 64-byte lookups look with one instruction.
  static constexpr bool kShort =
      kBits <= 4 && KVPLEAT_LANES != KVPLEAT_LANES_VNNI && KVPLEAT_LANES != KVPLEAT_LANES_PLAIN;
  static constexpr bool kPaired = kBits == 2 || (kBits == 3 && !kShort);
  struct ShortTable {
    B8 entries;
  };
  using OneTable = std::conditional_t<kShort, ShortTable, L::Table64>;
  struct Table {
    OneTable of[kPaired ? 2 : 1];
  };
  static HWY_INLINE OneTable one_table(const std::uint8_t* bytes) {
    if constexpr (kShort) {
      return ShortTable{L::bcast16(bytes)};
    } else {
      return L::load_table64(bytes);
    }
  }
  static HWY_INLINE Table table(const std::uint8_t (&bytes)[2][64]) {
    if constexpr (kPaired) {
      return {{one_table(bytes[0]), one_table(bytes[1])}};
    } else {
      return {{one_table(bytes[0])}};
    }
  }
  // What quad kQuad has in the table, by what place gives.
  template <std::size_t kQuad>
  static HWY_INLINE B8 lookup(const Table& table, B8 place) {
    const OneTable& one = table.of[kPaired ? kQuad % 2 : 0];
    if constexpr (kShort) {
      return L::lookup16(one.entries, L::and_(place, L::set_byte(15)));
    } else {
      return L::lookup64(one, place);
    }
  }
};

// The even and the odd code of an index of two: two bits each, then `narrow` more each.
struct PairCodes {
  alignas(64) std::uint8_t of[2][64];

  explicit constexpr PairCodes(std::uint32_t narrow) : of{} {
    for (std::uint32_t k = 0; k < 2; ++k) {
      for (std::uint32_t i = 0; i < 64; ++i) {
        const std::uint32_t wide = (i >> (2 * k)) & 3u;
        of[k][i] = static_cast<std::uint8_t>(wide | (((narrow * i) >> (4 + k)) & 1u) << 2);
      }
    }
  }
};

// The bytes of levels by code, filled up to 64 by repetition; where an index holds two codes, by it,
// for the even one and the odd one.
struct LevelTables {
  alignas(64) std::uint8_t high[2][64];
  alignas(64) std::uint8_t low[2][64];  // of two planes

  // Biased: + 128 in both.
  LevelTables(const abi::TileView& view, bool two_planes, bool biased) {
    const std::uint32_t bias = biased ? 0x80u : 0u;
    if (two_planes) {
      const std::uint32_t last = (1u << view.bits) - 1u;
      for (std::uint32_t i = 0; i < 64; ++i) {
        const std::int32_t fine =
            round_to_signed(view.levels[i & last] / view.level_unit * 128.0f, 127 * 128);
        const std::int32_t level = (fine + 64) >> 7;
        high[0][i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(level) ^ bias);
        low[0][i] =
            static_cast<std::uint8_t>(static_cast<std::uint32_t>(fine - level * 128) ^ bias);
      }
    } else {
      for (std::uint32_t i = 0; i < 64; i += L::kBytes) {
        const B8 levels = L::load_b8(reinterpret_cast<const std::uint8_t*>(view.levels8) + i);
        L::store_b8(high[0] + i, L::xor_(levels, L::set_byte(static_cast<std::uint8_t>(bias))));
      }
    }
    if (view.bits == 2 && LevelCodes<2>::kPaired) {
      static constexpr PairCodes kCodes(0);
      spread(kCodes, two_planes);
    } else if (view.bits == 3 && LevelCodes<3>::kPaired) {
      static constexpr PairCodes kCodes(1);
      spread(kCodes, two_planes);
    }
  }

 private:
  using L = LevelLanes;
  using B8 = L::B8;

  void spread(const PairCodes& codes, bool two_planes) {
    spread(codes, high);
    if (two_planes) spread(codes, low);
  }
  static void spread(const PairCodes& codes, std::uint8_t (&table)[2][64]) {
    alignas(64) std::uint8_t bytes[64];  // a table may be read from memory
    std::memcpy(bytes, table[0], sizeof bytes);
    const auto levels = L::load_table64(bytes);
    for (std::uint32_t k = 0; k < 2; ++k) {
      for (std::uint32_t i = 0; i < 64; i += L::kBytes)
        L::store_b8(table[k] + i, L::lookup64(levels, L::load_b8(codes.of[k] + i)));
    }
  }
};

// sums[row * 64 + lane] = start[row] + sum over the elements of a span of level * row[element].
//   keys:    biased levels, rows of signed bytes
//   values:  levels, rows of unsigned bytes
template <std::uint32_t kBits, Role kRole, std::uint32_t kRows>
struct LevelDots {
  using L = LevelLanes;
  using B8 = L::B8;
  using I32 = L::I32;
  using Codes = LevelCodes<kBits>;

  static HWY_NOINLINE void dot(const CodeSpan& span, const LevelTables& tables,
                               const std::uint8_t* rows, std::uint32_t stride,
                               const std::int32_t* start, std::int32_t* sums) {
    const std::uint32_t blocks = span.units * L::kParts;
    std::uint32_t block = 0;
    for (; block + kBlocks <= blocks; block += kBlocks)
      run<kBlocks>(span, block, tables, rows, stride, start, sums + block * L::kLanes);
    if constexpr (L::kParts % kBlocks != 0) {
      for (; block < blocks; ++block)
        run<1>(span, block, tables, rows, stride, start, sums + block * L::kLanes);
    }
  }

 private:
  // Registers of lanes at once, so that the broadcasts of a row are shared and a dot product waits
  // for none before it. Targets that build lookups and products of several instructions have other
  // things to do meanwhile. One row: one at a time, so that a block is read in the order of its
  // bytes (codes-inl.h): from memory 6.0 ns per token of 4-bit keys and values, with two at a time
  // 7.2, with four 8.4 (one core of a Zen 4 server, g++ 12).
  static constexpr std::uint32_t kBlocks = KVPLEAT_LANES == KVPLEAT_LANES_PLAIN ? 1
                                           : L::kLanes == 16                    ? (kRows == 1   ? 1
                                                                                   : kRows == 4 ? 2
                                                                                                : 4)
                                                             : (kRows == 4 ? 1 : 2);

  template <std::uint32_t kCount>
  static HWY_INLINE void run(const CodeSpan& span, std::uint32_t block, const LevelTables& tables,
                             const std::uint8_t* rows, std::uint32_t stride,
                             const std::int32_t* start, std::int32_t* sums) {
    I32 acc[kRows][kCount];
    KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRows; ++r) {
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) acc[r][b] = L::set_i32(start[r]);
    }
    const std::uint8_t* lanes[kCount];
    KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
      lanes[b] = span.unit + (block + b) / L::kParts * span.unit_bytes +
                 (block + b) % L::kParts * L::kBytes;
    }
    const auto table = Codes::table(tables.high);
    const std::uint32_t first = span.element / Codes::kSpan;
    const std::uint32_t end = ceil_div(span.element + span.count, Codes::kSpan);
    for (std::uint32_t step = first; step < end; ++step, rows += Codes::kSpan) {
      B8 lines[kCount][Codes::kLines];
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
        Codes::load(lanes[b], span.run, step, lines[b]);
        if (L::kParts == 1 || (block + b) % L::kParts == 0)
          Codes::Codes::prefetch(span, lanes[b], step);
      }
      quads<kCount>(table, lines, rows, stride, acc, std::make_index_sequence<Codes::kQuads>());
    }
    KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRows; ++r) {
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b)
          L::store_i32(sums + r * 64 + b * L::kLanes, acc[r][b]);
    }
  }
  template <std::uint32_t kCount, std::size_t... kIndices>
  static HWY_INLINE void quads(const typename Codes::Table& table,
                               const B8 (&lines)[kCount][Codes::kLines], const std::uint8_t* rows,
                               std::uint32_t stride, I32 (&acc)[kRows][kCount],
                               std::index_sequence<kIndices...>) {
    (quad<kIndices, kCount>(table, lines, rows + 4 * kIndices, stride, acc), ...);
  }
  template <std::size_t kQuad, std::uint32_t kCount>
  static HWY_INLINE void quad(const typename Codes::Table& table,
                              const B8 (&lines)[kCount][Codes::kLines], const std::uint8_t* rows,
                              std::uint32_t stride, I32 (&acc)[kRows][kCount]) {
    B8 levels[kCount];
    KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) levels[b] =
        Codes::template lookup<kQuad>(table, Codes::template place<kQuad>(lines[b]));
    KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRows; ++r) {
      if constexpr (kRole == Role::kKey) {
        KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) acc[r][b] =
            L::dot_u8s8_at(acc[r][b], levels[b], rows + r * stride);
      } else {
        const B8 four = L::bcast4(rows + r * stride);
        KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) acc[r][b] =
            L::dot_u8s8(acc[r][b], four, levels[b]);
      }
    }
  }
};

// The same of one row in two planes, `stride` bytes apart, with levels in two planes:
//   sums[lane] = 128 * (start[0] + sum of high level * high row)
//                    + (start[1] + sum of high level * low row + low level * high row)
// which is the product of both over 128, but for that of the low planes.
template <std::uint32_t kBits, Role kRole>
struct LevelPlanes {
  using L = LevelLanes;
  using B8 = L::B8;
  using I32 = L::I32;
  using Codes = LevelCodes<kBits>;

  static HWY_NOINLINE void dot(const CodeSpan& span, const LevelTables& tables,
                               const std::uint8_t* rows, std::uint32_t stride,
                               const std::int32_t* start, std::int32_t* sums) {
    const std::uint32_t blocks = span.units * L::kParts;
    std::uint32_t block = 0;
    for (; block + kBlocks <= blocks; block += kBlocks)
      run<kBlocks>(span, block, tables, rows, stride, start, sums + block * L::kLanes);
    if constexpr (L::kParts % kBlocks != 0) {
      for (; block < blocks; ++block)
        run<1>(span, block, tables, rows, stride, start, sums + block * L::kLanes);
    }
  }

 private:
  static constexpr std::uint32_t kBlocks = KVPLEAT_LANES == KVPLEAT_LANES_PLAIN ? 1 : 2;

  template <std::uint32_t kCount>
  static HWY_INLINE void run(const CodeSpan& span, std::uint32_t block, const LevelTables& tables,
                             const std::uint8_t* rows, std::uint32_t stride,
                             const std::int32_t* start, std::int32_t* sums) {
    I32 acc[3][kCount];
    const std::uint8_t* lanes[kCount];
    KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
      acc[0][b] = L::set_i32(start[0]);
      acc[1][b] = L::set_i32(start[1]);
      acc[2][b] = L::zero_i32();
      lanes[b] = span.unit + (block + b) / L::kParts * span.unit_bytes +
                 (block + b) % L::kParts * L::kBytes;
    }
    const auto high = Codes::table(tables.high);
    const auto low = Codes::table(tables.low);
    const std::uint32_t first = span.element / Codes::kSpan;
    const std::uint32_t end = ceil_div(span.element + span.count, Codes::kSpan);
    for (std::uint32_t step = first; step < end; ++step, rows += Codes::kSpan) {
      B8 lines[kCount][Codes::kLines];
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
        Codes::load(lanes[b], span.run, step, lines[b]);
        if (L::kParts == 1 || (block + b) % L::kParts == 0)
          Codes::Codes::prefetch(span, lanes[b], step);
      }
      quads<kCount>(high, low, lines, rows, stride, acc, std::make_index_sequence<Codes::kQuads>());
    }
    KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
      L::store_i32(sums + b * L::kLanes,
                   L::add(L::template shift_left<7>(acc[0][b]), L::add(acc[1][b], acc[2][b])));
    }
  }
  template <std::uint32_t kCount, std::size_t... kIndices>
  static HWY_INLINE void quads(const typename Codes::Table& high, const typename Codes::Table& low,
                               const B8 (&lines)[kCount][Codes::kLines], const std::uint8_t* rows,
                               std::uint32_t stride, I32 (&acc)[3][kCount],
                               std::index_sequence<kIndices...>) {
    (quad<kIndices, kCount>(high, low, lines, rows + 4 * kIndices, stride, acc), ...);
  }
  template <std::size_t kQuad, std::uint32_t kCount>
  static HWY_INLINE void quad(const typename Codes::Table& high, const typename Codes::Table& low,
                              const B8 (&lines)[kCount][Codes::kLines], const std::uint8_t* rows,
                              std::uint32_t stride, I32 (&acc)[3][kCount]) {
    KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
      const B8 place = Codes::template place<kQuad>(lines[b]);
      const B8 level = Codes::template lookup<kQuad>(high, place);
      const B8 rest = Codes::template lookup<kQuad>(low, place);
      acc[0][b] = multiply(acc[0][b], level, rows);
      acc[1][b] = multiply(acc[1][b], level, rows + stride);
      acc[2][b] = multiply(acc[2][b], rest, rows);
    }
  }
  static HWY_INLINE I32 multiply(I32 sum, B8 level, const std::uint8_t* row) {
    if constexpr (kRole == Role::kKey) {
      return L::dot_u8s8_at(sum, level, row);
    } else {
      return L::dot_u8s8(sum, L::bcast4(row), level);
    }
  }
};

// The same in floats: sums[lane] = sum of levels[code] * row[element].
template <std::uint32_t kBits>
struct LevelFloats {
  using L = LevelLanes;
  using F32 = L::F32;
  using Codes = LevelCodes<kBits>;

  static HWY_NOINLINE void dot(const CodeSpan& span, const float* levels, const float* row,
                               float* sums) {
    for (std::uint32_t block = 0; block < span.units * L::kParts; ++block) {
      const std::uint8_t* lane =
          span.unit + block / L::kParts * span.unit_bytes + block % L::kParts * L::kBytes;
      const std::uint32_t first = span.element / Codes::kSpan;
      const std::uint32_t end = ceil_div(span.element + span.count, Codes::kSpan);
      const float* at = row;
      F32 sum[2] = {L::zero_f32(), L::zero_f32()};
      for (std::uint32_t step = first; step < end; ++step, at += Codes::kSpan) {
        L::B8 lines[Codes::kLines];
        Codes::load(lane, span.run, step, lines);
        quads(lines, levels, at, sum, std::make_index_sequence<Codes::kQuads>());
      }
      L::store_f32(sums + block * L::kLanes, L::add(sum[0], sum[1]));
    }
  }

 private:
  template <std::size_t... kIndices>
  static HWY_INLINE void quads(const L::B8 (&lines)[Codes::kLines], const float* levels,
                               const float* row, F32 (&sum)[2], std::index_sequence<kIndices...>) {
    (quad<kIndices>(lines, levels, row + 4 * kIndices, sum), ...);
  }
  template <std::size_t kQuad>
  static HWY_INLINE void quad(const L::B8 (&lines)[Codes::kLines], const float* levels,
                              const float* row, F32 (&sum)[2]) {
    const L::I32 four = L::as_i32(Codes::template index<kQuad>(lines));
    sum[0] = add<0>(four, levels, row, sum[0]);
    sum[1] = add<8>(four, levels, row + 1, sum[1]);
    sum[0] = add<16>(four, levels, row + 2, sum[0]);
    sum[1] = add<24>(four, levels, row + 3, sum[1]);
  }
  template <int kByte>
  static HWY_INLINE F32 add(L::I32 four, const float* levels, const float* row, F32 sum) {
    const L::I32 code = L::and_(kByte == 0 ? four : L::template shift_right<kByte>(four),
                                L::set_i32((1 << kBits) - 1));
    return L::mul_add(L::gather(levels, code), L::set_f32(*row), sum);
  }
};

// The dot products of one width, for drivers that do not depend on it.
struct LevelDotSet {
  using Dot = void (*)(const CodeSpan&, const LevelTables&, const std::uint8_t*, std::uint32_t,
                       const std::int32_t*, std::int32_t*);
  Dot dot1;
  Dot dot2;
  Dot dot4;
  Dot planes;
  void (*floats)(const CodeSpan&, const float*, const float*, float*);

  template <std::uint32_t kBits, Role kRole>
  static constexpr LevelDotSet of() {
    return {&LevelDots<kBits, kRole, 1>::dot, &LevelDots<kBits, kRole, 2>::dot,
            &LevelDots<kBits, kRole, 4>::dot, &LevelPlanes<kBits, kRole>::dot,
            &LevelFloats<kBits>::dot};
  }
};

// What a group of channels of a query needs to be a score.
struct LevelGroup {
  float unit;             // of the dot product
  std::int32_t start[2];  // - 128 * sums of the planes: what biased levels count too much
};

// Queries in the work area of tiles (work.h); its three arrays of a group hold a LevelGroup.
struct LevelQuery {
  static void prepare(const abi::TileView& view, const abi::PrepareArguments& a) {
    QueryWork::prepare(view, 0.0f, a);
    if (a.arithmetic == abi::Arithmetic::kExact) return;
    const WorkLayout layout(view);
    const std::uint32_t planes = a.arithmetic == abi::Arithmetic::kAccurate ? 2 : 1;
    for (std::uint32_t j = 0; j < a.query_count; ++j) {
      const std::uint8_t* rows = a.work + layout.rows(j, planes);
      std::uint8_t* groups = a.work + layout.groups(j);
      for (std::uint32_t g = 0; g < view.groups; ++g) {
        const std::uint32_t begin = g * view.group_channels;
        const std::uint32_t end = lower_of(begin + view.group_channels, view.dim);
        std::int32_t sum[2] = {0, 0};
        for (std::uint32_t p = 0; p < planes; ++p) {
          for (std::uint32_t c = begin; c < end; ++c)
            sum[p] += static_cast<std::int8_t>(rows[p * layout.stride + c]);
        }
        LevelGroup group;
        std::memcpy(&group.unit, groups + g * 4, 4);
        group.unit *= view.level_unit;
        group.start[0] = -128 * sum[0];
        group.start[1] = -128 * (sum[0] + sum[1]);
        std::memcpy(groups + g * 4, &group.unit, 4);
        std::memcpy(groups + (layout.padded_groups + g) * 4, &group.start[0], 4);
        std::memcpy(groups + (2 * layout.padded_groups + g) * 4, &group.start[1], 4);
      }
    }
  }
  static HWY_INLINE LevelGroup load(const WorkLayout& layout, const std::uint8_t* work,
                                    std::uint32_t j, std::uint32_t g) {
    const std::uint8_t* groups = work + layout.groups(j) + g * 4;
    LevelGroup group;
    std::memcpy(&group.unit, groups, 4);
    std::memcpy(&group.start[0], groups + layout.padded_groups * 4, 4);
    std::memcpy(&group.start[1], groups + 2 * layout.padded_groups * 4, 4);
    return group;
  }
};

// Scores: sum over groups of step * unit * (row . levels), 64 tokens at a time.
class LevelScore {
 public:
  static void score(const abi::TileView& view, const abi::ScoreArguments& a,
                    const LevelDotSet& dots) {
    const LevelScore self(view, a, dots);
    if (a.arithmetic == abi::Arithmetic::kExact) {
      self.run<0>();
    } else if (a.arithmetic == abi::Arithmetic::kAccurate) {
      self.run<2>();
    } else {
      self.run<1>();
    }
  }

 private:
  using L = LevelLanes;
  using F32 = L::F32;
  static constexpr std::uint32_t kTile = 64;

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
  const LevelDotSet& dots_;
  const WorkLayout layout_;
  const std::uint32_t unit_bytes_;
  const std::uint32_t side_bytes_;
  const LevelTables tables_;

  LevelScore(const abi::TileView& view, const abi::ScoreArguments& a, const LevelDotSet& dots)
      : view_(view),
        a_(a),
        dots_(dots),
        layout_(view),
        unit_bytes_(tile_unit_bytes(view.bits, view.padded_dim)),
        side_bytes_(L::side_bytes(view.side)),
        tables_(view, a.arithmetic == abi::Arithmetic::kAccurate, true) {}

  // kPlanes: 8-bit planes of a query; 0: floats.
  template <std::uint32_t kPlanes>
  void run() const {
    constexpr std::uint32_t kMost = kPlanes == 1 ? 4 : 1;
    std::uint32_t written = 0;
    for (std::uint32_t r = 0; r < a_.run_count; ++r) {
      const BlockRun& run = a_.runs[r];
      const BlockRun* next = L::run_ahead(a_, r);
      const std::intptr_t to_next = L::distance(run.bytes.block, next);
      const std::uint32_t end = run.slot + run.count;
      for (std::uint32_t tile = run.slot / kTile * kTile; tile < end; tile += kTile) {
        const std::uint32_t from = upper_of(run.slot, tile) - tile;
        const std::uint32_t n = lower_of(end, tile + kTile) - tile - from;
        for (std::uint32_t j = 0; j < a_.query_count;) {
          const std::uint32_t left = lower_of(a_.query_count - j, kMost);
          const std::uint32_t count = left >= 4 ? 4 : left >= 2 ? 2 : 1;
          const Part part{run.bytes.block,     tile, from / 16, ceil_div(from + n, 16u), j, count,
                          j == 0 ? to_next : 0};
          float* to = a_.scores + static_cast<std::size_t>(j) * a_.stride + written;
          if (HWY_LIKELY(n == kTile)) {
            score_part<kPlanes>(part, to, a_.stride);
          } else {
            alignas(64) float scores[kMost * kTile];
            score_part<kPlanes>(part, scores, kTile);
            for (std::uint32_t i = 0; i < count; ++i) {
              std::memcpy(to + static_cast<std::size_t>(i) * a_.stride, scores + i * kTile + from,
                          n * sizeof(float));
            }
          }
          j += count;
        }
        written += n;
      }
    }
  }

  template <std::uint32_t kPlanes>
  HWY_INLINE void score_part(const Part& part, float* scores, std::uint32_t stride) const {
    alignas(64) std::int32_t sums[4 * kTile];
    alignas(64) float exact[kTile];
    for (std::uint32_t g = 0; g < view_.groups; ++g) {
      const std::uint32_t begin = g * view_.group_channels;
      const CodeSpan span{
          part.block + static_cast<std::size_t>(part.tile / 16 + part.unit) * unit_bytes_,
          unit_bytes_,
          part.end_unit - part.unit,
          view_.padded_dim,
          begin,
          lower_of(view_.group_channels, view_.dim - begin),
          part.to_next};
      LevelGroup groups[4];
      if constexpr (kPlanes > 0) {
        std::int32_t start[4] = {};
        for (std::uint32_t i = 0; i < part.count; ++i) {
          groups[i] = LevelQuery::load(layout_, a_.work, part.query + i, g);
          start[i] = groups[i].start[0];
        }
        if constexpr (kPlanes == 2) start[1] = groups[0].start[1];
        const LevelDotSet::Dot dot = kPlanes == 2      ? dots_.planes
                                     : part.count == 1 ? dots_.dot1
                                     : part.count == 2 ? dots_.dot2
                                                       : dots_.dot4;
        dot(span, tables_, a_.work + layout_.rows(part.query, kPlanes) + begin, layout_.stride,
            start, sums + part.unit * 16);
      } else {
        const auto* query = reinterpret_cast<const float*>(a_.work + layout_.floats(part.query));
        dots_.floats(span, view_.levels, query + begin, exact + part.unit * 16);
      }
      const std::uint8_t* side =
          part.block + view_.side_at +
          (static_cast<std::size_t>(part.tile / 16) * view_.groups + g) * 16 * side_bytes_;
      for (std::uint32_t b = part.unit * L::kParts; b < part.end_unit * L::kParts; ++b) {
        const std::uint8_t* at =
            side + (b / L::kParts * view_.groups * 16 + b % L::kParts * L::kLanes) * side_bytes_;
        if (b % L::kParts == 0) L::prefetch_from(at, part.to_next);
        const F32 step = L::load_step(view_.side, at);
        for (std::uint32_t i = 0; i < part.count; ++i) {
          float* to = scores + static_cast<std::size_t>(i) * stride + b * L::kLanes;
          F32 product;
          if constexpr (kPlanes > 0) {
            product = L::mul(L::to_f32(L::load_i32(sums + i * kTile + b * L::kLanes)),
                             L::set_f32(groups[i].unit));
          } else {
            product = L::load_f32(exact + b * L::kLanes);
          }
          L::store_f32(to,
                       g == 0 ? L::mul(step, product) : L::mul_add(step, product, L::load_f32(to)));
        }
      }
    }
    if (view_.slots > 0) {
      for (std::uint32_t i = 0; i < part.count; ++i) {
        InlineSlots::score<kPlanes>(view_, layout_, a_, part.block, part.tile / 16 + part.unit,
                                    part.tile / 16 + part.end_unit, part.query + i,
                                    scores + static_cast<std::size_t>(i) * stride + part.unit * 16);
      }
    }
  }
};

// Sums: over 64 tokens and a group of channels, rows w[t] = p[t] * step[t] in one unit:
// sum[c] += unit * (row . levels).
class LevelAccumulate {
 public:
  static void accumulate(const abi::TileView& view, const abi::AccumulateArguments& a,
                         const LevelDotSet& dots) {
    const LevelAccumulate self(view, a, dots);
    if (a.arithmetic == abi::Arithmetic::kExact) {
      self.run<0>();
    } else if (a.arithmetic == abi::Arithmetic::kAccurate) {
      self.run<2>();
    } else {
      self.run<1>();
    }
  }

 private:
  using L = LevelLanes;
  using F32 = L::F32;
  using I32 = L::I32;
  static constexpr std::uint32_t kTile = 64;
  static constexpr std::uint32_t kVectors = kTile / L::kLanes;

  struct Part {
    const std::uint8_t* block;
    std::uint32_t tile;
    std::uint32_t query;
    std::uint32_t count;
    std::intptr_t to_next;
    const float* weights;  // [count], `stride` apart: of 64 tokens, 0 where none takes part
    std::uint32_t stride;
  };

  const abi::TileView& view_;
  const abi::AccumulateArguments& a_;
  const LevelDotSet& dots_;
  const std::uint32_t unit_bytes_;
  const std::uint32_t side_bytes_;
  const LevelTables tables_;

  LevelAccumulate(const abi::TileView& view, const abi::AccumulateArguments& a,
                  const LevelDotSet& dots)
      : view_(view),
        a_(a),
        dots_(dots),
        unit_bytes_(tile_unit_bytes(view.bits, view.block_tokens)),
        side_bytes_(L::side_bytes(view.side)),
        tables_(view, a.arithmetic == abi::Arithmetic::kAccurate, false) {}

  template <std::uint32_t kPlanes>
  void run() const {
    constexpr std::uint32_t kMost = kPlanes == 1 ? 4 : 1;
    std::uint32_t read = 0;
    for (std::uint32_t r = 0; r < a_.run_count; ++r) {
      const BlockRun& run = a_.runs[r];
      const BlockRun* next = L::run_ahead(a_, r);
      const std::intptr_t to_next = L::distance(run.bytes.block, next);
      const std::uint32_t end = run.slot + run.count;
      for (std::uint32_t tile = run.slot / kTile * kTile; tile < end; tile += kTile) {
        const std::uint32_t from = upper_of(run.slot, tile) - tile;
        const std::uint32_t n = lower_of(end, tile + kTile) - tile - from;
        for (std::uint32_t j = 0; j < a_.query_count;) {
          const std::uint32_t left = lower_of(a_.query_count - j, kMost);
          const std::uint32_t count = left >= 4 ? 4 : left >= 2 ? 2 : 1;
          const float* weights = a_.weights + static_cast<std::size_t>(j) * a_.stride + read;
          const std::intptr_t ahead = j == 0 ? to_next : 0;
          if (HWY_LIKELY(n == kTile)) {
            add_part<kPlanes>(Part{run.bytes.block, tile, j, count, ahead, weights, a_.stride});
          } else {
            alignas(64) float padded[kMost * kTile] = {};
            for (std::uint32_t i = 0; i < count; ++i) {
              std::memcpy(padded + i * kTile + from,
                          weights + static_cast<std::size_t>(i) * a_.stride, n * sizeof(float));
            }
            add_part<kPlanes>(Part{run.bytes.block, tile, j, count, ahead, padded, kTile});
          }
          j += count;
        }
        if (view_.slots > 0)
          InlineSlots::accumulate(view_, a_, run.bytes.block, tile + from, n, a_.weights + read);
        read += n;
      }
    }
  }

  template <std::uint32_t kPlanes>
  HWY_INLINE void add_part(const Part& part) const {
    for (std::uint32_t g = 0; g < view_.groups; ++g) {
      const std::uint8_t* side =
          part.block + view_.side_at +
          (static_cast<std::size_t>(g) * view_.block_tokens + part.tile) * side_bytes_;
      alignas(64) std::uint8_t rows[4 * kTile];
      alignas(64) float floats[kTile];
      float units[4] = {1.0f, 1.0f, 1.0f, 1.0f};
      bool any = false;
      F32 steps[kVectors];
      KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v) {
        const std::uint8_t* at = side + v * L::kLanes * side_bytes_;
        if (v % L::kParts == 0) L::prefetch_from(at, part.to_next);
        steps[v] = L::load_step(view_.side, at);
      }
      for (std::uint32_t i = 0; i < part.count; ++i) {
        const float* weights = part.weights + static_cast<std::size_t>(i) * part.stride;
        F32 values[kVectors];
        F32 top = L::zero_f32();
        KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v) {
          const F32 p = L::load_f32(weights + v * L::kLanes);
          // Side data of slots that take no part may hold anything.
          values[v] = L::select(L::less(L::zero_f32(), p), L::mul(p, steps[v]), L::zero_f32());
          top = L::upper(top, values[v]);
        }
        const float largest = L::reduce_max(top);
        any = any || largest > 0.0f;
        if constexpr (kPlanes == 0) {
          KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v)
              L::store_f32(floats + v * L::kLanes, values[v]);
        } else {
          units[i] = put_row<kPlanes>(values, largest, rows + i * kTile) * view_.level_unit;
        }
      }
      if (!any) continue;
      const std::uint32_t end = ceil_div(lower_of((g + 1) * view_.group_channels, view_.dim), 16u);
      for (std::uint32_t unit = g * view_.group_channels / 16; unit < end; unit += 4)
        add_units<kPlanes>(part, unit, lower_of(4u, end - unit), rows, floats, units);
    }
  }
  // Weights as bytes, 0 .. 255; or as planes 128 * high + low, high <= 255 and low < 128. Returns
  // the unit. A largest weight below 2^-120 counts as none.
  template <std::uint32_t kPlanes>
  static HWY_INLINE float put_row(const F32 (&values)[kVectors], float largest, std::uint8_t* row) {
    constexpr float kTop = kPlanes == 1 ? 255.0f : 32767.0f;
    const float share = RowPlanes::factor_of(largest);
    KVPLEAT_UNROLL for (std::uint32_t v = 0; v < kVectors; ++v) {
      // Two products: their own product may overflow.
      const F32 scaled = L::mul(L::mul(values[v], L::set_f32(share)), L::set_f32(kTop));
      const I32 code = L::nearest_i32(scaled);
      if constexpr (kPlanes == 1) {
        L::store_u8(row + v * L::kLanes, code);
      } else {
        L::store_u8(row + v * L::kLanes, L::template shift_right<7>(code));
        L::store_u8(row + kTile + v * L::kLanes, L::and_(code, L::set_i32(127)));
      }
    }
    return share == 0.0f ? 0.0f : largest / kTop;
  }
  // Up to four units of 16 channels.
  template <std::uint32_t kPlanes>
  HWY_INLINE void add_units(const Part& part, std::uint32_t unit, std::uint32_t units,
                            const std::uint8_t* rows, const float* floats,
                            const float* row_units) const {
    alignas(64) std::int32_t sums[4 * kTile];
    alignas(64) float exact[kTile];
    const CodeSpan span{part.block + static_cast<std::size_t>(unit) * unit_bytes_,
                        unit_bytes_,
                        units,
                        view_.block_tokens,
                        part.tile,
                        kTile,
                        part.to_next};
    if constexpr (kPlanes > 0) {
      static constexpr std::int32_t kStart[4] = {};
      const LevelDotSet::Dot dot = kPlanes == 2      ? dots_.planes
                                   : part.count == 1 ? dots_.dot1
                                   : part.count == 2 ? dots_.dot2
                                                     : dots_.dot4;
      dot(span, tables_, rows, kTile, kStart, sums);
    } else {
      dots_.floats(span, view_.levels, floats, exact);
    }
    for (std::uint32_t i = 0; i < part.count; ++i) {
      const F32 scale = L::set_f32(row_units[i]);
      float* to = a_.sums + static_cast<std::size_t>(part.query + i) * view_.dim + unit * 16;
      for (std::uint32_t b = 0; b < units * L::kParts; ++b) {
        const std::uint32_t channel = unit * 16 + b * L::kLanes;
        if (channel >= view_.dim) break;
        F32 product;
        if constexpr (kPlanes > 0) {
          product = L::to_f32(L::load_i32(sums + i * kTile + b * L::kLanes));
        } else {
          product = L::load_f32(exact + b * L::kLanes);
        }
        float* lanes = to + b * L::kLanes;
        if (HWY_LIKELY(channel + L::kLanes <= view_.dim)) {
          L::store_f32(lanes, L::mul_add(scale, product, L::load_f32(lanes)));
        } else {
          const std::uint32_t n = view_.dim - channel;
          L::store_first_f32(lanes, L::mul_add(scale, product, L::load_first_f32(lanes, n)), n);
        }
      }
    }
  }
};

// Kernels of formats that a TileView with levels describes. The forms with kBits compile one width;
// the others hold all.
struct LevelKernels {
  static void prepare(const abi::TileView& view, const abi::PrepareArguments& a) {
    LevelQuery::prepare(view, a);
  }
  template <std::uint32_t kBits>
  static void score_bits(const abi::TileView& view, const abi::ScoreArguments& a) {
    LevelScore::score(view, a, kDots<kBits, Role::kKey>);
  }
  template <std::uint32_t kBits>
  static void accumulate_bits(const abi::TileView& view, const abi::AccumulateArguments& a) {
    LevelAccumulate::accumulate(view, a, kDots<kBits, Role::kValue>);
  }
  static void score(const abi::TileView& view, const abi::ScoreArguments& a) {
    LevelScore::score(view, a, dots_of<Role::kKey>(view.bits));
  }
  static void accumulate(const abi::TileView& view, const abi::AccumulateArguments& a) {
    LevelAccumulate::accumulate(view, a, dots_of<Role::kValue>(view.bits));
  }

 private:
  template <std::uint32_t kBits, Role kRole>
  static constexpr LevelDotSet kDots = LevelDotSet::of<kBits, kRole>();

  template <Role kRole>
  static const LevelDotSet& dots_of(std::uint32_t bits) {
    static constexpr const LevelDotSet* kAll[6] = {&kDots<1, kRole>, &kDots<2, kRole>,
                                                   &kDots<3, kRole>, &kDots<4, kRole>,
                                                   &kDots<5, kRole>, &kDots<6, kRole>};
    return *kAll[bits - 1];
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
