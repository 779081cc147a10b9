// DenseCodec: codes in a canonical tile, followed by the side data of the groups. No outliers.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kvpleat/codec/renewed.h"
#include "kvpleat/codec/tile.h"
#include "kvpleat/core/axis.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

// A tile of kBlockTokens x head_dim codes and the stored scales of its groups. Scale is kFields
// values of Side. D: head_dim rounded up to 16, G: groups of a token, B: kBlockTokens.
// After the codes:
//   groups along channels, key:    [B/16][G][kFields][16 tokens] Side    step[16], low[16]
//   groups along channels, value:  [G][kFields][B tokens] Side
//   groups along tokens, both:     [B/kGroup][kFields][D] Side
// Bits per element: kBits + 8 * kFields * sizeof(Side) / group length, where head_dim fills the
// lines of the tile (a multiple of 16; of 32 for keys with a 1-bit plane).
template <std::uint32_t kHeadDim, Quantizer Quant, Role kRole>
struct DenseLayout {
  static_assert(!TableQuantizer<Quant>,
                "kvpleat: RenewedScale and SealedScale have a layout of "
                "their own: use TileLayoutOf");
  using Scale = typename Quant::Scale;
  using Side = typename Quant::Side;
  static constexpr std::uint32_t kDim = kHeadDim;
  static constexpr bool kAlongTokens = Quant::kAxis == Axis::kTokens;
  static constexpr std::uint32_t kSeal = kAlongTokens ? Quant::kGroup : 1;
  static constexpr std::uint32_t kBlockTokens = kAlongTokens && Quant::kGroup > 64
                                                    ? round_up(Quant::kGroup, 64u)
                                                    : 64;
  static constexpr std::uint32_t kGroupChannels =
      kAlongTokens ? 1
                   : (Quant::kGroup == kWholeHead || Quant::kGroup > kDim ? kDim : Quant::kGroup);
  static constexpr std::uint32_t kGroups = ceil_div(kDim, kGroupChannels);  // of one token
  // An empty Scale stores nothing.
  static constexpr auto kScaleBytes =
      static_cast<std::uint32_t>(std::is_empty_v<Scale> ? 0 : sizeof(Scale));
  static constexpr std::uint32_t kFields = kScaleBytes / sizeof(Side);
  static_assert(kSeal <= 512, "kvpleat: a group along tokens has at most 512 tokens");
  static_assert(kBlockTokens % kSeal == 0,
                "kvpleat: a group along tokens must divide its block (64, or itself)");
  static_assert(std::is_trivially_copyable_v<Scale> && kScaleBytes == kFields * sizeof(Side),
                "kvpleat: Scale must consist of values of Side and nothing else");

  using Tile = CodeTile<kDim, kBlockTokens, Quant::kBits, kRole>;
  static constexpr std::uint32_t kCodeBytes = Tile::kBytes;
  static constexpr std::uint32_t kSideBytes =
      (kAlongTokens ? kBlockTokens / kSeal * Tile::kPaddedDim : kBlockTokens * kGroups) *
      kScaleBytes;
  static constexpr std::uint32_t kBytes = kCodeBytes + kSideBytes;

  // Byte of field 0 of a group's scale; the next field is `field_stride` further. `group` is a
  // channel if the groups run along tokens.
  static constexpr std::uint32_t scale_at(std::uint32_t slot, std::uint32_t group) {
    constexpr auto kSide = static_cast<std::uint32_t>(sizeof(Side));
    if constexpr (kAlongTokens) {
      return kCodeBytes + (slot / kSeal * kFields * Tile::kPaddedDim + group) * kSide;
    } else if constexpr (kRole == Role::kKey) {
      return kCodeBytes + ((slot / 16 * kGroups + group) * kFields * 16 + slot % 16) * kSide;
    } else {
      return kCodeBytes + (group * kFields * kBlockTokens + slot) * kSide;
    }
  }
  static constexpr std::uint32_t kFieldStride = (kAlongTokens          ? Tile::kPaddedDim
                                                 : kRole == Role::kKey ? 16
                                                                       : kBlockTokens) *
                                                static_cast<std::uint32_t>(sizeof(Side));

  static Scale load_scale(const std::uint8_t* block, std::uint32_t slot, std::uint32_t group) {
    Scale scale{};
    if constexpr (kFields > 0) {
      unsigned char fields[sizeof(Scale)];
      for (std::uint32_t f = 0; f < kFields; ++f) {
        std::memcpy(fields + f * sizeof(Side), block + scale_at(slot, group) + f * kFieldStride,
                    sizeof(Side));
      }
      std::memcpy(&scale, fields, sizeof scale);
    }
    return scale;
  }
  static void store_scale(std::uint8_t* block, std::uint32_t slot, std::uint32_t group,
                          const Scale& scale) {
    if constexpr (kFields == 0) return;
    unsigned char fields[sizeof(Scale)];
    std::memcpy(fields, &scale, sizeof scale);
    for (std::uint32_t f = 0; f < kFields; ++f) {
      std::memcpy(block + scale_at(slot, group) + f * kFieldStride, fields + f * sizeof(Side),
                  sizeof(Side));
    }
  }

