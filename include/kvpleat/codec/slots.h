// SlotCodec: dense codes plus a fixed number of inline outlier slots per token.
//
// An outlier does not take part in the statistics of its group. Its place in the tile holds the
// clamped code (with a table of steps, RenewedLayout: the code of zero); a slot holds its channel
// and what to add: value = dense value + delta * delta_scale.
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
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

// N = slots per token (the splitter's kMaxOutliers rounded up to 4), I = bytes of an index (1 to
// head_dim 256, else 2). After the tile and its side data, per 16 tokens:
//   index  [N/4][16 tokens][4] I bytes, little endian    channel, 0 in an empty slot
//   delta  [N/4][16 tokens][4] int8                      0 in an empty slot
//   scale  [16 tokens] binary16    the smallest half not below max|x - dense| / 127
// delta = round half to even((x - dense) / scale), |delta| <= 127. Outliers ascend by channel.
// Error of an outlier: <= scale / 2, that is |x - dense| / 254 of the token's largest. Bits per
// element: those of the tile + (8 * N * (I + 1) + 16) / head_dim.
struct SlotCodec {
  static constexpr auto kId = Text("codec=slots");
  static constexpr bool kSpills = false;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (RowQuantizer<Quant>) {
      return Refusal::kRowQuantizerNeedsRows;
    } else if constexpr (!Quantizer<Quant>) {
      return Refusal::kGroupShiftNeedsFused;
    } else if constexpr (!(VectorSplitter<Split> && Split::kMaxOutliers >= 1 &&
                           Split::kMaxOutliers <= 64)) {
      return Refusal::kSlotsNeedVectorSplit;
    } else {
      return composition::refusal_of_tile<Quant>();
    }
  }

  template <std::uint32_t kDim, class Split, class Quant, Role kRole>
  struct Layout {
    using Dense = TileLayoutOf<kDim, Quant, kRole>;
    static constexpr bool kHasTable = TableQuantizer<Quant>;
    static constexpr std::uint32_t kSlots = round_up(Split::kMaxOutliers, 4u);
    static constexpr std::uint32_t kIndexBytes = kDim <= 256 ? 1 : 2;
    static constexpr std::uint32_t kUnitBytes =
        16 * (kSlots * (kIndexBytes + 1) + 2);  // of 16 tokens
    static constexpr std::uint32_t kBlockTokens = Dense::kBlockTokens;
    static constexpr std::uint32_t kSeal = Dense::kSeal;
    static constexpr std::uint32_t kCodeBytes = Dense::kCodeBytes;
    static constexpr std::uint32_t kSideBytes = Dense::kSideBytes;
    static constexpr std::uint32_t kOutlierBytes = kBlockTokens / 16 * kUnitBytes;
    static constexpr std::uint32_t kSharedBytes = 0;
    static constexpr std::uint32_t kBlockBytes = kCodeBytes + kSideBytes + kOutlierBytes;
    static constexpr float kLargest =
        lower_of(Quant::kLargest, kLargestHalf * 63.0f);  // a delta may be twice a value

    static constexpr std::uint32_t index_at(std::uint32_t slot, std::uint32_t i) {
      return Dense::kBytes + slot / 16 * kUnitBytes +
             ((i / 4 * 16 + slot % 16) * 4 + i % 4) * kIndexBytes;
    }
    static constexpr std::uint32_t delta_at(std::uint32_t slot, std::uint32_t i) {
      return Dense::kBytes + slot / 16 * kUnitBytes + 16 * kSlots * kIndexBytes +
             (i / 4 * 16 + slot % 16) * 4 + i % 4;
    }
    static constexpr std::uint32_t scale_at(std::uint32_t slot) {
      return Dense::kBytes + slot / 16 * kUnitBytes + 16 * kSlots * (kIndexBytes + 1) +
             slot % 16 * 2;
    }

    static void encode(const Split& split, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t*, std::uint8_t* block, SpillWriter&,
                       EncodeCounters& counters) {
      write(split, quant, rows, slot, block, counters, BlockBytes{});
    }
    static void encode(const Split& split, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t*, std::uint8_t* block, SpillWriter&,
                       EncodeCounters& counters, const BlockBytes& previous) requires(kHasTable) {
      write(split, quant, rows, slot, block, counters, previous);
    }
    template <class Admission>
    static bool admit(const Split& split, const Quant& quant, const float* row,
                      Admission& state) requires(kHasTable) {
      Outliers outliers;
      EncodeCounters ignored;
      outliers.find(split, row, ignored);
      return Dense::admit(
          quant, row, [&](std::uint32_t, std::uint32_t c) { return !outliers.has(c); }, state);
    }
    static void decode(const Split&, const Quant& quant, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      Dense::decode(quant, bytes.block, slot, rows);
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const float scale = to_float(load<Half>(bytes.block + scale_at(slot + t)));
        for (std::uint32_t i = 0; i < kSlots; ++i) {
          const auto delta = static_cast<std::int8_t>(bytes.block[delta_at(slot + t, i)]);
          const std::uint32_t channel = read_index(bytes.block, slot + t, i);
          if (delta != 0 && channel < kDim)
            rows[t][channel] += product(static_cast<float>(delta), scale);
        }
      }
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      Dense::erase(block, slot, n);
      for (std::uint32_t t = slot; t < slot + n; ++t) {
        for (std::uint32_t i = 0; i < kSlots; ++i) write_slot(block, t, i, 0, 0);
        store(block + scale_at(t), Half{});
      }
    }

   private:
    struct Outliers {
      std::uint16_t channels[kSlots] = {};
      std::uint32_t count = 0;

      void find(const Split& split, const float* row, EncodeCounters& counters) {
        count = split_row(split, row, kDim, channels, counters);
        counters.outliers += count;
      }
      [[nodiscard]] bool has(std::uint32_t channel) const {
        for (std::uint32_t i = 0; i < count; ++i) {
          if (channels[i] == channel) return true;
        }
        return false;
      }
    };
    static void write(const Split& split, const Quant& quant, Rows rows, std::uint32_t slot,
                      std::uint8_t* block, EncodeCounters& counters, const BlockBytes& previous) {
      // One seal at a time: its tokens share statistics, so all their outliers must be known first.
      for (std::uint32_t t = 0; t < rows.count; t += kSeal) {
        Outliers outliers[kSeal];
        for (std::uint32_t i = 0; i < kSeal; ++i) outliers[i].find(split, rows[t + i], counters);
        const auto kept = [&](std::uint32_t i, std::uint32_t c) { return !outliers[i].has(c); };
        if constexpr (kHasTable) {
          Dense::encode(quant, rows.part(t, kSeal), slot + t, block, kept, previous, counters);
        } else {
          static_cast<void>(previous);
          Dense::encode(quant, rows.part(t, kSeal), slot + t, block, kept);
        }
        dense::count_saturated<kDim>(quant, rows.part(t, kSeal), kept, counters);
        for (std::uint32_t i = 0; i < kSeal; ++i)
          write_token(quant, rows[t + i], slot + t + i, outliers[i].channels, outliers[i].count,
                      block);
      }
      counters.values += rows.count * kDim;
    }
    static std::uint32_t read_index(const std::uint8_t* block, std::uint32_t slot,
                                    std::uint32_t i) {
      const std::uint8_t* at = block + index_at(slot, i);
      return kIndexBytes == 1
                 ? at[0]
                 : static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8;
    }
    static void write_slot(std::uint8_t* block, std::uint32_t slot, std::uint32_t i,
                           std::uint32_t channel, std::int32_t delta) {
      std::uint8_t* at = block + index_at(slot, i);
      at[0] = static_cast<std::uint8_t>(channel & 255u);
      if constexpr (kIndexBytes == 2) at[1] = static_cast<std::uint8_t>(channel >> 8);
      block[delta_at(slot, i)] = static_cast<std::uint8_t>(static_cast<std::int8_t>(delta));
    }
    static void write_token(const Quant& quant, const float* row, std::uint32_t slot,
                            const std::uint16_t* channels, std::uint32_t count,
                            std::uint8_t* block) {
      float difference[kSlots] = {};
      float largest = 0.0f;
      for (std::uint32_t i = 0; i < count; ++i) {
        difference[i] = row[channels[i]] - Dense::decode_one(quant, block, slot, channels[i]);
        largest = upper_of(largest, magnitude(difference[i]));
      }
      const Half stored = at_least<Half>(largest / 127.0f);
      const float scale = to_float(stored);
      store(block + scale_at(slot), stored);
      for (std::uint32_t i = 0; i < kSlots; ++i) {  // empty slots: channel 0, difference 0
        write_slot(block, slot, i, channels[i],
                   scale > 0.0f ? round_to_signed(difference[i] / scale, 127) : 0);
      }
    }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
