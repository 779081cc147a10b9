// Named formats: Oaken as published, and each of its policies changed. docs/formats.md gives the
// bytes. All need thresholds (the splitter's profile); o is the share of outliers, H the KV heads.
// Source: Oaken (ISCA 2025).
//
//   name                bits per element                       at o = 0.1, 8 heads of 128
//   Oaken               4 + 8 o + 8/64 + 96/(H D)              5.019  (published: 4.894, no counts)
//   OakenNoShift        the same                               nothing is shifted
//   OakenOuterOnly      the same                               the middle is not shifted
//   OakenOffsetBinary   the same                               outliers as equation 3 says
//   OakenPerHead        4 + 8 o + 8/64 + 96/D                  5.675  ranges of each head
//   OakenAligned        Oaken + 0.22 (D = 128)                 5.240  tokens at multiples of 8 bytes
//   OakenNested         4 + 16 o + 8/64 + 160/(H D)            5.881  2/2/90/3/3
//   OakenNested4        4 + 8 o + 8/64 + 160/(H D)             5.081  2/2/90/3/3, 4-bit outliers
#pragma once

#include <cstdint>

#include "kvpleat/codec/coo_entry.h"
#include "kvpleat/codec/fused.h"
#include "kvpleat/core/config.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/group_shift.h"
#include "kvpleat/split/nested_bands.h"
#include "kvpleat/split/threshold.h"
#include "kvpleat/transform/no_transform.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

template <std::uint32_t kDim, class Split, class Quant, class Codec = FusedCodec>
using OakenOf = BlockFormat<kDim, NoTransform, Split, Quant, Codec>;

template <std::uint32_t kDim>
using Oaken = OakenOf<kDim, ThresholdSplit, GroupShiftQuant<>>;
template <std::uint32_t kDim>
using OakenNoShift = OakenOf<kDim, ThresholdSplit, GroupShiftQuant<ShiftPolicy::kNone>>;
template <std::uint32_t kDim>
using OakenOuterOnly = OakenOf<kDim, ThresholdSplit, GroupShiftQuant<ShiftPolicy::kOuterOnly>>;
template <std::uint32_t kDim>
using OakenOffsetBinary =
    OakenOf<kDim, ThresholdSplit,
            GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary5>>;
// Ranges of each head, in its block: heads may be cached apart (head-scoped lanes, tensor parallel)
// with the same bytes. Costs 96/D - 96/(H D) bits.
template <std::uint32_t kDim>
using OakenPerHead = OakenOf<kDim, ThresholdSplit,
                             GroupShiftQuant<ShiftPolicy::kOuterAndMiddle,
                                             OutlierCode::kSignMagnitude5, ParameterScope::kHead>>;
template <std::uint32_t kDim>
using OakenAligned = OakenOf<kDim, ThresholdSplit, GroupShiftQuant<>,
                             BasicFusedCodec<CooEntry8, SpillAlign::kToken>>;
// Two outer and two inner bands (eight thresholds).
template <std::uint32_t kDim, std::uint32_t kOuter = 2, std::uint32_t kInner = 2>
using OakenNestedOf =
    OakenOf<kDim, NestedBands<kOuter, kInner>,
            GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5,
                            ParameterScope::kLayer, kOuter, kInner>,
            BasicFusedCodec<CooEntry16>>;
template <std::uint32_t kDim>
using OakenNested = OakenNestedOf<kDim>;
// Entries of a byte: the code lies in the nibble alone.
template <std::uint32_t kDim, std::uint32_t kOuter = 2, std::uint32_t kInner = 2>
using OakenNested4Of =
    OakenOf<kDim, NestedBands<kOuter, kInner>,
            GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary4,
                            ParameterScope::kLayer, kOuter, kInner>>;
template <std::uint32_t kDim>
using OakenNested4 = OakenNested4Of<kDim>;

static_assert(Oaken<64>::kBlockBytes == 2112 && Oaken<64>::kSharedBytes == 768);
static_assert(OakenPerHead<64>::kBlockBytes == 2880 && OakenPerHead<64>::kSharedBytes == 0);
static_assert(OakenNested<64>::kBlockBytes == 2112 && OakenNested<64>::kSharedBytes == 1280);

}  // namespace formats
}  // namespace kvpleat::inline KVPLEAT_ISA
