// Kernels on Oaken's resident order (codec/jagged.h), and what all kernels on Oaken's bytes share:
// the constants of tokens, the form of queries, folded weights.
//
// One arithmetic: with the constants of JaggedConstants a value is
//   base + 128 step + step * (level - 128) + unit * delta
//     (+ wide / 2 * (level of the high side ? 1 : -1) + wide / 2)
// level: a byte of the nibble, delta: int8, of outliers only. So a score is three integer sums over
// 8-bit queries, and an output three over 8-bit weights, each centred exactly.
//
// kFast: queries of 8 bits, weights of 8 bits. kAccurate: 15 and 16 bits. What is left in kAccurate
// is the format's own byte: deltas are rounded to unit / 2, middle values to step / 4 of
// JaggedConstants (1/64 of a middle step).
#if defined(KVPLEAT_SIMD_JAGGED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_JAGGED_INL_H_
#undef KVPLEAT_SIMD_JAGGED_INL_H_
#else
#define KVPLEAT_SIMD_JAGGED_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/oaken_view.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#undef KVPLEAT_OAKEN_VBMI
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
#define KVPLEAT_OAKEN_VBMI 1
#else
#define KVPLEAT_OAKEN_VBMI 0
#endif

// JaggedConstants of the tokens of a run, [64] by slot; tokens outside have zeros, whatever their
// bytes say. base includes 128 step and half of wide.
struct OakenConstants {
  alignas(64) float base[64];
  alignas(64) float step[64];
  alignas(64) float unit[64];
  alignas(64) float wide[64];
  alignas(64) std::uint8_t split[64];  // zero_split with the top bit turned: minus 128, signed
  alignas(64) std::uint8_t gap[64];
  std::uint32_t wide_units;  // bit u: a token of slots 16u .. 16u+15 has wide != 0

  static HWY_NOINLINE void derive(const abi::OakenView& view, const abi::BlockRun& run,
                                  OakenConstants& made) {
    view.splits ? derive_units<true>(view, run, made) : derive_units<false>(view, run, made);
    // Slots outside the run may hold anything, NaN as well.
    const std::uint32_t end = run.slot + run.count;
    for (std::uint32_t t = run.slot / 16 * 16; t < run.slot; ++t) made.clear(t);
    for (std::uint32_t t = end; t % 16 != 0; ++t) made.clear(t);
  }

  // Ranges of one band (0 outer, 1 middle, 2 inner) of 16 tokens, of those from `lane` on.
  struct Range {
#if KVPLEAT_OAKEN_VBMI
    __m512i halves;  // 16 times the lowest, 16 times the highest

    HWY_INLINE Range(const std::uint8_t* ranges, std::uint32_t band) {
      const __m512i a = _mm512_loadu_si512(ranges);
      const __m512i b = _mm512_loadu_si512(ranges + 64);
      const __m512i c = _mm512_loadu_si512(ranges + 128);
      const __m512i from_ab = _mm512_permutex2var_epi16(a, _mm512_load_si512(kFields.ab[band]), b);
      halves = _mm512_permutex2var_epi16(from_ab, _mm512_load_si512(kFields.c[band]), c);
    }
    HWY_INLINE Lanes::F32 low(std::uint32_t) const {
      return Lanes::F32{_mm512_cvtph_ps(_mm512_castsi512_si256(halves))};
    }
    HWY_INLINE Lanes::F32 high(std::uint32_t) const {
      return Lanes::F32{_mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves, 1))};
    }
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    __m256i halves[2];  // of eight tokens each: the lowest, the highest

    HWY_INLINE Range(const std::uint8_t* ranges, std::uint32_t band) {
      for (std::uint32_t i = 0; i < 2; ++i) {
        const auto load = [&](std::uint32_t k) HWY_ATTR {
          return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ranges + 96 * i + 32 * k));
        };
        const __m256i a = load(0);
        const __m256i b = load(1);
        const __m256i c = load(2);
        // Token t has its words of four bytes at 3 t .. 3 t + 2: no two of a band at one place.
        const __m256i in_a = _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x92), c, 0x24);
        const __m256i in_b = _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x24), c, 0x49);
        const __m256i in_c = _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x49), c, 0x92);
        const __m256i found = band == 0 ? in_a : band == 1 ? in_b : in_c;
        const __m256i first = _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5);
        const __m256i order = _mm256_add_epi32(first, _mm256_set1_epi32(static_cast<int>(band)));
        const __m256i words = _mm256_permutevar8x32_epi32(found, order);
        const __m256i apart = _mm256_broadcastsi128_si256(
            _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
        halves[i] = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(words, apart), 0xd8);
      }
    }
    HWY_INLINE Lanes::F32 low(std::uint32_t lane) const {
      return Lanes::F32{_mm256_cvtph_ps(_mm256_castsi256_si128(halves[lane / 8]))};
    }
    HWY_INLINE Lanes::F32 high(std::uint32_t lane) const {
      return Lanes::F32{_mm256_cvtph_ps(_mm256_extracti128_si256(halves[lane / 8], 1))};
    }
#else
    std::uint16_t halves[2][16];

    HWY_INLINE Range(const std::uint8_t* ranges, std::uint32_t band) {
      for (std::uint32_t t = 0; t < 16; ++t) {
        std::memcpy(&halves[0][t], ranges + 12 * t + 4 * band, 2);
        std::memcpy(&halves[1][t], ranges + 12 * t + 4 * band + 2, 2);
      }
    }
    HWY_INLINE Lanes::F32 low(std::uint32_t lane) const {
      return at(0, lane);
    }
    HWY_INLINE Lanes::F32 high(std::uint32_t lane) const {
      return at(1, lane);
    }
    HWY_INLINE Lanes::F32 at(std::uint32_t end, std::uint32_t lane) const {
      return Lanes::load_half(reinterpret_cast<const std::uint8_t*>(halves[end] + lane));
    }
#endif
  };

 private:
#if KVPLEAT_OAKEN_VBMI
  // Where halves 2k and 2k + 1 of 16 tokens lie among 96: first those in two vectors, then, beside
  // what is there already, those of the third.
  struct FieldIndices {
    alignas(64) std::uint16_t ab[3][32];
    alignas(64) std::uint16_t c[3][32];
  };
  static constexpr FieldIndices kFields = [] {
    FieldIndices made{};
    for (std::uint32_t k = 0; k < 3; ++k) {
      for (std::uint32_t i = 0; i < 32; ++i) {
        const std::uint32_t at = 6 * (i % 16) + 2 * k + i / 16;
        made.ab[k][i] = static_cast<std::uint16_t>(at < 64 ? at : 0);
        made.c[k][i] = static_cast<std::uint16_t>(at < 64 ? i : at - 64 + 32);
      }
    }
    return made;
  }();
#endif

  HWY_INLINE void clear(std::uint32_t t) {
    base[t] = step[t] = unit[t] = wide[t] = 0.0f;
    split[t] = 127;
    gap[t] = 0;
  }
  // Integers of 0 to 255 as bytes.
  static HWY_INLINE void store_bytes(std::uint8_t* at, Lanes::I32 x) {
#if KVPLEAT_OAKEN_VBMI
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm512_cvtepi32_epi8(x.raw));
#else
    Lanes::store_u8(at, x);
