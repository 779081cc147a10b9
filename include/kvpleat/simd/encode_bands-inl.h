// Encoding of Oaken's bands: which band, ranges, codes, outliers. The bytes are those of the
// formats' own encode (quant/group_shift.h, codec/fused.h).

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/decode-inl.h"
#include "kvpleat/simd/encode-inl.h"
#include "kvpleat/simd/encode_ops-inl.h"

#if defined(KVPLEAT_SIMD_ENCODE_BANDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_ENCODE_BANDS_INL_H_
#undef KVPLEAT_SIMD_ENCODE_BANDS_INL_H_
#else
#define KVPLEAT_SIMD_ENCODE_BANDS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

#if KVPLEAT_VECTOR_CODECS

// The ranges of up to 16 tokens as they are coded with, from the stored bytes.
struct CodingRanges {
  using O = CodecOps;
  alignas(64) float lowest[3][16];
  alignas(64) float inverse[3][16];
  alignas(64) float step[3][16];
  alignas(64) std::int32_t split[16];  // of the middle band

  // 12 bytes a token; to lanes [lane, lane + count).
  HWY_INLINE void read(const std::uint8_t* ranges, std::uint32_t count, std::uint32_t lane = 0) {
    using S = SideOps<abi::Side::kHalf>;
    const O::F f32;
    alignas(64) std::uint32_t fields[6][16] = {};
    for (std::uint32_t t = 0; t < count; ++t) {
      for (std::uint32_t f = 0; f < 6; ++f)
        fields[f][lane + t] = load<std::uint16_t>(ranges + 12 * t + 2 * f);
    }
    const O::VF zero = hn::Zero(f32);
    const O::VF top = hn::Set(f32, 15.0f);
    KVPLEAT_UNROLL
    for (std::uint32_t band = 0; band < 3; ++band) {
      for (std::uint32_t i = 0; i < 16; i += O::kLanes) {
        const O::VF low = S::to_float(hn::Load(O::U(), fields[2 * band] + i));
        const O::VF high = S::to_float(hn::Load(O::U(), fields[2 * band + 1] + i));
        const O::VF width = hn::Sub(high, low);
        const auto some = hn::Gt(width, zero);
        const O::VF ratio = hn::IfThenElseZero(some, hn::Div(top, width));
        hn::Store(low, f32, lowest[band] + i);
        hn::Store(ratio, f32, inverse[band] + i);
        hn::Store(hn::IfThenElseZero(some, hn::Div(width, top)), f32, step[band] + i);
        if (band != 1) continue;
        // The first code of the high side.
        const O::VF exact = hn::Mul(hn::Neg(low), ratio);
        O::VF first = hn::Ceil(exact);
        first = hn::IfThenElse(hn::Lt(exact, top), first, top);
        first = hn::IfThenElse(hn::Gt(exact, hn::Set(f32, 1.0f)), first, hn::Set(f32, 1.0f));
        first = hn::IfThenElse(hn::Le(high, zero), hn::Set(f32, 16.0f), first);
        first = hn::IfThenElse(hn::Ge(low, zero), zero, first);
        hn::Store(hn::ConvertTo(O::Int(), first), O::Int(), split + i);
      }
    }
  }
};

struct EncodeBands {
  using O = CodecOps;
  using VF = O::VF;
  using MF = O::MF;

  // Whether order does not matter: the middle has no zeros, of which there are two.
  static bool serves(const abi::BandView& view) {
    return view.oaken.splits || (view.inner_low <= 0.0f && view.inner_high >= 0.0f);
  }

  // Folds rows into the ranges of their tokens.
  static void observe(const abi::BandView& view, const float* rows, std::size_t stride,
                      std::uint32_t count, abi::BandRanges* ranges) {
    const Bands bands(view);
    for (std::uint32_t t = 0; t < count; ++t)
      observe_row(bands, rows + t * stride, view.oaken.dim, ranges[t]);
  }
  // Outliers of each chunk.
  static void count_outliers(const abi::BandView& view, const float* row, std::uint8_t* counts) {
    const Bands bands(view);
    Row padded;
    row = padded.of(row, view.oaken.dim);
    for (std::uint32_t k = 0; k < view.oaken.chunks; ++k) {
      const std::uint32_t n = lower_of(view.oaken.dim - 64 * k, 64u);
      std::uint64_t middle = 0;
      for (std::uint32_t i = 0; i < n; i += O::kLanes)
        middle |= std::uint64_t{bits_of(bands.middle(hn::LoadU(O::F(), row + 64 * k + i)))} << i;
      counts[k] = static_cast<std::uint8_t>(std::popcount(~middle & first_bits(n)));
    }
  }
  // As published.
  static void published(const abi::BandView& view, const abi::BandArguments& a) {
    for (std::uint32_t done = 0; done < a.count;) {
      const std::uint32_t n = lower_of(a.count - done, 16u);
      Coded coded;
      CodingRanges ranges;
      code(view, a, done, n, ranges, coded);
      for (std::uint32_t i = 0; i < n; ++i) lay_down(view, a, a.slot + done + i, i, coded);
      done += n;
    }
  }

