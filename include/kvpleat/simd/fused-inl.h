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

  // visit(channel, delta) of the outliers of slot t, whose entries begin at `at`. Entries beyond the
  // spill and channels beyond the row are left out.
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

// The outliers of 16 tokens of at most 128 channels, in groups as resident order has them: byte 4 t
// + b of group g is number 4 g + b of token t, as far as it exists; else its delta is 0.
struct FusedSlots : OakenBytes {
  alignas(64) std::uint8_t channel[32][64];
  alignas(64) std::uint8_t delta[32][64];
  std::uint64_t present[32];
  std::uint32_t groups;

  // Lanes [from, to) of the unit that begins at slot `at`; its entries begin at `next`, which moves
  // behind them.
  static HWY_NOINLINE void make(const abi::OakenView& view, const abi::BlockBytes& bytes,
                                const OakenConstants& constants, std::uint32_t at,
                                std::uint32_t from, std::uint32_t to, std::uint32_t& next,
                                FusedSlots& made) {
    alignas(16) std::uint8_t all[16];    // entries of each token
    alignas(16) std::uint8_t first[16];  // of its first chunk
    std::uint32_t begin[16];
    const std::uint8_t* counts = bytes.block + view.counts_at + at * view.chunks;
    std::uint32_t most = 0;
    for (std::uint32_t t = 0; t < 16; ++t) {
      const std::uint32_t of_0 = counts[t * view.chunks];
      const std::uint32_t of_1 = view.chunks == 2 ? counts[t * 2 + 1] : 0;
      begin[t] = lower_of(next, bytes.spill_bytes);
      next += of_0 + of_1;
      const bool inside = t >= from && t < to;
      first[t] = static_cast<std::uint8_t>(inside ? lower_of(of_0, 64u) : 0);
      all[t] = static_cast<std::uint8_t>(inside ? first[t] + lower_of(of_1, 64u) : 0);
      most = upper_of<std::uint32_t>(most, all[t]);
    }
    made.groups = ceil_div(most, 4u);
    if (most == 0) return;
    const Constants values(view, bytes, constants, at);
    const __m512i first_16 = _mm512_castsi128_si512(load16(first));
    const __m512i all_4 = each_four(load16(all));
    const std::uint8_t* rows = bytes.block + at * view.row_bytes;
    // Sixteen entries of each token at a time, four tokens in a register.
    for (std::uint32_t pass = 0; pass < most; pass += 16) {
      __m512i channels[4];
      __m512i kinds[4];
      KVPLEAT_UNROLL
      for (std::uint32_t k = 0; k < 4; ++k) {
        const std::uint32_t t = 4 * k;
        __m512i entry = _mm512_castsi128_si512(entries(bytes, begin[t] + pass));
        entry = _mm512_inserti32x4(entry, entries(bytes, begin[t + 1] + pass), 1);
        entry = _mm512_inserti32x4(entry, entries(bytes, begin[t + 2] + pass), 2);
        entry = _mm512_inserti32x4(entry, entries(bytes, begin[t + 3] + pass), 3);
        const __m512i lane = _mm512_add_epi8(each_lane(), set_byte(t));
        const __m512i of_0 = _mm512_permutexvar_epi8(lane, first_16);
        const __m512i number =
            _mm512_add_epi8(_mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                                                 11, 12, 13, 14, 15)),
                            set_byte(pass));
        __m512i c = _mm512_and_si512(_mm512_srli_epi16(entry, 2), set_byte(0x3f));
        c = _mm512_mask_add_epi8(c, _mm512_cmpge_epu8_mask(number, of_0), c, set_byte(64));
        channels[k] = c;
        // Their nibbles: byte c / 2 of the row of their token, two rows per lookup.
        const __m512i byte =
            _mm512_ternarylogic_epi32(_mm512_srli_epi16(c, 1), set_byte(0x3f), odd_lanes(), 0xea);
        const std::uint8_t* row = rows + t * view.row_bytes;
        const auto load_row = [&](std::uint32_t i)
                                  HWY_ATTR { return _mm512_loadu_si512(row + i * view.row_bytes); };
        const __m512i of_01 = _mm512_permutex2var_epi8(load_row(0), byte, load_row(1));
        const __m512i of_23 = _mm512_permutex2var_epi8(load_row(2), byte, load_row(3));
        __m512i pair = _mm512_mask_blend_epi64(0xf0, of_01, of_23);
        pair = _mm512_mask_mov_epi8(pair, _mm512_test_epi8_mask(c, set_byte(1)),
                                    _mm512_srli_epi16(pair, 4));
        // (pair & 15) | (entry << 4 & 48)
        kinds[k] =
            _mm512_ternarylogic_epi32(_mm512_and_si512(_mm512_slli_epi16(entry, 4), set_byte(0x30)),
                                      pair, set_byte(0x0f), 0xf8);
      }
      turn(channels);
      turn(kinds);
      const std::uint32_t groups = lower_of(ceil_div(most - pass, 4u), 4u);
      for (std::uint32_t g = 0; g < groups; ++g) {
        const std::uint32_t group = pass / 4 + g;
        const __m512i number = _mm512_add_epi8(_mm512_set1_epi32(0x03020100), set_byte(4 * group));
        const __mmask64 exists = _mm512_cmplt_epu8_mask(number, all_4);
        made.present[group] = exists;
        _mm512_store_si512(made.channel[group], channels[g]);
        _mm512_store_si512(made.delta[group],
                           _mm512_maskz_mov_epi8(exists, values.deltas(kinds[g])));
      }
    }
  }

 private:
  // What a delta is made of, in 1/128 of the unit of a token, modulo 2^16: that leaves every sum
  // right that is one at the end. Rounding them adds at most 1/256 + 15/256 to half a unit.
  struct Constants {
    __m512i at_0[4];  // delta of payload 0: inner, inner negative, outer, outer low; and 1/2
    __m512i slope[4];
    __m512i gap;
    __m512i split;  // first payload of the high side

    HWY_INLINE Constants(const abi::OakenView& view, const abi::BlockBytes& bytes,
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
        at_0[2 * outer] = words(_mm512_fmadd_ps(_mm512_add_ps(above, low), scale, half));
        at_0[2 * outer + 1] = words(_mm512_fmadd_ps(_mm512_sub_ps(below, low), scale, half));
        slope[2 * outer] = words(_mm512_sub_ps(size, level));
        slope[2 * outer + 1] =
            words(_mm512_sub_ps(_mm512_sub_ps(_mm512_setzero_ps(), size), level));
      }
      const __m512 added = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(load16(constants.gap + at)));
      gap = words(_mm512_mul_ps(_mm512_fmadd_ps(added, step, wide), scale));
      const __m512i sixteenths = _mm512_xor_si512(
          _mm512_cvtepu8_epi32(load16(constants.split + at)), _mm512_set1_epi32(0x80));
      const __m512i whole =
          _mm512_srli_epi32(_mm512_add_epi32(sixteenths, _mm512_set1_epi32(15)), 4);
      split = _mm512_or_si512(whole, _mm512_slli_epi32(whole, 16));
    }
    // Of a group, from payload | kind << 4.
    HWY_INLINE __m512i deltas(__m512i kinds) const {
      const __m512i even = half(_mm512_and_si512(kinds, _mm512_set1_epi16(0xff)));
      const __m512i odd = half(_mm512_srli_epi16(kinds, 8));
      // (even & 0xff) | odd << 8
      return _mm512_ternarylogic_epi32(_mm512_slli_epi16(odd, 8), even, _mm512_set1_epi16(0xff),
                                       0xf8);
    }

   private:
    HWY_INLINE __m512i half(__m512i kinds) const {
      const __m512i payload = _mm512_and_si512(kinds, _mm512_set1_epi16(15));
      const __mmask32 low = _mm512_test_epi16_mask(kinds, _mm512_set1_epi16(0x10));
      const __mmask32 outer = _mm512_test_epi16_mask(kinds, _mm512_set1_epi16(0x20));
      const __mmask32 outer_low = _kand_mask32(low, outer);
      const auto pick = [&](const __m512i* of) HWY_ATTR {
        __m512i x = _mm512_mask_mov_epi16(of[0], low, of[1]);
        x = _mm512_mask_mov_epi16(x, outer, of[2]);
        return _mm512_mask_mov_epi16(x, outer_low, of[3]);
      };
      __m512i sum = _mm512_add_epi16(pick(at_0), _mm512_mullo_epi16(payload, pick(slope)));
      sum = _mm512_mask_sub_epi16(sum, _mm512_cmpge_epi16_mask(payload, split), sum, gap);
      return _mm512_srai_epi16(sum, 7);
    }
    static HWY_INLINE __m512i words(__m512 x) {
      const __m512i whole = _mm512_cvtps_epi32(x);
      return _mm512_mask_blend_epi16(0xaaaaaaaa, whole, _mm512_slli_epi32(whole, 16));
    }
  };

  // Sixteen bytes of the spill, as far as it goes.
  static HWY_INLINE __m128i entries(const abi::BlockBytes& bytes, std::uint32_t at) {
    if (HWY_LIKELY(at + 16 <= bytes.spill_bytes)) return load16(bytes.spill + at);
    const std::uint32_t left = at < bytes.spill_bytes ? bytes.spill_bytes - at : 0;
    return _mm_maskz_loadu_epi8(static_cast<__mmask16>((1u << left) - 1u),
                                bytes.spill + (left > 0 ? at : 0));
  }
  // The number of the 16-byte lane; 64 in odd ones.
  static HWY_INLINE __m512i each_lane() {
    return _mm512_set_epi64(0x0303030303030303, 0x0303030303030303, 0x0202020202020202,
                            0x0202020202020202, 0x0101010101010101, 0x0101010101010101, 0, 0);
  }
  static HWY_INLINE __m512i odd_lanes() {
    return _mm512_set_epi64(0x4040404040404040, 0x4040404040404040, 0, 0, 0x4040404040404040,
                            0x4040404040404040, 0, 0);
  }
  // Dword d of lane i of register k becomes dword 4 k + i of register d.
  static HWY_INLINE void turn(__m512i* registers) {
    const __m512i across = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    KVPLEAT_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k)
      registers[k] = _mm512_permutexvar_epi32(across, registers[k]);
    const __m512i a = _mm512_shuffle_i32x4(registers[0], registers[1], 0x44);
    const __m512i b = _mm512_shuffle_i32x4(registers[2], registers[3], 0x44);
    const __m512i c = _mm512_shuffle_i32x4(registers[0], registers[1], 0xee);
    const __m512i d = _mm512_shuffle_i32x4(registers[2], registers[3], 0xee);
    registers[0] = _mm512_shuffle_i32x4(a, b, 0x88);
    registers[1] = _mm512_shuffle_i32x4(a, b, 0xdd);
    registers[2] = _mm512_shuffle_i32x4(c, d, 0x88);
    registers[3] = _mm512_shuffle_i32x4(c, d, 0xdd);
  }
};

