// Decoding of Oaken's bytes: the floats of codec/fused.h and codec/jagged.h.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/decode-inl.h"
#include "kvpleat/simd/encode_bands-inl.h"

#if defined(KVPLEAT_SIMD_DECODE_BANDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_DECODE_BANDS_INL_H_
#undef KVPLEAT_SIMD_DECODE_BANDS_INL_H_
#else
#define KVPLEAT_SIMD_DECODE_BANDS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

#if KVPLEAT_VECTOR_CODECS

// Values of codes of one token's middle band.
struct MiddleBand {
  using O = CodecOps;
  bool splits;
  O::VF lowest;
  O::VF step;
  O::VF low_edge;
  O::VF high_edge;
  O::VI split;

  HWY_INLINE MiddleBand(const abi::BandView& view, const CodingRanges& ranges, std::uint32_t token)
      : splits(view.oaken.splits),
        lowest(hn::Set(O::F(), ranges.lowest[1][token])),
        step(hn::Set(O::F(), ranges.step[1][token])),
        low_edge(hn::Set(O::F(), view.oaken.middle_low)),
        high_edge(hn::Set(O::F(), view.oaken.middle_high)),
        split(hn::Set(O::Int(), ranges.split[token])) {}
  HWY_INLINE O::VF value(O::VI code) const {
    const O::F f32;
    const O::VF offset = O::rounded(hn::Mul(hn::ConvertTo(f32, code), step));
    const O::VF x = hn::Add(lowest, offset);
    if (!splits) return x;
    const auto is_low = hn::RebindMask(f32, hn::Lt(code, split));
    return hn::Add(x, hn::IfThenElse(is_low, low_edge, high_edge));
  }

  // Values of 16 codes in nibbles, lowest first.
  struct Sixteen {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    O::VF table;  // by code

    explicit HWY_INLINE Sixteen(const MiddleBand& band)
        : table(band.value(hn::Iota(O::Int(), 0))) {}
    HWY_INLINE void decode(std::uint64_t codes, float* to) const {
      alignas(64) static constexpr std::uint32_t kHalf[16] = {0, 0, 0, 0, 0, 0, 0, 0,
                                                              1, 1, 1, 1, 1, 1, 1, 1};
      alignas(64) static constexpr std::uint32_t kShift[16] = {0, 4, 8, 12, 16, 20, 24, 28,
                                                               0, 4, 8, 12, 16, 20, 24, 28};
      const __m512i all = _mm512_permutexvar_epi32(
          _mm512_load_si512(kHalf), _mm512_set1_epi64(static_cast<std::int64_t>(codes)));
      const __m512i mine = _mm512_srlv_epi32(all, _mm512_load_si512(kShift));
      // The lookup takes the lower four bits.
      _mm512_storeu_ps(to, _mm512_permutexvar_ps(mine, table.raw));
    }
#else
    const MiddleBand& band;

    explicit HWY_INLINE Sixteen(const MiddleBand& of) : band(of) {}
    HWY_INLINE void decode(std::uint64_t codes, float* to) const {
      const hn::FixedTag<std::uint8_t, 16> u8;
      const hn::Repartition<std::uint16_t, decltype(u8)> u16;
      alignas(16) std::uint8_t bytes[16];
      store(bytes, codes);
      const auto pairs = hn::PromoteTo(u16, hn::LoadU(hn::Half<decltype(u8)>(), bytes));
      const auto both =
          hn::And(hn::Or(pairs, hn::ShiftLeft<4>(pairs)), hn::Set(u16, std::uint16_t{0x0f0f}));
      hn::Store(hn::BitCast(u8, both), u8, bytes);
      KVPLEAT_UNROLL
      for (std::uint32_t lane = 0; lane < 16; lane += O::kLanes)
        hn::StoreU(band.value(O::load_bytes(bytes + lane)), O::F(), to + lane);
    }
#endif
  };
  [[nodiscard]] HWY_INLINE Sixteen sixteen() const {
    return Sixteen(*this);
  }
};