#endif
  }

  // The thresholds, one per lane.
  struct Edges {
    Lanes::F32 low;
    Lanes::F32 high;
    Lanes::F32 between;  // the mean of low and high
    Lanes::F32 whole;    // from low to high
    Lanes::F32 middle;   // of the outer ones
    Lanes::F32 apart;    // half of what lies between those

    HWY_INLINE explicit Edges(const abi::OakenView& view)
        : low(Lanes::set_f32(view.middle_low)),
          high(Lanes::set_f32(view.middle_high)),
          between(Lanes::set_f32((view.middle_high + view.middle_low) * 0.5f)),
          whole(Lanes::set_f32(view.middle_high - view.middle_low)),
          middle(Lanes::set_f32((view.outer_high + view.outer_low) * 0.5f)),
          apart(Lanes::set_f32((view.outer_high - view.outer_low) * 0.5f)) {}
  };
  // What the first pass leaves to the second, by slot.
  struct Steps {
    alignas(64) float base[64];  // before the gap has its part; if both sides, for a gap of 0
    alignas(64) float gap[64];   // not rounded yet, at most 16; 0 if the token has one side only
  };

  // In two passes: what one unit of 16 tokens has to wait for, one operation for the next, is
  // longer than what a core holds in flight.
  template <bool kSplits>
  static HWY_INLINE void derive_units(const abi::OakenView& view, const abi::BlockRun& run,
                                      OakenConstants& made) {
    const std::uint8_t* ranges =
        (view.shared_ranges ? run.bytes.shared : run.bytes.block) + view.ranges_at;
    const Edges edges(view);
    const std::uint32_t begin = run.slot / 16;
    const std::uint32_t end = ceil_div(run.slot + run.count, 16u);
    Steps steps;
    for (std::uint32_t u = begin; u < end; ++u) {
      const Range middle(ranges + u * 192, 1);
      for (std::uint32_t i = 0; i < 16; i += Lanes::kLanes)
        derive_steps<kSplits>(edges, middle, i, u * 16 + i, steps, made);
    }
    Lanes::F32 widest = Lanes::zero_f32();
    for (std::uint32_t u = begin; u < end; ++u) {
      const Range outer(ranges + u * 192, 0);
      const Range inner(ranges + u * 192, 2);
      for (std::uint32_t i = 0; i < 16; i += Lanes::kLanes) {
        const Lanes::F32 gap =
            derive_rest<kSplits, false>(edges, outer, inner, i, u * 16 + i, steps, made);
        widest = Lanes::upper(widest, gap);
      }
    }
    made.wide_units = 0;
    if (kSplits && HWY_UNLIKELY(Lanes::any(too_wide(widest))))
      derive_wide(edges, ranges, begin, end, steps, made);
  }
  // The second pass again, of units that have a token whose inner band is wide.
  static HWY_NOINLINE void derive_wide(const Edges& edges, const std::uint8_t* ranges,
                                       std::uint32_t begin, std::uint32_t end, const Steps& steps,
                                       OakenConstants& made) {
    for (std::uint32_t u = begin; u < end; ++u) {
      const Range outer(ranges + u * 192, 0);
      const Range inner(ranges + u * 192, 2);
      for (std::uint32_t i = 0; i < 16; i += Lanes::kLanes) {
        const Lanes::F32 gap =
            derive_rest<true, true>(edges, outer, inner, i, u * 16 + i, steps, made);
        if (Lanes::any(too_wide(gap))) made.wide_units |= 1u << u;
      }
    }
  }
  static HWY_INLINE Lanes::M32 too_wide(Lanes::F32 gap) {
    return Lanes::less(Lanes::set_f32(15.0f), gap);
  }

  // The operations of JaggedConstants::of. Those that decide zero_split and gap give what its own
  // give, to the bit; the others are fewer and give it to a few units in the last place: base by
  // the mean of both edges, unit by max(|m + s|, |m - s|) = |m| + |s|.
  template <bool kSplits>
  static HWY_INLINE void derive_steps(const Edges& edges, const Range& middle, std::uint32_t lane,
                                      std::uint32_t at, Steps& steps, OakenConstants& made) {
    using F = Lanes::F32;
    const F low = hidden(middle.low(lane));
    const F high = hidden(middle.high(lane));
    const F zero = Lanes::zero_f32();
    const F width = Lanes::sub(high, low);
    const F step = over_240(Lanes::upper(width, zero));
    Lanes::store_f32(made.step + at, step);
    Lanes::I32 split = Lanes::set_i32(255);
    F base = low;
    if constexpr (kSplits) {
      const Lanes::M32 below = Lanes::less(low, zero);
      const Lanes::M32 both = Lanes::both(below, Lanes::less(zero, high));
      const F edge =
          Lanes::select(both, edges.between, Lanes::select(below, edges.low, edges.high));
      base = Lanes::add(low, edge);
      const F codes = Lanes::mul(low, Lanes::div(Lanes::set_f32(-15.0f), width));
      const Lanes::I32 first_high = ceiling(Lanes::lower(codes, Lanes::set_f32(15.0f)));  // >= 1
      split = Lanes::select(both, Lanes::shift_left<4>(first_high), split);
      const F gap = Lanes::lower(Lanes::div(edges.whole, step), Lanes::set_f32(16.0f));
      Lanes::store_f32(steps.gap + at, Lanes::select(both, gap, zero));
    }
    Lanes::store_f32(steps.base + at, base);
    store_bytes(made.split + at,
                Lanes::as_i32(Lanes::xor_(Lanes::as_b8(split), Lanes::as_b8(Lanes::set_i32(128)))));
  }
  // Returns the rounded gaps, 16 where the inner band is wide: what those tokens get is right only
  // with kWide.
  template <bool kSplits, bool kWide>
  static HWY_INLINE Lanes::F32 derive_rest(const Edges& edges, const Range& outer,
                                           const Range& inner, std::uint32_t lane, std::uint32_t at,
                                           const Steps& steps, OakenConstants& made) {
    using F = Lanes::F32;
    const F zero = Lanes::zero_f32();
    const F half = Lanes::set_f32(0.5f);
    const F step = Lanes::load_f32(made.step + at);
    F base = Lanes::load_f32(steps.base + at);
    F rounded = zero;
    F wide = zero;
    F jumps = zero;
    Lanes::I32 gap = Lanes::zero_i32();
    if constexpr (kSplits) {
      gap = Lanes::nearest_i32(Lanes::load_f32(steps.gap + at));
      rounded = Lanes::to_f32(gap);
      jumps = Lanes::mul(rounded, step);
      if constexpr (kWide) {
        const Lanes::M32 out = too_wide(rounded);
        gap = Lanes::select(out, Lanes::zero_i32(), gap);
        wide = Lanes::select(out, edges.whole, zero);
        jumps = Lanes::select(out, edges.whole, jumps);
      }
      base = Lanes::neg_mul_add(jumps, half, base);
    }
    const F last = Lanes::mul_add(step, Lanes::set_f32(240.0f), base);
    const F far_outer =
        Lanes::upper(Lanes::add(Lanes::abs(Lanes::sub(base, edges.middle)), outer.low(lane)),
                     Lanes::add(Lanes::abs(Lanes::sub(last, edges.middle)), outer.high(lane)));
    const F far_inner = Lanes::upper(Lanes::add(Lanes::abs(base), inner.low(lane)),
                                     Lanes::add(Lanes::abs(last), inner.high(lane)));
    const F most = Lanes::upper(Lanes::add(far_outer, edges.apart), far_inner);
    F centre = Lanes::mul_add(step, Lanes::set_f32(128.0f), base);
    if constexpr (kWide) centre = Lanes::mul_add(wide, half, centre);
    Lanes::store_f32(made.base + at, centre);
    Lanes::store_f32(made.wide + at, wide);
    Lanes::store_f32(made.unit + at,
                     Lanes::mul(Lanes::add(most, jumps), Lanes::set_f32(1.0f / 127.0f)));
    store_bytes(made.gap + at, gap);
    return rounded;
  }
  // x / 15 / 16 to the bit, for x that is 0 or the difference of two halves. With FMA a product
  // that is corrected once is the nearest float (seen for all 2^23 floats of a binade).
  static HWY_INLINE Lanes::F32 over_240(Lanes::F32 x) {
#if KVPLEAT_OAKEN_VBMI
    const Lanes::F32 inverse = Lanes::set_f32(1.0f / 240.0f);
    const Lanes::F32 y = Lanes::mul(x, inverse);
    return Lanes::mul_add(Lanes::neg_mul_add(y, Lanes::set_f32(240.0f), x), inverse, y);
#else
    return Lanes::div(x, Lanes::set_f32(240.0f));
#endif
  }
  // Hides that the values were halves: clang 14 compares halves, one by one, where it may.
  static HWY_INLINE Lanes::F32 hidden(Lanes::F32 x) {
#if defined(__clang__) && HWY_ARCH_X86 && KVPLEAT_LANES != KVPLEAT_LANES_PLAIN
    asm("" : "+v"(x.raw));
#endif
    return x;
  }
  // For 0 <= x <= 2^22 or so.
  static HWY_INLINE Lanes::I32 ceiling(Lanes::F32 x) {
#if KVPLEAT_OAKEN_VBMI
    return Lanes::I32{_mm512_cvt_roundps_epi32(x.raw, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)};
#else
    const Lanes::I32 whole = Lanes::nearest_i32(x);
    return Lanes::select(Lanes::less(Lanes::to_f32(whole), x), Lanes::add(whole, Lanes::set_i32(1)),
                         whole);
#endif
  }
};

// Queries as the score kernels read them: of each query
//   0    float scale, float sum of the query, int32 sums of the planes (high, low)
//   64   [2 planes][row] int8, row = 64 * chunks: high, low (kFast: high only)
//   then [2 planes][row] the same with the top bit turned, for byte lookups
//   then published order only: [2 planes][row]: of eight channels the even ones, then the odd ones,
//        as four bytes of a dense row have them in their low and high nibbles
// query = scale * high (kFast), scale * (128 high + low) (kAccurate): |high| <= 127, -64 <= low <=
// 63. Channels that do not exist are zero.
struct OakenQueries {
  static constexpr std::uint32_t row(const abi::OakenView& view) { return 64 * view.chunks; }
  static constexpr std::uint32_t stride(const abi::OakenView& view) {
    return simd::oaken_query_bytes(view);
  }
  static constexpr std::size_t work_bytes(const abi::OakenView& view, std::uint32_t queries) {
    return static_cast<std::size_t>(stride(view)) * queries;
  }

  struct Head {
    float scale;
    float sum;
    std::int32_t whole[2];
  };
  static HWY_INLINE Head head(const std::uint8_t* query) {
    Head read;
    std::memcpy(&read, query, sizeof read);
    return read;
  }

  static void prepare(const abi::OakenView& view, const abi::PrepareArguments& arguments) {
    const bool two = arguments.arithmetic == abi::Arithmetic::kAccurate;
    for (std::uint32_t j = 0; j < arguments.query_count; ++j) {
      const float* query = arguments.queries + static_cast<std::size_t>(j) * view.dim;
      std::uint8_t* work = arguments.work + static_cast<std::size_t>(j) * stride(view);
      std::uint8_t* planes = work + 64;
      const std::uint32_t whole_row = row(view);
      std::memset(work, 0, stride(view));
      Lanes::F32 most = Lanes::zero_f32();
      for (std::uint32_t c = 0; c < view.dim; c += Lanes::kLanes)
        most = Lanes::upper(most, Lanes::abs(Lanes::load_first_f32(query + c, view.dim - c)));
      const float largest = Lanes::reduce_max(most);
      Head made = {largest / (two ? 127.0f * 128.0f : 127.0f), 0.0f, {0, 0}};
      const Lanes::F32 inverse = Lanes::set_f32(made.scale >= 0x1p-126f ? 1.0f / made.scale : 0.0f);
      Lanes::F32 sum[Lanes::kParts];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kParts; ++i) sum[i] = Lanes::zero_f32();
      Lanes::I32 whole[2] = {Lanes::zero_i32(), Lanes::zero_i32()};
      for (std::uint32_t c = 0; c < view.dim; c += 16) {
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < Lanes::kParts; ++i) {
          const std::uint32_t at = c + i * Lanes::kLanes;
          if (at >= view.dim) break;
          const Lanes::F32 values = Lanes::load_first_f32(query + at, view.dim - at);
          sum[i] = Lanes::add(sum[i], values);
          // The largest is 127 and two roundings at most: 127.
          const Lanes::I32 code = Lanes::nearest_i32(Lanes::mul(values, inverse));
          if (!two) {
            Lanes::store_s8(planes + at, code);
            whole[0] = Lanes::add(whole[0], code);
            continue;
          }
          const Lanes::I32 high = Lanes::shift_right<7>(Lanes::add(code, Lanes::set_i32(64)));
          const Lanes::I32 low = Lanes::sub(code, Lanes::shift_left<7>(high));
          Lanes::store_s8(planes + at, high);
          Lanes::store_s8(planes + whole_row + at, low);
          whole[0] = Lanes::add(whole[0], high);
          whole[1] = Lanes::add(whole[1], low);
        }
      }
      made.sum = Lanes::sum16(sum);
      if (is_finite(made.sum)) {  // else codes may be anything, their sums as well
        made.whole[0] = Lanes::reduce_add(whole[0]);
        made.whole[1] = Lanes::reduce_add(whole[1]);
      }
      for (std::uint32_t c = 0; c < 2 * whole_row; c += Lanes::kBytes) {
        Lanes::store_b8(planes + 2 * whole_row + c,
                        Lanes::xor_(Lanes::load_b8(planes + c), Lanes::set_byte(0x80)));
      }
      if (!view.jagged) {
        std::uint8_t* turned = planes + 4 * whole_row;
        for (std::uint32_t c = 0; c < 2 * whole_row; ++c)
          turned[c / 8 * 8 + c % 2 * 4 + c % 8 / 2] = planes[c];
      }
      std::memcpy(work, &made, sizeof made);
    }
  }
};

// Weights of the 64 slots of a block times a constant of each token, as bytes: weight * constant is
// factor * high, or factor * (256 high + low) in kAccurate. Slots outside the run are zero.
struct OakenFold {
  alignas(64) std::uint8_t high[64];
  alignas(64) std::uint8_t low[64];
  float factor;

  // weights, constants: [64] by slot, >= 0 and finite.
  template <bool kTwo>
  static HWY_INLINE void make(const float* weights, const float* constants, OakenFold& made) {
    using F = Lanes::F32;
    constexpr std::uint32_t kParts = 64 / Lanes::kLanes;
    F products[kParts];
    F most = Lanes::zero_f32();
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kParts; ++i) {
      products[i] = Lanes::mul(Lanes::load_f32(weights + i * Lanes::kLanes),
                               Lanes::load_f32(constants + i * Lanes::kLanes));
      most = Lanes::upper(most, products[i]);
    }
    const float largest = Lanes::reduce_max(most);
    // Below 2^-100 the sums of what is at least 1 elsewhere do not change, and inverses overflow.
    const bool any = largest > 0x1p-100f;
    constexpr float kTop = kTwo ? 65535.0f : 255.0f;
    made.factor = any ? largest * (1.0f / kTop) : 0.0f;
    // The largest becomes kTop and two roundings: kTop.
    const F inverse = Lanes::set_f32(any ? kTop / largest : 0.0f);
    Lanes::I32 codes[kParts];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kParts; ++i)
      codes[i] = Lanes::nearest_i32(Lanes::mul(products[i], inverse));
    if constexpr (kTwo) {
      Lanes::I32 low[kParts];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kParts; ++i) {
        low[i] = Lanes::and_(codes[i], Lanes::set_i32(255));
        codes[i] = Lanes::shift_right<8>(codes[i]);
      }
      store_bytes(made.low, low);
    }
    store_bytes(made.high, codes);
  }
  static HWY_INLINE void store_bytes(std::uint8_t* at, const Lanes::I32* codes) {
#if KVPLEAT_OAKEN_VBMI
    const __m512i bytes = _mm512_packus_epi16(_mm512_packs_epi32(codes[0].raw, codes[1].raw),
                                              _mm512_packs_epi32(codes[2].raw, codes[3].raw));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_store_si512(at, _mm512_permutexvar_epi32(order, bytes));
#else
    for (std::uint32_t i = 0; i < 64 / Lanes::kLanes; ++i)
      Lanes::store_u8(at + i * Lanes::kLanes, codes[i]);
#endif
  }
  // Sum of weight * constant over the slots, in 16 partial sums by slot mod 16.
  static HWY_INLINE float dot(const float* weights, const float* constants) {
    Lanes::F32 parts[Lanes::kParts];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < Lanes::kParts; ++i) {
      parts[i] = Lanes::zero_f32();
      for (std::uint32_t t = i * Lanes::kLanes; t < 64; t += 16) {
        parts[i] =
            Lanes::mul_add(Lanes::load_f32(weights + t), Lanes::load_f32(constants + t), parts[i]);
      }
    }
    return Lanes::sum16(parts);
  }
};

