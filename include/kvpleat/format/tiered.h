// Formats of the tiered cache: 8 bits with renewed scales, 4 bits in a hash table; and what shares
// of heads in three tiers cost.
//
//   name          bits per element                     D = 64  D = 128   bytes of a block at D = 64
//   Renewed8      8 + 1.5/D                            8.023   8.012     8216 (128 tokens)
//   Sealed8       8 + 3/(16 D)                         8.003   8.001     8195 (128 tokens, sealed)
//   Tiered8(TopK) 8 + 1.5/D + 80/D                     9.273   8.637     9496 (128 tokens)
//   Sealed8Split  8 + 3/(16 D) + 80/D                  9.253   8.626     9475 (128 tokens, sealed)
//   HashSparse    S (4 + K) / (64 D) + 16/D            4.25    4.375     2176 = 2048 entries + 128
//   HashSparse2   the same, half as many entries       2.25    2.25      1152
//   KeptList      (10 k + 16)/D, k = 25 (11, 49 at 128)  4.25  4.375     2176
//   KeptBitmap    1 + (4 k + 16)/D, k = 48 (64 at 128)   4.25  3.125     2176
#pragma once

#include <bit>
#include <cstdint>

#include "kvpleat/codec/dense.h"
#include "kvpleat/codec/hash_sparse.h"
#include "kvpleat/codec/kept.h"
#include "kvpleat/codec/slots.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/renewed.h"
#include "kvpleat/quant/symmetric.h"
#include "kvpleat/split/mad.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/split/top_k.h"
#include "kvpleat/transform/no_transform.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

// One step per head and 128 tokens, renewed as tokens come; nothing is kept apart.
template <std::uint32_t kDim, RenewOverflow kOverflow = RenewOverflow::kClip>
using Renewed =
    BlockFormat<kDim, NoTransform, NoSplit, RenewedScale<8, 128, kOverflow>, DenseCodec>;
template <std::uint32_t kDim>
using Renewed8 = Renewed<kDim>;
// One exact step per head and 128 tokens, which wait for each other as open rows.
template <std::uint32_t kDim>
using Sealed8 = BlockFormat<kDim, NoTransform, NoSplit, SealedScale<8, 128>, DenseCodec>;
// The middle tier: renewed steps, up to four outliers of a head vector in slots.
template <std::uint32_t kDim, class Split>
using RenewedSplit = BlockFormat<kDim, NoTransform, Split, RenewedScale<8, 128>, SlotCodec>;
template <std::uint32_t kDim>
using Tiered8 = RenewedSplit<kDim, MadSplit<4>>;
// The largest four in slots, outliers or not. On Gaussian data half the squared error, since the
// slots are always used; but the slots of a token share a scale, so beside a value of 40 the other
// three are kept three times as coarsely.
template <std::uint32_t kDim>
using Tiered8TopK = RenewedSplit<kDim, TopKSplit<4>>;
template <std::uint32_t kDim>
using Sealed8Split = BlockFormat<kDim, NoTransform, MadSplit<4>, SealedScale<8, 128>, SlotCodec>;

// The largest kKept elements of each head vector in a hash table.
template <std::uint32_t kDim, std::uint32_t kKept>
using Hash =
    BlockFormat<kDim, NoTransform, TopKSplit<kKept>, SymmetricQuant<4>, kvpleat::HashSparse<>>;
// As many as fill a table of 16 * D (8 * D) slots to four fifths, D a power of two: one in five
// (one in ten) of the head vector.
constexpr std::uint32_t hash_kept(std::uint32_t dim, std::uint32_t one_in) {
  return lower_of(upper_of(std::bit_floor(dim) / one_in, 1u), 64u);
}
template <std::uint32_t kDim>
using HashSparse = Hash<kDim, hash_kept(kDim, 5)>;
template <std::uint32_t kDim>
using HashSparse2 = Hash<kDim, hash_kept(kDim, 10)>;

// The largest elements by a list of channels or behind a bitmap: as many as fit the bytes of
// HashSparse, at most 64.
template <std::uint32_t kDim, std::uint32_t kKept, KeptIndex kIndex>
using Kept = BlockFormat<kDim, NoTransform, TopKSplit<kKept>, SymmetricQuant<4>, KeptCodec<kIndex>>;
template <std::uint32_t kDim, KeptIndex kIndex>
constexpr std::uint32_t kept_count() {
  const std::uint32_t bytes = HashSparse<kDim>::kBlockBytes / 64 - 2;
  const std::uint32_t width = kDim == 1 ? 1 : static_cast<std::uint32_t>(std::bit_width(kDim - 1u));
  const auto fits = [&](std::uint32_t k) {
    const std::uint32_t index =
        kIndex == KeptIndex::kList ? ceil_div(k * width, 8u) : ceil_div(kDim, 8u);
    return index + ceil_div(k, 2u) <= bytes;
  };
  std::uint32_t k = 1;
  while (k < lower_of(kDim, 64u) && fits(k + 1)) ++k;
  return k;
}
template <std::uint32_t kDim>
using KeptList = Kept<kDim, kept_count<kDim, KeptIndex::kList>(), KeptIndex::kList>;
template <std::uint32_t kDim>
using KeptBitmap = Kept<kDim, kept_count<kDim, KeptIndex::kBitmap>(), KeptIndex::kBitmap>;

static_assert(kept_count<64, KeptIndex::kList>() == 25 &&
              kept_count<64, KeptIndex::kBitmap>() == 48);
static_assert(KeptList<64>::kBlockBytes == 64 * 34 && KeptBitmap<64>::kBlockBytes == 64 * 34);
static_assert(KeptList<128>::kBlockBytes == 64 * 70 && KeptBitmap<128>::kBlockBytes == 64 * 50);

static_assert(Renewed8<64>::kBlockBytes == 128 * 64 + 24 &&
              Sealed8<64>::kBlockBytes == 128 * 64 + 3);
static_assert(Tiered8<64>::kBlockBytes == 128 * 64 + 24 + 128 * 10);
static_assert(hash_kept(64, 5) == 12 && hash_kept(128, 5) == 25);
static_assert(HashSparse<64>::kBlockBytes == 2 * 1024 + 128);
static_assert(HashSparse<128>::kBlockBytes == 2 * 2048 + 2048 / 8 + 128);
static_assert(HashSparse2<64>::kBlockBytes == 2 * 512 + 128);
static_assert(HashSparse2<128>::kBlockBytes == 2 * 1024 + 1024 / 8 + 128);

}  // namespace formats

// Shares of heads in three tiers, in percent, and the widths of the tiers as a publication states
// them: without scales, slots and slack.
struct TierShares {
  std::uint32_t top = 10;
  std::uint32_t middle = 60;
  std::uint32_t bottom = 30;

  [[nodiscard]] constexpr double literal_bits() const {
    return (16.0 * top + 8.0 * middle + 4.0 * bottom) / 100.0;
  }
  // Against 16 bits, with the same sharing of heads.
  [[nodiscard]] constexpr double literal_ratio() const { return 16.0 / literal_bits(); }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
