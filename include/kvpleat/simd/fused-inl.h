// Kernels on Oaken's published bytes (codec/fused.h), in the arithmetic of jagged-inl.h: the deltas
// that resident order stores are made on the way. Sixteen tokens at a time.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_FUSED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_FUSED_INL_H_
#undef KVPLEAT_SIMD_FUSED_INL_H_
#else
#define KVPLEAT_SIMD_FUSED_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/jagged-inl.h"
#include "kvpleat/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// Entries in published order, walked one by one.
struct FusedWalk {
  static constexpr std::uint32_t kMostDim = 576;

  static HWY_INLINE std::uint32_t list_bytes(const abi::OakenView& view, std::uint32_t count) {
    return view.padding == abi::SpillPadding::kChunk ? round_up(count, 8u) : count;
  }
  static HWY_INLINE std::uint32_t token_bytes(const abi::OakenView& view,
                                              const std::uint8_t* counts) {
    std::uint32_t bytes = 0;
    for (std::uint32_t k = 0; k < view.chunks; ++k) bytes += list_bytes(view, counts[k]);
    return view.padding == abi::SpillPadding::kToken ? round_up(bytes, 8u) : bytes;
  }
  // Spill bytes of the first `slot` tokens of a block.
  static std::uint32_t bytes_before(const abi::OakenView& view, const std::uint8_t* counts,
                                    std::uint32_t slot) {
    std::uint32_t bytes = 0;
    for (std::uint32_t t = 0; t < slot; ++t) bytes += token_bytes(view, counts + t * view.chunks);
    return bytes;
  }

  // visit(channel, delta) of the outliers of slot t, whose entries begin at `at`. Entries beyond
  // the spill and channels beyond the row are left out.
  template <class Visit>
  static HWY_INLINE void token(const abi::OakenView& view, const abi::BlockBytes& bytes,
                               const OakenConstants& constants, std::uint32_t t, std::uint32_t at,
                               Visit visit) {
    const std::uint8_t* row = bytes.block + t * view.row_bytes;
    const std::uint8_t* counts = bytes.block + view.counts_at + t * view.chunks;
    const std::uint8_t* ranges =
        (view.shared_ranges ? bytes.shared : bytes.block) + view.ranges_at + 12 * t;
    const auto read = [&](std::uint32_t i) { return to_float(load<Half>(ranges + 2 * i)); };
    const float inverse = constants.unit[t] > 0.0f ? 1.0f / constants.unit[t] : 0.0f;
    // Of inner and outer outliers.
    const float lowest[2] = {read(4), read(0)};
    const float step[2] = {(read(5) - lowest[0]) / 15.0f, (read(1) - lowest[1]) / 15.0f};
    for (std::uint32_t k = 0; k < view.chunks; ++k) {
      for (std::uint32_t i = 0; i < counts[k]; ++i) {
        if (at + i >= bytes.spill_bytes) break;
        const std::uint32_t entry = bytes.spill[at + i];
        const std::uint32_t c = 64 * k + (entry >> 2);
        if (c >= view.dim) continue;
        const std::uint32_t nibble = static_cast<std::uint32_t>(row[c / 2]) >> (c % 2 * 4) & 15u;
        const std::uint32_t outer = entry >> 1 & 1u;
        const float size = lowest[outer] + static_cast<float>(nibble) * step[outer];
        const float edge = outer == 0 ? 0.0f : (entry & 1u) != 0 ? view.outer_low : view.outer_high;
        const float value = ((entry & 1u) != 0 ? -size : size) + edge;
        visit(c, delta(constants, t, value, nibble, inverse));
      }
      at += list_bytes(view, counts[k]);
    }
  }

 private:
  static HWY_INLINE std::int32_t delta(const OakenConstants& constants, std::uint32_t t,
                                       float value, std::uint32_t nibble, float inverse) {
    const std::uint32_t split = constants.split[t] ^ 0x80u;
    const std::uint32_t level =
        OakenUnits::level(16 * nibble, constants.split[t], constants.gap[t]);
    const float half_wide = constants.wide[t] * (16 * nibble >= split ? 0.5f : -0.5f);
    const float dense =
        constants.base[t] + (static_cast<float>(level) - 128.0f) * constants.step[t] + half_wide;
    return round_to_signed((value - dense) * inverse, 127);
  }
};

#if KVPLEAT_OAKEN_VBMI

// The outliers of 16 tokens of at most 128 channels are made by quads: lane l of 16 bytes of quad j
// belongs to token 4 l + j. Pass p of a quad has the numbers 16 p .. 16 p + 15 of its tokens. A
// taker gets, quad by quad and pass by pass, which there are, their channels, and their deltas, 0
// where there is none.
struct FusedSlots : OakenBytes {
  // What a delta is made of, in 1/128 of the unit of a token, modulo 2^16: that leaves every sum
  // right that is one at the end. Rounding them adds at most 1/256 + 15/256 to half a unit.
  struct Constants {
    __m512i kinds[4];  // of quad j: at_0[4], slope[4] (below)
    __m512i gap;       // words, two for each token
    __m512i split;     // first payload of the high side

