// Written by make_pairs.py; do not edit.
#include <doctest/doctest.h>

#include "composition/round_trip.h"

namespace kvpleat {
namespace {

using namespace composition;

TEST_CASE("03 TopKSplit<4> SlotCodec UnitStore Centered 40, Affine 4 tokens float") {
  using Quant = AffineQuant<4, 32, Axis::kTokens, float>;
  using Mine = Composed<40, Centered, TopKSplit<4>, Quant, SlotCodec, UnitStore>;
  composition::Policies policies;
  policies.dim = 40;
  policies.transform = composition::Transform::kCentered;
  policies.family = composition::Family::kAffine;
  policies.bits = 4;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("06 NoSplit DenseCodec UnitStore Rotated 16, Symmetric 8 tokens BFloat16") {
  using Quant = SymmetricQuant<8, 32, Axis::kTokens, BFloat16>;
  using Mine = Composed<16, Rotated, NoSplit, Quant, DenseCodec, UnitStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kRotated;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 8;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-7;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("09 NoSplit DenseCodec UnitStore Centered 40, PowerOfTwo 3 whole float") {
  using Quant = PowerOfTwoQuant<3, kWholeHead, Axis::kChannels>;
  using Mine = Composed<40, Centered, NoSplit, Quant, DenseCodec, UnitStore>;
  composition::Policies policies;
  policies.dim = 40;
  policies.transform = composition::Transform::kCentered;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 3;
  policies.group_channels = 40;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("12 ThresholdSplit FusedCodec DefaultStore Centered 16, GroupShift") {
  using Quant = GroupShiftQuant<>;
  using Mine = Composed<16, Centered, ThresholdSplit, Quant, FusedCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCentered;
  policies.family = composition::Family::kGroupShift;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("15 NoSplit DenseCodec DefaultStore Rotated 16, PowerOfTwo 6 channels float") {
  using Quant = PowerOfTwoQuant<6, 32, Axis::kChannels>;
  using Mine = Composed<16, Rotated, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kRotated;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 6;
  policies.group_channels = 16;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("18 TopKSplit<1> SlotCodec DefaultStore CenteredRotated 40, PowerOfTwo 8 whole float") {
  using Quant = PowerOfTwoQuant<8, kWholeHead, Axis::kChannels>;
  using Mine = Composed<40, CenteredRotated, TopKSplit<1>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 40;
  policies.transform = composition::Transform::kCenteredRotated;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 8;
  policies.group_channels = 40;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("21 ThresholdSplit FusedCodec UnitStore CenteredRotated 24, GroupShift") {
  using Quant = GroupShiftQuant<>;
  using Mine = Composed<24, CenteredRotated, ThresholdSplit, Quant, FusedCodec, UnitStore>;
  composition::Policies policies;
  policies.dim = 24;
  policies.transform = composition::Transform::kCenteredRotated;
  policies.family = composition::Family::kGroupShift;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("24 TopKSplit<4> SlotCodec DefaultStore Rotated 40, PowerOfTwo 2 whole float") {
  using Quant = PowerOfTwoQuant<2, kWholeHead, Axis::kChannels>;
  using Mine = Composed<40, Rotated, TopKSplit<4>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 40;
  policies.transform = composition::Transform::kRotated;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 2;
  policies.group_channels = 40;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("27 TopKSplit<4> SlotCodec DefaultStore CenteredRotated 16, PowerOfTwo 4 whole float") {
  using Quant = PowerOfTwoQuant<4, kWholeHead, Axis::kChannels>;
  using Mine = Composed<16, CenteredRotated, TopKSplit<4>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCenteredRotated;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 4;
  policies.group_channels = 16;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("30 NoSplit DenseCodec DefaultStore Rotated 16, Affine 2 channels Half") {
  using Quant = AffineQuant<2, 32, Axis::kChannels, Half>;
  using Mine = Composed<16, Rotated, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kRotated;
  policies.family = composition::Family::kAffine;
  policies.bits = 2;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("33 TopKSplit<1> SlotCodec DefaultStore CenteredRotated 16, Affine 3 tokens Half") {
  using Quant = AffineQuant<3, 32, Axis::kTokens, Half>;
  using Mine = Composed<16, CenteredRotated, TopKSplit<1>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCenteredRotated;
  policies.family = composition::Family::kAffine;
  policies.bits = 3;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-10;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("36 TopKSplit<1> SlotCodec DefaultStore Centered 16, PowerOfTwo 2 tokens float") {
  using Quant = PowerOfTwoQuant<2, 32, Axis::kTokens>;
  using Mine = Composed<16, Centered, TopKSplit<1>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCentered;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 2;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("39 TopKSplit<4> SlotCodec DefaultStore None 16, PowerOfTwo 3 tokens float") {
  using Quant = PowerOfTwoQuant<3, 32, Axis::kTokens>;
  using Mine = Composed<16, None, TopKSplit<4>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 3;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("42 NoSplit DenseCodec DefaultStore None 16, Affine 5 channels Half") {
  using Quant = AffineQuant<5, 32, Axis::kChannels, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kAffine;
  policies.bits = 5;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("45 NoSplit DenseCodec DefaultStore None 16, Affine 6 channels Half") {
  using Quant = AffineQuant<6, 32, Axis::kChannels, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kAffine;
  policies.bits = 6;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("48 NoSplit DenseCodec DefaultStore None 16, Symmetric 5 whole Half") {
  using Quant = SymmetricQuant<5, kWholeHead, Axis::kChannels, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 5;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("51 NoSplit DenseCodec DefaultStore None 16, Symmetric 8 whole Half") {
  using Quant = SymmetricQuant<8, kWholeHead, Axis::kChannels, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 8;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("54 NoSplit DenseCodec DefaultStore None 16, PowerOfTwo 5 whole float") {
  using Quant = PowerOfTwoQuant<5, kWholeHead, Axis::kChannels>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 5;
  policies.group_channels = 16;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("57 NoSplit DenseCodec DefaultStore None 16, PowerOfTwo 8 channels float") {
  using Quant = PowerOfTwoQuant<8, 32, Axis::kChannels>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 8;
  policies.group_channels = 16;
  composition::round_trip<Mine>(policies);
}

}  // namespace
}  // namespace kvpleat
