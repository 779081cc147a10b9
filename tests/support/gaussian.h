// Gaussian data with real tails: sums of a few uniforms (test::normal) end at 3.5 deviations, too
// early for what cuts at 3.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/generator.h"

namespace test {

// Box and Muller over 32-bit uniforms of G(seed); n values of deviation `factor`.
inline std::vector<float> gaussian(std::uint32_t seed, std::size_t n, float factor = 1.0f) {
  Generator generator(seed);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; i += 2) {
    const double u = (static_cast<double>(generator.bits()) + 0.5) * 0x1p-32;
    const double v = (static_cast<double>(generator.bits()) + 0.5) * 0x1p-32;
    const double length = std::sqrt(-2.0 * std::log(u)) * static_cast<double>(factor);
    values[i] = static_cast<float>(length * std::cos(6.283185307179586 * v));
    if (i + 1 < n) values[i + 1] = static_cast<float>(length * std::sin(6.283185307179586 * v));
  }
  return values;
}

// Mean of the squared differences.
inline double mean_square_error(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return sum / static_cast<double>(a.size());
}

}  // namespace test
