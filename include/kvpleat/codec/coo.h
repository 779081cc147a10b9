// CooCodec: Oaken's outliers before they were fused with the dense codes, as coordinates with
// values of their own. For comparison: the 23 and 12 bits from which the published 8 came. Source:
// Oaken (ISCA 2025), section 4; the order of the bits is ours.
#pragma once

#include <cstdint>

#include "kvpleat/codec/band_layout.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/outlier.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

// The same for keys and values; chunks, dense rows, counts and ranges as of FusedCodec (fused.h),
// but the dense nibble of an outlier is 0.
//   spill   per outlier an entry, in token order, chunk order, ascending index
//     12 bits: bits 11..6 index in the chunk, bit 5: 1 = outer, 0 = inner, bits 4..0 the outlier's
//              code (group_shift.h). Entries of a token are packed from a byte on, the first in
//              bits 0 .. 11 (little endian); an odd number leaves 4 bits unused.
//     23 bits, stored in 24: bytes 0, 1 the value, binary16, nearest, ties to even; byte 2: bits
//              7..2 index, bit 1: 1 = outer, 0 = inner, bit 0: 0. Exact to binary16; the stored
//              ranges of outer and inner are not used.
// Decoded values of 12 bits are those of FusedCodec.
// Bits per element: 4 + 12 or 24 * outlier share + 8 / 64 (counts) + 96 / (heads * head_dim), and
// with 12 bits 4 for each token and head with an odd number of outliers.
template <std::uint32_t kEntryBits>
struct CooCodec {
  static_assert(kEntryBits == 12 || kEntryBits == 23,
                "kvpleat: CooCodec has entries of 12 bits (codes) or 23 bits (values)");
  static constexpr auto kId = Text("codec=coo;entry=") + number_text<kEntryBits>();
  static constexpr bool kSpills = true;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (!ThresholdSplitter<Split> || !BandQuantizer<Quant>) {
      return Refusal::kCooNeedsOaken;
    } else {
      return Split::kOuterBands == 1 && Split::kInnerBands == 1 && Quant::kOuterBands == 1 &&
                     Quant::kInnerBands == 1
                 ? Refusal::kNone
                 : Refusal::kCooNeedsOaken;
    }
  }

  template <std::uint32_t kDim, class Split, class Quant, Role kRole>
  struct Layout : BandLayout<kDim, Split, Quant, 64 * ceil_div(kDim, 2u)> {
    using Base = BandLayout<kDim, Split, Quant, 64 * ceil_div(kDim, 2u)>;
    using Base::kBlockTokens, Base::kChunks, Base::kCountsAt;
    static constexpr std::uint32_t kRowBytes = ceil_div(kDim, 2u);
    static constexpr std::uint32_t kOutlierBytes = kBlockTokens * kChunks;
    static constexpr std::uint32_t kBlockBytes = kCountsAt + kOutlierBytes;
    // Bytes of n entries of a token.
    static constexpr std::uint32_t entry_bytes(std::uint32_t n) {
      return kEntryBits == 12 ? (3 * n + 1) / 2 : 3 * n;
    }
    static constexpr std::uint32_t kTokenSpillBytes = entry_bytes(kDim);

    static std::uint32_t spill_need(const Split& split, const float* row) {
      return entry_bytes(Base::outliers(split, row));
    }
    static std::uint32_t spill_bytes(const std::uint8_t* block, std::uint32_t n) {
      std::uint32_t bytes = 0;
      for (std::uint32_t t = 0; t < n; ++t) {
        std::uint32_t entries = 0;
        for (std::uint32_t k = 0; k < kChunks; ++k) entries += block[kCountsAt + t * kChunks + k];
        bytes += entry_bytes(entries);
      }
      return bytes;
    }

    static void encode(const Split& split, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t* shared, std::uint8_t* block, SpillWriter& spill,
                       EncodeCounters& counters) {
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const auto ranges = Base::open_parameters(split, quant, rows[t], slot + t, shared, block);
        std::uint8_t* dense = block + (slot + t) * kRowBytes;
        std::uint8_t* counts = block + kCountsAt + (slot + t) * kChunks;
        for (std::uint32_t i = 0; i < kRowBytes; ++i) dense[i] = 0;
        for (std::uint32_t k = 0; k < kChunks; ++k) counts[k] = 0;
        std::uint32_t number = 0;
        for (std::uint32_t c = 0; c < kDim; ++c) {
          const float x = rows[t][c];
          const BandSide at = split.band(x);
          const std::uint32_t code = Quant::encode(split, ranges, x, at);
          if (at.band == Band::kMiddle) {
            dense[c / 2] = static_cast<std::uint8_t>(dense[c / 2] | code << (c % 2 * 4));
            continue;
          }
          const bool outer = at.band == Band::kOuter;
          push(spill, number++, c % 64, outer, kEntryBits == 12 ? code : nearest<Half>(x).bits);
          ++counts[c / 64];
          ++(outer ? counters.outer : counters.inner);
          ++counters.outliers;
        }
      }
      counters.values += rows.count * kDim;
    }
    static void decode(const Split& split, const Quant&, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      std::uint32_t first = spill_bytes(bytes.block, slot);
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const auto ranges = Base::parameters(bytes, slot + t);
        const std::uint8_t* dense = bytes.block + (slot + t) * kRowBytes;
        const std::uint8_t* counts = bytes.block + kCountsAt + (slot + t) * kChunks;
        for (std::uint32_t c = 0; c < kDim; ++c) {
          const std::uint32_t nibble =
              (static_cast<std::uint32_t>(dense[c / 2]) >> (c % 2 * 4)) & 15u;
          rows[t][c] = Quant::decode(split, ranges, nibble, {Band::kMiddle});
        }
        std::uint32_t number = 0;
        for (std::uint32_t k = 0; k < kChunks; ++k) {
          for (std::uint32_t i = 0; i < counts[k]; ++i, ++number) {
            const std::uint32_t at = first + place(number);
            // Damaged bytes: nothing outside the spill is read, nothing outside the row written.
            if (at + (kEntryBits == 12 ? 2 : 3) > bytes.spill_bytes) continue;
            const Entry entry = read(bytes.spill + at, number);
            const std::uint32_t c = k * 64 + entry.index;
            if (c >= kDim) continue;
            rows[t][c] = kEntryBits == 12
                             ? Quant::decode(split, ranges, entry.content,
                                             {entry.outer ? Band::kOuter : Band::kInner})
                             : to_float(Half{static_cast<std::uint16_t>(entry.content)});
          }
        }
        first += entry_bytes(number);
      }
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      for (std::uint32_t i = slot * kRowBytes; i < (slot + n) * kRowBytes; ++i) block[i] = 0;
      for (std::uint32_t i = slot * kChunks; i < (slot + n) * kChunks; ++i)
        block[kCountsAt + i] = 0;
      Base::erase_parameters(block, slot, n);
    }

   private:
    struct Entry {
      std::uint32_t index = 0;
      bool outer = false;
      std::uint32_t content = 0;  // code, or the bits of the value
    };
    // Where entry `number` of a token begins.
    static constexpr std::uint32_t place(std::uint32_t number) {
      return kEntryBits == 12 ? number * 3 / 2 : number * 3;
    }
    static void push(SpillWriter& spill, std::uint32_t number, std::uint32_t index, bool outer,
                     std::uint32_t content) {
      if constexpr (kEntryBits == 12) {
        const std::uint32_t entry = index << 6 | (outer ? 32u : 0u) | content;
        if (number % 2 == 0) {
          spill.push(static_cast<std::uint8_t>(entry & 255u));
          spill.push(static_cast<std::uint8_t>(entry >> 8));
        } else {
          std::uint8_t& half = spill.data[spill.size - 1];
          half = static_cast<std::uint8_t>(half | (entry & 15u) << 4);
          spill.push(static_cast<std::uint8_t>(entry >> 4));
        }
      } else {
        spill.push(static_cast<std::uint8_t>(content & 255u));
        spill.push(static_cast<std::uint8_t>(content >> 8));
        spill.push(static_cast<std::uint8_t>(index << 2 | (outer ? 2u : 0u)));
      }
    }
    static Entry read(const std::uint8_t* bytes, std::uint32_t number) {
      const std::uint32_t two =
          static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8;
      if constexpr (kEntryBits == 12) {
        const std::uint32_t entry = number % 2 == 0 ? two & 0xfffu : two >> 4;
        return {entry >> 6, (entry & 32u) != 0, entry & 31u};
      } else {
        return {static_cast<std::uint32_t>(bytes[2]) >> 2, (bytes[2] & 2u) != 0, two};
      }
    }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