 protected:
  static constexpr std::uint64_t first_bits(std::uint32_t n) {
    return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
  }
  static HWY_INLINE std::uint32_t bits_of(MF mask) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    return mask.raw;
#else
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(O::F(), mask, bytes);
    return bytes[0];
#endif
  }
  // The thresholds, and which band a value falls into.
  struct Bands {
    VF outer_low;
    VF inner_low;
    VF inner_high;
    VF outer_high;
    VF outer_low_edge;
    VF outer_high_edge;
    VF middle_low_edge;
    VF middle_high_edge;

    explicit HWY_INLINE Bands(const abi::BandView& view)
        : outer_low(hn::Set(O::F(), view.outer_low)),
          inner_low(hn::Set(O::F(), view.inner_low)),
          inner_high(hn::Set(O::F(), view.inner_high)),
          outer_high(hn::Set(O::F(), view.outer_high)),
          outer_low_edge(hn::Set(O::F(), view.oaken.outer_low)),
          outer_high_edge(hn::Set(O::F(), view.oaken.outer_high)),
          middle_low_edge(hn::Set(O::F(), view.oaken.middle_low)),
          middle_high_edge(hn::Set(O::F(), view.oaken.middle_high)) {}
    HWY_INLINE MF outer(VF x) const { return hn::Or(hn::Gt(x, outer_high), hn::Lt(x, outer_low)); }
    HWY_INLINE MF middle(VF x) const {
      return hn::AndNot(outer(x), hn::Or(hn::Gt(x, inner_high), hn::Lt(x, inner_low)));
    }
    // x less the threshold that its band is measured from (none: 0, and nothing changes).
    HWY_INLINE VF shifted(VF x, MF is_outer, MF is_middle) const {
      const VF outer_edge = hn::IfThenElse(hn::Gt(x, outer_high), outer_high_edge, outer_low_edge);
      const VF middle_edge =
          hn::IfThenElse(hn::Gt(x, inner_high), middle_high_edge, middle_low_edge);
      const VF edge =
          hn::IfThenElse(is_outer, outer_edge, hn::IfThenElseZero(is_middle, middle_edge));
      return hn::Sub(x, edge);
    }
  };
  // A row in whole registers; what fills it up is of the middle band or ignored.
  struct Row {
    alignas(64) float copy[592];
    HWY_INLINE const float* of(const float* row, std::uint32_t dim) {
      if (dim % 16 == 0) return row;
      std::memcpy(copy, row, dim * sizeof(float));
      for (std::uint32_t c = dim; c < round_up(dim, 16u); ++c) copy[c] = row[0];
      return copy;
    }
  };

  static HWY_INLINE void observe_row(const Bands& bands, const float* from, std::uint32_t dim,
                                     abi::BandRanges& ranges) {
    const O::F f32;
    const VF infinity = hn::Set(f32, kInfinity);
    const VF minus = hn::Set(f32, -kInfinity);
    Row padded;  // filled up with a member: no other extremes
    const float* row = padded.of(from, dim);
    VF lowest[3] = {infinity, infinity, infinity};
    VF highest[3] = {minus, minus, minus};
    for (std::uint32_t c = 0; c < dim; c += O::kLanes) {
      const VF x = hn::LoadU(f32, row + c);
      const MF is_outer = bands.outer(x);
      const MF is_middle =
          hn::AndNot(is_outer, hn::Or(hn::Gt(x, bands.inner_high), hn::Lt(x, bands.inner_low)));
      const VF u = bands.shifted(x, is_outer, is_middle);
      const VF size = O::absolute(u);
      const MF is_inner = hn::Not(hn::Or(is_outer, is_middle));
      fold(is_outer, size, lowest[0], highest[0]);
      fold(is_middle, u, lowest[1], highest[1]);
      fold(is_inner, size, lowest[2], highest[2]);
    }
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    // Of lowest ones, what is less zero is largest: three bands, one to a block of four lanes.
    alignas(64) float all[2][16];
    for (std::uint32_t i = 0; i < 3; ++i) lowest[i] = hn::Neg(lowest[i]);
    largest_of(lowest, all[0]);
    largest_of(highest, all[1]);
    for (std::uint32_t band = 0; band < 3; ++band) {
      ranges.lowest[band] = lower_of(ranges.lowest[band], -all[0][4 * band]);
      ranges.highest[band] = upper_of(ranges.highest[band], all[1][4 * band]);
    }
#else
    for (std::uint32_t band = 0; band < 3; ++band) {
      const float low = hn::GetLane(hn::MinOfLanes(f32, lowest[band]));
      const float high = hn::GetLane(hn::MaxOfLanes(f32, highest[band]));
      ranges.lowest[band] = lower_of(ranges.lowest[band], low);
      ranges.highest[band] = upper_of(ranges.highest[band], high);
    }
#endif
  }
  // The members of a band among x.
  static HWY_INLINE void fold(MF members, VF x, VF& lowest, VF& highest) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    lowest = VF{_mm512_mask_min_ps(lowest.raw, members.raw, x.raw, lowest.raw)};
    highest = VF{_mm512_mask_max_ps(highest.raw, members.raw, x.raw, highest.raw)};
#else
    const O::F f32;
    lowest = O::lower(hn::IfThenElse(members, x, hn::Set(f32, kInfinity)), lowest);
    highest = O::upper(hn::IfThenElse(members, x, hn::Set(f32, -kInfinity)), highest);
