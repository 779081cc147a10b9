#include "kvpleat/transform/hadamard.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

// The orthonormal Hadamard matrix by definition: H[i][j] = (-1)^popcount(i & j) / sqrt(n).
std::vector<double> by_definition(const float* x, std::uint32_t n) {
  std::vector<double> out(n, 0.0);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      const double v = static_cast<double>(x[j]);
      out[i] += std::popcount(i & j) % 2 == 0 ? v : -v;
    }
    out[i] /= std::sqrt(static_cast<double>(n));
  }
  return out;
}

double length(const std::vector<float>& x) {
  double sum = 0.0;
  for (const float v : x) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum);
}

// Blocks by the binary digits of dim, largest first, each by definition.
template <std::uint32_t kDim>
void check_forward() {
  CAPTURE(kDim);
  const RandomHadamard<> rht;
  const std::vector<float> row = test::normal(kDim, kDim);
  std::vector<float> coded(kDim);
  rht.forward<kDim>(row.data(), 0, coded.data());
  std::vector<float> query(kDim);
  rht.prepare_query<kDim>(row.data(), query.data());
  CHECK(query == coded);
  std::vector<float> signed_row(kDim);
  for (std::uint32_t c = 0; c < kDim; ++c) signed_row[c] = row[c] * random_sign(1, c);
  // Each of at most 9 stages rounds once, relative to the length of the vector; the scale rounds
  // twice (its own value and the product).
  const double bound = 11.0 * 0x1p-24 * length(row);
  std::uint32_t at = 0;
  for (std::uint32_t block = 1024; block > 0; block /= 2) {
    if ((kDim & block) == 0) continue;
    const std::vector<double> wanted = by_definition(signed_row.data() + at, block);
    for (std::uint32_t i = 0; i < block; ++i)
      CHECK(std::fabs(static_cast<double>(coded[at + i]) - wanted[i]) <= bound);
    at += block;
  }
  CHECK(at == kDim);
  std::vector<float> back(kDim);
  rht.restore<kDim>(coded.data(), 1.0f, 0, back.data());
  for (std::uint32_t c = 0; c < kDim; ++c)
    CHECK(std::fabs(static_cast<double>(back[c]) - static_cast<double>(row[c])) <= 2.0 * bound);
  // In place alike.
  rht.restore<kDim>(coded.data(), 1.0f, 0, coded.data());
  CHECK(coded == back);
}

}  // namespace

TEST_CASE("forward is signs, then Hadamard blocks by definition; restore is the inverse") {
  check_forward<1>();
  check_forward<2>();
  check_forward<3>();
  check_forward<63>();
  check_forward<64>();
  check_forward<65>();
  check_forward<80>();
  check_forward<96>();
  check_forward<192>();
  check_forward<320>();
  check_forward<575>();
  check_forward<576>();
}

TEST_CASE("scaled powers of two come out exact") {
  float x[4] = {1.0f, 0.0f, 0.0f, 0.0f};
  hadamard_in_place(x, 4);
  for (const float v : x) CHECK(v == 0.5f);
  hadamard_in_place(x, 4);
  CHECK(x[0] == 1.0f);
  CHECK(x[1] == 0.0f);
  float y[1] = {3.0f};
  hadamard_in_place(y, 1);
  CHECK(y[0] == 3.0f);
}

TEST_CASE("inverse_root is the correctly rounded 1/sqrt(n)") {
  for (std::uint32_t n = 1; n <= 1024; n *= 2)
    CHECK(inverse_root(n) == static_cast<float>(1.0 / std::sqrt(static_cast<double>(n))));
}

TEST_CASE("signs are fixed by seed and channel, and balanced") {
  // The first signs of seed 1, written down once: files depend on them.
  std::uint32_t first = 0;
  for (std::uint64_t c = 0; c < 32; ++c) first |= (random_sign(1, c) < 0.0f ? 1u : 0u) << c;
  CHECK(first == 0x3bff3eda);
  double sum = 0.0;
  double agree = 0.0;
  for (std::uint64_t c = 0; c < 4096; ++c) {
    sum += static_cast<double>(random_sign(1, c));
    agree += static_cast<double>(random_sign(1, c) * random_sign(2, c));
  }
  // Four standard deviations of a sum of 4096 signs: 4 * 64.
  CHECK(std::fabs(sum) <= 256.0);
  CHECK(std::fabs(agree) <= 256.0);
}

TEST_CASE("coded_bound holds, and is met by the worst row") {
  const RandomHadamard<> rht;
  std::vector<float> row(64);
  for (std::uint32_t c = 0; c < 64; ++c) row[c] = random_sign(1, c);
  std::vector<float> coded(64);
  rht.forward<64>(row.data(), 0, coded.data());
  CHECK(coded[0] == 8.0f);
  CHECK(rht.coded_bound<64>(1.0f) >= 8.0f);
}
