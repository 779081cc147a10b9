// Lloyd-Max codebooks, solved at compile time: the 2^b levels of least mean squared error for one
// coordinate of a rotated vector, by its exact law or by N(0,1).
#pragma once

#include <array>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace lloyd_max {

// Elementary functions for constant expressions, good to a few units of 2^-52.
constexpr double square_root(double x) {
  if (!(x > 0.0)) return 0.0;
  double root = x < 1.0 ? 1.0 : x;
  for (double next = 0.5 * (root + x / root); next < root; next = 0.5 * (root + x / root))
    root = next;
  return root;
}
constexpr double power(double x, std::uint32_t n) {
  double result = 1.0;
  for (; n > 0; n /= 2, x *= x) {
    if (n % 2 == 1) result *= x;
  }
  return result;
}
// e^-x, x >= 0: the reciprocal of a sum of positive terms.
constexpr double exp_minus(double x) {
  double sum = 1.0;
  double term = 1.0;
  for (double k = 1.0; term > 1e-18 * sum; k += 1.0) sum += term *= x / k;
  return 1.0 / sum;
}
// asin, 0 <= x <= 1: halve the angle four times, then the series.
constexpr double arc_sine(double x) {
  double cosine = square_root((1.0 - x) * (1.0 + x));
  for (int i = 0; i < 4; ++i) {
    const double both = 2.0 * (1.0 + cosine);
    x /= square_root(both);
    cosine = square_root(0.25 * both);
  }
  double sum = x;
  double term = x;
  for (double k = 1.0; term > 1e-18; k += 2.0) {
    term *= x * x * k / (k + 1.0);
    sum += term / (k + 2.0);
  }
  return 16.0 * sum;
}

inline constexpr double kHalfPi = 1.57079632679489661923;

// What a law knows of the interval [0, x]: density at x, mass and first moment of the interval; all
// three times the same constant.
struct Interval {
  double density = 0.0;
  double mass = 0.0;
  double moment = 0.0;
};

// N(0,1). mass = density * sum of x^(2k+1) / (1 * 3 * .. * (2k+1)), all terms positive.
struct Gaussian {
  static constexpr double kUnit = 1.0;   // standard deviation
  static constexpr double kReach = 0.0;  // of the support, in units; 0: no end
  static constexpr Interval to(double x) {
    const double density = exp_minus(0.5 * x * x);
    double sum = x;
    double term = x;
    for (double k = 3.0; term > 1e-18 * sum; k += 2.0) sum += term *= x * x / k;
    return {density, density * sum, 1.0 - density};
  }
  static constexpr Interval to_end() { return {0.0, square_root(kHalfPi), 1.0}; }
};

// One coordinate t of a point that is uniform on the unit sphere of kDim dimensions: density
// (1 - t^2)^((kDim - 3) / 2). With t = sin a the mass is the integral I of cos^(kDim - 2), by
//   I_n = cos^(n-1) sin / n + (n - 1) / n * I_(n-2),   I_0 = a,   I_1 = sin.
template <std::uint32_t kDim>
struct Sphere {
  static_assert(kDim >= 4);
  static constexpr double kReach = square_root(static_cast<double>(kDim));
  static constexpr double kUnit = 1.0 / kReach;
  static constexpr Interval to(double t) {
    const double cosine = square_root((1.0 - t) * (1.0 + t));
    return {power(cosine, kDim - 3), mass(t, cosine, kDim % 2 == 0 ? arc_sine(t) : t),
            (1.0 - power(cosine, kDim - 1)) / (kDim - 1.0)};
  }
  static constexpr Interval to_end() {
    return {0.0, mass(1.0, 0.0, kDim % 2 == 0 ? kHalfPi : 1.0), 1.0 / (kDim - 1.0)};
  }

 private:
  static constexpr double mass(double sine, double cosine, double first) {
    double integral = first;
    double powers = kDim % 2 == 0 ? cosine : cosine * cosine;
    for (std::uint32_t n = 2 + kDim % 2; n <= kDim - 2; n += 2) {
      integral = powers * sine / n + (n - 1.0) / n * integral;
      powers *= cosine * cosine;
    }
    return integral;
  }
};

// Where to start: levels as dense as is right for many of them, in proportion to the cube root of
// the density (Panter and Dite 1951). For N(0,1) that is the density of N(0,3), here integrated
// from level to level; half a level more than there are keeps the last from running away. Another
// law: bent into its support.
template <class Law, std::uint32_t kBits>
constexpr std::array<double, (1u << kBits) / 2> start_levels() {
  constexpr std::uint32_t kLevels = (1u << kBits) / 2;
  std::array<double, kLevels> c{};
  const double width = square_root(3.0 * kHalfPi) / (kLevels + 0.5);
  double z = 0.0;
  for (std::uint32_t i = 0; i < kLevels; ++i) {
    const double step = i == 0 ? 0.5 * width : width;
    const double middle = z + 0.5 * step / exp_minus(z * z / 6.0);
    z += step / exp_minus(middle * middle / 6.0);
    const double bent = Law::kReach > 0.0 ? 0.5 * z * z * Law::kUnit * Law::kUnit : 0.0;
    c[i] = z * Law::kUnit / square_root(1.0 + bent);
  }
  return c;
}

