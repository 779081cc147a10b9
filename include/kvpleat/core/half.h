// Half (IEEE binary16) and BFloat16 as storage types: two bytes, no arithmetic.
// Conversions are integer code: equal on every target, independent of the rounding and flush modes
// of the thread.
#pragma once

#include <cstdint>
#include <cstring>

#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct Half {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(Half a, Half b) = default;
};
struct BFloat16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(BFloat16 a, BFloat16 b) = default;
};

inline constexpr float kLargestHalf = 65504.0f;
inline constexpr float kLargestBFloat16 = 0x1.fep127f;

// Exact.
KVPLEAT_HD constexpr float to_float(Half h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (h.bits >> 10) & 31u;
  const std::uint32_t mantissa = h.bits & 1023u;
  if (exponent == 0) {  // subnormal: mantissa * 2^-24, a normal float
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  const std::uint32_t bits = exponent == 31 ? sign | 0x7f800000u | (mantissa << 13)
                                            : sign | ((exponent + 112u) << 23) | (mantissa << 13);
  return __builtin_bit_cast(float, bits);
}
KVPLEAT_HD constexpr float to_float(BFloat16 b) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(b.bits) << 16);
}
KVPLEAT_HD constexpr float to_float(float x) {
  return x;
}

// Nearest, ties to even. Beyond the largest half: infinity. NaN stays NaN (quiet).
KVPLEAT_HD constexpr Half to_half(float x) {
  const std::uint32_t all = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t sign = (all >> 16) & 0x8000u;
  const std::uint32_t u = all & 0x7fffffffu;
  if (u > 0x7f800000u) return Half{static_cast<std::uint16_t>(sign | 0x7e00u)};
  if (u >= 0x47800000u) return Half{static_cast<std::uint16_t>(sign | 0x7c00u)};
  if (u <
      0x38800000u) {  // result is subnormal: shift the mantissa, round by the bits that fall off
    if (u < 0x33000000u) return Half{static_cast<std::uint16_t>(sign)};
    const std::uint32_t shift = 126u - (u >> 23);  // 14..24
    const std::uint32_t mantissa = (u & 0x7fffffu) | 0x800000u;
    const std::uint32_t kept = mantissa >> shift;
    const std::uint32_t lost = mantissa & ((1u << shift) - 1u);
    const std::uint32_t tie = 1u << (shift - 1u);
    const std::uint32_t up = lost > tie || (lost == tie && (kept & 1u)) ? 1u : 0u;
    return Half{static_cast<std::uint16_t>(sign | (kept + up))};
  }
  const std::uint32_t rounded = u + 0xfffu + ((u >> 13) & 1u);
  return Half{static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
}
KVPLEAT_HD constexpr BFloat16 to_bfloat16(float x) {
  const std::uint32_t u = __builtin_bit_cast(std::uint32_t, x);
  if ((u & 0x7fffffffu) > 0x7f800000u) {
    return BFloat16{static_cast<std::uint16_t>((u >> 16) | 0x40u)};
  }
  return BFloat16{static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16)};
}

// What a stored scale or zero point may be: the type, its range, and rounding to nearest, down and
// up (next_above: for types that are not negated by the top bit of two bytes). Directed rounding of
// a value whose nearest is infinite gives infinity; callers refuse such values first.
template <class T>
struct SideTraits;

template <>
struct SideTraits<Half> {
  static constexpr float kLargest = kLargestHalf;
  KVPLEAT_HD static constexpr Half nearest(float x) { return to_half(x); }
  KVPLEAT_HD static constexpr Half next_below(Half h) {
    if (h.bits == 0 || h.bits == 0x8000u) return Half{0x8001u};
    return Half{static_cast<std::uint16_t>((h.bits & 0x8000u) ? h.bits + 1u : h.bits - 1u)};
  }
};
template <>
struct SideTraits<BFloat16> {
  static constexpr float kLargest = kLargestBFloat16;
  KVPLEAT_HD static constexpr BFloat16 nearest(float x) { return to_bfloat16(x); }
  KVPLEAT_HD static constexpr BFloat16 next_below(BFloat16 b) {
    if (b.bits == 0 || b.bits == 0x8000u) return BFloat16{0x8001u};
    return BFloat16{static_cast<std::uint16_t>((b.bits & 0x8000u) ? b.bits + 1u : b.bits - 1u)};
  }
};
template <>
struct SideTraits<float> {
  static constexpr float kLargest = kLargestFloat;
  KVPLEAT_HD static constexpr float nearest(float x) { return x; }
  KVPLEAT_HD static constexpr float next_below(float x) {
    return x;
  }  // never asked: nearest is exact
};

// The T nearest to x, ties to even.
template <class T>
KVPLEAT_HD constexpr T nearest(float x) {
  return SideTraits<T>::nearest(x);
}
// The largest T that is not above x.
template <class T>
KVPLEAT_HD constexpr T at_most(float x) {
  const T candidate = SideTraits<T>::nearest(x);
  return to_float(candidate) <= x ? candidate : SideTraits<T>::next_below(candidate);
}
// The smallest T that is not below x.
template <class T>
KVPLEAT_HD constexpr T at_least(float x) {
  if constexpr (requires(T t) { SideTraits<T>::next_above(t); }) {
    const T candidate = SideTraits<T>::nearest(x);
    return to_float(candidate) >= x ? candidate : SideTraits<T>::next_above(candidate);
  } else {
    const T negated = at_most<T>(-x);
    if constexpr (sizeof(T) == 2) {
      return T{static_cast<std::uint16_t>(negated.bits ^ 0x8000u)};
    } else {
      return -negated;
    }
  }
}

// Unaligned loads and stores of side data.
template <class T>
KVPLEAT_HD inline T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}
template <class T>
KVPLEAT_HD inline void store(std::uint8_t* bytes, T value) {
  std::memcpy(bytes, &value, sizeof value);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
