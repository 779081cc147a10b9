// Written by make_pairs.py; do not edit.
#include <doctest/doctest.h>

#include "composition/round_trip.h"

namespace kvpleat {
namespace {

using namespace composition;

TEST_CASE("02 32 UnitStore: Unrotated NoSplit Sketch SignSketchCodec; Kronecker Direction ZeroPoint DirectionCodec") {
  using Keys = BlockFormat<32, Unrotated, NoSplit, SketchQuant<CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>, OrthogonalSketch<>, 32>, SignSketchCodec>;
  using Values = BlockFormat<32, Kronecker, DirectionSplit<32>, ZeroPointQuant<4>, DirectionCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kSketch;
  keys.group_channels = 32;
  keys.family = composition::Family::kCodebook;
  keys.bits = 3;
  keys.scaling = ScalePolicy::kMatchedNorm;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kDirection;
  values.group_channels = 32;
  values.family = composition::Family::kZeroPoint;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kDirection;
  composition::round_trip<Crossed<UnitStore, Keys, Values>>(keys, values);
}

TEST_CASE("06 40 DenseStore: Scaled MadClamp SketchOnly SignSketchCodec; Kronecker Mad MidRiseTokens SlotCodec") {
  using Keys = BlockFormat<40, Scaled, MadClamp<>, SketchQuant<NoCodes, OrthogonalSketch<>, 40>, SignSketchCodec>;
  using Values = BlockFormat<40, Kronecker, MadSplit<4>, MidRiseQuant<5, 32, Axis::kTokens, float>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 40;
  keys.transform = composition::Transform::kScaled;
  keys.stored = composition::Stored::kSketch;
  keys.group_channels = 40;
  keys.family = composition::Family::kNothing;
  keys.splitter = composition::Splitter::kMadClamp;
  composition::Policies values;
  values.dim = 40;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 1;
  values.family = composition::Family::kMidRise;
  values.bits = 5;
  values.group_tokens = 32;
  values.splitter = composition::Splitter::kMad;
  values.outliers = 4;
  composition::round_trip<Crossed<DenseStore, Keys, Values>>(keys, values);
}

TEST_CASE("10 32 UnitStore: Scaled NoSplit Sealed DenseCodec; Scaled Threshold GroupShiftHead Coo12") {
  using Keys = BlockFormat<32, Scaled, NoSplit, SealedScale<8, 64>, DenseCodec>;
  using Values = BlockFormat<32, Scaled, ThresholdSplit, GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary5, ParameterScope::kHead>, CooCodec<12>>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kScaled;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 32;
  keys.family = composition::Family::kSealed;
  keys.bits = 8;
  keys.group_tokens = 64;
  keys.side_ulp = 0x1p-10;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kScaled;
  values.stored = composition::Stored::kBands;
  values.group_channels = 32;
  values.family = composition::Family::kGroupShift;
  values.band_code = OutlierCode::kOffsetBinary5;
  values.per_head = true;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<UnitStore, Keys, Values>>(keys, values);
}

TEST_CASE("14 16 DefaultStore: Balanced NoSplit SketchSymmetric SignSketchCodec; Plain Threshold GroupShift Coo23") {
  using Keys = BlockFormat<16, Balanced, NoSplit, SketchQuant<SymmetricQuant<4>, OrthogonalSketch<>, 16>, SignSketchCodec>;
  using Values = BlockFormat<16, Plain, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kBalanced;
  keys.stored = composition::Stored::kSketch;
  keys.group_channels = 16;
  keys.family = composition::Family::kSymmetric;
  keys.side_ulp = 0x1p-10;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kPlain;
  values.stored = composition::Stored::kCoo23;
  values.group_channels = 16;
  values.family = composition::Family::kGroupShift;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("18 16 DefaultStore: Unrotated TopK Symmetric HashSparse; Kronecker TopK MinifloatMx SlotCodec") {
  using Keys = BlockFormat<16, Unrotated, TopKSplit<4>, SymmetricQuant<4>, HashSparse<>>;
  using Values = BlockFormat<16, Kronecker, TopKSplit<4>, MinifloatQuant<Fp4E2m1, E8m0, 32>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kHash;
  keys.group_channels = 16;
  keys.family = composition::Family::kSymmetric;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kTopK;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 16;
  values.family = composition::Family::kMinifloat;
  values.element = composition::Element::kE2m1;
  values.scales = composition::Scales::kPowerOfTwo;
  values.splitter = composition::Splitter::kTopK;
  values.outliers = 4;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("22 16 DefaultStore: CenteredRotated TopK MidRise SparseCodec; Scaled Mad AffineTokens SlotCodec") {
  using Keys = BlockFormat<16, CenteredRotated, TopKSplit<4>, MidRiseQuant<4>, SparseCodec>;
  using Values = BlockFormat<16, Scaled, MadSplit<4>, AffineQuant<3, 32, Axis::kTokens>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCenteredRotated;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 16;
  keys.family = composition::Family::kMidRise;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kTopK;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kScaled;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 1;
  values.family = composition::Family::kAffine;
  values.bits = 3;
  values.group_tokens = 32;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kMad;
  values.outliers = 4;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("26 16 DefaultStore: Rotated Direction Symmetric DirectionCodec; Centered Direction PowerOfTwo DirectionCodec") {
  using Keys = BlockFormat<16, Rotated, DirectionSplit<16>, SymmetricQuant<4>, DirectionCodec>;
  using Values = BlockFormat<16, Centered, DirectionSplit<16>, PowerOfTwoQuant<4>, DirectionCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kRotated;
  keys.stored = composition::Stored::kDirection;
  keys.group_channels = 16;
  keys.family = composition::Family::kSymmetric;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kDirection;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCentered;
  values.stored = composition::Stored::kDirection;
  values.group_channels = 16;
  values.family = composition::Family::kPowerOfTwo;
  values.splitter = composition::Splitter::kDirection;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("30 16 DefaultStore: None Threshold GroupShift Coo12; Rotated Bands21 MidRise SparseCodec") {
  using Keys = BlockFormat<16, None, ThresholdSplit, GroupShiftQuant<>, CooCodec<12>>;
  using Values = BlockFormat<16, Rotated, NestedBands<2, 1>, MidRiseQuant<4>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kNone;
  keys.stored = composition::Stored::kBands;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kRotated;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 16;
  values.family = composition::Family::kMidRise;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kBands;
  values.outer_bands = 2;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("34 16 DefaultStore: None NoSplit Codebook DenseCodec; None NoSplit Nuq DenseCodec") {
  using Keys = BlockFormat<16, None, NoSplit, CodebookQuant<4, GaussianBook>, DenseCodec>;
  using Values = BlockFormat<16, None, NoSplit, NuqQuant<4>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kNone;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kCodebook;
  keys.scaling = ScalePolicy::kLeastSquares;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kNone;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kNuq;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("38 16 DefaultStore: Centered NoSplit Sketch SignSketchCodec; CenteredRotated NoSplit Sketch SignSketchCodec") {
  using Keys = BlockFormat<16, Centered, NoSplit, SketchQuant<CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>, OrthogonalSketch<>, 16>, SignSketchCodec>;
  using Values = BlockFormat<16, ForValues<CenteredRotated>::Type, NoSplit, SketchQuant<CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>, OrthogonalSketch<>, 16>, SignSketchCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCentered;
  keys.stored = composition::Stored::kSketch;
  keys.group_channels = 16;
  keys.family = composition::Family::kCodebook;
  keys.bits = 3;
  keys.scaling = ScalePolicy::kMatchedNorm;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCenteredRotated;
  values.stored = composition::Stored::kSketch;
  values.group_channels = 16;
  values.family = composition::Family::kCodebook;
  values.bits = 3;
  values.scaling = ScalePolicy::kMatchedNorm;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("42 16 DefaultStore: Unrotated MadClamp Affine DenseCodec; Centered Mad Minifloat SlotCodec") {
  using Keys = BlockFormat<16, Unrotated, MadClamp<>, AffineQuant<4>, DenseCodec>;
  using Values = BlockFormat<16, Centered, MadSplit<4>, MinifloatQuant<Fp8E4m3, Half>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kAffine;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kMadClamp;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCentered;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 16;
  values.family = composition::Family::kMinifloat;
  values.splitter = composition::Splitter::kMad;
  values.outliers = 4;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("46 16 DefaultStore: Balanced Threshold ZeroPoint SparseCodec; Centered Threshold Codebook SparseCodec") {
  using Keys = BlockFormat<16, Balanced, ThresholdSplit, ZeroPointQuant<4>, SparseCodec>;
  using Values = BlockFormat<16, Centered, ThresholdSplit, CodebookQuant<4, GaussianBook>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kBalanced;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 16;
  keys.family = composition::Family::kZeroPoint;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCentered;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 16;
  values.family = composition::Family::kCodebook;
  values.scaling = ScalePolicy::kLeastSquares;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("50 16 DefaultStore: Unrotated NoSplit PowerOfTwo DenseCodec; Scaled NoSplit Codebook DenseCodec") {
  using Keys = BlockFormat<16, Unrotated, NoSplit, PowerOfTwoQuant<4>, DenseCodec>;
  using Values = BlockFormat<16, Scaled, NoSplit, CodebookQuant<4, GaussianBook>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kPowerOfTwo;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kScaled;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kCodebook;
  values.scaling = ScalePolicy::kLeastSquares;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("54 16 DefaultStore: Balanced NoSplit Renewed DenseCodec; Centered NoSplit Sealed DenseCodec") {
  using Keys = BlockFormat<16, Balanced, NoSplit, RenewedScale<8, 64>, DenseCodec>;
  using Values = BlockFormat<16, Centered, NoSplit, SealedScale<8, 64>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kBalanced;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kRenewed;
  keys.bits = 8;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCentered;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kSealed;
  values.bits = 8;
  values.group_tokens = 64;
  values.side_ulp = 0x1p-10;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("58 16 DefaultStore: CenteredRotated TopK Symmetric HashSparse; Scaled TopK Symmetric HashSparse") {
  using Keys = BlockFormat<16, CenteredRotated, TopKSplit<4>, SymmetricQuant<4>, HashSparse<>>;
  using Values = BlockFormat<16, Scaled, TopKSplit<4>, SymmetricQuant<4>, HashSparse<>>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCenteredRotated;
  keys.stored = composition::Stored::kHash;
  keys.group_channels = 16;
  keys.family = composition::Family::kSymmetric;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kTopK;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kScaled;
  values.stored = composition::Stored::kHash;
  values.group_channels = 16;
  values.family = composition::Family::kSymmetric;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kTopK;
  values.outliers = 4;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("62 16 DefaultStore: Centered Threshold GroupShift JaggedCodec; CenteredRotated Threshold GroupShift JaggedCodec") {
  using Keys = BlockFormat<16, Centered, ThresholdSplit, GroupShiftQuant<>, JaggedCodec>;
  using Values = BlockFormat<16, ForValues<CenteredRotated>::Type, ThresholdSplit, GroupShiftQuant<>, JaggedCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCentered;
  keys.stored = composition::Stored::kBands;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCenteredRotated;
  values.stored = composition::Stored::kBands;
  values.group_channels = 16;
  values.family = composition::Family::kGroupShift;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("66 16 DefaultStore: Unrotated Threshold GroupShift Coo12; Kronecker Threshold GroupShift Coo12") {
  using Keys = BlockFormat<16, Unrotated, ThresholdSplit, GroupShiftQuant<>, CooCodec<12>>;
  using Values = BlockFormat<16, Kronecker, ThresholdSplit, GroupShiftQuant<>, CooCodec<12>>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kBands;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kBands;
  values.group_channels = 16;
  values.family = composition::Family::kGroupShift;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("70 16 DefaultStore: Balanced Threshold GroupShift Coo23; None Bands21 Affine SparseCodec") {
  using Keys = BlockFormat<16, Balanced, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>>;
  using Values = BlockFormat<16, None, NestedBands<2, 1>, AffineQuant<4>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kBalanced;
  keys.stored = composition::Stored::kCoo23;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kNone;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 16;
  values.family = composition::Family::kAffine;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kBands;
  values.outer_bands = 2;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

}  // namespace
}  // namespace kvpleat