// Weights of one block for all queries of a call.
struct OakenWeights {
  OakenFold level[abi::kMaxQueries];
  OakenFold delta[abi::kMaxQueries];
  OakenFold wide[abi::kMaxQueries];  // times half of wide, if has_wide
  float bias[abi::kMaxQueries];      // added to every channel
  bool has_wide;

  template <bool kTwo>
  static HWY_NOINLINE void make(const abi::AccumulateArguments& arguments, std::uint32_t first,
                                const abi::BlockRun& run, const OakenConstants& constants,
                                OakenWeights& made) {
    made.has_wide = constants.wide_units != 0;
    alignas(64) float weights[64];
    alignas(64) float half_wide[64];
    const bool whole = run.count == 64;
    if (!whole) std::memset(weights, 0, sizeof weights);
    for (std::uint32_t t = 0; made.has_wide && t < 64; ++t) half_wide[t] = constants.wide[t] / 2;
    for (std::uint32_t j = 0; j < arguments.query_count; ++j) {
      const float* given =
          arguments.weights + static_cast<std::size_t>(j) * arguments.stride + first;
      if (!whole) std::memcpy(weights + run.slot, given, run.count * sizeof(float));
      const float* all = whole ? given : weights;
      OakenFold::make<kTwo>(all, constants.step, made.level[j]);
      OakenFold::make<kTwo>(all, constants.unit, made.delta[j]);
      if (made.has_wide) OakenFold::make<kTwo>(all, half_wide, made.wide[j]);
      made.bias[j] = OakenFold::dot(all, constants.base);
    }
  }
};

// Bytes of the block that is read after this one, for prefetch: its lines while the same ones of
// this block are worked on. Blocks lie apart, so that hardware does not see the next one coming.
struct OakenAhead {
  // From the bytes of this block to those of the next.
  std::intptr_t block;
  std::intptr_t shared;
  std::intptr_t spill;

  // Of run r of the arguments.
  template <class Arguments>
  static HWY_INLINE OakenAhead of(const Arguments& arguments, std::uint32_t r) {
    const abi::BlockRun* next = LaneTools::run_ahead(arguments, r);
    const abi::BlockBytes& here = arguments.runs[r].bytes;
    const abi::BlockBytes& there = next != nullptr ? next->bytes : here;
    return {apart(here.block, there.block), apart(here.shared, there.shared),
            apart(here.spill, there.spill)};
  }

 private:
  static HWY_INLINE std::intptr_t apart(const std::uint8_t* here, const std::uint8_t* there) {
    return reinterpret_cast<std::intptr_t>(there) - reinterpret_cast<std::intptr_t>(here);
  }
};

// One unit of 16 lanes where bytes are not worked on as they lie: levels are expanded into the
// first-level cache and multiplied by vectors, deltas come from slots that are walked one by one.
struct OakenUnits {
  // Sums of the deltas of one unit of 16 lanes, [queries][planes][16].
  struct Sparse {
    std::int32_t sums[abi::kMaxQueries][2][16];
  };

  // Level of a nibble in the upper half of a byte, and the same minus 128.
  static HWY_INLINE std::uint8_t level(std::uint32_t sixteenth, std::uint8_t split,
                                       std::uint8_t gap) {
    const std::uint32_t added = sixteenth >= (split ^ 0x80u) ? gap : 0u;
    return static_cast<std::uint8_t>(sixteenth + added);
  }

  // The same for registers. `below`: zero_split - 16 of each byte, so that what a code is beyond it
  // is nothing on the low side and at least 16, hence more than any gap, on the high side. (Without
  // a high side the gap is 0.)
  static HWY_INLINE Lanes::B8 levels(Lanes::B8 sixteenths, Lanes::B8 below, Lanes::B8 gap) {
    const Lanes::B8 beyond = Lanes::sub(Lanes::upper(sixteenths, below), below);
    return Lanes::add(sixteenths, Lanes::lower(beyond, gap));
  }
  static HWY_INLINE Lanes::B8 low_sixteenths(Lanes::B8 codes) {
    return Lanes::shift_left<4>(codes);
  }
  static HWY_INLINE Lanes::B8 high_sixteenths(Lanes::B8 codes) {
    return Lanes::and_(codes, Lanes::set_byte(0xf0));
  }
  static HWY_INLINE std::uint8_t below(std::uint8_t split) {
    return static_cast<std::uint8_t>((split ^ 0x80u) - 16u);
  }

  // Scores of one unit of 16 tokens.
  //   levels: [lines][16 tokens][4], a line for four bytes of a query from `planes` on.
  template <bool kTwo>
  static void score(const abi::OakenView& view, const abi::ScoreArguments& arguments,
                    const OakenConstants& constants, std::uint32_t at, const std::uint8_t* levels,
                    std::uint32_t lines, std::uint32_t planes, std::uint32_t plane_bytes,
                    const Sparse& sparse, std::uint32_t first, std::uint32_t lane,
                    std::uint32_t count) {
    const bool wide = (constants.wide_units >> at / 16 & 1u) != 0;
    for (std::uint32_t j = 0; j < arguments.query_count; ++j) {
      const std::uint8_t* query =
          arguments.work + static_cast<std::size_t>(j) * OakenQueries::stride(view);
      std::int32_t dense[2][16];
      std::int32_t sides[2][16] = {};
      for (std::uint32_t plane = 0; plane < (kTwo ? 2u : 1u); ++plane) {
        const std::uint8_t* bytes = query + planes + plane * plane_bytes;
        for (std::uint32_t part = 0; part < Lanes::kParts; ++part) {
          Lanes::I32 sum = Lanes::zero_i32();
          for (std::uint32_t i = 0; i < lines; ++i) {
            sum = Lanes::dot_u8s8_at(sum, Lanes::load_b8(levels + 64 * i + part * Lanes::kBytes),
                                     bytes + 4 * i);
          }
          Lanes::store_i32(dense[plane] + part * Lanes::kLanes, sum);
        }
        if (wide) add_sides(constants, at, levels, lines, bytes, sides[plane]);
      }
      finish_scores<kTwo>(constants, at, OakenQueries::head(query), dense, sparse.sums[j], sides,
                          arguments.scores + static_cast<std::size_t>(j) * arguments.stride + first,
                          lane, count);
    }
  }
  // Of one query, from its sums of levels, of deltas, and twice that over the codes of the high
  // side, [planes] each.
  template <bool kTwo>
  static HWY_INLINE void finish_scores(const OakenConstants& constants, std::uint32_t at,
                                       const OakenQueries::Head& head,
                                       const std::int32_t (*dense)[16],
                                       const std::int32_t (*sparse)[16],
                                       const std::int32_t (*sides)[16], float* scores,
                                       std::uint32_t lane, std::uint32_t count) {
    const bool wide = (constants.wide_units >> at / 16 & 1u) != 0;
    alignas(64) float made[16];
    for (std::uint32_t i = 0; i < 16; i += Lanes::kLanes) {
      using F = Lanes::F32;
      const auto join = [&](const std::int32_t(*sums)[16], std::int32_t less) HWY_ATTR {
        const auto of = [&](std::uint32_t plane) HWY_ATTR {
          return Lanes::to_f32(Lanes::sub(Lanes::load_i32(sums[plane] + i),
                                          Lanes::set_i32(less * head.whole[plane])));
        };
        return kTwo ? Lanes::mul_add(of(0), Lanes::set_f32(128.0f), of(1)) : of(0);
      };
      F sum =
          Lanes::mul_add(join(sparse, 0), Lanes::load_f32(constants.unit + at + i),
                         Lanes::mul(join(dense, 128), Lanes::load_f32(constants.step + at + i)));
      if (wide) {  // sides: of the high side; less that of the low one
        const F half = Lanes::mul(Lanes::load_f32(constants.wide + at + i), Lanes::set_f32(0.5f));
        sum = Lanes::mul_add(join(sides, 1), half, sum);
      }
      sum = Lanes::mul(sum, Lanes::set_f32(head.scale));
      Lanes::store_f32(made + i, Lanes::mul_add(Lanes::load_f32(constants.base + at + i),
                                                Lanes::set_f32(head.sum), sum));
    }
    std::memcpy(scores, made + lane, count * sizeof(float));
  }

  // Adds what one unit of 16 channels has in the tokens of some quads.
  //   levels, deltas: [quads][16 channels][4 tokens], levels minus 128; slots from `token` on.
  template <bool kTwo>
  static void accumulate(const abi::OakenView& view, const abi::AccumulateArguments& arguments,
                         const OakenConstants& constants, const OakenWeights& weights,
                         std::uint32_t channel, const std::uint8_t* levels,
                         const std::uint8_t* deltas, std::uint32_t token, std::uint32_t quads,
                         bool biased) {
    for (std::uint32_t j = 0; j < arguments.query_count; ++j) {
      std::int32_t dense[2][16];
      std::int32_t apart[2][16];
      std::int32_t sides[2][16] = {};
      for (std::uint32_t plane = 0; plane < (kTwo ? 2u : 1u); ++plane) {
        const auto bytes = [&](const OakenFold& fold) {
          return (plane == 0 ? fold.high : fold.low) + token;
        };
        dot(bytes(weights.level[j]), levels, quads, dense[plane]);
        dot(bytes(weights.delta[j]), deltas, quads, apart[plane]);
        if (weights.has_wide) {
          const std::uint8_t* wide = bytes(weights.wide[j]);
          for (std::uint32_t i = 0; i < quads * 64; ++i) {
            const std::uint32_t t = i / 64 * 4 + i % 4;
            const bool high = signed_byte(levels[i]) >= signed_byte(constants.split[token + t]);
            sides[plane][i % 64 / 4] += high ? wide[t] : -static_cast<std::int32_t>(wide[t]);
          }
        }
      }
      finish_sums<kTwo>(view, weights, j, dense, apart, sides, biased, channel,
                        arguments.sums + static_cast<std::size_t>(j) * view.dim);
    }
  }
  // Adds sums of levels (minus 128), of deltas and of sides, [planes] each, of 16 channels.
  template <bool kTwo>
  static HWY_INLINE void finish_sums(const abi::OakenView& view, const OakenWeights& weights,
                                     std::uint32_t j, const std::int32_t (*dense)[16],
                                     const std::int32_t (*sparse)[16],
                                     const std::int32_t (*sides)[16], bool biased,
                                     std::uint32_t channel, float* out) {
    out += channel;
    const std::uint32_t count = lower_of(16u, view.dim - channel);
    for (std::uint32_t i = 0; i < count; i += Lanes::kLanes) {
      using F = Lanes::F32;
      const auto join = [&](const std::int32_t(*sums)[16]) HWY_ATTR {
        const F high = Lanes::to_f32(Lanes::load_i32(sums[0] + i));
        return kTwo ? Lanes::mul_add(high, Lanes::set_f32(256.0f),
                                     Lanes::to_f32(Lanes::load_i32(sums[kTwo ? 1 : 0] + i)))
                    : high;
      };
      F sum = Lanes::load_first_f32(out + i, count - i);
      const F bias = Lanes::set_f32(biased ? weights.bias[j] : 0.0f);
      sum = Lanes::add(sum,
                       Lanes::mul_add(join(dense), Lanes::set_f32(weights.level[j].factor), bias));
      sum = Lanes::mul_add(join(sparse), Lanes::set_f32(weights.delta[j].factor), sum);
      if (weights.has_wide)
        sum = Lanes::mul_add(join(sides), Lanes::set_f32(weights.wide[j].factor), sum);
      Lanes::store_first_f32(out + i, sum, count - i);
    }
  }
  static HWY_INLINE std::int32_t signed_byte(std::uint8_t x) {
    return static_cast<std::int32_t>(x ^ 0x80u) - 128;
  }

