#include "kvpleat/core/log_scale.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

using namespace kvpleat;

namespace {

float value(std::uint32_t code) {
  return to_float(LogScale8{static_cast<std::uint8_t>(code)});
}

}  // namespace

static_assert(sizeof(LogScale8) == 1);

TEST_CASE("LogScale8: sixteen steps per octave, 0 is zero") {
  CHECK(value(0) == 0.0f);
  CHECK(value(120) == 1.0f);
  for (std::uint32_t k = 1; k < 256; ++k) {
    CAPTURE(k);
    // A double is within 2^-52, its float within 2^-24 of the power.
    const double exact = std::exp2((static_cast<double>(k) - 120.0) / 16.0);
    CHECK(value(k) == static_cast<float>(exact));
    if (k >= 17) CHECK(value(k) == 2.0f * value(k - 16));
  }
  CHECK(SideTraits<LogScale8>::kLargest == value(255));
}

TEST_CASE("LogScale8: nearest, by search over all codes; ties to the lower") {
  const auto search = [](float x) {
    std::uint32_t best = 0;
    for (std::uint32_t k = 1; k < 256; ++k) {
      const auto off = [&](std::uint32_t code) {
        return std::fabs(static_cast<double>(value(code)) - static_cast<double>(x));
      };
      if (off(k) < off(best)) best = k;
    }
    return best;
  };
  std::uint32_t seen = 0;
  for (float x = 1e-5f; x < 400.0f; x *= 1.0078125f) {
    CAPTURE(x);
    const std::uint32_t code = nearest<LogScale8>(x).code;
    CHECK(code == search(x));
    if (x > value(1))
      CHECK(std::fabs(value(code) - x) <=
            0.0219f * upper_of(x, 0.0f) + upper_of(0.0f, x - value(255)));
    seen += code;
  }
  CHECK(seen > 0);
  for (std::uint32_t k = 0; k < 256; ++k) {
    CAPTURE(k);
    CHECK(nearest<LogScale8>(value(k)).code == k);
    if (k == 255) continue;
    const float middle = 0.5f * value(k) + 0.5f * value(k + 1);
    CHECK(nearest<LogScale8>(middle).code == k);
    CHECK(nearest<LogScale8>(std::nextafter(middle, 1e9f)).code == k + 1);
  }
  CHECK(nearest<LogScale8>(1e30f).code == 255);
  CHECK(nearest<LogScale8>(-1.0f).code == 0);
  CHECK(nearest<LogScale8>(std::nanf("")).code == 0);
  CHECK(at_most<LogScale8>(1.04f).code == 120);
  CHECK(at_most<LogScale8>(1.0f).code == 120);
  CHECK(at_most<LogScale8>(0.99f).code == 119);
}