#endif
  }
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
  // The largest lane of three registers: to[4 * i] that of register i.
  static HWY_INLINE void largest_of(const VF (&of)[3], float* to) {
    const __m512 a = of[0].raw;
    const __m512 b = of[1].raw;
    const __m512 c = of[2].raw;
    const __m512 ab =
        _mm512_max_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
    const __m512 cc = _mm512_max_ps(c, _mm512_shuffle_f32x4(c, c, 0x4e));
    __m512 all =
        _mm512_max_ps(_mm512_shuffle_f32x4(ab, cc, 0x88), _mm512_shuffle_f32x4(ab, cc, 0xdd));
    all = _mm512_max_ps(all, _mm512_permute_ps(all, 0x4e));
    all = _mm512_max_ps(all, _mm512_permute_ps(all, 0xb1));
    _mm512_store_ps(to, all);
  }
#endif

  // Codes of up to 16 tokens.
  struct Coded {
    static constexpr std::uint32_t kRow = CodeBytes::kRow;
    CodeBytes bytes;  // bits 3..0, zeros behind the row
    // Bit 1: 1 = outer, 0 = inner; bit 0: the low side, or negative. Only of outliers.
    alignas(64) std::uint8_t kinds[16][kRow];
    std::uint64_t outliers[16][9];  // a bit per channel
    std::uint64_t outer[16][9];
  };
  // Codes tokens [done, done + n) of the rows. Ranges of a head alone are written first.
  static HWY_INLINE void code(const abi::BandView& view, const abi::BandArguments& a,
                              std::uint32_t done, std::uint32_t n, CodingRanges& ranges,
                              Coded& coded) {
    const Bands bands(view);
    const float* rows = a.rows + done * a.stride;
    const std::uint32_t dim = view.oaken.dim;
    const std::uint32_t slot = a.slot + done;
    const std::uint8_t* stored = view.oaken.shared_ranges ? a.shared : a.block;
    const std::uint32_t at = view.oaken.ranges_at + slot * 12;
    if (!view.oaken.shared_ranges) {
      for (std::uint32_t i = 0; i < n; ++i) {
        abi::BandRanges own;
        for (std::uint32_t band = 0; band < 3; ++band) {
          own.lowest[band] = kInfinity;
          own.highest[band] = -kInfinity;
        }
        observe_row(bands, rows + i * a.stride, dim, own);
        write(own, a.block + at + 12 * i);
      }
    }
    ranges.read(stored + at, n);
    Row padded;
    for (std::uint32_t i = 0; i < n; ++i) {
      code_row(view, bands, padded.of(rows + i * a.stride, dim), ranges, i, coded);
      coded.bytes.end(i, dim);
      for (std::uint32_t k = 0; k < view.oaken.chunks; ++k) {
        const std::uint64_t mine = first_bits(dim - 64 * k);
        coded.outliers[i][k] &= mine;
        coded.outer[i][k] &= mine;
        const auto outer = static_cast<std::uint32_t>(std::popcount(coded.outer[i][k]));
        *a.outer += outer;
        *a.inner += static_cast<std::uint32_t>(std::popcount(coded.outliers[i][k])) - outer;
      }
    }
  }
  static void write(const abi::BandRanges& ranges, std::uint8_t* to) {
    for (std::uint32_t band = 0; band < 3; ++band) {
      const bool empty = !(ranges.lowest[band] <= ranges.highest[band]);
      store(to + 4 * band, empty ? kvpleat::Half{} : at_most<kvpleat::Half>(ranges.lowest[band]));
      store(to + 4 * band + 2,
            empty ? kvpleat::Half{} : at_least<kvpleat::Half>(ranges.highest[band]));
    }
  }
  static HWY_INLINE void code_row(const abi::BandView& view, const Bands& bands, const float* row,
                                  const CodingRanges& ranges, std::uint32_t token, Coded& coded) {
    const O::F f32;
    const O::Int i32;
    const auto pick = [&](const float(&of)[3][16], std::uint32_t band)
                          HWY_ATTR { return hn::Set(f32, of[band][token]); };
    const VF lowest[3] = {pick(ranges.lowest, 0), pick(ranges.lowest, 1), pick(ranges.lowest, 2)};
    const VF inverse[3] = {pick(ranges.inverse, 0), pick(ranges.inverse, 1),
                           pick(ranges.inverse, 2)};
    const VF top = hn::Set(f32, 15.0f);
    const VF zero = hn::Zero(f32);
    // Codes of the middle end at the split, on both sides.
    const std::int32_t split = ranges.split[token];
    const O::VI low_end = hn::Set(i32, view.oaken.splits && split > 0 ? split - 1 : 15);
    const O::VI high_end = hn::Set(i32, view.oaken.splits ? lower_of(split, 15) : 0);
#if KVPLEAT_LANES < KVPLEAT_LANES_AVX512
    const O::VI two = hn::Set(i32, 2);
    const O::VI one = hn::Set(i32, 1);
#endif
    for (std::uint32_t k = 0; k < view.oaken.chunks; ++k) {
      std::uint64_t outliers = 0;
      std::uint64_t outer = 0;
      std::uint64_t low_side = 0;
      const std::uint32_t end = lower_of(view.oaken.dim, 64 * k + 64);
      for (std::uint32_t c = 64 * k; c < end; c += O::kLanes) {
        const VF x = hn::LoadU(f32, row + c);
        const MF is_low_outer = hn::Lt(x, bands.outer_low);
        const MF is_outer = hn::Or(hn::Gt(x, bands.outer_high), is_low_outer);
        const MF is_high = hn::Gt(x, bands.inner_high);
        const MF is_middle = hn::AndNot(is_outer, hn::Or(is_high, hn::Lt(x, bands.inner_low)));
        const VF u = bands.shifted(x, is_outer, is_middle);
        const VF size = hn::IfThenElse(is_middle, u, O::absolute(u));
        const VF low =
            hn::IfThenElse(is_outer, lowest[0], hn::IfThenElse(is_middle, lowest[1], lowest[2]));
        const VF scale =
            hn::IfThenElse(is_outer, inverse[0], hn::IfThenElse(is_middle, inverse[1], inverse[2]));
        O::VI codes = O::to_code(hn::Mul(hn::Sub(size, low), scale), top);
        const O::VI limited = hn::IfThenElse(hn::RebindMask(i32, is_high), hn::Max(codes, high_end),
                                             hn::Min(codes, low_end));
        codes = hn::IfThenElse(hn::RebindMask(i32, is_middle), limited, codes);
        O::store_bytes(codes, coded.bytes.codes[token] + c);
        const MF negative = hn::Lt(x, zero);
        const MF below = view.shifts_outer ? hn::Or(hn::And(is_outer, is_low_outer),
                                                    hn::AndNot(is_outer, negative))
                                           : negative;
        outliers |= std::uint64_t{bits_of(hn::Not(is_middle))} << (c % 64);
        outer |= std::uint64_t{bits_of(is_outer)} << (c % 64);
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
        low_side |= std::uint64_t{bits_of(below)} << (c % 64);
#else
        const O::VI kinds = hn::Add(hn::IfThenElseZero(hn::RebindMask(i32, is_outer), two),
                                    hn::IfThenElseZero(hn::RebindMask(i32, below), one));
        O::store_bytes(kinds, coded.kinds[token] + c);
#endif
      }
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
      const __m512i kinds =
          _mm512_mask_add_epi8(_mm512_maskz_set1_epi8(outer, 2), low_side,
                               _mm512_maskz_set1_epi8(outer, 2), _mm512_set1_epi8(1));
      _mm512_storeu_si512(coded.kinds[token] + 64 * k, kinds);
#else
      static_cast<void>(low_side);
#endif
      coded.outliers[token][k] = outliers;
      coded.outer[token][k] = outer;
    }
  }

  // One token in published order.
  static HWY_INLINE void lay_down(const abi::BandView& view, const abi::BandArguments& a,
                                  std::uint32_t slot, std::uint32_t token, const Coded& coded) {
    const hn::Repartition<std::uint16_t, O::F> u16;
    const hn::Rebind<std::uint8_t, decltype(u16)> u8;
    const abi::OakenView& oaken = view.oaken;
    std::uint8_t* dense = a.block + slot * oaken.row_bytes;
    // Two codes to a byte; in place, if no store goes beyond.
    alignas(64) std::uint8_t joined[320 + 64];
    const bool in_place = oaken.dim % (4 * O::kLanes) == 0;
    std::uint8_t* to = in_place ? dense : joined;
    for (std::uint32_t c = 0; c < oaken.dim; c += 4 * O::kLanes) {
      const auto pair =
          hn::LoadU(u16, reinterpret_cast<const std::uint16_t*>(coded.bytes.codes[token] + c));
      const auto byte =
          hn::And(hn::Or(pair, hn::ShiftRight<4>(pair)), hn::Set(u16, std::uint16_t{0xff}));
      hn::StoreU(hn::DemoteTo(u8, hn::BitCast(hn::RebindToSigned<decltype(u16)>(), byte)), u8,
                 to + c / 2);
    }
    if (!in_place) std::memcpy(dense, joined, oaken.row_bytes);
    std::uint32_t bytes = 0;
    std::uint8_t* spill = a.spill + *a.spill_size;
    for (std::uint32_t k = 0; k < oaken.chunks; ++k) {
      const std::uint64_t mask = coded.outliers[token][k];
      const auto count = static_cast<std::uint32_t>(std::popcount(mask));
      a.block[oaken.counts_at + slot * oaken.chunks + k] = static_cast<std::uint8_t>(count);
      entries(coded.kinds[token] + 64 * k, mask, count, spill + bytes);
      bytes += count;
      if (oaken.padding == abi::SpillPadding::kChunk) bytes += pad(spill, bytes);
    }
    if (oaken.padding == abi::SpillPadding::kToken) bytes += pad(spill, bytes);
    *a.spill_size += bytes;
  }
  // Zeros up to a multiple of 8; returns how many.
  static std::uint32_t pad(std::uint8_t* spill, std::uint32_t bytes) {
    const std::uint32_t n = round_up(bytes, 8u) - bytes;
    std::memset(spill + bytes, 0, n);
    return n;
  }
  // index << 2 | kind of every element of a chunk that the mask names.
  static HWY_INLINE void entries(const std::uint8_t* kinds, std::uint64_t mask, std::uint32_t count,
                                 std::uint8_t* to) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_VNNI
    alignas(64) static constexpr struct Indices {
      std::uint8_t at[64];
      constexpr Indices() : at() {
        for (std::uint32_t i = 0; i < 64; ++i) at[i] = static_cast<std::uint8_t>(i << 2);
      }
    } kIndices;
    const __m512i all = _mm512_or_si512(_mm512_loadu_si512(kinds), _mm512_load_si512(kIndices.at));
    _mm512_mask_storeu_epi8(to, first_bits(count), _mm512_maskz_compress_epi8(mask, all));
