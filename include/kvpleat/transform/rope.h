// Rope: rotary position embedding as data: layout, rotated channels, one frequency per pair.
//
// A frequency is kept as turns per token in units of 2^-64 turn. The phase of position p is then
// the integer product turns * p modulo 2^64: exact for every position, and cosine and sine follow
// by integer polynomials. So a rotation gives equal bytes on every machine, which libm does not
// promise.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/status.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Which channels form pair i of n: (2i, 2i+1), as in GGUF `llama` files, or (i, i+n), as in most
// PyTorch models.
enum class RopeLayout : std::uint8_t { kAdjacent, kHalves };

struct CosSin {
  float cosine = 1.0f;
  float sine = 0.0f;
};

// Cosine and sine of phase * 2^-64 turns. Absolute error below 2^-24 (one float rounding of a 2^-29
// polynomial).
constexpr CosSin cos_sin(std::uint64_t phase) {
  const auto times = [](std::uint64_t a, std::uint64_t b) { return (a * b) >> 32; };
  const std::uint64_t quadrant = phase >> 62;
  std::uint64_t x = (phase >> 30) & 0xffffffffu;  // fraction of the quadrant, in 2^-32
  const bool mirrored = x > 0x80000000u;          // second octant: swap the two functions
  if (mirrored) x = 0x100000000u - x;
  const std::uint64_t z = times(x, x);
  // Taylor series of sin(x pi/2) / x and cos(x pi/2) in z, coefficients in 2^-32; the first dropped
  // terms are 2e-9 and 1e-10.
  std::uint64_t s = 689090u;
  s = 20107981u - times(s, z);
  s = 342277223u - times(s, z);
  s = 2774394673u - times(s, z);
  s = 6746518852u - times(s, z);
  s = times(s, x);
  std::uint64_t c = 108242u;
  c = 3948193u - times(c, z);
  c = 89607968u - times(c, z);
  c = 1089502240u - times(c, z);
  c = 5298703516u - times(c, z);
  c = 0x100000000u - times(c, z);
  const float sine = static_cast<float>(static_cast<std::int64_t>(mirrored ? c : s)) * 0x1p-32f;
  const float cosine = static_cast<float>(static_cast<std::int64_t>(mirrored ? s : c)) * 0x1p-32f;
  switch (quadrant) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

struct Rope {
  static constexpr std::uint32_t kMaxPairs = 288;

  RopeLayout layout = RopeLayout::kAdjacent;
  std::uint32_t dims = 0;  // channels [0, dims) rotate, the rest pass; 0: no rotation at all
  std::array<std::uint64_t, kMaxPairs> turns{};  // per token and pair, in 2^-64 turn

  // theta: radians per token of pair i, i < dims/2, in any scaling the model uses.
  static Rope from_frequencies(RopeLayout layout, std::uint32_t dims, const double* theta) {
    Rope rope;
    rope.layout = layout;
    rope.dims = dims;
    for (std::uint32_t i = 0; i < dims / 2 && i < kMaxPairs; ++i) {
      const double turns = theta[i] * 0.15915494309189533577;  // 1 / (2 pi)
      rope.turns[i] = static_cast<std::uint64_t>((turns - std::floor(turns)) * 0x1p64);
    }
    return rope;
  }
  // The usual frequencies base^(-2i/dims).
  static Rope standard(RopeLayout layout, std::uint32_t dims, double base) {
    std::array<double, kMaxPairs> theta{};
    for (std::uint32_t i = 0; i < dims / 2 && i < kMaxPairs; ++i) {
      theta[i] = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dims));
    }
    return from_frequencies(layout, dims, theta.data());
  }

  // kInvalid: dims is odd or above 2 * kMaxPairs.
  constexpr Status check() const {
    return dims % 2 == 0 && dims <= 2 * kMaxPairs ? Status::kOk : Status::kInvalid;
  }
  [[nodiscard]] constexpr std::uint32_t pairs() const { return dims / 2; }
  [[nodiscard]] constexpr std::uint32_t first(std::uint32_t pair) const {
    return layout == RopeLayout::kAdjacent ? 2 * pair : pair;
  }
  [[nodiscard]] constexpr std::uint32_t second(std::uint32_t pair) const {
    return layout == RopeLayout::kAdjacent ? 2 * pair + 1 : pair + dims / 2;
  }
  [[nodiscard]] constexpr CosSin rotation(std::uint32_t pair, std::int64_t position) const {
    return cos_sin(turns[pair] * static_cast<std::uint64_t>(position));
  }

  // out = R(position) row; row and out: [dim], dim >= dims, may be the same memory. Byte-exact
  // everywhere: the double products of floats are exact and their sum is rounded explicitly.
  constexpr void rotate(const float* row, std::uint32_t dim, std::int64_t position,
                        float* out) const {
    for (std::uint32_t c = dims; c < dim; ++c) out[c] = row[c];
    for (std::uint32_t i = 0; i < pairs(); ++i) {
      const CosSin r = rotation(i, position);
      const double c = static_cast<double>(r.cosine);
      const double s = static_cast<double>(r.sine);
      const double x = static_cast<double>(row[first(i)]);
      const double y = static_cast<double>(row[second(i)]);
      out[first(i)] = static_cast<float>(c * x - s * y);
      out[second(i)] = static_cast<float>(s * x + c * y);
    }
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
