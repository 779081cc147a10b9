#include "kvpleat/transform/plain_hadamard.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

template <std::uint32_t kDim>
std::vector<float> rotated(const std::vector<float>& x) {
  std::vector<float> y(kDim);
  PlainHadamard{}.forward<kDim>(x.data(), 0, y.data());
  return y;
}

// Entry (row, column) of the n x n matrix: (-1)^(bits that row and column share) / sqrt(n).
template <std::uint32_t kDim>
void check_matrix(std::uint32_t block) {
  CAPTURE(kDim);
  CHECK(PlainHadamard::kBlock<kDim> == block);
  const std::vector<float> x = test::normal(kDim, kDim);
  const std::vector<float> y = rotated<kDim>(x);
  for (std::uint32_t r = 0; r < kDim; ++r) {
    double wanted = 0.0;
    double length = 0.0;
    for (std::uint32_t c = r / block * block; c < r / block * block + block; ++c) {
      const double entry = std::popcount(r % block & c % block) % 2 == 0 ? 1.0 : -1.0;
      wanted += entry * static_cast<double>(x[c]);
      length += static_cast<double>(x[c]) * static_cast<double>(x[c]);
    }
    // At most 9 stages and the scale, each rounding 2^-24 of at most the block's length.
    CHECK(std::fabs(static_cast<double>(y[r]) - wanted / std::sqrt(block)) <=
          10.0 * 0x1p-24 * std::sqrt(length));
  }
  std::vector<float> back(kDim);
  PlainHadamard{}.restore<kDim>(y.data(), 1.0f, 0, back.data());
  double error = 0.0;
  double energy = 0.0;
  for (std::uint32_t c = 0; c < kDim; ++c) {
    error += std::pow(static_cast<double>(back[c]) - static_cast<double>(x[c]), 2.0);
    energy += std::pow(static_cast<double>(x[c]), 2.0);
  }
  CHECK(error <= std::pow(20.0 * 0x1p-24, 2.0) * energy * block);
  std::vector<float> query(kDim);
  PlainHadamard{}.prepare_query<kDim>(x.data(), query.data());
  CHECK(query == y);
}

}  // namespace

TEST_CASE("plain hadamard: the Sylvester matrix on blocks of the largest power of two") {
  check_matrix<1>(1);
  check_matrix<3>(1);
  check_matrix<64>(64);
  check_matrix<80>(16);
  check_matrix<96>(32);
  check_matrix<128>(128);
  check_matrix<192>(64);
  check_matrix<576>(64);
}

TEST_CASE("plain hadamard: no signs, so a constant row becomes one spike; in place is the same") {
  const std::vector<float> ones(128, 1.0f);
  std::vector<float> spike(128, 0.0f);
  spike[0] = std::sqrt(128.0f);
  const std::vector<float> y = rotated<128>(ones);
  CHECK(std::fabs(y[0] - spike[0]) <= spike[0] * 0x1p-23f);
  for (std::uint32_t c = 1; c < 128; ++c) CHECK(y[c] == 0.0f);
  std::vector<float> x = test::uniform(4, 128);
  const std::vector<float> apart = rotated<128>(x);
  PlainHadamard{}.forward<128>(x.data(), 0, x.data());
  CHECK(x == apart);
  CHECK(PlainHadamard{}.coded_bound<192>(2.0f) == 16.0f);
}
