#include "kvpleat/core/minifloat.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

// The value of a byte, from the definition alone: (-1)^s 2^(e - bias) (1 + m / 2^mantissa),
// e = 0 without the leading one and with the exponent of e = 1.
double by_definition(std::uint32_t byte, std::uint32_t mantissa_bits, std::uint32_t exponent_bits,
                     int bias) {
  const std::uint32_t m = byte & ((1u << mantissa_bits) - 1u);
  const std::uint32_t e = byte >> mantissa_bits & ((1u << exponent_bits) - 1u);
  const double fraction = std::ldexp(static_cast<double>(m), -static_cast<int>(mantissa_bits));
  const double size = e == 0 ? std::ldexp(fraction, 1 - bias)
                             : std::ldexp(1.0 + fraction, static_cast<int>(e) - bias);
  return byte >> (mantissa_bits + exponent_bits) & 1u ? -size : size;
}

// A minifloat of one byte without its type.
struct AnyMinifloat {
  const char* name = "";
  float largest = 0.0f;
  std::vector<double> finite;  // values of the bytes, NaN where a byte is no number
  std::uint8_t (*from)(float) = nullptr;
  float (*to)(std::uint8_t) = nullptr;
};

template <class T>
AnyMinifloat any(const char* name, float largest) {
  AnyMinifloat type;
  type.name = name;
  type.largest = largest;
  type.from = [](float x) {
    if constexpr (std::is_same_v<T, Fp8E4m3>) return to_e4m3(x).bits;
    if constexpr (std::is_same_v<T, Fp8E5m2>) return to_e5m2(x).bits;
    if constexpr (std::is_same_v<T, Fp4E2m1>) return to_e2m1(x).bits;
  };
  type.to = [](std::uint8_t bits) { return to_float(T{bits}); };
  return type;
}
AnyMinifloat e4m3() {
  AnyMinifloat type = any<Fp8E4m3>("e4m3", 448.0f);
  for (std::uint32_t b = 0; b < 256; ++b)
    type.finite.push_back((b & 127u) == 127u ? std::nan("") : by_definition(b, 3, 4, 7));
  return type;
}
AnyMinifloat e5m2() {
  AnyMinifloat type = any<Fp8E5m2>("e5m2", 57344.0f);
  for (std::uint32_t b = 0; b < 256; ++b)
    type.finite.push_back((b & 127u) >= 0x7cu ? std::nan("") : by_definition(b, 2, 5, 15));
  return type;
}
AnyMinifloat e2m1() {
  AnyMinifloat type = any<Fp4E2m1>("e2m1", 6.0f);
  for (std::uint32_t b = 0; b < 16; ++b) type.finite.push_back(by_definition(b, 1, 2, 1));
  return type;
}

}  // namespace

TEST_CASE("minifloat: every byte has the value of its definition") {
  for (const AnyMinifloat& type : {e4m3(), e5m2(), e2m1()}) {
    CAPTURE(type.name);
    double largest = 0.0;
    for (std::uint32_t b = 0; b < type.finite.size(); ++b) {
      CAPTURE(b);
      const float value = type.to(static_cast<std::uint8_t>(b));
      if (std::isnan(type.finite[b])) {
        const bool infinite = type.largest == 57344.0f && (b & 127u) == 0x7cu;
        CHECK(std::isinf(value) == infinite);
        CHECK(std::isnan(value) == !infinite);
        CHECK(std::signbit(value) == (b >= 128));
        continue;
      }
      CHECK(static_cast<double>(value) == type.finite[b]);
      CHECK(std::signbit(value) == (b >= type.finite.size() / 2));
      CHECK(type.from(value) == b);  // exact there and back, -0 included
      largest = std::max(largest, type.finite[b]);
    }
    CHECK(largest == static_cast<double>(type.largest));
  }
  const float fours[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  for (std::uint8_t b = 0; b < 8; ++b) CHECK(to_float(Fp4E2m1{b}) == fours[b]);
  for (std::uint32_t b = 0; b < 255; ++b) {
    const float value = to_float(E8m0{static_cast<std::uint8_t>(b)});
    CHECK(static_cast<double>(value) == std::ldexp(1.0, static_cast<int>(b) - 127));
    CHECK(to_e8m0(value).bits == b);
  }
  CHECK(std::isnan(to_float(E8m0{255})));
  static_assert(to_float(to_e4m3(0.3f)) == 0.3125f && to_float(to_e5m2(0.3f)) == 0.3125f);
  static_assert(to_float(to_e2m1(2.4f)) == 2.0f && to_float(to_e8m0(3.1f)) == 4.0f);
}

TEST_CASE("minifloat: nearest, ties to even, between every two neighbours") {
  for (const AnyMinifloat& type : {e4m3(), e5m2(), e2m1()}) {
    CAPTURE(type.name);
    for (std::uint32_t b = 0; b + 1 < type.finite.size() / 2; ++b) {
      if (std::isnan(type.finite[b + 1])) break;
      CAPTURE(b);
      // Eleven bits at most: the middle is a float.
      const float middle = static_cast<float>((type.finite[b] + type.finite[b + 1]) / 2.0);
      const float below = std::nextafter(middle, 0.0f);
      const float above = std::nextafter(middle, kInfinity);
      const std::uint32_t sign = static_cast<std::uint32_t>(type.finite.size() / 2);
      CHECK(type.from(below) == b);
      CHECK(type.from(middle) == (b % 2 == 0 ? b : b + 1));
      CHECK(type.from(above) == b + 1);
      CHECK(type.from(-below) == (sign | b));
      CHECK(type.from(-middle) == (sign | (b % 2 == 0 ? b : b + 1)));
      CHECK(type.from(-above) == (sign | (b + 1)));
    }
  }
  for (std::uint32_t b = 0; b < 254; ++b) {
    CAPTURE(b);
    const float middle = std::ldexp(1.5f, static_cast<int>(b) - 127);
    CHECK(to_e8m0(std::nextafter(middle, 0.0f)).bits == b);
    CHECK(to_e8m0(middle).bits == (b % 2 == 0 ? b : b + 1));
    CHECK(to_e8m0(std::nextafter(middle, kInfinity)).bits == b + 1);
  }
}

TEST_CASE("minifloat: nearest of random floats is the nearest of all values") {
  test::Generator generator(9);
  for (const AnyMinifloat& type : {e4m3(), e5m2(), e2m1()}) {
    CAPTURE(type.name);
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const float x = std::ldexp(generator.next(), static_cast<int>(generator.below(34)) - 17);
      double best = std::fabs(static_cast<double>(x));
      for (const double value : type.finite) {
        if (!std::isnan(value)) best = std::min(best, std::fabs(value - static_cast<double>(x)));
      }
      const double found = static_cast<double>(type.to(type.from(x)));
      CHECK(std::fabs(found - static_cast<double>(x)) == best);
    }
  }
}

