#include "kvpleat/calibrate/channel_mean.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

TEST_CASE("means of each channel, with a stride, nothing beyond dim is read or written") {
  // [3 tokens, stride 5], 4 channels.
  const std::vector<float> rows = {1, 2, 3, -4, 1e30f, 3, 2, 5, -4, 1e30f, 5, 2, 4, -7, 1e30f};
  std::vector<float> mean(5, 99.0f);
  channel_mean(rows.data(), 3, 5, 4, mean.data());
  CHECK(mean == std::vector<float>{3.0f, 2.0f, 4.0f, -5.0f, 99.0f});
}

TEST_CASE("sums are double: a small value survives beside large ones that cancel") {
  // In float 1 would be lost in 2^30. The mean of {2^30, 1, -2^30, 3} is exactly 1.
  const std::vector<float> rows = {0x1p30f, 1.0f, -0x1p30f, 3.0f};
  float mean = 0.0f;
  channel_mean(rows.data(), 4, 1, 1, &mean);
  CHECK(mean == 1.0f);
}

TEST_CASE("many tokens: within one float rounding of the exact mean") {
  const std::vector<float> rows = test::normal(3, 10000 * 3);
  std::vector<float> mean(3);
  channel_mean(rows.data(), 10000, 3, 3, mean.data());
  for (std::size_t c = 0; c < 3; ++c) {
    long double sum = 0.0L;
    for (std::size_t t = 0; t < 10000; ++t) sum += static_cast<long double>(rows[t * 3 + c]);
    const auto wanted = static_cast<double>(sum / 10000.0L);
    // Half a unit in the last place, and 10^4 double roundings of a sum below 10^3.
    CHECK(std::fabs(static_cast<double>(mean[c]) - wanted) <= std::fabs(wanted) * 0x1p-24 + 1e-12);
  }
}

TEST_CASE("no tokens: zeros") {
  std::vector<float> mean(3, 5.0f);
  channel_mean(nullptr, 0, 3, 3, mean.data());
  CHECK(mean == std::vector<float>(3, 0.0f));
}