// Scores of published keys of at most 128 channels: rows are turned into lines of K4.
struct FusedScores : OakenScores {
  template <bool kTwo>
  static void runs(const abi::OakenView& view, const abi::ScoreArguments& arguments) {
    OakenConstants constants;
    FusedSlots slots;
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
      std::uint32_t next = FusedWalk::bytes_before(view, counts, run.slot / 16 * 16);
      for (std::uint32_t at = run.slot / 16 * 16; at < end; at += 16) {
        const std::uint32_t from = upper_of(run.slot, at);
        FusedSlots::make(view, run.bytes, constants, at, from - at, lower_of(end, at + 16) - at,
                         next, slots);
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
                                const FusedSlots& slots, const std::uint8_t* codes,
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
    __m512i sparse[kSums];
    __m512i turned = _mm512_setzero_si512();
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) sparse[i] = _mm512_setzero_si512();
    const std::uint8_t* tables = work + 64 + 2 * row;
    const std::uint32_t second_table = view.chunks == 2 ? 64 : 0;
    for (std::uint32_t g = 0; g < slots.groups; ++g) {
      const __m512i index = _mm512_load_si512(slots.channel[g]);
      const __m512i delta = _mm512_load_si512(slots.delta[g]);
      turned = _mm512_dpbusd_epi32(turned, set_byte(128), delta);
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) {
        const std::uint8_t* bytes =
            tables + static_cast<std::size_t>(i / kPlanes) * query_stride + i % kPlanes * row;
        const __m512i found = _mm512_permutex2var_epi8(_mm512_loadu_si512(bytes), index,
                                                       _mm512_loadu_si512(bytes + second_table));
        sparse[i] = _mm512_dpbusd_epi32(sparse[i], found, delta);
      }
    }
    finish<kQueries, kTwo>(constants, at, slot, end, work, query_stride, dense, sparse, turned,
                           scores, stride);
    if (HWY_UNLIKELY((constants.wide_units >> at / 16 & 1u) != 0)) {
      const std::uint32_t from = upper_of(slot, at);
      add_wide<kQueries, kTwo>(view, codes, lines, 64 + 4 * row, constants, at, work,
                               scores + (from - slot), stride, from - at,
                               lower_of(end, at + 16) - from);
    }
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

// Sums over published values of at most 128 channels. Levels and deltas of a block lie in two tiles
// of signed bytes, [8][16 quads][16 lanes][4 tokens], where the channel 32 l + 8 m + 2 i + h has lane
// 4 l + i of part 2 m + h: so four rows become four registers in eight unpackings.
struct FusedSums : OakenBytes {
  template <bool kTwo>
  static void runs(const abi::OakenView& view, const abi::AccumulateArguments& arguments) {
    alignas(64) std::uint8_t levels[8192];
    alignas(64) std::uint8_t deltas[8192 + 64];  // the last byte takes what is no entry
    // 64 entries a group; the last store of a list runs over.
    alignas(64) std::uint16_t places[32 * 64 + 64];
    alignas(64) std::uint8_t values[32 * 64 + 64];
    OakenConstants constants;
    OakenWeights weights;
    FusedSlots slots;
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
      std::memset(deltas, 0, 8192);
      std::uint32_t next = FusedWalk::bytes_before(view, counts, begin);
      for (std::uint32_t at = begin; at < end; at += 16) {
        FusedSlots::make(view, run.bytes, constants, at, upper_of(run.slot, at) - at,
                         lower_of(end, at + 16) - at, next, slots);
        const std::uint32_t n = list(slots, at, places, values);
        expand(view, run.bytes.block, ahead.block, constants, at, levels);
        scatter(places, values, n, deltas);
      }
      const std::uint32_t quad = begin / 4;
      const std::uint32_t quads = round_up(end, 16u) / 4 - quad;
      std::uint32_t j = 0;
      const auto some = [&]<std::uint32_t kQueries>() HWY_ATTR {
        for (; j + kQueries <= arguments.query_count; j += kQueries) {
          sum<kQueries, kTwo>(view, arguments, constants, weights, levels, deltas, quad, quads, j);
        }
      };
      if constexpr (!kTwo) some.template operator()<4>();
      some.template operator()<2>();
      some.template operator()<1>();
      first += run.count;
    }
  }

