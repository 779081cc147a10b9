// Formats of the adaptive cache: a head vector in 2, 4 or 8 bits with one scale (16 bits: F16).
//
//   name          bits per element    D = 64  D = 128   bytes of a block at D = 64
//   Adaptive2     2 + 16/D            2.25    2.125     1152 = 1024 codes + 128
//   Adaptive4     4 + 16/D            4.25    4.125     2176 = 2048 + 128
//   Adaptive8     8 + 32/D            8.5     8.25      4352 = 4096 + 256
#pragma once

#include <cstdint>

#include "kvpleat/codec/dense.h"
#include "kvpleat/core/config.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/mid_rise.h"
#include "kvpleat/quant/symmetric.h"
#include "kvpleat/quant/zero_point.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/transform/no_transform.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

// kTransform: the key stage (NoTransform: as appended; PhaseCenter: the mean before the rotation
// taken out).
template <std::uint32_t kDim, class Transform = NoTransform>
using AdaptiveBits2 = BlockFormat<kDim, Transform, NoSplit, MidRiseQuant<2>, DenseCodec>;
template <std::uint32_t kDim, class Transform = NoTransform>
using AdaptiveBits4 = BlockFormat<kDim, Transform, NoSplit, SymmetricQuant<4>, DenseCodec>;
template <std::uint32_t kDim, class Transform = NoTransform>
using AdaptiveBits8 = BlockFormat<kDim, Transform, NoSplit, ZeroPointQuant<8>, DenseCodec>;
template <std::uint32_t kDim>
using Adaptive2 = AdaptiveBits2<kDim>;
template <std::uint32_t kDim>
using Adaptive4 = AdaptiveBits4<kDim>;
template <std::uint32_t kDim>
using Adaptive8 = AdaptiveBits8<kDim>;

static_assert(Adaptive2<64>::kBlockBytes == 1024 + 128 && Adaptive4<64>::kBlockBytes == 2048 + 128);
static_assert(Adaptive8<64>::kBlockBytes == 4096 + 256 && Adaptive8<128>::kBlockBytes == 64 * 132);

}  // namespace formats
}  // namespace kvpleat::inline KVPLEAT_ISA
