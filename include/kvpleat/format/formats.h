// Named formats for head vectors of D channels. docs/formats.md gives the order of the bytes; the
// sizes are asserted below. Bits hold for D a multiple of 16 (of 32 for Int5 and Int3 keys).
//
//   name              bits per element               D = 64  D = 128   bytes of a block at D = 64
//   F32               32                             32      32        16384
//   F16, BF16         16                             16      16         8192
//   Int8              8 + 32/D                       8.5     8.25       4352 = 4096 codes + 256
//   Int6              6 + 32/D                       6.5     6.25       3328
//   Int5              5 + 32/D                       5.5     5.25       2816
//   Int4              4 + 32/D                       4.5     4.25       2304
//   Int3              3 + 32/D                       3.5     3.25       1792
//   Int2              2 + 32/D                       2.5     2.25       1280
//   Int4G32           4 + 32/32                      5       5          2560
//   Int4Channel       4 + 32/32                      5       5          2560 (groups of 32 tokens)
//   Int2Channel       2 + 32/32                      3       3          1536
//   Int4TopK          4 + 32/D + (4*16 + 16)/D       5.75    4.875      2944 = 2304 + 4 slots
//   Oaken             4 + 8/64 + 8 * outlier share   4.125   4.125      2112 = 2048 + 64 counts
//                       + 96/(heads * D)             (and the two terms; its variants: oaken.h)
//   CenteredRotated4  4 + 32/D                       4.5     4.25       2304
#pragma once

#include <cstdint>

#include "kvpleat/codec/dense.h"
#include "kvpleat/codec/slots.h"
#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/format/adaptive.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/format/ggml.h"
#include "kvpleat/format/kvquant.h"
#include "kvpleat/format/minifloat.h"
#include "kvpleat/format/oaken.h"
#include "kvpleat/format/oaken_resident.h"
#include "kvpleat/format/raw.h"
#include "kvpleat/format/rotated.h"
#include "kvpleat/format/tiered.h"
#include "kvpleat/format/turbo_prod.h"
#include "kvpleat/format/turbo_split.h"
#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/symmetric.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/split/top_k.h"
#include "kvpleat/transform/center.h"
#include "kvpleat/transform/chain.h"
#include "kvpleat/transform/hadamard.h"
#include "kvpleat/transform/no_transform.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

template <std::uint32_t kDim>
using F32 = RawFormat<kDim, float>;
template <std::uint32_t kDim>
using F16 = RawFormat<kDim, Half>;
template <std::uint32_t kDim>
using BF16 = RawFormat<kDim, BFloat16>;

// Any quantizer on plain rows.
template <std::uint32_t kDim, class Quant>
using Dense = BlockFormat<kDim, NoTransform, NoSplit, Quant, DenseCodec>;

// Groups of kGroup channels of one token; kWholeHead: the head vector.
template <std::uint32_t kDim, std::uint32_t kBits, std::uint32_t kGroup = kWholeHead>
using Int = Dense<kDim, AffineQuant<kBits, kGroup>>;
template <std::uint32_t kDim>
using Int8 = Int<kDim, 8>;
template <std::uint32_t kDim>
using Int6 = Int<kDim, 6>;
template <std::uint32_t kDim>
using Int5 = Int<kDim, 5>;
template <std::uint32_t kDim>
using Int4 = Int<kDim, 4>;
template <std::uint32_t kDim>
using Int3 = Int<kDim, 3>;
template <std::uint32_t kDim>
using Int2 = Int<kDim, 2>;
template <std::uint32_t kDim>
using Int4G32 = Int<kDim, 4, 32>;

// Groups of 32 tokens of one channel.
template <std::uint32_t kDim, std::uint32_t kBits, std::uint32_t kTokens = 32>
using IntChannel = Dense<kDim, AffineQuant<kBits, kTokens, Axis::kTokens>>;
template <std::uint32_t kDim>
using Int4Channel = IntChannel<kDim, 4>;
template <std::uint32_t kDim>
using Int2Channel = IntChannel<kDim, 2>;

// The four largest values of each head vector apart.
template <std::uint32_t kDim>
using Int4TopK = BlockFormat<kDim, NoTransform, TopKSplit<4>, AffineQuant<4>, SlotCodec>;

// Keys: phase-centred, then rotated. Values: rotated.
template <std::uint32_t kDim, std::uint32_t kBits>
using CenteredRotatedKey = BlockFormat<kDim, Chain<PhaseCenter, RandomHadamard<>>, NoSplit,
                                       AffineQuant<kBits>, DenseCodec>;
template <std::uint32_t kDim, std::uint32_t kBits>
using RotatedValue = BlockFormat<kDim, RandomHadamard<>, NoSplit, AffineQuant<kBits>, DenseCodec>;

static_assert(F32<64>::kBlockBytes == 16384 && F16<64>::kBlockBytes == 8192 &&
              BF16<64>::kBlockBytes == 8192);
static_assert(Int8<64>::kBlockBytes == 4352 && Int6<64>::kBlockBytes == 3328 &&
              Int5<64>::kBlockBytes == 2816);
static_assert(Int4<64>::kBlockBytes == 2304 && Int3<64>::kBlockBytes == 1792 &&
              Int2<64>::kBlockBytes == 1280);
static_assert(Int4G32<64>::kBlockBytes == 2560 && Int4Channel<64>::kBlockBytes == 2560);
static_assert(Int2Channel<64>::kBlockBytes == 1536 && Int4TopK<64>::kBlockBytes == 2944);
static_assert(CenteredRotatedKey<64, 4>::kBlockBytes == 2304 &&
              RotatedValue<64, 4>::kBlockBytes == 2304);
static_assert(Int4<128>::kBlockBytes == 64 * 68 && Int8<128>::kBlockBytes == 64 * 132);

}  // namespace formats
}  // namespace kvpleat::inline KVPLEAT_ISA
