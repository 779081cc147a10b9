#include "kvpleat/calibrate/gaussian.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

using namespace kvpleat;

TEST_CASE("gaussian_matrix: standard normal numbers, and nothing beyond count") {
  std::vector<float> x(10001, 7.0f);
  gaussian_matrix(3, 9999, x.data());
  CHECK(x[9999] == 7.0f);
  CHECK(x[10000] == 7.0f);
  double mean = 0.0;
  double square = 0.0;
  double fourth = 0.0;
  double lagged = 0.0;
  for (std::size_t i = 0; i < 9999; ++i) {
    const auto v = static_cast<double>(x[i]);
    mean += v / 9999;
    square += v * v / 9999;
    fourth += v * v * v * v / 9999;
    if (i > 0) lagged += v * static_cast<double>(x[i - 1]) / 9999;
  }
  // Five standard deviations: 1, sqrt 2, sqrt 96, 1 over the root of the count.
  CHECK(std::fabs(mean) <= 0.05);
  CHECK(std::fabs(square - 1.0) <= 0.0708);
  CHECK(std::fabs(fourth - 3.0) <= 0.49);
  CHECK(std::fabs(lagged) <= 0.05);
}

TEST_CASE("a seed names its numbers") {
  std::vector<float> a(9);
  std::vector<float> b(9);
  gaussian_matrix(1, 9, a.data());
  gaussian_matrix(1, 9, b.data());
  CHECK(a == b);
  gaussian_matrix(2, 9, b.data());
  CHECK(a != b);
}
