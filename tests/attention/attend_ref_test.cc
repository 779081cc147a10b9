#include "kvpleat/attention/attend_ref.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

TEST_CASE("attend_ref is softmax attention") {
  constexpr std::uint32_t kKeys = 30;
  constexpr std::uint32_t kKeyDim = 7;
  constexpr std::uint32_t kValueDim = 3;
  const std::vector<float> keys = test::normal(1, kKeys * kKeyDim);
  const std::vector<float> values = test::normal(2, kKeys * kValueDim);
  const std::vector<float> query = test::normal(3, kKeyDim);
  // Straight from the definition, without a maximum, in long double.
  const auto seen = [](std::uint32_t t) { return t % 3 != 1; };
  long double sum = 0;
  long double wanted[kValueDim] = {};
  for (std::uint32_t t = 0; t < kKeys; ++t) {
    if (!seen(t)) continue;
    long double score = 0;
    for (std::uint32_t c = 0; c < kKeyDim; ++c)
      score += static_cast<long double>(query[c]) * static_cast<long double>(keys[t * kKeyDim + c]);
    const long double w = std::exp(2.0L * std::tanh(score * 0.5L / 2.0L));
    sum += w;
    for (std::uint32_t c = 0; c < kValueDim; ++c)
      wanted[c] += w * static_cast<long double>(values[t * kValueDim + c]);
  }
  double out[kValueDim];
  double weights[kKeys];
  const double log_sum = attend_ref(
      kKeys, kKeyDim, kValueDim, query.data(), 0.5,
      [&](std::uint32_t t) { return &keys[t * kKeyDim]; },
      [&](std::uint32_t t) { return &values[t * kValueDim]; },
      [](double s) { return 2.0 * std::tanh(s / 2.0); }, seen, out, weights);
  // Double against long double: 30 terms of order 1, each a few roundings of 2^-53.
  CHECK(std::fabs(log_sum - static_cast<double>(std::log(sum))) <= 1e-13);
  double total = 0.0;
  for (std::uint32_t c = 0; c < kValueDim; ++c)
    CHECK(std::fabs(out[c] - static_cast<double>(wanted[c] / sum)) <= 1e-13);
  for (std::uint32_t t = 0; t < kKeys; ++t) {
    total += weights[t];
    CHECK((weights[t] > 0.0) == seen(t));
  }
  CHECK(std::fabs(total - 1.0) <= 1e-13);
}

TEST_CASE("attend_ref over nothing, and over huge scores") {
  const float key[2] = {-100.0f, -100.0f};
  const float query[2] = {3200.0f, 3200.0f};
  const float values[3] = {1.0f, 2.0f, 6.0f};
  double out[1] = {5.0};
  double weights[3];
  const auto key_at = [&](std::uint32_t) { return key; };
  const auto value_at = [&](std::uint32_t t) { return &values[t]; };
  CHECK(attend_ref(0, 2, 1, query, 1.0, key_at, value_at, out, weights) ==
        -std::numeric_limits<double>::infinity());
  CHECK(out[0] == 0.0);
  CHECK(attend_ref(3, 2, 1, query, 1.0, key_at, value_at, out, weights) ==
        doctest::Approx(-640000.0 + std::log(3.0)).epsilon(1e-15));
  CHECK(out[0] == doctest::Approx(3.0).epsilon(1e-15));
}
