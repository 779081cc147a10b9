// Oaken in resident order, and the history of its outlier entries. All need thresholds
// (ThresholdSplit's profile). o = share of outliers, H = KV heads:
//
//   name         bits per element                   o = 0.10, H D = 1024   block at D = 64, bytes
//   Oaken        4 + 1/8 + 8 o + 96/(H D)             5.02                   2112 (published)
//   OakenJds16   4 + 1/8 + 16 o + 96/(H D)            5.82                   2112, K4 or V4 tile
//   Oaken2_96_2  the same, with o = 0.04              4.86
//   OakenCoo12   4 + 1/8 + 12 o + 96/(H D) + p        5.42 + p               2112
//   OakenCoo23   4 + 1/8 + 24 o + 96/(H D)            6.62                   2112
// p: 4 bits for each token and head with an odd number of outliers, about 2 / D.
#pragma once

#include <cstdint>

#include "kvpleat/codec/coo.h"
#include "kvpleat/codec/fused.h"
#include "kvpleat/codec/jagged.h"
#include "kvpleat/codec/repack.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/role.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/group_shift.h"
#include "kvpleat/split/threshold.h"
#include "kvpleat/transform/no_transform.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

// Oaken's bytes in the order that kernels read (codec/jagged.h), with a delta beside each outlier.
// Decodes to the same values, bit for bit.
template <std::uint32_t kDim>
using OakenJds16 = BlockFormat<kDim, NoTransform, ThresholdSplit, GroupShiftQuant<>, JaggedCodec>;

// The same for thresholds of BandShares{20000, 20000} (calibrate/thresholds.h): 2 % outer, 96 %
// middle, 2 % inner.
template <std::uint32_t kDim>
using Oaken2_96_2 = OakenJds16<kDim>;

// Outliers beside the dense codes: coded in 12 bits, or as values in 24.
template <std::uint32_t kDim>
using OakenCoo12 = BlockFormat<kDim, NoTransform, ThresholdSplit, GroupShiftQuant<>, CooCodec<12>>;
template <std::uint32_t kDim>
using OakenCoo23 = BlockFormat<kDim, NoTransform, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>>;

static_assert(OakenJds16<64>::kBlockBytes == 2112 && OakenJds16<128>::kBlockBytes == 4224);
static_assert(OakenJds16<64>::As<Role::kValue>::kBlockBytes == 2112);
static_assert(OakenCoo12<64>::kBlockBytes == 2112 && OakenCoo23<64>::kBlockBytes == 2112);

}  // namespace formats

// One block of Oaken (published bytes, or the head-scoped and other policies of it) in resident
// order, or the reverse: codec/repack.h. Formats differ in the codec only; `from` is bound.
template <std::uint32_t kDim, class Transform, class Split, class Quant, Role kRole>
void repack(const BlockFormat<kDim, Transform, Split, Quant, FusedCodec, kRole>& from,
            const BlockBytes& published, std::uint8_t* block, SpillWriter& spill) {
  FusedRepack<kDim, Split, Quant, kRole>::to_jagged(from.split, published, block, spill);
}
template <std::uint32_t kDim, class Transform, class Split, class Quant, Role kRole>
void repack(const BlockFormat<kDim, Transform, Split, Quant, JaggedCodec, kRole>&,
            const BlockBytes& jagged, std::uint8_t* block, SpillWriter& spill) {
  FusedRepack<kDim, Split, Quant, kRole>::to_published(jagged, block, spill);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
