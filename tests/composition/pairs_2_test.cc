// Written by make_pairs.py; do not edit.
#include <doctest/doctest.h>

#include "composition/round_trip.h"

namespace kvpleat {
namespace {

using namespace composition;

TEST_CASE("02 TopKSplit<1> SlotCodec DefaultStore Rotated 24, Symmetric 3 channels BFloat16") {
  using Quant = SymmetricQuant<3, 32, Axis::kChannels, BFloat16>;
  using Mine = Composed<24, Rotated, TopKSplit<1>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 24;
  policies.transform = composition::Transform::kRotated;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 3;
  policies.group_channels = 24;
  policies.side_ulp = 0x1p-7;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("05 TopKSplit<1> SlotCodec DenseStore CenteredRotated 40, Symmetric 6 whole Half") {
  using Quant = SymmetricQuant<6, kWholeHead, Axis::kChannels, Half>;
  using Mine = Composed<40, CenteredRotated, TopKSplit<1>, Quant, SlotCodec, DenseStore>;
  composition::Policies policies;
  policies.dim = 40;
  policies.transform = composition::Transform::kCenteredRotated;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 6;
  policies.group_channels = 40;
  policies.side_ulp = 0x1p-10;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("08 TopKSplit<4> SlotCodec UnitStore None 24, Affine 8 channels Half") {
  using Quant = AffineQuant<8, 32, Axis::kChannels, Half>;
  using Mine = Composed<24, None, TopKSplit<4>, Quant, SlotCodec, UnitStore>;
  composition::Policies policies;
  policies.dim = 24;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kAffine;
  policies.bits = 8;
  policies.group_channels = 24;
  policies.side_ulp = 0x1p-10;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("11 TopKSplit<4> SlotCodec DefaultStore Rotated 40, Affine 5 whole BFloat16") {
  using Quant = AffineQuant<5, kWholeHead, Axis::kChannels, BFloat16>;
  using Mine = Composed<40, Rotated, TopKSplit<4>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 40;
  policies.transform = composition::Transform::kRotated;
  policies.family = composition::Family::kAffine;
  policies.bits = 5;
  policies.group_channels = 40;
  policies.side_ulp = 0x1p-7;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("14 NoSplit DenseCodec DenseStore None 24, Symmetric 4 whole BFloat16") {
  using Quant = SymmetricQuant<4, kWholeHead, Axis::kChannels, BFloat16>;
  using Mine = Composed<24, None, NoSplit, Quant, DenseCodec, DenseStore>;
  composition::Policies policies;
  policies.dim = 24;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 4;
  policies.group_channels = 24;
  policies.side_ulp = 0x1p-7;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("17 ThresholdSplit FusedCodec UnitStore None 40, GroupShift") {
  using Quant = GroupShiftQuant<>;
  using Mine = Composed<40, None, ThresholdSplit, Quant, FusedCodec, UnitStore>;
  composition::Policies policies;
  policies.dim = 40;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kGroupShift;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("20 TopKSplit<1> SlotCodec DefaultStore Rotated 16, Affine 4 channels Half") {
  using Quant = AffineQuant<4, 32, Axis::kChannels, Half>;
  using Mine = Composed<16, Rotated, TopKSplit<1>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kRotated;
  policies.family = composition::Family::kAffine;
  policies.bits = 4;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("23 NoSplit DenseCodec DenseStore Centered 16, Affine 8 whole BFloat16") {
  using Quant = AffineQuant<8, kWholeHead, Axis::kChannels, BFloat16>;
  using Mine = Composed<16, Centered, NoSplit, Quant, DenseCodec, DenseStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCentered;
  policies.family = composition::Family::kAffine;
  policies.bits = 8;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-7;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("26 NoSplit DenseCodec DefaultStore CenteredRotated 16, Affine 3 whole Half") {
  using Quant = AffineQuant<3, kWholeHead, Axis::kChannels, Half>;
  using Mine = Composed<16, CenteredRotated, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCenteredRotated;
  policies.family = composition::Family::kAffine;
  policies.bits = 3;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("29 NoSplit DenseCodec DefaultStore None 16, PowerOfTwo 3 channels float") {
  using Quant = PowerOfTwoQuant<3, 32, Axis::kChannels>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 3;
  policies.group_channels = 16;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("32 TopKSplit<1> SlotCodec DefaultStore None 16, Affine 3 channels Half") {
  using Quant = AffineQuant<3, 32, Axis::kChannels, Half>;
  using Mine = Composed<16, None, TopKSplit<1>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kAffine;
  policies.bits = 3;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("35 TopKSplit<1> SlotCodec DefaultStore Rotated 16, PowerOfTwo 2 channels float") {
  using Quant = PowerOfTwoQuant<2, 32, Axis::kChannels>;
  using Mine = Composed<16, Rotated, TopKSplit<1>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kRotated;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 2;
  policies.group_channels = 16;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("38 TopKSplit<4> SlotCodec DefaultStore CenteredRotated 16, Symmetric 4 channels Half") {
  using Quant = SymmetricQuant<4, 32, Axis::kChannels, Half>;
  using Mine = Composed<16, CenteredRotated, TopKSplit<4>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCenteredRotated;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 4;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("41 NoSplit DenseCodec DefaultStore None 16, Affine 4 whole Half") {
  using Quant = AffineQuant<4, kWholeHead, Axis::kChannels, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kAffine;
  policies.bits = 4;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("44 NoSplit DenseCodec DefaultStore None 16, Affine 6 whole Half") {
  using Quant = AffineQuant<6, kWholeHead, Axis::kChannels, Half>;
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

TEST_CASE("47 NoSplit DenseCodec DefaultStore None 16, Symmetric 4 tokens Half") {
  using Quant = SymmetricQuant<4, 32, Axis::kTokens, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 4;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("50 NoSplit DenseCodec DefaultStore None 16, Symmetric 6 tokens Half") {
  using Quant = SymmetricQuant<6, 32, Axis::kTokens, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 6;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("53 NoSplit DenseCodec DefaultStore None 16, PowerOfTwo 4 tokens float") {
  using Quant = PowerOfTwoQuant<4, 32, Axis::kTokens>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 4;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("56 NoSplit DenseCodec DefaultStore None 16, PowerOfTwo 6 tokens float") {
  using Quant = PowerOfTwoQuant<6, 32, Axis::kTokens>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 6;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  composition::round_trip<Mine>(policies);
}

}  // namespace
}  // namespace kvpleat