#else
    for (std::uint32_t i = 0; i < count; ++i, mask &= mask - 1) {
      const auto c = static_cast<std::uint32_t>(std::countr_zero(mask));
      to[i] = static_cast<std::uint8_t>(c << 2 | kinds[c]);
    }
#endif
  }
};

// JaggedConstants (codec/jagged.h) of 16 tokens, to the bit.
struct CodingConstants {
  using O = CodecOps;
  using VF = O::VF;
  alignas(64) float base[16];
  alignas(64) float step[16];
  alignas(64) float unit[16];
  alignas(64) float wide[16];
  alignas(64) float zero_split[16];
  alignas(64) float gap[16];

  HWY_INLINE void derive(const abi::BandView& view, const CodingRanges& ranges) {
    const O::F f32;
    const VF zero = hn::Zero(f32);
    const VF one = hn::Set(f32, 1.0f);
    const VF top = hn::Set(f32, 15.0f);
    const auto product = [](VF a, VF b) HWY_ATTR { return O::rounded(hn::Mul(a, b)); };
    for (std::uint32_t i = 0; i < 16; i += O::kLanes) {
      const VF steps = hn::Div(hn::Load(f32, ranges.step[1] + i), hn::Set(f32, 16.0f));
      VF bases = hn::Load(f32, ranges.lowest[1] + i);
      VF jumps = zero;
      VF gaps = zero;
      VF wides = zero;
      VF splits = hn::Set(f32, 255.0f);
      if (view.oaken.splits) {
        const VF first = hn::ConvertTo(f32, hn::Load(O::Int(), ranges.split + i));
        const VF low = hn::Set(f32, view.oaken.middle_low);
        const VF high = hn::Set(f32, view.oaken.middle_high);
        const VF whole = hn::Sub(high, low);
        bases = hn::Add(bases, hn::IfThenElse(hn::Eq(first, zero), high, low));
        const auto both = hn::And(hn::Ge(first, one), hn::Le(first, top));
        const VF ratio = hn::Div(whole, steps);
        const VF rounded = hn::ConvertTo(f32, O::to_code(ratio, hn::Set(f32, 16.0f)));
        const auto fits = hn::And(both, hn::Le(rounded, top));
        const auto beyond = hn::AndNot(fits, both);
        splits = hn::IfThenElse(both, hn::Mul(first, hn::Set(f32, 16.0f)), splits);
        gaps = hn::IfThenElseZero(fits, rounded);
        wides = hn::IfThenElseZero(beyond, whole);
        const VF jump = product(rounded, steps);
        jumps = hn::IfThenElse(fits, jump, wides);
        const VF centred = hn::Add(bases, hn::Div(hn::Sub(whole, jump), hn::Set(f32, 2.0f)));
        bases = hn::IfThenElse(fits, centred, bases);
      }
      const VF last = hn::Add(bases, product(hn::Set(f32, 240.0f), steps));
      VF most = zero;
      for (std::uint32_t band = 0; band < 3; band += 2) {
        const VF low = hn::Load(f32, ranges.lowest[band] + i);
        const VF width = hn::Load(f32, ranges.step[band] + i);
        const VF ends[2] = {hn::Add(low, product(zero, width)), hn::Add(low, product(top, width))};
        for (std::uint32_t upper = 0; upper < 2; ++upper) {
          for (std::uint32_t end = 0; end < 2; ++end) {
            VF x = upper == 0 ? ends[end] : hn::Neg(ends[end]);
            if (band == 0 && view.shifts_outer)
              x = hn::Add(x, hn::Set(f32, upper == 0 ? view.outer_high : view.outer_low));
            most = O::upper(O::absolute(hn::Sub(x, end == 0 ? bases : last)), most);
          }
        }
      }
      hn::Store(bases, f32, base + i);
      hn::Store(steps, f32, step + i);
      hn::Store(hn::Div(hn::Add(most, jumps), hn::Set(f32, 127.0f)), f32, unit + i);
      hn::Store(wides, f32, wide + i);
      hn::Store(splits, f32, zero_split + i);
      hn::Store(gaps, f32, gap + i);
    }
  }
};

