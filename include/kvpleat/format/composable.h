// composable: which splitter, quantizer, codec and store go together, and why the others do not.
#pragma once

#include <cstdint>
#include <string_view>

#include "kvpleat/codec/dense.h"
#include "kvpleat/codec/fused.h"
#include "kvpleat/codec/slots.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/store_policy.h"
#include "kvpleat/quant/group_shift.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/split/threshold.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class Refusal : std::uint8_t {
  kNone,
  kNotASplitter,
  kNotAQuantizer,
  kDenseTakesNoOutliers,
  kSlotsNeedVectorSplit,
  kFusedNeedsThresholds,
  kFusedNeedsGroupShift,
  kGroupShiftNeedsFused,
  kSpillNeedsStore,
};

constexpr std::string_view reason(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "composes";
    case Refusal::kNotASplitter:
      return "the splitter does not satisfy OutlierSplitter (kMaxOutliers, kProfileSize, kId, "
             "bind, valid)";
    case Refusal::kNotAQuantizer:
      return "the quantizer does not satisfy Quantizer (Side, Stat, Scale, kBits, kGroup, kAxis, "
             "kExactMerge, kLargest, kId, "
             "observe, merge, scale, encode, decode)";
    case Refusal::kDenseTakesNoOutliers:
      return "DenseCodec has no place for outliers: use NoSplit, or SlotCodec";
    case Refusal::kSlotsNeedVectorSplit:
      return "SlotCodec keeps a fixed number of outliers per token: use a splitter with split() "
             "and at most 64 outliers (TopKSplit)";
    case Refusal::kFusedNeedsThresholds:
      return "FusedCodec stores the band and side of each outlier: use ThresholdSplit";
    case Refusal::kFusedNeedsGroupShift:
      return "FusedCodec puts 4-bit payloads of three bands in the dense nibbles: use "
             "GroupShiftQuant";
    case Refusal::kGroupShiftNeedsFused:
      return "GroupShiftQuant scales per band over all heads: use FusedCodec";
    case Refusal::kSpillNeedsStore:
      return "the codec spills outliers, but the store has no spill pages: use a store with "
             "kSpillPageBytes > 0";
  }
  return "unknown";
}

template <class Codec>
inline constexpr bool kIsFusedCodec = false;
template <>
inline constexpr bool kIsFusedCodec<FusedCodec> = true;
template <class Quant>
inline constexpr bool kIsGroupShift = false;
template <>
inline constexpr bool kIsGroupShift<GroupShiftQuant> = true;

template <class Split, class Quant, class Codec, class Store = DefaultStore>
constexpr Refusal refusal_of() {
  if constexpr (!OutlierSplitter<Split>) {
    return Refusal::kNotASplitter;
  } else if constexpr (kIsFusedCodec<Codec>) {
    if constexpr (!BandSplitter<Split>) return Refusal::kFusedNeedsThresholds;
    if constexpr (!kIsGroupShift<Quant>) return Refusal::kFusedNeedsGroupShift;
    if constexpr (Store::kSpillPageBytes == 0) return Refusal::kSpillNeedsStore;
    return Refusal::kNone;
  } else if constexpr (kIsGroupShift<Quant>) {
    return Refusal::kGroupShiftNeedsFused;
  } else if constexpr (!Quantizer<Quant>) {
    return Refusal::kNotAQuantizer;
  } else if constexpr (!Codec::kTakesOutliers) {
    return Split::kMaxOutliers == 0 ? Refusal::kNone : Refusal::kDenseTakesNoOutliers;
  } else {
    return VectorSplitter<Split> && Split::kMaxOutliers >= 1 && Split::kMaxOutliers <= 64
               ? Refusal::kNone
               : Refusal::kSlotsNeedVectorSplit;
  }
}

struct Composition {
  Refusal refusal = Refusal::kNone;
  std::string_view reason;
  constexpr explicit operator bool() const { return refusal == Refusal::kNone; }
};

// static_assert(composable<NoSplit, AffineQuant<4>, DenseCodec>);  composable<...>.reason says why
// not
template <class Split, class Quant, class Codec, class Store = DefaultStore>
inline constexpr Composition composable = {refusal_of<Split, Quant, Codec, Store>(),
                                           reason(refusal_of<Split, Quant, Codec, Store>())};

// The same as compile errors: one sentence each, the texts of reason().
template <Refusal kRefusal>
struct RefuseComposition {
  static_assert(kRefusal != Refusal::kNotASplitter,
                "kvpleat: the splitter does not satisfy OutlierSplitter (kMaxOutliers, "
                "kProfileSize, kId, bind, valid)");
  static_assert(kRefusal != Refusal::kNotAQuantizer,
                "kvpleat: the quantizer does not satisfy Quantizer (Side, Stat, Scale, kBits, "
                "kGroup, kAxis, kExactMerge, "
                "kLargest, kId, observe, merge, scale, encode, decode)");
  static_assert(kRefusal != Refusal::kDenseTakesNoOutliers,
                "kvpleat: DenseCodec has no place for outliers: use NoSplit, or SlotCodec");
  static_assert(kRefusal != Refusal::kSlotsNeedVectorSplit,
                "kvpleat: SlotCodec keeps a fixed number of outliers per token: use a splitter "
                "with split() and at most 64 "
                "outliers (TopKSplit)");
  static_assert(kRefusal != Refusal::kFusedNeedsThresholds,
                "kvpleat: FusedCodec stores the band and side of each outlier: use ThresholdSplit");
  static_assert(kRefusal != Refusal::kFusedNeedsGroupShift,
                "kvpleat: FusedCodec puts 4-bit payloads of three bands in the dense nibbles: use "
                "GroupShiftQuant");
  static_assert(kRefusal != Refusal::kGroupShiftNeedsFused,
                "kvpleat: GroupShiftQuant scales per band over all heads: use FusedCodec");
  static_assert(kRefusal != Refusal::kSpillNeedsStore,
                "kvpleat: the codec spills outliers, but the store has no spill pages: use a store "
                "with kSpillPageBytes > 0");
  static constexpr bool kPassed = true;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
