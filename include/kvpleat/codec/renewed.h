// RenewedLayout: a tile of codes whose steps hold from one slot to the next entry of a table. What
// DenseCodec and SlotCodec use for RenewedScale and SealedScale.
#pragma once

#include <cstdint>

#include "kvpleat/codec/tile.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

// A quantizer whose steps lie in such a table.
template <class Q>
concept TableQuantizer = Quantizer<Q> && requires(const Q quant, const typename Q::Scale scale) {
  { Q::kEntries } -> std::convertible_to<std::uint32_t>;
  { Q::kSealed } -> std::convertible_to<bool>;
  { Q::kRefuses } -> std::convertible_to<bool>;
  { Q::kZero } -> std::convertible_to<std::uint32_t>;
  { quant.opened(typename Q::Stat{}) } -> std::same_as<typename Q::Scale>;
  { Q::range(scale) } -> std::same_as<float>;
};

// B = kBlockTokens = the quantizer's tokens, N = its entries. After the codes of the tile:
//   step   [N] binary16    0 in an unused entry; entries in use come first
//   start  [N] one byte    the slot from which the step holds, ascending; 0 in an unused entry
// Slots before the first entry have step 0: all that came so far is zero, or so small that the step
// is zero in float (below 2^-143 at 8 bits). An element that is kept apart (an outlier) has the code
// of zero, so that what it was leaves no trace in what the next block takes over.
// Bits per element: kBits + 24 * N / (B * head_dim): 0.023 of table for 8 entries at head_dim 64.
template <std::uint32_t kHeadDim, class Quant, Role kRole>
struct RenewedLayout {
  using Scale = typename Quant::Scale;
  using Side = typename Quant::Side;
  static constexpr std::uint32_t kDim = kHeadDim;
  static constexpr bool kAppendOnly = !Quant::kSealed;
  static constexpr bool kReadsPrevious = !Quant::kSealed;
  static constexpr std::uint32_t kBlockTokens = Quant::kGroup;
  static constexpr std::uint32_t kSeal = Quant::kSealed ? kBlockTokens : 1;
  static constexpr std::uint32_t kEntries = Quant::kEntries;

  using Tile = CodeTile<kDim, kBlockTokens, Quant::kBits, kRole>;
  static constexpr std::uint32_t kCodeBytes = Tile::kBytes;
  static constexpr std::uint32_t kSideBytes = kEntries * 3;
  static constexpr std::uint32_t kBytes = kCodeBytes + kSideBytes;

  static constexpr std::uint32_t step_at(std::uint32_t entry) { return kCodeBytes + 2 * entry; }
  static constexpr std::uint32_t start_at(std::uint32_t entry) {
    return kCodeBytes + 2 * kEntries + entry;
  }
  static Scale entry(const std::uint8_t* block, std::uint32_t index) {
    return {load<Side>(block + step_at(index))};
  }
  static std::uint32_t entries(const std::uint8_t* block) {
    std::uint32_t n = 0;
    while (n < kEntries && to_float(entry(block, n).step) > 0.0f) ++n;
    return n;
  }
  // The step in force at a slot.
  static Scale scale_of(const std::uint8_t* block, std::uint32_t slot) {
    Scale found{};
    for (std::uint32_t i = 0; i < entries(block) && block[start_at(i)] <= slot; ++i)
      found = entry(block, i);
    return found;
  }
  // The largest magnitude that the dense codes of slots [0, n) stand for.
  static float largest_stored(const std::uint8_t* block, std::uint32_t n) {
    const Quant quant;
    float largest = 0.0f;
    for (std::uint32_t t = 0; t < n; ++t) {
      const Scale scale = scale_of(block, t);
      for (std::uint32_t c = 0; c < kDim; ++c)
        largest = upper_of(largest, magnitude(quant.decode(Tile::get(block, t, c), scale)));
    }
    return largest;
  }

