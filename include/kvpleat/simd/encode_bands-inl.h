// Encoding of Oaken's bands: which band, ranges, codes, outliers. The bytes are those of the
// formats' own encode (quant/group_shift.h, codec/fused.h).

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
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

  // 12 bytes a token.
  HWY_INLINE void read(const std::uint8_t* ranges, std::uint32_t count) {
    using S = SideOps<abi::Side::kHalf>;
    const O::F f32;
    alignas(64) std::uint32_t fields[6][16] = {};
    for (std::uint32_t t = 0; t < count; ++t) {
      for (std::uint32_t f = 0; f < 6; ++f)
        fields[f][t] = load<std::uint16_t>(ranges + 12 * t + 2 * f);
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
        hn::Store(hn::ConvertTo(O::I(), first), O::I(), split + i);
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
    std::uint64_t middle[9] = {};
    for (std::uint32_t c = 0; c < view.oaken.dim; c += O::kLanes) {
      const MF in = bands.middle(hn::LoadU(O::F(), row + c));
      middle[c / 64] |= std::uint64_t{bits_of(in)} << (c % 64);
    }
    for (std::uint32_t k = 0; k < view.oaken.chunks; ++k) {
      const std::uint32_t n = lower_of(view.oaken.dim - 64 * k, 64u);
      counts[k] = static_cast<std::uint8_t>(std::popcount(~middle[k] & first_bits(n)));
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
      const MF not_inner = hn::Or(is_outer, is_middle);
      lowest[0] = O::lower(hn::IfThenElse(is_outer, size, infinity), lowest[0]);
      highest[0] = O::upper(hn::IfThenElse(is_outer, size, minus), highest[0]);
      lowest[1] = O::lower(hn::IfThenElse(is_middle, u, infinity), lowest[1]);
      highest[1] = O::upper(hn::IfThenElse(is_middle, u, minus), highest[1]);
      lowest[2] = O::lower(hn::IfThenElse(not_inner, infinity, size), lowest[2]);
      highest[2] = O::upper(hn::IfThenElse(not_inner, minus, size), highest[2]);
    }
    for (std::uint32_t band = 0; band < 3; ++band) {
      const float low = hn::GetLane(hn::MinOfLanes(f32, lowest[band]));
      const float high = hn::GetLane(hn::MaxOfLanes(f32, highest[band]));
      ranges.lowest[band] = lower_of(ranges.lowest[band], low);
      ranges.highest[band] = upper_of(ranges.highest[band], high);
    }
  }

  // Codes of up to 16 tokens.
  struct Coded {
    static constexpr std::uint32_t kRow = 640;  // 576 channels, and what registers write beyond
    alignas(64) std::uint8_t codes[16][kRow];   // bits 3..0, zeros behind the row
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
      std::memset(coded.codes[i] + dim, 0, round_up(dim, 32u) - dim);
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
    const O::I i32;
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
    const O::VI two = hn::Set(i32, 2);
    const O::VI one = hn::Set(i32, 1);
    std::uint64_t* outliers = coded.outliers[token];
    std::uint64_t* outer = coded.outer[token];
    for (std::uint32_t k = 0; k < view.oaken.chunks; ++k) outliers[k] = outer[k] = 0;
    for (std::uint32_t c = 0; c < view.oaken.dim; c += O::kLanes) {
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
      O::store_bytes(codes, coded.codes[token] + c);
      const MF negative = hn::Lt(x, zero);
      const MF below = view.shifts_outer
                           ? hn::Or(hn::And(is_outer, is_low_outer), hn::AndNot(is_outer, negative))
                           : negative;
      const O::VI kinds = hn::Add(hn::IfThenElseZero(hn::RebindMask(i32, is_outer), two),
                                  hn::IfThenElseZero(hn::RebindMask(i32, below), one));
      O::store_bytes(kinds, coded.kinds[token] + c);
      outliers[c / 64] |= std::uint64_t{bits_of(hn::Not(is_middle))} << (c % 64);
      outer[c / 64] |= std::uint64_t{bits_of(is_outer)} << (c % 64);
    }
  }

  // One token in published order.
  static HWY_INLINE void lay_down(const abi::BandView& view, const abi::BandArguments& a,
                                  std::uint32_t slot, std::uint32_t token, const Coded& coded) {
    const hn::Repartition<std::uint16_t, O::F> u16;
    const hn::Rebind<std::uint8_t, decltype(u16)> u8;
    const abi::OakenView& oaken = view.oaken;
    std::uint8_t* dense = a.block + slot * oaken.row_bytes;
    // Two codes to a byte.
    alignas(64) std::uint8_t joined[320 + 64];
    for (std::uint32_t c = 0; c < oaken.dim; c += 2 * O::kLanes) {
      const auto pair =
          hn::LoadU(u16, reinterpret_cast<const std::uint16_t*>(coded.codes[token] + c));
      const auto byte =
          hn::And(hn::Or(pair, hn::ShiftRight<4>(pair)), hn::Set(u16, std::uint16_t{0xff}));
      hn::StoreU(hn::DemoteTo(u8, hn::BitCast(hn::RebindToSigned<decltype(u16)>(), byte)), u8,
                 joined + c / 2);
    }
    std::memcpy(dense, joined, oaken.row_bytes);
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
    alignas(64) std::uint8_t packed[64];
    _mm512_store_si512(packed, _mm512_maskz_compress_epi8(mask, all));
    std::memcpy(to, packed, count);
#else
    for (std::uint32_t i = 0; i < count; ++i, mask &= mask - 1) {
      const auto c = static_cast<std::uint32_t>(std::countr_zero(mask));
      to[i] = static_cast<std::uint8_t>(c << 2 | kinds[c]);
    }
#endif
  }
};

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
