// Decoding of Oaken's bytes in published order: the floats of codec/fused.h.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
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
    const O::F f32;
    const O::I i32;
    const hn::FixedTag<std::uint16_t, 8> u16;
    const hn::Rebind<std::uint8_t, decltype(u16)> half;
    const hn::Repartition<std::uint8_t, decltype(u16)> u8;
    const abi::OakenView& oaken = view.oaken;
    const O::VF lowest = hn::Set(f32, ranges.lowest[1][token]);
    const O::VF step = hn::Set(f32, ranges.step[1][token]);
    const O::VF low_edge = hn::Set(f32, oaken.middle_low);
    const O::VF high_edge = hn::Set(f32, oaken.middle_high);
    const O::VI split = hn::Set(i32, ranges.split[token]);
    for (std::uint32_t c = 0; c < oaken.dim; c += 16) {
      std::uint8_t short_of[8] = {};
      const std::uint8_t* from = dense + c / 2;
      if (c + 16 > oaken.dim) {
        std::memcpy(short_of, from, oaken.row_bytes - c / 2);
        from = short_of;
      }
      const auto pairs = hn::PromoteTo(u16, hn::LoadU(half, from));
      const auto both =
          hn::And(hn::Or(pairs, hn::ShiftLeft<4>(pairs)), hn::Set(u16, std::uint16_t{0x0f0f}));
      alignas(16) std::uint8_t codes[16];
      hn::Store(hn::BitCast(u8, both), u8, codes);
      alignas(64) float last[16];
      float* to = c + 16 <= oaken.dim ? row + c : last;
      KVPLEAT_UNROLL
      for (std::uint32_t lane = 0; lane < 16; lane += O::kLanes) {
        const O::VI code = O::load_bytes(codes + lane);
        const O::VF offset = O::rounded(hn::Mul(hn::ConvertTo(f32, code), step));
        O::VF x = hn::Add(lowest, offset);
        if (oaken.splits) {
          const auto is_low = hn::RebindMask(f32, hn::Lt(code, split));
          x = hn::Add(x, hn::IfThenElse(is_low, low_edge, high_edge));
        }
        hn::StoreU(x, f32, to + lane);
      }
      if (c + 16 > oaken.dim) std::memcpy(row + c, last, (oaken.dim - c) * sizeof(float));
    }
  }
  static HWY_INLINE void outliers(const abi::BandView& view, const BlockBytes& bytes,
                                  const std::uint8_t* dense, const std::uint8_t* counts,
                                  std::uint32_t from, const CodingRanges& ranges,
                                  std::uint32_t token, float* row) {
    const abi::OakenView& oaken = view.oaken;
    for (std::uint32_t k = 0; k < oaken.chunks; ++k) {
      for (std::uint32_t i = 0; i < counts[k]; ++i) {
        if (from + i + 1 > bytes.spill_bytes) break;
        const std::uint32_t entry = bytes.spill[from + i];
        const std::uint32_t c = k * 64 + (entry >> 2);
        if (c >= oaken.dim) continue;
        const std::uint32_t code = (static_cast<std::uint32_t>(dense[c / 2]) >> (c % 2 * 4)) & 15u;
        row[c] = value(view, ranges, token, (entry & 2u) != 0, (entry & 1u) != 0, code);
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

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
