// Minifloats as storage types of one byte: Fp8E4m3, Fp8E5m2, Fp4E2m1 and the power-of-two scale
// E8m0. No arithmetic. Conversions are integer code: equal on every target, independent of the
// rounding and flush modes of the thread. Source: OCP 8-bit Floating Point Specification 1.0, OCP
// Microscaling Formats 1.0.
//
//   type      bits, high to low              bias  largest  subnormal step  infinity  NaN
//   Fp8E4m3   sign, 4 exponent, 3 mantissa   7     448      2^-9            none      x7f xff
//   Fp8E5m2   sign, 5 exponent, 2 mantissa   15    57344    2^-16           x7c xfc   x7d.. xfd..
//   Fp4E2m1   sign, 2 exponent, 1 mantissa   1     6        0.5             none      none
//   E8m0      8 exponent                     127   2^127    (no zero)       none      xff
// Fp4E2m1 uses the low four bits of its byte; its values are 0, 0.5, 1, 1.5, 2, 3, 4, 6.
// To a minifloat: nearest, ties to even. Beyond the largest, infinities included: the largest
// (saturation; no infinity is ever made). NaN: x7f of Fp8E4m3 and Fp8E5m2 with the sign, 0 of
// Fp4E2m1, xff of E8m0. -0 stays -0.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct Fp8E4m3 {
  std::uint8_t bits = 0;
  friend constexpr bool operator==(Fp8E4m3 a, Fp8E4m3 b) = default;
};
struct Fp8E5m2 {
  std::uint8_t bits = 0;
  friend constexpr bool operator==(Fp8E5m2 a, Fp8E5m2 b) = default;
};
struct Fp4E2m1 {
  std::uint8_t bits = 0;
  friend constexpr bool operator==(Fp4E2m1 a, Fp4E2m1 b) = default;
};
// 2^(bits - 127).
struct E8m0 {
  std::uint8_t bits = 0;
  friend constexpr bool operator==(E8m0 a, E8m0 b) = default;
};

inline constexpr float kLargestE4m3 = 448.0f;
inline constexpr float kLargestE5m2 = 57344.0f;
inline constexpr float kLargestE2m1 = 6.0f;

namespace minifloat {

// The value of exponent and mantissa bits, without sign and special cases. A bias below 127 keeps
// subnormals within the normal floats.
template <std::uint32_t kMantissaBits, std::uint32_t kBias>
KVPLEAT_HD constexpr float magnitude_of(std::uint32_t bits) {
  const std::uint32_t exponent = bits >> kMantissaBits;
  if (exponent == 0) {  // mantissa * 2^(1 - bias - kMantissaBits)
    constexpr float kStep = __builtin_bit_cast(float, (127u + 1u - kBias - kMantissaBits) << 23);
    return static_cast<float>(bits) * kStep;
  }
  return __builtin_bit_cast(float, (bits << (23u - kMantissaBits)) + ((127u - kBias) << 23));
}

// The bits nearest to |x|, at most kLargestBits; x is no NaN.
template <std::uint32_t kMantissaBits, std::uint32_t kBias, std::uint32_t kLargestBits>
KVPLEAT_HD constexpr std::uint32_t nearest_bits(float x) {
  constexpr std::uint32_t kShift = 23u - kMantissaBits;
  constexpr std::uint32_t kSmallestNormal = (127u + 1u - kBias) << 23;
  const std::uint32_t u = __builtin_bit_cast(std::uint32_t, x) & 0x7fffffffu;
  if (u >= kSmallestNormal) {
    const std::uint32_t rounded = u + ((1u << (kShift - 1u)) - 1u) + ((u >> kShift) & 1u);
    return lower_of((rounded - ((127u - kBias) << 23)) >> kShift, kLargestBits);
  }
  // Subnormal: shift the mantissa, round by the bits that fall off.
  const std::uint32_t shift = kShift + (kSmallestNormal >> 23) - (u >> 23);
  if (shift > 24u) return 0;
  const std::uint32_t mantissa = (u & 0x7fffffu) | 0x800000u;
  const std::uint32_t kept = mantissa >> shift;
  const std::uint32_t lost = mantissa & ((1u << shift) - 1u);
  const std::uint32_t tie = 1u << (shift - 1u);
  return kept + (lost > tie || (lost == tie && (kept & 1u)) ? 1u : 0u);
}

KVPLEAT_HD constexpr std::uint32_t sign_of(float x) {
  return __builtin_bit_cast(std::uint32_t, x) >> 31;
}
KVPLEAT_HD constexpr float with_sign(float x, bool negative) {
  return negative ? -x : x;
}

}  // namespace minifloat

