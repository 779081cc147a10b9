#include "kvpleat/transform/kronecker_hadamard.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/transform_laws.h"

using namespace kvpleat;

namespace {

// The definition in doubles: entry (i, j) is the product of the factors' entries at the digits of i
// and j.
double by_definition(std::uint32_t dim, std::uint32_t i, std::uint32_t j) {
  const std::uint32_t even = dim & (~dim + 1u);
  double entry = std::popcount((i % even) & (j % even)) % 2 == 0 ? 1.0 : -1.0;
  entry /= std::sqrt(static_cast<double>(even));
  i /= even;
  j /= even;
  std::uint32_t rest = dim / even;
  for (std::uint32_t p = 3; rest > 1; p += 2) {
    for (; rest % p == 0; rest /= p) {
      const std::uint32_t a = i % p;
      const std::uint32_t b = j % p;
      if (p < 7) {
        entry *= (a == b ? 1.0 : 0.0) - 2.0 / p;
      } else {
        const double angle = 2.0 * std::acos(-1.0) * a * b / p;
        entry *= (std::cos(angle) + std::sin(angle)) / std::sqrt(static_cast<double>(p));
      }
      i /= p;
      j /= p;
    }
  }
  return entry;
}

template <std::uint32_t kDim>
void check_definition() {
  CAPTURE(kDim);
  const KroneckerHadamard<7> rotation;
  double worst = 0.0;
  for (std::uint32_t j = 0; j < kDim; ++j) {
    std::vector<float> unit(kDim, 0.0f);
    unit[j] = 1.0f;
    std::vector<float> coded(kDim);
    rotation.forward<kDim>(unit.data(), 0, coded.data());
    for (std::uint32_t i = 0; i < kDim; ++i) {
      const double wanted = by_definition(kDim, i, j) * static_cast<double>(random_sign(7, j));
      worst = std::max(worst, std::fabs(static_cast<double>(coded[i]) - wanted));
    }
  }
  // One product per stage has a value other than 0: a rounding for the power of two's scale and the
  // product, two for each of at most four factors (its entry, its sum), all of values up to 1.
  CHECK(worst <= 10.0 * 0x1p-24);
}

// Smallest and largest magnitude in coded space of one outlier at each channel.
struct Spread {
  float least = kInfinity;
  float most = 0.0f;
};
template <class Rotation, std::uint32_t kDim>
Spread spread() {
  const Rotation rotation;
  Spread result;
  for (std::uint32_t j = 0; j < kDim; ++j) {
    std::vector<float> unit(kDim, 0.0f);
    unit[j] = 1.0f;
    std::vector<float> coded(kDim);
    rotation.template forward<kDim>(unit.data(), 0, coded.data());
    for (const float x : coded) {
      result.least = std::min(result.least, std::fabs(x));
      result.most = std::max(result.most, std::fabs(x));
    }
  }
  return result;
}

}  // namespace

TEST_CASE("forward is signs, then the Kronecker product by definition") {
  check_definition<1>();
  check_definition<3>();
  check_definition<24>();
  check_definition<63>();  // 3 * 3 * 7
  check_definition<80>();
  check_definition<96>();
  check_definition<104>();  // 8 * 13
}

TEST_CASE("the laws of a transform, at dims of every kind") {
  test::check_transform_laws<KroneckerHadamard<>, 1>();
  test::check_transform_laws<KroneckerHadamard<>, 64>();
  test::check_transform_laws<KroneckerHadamard<>, 72>();
  test::check_transform_laws<KroneckerHadamard<>, 112>();
  test::check_transform_laws<KroneckerHadamard<>, 571>();  // a prime
}

TEST_CASE("OC-24: norms, dot products and rows are kept at 80, 96, 192, 320, 576") {
  test::check_transform_laws<KroneckerHadamard<>, 80>();
  test::check_transform_laws<KroneckerHadamard<>, 96>();
  test::check_transform_laws<KroneckerHadamard<>, 192>();
  test::check_transform_laws<KroneckerHadamard<>, 320>();
  test::check_transform_laws<KroneckerHadamard<>, 576>();
}

TEST_CASE("an outlier reaches every channel; with blocks apart it does not") {
  // 80 = 5 * 16: 2/5 and 3/5 over 4. 96 = 3 * 32: 1/3 and 2/3 over sqrt(32). Blocks of 64 + 16 and
  // 64 + 32 leave zeros, and 1/4 and 1/sqrt(32) in the small block.
  const Spread mixed80 = spread<KroneckerHadamard<>, 80>();
  CHECK(mixed80.least == doctest::Approx(0.1).epsilon(1e-6));
  CHECK(mixed80.most == doctest::Approx(0.15).epsilon(1e-6));
  const Spread apart80 = spread<RandomHadamard<>, 80>();
  CHECK(apart80.least == 0.0f);
  CHECK(apart80.most == 0.25f);
  const Spread mixed96 = spread<KroneckerHadamard<>, 96>();
  CHECK(mixed96.least == doctest::Approx(1.0 / 3.0 / std::sqrt(32.0)).epsilon(1e-6));
  CHECK(mixed96.most == doctest::Approx(2.0 / 3.0 / std::sqrt(32.0)).epsilon(1e-6));
  CHECK(spread<RandomHadamard<>, 96>().least == 0.0f);
  // Hartley factors have no zero either.
  CHECK(spread<KroneckerHadamard<>, 56>().least > 0.0f);
  CHECK(spread<KroneckerHadamard<>, 13>().least > 0.0f);
}

TEST_CASE("a power of two: RandomHadamard to the bit") {
  const std::vector<float> row = test::normal(4, 128);
  std::vector<float> a(128);
  std::vector<float> b(128);
  KroneckerHadamard<3>().forward<128>(row.data(), 0, a.data());
  RandomHadamard<3>().forward<128>(row.data(), 0, b.data());
  CHECK(a == b);
  KroneckerHadamard<3>().restore<128>(a.data(), 1.0f, 0, a.data());
  RandomHadamard<3>().restore<128>(b.data(), 1.0f, 0, b.data());
  CHECK(a == b);
}