  // The statistic of a group, folded in the order of the numeric law: 16 partial statistics by
  // index mod 16, then a fixed pairwise tree. value(i) is member i, kept(i) tells whether it takes
  // part.
  template <class Value, class Kept>
  static typename Quant::Stat fold(const Quant& quant, std::uint32_t n, Value value, Kept kept) {
    typename Quant::Stat partial[16] = {};
    for (std::uint32_t i = 0; i < n; ++i) {
      if (kept(i)) quant.observe(value(i), partial[i % 16]);
    }
    for (std::uint32_t width = 8; width > 0; width /= 2) {
      for (std::uint32_t j = 0; j < width; ++j)
        partial[j] = Quant::merge(partial[j], partial[j + width]);
    }
    return partial[0];
  }

  // The scale that a group is coded with.
  template <class Value, class Kept>
  static Scale choose_scale(const Quant& quant, std::uint32_t n, Value value, Kept kept) {
    const typename Quant::Stat stat = fold(quant, n, value, kept);
    Scale best = quant.scale(stat);
    if constexpr (SearchingQuantizer<Quant>) {
      double lost = static_cast<double>(kInfinity);
      for (std::uint32_t k = 0; k < Quant::kCandidates; ++k) {
        const Scale candidate = quant.candidate(stat, k);
        double partial[16] = {};
        for (std::uint32_t i = 0; i < n; ++i) {
          if (!kept(i)) continue;
          const float error = value(i) - quant.decode(quant.encode(value(i), candidate), candidate);
          partial[i % 16] += static_cast<double>(error) * static_cast<double>(error);
        }
        const double sum = sum_in_tree(partial);
        if (!(sum < lost)) continue;
        lost = sum;
        best = candidate;
      }
    }
    return best;
  }

  // Codes one group: members value(0..n-1) at (slot(i), channel(i)).
  template <class Value, class Kept, class Slot, class Channel>
  static void encode_group(const Quant& quant, std::uint8_t* block, std::uint32_t n,
                           std::uint32_t group, Value value, Kept kept, Slot slot,
                           Channel channel) {
    const Scale scale = choose_scale(quant, n, value, kept);
    if constexpr (RefiningQuantizer<Quant>) {
      typename Quant::Refinement partial[16] = {};
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t code = quant.encode(value(i), scale);
        Tile::put(block, slot(i), channel(i), code);
        if (kept(i)) quant.observe_code(value(i), code, scale, partial[i % 16]);
      }
      for (std::uint32_t width = 8; width > 0; width /= 2) {
        for (std::uint32_t j = 0; j < width; ++j)
          partial[j] = Quant::merge_refinement(partial[j], partial[j + width]);
      }
      store_scale(block, slot(0), group, quant.refine(scale, partial[0]));
    } else {
      for (std::uint32_t i = 0; i < n; ++i)
        Tile::put(block, slot(i), channel(i), quant.encode(value(i), scale));
      store_scale(block, slot(0), group, scale);
    }
  }

  // Codes rows.count tokens from `first` on; count is a multiple of kSeal. kept(token, channel):
  // whether an element takes part in the statistics (an outlier does not; it is coded all the same,
  // clamped).
  template <class Kept>
  static void encode(const Quant& quant, Rows rows, std::uint32_t first, std::uint8_t* block,
                     Kept kept) {
    const auto count = static_cast<std::uint32_t>(rows.count);
    if constexpr (kAlongTokens) {
      for (std::uint32_t t = 0; t < count; t += kSeal) {
        for (std::uint32_t c = 0; c < kDim; ++c) {
          encode_group(
              quant, block, kSeal, c, [&](std::uint32_t i) { return rows[t + i][c]; },
              [&](std::uint32_t i) { return kept(t + i, c); },
              [&](std::uint32_t i) { return first + t + i; }, [&](std::uint32_t) { return c; });
        }
      }
    } else {
      for (std::uint32_t t = 0; t < count; ++t) {
        const float* row = rows[t];
        for (std::uint32_t g = 0; g < kGroups; ++g) {
          const std::uint32_t begin = g * kGroupChannels;
          const std::uint32_t n = lower_of(kGroupChannels, kDim - begin);
          encode_group(
              quant, block, n, g, [&](std::uint32_t i) { return row[begin + i]; },
              [&](std::uint32_t i) { return kept(t, begin + i); },
              [&](std::uint32_t) { return first + t; }, [&](std::uint32_t i) { return begin + i; });
        }
      }
    }
  }

  static float decode_one(const Quant& quant, const std::uint8_t* block, std::uint32_t slot,
                          std::uint32_t channel) {
    const std::uint32_t group = kAlongTokens ? channel : channel / kGroupChannels;
    return quant.decode(Tile::get(block, slot, channel), load_scale(block, slot, group));
  }
  static void decode(const Quant& quant, const std::uint8_t* block, std::uint32_t slot,
                     MutableRows rows) {
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      float* row = rows[t];
      for (std::uint32_t g = 0; g < kGroups; ++g) {
        const Scale scale = load_scale(block, slot + t, g);
        const std::uint32_t end = lower_of((g + 1) * kGroupChannels, kDim);
        for (std::uint32_t c = g * kGroupChannels; c < end; ++c) {
          row[c] = quant.decode(Tile::get(block, slot + t, c), scale);
        }
      }
    }
  }
  // Zeroes the codes of slots [slot, slot + n) and, where no kept token shares it, their side data.
  static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
    for (std::uint32_t t = slot; t < slot + n; ++t) {
      for (std::uint32_t c = 0; c < kDim; ++c) Tile::put(block, t, c, 0);
      if (t % kSeal == 0) {
        for (std::uint32_t g = 0; g < kGroups; ++g) store_scale(block, t, g, Scale{});
      }
    }
  }
};

