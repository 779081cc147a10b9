#include "kvpleat/core/half.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

std::uint32_t bits_of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

// The value of a storage type with `mantissa` stored bits and exponents from 2^lowest on, rounded
// to nearest, ties to even, in double: scaled to units in the last place, rounded by nearbyint,
// scaled back. Every step is exact but the rounding.
double rounded(double x, int mantissa, int lowest, double largest) {
  if (std::isnan(x) || x == 0.0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);                   // |x| in [0.5, 1) * 2^exponent
  exponent = std::max(exponent - 1, lowest);  // of the leading bit
  const double unit = std::ldexp(1.0, exponent - mantissa);
  const double result = std::nearbyint(x / unit) * unit;
  if (std::fabs(result) > largest) return std::copysign(HUGE_VAL, x);
  return result;
}
double rounded_half(float x) {
  return rounded(static_cast<double>(x), 10, -14, 65504.0);
}
double rounded_bfloat(float x) {
  return rounded(static_cast<double>(x), 7, -126, static_cast<double>(kLargestBFloat16));
}

bool same(float found, double wanted) {
  if (std::isnan(wanted)) return std::isnan(found);
  return static_cast<double>(found) == wanted &&
         std::signbit(static_cast<double>(found)) == std::signbit(wanted);
}

// Floats that matter: all exponents, with mantissas at, just below and just above every tie.
std::vector<float> hard_floats() {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               kInfinity,
                               -kInfinity,
                               65504.0f,
                               65519.0f,
                               0x1.ffdffep15f,
                               65520.0f,
                               -65520.0f,
                               65536.0f,
                               kLargestFloat,
                               0x1p-24f,
                               0x1p-25f,
                               0x1.8p-25f,
                               0x1.000002p-25f,
                               0x1.fffffep-26f,
                               0x1p-14f,
                               0x1.ffcp-15f,
                               0x1.ffep-15f,
                               0x1.ffffp-15f,
                               std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::denorm_min()};
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    for (const std::uint32_t mantissa :
         {0u,        1u,        0xfffu,    0x1000u,   0x1001u,   0x2fffu,   0x3000u,   0x3001u,
          0x7fffu,   0x8000u,   0x8001u,   0x17fffu,  0x18000u,  0x18001u,  0x7fefffu, 0x7ff000u,
          0x7ff001u, 0x7fffffu, 0x400000u, 0x3fffffu, 0x7f8000u, 0x7f7fffu, 0x7f8001u}) {
      values.push_back(std::bit_cast<float>(exponent << 23 | mantissa));
      values.push_back(std::bit_cast<float>(0x80000000u | exponent << 23 | mantissa));
    }
  }
  return values;
}

template <class T>
void check_directed(float x) {
  if (std::isnan(x) || std::fabs(x) > SideTraits<T>::kLargest) return;
  const float below = to_float(at_most<T>(x));
  const float above = to_float(at_least<T>(x));
  const float near = to_float(nearest<T>(x));
  bool good = below <= x && x <= above;
  if (near == x) {
    good = good && below == x && above == x;
  } else {
    // The next T on the other side: nothing representable lies between.
    const float up = to_float(at_least<T>(std::nextafter(below, kInfinity)));
    good = good && up == above && (near == below || near == above);
  }
  if (!good) {
    CAPTURE(bits_of(x));
    CAPTURE(below);
    CAPTURE(above);
    CHECK(good);
  }
}

}  // namespace

TEST_CASE("every half becomes a float and comes back") {
  std::uint32_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const Half h{static_cast<std::uint16_t>(bits)};
    const float x = to_float(h);
    const std::uint32_t exponent = (bits >> 10) & 31u;
    const std::uint32_t mantissa = bits & 1023u;
    if (exponent == 31 && mantissa != 0) {
      wrong += !std::isnan(x);
      // Quiet, sign kept.
      wrong += to_half(x).bits != ((bits & 0x8000u) | 0x7e00u);
      continue;
    }
    // Value by definition.
    double value = exponent == 0 ? std::ldexp(mantissa, -24)
                                 : std::ldexp(1024.0 + mantissa, static_cast<int>(exponent) - 25);
    if (exponent == 31) value = HUGE_VAL;
    if (bits & 0x8000u) value = -value;
    wrong += !same(x, value);
    wrong += to_half(x) != h;
  }
  CHECK(wrong == 0);
}

