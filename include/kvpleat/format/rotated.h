// Named formats that rotate a head vector and code its channels with a Lloyd-Max codebook: Google's
// TurboQuant in its MSE variant, and our own. b bits, 1 to 6.
//
//   name                        bits per element   D = 64   D = 128   a block, b = 4, D = 64
//   TurboQuant<D, b>            b + 16/D           b + .25  b + .125  2176 = 2048 + 128
//   CodebookKey, CodebookValue  b + 16/D           b + .25  b + .125  2176 = 2048 + 128
//   BalancedKey, BalancedValue  b + 8/D + 8/D      b + .25  b + .125  2176 = 2048 + 64 + 64
//   RotatedBook<D, b, ...>      b + 8 * sizeof(Side)/D (+ 8/D, + slots)
//
// The sizes are asserted by the test of this header, not here: a codebook is
// solved where it is used.
#pragma once

#include <cstdint>

#include "kvpleat/codec/dense.h"
#include "kvpleat/codec/direction.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/log_scale.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/codebook.h"
#include "kvpleat/quant/lloyd_max.h"
#include "kvpleat/split/direction.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/transform/balance.h"
#include "kvpleat/transform/center.h"
#include "kvpleat/transform/chain.h"
#include "kvpleat/transform/hadamard.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

// Any transform that ends in a rotation, the codebook of its law, a scale per token. Variants:
//   Chain<Center, RandomHadamard<>>     one mean vector instead of the phase-centred one
//   RandomHadamard<>                    no centring
//   Side LogScale8                      b + 8/D bits
//   TopKSplit<4>, SlotCodec             four inline outliers of the rotated row, + 80/D bits
template <std::uint32_t kDim, std::uint32_t kBits, class Transform, ScalePolicy kPolicy,
          class Side = Half, class Split = NoSplit, class Codec = DenseCodec>
using RotatedBook = BlockFormat<kDim, Transform, Split,
                                CodebookQuant<kBits, SphereBook<kDim>, kPolicy, Side>, Codec>;

// As published: rotated, exact-sphere codebook, the norm. Source: arXiv:2504.19874, algorithm 1.
template <std::uint32_t kDim, std::uint32_t kBits>
using TurboQuant = RotatedBook<kDim, kBits, RandomHadamard<>, ScalePolicy::kNorm>;

// Keys phase-centred, with the unbiased scale; values with the least-squares scale.
template <std::uint32_t kDim, std::uint32_t kBits>
using CodebookKey =
    RotatedBook<kDim, kBits, Chain<PhaseCenter, RandomHadamard<>>, ScalePolicy::kUnbiased>;
template <std::uint32_t kDim, std::uint32_t kBits>
using CodebookValue = RotatedBook<kDim, kBits, RandomHadamard<>, ScalePolicy::kLeastSquares>;

// Ours: the same at the same number of bits with the scale in one byte, and the byte that this
// saves for one direction of the row. Channels are balanced before the rotation. All three profiles
// come from calibrate/rotated.h; without them rows are rotated only, and a coded magnitude may not
// exceed kLargest (about 110 at 4 bits and D = 64), since LogScale8 is made for rows near RMS 1.
template <std::uint32_t kDim, std::uint32_t kBits>
using BalancedKey =
    RotatedBook<kDim, kBits, Chain<PhaseCenter, Chain<Balance, RandomHadamard<>>>,
                ScalePolicy::kUnbiased, LogScale8, DirectionSplit<kDim>, DirectionCodec>;
template <std::uint32_t kDim, std::uint32_t kBits>
using BalancedValue =
    RotatedBook<kDim, kBits, Chain<Balance, RandomHadamard<>>, ScalePolicy::kLeastSquares,
                LogScale8, DirectionSplit<kDim>, DirectionCodec>;

}  // namespace formats
}  // namespace kvpleat::inline KVPLEAT_ISA
