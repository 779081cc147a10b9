#include "kvpleat/calibrate/nested_thresholds.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kvpleat/split/nested_bands.h"
#include "support/generator.h"

using namespace kvpleat;

TEST_CASE("pairs are ranks from either end") {
  // -100 .. 100, shuffled: the r-th from below is r - 100.
  std::vector<float> values;
  for (std::uint32_t i = 0; i < 201; ++i)
    values.push_back(static_cast<float>(i * 77 % 201) - 100.0f);
  const std::uint32_t shares[4] = {20000, 20000, 900000, 30000};
  float found[8];
  CHECK(ok(nested_thresholds(values.data(), values.size(), shares, 4, found)));
  // r = 200 * s / 2000000: 2, 4, 94, 97.
  const float expected[8] = {-98, -96, -6, -3, 3, 6, 96, 98};
  for (int i = 0; i < 8; ++i) CHECK(found[i] == expected[i]);
  CHECK(NestedBands<2, 2>::valid(found));
}

TEST_CASE("one outer and one inner band: band_thresholds") {
  std::vector<float> values = test::normal(7, 3001);
  std::vector<float> same = values;
  const std::uint32_t shares[2] = {40000, 900000};
  float nested[4];
  float plain[4];
  CHECK(ok(nested_thresholds(values.data(), values.size(), shares, 2, nested)));
  CHECK(ok(band_thresholds(same.data(), same.size(), {}, plain)));
  for (int i = 0; i < 4; ++i) CHECK(nested[i] == plain[i]);
}

TEST_CASE("the bands hold their shares") {
  const std::uint32_t n = 40000;
  const std::vector<float> sample = test::normal(8, n);
  std::vector<float> values = sample;
  const std::uint32_t shares[4] = {20000, 20000, 900000, 30000};
  float found[8];
  REQUIRE(ok(nested_thresholds(values.data(), n, shares, 4, found)));
  const auto split = NestedBands<2, 2>::bind(found);
  double outer[2] = {};
  double inner[2] = {};
  for (const float x : sample) {
    const BandSide at = split.band(x);
    if (at.band == Band::kOuter) outer[at.nested] += 1.0 / n;
    if (at.band == Band::kInner) inner[at.nested] += 1.0 / n;
  }
  // A threshold moves by half a unit of binary16, at most 2^-10 of its size below 2 (the largest
  // here): with a density of at most 0.4 and two thresholds on two sides, 4 * 0.4 * 2^-10 * 2.
  const double tolerance = 0.0032;
  CHECK(std::fabs(outer[0] - 0.02) < tolerance);
  CHECK(std::fabs(outer[1] - 0.02) < tolerance);
  CHECK(std::fabs(inner[0] - 0.03) < tolerance);
  CHECK(std::fabs(inner[1] - 0.03) < tolerance);
}

TEST_CASE("refused: nothing is written") {
  float values[3] = {1.0f, 2.0f, 3.0f};
  const std::uint32_t shares[2] = {500000, 500001};
  const std::uint32_t fine[2] = {40000, 900000};
  float found[4] = {9.0f, 9.0f, 9.0f, 9.0f};
  CHECK(nested_thresholds(values, 3, shares, 2, found) == Status::kInvalid);
  CHECK(nested_thresholds(values, 0, fine, 2, found) == Status::kInvalid);
  CHECK(nested_thresholds(nullptr, 3, fine, 2, found) == Status::kInvalid);
  values[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK(nested_thresholds(values, 3, fine, 2, found) == Status::kNonFinite);
  values[1] = 40000.0f;
  CHECK(nested_thresholds(values, 3, fine, 2, found) == Status::kRange);
  for (const float x : found) CHECK(x == 9.0f);
}
