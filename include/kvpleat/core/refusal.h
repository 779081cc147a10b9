// Refusal: why a splitter, a quantizer, a codec and a store do not go together. Codecs say it of
// themselves (`refusal<Split, Quant>()`), format/composable.h prints the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class Refusal : std::uint8_t {
  kNone,
  kNotASplitter,
  kNotAQuantizer,
  kNotACodec,
  kIdIsNoText,
  kBitsOutOfRange,
  kTokenGroupDividesNoBlock,
  kScaleIsForeign,
  kDenseTakesNoOutliers,
  kSlotsNeedVectorSplit,
  kFusedNeedsThresholds,
  kFusedNeedsGroupShift,
  kBandsDiffer,
  kJaggedNeedsOaken,
  kCooNeedsOaken,
  kEntryTooNarrow,
  kGroupShiftNeedsFused,
  kRowsNeedRowQuantizer,
  kRowQuantizerNeedsRows,
  kRowsTakeNoOutliers,
  kDirectionNeedsSplit,
  kSpillNeedsStore,
  kSparseNeedsSplit,
  kSparseNeedsTokens,
  kFilterNeedsShortGroups,
  kHashNeedsVectorSplit,
  kHashNeedsSymmetric4,
  kKeptNeedsSymmetric,
  kSketchNeedsSketchQuant,
  kSketchNeedsItsCodec,
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
             "kExactMerge, kLargest, kId, observe, merge, scale, encode, decode)";
    case Refusal::kNotACodec:
      return "the codec is none of the library's (DenseCodec, SlotCodec, FusedCodec, ...)";
    case Refusal::kIdIsNoText:
      return "kId must be a Text, for example: static constexpr auto kId = "
             "kvpleat::Text(\"quant=mine;bits=4\")";
    case Refusal::kBitsOutOfRange:
      return "a quantizer has 1 to 8 bits";
    case Refusal::kTokenGroupDividesNoBlock:
      return "a group along tokens must divide its block: 1, 2, 4, ... 64 tokens, or a multiple of "
             "64";
    case Refusal::kScaleIsForeign:
      return "Scale must be an aggregate of values of Side and nothing else";
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
    case Refusal::kBandsDiffer:
      return "the quantizer has other numbers of outer and inner bands than the splitter: give "
             "GroupShiftQuant the splitter's kOuterBands and kInnerBands";
    case Refusal::kJaggedNeedsOaken:
      return "JaggedCodec holds FusedCodec's bytes of three bands in another order: use "
             "ThresholdSplit and GroupShiftQuant";
    case Refusal::kCooNeedsOaken:
      return "CooCodec keeps outliers of three bands beside dense codes: use ThresholdSplit and "
             "GroupShiftQuant";
    case Refusal::kEntryTooNarrow:
      return "an entry of 8 bits has 6 for the index, one for the fifth bit of a code, and the "
             "rest for the band: use CooEntry16, or four-bit outliers (kOffsetBinary4)";
    case Refusal::kGroupShiftNeedsFused:
      return "GroupShiftQuant scales per band over all heads: use FusedCodec";
    case Refusal::kRowsNeedRowQuantizer:
      return "RowCodec stores runs that a RowQuantizer codes: use GgmlQuant, or DenseCodec";
    case Refusal::kRowQuantizerNeedsRows:
      return "a RowQuantizer (GgmlQuant) lays out its own bytes: use RowCodec";
    case Refusal::kRowsTakeNoOutliers:
      return "RowCodec has no place for outliers: use NoSplit";
    case Refusal::kDirectionNeedsSplit:
      return "DirectionCodec keeps one direction of each token apart: use DirectionSplit and a "
             "quantizer with groups along channels";
    case Refusal::kSpillNeedsStore:
      return "the codec spills outliers, but the store has no spill pages: use a store with "
             "kSpillPageBytes > 0";
    case Refusal::kSparseNeedsSplit:
      return "SparseCodec spills what a splitter takes apart: use TopKSplit, RangeSplit or "
             "ThresholdSplit";
    case Refusal::kSparseNeedsTokens:
      return "SparseCodec spills outliers token by token: use groups along channels, or SlotCodec";
    case Refusal::kFilterNeedsShortGroups:
      return "a row filter (MadClamp) works on groups of at most 64 tokens";
    case Refusal::kHashNeedsVectorSplit:
      return "HashSparse keeps the elements that the splitter picks: use a splitter with split() "
             "and at most 64 outliers (TopKSplit)";
    case Refusal::kHashNeedsSymmetric4:
      return "HashSparse marks a free slot by the code 0, which no symmetric code is: use "
             "SymmetricQuant<4> with binary16 sides over the whole head";
    case Refusal::kKeptNeedsSymmetric:
      return "KeptCodec keeps the elements that the splitter picks, with one step: use a splitter "
             "with split() and at most 64 outliers (TopKSplit), and SymmetricQuant with binary16 "
             "sides over the whole head";
    case Refusal::kSketchNeedsSketchQuant:
      return "SignSketchCodec keeps the signs of a sketch and no outliers: use SketchQuant and "
             "NoSplit";
    case Refusal::kSketchNeedsItsCodec:
      return "SketchQuant keeps the signs of what its codes missed: use SignSketchCodec";
  }
  return "unknown";
}

