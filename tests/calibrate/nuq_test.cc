#include "kvpleat/calibrate/nuq.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/quant/nuq.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

using Samples = std::vector<WeightedValue>;

Samples of(const std::vector<float>& values) {
  Samples samples;
  for (const float v : values) samples.push_back({v, 1.0f});
  return samples;
}
std::vector<float> fit(Samples samples, std::uint32_t count) {
  std::vector<float> posts(count);
  REQUIRE(ok(fit_signposts(samples.data(), samples.size(), count, posts.data())));
  return posts;
}
// Weighted sum of squared errors to the nearest signpost, by a search over all.
double lost(const Samples& samples, const std::vector<float>& posts) {
  double sum = 0.0;
  for (const WeightedValue& v : samples) {
    double best = 1e300;
    for (const float p : posts) {
      const double d = static_cast<double>(v.value) - static_cast<double>(p);
      best = std::fmin(best, d * d);
    }
    sum += best * static_cast<double>(v.weight);
  }
  return sum;
}
// The least sum over all ways to cut sorted samples in `count` runs, by trying them all.
double least(const Samples& sorted, std::size_t begin, std::uint32_t count) {
  if (begin == sorted.size()) return 0.0;
  if (count == 0) return 1e300;
  double best = 1e300;
  for (std::size_t end = begin + 1; end <= sorted.size(); ++end) {
    double weight = 0.0;
    double moment = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      weight += static_cast<double>(sorted[i].weight);
      moment += static_cast<double>(sorted[i].weight) * static_cast<double>(sorted[i].value);
    }
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      const double d = static_cast<double>(sorted[i].value) - moment / weight;
      sum += static_cast<double>(sorted[i].weight) * d * d;
    }
    best = std::fmin(best, sum + least(sorted, end, count - 1));
  }
  return best;
}

std::vector<float> equal(std::uint32_t count) {
  std::vector<float> posts;
  for (std::uint32_t i = 0; i < count; ++i)
    posts.push_back(2.0f * static_cast<float>(i) / static_cast<float>(count - 1) - 1.0f);
  return posts;
}

}  // namespace

TEST_CASE("signposts of few samples are the best there are") {
  for (std::uint32_t seed = 1; seed < 30; ++seed) {
    for (const std::uint32_t count : {2u, 3u, 4u}) {
      Samples samples = of(test::normal(seed, 11, 0.5f));
      test::Generator generator(seed + 100);
      for (WeightedValue& v : samples) v.weight = 1.25f + generator.next();
      const std::vector<float> posts = fit(samples, count);
      std::sort(samples.begin(), samples.end(), AscendingValue{});
      // Centres are rounded to binary16, 2^-11 of at most 2: each sample loses at most 2 d e + e^2.
      const double e = 0x1p-10;
      CHECK(std::sqrt(lost(samples, posts)) <=
            std::sqrt(least(samples, 0, count)) + e * std::sqrt(11.0 * 2.25));
    }
  }
}

TEST_CASE("k-means beats equal distances and is close to what many rounds find") {
  const Samples samples = of(test::normal(7, 5000, 0.3f));
  for (const std::uint32_t count : {4u, 8u, 16u}) {
    CAPTURE(count);
    const std::vector<float> posts = fit(samples, count);
    CHECK(std::is_sorted(posts.begin(), posts.end()));
    CHECK(NuqQuant<2>::valid(posts.data()));
    const double uniform = lost(samples, equal(count));
    CHECK(lost(samples, posts) < 0.7 * uniform);
    // Every signpost is the mean of its own samples (the end of Lloyd's rounds), but for rounding.
    for (std::uint32_t k = 0; k < count; ++k) {
      double sum = 0.0;
      std::uint32_t n = 0;
      for (const WeightedValue& v : samples) {
        std::uint32_t best = 0;
        for (std::uint32_t i = 1; i < count; ++i) {
          if (std::fabs(v.value - posts[i]) < std::fabs(v.value - posts[best])) best = i;
        }
        if (best != k) continue;
        sum += static_cast<double>(v.value);
        ++n;
      }
      CHECK(n > 0);
      CHECK(std::fabs(sum / n - static_cast<double>(posts[k])) < 0.004);
    }
  }
}

TEST_CASE("weights move the signposts to what matters") {
  // Values above zero count 50 times as much.
  Samples samples = of(test::uniform(8, 4000));
  const std::vector<float> plain = fit(samples, 8);
  for (WeightedValue& v : samples) v.weight = v.value > 0.0f ? 50.0f : 1.0f;
  const std::vector<float> weighted = fit(samples, 8);
  const auto above = [](const std::vector<float>& posts) {
    return std::count_if(posts.begin(), posts.end(), [](float p) { return p > 0.0f; });
  };
  CHECK(above(plain) == 4);
  CHECK(above(weighted) >= 6);
  CHECK(lost(samples, weighted) < 0.7 * lost(samples, plain));
  // A weight of zero is as if the sample were not there.
  Samples some = of({-0.5f, -0.25f, 0.25f, 0.5f});
  some.push_back({100.0f, 0.0f});
  CHECK(fit(some, 4) == std::vector<float>{-0.5f, -0.25f, 0.25f, 0.5f});
}