 private:
  // The lower and the upper byte of where the delta of a channel lies, without its token.
  struct Places {
    alignas(64) std::uint8_t lower[128];
    alignas(64) std::uint8_t upper[128];
  };
  static constexpr Places kPlaces = [] {
    Places made{};
    for (std::uint32_t c = 0; c < 128; ++c) {
      made.lower[c] = static_cast<std::uint8_t>((4 * (c / 32) + c / 2 % 4) * 4);
      made.upper[c] = static_cast<std::uint8_t>((c / 8 % 4 * 2 + c % 2) * 4);
    }
    return made;
  }();

  // The deltas of a unit and where they lie; returns how many.
  static HWY_INLINE std::uint32_t list(const FusedSlots& slots, std::uint32_t at,
                                       std::uint16_t* places, std::uint8_t* bytes) {
    const __m512i token = _mm512_set_epi32(
        static_cast<int>(0xc3c3c3c3), static_cast<int>(0xc2c2c2c2), static_cast<int>(0xc1c1c1c1),
        static_cast<int>(0xc0c0c0c0), static_cast<int>(0x83838383), static_cast<int>(0x82828282),
        static_cast<int>(0x81818181), static_cast<int>(0x80808080), 0x43434343, 0x42424242,
        0x41414141, 0x40404040, 0x03030303, 0x02020202, 0x01010101, 0x00000000);
    const __m512i unit = set_byte(at / 16);
    std::uint32_t n = 0;
    for (std::uint32_t g = 0; g < slots.groups; ++g) {
      const __mmask64 exists = slots.present[g];
      const __m512i channel = _mm512_load_si512(slots.channel[g]);
      const auto look = [&](const std::uint8_t* table) HWY_ATTR {
        return _mm512_permutex2var_epi8(_mm512_load_si512(table), channel,
                                        _mm512_load_si512(table + 64));
      };
      const __m512i lower =
          _mm512_maskz_compress_epi8(exists, _mm512_add_epi8(look(kPlaces.lower), token));
      const __m512i upper =
          _mm512_maskz_compress_epi8(exists, _mm512_add_epi8(look(kPlaces.upper), unit));
      _mm512_storeu_si512(bytes + n,
                          _mm512_maskz_compress_epi8(exists, _mm512_load_si512(slots.delta[g])));
      const auto join = [](__m256i low, __m256i high) HWY_ATTR {
        return _mm512_or_si512(_mm512_cvtepu8_epi16(low),
                               _mm512_slli_epi16(_mm512_cvtepu8_epi16(high), 8));
      };
      _mm512_storeu_si512(places + n,
                          join(_mm512_castsi512_si256(lower), _mm512_castsi512_si256(upper)));
      _mm512_storeu_si512(places + n + 32, join(_mm512_extracti64x4_epi64(lower, 1),
                                                _mm512_extracti64x4_epi64(upper, 1)));
      n += static_cast<std::uint32_t>(_mm_popcnt_u64(exists));
    }
    _mm512_storeu_si512(places + n, _mm512_set1_epi16(8192));
    return n;
  }
  static HWY_INLINE void scatter(const std::uint16_t* places, const std::uint8_t* values,
                                 std::uint32_t n, std::uint8_t* deltas) {
    for (std::uint32_t i = 0; i < n; i += 4) {
      std::uint64_t four;
      std::uint32_t bytes;
      std::memcpy(&four, places + i, sizeof four);
      std::memcpy(&bytes, values + i, sizeof bytes);
      deltas[four & 0xffff] = static_cast<std::uint8_t>(bytes & 255u);
      deltas[four >> 16 & 0xffff] = static_cast<std::uint8_t>(bytes >> 8 & 255u);
      deltas[four >> 32 & 0xffff] = static_cast<std::uint8_t>(bytes >> 16 & 255u);
      deltas[four >> 48] = static_cast<std::uint8_t>(bytes >> 24);
    }
  }

