// Written by make_pairs.py; do not edit.
#include <doctest/doctest.h>

#include "composition/round_trip.h"

namespace kvpleat {
namespace {

using namespace composition;

TEST_CASE("04 16 UnitStore: Plain MadTensor Nuq SparseCodec; Balanced MadClampChannel MidRise2 DenseCodec") {
  using Keys = BlockFormat<16, Plain, MadSplit<3, MadOfTensor>, NuqQuant<4>, SparseCodec>;
  using Values = BlockFormat<16, Balanced, MadClamp<MadOfChannel<16>>, MidRiseQuant<2, 16, Axis::kChannels, BFloat16>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kPlain;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 16;
  keys.family = composition::Family::kNuq;
  keys.splitter = composition::Splitter::kMad;
  keys.outliers = 3;
  keys.mad = composition::MadOver::kTensor;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kBalanced;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kMidRise;
  values.bits = 2;
  values.side_ulp = 0x1p-7;
  values.splitter = composition::Splitter::kMadClamp;
  values.mad = composition::MadOver::kChannel;
  composition::round_trip<Crossed<UnitStore, Keys, Values>>(keys, values);
}

TEST_CASE("08 32 DefaultStore: Kronecker Threshold GroupShift JaggedCodec; None Bands12 MinifloatHead SparseCodec") {
  using Keys = BlockFormat<32, Kronecker, ThresholdSplit, GroupShiftQuant<>, JaggedCodec>;
  using Values = BlockFormat<32, None, NestedBands<1, 2>, MinifloatQuant<Fp8E4m3, NoSide>, SparseCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kKronecker;
  keys.stored = composition::Stored::kBands;
  keys.group_channels = 32;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kNone;
  values.stored = composition::Stored::kSparse;
  values.group_channels = 32;
  values.family = composition::Family::kMinifloat;
  values.scales = composition::Scales::kHead;
  values.splitter = composition::Splitter::kBands;
  values.inner_bands = 2;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("12 32 DefaultStore: Balanced TopK Nuq3 SlotCodec; Kronecker NoSplit RenewedRefuse DenseCodec") {
  using Keys = BlockFormat<32, Balanced, TopKSplit<4>, NuqQuant<3, NuqScale::kRange, 16>, SlotCodec>;
  using Values = BlockFormat<32, Kronecker, NoSplit, RenewedScale<6, 64, RenewOverflow::kRefuse>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kBalanced;
  keys.stored = composition::Stored::kSlots;
  keys.group_channels = 16;
  keys.family = composition::Family::kNuq;
  keys.bits = 3;
  keys.splitter = composition::Splitter::kTopK;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kTile;
  values.group_channels = 32;
  values.family = composition::Family::kRenewed;
  values.bits = 6;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("16 40 DenseStore: Scaled Direction NuqFixed DirectionCodec; Plain TopK Sealed SlotCodec") {
  using Keys = BlockFormat<40, Scaled, DirectionSplit<40>, NuqQuant<4, NuqScale::kNone>, DirectionCodec>;
  using Values = BlockFormat<40, Plain, TopKSplit<4>, SealedScale<8, 64>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 40;
  keys.transform = composition::Transform::kScaled;
  keys.stored = composition::Stored::kDirection;
  keys.group_channels = 40;
  keys.family = composition::Family::kNuq;
  keys.ranged = false;
  keys.splitter = composition::Splitter::kDirection;
  composition::Policies values;
  values.dim = 40;
  values.transform = composition::Transform::kPlain;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 40;
  values.family = composition::Family::kSealed;
  values.bits = 8;
  values.group_tokens = 64;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kTopK;
  values.outliers = 4;
  composition::round_trip<Crossed<DenseStore, Keys, Values>>(keys, values);
}

TEST_CASE("20 40 DenseStore: None Mad Renewed SlotCodec; Plain Direction Affine DirectionCodec") {
  using Keys = BlockFormat<40, None, MadSplit<4>, RenewedScale<8, 64>, SlotCodec>;
  using Values = BlockFormat<40, Plain, DirectionSplit<40>, AffineQuant<4>, DirectionCodec>;
  composition::Policies keys;
  keys.dim = 40;
  keys.transform = composition::Transform::kNone;
  keys.stored = composition::Stored::kSlots;
  keys.group_channels = 40;
  keys.family = composition::Family::kRenewed;
  keys.bits = 8;
  keys.splitter = composition::Splitter::kMad;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 40;
  values.transform = composition::Transform::kPlain;
  values.stored = composition::Stored::kDirection;
  values.group_channels = 40;
  values.family = composition::Family::kAffine;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kDirection;
  composition::round_trip<Crossed<DenseStore, Keys, Values>>(keys, values);
}

TEST_CASE("24 32 DefaultStore: Centered MadClamp GgmlQ5_1 RowCodec; Kronecker MadClamp GgmlQ8_0 RowCodec") {
  using Keys = BlockFormat<32, Centered, MadClamp<>, GgmlQuant<GgmlType::kQ5_1>, RowCodec>;
  using Values = BlockFormat<32, Kronecker, MadClamp<>, GgmlQuant<GgmlType::kQ8_0>, RowCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kCentered;
  keys.stored = composition::Stored::kRuns;
  keys.group_channels = 32;
  keys.family = composition::Family::kGgml;
  keys.ggml = 3;
  keys.splitter = composition::Splitter::kMadClamp;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kKronecker;
  values.stored = composition::Stored::kRuns;
  values.group_channels = 32;
  values.family = composition::Family::kGgml;
  values.ggml = 4;
  values.splitter = composition::Splitter::kMadClamp;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("28 16 DefaultStore: CenteredRotated Range Nuq SparseCodec; Rotated Mad ZeroPoint SlotCodec") {
  using Keys = BlockFormat<16, CenteredRotated, RangeSplit<>, NuqQuant<4>, SparseCodec>;
  using Values = BlockFormat<16, Rotated, MadSplit<4>, ZeroPointQuant<4>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCenteredRotated;
  keys.stored = composition::Stored::kSparse;
  keys.group_channels = 16;
  keys.family = composition::Family::kNuq;
  keys.splitter = composition::Splitter::kRange;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kRotated;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 16;
  values.family = composition::Family::kZeroPoint;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kMad;
  values.outliers = 4;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("32 16 DefaultStore: CenteredRotated Bands10 GroupShift10 FusedToken; CenteredRotated Direction ZeroPoint DirectionCodec") {
  using Keys = BlockFormat<16, CenteredRotated, NestedBands<1, 0>, GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5, ParameterScope::kLayer, 1, 0>, BasicFusedCodec<CooEntry8, SpillAlign::kToken>>;
  using Values = BlockFormat<16, ForValues<CenteredRotated>::Type, DirectionSplit<16>, ZeroPointQuant<4>, DirectionCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCenteredRotated;
  keys.stored = composition::Stored::kBands;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  keys.inner_bands = 0;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCenteredRotated;
  values.stored = composition::Stored::kDirection;
  values.group_channels = 16;
  values.family = composition::Family::kZeroPoint;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kDirection;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("36 32 DefaultStore: Unrotated NoSplit GgmlQ4_0 RowCodec; Balanced NoSplit GgmlQ4_0 RowCodec") {
  using Keys = BlockFormat<32, Unrotated, NoSplit, GgmlQuant<GgmlType::kQ4_0>, RowCodec>;
  using Values = BlockFormat<32, Balanced, NoSplit, GgmlQuant<GgmlType::kQ4_0>, RowCodec>;
  composition::Policies keys;
  keys.dim = 32;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kRuns;
  keys.group_channels = 32;
  keys.family = composition::Family::kGgml;
  keys.ggml = 0;
  composition::Policies values;
  values.dim = 32;
  values.transform = composition::Transform::kBalanced;
  values.stored = composition::Stored::kRuns;
  values.group_channels = 32;
  values.family = composition::Family::kGgml;
  values.ggml = 0;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("40 16 DefaultStore: Plain TopK Symmetric HashSparse; Rotated TopK Codebook SlotCodec") {
  using Keys = BlockFormat<16, Plain, TopKSplit<4>, SymmetricQuant<4>, HashSparse<>>;
  using Values = BlockFormat<16, Rotated, TopKSplit<4>, CodebookQuant<4, GaussianBook>, SlotCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kPlain;
  keys.stored = composition::Stored::kHash;
  keys.group_channels = 16;
  keys.family = composition::Family::kSymmetric;
  keys.side_ulp = 0x1p-10;
  keys.splitter = composition::Splitter::kTopK;
  keys.outliers = 4;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kRotated;
  values.stored = composition::Stored::kSlots;
  values.group_channels = 16;
  values.family = composition::Family::kCodebook;
  values.scaling = ScalePolicy::kLeastSquares;
  values.splitter = composition::Splitter::kTopK;
  values.outliers = 4;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("44 16 DefaultStore: Centered MadClamp Renewed DenseCodec; Rotated MadClamp Sealed DenseCodec") {
  using Keys = BlockFormat<16, Centered, MadClamp<>, RenewedScale<8, 64>, DenseCodec>;
  using Values = BlockFormat<16, Rotated, MadClamp<>, SealedScale<8, 64>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCentered;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kRenewed;
  keys.bits = 8;
  keys.splitter = composition::Splitter::kMadClamp;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kRotated;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kSealed;
  values.bits = 8;
  values.group_tokens = 64;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kMadClamp;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("48 40 DefaultStore: None Threshold GroupShift JaggedCodec; Rotated Threshold GroupShift Coo12") {
  using Keys = BlockFormat<40, None, ThresholdSplit, GroupShiftQuant<>, JaggedCodec>;
  using Values = BlockFormat<40, Rotated, ThresholdSplit, GroupShiftQuant<>, CooCodec<12>>;
  composition::Policies keys;
  keys.dim = 40;
  keys.transform = composition::Transform::kNone;
  keys.stored = composition::Stored::kBands;
  keys.group_channels = 40;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 40;
  values.transform = composition::Transform::kRotated;
  values.stored = composition::Stored::kBands;
  values.group_channels = 40;
  values.family = composition::Family::kGroupShift;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("52 16 DefaultStore: Unrotated NoSplit Nuq DenseCodec; CenteredRotated NoSplit Renewed DenseCodec") {
  using Keys = BlockFormat<16, Unrotated, NoSplit, NuqQuant<4>, DenseCodec>;
  using Values = BlockFormat<16, ForValues<CenteredRotated>::Type, NoSplit, RenewedScale<8, 64>, DenseCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kUnrotated;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kNuq;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kCenteredRotated;
  values.stored = composition::Stored::kTile;
  values.group_channels = 16;
  values.family = composition::Family::kRenewed;
  values.bits = 8;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("56 16 DefaultStore: Balanced NoSplit Sealed DenseCodec; None TopK Symmetric HashSparse") {
  using Keys = BlockFormat<16, Balanced, NoSplit, SealedScale<8, 64>, DenseCodec>;
  using Values = BlockFormat<16, None, TopKSplit<4>, SymmetricQuant<4>, HashSparse<>>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kBalanced;
  keys.stored = composition::Stored::kTile;
  keys.group_channels = 16;
  keys.family = composition::Family::kSealed;
  keys.bits = 8;
  keys.group_tokens = 64;
  keys.side_ulp = 0x1p-10;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kNone;
  values.stored = composition::Stored::kHash;
  values.group_channels = 16;
  values.family = composition::Family::kSymmetric;
  values.side_ulp = 0x1p-10;
  values.splitter = composition::Splitter::kTopK;
  values.outliers = 4;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("60 16 DefaultStore: Scaled Threshold GroupShift FusedCodec; Kronecker Threshold GroupShift FusedCodec") {
  using Keys = BlockFormat<16, Scaled, ThresholdSplit, GroupShiftQuant<>, FusedCodec>;
  using Values = BlockFormat<16, Kronecker, ThresholdSplit, GroupShiftQuant<>, FusedCodec>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kScaled;
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

TEST_CASE("64 16 DefaultStore: Balanced Threshold GroupShift JaggedCodec; Centered Threshold GroupShift Coo12") {
  using Keys = BlockFormat<16, Balanced, ThresholdSplit, GroupShiftQuant<>, JaggedCodec>;
  using Values = BlockFormat<16, Centered, ThresholdSplit, GroupShiftQuant<>, CooCodec<12>>;
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
  values.stored = composition::Stored::kBands;
  values.group_channels = 16;
  values.family = composition::Family::kGroupShift;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

TEST_CASE("68 16 DefaultStore: CenteredRotated Threshold GroupShift Coo23; Scaled Threshold GroupShift Coo23") {
  using Keys = BlockFormat<16, CenteredRotated, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>>;
  using Values = BlockFormat<16, Scaled, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>>;
  composition::Policies keys;
  keys.dim = 16;
  keys.transform = composition::Transform::kCenteredRotated;
  keys.stored = composition::Stored::kCoo23;
  keys.group_channels = 16;
  keys.family = composition::Family::kGroupShift;
  keys.splitter = composition::Splitter::kBands;
  composition::Policies values;
  values.dim = 16;
  values.transform = composition::Transform::kScaled;
  values.stored = composition::Stored::kCoo23;
  values.group_channels = 16;
  values.family = composition::Family::kGroupShift;
  values.splitter = composition::Splitter::kBands;
  composition::round_trip<Crossed<DefaultStore, Keys, Values>>(keys, values);
}

}  // namespace
}  // namespace kvpleat
