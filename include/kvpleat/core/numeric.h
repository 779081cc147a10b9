// Arithmetic that decides bytes. The numeric law: whatever decides a stored byte is
//   (a) a comparison or an integer operation,
//   (b) one rounded operation that no contraction can join to the next: subtract, divide, round
//       half to even, or `product` below, or
//   (c) a sum in double over products of floats (exact, so FMA changes nothing), in 16 partial sums
//       by index mod 16 and a fixed pairwise tree.
// Code that keeps to it gives equal bytes under every compiler flag that config.h lets pass, but for
// clang's -funsafe-math-optimizations and its parts, which no macro shows: do not use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kLargestFloat = 0x1.fffffep127f;

template <class T>
KVPLEAT_HD constexpr T lower_of(T a, T b) {
  return b < a ? b : a;
}
template <class T>
KVPLEAT_HD constexpr T upper_of(T a, T b) {
  return a < b ? b : a;
}
// |x|, also of NaN: the sign bit cleared, so that no branch depends on the data.
KVPLEAT_HD constexpr float magnitude(float x) {
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) & 0x7fffffffu);
}

// False for NaN and both infinities.
KVPLEAT_HD constexpr bool is_finite(float x) {
  return magnitude(x) <= kLargestFloat;
}

// The largest magnitude of a row. NaN counts as larger than infinity, so one comparison with
// kLargestFloat tells whether the whole row is finite. Magnitudes are compared as integers, whose
// order is the same.
KVPLEAT_HD constexpr float largest_magnitude(const float* row, std::size_t n) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits =
        static_cast<std::int32_t>(__builtin_bit_cast(std::uint32_t, row[i]) & 0x7fffffffu);
    largest = bits > largest ? bits : largest;
  }
  return __builtin_bit_cast(float, largest);
}

// Bounds of a scale that a profile gives. What a code is off by is multiplied by the scale as well:
// beyond these a channel that is nearly zero would decode to infinities.
inline constexpr float kSmallestScale = 0x1p-64f;
inline constexpr float kLargestScale = 0x1p64f;
// False for NaN.
KVPLEAT_HD constexpr bool usable_scale(float x) {
  return x >= kSmallestScale && x <= kLargestScale;
}
KVPLEAT_HD constexpr float nearest_usable_scale(float x) {
  return lower_of(upper_of(x, kSmallestScale), kLargestScale);
}

template <class T>
KVPLEAT_HD constexpr T ceil_div(T a, T b) {
  return static_cast<T>((a + b - 1) / b);
}
template <class T>
KVPLEAT_HD constexpr T round_up(T a, T multiple) {
  return static_cast<T>(ceil_div(a, multiple) * multiple);
}

// The correctly rounded float product, never fused with a following add: exact in double, then
// rounded. The barriers stand before the multiplication, so that it stays one of doubles: behind
// it, g++ makes it one of floats, and its vectorizer drops the barrier and fuses.
KVPLEAT_HD constexpr float product(float a, float b) {
  double x = static_cast<double>(a);
  double y = static_cast<double>(b);
  KVPLEAT_ROUNDED(x);
  KVPLEAT_ROUNDED(y);
  return static_cast<float>(x * y);
}

// x rounded to an integer, ties to even, for |x| < 2^22 in the default rounding mode: adding
// 1.5 * 2^23 moves the unit place to the last bit. Without a library call, and never folded to x.
KVPLEAT_HD constexpr float round_to_even(float x) {
  float shifted = x + 0x1.8p23f;
  KVPLEAT_ROUNDED(shifted);
  return shifted - 0x1.8p23f;
}

// Nearest integer of x, ties to even, clamped to [0, top]; NaN gives 0. |top| < 2^22.
KVPLEAT_HD constexpr std::uint32_t round_to_code(float x, std::uint32_t top) {
  const float limit = static_cast<float>(top);
  const float clamped = x > 0.0f ? (x < limit ? x : limit) : 0.0f;
  return static_cast<std::uint32_t>(round_to_even(clamped));
}

// The same for signed codes, clamped to [-top, top].
KVPLEAT_HD constexpr std::int32_t round_to_signed(float x, std::int32_t top) {
  const float limit = static_cast<float>(top);
  const float clamped = x > -limit ? (x < limit ? x : limit) : (x == x ? -limit : 0.0f);
  return static_cast<std::int32_t>(round_to_even(clamped));
}

// The fixed pairwise tree over 16 partial sums, which are overwritten.
KVPLEAT_HD constexpr double sum_in_tree(double* partial) {
  for (std::size_t width = 8; width > 0; width /= 2) {
    for (std::size_t j = 0; j < width; ++j) partial[j] += partial[j + width];
  }
  return partial[0];
}

// Sum of a[i] * b[i] in the fixed order of the numeric law.
KVPLEAT_HD constexpr double ordered_dot(const float* a, const float* b, std::size_t n) {
  double partial[16] = {};
  for (std::size_t i = 0; i < n; ++i) {
    partial[i % 16] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum_in_tree(partial);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
