// The laws of the Format concept for Oaken in resident order and as coordinates.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "kvpleat/format/oaken_resident.h"
#include "support/format_laws.h"

using namespace kvpleat;
using test::key_and_value;

namespace {

template <std::uint32_t kDim>
using JaggedPerHead =
    BlockFormat<kDim, NoTransform, ThresholdSplit,
                GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary5,
                                ParameterScope::kHead>,
                JaggedCodec>;
template <std::uint32_t kDim>
using CooPerHead = BlockFormat<
    kDim, NoTransform, ThresholdSplit,
    GroupShiftQuant<ShiftPolicy::kOuterOnly, OutlierCode::kSignMagnitude5, ParameterScope::kHead>,
    CooCodec<12>>;

}  // namespace

namespace test {

// Outliers are binary16: half a unit in the last place of 11 bits; or half of the smallest, 2^-24.
template <std::uint32_t kDim, Role kRole>
struct ErrorBound<
    BlockFormat<kDim, NoTransform, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>, kRole>> {
  using F = BlockFormat<kDim, NoTransform, ThresholdSplit, GroupShiftQuant<>, CooCodec<23>, kRole>;
  static float of(const F& format, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    const float size = std::fabs(row[c]);
    const BandSide at = format.split.band(row[c]);
    if (at.band != Band::kMiddle) return std::fmax(size * 0x1p-11f, 0x1p-25f);
    const float step = F::Layout::parameters(data.bytes(), slot).of(at).step;
    return step + 0x1p-22f * (size + 2.0f);  // as of the other formats (any_format.h)
  }
};

}  // namespace test

TEST_CASE("laws: OakenJds16") {
  key_and_value<formats::OakenJds16, 1, 40, 64, 192>();
}
TEST_CASE("laws: OakenJds16, other policies") {
  key_and_value<JaggedPerHead, 72>();
}
TEST_CASE("laws: OakenCoo12") {
  key_and_value<formats::OakenCoo12, 1, 64, 72>();
}
TEST_CASE("laws: OakenCoo12, other policies") {
  key_and_value<CooPerHead, 65>();
}
TEST_CASE("laws: OakenCoo23") {
  key_and_value<formats::OakenCoo23, 3, 72>();
}

TEST_CASE("resident block sizes are the byte formulas") {
  const auto check = []<std::uint32_t kDim>() {
    using Key = formats::OakenJds16<kDim>;
    using Value = typename Key::template As<Role::kValue>;
    constexpr std::uint32_t kPadded = (kDim + 15) / 16 * 16;
    CAPTURE(kDim);
    CHECK(Key::kCodeBytes == 32 * kPadded);
    CHECK(Value::kCodeBytes == 32 * kPadded);
    CHECK(Key::kOutlierBytes == 64 * ((kDim + 63) / 64));
    CHECK(Value::kOutlierBytes == kPadded);
    CHECK(Key::kSideBytes == 0);
    CHECK(Key::kSharedBytes == 64 * 12);
    CHECK(Key::kTokenSpillBytes == 2 * kDim);
    CHECK(formats::OakenCoo12<kDim>::kBlockBytes ==
          64 * ((kDim + 1) / 2) + 64 * ((kDim + 63) / 64));
    CHECK(formats::OakenCoo12<kDim>::kTokenSpillBytes == (3 * kDim + 1) / 2);
    CHECK(formats::OakenCoo23<kDim>::kTokenSpillBytes == 3 * kDim);
  };
  check.operator()<1>();
  check.operator()<64>();
  check.operator()<72>();
  check.operator()<80>();
  check.operator()<128>();
  check.operator()<192>();
  CHECK(JaggedPerHead<64>::kBlockBytes == 2112 + 64 * 12);
  CHECK(JaggedPerHead<64>::kSharedBytes == 0);
}