// The positive half of the levels for b = kBits, ascending, for unit variance; the other half is
// its mirror image. A level is the mean of its cell, a cell ends half way to the next level:
//   c_i * mass_i = moment_i,   cell i = (t_(i-1), t_i),   t_i = (c_i + c_(i+1)) / 2
// Newton's method; the Jacobian is symmetric and tridiagonal:
//   d/dc_i = mass_i - (f_i g_i + f_(i-1) g_(i-1)) / 4,   d/dc_(i+1) = -f_i g_i / 4
// with f_i the density at t_i and g_i = c_(i+1) - c_i.
template <class Law, std::uint32_t kBits>
constexpr std::array<double, (1u << kBits) / 2> positive_levels() {
  constexpr std::uint32_t kLevels = (1u << kBits) / 2;
  std::array<double, kLevels> c = start_levels<Law, kBits>();
  std::array<double, kLevels> off{};    // Jacobian beside the diagonal
  std::array<double, kLevels> slope{};  // and its elimination
  std::array<double, kLevels> delta{};
  for (int round = 0; round < 40; ++round) {
    Interval before;
    double off_before = 0.0;
    for (std::uint32_t i = 0; i < kLevels; ++i) {
      const bool last = i + 1 == kLevels;
      const Interval now = last ? Law::to_end() : Law::to(0.5 * (c[i] + c[i + 1]));
      const double mass = now.mass - before.mass;
      off[i] = last ? 0.0 : -0.25 * now.density * (c[i + 1] - c[i]);
      const double pivot = mass + off[i] + off_before - (i == 0 ? 0.0 : off_before * slope[i - 1]);
      slope[i] = off[i] / pivot;
      delta[i] =
          (now.moment - before.moment - c[i] * mass - (i == 0 ? 0.0 : off_before * delta[i - 1])) /
          pivot;
      off_before = off[i];
      before = now;
    }
    double largest = 0.0;
    for (std::uint32_t i = kLevels; i-- > 0;) {
      if (i + 1 < kLevels) delta[i] -= slope[i] * delta[i + 1];
      const double size = delta[i] < 0.0 ? -delta[i] : delta[i];
      largest = largest < size ? size : largest;
    }
    // Half steps while a full one would disorder the levels or leave the support.
    double share = 1.0;
    for (bool ordered = false; !ordered; share *= ordered ? 1.0 : 0.5) {
      ordered = true;
      double below = 0.0;
      for (std::uint32_t i = 0; i < kLevels; ++i) {
        const double moved = c[i] + share * delta[i];
        ordered =
            ordered && moved > below && (Law::kReach == 0.0 || moved < Law::kReach * Law::kUnit);
        below = moved;
      }
    }
    for (std::uint32_t i = 0; i < kLevels; ++i) c[i] += share * delta[i];
    if (largest < 1e-7 * Law::kUnit) break;  // squared with each round: the rest is rounding
  }
  for (std::uint32_t i = 0; i < kLevels; ++i) c[i] /= Law::kUnit;
  return c;
}

template <class Law, std::uint32_t kBits>
inline constexpr std::array<double, (1u << kBits) / 2> kPositiveLevels =
    positive_levels<Law, kBits>();

// All 2^b levels, ascending, as floats.
template <class Law, std::uint32_t kBits>
inline constexpr std::array<float, 1u << kBits> kLevels = [] {
  constexpr std::uint32_t kHalf = (1u << kBits) / 2;
  std::array<float, 1u << kBits> levels{};
  for (std::uint32_t i = 0; i < kHalf; ++i) {
    const auto level = static_cast<float>(kPositiveLevels<Law, kBits>[i]);
    levels[kHalf + i] = level;
    levels[kHalf - 1 - i] = -level;
  }
  return levels;
}();

}  // namespace lloyd_max

// A codebook: an identity, and levels<b>() for data of unit RMS, ascending.
struct GaussianBook {
  static constexpr auto kId = Text("lloyd_max;law=gauss");
  template <std::uint32_t kBits>
  static constexpr std::array<float, 1u << kBits> levels() {
    return lloyd_max::kLevels<lloyd_max::Gaussian, kBits>;
  }
};
// For rotated vectors of kDim channels. Below 16 channels a random Hadamard matrix takes too few
// values for the law to hold, and its density ends (kDim = 3) or grows (kDim = 2) towards the end
// of the support: there the levels are those of N(0,1).
template <std::uint32_t kDim>
struct SphereBook {
  static constexpr auto kId = Text("lloyd_max;law=sphere_") + number_text<kDim>();
  template <std::uint32_t kBits>
  static constexpr std::array<float, 1u << kBits> levels() {
    return lloyd_max::kLevels<lloyd_max::Sphere<kDim>, kBits>;
  }
};
template <std::uint32_t kDim>
requires(kDim < 16) struct SphereBook<kDim> : GaussianBook {
};

}  // namespace kvpleat::inline KVPLEAT_ISA