  // Codes rows.count tokens from `first` on, a multiple of kSeal. kept(token, channel): whether an
  // element takes part. previous: the block before; its block is null if there is none.
  template <class Kept>
  static void encode(const Quant& quant, Rows rows, std::uint32_t first, std::uint8_t* block,
                     Kept kept, const BlockBytes& previous, EncodeCounters& counters) {
    for (std::uint32_t t = 0; t < rows.count; t += kSeal) {
      const std::uint32_t slot = first + t;
      typename Quant::Stat stat;
      for (std::uint32_t i = 0; i < kSeal; ++i) stat = fold(quant, rows[t + i], t + i, kept, stat);
      Scale scale = scale_of(block, slot);
      if (slot == 0) {
        if (!Quant::kSealed && previous.block != nullptr) {
          typename Quant::Stat before{};
          before.largest = largest_stored(previous.block, kBlockTokens);
          stat = Quant::merge(stat, before);
        }
        scale = quant.scale(stat);
        write_entry(block, 0, 0, scale);
      } else if (stat.largest > Quant::range(scale)) {
        const Scale opened = quant.opened(stat);
        if (const std::uint32_t n = entries(block); n < kEntries && to_float(opened.step) > 0.0f) {
          scale = opened;
          write_entry(block, n, slot, scale);
        }
      }
      for (std::uint32_t i = 0; i < kSeal; ++i) {
        for (std::uint32_t c = 0; c < kDim; ++c) {
          const bool dense = kept(t + i, c);
          const float x = rows[t + i][c];
          Tile::put(block, slot + i, c, dense ? quant.encode(x, scale) : Quant::kZero);
          counters.clipped += dense && magnitude(x) > Quant::range(scale) ? 1u : 0u;
        }
      }
    }
  }

  static float decode_one(const Quant& quant, const std::uint8_t* block, std::uint32_t slot,
                          std::uint32_t channel) {
    return quant.decode(Tile::get(block, slot, channel), scale_of(block, slot));
  }
  static void decode(const Quant& quant, const std::uint8_t* block, std::uint32_t slot,
                     MutableRows rows) {
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      const Scale scale = scale_of(block, slot + t);
      for (std::uint32_t c = 0; c < kDim; ++c)
        rows[t][c] = quant.decode(Tile::get(block, slot + t, c), scale);
    }
  }
  // Zeroes slots [slot, slot + n), the last ones written, and the entries that start there.
  static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
    for (std::uint32_t t = slot; t < slot + n; ++t) {
      for (std::uint32_t c = 0; c < kDim; ++c) Tile::put(block, t, c, 0);
    }
    for (std::uint32_t i = entries(block); i-- > 0;) {
      const std::uint32_t start = block[start_at(i)];
      if (start >= slot && start < slot + n) write_entry(block, i, 0, Scale{});
    }
  }

  // What decides whether a row is taken: followed ahead of encoding.
  struct Admission {
    Scale scale{};
    std::uint32_t slot = 0;
    std::uint32_t entries = 0;
    float largest = 0.0f;  // stored in this block so far; at slot 0: in the one before
  };
  // After slots [0, slot) of a block; slot 0: `block` is the block before, or null.
  static Admission admission(const std::uint8_t* block, std::uint32_t slot) {
    Admission state;
    state.slot = slot;
    if (block == nullptr) return state;
    state.largest = largest_stored(block, slot == 0 ? kBlockTokens : slot);
    // What a truncated block shared with another cache holds behind `slot` is not ours.
    for (std::uint32_t i = 0; i < entries(block) && block[start_at(i)] < slot; ++i) {
      state.scale = entry(block, i);
      state.entries = i + 1;
    }
    return state;
  }
  template <class Kept>
  static bool admit(const Quant& quant, const float* row, Kept kept, Admission& state) {
    typename Quant::Stat stat = fold(quant, row, 0, kept, {});
    const float own = stat.largest;
    if (state.slot == 0) {
      stat.largest = upper_of(stat.largest, state.largest);
      state.scale = quant.scale(stat);
      state.entries = to_float(state.scale.step) > 0.0f ? 1u : 0u;
      state.largest = 0.0f;
    } else if (own > Quant::range(state.scale)) {
      if (state.entries == kEntries) return false;
      state.scale = quant.opened(stat);
      state.entries += to_float(state.scale.step) > 0.0f ? 1u : 0u;
    }
    // Rounding is monotonic: the largest magnitude becomes the largest code.
    const float stored = magnitude(quant.decode(quant.encode(own, state.scale), state.scale));
    state.largest = upper_of(state.largest, stored);
    state.slot = state.slot + 1 == kBlockTokens ? 0 : state.slot + 1;
    return true;
  }

 private:
  // The statistic of what stays in a row. A maximum: the order does not matter.
  template <class Kept>
  static typename Quant::Stat fold(const Quant& quant, const float* row, std::uint32_t token,
                                   Kept kept, typename Quant::Stat stat) {
    for (std::uint32_t c = 0; c < kDim; ++c) {
      if (kept(token, c)) quant.observe(row[c], stat);
    }
    return stat;
  }
  // A step of zero is no entry.
  static void write_entry(std::uint8_t* block, std::uint32_t index, std::uint32_t start,
                          const Scale& scale) {
    store(block + step_at(index), scale.step);
    block[start_at(index)] = static_cast<std::uint8_t>(start);
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
