// The laws of the Format concept, one line per format.
#include <doctest/doctest.h>

#include <cstdint>

#include "kvpleat/format/formats.h"
#include "support/format_laws.h"

using namespace kvpleat;
using test::key_and_value;
using test::key_only;
using test::value_only;

namespace {

template <std::uint32_t kDim>
using CenteredRotatedKey4 = formats::CenteredRotatedKey<kDim, 4>;
template <std::uint32_t kDim>
using CenteredRotatedKey3 = formats::CenteredRotatedKey<kDim, 3>;
template <std::uint32_t kDim>
using RotatedValue4 = formats::RotatedValue<kDim, 4>;
template <std::uint32_t kDim>
using CenteredInt4 = BlockFormat<kDim, Center, NoSplit, AffineQuant<4>, DenseCodec>;
template <std::uint32_t kDim>
using CenteredTwice = BlockFormat<kDim, Chain<Center, RandomHadamard<2>>, TopKSplit<3>,
                                  AffineQuant<5, 32>, SlotCodec>;
template <std::uint32_t kDim>
using Int4Channel128 = formats::IntChannel<kDim, 4, 128>;

}  // namespace

TEST_CASE("laws: F32") {
  key_and_value<formats::F32, 1, 40>();
}
TEST_CASE("laws: F16") {
  key_and_value<formats::F16, 3, 72>();
}
TEST_CASE("laws: BF16") {
  key_and_value<formats::BF16, 8, 64>();
}
TEST_CASE("laws: Int8") {
  key_and_value<formats::Int8, 1, 64, 72>();
}
TEST_CASE("laws: Int6") {
  key_and_value<formats::Int6, 40, 128>();
}
TEST_CASE("laws: Int5") {
  key_and_value<formats::Int5, 8, 80>();
}
TEST_CASE("laws: Int4") {
  key_and_value<formats::Int4, 1, 40, 128, 576>();
}
TEST_CASE("laws: Int3") {
  key_and_value<formats::Int3, 8, 72, 192>();
}
TEST_CASE("laws: Int2") {
  key_and_value<formats::Int2, 1, 64, 80>();
}
TEST_CASE("laws: Int4G32") {
  key_and_value<formats::Int4G32, 8, 80, 192>();
}
TEST_CASE("laws: Int4Channel") {
  key_and_value<formats::Int4Channel, 1, 40, 128>();
}
TEST_CASE("laws: Int2Channel") {
  key_and_value<formats::Int2Channel, 8, 72>();
}
TEST_CASE("laws: groups of 128 tokens") {
  key_and_value<Int4Channel128, 24>();
}
TEST_CASE("laws: Int4TopK") {
  key_and_value<formats::Int4TopK, 1, 64, 72, 576>();
}
TEST_CASE("laws: CenteredRotatedKey") {
  key_only<CenteredRotatedKey4, 1, 8, 64, 80, 576>();
  key_only<CenteredRotatedKey3, 72>();
}
TEST_CASE("laws: RotatedValue") {
  value_only<RotatedValue4, 1, 40, 128>();
}
TEST_CASE("laws: centred 4 bit") {
  key_and_value<CenteredInt4, 40>();
}
TEST_CASE("laws: centred, rotated, slots, short groups") {
  key_and_value<CenteredTwice, 72>();
}

TEST_CASE("block sizes are the byte formulas") {
  const auto check = []<template <std::uint32_t> class F, std::uint32_t kDim>(
                         std::uint32_t bits, std::uint32_t side_bytes, std::uint32_t outliers) {
    using Key = typename F<kDim>::template As<Role::kKey>;
    using Value = typename F<kDim>::template As<Role::kValue>;
    CAPTURE(kDim);
    CAPTURE(bits);
    const std::uint32_t padded = (kDim + 15) / 16 * 16;
    const std::uint32_t codes = 64 * padded * bits / 8;
    CHECK(Key::kBlockBytes == codes + side_bytes + outliers);
    CHECK(Value::kBlockBytes == codes + side_bytes + outliers);
    CHECK(Key::kCodeBytes == codes);
    CHECK(Key::kSideBytes == side_bytes);
    CHECK(Key::kOutlierBytes == outliers);
    CHECK(Key::kSharedBytes == 0);
  };
  // Whole-head groups: 4 bytes per token.
  check.operator()<formats::Int8, 128>(8, 256, 0);
  check.operator()<formats::Int6, 64>(6, 256, 0);
  check.operator()<formats::Int4, 72>(4, 256, 0);
  check.operator()<formats::Int2, 576>(2, 256, 0);
  check.operator()<formats::Int2, 1>(2, 256, 0);
  // Groups of 32 channels, the last short: 4 bytes per group and token.
  check.operator()<formats::Int4G32, 80>(4, 3 * 256, 0);
  // Groups of 32 tokens: 4 bytes per padded channel, twice per block.
  check.operator()<formats::Int4Channel, 72>(4, 2 * 80 * 4, 0);
  check.operator()<formats::Int2Channel, 128>(2, 2 * 128 * 4, 0);
  // Four slots: index, delta, and a scale per token; two-byte indices above 256.
  check.operator()<formats::Int4TopK, 64>(4, 256, 64 * (4 + 4 + 2));
  check.operator()<formats::Int4TopK, 576>(4, 256, 64 * (8 + 4 + 2));
  CHECK(formats::Oaken<80>::kBlockBytes == 64 * 40 + 64 * 2);
  CHECK(formats::Oaken<80>::kSharedBytes == 64 * 12);
  CHECK(formats::F16<72>::kBlockBytes == 64 * 72 * 2);
  // 1-bit planes of keys come in lines of 32 channels: padding above 16 where head_dim is not a
  // multiple of 32. 3 bits: [16 * 80 / 4] + [3 lines] per 16 tokens.
  CHECK(formats::Int3<72>::kBlockBytes == 4 * (5 * 64 + 3 * 64) + 256);
  CHECK(formats::Int3<72>::As<Role::kValue>::kBlockBytes == 64 * 80 * 3 / 8 + 256);
  CHECK(formats::Int5<80>::kBlockBytes == 4 * (10 * 64 + 3 * 64) + 256);
}

TEST_CASE("the identity names every policy and the role") {
  CHECK(formats::Int4<64>::kId.view() ==
        "dim=64;transform=none;split=none;quant=affine;bits=4;group=0;axis=channels;side=f16;"
        "codec=dense;role=key");
  CHECK(formats::Int4<64>::As<Role::kValue>::kId.view().ends_with("role=value"));
  CHECK(formats::Oaken<64>::kId.view() ==
        "dim=64;transform=none;split=threshold;bands=3;quant=group_shift;bits=4;outlier=sign_"
        "magnitude_5;shift=outer_and_middle;scope=layer;codec=fused;order=published;entry=8;align="
        "block;"
        "role=key");
}