// The resident order (codec/jagged.h).
struct EncodeJagged : EncodeBands {
  static void run(const abi::BandView& view, const abi::BandArguments& a) {
    abi::TileView tile{};
    tile.dim = view.oaken.dim;
    tile.padded_dim = view.oaken.padded_dim;
    tile.bits = 4;
    tile.block_tokens = 64;
    const TilePlanes planes(tile, view.keys);
    for (std::uint32_t done = 0; done < a.count;) {
      const std::uint32_t slot = a.slot + done;
      const std::uint32_t n = lower_of(a.count - done, 16 - slot % 16);
      Coded coded;
      CodingRanges ranges;
      CodingConstants constants;
      code(view, a, done, n, ranges, coded);
      constants.derive(view, ranges);
      PutCodes::tokens(planes, tile, view.keys, coded.bytes, slot, n, a.block);
      if (a.count == 1) {
        Outliers outliers;
        outliers.collect(view, coded, 0);
        outliers.derive(view, ranges, constants, 0);
        if (view.keys) {
          add_key(view, a, outliers, coded);
        } else if (outliers.count > 0) {
          add_value(view, a, outliers, coded);
        }
        return;
      }
      if (view.keys) {
        put_keys(view, a, slot, n, ranges, constants, coded);
      } else {
        put_values(view, a, slot, n, ranges, constants, coded);
      }
      done += n;
    }
  }

 private:
  static constexpr std::uint32_t kMost = 592;

