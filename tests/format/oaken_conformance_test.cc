// The laws of the Format concept, for Oaken and its variants.
#include <doctest/doctest.h>

#include <cstdint>

#include "kvpleat/format/oaken.h"
#include "support/format_laws.h"

using namespace kvpleat;
using test::key_and_value;

namespace {

template <std::uint32_t kDim>
using OakenByChunk = formats::OakenOf<kDim, ThresholdSplit, GroupShiftQuant<>,
                                      BasicFusedCodec<CooEntry16, SpillAlign::kChunk>>;
template <std::uint32_t kDim>
using OakenNoInner =
    formats::OakenOf<kDim, NestedBands<1, 0>,
                     GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5,
                                     ParameterScope::kLayer, 1, 0>>;

}  // namespace

TEST_CASE("laws: Oaken") {
  key_and_value<formats::Oaken, 1, 40, 64, 80, 192>();
}
TEST_CASE("laws: OakenNoShift") {
  key_and_value<formats::OakenNoShift, 40>();
}
TEST_CASE("laws: OakenOuterOnly") {
  key_and_value<formats::OakenOuterOnly, 40>();
}
TEST_CASE("laws: OakenOffsetBinary") {
  key_and_value<formats::OakenOffsetBinary, 1, 80>();
}
TEST_CASE("laws: OakenPerHead") {
  key_and_value<formats::OakenPerHead, 1, 80, 576>();
}
TEST_CASE("laws: OakenAligned") {
  key_and_value<formats::OakenAligned, 1, 72, 128>();
  key_and_value<OakenByChunk, 72>();
}
TEST_CASE("laws: OakenNested") {
  key_and_value<formats::OakenNested, 1, 80, 576>();
  key_and_value<formats::OakenNested4, 80>();
  key_and_value<OakenNoInner, 40>();
}
