#include "kvpleat/quant/zero_point.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/core/concepts.h"
#include "support/generator.h"

using namespace kvpleat;

static_assert(Quantizer<ZeroPointQuant<8>> && Quantizer<ZeroPointQuant<4, 32>>);

namespace {

template <class Quant>
struct Coded {
  typename Quant::Scale scale;
  std::vector<std::uint32_t> codes;
  std::vector<float> back;

  explicit Coded(const std::vector<float>& x) {
    const Quant quant;
    typename Quant::Stat stat;
    for (const float v : x) quant.observe(v, stat);
    scale = quant.scale(stat);
    for (const float v : x) {
      codes.push_back(quant.encode(v, scale));
      back.push_back(quant.decode(codes.back(), scale));
    }
  }
};

// Half a stored step, and one float rounding of the quotient: 2^-24 of at most 2^bits steps.
template <class Quant>
void check_bound(const std::vector<float>& x) {
  const Coded<Quant> c(x);
  const float step = to_float(c.scale.step);
  const float levels = static_cast<float>(1u << Quant::kBits);
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(std::fabs(c.back[i] - x[i]) <= 0.5f * step + step * levels * 0x1p-23f);
    if (x[i] == 0.0f) CHECK(c.back[i] == 0.0f);
  }
  // The stored step exceeds the ideal one by the rounding of its Side.
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const float range = std::fmax(*high, 0.0f) - std::fmin(*low, 0.0f);
  CHECK(step <= range / (levels - 1.0f) * (1.0f + 0x1p-10f) + 0x1p-24f);
}

}  // namespace

TEST_CASE("zero point: zero is a code, the range includes it") {
  const Coded<ZeroPointQuant<8>> one_sided({255.0f, 100.0f, 1.0f});
  CHECK(to_float(one_sided.scale.step) == 1.0f);
  CHECK(to_float(one_sided.scale.zero) == 0.0f);
  CHECK(one_sided.codes == std::vector<std::uint32_t>{255, 100, 1});
  const Coded<ZeroPointQuant<8>> negative({-255.0f, -100.0f});
  CHECK(to_float(negative.scale.zero) == 255.0f);
  CHECK(negative.codes == std::vector<std::uint32_t>{0, 155});
  const Coded<ZeroPointQuant<8>> both({-100.0f, 0.0f, 155.0f});
  CHECK(both.codes == std::vector<std::uint32_t>{0, 100, 255});
  CHECK(both.back == std::vector<float>{-100.0f, 0.0f, 155.0f});
}

TEST_CASE("zero point: zeros, and values beyond the range") {
  const Coded<ZeroPointQuant<8>> zeros({0.0f, -0.0f});
  CHECK(zeros.codes == std::vector<std::uint32_t>{0, 0});
  CHECK(zeros.back == std::vector<float>{0.0f, 0.0f});
  const ZeroPointQuant<8> quant;
  const ZeroPointQuant<8>::Scale scale{to_half(1.0f), to_half(100.0f)};
  CHECK(quant.encode(1e30f, scale) == 255);
  CHECK(quant.encode(-1e30f, scale) == 0);
  CHECK(quant.encode(155.4f, scale) == 255);
  CHECK(quant.encode(-100.4f, scale) == 0);
}

TEST_CASE("zero point: error is at most half a step") {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::vector<float> x = test::uniform(seed, 64, seed % 3 == 0 ? 1e-5f : 10.0f);
    for (float& v : x) v += static_cast<float>(seed % 5) - 2.0f;
    x[seed % 64] = 0.0f;
    check_bound<ZeroPointQuant<8>>(x);
    check_bound<ZeroPointQuant<8, kWholeHead, Axis::kChannels, float>>(x);
    check_bound<ZeroPointQuant<4>>(x);
    check_bound<ZeroPointQuant<2>>(x);
  }
}

TEST_CASE("zero point: a rounded zero point does not push the ends beyond half a step") {
  // -low / step = 145.5 and high / step = 109.5: both ends round away from zero.
  const ZeroPointQuant<8> quant;
  ZeroPointQuant<8>::Stat stat;
  quant.observe(-145.5f, stat);
  quant.observe(109.5f, stat);
  const auto scale = quant.scale(stat);
  REQUIRE(to_float(scale.step) == 1.0f);
  CHECK(std::fabs(quant.decode(quant.encode(-145.5f, scale), scale) + 145.5f) <= 0.5f);
  CHECK(std::fabs(quant.decode(quant.encode(109.5f, scale), scale) - 109.5f) <= 0.5f);
}

TEST_CASE("zero point: the largest magnitude it takes has a finite step") {
  const ZeroPointQuant<8> quant;
  ZeroPointQuant<8>::Stat stat;
  quant.observe(-ZeroPointQuant<8>::kLargest, stat);
  quant.observe(ZeroPointQuant<8>::kLargest, stat);
  CHECK(to_float(quant.scale(stat).step) <= kLargestHalf);
}