    HWY_INLINE void set(const abi::OakenView& view, const abi::BlockBytes& bytes,
                        const OakenConstants& constants, std::uint32_t at) {
      const std::uint8_t* ranges =
          (view.shared_ranges ? bytes.shared : bytes.block) + view.ranges_at + 12 * at;
      const __m512 step = _mm512_load_ps(constants.step + at);
      const __m512 wide = _mm512_load_ps(constants.wide + at);
      const __m512 unit = _mm512_load_ps(constants.unit + at);
      const __m512 scale = _mm512_maskz_div_ps(
          _mm512_cmp_ps_mask(unit, _mm512_setzero_ps(), _CMP_GT_OQ), _mm512_set1_ps(128.0f), unit);
      const __m512 base = _mm512_fnmadd_ps(
          wide, _mm512_set1_ps(0.5f),
          _mm512_fnmadd_ps(step, _mm512_set1_ps(128.0f), _mm512_load_ps(constants.base + at)));
      const __m512 fifteenth = _mm512_set1_ps(1.0f / 15.0f);
      const __m512 half = _mm512_set1_ps(64.0f);
      const __m512 level = _mm512_mul_ps(_mm512_mul_ps(step, _mm512_set1_ps(16.0f)), scale);
      // Delta of payload 0, and 1/2: inner, inner negative, outer, outer low. What one more adds.
      __m512i at_0[4];
      __m512i slope[4];
      KVPLEAT_UNROLL
      for (std::uint32_t outer = 0; outer < 2; ++outer) {
        const OakenConstants::Range range(ranges, outer == 0 ? 2 : 0);
        const __m512 low = range.low(0).raw;
        const __m512 high = range.high(0).raw;
        const __m512 size =
            _mm512_mul_ps(_mm512_mul_ps(_mm512_sub_ps(high, low), fifteenth), scale);
        const __m512 above =
            _mm512_sub_ps(_mm512_set1_ps(outer == 0 ? 0.0f : view.outer_high), base);
        const __m512 below =
            _mm512_sub_ps(_mm512_set1_ps(outer == 0 ? 0.0f : view.outer_low), base);
        at_0[2 * outer] =
            _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_add_ps(above, low), scale, half));
        at_0[2 * outer + 1] =
            _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_sub_ps(below, low), scale, half));
        slope[2 * outer] = _mm512_cvtps_epi32(_mm512_sub_ps(size, level));
        slope[2 * outer + 1] =
            _mm512_cvtps_epi32(_mm512_sub_ps(_mm512_sub_ps(_mm512_setzero_ps(), size), level));
      }
      const __m512 added = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(load16(constants.gap + at)));
      const __m512i jump =
          _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_fmadd_ps(added, step, wide), scale));
      const __m512i sixteenths = _mm512_xor_si512(
          _mm512_cvtepu8_epi32(load16(constants.split + at)), _mm512_set1_epi32(0x80));
      const __m512i whole =
          _mm512_srli_epi32(_mm512_add_epi32(sixteenths, _mm512_set1_epi32(15)), 4);
      // From a token in each dword to a token in each lane.
      const auto pair = [](__m512i low, __m512i high) HWY_ATTR {
        return _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(high, 16));
      };
      gap = pair(jump, jump);
      split = pair(whole, whole);
      const __m512i a = pair(at_0[0], at_0[1]);
      const __m512i b = pair(at_0[2], at_0[3]);
      const __m512i c = pair(slope[0], slope[1]);
      const __m512i d = pair(slope[2], slope[3]);
      const __m512i ab_low = _mm512_unpacklo_epi32(a, b);
      const __m512i ab_high = _mm512_unpackhi_epi32(a, b);
      const __m512i cd_low = _mm512_unpacklo_epi32(c, d);
      const __m512i cd_high = _mm512_unpackhi_epi32(c, d);
      kinds[0] = _mm512_unpacklo_epi64(ab_low, cd_low);
      kinds[1] = _mm512_unpackhi_epi64(ab_low, cd_low);
      kinds[2] = _mm512_unpacklo_epi64(ab_high, cd_high);
      kinds[3] = _mm512_unpackhi_epi64(ab_high, cd_high);
    }
  };
  // Of all units of a run, before any is needed: a division and what follows it takes long.
  struct RunConstants {
    Constants units[4];

    static HWY_NOINLINE void make(const abi::OakenView& view, const abi::BlockRun& run,
                                  const OakenConstants& constants, RunConstants& made) {
      for (std::uint32_t u = run.slot / 16; 16 * u < run.slot + run.count; ++u)
        made.units[u].set(view, run.bytes, constants, 16 * u);
    }
  };

  // Lanes [from, to) of the unit that begins at slot `at`; its entries begin at `next`, which moves
  // behind them.
  template <class Taker>
  static HWY_NOINLINE void make(const abi::OakenView& view, const abi::BlockBytes& bytes,
                                const RunConstants& constants, std::uint32_t at, std::uint32_t from,
                                std::uint32_t to, std::uint32_t& next, Taker& taker) {
    const std::uint8_t* counts = bytes.block + view.counts_at + at * view.chunks;
    const auto inside = static_cast<__mmask16>((1u << to) - (1u << from));
    const __m128i most = _mm_set1_epi8(64);
    __m256i totals;  // whatever the counts say; first and all: no more than there can be
    __m128i first;
    __m128i all;
    if (view.chunks == 2) {
      const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(counts));
      const __m256i second = _mm256_srli_epi16(pairs, 8);
      totals = _mm256_add_epi16(_mm256_and_si256(pairs, _mm256_set1_epi16(255)), second);
      first = _mm_maskz_min_epu8(inside, _mm256_cvtepi16_epi8(pairs), most);
      all = _mm_add_epi8(first, _mm_maskz_min_epu8(inside, _mm256_cvtepi16_epi8(second), most));
    } else {
      totals = _mm256_cvtepu8_epi16(load16(counts));
      first = all = _mm_maskz_min_epu8(inside, load16(counts), most);
    }
    Source source = {bytes,
                     bytes.block + at * view.row_bytes,
                     view.row_bytes,
                     constants.units[at / 16],
                     each_four(first),
                     each_four(all),
                     {}};
    _mm512_store_si512(source.begin, begins(totals, next, bytes.spill_bytes));
    taker.start(at, first);
    // Bytes j: of quad j.
    __m128i largest = _mm_max_epu8(all, _mm_srli_si128(all, 8));
    largest = _mm_max_epu8(largest, _mm_srli_si128(largest, 4));
    auto left = static_cast<std::uint32_t>(_mm_cvtsi128_si32(largest));
    KVPLEAT_UNROLL
    for (std::uint32_t j = 0; j < 4; ++j) source.give(j, 0, taker);
    for (std::uint32_t j = 0; j < 4; ++j, left >>= 8) {
      const std::uint32_t passes = upper_of(ceil_div(left & 255u, 16u), 1u);
      for (std::uint32_t pass = 1; pass < passes; ++pass) source.give(j, pass, taker);
      taker.end(j, passes);
    }
  }

 private:
  // Of the tokens of one quad, in their lanes.
  struct QuadConstants {
    __m512i at_0;
    __m512i slope;
    __m512i gap;
    __m512i split;

    HWY_INLINE QuadConstants(const Constants& of, std::uint32_t j) {
      const __m512i word = _mm512_set1_epi16(static_cast<std::int16_t>((4 * j + 1) << 8 | 4 * j));
      at_0 = of.kinds[j];
      slope = _mm512_bsrli_epi128(at_0, 8);
      gap = _mm512_shuffle_epi8(of.gap, word);
      split = _mm512_shuffle_epi8(of.split, word);
    }
    // Bits 0 and 1 of an entry tell its kind.
    HWY_INLINE __m512i deltas(__mmask64 exists, __m512i payload, __m512i entry) const {
      const __m512i zero = _mm512_setzero_si512();
      const __m512i low = _mm512_and_si512(_mm512_add_epi8(entry, entry), set_byte(6));
      const __m512i high = _mm512_or_si512(low, set_byte(1));
      return _mm512_maskz_packs_epi16(
          exists, words(_mm512_unpacklo_epi8(payload, zero), _mm512_unpacklo_epi8(low, high)),
          words(_mm512_unpackhi_epi8(payload, zero), _mm512_unpackhi_epi8(low, high)));
    }

   private:
    HWY_INLINE __m512i words(__m512i payload, __m512i kind) const {
      __m512i sum = _mm512_add_epi16(_mm512_shuffle_epi8(at_0, kind),
                                     _mm512_mullo_epi16(payload, _mm512_shuffle_epi8(slope, kind)));
      sum = _mm512_mask_sub_epi16(sum, _mm512_cmpge_epi16_mask(payload, split), sum, gap);
      return _mm512_srai_epi16(sum, 7);
    }
  };

  // What the slots of 16 tokens are made of.
  struct Source {
    const abi::BlockBytes& bytes;
    const std::uint8_t* rows;
    std::uint32_t row_bytes;
    const Constants& constants;
    __m512i first;  // entries of each token, in its dword: of its first chunk, of all
    __m512i all;
    alignas(64) std::uint32_t begin[16];

    template <class Taker>
    HWY_INLINE void give(std::uint32_t j, std::uint32_t pass, Taker& taker) const {
      const std::uint32_t done = 16 * pass;
      __m512i entry = _mm512_castsi128_si512(entries(bytes, begin[j] + done));
      entry = _mm512_inserti32x4(entry, entries(bytes, begin[4 + j] + done), 1);
      entry = _mm512_inserti32x4(entry, entries(bytes, begin[8 + j] + done), 2);
      entry = _mm512_inserti32x4(entry, entries(bytes, begin[12 + j] + done), 3);
      const __m512i byte_of_quad = set_byte(4 * j);
      const __m512i number = _mm512_add_epi8(in_lane(), set_byte(done));
      const __mmask64 exists =
          _mm512_cmplt_epu8_mask(number, _mm512_shuffle_epi8(all, byte_of_quad));
      const __mmask64 second =
          _mm512_cmpge_epu8_mask(number, _mm512_shuffle_epi8(first, byte_of_quad));
      __m512i c = _mm512_and_si512(_mm512_srli_epi16(entry, 2), set_byte(0x3f));
      c = _mm512_mask_add_epi8(c, second, c, set_byte(64));
      // Their nibbles: byte c / 2 of the row of their token, two rows per lookup.
      const __m512i byte =
          _mm512_ternarylogic_epi32(_mm512_srli_epi16(c, 1), set_byte(0x3f), odd_lanes(), 0xea);
      __m512i pair =
          _mm512_mask_blend_epi64(0xf0, _mm512_permutex2var_epi8(row(j), byte, row(4 + j)),
                                  _mm512_permutex2var_epi8(row(8 + j), byte, row(12 + j)));
      pair = _mm512_mask_mov_epi8(pair, _mm512_test_epi8_mask(c, set_byte(1)),
                                  _mm512_srli_epi16(pair, 4));
      const __m512i delta =
          QuadConstants(constants, j).deltas(exists, _mm512_and_si512(pair, set_byte(0x0f)), entry);
      taker.take(j, pass, exists, c, delta);
    }

   private:
    HWY_INLINE __m512i row(std::uint32_t t) const {
      return _mm512_loadu_si512(rows + t * row_bytes);
    }
  };

  // Where the entries of 16 tokens begin, if they have so many each; `next` moves behind them.
  static HWY_INLINE __m512i begins(__m256i totals, std::uint32_t& next, std::uint32_t end) {
    __m256i sum = _mm256_add_epi16(totals, _mm256_slli_si256(totals, 2));
    sum = _mm256_add_epi16(sum, _mm256_slli_si256(sum, 4));
    sum = _mm256_add_epi16(sum, _mm256_slli_si256(sum, 8));
    // The last of the lower half to all of the upper.
    const __m256i lower = _mm256_permute2x128_si256(sum, sum, 0x08);
    sum = _mm256_add_epi16(sum, _mm256_shuffle_epi8(lower, _mm256_set1_epi16(0x0f0e)));
    const __m512i before = _mm512_cvtepu16_epi32(_mm256_sub_epi16(sum, totals));
    const __m512i first = _mm512_set1_epi32(static_cast<std::int32_t>(next));
    next += static_cast<std::uint32_t>(_mm256_extract_epi16(sum, 15)) & 0xffffu;
    return _mm512_min_epu32(_mm512_add_epi32(first, before),
                            _mm512_set1_epi32(static_cast<std::int32_t>(end)));
  }

  // The number of a byte in its 16-byte lane.
  static HWY_INLINE __m512i in_lane() {
    return _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  }
  // Sixteen bytes of the spill, as far as it goes.
  static HWY_INLINE __m128i entries(const abi::BlockBytes& bytes, std::uint32_t at) {
    if (HWY_LIKELY(at + 16 <= bytes.spill_bytes)) return load16(bytes.spill + at);
    const std::uint32_t left = at < bytes.spill_bytes ? bytes.spill_bytes - at : 0;
    return _mm_maskz_loadu_epi8(static_cast<__mmask16>((1u << left) - 1u),
                                bytes.spill + (left > 0 ? at : 0));
  }
  // 64 in odd 16-byte lanes.
  static HWY_INLINE __m512i odd_lanes() {
    return _mm512_set_epi64(0x4040404040404040, 0x4040404040404040, 0, 0, 0x4040404040404040,
                            0x4040404040404040, 0, 0);
  }
};