// The same as compile errors: one sentence each, the texts of reason().
template <Refusal kRefusal>
struct RefuseComposition {
  static_assert(kRefusal != Refusal::kNotASplitter,
                "kvpleat: the splitter does not satisfy OutlierSplitter (kMaxOutliers, "
                "kProfileSize, kId, bind, valid)");
  static_assert(kRefusal != Refusal::kNotAQuantizer,
                "kvpleat: the quantizer does not satisfy Quantizer (Side, Stat, Scale, kBits, "
                "kGroup, kAxis, kExactMerge, kLargest, kId, observe, merge, scale, encode, "
                "decode)");
  static_assert(kRefusal != Refusal::kNotACodec,
                "kvpleat: the codec is none of the library's (DenseCodec, SlotCodec, FusedCodec, "
                "...)");
  static_assert(kRefusal != Refusal::kIdIsNoText,
                "kvpleat: kId must be a Text, for example: static constexpr auto kId = "
                "kvpleat::Text(\"quant=mine;bits=4\")");
  static_assert(kRefusal != Refusal::kBitsOutOfRange, "kvpleat: a quantizer has 1 to 8 bits");
  static_assert(kRefusal != Refusal::kTokenGroupDividesNoBlock,
                "kvpleat: a group along tokens must divide its block: 1, 2, 4, ... 64 tokens, or a "
                "multiple of 64");
  static_assert(kRefusal != Refusal::kScaleIsForeign,
                "kvpleat: Scale must be an aggregate of values of Side and nothing else");
  static_assert(kRefusal != Refusal::kDenseTakesNoOutliers,
                "kvpleat: DenseCodec has no place for outliers: use NoSplit, or SlotCodec");
  static_assert(kRefusal != Refusal::kSlotsNeedVectorSplit,
                "kvpleat: SlotCodec keeps a fixed number of outliers per token: use a splitter "
                "with split() and at most 64 outliers (TopKSplit)");
  static_assert(kRefusal != Refusal::kFusedNeedsThresholds,
                "kvpleat: FusedCodec stores the band and side of each outlier: use ThresholdSplit");
  static_assert(kRefusal != Refusal::kFusedNeedsGroupShift,
                "kvpleat: FusedCodec puts 4-bit payloads of three bands in the dense nibbles: use "
                "GroupShiftQuant");
  static_assert(kRefusal != Refusal::kBandsDiffer,
                "kvpleat: the quantizer has other numbers of outer and inner bands than the "
                "splitter: give GroupShiftQuant the splitter's kOuterBands and kInnerBands");
  static_assert(
      kRefusal != Refusal::kJaggedNeedsOaken,
      "kvpleat: JaggedCodec holds FusedCodec's bytes of three bands in another order: use "
      "ThresholdSplit and GroupShiftQuant");
  static_assert(kRefusal != Refusal::kCooNeedsOaken,
                "kvpleat: CooCodec keeps outliers of three bands beside dense codes: use "
                "ThresholdSplit and GroupShiftQuant");
  static_assert(kRefusal != Refusal::kEntryTooNarrow,
                "kvpleat: an entry of 8 bits has 6 for the index, one for the fifth bit of a code, "
                "and the rest for the band: use CooEntry16, or four-bit outliers (kOffsetBinary4)");
  static_assert(kRefusal != Refusal::kGroupShiftNeedsFused,
                "kvpleat: GroupShiftQuant scales per band over all heads: use FusedCodec");
  static_assert(kRefusal != Refusal::kRowsNeedRowQuantizer,
                "kvpleat: RowCodec stores runs that a RowQuantizer codes: use GgmlQuant, or "
                "DenseCodec");
  static_assert(kRefusal != Refusal::kRowQuantizerNeedsRows,
                "kvpleat: a RowQuantizer (GgmlQuant) lays out its own bytes: use RowCodec");
  static_assert(kRefusal != Refusal::kRowsTakeNoOutliers,
                "kvpleat: RowCodec has no place for outliers: use NoSplit");
  static_assert(kRefusal != Refusal::kDirectionNeedsSplit,
                "kvpleat: DirectionCodec keeps one direction of each token apart: use "
                "DirectionSplit and a quantizer with groups along channels");
  static_assert(kRefusal != Refusal::kSpillNeedsStore,
                "kvpleat: the codec spills outliers, but the store has no spill pages: use a store "
                "with kSpillPageBytes > 0");
  static_assert(kRefusal != Refusal::kSparseNeedsSplit,
                "kvpleat: SparseCodec spills what a splitter takes apart: use TopKSplit, "
                "RangeSplit or ThresholdSplit");
  static_assert(kRefusal != Refusal::kSparseNeedsTokens,
                "kvpleat: SparseCodec spills outliers token by token: use groups along channels, "
                "or SlotCodec");
  static_assert(kRefusal != Refusal::kFilterNeedsShortGroups,
                "kvpleat: a row filter (MadClamp) works on groups of at most 64 tokens");
  static_assert(kRefusal != Refusal::kHashNeedsVectorSplit,
                "kvpleat: HashSparse keeps the elements that the splitter picks: use a splitter "
                "with split() and at most 64 outliers (TopKSplit)");
  static_assert(kRefusal != Refusal::kHashNeedsSymmetric4,
                "kvpleat: HashSparse marks a free slot by the code 0, which no symmetric code is: "
                "use SymmetricQuant<4> with binary16 sides over the whole head");
  static_assert(kRefusal != Refusal::kKeptNeedsSymmetric,
                "kvpleat: KeptCodec keeps the elements that the splitter picks, with one step: use "
                "a splitter with split() and at most 64 outliers (TopKSplit), and SymmetricQuant "
                "with binary16 sides over the whole head");
  static_assert(kRefusal != Refusal::kSketchNeedsSketchQuant,
                "kvpleat: SignSketchCodec keeps the signs of a sketch and no outliers: use "
                "SketchQuant and NoSplit");
  static_assert(kRefusal != Refusal::kSketchNeedsItsCodec,
                "kvpleat: SketchQuant keeps the signs of what its codes missed: use "
                "SignSketchCodec");
  static constexpr bool kPassed = true;
};