  // The outliers of one token, ascending by channel.
  struct Outliers {
    std::uint32_t count;
    alignas(64) std::uint8_t index[kMost + 64];  // of the channel in its chunk
    alignas(64) std::uint8_t kind[kMost + 64];
    alignas(64) std::uint8_t code[kMost + 64];
    alignas(64) std::uint8_t delta[kMost + 64];

    HWY_INLINE void collect(const abi::BandView& view, const Coded& coded, std::uint32_t token) {
      count = 0;
#if KVPLEAT_LANES >= KVPLEAT_LANES_VNNI
      alignas(64) static constexpr struct Iota {
        std::uint8_t at[64];
        constexpr Iota() : at() {
          for (std::uint32_t i = 0; i < 64; ++i) at[i] = static_cast<std::uint8_t>(i);
        }
      } kIota;
#endif
      for (std::uint32_t k = 0; k < view.oaken.chunks; ++k) {
        std::uint64_t mask = coded.outliers[token][k];
        const std::uint8_t* kinds = coded.kinds[token] + 64 * k;
        const std::uint8_t* codes = coded.bytes.codes[token] + 64 * k;
#if KVPLEAT_LANES >= KVPLEAT_LANES_VNNI
        const __m512i iota = _mm512_load_si512(kIota.at);
        _mm512_storeu_si512(index + count, _mm512_maskz_compress_epi8(mask, iota));
        _mm512_storeu_si512(kind + count,
                            _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(kinds)));
        _mm512_storeu_si512(code + count,
                            _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(codes)));
        count += static_cast<std::uint32_t>(std::popcount(mask));
#else
        for (; mask != 0; mask &= mask - 1) {
          const auto c = static_cast<std::uint32_t>(std::countr_zero(mask));
          index[count] = static_cast<std::uint8_t>(c);
          kind[count] = kinds[c];
          code[count++] = codes[c];
        }
#endif
      }
    }
    // What is to be added to the value of the nibble, in units of the token.
    HWY_INLINE void derive(const abi::BandView& view, const CodingRanges& ranges,
                           const CodingConstants& constants, std::uint32_t token) {
      const O::F f32;
      const O::Int i32;
      const auto set = [](float x) HWY_ATTR { return hn::Set(O::F(), x); };
      const VF zero = hn::Zero(f32);
      const VF unit = set(constants.unit[token]);
      const bool some = constants.unit[token] > 0.0f;
      for (std::uint32_t i = 0; i < count; i += O::kLanes) {
        const O::VI kinds = O::load_bytes(kind + i);
        const VF nibble = hn::ConvertTo(f32, O::load_bytes(code + i));
        const MF outer = hn::RebindMask(f32, hn::Gt(kinds, hn::Set(i32, 1)));
        const O::VI low_bit = hn::And(kinds, hn::Set(i32, 1));
        const MF low = hn::RebindMask(f32, hn::Gt(low_bit, hn::Zero(i32)));
        const VF lowest =
            hn::IfThenElse(outer, set(ranges.lowest[0][token]), set(ranges.lowest[2][token]));
        const VF step =
            hn::IfThenElse(outer, set(ranges.step[0][token]), set(ranges.step[2][token]));
        VF value = hn::Add(lowest, O::rounded(hn::Mul(nibble, step)));
        value = hn::IfThenElse(low, hn::Neg(value), value);
        if (view.shifts_outer) {
          const VF edge = hn::IfThenElse(low, set(view.outer_low), set(view.outer_high));
          value = hn::IfThenElse(outer, hn::Add(value, edge), value);
        }
        const VF place = hn::Mul(nibble, set(16.0f));
        const MF high = hn::Ge(place, set(constants.zero_split[token]));
        const VF level = hn::Add(place, hn::IfThenElse(high, set(constants.gap[token]), zero));
        VF dense = hn::Add(set(constants.base[token]),
                           O::rounded(hn::Mul(level, set(constants.step[token]))));
        dense = hn::IfThenElse(high, hn::Add(dense, set(constants.wide[token])), dense);
        O::VI deltas = hn::Zero(i32);
        if (some) deltas = O::to_signed(hn::Div(hn::Sub(value, dense), unit), set(127.0f));
        O::store_bytes(hn::And(deltas, hn::Set(i32, 255)), delta + i);
      }
    }
    [[nodiscard]] HWY_INLINE std::uint8_t entry(std::uint32_t i, std::uint32_t place) const {
      return static_cast<std::uint8_t>(static_cast<std::uint32_t>(kind[i]) << 6 | place);
    }
  };

  // The entries and deltas of 16 lanes.
  template <std::uint32_t kRoom>
  struct Unit {
    std::uint32_t count[16];
    alignas(64) std::uint8_t data[2][16][kRoom + 4];  // entries, deltas

    // Bytes of the order, forth (to the lists) or back.
    template <bool kRead, class Byte>
    HWY_INLINE Byte* pass(Byte* at, const std::uint8_t* end) {
      std::uint32_t most = 0;
      for (const std::uint32_t n : count) most = upper_of(most, n);
      for (std::uint32_t group = 0; group < most; group += 4) {
        for (auto& lists : data) {
          for (std::uint32_t lane = 0; lane < 16; ++lane) {
            if (count[lane] <= group) continue;
            const std::uint32_t n = lower_of(count[lane] - group, 4u);
            std::uint8_t* list = lists[lane] + group;
            // What four bytes write beyond is written again, or nobody's.
            const std::size_t width = at + 4 <= end ? 4 : n;
            if constexpr (kRead) {
              copy(list, at, width);
            } else {
              copy(at, list, width);
            }
            at += n;
          }
        }
      }
      return at;
    }
    static HWY_INLINE void copy(std::uint8_t* to, const std::uint8_t* from, std::size_t width) {
      if (HWY_LIKELY(width == 4)) {
        std::memcpy(to, from, 4);
      } else {
        std::memcpy(to, from, width);
      }
    }
    [[nodiscard]] std::uint32_t bytes() const {
      std::uint32_t sum = 0;
      for (const std::uint32_t n : count) sum += 2 * n;
      return sum;
    }
  };

  // Moves bytes up, from the end: what was read last is written last.
  struct Mover {
    const std::uint8_t* from;
    std::uint8_t* to;
    HWY_INLINE void move(std::uint32_t bytes) {
      from -= bytes;
      to -= bytes;
      if (bytes > 0) std::memmove(to, from, bytes);
    }
    HWY_INLINE void put(const std::uint8_t* data, std::uint32_t bytes) {
      to -= bytes;
      std::memcpy(to, data, bytes);
    }
  };
  // One token more: what is there moves in a few pieces.
  static HWY_INLINE void add_key(const abi::BandView& view, const abi::BandArguments& a,
                                 const Outliers& outliers, const Coded& coded) {
    const std::uint32_t chunks = view.oaken.chunks;
    std::uint8_t* counts = a.block + view.oaken.counts_at;
    std::uint32_t have[16] = {};
    std::uint32_t most = outliers.count;
    for (std::uint32_t lane = 0; lane < a.slot % 16; ++lane) {
      for (std::uint32_t k = 0; k < chunks; ++k)
        have[lane] += counts[(a.slot / 16 * 16 + lane) * chunks + k];
      most = upper_of(most, have[lane]);
    }
    for (std::uint32_t k = 0; k < chunks; ++k) {
      counts[a.slot * chunks + k] = static_cast<std::uint8_t>(std::popcount(coded.outliers[0][k]));
    }
    alignas(64) std::uint8_t entries[kMost + 64];
    for (std::uint32_t i = 0; i < outliers.count; ++i)
      entries[i] = outliers.entry(i, outliers.index[i]);
    std::uint8_t* end = a.spill + *a.spill_size;
    *a.spill_size += 2 * outliers.count;
    Mover mover{end, end + 2 * outliers.count};
    // The new lane is the last one of every group.
    for (std::uint32_t group = round_up(most, 4u); group > 0 && mover.from != mover.to;) {
      group -= 4;
      std::uint32_t before = 0;
      for (const std::uint32_t n : have) before += lower_of(upper_of(n, group) - group, 4u);
      const std::uint32_t n = lower_of(upper_of(outliers.count, group) - group, 4u);
      mover.put(outliers.delta + group, n);
      mover.move(before);
      mover.put(entries + group, n);
      mover.move(before);
    }
  }
  static HWY_INLINE void add_value(const abi::BandView& view, const abi::BandArguments& a,
                                   const Outliers& outliers, const Coded& coded) {
    std::uint8_t* counts = a.block + view.oaken.counts_at;
    std::uint8_t* end = a.spill + *a.spill_size;
    *a.spill_size += 2 * outliers.count;
    Mover mover{end, end + 2 * outliers.count};
    const hn::FixedTag<std::uint8_t, 16> u8;
    std::uint32_t number = outliers.count;  // of outliers of this unit and those before it
    std::uint32_t kept = 0;                 // bytes that move together
    for (std::uint32_t first = view.oaken.padded_dim; first > 0 && number > 0;) {
      first -= 16;
      const auto mask =
          static_cast<std::uint32_t>(coded.outliers[0][first / 64] >> (first % 64)) & 0xffffu;
      const auto fresh = static_cast<std::uint32_t>(std::popcount(mask));
      std::uint8_t* have = counts + first;
      const auto all = hn::LoadU(u8, have);
      number -= fresh;
      if (fresh == 0) {
        kept += 2 * sum(all);
        continue;
      }
      // Lanes of each group of four that get one more.
      std::uint32_t grown[17] = {};
      std::uint32_t most = 0;
      for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
        grown[have[lane] / 4] |= 1u << lane;
      }
      for (std::uint32_t lane = 0; lane < 16; ++lane)
        most = upper_of(most, have[lane] + (mask >> lane & 1u));
      for (std::uint32_t group = ceil_div(most, 4u); group-- > 0;) {
        const auto here =
            hn::Min(hn::SaturatedSub(all, hn::Set(u8, static_cast<std::uint8_t>(4 * group))),
                    hn::Set(u8, std::uint8_t{4}));
        if (grown[group] == 0) {
          kept += 2 * sum(here);
          continue;
        }
        alignas(16) std::uint8_t bytes[16];
        hn::Store(here, u8, bytes);
        std::uint32_t behind[17];  // bytes of the lanes behind one
        behind[16] = 0;
        for (std::uint32_t lane = 16; lane-- > 0;) behind[lane] = behind[lane + 1] + bytes[lane];
        for (std::uint32_t half = 2; half-- > 0;) {
          std::uint32_t moved = 0;
          for (std::uint32_t rest = grown[group]; rest != 0;) {
            const auto lane = static_cast<std::uint32_t>(std::bit_width(rest)) - 1;
            rest ^= 1u << lane;
            mover.move(kept + behind[lane + 1] - moved);
            kept = 0;
            moved = behind[lane + 1];
            const std::uint32_t at =
                number + static_cast<std::uint32_t>(std::popcount(mask & ((1u << lane) - 1u)));
            const std::uint8_t byte = half == 1 ? outliers.delta[at] : outliers.entry(at, a.slot);
            mover.put(&byte, 1);
          }
          kept += behind[0] - moved;
        }
      }
      for (std::uint32_t lane = 0; lane < 16; ++lane)
        have[lane] = static_cast<std::uint8_t>(have[lane] + (mask >> lane & 1u));
    }
    // What lies before the first new byte stays.
  }
  static HWY_INLINE std::uint32_t sum(hn::Vec<hn::FixedTag<std::uint8_t, 16>> bytes) {
    const auto halves = hn::SumsOf8(bytes);
    alignas(16) std::uint64_t sums[2];
    hn::Store(halves, hn::FixedTag<std::uint64_t, 2>(), sums);
    return static_cast<std::uint32_t>(sums[0] + sums[1]);
  }

  // Lanes are tokens: only the last unit changes.
  static HWY_INLINE void put_keys(const abi::BandView& view, const abi::BandArguments& a,
                                  std::uint32_t slot, std::uint32_t n, const CodingRanges& ranges,
                                  const CodingConstants& constants, const Coded& coded) {
    const std::uint32_t chunks = view.oaken.chunks;
    std::uint8_t* counts = a.block + view.oaken.counts_at;
    Unit<kMost> unit;
    for (std::uint32_t lane = 0; lane < 16; ++lane) {
      unit.count[lane] = 0;
      if (lane >= slot % 16) continue;
      for (std::uint32_t k = 0; k < chunks; ++k)
        unit.count[lane] += counts[(slot / 16 * 16 + lane) * chunks + k];
    }
    std::uint8_t* end = a.spill + *a.spill_size;
    std::uint8_t* begin = end - unit.bytes();
    unit.template pass<true>(begin, end);
    Outliers outliers;
    for (std::uint32_t t = 0; t < n; ++t) {
      for (std::uint32_t k = 0; k < chunks; ++k) {
        counts[(slot + t) * chunks + k] =
            static_cast<std::uint8_t>(std::popcount(coded.outliers[t][k]));
      }
      outliers.collect(view, coded, t);
      outliers.derive(view, ranges, constants, t);
      const std::uint32_t lane = slot % 16 + t;
      unit.count[lane] = outliers.count;
      for (std::uint32_t i = 0; i < outliers.count; ++i)
        unit.data[0][lane][i] = outliers.entry(i, outliers.index[i]);
      std::memcpy(unit.data[1][lane], outliers.delta, outliers.count);
    }
    const std::uint32_t bytes = unit.bytes();
    unit.template pass<false>(begin, begin + bytes);
    *a.spill_size = static_cast<std::uint32_t>(begin - a.spill) + bytes;
  }

  // Lanes are channels: every unit may grow. From the last one on, so that none is overwritten before
  // it has been read.
  static HWY_INLINE void put_values(const abi::BandView& view, const abi::BandArguments& a,
                                    std::uint32_t slot, std::uint32_t n, const CodingRanges& ranges,
                                    const CodingConstants& constants, const Coded& coded) {
    const std::uint32_t lanes = view.oaken.padded_dim;
    std::uint8_t* counts = a.block + view.oaken.counts_at;
    std::uint8_t fresh[kMost] = {};         // outliers of each channel
    std::uint8_t fresh_data[2][kMost][16];  // their entries, their deltas
    std::uint32_t added = 0;
    Outliers outliers;
    for (std::uint32_t t = 0; t < n; ++t) {
      outliers.collect(view, coded, t);
      outliers.derive(view, ranges, constants, t);
      added += outliers.count;
      std::uint32_t i = 0;
      for (std::uint32_t k = 0; k < view.oaken.chunks; ++k) {
        const auto stop = i + static_cast<std::uint32_t>(std::popcount(coded.outliers[t][k]));
        for (; i < stop; ++i) {
          const std::uint32_t c = 64 * k + outliers.index[i];
          const std::uint32_t number = fresh[c]++;
          fresh_data[0][c][number] = outliers.entry(i, slot + t);
          fresh_data[1][c][number] = outliers.delta[i];
        }
      }
    }
    if (added == 0) return;
    std::uint8_t* read_end = a.spill + *a.spill_size;
    std::uint8_t* write_end = read_end + 2 * added;
    *a.spill_size += 2 * added;
    for (std::uint32_t first = lanes; first > 0 && read_end != write_end;) {
      first -= 16;
      Unit<64> unit;
      for (std::uint32_t lane = 0; lane < 16; ++lane) unit.count[lane] = counts[first + lane];
      const std::uint8_t* from = read_end - unit.bytes();
      unit.template pass<true>(from, read_end);
      read_end -= unit.bytes();
      for (std::uint32_t lane = 0; lane < 16; ++lane) {
        const std::uint32_t more = fresh[first + lane];
        for (std::uint32_t half = 0; half < 2; ++half) {
          std::memcpy(unit.data[half][lane] + unit.count[lane], fresh_data[half][first + lane],
                      more);
        }
        unit.count[lane] += more;
        counts[first + lane] = static_cast<std::uint8_t>(unit.count[lane]);
      }
      std::uint8_t* to = write_end - unit.bytes();
      unit.template pass<false>(to, write_end);
      write_end = to;
    }
  }
};

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
