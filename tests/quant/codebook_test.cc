#include "kvpleat/quant/codebook.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kvpleat/format/rotated.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

struct Coded {
  float coding = 0.0f;
  float stored = 0.0f;
  std::vector<std::uint32_t> codes;
  std::vector<float> back;
};

template <class Quant>
Coded code(const std::vector<float>& x) {
  const Quant quant;
  typename Quant::Stat stat;
  for (const float v : x) quant.observe(v, stat);
  const auto coding = quant.scale(stat);
  typename Quant::Refinement sums;
  Coded coded;
  coded.coding = to_float(coding.norm);
  for (const float v : x) {
    coded.codes.push_back(quant.encode(v, coding));
    quant.observe_code(v, coded.codes.back(), coding, sums);
  }
  const auto stored = quant.refine(coding, sums);
  coded.stored = to_float(stored.norm);
  for (const std::uint32_t c : coded.codes) coded.back.push_back(quant.decode(c, stored));
  return coded;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}
double lost(const std::vector<float>& x, const std::vector<float>& back) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = static_cast<double>(x[i]) - static_cast<double>(back[i]);
    sum += error * error;
  }
  return sum;
}

template <std::uint32_t kBits, ScalePolicy kPolicy, class Side = Half>
using Quant64 = CodebookQuant<kBits, SphereBook<64>, kPolicy, Side>;

// The property that names each policy, up to the rounding of the side: 2^-11 of the scale.
template <std::uint32_t kBits>
void check_policies() {
  CAPTURE(kBits);
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> x = test::normal(seed, 64, seed % 2 == 0 ? 1.0f : 30.0f);
    const double norm = dot(x, x);
    const Coded plain = code<Quant64<kBits, ScalePolicy::kNorm>>(x);
    CHECK(plain.stored == plain.coding);
    CHECK(plain.stored == doctest::Approx(std::sqrt(norm / 64.0)).epsilon(0x1p-11));
    const Coded matched = code<Quant64<kBits, ScalePolicy::kMatchedNorm>>(x);
    CHECK(std::sqrt(dot(matched.back, matched.back)) ==
          doctest::Approx(std::sqrt(norm)).epsilon(0x1p-11));
    const Coded unbiased = code<Quant64<kBits, ScalePolicy::kUnbiased>>(x);
    CHECK(dot(unbiased.back, x) == doctest::Approx(norm).epsilon(0x1p-11));
    const Coded least = code<Quant64<kBits, ScalePolicy::kLeastSquares>>(x);
    // The residual of least squares is orthogonal to what is stored.
    CHECK(dot(least.back, x) == doctest::Approx(dot(least.back, least.back)).epsilon(0x1p-10));
    // The codes do not depend on the policy, and no other scale of them loses less: one step of
    // the side either way costs at most 2^-20 of the norm.
    CHECK(plain.codes == unbiased.codes);
    CHECK(least.codes == matched.codes);
    for (const Coded* other : {&plain, &matched, &unbiased})
      CHECK(lost(x, least.back) <= lost(x, other->back) + 0x1p-20 * norm);
  }
}

// Codes by linear search of the nearest level.
template <class Quant>
void check_codes() {
  const Quant quant;
  const typename Quant::Scale one = {nearest<typename Quant::Side>(1.0f)};
  std::uint32_t before = 0;
  for (float x = -6.0f; x < 6.0f; x += 0.0009765625f) {
    std::uint32_t best = 0;
    for (std::uint32_t k = 1; k < Quant::kCount; ++k) {
      if (std::fabs(static_cast<double>(Quant::kLevels[k]) - static_cast<double>(x)) <
          std::fabs(static_cast<double>(Quant::kLevels[best]) - static_cast<double>(x)))
        best = k;
    }
    const std::uint32_t own = quant.encode(x, one);
    CAPTURE(x);
    CHECK(own == best);
    CHECK(own >= before);
    before = own;
  }
  CHECK(before == Quant::kCount - 1);
  for (std::uint32_t i = 0; i + 1 < Quant::kCount; ++i) {
    const float threshold = Quant::kThresholds[i];
    CHECK(quant.encode(threshold, one) == i);
    CHECK(quant.encode(std::nextafter(threshold, 1e9f), one) == i + 1);
    CHECK(quant.decode(i, one) == Quant::kLevels[i]);
  }
}

}  // namespace

static_assert(RefiningQuantizer<Quant64<4, ScalePolicy::kUnbiased>>);
static_assert(RefiningQuantizer<Quant64<1, ScalePolicy::kNorm, LogScale8>>);
static_assert(sizeof(Quant64<4, ScalePolicy::kNorm, LogScale8>::Scale) == 1);

TEST_CASE("codebook: each policy keeps what it is named for") {
  check_policies<1>();
  check_policies<2>();
  check_policies<3>();
  check_policies<4>();
  check_policies<5>();
  check_policies<6>();
}

TEST_CASE("codebook: the nearest level; a quotient on a threshold takes the lower code") {
  check_codes<Quant64<1, ScalePolicy::kNorm>>();
  check_codes<Quant64<3, ScalePolicy::kNorm, LogScale8>>();
  check_codes<Quant64<4, ScalePolicy::kNorm>>();
  check_codes<CodebookQuant<5, GaussianBook>>();
}

