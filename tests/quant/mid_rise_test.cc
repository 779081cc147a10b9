#include "kvpleat/quant/mid_rise.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/core/concepts.h"
#include "support/gaussian.h"

using namespace kvpleat;

static_assert(Quantizer<MidRiseQuant<2>> && Quantizer<MidRiseQuant<1, 32>>);
static_assert(!RefiningQuantizer<MidRiseQuant<2>> && !SearchingQuantizer<MidRiseQuant<2>>);

namespace {

template <class Quant>
std::vector<float> coded(const std::vector<float>& x, std::vector<std::uint32_t>* codes = nullptr) {
  const Quant quant;
  typename Quant::Stat stat;
  for (const float v : x) quant.observe(v, stat);
  const auto scale = quant.scale(stat);
  std::vector<float> back;
  for (const float v : x) {
    const std::uint32_t code = quant.encode(v, scale);
    if (codes != nullptr) codes->push_back(code);
    back.push_back(quant.decode(code, scale));
  }
  return back;
}

template <class Quant>
void check_bound(std::uint32_t seed) {
  CAPTURE(Quant::kBits);
  for (const float factor : {1.0f, 1e-6f, 3000.0f}) {
    const std::vector<float> x = test::uniform(seed, 32, factor);
    float largest = 0.0f;
    for (const float v : x) largest = std::fmax(largest, std::fabs(v));
    // A step exceeds the ideal one by the rounding of its Side: 2^-10 of it, or 2^-24.
    const float step = largest / static_cast<float>(Quant::kHalfRange);
    const float bound = 0.5f * (step * (1.0f + 0x1p-10f) + 0x1p-24f) + largest * 0x1p-23f;
    const std::vector<float> back = coded<Quant>(x);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::fabs(back[i] - x[i]) <= bound);
  }
}

}  // namespace

TEST_CASE("mid-rise: four levels at 2 bits, none of them zero") {
  std::vector<std::uint32_t> codes;
  const std::vector<float> x = {-2.0f, -1.0001f, -1.0f, -0.25f, -0.0f, 0.0f, 0.999f, 1.0f, 1.999f};
  const std::vector<float> back = coded<MidRiseQuant<2>>(x, &codes);
  CHECK(codes == std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 2, 3, 3});  // code + 2
  CHECK(back == std::vector<float>{-1.5f, -1.5f, -0.5f, -0.5f, 0.5f, 0.5f, 0.5f, 1.5f, 1.5f});
}

TEST_CASE("mid-rise: zeros read as zeros, what lies outside is clamped") {
  CHECK(coded<MidRiseQuant<2>>(std::vector<float>(5, 0.0f)) == std::vector<float>(5, 0.0f));
  const MidRiseQuant<2> quant;
  const MidRiseQuant<2>::Scale scale{to_half(1.0f)};
  CHECK(quant.decode(quant.encode(1e30f, scale), scale) == 1.5f);
  CHECK(quant.decode(quant.encode(-1e30f, scale), scale) == -1.5f);
  CHECK(quant.decode(quant.encode(-kInfinity, scale), scale) == -1.5f);
}

TEST_CASE("mid-rise: no step where reading would be worse than zeros") {
  // Half the smallest half is 2^-25: a group of smaller values has no step, one of 2^-25 has.
  const MidRiseQuant<2> quant;
  CHECK(to_float(quant.scale({0x1.fffffep-26f}).step) == 0.0f);
  CHECK(to_float(quant.scale({0x1p-25f}).step) == 0x1p-24f);
  CHECK(quant.decode(quant.encode(-0x1p-30f, {}), {}) == 0.0f);
}

TEST_CASE("mid-rise: error is at most half a step at every width") {
  check_bound<MidRiseQuant<1, 32>>(1);
  check_bound<MidRiseQuant<2, 32>>(2);
  check_bound<MidRiseQuant<3, 32>>(3);
  check_bound<MidRiseQuant<4, 32>>(4);
  check_bound<MidRiseQuant<8, 32>>(5);
  check_bound<MidRiseQuant<2, 32, Axis::kChannels, float>>(6);
}

TEST_CASE("mid-rise: 0.386 of the root mean square on Gaussian data, 64 values per scale") {
  double error = 0.0;
  double power = 0.0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const std::vector<float> x = test::gaussian(seed, 64);
    error += test::mean_square_error(coded<MidRiseQuant<2>>(x), x);
    power += test::mean_square_error(x, std::vector<float>(64, 0.0f));
  }
  // 25600 values: the ratio of sums is known to about 1 / sqrt(25600) = 0.6 %, its root to half.
  CHECK(std::sqrt(error / power) == doctest::Approx(0.386).epsilon(0.01));
}

TEST_CASE("mid-rise: the largest magnitude it takes has a finite step") {
  const MidRiseQuant<2> quant;
  MidRiseQuant<2>::Stat stat;
  quant.observe(-MidRiseQuant<2>::kLargest, stat);
  CHECK(to_float(quant.scale(stat).step) == kLargestHalf);
}
