#include "kvpleat/calibrate/head_scale.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/format/minifloat.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

using Fp8 = MinifloatQuant<Fp8E4m3, NoSide>;
using Wide = MinifloatQuant<Fp8E5m2, NoSide>;
using Nv = MinifloatQuant<Fp4E2m1, Fp8E4m3, 16>;

}  // namespace

TEST_CASE("head_scale: nothing saturates under it, and something does under a smaller one") {
  const auto check = []<class Quant>() {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
      const std::vector<float> rows = test::uniform(seed, 24, seed % 2 == 0 ? 30.0f : 0.001f);
      const float scale = head_scale<Quant>(rows.data(), 3, 8, 8);
      REQUIRE(Quant::valid(&scale));
      // Two floats below: the product of the one below may still round up to the largest.
      const float less = std::nextafter(std::nextafter(scale, 0.0f), 0.0f);
      std::uint32_t beyond = 0;
      std::uint32_t beyond_less = 0;
      for (const float x : rows) {
        beyond += Quant::bind(&scale).saturates(x);
        beyond_less += Quant::bind(&less).saturates(x);
      }
      CHECK(beyond == 0);
      CHECK(beyond_less >= 1);
    }
  };
  check.operator()<Fp8>();
  check.operator()<Wide>();
  check.operator()<Nv>();
  const float top = 448.0f * 6.0f;
  CHECK(head_scale<Nv>(&top, 1, 1, 1) == 1.0f);
}

TEST_CASE(
    "OC-18 calibration from zeros gives a scale that works, and is widened by calling again") {
  const std::vector<float> zeros(8 * 64, 0.0f);
  const float first = head_scale<Fp8>(zeros.data(), 8, 64, 64);
  CHECK(first == 1.0f);
  CHECK(head_scale<Fp8>(zeros.data(), 0, 64, 64) == 1.0f);
  const std::vector<float> rows = test::uniform(17, 64 * 64, 5.0f);
  const Fp8 quant = Fp8::bind(&first);
  for (const float x : rows) CHECK(std::isfinite(quant.decode(quant.encode(x, {}), {})));
  CHECK(head_scale<Fp8>(rows.data(), 64, 64, 64) > 0.01f);
  // Extremes stay within what a profile may say.
  for (const float x : {0x1p-140f, kLargestFloat}) {
    const float scale = head_scale<Fp8>(&x, 1, 1, 1);
    CHECK(Fp8::valid(&scale));
  }
}

TEST_CASE("OC-19 calibration looks only at valid elements") {
  std::vector<float> rows(4 * 512, 1e30f);
  const std::vector<float> valid = test::uniform(18, 4 * 256);
  for (std::size_t i = 0; i < valid.size(); ++i) rows[i / 256 * 512 + i % 256] = valid[i];
  CHECK(head_scale<Fp8>(rows.data(), 4, 512, 256) == head_scale<Fp8>(valid.data(), 4, 256, 256));
}
