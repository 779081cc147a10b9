#include "kvpleat/core/numeric.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("round_to_code: nearest, ties to even, clamped, NaN is 0") {
  for (std::uint32_t top : {1u, 3u, 7u, 15u, 31u, 63u, 127u, 255u}) {
    for (std::uint32_t code = 0; code < top; ++code) {
      const float tie = static_cast<float>(code) + 0.5f;
      CHECK(round_to_code(static_cast<float>(code), top) == code);
      CHECK(round_to_code(tie, top) == (code % 2 == 0 ? code : code + 1));
      CHECK(round_to_code(std::nextafter(tie, 0.0f), top) == code);
      CHECK(round_to_code(std::nextafter(tie, 1e9f), top) == code + 1);
    }
    CHECK(round_to_code(static_cast<float>(top) + 0.5f, top) == top);
    CHECK(round_to_code(1e30f, top) == top);
    CHECK(round_to_code(kInfinity, top) == top);
    for (const float x : {-0.0f, -0.5f, -1.0f, -1e30f, -kInfinity, kNaN, -kNaN})
      CHECK(round_to_code(x, top) == 0);
  }
}

TEST_CASE("round_to_signed: nearest, ties to even, clamped on both sides, NaN is 0") {
  for (std::int32_t top : {1, 3, 7, 127}) {
    for (std::int32_t code = -top; code < top; ++code) {
      const float tie = static_cast<float>(code) + 0.5f;
      CHECK(round_to_signed(static_cast<float>(code), top) == code);
      CHECK(round_to_signed(tie, top) == (code % 2 == 0 ? code : code + 1));
      CHECK(round_to_signed(std::nextafter(tie, -1e9f), top) == code);
      CHECK(round_to_signed(std::nextafter(tie, 1e9f), top) == code + 1);
    }
    CHECK(round_to_signed(1e30f, top) == top);
    CHECK(round_to_signed(-1e30f, top) == -top);
    CHECK(round_to_signed(-kInfinity, top) == -top);
    CHECK(round_to_signed(-static_cast<float>(top) - 0.5f, top) == -top);
    CHECK(round_to_signed(kNaN, top) == 0);
  }
}

TEST_CASE("product is the correctly rounded product") {
  // The exact product of two floats fits a double; so does its rounding error e = x*y - p, and
  // correct rounding means |e| is at most half the distance to the next float on that side.
  test::Generator random(3);
  std::uint32_t wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto any = [&] {
      const std::uint32_t exponent = 64 + random.below(128);
      return std::bit_cast<float>((random.bits() & 0x807fffffu) | exponent << 23);
    };
    const float a = any();
    const float b = any();
    const float p = product(a, b);
    const double exact = static_cast<double>(a) * static_cast<double>(b);
    if (std::fabs(exact) > 1e38) continue;
    const double error = exact - static_cast<double>(p);
    const float neighbour = std::nextafter(p, error > 0.0 ? kInfinity : -kInfinity);
    const double gap = std::fabs(static_cast<double>(neighbour) - static_cast<double>(p));
    wrong += error != 0.0 && std::fabs(error) > gap / 2.0;
  }
  CHECK(wrong == 0);
  static_assert(product(3.0f, 0.5f) == 1.5f);
}

TEST_CASE("ordered_dot: 16 partial sums by index mod 16, then a pairwise tree") {
  // Written out a second time, over lengths around the multiples of 16. Equal to the bit.
  for (const std::size_t n : {0u, 1u, 2u, 15u, 16u, 17u, 31u, 48u, 64u, 577u}) {
    // Exponents far apart, so that every order of adding rounds differently.
    std::vector<float> a = test::uniform(4, n);
    for (std::size_t i = 0; i < n; ++i) a[i] = std::ldexp(a[i], static_cast<int>(i * 29 % 61) - 30);
    const std::vector<float> b = test::normal(5, n);
    double s[16] = {};
    for (std::size_t i = 0; i < n; ++i)
      s[i & 15] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    const auto four = [&](std::size_t j) { return (s[j] + s[j + 8]) + (s[j + 4] + s[j + 12]); };
    const double wanted = (four(0) + four(2)) + (four(1) + four(3));
    CHECK(ordered_dot(a.data(), b.data(), n) == wanted);
  }
}

TEST_CASE("ordered_dot: the order matters, and it is ours") {
  // Partial 0 gets 2^53 then 1 then -2^53; a running sum would lose both ones.
  std::vector<float> a(33, 0.0f);
  std::vector<float> b(33, 0.0f);
  const auto put = [&](std::size_t i, float x, float y) {
    a[i] = x;
    b[i] = y;
  };
  put(0, 0x1p27f, 0x1p26f);
  put(1, 1.0f, 1.0f);
  put(16, -0x1p27f, 0x1p26f);
  put(17, 1.0f, 1.0f);
  CHECK(ordered_dot(a.data(), b.data(), 33) == 2.0);
  put(32, 1.0f, 1.0f);
  CHECK(ordered_dot(a.data(), b.data(), 33) == 3.0);
  // Within one partial the order is that of the indices.
  put(16, 1.0f, 1.0f);
  put(32, -0x1p27f, 0x1p26f);
  CHECK(ordered_dot(a.data(), b.data(), 33) == 2.0);  // 2^53 + 1 rounds to 2^53
}

TEST_CASE("largest_magnitude: of a row; NaN counts as larger than infinity") {
  const std::vector<float> row = {1.0f, -3.0f, 2.0f, -0.0f};
  CHECK(largest_magnitude(row.data(), row.size()) == 3.0f);
  CHECK(largest_magnitude(row.data(), 1) == 1.0f);
  CHECK(largest_magnitude(row.data(), 0) == 0.0f);
  for (const float bad : {kInfinity, -kInfinity, kNaN, -kNaN}) {
    for (std::size_t i = 0; i < 4; ++i) {
      std::vector<float> x = row;
      x[i] = bad;
      CHECK(!(largest_magnitude(x.data(), x.size()) <= kLargestFloat));
    }
  }
}

TEST_CASE("magnitude, is_finite and their relatives") {
  CHECK(magnitude(-3.0f) == 3.0f);
  CHECK((std::bit_cast<std::uint32_t>(magnitude(-0.0f)) & 0x7fffffffu) == 0);
  CHECK(is_finite(kLargestFloat));
  CHECK(is_finite(-kLargestFloat));
  CHECK(!is_finite(kInfinity));
  CHECK(!is_finite(-kInfinity));
  CHECK(!is_finite(kNaN));
  CHECK(!is_finite(-kNaN));
  CHECK(ceil_div(7u, 4u) == 2);
  CHECK(ceil_div(8u, 4u) == 2);
  CHECK(ceil_div(0u, 4u) == 0);
  CHECK(round_up(9u, 8u) == 16);
  CHECK(round_up(16u, 8u) == 16);
  CHECK(lower_of(-1.0f, 2.0f) == -1.0f);
  CHECK(upper_of(-1.0f, 2.0f) == 2.0f);
}