TEST_CASE("signposts do not depend on the order of the samples") {
  Samples samples = of(test::uniform(9, 3000));
  test::Generator generator(10);
  for (WeightedValue& v : samples) {
    v.value = std::round(v.value * 64.0f) / 64.0f;  // many equal values of unequal weight
    v.weight = 0.5f + 0.5f * generator.next();
  }
  const std::vector<float> posts = fit(samples, 16);
  std::reverse(samples.begin(), samples.end());
  CHECK(fit(samples, 16) == posts);
  // They are sorted by value, then weight: any order in leaves one order to sum in.
  float unused[16];
  REQUIRE(ok(fit_signposts(samples.data(), samples.size(), 16, unused)));
  bool sorted = true;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const WeightedValue& a = samples[i - 1];
    const WeightedValue& b = samples[i];
    sorted = sorted && (a.value < b.value || (a.value == b.value && a.weight <= b.weight));
  }
  CHECK(sorted);
}

TEST_CASE("fewer values than signposts") {
  CHECK(fit(of({0.5f}), 4) == std::vector<float>(4, 0.5f));
  CHECK(fit(of({0.5f, -0.5f}), 4) == std::vector<float>{-0.5f, 0.5f, 0.5f, 0.5f});
  // Above the exact size: 600 samples of two values.
  std::vector<float> two(600, 0.25f);
  std::fill(two.begin() + 200, two.end(), -0.75f);
  const std::vector<float> posts = fit(of(two), 4);
  CHECK(std::is_sorted(posts.begin(), posts.end()));
  CHECK(lost(of(two), posts) == 0.0);
  CHECK(fit(of(std::vector<float>(1000, 0.0f)), 32) == std::vector<float>(32, 0.0f));
}

TEST_CASE("samples that have no fit are refused") {
  float posts[4];
  Samples samples = of({1.0f, 2.0f});
  CHECK(fit_signposts(nullptr, 2, 4, posts) == Status::kInvalid);
  CHECK(fit_signposts(samples.data(), 0, 4, posts) == Status::kInvalid);
  CHECK(fit_signposts(samples.data(), 2, 1, posts) == Status::kInvalid);
  CHECK(fit_signposts(samples.data(), 2, 257, posts) == Status::kInvalid);
  samples[0].weight = -1.0f;
  CHECK(fit_signposts(samples.data(), 2, 4, posts) == Status::kInvalid);
  samples[0].weight = std::nanf("");
  CHECK(fit_signposts(samples.data(), 2, 4, posts) == Status::kNonFinite);
  samples = of({1.0f, std::nanf("")});
  CHECK(fit_signposts(samples.data(), 2, 4, posts) == Status::kNonFinite);
  samples = of({1.0f, 1e30f});
  CHECK(fit_signposts(samples.data(), 2, 4, posts) == Status::kRange);
  samples = {{1.0f, 0.0f}};
  CHECK(fit_signposts(samples.data(), 1, 4, posts) == Status::kInvalid);
}

TEST_CASE("matching moments gives coded samples the mean and the deviation of the samples") {
  Samples samples = of(test::normal(11, 4000, 0.3f));
  for (WeightedValue& v : samples) v.value += 0.1f;
  std::vector<float> posts(4);
  REQUIRE(ok(fit_signposts(samples.data(), samples.size(), 4, posts.data())));
  const auto deviation = [&](auto value) {
    double mean = 0.0;
    double square = 0.0;
    for (const WeightedValue& v : samples) mean += value(v);
    mean /= static_cast<double>(samples.size());
    for (const WeightedValue& v : samples) square += (value(v) - mean) * (value(v) - mean);
    return std::sqrt(square / static_cast<double>(samples.size()));
  };
  const double wanted = deviation([](const WeightedValue& v) { return double{v.value}; });
  const auto coded = [&](const WeightedValue& v) {
    const auto quant = NuqQuant<2, NuqScale::kNone>::bind(posts.data());
    return double{quant.decode(quant.encode(v.value, {}), {})};
  };
  CHECK(deviation(coded) < 0.97 * wanted);
  REQUIRE(ok(match_moments(samples.data(), samples.size(), 4, posts.data())));
  // Signposts are rounded to binary16: 2^-11 of them.
  CHECK(std::fabs(deviation(coded) / wanted - 1.0) < 0x1p-10);
  CHECK(std::is_sorted(posts.begin(), posts.end()));
  // Nothing to stretch: as it was.
  Samples same = of({0.5f, 0.5f});
  std::vector<float> one(4, 0.5f);
  REQUIRE(ok(match_moments(same.data(), 2, 4, one.data())));
  CHECK(one == std::vector<float>(4, 0.5f));
}