 private:
  // Sums over tokens of weights times the signed bytes of [quads][16][4].
  static HWY_INLINE void dot(const std::uint8_t* weights, const std::uint8_t* bytes,
                             std::uint32_t quads, std::int32_t* sums) {
    for (std::uint32_t part = 0; part < Lanes::kParts; ++part) {
      Lanes::I32 sum = Lanes::zero_i32();
      for (std::uint32_t i = 0; i < quads; ++i) {
        sum = Lanes::dot_u8s8(sum, Lanes::bcast4(weights + 4 * i),
                              Lanes::load_b8(bytes + 64 * i + part * Lanes::kBytes));
      }
      Lanes::store_i32(sums + part * Lanes::kLanes, sum);
    }
  }
  // Twice the query over the codes of the high side. (A level keeps the order of its codes.)
  static void add_sides(const OakenConstants& constants, std::uint32_t at,
                        const std::uint8_t* levels, std::uint32_t lines, const std::uint8_t* bytes,
                        std::int32_t* sides) {
    for (std::uint32_t i = 0; i < lines * 64; ++i) {
      const std::uint32_t t = i % 64 / 4;
      const bool high = levels[i] >= (constants.split[at + t] ^ 0x80u);
      if (high) sides[t] += 2 * signed_byte(bytes[i / 64 * 4 + i % 4]);
    }
  }
};

#if KVPLEAT_OAKEN_VBMI

// One unit of slots in jagged order is rebuilt group by group: byte 4 i + b of a vector is entry 4
// g + b of lane i, as far as it exists. Loads end with the spill, since no tail of zeros follows
// it, and never leave it, whatever the counts say.
struct JaggedStream {
  const std::uint8_t* next;
  const std::uint8_t* end;
  std::intptr_t ahead;  // from here to the same place of the next block's spill

  struct Group {
    __m512i entry;
    __m512i delta;
  };
  HWY_INLINE Group take(__mmask64 present) {
    const auto n = static_cast<std::intptr_t>(_mm_popcnt_u64(present));
    // A group is up to two lines long.
    LaneTools::prefetch_from(next, ahead);
    LaneTools::prefetch_from(next, ahead + 64);
    Group group;
    if (HWY_LIKELY(end - next >= n + 64)) {
      group.entry = _mm512_loadu_si512(next);
      group.delta = _mm512_loadu_si512(next + n);
      next += 2 * n;
    } else {
      const std::intptr_t entries = lower_of<std::intptr_t>(n, end - next);
      group.entry = _mm512_maskz_loadu_epi8(first_bytes(entries), next);
      next += entries;
      const std::intptr_t deltas = lower_of<std::intptr_t>(n, end - next);
      group.delta = _mm512_maskz_loadu_epi8(first_bytes(deltas), next);
      next += deltas;
    }
    group.entry = _mm512_maskz_expand_epi8(present, group.entry);
    group.delta = _mm512_maskz_expand_epi8(present, group.delta);
    return group;
  }

 private:
  static HWY_INLINE __mmask64 first_bytes(std::intptr_t n) {
    return _bzhi_u64(~0ull, static_cast<unsigned>(n));
  }
};

// Bytes of 64-byte registers.
struct OakenBytes {
  static HWY_INLINE __m512i set_byte(std::uint32_t x) {
    return _mm512_set1_epi8(static_cast<char>(x));
  }
  // Byte i of the 16 in all four bytes of lane i.
  static HWY_INLINE __m512i each_four(__m128i bytes) {
    const __m512i at =
        _mm512_set_epi32(0x0f0f0f0f, 0x0e0e0e0e, 0x0d0d0d0d, 0x0c0c0c0c, 0x0b0b0b0b, 0x0a0a0a0a,
                         0x09090909, 0x08080808, 0x07070707, 0x06060606, 0x05050505, 0x04040404,
                         0x03030303, 0x02020202, 0x01010101, 0x00000000);
    return _mm512_permutexvar_epi8(at, _mm512_castsi128_si512(bytes));
  }
  // Where those of even bytes of 32 come from.
  static HWY_INLINE __m512i each_four_even() {
    return _mm512_set_epi32(0x1e1e1e1e, 0x1c1c1c1c, 0x1a1a1a1a, 0x18181818, 0x16161616, 0x14141414,
                            0x12121212, 0x10101010, 0x0e0e0e0e, 0x0c0c0c0c, 0x0a0a0a0a, 0x08080808,
                            0x06060606, 0x04040404, 0x02020202, 0x00000000);
  }
  static HWY_INLINE __m128i load16(const std::uint8_t* bytes) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  }
  static HWY_INLINE __m512i broadcast(const std::uint8_t* bytes) {
    std::int32_t four;
    std::memcpy(&four, bytes, 4);
    return _mm512_set1_epi32(four);
  }

  // What was loaded once. Compilers load it again for each use otherwise, and loads of 64 bytes,
  // one per cycle on Zen 4, are what holds kernels of one query up.
  static HWY_INLINE __m512i in_register(__m512i loaded) {
    asm("" : "+v"(loaded));
    return loaded;
  }
  static HWY_INLINE __m512i dot_at(__m512i sum, __m512i u, const std::uint8_t* s) {
    return Lanes::dot_u7s8_at(Lanes::I32{sum}, Lanes::B8{u}, s).raw;
  }
  // Adds 16 sums, as many of them as there are channels.
  static HWY_INLINE void add_to(const abi::OakenView& view, float* sums, std::uint32_t channel,
                                __m512 added) {
    const std::uint32_t left = view.dim - channel;
    if (HWY_LIKELY(left >= 16)) {
      _mm512_storeu_ps(sums + channel, _mm512_add_ps(_mm512_loadu_ps(sums + channel), added));
    } else {
      const auto lanes = static_cast<__mmask16>((1u << left) - 1u);
      _mm512_mask_storeu_ps(sums + channel, lanes,
                            _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, sums + channel), added));
    }
  }
};

// What the 16 codes of each of four tokens stand for: a lookup of (code | 16 * token) in 64 bytes.
struct OakenTables : OakenBytes {
  alignas(64) std::uint8_t of[16][64];

  // Levels minus 128.
  static HWY_NOINLINE void make_levels(const OakenConstants& constants, OakenTables& made) {
    for (std::uint32_t quad = 0; quad < 16; ++quad) {
      const __m512i gap = each_token(constants.gap + 4 * quad);
      _mm512_store_si512(made.of[quad],
                         _mm512_mask_add_epi8(codes(), high_side(constants, quad), codes(), gap));
    }
  }
  // The sides of the inner band: 1, or -1 below zero.
  static HWY_NOINLINE void make_sides(const OakenConstants& constants, OakenTables& made) {
    for (std::uint32_t quad = 0; quad < 16; ++quad) {
      _mm512_store_si512(
          made.of[quad],
          _mm512_mask_mov_epi8(set_byte(0xff), high_side(constants, quad), set_byte(1)));
    }
  }
  // Of the lower nibbles of four tokens' bytes.
  static HWY_INLINE __m512i look(__m512i table, __m512i nibbles) {
    // (nibbles & 15) | token
    return _mm512_permutexvar_epi8(
        _mm512_ternarylogic_epi32(nibbles, set_byte(0x0f), _mm512_set1_epi32(0x30201000), 0xea),
        table);
  }

 private:
  static HWY_INLINE __m512i each_token(const std::uint8_t* bytes) {
    const __m512i lane =
        _mm512_set_epi64(0x0303030303030303, 0x0303030303030303, 0x0202020202020202,
                         0x0202020202020202, 0x0101010101010101, 0x0101010101010101, 0, 0);
    return _mm512_shuffle_epi8(broadcast(bytes), lane);
  }
  static HWY_INLINE __m512i codes() {
    return _mm512_broadcast_i32x4(_mm_set_epi32(
        0x70605040, 0x30201000, static_cast<int>(0xf0e0d0c0), static_cast<int>(0xb0a09080)));
  }
  static HWY_INLINE __mmask64 high_side(const OakenConstants& constants, std::uint32_t quad) {
    return _mm512_cmpge_epi8_mask(codes(), each_token(constants.split + 4 * quad));
  }
};

