// Where the keys of an adaptive cache are coded: after RoPE, before it, or with their mean before it
// taken out.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/format/adaptive.h"
#include "kvpleat/transform/center.h"
#include "kvpleat/transform/rope.h"
#include "kvpleat/transform/unrotate.h"
#include "support/any_format.h"
#include "support/gaussian.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 64;
constexpr std::uint32_t kTokens = 64;

// Relative root mean square error of keys through a format, at positions 1000 and on.
template <class F>
double error_of(const test::Surroundings& around, const std::vector<float>& keys) {
  const F format = F::bind(around.context());
  std::vector<float> coded(keys.size());
  for (std::uint32_t t = 0; t < kTokens; ++t)
    format.forward(keys.data() + t * kDim, 1000 + t, coded.data() + t * kDim);
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  format.encode(Rows{coded.data(), kTokens, kDim}, 0, nullptr, block.data(), spill, counters);
  format.decode(BlockBytes{block.data(), nullptr, nullptr, 0}, 0,
                MutableRows{coded.data(), kTokens, kDim});
  std::vector<float> back(keys.size());
  for (std::uint32_t t = 0; t < kTokens; ++t)
    format.restore(coded.data() + t * kDim, 1.0f, 1000 + t, back.data() + t * kDim);
  return std::sqrt(test::mean_square_error(back, keys) /
                   test::mean_square_error(keys, std::vector<float>(keys.size(), 0.0f)));
}

}  // namespace

TEST_CASE("adaptive keys: the mean before RoPE taken out loses least at every width") {
  // Keys that are mostly a constant vector before RoPE, as those of real models: a mean of unit
  // deviation over the channels and a third of that as noise.
  const std::vector<float> mean = test::gaussian(51, kDim);
  const test::Surroundings around(kDim, mean);
  std::vector<float> keys = test::gaussian(52, kTokens * kDim, 0.33f);
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    std::vector<float> row(kDim);
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] = keys[t * kDim + c] + mean[c];
    around.rope.rotate(row.data(), kDim, 1000 + t, keys.data() + t * kDim);
  }
  const auto check = [&]<template <std::uint32_t, class> class F>(int bits) {
    const double after = error_of<F<kDim, NoTransform>>(around, keys);
    const double before = error_of<F<kDim, Unrotate>>(around, keys);
    const double centred = error_of<F<kDim, PhaseCenter>>(around, keys);
    MESSAGE(bits, " bits, relative error: after RoPE ", after, ", before RoPE ", before,
            ", phase-centred ", centred);
    // The residual is a third of the key. Scales follow the token in all three, so coding before
    // RoPE gains nothing without statistics by channel.
    CHECK(centred < 0.45 * after);
    CHECK(centred < 0.45 * before);
    CHECK(before < 1.3 * after);
    CHECK(before > 0.7 * after);
  };
  check.operator()<formats::AdaptiveBits2>(2);
  check.operator()<formats::AdaptiveBits4>(4);
  check.operator()<formats::AdaptiveBits8>(8);
}
