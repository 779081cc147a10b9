// Written by make_pairs.py; do not edit.
#include <doctest/doctest.h>

#include "composition/round_trip.h"

namespace kvpleat {
namespace {

using namespace composition;

TEST_CASE("03 32 DenseStore: Balanced Mad Symmetric HashSparse; Plain RangeCapped Codebook SlotCodec") {
  using Keys = BlockFormat<32, Balanced, MadSplit<4>, SymmetricQuant<4>, HashSparse<>>;
  using Values = BlockFormat<32, Plain, RangeSplit<4>, CodebookQuant<4, GaussianBook>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kBalanced;
  keys.stored = composition::Stored::kHash;
  keys.group_channels = 32;
  keys.family = composition::Family::kSymmetric;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kMad;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kPlain;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 32;
  values.family = composition::Family::kCodebook;
  values.scaling = ScalePolicy::kLeastSquares;
  values.splitter = composition::Splitter::kRange;
  values.outliers = 4;
  composition::round_trip<Crossed<DenseStore, Keys, Values>>(keys, values);
}

TEST_CASE("07 16 DenseStore: Unrotated Direction Minifloat DirectionCodec; Scaled TopK ZeroPointTokens SlotCodec") {
  using Keys = BlockFormat<16, Unrotated, DirectionSplit<16>, MinifloatQuant<Fp8E4m3, Half>, DirectionCodec>;
  using Values = BlockFormat<16, Scaled, TopKSplit<4>, ZeroPointQuant<3, 32, Axis::kTokens, float>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kDirection;
  keys.group_channels = 16;
  keys.family = composition::Family::kMinifloat;
  keys.splitter = composition::Splitter::kDirection;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kScaled;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 1;
  values.family = composition::Family::kZeroPoint;
  values.bits = 3;
  values.group_tokens = 32;
  values.splitter = composition::Splitter::kTopK;
  values.outliers = 4;
  composition::round_trip<Crossed<DenseStore, Keys, Values>>(keys, values);
}

TEST_CASE("11 40 UnitStore: Plain NoSplit MinifloatE5m2 DenseCodec; Kronecker RangeCapped Symmetric HashSparse") {
  using Keys = BlockFormat<40, Plain, NoSplit, MinifloatQuant<Fp8E5m2, Half>, DenseCodec>;
  using Values = BlockFormat<40, Kronecker, RangeSplit<4>, SymmetricQuant<4>, HashSparse<>>;
  composition::Policies keys;
  keys.dim = 40;
  keys.transform = composition::Transform::kPlain;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 40;
  keys.family = composition::Family::kMinifloat;
  keys.element = composition::Element::kE5m2;
  composition::Policies values;
  values.dim = 40;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kHash;
  values.group_channels = 40;
  values.family = composition::Family::kSymmetric;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kRange;
  values.outliers = 4;
  composition::round_trip<Crossed<UnitStore, Keys, Values>>(keys, values);
}

TEST_CASE("15 32 DefaultStore: Centered Mad PowerOfTwo SparseCodec; Balanced Bands21 GroupShift21 FusedCodec") {
  using Keys = BlockFormat<32, Centered, MadSplit<4>, PowerOfTwoQuant<4>, SparseCodec>;
  using Values = BlockFormat<32, Balanced, NestedBands<2, 1>, GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary4, ParameterScope::kLayer, 2, 1>, FusedCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kCentered;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 32;
  keys.family = composition::Family::kPowerOfTwo;
  keys.splitter = composition::Splitter::kMad;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kBalanced;
  values.stored = composition::Stored::kBands;
  values.group_channels = 32;
  values.family = composition::Family::kGroupShift;
  values.band_code = OutlierCode::kOffsetBinary4;
  values.splitter = composition::Splitter::kBands;
  values.outer_bands = 2;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("19 16 DefaultStore: Rotated Range MinifloatNv SparseCodec; None RangeCapped Sealed SlotCodec") {
  using Keys = BlockFormat<16, Rotated, RangeSplit<>, MinifloatQuant<Fp4E2m1, Fp8E4m3, 16, ScaleSearch::kNeighbours>, SparseCodec>;
  using Values = BlockFormat<16, None, RangeSplit<4>, SealedScale<8, 64>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kRotated;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 16;
  keys.family = composition::Family::kMinifloat;
  keys.element = composition::Element::kE2m1;
  keys.scales = composition::Scales::kTwoLevels;
  keys.searches = true;
  keys.splitter = composition::Splitter::kRange;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kNone;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 16;
  values.family = composition::Family::kSealed;
  values.bits = 8;
  values.group_tokens = 64;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kRange;
  values.outliers = 4;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("23 16 DefaultStore: None MadClamp ZeroPoint DenseCodec; Rotated MadClamp Nuq DenseCodec") {
  using Keys = BlockFormat<16, None, MadClamp<>, ZeroPointQuant<4>, DenseCodec>;
  using Values = BlockFormat<16, Rotated, MadClamp<>, NuqQuant<4>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kNone;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kZeroPoint;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kMadClamp;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kRotated;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kNuq;
  values.splitter = composition::Splitter::kMadClamp;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("27 16 DefaultStore: Balanced Range PowerOfTwo SparseCodec; Centered Range ZeroPoint SparseCodec") {
  using Keys = BlockFormat<16, Balanced, RangeSplit<>, PowerOfTwoQuant<4>, SparseCodec>;
  using Values = BlockFormat<16, Centered, RangeSplit<>, ZeroPointQuant<4>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kBalanced;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 16;
  keys.family = composition::Family::kPowerOfTwo;
  keys.splitter = composition::Splitter::kRange;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCentered;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 16;
  values.family = composition::Family::kZeroPoint;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kRange;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("31 32 UnitStore: None Threshold GroupShift Coo23; Centered Bands21 Nuq SparseCodec") {
  using Keys = BlockFormat<32, None, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>>;
  using Values = BlockFormat<32, Centered, NestedBands<2, 1>, NuqQuant<4>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kNone;
  keys.stored = composition::Stored::kCoo23;
  keys.group_channels = 32;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kCentered;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 32;
  values.family = composition::Family::kNuq;
  values.splitter = composition::Splitter::kBands;
  values.outer_bands = 2;
  composition::round_trip<Crossed<UnitStore, Keys, Values>>(keys, values);
}

TEST_CASE("35 32 DefaultStore: None NoSplit GgmlQ4_0 RowCodec; Scaled NoSplit GgmlQ4_0 RowCodec") {
  using Keys = BlockFormat<32, None, NoSplit, GgmlQuant<GgmlType::kQ4_0>, RowCodec>;
  using Values = BlockFormat<32, Scaled, NoSplit, GgmlQuant<GgmlType::kQ4_0>, RowCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kNone;
  keys.stored = composition::Stored::kRuns;
  keys.group_channels = 32;
  keys.family = composition::Family::kGgml;
  keys.ggml = 0;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kScaled;
  values.stored = composition::Stored::kRuns;
  values.group_channels = 32;
  values.family = composition::Family::kGgml;
  values.ggml = 0;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("39 16 DefaultStore: Plain NoSplit Sketch SignSketchCodec; Kronecker NoSplit Sketch SignSketchCodec") {
  using Keys = BlockFormat<16, Plain, NoSplit, SketchQuant<CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>, OrthogonalSketch<>, 16>, SignSketchCodec>;
  using Values = BlockFormat<16, Kronecker, NoSplit, SketchQuant<CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>, OrthogonalSketch<>, 16>, SignSketchCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kPlain;
  keys.stored = composition::Stored::kSketch;
  keys.group_channels = 16;
  keys.family = composition::Family::kCodebook;
  keys.bits = 3;
  keys.scaling = ScalePolicy::kMatchedNorm;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kSketch;
  values.group_channels = 16;
  values.family = composition::Family::kCodebook;
  values.bits = 3;
  values.scaling = ScalePolicy::kMatchedNorm;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("43 16 DefaultStore: Scaled MadClamp PowerOfTwo DenseCodec; CenteredRotated MadClamp Minifloat DenseCodec") {
  using Keys = BlockFormat<16, Scaled, MadClamp<>, PowerOfTwoQuant<4>, DenseCodec>;
  using Values = BlockFormat<16, ForValues<CenteredRotated>::Type, MadClamp<>, MinifloatQuant<Fp8E4m3, Half>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kScaled;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kPowerOfTwo;
  keys.splitter = composition::Splitter::kMadClamp;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCenteredRotated;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kMinifloat;
  values.splitter = composition::Splitter::kMadClamp;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("47 16 DefaultStore: Kronecker Threshold Nuq SparseCodec; Scaled Threshold Minifloat SparseCodec") {
  using Keys = BlockFormat<16, Kronecker, ThresholdSplit, NuqQuant<4>, SparseCodec>;
  using Values = BlockFormat<16, Scaled, ThresholdSplit, MinifloatQuant<Fp8E4m3, Half>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kKronecker;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 16;
  keys.family = composition::Family::kNuq;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kScaled;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 16;
  values.family = composition::Family::kMinifloat;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("51 16 DefaultStore: Unrotated NoSplit MidRise DenseCodec; Balanced NoSplit Minifloat DenseCodec") {
  using Keys = BlockFormat<16, Unrotated, NoSplit, MidRiseQuant<4>, DenseCodec>;
  using Values = BlockFormat<16, Balanced, NoSplit, MinifloatQuant<Fp8E4m3, Half>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kMidRise;
  keys.side_ulp = 0x1p-10;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kBalanced;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kMinifloat;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("55 16 DefaultStore: CenteredRotated NoSplit Sealed DenseCodec; Kronecker NoSplit Sealed DenseCodec") {
  using Keys = BlockFormat<16, CenteredRotated, NoSplit, SealedScale<8, 64>, DenseCodec>;
  using Values = BlockFormat<16, Kronecker, NoSplit, SealedScale<8, 64>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCenteredRotated;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kSealed;
  keys.bits = 8;
  keys.group_tokens = 64;
  keys.side_ulp = 0x1p-10;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kSealed;
  values.bits = 8;
  values.group_tokens = 64;
  values.side_ulp = 0x1p-10;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("59 16 DefaultStore: None MadClamp Symmetric DenseCodec; None Threshold Symmetric SparseCodec") {
  using Keys = BlockFormat<16, None, MadClamp<>, SymmetricQuant<4>, DenseCodec>;
  using Values = BlockFormat<16, None, ThresholdSplit, SymmetricQuant<4>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kNone;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kSymmetric;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kMadClamp;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kNone;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 16;
  values.family = composition::Family::kSymmetric;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("63 16 DefaultStore: Scaled Threshold GroupShift JaggedCodec; Plain Threshold GroupShift JaggedCodec") {
  using Keys = BlockFormat<16, Scaled, ThresholdSplit, GroupShiftQuant<>, JaggedCodec>;
  using Values = BlockFormat<16, Plain, ThresholdSplit, GroupShiftQuant<>, JaggedCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kScaled;
  keys.stored = composition::Stored::kBands;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kPlain;
  values.stored = composition::Stored::kBands;
  values.group_channels = 16;
  values.family = composition::Family::kGroupShift;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("67 16 DefaultStore: Balanced Threshold GroupShift Coo12; Centered Threshold GroupShift Coo23") {
  using Keys = BlockFormat<16, Balanced, ThresholdSplit, GroupShiftQuant<>, CooCodec<12>>;
  using Values = BlockFormat<16, Centered, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kBalanced;
  keys.stored = composition::Stored::kBands;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCentered;
  values.stored = composition::Stored::kCoo23;
  values.group_channels = 16;
  values.family = composition::Family::kGroupShift;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

}  // namespace
}  // namespace kvpleat