  // Levels of 16 rows, minus 128. Bytes behind a row are read, but what they become is not summed; a
  // block goes on for that long.
  static HWY_INLINE void expand(const abi::OakenView& view, const std::uint8_t* block,
                                std::intptr_t ahead, const OakenConstants& constants,
                                std::uint32_t at, std::uint8_t* levels) {
    const __m512i top = set_byte(0xf0);
    const __m512i turn = set_byte(0x80);
    for (std::uint32_t t = at; t < at + 16; t += 4) {
      const std::uint8_t* rows = block + t * view.row_bytes;
      __m512i row[4];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < 4; ++i) {
        row[i] = _mm512_loadu_si512(rows + i * view.row_bytes);
        LaneTools::prefetch_from(rows + i * view.row_bytes, ahead);
      }
      const __m512i split = broadcast(constants.split + t);
      const __m512i gap = broadcast(constants.gap + t);
      const __m512i low_01 = _mm512_unpacklo_epi8(row[0], row[1]);
      const __m512i low_23 = _mm512_unpacklo_epi8(row[2], row[3]);
      const __m512i high_01 = _mm512_unpackhi_epi8(row[0], row[1]);
      const __m512i high_23 = _mm512_unpackhi_epi8(row[2], row[3]);
      const __m512i pairs[4] = {
          _mm512_unpacklo_epi16(low_01, low_23), _mm512_unpackhi_epi16(low_01, low_23),
          _mm512_unpacklo_epi16(high_01, high_23), _mm512_unpackhi_epi16(high_01, high_23)};
      KVPLEAT_UNROLL
      for (std::uint32_t m = 0; m < 4; ++m) {
        __m512i low = _mm512_ternarylogic_epi32(_mm512_slli_epi16(pairs[m], 4), top, turn, 0x6a);
        __m512i high = _mm512_ternarylogic_epi32(pairs[m], top, turn, 0x6a);
        low = _mm512_mask_add_epi8(low, _mm512_cmpge_epi8_mask(low, split), low, gap);
        high = _mm512_mask_add_epi8(high, _mm512_cmpge_epi8_mask(high, split), high, gap);
        _mm512_store_si512(levels + 2048 * m + 16 * t, low);
        _mm512_store_si512(levels + 2048 * m + 1024 + 16 * t, high);
      }
    }
  }

  template <std::uint32_t kQueries, bool kTwo>
  static HWY_NOINLINE void sum(const abi::OakenView& view,
                               const abi::AccumulateArguments& arguments,
                               const OakenConstants& constants, const OakenWeights& weights,
                               const std::uint8_t* levels, const std::uint8_t* deltas,
                               std::uint32_t quad, std::uint32_t quads, std::uint32_t j) {
    __m512 sums[kQueries][8];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kQueries; ++i) {
      KVPLEAT_UNROLL
      for (std::uint32_t z = 0; z < 8; ++z) sums[i][z] = _mm512_set1_ps(weights.bias[j + i]);
    }
    add_tile<kQueries, kTwo>(levels, weights.level + j, quad, quads, sums);
    add_tile<kQueries, kTwo>(deltas, weights.delta + j, quad, quads, sums);
    if (HWY_UNLIKELY(weights.has_wide)) {
      alignas(64) std::uint8_t sides[8192];
      for (std::uint32_t i = 0; i < 128; ++i) {
        _mm512_store_si512(
            sides + 64 * i,
            _mm512_mask_mov_epi8(set_byte(0xff),
                                 _mm512_cmpge_epi8_mask(_mm512_load_si512(levels + 64 * i),
                                                        broadcast(constants.split + i % 16 * 4)),
                                 set_byte(1)));
      }
      add_tile<kQueries, kTwo>(sides, weights.wide + j, quad, quads, sums);
    }
    for (std::uint32_t i = 0; i < kQueries; ++i)
      add_turned(view, sums[i], arguments.sums + static_cast<std::size_t>(j + i) * view.dim);
  }
  // sums[i][z] += factor * sum over the tokens of weight * byte.
  template <std::uint32_t kQueries, bool kTwo>
  static HWY_INLINE void add_tile(const std::uint8_t* tile, const OakenFold* folds,
                                  std::uint32_t quad, std::uint32_t quads, __m512 (*sums)[8]) {
    constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
    constexpr std::uint32_t kWeights = kQueries * kPlanes;
    for (std::uint32_t z = 0; z < 8; z += 4) {
      __m512i whole[kWeights][4];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kWeights; ++i) {
        KVPLEAT_UNROLL
        for (std::uint32_t k = 0; k < 4; ++k) whole[i][k] = _mm512_setzero_si512();
      }
      for (std::uint32_t q = quad; q < quad + quads; ++q) {
        __m512i bytes[4];
        KVPLEAT_UNROLL
        for (std::uint32_t k = 0; k < 4; ++k)
          bytes[k] = _mm512_load_si512(tile + 1024 * (z + k) + 64 * q);
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kWeights; ++i) {
          const OakenFold& fold = folds[i / kPlanes];
          const __m512i weight = broadcast((i % kPlanes == 0 ? fold.high : fold.low) + 4 * q);
          KVPLEAT_UNROLL
          for (std::uint32_t k = 0; k < 4; ++k)
            whole[i][k] = _mm512_dpbusd_epi32(whole[i][k], weight, bytes[k]);
        }
      }
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kQueries; ++i) {
        KVPLEAT_UNROLL
        for (std::uint32_t k = 0; k < 4; ++k) {
          __m512 high = _mm512_cvtepi32_ps(whole[i * kPlanes][k]);
          if constexpr (kTwo) {
            high = _mm512_fmadd_ps(high, _mm512_set1_ps(256.0f),
                                   _mm512_cvtepi32_ps(whole[i * kPlanes + kPlanes - 1][k]));
          }
          sums[i][z + k] = _mm512_fmadd_ps(high, _mm512_set1_ps(folds[i].factor), sums[i][z + k]);
        }
      }
    }
  }
  // Adds sums in the order of the tiles to sums in the order of channels.
  static HWY_INLINE void add_turned(const abi::OakenView& view, const __m512* parts, float* out) {
    for (std::uint32_t half = 0; half < 2; ++half) {
      // Lane l of four[k] has the channels 32 l + 16 half + 4 k + 0 .. 3.
      __m512 four[4];
      KVPLEAT_UNROLL
      for (std::uint32_t k = 0; k < 2; ++k) {
        const __m512* pair = parts + 4 * half + 2 * k;
        four[2 * k] = _mm512_unpacklo_ps(pair[0], pair[1]);
        four[2 * k + 1] = _mm512_unpackhi_ps(pair[0], pair[1]);
      }
      const __m512 p = _mm512_shuffle_f32x4(four[0], four[1], 0x44);
      const __m512 q = _mm512_shuffle_f32x4(four[2], four[3], 0x44);
      const __m512 r = _mm512_shuffle_f32x4(four[0], four[1], 0xee);
      const __m512 s = _mm512_shuffle_f32x4(four[2], four[3], 0xee);
      const __m512 turned[4] = {_mm512_shuffle_f32x4(p, q, 0x88), _mm512_shuffle_f32x4(p, q, 0xdd),
                                _mm512_shuffle_f32x4(r, s, 0x88), _mm512_shuffle_f32x4(r, s, 0xdd)};
      for (std::uint32_t l = 0; l < 4; ++l) {
        const std::uint32_t c = 32 * l + 16 * half;
        if (c < view.dim) add_to(view, out, c, turned[l]);
      }
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
    const OakenUnits::Sparse none = {};
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
                                       deltas + 16 * c, at, 4, none, at == run.slot / 16 * 16);
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