// Takes the outliers of 16 keys as they come.
struct FusedLists : OakenBytes {
  static constexpr std::uint32_t kPasses = 8;
  alignas(64) std::uint8_t channel[4][kPasses][64];
  alignas(64) std::uint8_t delta[4][kPasses][64];
  std::uint32_t passes[4];  // at least one

  HWY_INLINE void start(std::uint32_t, __m128i) {}
  HWY_INLINE void take(std::uint32_t j, std::uint32_t pass, __mmask64, __m512i c, __m512i d) {
    _mm512_store_si512(channel[j][pass], c);
    _mm512_store_si512(delta[j][pass], d);
  }
  HWY_INLINE void end(std::uint32_t j, std::uint32_t n) { passes[j] = n; }
};

// Takes those of a block of values: the deltas of each token in order, and where they belong.
struct FusedRows : OakenBytes {
  // Loads of 64 bytes run over the end of a row.
  alignas(64) std::uint8_t rows[64][128 + 64];
  alignas(64) std::uint64_t present[4][4][4][2];  // [unit][quad][lane]: channels of both chunks
  alignas(64) std::uint8_t first[64];             // entries of the first chunk
  std::uint32_t unit;
  std::uint32_t most;  // passes of any quad, once it is set to 0

  HWY_INLINE void start(std::uint32_t at, __m128i first_chunk) {
    unit = at / 16;
    store16(first + at, first_chunk);
  }
  HWY_INLINE void take(std::uint32_t j, std::uint32_t pass, __mmask64 exists, __m512i c,
                       __m512i d) {
    std::uint8_t* row = rows[16 * unit + j] + 16 * pass;
    constexpr std::uint32_t kApart = 4 * sizeof rows[0];
    store16(row, _mm512_castsi512_si128(d));
    store16(row + kApart, _mm512_extracti32x4_epi32(d, 1));
    store16(row + 2 * kApart, _mm512_extracti32x4_epi32(d, 2));
    store16(row + 3 * kApart, _mm512_extracti32x4_epi32(d, 3));
    __m512i bits = channels(exists, c);
    if (pass > 0) bits = _mm512_or_si512(bits, _mm512_load_si512(present[unit][j]));
    _mm512_store_si512(present[unit][j], bits);
  }
  HWY_INLINE void end(std::uint32_t, std::uint32_t passes) { most = upper_of(most, passes); }