// Exact.
KVPLEAT_HD constexpr float to_float(Fp8E4m3 x) {
  const std::uint32_t rest = x.bits & 0x7fu;
  if (rest == 0x7fu) return __builtin_bit_cast(float, (x.bits & 0x80u) << 24 | 0x7fc00000u);
  return minifloat::with_sign(minifloat::magnitude_of<3, 7>(rest), (x.bits & 0x80u) != 0);
}
KVPLEAT_HD constexpr float to_float(Fp8E5m2 x) {
  const std::uint32_t rest = x.bits & 0x7fu;
  if (rest >= 0x7cu) {
    return __builtin_bit_cast(float,
                              (x.bits & 0x80u) << 24 | (rest == 0x7cu ? 0x7f800000u : 0x7fc00000u));
  }
  return minifloat::with_sign(minifloat::magnitude_of<2, 15>(rest), (x.bits & 0x80u) != 0);
}
KVPLEAT_HD constexpr float to_float(Fp4E2m1 x) {
  return minifloat::with_sign(minifloat::magnitude_of<1, 1>(x.bits & 7u), (x.bits & 8u) != 0);
}
KVPLEAT_HD constexpr float to_float(E8m0 x) {
  if (x.bits == 0) return 0x1p-127f;  // a subnormal float
  return __builtin_bit_cast(
      float, x.bits == 255u ? 0x7fc00000u : static_cast<std::uint32_t>(x.bits) << 23);
}

KVPLEAT_HD constexpr Fp8E4m3 to_e4m3(float x) {
  const std::uint32_t bits = x == x ? minifloat::nearest_bits<3, 7, 0x7e>(x) : 0x7fu;
  return Fp8E4m3{static_cast<std::uint8_t>(minifloat::sign_of(x) << 7 | bits)};
}
KVPLEAT_HD constexpr Fp8E5m2 to_e5m2(float x) {
  const std::uint32_t bits = x == x ? minifloat::nearest_bits<2, 15, 0x7b>(x) : 0x7fu;
  return Fp8E5m2{static_cast<std::uint8_t>(minifloat::sign_of(x) << 7 | bits)};
}
KVPLEAT_HD constexpr Fp4E2m1 to_e2m1(float x) {
  if (!(x == x)) return Fp4E2m1{};
  return Fp4E2m1{
      static_cast<std::uint8_t>(minifloat::sign_of(x) << 3 | minifloat::nearest_bits<1, 1, 7>(x))};
}
// The nearest power of two, ties to the even exponent byte; what is below 2^-127 (zero, negative
// numbers): 2^-127.
KVPLEAT_HD constexpr E8m0 to_e8m0(float x) {
  if (!(x == x)) return E8m0{255};
  const std::uint32_t u = __builtin_bit_cast(std::uint32_t, x);
  if (u >> 31) return E8m0{0};
  if (u < 0x00800000u) return E8m0{static_cast<std::uint8_t>(u > 0x600000u ? 1 : 0)};
  const std::uint32_t exponent = u >> 23;
  const std::uint32_t mantissa = u & 0x7fffffu;
  const bool up = mantissa > 0x400000u || (mantissa == 0x400000u && (exponent & 1u));
  return E8m0{static_cast<std::uint8_t>(lower_of(exponent + (up ? 1u : 0u), 254u))};
}

// As side data. Directed rounding stops at the largest, and at 2^-127 for E8m0: no NaN and no
// infinity is ever stored. Callers refuse or saturate what lies beyond.
namespace minifloat {

// Neighbours of a sign-magnitude byte.
template <class T, std::uint32_t kLargestBits>
struct ByteSide {
  KVPLEAT_HD static constexpr T next_below(T x) { return step(x, 0x80u); }
  KVPLEAT_HD static constexpr T next_above(T x) { return step(x, 0u); }

 private:
  // One step in the direction of the given sign bit.
  KVPLEAT_HD static constexpr T step(T x, std::uint32_t direction) {
    const std::uint32_t size = x.bits & 0x7fu;
    const std::uint32_t sign = x.bits & 0x80u;
    if (size == 0) return T{static_cast<std::uint8_t>(direction | 1u)};
    if (sign != direction) return T{static_cast<std::uint8_t>(sign | (size - 1u))};
    return T{static_cast<std::uint8_t>(sign | lower_of(size + 1u, kLargestBits))};
  }
};

}  // namespace minifloat

template <>
struct SideTraits<Fp8E4m3> : minifloat::ByteSide<Fp8E4m3, 0x7e> {
  static constexpr float kLargest = kLargestE4m3;
  KVPLEAT_HD static constexpr Fp8E4m3 nearest(float x) { return to_e4m3(x); }
};
template <>
struct SideTraits<Fp8E5m2> : minifloat::ByteSide<Fp8E5m2, 0x7b> {
  static constexpr float kLargest = kLargestE5m2;
  KVPLEAT_HD static constexpr Fp8E5m2 nearest(float x) { return to_e5m2(x); }
};
template <>
struct SideTraits<E8m0> {
  static constexpr float kLargest = 0x1p127f;
  KVPLEAT_HD static constexpr E8m0 nearest(float x) { return to_e8m0(x); }
  KVPLEAT_HD static constexpr E8m0 next_below(E8m0 x) {
    return E8m0{static_cast<std::uint8_t>(x.bits - (x.bits > 0 ? 1u : 0u))};
  }
  KVPLEAT_HD static constexpr E8m0 next_above(E8m0 x) {
    return E8m0{static_cast<std::uint8_t>(x.bits + (x.bits < 254u ? 1u : 0u))};
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
