// Formats of KVQuant: keys before RoPE with calibrated channels, values per token, both with
// signposts and about 1 % of outliers in 16 bits. Source: arXiv:2401.18079. Its first tokens in
// fp16 are CacheShape::sinks; calibrate/kvquant.h makes the profiles.
//
//   name           bits per element                   D = 64   D = 128  bytes of a block at D = 64
//   KvQuantKey4    4 + 8/D + 24 * share of outliers   4.125 +  4.0625 + 2112 = 2048 + 64 counts
//   KvQuantKey3    3 + 8/D + 24 * share               3.125 +  3.0625 + 1600
//   KvQuantValue4  4 + 32/D + 8/D + 24 * k/D          5        4.5      2368 = 2048 + 256 + 64, and
//                                                                       192 spilled
//   KvQuantValue3  3 + 32/D + 8/D + 24 * k/D          4        3.5      1856, and 192 spilled
//
// At a share of 1 % keys spill 0.24 bits. k = max(1, D / 100 to the nearest): 1 to D = 149, a share
// of 1.56 % at D = 64 and 0.78 % at D = 128. The published code caps outliers at a fixed number per
// token and takes 16 or 32 bits for an index; here a channel takes 8 and keys have no cap.
#pragma once

#include <cstdint>

#include "kvpleat/codec/sparse.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/nuq.h"
#include "kvpleat/split/range.h"
#include "kvpleat/split/top_k.h"
#include "kvpleat/transform/center.h"
#include "kvpleat/transform/chain.h"
#include "kvpleat/transform/channel_scale.h"
#include "kvpleat/transform/no_transform.h"
#include "kvpleat/transform/unrotate.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

// Outliers of a token's values: 1 % of its channels to the nearest, at least one.
constexpr std::uint32_t kvquant_outliers(std::uint32_t dim) {
  return upper_of(1u, (dim + 50u) / 100u);
}

// Every channel less its offset, over its range. Profile: offset[dim], range[dim] > 0; required.
using ChannelNormal = Chain<Center, ChannelScale>;

// kCap: most outliers of a token's keys, 0: no cap.
template <std::uint32_t kDim, std::uint32_t kBits, std::uint32_t kCap = 0>
using KvQuantKey = BlockFormat<kDim, Chain<Unrotate, ChannelNormal>, RangeSplit<kCap>,
                               NuqQuant<kBits, NuqScale::kNone>, SparseCodec>;
template <std::uint32_t kDim, std::uint32_t kBits>
using KvQuantValue = BlockFormat<kDim, NoTransform, TopKSplit<kvquant_outliers(kDim)>,
                                 NuqQuant<kBits, NuqScale::kRange>, SparseCodec>;

static_assert(KvQuantKey<64, 4>::kBlockBytes == 2112 && KvQuantKey<64, 3>::kBlockBytes == 1600);
static_assert(KvQuantValue<64, 4>::kBlockBytes == 2368 && KvQuantValue<64, 3>::kBlockBytes == 1856);
static_assert(KvQuantKey<128, 4>::kBlockBytes == 64 * 65 &&
              KvQuantValue<128, 4>::kBlockBytes == 64 * 69);

}  // namespace formats
}  // namespace kvpleat::inline KVPLEAT_ISA