  // Deltas of the 64 channels of a chunk of a token. few: no token has more than 32 entries; loads
  // of 32 bytes seldom cross the end of a line.
  HWY_INLINE __m512i chunk(std::uint32_t t, std::uint32_t k, bool few) const {
    const std::uint8_t* from = rows[t] + (k == 0 ? 0 : first[t]);
    const __m512i bytes =
        HWY_LIKELY(few)
            ? _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))
            : _mm512_loadu_si512(from);
    return _mm512_maskz_expand_epi8(present[t / 16][t % 4][t / 4 % 4][k], bytes);
  }

 private:
  // Which channels of both chunks the entries of a quad lie in: two times 64 bits per lane.
  static HWY_INLINE __m512i channels(__mmask64 exists, __m512i channel) {
#if defined(__GFNI__)
    // As a matrix of 16 by 8 bits: the sum over the entries of (which row) times (which column),
    // eight entries per product. An instruction multiplies by a matrix, and so turns one as well.
    const __m512i one = _mm512_set1_epi64(static_cast<std::int64_t>(0x8040201008040201));
    const __m512i turned_one = _mm512_set1_epi64(0x0102040810204080);
    const __m512i low_half = _mm512_set4_epi32(0, 0, static_cast<int>(0x80402010), 0x08040201);
    const __m512i high_half = _mm512_set4_epi32(static_cast<int>(0x80402010), 0x08040201, 0, 0);
    const __m512i row = _mm512_and_si512(_mm512_srli_epi16(channel, 3), set_byte(0x0f));
    const __m512i column =
        _mm512_maskz_shuffle_epi8(exists, one, _mm512_and_si512(channel, set_byte(7)));
    const auto times = [](__m512i x, __m512i matrix)
                           HWY_ATTR { return _mm512_gf2p8affine_epi64_epi8(x, matrix, 0); };
    const __m512i columns = times(turned_one, column);
    const __m512i low = times(times(one, _mm512_shuffle_epi8(low_half, row)), columns);
    const __m512i high = times(times(one, _mm512_shuffle_epi8(high_half, row)), columns);
    return _mm512_or_si512(_mm512_unpacklo_epi64(low, high), _mm512_unpackhi_epi64(low, high));
#else
    // Bit by bit; shifts by more than 63 give nothing.
    const __m512i chunk = _mm512_set4_epi32(0, 64, 0, 0);
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i real = _mm512_mask_mov_epi8(set_byte(0xff), exists, channel);
    __m512i bits = _mm512_setzero_si512();
    for (std::uint32_t i = 0; i < 16; ++i) {
      const __m512i from = _mm512_set1_epi64(static_cast<std::int64_t>(0x8080808080808000u | i));
      const __m512i shift = _mm512_sub_epi64(_mm512_shuffle_epi8(real, from), chunk);
      bits = _mm512_or_si512(bits, _mm512_sllv_epi64(one, shift));
    }
    return bits;
#endif
  }
  static HWY_INLINE void store16(std::uint8_t* at, __m128i bytes) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), bytes);
  }
};