// What the outliers of one token stand for, by the two lower bits of their entries (bit 1: outer,
// bit 0: the low side) and by code.
struct OutlierValues {
  using O = CodecOps;
  alignas(64) float of[4][16];

  HWY_INLINE OutlierValues(const abi::BandView& view, const CodingRanges& ranges,
                           std::uint32_t token) {
    const O::F f32;
    for (std::uint32_t i = 0; i < 16; i += O::kLanes) {
      const O::VF code = hn::Iota(f32, static_cast<float>(i));
      KVPLEAT_UNROLL
      for (std::uint32_t outer = 0; outer < 2; ++outer) {
        const std::uint32_t band = outer != 0 ? 0 : 2;
        const O::VF offset = O::rounded(hn::Mul(code, hn::Set(f32, ranges.step[band][token])));
        O::VF high = hn::Add(hn::Set(f32, ranges.lowest[band][token]), offset);
        O::VF low = hn::Neg(high);
        if (outer != 0 && view.shifts_outer) {
          high = hn::Add(high, hn::Set(f32, view.outer_high));
          low = hn::Add(low, hn::Set(f32, view.outer_low));
        }
        hn::Store(high, f32, of[2 * outer] + i);
        hn::Store(low, f32, of[2 * outer + 1] + i);
      }
    }
  }
};

struct DecodeBands {
  using O = CodecOps;

  static void published(const abi::BandView& view, const abi::DecodeArguments& a) {
    const abi::OakenView& oaken = view.oaken;
    const std::uint8_t* stored = oaken.shared_ranges ? a.bytes.shared : a.bytes.block;
    const std::uint8_t* counts = a.bytes.block + oaken.counts_at;
    std::uint32_t begin = 0;
    for (std::uint32_t t = 0; t < a.slot; ++t)
      begin += token_bytes(oaken, counts + t * oaken.chunks);
    for (std::uint32_t done = 0; done < a.count;) {
      const std::uint32_t n = lower_of(a.count - done, 16u);
      CodingRanges ranges;
      ranges.read(stored + oaken.ranges_at + (a.slot + done) * 12, n);
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t slot = a.slot + done + i;
        const std::uint8_t* dense = a.bytes.block + slot * oaken.row_bytes;
        float* row = a.rows + (done + i) * a.stride;
        middle(view, dense, ranges, i, row);
        outliers(view, a.bytes, dense, counts + slot * oaken.chunks, begin, ranges, i, row);
        begin += token_bytes(oaken, counts + slot * oaken.chunks);
      }
      done += n;
    }
  }

 private:
  static std::uint32_t chunk_bytes(const abi::OakenView& oaken, std::uint32_t count) {
    return oaken.padding == abi::SpillPadding::kChunk ? round_up(count, 8u) : count;
  }
  static std::uint32_t token_bytes(const abi::OakenView& oaken, const std::uint8_t* counts) {
    std::uint32_t bytes = 0;
    for (std::uint32_t k = 0; k < oaken.chunks; ++k) bytes += chunk_bytes(oaken, counts[k]);
    return oaken.padding == abi::SpillPadding::kToken ? round_up(bytes, 8u) : bytes;
  }
  // All elements as if they were of the middle band.
  static HWY_INLINE void middle(const abi::BandView& view, const std::uint8_t* dense,
                                const CodingRanges& ranges, std::uint32_t token, float* row) {
    const abi::OakenView& oaken = view.oaken;
    const MiddleBand band(view, ranges, token);
    const auto sixteen = band.sixteen();
    std::uint32_t c = 0;
    for (; c + 16 <= oaken.dim; c += 16)
      sixteen.decode(kvpleat::load<std::uint64_t>(dense + c / 2), row + c);
    if (c == oaken.dim) return;
    std::uint8_t short_of[8] = {};
    std::memcpy(short_of, dense + c / 2, oaken.row_bytes - c / 2);
    alignas(64) float last[16];
    sixteen.decode(kvpleat::load<std::uint64_t>(short_of), last);
    std::memcpy(row + c, last, (oaken.dim - c) * sizeof(float));
  }
  static HWY_INLINE void outliers(const abi::BandView& view, const BlockBytes& bytes,
                                  const std::uint8_t* dense, const std::uint8_t* counts,
                                  std::uint32_t from, const CodingRanges& ranges,
                                  std::uint32_t token, float* row) {
    const abi::OakenView& oaken = view.oaken;
    const OutlierValues values(view, ranges, token);
    for (std::uint32_t k = 0; k < oaken.chunks; ++k) {
      const std::uint32_t left = bytes.spill_bytes - lower_of(from, bytes.spill_bytes);
      const std::uint32_t n = lower_of<std::uint32_t>(counts[k], left);
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t entry = bytes.spill[from + i];
        const std::uint32_t c = k * 64 + (entry >> 2);
        if (c >= oaken.dim) continue;
        const std::uint32_t code = (static_cast<std::uint32_t>(dense[c / 2]) >> (c % 2 * 4)) & 15u;
        row[c] = values.of[entry & 3u][code];
      }
      from += chunk_bytes(oaken, counts[k]);
    }
  }

 public:
  // The value of an outlier. low: bit 4 of its code.
  static HWY_INLINE float value(const abi::BandView& view, const CodingRanges& ranges,
                                std::uint32_t token, bool outer, bool low, std::uint32_t code) {
    const std::uint32_t band = outer ? 0 : 2;
    const float size =
        ranges.lowest[band][token] + product(static_cast<float>(code), ranges.step[band][token]);
    const float x = low ? -size : size;
    if (!outer || !view.shifts_outer) return x;
    return x + (low ? view.outer_low : view.outer_high);
  }
};

