#include "kvpleat/quant/minifloat.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kvpleat/core/concepts.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

using Static = MinifloatQuant<Fp8E4m3, NoSide>;
using Wide = MinifloatQuant<Fp8E5m2, NoSide>;
using Token = MinifloatQuant<Fp8E4m3, Half>;
using WideToken = MinifloatQuant<Fp8E5m2, BFloat16, 32>;
using Exact = MinifloatQuant<Fp4E2m1, float, 16>;
using Mx = MinifloatQuant<Fp4E2m1, E8m0, 32>;
using MxSearch = MinifloatQuant<Fp4E2m1, E8m0, 32, ScaleSearch::kNeighbours>;
using Mx8 = MinifloatQuant<Fp8E4m3, E8m0, 32>;
using Nv = MinifloatQuant<Fp4E2m1, Fp8E4m3, 16>;
using NvSearch = MinifloatQuant<Fp4E2m1, Fp8E4m3, 16, ScaleSearch::kNeighbours>;

static_assert(Quantizer<Static> && ProfiledQuantizer<Static> && !SearchingQuantizer<Static>);
static_assert(Quantizer<Token> && !ProfiledQuantizer<Token> && !SearchingQuantizer<Token>);
static_assert(!SearchingQuantizer<Mx> && SearchingQuantizer<MxSearch> &&
              !ProfiledQuantizer<MxSearch>);
static_assert(!SearchingQuantizer<Nv> && SearchingQuantizer<NvSearch> &&
              ProfiledQuantizer<NvSearch>);
static_assert(std::is_empty_v<Static::Scale> && sizeof(Nv::Scale) == 1 && sizeof(Mx::Scale) == 1);

template <class Quant>
typename Quant::Stat observed(const std::vector<float>& x) {
  typename Quant::Stat stat;
  for (const float v : x) Quant{}.observe(v, stat);
  return stat;
}
template <class Quant>
std::vector<float> back(const Quant& quant, const typename Quant::Scale& scale,
                        const std::vector<float>& x) {
  std::vector<float> y;
  for (const float v : x) {
    const std::uint32_t code = quant.encode(v, scale);
    CHECK(code < 1u << Quant::kBits);
    y.push_back(quant.decode(code, scale));
  }
  return y;
}

}  // namespace

TEST_CASE("minifloat quant: a scale of the head, from the profile; what lies beyond is told") {
  const float half[1] = {0.5f};
  const Static plain;
  const Static halved = Static::bind(half);
  const float none[1] = {0.0f};
  CHECK(Static::bind(nullptr).head_scale == 1.0f);
  CHECK(Static::bind(none).head_scale == 1.0f);
  CHECK(plain.encode(1.0f, {}) == 0x38);
  CHECK(halved.encode(0.5f, {}) == 0x38);
  CHECK(halved.decode(0x38, {}) == 0.5f);
  CHECK(halved.decode(halved.encode(224.0f, {}), {}) == 224.0f);
  CHECK(!halved.saturates(-224.0f));
  CHECK(halved.saturates(std::nextafter(-224.0f, -kInfinity)));
  CHECK(halved.decode(halved.encode(-1e6f, {}), {}) == -224.0f);
  CHECK(!plain.saturates(448.0f));
  CHECK(plain.saturates(448.1f));
  CHECK(!Wide{}.saturates(57344.0f));
  CHECK(Wide{}.saturates(57345.0f));
  for (const float bad : {0.0f, -1.0f, kInfinity, std::nanf(""), 0x1p-65f, 0x1p65f}) {
    CAPTURE(bad);
    CHECK(!Static::valid(&bad));
    CHECK(!NvSearch::valid(&bad));
  }
  for (const float good : {0x1p-64f, 1.0f, 0x1p64f}) CHECK(Static::valid(&good));
  CHECK(Static::valid(nullptr));
}

