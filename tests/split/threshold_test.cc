#include "kvpleat/split/threshold.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kvpleat/core/concepts.h"

using namespace kvpleat;

namespace {

static_assert(BandSplitter<ThresholdSplit> && !VectorSplitter<ThresholdSplit>);

const float kThresholds[4] = {-2.0f, -0.25f, 0.5f, 4.0f};

void check(const float* thresholds, float x, Band band, bool low) {
  const BandSide at = ThresholdSplit::bind(thresholds).band(x);
  CAPTURE(x);
  CHECK(at.band == band);
  CHECK(at.low == low);
}

bool valid(float a, float b, float c, float d) {
  const float thresholds[4] = {a, b, c, d};
  return ThresholdSplit::valid(thresholds);
}

}  // namespace

TEST_CASE("bands: on an outer threshold is middle, on an inner one inner") {
  check(kThresholds, 4.0f, Band::kMiddle, false);
  check(kThresholds, std::nextafter(4.0f, 5.0f), Band::kOuter, false);
  check(kThresholds, -2.0f, Band::kMiddle, true);
  check(kThresholds, std::nextafter(-2.0f, -3.0f), Band::kOuter, true);
  check(kThresholds, 0.5f, Band::kInner, false);
  check(kThresholds, std::nextafter(0.5f, 1.0f), Band::kMiddle, false);
  check(kThresholds, -0.25f, Band::kInner, true);
  check(kThresholds, std::nextafter(-0.25f, -1.0f), Band::kMiddle, true);
  check(kThresholds, 0.0f, Band::kInner, false);
  check(kThresholds, -0.0f, Band::kInner, false);  // the side bit is "below zero"
  check(kThresholds, 1e30f, Band::kOuter, false);
  check(kThresholds, -1e30f, Band::kOuter, true);
}

TEST_CASE("bands: an inner band off zero decides the side by its edges, not by the sign") {
  const float positive[4] = {-1.5f, 0.5f, 1.0f, 3.0f};
  check(positive, 0.25f, Band::kMiddle, true);
  check(positive, 0.75f, Band::kInner, false);
  check(positive, 2.0f, Band::kMiddle, false);
  const float negative[4] = {-3.0f, -1.0f, -0.5f, 1.5f};
  check(negative, -0.25f, Band::kMiddle, false);
  check(negative, -0.75f, Band::kInner, true);
}

TEST_CASE("bands: equal thresholds leave a band empty") {
  const float narrow[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  CHECK(ThresholdSplit::valid(narrow));
  check(narrow, 0.0f, Band::kInner, false);
  check(narrow, 1e-30f, Band::kOuter, false);
  check(narrow, -1e-30f, Band::kOuter, true);
}

TEST_CASE("profiles: ordered, representable as binary16, at most half its range") {
  CHECK(!ThresholdSplit::valid(nullptr));
  CHECK(valid(-2.0f, -0.25f, 0.5f, 4.0f));
  CHECK(valid(-32752.0f, 0.0f, 0.0f, 32752.0f));
  CHECK(!valid(-2.0f, 0.5f, -0.25f, 4.0f));
  CHECK(!valid(-0.25f, -2.0f, 0.5f, 4.0f));
  CHECK(!valid(-2.0f, -0.25f, 4.0f, 0.5f));
  CHECK(!valid(-2.0f, -0.25f, 0.1f, 4.0f));  // 0.1 is no half
  CHECK(!valid(-2.0f, -0.25f, 0.5f, 32768.0f));
  CHECK(!valid(-32768.0f, -0.25f, 0.5f, 4.0f));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(!valid(nan, -0.25f, 0.5f, 4.0f));
  CHECK(!valid(-2.0f, -0.25f, nan, 4.0f));
  CHECK(!valid(-2.0f, -0.25f, 0.5f, std::numeric_limits<float>::infinity()));
}