TEST_CASE("codebook: zeros, tiny groups, the largest magnitude") {
  const auto check = []<class Quant>() {
    CAPTURE(Quant::kId.view());
    const Coded zero = code<Quant>(std::vector<float>(64, 0.0f));
    CHECK(zero.stored == 0.0f);
    CHECK(zero.codes == std::vector<std::uint32_t>(64, 0));
    CHECK(zero.back == std::vector<float>(64, 0.0f));
    // Below the smallest side everything is zero; nothing is ever larger than a few times the row.
    for (const float size : {1e-30f, 1e-9f, 3e-8f, 1e-6f}) {
      const Coded tiny = code<Quant>(test::uniform(3, 64, size));
      for (const float v : tiny.back) CHECK(std::fabs(v) <= 0x1p-22f + 4.0f * size);
    }
    // The groups whose scale is largest for their largest member: all members at the end of a cell,
    // all equal, one alone, and random signs.
    std::vector<std::vector<float>> hard = {std::vector<float>(64, Quant::kLargest),
                                            std::vector<float>(64, 0.0f),
                                            test::uniform(5, 64, Quant::kLargest)};
    hard[1][7] = -Quant::kLargest;
    for (const float threshold : Quant::kThresholds) {
      // Half the energy in one large member: the others lie on a threshold.
      std::vector<float> x(64, 0.0f);
      x[0] = Quant::kLargest;
      for (std::size_t i = 1; i < 64; ++i) x[i] = Quant::kLargest * threshold / 4.0f;
      for (float& v : x) v = std::clamp(v, -Quant::kLargest, Quant::kLargest);
      hard.push_back(x);
    }
    for (const std::vector<float>& x : hard) {
      const Coded coded = code<Quant>(x);
      CHECK(coded.stored <= SideTraits<typename Quant::Side>::kLargest);
      if constexpr (std::is_same_v<typename Quant::Side, LogScale8>) {
        // Saturated would be less than exact.
        CHECK(coded.stored < SideTraits<LogScale8>::kLargest);
      } else {
        CHECK(std::isfinite(coded.stored));
      }
      for (const float v : coded.back) CHECK(std::isfinite(v));
    }
  };
  check.operator()<Quant64<1, ScalePolicy::kUnbiased>>();
  check.operator()<Quant64<2, ScalePolicy::kUnbiased>>();
  check.operator()<Quant64<4, ScalePolicy::kUnbiased>>();
  check.operator()<Quant64<4, ScalePolicy::kMatchedNorm>>();
  check.operator()<Quant64<2, ScalePolicy::kLeastSquares, LogScale8>>();
  check.operator()<Quant64<4, ScalePolicy::kUnbiased, LogScale8>>();
  check.operator()<Quant64<4, ScalePolicy::kNorm, BFloat16>>();
  check.operator()<Quant64<4, ScalePolicy::kUnbiased, float>>();
}

TEST_CASE("codebook: the bounds of the scale are not far from what happens") {
  // Members just below the end of the first cell pull the scale to nearly kInnerRatio times it.
  using Quant = Quant64<4, ScalePolicy::kUnbiased>;
  std::vector<float> x(64, Quant::kThresholds[8] * 0.999f);
  x[0] = static_cast<float>(
      std::sqrt(64.0 - 63.0 * static_cast<double>(x[1]) * static_cast<double>(x[1])));
  const Coded coded = code<Quant>(x);
  CHECK(coded.stored > 1.5f * coded.coding);
  // One member alone: sqrt(64) / last level times the RMS.
  std::vector<float> one(64, 0.0f);
  one[9] = 8.0f;
  CHECK(code<Quant>(one).stored == doctest::Approx(8.0f / Quant::kLevels[15]).epsilon(0x1p-11));
  CHECK(kLargestHalf / Quant::kLargestRms<64> ==
        doctest::Approx(1.03 * 8.0 / 2.64637).epsilon(1e-4));
  // The first cell ends at (0.12735 + 0.38472) / 2.
  CHECK(kLargestHalf / Quant::kLargest == doctest::Approx(1.03 * 0.256035 / 0.12735).epsilon(1e-4));
}

TEST_CASE("OC-25 rotated codebooks with norms far from one, and zero") {
  const auto check = []<class F>(double least_cosine) {
    const F format;
    for (const double r : {0.0, 1e-6, 0.5, 1.0, 37.0, 5000.0}) {
      CAPTURE(r);
      std::vector<float> row = test::normal(23, 128);
      const double norm = std::sqrt(dot(row, row));
      for (float& x : row) x = static_cast<float>(static_cast<double>(x) * r / norm);
      std::vector<float> coded(128);
      std::vector<float> back(128);
      std::vector<std::uint8_t> block(F::kBlockBytes, 0);
      SpillWriter spill;
      EncodeCounters counters;
      format.forward(row.data(), 0, coded.data());
      format.encode(Rows{coded.data(), 1, 128}, 0, nullptr, block.data(), spill, counters);
      format.decode({block.data(), nullptr, nullptr, 0}, 0, MutableRows{coded.data(), 1, 128});
      format.restore(coded.data(), 1.0f, 0, back.data());
      const double size = std::sqrt(dot(back, back));
      if (r == 0.0) {
        CHECK(back == std::vector<float>(128, 0.0f));
      } else if (r < 0.5) {
        CHECK(size <= 2e-6);
      } else {
        CHECK(dot(back, row) / (r * size) >= least_cosine);
        CHECK(std::fabs(size - r) <= 0.05 * r);
      }
    }
  };
  check.operator()<formats::CodebookValue<128, 3>>(0.97);
  check.operator()<formats::CodebookValue<128, 4>>(0.99);
  check.operator()<formats::TurboQuant<128, 3>>(0.97);
  check.operator()<formats::TurboQuant<128, 4>>(0.99);
  check.operator()<formats::RotatedBook<128, 4, RandomHadamard<>, ScalePolicy::kUnbiased>>(0.99);
}
