// Written by make_pairs.py; do not edit.
#include <doctest/doctest.h>

#include "composition/round_trip.h"

namespace kvpleat {
namespace {

using namespace composition;

TEST_CASE("01 32 DefaultStore: Scaled Range MidRise SparseCodec; Plain MadClamp GgmlQ4_0 RowCodec") {
  using Keys = BlockFormat<32, Scaled, RangeSplit<>, MidRiseQuant<4>, SparseCodec>;
  using Values = BlockFormat<32, Plain, MadClamp<>, GgmlQuant<GgmlType::kQ4_0>, RowCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kScaled;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 32;
  keys.family = composition::Family::kMidRise;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kRange;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kPlain;
  values.stored = composition::Stored::kRuns;
  values.group_channels = 32;
  values.family = composition::Family::kGgml;
  values.ggml = 0;
  values.splitter = composition::Splitter::kMadClamp;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("05 40 DefaultStore: Unrotated Bands21 ZeroPoint8 SparseCodec; Balanced Direction CodebookNorm DirectionCodec") {
  using Keys = BlockFormat<40, Unrotated, NestedBands<2, 1>, ZeroPointQuant<8, 16>, SparseCodec>;
  using Values = BlockFormat<40, Balanced, DirectionSplit<40>, CodebookQuant<2, SphereBook<40>, ScalePolicy::kNorm>, DirectionCodec>;
  composition::Policies keys;
  keys.dim = 40;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 16;
  keys.family = composition::Family::kZeroPoint;
  keys.bits = 8;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kBands;
  keys.outer_bands = 2;
  composition::Policies values;
  values.dim = 40;
  values.transform = composition::Transform::kBalanced;
  values.stored = composition::Stored::kDirection;
  values.group_channels = 40;
  values.family = composition::Family::kCodebook;
  values.bits = 2;
  values.scaling = ScalePolicy::kNorm;
  values.sphere = true;
  values.splitter = composition::Splitter::kDirection;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("09 16 UnitStore: Unrotated RangeCapped Renewed SlotCodec; Kronecker Bands10 CodebookMatched SparseCodec") {
  using Keys = BlockFormat<16, Unrotated, RangeSplit<4>, RenewedScale<8, 64>, SlotCodec>;
  using Values = BlockFormat<16, Kronecker, NestedBands<1, 0>, CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kSlots;
  keys.group_channels = 16;
  keys.family = composition::Family::kRenewed;
  keys.bits = 8;
  keys.splitter = composition::Splitter::kRange;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 16;
  values.family = composition::Family::kCodebook;
  values.bits = 3;
  values.scaling = ScalePolicy::kMatchedNorm;
  values.splitter = composition::Splitter::kBands;
  values.inner_bands = 0;
  composition::round_trip<Crossed<UnitStore, Keys, Values>>(keys, values);
}

TEST_CASE("13 32 UnitStore: Rotated NoSplit GgmlQ4_1 RowCodec; Balanced Threshold Affine SparseCodec") {
  using Keys = BlockFormat<32, Rotated, NoSplit, GgmlQuant<GgmlType::kQ4_1>, RowCodec>;
  using Values = BlockFormat<32, Balanced, ThresholdSplit, AffineQuant<4>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kRotated;
  keys.stored = composition::Stored::kRuns;
  keys.group_channels = 32;
  keys.family = composition::Family::kGgml;
  keys.ggml = 1;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kBalanced;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 32;
  values.family = composition::Family::kAffine;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<UnitStore, Keys, Values>>(keys, values);
}

TEST_CASE("17 32 DenseStore: Unrotated MadClamp CodebookLog DenseCodec; CenteredRotated MadClamp GgmlQ5_0 RowCodec") {
  using Keys = BlockFormat<32, Unrotated, MadClamp<>, CodebookQuant<4, SphereBook<32>, ScalePolicy::kUnbiased, LogScale8>, DenseCodec>;
  using Values = BlockFormat<32, ForValues<CenteredRotated>::Type, MadClamp<>, GgmlQuant<GgmlType::kQ5_0>, RowCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 32;
  keys.family = composition::Family::kCodebook;
  keys.scaling = ScalePolicy::kUnbiased;
  keys.sphere = true;
  keys.log_side = true;
  keys.splitter = composition::Splitter::kMadClamp;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kCenteredRotated;
  values.stored = composition::Stored::kRuns;
  values.group_channels = 32;
  values.family = composition::Family::kGgml;
  values.ggml = 2;
  values.splitter = composition::Splitter::kMadClamp;
  composition::round_trip<Crossed<DenseStore, Keys, Values>>(keys, values);
}

TEST_CASE("21 16 UnitStore: Unrotated Threshold GroupShift JaggedCodec; None Direction MidRise DirectionCodec") {
  using Keys = BlockFormat<16, Unrotated, ThresholdSplit, GroupShiftQuant<>, JaggedCodec>;
  using Values = BlockFormat<16, None, DirectionSplit<16>, MidRiseQuant<4>, DirectionCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kBands;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kNone;
  values.stored = composition::Stored::kDirection;
  values.group_channels = 16;
  values.family = composition::Family::kMidRise;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kDirection;
  composition::round_trip<Crossed<UnitStore, Keys, Values>>(keys, values);
}

TEST_CASE("25 16 DefaultStore: Scaled Bands21 Symmetric SparseCodec; Plain Bands12 GroupShift12 FusedWide") {
  using Keys = BlockFormat<16, Scaled, NestedBands<2, 1>, SymmetricQuant<4>, SparseCodec>;
  using Values = BlockFormat<16, Plain, NestedBands<1, 2>, GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5, ParameterScope::kHead, 1, 2>, BasicFusedCodec<CooEntry16, SpillAlign::kChunk>>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kScaled;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 16;
  keys.family = composition::Family::kSymmetric;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kBands;
  keys.outer_bands = 2;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kPlain;
  values.stored = composition::Stored::kBands;
  values.group_channels = 16;
  values.family = composition::Family::kGroupShift;
  values.per_head = true;
  values.splitter = composition::Splitter::kBands;
  values.inner_bands = 2;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("29 16 DefaultStore: Unrotated Mad Sealed SlotCodec; CenteredRotated Mad Codebook SlotCodec") {
  using Keys = BlockFormat<16, Unrotated, MadSplit<4>, SealedScale<8, 64>, SlotCodec>;
  using Values = BlockFormat<16, ForValues<CenteredRotated>::Type, MadSplit<4>, CodebookQuant<4, GaussianBook>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kSlots;
  keys.group_channels = 16;
  keys.family = composition::Family::kSealed;
  keys.bits = 8;
  keys.group_tokens = 64;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kMad;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCenteredRotated;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 16;
  values.family = composition::Family::kCodebook;
  values.scaling = ScalePolicy::kLeastSquares;
  values.splitter = composition::Splitter::kMad;
  values.outliers = 4;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("33 16 DefaultStore: Centered NoSplit MidRise DenseCodec; Plain NoSplit ZeroPoint DenseCodec") {
  using Keys = BlockFormat<16, Centered, NoSplit, MidRiseQuant<4>, DenseCodec>;
  using Values = BlockFormat<16, Plain, NoSplit, ZeroPointQuant<4>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCentered;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kMidRise;
  keys.side_ulp = 0x1p-10;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kPlain;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kZeroPoint;
  values.side_ulp = 0x1p-10;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("37 16 DefaultStore: None NoSplit Sketch SignSketchCodec; Rotated NoSplit Sketch SignSketchCodec") {
  using Keys = BlockFormat<16, None, NoSplit, SketchQuant<CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>, OrthogonalSketch<>, 16>, SignSketchCodec>;
  using Values = BlockFormat<16, Rotated, NoSplit, SketchQuant<CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>, OrthogonalSketch<>, 16>, SignSketchCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kNone;
  keys.stored = composition::Stored::kSketch;
  keys.group_channels = 16;
  keys.family = composition::Family::kCodebook;
  keys.bits = 3;
  keys.scaling = ScalePolicy::kMatchedNorm;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kRotated;
  values.stored = composition::Stored::kSketch;
  values.group_channels = 16;
  values.family = composition::Family::kCodebook;
  values.bits = 3;
  values.scaling = ScalePolicy::kMatchedNorm;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("41 16 DefaultStore: Rotated TopK Renewed SlotCodec; Kronecker Range Affine SparseCodec") {
  using Keys = BlockFormat<16, Rotated, TopKSplit<4>, RenewedScale<8, 64>, SlotCodec>;
  using Values = BlockFormat<16, Kronecker, RangeSplit<>, AffineQuant<4>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kRotated;
  keys.stored = composition::Stored::kSlots;
  keys.group_channels = 16;
  keys.family = composition::Family::kRenewed;
  keys.bits = 8;
  keys.splitter = composition::Splitter::kTopK;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 16;
  values.family = composition::Family::kAffine;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kRange;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("45 16 DefaultStore: Plain Threshold PowerOfTwo SparseCodec; Plain Threshold MidRise SparseCodec") {
  using Keys = BlockFormat<16, Plain, ThresholdSplit, PowerOfTwoQuant<4>, SparseCodec>;
  using Values = BlockFormat<16, Plain, ThresholdSplit, MidRiseQuant<4>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kPlain;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 16;
  keys.family = composition::Family::kPowerOfTwo;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kPlain;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 16;
  values.family = composition::Family::kMidRise;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("49 40 DefaultStore: Rotated Threshold GroupShift Coo23; Kronecker Bands21 PowerOfTwo SparseCodec") {
  using Keys = BlockFormat<40, Rotated, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>>;
  using Values = BlockFormat<40, Kronecker, NestedBands<2, 1>, PowerOfTwoQuant<4>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 40;
  keys.transform = composition::Transform::kRotated;
  keys.stored = composition::Stored::kCoo23;
  keys.group_channels = 40;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 40;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 40;
  values.family = composition::Family::kPowerOfTwo;
  values.splitter = composition::Splitter::kBands;
  values.outer_bands = 2;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("53 16 DefaultStore: Scaled NoSplit Renewed DenseCodec; Plain NoSplit Renewed DenseCodec") {
  using Keys = BlockFormat<16, Scaled, NoSplit, RenewedScale<8, 64>, DenseCodec>;
  using Values = BlockFormat<16, Plain, NoSplit, RenewedScale<8, 64>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kScaled;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kRenewed;
  keys.bits = 8;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kPlain;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kRenewed;
  values.bits = 8;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("57 16 DefaultStore: Rotated TopK Symmetric HashSparse; Centered TopK Symmetric HashSparse") {
  using Keys = BlockFormat<16, Rotated, TopKSplit<4>, SymmetricQuant<4>, HashSparse<>>;
  using Values = BlockFormat<16, Centered, TopKSplit<4>, SymmetricQuant<4>, HashSparse<>>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kRotated;
  keys.stored = composition::Stored::kHash;
  keys.group_channels = 16;
  keys.family = composition::Family::kSymmetric;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kTopK;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCentered;
  values.stored = composition::Stored::kHash;
  values.group_channels = 16;
  values.family = composition::Family::kSymmetric;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kTopK;
  values.outliers = 4;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("61 16 DefaultStore: Unrotated Threshold GroupShift FusedCodec; Rotated Threshold GroupShift JaggedCodec") {
  using Keys = BlockFormat<16, Unrotated, ThresholdSplit, GroupShiftQuant<>, FusedCodec>;
  using Values = BlockFormat<16, Rotated, ThresholdSplit, GroupShiftQuant<>, JaggedCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kBands;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kRotated;
  values.stored = composition::Stored::kBands;
  values.group_channels = 16;
  values.family = composition::Family::kGroupShift;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("65 16 DefaultStore: CenteredRotated Threshold GroupShift Coo12; Plain Threshold GroupShift Coo12") {
  using Keys = BlockFormat<16, CenteredRotated, ThresholdSplit, GroupShiftQuant<>, CooCodec<12>>;
  using Values = BlockFormat<16, Plain, ThresholdSplit, GroupShiftQuant<>, CooCodec<12>>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCenteredRotated;
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

TEST_CASE("69 16 DefaultStore: Unrotated Threshold GroupShift Coo23; Kronecker Threshold GroupShift Coo23") {
  using Keys = BlockFormat<16, Unrotated, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>>;
  using Values = BlockFormat<16, Kronecker, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kCoo23;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kCoo23;
  values.group_channels = 16;
  values.family = composition::Family::kGroupShift;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

}  // namespace
}  // namespace kvpleat
