// Caches of the rotated presets against attention over the original rows in double precision.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/attention/attend.h"
#include "kvpleat/attention/attend_ref.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "support/gaussian.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kTokens = 512;

// Mean relative error of the outputs of 16 queries over normal rows, without a profile.
template <class Traits>
double attention_error() {
  constexpr std::uint32_t kDim = Traits::kKeyDim;
  const std::vector<float> keys = test::gaussian(51, kTokens * kDim);
  const std::vector<float> values = test::gaussian(52, kTokens * kDim);
  const std::vector<float> queries = test::gaussian(53, 16 * kDim);
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 1;
  shape.max_tokens = kTokens;
  shape.rope = Rope::standard(RopeLayout::kHalves, kDim, 10000.0);
  auto made = KvCache<Traits>::create(shape);
  REQUIRE(made);
  KvCache<Traits>& cache = *made;
  REQUIRE(ok(cache.append(0, TokenRows(keys.data(), kTokens, 1, kDim),
                          TokenRows(values.data(), kTokens, 1, kDim))));
  const float scale = 1.0f / std::sqrt(static_cast<float>(kDim));
  std::vector<float> out(16 * kDim);
  AttendArguments arguments;
  arguments.queries = queries.data();
  arguments.group = 16;
  arguments.scale = scale;
  REQUIRE(ok(attend(cache, 0, 0, arguments, out.data())));
  std::vector<double> wanted(kDim);
  std::vector<double> weights(kTokens);
  double errors = 0.0;
  for (std::uint32_t q = 0; q < 16; ++q) {
    attend_ref(
        kTokens, kDim, kDim, queries.data() + q * kDim, static_cast<double>(scale),
        [&](std::uint32_t t) { return keys.data() + t * kDim; },
        [&](std::uint32_t t) { return values.data() + t * kDim; }, wanted.data(), weights.data());
    double lost = 0.0;
    double size = 0.0;
    for (std::uint32_t c = 0; c < kDim; ++c) {
      lost += std::pow(wanted[c] - static_cast<double>(out[q * kDim + c]), 2.0);
      size += wanted[c] * wanted[c];
    }
    errors += std::sqrt(lost / size);
  }
  return errors / 16.0;
}

}  // namespace

// With weights p, rows and queries normal and logits of deviation 1, an output is the sum of p v,
// of squared length P = sum p^2 per channel. A value's error adds P D (D: distortion of the value),
// a key's error shifts a logit by a deviation of sqrt(D), which adds about P D (1 + 1 / N) as well:
// an error of sqrt(2 D), 0.137 0.26 0.48 for 4 3 2 bits, and D / (1 - D) instead of D for the
// unbiased keys. Over 16 queries within 10 %.
TEST_CASE("rotated caches without a profile: attention over the original rows") {
  const double four = attention_error<presets::Rotated4<64>>();
  const double three = attention_error<presets::Rotated3<64>>();
  const double two = attention_error<presets::Rotated2<64>>();
  CHECK(four == doctest::Approx(std::sqrt(2.0 * 0.00932)).epsilon(0.1));
  CHECK(three == doctest::Approx(std::sqrt(2.0 * 0.0341)).epsilon(0.1));
  CHECK(two == doctest::Approx(std::sqrt(0.1146 + 0.1293)).epsilon(0.1));
  CHECK(attention_error<presets::TurboQuant4<64>>() ==
        doctest::Approx(std::sqrt(2.0 * 0.00913)).epsilon(0.1));
}
