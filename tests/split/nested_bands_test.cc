#include "kvpleat/split/nested_bands.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "kvpleat/core/concepts.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

static_assert(ThresholdSplitter<NestedBands<2, 2>> && ThresholdSplitter<NestedBands<1, 0>> &&
              ThresholdSplitter<ThresholdSplit>);
static_assert(NestedBands<2, 2>::kProfileSize == 8 && NestedBands<0, 1>::kProfileSize == 2);
static_assert(sizeof(NestedBands<2, 2>) == 32 && sizeof(NestedBands<1, 1>) == 16);

const float kFive[8] = {-4.0f, -2.0f, -0.25f, -0.0625f, 0.125f, 0.25f, 2.0f, 4.5f};

template <std::uint32_t kOuter, std::uint32_t kInner>
void check(const float* thresholds, float x, Band band, bool low, std::uint32_t nested) {
  const BandSide at = NestedBands<kOuter, kInner>::bind(thresholds).band(x);
  CAPTURE(x);
  CHECK(at.band == band);
  CHECK(at.low == low);
  CHECK(at.nested == nested);
}

}  // namespace

TEST_CASE("five bands: from outside, on a threshold the inward one") {
  const auto five = [](float x, Band band, bool low, std::uint32_t nested) {
    check<2, 2>(kFive, x, band, low, nested);
  };
  five(std::nextafter(4.5f, 5.0f), Band::kOuter, false, 0);
  five(4.5f, Band::kOuter, false, 1);
  five(std::nextafter(2.0f, 3.0f), Band::kOuter, false, 1);
  five(2.0f, Band::kMiddle, false, 0);
  five(std::nextafter(0.25f, 1.0f), Band::kMiddle, false, 0);
  five(0.25f, Band::kInner, false, 0);
  five(std::nextafter(0.125f, 1.0f), Band::kInner, false, 0);
  five(0.125f, Band::kInner, false, 1);
  five(0.0f, Band::kInner, false, 1);
  five(-0.0625f, Band::kInner, true, 1);
  five(-0.25f, Band::kInner, true, 0);
  five(-2.0f, Band::kMiddle, true, 0);
  five(-4.0f, Band::kOuter, true, 1);
  five(-1e30f, Band::kOuter, true, 0);
}

TEST_CASE("no outer band, no inner band") {
  const float pair[2] = {-1.0f, 0.5f};
  check<0, 1>(pair, 2.0f, Band::kMiddle, false, 0);
  check<0, 1>(pair, -2.0f, Band::kMiddle, true, 0);
  check<0, 1>(pair, 0.5f, Band::kInner, false, 0);
  check<1, 0>(pair, 2.0f, Band::kOuter, false, 0);
  check<1, 0>(pair, -2.0f, Band::kOuter, true, 0);
  check<1, 0>(pair, -0.5f, Band::kMiddle, true, 0);
  check<2, 0>(kFive + 2, -0.3f, Band::kOuter, true, 0);
  check<2, 0>(kFive + 2, -0.2f, Band::kOuter, true, 1);
}

TEST_CASE("edges: the threshold that a value went beyond") {
  const auto split = NestedBands<2, 2>::bind(kFive);
  CHECK(split.edge({Band::kOuter, false, 0}) == 4.5f);
  CHECK(split.edge({Band::kOuter, true, 0}) == -4.0f);
  CHECK(split.edge({Band::kOuter, false, 1}) == 2.0f);
  CHECK(split.edge({Band::kOuter, true, 1}) == -2.0f);
  CHECK(split.edge({Band::kMiddle, false, 0}) == 0.25f);
  CHECK(split.edge({Band::kMiddle, true, 0}) == -0.25f);
  // A middle without inner bands has none.
  CHECK(NestedBands<1, 0>::bind(kFive + 3).edge({Band::kMiddle, true, 0}) == 0.0f);
}

TEST_CASE("one outer and one inner band: ThresholdSplit, value by value") {
  const float thresholds[4] = {-1.5f, 0.5f, 1.0f, 3.0f};
  const auto nested = NestedBands<1, 1>::bind(thresholds);
  const auto plain = ThresholdSplit::bind(thresholds);
  for (float x : test::uniform(3, 2000, 4.0f)) {
    x = std::round(x * 64.0f) / 64.0f;  // on thresholds often enough
    const BandSide a = nested.band(x);
    const BandSide b = plain.band(x);
    REQUIRE(a.band == b.band);
    REQUIRE(a.low == b.low);
    REQUIRE(a.nested == 0);
    if (a.band != Band::kInner) REQUIRE(nested.edge(a) == plain.edge(b));
  }
}

TEST_CASE("profiles: ascending, representable as binary16, at most half its range") {
  using Split = NestedBands<1, 2>;
  const auto valid = [](int at, float x) {
    float t[6] = {-4.0f, -2.0f, -0.25f, 0.125f, 2.0f, 4.5f};
    t[at] = x;
    return Split::valid(t);
  };
  CHECK(!Split::valid(nullptr));
  CHECK(valid(0, -4.0f));
  CHECK(valid(0, -32752.0f));
  CHECK(valid(5, 32752.0f));
  CHECK(!valid(5, 32768.0f));
  CHECK(!valid(0, 1.0f));
  CHECK(!valid(2, -3.0f));
  CHECK(!valid(3, 3.0f));
  CHECK(!valid(4, 5.0f));
  CHECK(!valid(3, 0.1f));  // no half
  CHECK(!valid(3, std::numeric_limits<float>::quiet_NaN()));
}
