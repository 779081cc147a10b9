#include "kvpleat/calibrate/mad.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/gaussian.h"

using namespace kvpleat;

TEST_CASE("a MAD profile of a tensor: median and three deviations") {
  std::vector<float> values = test::gaussian(1, 20001, 2.0f);
  for (float& v : values) v += 5.0f;
  for (std::size_t i = 0; i < values.size(); i += 100) values[i] = 1e3f;  // outliers do not move it
  float profile[2] = {};
  REQUIRE(ok(mad_profile(values.data(), values.size(), profile)));
  // The median of n values is known to 1.25 / sqrt(n), here 0.009 deviations; MAD alike. One value
  // in 100 moved to the upper end moves a quantile by at most 1 % of the values: 0.03 deviations.
  CHECK(std::fabs(profile[0] - 5.0f) < 0.1f);
  CHECK(std::fabs(profile[1] - 6.0f) < 0.3f);
  CHECK((MadSplit<4, MadOfTensor>::valid(profile)));
}

TEST_CASE("a MAD profile of channels is that of every column by itself") {
  constexpr std::uint32_t kDim = 24;
  std::vector<float> rows = test::gaussian(2, 501 * kDim);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto c = static_cast<float>(i % kDim);
    rows[i] = i % kDim == 7 ? 0.125f : rows[i] * (1.0f + c) - 10.0f * c;
  }
  std::vector<float> profile(2 * kDim);
  REQUIRE(ok(mad_channel_profile(Rows{rows.data(), 501, kDim}, kDim, profile.data())));
  CHECK((MadSplit<4, MadOfChannel<kDim>>::valid(profile.data())));
  for (std::uint32_t c = 0; c < kDim; ++c) {
    std::vector<float> column;
    for (std::size_t t = 0; t < 501; ++t) column.push_back(rows[t * kDim + c]);
    float own[2] = {};
    REQUIRE(ok(mad_profile(column.data(), column.size(), own)));
    CHECK(profile[2 * c] == own[0]);
    CHECK(profile[2 * c + 1] == own[1]);
    std::sort(column.begin(), column.end());
    CHECK(own[0] == column[250]);
  }
  CHECK(profile[15] == 0.0f);  // a channel of equal values: off
}

TEST_CASE("what is no sample is refused") {
  float profile[2] = {3.0f, 4.0f};
  const float values[2] = {1.0f, std::numeric_limits<float>::quiet_NaN()};
  CHECK(mad_profile(nullptr, 4, profile) == Status::kInvalid);
  CHECK(mad_profile(values, 0, profile) == Status::kInvalid);
  CHECK(mad_profile(values, 2, profile) == Status::kNonFinite);
  CHECK(mad_channel_profile(Rows{}, 2, profile) == Status::kInvalid);
  CHECK(mad_channel_profile(Rows{values, 1, 2}, 2, profile) == Status::kNonFinite);
  CHECK(profile[0] == 3.0f);
  CHECK(profile[1] == 4.0f);
}
