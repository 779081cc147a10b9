// RandomHadamard: random signs, then an orthonormal Hadamard transform (RHT). Spreads outliers over
// all channels. A head_dim that is not a power of two is cut into blocks by its binary digits,
// largest first (80 = 64 + 16).
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/bind.h"

namespace kvpleat::inline KVPLEAT_ISA {

// +1 or -1 from a fixed hash (SplitMix64) of seed and channel.
KVPLEAT_HD constexpr float random_sign(std::uint64_t seed, std::uint64_t channel) {
  std::uint64_t z = (seed << 32) + channel + 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return ((z ^ (z >> 31)) & 1u) ? -1.0f : 1.0f;
}

// 1/sqrt(n) for a power of two: exact for even powers, correctly rounded for odd ones.
KVPLEAT_HD constexpr float inverse_root(std::uint32_t power_of_two) {
  float value = 1.0f;
  std::uint32_t n = power_of_two;
  for (; n >= 4; n /= 4) value *= 0.5f;
  return n == 2 ? value * 0.70710678118654752440f : value;
}

// In place, n a power of two: stages of adds and subtracts in fixed order, then one rounded product
// per element.
KVPLEAT_HD constexpr void hadamard_in_place(float* x, std::uint32_t n) {
  for (std::uint32_t half = 1; half < n; half *= 2) {
    for (std::uint32_t base = 0; base < n; base += 2 * half) {
      for (std::uint32_t i = base; i < base + half; ++i) {
        const float a = x[i];
        const float b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
    }
  }
  const float scale = inverse_root(n);
  for (std::uint32_t i = 0; i < n; ++i) x[i] = product(x[i], scale);
}

template <std::uint64_t kSeed = 1>
struct RandomHadamard {
  static constexpr auto kId = Text("transform=rht;seed=") + number_text<kSeed>();
  static constexpr bool kPositional = false;
  static constexpr bool kHasOffset = false;
  static constexpr std::uint32_t profile_size(std::uint32_t) { return 0; }
  static RandomHadamard bind(const BindContext&) { return {}; }

  template <std::uint32_t kDim>
  static constexpr std::array<float, kDim> kSigns = [] {
    std::array<float, kDim> signs{};
    for (std::uint32_t c = 0; c < kDim; ++c) signs[c] = random_sign(kSeed, c);
    return signs;
  }();

  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t, float* coded) const {
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = row[c] * kSigns<kDim>[c];
    transform_blocks<kDim>(coded);
  }
  // The transform is orthonormal, so scores are kept by rotating the query alike.
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    forward<kDim>(query, 0, coded);
  }
  template <std::uint32_t kDim>
  void add_score_offset(const float*, const std::int64_t*, std::uint32_t, float*) const {}
  template <std::uint32_t kDim>
  void restore(const float* coded, float, std::int64_t, float* row) const {
    if (coded != row) {
      for (std::uint32_t c = 0; c < kDim; ++c) row[c] = coded[c];
    }
    transform_blocks<kDim>(row);
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] *= kSigns<kDim>[c];
  }
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    return input_bound * std::sqrt(static_cast<float>(kDim));
  }

 private:
  template <std::uint32_t kDim>
  static void transform_blocks(float* x) {
    std::uint32_t at = 0;
    for (std::uint32_t rest = kDim; rest > 0; rest = kDim - at) {
      const std::uint32_t block = std::bit_floor(rest);
      hadamard_in_place(x + at, block);
      at += block;
    }
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