// The resident order (codec/jagged.h).
struct DecodeJagged {
  using O = CodecOps;

  static void run(const abi::BandView& view, const abi::DecodeArguments& a) {
    const abi::OakenView& oaken = view.oaken;
    abi::TileView tile{};
    tile.padded_dim = oaken.padded_dim;
    tile.bits = 4;
    tile.block_tokens = 64;
    const TilePlanes planes(tile, view.keys);
    const std::uint8_t* stored =
        (oaken.shared_ranges ? a.bytes.shared : a.bytes.block) + oaken.ranges_at;
    CodingRanges ranges[4];
    for (std::uint32_t unit = a.slot / 16; unit * 16 < a.slot + a.count; ++unit) {
      const std::uint32_t first = upper_of(a.slot, unit * 16);
      const std::uint32_t end = lower_of(a.slot + a.count, unit * 16 + 16);
      ranges[unit].read(stored + first * 12, end - first, first % 16);
    }
    for (std::uint32_t t = 0; t < a.count; ++t)
      middle(view, planes, a, a.slot + t, ranges[(a.slot + t) / 16], a.rows + t * a.stride);
    if (view.keys) {
      keys(view, planes, a, ranges);
    } else {
      values(view, planes, a, ranges);
    }
  }

 private:
  static HWY_INLINE void middle(const abi::BandView& view, const TilePlanes& planes,
                                const abi::DecodeArguments& a, std::uint32_t slot,
                                const CodingRanges& ranges, float* row) {
    const O::F f32;
    const std::uint32_t dim = view.oaken.dim;
    const MiddleBand band(view, ranges, slot % 16);
    alignas(64) std::uint32_t packed[4 * TilePlanes::kMaxPacked];
    if (view.keys) TileCodes::gather_keys(planes, a.bytes.block, slot / 4 * 4, packed);
    for (std::uint32_t c = 0; c < dim; c += 16) {
      alignas(64) float last[16];
      float* to = c + 16 <= dim ? row + c : last;
      KVPLEAT_UNROLL
      for (std::uint32_t lane = 0; lane < 16; lane += O::kLanes) {
        const O::VI codes =
            view.keys
                ? TileCodes::keys<4>(planes, packed + slot % 4 * TilePlanes::kMaxPacked, c, lane)
                : TileCodes::values<4>(planes, a.bytes.block, slot, c, lane);
        hn::StoreU(band.value(codes), f32, to + lane);
      }
      if (c + 16 > dim) std::memcpy(row + c, last, (dim - c) * sizeof(float));
    }
  }
  // One entry: `place` names its element beside the lane.
  static HWY_INLINE void put(const abi::BandView& view, const TilePlanes& planes,
                             const abi::DecodeArguments& a, const CodingRanges* ranges,
                             std::uint32_t slot, std::uint32_t c, std::uint32_t entry) {
    if (slot < a.slot || slot >= a.slot + a.count || c >= view.oaken.dim) return;
    const std::uint32_t lane = view.keys ? slot : c;
    const std::uint32_t along = view.keys ? c : slot;
    const std::uint32_t byte =
        a.bytes.block[lane / 16 * planes.unit_bytes + along / 8 * 64 + lane % 16 * 4 + along % 4];
    const std::uint32_t code = byte >> (along % 8 / 4 * 4) & 15u;
    a.rows[(slot - a.slot) * a.stride + c] = DecodeBands::value(
        view, ranges[slot / 16], slot % 16, (entry & 128u) != 0, (entry & 64u) != 0, code);
  }
  // visit(lane, number in the lane, entry) for the entries of one unit, whose bytes begin at `at`;
  // none beyond the spill.
  template <class Visit>
  static HWY_INLINE void each(const BlockBytes& bytes, const std::uint32_t* counts,
                              std::uint32_t at, const Visit& visit) {
    std::uint32_t most = 0;
    for (std::uint32_t lane = 0; lane < 16; ++lane) most = upper_of(most, counts[lane]);
    for (std::uint32_t group = 0; group < most; group += 4) {
      std::uint32_t passed = 0;
      for (std::uint32_t lane = 0; lane < 16; ++lane) {
        const std::uint32_t stop = lower_of(group + 4, counts[lane]);
        for (std::uint32_t i = group; i < stop; ++i) {
          if (at < bytes.spill_bytes) visit(lane, i, static_cast<std::uint32_t>(bytes.spill[at]));
          ++at;
          ++passed;
        }
      }
      at += passed;  // their deltas
    }
  }
  static void keys(const abi::BandView& view, const TilePlanes& planes,
                   const abi::DecodeArguments& a, const CodingRanges* ranges) {
    const std::uint32_t chunks = view.oaken.chunks;
    const std::uint8_t* stored = a.bytes.block + view.oaken.counts_at;
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < a.slot / 16 * 16 * chunks; ++i) at += 2u * stored[i];
    for (std::uint32_t unit = a.slot / 16; unit * 16 < a.slot + a.count; ++unit) {
      std::uint32_t counts[16] = {};
      std::uint32_t chunk[16] = {};
      std::uint32_t passed[16] = {};  // entries of the chunks before
      for (std::uint32_t i = 0; i < 16 * chunks; ++i)
        counts[i / chunks] += stored[unit * 16 * chunks + i];
      each(a.bytes, counts, at, [&](std::uint32_t lane, std::uint32_t i, std::uint32_t entry) {
        const std::uint8_t* mine = stored + (unit * 16 + lane) * chunks;
        while (chunk[lane] + 1 < chunks && i - passed[lane] >= mine[chunk[lane]])
          passed[lane] += mine[chunk[lane]++];
        put(view, planes, a, ranges, unit * 16 + lane, chunk[lane] * 64 + (entry & 63u), entry);
      });
      for (const std::uint32_t n : counts) at += 2 * n;
    }
  }
  static void values(const abi::BandView& view, const TilePlanes& planes,
                     const abi::DecodeArguments& a, const CodingRanges* ranges) {
    const std::uint8_t* stored = a.bytes.block + view.oaken.counts_at;
    std::uint32_t at = 0;
    for (std::uint32_t first = 0; first < view.oaken.padded_dim; first += 16) {
      std::uint32_t counts[16];
      std::uint32_t sum = 0;
      for (std::uint32_t lane = 0; lane < 16; ++lane) sum += counts[lane] = stored[first + lane];
      each(a.bytes, counts, at, [&](std::uint32_t lane, std::uint32_t, std::uint32_t entry) {
        put(view, planes, a, ranges, entry & 63u, first + lane, entry);
      });
      at += 2 * sum;
    }
  }
};

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
