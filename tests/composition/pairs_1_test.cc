// Written by make_pairs.py; do not edit.
#include <doctest/doctest.h>

#include "composition/round_trip.h"

namespace kvpleat {
namespace {

using namespace composition;

TEST_CASE("01 NoSplit DenseCodec DefaultStore None 16, Affine 2 whole Half") {
  using Quant = AffineQuant<2, kWholeHead, Axis::kChannels, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kAffine;
  policies.bits = 2;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("04 NoSplit DenseCodec DenseStore CenteredRotated 24, PowerOfTwo 5 channels float") {
  using Quant = PowerOfTwoQuant<5, 32, Axis::kChannels>;
  using Mine = Composed<24, CenteredRotated, NoSplit, Quant, DenseCodec, DenseStore>;
  composition::Policies policies;
  policies.dim = 24;
  policies.transform = composition::Transform::kCenteredRotated;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 5;
  policies.group_channels = 24;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("07 TopKSplit<1> SlotCodec DefaultStore None 16, PowerOfTwo 5 tokens float") {
  using Quant = PowerOfTwoQuant<5, 32, Axis::kTokens>;
  using Mine = Composed<16, None, TopKSplit<1>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 5;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("10 TopKSplit<4> SlotCodec DenseStore CenteredRotated 16, Affine 2 tokens BFloat16") {
  using Quant = AffineQuant<2, 32, Axis::kTokens, BFloat16>;
  using Mine = Composed<16, CenteredRotated, TopKSplit<4>, Quant, SlotCodec, DenseStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCenteredRotated;
  policies.family = composition::Family::kAffine;
  policies.bits = 2;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-7;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("13 TopKSplit<1> SlotCodec UnitStore Centered 24, Symmetric 2 channels float") {
  using Quant = SymmetricQuant<2, 32, Axis::kChannels, float>;
  using Mine = Composed<24, Centered, TopKSplit<1>, Quant, SlotCodec, UnitStore>;
  composition::Policies policies;
  policies.dim = 24;
  policies.transform = composition::Transform::kCentered;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 2;
  policies.group_channels = 24;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("16 TopKSplit<1> SlotCodec UnitStore Centered 24, Affine 6 tokens Half") {
  using Quant = AffineQuant<6, 32, Axis::kTokens, Half>;
  using Mine = Composed<24, Centered, TopKSplit<1>, Quant, SlotCodec, UnitStore>;
  composition::Policies policies;
  policies.dim = 24;
  policies.transform = composition::Transform::kCentered;
  policies.family = composition::Family::kAffine;
  policies.bits = 6;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-10;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("19 TopKSplit<4> SlotCodec DenseStore Rotated 16, Symmetric 3 tokens Half") {
  using Quant = SymmetricQuant<3, 32, Axis::kTokens, Half>;
  using Mine = Composed<16, Rotated, TopKSplit<4>, Quant, SlotCodec, DenseStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kRotated;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 3;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-10;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("22 NoSplit DenseCodec UnitStore Centered 40, Symmetric 5 channels Half") {
  using Quant = SymmetricQuant<5, 32, Axis::kChannels, Half>;
  using Mine = Composed<40, Centered, NoSplit, Quant, DenseCodec, UnitStore>;
  composition::Policies policies;
  policies.dim = 40;
  policies.transform = composition::Transform::kCentered;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 5;
  policies.group_channels = 32;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("25 TopKSplit<4> SlotCodec DefaultStore None 16, Symmetric 6 channels BFloat16") {
  using Quant = SymmetricQuant<6, 32, Axis::kChannels, BFloat16>;
  using Mine = Composed<16, None, TopKSplit<4>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 6;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-7;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("28 ThresholdSplit FusedCodec DefaultStore Rotated 16, GroupShift") {
  using Quant = GroupShiftQuant<>;
  using Mine = Composed<16, Rotated, ThresholdSplit, Quant, FusedCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kRotated;
  policies.family = composition::Family::kGroupShift;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("31 NoSplit DenseCodec DefaultStore CenteredRotated 16, Symmetric 2 whole Half") {
  using Quant = SymmetricQuant<2, kWholeHead, Axis::kChannels, Half>;
  using Mine = Composed<16, CenteredRotated, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCenteredRotated;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 2;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("34 TopKSplit<1> SlotCodec DefaultStore None 16, Symmetric 2 tokens Half") {
  using Quant = SymmetricQuant<2, 32, Axis::kTokens, Half>;
  using Mine = Composed<16, None, TopKSplit<1>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 2;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-10;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 1;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("37 TopKSplit<4> SlotCodec DefaultStore Centered 16, Symmetric 3 whole Half") {
  using Quant = SymmetricQuant<3, kWholeHead, Axis::kChannels, Half>;
  using Mine = Composed<16, Centered, TopKSplit<4>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCentered;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 3;
  policies.group_channels = 16;
  policies.side_ulp = 0x1p-10;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("40 TopKSplit<4> SlotCodec DefaultStore Centered 16, PowerOfTwo 4 channels float") {
  using Quant = PowerOfTwoQuant<4, 32, Axis::kChannels>;
  using Mine = Composed<16, Centered, TopKSplit<4>, Quant, SlotCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kCentered;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 4;
  policies.group_channels = 16;
  policies.splitter = composition::Splitter::kTopK;
  policies.outliers = 4;
  policies.stored = composition::Stored::kSlots;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("43 NoSplit DenseCodec DefaultStore None 16, Affine 5 tokens Half") {
  using Quant = AffineQuant<5, 32, Axis::kTokens, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kAffine;
  policies.bits = 5;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("46 NoSplit DenseCodec DefaultStore None 16, Affine 8 tokens Half") {
  using Quant = AffineQuant<8, 32, Axis::kTokens, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kAffine;
  policies.bits = 8;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("49 NoSplit DenseCodec DefaultStore None 16, Symmetric 5 tokens Half") {
  using Quant = SymmetricQuant<5, 32, Axis::kTokens, Half>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kSymmetric;
  policies.bits = 5;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  policies.side_ulp = 0x1p-10;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("52 NoSplit DenseCodec DefaultStore None 16, Symmetric 8 channels Half") {
  using Quant = SymmetricQuant<8, 32, Axis::kChannels, Half>;
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

TEST_CASE("55 NoSplit DenseCodec DefaultStore None 16, PowerOfTwo 6 whole float") {
  using Quant = PowerOfTwoQuant<6, kWholeHead, Axis::kChannels>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 6;
  policies.group_channels = 16;
  composition::round_trip<Mine>(policies);
}

TEST_CASE("58 NoSplit DenseCodec DefaultStore None 16, PowerOfTwo 8 tokens float") {
  using Quant = PowerOfTwoQuant<8, 32, Axis::kTokens>;
  using Mine = Composed<16, None, NoSplit, Quant, DenseCodec, DefaultStore>;
  composition::Policies policies;
  policies.dim = 16;
  policies.transform = composition::Transform::kNone;
  policies.family = composition::Family::kPowerOfTwo;
  policies.bits = 8;
  policies.group_channels = 1;
  policies.group_tokens = 32;
  composition::round_trip<Mine>(policies);
}

}  // namespace
}  // namespace kvpleat
