// Without Eigen on this machine there is nothing to test here.
#if __has_include(<Eigen/QR>)
#include "kvpleat/calibrate/haar.h"

#include <doctest/doctest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kvpleat/transform/dense_rotation.h"

using namespace kvpleat;

TEST_CASE("a Haar rotation is orthonormal within 1e-6 and a valid profile") {
  for (const std::uint32_t dim : {1u, 3u, 64u, 80u, 128u}) {
    CAPTURE(dim);
    std::vector<float> m(static_cast<std::size_t>(dim) * dim);
    haar_rotation(5, dim, m.data());
    double worst = 0.0;
    for (std::uint32_t i = 0; i < dim; ++i) {
      for (std::uint32_t j = 0; j <= i; ++j) {
        double dot = 0.0;
        for (std::uint32_t c = 0; c < dim; ++c)
          dot += static_cast<double>(m[i * dim + c]) * static_cast<double>(m[j * dim + c]);
        worst = std::max(worst, std::fabs(dot - (i == j ? 1.0 : 0.0)));
      }
    }
    CHECK(worst <= 1e-6);
  }
  std::vector<float> m(128 * 128);
  haar_rotation(6, 128, m.data());
  CHECK(DenseRotation::valid<128>(m.data()));
}

TEST_CASE("the same seed gives the same matrix, another seed another") {
  std::vector<float> a(64);
  std::vector<float> b(64);
  haar_rotation(1, 8, a.data());
  haar_rotation(1, 8, b.data());
  CHECK(a == b);
  haar_rotation(2, 8, b.data());
  CHECK(a != b);
}

TEST_CASE("uniform over the orthonormal matrices, by moments over 4096 seeds") {
  // For Haar in dimension n: E m_ij = 0, E m_ij^2 = 1/n, E m_ij^4 = 3 / (n (n + 2)), and E of the
  // product of two diagonal entries and of the trace are 0. A Q without the signs of R has a first
  // column of one sign: mean about -sqrt(2 / (pi n)).
  constexpr std::uint32_t kDim = 4;
  constexpr int kSeeds = 4096;
  double mean[16] = {};
  double square[16] = {};
  double fourth[16] = {};
  double trace = 0.0;
  int negative = 0;  // determinants
  for (int seed = 0; seed < kSeeds; ++seed) {
    float m[16];
    haar_rotation(static_cast<std::uint64_t>(seed) * 77 + 1, kDim, m);
    for (std::size_t i = 0; i < 16; ++i) {
      const auto x = static_cast<double>(m[i]);
      mean[i] += x / kSeeds;
      square[i] += x * x / kSeeds;
      fourth[i] += x * x * x * x / kSeeds;
    }
    for (std::size_t i = 0; i < 4; ++i) trace += static_cast<double>(m[i * 5]) / kSeeds;
    const Eigen::Map<const Eigen::Matrix<float, 4, 4, Eigen::RowMajor>> matrix(m);
    negative += matrix.cast<double>().determinant() < 0.0 ? 1 : 0;
  }
  // Five standard deviations of a mean over the seeds: an entry has deviation 1/2, its square at
  // most sqrt(1/8 - 1/16), its fourth power less than its square; the trace deviation 1.
  const double root = std::sqrt(static_cast<double>(kSeeds));
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(std::fabs(mean[i]) <= 5.0 * 0.5 / root);
    CHECK(std::fabs(square[i] - 0.25) <= 5.0 * 0.25 / root);
    CHECK(std::fabs(fourth[i] - 0.125) <= 5.0 * 0.25 / root);
  }
  CHECK(std::fabs(trace) <= 5.0 / root);
  // Both determinants are as likely.
  CHECK(std::abs(negative - kSeeds / 2) <= 5 * 32);
}
#endif
