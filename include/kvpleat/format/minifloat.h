// Named formats of FP8 and FP4 values.
//
//   name         bits per element    D = 64  D = 128   bytes of a block at D = 64
//   Fp8E4m3      8                   8       8         4096 (a scale per head in the profile)
//   Fp8E5m2      8                   8       8         4096
//   Fp8E4m3Token 8 + 16/D            8.25    8.125     4224 = 4096 codes + 128
//   Fp8E5m2Token 8 + 16/D            8.25    8.125     4224
//   Mxfp4        4 + 8/32            4.25    4.25      2176 = 2048 codes + 128
//   Mxfp4Search  4 + 8/32            4.25    4.25      2176
//   Nvfp4        4 + 8/16            4.5     4.5       2304 = 2048 codes + 256
//   Nvfp4Plain   4 + 8/16            4.5     4.5       2304
#pragma once

#include <cstdint>

#include "kvpleat/codec/dense.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/minifloat.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/minifloat.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/transform/no_transform.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

template <std::uint32_t kDim, class Element, class Side, std::uint32_t kGroup = kWholeHead,
          ScaleSearch kSearch = ScaleSearch::kRule>
using Minifloat = BlockFormat<kDim, NoTransform, NoSplit,
                              MinifloatQuant<Element, Side, kGroup, kSearch>, DenseCodec>;

// A scale per head: profile of one float, 1 without one. Values beyond 448 (57344) times the scale
// saturate and are counted.
template <std::uint32_t kDim>
using Fp8E4m3 = Minifloat<kDim, kvpleat::Fp8E4m3, NoSide>;
template <std::uint32_t kDim>
using Fp8E5m2 = Minifloat<kDim, kvpleat::Fp8E5m2, NoSide>;
// A half scale per token and head.
template <std::uint32_t kDim>
using Fp8E4m3Token = Minifloat<kDim, kvpleat::Fp8E4m3, Half>;
template <std::uint32_t kDim>
using Fp8E5m2Token = Minifloat<kDim, kvpleat::Fp8E5m2, Half>;

// Source: OCP Microscaling Formats 1.0. Search: the power of two that loses least.
template <std::uint32_t kDim>
using Mxfp4 = Minifloat<kDim, Fp4E2m1, E8m0, 32>;
template <std::uint32_t kDim>
using Mxfp4Search = Minifloat<kDim, Fp4E2m1, E8m0, 32, ScaleSearch::kNeighbours>;

// Groups of 16, scales e4m3 below a float scale of the head: profile of one float, 1 without one,
// max|x| / (6 * 448) of the calibration data by the usual rule. The block scale is the one that
// loses least; Plain: max|x| / 6, rounded.
template <std::uint32_t kDim>
using Nvfp4 = Minifloat<kDim, Fp4E2m1, kvpleat::Fp8E4m3, 16, ScaleSearch::kNeighbours>;
template <std::uint32_t kDim>
using Nvfp4Plain = Minifloat<kDim, Fp4E2m1, kvpleat::Fp8E4m3, 16>;

static_assert(Fp8E4m3<64>::kBlockBytes == 4096 && Fp8E5m2<64>::kBlockBytes == 4096);
static_assert(Fp8E4m3Token<64>::kBlockBytes == 4224 && Fp8E5m2Token<64>::kBlockBytes == 4224);
static_assert(Mxfp4<64>::kBlockBytes == 2176 && Mxfp4Search<64>::kBlockBytes == 2176);
static_assert(Nvfp4<64>::kBlockBytes == 2304 && Nvfp4Plain<64>::kBlockBytes == 2304);

}  // namespace formats
}  // namespace kvpleat::inline KVPLEAT_ISA