// Scores of 16 tokens from lines of codes in the order of K4: byte 4 t + i of a line has two
// channels of token t, which lie 4 apart in the bytes of the query.
struct OakenScores : OakenBytes {
  // Sums of levels of the tokens from slot `at` on, [kQueries][planes].
  template <std::uint32_t kQueries, bool kTwo>
  static HWY_INLINE void dense_sums(const OakenConstants& constants, std::uint32_t at,
                                    const std::uint8_t* codes, std::uint32_t lines,
                                    std::intptr_t ahead, const std::uint8_t* query,
                                    std::uint32_t query_stride, std::uint32_t row, __m512i* dense) {
    constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
    constexpr std::uint32_t kSums = kQueries * kPlanes;
    const __m512i split = _mm512_xor_si512(each_four(load16(constants.split + at)), set_byte(0x80));
    const __m512i gap = each_four(load16(constants.gap + at));
    const __m512i top = set_byte(0xf0);
    __m512i lower[kSums];
    __m512i upper[kSums];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) lower[i] = upper[i] = _mm512_setzero_si512();
    for (std::uint32_t o = 0; o < lines; ++o, codes += 64, query += 8) {
      LaneTools::prefetch_from(codes, ahead);
      const __m512i pair = in_register(_mm512_loadu_si512(codes));
      __m512i low = _mm512_and_si512(_mm512_slli_epi16(pair, 4), top);
      __m512i high = _mm512_and_si512(pair, top);
      low = _mm512_mask_add_epi8(low, _mm512_cmpge_epu8_mask(low, split), low, gap);
      high = _mm512_mask_add_epi8(high, _mm512_cmpge_epu8_mask(high, split), high, gap);
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) {
        const std::uint8_t* bytes =
            query + static_cast<std::size_t>(i / kPlanes) * query_stride + i % kPlanes * row;
        lower[i] = dot_at(lower[i], low, bytes);
        upper[i] = dot_at(upper[i], high, bytes + 4);
      }
    }
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) dense[i] = _mm512_add_epi32(lower[i], upper[i]);
  }

  // Writes the scores of the slots [slot, end) among those from `at` on.
  template <std::uint32_t kQueries, bool kTwo>
  static HWY_INLINE void finish(const OakenConstants& constants, std::uint32_t at,
                                std::uint32_t slot, std::uint32_t end, const std::uint8_t* work,
                                std::uint32_t query_stride, const __m512i* dense,
                                const __m512i* sparse, __m512i turned, float* scores,
                                std::uint32_t stride) {
    constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
    const __m512 base = _mm512_load_ps(constants.base + at);
    const __m512 step = _mm512_load_ps(constants.step + at);
    const __m512 part = _mm512_load_ps(constants.unit + at);
    const std::uint32_t from = upper_of(slot, at);
    const std::uint32_t count = lower_of(end, at + 16) - from;
    KVPLEAT_UNROLL
    for (std::uint32_t j = 0; j < kQueries; ++j) {
      const OakenQueries::Head head =
          OakenQueries::head(work + static_cast<std::size_t>(j) * query_stride);
      const __m512 levels = join<kTwo>(dense + j * kPlanes, _mm512_set1_epi32(128 * head.whole[0]),
                                       _mm512_set1_epi32(128 * head.whole[1]));
      const __m512 deltas = join<kTwo>(sparse + j * kPlanes, turned, turned);
      __m512 sum = _mm512_fmadd_ps(deltas, part, _mm512_mul_ps(levels, step));
      sum = _mm512_mul_ps(sum, _mm512_set1_ps(head.scale));
      sum = _mm512_fmadd_ps(base, _mm512_set1_ps(head.sum), sum);
      float* out = scores + static_cast<std::size_t>(j) * stride + (from - slot);
      if (HWY_LIKELY(count == 16)) {
        _mm512_storeu_ps(out, sum);
      } else {
        const auto lanes = static_cast<__mmask16>((1u << count) - 1u);
        _mm512_mask_storeu_ps(
            out, lanes,
            _mm512_maskz_compress_ps(static_cast<__mmask16>(lanes << (from - at)), sum));
      }
    }
  }
  // One sum, or 128 high + low.
  template <bool kTwo>
  static HWY_INLINE __m512 join(const __m512i* sums, __m512i less_high, __m512i less_low) {
    const __m512 high = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums[0], less_high));
    if constexpr (!kTwo) return high;
    const __m512 low = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums[kTwo ? 1 : 0], less_low));
    return _mm512_fmadd_ps(high, _mm512_set1_ps(128.0f), low);
  }
  // Adds what tokens whose inner band is wide have on the two sides of it: half of wide times the
  // query, with the sign of the side.
  template <std::uint32_t kQueries, bool kTwo>
  static HWY_NOINLINE void add_wide(const abi::OakenView& view, const std::uint8_t* codes,
                                    std::uint32_t lines, std::uint32_t planes,
                                    const OakenConstants& constants, std::uint32_t first,
                                    const std::uint8_t* work, float* scores, std::uint32_t stride,
                                    std::uint32_t lane, std::uint32_t count) {
    const __m512i top = set_byte(0xf0);
    const __m512i one = set_byte(1);
    const __m512i split =
        _mm512_xor_si512(each_four(load16(constants.split + first)), set_byte(0x80));
    const __m512 half = _mm512_mul_ps(_mm512_load_ps(constants.wide + first), _mm512_set1_ps(0.5f));
    for (std::uint32_t j = 0; j < kQueries; ++j) {
      const std::uint8_t* query = work + static_cast<std::size_t>(j) * OakenQueries::stride(view);
      const OakenQueries::Head head = OakenQueries::head(query);
      __m512 sum = _mm512_setzero_ps();
      for (std::uint32_t plane = 0; plane < (kTwo ? 2u : 1u); ++plane) {
        const std::uint8_t* at = query + planes + plane * OakenQueries::row(view);
        __m512i above = _mm512_setzero_si512();
        for (std::uint32_t o = 0; o < lines; ++o, at += 8) {
          const __m512i pair = _mm512_loadu_si512(codes + 64 * o);
          const __m512i low = _mm512_and_si512(_mm512_slli_epi16(pair, 4), top);
          const __m512i high = _mm512_and_si512(pair, top);
          above = _mm512_dpbusd_epi32(
              above, _mm512_maskz_mov_epi8(_mm512_cmpge_epu8_mask(low, split), one), broadcast(at));
          above = _mm512_dpbusd_epi32(
              above, _mm512_maskz_mov_epi8(_mm512_cmpge_epu8_mask(high, split), one),
              broadcast(at + 4));
        }
        const __m512i signed_sum =
            _mm512_sub_epi32(_mm512_slli_epi32(above, 1), _mm512_set1_epi32(head.whole[plane]));
        sum = _mm512_fmadd_ps(sum, _mm512_set1_ps(128.0f), _mm512_cvtepi32_ps(signed_sum));
      }
      sum = _mm512_mul_ps(_mm512_mul_ps(sum, half), _mm512_set1_ps(head.scale));
      alignas(64) float added[16];
      _mm512_store_ps(added, sum);
      for (std::uint32_t i = 0; i < count; ++i)
        scores[static_cast<std::size_t>(j) * stride + i] += added[lane + i];
    }
  }
};

struct JaggedKernels : private OakenScores {
  static void score(const abi::OakenView& view, const abi::ScoreArguments& arguments) {
    if (arguments.arithmetic == abi::Arithmetic::kAccurate) {
      score_runs<true>(view, arguments);
    } else {
      score_runs<false>(view, arguments);
    }
  }
  static void accumulate(const abi::OakenView& view, const abi::AccumulateArguments& arguments) {
    if (arguments.arithmetic == abi::Arithmetic::kAccurate) {
      accumulate_runs<true>(view, arguments);
    } else {
      accumulate_runs<false>(view, arguments);
    }
  }

 private:
  // --- scores -----------------------------------------------------------------------------------

  // The units of 16 tokens of one run that are scored.
  struct Units {
    const std::uint8_t* block;
    const std::uint8_t* counts;  // [64][chunks]
    const OakenConstants* constants;
    std::intptr_t ahead;  // from here to the next block
    std::uint32_t slot;   // the run
    std::uint32_t end;
  };

