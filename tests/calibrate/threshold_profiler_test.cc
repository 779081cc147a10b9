#include "kvpleat/calibrate/threshold_profiler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr Role kK = Role::kKey;
constexpr Role kV = Role::kValue;

struct Profiler {
  std::vector<BandSums> sums;
  std::vector<float> scratch;
  ThresholdProfiler profiler;

  explicit Profiler(std::uint32_t layers, BandShares shares = {})
      : sums(layers * 2), scratch(1u << 16), profiler(sums.data(), layers, shares) {}
  Status add(std::uint32_t layer, Role side, const TokenRows& rows) {
    return profiler.add(layer, side, rows, scratch.data(), scratch.size());
  }
  std::vector<float> thresholds(std::uint32_t layer, Role side) {
    std::vector<float> found(4);
    CHECK(ok(profiler.thresholds(layer, side, found.data())));
    return found;
  }
};

}  // namespace

TEST_CASE("golden C6: the mean of two runs; one extreme value moves nothing") {
  std::vector<float> first;
  std::vector<float> second;
  for (int j = 0; j < 21; ++j) {
    first.push_back(static_cast<float>(j - 10) / 8.0f);
    second.push_back(j == 20 ? 100.0f : static_cast<float>(j - 10) / 4.0f);
  }
  Profiler p(1, {100000, 200000});
  REQUIRE(ok(p.add(0, kK, TokenRows(first.data(), 21, 1, 1))));
  REQUIRE(ok(p.add(0, kK, TokenRows(second.data(), 3, 7, 1))));  // the shape does not matter
  CHECK(p.thresholds(0, kK) == std::vector<float>{-1.6875f, -0.375f, 0.375f, 1.6875f});
  CHECK(p.profiler.samples(0, kK) == 2);
  CHECK(p.profiler.samples(0, kV) == 0);
}

TEST_CASE("the mean is rounded to binary16 once") {
  // Two samples of one value each: every rank is that value. 1 + 2^-11 is the tie between 1 and the
  // next half, 1 + 2^-10; rounding each sample first would hide the rest.
  const float low = 1.0f;
  const float high = 1.0f + 0x1p-10f + 0x1p-22f;  // the mean lies 2^-23 above the tie
  Profiler p(1);
  REQUIRE(ok(p.add(0, kK, TokenRows(&low, 1, 1, 1))));
  REQUIRE(ok(p.add(0, kK, TokenRows(&high, 1, 1, 1))));
  CHECK(p.thresholds(0, kK).front() == 1.0f + 0x1p-10f);
  // The mean of these lies 2^-23 / 3 above the tie, nearer to it than a float can: rounded to a
  // float first, it would be the tie and go down to the even 1.
  Profiler q(1);
  const float three[3] = {1.0f, 1.0f, 1.0f + 3 * 0x1p-11f + 0x1p-23f};
  for (const float& x : three) REQUIRE(ok(q.add(0, kK, TokenRows(&x, 1, 1, 1))));
  const double mean = (3.0 + 3 * 0x1p-11 + 0x1p-23) / 3.0;
  REQUIRE(mean > 1.0 + 0x1p-11);
  REQUIRE(static_cast<float>(mean) == 1.0f + 0x1p-11f);
  CHECK(q.thresholds(0, kK).front() == 1.0f + 0x1p-10f);
  // And as little below a tie whose even half is the upper one.
  Profiler below(1);
  for (const float x : {1.0f, 1.0f, 1.0f + 9 * 0x1p-11f - 0x1p-23f})
    REQUIRE(ok(below.add(0, kK, TokenRows(&x, 1, 1, 1))));
  CHECK(below.thresholds(0, kK).front() == 1.0f + 0x1p-10f);
  // The same below zero.
  Profiler r(1);
  for (const float x : three) {
    const float negative = -x;
    REQUIRE(ok(r.add(0, kK, TokenRows(&negative, 1, 1, 1))));
  }
  CHECK(r.thresholds(0, kK).front() == -1.0f - 0x1p-10f);
}

TEST_CASE("OC-19 only logical columns are read: strides, halves, padding of 1e30") {
  constexpr std::size_t kTokens = 40;
  constexpr std::size_t kHeads = 3;
  constexpr std::size_t kDim = 20;
  std::vector<float> packed = test::normal(18, kTokens * kHeads * kDim);
  for (float& x : packed) x = to_float(to_half(x));
  std::vector<float> pitched(kTokens * 256, 1e30f);
  std::vector<Half> halves(kHeads * kTokens * 32, Half{0x7c00});
  for (std::size_t t = 0; t < kTokens; ++t) {
    for (std::size_t h = 0; h < kHeads; ++h) {
      for (std::size_t c = 0; c < kDim; ++c) {
        const float x = packed[(t * kHeads + h) * kDim + c];
        pitched[t * 256 + h * 40 + c * 2] = x;
        halves[(h * kTokens + t) * 32 + c] = to_half(x);
      }
    }
  }
  const TokenRows views[3] = {
      TokenRows(packed.data(), kTokens, kHeads, kDim),
      TokenRows(pitched.data(), kTokens, kHeads, kDim).strides(256, 40, 2),
      TokenRows(halves.data(), kTokens, kHeads, kDim).strides(32, kTokens * 32),
  };
  BandProfile found[3];
  for (int i = 0; i < 3; ++i) {
    Profiler p(1);
    REQUIRE(ok(p.add(0, kV, views[i])));
    REQUIRE(ok(p.profiler.measure(0, kV, views[i])));
    REQUIRE(ok(p.profiler.profile(0, kV, found[i])));
  }
  CHECK(found[0].highest < 5.0f);
  CHECK(found[0].values == packed.size());
  CHECK(found[1] == found[0]);
  CHECK(found[2] == found[0]);
}