// Scores of published keys of at most 128 channels: rows are turned into lines of K4.
struct FusedScores : OakenScores {
  template <bool kTwo>
  static void runs(const abi::OakenView& view, const abi::ScoreArguments& arguments) {
    OakenConstants constants;
    FusedSlots::RunConstants kinds;
    FusedLists slots;
    alignas(64) std::uint8_t codes[1024];
    const std::uint32_t lines = ceil_div(view.row_bytes, 4u);
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < arguments.run_count; ++r) {
      const abi::BlockRun& run = arguments.runs[r];
      const std::uint32_t end = run.slot + run.count;
      const OakenAhead ahead = OakenAhead::of(arguments, r);
      OakenConstants::derive(view, run, constants);
      for (std::uint32_t i = 0; i < 12; ++i)
        LaneTools::prefetch_from(run.bytes.shared, ahead.shared + 64 * i);
      for (std::uint32_t i = 0; i < run.bytes.spill_bytes; i += 64)
        LaneTools::prefetch_from(run.bytes.spill, ahead.spill + i);
      const std::uint8_t* counts = run.bytes.block + view.counts_at;
      LaneTools::prefetch_from(counts, ahead.block);
      LaneTools::prefetch_from(counts, ahead.block + 64 * (view.chunks - 1));
      FusedSlots::RunConstants::make(view, run, constants, kinds);
      std::uint32_t next = FusedWalk::bytes_before(view, counts, run.slot / 16 * 16);
      for (std::uint32_t at = run.slot / 16 * 16; at < end; at += 16) {
        const std::uint32_t from = upper_of(run.slot, at);
        FusedSlots::make(view, run.bytes, kinds, at, from - at, lower_of(end, at + 16) - at, next,
                         slots);
        turn_rows(view, run.bytes.block + at * view.row_bytes, ahead.block, codes);
        std::uint32_t j = 0;
        const auto some = [&]<std::uint32_t kQueries>() HWY_ATTR {
          for (; j + kQueries <= arguments.query_count; j += kQueries) {
            unit<kQueries, kTwo>(
                view, constants, slots, codes, lines, at, run.slot, end,
                arguments.work + static_cast<std::size_t>(j) * OakenQueries::stride(view),
                arguments.scores + static_cast<std::size_t>(j) * arguments.stride + first,
                arguments.stride);
          }
        };
        some.template operator()<4>();
        some.template operator()<2>();
        some.template operator()<1>();
      }
      first += run.count;
    }
  }

 private:
  template <std::uint32_t kQueries, bool kTwo>
  static HWY_NOINLINE void unit(const abi::OakenView& view, const OakenConstants& constants,
                                const FusedLists& slots, const std::uint8_t* codes,
                                std::uint32_t lines, std::uint32_t at, std::uint32_t slot,
                                std::uint32_t end, const std::uint8_t* work, float* scores,
                                std::uint32_t stride) {
    constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
    constexpr std::uint32_t kSums = kQueries * kPlanes;
    const std::uint32_t query_stride = OakenQueries::stride(view);
    const std::uint32_t row = OakenQueries::row(view);
    __m512i dense[kSums];
    dense_sums<kQueries, kTwo>(constants, at, codes, lines, 0, work + 64 + 4 * row, query_stride,
                               row, dense);
    const std::uint8_t* tables = work + 64 + 2 * row;
    const std::uint32_t second_table = view.chunks == 2 ? 64 : 0;
    __m512i of_quad[kSums + 1][4];
    const auto add_quad = [&]<std::uint32_t kQuad>() HWY_ATTR {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums + 1; ++i) of_quad[i][kQuad] = _mm512_setzero_si512();
      std::uint32_t pass = 0;
      do {
        const __m512i index = _mm512_load_si512(slots.channel[kQuad][pass]);
        const __m512i delta = _mm512_load_si512(slots.delta[kQuad][pass]);
        __m512i& turned = of_quad[kSums][kQuad];
        turned = _mm512_dpbusd_epi32(turned, set_byte(128), delta);
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kSums; ++i) {
          const std::uint8_t* bytes =
              tables + static_cast<std::size_t>(i / kPlanes) * query_stride + i % kPlanes * row;
          const __m512i found = _mm512_permutex2var_epi8(_mm512_loadu_si512(bytes), index,
                                                         _mm512_loadu_si512(bytes + second_table));
          of_quad[i][kQuad] = _mm512_dpbusd_epi32(of_quad[i][kQuad], found, delta);
        }
      } while (++pass < slots.passes[kQuad]);
    };
    add_quad.template operator()<0>();
    add_quad.template operator()<1>();
    add_quad.template operator()<2>();
    add_quad.template operator()<3>();
    __m512i sparse[kSums];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) sparse[i] = lane_sums(of_quad[i]);
    const __m512i turned = lane_sums(of_quad[kSums]);
    finish<kQueries, kTwo>(constants, at, slot, end, work, query_stride, dense, sparse, turned,
                           scores, stride);
    if (HWY_UNLIKELY((constants.wide_units >> at / 16 & 1u) != 0)) {
      const std::uint32_t from = upper_of(slot, at);
      add_wide<kQueries, kTwo>(view, codes, lines, 64 + 4 * row, constants, at, work,
                               scores + (from - slot), stride, from - at,
                               lower_of(end, at + 16) - from);
    }
  }

  // Sums of the four dwords of each lane: of lane l of quads[j] in dword 4 l + j.
  static HWY_INLINE __m512i lane_sums(const __m512i* quads) {
    const auto add = [](__m512i a, __m512i b) HWY_ATTR {
      return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    };
    const __m512i a = add(quads[0], quads[1]);
    const __m512i b = add(quads[2], quads[3]);
    return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  }

  // Sixteen rows of up to 64 bytes, dword by dword: dword i of row t to dword t of line i. Bytes
  // behind a row are read but meet zeros of the query; a block goes on for that long.
  static HWY_INLINE void turn_rows(const abi::OakenView& view, const std::uint8_t* rows,
                                   std::intptr_t ahead, std::uint8_t* lines) {
    __m512i a[16];
    __m512i b[16];
    KVPLEAT_UNROLL
    for (std::uint32_t t = 0; t < 16; ++t) {
      a[t] = _mm512_loadu_si512(rows + t * view.row_bytes);
      LaneTools::prefetch_from(rows + t * view.row_bytes, ahead);
    }
    // Pairs of dwords, then of quads of dwords, within lanes; then the lanes.
    KVPLEAT_UNROLL
    for (std::uint32_t t = 0; t < 16; t += 2) {
      b[t] = _mm512_unpacklo_epi32(a[t], a[t + 1]);
      b[t + 1] = _mm512_unpackhi_epi32(a[t], a[t + 1]);
    }
    KVPLEAT_UNROLL
    for (std::uint32_t t = 0; t < 16; t += 4) {
      a[t] = _mm512_unpacklo_epi64(b[t], b[t + 2]);
      a[t + 1] = _mm512_unpackhi_epi64(b[t], b[t + 2]);
      a[t + 2] = _mm512_unpacklo_epi64(b[t + 1], b[t + 3]);
      a[t + 3] = _mm512_unpackhi_epi64(b[t + 1], b[t + 3]);
    }
    // a[4 k + d]: lane l has dword 4 l + d of rows 4 k .. 4 k + 3.
    KVPLEAT_UNROLL
    for (std::uint32_t d = 0; d < 4; ++d) {
      const __m512i p = _mm512_shuffle_i32x4(a[d], a[4 + d], 0x44);
      const __m512i q = _mm512_shuffle_i32x4(a[8 + d], a[12 + d], 0x44);
      const __m512i r = _mm512_shuffle_i32x4(a[d], a[4 + d], 0xee);
      const __m512i s = _mm512_shuffle_i32x4(a[8 + d], a[12 + d], 0xee);
      _mm512_store_si512(lines + 64 * d, _mm512_shuffle_i32x4(p, q, 0x88));
      _mm512_store_si512(lines + 64 * (4 + d), _mm512_shuffle_i32x4(p, q, 0xdd));
      _mm512_store_si512(lines + 64 * (8 + d), _mm512_shuffle_i32x4(r, s, 0x88));
      _mm512_store_si512(lines + 64 * (12 + d), _mm512_shuffle_i32x4(r, s, 0xdd));
    }
  }
};