  template <bool kTwo>
  static HWY_INLINE void score_runs(const abi::OakenView& view,
                                    const abi::ScoreArguments& arguments) {
    OakenConstants constants;
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < arguments.run_count; ++r) {
      const abi::BlockRun& run = arguments.runs[r];
      const OakenAhead ahead = OakenAhead::of(arguments, r);
      OakenConstants::derive(view, run, constants);
      const std::uint8_t* counts = run.bytes.block + view.counts_at;
      std::uint32_t before = 0;
      for (std::uint32_t i = 0; i < run.slot / 16 * 16 * view.chunks; ++i) before += counts[i];
      const JaggedStream stream = {run.bytes.spill + lower_of(2 * before, run.bytes.spill_bytes),
                                   run.bytes.spill + run.bytes.spill_bytes, ahead.spill};
      const Units units = {run.bytes.block, counts,   &constants,
                           ahead.block,     run.slot, run.slot + run.count};
      for (std::uint32_t i = 0; i < 12; ++i)
        LaneTools::prefetch_from(run.bytes.shared, ahead.shared + 64 * i);
      for (std::uint32_t i = 0; i < view.chunks; ++i)
        LaneTools::prefetch_from(counts, ahead.block + 64 * i);
      std::uint32_t j = 0;
      const auto some = [&]<std::uint32_t kQueries>() HWY_ATTR {
        for (; j + kQueries <= arguments.query_count; j += kQueries) {
          score_units<kQueries, kTwo>(
              view, units, stream,
              arguments.work + static_cast<std::size_t>(j) * OakenQueries::stride(view),
              arguments.scores + static_cast<std::size_t>(j) * arguments.stride + first,
              arguments.stride);
        }
      };
      some.template operator()<4>();
      some.template operator()<2>();
      some.template operator()<1>();
      first += run.count;
    }
  }

  template <std::uint32_t kQueries, bool kTwo>
  static HWY_NOINLINE void score_units(const abi::OakenView& view, const Units& units,
                                       JaggedStream stream, const std::uint8_t* work, float* scores,
                                       std::uint32_t stride) {
    constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
    constexpr std::uint32_t kSums = kQueries * kPlanes;
    const OakenConstants& constants = *units.constants;
    const std::uint32_t query_stride = OakenQueries::stride(view);
    const std::uint32_t row = OakenQueries::row(view);
    const std::uint32_t chunks = view.chunks;
    const std::uint32_t lines = view.padded_dim / 8;
    const std::uint8_t* codes = units.block + units.slot / 16 * lines * 64;
    for (std::uint32_t at = units.slot / 16 * 16; at < units.end; at += 16) {
      const std::uint8_t* counts = units.counts + at * chunks;
      __m512i dense[kSums];
      dense_sums<kQueries, kTwo>(constants, at, codes, lines, units.ahead,
                                 LaneTools::opaque(work) + 64, query_stride, row, dense);

      __m512i sparse[kSums];
      __m512i turned = _mm512_setzero_si512();  // 128 * sum of deltas: what turned top bits add
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) sparse[i] = _mm512_setzero_si512();
      const std::uint8_t* tables = LaneTools::opaque(work) + 64 + 2 * row;
      if (HWY_LIKELY(chunks <= 2)) {
        __m512i here;  // entries of chunk 0, of all
        __m512i all;
        if (chunks == 1) {
          here = all = each_four(load16(counts));
        } else {
          // Pairs of counts: those of chunk 0 in even bytes.
          const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(counts));
          const __m256i sums = _mm256_add_epi8(pairs, _mm256_srli_epi16(pairs, 8));
          const __m512i even = each_four_even();
          here = _mm512_permutexvar_epi8(even, _mm512_castsi256_si512(pairs));
          all = _mm512_permutexvar_epi8(even, _mm512_castsi256_si512(sums));
        }
        const std::uint32_t second_table = chunks == 2 ? 64 : 0;
        const __m512i four = set_byte(4);
        const __m512i second = set_byte(64);
        __m512i number = _mm512_set1_epi32(0x03020100);
        // Of entries that exist: 63 down to 0 in chunk 1, -1 down to -64 before it.
        __m512i before = _mm512_sub_epi8(number, here);
        __mmask64 present = _mm512_cmplt_epu8_mask(number, all);
        while (present != 0) {
          const JaggedStream::Group group = stream.take(present);
          // Lookups see the lower seven bits: those of the entry, but for the chunk.
          const __m512i index = _mm512_ternarylogic_epi32(group.entry, before, second, 0x72);
          turned = _mm512_dpbusd_epi32(turned, set_byte(128), group.delta);
          KVPLEAT_UNROLL
          for (std::uint32_t i = 0; i < kSums; ++i) {
            const std::uint8_t* bytes =
                tables + static_cast<std::size_t>(i / kPlanes) * query_stride + i % kPlanes * row;
            const __m512i found = _mm512_permutex2var_epi8(
                _mm512_loadu_si512(bytes), index, _mm512_loadu_si512(bytes + second_table));
            sparse[i] = _mm512_dpbusd_epi32(sparse[i], found, group.delta);
          }
          before = _mm512_add_epi8(before, four);
          number = _mm512_adds_epu8(number, four);  // ends, whatever the counts
          present = _mm512_cmplt_epu8_mask(number, all);
        }
      } else {
        // Arrays of their own: whose address is taken stays in memory.
        JaggedStream from = stream;
        __m512i sums[kSums + 1];
        score_chunks<kSums, kPlanes>(view, counts, from, tables, query_stride, sums);
        stream = from;
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kSums; ++i) sparse[i] = sums[i];
        turned = sums[kSums];
      }

      finish<kQueries, kTwo>(constants, at, units.slot, units.end, work, query_stride, dense,
                             sparse, turned, scores, stride);
      if (HWY_UNLIKELY((constants.wide_units >> at / 16 & 1u) != 0)) {
        const std::uint32_t from = upper_of(units.slot, at);
        add_wide<kQueries, kTwo>(view, codes, lines, 64, constants, at, work,
                                 scores + (from - units.slot), stride, from - at,
                                 lower_of(units.end, at + 16) - from);
      }
      codes += 64 * lines;
    }
  }
  // Slots of tokens of more than two chunks: counts beyond a byte, tables of 128 channels in turn.
  template <std::uint32_t kSums, std::uint32_t kPlanes>
  static HWY_NOINLINE void score_chunks(const abi::OakenView& view, const std::uint8_t* counts,
                                        JaggedStream& stream, const std::uint8_t* tables,
                                        std::uint32_t query_stride, __m512i* sums) {
    constexpr std::uint32_t kMostChunks = 9;  // head_dim is at most 576
    const std::uint32_t row = OakenQueries::row(view);
    alignas(64) std::int32_t ends[kMostChunks][16];  // of the entries of each chunk of a token
    for (std::uint32_t t = 0; t < 16; ++t) {
      std::int32_t sum = 0;
      for (std::uint32_t k = 0; k < view.chunks; ++k)
        ends[k][t] = sum += counts[t * view.chunks + k];
    }
    const __m512i in_lane = _mm512_set1_epi32(0x03020100);
    const __m512i first_bytes = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0x00000000);
    // Bytes of the four from entry `number` on that lie before an end.
    const auto before = [&](const std::int32_t* end, std::int32_t number) HWY_ATTR {
      const __m512i left = _mm512_sub_epi32(_mm512_load_si512(end), _mm512_set1_epi32(number));
      const __m512i some =
          _mm512_min_epi32(_mm512_max_epi32(left, _mm512_setzero_si512()), _mm512_set1_epi32(4));
      return _mm512_cmplt_epu8_mask(in_lane, _mm512_shuffle_epi8(some, first_bytes));
    };
    __m512i sparse[kSums];
    __m512i turned = _mm512_setzero_si512();
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) sparse[i] = _mm512_setzero_si512();
    for (std::int32_t number = 0;; number += 4) {
      const __mmask64 present = before(ends[view.chunks - 1], number);
      if (present == 0) break;
      const JaggedStream::Group group = stream.take(present);
      const __m512i index = _mm512_and_si512(group.entry, set_byte(0x3f));
      turned = _mm512_dpbusd_epi32(turned, set_byte(128), group.delta);
      __m512i found[kSums];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) found[i] = _mm512_setzero_si512();
      __mmask64 rest = present;
      for (std::uint32_t k = 0; k < view.chunks && rest != 0; ++k) {
        const __mmask64 here = rest & before(ends[k], number);
        rest &= ~here;
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kSums; ++i) {
          const std::uint8_t* at = tables + static_cast<std::size_t>(i / kPlanes) * query_stride +
                                   i % kPlanes * row + 64 * k;
          found[i] = _mm512_mask_permutexvar_epi8(found[i], here, index, _mm512_loadu_si512(at));
        }
      }
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i)
        sparse[i] = _mm512_dpbusd_epi32(sparse[i], found[i], group.delta);
    }
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) sums[i] = sparse[i];
    sums[kSums] = turned;
  }

  // --- sums -------------------------------------------------------------------------------------

  template <bool kTwo>
  static HWY_INLINE void accumulate_runs(const abi::OakenView& view,
                                         const abi::AccumulateArguments& arguments) {
    OakenConstants constants;
    OakenWeights weights;
    OakenTables levels;
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < arguments.run_count; ++r) {
      const abi::BlockRun& run = arguments.runs[r];
      const OakenAhead ahead = OakenAhead::of(arguments, r);
      if (run.count != 64) std::memset(&constants, 0, sizeof constants);
      OakenConstants::derive(view, run, constants);
      OakenWeights::make<kTwo>(arguments, first, run, constants, weights);
      OakenTables::make_levels(constants, levels);
      for (std::uint32_t i = 0; i < 12; ++i)
        LaneTools::prefetch_from(run.bytes.shared, ahead.shared + 64 * i);
      for (std::uint32_t i = 0; i < view.padded_dim; i += 64)
        LaneTools::prefetch_from(run.bytes.block, ahead.block + view.counts_at + i);

      const JaggedStream stream = {run.bytes.spill, run.bytes.spill + run.bytes.spill_bytes,
                                   ahead.spill};
      std::uint32_t j = 0;
      const auto some = [&]<std::uint32_t kQueries>() HWY_ATTR {
        for (; j + kQueries <= arguments.query_count; j += kQueries)
          sum_queries<kQueries, kTwo>(view, arguments, run, ahead, levels, weights, stream, j);
      };
      if constexpr (!kTwo) some.template operator()<4>();
      some.template operator()<2>();
      some.template operator()<1>();
      if (HWY_UNLIKELY(weights.has_wide)) {
        for (std::uint32_t u = 0; u < view.padded_dim / 16; ++u)
          sum_wide<kTwo>(view, arguments, run, constants, weights, u);
      }
      first += run.count;
    }
  }

  template <std::uint32_t kQueries, bool kTwo>
  static HWY_NOINLINE void sum_queries(const abi::OakenView& view,
                                       const abi::AccumulateArguments& arguments,
                                       const abi::BlockRun& run, const OakenAhead& ahead,
                                       const OakenTables& levels, const OakenWeights& weights,
                                       JaggedStream stream, std::uint32_t j) {
    // Eight sums stay in registers beside what they are made of.
    constexpr std::uint32_t kSums = kQueries * (kTwo ? 2 : 1);
    constexpr std::uint32_t kUnits = kSums > 2 ? 2 : 4;
    const std::uint32_t units = view.padded_dim / 16;
    std::uint32_t u = 0;
    for (; u + kUnits <= units; u += kUnits)
      sum_units<kQueries, kUnits, kTwo>(view, arguments, run, ahead, levels, weights, stream, u, j);
    for (; u < units; ++u)
      sum_units<kQueries, 1, kTwo>(view, arguments, run, ahead, levels, weights, stream, u, j);
  }
  // Units of 16 channels: levels, then deltas.
  template <std::uint32_t kQueries, std::uint32_t kUnits, bool kTwo>
  static HWY_INLINE void sum_units(const abi::OakenView& view,
                                   const abi::AccumulateArguments& arguments,
                                   const abi::BlockRun& run, const OakenAhead& ahead,
                                   const OakenTables& levels, const OakenWeights& weights,
                                   JaggedStream& stream, std::uint32_t u, std::uint32_t j) {
    constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
    constexpr std::uint32_t kSums = kQueries * kPlanes;
    __m512i sums[kUnits][kSums];
    KVPLEAT_UNROLL
    for (std::uint32_t k = 0; k < kUnits; ++k) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) sums[k][i] = _mm512_setzero_si512();
    }
    const std::uint8_t* codes = run.bytes.block + 512 * u;
    const OakenFold* folds = LaneTools::opaque(weights.level) + j;
    for (std::uint32_t o = 0; o < 8; ++o) {
      const __m512i low_level = in_register(_mm512_load_si512(levels.of[2 * o]));
      const __m512i high_level = in_register(_mm512_load_si512(levels.of[2 * o + 1]));
      __m512i low_weights[kSums];
      __m512i high_weights[kSums];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) {
        const OakenFold& fold = folds[i / kPlanes];
        const std::uint8_t* bytes = i % kPlanes == 0 ? fold.high : fold.low;
        low_weights[i] = broadcast(bytes + 8 * o);
        high_weights[i] = broadcast(bytes + 8 * o + 4);
      }
      KVPLEAT_UNROLL
      for (std::uint32_t k = 0; k < kUnits; ++k) {
        LaneTools::prefetch_from(codes + 64 * (kUnits * o + k), ahead.block);
        const __m512i pair = in_register(_mm512_loadu_si512(codes + 512 * k + 64 * o));
        const __m512i low = OakenTables::look(low_level, pair);
        const __m512i high = OakenTables::look(high_level, _mm512_srli_epi16(pair, 4));
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kSums; ++i) {
          sums[k][i] = _mm512_dpbusd_epi32(sums[k][i], low_weights[i], low);
          sums[k][i] = _mm512_dpbusd_epi32(sums[k][i], high_weights[i], high);
        }
      }
    }
    const std::uint8_t* counts = run.bytes.block + view.counts_at + 16 * u;
    KVPLEAT_UNROLL
    for (std::uint32_t k = 0; k < kUnits; ++k) {
      __m512i deltas[kSums];
      sum_slots<kQueries, kTwo>(load16(counts + 16 * k), weights.delta + j, stream, deltas);
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kQueries; ++i) {
        const __m512 level = _mm512_set1_ps(weights.level[j + i].factor);
        const __m512 delta = _mm512_set1_ps(weights.delta[j + i].factor);
        const __m512 sum = _mm512_fmadd_ps(join<kTwo>(sums[k] + i * kPlanes), level,
                                           _mm512_set1_ps(weights.bias[j + i]));
        add_to(view, arguments.sums + static_cast<std::size_t>(j + i) * view.dim, 16 * (u + k),
               _mm512_fmadd_ps(join<kTwo>(deltas + i * kPlanes), delta, sum));
      }
    }
  }
  // Deltas of one unit. Entries number their tokens in the lower six bits, which is all that the
  // lookup of a weight looks at.
  template <std::uint32_t kQueries, bool kTwo>
  static HWY_INLINE void sum_slots(__m128i counts, const OakenFold* folds, JaggedStream& stream,
                                   __m512i* sums) {
    constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kQueries * kPlanes; ++i) sums[i] = _mm512_setzero_si512();
    const __m512i all = each_four(counts);
    __m512i number = _mm512_set1_epi32(0x03020100);
    __mmask64 present = _mm512_cmplt_epu8_mask(number, all);
    while (present != 0) {
      const JaggedStream::Group group = stream.take(present);
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kQueries * kPlanes; ++i) {
        const OakenFold& fold = folds[i / kPlanes];
        const __m512i table = _mm512_load_si512(i % kPlanes == 0 ? fold.high : fold.low);
        sums[i] =
            _mm512_dpbusd_epi32(sums[i], _mm512_permutexvar_epi8(group.entry, table), group.delta);
      }
      number = _mm512_adds_epu8(number, set_byte(4));  // ends, whatever the counts
      present = _mm512_cmplt_epu8_mask(number, all);
    }
  }
  // One sum, or 256 high + low.
  template <bool kTwo>
  static HWY_INLINE __m512 join(const __m512i* sums) {
    const __m512 high = _mm512_cvtepi32_ps(sums[0]);
    if constexpr (!kTwo) return high;
    return _mm512_fmadd_ps(high, _mm512_set1_ps(256.0f), _mm512_cvtepi32_ps(sums[kTwo ? 1 : 0]));
  }
  // What tokens whose inner band is wide have on the two sides of it, of one unit.
  template <bool kTwo>
  static HWY_NOINLINE void sum_wide(const abi::OakenView& view,
                                    const abi::AccumulateArguments& arguments,
                                    const abi::BlockRun& run, const OakenConstants& constants,
                                    const OakenWeights& weights, std::uint32_t u) {
    const __m512i top = set_byte(0xf0);
    const __m512i minus = set_byte(0xff);
    const __m512i one = set_byte(1);
    for (std::uint32_t j = 0; j < arguments.query_count; ++j) {
      const OakenFold& fold = weights.wide[j];
      __m512i sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
      for (std::uint32_t o = 0; o < 8; ++o) {
        const __m512i pair = _mm512_loadu_si512(run.bytes.block + 512 * u + 64 * o);
        for (std::uint32_t half = 0; half < 2; ++half) {
          const std::uint32_t token = 8 * o + 4 * half;
          const __m512i level = _mm512_ternarylogic_epi32(
              half == 0 ? _mm512_slli_epi16(pair, 4) : pair, top, set_byte(0x80), 0x6a);
          const __m512i side = _mm512_mask_mov_epi8(
              minus, _mm512_cmpge_epi8_mask(level, broadcast(constants.split + token)), one);
          sums[0] = _mm512_dpbusd_epi32(sums[0], broadcast(fold.high + token), side);
          if constexpr (kTwo)
            sums[1] = _mm512_dpbusd_epi32(sums[1], broadcast(fold.low + token), side);
        }
      }
      add_to(view, arguments.sums + static_cast<std::size_t>(j) * view.dim, 16 * u,
             _mm512_mul_ps(join<kTwo>(sums), _mm512_set1_ps(fold.factor)));
    }
  }
};