namespace composition {

// Whether Scale{Side, Side, ...} fills it: then no member is of another type, and no byte is
// padding that would make equal groups differ in memory.
template <class Scale, class... Sides>
concept BracedFrom = std::is_trivially_copyable_v<Scale> && requires(Sides... sides) {
  Scale{sides...};
};
template <class Side, std::size_t>
using Repeated = Side;
template <class Scale, class Side, class Indices>
inline constexpr bool kMadeOf = false;
template <class Scale, class Side, std::size_t... kIndices>
inline constexpr bool kMadeOf<Scale, Side, std::index_sequence<kIndices...>> =
    sizeof(Scale) == sizeof...(kIndices) * sizeof(Side) &&
    BracedFrom<Scale, Repeated<Side, kIndices>...>;
// An empty Scale: nothing is stored per group.
template <class Scale, class Side>
inline constexpr bool kMadeOfSides =
    std::is_empty_v<Scale> ||
    kMadeOf<Scale, Side, std::make_index_sequence<sizeof(Scale) / sizeof(Side)>>;

// What a tile of codes needs to know of a quantizer.
template <class Quant>
constexpr Refusal refusal_of_tile() {
  if constexpr (requires { typename Quant::Sketch; }) {
    return Refusal::kSketchNeedsItsCodec;
  } else if constexpr (Quant::kBits < 1 || Quant::kBits > 8) {
    return Refusal::kBitsOutOfRange;
  } else if constexpr (Quant::kAxis == Axis::kTokens &&
                       (Quant::kGroup == 0 ||
                        round_up<std::uint32_t>(Quant::kGroup, 64u) % upper_of(Quant::kGroup, 1u) !=
                            0)) {
    return Refusal::kTokenGroupDividesNoBlock;
  } else {
    return kMadeOfSides<typename Quant::Scale, typename Quant::Side> ? Refusal::kNone
                                                                     : Refusal::kScaleIsForeign;
  }
}

}  // namespace composition

}  // namespace kvpleat::inline KVPLEAT_ISA