// Sums over published values of at most 128 channels: rows of four tokens are interleaved byte by
// byte, in eight unpackings for 128 channels of codes or 64 of deltas.
struct FusedSums : OakenBytes {
  template <bool kTwo>
  static void runs(const abi::OakenView& view, const abi::AccumulateArguments& arguments) {
    OakenConstants constants;
    FusedSlots::RunConstants kinds;
    OakenWeights weights;
    OakenTables tables;
    FusedRows rows;
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < arguments.run_count; ++r) {
      const abi::BlockRun& run = arguments.runs[r];
      const std::uint32_t begin = run.slot / 16 * 16;
      const std::uint32_t end = run.slot + run.count;
      const OakenAhead ahead = OakenAhead::of(arguments, r);
      if (run.count != 64) std::memset(&constants, 0, sizeof constants);
      OakenConstants::derive(view, run, constants);
      OakenWeights::make<kTwo>(arguments, first, run, constants, weights);
      for (std::uint32_t i = 0; i < 12; ++i)
        LaneTools::prefetch_from(run.bytes.shared, ahead.shared + 64 * i);
      for (std::uint32_t i = 0; i < run.bytes.spill_bytes; i += 64)
        LaneTools::prefetch_from(run.bytes.spill, ahead.spill + i);
      const std::uint8_t* counts = run.bytes.block + view.counts_at;
      LaneTools::prefetch_from(counts, ahead.block);
      LaneTools::prefetch_from(counts, ahead.block + 64 * (view.chunks - 1));
      FusedSlots::RunConstants::make(view, run, constants, kinds);
      std::uint32_t next = FusedWalk::bytes_before(view, counts, begin);
      rows.most = 0;
      for (std::uint32_t at = begin; at < end; at += 16) {
        FusedSlots::make(view, run.bytes, kinds, at, upper_of(run.slot, at) - at,
                         lower_of(end, at + 16) - at, next, rows);
      }
      OakenTables::make_levels(constants, tables);
      const Quads quads = {begin / 4, round_up(end, 16u) / 4};
      std::uint32_t j = 0;
      const auto some = [&]<std::uint32_t kQueries>() HWY_ATTR {
        for (; j + kQueries <= arguments.query_count; j += kQueries) {
          float* out = arguments.sums + static_cast<std::size_t>(j) * view.dim;
          add_codes<kQueries, kTwo>(view, run.bytes.block, ahead.block, tables, quads,
                                    weights.level + j, weights.bias + j, out);
          add_deltas<kQueries, kTwo>(view, rows, quads, weights.delta + j, out);
        }
      };
      if constexpr (!kTwo) some.template operator()<4>();
      some.template operator()<2>();
      some.template operator()<1>();
      if (HWY_UNLIKELY(weights.has_wide)) {
        OakenTables::make_sides(constants, tables);
        const float none = 0.0f;
        for (j = 0; j < arguments.query_count; ++j) {
          add_codes<1, kTwo>(view, run.bytes.block, 0, tables, quads, weights.wide + j, &none,
                             arguments.sums + static_cast<std::size_t>(j) * view.dim);
        }
      }
      first += run.count;
    }
  }

 private:
  struct Quads {
    std::uint32_t begin;
    std::uint32_t end;
  };

  // Adds, for each query, factor * sum over tokens of weight * what the table has for the code, and
  // the bias. Bytes behind a row are read, but what they become is not added; a block goes on for
  // that long.
  template <std::uint32_t kQueries, bool kTwo>
  static HWY_NOINLINE void add_codes(const abi::OakenView& view, const std::uint8_t* block,
                                     std::intptr_t ahead, const OakenTables& tables, Quads quads,
                                     const OakenFold* folds, const float* bias, float* out) {
    constexpr std::uint32_t kSums = kQueries * (kTwo ? 2 : 1);
    for (std::uint32_t half = 0; half < 2; ++half) {
      __m512i sums[4][kSums];
      clear<kSums>(sums);
      for (std::uint32_t q = quads.begin; q < quads.end; ++q) {
        const std::uint8_t* at = block + 4 * q * view.row_bytes;
        __m512i row[4];
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < 4; ++i) {
          row[i] = in_register(_mm512_loadu_si512(at + i * view.row_bytes));
          if (half == 0) LaneTools::prefetch_from(at + i * view.row_bytes, ahead);
        }
        __m512i pairs[2];
        if (half == 0) {
          interleave(_mm512_unpacklo_epi8(row[0], row[1]), _mm512_unpacklo_epi8(row[2], row[3]),
                     pairs);
        } else {
          interleave(_mm512_unpackhi_epi8(row[0], row[1]), _mm512_unpackhi_epi8(row[2], row[3]),
                     pairs);
        }
        const __m512i table = in_register(_mm512_load_si512(tables.of[q]));
        const __m512i bytes[4] = {OakenTables::look(table, pairs[0]),
                                  OakenTables::look(table, _mm512_srli_epi16(pairs[0], 4)),
                                  OakenTables::look(table, pairs[1]),
                                  OakenTables::look(table, _mm512_srli_epi16(pairs[1], 4))};
        add_products<kSums, kTwo>(folds, q, bytes, sums);
      }
      for (std::uint32_t i = 0; i < kQueries; ++i) {
        __m512 parts[4];
        join<kSums, kTwo>(sums, i, folds[i].factor, bias[i], parts);
        // Lane l of four[k] has the channels 32 l + 16 half + 4 k + 0 .. 3.
        const __m512 four[4] = {
            _mm512_unpacklo_ps(parts[0], parts[1]), _mm512_unpackhi_ps(parts[0], parts[1]),
            _mm512_unpacklo_ps(parts[2], parts[3]), _mm512_unpackhi_ps(parts[2], parts[3])};
        add_lanes(view, four, 16 * half, 32, out + static_cast<std::size_t>(i) * view.dim);
      }
    }
  }
  // The same for deltas.
  template <std::uint32_t kQueries, bool kTwo>
  static HWY_NOINLINE void add_deltas(const abi::OakenView& view, const FusedRows& rows,
                                      Quads quads, const OakenFold* folds, float* out) {
    constexpr std::uint32_t kSums = kQueries * (kTwo ? 2 : 1);
    const bool few = rows.most <= 2;
    for (std::uint32_t k = 0; k < view.chunks; ++k) {
      __m512i sums[4][kSums];
      clear<kSums>(sums);
      for (std::uint32_t q = quads.begin; q < quads.end; ++q) {
        __m512i row[4];
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < 4; ++i) row[i] = rows.chunk(4 * q + i, k, few);
        __m512i bytes[4];
        interleave(_mm512_unpacklo_epi8(row[0], row[1]), _mm512_unpacklo_epi8(row[2], row[3]),
                   bytes);
        interleave(_mm512_unpackhi_epi8(row[0], row[1]), _mm512_unpackhi_epi8(row[2], row[3]),
                   bytes + 2);
        add_products<kSums, kTwo>(folds, q, bytes, sums);
      }
      for (std::uint32_t i = 0; i < kQueries; ++i) {
        __m512 parts[4];
        join<kSums, kTwo>(sums, i, folds[i].factor, 0.0f, parts);
        // Lane l of parts[m] has the channels 64 k + 16 l + 4 m + 0 .. 3.
        add_lanes(view, parts, 64 * k, 16, out + static_cast<std::size_t>(i) * view.dim);
      }
    }
  }

  template <std::uint32_t kSums>
  static HWY_INLINE void clear(__m512i (*sums)[kSums]) {
    KVPLEAT_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) sums[k][i] = _mm512_setzero_si512();
    }
  }
  // Pairs of bytes of two tokens, and of the two after them: four tokens in a dword.
  static HWY_INLINE void interleave(__m512i pair_01, __m512i pair_23, __m512i* four) {
    four[0] = _mm512_unpacklo_epi16(pair_01, pair_23);
    four[1] = _mm512_unpackhi_epi16(pair_01, pair_23);
  }
  template <std::uint32_t kSums, bool kTwo>
  static HWY_INLINE void add_products(const OakenFold* folds, std::uint32_t quad,
                                      const __m512i* bytes, __m512i (*sums)[kSums]) {
    constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) {
      const OakenFold& fold = folds[i / kPlanes];
      const __m512i weights = broadcast((i % kPlanes == 0 ? fold.high : fold.low) + 4 * quad);
      KVPLEAT_UNROLL
      for (std::uint32_t k = 0; k < 4; ++k)
        sums[k][i] = _mm512_dpbusd_epi32(sums[k][i], weights, bytes[k]);
    }
  }
  // factor * sum + bias, of query i.
  template <std::uint32_t kSums, bool kTwo>
  static HWY_INLINE void join(const __m512i (*sums)[kSums], std::uint32_t i, float factor,
                              float bias, __m512* parts) {
    KVPLEAT_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k) {
      __m512 sum = _mm512_cvtepi32_ps(sums[k][kTwo ? 2 * i : i]);
      if constexpr (kTwo) {
        sum = _mm512_fmadd_ps(sum, _mm512_set1_ps(256.0f), _mm512_cvtepi32_ps(sums[k][2 * i + 1]));
      }
      parts[k] = _mm512_fmadd_ps(sum, _mm512_set1_ps(factor), _mm512_set1_ps(bias));
    }
  }
  // Adds lane l of four[k] to the channels from `first` + l * `apart` + 4 k on.
  static HWY_INLINE void add_lanes(const abi::OakenView& view, const __m512* four,
                                   std::uint32_t first, std::uint32_t apart, float* out) {
    const __m512 p = _mm512_shuffle_f32x4(four[0], four[1], 0x44);
    const __m512 q = _mm512_shuffle_f32x4(four[2], four[3], 0x44);
    const __m512 r = _mm512_shuffle_f32x4(four[0], four[1], 0xee);
    const __m512 s = _mm512_shuffle_f32x4(four[2], four[3], 0xee);
    const __m512 turned[4] = {_mm512_shuffle_f32x4(p, q, 0x88), _mm512_shuffle_f32x4(p, q, 0xdd),
                              _mm512_shuffle_f32x4(r, s, 0x88), _mm512_shuffle_f32x4(r, s, 0xdd)};
    for (std::uint32_t l = 0; l < 4; ++l) {
      const std::uint32_t c = first + apart * l;
      if (c < view.dim) add_to(view, out, c, turned[l]);
    }
  }
};

