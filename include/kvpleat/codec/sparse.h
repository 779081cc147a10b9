// SparseCodec: dense codes in a tile, and outliers apart in the spill, each with its channel and
// its value in 16 bits. Source: KVQuant, arXiv:2401.18079 (dense-and-sparse); the order by tokens
// is ours, so that a prefix of tokens is a prefix of bytes.
#pragma once

#include <cstdint>

#include "kvpleat/codec/dense.h"
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

// M = most outliers of a token, the splitter's kMaxOutliers or head_dim; N = 1 byte of a count to M
// = 255, else 2; I = 1 byte of a channel to head_dim 256, else 2; all little endian.
//   block   codes and side data of DenseLayout
//           then [64 tokens] count, N bytes: outliers of the token
//   spill   an entry per outlier, in token order, ascending channel: channel, I bytes; value,
//           binary16, nearest, ties to even
// An outlier takes no part in the statistics of its group. Its place in the tile holds the code of
// its value, clamped as the quantizer does; decode writes the value over it. A splitter that
// decides by bands: all that is not in the middle band, the lowest M channels of it.
// Error of an outlier: half a unit of binary16, 2^-11 of it. Damaged counts and channels: nothing
// outside the spill is read, nothing outside the row is written.
// Bits per element: those of the tile + 8 * N / head_dim + 8 * (I + 2) * share of outliers.
struct SparseCodec {
  static constexpr auto kId = Text("codec=sparse;value=f16");
  static constexpr bool kSpills = true;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (RowQuantizer<Quant>) {
      return Refusal::kRowQuantizerNeedsRows;
    } else if constexpr (!Quantizer<Quant>) {
      return Refusal::kGroupShiftNeedsFused;
    } else if constexpr (Split::kMaxOutliers == 0 ||
                         !(VectorSplitter<Split> || BandSplitter<Split>)) {
      return Refusal::kSparseNeedsSplit;
    } else if constexpr (Quant::kAxis == Axis::kTokens) {
      return Refusal::kSparseNeedsTokens;
    } else {
      return composition::refusal_of_tile<Quant>();
    }
  }

  template <std::uint32_t kDim, class Split, class Quant, Role kRole>
  struct Layout {
    using Dense = DenseLayout<kDim, Quant, kRole>;
    static constexpr std::uint32_t kMost = lower_of<std::uint32_t>(Split::kMaxOutliers, kDim);
    static constexpr std::uint32_t kCountBytes = kMost <= 255 ? 1 : 2;
    static constexpr std::uint32_t kIndexBytes = kDim <= 256 ? 1 : 2;
    static constexpr std::uint32_t kEntryBytes = kIndexBytes + 2;
    static constexpr std::uint32_t kBlockTokens = Dense::kBlockTokens;
    static constexpr std::uint32_t kSeal = Dense::kSeal;
    static constexpr std::uint32_t kCodeBytes = Dense::kCodeBytes;
    static constexpr std::uint32_t kSideBytes = Dense::kSideBytes;
    static constexpr std::uint32_t kOutlierBytes = kBlockTokens * kCountBytes;
    static constexpr std::uint32_t kSharedBytes = 0;
    static constexpr std::uint32_t kBlockBytes = Dense::kBytes + kOutlierBytes;
    static constexpr std::uint32_t kTokenSpillBytes = kMost * kEntryBytes;
    static constexpr float kLargest = lower_of(Quant::kLargest, kLargestHalf);

    static std::uint32_t count(const std::uint8_t* block, std::uint32_t slot) {
      return read_number<kCountBytes>(block + Dense::kBytes + slot * kCountBytes);
    }
    static std::uint32_t spill_need(const Split& split, const float* row) {
      std::uint16_t channels[kMost];
      EncodeCounters ignored;
      return pick(split, row, channels, ignored) * kEntryBytes;
    }
    static std::uint32_t spill_bytes(const std::uint8_t* block, std::uint32_t n) {
      std::uint32_t entries = 0;
      for (std::uint32_t t = 0; t < n; ++t) entries += count(block, t);
      return entries * kEntryBytes;
    }

    static void encode(const Split& split, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t*, std::uint8_t* block, SpillWriter& spill,
                       EncodeCounters& counters) {
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        std::uint16_t channels[kMost];
        const std::uint32_t n = pick(split, rows[t], channels, counters);
        bool apart[kDim] = {};
        for (std::uint32_t i = 0; i < n; ++i) apart[channels[i]] = true;
        const auto kept = [&](std::uint32_t, std::uint32_t c) { return !apart[c]; };
        Dense::encode(quant, rows.part(t, 1), slot + t, block, kept);
        dense::count_saturated<kDim>(quant, rows.part(t, 1), kept, counters);
        write_number<kCountBytes>(block + Dense::kBytes + (slot + t) * kCountBytes, n);
        for (std::uint32_t i = 0; i < n; ++i) {
          std::uint8_t entry[kEntryBytes];
          write_number<kIndexBytes>(entry, channels[i]);
          write_number<2>(entry + kIndexBytes, nearest<Half>(rows[t][channels[i]]).bits);
          for (const std::uint8_t byte : entry) spill.push(byte);
        }
        counters.outliers += n;
      }
      counters.values += rows.count * kDim;
    }
    static void decode(const Split&, const Quant& quant, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      Dense::decode(quant, bytes.block, slot, rows);
      std::uint32_t at = spill_bytes(bytes.block, slot);
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        for (std::uint32_t left = count(bytes.block, slot + t); left > 0; --left) {
          if (at >= bytes.spill_bytes || bytes.spill_bytes - at < kEntryBytes) return;
          const std::uint32_t channel = read_number<kIndexBytes>(bytes.spill + at);
          const Half value{
              static_cast<std::uint16_t>(read_number<2>(bytes.spill + at + kIndexBytes))};
          if (channel < kDim) rows[t][channel] = to_float(value);
          at += kEntryBytes;
        }
      }
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      Dense::erase(block, slot, n);
      for (std::uint32_t t = slot; t < slot + n; ++t)
        write_number<kCountBytes>(block + Dense::kBytes + t * kCountBytes, 0);
    }

   private:
    template <std::uint32_t kBytes>
    static std::uint32_t read_number(const std::uint8_t* at) {
      if constexpr (kBytes == 1) return at[0];
      return static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8;
    }
    template <std::uint32_t kBytes>
    static void write_number(std::uint8_t* at, std::uint32_t number) {
      at[0] = static_cast<std::uint8_t>(number & 255u);
      if constexpr (kBytes == 2) at[1] = static_cast<std::uint8_t>(number >> 8);
    }
    // The outliers of a row, ascending.
    static std::uint32_t pick(const Split& split, const float* row, std::uint16_t* channels,
                              EncodeCounters& counters) {
      if constexpr (VectorSplitter<Split>) {
        return split_row(split, row, kDim, channels, counters);
      } else {
        std::uint32_t n = 0;
        for (std::uint32_t c = 0; c < kDim && n < kMost; ++c) {
          if (split.band(row[c]).band != Band::kMiddle)
            channels[n++] = static_cast<std::uint16_t>(c);
        }
        return n;
      }
    }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
