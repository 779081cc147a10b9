// Gaussian numbers from a seed: the profile of IidSketch, and what a Haar rotation starts from.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

namespace calibrate {

// SplitMix64.
struct SplitMix {
  std::uint64_t state = 0;

  std::uint64_t next() noexcept {
    std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // In (0, 1).
  double uniform() noexcept { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }
};

}  // namespace calibrate

// matrix[count]: independent standard normal numbers (Box-Muller). The same seed gives the same
// numbers up to what libm and contraction do in the last place: keep the result, not the seed.
inline void gaussian_matrix(std::uint64_t seed, std::size_t count, float* matrix) noexcept {
  calibrate::SplitMix random{seed};
  for (std::size_t i = 0; i < count; i += 2) {
    const double radius = std::sqrt(-2.0 * std::log(random.uniform()));
    const double angle = 6.283185307179586477 * random.uniform();
    matrix[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < count) matrix[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
}

}  // namespace kvpleat::inline KVPLEAT_ISA
