// FusedCodec: Oaken's fused dense-and-sparse encoding. A dense nibble for every element, one byte
// for every outlier in the spill, the outlier's payload in the nibble it vacates. Source: Oaken
// (ISCA 2025), sections 4 and 5; polarity of the two flag bits and the nibble order are ours.
#pragma once

#include <cstdint>

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
// chunks.
//   block   0          [64 tokens][R]    element 2j in the low nibble of byte j: the
//                                        middle code, or the 4-bit code of an outlier
//           64 * R     [64 tokens][P]    only if Quant::kPerHead: the token's ranges
//           then       [64 tokens][C]    outliers of each chunk, 0..64
//   shared  P * slot                     the token's ranges (group_shift.h), over all heads; none
//                                        if Quant::kPerHead. P = 12 bytes, six binary16
//   spill   one byte per outlier, in token order, chunk order, ascending index: bits 7..2 index in
//           the chunk, bit 1: 1 = outer, 0 = inner, bit 0: bit 4 of the outlier's code: 1 = low side or
//           negative
//           Outlier codes: bit 4 is bit 0 of the entry, bits 3..0 are the nibble.
// Bits per element: 4 + 8 * outlier share + 8 / 64 (counts) + 96 / (heads * head_dim), with
// Quant::kPerHead 96 / head_dim.
struct FusedCodec {
  static constexpr auto kId = Text("codec=fused;order=published");
  static constexpr bool kSpills = true;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (!ThresholdSplitter<Split>) {
      return Refusal::kFusedNeedsThresholds;
    } else {
      if constexpr (!BandQuantizer<Quant>) {
        return Refusal::kFusedNeedsGroupShift;
      } else {
        return Quant::kOuterBands == Split::kOuterBands && Quant::kInnerBands == Split::kInnerBands
                   ? Refusal::kNone
                   : Refusal::kBandsDiffer;
      }
    }
  }

  template <std::uint32_t kDim, class Split, class Quant, Role kRole>
  struct Layout {
    using Stat = typename Quant::Stat;
    static constexpr std::uint32_t kBlockTokens = 64;
    static constexpr std::uint32_t kSeal = 1;
    static constexpr std::uint32_t kChunks = ceil_div(kDim, 64u);
    static constexpr std::uint32_t kRowBytes = ceil_div(kDim, 2u);
    static constexpr std::uint32_t kCodeBytes = kBlockTokens * kRowBytes;
    static constexpr std::uint32_t kRangeBytes = kBlockTokens * Quant::kParameterBytes;
    static constexpr std::uint32_t kSideBytes = Quant::kPerHead ? kRangeBytes : 0;
    static constexpr std::uint32_t kOutlierBytes = kBlockTokens * kChunks;
    static constexpr std::uint32_t kSharedBytes = Quant::kPerHead ? 0 : kRangeBytes;
    static constexpr std::uint32_t kBlockBytes = kCodeBytes + kSideBytes + kOutlierBytes;
    static constexpr std::uint32_t kCountsAt = kCodeBytes + kSideBytes;
    static constexpr float kLargest = Quant::kLargest;

    // The stored ranges of a token.
    static typename Quant::Parameters parameters(const BlockBytes& bytes, std::uint32_t slot) {
      return Quant::read((Quant::kPerHead ? bytes.block + kCodeBytes : bytes.shared) +
                         slot * Quant::kParameterBytes);
    }

    static void observe(const Split& split, const Quant& quant, const float* row, Stat& stat) {
      for (std::uint32_t c = 0; c < kDim; ++c) quant.observe(split, row[c], stat);
    }
    static Stat merge(const Stat& a, const Stat& b) { return Quant::merge(a, b); }
    static void write_shared(const Stat& stat, std::uint32_t slot, std::uint8_t* shared) {
      Quant::write(stat, shared + slot * Quant::kParameterBytes);
    }
    // Spill bytes that encoding this row will take.
    static std::uint32_t spill_need(const Split& split, const float* row) {
      std::uint32_t need = 0;
      for (std::uint32_t c = 0; c < kDim; ++c) need += split.band(row[c]).band != Band::kMiddle;
      return need;
    }
    // Spill bytes of the first n tokens of a block.
    static std::uint32_t spill_bytes(const std::uint8_t* block, std::uint32_t n) {
      std::uint32_t bytes = 0;
      for (std::uint32_t i = 0; i < n * kChunks; ++i) bytes += block[kCountsAt + i];
      return bytes;
    }

    static void encode(const Split& split, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t* shared, std::uint8_t* block, SpillWriter& spill,
                       EncodeCounters& counters) {
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        if constexpr (Quant::kPerHead) {
          Stat stat;
          observe(split, quant, rows[t], stat);
          Quant::write(stat, block + kCodeBytes + (slot + t) * Quant::kParameterBytes);
        }
        const auto ranges = parameters(BlockBytes{block, shared, nullptr, 0}, slot + t);
        std::uint8_t* dense = block + (slot + t) * kRowBytes;
        std::uint8_t* counts = block + kCountsAt + (slot + t) * kChunks;
        for (std::uint32_t i = 0; i < kRowBytes; ++i) dense[i] = 0;
        for (std::uint32_t k = 0; k < kChunks; ++k) counts[k] = 0;
        for (std::uint32_t c = 0; c < kDim; ++c) {
          const float x = rows[t][c];
          const BandSide at = split.band(x);
          const std::uint32_t code = Quant::encode(split, ranges, x, at);
          dense[c / 2] = static_cast<std::uint8_t>(dense[c / 2] | (code & 15u) << (c % 2 * 4));
          if (at.band == Band::kMiddle) continue;
          const bool outer = at.band == Band::kOuter;
          spill.push(static_cast<std::uint8_t>((c % 64) << 2 | (outer ? 2u : 0u) | code >> 4));
          ++counts[c / 64];
          ++(outer ? counters.outer : counters.inner);
          ++counters.outliers;
        }
      }
      counters.values += rows.count * kDim;
    }
    static void decode(const Split& split, const Quant&, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      std::uint32_t at = spill_bytes(bytes.block, slot);
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const auto ranges = parameters(bytes, slot + t);
        const std::uint8_t* dense = bytes.block + (slot + t) * kRowBytes;
        const std::uint8_t* counts = bytes.block + kCountsAt + (slot + t) * kChunks;
        float* row = rows[t];
        const auto nibble = [&](std::uint32_t c) {
          return (static_cast<std::uint32_t>(dense[c / 2]) >> (c % 2 * 4)) & 15u;
        };
        for (std::uint32_t c = 0; c < kDim; ++c)
          row[c] = Quant::decode(split, ranges, nibble(c), {Band::kMiddle});
        for (std::uint32_t k = 0; k < kChunks; ++k) {
          for (std::uint32_t e = counts[k]; e > 0 && at < bytes.spill_bytes; --e) {
            const std::uint32_t entry = bytes.spill[at++];
            const std::uint32_t c = k * 64 + (entry >> 2);
            if (c >= kDim) continue;  // damaged bytes: never written outside the row
            const std::uint32_t code = nibble(c) | (entry & 1u) << 4;
            row[c] =
                Quant::decode(split, ranges, code, {(entry & 2u) ? Band::kOuter : Band::kInner});
          }
        }
      }
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      for (std::uint32_t i = slot * kRowBytes; i < (slot + n) * kRowBytes; ++i) block[i] = 0;
      for (std::uint32_t i = slot * kChunks; i < (slot + n) * kChunks; ++i)
        block[kCountsAt + i] = 0;
      if constexpr (Quant::kPerHead) {
        std::uint8_t* ranges = block + kCodeBytes + slot * Quant::kParameterBytes;
        for (std::uint32_t i = 0; i < n * Quant::kParameterBytes; ++i) ranges[i] = 0;
      }
    }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