TEST_CASE("minifloat quant: a stored scale clips nothing, and keeps a lone magnitude") {
  const auto check = []<class Quant>(float relative, float side) {
    CAPTURE(Quant::kId.view());
    const Quant quant;
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
      const std::vector<float> x = test::normal(seed, 32, seed % 3 == 0 ? 1000.0f : 0.01f);
      const auto scale = quant.scale(observed<Quant>(x));
      const float s = quant.step(scale);
      const float a = std::fabs(*std::max_element(
          x.begin(), x.end(), [](float p, float q) { return std::fabs(p) < std::fabs(q); }));
      // The smallest Side not below a / M.
      CHECK(s * Quant::Traits::kLargest >= a * (1.0f - 0x1p-23f));
      CHECK(s * Quant::Traits::kLargest <= a * (1.0f + side) + 0x1p-24f * Quant::Traits::kLargest);
      const std::vector<float> y = back(quant, scale, x);
      // Half a step of the element: relative for normals, absolute (in s) below.
      for (std::size_t i = 0; i < x.size(); ++i) {
        CHECK(std::fabs(y[i] - x[i]) <=
              std::max(std::fabs(x[i]) * relative, s * Quant::Traits::kLargest * 0x1p-18f) *
                  (1.0f + 0x1p-20f));
      }
    }
    for (const float m : {9.0f, 0.1f, 0.0f}) {
      const std::vector<float> x = {m, -m, m};
      const auto scale = quant.scale(observed<Quant>(x));
      for (std::size_t i = 0; i < 3; ++i)
        CHECK(std::fabs(back(quant, scale, x)[i] - x[i]) <= (m == 0.1f ? m * side : 0.0f));
    }
    CHECK(quant.scale(typename Quant::Stat{}).scale == typename Quant::Side{});
  };
  check.operator()<Token>(0x1p-4f, 0x1p-10f);
  check.operator()<WideToken>(0x1p-3f, 0x1p-7f);
}

TEST_CASE("MXFP4: the scale of the OCP rule, at both ends") {
  const Mx quant;
  const auto byte = [&](float largest) { return quant.scale(observed<Mx>({largest})).scale.bits; };
  CHECK(byte(6.0f) == 127);
  CHECK(byte(7.99f) == 127);  // clips to 6
  CHECK(byte(8.0f) == 128);
  CHECK(byte(4.0f) == 127);
  CHECK(byte(std::nextafter(4.0f, 0.0f)) == 126);
  CHECK(byte(0.0f) == 0);
  CHECK(byte(0x1p-126f) == 0);
  CHECK(byte(0x1p-125f) == 0);
  CHECK(byte(0x1p-124f) == 1);
  CHECK(byte(Mx::kLargest) == 250);
  CHECK(std::isfinite(quant.decode(7, {E8m0{250}})));
  CHECK(Mx8{}.scale(observed<Mx8>({256.0f})).scale.bits == 127);
  // Powers of two and 1.5 times them within 2^-3 of the largest are exact.
  const std::vector<float> x = {4.0f, -3.0f, 0.5f, -0.0f, 6.0f, 1.5f};
  CHECK(back(quant, quant.scale(observed<Mx>(x)), x) == x);
  // Clipped by a quarter at most.
  const std::vector<float> y = {7.99f, -7.99f};
  for (const float v : back(quant, quant.scale(observed<Mx>(y)), y)) CHECK(std::fabs(v) == 6.0f);
}

