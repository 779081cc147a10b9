#include "kvpleat/quant/lloyd_max.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "golden/rotated_goldens.h"

using namespace kvpleat;
using lloyd_max::Gaussian;
using lloyd_max::kPositiveLevels;
using lloyd_max::Sphere;

namespace {

// Level i of a law against published digits: half a unit of the last of `digits` decimals.
template <class Law, std::uint32_t kBits>
constexpr bool is(std::uint32_t i, double published, double unit) {
  const double off = kPositiveLevels<Law, kBits>[i] - published;
  return off <= 0.5001 * unit && -off <= 0.5001 * unit;
}

// N(0,1), 10 digits: Max 1960 and later tables; computed anew for field notes of the project.
static_assert(is<Gaussian, 1>(0, 0.7978845608, 1e-10));
static_assert(is<Gaussian, 2>(0, 0.4527800346, 1e-10) && is<Gaussian, 2>(1, 1.5104176085, 1e-10));
static_assert(is<Gaussian, 3>(0, 0.2450941789, 1e-10) && is<Gaussian, 3>(1, 0.7560052812, 1e-10) &&
              is<Gaussian, 3>(2, 1.3439092785, 1e-10) && is<Gaussian, 3>(3, 2.1519457045, 1e-10));
static_assert(is<Gaussian, 4>(0, 0.1283950299, 1e-10) && is<Gaussian, 4>(1, 0.3880482995, 1e-10) &&
              is<Gaussian, 4>(2, 0.6567591185, 1e-10) && is<Gaussian, 4>(3, 0.9423404565, 1e-10) &&
              is<Gaussian, 4>(4, 1.2562311973, 1e-10) && is<Gaussian, 4>(5, 1.6180463860, 1e-10) &&
              is<Gaussian, 4>(6, 2.0690172265, 1e-10) && is<Gaussian, 4>(7, 2.7325895710, 1e-10));

// The law of a coordinate on the sphere, times sqrt(d), 5 decimals.
static_assert(is<Sphere<128>, 3>(0, 0.24442, 1e-5) && is<Sphere<128>, 3>(1, 0.75333, 1e-5) &&
              is<Sphere<128>, 3>(2, 1.33660, 1e-5) && is<Sphere<128>, 3>(3, 2.13147, 1e-5));
static_assert(is<Sphere<128>, 4>(0, 0.12787, 1e-5) && is<Sphere<128>, 4>(1, 0.38638, 1e-5) &&
              is<Sphere<128>, 4>(2, 0.65362, 1e-5) && is<Sphere<128>, 4>(3, 0.93710, 1e-5) &&
              is<Sphere<128>, 4>(4, 1.24777, 1e-5) && is<Sphere<128>, 4>(5, 1.60434, 1e-5) &&
              is<Sphere<128>, 4>(6, 2.04593, 1e-5) && is<Sphere<128>, 4>(7, 2.68886, 1e-5));
static_assert(is<Sphere<64>, 3>(0, 0.24375, 1e-5) && is<Sphere<64>, 3>(1, 0.75066, 1e-5) &&
              is<Sphere<64>, 3>(2, 1.32934, 1e-5) && is<Sphere<64>, 3>(3, 2.11131, 1e-5));
static_assert(is<Sphere<64>, 4>(0, 0.12735, 1e-5) && is<Sphere<64>, 4>(1, 0.38472, 1e-5) &&
              is<Sphere<64>, 4>(2, 0.65049, 1e-5) && is<Sphere<64>, 4>(3, 0.93189, 1e-5) &&
              is<Sphere<64>, 4>(4, 1.23940, 1e-5) && is<Sphere<64>, 4>(5, 1.59085, 1e-5) &&
              is<Sphere<64>, 4>(6, 2.02331, 1e-5) && is<Sphere<64>, 4>(7, 2.64637, 1e-5));
static_assert(is<Sphere<256>, 4>(7, 2.71057, 1e-5));

// Thresholds of N(0,1): midpoints.
static_assert([] {
  const auto& c = kPositiveLevels<Gaussian, 4>;
  const double published[7] = {0.2582216647, 0.5224037090, 0.7995497875, 1.0992858269,
                               1.4371387917, 1.8435318063, 2.4008033988};
  for (int i = 0; i < 7; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double off = 0.5 * (c[at] + c[at + 1]) - published[i];
    if (off > 1.01e-10 || off < -1.01e-10) return false;
  }
  return true;
}());

// Elementary functions against values from tables.
constexpr bool close(double a, double b) {
  return a - b < 4e-16 * b && b - a < 4e-16 * b;
}
static_assert(close(lloyd_max::square_root(2.0), 1.41421356237309504880));
static_assert(close(lloyd_max::square_root(0.02), 0.14142135623730950488));
static_assert(close(lloyd_max::exp_minus(1.0), 0.36787944117144232160));
static_assert(close(lloyd_max::exp_minus(9.0), 1.2340980408667954950e-4));
static_assert(close(lloyd_max::arc_sine(0.5), 0.52359877559829887308));
static_assert(close(lloyd_max::arc_sine(0.999), 1.526071239626163));
static_assert(close(lloyd_max::arc_sine(1e-3), 1.0000001666667416e-3));

template <std::uint32_t kDim, std::uint32_t kBits>
void check_levels(const std::uint32_t* bits) {
  CAPTURE(kDim);
  CAPTURE(kBits);
  const auto levels = SphereBook<kDim>::template levels<kBits>();
  for (std::uint32_t i = 0; i < levels.size(); ++i) {
    CAPTURE(i);
    std::uint32_t own = 0;
    std::memcpy(&own, &levels[i], sizeof own);
    CHECK(own == bits[i]);
    CHECK(levels[levels.size() - 1 - i] == -levels[i]);
    if (i > 0) CHECK(levels[i] > levels[i - 1]);
  }
}

}  // namespace

