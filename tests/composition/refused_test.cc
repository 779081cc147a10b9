// Written by make_pairs.py; do not edit.
#include <doctest/doctest.h>

#include <iterator>

#include "composition/round_trip.h"

namespace kvpleat {
namespace {

using composition::PowerOfTwoQuant;
using enum Refusal;

// What a splitter, a codec and a store say to each quantizer.
template <class Split, class Codec, class Store, class... Quants>
constexpr bool agrees(const Refusal (&expected)[sizeof...(Quants)], int& refused) {
  const Composition found[] = {composable<Split, Quants, Codec, Store>...};
  for (std::size_t i = 0; i < sizeof...(Quants); ++i) {
    if (found[i].refusal != expected[i] || found[i].reason.empty()) return false;
    if (static_cast<bool>(found[i]) != (expected[i] == kNone)) return false;
    refused += expected[i] != kNone ? 1 : 0;
  }
  return true;
}

template <class Split, class Codec, class Store>
constexpr bool all(const Refusal (&expected)[21], int& refused) {
  return agrees<Split, Codec, Store,
    AffineQuant<4>,
    AffineQuant<3, 32, Axis::kTokens>,
    SymmetricQuant<4>,
    PowerOfTwoQuant<4>,
    MidRiseQuant<4>,
    ZeroPointQuant<4>,
    CodebookQuant<4, GaussianBook>,
    NuqQuant<4>,
    MinifloatQuant<Fp8E4m3, Half>,
    MinifloatQuant<Fp4E2m1, Fp8E4m3, 16, ScaleSearch::kNeighbours>,
    RenewedScale<8, 64>,
    SealedScale<8, 64>,
    SealedScale<8, 128>,
    GroupShiftQuant<>,
    GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary4, ParameterScope::kLayer, 2, 1>,
    GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5, ParameterScope::kHead, 1, 2>,
    GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5, ParameterScope::kLayer, 1, 0>,
    GgmlQuant<GgmlType::kQ4_0>,
    SketchQuant<CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>, OrthogonalSketch<>, 16>,
    SketchQuant<NoCodes, OrthogonalSketch<>, 16>,
    SketchQuant<SymmetricQuant<4>, OrthogonalSketch<>, 16>>(expected, refused);
}

// Every splitter, codec and store; in each row every quantizer.
constexpr int count_refused() {
  int refused = 0;
  bool good = true;
  good &= all<NoSplit, DenseCodec, DefaultStore>(
      {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<NoSplit, SlotCodec, DefaultStore>(
      {kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit},
      refused);
  good &= all<NoSplit, FusedCodec, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<NoSplit, FusedCodec, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<NoSplit, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<NoSplit, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<NoSplit, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<NoSplit, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<NoSplit, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<NoSplit, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<NoSplit, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NoSplit, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NoSplit, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NoSplit, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NoSplit, SparseCodec, DefaultStore>(
      {kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit},
      refused);
  good &= all<NoSplit, SparseCodec, DenseStore>(
      {kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit},
      refused);
  good &= all<NoSplit, HashSparse<>, DefaultStore>(
      {kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit},
      refused);
  good &= all<NoSplit, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kNone, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<NoSplit, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<NoSplit, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kNone, kNone, kNone},
      refused);
  good &= all<TopKSplit<4>, DenseCodec, DefaultStore>(
      {kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers},
      refused);
  good &= all<TopKSplit<4>, SlotCodec, DefaultStore>(
      {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<TopKSplit<4>, FusedCodec, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<TopKSplit<4>, FusedCodec, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<TopKSplit<4>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<TopKSplit<4>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<TopKSplit<4>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<TopKSplit<4>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<TopKSplit<4>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<TopKSplit<4>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<TopKSplit<4>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<TopKSplit<4>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<TopKSplit<4>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<TopKSplit<4>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<TopKSplit<4>, SparseCodec, DefaultStore>(
      {kNone, kSparseNeedsTokens, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<TopKSplit<4>, SparseCodec, DenseStore>(
      {kSpillNeedsStore, kSparseNeedsTokens, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<TopKSplit<4>, HashSparse<>, DefaultStore>(
      {kHashNeedsSymmetric4, kHashNeedsSymmetric4, kNone, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<TopKSplit<4>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsTakeNoOutliers, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<TopKSplit<4>, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<TopKSplit<4>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant},
      refused);
  good &= all<RangeSplit<>, DenseCodec, DefaultStore>(
      {kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers},
      refused);
  good &= all<RangeSplit<>, SlotCodec, DefaultStore>(
      {kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit},
      refused);
  good &= all<RangeSplit<>, FusedCodec, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<>, FusedCodec, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<RangeSplit<>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<RangeSplit<>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<RangeSplit<>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<RangeSplit<>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<RangeSplit<>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<RangeSplit<>, SparseCodec, DefaultStore>(
      {kNone, kSparseNeedsTokens, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<RangeSplit<>, SparseCodec, DenseStore>(
      {kSpillNeedsStore, kSparseNeedsTokens, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<RangeSplit<>, HashSparse<>, DefaultStore>(
      {kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit},
      refused);
  good &= all<RangeSplit<>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsTakeNoOutliers, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<RangeSplit<>, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<RangeSplit<>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant},
      refused);
  good &= all<RangeSplit<4>, DenseCodec, DefaultStore>(
      {kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers},
      refused);
  good &= all<RangeSplit<4>, SlotCodec, DefaultStore>(
      {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<RangeSplit<4>, FusedCodec, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<4>, FusedCodec, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<4>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<4>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<4>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<4>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<RangeSplit<4>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<RangeSplit<4>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<RangeSplit<4>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<RangeSplit<4>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<RangeSplit<4>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<RangeSplit<4>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<RangeSplit<4>, SparseCodec, DefaultStore>(
      {kNone, kSparseNeedsTokens, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<RangeSplit<4>, SparseCodec, DenseStore>(
      {kSpillNeedsStore, kSparseNeedsTokens, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<RangeSplit<4>, HashSparse<>, DefaultStore>(
      {kHashNeedsSymmetric4, kHashNeedsSymmetric4, kNone, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<RangeSplit<4>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsTakeNoOutliers, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<RangeSplit<4>, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<RangeSplit<4>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant},
      refused);
  good &= all<MadSplit<4>, DenseCodec, DefaultStore>(
      {kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers},
      refused);
  good &= all<MadSplit<4>, SlotCodec, DefaultStore>(
      {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<MadSplit<4>, FusedCodec, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<4>, FusedCodec, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<4>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<4>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<4>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<4>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<4>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<MadSplit<4>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<MadSplit<4>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadSplit<4>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadSplit<4>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadSplit<4>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadSplit<4>, SparseCodec, DefaultStore>(
      {kNone, kSparseNeedsTokens, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<MadSplit<4>, SparseCodec, DenseStore>(
      {kSpillNeedsStore, kSparseNeedsTokens, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<MadSplit<4>, HashSparse<>, DefaultStore>(
      {kHashNeedsSymmetric4, kHashNeedsSymmetric4, kNone, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<MadSplit<4>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsTakeNoOutliers, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<MadSplit<4>, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<MadSplit<4>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, DenseCodec, DefaultStore>(
      {kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, SlotCodec, DefaultStore>(
      {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, FusedCodec, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, FusedCodec, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, SparseCodec, DefaultStore>(
      {kNone, kSparseNeedsTokens, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, SparseCodec, DenseStore>(
      {kSpillNeedsStore, kSparseNeedsTokens, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, HashSparse<>, DefaultStore>(
      {kHashNeedsSymmetric4, kHashNeedsSymmetric4, kNone, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kHashNeedsSymmetric4, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsTakeNoOutliers, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<MadSplit<3, MadOfTensor>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant},
      refused);
  good &= all<MadClamp<>, DenseCodec, DefaultStore>(
      {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kFilterNeedsShortGroups, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<MadClamp<>, SlotCodec, DefaultStore>(
      {kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kFilterNeedsShortGroups, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit},
      refused);
  good &= all<MadClamp<>, FusedCodec, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<>, FusedCodec, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kFilterNeedsShortGroups, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<MadClamp<>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kFilterNeedsShortGroups, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<MadClamp<>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kFilterNeedsShortGroups, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadClamp<>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kFilterNeedsShortGroups, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadClamp<>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kFilterNeedsShortGroups, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadClamp<>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kFilterNeedsShortGroups, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadClamp<>, SparseCodec, DefaultStore>(
      {kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kFilterNeedsShortGroups, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit},
      refused);
  good &= all<MadClamp<>, SparseCodec, DenseStore>(
      {kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kFilterNeedsShortGroups, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit},
      refused);
  good &= all<MadClamp<>, HashSparse<>, DefaultStore>(
      {kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kFilterNeedsShortGroups, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit},
      refused);
  good &= all<MadClamp<>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kFilterNeedsShortGroups, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kNone, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<MadClamp<>, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kFilterNeedsShortGroups, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<MadClamp<>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kFilterNeedsShortGroups, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kNone, kNone, kNone},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, DenseCodec, DefaultStore>(
      {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kFilterNeedsShortGroups, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, SlotCodec, DefaultStore>(
      {kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kFilterNeedsShortGroups, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, FusedCodec, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, FusedCodec, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFilterNeedsShortGroups, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kFilterNeedsShortGroups, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kFilterNeedsShortGroups, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kFilterNeedsShortGroups, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kFilterNeedsShortGroups, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kFilterNeedsShortGroups, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kFilterNeedsShortGroups, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, SparseCodec, DefaultStore>(
      {kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kFilterNeedsShortGroups, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, SparseCodec, DenseStore>(
      {kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kFilterNeedsShortGroups, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, HashSparse<>, DefaultStore>(
      {kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kFilterNeedsShortGroups, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kFilterNeedsShortGroups, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kNone, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kFilterNeedsShortGroups, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<MadClamp<MadOfChannel<16>>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kFilterNeedsShortGroups, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kNone, kNone, kNone},
      refused);
  good &= all<ThresholdSplit, DenseCodec, DefaultStore>(
      {kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers},
      refused);
  good &= all<ThresholdSplit, SlotCodec, DefaultStore>(
      {kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit},
      refused);
  good &= all<ThresholdSplit, FusedCodec, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kNone, kBandsDiffer, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<ThresholdSplit, FusedCodec, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kSpillNeedsStore, kBandsDiffer, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<ThresholdSplit, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kNone, kBandsDiffer, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<ThresholdSplit, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kSpillNeedsStore, kBandsDiffer, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<ThresholdSplit, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kNone, kBandsDiffer, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<ThresholdSplit, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kSpillNeedsStore, kBandsDiffer, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<ThresholdSplit, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kNone, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<ThresholdSplit, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kSpillNeedsStore, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<ThresholdSplit, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kNone, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<ThresholdSplit, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kSpillNeedsStore, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<ThresholdSplit, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kNone, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<ThresholdSplit, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kSpillNeedsStore, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<ThresholdSplit, SparseCodec, DefaultStore>(
      {kNone, kSparseNeedsTokens, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<ThresholdSplit, SparseCodec, DenseStore>(
      {kSpillNeedsStore, kSparseNeedsTokens, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<ThresholdSplit, HashSparse<>, DefaultStore>(
      {kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit},
      refused);
  good &= all<ThresholdSplit, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsTakeNoOutliers, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<ThresholdSplit, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<ThresholdSplit, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant},
      refused);
  good &= all<NestedBands<2, 1>, DenseCodec, DefaultStore>(
      {kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers},
      refused);
  good &= all<NestedBands<2, 1>, SlotCodec, DefaultStore>(
      {kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit},
      refused);
  good &= all<NestedBands<2, 1>, FusedCodec, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kNone, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<2, 1>, FusedCodec, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kSpillNeedsStore, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<2, 1>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kNone, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<2, 1>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kSpillNeedsStore, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<2, 1>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kNone, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<2, 1>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kSpillNeedsStore, kBandsDiffer, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<2, 1>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<NestedBands<2, 1>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<NestedBands<2, 1>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<2, 1>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<2, 1>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<2, 1>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<2, 1>, SparseCodec, DefaultStore>(
      {kNone, kSparseNeedsTokens, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<NestedBands<2, 1>, SparseCodec, DenseStore>(
      {kSpillNeedsStore, kSparseNeedsTokens, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<NestedBands<2, 1>, HashSparse<>, DefaultStore>(
      {kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit},
      refused);
  good &= all<NestedBands<2, 1>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsTakeNoOutliers, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<NestedBands<2, 1>, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<NestedBands<2, 1>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant},
      refused);
  good &= all<NestedBands<1, 2>, DenseCodec, DefaultStore>(
      {kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers},
      refused);
  good &= all<NestedBands<1, 2>, SlotCodec, DefaultStore>(
      {kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit},
      refused);
  good &= all<NestedBands<1, 2>, FusedCodec, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kEntryTooNarrow, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 2>, FusedCodec, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kEntryTooNarrow, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 2>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kEntryTooNarrow, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 2>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kEntryTooNarrow, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 2>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kNone, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 2>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kSpillNeedsStore, kBandsDiffer, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 2>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<NestedBands<1, 2>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<NestedBands<1, 2>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<1, 2>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<1, 2>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<1, 2>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<1, 2>, SparseCodec, DefaultStore>(
      {kNone, kSparseNeedsTokens, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<NestedBands<1, 2>, SparseCodec, DenseStore>(
      {kSpillNeedsStore, kSparseNeedsTokens, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<NestedBands<1, 2>, HashSparse<>, DefaultStore>(
      {kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit},
      refused);
  good &= all<NestedBands<1, 2>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsTakeNoOutliers, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<NestedBands<1, 2>, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<NestedBands<1, 2>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant},
      refused);
  good &= all<NestedBands<1, 0>, DenseCodec, DefaultStore>(
      {kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers},
      refused);
  good &= all<NestedBands<1, 0>, SlotCodec, DefaultStore>(
      {kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit},
      refused);
  good &= all<NestedBands<1, 0>, FusedCodec, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kBandsDiffer, kNone, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 0>, FusedCodec, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kBandsDiffer, kSpillNeedsStore, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 0>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kBandsDiffer, kNone, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 0>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kBandsDiffer, kSpillNeedsStore, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 0>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kBandsDiffer, kNone, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 0>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kBandsDiffer, kBandsDiffer, kBandsDiffer, kSpillNeedsStore, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift, kFusedNeedsGroupShift},
      refused);
  good &= all<NestedBands<1, 0>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<NestedBands<1, 0>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<NestedBands<1, 0>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<1, 0>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<1, 0>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<1, 0>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<NestedBands<1, 0>, SparseCodec, DefaultStore>(
      {kNone, kSparseNeedsTokens, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<NestedBands<1, 0>, SparseCodec, DenseStore>(
      {kSpillNeedsStore, kSparseNeedsTokens, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSpillNeedsStore, kSparseNeedsTokens, kSparseNeedsTokens, kSparseNeedsTokens, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<NestedBands<1, 0>, HashSparse<>, DefaultStore>(
      {kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit},
      refused);
  good &= all<NestedBands<1, 0>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsTakeNoOutliers, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<NestedBands<1, 0>, DirectionCodec, DefaultStore>(
      {kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit},
      refused);
  good &= all<NestedBands<1, 0>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant},
      refused);
  good &= all<DirectionSplit<16>, DenseCodec, DefaultStore>(
      {kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kDenseTakesNoOutliers, kDenseTakesNoOutliers, kDenseTakesNoOutliers},
      refused);
  good &= all<DirectionSplit<16>, SlotCodec, DefaultStore>(
      {kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit, kSlotsNeedVectorSplit},
      refused);
  good &= all<DirectionSplit<16>, FusedCodec, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<DirectionSplit<16>, FusedCodec, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<DirectionSplit<16>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<DirectionSplit<16>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<DirectionSplit<16>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DefaultStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<DirectionSplit<16>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>, DenseStore>(
      {kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds, kFusedNeedsThresholds},
      refused);
  good &= all<DirectionSplit<16>, JaggedCodec, DefaultStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<DirectionSplit<16>, JaggedCodec, DenseStore>(
      {kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken, kJaggedNeedsOaken},
      refused);
  good &= all<DirectionSplit<16>, CooCodec<12>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<DirectionSplit<16>, CooCodec<12>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<DirectionSplit<16>, CooCodec<23>, DefaultStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<DirectionSplit<16>, CooCodec<23>, DenseStore>(
      {kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken, kCooNeedsOaken},
      refused);
  good &= all<DirectionSplit<16>, SparseCodec, DefaultStore>(
      {kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit},
      refused);
  good &= all<DirectionSplit<16>, SparseCodec, DenseStore>(
      {kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSparseNeedsSplit, kSparseNeedsSplit, kSparseNeedsSplit},
      refused);
  good &= all<DirectionSplit<16>, HashSparse<>, DefaultStore>(
      {kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit, kHashNeedsVectorSplit},
      refused);
  good &= all<DirectionSplit<16>, RowCodec, DefaultStore>(
      {kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsTakeNoOutliers, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer, kRowsNeedRowQuantizer},
      refused);
  good &= all<DirectionSplit<16>, DirectionCodec, DefaultStore>(
      {kNone, kDirectionNeedsSplit, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kDirectionNeedsSplit, kDirectionNeedsSplit, kDirectionNeedsSplit, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kGroupShiftNeedsFused, kRowQuantizerNeedsRows, kSketchNeedsItsCodec, kSketchNeedsItsCodec, kSketchNeedsItsCodec},
      refused);
  good &= all<DirectionSplit<16>, SignSketchCodec, DefaultStore>(
      {kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant, kSketchNeedsSketchQuant},
      refused);
  good &= composable<NoSplit, AffineQuant<4>, DenseCodec, UnitStore>.refusal == kNone;
  good &= composable<TopKSplit<4>, AffineQuant<4>, SlotCodec, UnitStore>.refusal == kNone;
  good &= composable<NoSplit, AffineQuant<4>, DenseCodec, DenseStore>.refusal == kNone;
  good &= composable<TopKSplit<4>, AffineQuant<4>, SlotCodec, DenseStore>.refusal == kNone;
  return good ? refused : -1;
}
static_assert(count_refused() == 5252);

TEST_CASE("which policies compose") {
  CHECK(count_refused() == 5252);  // of 5460
}

}  // namespace
}  // namespace kvpleat