#else  // KVPLEAT_OAKEN_VBMI

// The spill in jagged order, group by group. Never leaves it, whatever the counts say: what is not
// there is zeros.
struct JaggedStream {
  const std::uint8_t* next;
  const std::uint8_t* end;

  // Where the entries of a group lie, and which there are.
  struct Group {
    using B8 = Lanes::B8;
    const std::uint8_t* entries;
    const std::uint8_t* deltas;
    alignas(16) std::uint8_t present[16];  // 0 to 4 of each lane
    std::uint32_t quarters[4];             // where those of lanes 0, 4, 8 and 12 begin
    std::uint8_t last[2 * 64 + 16];        // the end of a spill

    // Byte 4 i + b is entry b of lane i, and its delta; 0 where there is none.
    HWY_INLINE void get(std::uint32_t part, B8& entry, B8& delta) const {
#if KVPLEAT_LANES != KVPLEAT_LANES_PLAIN
      const B8 numbers = Lanes::as_b8(Lanes::set_i32(0x03020100));
      const B8 beyond = Lanes::as_b8(Lanes::set_i32(0x04030201));
      const Lanes::I32 counts = Lanes::as_i32(Lanes::bcast16(present));
      // Sums of the counts of a quarter up to each lane, and before it.
      Lanes::I32 sums = Lanes::add(counts, Lanes::shift_left<8>(counts));
      sums = Lanes::sub(Lanes::add(sums, Lanes::shift_left<16>(sums)), counts);
      const B8 from = each_four(Lanes::as_b8(sums), part);
      const B8 at = Lanes::or_(Lanes::add(from, numbers),
                               Lanes::above(beyond, each_four(Lanes::as_b8(counts), part)));
      const std::uint32_t* begin = quarters + part * Lanes::kLanes / 4;
      entry = Lanes::lookup16_or0(Lanes::load_quarters(entries, begin), at);
      delta = Lanes::lookup16_or0(Lanes::load_quarters(deltas, begin), at);
#else
      static_cast<void>(part);
      std::uint32_t at = 0;
      for (std::uint32_t i = 0; i < 16; at += present[i++]) {
        for (std::uint32_t b = 0; b < 4; ++b) {
          const bool there = b < present[i];
          entry.byte[4 * i + b] = there ? entries[at + b] : std::uint8_t{0};
          delta.byte[4 * i + b] = there ? deltas[at + b] : std::uint8_t{0};
        }
      }
#endif
    }
  };
  // group.present says how many there are.
  HWY_INLINE void take(Group& group) {
    std::uint32_t n = 0;
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < 4; ++i) {
      std::uint32_t four;
      std::memcpy(&four, group.present + 4 * i, 4);
      group.quarters[i] = n;
      n += four * 0x01010101u >> 24;
    }
    const auto left = static_cast<std::uint32_t>(end - next);
    const std::uint32_t taken = lower_of(left, 2 * n);
    group.entries = next;
    if (HWY_UNLIKELY(left < 2 * n + 16)) {
      std::memset(group.last, 0, sizeof group.last);
      if (taken > 0) std::memcpy(group.last, next, taken);
      group.entries = group.last;
    }
    group.deltas = group.entries + n;
    next += taken;
  }
  // Byte i of each 16 in the four bytes of lane i, of one part of the lanes.
  static HWY_INLINE Lanes::B8 each_four(Lanes::B8 bytes, std::uint32_t part) {
    alignas(64) static constexpr std::uint8_t kFrom[64] = {
        0,  0,  0,  0,  1,  1,  1,  1,  2,  2,  2,  2,  3,  3,  3,  3,  4,  4,  4,  4,  5,  5,
        5,  5,  6,  6,  6,  6,  7,  7,  7,  7,  8,  8,  8,  8,  9,  9,  9,  9,  10, 10, 10, 10,
        11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15};
    return Lanes::lookup16(bytes, Lanes::load_b8(kFrom + part * Lanes::kBytes));
  }
};

struct JaggedKernels {
  static void score(const abi::OakenView& view, const abi::ScoreArguments& arguments) {
    if (arguments.arithmetic == abi::Arithmetic::kAccurate) {
      score_runs<true>(view, arguments);
    } else {
      score_runs<false>(view, arguments);
    }
  }
  static void accumulate(const abi::OakenView& view, const abi::AccumulateArguments& arguments) {
    if (arguments.arithmetic == abi::Arithmetic::kAccurate) {
      accumulate_runs<true>(view, arguments);
    } else {
      accumulate_runs<false>(view, arguments);
    }
  }

 private:
  using B8 = Lanes::B8;
  using I32 = Lanes::I32;
  static constexpr std::uint32_t kMostChunks = 9;  // head_dim is at most 576

  static HWY_INLINE B8 each_four(const std::uint8_t* bytes, std::uint32_t part) {
    return JaggedStream::each_four(Lanes::bcast16(bytes), part);
  }
  // The highest code of the low side of each token, 15 without a high side.
  static HWY_INLINE void make_tops(const OakenConstants& constants, std::uint8_t* tops) {
    for (std::uint32_t t = 0; t < 64; ++t)
      tops[t] = static_cast<std::uint8_t>(((constants.split[t] ^ 0x80u) - 1u) >> 4 & 15u);
  }
  // Sums of products of levels are those of codes, times 16, and of what levels have beyond that:
  // levels have a bit too many for the product of bytes of most targets. Where they have not, the
  // latter is the whole level and the former is not needed.
  static constexpr bool kWhole = Lanes::kWholeBytes;

  // What the level of a code has beyond 16 * code.
  static HWY_INLINE B8 beyond(B8 codes, B8 top, B8 gap) {
    const B8 added = Lanes::and_(Lanes::above(codes, top), gap);
    return kWhole ? Lanes::add(Lanes::shift_left<4>(codes), added) : added;
  }
  static HWY_INLINE B8 low_codes(B8 pairs) { return Lanes::and_(pairs, Lanes::set_byte(15)); }
  static HWY_INLINE B8 high_codes(B8 pairs) { return Lanes::shift_right<4>(pairs); }

  // Entries from `number` on of lanes that end at `ends`: 0 to 4 of each.
  static HWY_INLINE void count_present(const std::uint32_t* ends, std::uint32_t number,
                                       std::uint8_t* present) {
    for (std::uint32_t i = 0; i < 16; ++i)
      present[i] = static_cast<std::uint8_t>(lower_of(upper_of(ends[i], number) - number, 4u));
  }
  // Which bytes of the lanes of a group are there.
  static HWY_INLINE B8 which(const std::uint8_t* present, std::uint32_t part) {
    return Lanes::above(each_four(present, part), Lanes::as_b8(Lanes::set_i32(0x03020100)));
  }

  // --- scores -----------------------------------------------------------------------------------

