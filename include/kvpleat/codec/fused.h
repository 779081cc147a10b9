// FusedCodec: Oaken's fused dense-and-sparse encoding. A dense nibble for every element, one entry
// for every outlier in the spill, the outlier's payload in the nibble it vacates. Source: Oaken
// (ISCA 2025), sections 4 and 5; polarity of the two flag bits and the nibble order are ours.
#pragma once

#include <cstdint>

#include "kvpleat/codec/band_layout.h"
#include "kvpleat/codec/coo_entry.h"
#include "kvpleat/codec/oaken_stages.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/outlier.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

// The published order, the same for keys and values. A chunk is 64 consecutive elements of one
// token's head vector; the last may be short. R = bytes of a dense row, ceil(head_dim / 2); C =
// chunks; P = Quant::kParameterBytes, 12 for three bands; E = bytes of an entry.
//   block   0          [64 tokens][R]    element 2j in the low nibble of byte j: the middle code, or
//                                        bits 3..0 of an outlier's code; a last high nibble is 0
//           64 * R     [64 tokens][P]    only if Quant::kPerHead: the token's ranges
//           then       [64 tokens][C]    outliers of each chunk, 0..64
//   shared  P * slot                     the token's ranges (group_shift.h), over all heads; none if
//                                        Quant::kPerHead
//   spill   [outliers][E]                entries (coo_entry.h) in token order, chunk order, ascending
//                                        index; padding as kAlign says
// Damaged bytes: entries beyond the spill, indices beyond the row and bands that do not exist are
// ignored; nothing is read or written outside.
// Bits per element: 4 + 8 * E * outlier share + 8 * C / head_dim (counts) + 8 * P / (heads *
// head_dim), with Quant::kPerHead 8 * P / head_dim. Padding adds, at a share of 0.1 of independent
// outliers and E = 1, 0.39 (kChunk, any multiple of 64), 0.39 or 0.22 (kToken, head_dim 64 or 128).
template <class Entry = CooEntry8, SpillAlign kAlign = SpillAlign::kBlock>
struct BasicFusedCodec {
  static constexpr auto kId = Text("codec=fused;order=published;entry=") +
                              number_text<Entry::kBits>() + ";align=" + kSpillAlignText<kAlign>;
  static constexpr bool kSpills = true;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (!ThresholdSplitter<Split>) {
      return Refusal::kFusedNeedsThresholds;
    } else if constexpr (!BandQuantizer<Quant>) {
      return Refusal::kFusedNeedsGroupShift;
    } else if constexpr (Quant::kOuterBands != Split::kOuterBands ||
                         Quant::kInnerBands != Split::kInnerBands) {
      return Refusal::kBandsDiffer;
    } else {
      return Quant::kOuterBands + Quant::kInnerBands <= Entry::bands(Quant::kOutlierBits)
                 ? Refusal::kNone
                 : Refusal::kEntryTooNarrow;
    }
  }

  template <std::uint32_t kDim, class Split, class Quant, Role kRole>
  struct Layout : BandLayout<kDim, Split, Quant, 64 * ceil_div(kDim, 2u)> {
    using Bands = BandLayout<kDim, Split, Quant, 64 * ceil_div(kDim, 2u)>;
    using typename Bands::Stat;
    using Shape = SpillShape<kDim, Entry, kAlign>;
    using Bands::kBlockTokens, Bands::kChunks, Bands::kCodeBytes, Bands::kCountsAt;
    static constexpr std::uint32_t kRowBytes = ceil_div(kDim, 2u);
    static constexpr std::uint32_t kOutlierBytes = kBlockTokens * kChunks;
    static constexpr std::uint32_t kBlockBytes = kCountsAt + kOutlierBytes;
    static constexpr std::uint32_t kTokenSpillBytes = Shape::kMost;

    // Spill bytes that encoding this row will take.
    static std::uint32_t spill_need(const Split& split, const float* row) {
      std::uint8_t counts[kChunks] = {};
      for (std::uint32_t c = 0; c < kDim; ++c) {
        if (split.band(row[c]).band != Band::kMiddle) ++counts[c / 64];
      }
      return Shape::token_bytes(counts);
    }
    // Spill bytes of the first n tokens of a block.
    static std::uint32_t spill_bytes(const std::uint8_t* block, std::uint32_t n) {
      std::uint32_t bytes = 0;
      for (std::uint32_t t = 0; t < n; ++t)
        bytes += Shape::token_bytes(block + kCountsAt + t * kChunks);
      return bytes;
    }

    static void encode(const Split& split, const Quant&, Rows rows, std::uint32_t slot,
                       const std::uint8_t* shared, std::uint8_t* block, SpillWriter& spill,
                       EncodeCounters& counters) {
      BandSide at[kDim];
      float u[kDim];
      std::uint8_t codes[kDim];
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        oaken::classify(split, rows[t], kDim, at);
        oaken::shift<Quant>(split, rows[t], at, kDim, u);
        if constexpr (Quant::kPerHead) {
          Stat stat;
          oaken::range<Quant>(u, at, kDim, stat);
          Quant::write(stat, block + kCodeBytes + (slot + t) * Quant::kParameterBytes);
        }
        const BlockBytes bytes = {block, shared, nullptr, 0};
        oaken::code<Quant>(Bands::parameters(bytes, slot + t), u, at, kDim, codes);
        oaken::compact<kDim, Quant, Entry, kAlign>(at, codes, block + (slot + t) * kRowBytes,
                                                   block + kCountsAt + (slot + t) * kChunks, spill,
                                                   counters);
      }
    }
    static void decode(const Split& split, const Quant&, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      std::uint32_t begin = spill_bytes(bytes.block, slot);
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const auto ranges = Bands::parameters(bytes, slot + t);
        const std::uint8_t* dense = bytes.block + (slot + t) * kRowBytes;
        const std::uint8_t* counts = bytes.block + kCountsAt + (slot + t) * kChunks;
        float* row = rows[t];
        const auto nibble = [&](std::uint32_t c) {
          return (static_cast<std::uint32_t>(dense[c / 2]) >> (c % 2 * 4)) & 15u;
        };
        for (std::uint32_t c = 0; c < kDim; ++c)
          row[c] = Quant::decode(split, ranges, nibble(c), {Band::kMiddle});
        std::uint32_t from = begin;
        for (std::uint32_t k = 0; k < kChunks; ++k) {
          for (std::uint32_t i = 0; i < counts[k]; ++i) {
            const std::uint32_t at = from + i * Entry::kBytes;
            if (at + Entry::kBytes > bytes.spill_bytes) break;
            const auto entry = Entry::template unpack<Quant>(Entry::load_at(bytes.spill + at));
            const std::uint32_t c = k * 64 + entry.index;
            if (c >= kDim || !entry.valid) continue;
            row[c] = Quant::decode(split, ranges, nibble(c) | entry.upper, entry.at);
          }
          from += Shape::chunk_bytes(counts[k]);
        }
        begin += Shape::token_bytes(counts);
      }
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      for (std::uint32_t i = slot * kRowBytes; i < (slot + n) * kRowBytes; ++i) block[i] = 0;
      for (std::uint32_t i = slot * kChunks; i < (slot + n) * kChunks; ++i)
        block[kCountsAt + i] = 0;
      Bands::erase_parameters(block, slot, n);
    }
  };
};

// As published: entries of a byte, nothing padded.
using FusedCodec = BasicFusedCodec<>;

}  // namespace kvpleat::inline KVPLEAT_ISA