namespace dense {

// Counts what a scale that the profile fixes is too small for, of quantizers that have one.
// kept(token, channel): whether the dense codes stand for the element.
template <std::uint32_t kDim, class Quant, class Kept>
void count_saturated(const Quant& quant, Rows rows, Kept kept, EncodeCounters& counters) {
  if constexpr (requires { quant.saturates(0.0f); }) {
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      for (std::uint32_t c = 0; c < kDim; ++c)
        counters.saturated += kept(t, c) && quant.saturates(rows[t][c]) ? 1u : 0u;
    }
  }
}

template <std::uint32_t kDim, class Quant, Role kRole>
struct ChooseLayout {
  using Type = DenseLayout<kDim, Quant, kRole>;
};
template <std::uint32_t kDim, TableQuantizer Quant, Role kRole>
struct ChooseLayout<kDim, Quant, kRole> {
  using Type = RenewedLayout<kDim, Quant, kRole>;
};

}  // namespace dense

// The tile and side data of a quantizer: a step per group, or a table of steps.
template <std::uint32_t kDim, class Quant, Role kRole>
using TileLayoutOf = typename dense::ChooseLayout<kDim, Quant, kRole>::Type;

struct DenseCodec {
  static constexpr auto kId = Text("codec=dense");
  static constexpr bool kSpills = false;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (RowQuantizer<Quant>) {
      return Refusal::kRowQuantizerNeedsRows;
    } else if constexpr (!Quantizer<Quant>) {
      return Refusal::kGroupShiftNeedsFused;
    } else if constexpr (Split::kMaxOutliers > 0) {
      return Refusal::kDenseTakesNoOutliers;
    } else {
      return composition::refusal_of_tile<Quant>();
    }
  }

  // The bytes of one block, for BlockFormat.
  template <std::uint32_t kDim, class Split, class Quant, Role kRole>
  struct Layout {
    using Dense = TileLayoutOf<kDim, Quant, kRole>;
    static constexpr bool kHasTable = TableQuantizer<Quant>;
    static constexpr std::uint32_t kBlockTokens = Dense::kBlockTokens;
    static constexpr std::uint32_t kSeal = Dense::kSeal;
    static constexpr std::uint32_t kCodeBytes = Dense::kCodeBytes;
    static constexpr std::uint32_t kSideBytes = Dense::kSideBytes;
    static constexpr std::uint32_t kOutlierBytes = 0;
    static constexpr std::uint32_t kSharedBytes = 0;
    static constexpr std::uint32_t kBlockBytes = Dense::kBytes;
    static constexpr float kLargest = Quant::kLargest;

    static void encode(const Split&, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t*, std::uint8_t* block, SpillWriter&,
                       EncodeCounters& counters) {
      write(quant, rows, slot, block, counters, BlockBytes{});
    }
    static void encode(const Split&, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t*, std::uint8_t* block, SpillWriter&,
                       EncodeCounters& counters, const BlockBytes& previous) requires(kHasTable) {
      write(quant, rows, slot, block, counters, previous);
    }
    template <class Admission>
    static bool admit(const Split&, const Quant& quant, const float* row,
                      Admission& state) requires(kHasTable) {
      return Dense::admit(quant, row, all, state);
    }
    static void decode(const Split&, const Quant& quant, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      Dense::decode(quant, bytes.block, slot, rows);
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      Dense::erase(block, slot, n);
    }

   private:
    static bool all(std::uint32_t, std::uint32_t) { return true; }
    static void write(const Quant& quant, Rows rows, std::uint32_t slot, std::uint8_t* block,
                      EncodeCounters& counters, const BlockBytes& previous) {
      if constexpr (kHasTable) {
        Dense::encode(quant, rows, slot, block, all, previous, counters);
      } else {
        static_cast<void>(previous);
        Dense::encode(quant, rows, slot, block, all);
      }
      counters.values += rows.count * kDim;
      dense::count_saturated<kDim>(quant, rows, all, counters);
    }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
