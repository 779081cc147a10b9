// OC-10 and OC-11 for the quantizers beside affine and symmetric codes (group_a_test.cc): every
// width has its own levels, in order, and uses them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kvpleat/core/minifloat.h"
#include "kvpleat/quant/codebook.h"
#include "kvpleat/quant/mid_rise.h"
#include "kvpleat/quant/minifloat.h"
#include "kvpleat/quant/nuq.h"
#include "kvpleat/quant/renewed.h"
#include "kvpleat/quant/zero_point.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

struct Group {
  std::vector<std::uint32_t> codes;
  std::vector<float> back;
  float step = 0.0f;  // of quantizers that have one
};
template <class Quant>
Group code(const std::vector<float>& x) {
  const Quant quant;
  typename Quant::Stat stat;
  for (const float v : x) quant.observe(v, stat);
  const typename Quant::Scale scale = quant.scale(stat);
  Group group;
  if constexpr (requires { scale.step; }) group.step = to_float(scale.step);
  for (const float v : x) {
    group.codes.push_back(quant.encode(v, scale));
    group.back.push_back(quant.decode(group.codes.back(), scale));
  }
  return group;
}
struct AnyWidth {
  std::string_view id;
  std::uint32_t bits = 0;
  std::uint32_t levels = 0;  // that a ramp from -1 to 1 meets, at least; at most 2^bits
  Group (*code)(const std::vector<float>& x) = nullptr;
};

template <template <std::uint32_t> class Quant, std::uint32_t kFirst, std::uint32_t... kMore>
void add(std::vector<AnyWidth>& widths, std::uint32_t unused,
         std::integer_sequence<std::uint32_t, kMore...>) {
  (widths.push_back({Quant<kFirst + kMore>::kId.view(), kFirst + kMore,
                     (1u << (kFirst + kMore)) - unused, &code<Quant<kFirst + kMore>>}),
   ...);
}
template <std::uint32_t kBits>
using MidRise = MidRiseQuant<kBits>;
template <std::uint32_t kBits>
using ZeroPoint = ZeroPointQuant<kBits>;
template <std::uint32_t kBits>
using Nuq = NuqQuant<kBits>;
template <std::uint32_t kBits>
using Renewed = RenewedScale<kBits>;

std::vector<AnyWidth> all_widths() {
  std::vector<AnyWidth> widths;
  add<MidRise, 1>(widths, 0, std::make_integer_sequence<std::uint32_t, 7>{});
  add<Nuq, 1>(widths, 0, std::make_integer_sequence<std::uint32_t, 8>{});
  // A zero point that is an integer: a range around zero may miss one end. Signed codes miss one.
  add<ZeroPoint, 2>(widths, 1, std::make_integer_sequence<std::uint32_t, 7>{});
  add<Renewed, 2>(widths, 1, std::make_integer_sequence<std::uint32_t, 7>{});
  // Both zeros are one value. Codebooks for Gaussian data: a ramp of RMS 0.58 ends at 1.73 RMS,
  // beyond all levels but the outer ones.
  widths.push_back({"e2m1", 4, 15, &code<MinifloatQuant<Fp4E2m1, Half>>});
  widths.push_back({"book 1", 1, 2, &code<CodebookQuant<1, GaussianBook>>});
  widths.push_back({"book 2", 2, 4, &code<CodebookQuant<2, GaussianBook>>});
  widths.push_back({"book 3", 3, 6, &code<CodebookQuant<3, GaussianBook>>});
  widths.push_back({"book 4", 4, 12, &code<CodebookQuant<4, GaussianBook>>});
  return widths;
}

}  // namespace

TEST_CASE("OC-10 every bit width uses its own levels, every quantizer") {
  std::vector<float> ramp(256);
  for (std::uint32_t i = 0; i < 256; ++i)
    ramp[i] = (2.0f * static_cast<float>(i) - 255.0f) / 255.0f;
  for (const AnyWidth& width : all_widths()) {
    CAPTURE(width.id);
    CAPTURE(width.bits);
    const Group group = width.code(ramp);
    const std::set<float> levels(group.back.begin(), group.back.end());
    CHECK(levels.size() >= width.levels);
    CHECK(levels.size() <= 1u << width.bits);
    for (std::uint32_t i = 0; i < 256; ++i) {
      CHECK(group.codes[i] < 1u << width.bits);
      if (i > 0) CHECK(group.back[i] >= group.back[i - 1]);
      // Where levels enclose the value, the nearest is within half their gap.
      const auto above = levels.lower_bound(ramp[i]);
      if (above == levels.begin() || above == levels.end()) continue;
      const float low = *std::prev(above);
      CHECK(std::fabs(group.back[i] - ramp[i]) <= (*above - low) * 0.5f + 0x1p-20f);
    }
  }
}

TEST_CASE("OC-11 the whole code range is used, every uniform quantizer") {
  const std::vector<float> data = test::uniform(11, 4096);
  const auto check = [&]<class Quant>(double most) {
    CAPTURE(Quant::kId.view());
    double square = 0.0;
    std::uint32_t without = 0;
    for (std::size_t at = 0; at < data.size(); at += 32) {
      const std::vector<float> x(data.begin() + static_cast<std::ptrdiff_t>(at),
                                 data.begin() + static_cast<std::ptrdiff_t>(at) + 32);
      const Group group = code<Quant>(x);
      bool low = false;
      bool high = false;
      for (std::size_t i = 0; i < 32; ++i) {
        low = low || group.codes[i] == 0;
        high = high || group.codes[i] == 15;
        const auto error =
            static_cast<double>(group.back[i] - x[i]) / static_cast<double>(group.step);
        square += error * error;
      }
      without += low || high ? 0u : 1u;
    }
    CHECK(without == 0);
    CHECK(square / 4096.0 >= 0.070);
    CHECK(square / 4096.0 <= most);
  };
  // One end is sure: the range decides the step, but a rounded zero point may leave the other end
  // half a step outside. 1/12 for errors that are even over a step.
  check.operator()<ZeroPointQuant<4>>(0.090);
  // The largest magnitude of the 32 lies half a step from its level: 1/12 + (1/4 - 1/12) / 32 =
  // 0.0885, and three standard deviations, 3 * sqrt(1/180 / 4096).
  check.operator()<MidRiseQuant<4>>(0.092);
}
