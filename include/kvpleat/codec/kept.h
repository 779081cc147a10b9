// KeptCodec: the elements that a splitter picks and nothing else, named by a list of channels or by
// a bitmap: what a hash table (hash_sparse.h) must beat at equal bits.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class KeptIndex : std::uint8_t { kList, kBitmap };
template <KeptIndex>
inline constexpr auto kKeptIndexText = Text("list");
template <>
inline constexpr auto kKeptIndexText<KeptIndex::kBitmap> = Text("bitmap");

// k = the splitter's kMaxOutliers, at most head_dim. Keys and values alike, 64 tokens each:
//   kList:    [64][ceil(k * W / 8)]       channels in ascending order, W = ceil(log2(head_dim))
//                                         bits each, from bit 0 of the first byte on
//   kBitmap:  [64][ceil(head_dim / 8)]    bit c mod 8 of byte c / 8: channel c is kept
//   codes     [64][ceil(k * kBits / 8)]   in the order of the channels, from bit 0 on
//   step      [64] binary16               of each token, over what it keeps
// A list of fewer than k elements repeats its last one (an empty one: channel 0 with the code of
// zero); unused codes of a bitmap are 0. All other elements read as 0.
// Error: kept values as the quantizer says; all others their magnitude. Bits per element:
// (k * (W + kBits) + 16) / head_dim with a list, 1 + (k * kBits + 16) / head_dim with a bitmap.
template <KeptIndex kIndex>
struct KeptCodec {
  static constexpr auto kId = Text("codec=kept;index=") + kKeptIndexText<kIndex>;
  static constexpr bool kSpills = false;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (!VectorSplitter<Split>) {
      return Refusal::kKeptNeedsSymmetric;
    } else if constexpr (Split::kMaxOutliers < 1 || Split::kMaxOutliers > 64 || !requires {
                           Quant::kZero;
                           requires Quant::kGroup == kWholeHead&& Quant::kAxis == Axis::kChannels;
                           requires std::is_same_v<typename Quant::Side, Half>;
                           requires sizeof(typename Quant::Scale) == sizeof(Half);
                         }) {
      return Refusal::kKeptNeedsSymmetric;
    } else {
      return Refusal::kNone;
    }
  }

  template <std::uint32_t kDim, class Split, class Quant, Role>
  struct Layout {
    static constexpr std::uint32_t kBlockTokens = 64;
    static constexpr std::uint32_t kSeal = 1;
    static constexpr std::uint32_t kKept = lower_of<std::uint32_t>(Split::kMaxOutliers, kDim);
    static constexpr std::uint32_t kWidth =
        kDim == 1 ? 1 : static_cast<std::uint32_t>(std::bit_width(kDim - 1u));
    static constexpr std::uint32_t kIndexBytes =
        kIndex == KeptIndex::kList ? ceil_div(kKept * kWidth, 8u) : ceil_div(kDim, 8u);
    static constexpr std::uint32_t kCodesAt = kBlockTokens * kIndexBytes;
    static constexpr std::uint32_t kTokenCodeBytes = ceil_div(kKept * Quant::kBits, 8u);
    static constexpr std::uint32_t kStepsAt = kCodesAt + kBlockTokens * kTokenCodeBytes;
    static constexpr std::uint32_t kCodeBytes = kStepsAt;
    static constexpr std::uint32_t kSideBytes = kBlockTokens * 2;
    static constexpr std::uint32_t kOutlierBytes = 0;
    static constexpr std::uint32_t kSharedBytes = 0;
    static constexpr std::uint32_t kBlockBytes = kStepsAt + kSideBytes;
    static constexpr float kLargest = Quant::kLargest;

    static void encode(const Split& split, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t*, std::uint8_t* block, SpillWriter&,
                       EncodeCounters& counters) {
      erase(block, slot, static_cast<std::uint32_t>(rows.count));
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const float* row = rows[t];
        std::uint16_t channels[Split::kMaxOutliers] = {};
        const std::uint32_t count = split_row(split, row, kDim, channels, counters);
        typename Quant::Stat stat;
        for (std::uint32_t i = 0; i < count; ++i) quant.observe(row[channels[i]], stat);
        const typename Quant::Scale scale =
            count == 0 ? typename Quant::Scale{} : quant.scale(stat);
        std::uint8_t* index = block + (slot + t) * kIndexBytes;
        std::uint8_t* codes = block + kCodesAt + (slot + t) * kTokenCodeBytes;
        if constexpr (kIndex == KeptIndex::kList) {
          for (std::uint32_t i = 0; i < kKept; ++i) {
            const std::uint32_t from = i < count ? i : (count == 0 ? 0 : count - 1);
            const std::uint32_t code =
                count == 0 ? Quant::kZero : quant.encode(row[channels[from]], scale);
            put_bits(index, i * kWidth, kWidth, channels[from]);
            put_bits(codes, i * Quant::kBits, Quant::kBits, code);
          }
        } else {
          for (std::uint32_t i = 0; i < count; ++i) {
            put_bits(index, channels[i], 1, 1);
            put_bits(codes, i * Quant::kBits, Quant::kBits, quant.encode(row[channels[i]], scale));
          }
        }
        counters.outliers += count;
        store(block + kStepsAt + 2 * (slot + t), scale.step);
      }
      counters.values += rows.count * kDim;
    }
    // Damaged bytes lead neither out of the block nor out of a row.
    static void decode(const Split&, const Quant& quant, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const std::uint8_t* index = bytes.block + (slot + t) * kIndexBytes;
        const std::uint8_t* codes = bytes.block + kCodesAt + (slot + t) * kTokenCodeBytes;
        const typename Quant::Scale scale = {load<Half>(bytes.block + kStepsAt + 2 * (slot + t))};
        float* row = rows[t];
        for (std::uint32_t c = 0; c < kDim; ++c) row[c] = 0.0f;
        if constexpr (kIndex == KeptIndex::kList) {
          for (std::uint32_t i = 0; i < kKept; ++i) {
            const std::uint32_t c = get_bits(index, i * kWidth, kWidth);
            if (c < kDim)
              row[c] = quant.decode(get_bits(codes, i * Quant::kBits, Quant::kBits), scale);
          }
        } else {
          std::uint32_t i = 0;
          for (std::uint32_t c = 0; c < kDim && i < kKept; ++c) {
            if (get_bits(index, c, 1) == 0) continue;
            row[c] = quant.decode(get_bits(codes, i++ * Quant::kBits, Quant::kBits), scale);
          }
        }
      }
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      for (std::uint32_t i = slot * kIndexBytes; i < (slot + n) * kIndexBytes; ++i) block[i] = 0;
      for (std::uint32_t i = slot * kTokenCodeBytes; i < (slot + n) * kTokenCodeBytes; ++i)
        block[kCodesAt + i] = 0;
      for (std::uint32_t t = slot; t < slot + n; ++t) store(block + kStepsAt + 2 * t, Half{});
    }

   private:
    // Bits [at, at + width) of a run of bytes, bit 0 of byte 0 first; the bits were 0 before.
    static void put_bits(std::uint8_t* bytes, std::uint32_t at, std::uint32_t width,
                         std::uint32_t value) {
      for (std::uint32_t b = 0; b < width; ++b) {
        bytes[(at + b) / 8] =
            static_cast<std::uint8_t>(bytes[(at + b) / 8] | ((value >> b) & 1u) << ((at + b) % 8));
      }
    }
    static std::uint32_t get_bits(const std::uint8_t* bytes, std::uint32_t at,
                                  std::uint32_t width) {
      std::uint32_t value = 0;
      for (std::uint32_t b = 0; b < width; ++b)
        value |= ((static_cast<std::uint32_t>(bytes[(at + b) / 8]) >> ((at + b) % 8)) & 1u) << b;
      return value;
    }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
