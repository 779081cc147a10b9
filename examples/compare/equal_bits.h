// Caches that --equal_bits shows beside the presets: one policy changed at a time.
#pragma once

#include <cstdint>

#include "kvpleat/cache/presets.h"
#include "kvpleat/format/formats.h"

namespace compare::equal_bits {

// Three bands with a scale each, but no value is shifted by its threshold.
template <std::uint32_t kDim>
using NoShiftFormat = kvpleat::BlockFormat<kDim, kvpleat::NoTransform, kvpleat::ThresholdSplit,
                                           kvpleat::GroupShiftQuant<kvpleat::ShiftPolicy::kNone>,
                                           kvpleat::FusedCodec>;
template <std::uint32_t kDim>
struct OakenNoShift : kvpleat::presets::Single<NoShiftFormat<kDim>, NoShiftFormat<kDim>> {};

// Only the outer band is shifted.
template <std::uint32_t kDim>
using OuterOnlyFormat =
    kvpleat::BlockFormat<kDim, kvpleat::NoTransform, kvpleat::ThresholdSplit,
                         kvpleat::GroupShiftQuant<kvpleat::ShiftPolicy::kOuterOnly>,
                         kvpleat::FusedCodec>;
template <std::uint32_t kDim>
struct OakenOuterOnly : kvpleat::presets::Single<OuterOnlyFormat<kDim>, OuterOnlyFormat<kDim>> {};

// Outliers beside the dense codes: in 12 bits each, or as values in 24 (23 of them used).
template <std::uint32_t kDim>
struct OakenCoo12 : kvpleat::presets::Single<kvpleat::formats::OakenCoo12<kDim>,
                                             kvpleat::formats::OakenCoo12<kDim>> {};
template <std::uint32_t kDim>
struct OakenCoo23 : kvpleat::presets::Single<kvpleat::formats::OakenCoo23<kDim>,
                                             kvpleat::formats::OakenCoo23<kDim>> {};

// The largest values by a list of channels, and behind a bitmap, in the bytes of the hash table.
template <std::uint32_t kDim>
struct KeptList
    : kvpleat::presets::Single<kvpleat::formats::KeptList<kDim>, kvpleat::formats::KeptList<kDim>> {
};
template <std::uint32_t kDim>
struct KeptBitmap : kvpleat::presets::Single<kvpleat::formats::KeptBitmap<kDim>,
                                             kvpleat::formats::KeptBitmap<kDim>> {};

// Rotated four-bit codes: what is taken out of keys before the rotation. Values are the same.
template <std::uint32_t kDim, class Transform, class Side = kvpleat::Half>
using RotatedKey =
    kvpleat::formats::RotatedBook<kDim, 4, Transform, kvpleat::ScalePolicy::kUnbiased, Side>;
template <std::uint32_t kDim>
struct RotatedPlain : kvpleat::presets::Single<RotatedKey<kDim, kvpleat::RandomHadamard<>>,
                                               kvpleat::formats::CodebookValue<kDim, 4>> {};
template <std::uint32_t kDim>
struct RotatedMean
    : kvpleat::presets::Single<
          RotatedKey<kDim, kvpleat::Chain<kvpleat::Center, kvpleat::RandomHadamard<>>>,
          kvpleat::formats::CodebookValue<kDim, 4>> {};
template <std::uint32_t kDim>
struct RotatedPhase : kvpleat::presets::Single<kvpleat::formats::CodebookKey<kDim, 4>,
                                               kvpleat::formats::CodebookValue<kDim, 4>> {};
// The same with the scale in one byte.
template <std::uint32_t kDim>
struct RotatedPhaseLog
    : kvpleat::presets::Single<
          RotatedKey<kDim, kvpleat::Chain<kvpleat::PhaseCenter, kvpleat::RandomHadamard<>>,
                     kvpleat::LogScale8>,
          kvpleat::formats::RotatedBook<kDim, 4, kvpleat::RandomHadamard<>,
                                        kvpleat::ScalePolicy::kLeastSquares, kvpleat::LogScale8>> {
};

}  // namespace compare::equal_bits
