// Caches of TurboQuant's variants: attention against a softmax over the
// original rows.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kvpleat/cache/presets.h"
#include "kvpleat/calibrate/channel_stats.h"
#include "kvpleat/format/turbo_prod.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 64;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kTokens = 150;

CacheShape shape_of() {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.max_tokens = kTokens;
  shape.sinks = 3;
  shape.residual = 5;
  return shape;
}

// 16 channels, another set for each head, are five times as large.
test::Tokens outlier_tokens() {
  test::Tokens t = test::tokens_of(31, kTokens, kHeads, kDim);
  for (std::uint32_t i = 0; i < kTokens; ++i) {
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      for (std::uint32_t c = h + 1; c < kDim; c += 4) t.keys[(i * kHeads + h) * kDim + c] *= 5.0f;
    }
  }
  return t;
}
std::vector<float> channels_of(const test::Tokens& t) {
  std::vector<float> channels;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    std::vector<float> rms(kDim);
    channel_rms(t.key(0, h), kTokens, std::size_t{kHeads} * kDim, kDim, rms.data());
    channels.resize((h + 1) * 16);
    largest_channels(rms.data(), kDim, 16, channels.data() + h * 16);
  }
  return channels;
}

// Noise over energy of the coded keys.
template <class Cache>
double key_nmse(const Cache& cache, const test::Tokens& t) {
  double lost = 0.0;
  double energy = 0.0;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    std::vector<float> keys(kTokens * kDim);
    REQUIRE(ok(cache.read(0, h, 0, kTokens, keys.data(), nullptr)));
    for (std::uint32_t i = 3; i < kTokens - 5; ++i) {
      for (std::uint32_t c = 0; c < kDim; ++c) {
        const auto x = static_cast<double>(t.key(i, h)[c]);
        lost += (static_cast<double>(keys[i * kDim + c]) - x) *
                (static_cast<double>(keys[i * kDim + c]) - x);
        energy += x * x;
      }
    }
  }
  return lost / energy;
}
template <class Cache>
void check_attention(const Cache& cache, const test::Tokens& t) {
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    const std::vector<float> queries = test::normal(40 + h, 3 * kDim);
    AttendArguments arguments;
    arguments.queries = queries.data();
    arguments.group = 3;
    arguments.scale = 0.125f;
    std::vector<float> out(3 * kDim);
    std::vector<float> log_sums(3);
    REQUIRE(ok(attend(cache, 0, h, arguments, out.data(), log_sums.data())));
    const test::AttendErrors errors =
        test::compare_attend(cache, 0, h, arguments, out.data(), log_sums.data(), &t,
                             [](double logit) { return logit; });
    CHECK(errors.finite);
    // Float sums over 150 tokens and 64 channels of what is read.
    CHECK(errors.kernel <= 1e-4);
    CHECK(errors.excess <= 0.0);
  }
}

template <class F>
struct Keys : presets::Single<F, formats::F16<kDim>> {};

}  // namespace

TEST_CASE(
    "TurboQuant2_5: the channels of the profile, per head, beside raw "
    "sinks and tail") {
  const test::Tokens t = outlier_tokens();
  const std::vector<float> channels = channels_of(t);
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    for (std::uint32_t i = 0; i < 16; ++i)
      CHECK(channels[h * 16 + i] == static_cast<float>(4 * i + h + 1));
  }
  using Cache = KvCache<presets::TurboQuant2_5<kDim>>;
  LaneProfile profile;
  profile.keys = channels.data();
  profile.key_count = channels.size();
  auto made = Cache::create(shape_of(), &profile, 1);
  auto plain = Cache::create(shape_of());
  REQUIRE(made);
  REQUIRE(plain);
  REQUIRE(ok(test::feed(*made, 0, t, 0, kTokens, 7)));
  REQUIRE(ok(test::feed(*plain, 0, t, 0, kTokens, 64)));
  CHECK(made->memory().total() == Cache::predict(shape_of(), kTokens).total());
  // 16 channels of 3 bits hold 25 / 28 of the energy, 48 of 2 bits the rest:
  // 0.032 and 0.115 of it, 0.041 in all; with other channels apart 0.25 * 0.032
  // + 0.75 * 0.115 = 0.094. 284 rows of 64 channels give it within 5 %.
  const double good = key_nmse(*made, t);
  const double bad = key_nmse(*plain, t);
  CAPTURE(good);
  CAPTURE(bad);
  CHECK(good <= 0.041 * 1.05);
  CHECK(good >= 0.041 * 0.9);
  CHECK(bad >= 2.0 * good);
  check_attention(*made, t);
  check_attention(*plain, t);
  // A channel named twice is no profile.
  std::vector<float> twice = channels;
  twice[17] = twice[16];
  profile.keys = twice.data();
  const auto refused = Cache::create(shape_of(), &profile, 1);
  REQUIRE(!refused);
  CHECK(refused.error().name() == "lane0.key.profile");
}

TEST_CASE("TurboQuant3_5 and TurboQuantProd in caches") {
  const test::Tokens t = outlier_tokens();
  auto split = KvCache<presets::TurboQuant3_5<kDim>>::create(shape_of());
  auto prod = KvCache<Keys<formats::TurboQuantProd<kDim, 4>>>::create(shape_of());
  auto signs = KvCache<Keys<formats::TurboQuantProd<kDim, 1>>>::create(shape_of());
  REQUIRE(split);
  REQUIRE(prod);
  REQUIRE(signs);
  REQUIRE(ok(test::feed(*split, 0, t, 0, kTokens, 64)));
  REQUIRE(ok(test::feed(*prod, 0, t, 0, kTokens, 64)));
  REQUIRE(ok(test::feed(*signs, 0, t, 0, kTokens, 64)));
  check_attention(*split, t);
  check_attention(*prod, t);
  check_attention(*signs, t);
  // The estimate of a residual r leaves (pi / 2 - 1) |r|^2: 0.571 * 0.0334 of
  // the energy behind three bits, 0.571 without codes.
  CHECK(key_nmse(*prod, t) <= 0.571 * 0.0334 * 1.05);
  CHECK(key_nmse(*prod, t) >= 0.571 * 0.0334 * 0.9);
  CHECK(key_nmse(*signs, t) <= 0.571 * 1.05);
  CHECK(key_nmse(*signs, t) >= 0.571 * 0.9);
}