TEST_CASE("every bfloat16 becomes a float and comes back") {
  std::uint32_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const BFloat16 b{static_cast<std::uint16_t>(bits)};
    const float x = to_float(b);
    wrong += bits_of(x) != bits << 16;
    wrong +=
        to_bfloat16(x) != BFloat16{static_cast<std::uint16_t>(std::isnan(x) ? bits | 0x40u : bits)};
  }
  CHECK(wrong == 0);
}

TEST_CASE("rounding to nearest even agrees with rounding in double") {
  std::uint32_t wrong = 0;
  const auto check = [&](float x) {
    wrong += !same(to_float(to_half(x)), rounded_half(x));
    wrong += !same(to_float(to_bfloat16(x)), rounded_bfloat(x));
  };
  for (const float x : hard_floats()) check(x);
  test::Generator random(1);
  for (int i = 0; i < 1000000; ++i) check(std::bit_cast<float>(random.bits()));
  // Dense around the halves: exponents -26 .. 17 only.
  for (int i = 0; i < 1000000; ++i) {
    const std::uint32_t exponent = 101 + random.below(44);
    check(std::bit_cast<float>((random.bits() & 0x807fffffu) | exponent << 23));
  }
  CHECK(wrong == 0);
}

TEST_CASE("overflow and NaN") {
  CHECK(to_half(65504.0f).bits == 0x7bff);
  CHECK(to_half(65519.996f).bits == 0x7bff);
  CHECK(to_half(65520.0f).bits == 0x7c00);
  CHECK(to_half(-65520.0f).bits == 0xfc00);
  CHECK(to_half(kInfinity).bits == 0x7c00);
  CHECK(to_bfloat16(kLargestFloat).bits == 0x7f80);
  CHECK(to_bfloat16(kLargestBFloat16).bits == 0x7f7f);
  // A NaN whose payload is in the low bits must not become infinity.
  CHECK(to_bfloat16(std::bit_cast<float>(0x7f800001u)).bits == 0x7fc0);
  CHECK(to_half(std::bit_cast<float>(0xff800001u)).bits == 0xfe00);
  CHECK(std::isnan(to_float(to_half(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("at_most and at_least are the neighbours, or the value itself") {
  std::vector<float> values = hard_floats();
  test::Generator random(2);
  for (int i = 0; i < 200000; ++i) values.push_back(std::bit_cast<float>(random.bits()));
  for (int i = 0; i < 200000; ++i) {
    const std::uint32_t exponent = 98 + random.below(46);
    values.push_back(std::bit_cast<float>((random.bits() & 0x807fffffu) | exponent << 23));
  }
  for (const float x : values) {
    check_directed<Half>(x);
    check_directed<BFloat16>(x);
    if (!std::isnan(x)) {
      CHECK_UNARY(at_most<float>(x) == x && at_least<float>(x) == x);
      CHECK_UNARY(at_least<Half>(x) ==
                  Half{static_cast<std::uint16_t>(at_most<Half>(-x).bits ^ 0x8000u)});
    }
  }
  CHECK(at_most<Half>(1e-30f) == Half{0});
  CHECK(at_least<Half>(1e-30f).bits == 1);
  CHECK(at_most<Half>(-1e-30f).bits == 0x8001);
  CHECK((at_least<Half>(0.0f).bits & 0x7fffu) == 0);
}

TEST_CASE("conversions do not depend on alignment, and work at compile time") {
  std::uint8_t bytes[5] = {};
  store(bytes + 1, to_half(1.5f));
  CHECK(bytes[1] == 0x00);  // little endian
  CHECK(bytes[2] == 0x3e);
  CHECK(to_float(load<Half>(bytes + 1)) == 1.5f);
  static_assert(to_half(1.0f).bits == 0x3c00 && to_float(Half{0xc000}) == -2.0f);
  static_assert(to_bfloat16(1.0f).bits == 0x3f80 && to_float(BFloat16{0x4000}) == 2.0f);
}