TEST_CASE("lloyd_max: the floats of every compiler") {
  check_levels<8, 4>(golden::kGauss4);
  check_levels<64, 1>(golden::kSphere64_1);
  check_levels<64, 2>(golden::kSphere64_2);
  check_levels<64, 3>(golden::kSphere64_3);
  check_levels<64, 4>(golden::kSphere64_4);
  check_levels<64, 5>(golden::kSphere64_5);
  check_levels<80, 4>(golden::kSphere80_4);
  check_levels<128, 4>(golden::kSphere128_4);
}

TEST_CASE("lloyd_max: levels are the means of their cells, by quadrature") {
  // The trapezoidal rule over 2^20 steps of the law of d = 17 (odd: the other recursion) and 576.
  const auto check = [](auto law, const auto& c, double dim) {
    using Law = decltype(law);
    const double unit = 1.0 / std::sqrt(dim);
    CHECK(Law::kUnit == doctest::Approx(unit).epsilon(1e-15));
    const double end = std::fmin(1.0, 12.0 * unit);
    constexpr int kSteps = 1 << 20;
    std::vector<double> mass(c.size(), 0.0);
    std::vector<double> moment(c.size(), 0.0);
    std::size_t cell = 0;
    for (int s = 0; s < kSteps; ++s) {
      const double t = end * (s + 0.5) / kSteps;
      while (cell + 1 < c.size() && t / unit > 0.5 * (c[cell] + c[cell + 1])) ++cell;
      const double density = std::pow(1.0 - t * t, (dim - 3.0) / 2.0);
      mass[cell] += density;
      moment[cell] += density * t / unit;
    }
    // A step at a cell's end falls to one side: 1e-6 of the support times the density.
    for (std::size_t i = 0; i < c.size(); ++i)
      CHECK(moment[i] / mass[i] == doctest::Approx(c[i]).epsilon(2e-4));
  };
  check(Sphere<17>{}, kPositiveLevels<Sphere<17>, 4>, 17.0);
  check(Sphere<576>{}, kPositiveLevels<Sphere<576>, 4>, 576.0);
  check(Sphere<16>{}, kPositiveLevels<Sphere<16>, 5>, 16.0);
}

TEST_CASE("lloyd_max: below 16 channels the levels of N(0,1)") {
  CHECK(SphereBook<15>::levels<3>() == GaussianBook::levels<3>());
  CHECK(SphereBook<16>::levels<3>() != GaussianBook::levels<3>());
  CHECK(SphereBook<16>::kId.view() == "lloyd_max;law=sphere_16");
  CHECK(SphereBook<15>::kId.view() == "lloyd_max;law=gauss");
}