TEST_CASE("ranges and occupancy of a profile are those of its samples") {
  const std::vector<float> a = test::normal(1, 64 * 32);
  const std::vector<float> b = test::normal(2, 16 * 32, 2.0f);
  Profiler p(2);
  for (const auto* rows : {&a, &b})
    REQUIRE(ok(p.add(1, kK, TokenRows(rows->data(), rows->size() / 32, 2, 16))));
  for (const auto* rows : {&a, &b})
    REQUIRE(ok(p.profiler.measure(1, kK, TokenRows(rows->data(), rows->size() / 32, 2, 16))));
  BandProfile bands;
  REQUIRE(ok(p.profiler.profile(1, kK, bands)));
  std::vector<float> all = a;
  all.insert(all.end(), b.begin(), b.end());
  const std::vector<float> t = p.thresholds(1, kK);
  std::uint64_t outer = 0;
  std::uint64_t inner = 0;
  double magnitudes = 0.0;
  for (const float x : all) {
    outer += x < t[0] || x > t[3];
    inner += x >= t[1] && x <= t[2];
    magnitudes += std::fabs(static_cast<double>(x));
  }
  CHECK(bands.values == all.size());
  CHECK(bands.outer == outer);
  CHECK(bands.inner == inner);
  CHECK(bands.lowest == *std::min_element(all.begin(), all.end()));
  CHECK(bands.highest == *std::max_element(all.begin(), all.end()));
  CHECK(bands.mean_magnitude == doctest::Approx(magnitudes / static_cast<double>(all.size())));
  // Samples count alike: the short one pulls the thresholds to the mean of 1 and 2, so that the
  // longer one leaves its outer band emptier than 4 %, and the short one fills it further.
  CHECK(bands.outer_share() > 0.01);
  CHECK(p.profiler.thresholds(0, kK, nullptr) == Status::kInvalid);  // no sample there
}

TEST_CASE("the profile may be read after any number of samples") {
  // 100 samples of 2048 normal values: the spread of the mean of n ranks falls like 1 / sqrt(n).
  Profiler p(1);
  std::vector<float> after[3];
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::vector<float> rows = test::normal(100 + i, 2048);
    REQUIRE(ok(p.add(0, kK, TokenRows(rows.data(), 32, 1, 64))));
    if (i + 1 == 10) after[0] = p.thresholds(0, kK);
    if (i + 1 == 30) after[1] = p.thresholds(0, kK);
    if (i + 1 == 100) after[2] = p.thresholds(0, kK);
  }
  // A rank of probability q has the standard deviation sqrt(q (1 - q) / n) / density. At the outer
  // threshold: sqrt(0.02 * 0.98 / 2048) / 0.048 = 0.064 per sample (the generator's tails, sums of
  // four uniforms, are a little lighter). The mean of 10 against the mean of 100: 0.064 *
  // sqrt(1/10 - 1/100) = 0.019; 30: 0.0098. Five of them.
  CHECK(std::fabs(after[0][3] - after[2][3]) < 5 * 0.019f);
  CHECK(std::fabs(after[1][3] - after[2][3]) < 5 * 0.0098f);
  CHECK(after[0] != after[2]);
  CHECK(after[2][3] == doctest::Approx(2.0).epsilon(0.05));  // of the generator; a normal has 2.054
}

TEST_CASE("refusals change nothing") {
  Profiler p(1);
  const std::vector<float> rows = test::normal(3, 256);
  REQUIRE(ok(p.add(0, kK, TokenRows(rows.data(), 8, 2, 16))));
  const std::vector<float> before = p.thresholds(0, kK);
  std::vector<float> bad = rows;
  bad[100] = kInfinity;
  const TokenRows good(rows.data(), 8, 2, 16);
  CHECK(p.add(1, kK, good) == Status::kInvalid);
  CHECK(p.add(0, kK, TokenRows(rows.data(), 0, 2, 16)) == Status::kInvalid);
  CHECK(p.add(0, kK, TokenRows(static_cast<const float*>(nullptr), 8, 2, 16)) == Status::kInvalid);
  CHECK(p.add(0, kK, TokenRows(bad.data(), 8, 2, 16)) == Status::kNonFinite);
  CHECK(p.add(0, kK, TokenRows(std::span<const float>(rows).first(255), 8, 2, 16)) ==
        Status::kRange);
  CHECK(p.profiler.add(0, kK, good, p.scratch.data(), 255) == Status::kCapacity);
  CHECK(p.profiler.add(0, kK, good, nullptr, 0) == Status::kCapacity);
  CHECK(p.profiler.measure(0, kV, good) == Status::kInvalid);  // no thresholds yet
  CHECK(p.profiler.measure(0, kK, TokenRows(bad.data(), 8, 2, 16)) == Status::kNonFinite);
  CHECK(p.profiler.samples(0, kK) == 1);
  CHECK(p.thresholds(0, kK) == before);
  BandProfile bands;
  REQUIRE(ok(p.profiler.profile(0, kK, bands)));
  CHECK(bands.values == 0);

  Profiler shares(1, {600000, 600000});
  CHECK(shares.add(0, kK, good) == Status::kInvalid);
  const float huge = 40000.0f;
  Profiler range(1);
  REQUIRE(ok(range.add(0, kK, TokenRows(&huge, 1, 1, 1))));
  float found[4] = {7.0f, 7.0f, 7.0f, 7.0f};
  CHECK(range.profiler.thresholds(0, kK, found) == Status::kRange);
  for (const float t : found) CHECK(t == 7.0f);

  p.profiler.reset();
  CHECK(p.profiler.samples(0, kK) == 0);
}