#endif  // KVPLEAT_OAKEN_VBMI

struct FusedKernels {
  static void score(const abi::OakenView& view, const abi::ScoreArguments& arguments) {
#if KVPLEAT_OAKEN_VBMI
    if (view.chunks <= 2 && view.padding == abi::SpillPadding::kNone) {
      if (arguments.arithmetic == abi::Arithmetic::kAccurate) {
        FusedScores::runs<true>(view, arguments);
      } else {
        FusedScores::runs<false>(view, arguments);
      }
      return;
    }
#endif
    if (arguments.arithmetic == abi::Arithmetic::kAccurate) {
      score_runs<true>(view, arguments);
    } else {
      score_runs<false>(view, arguments);
    }
  }
  static void accumulate(const abi::OakenView& view, const abi::AccumulateArguments& arguments) {
#if KVPLEAT_OAKEN_VBMI
    if (view.chunks <= 2 && view.padding == abi::SpillPadding::kNone) {
      if (arguments.arithmetic == abi::Arithmetic::kAccurate) {
        FusedSums::runs<true>(view, arguments);
      } else {
        FusedSums::runs<false>(view, arguments);
      }
      return;
    }
#endif
    if (arguments.arithmetic == abi::Arithmetic::kAccurate) {
      accumulate_runs<true>(view, arguments);
    } else {
      accumulate_runs<false>(view, arguments);
    }
  }