TEST_CASE("NVFP4: block scale nearest to max / 6 / head scale, never NaN, zero below 2^-10") {
  const Nv quant;
  const auto byte = [&](float largest) { return quant.scale(observed<Nv>({largest})).scale.bits; };
  CHECK(byte(6.0f) == 0x38);
  CHECK(byte(6.0f * 448.0f) == 0x7e);
  CHECK(byte(1e30f) == 0x7e);
  CHECK(byte(kInfinity) == 0x7e);
  CHECK(byte(6.0f * 0x1p-10f) == 0);
  CHECK(byte(6.1f * 0x1p-10f) == 1);
  CHECK(quant.encode(0.01f, {Fp8E4m3{0}}) == 0);
  CHECK(!quant.saturates(2688.0f));
  CHECK(quant.saturates(2689.0f));
  const float head[1] = {0.25f};
  const Nv scaled = Nv::bind(head);
  CHECK(scaled.scale(observed<Nv>({6.0f})).scale.bits == to_e4m3(4.0f).bits);
  CHECK(scaled.step({Fp8E4m3{0x38}}) == 0.25f);
  CHECK(scaled.saturates(673.0f));
}

TEST_CASE("minifloat quant: candidates are the rule, then its neighbours, within the numbers") {
  const auto bytes = []<class Quant>(float largest) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t k = 0; k < Quant::kCandidates; ++k)
      found.push_back(Quant{}.candidate(observed<Quant>({largest}), k).scale.bits);
    return found;
  };
  using Bytes = std::vector<std::uint32_t>;
  CHECK(bytes.operator()<NvSearch>(6.0f) == Bytes{0x38, 0x39, 0x37, 0x3c, 0x3d});
  CHECK(bytes.operator()<NvSearch>(0.0f) == Bytes{0, 1, 0, 4, 5});
  CHECK(bytes.operator()<NvSearch>(1e9f) == Bytes{0x7e, 0x7e, 0x7d, 0x7e, 0x7e});
  CHECK(bytes.operator()<MxSearch>(6.0f) == Bytes{127, 128, 126});
  CHECK(bytes.operator()<MxSearch>(0.0f) == Bytes{0, 1, 0});
}

TEST_CASE("minifloat quant: merge is exact, identities tell the policies apart") {
  const std::vector<float> x = test::uniform(4, 64);
  const std::vector<float> first(x.begin(), x.begin() + 20);
  const std::vector<float> rest(x.begin() + 20, x.end());
  const Mx::Stat merged = Mx::merge(observed<Mx>(first), observed<Mx>(rest));
  CHECK(merged.largest == observed<Mx>(x).largest);
  CHECK(merged.smallest == observed<Mx>(x).smallest);
  CHECK(Nv::kId.view() == "quant=minifloat;element=e2m1;group=16;side=e4m3;search=none");
  CHECK(NvSearch::kId.view() ==
        "quant=minifloat;element=e2m1;group=16;side=e4m3;search=0,+1,-1,+4,+5");
  CHECK(Static::kId.view() == "quant=minifloat;element=e4m3;group=0;side=none;search=none");
  CHECK(WideToken::kId.view() == "quant=minifloat;element=e5m2;group=32;side=bf16;search=none");
  CHECK(Exact::kId.view() == "quant=minifloat;element=e2m1;group=16;side=f32;search=none");
}

TEST_CASE("minifloat quant: largest inputs, NaN and infinities stay defined") {
  const auto check = []<class Quant>() {
    CAPTURE(Quant::kId.view());
    const Quant quant;
    for (const float large : {Quant::kLargest, -Quant::kLargest}) {
      const std::vector<float> x = {large, 1.0f, 0.0f};
      const auto scale = quant.scale(observed<Quant>(x));
      for (const float y : back(quant, scale, x)) CHECK(std::isfinite(y));
    }
    for (const float bad : {std::nanf(""), kInfinity, -kInfinity}) {
      const auto scale = quant.scale(observed<Quant>({1.0f, bad}));
      CHECK(quant.encode(bad, scale) < 1u << Quant::kBits);
      CHECK(!std::isnan(quant.step(scale)));
    }
  };
  check.operator()<Static>();
  check.operator()<Wide>();
  check.operator()<Token>();
  check.operator()<WideToken>();
  check.operator()<Exact>();
  check.operator()<Mx>();
  check.operator()<Mx8>();
  check.operator()<Nv>();
}