TEST_CASE("minifloat: saturation, infinities, NaN, tiny values") {
  for (const AnyMinifloat& type : {e4m3(), e5m2(), e2m1()}) {
    CAPTURE(type.name);
    const float huge[] = {std::nextafter(type.largest, kInfinity), 1e6f, kLargestFloat, kInfinity};
    for (const float x : huge) {
      CHECK(type.to(type.from(x)) == type.largest);
      CHECK(type.to(type.from(-x)) == -type.largest);
    }
    const float denormal = std::numeric_limits<float>::denorm_min();
    CHECK(type.from(denormal) == 0);
    CHECK(type.from(-0.0f) == type.finite.size() / 2);
  }
  const float nan = std::nanf("");
  CHECK(to_e4m3(nan).bits == 0x7f);
  CHECK(to_e4m3(-nan).bits == 0xff);
  CHECK(to_e5m2(nan).bits == 0x7f);
  CHECK(to_e2m1(nan).bits == 0);
  CHECK(to_e8m0(nan).bits == 255);
  CHECK(to_e8m0(kInfinity).bits == 254);
  CHECK(to_e8m0(0.0f).bits == 0);
  CHECK(to_e8m0(-1.0f).bits == 0);
  CHECK(to_e8m0(0x1p-149f).bits == 0);
}

TEST_CASE("minifloat: directed rounding of side data, and no NaN byte from any number") {
  const auto check = []<class Side>(float lowest) {
    CAPTURE(lowest);
    test::Generator generator(3);
    std::vector<float> inputs = {0.0f, 0x1p-20f, 1.0f, 0x1p-149f, SideTraits<Side>::kLargest};
    for (std::uint32_t b = 0; b < 255; ++b) {
      const float value = to_float(Side{static_cast<std::uint8_t>(b)});
      if (!std::isfinite(value)) continue;
      inputs.push_back(value);
      inputs.push_back(std::nextafter(value, kInfinity));
      inputs.push_back(std::nextafter(value, -kInfinity));
    }
    for (std::uint32_t i = 0; i < 1000; ++i)
      inputs.push_back(std::ldexp(generator.next(), static_cast<int>(generator.below(16)) - 8));
    for (const float x : inputs) {
      if (x < lowest || std::fabs(x) > SideTraits<Side>::kLargest) continue;
      CAPTURE(x);
      const Side low = at_most<Side>(x);
      const Side high = at_least<Side>(x);
      CHECK(to_float(low) <= x);
      CHECK(to_float(high) >= x);
      // Nothing lies between: they are equal or neighbours.
      if (to_float(low) != to_float(high))
        CHECK(to_float(SideTraits<Side>::next_above(low)) == to_float(high));
    }
    for (const float x : {1e9f, kLargestFloat, kInfinity}) {
      CHECK(to_float(at_least<Side>(x)) ==
            std::min(to_float(nearest<Side>(x)), SideTraits<Side>::kLargest));
      CHECK(std::isfinite(to_float(at_most<Side>(x))));
    }
  };
  check.operator()<Fp8E4m3>(-448.0f);
  check.operator()<Fp8E5m2>(-57344.0f);
  check.operator()<E8m0>(0x1p-127f);
}
