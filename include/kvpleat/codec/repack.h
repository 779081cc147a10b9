// FusedRepack: Oaken's published bytes into resident order and back, block by block, without loss.
#pragma once

#include <array>
#include <cstdint>

#include "kvpleat/codec/fused.h"
#include "kvpleat/codec/jagged.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/outlier.h"
#include "kvpleat/core/role.h"

namespace kvpleat::inline KVPLEAT_ISA {

// The shared bytes of a block are the same in both orders. Both functions overwrite `block`
// (kBlockBytes of the target) and write the spill of the whole block; the writer is empty and has
// room for it: two bytes per outlier of jagged spill, one of published. Blocks that are not full
// are converted like full ones. The bytes must be undamaged.
template <std::uint32_t kDim, class Split, class Quant, Role kRole>
struct FusedRepack {
  using Published = typename FusedCodec::template Layout<kDim, Split, Quant, kRole>;
  using Jagged = typename JaggedCodec::template Layout<kDim, Split, Quant, kRole>;

  // Bytes that equal those of encoding the same rows with JaggedCodec. Deltas need the thresholds.
  static void to_jagged(const Split& split, const BlockBytes& published, std::uint8_t* block,
                        SpillWriter& spill) {
    for (std::uint32_t i = 0; i < Jagged::kBlockBytes; ++i) block[i] = 0;
    for (std::uint32_t i = 0; i < Jagged::kSideBytes; ++i)
      block[Jagged::kCodeBytes + i] = published.block[Published::kCodeBytes + i];
    std::uint32_t next = 0;
    for (std::uint32_t t = 0; t < Jagged::kBlockTokens; ++t) {
      typename Jagged::Token token;
      const std::uint8_t* row = published.block + t * Published::kRowBytes;
      const auto nibble = [&](std::uint32_t c) {
        return (static_cast<std::uint32_t>(row[c / 2]) >> (c % 2 * 4)) & 15u;
      };
      for (std::uint32_t c = 0; c < kDim; ++c) token.put(c, nibble(c), Band::kMiddle);
      for (std::uint32_t k = 0; k < Jagged::kChunks; ++k) {
        const std::uint32_t n = published.block[Published::kCountsAt + t * Jagged::kChunks + k];
        for (std::uint32_t i = 0; i < n; ++i) {
          const std::uint32_t entry = published.spill[next++];
          const std::uint32_t c = k * 64 + (entry >> 2);
          token.put(c, nibble(c) | (entry & 1u) << 4,
                    (entry & 2u) != 0 ? Band::kOuter : Band::kInner);
        }
      }
      Jagged::append(split, Published::parameters(published, t), token, t, block, spill);
    }
  }

  // Bytes that equal those of encoding the same rows with FusedCodec.
  static void to_published(const BlockBytes& jagged, std::uint8_t* block, SpillWriter& spill) {
    constexpr std::uint32_t kLists = Published::kBlockTokens * Published::kChunks;
    for (std::uint32_t i = 0; i < Published::kBlockBytes; ++i) block[i] = 0;
    for (std::uint32_t i = 0; i < Published::kSideBytes; ++i)
      block[Published::kCodeBytes + i] = jagged.block[Jagged::kCodeBytes + i];
    for (std::uint32_t t = 0; t < Published::kBlockTokens; ++t) {
      std::uint8_t* row = block + t * Published::kRowBytes;
      for (std::uint32_t c = 0; c < kDim; ++c)
        row[c / 2] = static_cast<std::uint8_t>(row[c / 2] | Jagged::Tile::get(jagged.block, t, c)
                                                                << (c % 2 * 4));
    }
    std::uint8_t* counts = block + Published::kCountsAt;
    const auto each = [&](auto visit) {
      Jagged::each_entry(jagged, 0, Jagged::kBlockTokens,
                         [&](std::uint32_t t, std::uint32_t c, BandSide at, std::uint32_t code) {
                           visit(t * Published::kChunks + c / 64, c % 64, at, code);
                         });
    };
    each([&](std::uint32_t list, std::uint32_t, BandSide, std::uint32_t) { ++counts[list]; });
    std::array<std::uint32_t, kLists> end{};  // of the part of each list that is filled
    std::uint32_t total = 0;
    for (std::uint32_t list = 0; list < kLists; ++list) {
      end[list] = total;
      total += counts[list];
    }
    KVPLEAT_ASSERT(spill.size == 0 && total <= spill.capacity);
    spill.size = total;
    std::array<std::uint32_t, kLists> begin = end;
    each([&](std::uint32_t list, std::uint32_t index, BandSide at, std::uint32_t code) {
      const auto entry =
          static_cast<std::uint8_t>(index << 2 | (at.band == Band::kOuter ? 2u : 0u) | code >> 4);
      // Values come channel block by channel block, group by group: each to its place.
      std::uint32_t place = end[list]++;
      for (; place > begin[list] && spill.data[place - 1] > entry; --place)
        spill.data[place] = spill.data[place - 1];
      spill.data[place] = entry;
    });
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
