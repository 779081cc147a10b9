#include "kvpleat/calibrate/thresholds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "kvpleat/split/threshold.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

std::vector<float> thresholds_of(std::vector<float> values, BandShares shares) {
  std::vector<float> thresholds(4);
  CHECK(ok(band_thresholds(values.data(), values.size(), shares, thresholds.data())));
  return thresholds;
}

}  // namespace

TEST_CASE("golden C6: two runs, each by itself") {
  // 10 % outer, 70 % middle, 20 % inner. Integer ranks 1 and 8 of 0..20: (0.1 + 0.7) / 2 * 20 is
  // 7.999... in binary floating point.
  const BandShares shares{100000, 200000};
  std::vector<float> first;
  std::vector<float> second;
  for (int j = 0; j < 21; ++j) {
    first.push_back(static_cast<float>(j - 10) / 8.0f);
    second.push_back(j == 20 ? 100.0f : static_cast<float>(j - 10) / 4.0f);
  }
  const std::vector<float> a = thresholds_of(first, shares);
  const std::vector<float> b = thresholds_of(second, shares);
  CHECK(a == std::vector<float>{-1.125f, -0.25f, 0.25f, 1.125f});
  CHECK(b == std::vector<float>{-2.25f, -0.5f, 0.5f, 2.25f});  // the 100 does not move them
  // The published result is the mean of the two.
  const float mean[4] = {-1.6875f, -0.375f, 0.375f, 1.6875f};
  for (std::size_t i = 0; i < 4; ++i) CHECK((a[i] + b[i]) / 2.0f == mean[i]);
}

TEST_CASE("thresholds are the ranks of a sort, rounded to binary16, and make a valid profile") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::vector<float> values = test::normal(seed, 1000 + seed, 3.0f);
    const std::vector<float> found = thresholds_of(values, {});
    CHECK(ThresholdSplit::valid(found.data()));
    std::sort(values.begin(), values.end());
    const std::size_t last = values.size() - 1;
    const std::size_t outer = last * 40000 / 2000000;
    const std::size_t inner = last * 940000 / 2000000;
    const std::size_t ranks[4] = {outer, inner, last - inner, last - outer};
    for (std::size_t i = 0; i < 4; ++i) CHECK(found[i] == to_float(to_half(values[ranks[i]])));
  }
}

TEST_CASE("shares of the bands come out as asked") {
  const std::vector<float> values = test::normal(7, 100000);
  const std::vector<float> found = thresholds_of(values, {40000, 60000});
  const ThresholdSplit split = ThresholdSplit::bind(found.data());
  double outer = 0.0;
  double inner = 0.0;
  for (const float x : values) {
    outer += split.band(x).band == Band::kOuter ? 1.0 : 0.0;
    inner += split.band(x).band == Band::kInner ? 1.0 : 0.0;
  }
  // Rounding a threshold to a half moves it by 2^-11 of itself; the density of normal values is at
  // most 0.4: below 0.001 of all at thresholds of about 2.
  CHECK(outer / 100000.0 > 0.039);
  CHECK(outer / 100000.0 < 0.041);
  CHECK(inner / 100000.0 > 0.059);
  CHECK(inner / 100000.0 < 0.061);
}

TEST_CASE("edges: one value, all equal, no or only one band") {
  CHECK(thresholds_of({0.5f}, {}) == std::vector<float>(4, 0.5f));
  CHECK(thresholds_of(std::vector<float>(100, -3.0f), {}) == std::vector<float>(4, -3.0f));
  // No outer share: the outer thresholds are the extremes.
  const std::vector<float> none = thresholds_of({3.0f, 1.0f, 2.0f}, {0, 0});
  CHECK(none.front() == 1.0f);
  CHECK(none.back() == 3.0f);
  CHECK(none[1] == 2.0f);
  CHECK(none[2] == 2.0f);
  // Everything inner.
  CHECK(thresholds_of({3.0f, 1.0f, 2.0f}, {0, 1000000}) ==
        std::vector<float>{1.0f, 1.0f, 3.0f, 3.0f});
}

TEST_CASE("refusals leave the result as it was") {
  std::vector<float> values = {1.0f, 2.0f, 3.0f};
  float found[4] = {7.0f, 7.0f, 7.0f, 7.0f};
  CHECK(band_thresholds(values.data(), 0, {}, found) == Status::kInvalid);
  CHECK(band_thresholds(nullptr, 3, {}, found) == Status::kInvalid);
  CHECK(band_thresholds(values.data(), 3, {1000001, 0}, found) == Status::kInvalid);
  CHECK(band_thresholds(values.data(), 3, {600000, 600000}, found) == Status::kInvalid);
  values[0] = -40000.0f;
  CHECK(band_thresholds(values.data(), 3, {}, found) == Status::kRange);
  values = {1.0f, std::numeric_limits<float>::infinity(), 2.0f};
  CHECK(band_thresholds(values.data(), 3, {}, found) == Status::kRange);
  // NaN has no order: a selection over it could run out of the array.
  values = std::vector<float>(200, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < 200; i += 3) values[i] = static_cast<float>(i % 7);
  CHECK(band_thresholds(values.data(), values.size(), {}, found) == Status::kNonFinite);
  for (const float t : found) CHECK(t == 7.0f);
}