  template <bool kTwo>
  static void score_runs(const abi::OakenView& view, const abi::ScoreArguments& arguments) {
    OakenConstants constants;
    alignas(64) std::uint8_t tops[64];
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < arguments.run_count; ++r) {
      const abi::BlockRun& run = arguments.runs[r];
      const std::uint32_t end = run.slot + run.count;
      OakenConstants::derive(view, run, constants);
      make_tops(constants, tops);
      const std::uint8_t* counts = run.bytes.block + view.counts_at;
      std::uint32_t before = 0;
      for (std::uint32_t i = 0; i < run.slot / 16 * 16 * view.chunks; ++i) before += counts[i];
      JaggedStream stream = {run.bytes.spill + lower_of(2 * before, run.bytes.spill_bytes),
                             run.bytes.spill + run.bytes.spill_bytes};
      for (std::uint32_t at = run.slot / 16 * 16; at < end; at += 16) {
        const std::uint32_t from = upper_of(run.slot, at);
        const Unit unit = {run.bytes.block + at / 16 * 8 * view.padded_dim,
                           counts + at * view.chunks,
                           tops + at,
                           &constants,
                           at,
                           from - at,
                           lower_of(end, at + 16) - from};
        JaggedStream after = stream;
        std::uint32_t j = 0;
        const auto some = [&]<std::uint32_t kQueries>() HWY_ATTR {
          for (; j + kQueries <= arguments.query_count; j += kQueries) {
            after = stream;
            score_unit<kQueries, kTwo>(
                view, unit, after,
                arguments.work + static_cast<std::size_t>(j) * OakenQueries::stride(view),
                arguments.scores + static_cast<std::size_t>(j) * arguments.stride + first + from -
                    run.slot,
                arguments.stride);
          }
        };
        some.template operator()<4>();
        some.template operator()<1>();
        stream = after;
      }
      first += run.count;
    }
  }
  // 16 tokens of a block.
  struct Unit {
    const std::uint8_t* codes;
    const std::uint8_t* counts;  // [16][chunks]
    const std::uint8_t* tops;    // [16]
    const OakenConstants* constants;
    std::uint32_t at;
    std::uint32_t lane;  // the first that is scored
    std::uint32_t count;
  };
  template <std::uint32_t kQueries, bool kTwo>
  static void score_unit(const abi::OakenView& view, const Unit& unit, JaggedStream& stream,
                         const std::uint8_t* work, float* scores, std::uint32_t stride) {
    constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
    constexpr std::uint32_t kSums = kQueries * kPlanes;
    const std::uint32_t query_stride = OakenQueries::stride(view);
    const std::uint32_t row = OakenQueries::row(view);
    const auto plane_of = [&](std::uint32_t i) {
      return work + static_cast<std::size_t>(i / kPlanes) * query_stride + 64 + i % kPlanes * row;
    };
    std::int32_t dense[kSums][16];
    std::int32_t sparse[kSums][16];
    for (std::uint32_t part = 0; part < Lanes::kParts; ++part) {
      const B8 top = each_four(unit.tops, part);
      const B8 gap = each_four(unit.constants->gap + unit.at, part);
      I32 codes[kSums];
      I32 rest[kSums];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) codes[i] = rest[i] = Lanes::zero_i32();
      for (std::uint32_t o = 0; o < view.padded_dim / 8; ++o) {
        const B8 pairs = Lanes::load_b8(unit.codes + 64 * o + part * Lanes::kBytes);
        const B8 low = low_codes(pairs);
        const B8 high = high_codes(pairs);
        const B8 low_rest = beyond(low, top, gap);
        const B8 high_rest = beyond(high, top, gap);
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kSums; ++i) {
          const B8 first = Lanes::bcast4(plane_of(i) + 8 * o);
          const B8 second = Lanes::bcast4(plane_of(i) + 8 * o + 4);
          if constexpr (!kWhole)
            codes[i] = Lanes::dot_u7s8(Lanes::dot_u7s8(codes[i], low, first), high, second);
          rest[i] = Lanes::dot_u7s8(Lanes::dot_u7s8(rest[i], low_rest, first), high_rest, second);
        }
      }
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) {
        Lanes::store_i32(dense[i] + part * Lanes::kLanes,
                         Lanes::add(Lanes::shift_left<4>(codes[i]), rest[i]));
      }
    }
    score_slots<kSums>(view, unit.counts, stream, plane_of, sparse);
    for (std::uint32_t j = 0; j < kQueries; ++j) {
      std::int32_t sides[2][16] = {};
      if (HWY_UNLIKELY((unit.constants->wide_units >> unit.at / 16 & 1u) != 0)) {
        for (std::uint32_t plane = 0; plane < kPlanes; ++plane)
          add_sides(view, unit, plane_of(j * kPlanes + plane), sides[plane]);
      }
      OakenUnits::finish_scores<kTwo>(
          *unit.constants, unit.at,
          OakenQueries::head(work + static_cast<std::size_t>(j) * query_stride),
          dense + j * kPlanes, sparse + j * kPlanes, sides,
          scores + static_cast<std::size_t>(j) * stride, unit.lane, unit.count);
    }
  }
  // Sums of deltas times the queries' bytes.
  template <std::uint32_t kSums, class PlaneOf>
  static HWY_INLINE void score_slots(const abi::OakenView& view, const std::uint8_t* counts,
                                     JaggedStream& stream, const PlaneOf& plane_of,
                                     std::int32_t (*sums)[16]) {
    const std::uint32_t last = view.chunks - 1;
    std::uint32_t ends[kMostChunks][16];  // of the entries of each chunk of a token
    std::uint32_t most = 0;
    for (std::uint32_t t = 0; t < 16; ++t) {
      std::uint32_t sum = 0;
      for (std::uint32_t k = 0; k <= last; ++k) ends[k][t] = sum += counts[t * view.chunks + k];
      most = upper_of(most, sum);
    }
    I32 found[kSums][Lanes::kParts];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) {
      KVPLEAT_UNROLL
      for (std::uint32_t part = 0; part < Lanes::kParts; ++part) found[i][part] = Lanes::zero_i32();
    }
    JaggedStream::Group group;
    alignas(16) std::uint8_t before[kMostChunks][16];  // of those that are there, in chunks 0 .. k
    for (std::uint32_t number = 0; number < most; number += 4) {
      for (std::uint32_t k = 0; k < last; ++k) count_present(ends[k], number, before[k]);
      count_present(ends[last], number, group.present);
      stream.take(group);
      KVPLEAT_UNROLL
      for (std::uint32_t part = 0; part < Lanes::kParts; ++part) {
        B8 entry;
        B8 delta;
        group.get(part, entry, delta);
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kSums; ++i) {
          B8 bytes = Lanes::lookup64(Lanes::load_table64(plane_of(i)), entry);
          for (std::uint32_t k = 0; k < last; ++k) {
            const B8 here = Lanes::lookup64(Lanes::load_table64(plane_of(i) + 64 * k + 64), entry);
            bytes = Lanes::select_bytes(which(before[k], part), bytes, here);
          }
          found[i][part] = Lanes::dot_s8s8(found[i][part], delta, bytes);
        }
      }
    }
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) {
      KVPLEAT_UNROLL
      for (std::uint32_t part = 0; part < Lanes::kParts; ++part)
        Lanes::store_i32(sums[i] + part * Lanes::kLanes, found[i][part]);
    }
  }
  // Adds twice the bytes of a query at the codes of the high side.
  static HWY_NOINLINE void add_sides(const abi::OakenView& view, const Unit& unit,
                                     const std::uint8_t* bytes, std::int32_t* sides) {
    for (std::uint32_t c = 0; c < view.padded_dim; ++c) {
      for (std::uint32_t t = 0; t < 16; ++t) {
        const std::uint32_t pair = unit.codes[c / 8 * 64 + 4 * t + c % 4];
        if ((pair >> c % 8 / 4 * 4 & 15u) > unit.tops[t])
          sides[t] += 2 * OakenUnits::signed_byte(bytes[c]);
      }
    }
  }

  // --- sums -------------------------------------------------------------------------------------

  template <bool kTwo>
  static void accumulate_runs(const abi::OakenView& view,
                              const abi::AccumulateArguments& arguments) {
    OakenConstants constants;
    OakenWeights weights;
    alignas(64) std::uint8_t tops[64];
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < arguments.run_count; ++r) {
      const abi::BlockRun& run = arguments.runs[r];
      if (run.count != 64) std::memset(&constants, 0, sizeof constants);
      OakenConstants::derive(view, run, constants);
      OakenWeights::make<kTwo>(arguments, first, run, constants, weights);
      make_tops(constants, tops);
      constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
      std::int32_t whole[abi::kMaxQueries * kPlanes];  // sums of the weights
      for (std::uint32_t i = 0; i < arguments.query_count * kPlanes; ++i) {
        const OakenFold& fold = weights.level[i / kPlanes];
        whole[i] = 0;
        for (std::uint32_t k = 0; k < 64; ++k)
          whole[i] += (i % kPlanes == 0 ? fold.high : fold.low)[k];
      }
      JaggedStream stream = {run.bytes.spill, run.bytes.spill + run.bytes.spill_bytes};
      for (std::uint32_t c = 0; c < view.padded_dim; c += 16) {
        JaggedStream after = stream;
        std::uint32_t j = 0;
        const auto some = [&]<std::uint32_t kQueries>() HWY_ATTR {
          for (; j + kQueries <= arguments.query_count; j += kQueries) {
            after = stream;
            sum_unit<kQueries, kTwo>(view, arguments, run, constants, weights, tops, whole, after,
                                     c, j);
          }
        };
        some.template operator()<4>();
        some.template operator()<1>();
        stream = after;
      }
      first += run.count;
    }
  }
  // 16 channels.
  template <std::uint32_t kQueries, bool kTwo>
  static void sum_unit(const abi::OakenView& view, const abi::AccumulateArguments& arguments,
                       const abi::BlockRun& run, const OakenConstants& constants,
                       const OakenWeights& weights, const std::uint8_t* tops,
                       const std::int32_t* whole, JaggedStream& stream, std::uint32_t channel,
                       std::uint32_t j) {
    constexpr std::uint32_t kPlanes = kTwo ? 2 : 1;
    constexpr std::uint32_t kSums = kQueries * kPlanes;
    const std::uint8_t* codes = run.bytes.block + 32 * channel;
    const auto plane_of = [&](const OakenFold* folds, std::uint32_t i) {
      const OakenFold& fold = folds[j + i / kPlanes];
      return i % kPlanes == 0 ? fold.high : fold.low;
    };
    std::int32_t dense[kSums][16];
    std::int32_t sparse[kSums][16];
    for (std::uint32_t part = 0; part < Lanes::kParts; ++part) {
      I32 plain[kSums];
      I32 rest[kSums];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) plain[i] = rest[i] = Lanes::zero_i32();
      for (std::uint32_t o = 0; o < 8; ++o) {
        const B8 pairs = Lanes::load_b8(codes + 64 * o + part * Lanes::kBytes);
        const B8 low = low_codes(pairs);
        const B8 high = high_codes(pairs);
        const B8 low_rest =
            beyond(low, Lanes::bcast4(tops + 8 * o), Lanes::bcast4(constants.gap + 8 * o));
        const B8 high_rest =
            beyond(high, Lanes::bcast4(tops + 8 * o + 4), Lanes::bcast4(constants.gap + 8 * o + 4));
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kSums; ++i) {
          const B8 one = Lanes::bcast4(plane_of(weights.level, i) + 8 * o);
          const B8 two = Lanes::bcast4(plane_of(weights.level, i) + 8 * o + 4);
          if constexpr (!kWhole)
            plain[i] = Lanes::dot_u8u4(Lanes::dot_u8u4(plain[i], one, low), two, high);
          rest[i] = Lanes::dot_u8u4(Lanes::dot_u8u4(rest[i], one, low_rest), two, high_rest);
        }
      }
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kSums; ++i) {
        Lanes::store_i32(dense[i] + part * Lanes::kLanes,
                         Lanes::add(Lanes::shift_left<4>(plain[i]), rest[i]));
      }
    }
    for (std::uint32_t i = 0; i < kSums; ++i) {  // levels minus 128
      const std::int32_t less = 128 * whole[(j + i / kPlanes) * kPlanes + i % kPlanes];
      for (std::uint32_t c = 0; c < 16; ++c) dense[i][c] -= less;
    }
    sum_slots<kSums>(
        run.bytes.block + view.counts_at + channel, stream,
        [&](std::uint32_t i) { return plane_of(weights.delta, i); }, sparse);
    for (std::uint32_t q = 0; q < kQueries; ++q) {
      std::int32_t sides[2][16] = {};
      for (std::uint32_t plane = 0; weights.has_wide && plane < kPlanes; ++plane)
        add_sides(codes, tops, plane_of(weights.wide, q * kPlanes + plane), sides[plane]);
      OakenUnits::finish_sums<kTwo>(view, weights, j + q, dense + q * kPlanes, sparse + q * kPlanes,
                                    sides, true, channel,
                                    arguments.sums + static_cast<std::size_t>(j + q) * view.dim);
    }
  }
  // Sums of deltas times the weights of their tokens.
  template <std::uint32_t kSums, class PlaneOf>
  static HWY_INLINE void sum_slots(const std::uint8_t* counts, JaggedStream& stream,
                                   const PlaneOf& plane_of, std::int32_t (*sums)[16]) {
    std::uint32_t ends[16];
    std::uint32_t most = 0;
    for (std::uint32_t i = 0; i < 16; ++i) {
      ends[i] = counts[i];
      most = upper_of(most, ends[i]);
    }
    I32 found[kSums][Lanes::kParts];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) {
      KVPLEAT_UNROLL
      for (std::uint32_t part = 0; part < Lanes::kParts; ++part) found[i][part] = Lanes::zero_i32();
    }
    JaggedStream::Group group;
    for (std::uint32_t number = 0; number < most; number += 4) {
      count_present(ends, number, group.present);
      stream.take(group);
      KVPLEAT_UNROLL
      for (std::uint32_t part = 0; part < Lanes::kParts; ++part) {
        B8 entry;
        B8 delta;
        group.get(part, entry, delta);
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kSums; ++i) {
          const B8 bytes = Lanes::lookup64(Lanes::load_table64(plane_of(i)), entry);
          found[i][part] = Lanes::dot_u8s8(found[i][part], bytes, delta);
        }
      }
    }
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) {
      KVPLEAT_UNROLL
      for (std::uint32_t part = 0; part < Lanes::kParts; ++part)
        Lanes::store_i32(sums[i] + part * Lanes::kLanes, found[i][part]);
    }
  }
  // Adds weights with the signs of the sides.
  static HWY_NOINLINE void add_sides(const std::uint8_t* codes, const std::uint8_t* tops,
                                     const std::uint8_t* weights, std::int32_t* sides) {
    for (std::uint32_t t = 0; t < 64; ++t) {
      for (std::uint32_t c = 0; c < 16; ++c) {
        const std::uint32_t pair = codes[t / 8 * 64 + 4 * c + t % 4];
        const bool high = (pair >> t % 8 / 4 * 4 & 15u) > tops[t];
        sides[c] += high ? weights[t] : -static_cast<std::int32_t>(weights[t]);
      }
    }
  }
};

#endif  // KVPLEAT_OAKEN_VBMI

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