 private:
  template <bool kTwo>
  static void score_runs(const abi::OakenView& view, const abi::ScoreArguments& arguments) {
    alignas(64) std::uint8_t levels[16 * FusedWalk::kMostDim];
    OakenConstants constants;
    OakenUnits::Sparse sparse;
    std::uint32_t first = 0;
    const std::uint32_t row = OakenQueries::row(view);
    for (std::uint32_t r = 0; r < arguments.run_count; ++r) {
      const abi::BlockRun& run = arguments.runs[r];
      const std::uint32_t end = run.slot + run.count;
      OakenConstants::derive(view, run, constants);
      const std::uint8_t* counts = run.bytes.block + view.counts_at;
      std::uint32_t next = FusedWalk::bytes_before(view, counts, run.slot);
      for (std::uint32_t at = run.slot / 16 * 16; at < end; at += 16) {
        const std::uint32_t from = upper_of(run.slot, at);
        const std::uint32_t to = lower_of(end, at + 16);
        const std::uint32_t lines = ceil_div(view.row_bytes, 4u);
        std::memset(levels, 0, 128 * lines);
        for (std::uint32_t t = from; t < to; ++t)
          expand(view, run.bytes.block, constants, t, levels + 4 * (t - at));
        std::memset(&sparse, 0, sizeof sparse);
        for (std::uint32_t t = from; t < to; ++t) {
          FusedWalk::token(view, run.bytes, constants, t, next,
                           [&](std::uint32_t c, std::int32_t delta) {
                             const std::uint8_t* bytes = arguments.work + 64 + c;
                             for (std::uint32_t j = 0; j < arguments.query_count; ++j) {
                               auto& sums = sparse.sums[j];
                               sums[0][t - at] += OakenUnits::signed_byte(bytes[0]) * delta;
                               if constexpr (kTwo)
                                 sums[1][t - at] += OakenUnits::signed_byte(bytes[row]) * delta;
                               bytes += OakenQueries::stride(view);
                             }
                           });
          next += FusedWalk::token_bytes(view, counts + t * view.chunks);
        }
        OakenUnits::score<kTwo>(view, arguments, constants, at, levels, 2 * lines, 64 + 4 * row,
                                row, sparse, first + from - run.slot, from - at, to - from);
      }
      first += run.count;
    }
  }
  // Levels of a row: of four bytes the low nibbles, then, 64 bytes on, the high ones.
  static HWY_INLINE void expand(const abi::OakenView& view, const std::uint8_t* block,
                                const OakenConstants& constants, std::uint32_t t,
                                std::uint8_t* levels) {
    alignas(64) std::uint8_t low[kRowBytes];
    alignas(64) std::uint8_t high[kRowBytes];
    expand_row(view, block, constants, t, low, high);
    for (std::uint32_t i = 0; i < view.row_bytes; i += 4) {
      std::memcpy(levels + 32 * i, low + i, 4);
      std::memcpy(levels + 32 * i + 64, high + i, 4);
    }
  }
  // Levels of the low and of the high nibbles of a row. Bytes behind it are read as well: a block
  // goes on for that long.
  static constexpr std::uint32_t kRowBytes = round_up(FusedWalk::kMostDim / 2, 64u);
  static HWY_INLINE void expand_row(const abi::OakenView& view, const std::uint8_t* block,
                                    const OakenConstants& constants, std::uint32_t t,
                                    std::uint8_t* low, std::uint8_t* high) {
    const std::uint8_t* row = block + t * view.row_bytes;
    const Lanes::B8 below = Lanes::set_byte(OakenUnits::below(constants.split[t]));
    const Lanes::B8 gap = Lanes::set_byte(constants.gap[t]);
    for (std::uint32_t i = 0; i < view.row_bytes; i += Lanes::kBytes) {
      const Lanes::B8 pair = Lanes::load_b8(row + i);
      Lanes::store_b8(low + i, OakenUnits::levels(OakenUnits::low_sixteenths(pair), below, gap));
      Lanes::store_b8(high + i, OakenUnits::levels(OakenUnits::high_sixteenths(pair), below, gap));
    }
  }

  template <bool kTwo>
  static void accumulate_runs(const abi::OakenView& view,
                              const abi::AccumulateArguments& arguments) {
    // Of 16 tokens: [units of 16 channels][4 quads][16 channels][4 tokens].
    alignas(64) std::uint8_t levels[16 * FusedWalk::kMostDim];
    alignas(64) std::uint8_t deltas[16 * FusedWalk::kMostDim];
    OakenConstants constants;
    OakenWeights weights;
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < arguments.run_count; ++r) {
      const abi::BlockRun& run = arguments.runs[r];
      const std::uint32_t end = run.slot + run.count;
      std::memset(&constants, 0, sizeof constants);
      OakenConstants::derive(view, run, constants);
      OakenWeights::make<kTwo>(arguments, first, run, constants, weights);
      const std::uint8_t* counts = run.bytes.block + view.counts_at;
      std::uint32_t next = FusedWalk::bytes_before(view, counts, run.slot);
      for (std::uint32_t at = run.slot / 16 * 16; at < end; at += 16) {
        const std::uint32_t from = upper_of(run.slot, at);
        const std::uint32_t to = lower_of(end, at + 16);
        std::memset(levels, 0, 16 * view.padded_dim);
        std::memset(deltas, 0, 16 * view.padded_dim);
        for (std::uint32_t t = from; t < to; ++t) {
          alignas(64) std::uint8_t low[kRowBytes];
          alignas(64) std::uint8_t high[kRowBytes];
          expand_row(view, run.bytes.block, constants, t, low, high);
          // Two channels lie next to each other, in lanes of four tokens.
          std::uint8_t* lane = levels + place(0, t - at);
          for (std::uint32_t i = 0; i < view.row_bytes; ++i) {
            lane[i / 8 * 256 + i % 8 * 8] = low[i] ^ 0x80u;
            lane[i / 8 * 256 + i % 8 * 8 + 4] = high[i] ^ 0x80u;
          }
          FusedWalk::token(view, run.bytes, constants, t, next,
                           [&](std::uint32_t c, std::int32_t delta) {
                             deltas[place(c, t - at)] = static_cast<std::uint8_t>(delta & 255);
                           });
          next += FusedWalk::token_bytes(view, counts + t * view.chunks);
        }
        for (std::uint32_t c = 0; c < view.padded_dim; c += 16) {
          OakenUnits::accumulate<kTwo>(view, arguments, constants, weights, c, levels + 16 * c,
                                       deltas + 16 * c, at, 4, at == run.slot / 16 * 16);
        }
      }
      first += run.count;
    }
  }
  static HWY_INLINE std::uint32_t place(std::uint32_t c, std::uint32_t t) {
    return c / 16 * 256 + t / 4 * 64 + c % 16 * 4 + t % 4;
  }
};

// Kernels by the order of the bytes. arguments.arithmetic: kFast or kAccurate.
struct OakenKernels {
  static void prepare(const abi::OakenView& view, const abi::PrepareArguments& arguments) {
    OakenQueries::prepare(view, arguments);
  }
  static void score(const abi::OakenView& view, const abi::ScoreArguments& arguments) {
    if (view.jagged) {
      JaggedKernels::score(view, arguments);
    } else {
      FusedKernels::score(view, arguments);
    }
  }
  static void accumulate(const abi::OakenView& view, const abi::AccumulateArguments& arguments) {
    if (view.jagged) {
      JaggedKernels::accumulate(view, arguments);
    } else {
      FusedKernels::accumulate(view, arguments);
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
