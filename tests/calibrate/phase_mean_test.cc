#include "kvpleat/calibrate/phase_mean.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/calibrate/channel_mean.h"
#include "support/generator.h"

using namespace kvpleat;

TEST_CASE("the mean before RoPE, from rows after it, at any positions and in both layouts") {
  constexpr std::uint32_t kDim = 24;
  constexpr std::size_t kTokens = 200;
  for (const RopeLayout layout : {RopeLayout::kAdjacent, RopeLayout::kHalves}) {
    for (const std::uint32_t dims : {24u, 16u}) {
      const Rope rope = Rope::standard(layout, dims, 10000.0);
      const std::vector<float> before = test::normal(dims, kTokens * kDim, 2.0f);
      std::vector<float> after(kTokens * 30, 1e30f);  // stride 30
      std::vector<std::int64_t> positions(kTokens);
      for (std::size_t t = 0; t < kTokens; ++t) {
        positions[t] = static_cast<std::int64_t>(t * t) * 1000 - 7;
        rope.rotate(before.data() + t * kDim, kDim, positions[t], after.data() + t * 30);
      }
      std::vector<float> wanted(kDim);
      channel_mean(before.data(), kTokens, kDim, kDim, wanted.data());
      std::vector<float> mean(kDim + 1, 99.0f);
      phase_mean(rope, after.data(), positions.data(), kTokens, 30, kDim, mean.data());
      double worst = 0.0;
      for (std::size_t c = 0; c < kDim; ++c)
        worst = std::max(worst,
                         std::fabs(static_cast<double>(mean[c]) - static_cast<double>(wanted[c])));
      // There and back: cosine, sine (twice 2^-24 of a pair, each way) and two roundings, of pairs
      // of at most 2 * 3.5 * sqrt(2) = 10.
      CHECK(worst <= 6.0 * 0x1p-24 * 10.0);
      CHECK(mean[kDim] == 99.0f);
    }
  }
}

TEST_CASE("without a rotation it is the channel mean, to the bit") {
  const std::vector<float> rows = test::normal(1, 50 * 8);
  const std::vector<std::int64_t> positions(50, 12345);
  std::vector<float> a(8);
  std::vector<float> b(8);
  phase_mean(Rope{}, rows.data(), positions.data(), 50, 8, 8, a.data());
  channel_mean(rows.data(), 50, 8, 8, b.data());
  CHECK(a == b);
  // Position 0 turns nothing.
  const std::vector<std::int64_t> zeros(50, 0);
  const Rope rope = Rope::standard(RopeLayout::kHalves, 8, 10000.0);
  phase_mean(rope, rows.data(), zeros.data(), 50, 8, 8, a.data());
  CHECK(a == b);
}

TEST_CASE("no tokens: zeros") {
  std::vector<float> mean(3, 5.0f);
  phase_mean(Rope{}, nullptr, nullptr, 0, 3, 3, mean.data());
  CHECK(mean == std::vector<float>(3, 0.0f));
}
