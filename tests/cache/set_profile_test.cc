// A profile given after creation: when it is taken, when refused, and what it is worth.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kvpleat/attention/attend.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "kvpleat/calibrate/phase_mean.h"
#include "support/cache_fixture.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 32;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kLayers = 2;
using Cache = KvCache<presets::CenteredRotated4<kDim>>;

CacheShape shape_of(std::uint32_t sinks, std::uint32_t residual) {
  CacheShape shape;
  shape.layers = kLayers;
  shape.kv_heads = kHeads;
  shape.max_tokens = 512;
  shape.sinks = sinks;
  shape.residual = residual;
  shape.rope = Rope::standard(RopeLayout::kHalves, kDim, 10000.0);
  return shape;
}

// Keys after RoPE: a mean per head before it, as real keys have, and noise of an eighth of it.
test::Tokens rotary_tokens(const Rope& rope, std::uint32_t n) {
  test::Tokens t{kHeads, kDim, kDim, test::normal(11, n * kHeads * kDim, 0.25f),
                 test::normal(12, n * kHeads * kDim)};
  const std::vector<float> mean = test::normal(13, kHeads * kDim, 2.0f);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      float* key = t.keys.data() + (i * kHeads + h) * kDim;
      for (std::uint32_t c = 0; c < kDim; ++c) key[c] += mean[h * kDim + c];
      rope.rotate(key, kDim, i, key);
    }
  }
  return t;
}

// Means of the first n tokens, the same for every layer: [layers, heads, dim].
std::vector<float> means(const Rope& rope, const test::Tokens& t, std::uint32_t n) {
  std::vector<float> result(kLayers * kHeads * kDim);
  std::vector<std::int64_t> positions(n);
  for (std::uint32_t i = 0; i < n; ++i) positions[i] = i;
  for (std::uint32_t l = 0; l < kLayers; ++l) {
    for (std::uint32_t h = 0; h < kHeads; ++h)
      phase_mean(rope, t.key(0, h), positions.data(), n, std::size_t{kHeads} * kDim, kDim,
                 result.data() + (l * kHeads + h) * kDim);
  }
  return result;
}

// Root mean square distance of the keys read back from the original ones.
double key_error(const Cache& cache, const test::Tokens& t) {
  double sum = 0.0;
  const std::uint32_t n = cache.tokens(0);
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    std::vector<float> keys(n * kDim);
    std::vector<float> values(n * kDim);
    REQUIRE(ok(cache.read(0, h, 0, n, keys.data(), values.data())));
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t c = 0; c < kDim; ++c) {
        const double error = static_cast<double>(keys[i * kDim + c] - t.key(i, h)[c]);
        sum += error * error;
      }
    }
  }
  return std::sqrt(sum / (n * kHeads * kDim));
}
// Largest distance of attention from a softmax in double over the original keys and values.
double attention_error(const Cache& cache, const test::Tokens& t) {
  double worst = 0.0;
  const std::uint32_t n = cache.tokens(0);
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    const std::vector<float> q = test::normal(20 + h, kDim);
    AttendArguments arguments;
    arguments.queries = q.data();
    arguments.scale = 0.25f;
    std::vector<float> out(kDim);
    REQUIRE(ok(attend(cache, 0, h, arguments, out.data())));
    std::vector<double> p(n);
    double largest = -1e300;
    for (std::uint32_t i = 0; i < n; ++i) {
      p[i] = 0.0;
      for (std::uint32_t c = 0; c < kDim; ++c)
        p[i] += 0.25 * static_cast<double>(q[c]) * static_cast<double>(t.key(i, h)[c]);
      largest = std::max(largest, p[i]);
    }
    double sum = 0.0;
    for (double& x : p) sum += x = std::exp(x - largest);
    for (std::uint32_t c = 0; c < kDim; ++c) {
      double wanted = 0.0;
      for (std::uint32_t i = 0; i < n; ++i)
        wanted += p[i] / sum * static_cast<double>(t.value(i, h)[c]);
      worst = std::max(worst, std::fabs(wanted - static_cast<double>(out[c])));
    }
  }
  return worst;
}

LaneProfile keys_only(const std::vector<float>& mean) {
  LaneProfile profile;
  profile.keys = mean.data();
  profile.key_count = mean.size();
  return profile;
}

}  // namespace

TEST_CASE("a mean from the first 64 tokens is worth a profile; without one keys are far worse") {
  const CacheShape shape = shape_of(4, 64);
  constexpr std::uint32_t kTokens = 400;
  const test::Tokens t = rotary_tokens(shape.rope, kTokens);
  const std::vector<float> early = means(shape.rope, t, 64);
  const std::vector<float> all = means(shape.rope, t, kTokens);

  auto from_start = Cache::create(shape);
  auto profiled = [&] {
    const LaneProfile profile = keys_only(all);
    return Cache::create(shape, &profile, 1);
  }();
  auto without = Cache::create(shape);
  REQUIRE(from_start);
  REQUIRE(profiled);
  REQUIRE(without);
  for (std::uint32_t l = 0; l < kLayers; ++l) REQUIRE(ok(test::feed(*from_start, l, t, 0, 64, 17)));
  REQUIRE(from_start->tail_tokens(0) == 60);  // 4 are sinks
  REQUIRE(ok(from_start->set_profile(0, keys_only(early)).status));
  for (std::uint32_t l = 0; l < kLayers; ++l) {
    REQUIRE(ok(test::feed(*from_start, l, t, 64, kTokens, 33)));
    REQUIRE(ok(test::feed(*profiled, l, t, 0, kTokens, 64)));
    REQUIRE(ok(test::feed(*without, l, t, 0, kTokens, 64)));
  }

  // The mean of 64 tokens is off by 1/8 of the noise per channel, which adds 1/128 to the energy of
  // what is coded and moves its range by as much: within 5 % of the other's error. Without a mean
  // what is coded is sqrt(1 + 64) = 8 times as long.
  const double good = key_error(*profiled, t);
  const double late = key_error(*from_start, t);
  const double bad = key_error(*without, t);
  CAPTURE(good);
  CAPTURE(late);
  CAPTURE(bad);
  CHECK(late <= 1.05 * good);
  CHECK(bad >= 5.0 * late);
  // And the cache with it is the cache created with it, to the byte.
  const LaneProfile profile = keys_only(early);
  auto same = Cache::create(shape, &profile, 1);
  REQUIRE(same);
  for (std::uint32_t l = 0; l < kLayers; ++l) REQUIRE(ok(test::feed(*same, l, t, 0, kTokens, 50)));
  CHECK(test::Dump(*same) == test::Dump(*from_start));
  CHECK(same->memory().total() == from_start->memory().total());

  // Scores stay exact beside raw sinks and a raw tail: a lost offset moves logits by about |q| |mu|
  // / 4 = 15 and the output by 1. Rounded keys move a logit by |q|_2 * late / 4 = 0.03 and 4-bit
  // values an output by half a step, 0.25, at most.
  CHECK(attention_error(*from_start, t) <= 0.3);
  CHECK(attention_error(*profiled, t) <= 0.3);
}

TEST_CASE("staged tokens may wait for their profile, too") {
  const CacheShape shape = shape_of(0, 0);
  const test::Tokens t = rotary_tokens(shape.rope, 64);
  auto made = Cache::create(shape);
  REQUIRE(made);
  const std::vector<std::uint8_t> undecided(64, kUndecided);
  const std::vector<std::uint8_t> zeros(64, 0);
  REQUIRE(ok(test::feed(*made, 0, t, 0, 64, 64, undecided.data())));
  const std::vector<float> early = means(shape.rope, t, 64);
  REQUIRE(ok(made->set_profile(0, keys_only(early)).status));
  REQUIRE(ok(made->commit(0, 64, {zeros.data()})));
  const LaneProfile profile = keys_only(early);
  auto same = Cache::create(shape, &profile, 1);
  REQUIRE(same);
  REQUIRE(ok(test::feed(*same, 0, t, 0, 64, 64)));
  CHECK(test::Dump(*same) == test::Dump(*made));
}

TEST_CASE("refused once a token of the lane is coded, in any layer; taken again when none is") {
  const CacheShape shape = shape_of(2, 0);
  const test::Tokens t = rotary_tokens(shape.rope, 16);
  const std::vector<float> mean = means(shape.rope, t, 16);
  auto made = Cache::create(shape);
  REQUIRE(made);
  REQUIRE(ok(test::feed(*made, 1, t, 0, 2, 2)));  // sinks only
  CHECK(ok(made->set_profile(0, keys_only(mean)).status));
  REQUIRE(ok(test::feed(*made, 1, t, 2, 3, 1)));
  const test::Dump before(*made);
  std::vector<float> other(mean);
  other[0] += 1.0f;
  const Error error = made->set_profile(0, keys_only(other));
  CHECK(error.status == Status::kInvalid);
  CHECK(error.name() == "lane");
  CHECK(test::Dump(*made) == before);
  std::vector<float> key(kDim);
  std::vector<float> again(kDim);
  REQUIRE(ok(made->read(1, 0, 2, 1, key.data(), nullptr)));
  CHECK(made->set_profile(1, keys_only(mean)).status == Status::kInvalid);  // the raw lane
  CHECK(made->set_profile(7, keys_only(mean)).status == Status::kInvalid);
  REQUIRE(ok(made->read(1, 0, 2, 1, again.data(), nullptr)));
  CHECK(key == again);
  REQUIRE(ok(made->truncate(1, 2)));
  CHECK(ok(made->set_profile(0, keys_only(other)).status));
}

TEST_CASE("an open group is coded: its rows are centred already") {
  struct Channel : CacheTraits<8> {
    using F = BlockFormat<8, Center, NoSplit, AffineQuant<4, 32, Axis::kTokens>, DenseCodec>;
    using Lanes = LaneList<KV<F, F>>;
  };
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 1;
  shape.max_tokens = 64;
  auto made = KvCache<Channel>::create(shape);
  REQUIRE(made);
  const test::Tokens t = test::tokens_of(5, 3, 1, 8);
  REQUIRE(ok(made->append(0, t.k(0, 3), t.v(0, 3))));
  const std::vector<float> mean(8, 1.0f);
  CHECK(made->set_profile(0, keys_only(mean)).status == Status::kInvalid);
}

TEST_CASE("validated as at creation, all or nothing, and a null side keeps what it has") {
  using Oaken = KvCache<presets::Oaken<16>>;
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 2;
  shape.max_tokens = 64;
  shape.residual = 8;
  std::vector<float> thresholds;
  for (int i = 0; i < 2; ++i)
    thresholds.insert(thresholds.end(), {-1.75f, -0.0625f, 0.0625f, 1.75f});
  const LaneProfile both{thresholds.data(), 8, thresholds.data(), 8};
  auto made = Oaken::create(shape, &both, 1);
  REQUIRE(made);
  std::vector<float> wider(thresholds);
  for (float& x : wider) x *= 2.0f;
  std::vector<float> disordered(wider);
  disordered[5] = -9.0f;
  const auto set = [&](const float* keys, std::size_t k, const float* values, std::size_t v) {
    const Error error = made->set_profile(0, LaneProfile{keys, k, values, v});
    return std::string(to_string(error.status)) + " " + std::string(error.name());
  };
  CHECK(set(wider.data(), 7, nullptr, 0) == "mismatch lane0.key.profile");
  CHECK(set(wider.data(), 8, disordered.data(), 8) == "invalid argument lane0.value.profile");
  // The keys of a refused profile are not taken: the bytes are those of the old thresholds.
  const test::Tokens t = test::tokens_of(3, 16, 2, 16);
  const auto dump_after = [&](bool change) {
    auto cache = Oaken::create(shape, &both, 1);
    REQUIRE(cache);
    if (change) {
      CHECK(ok(cache->set_profile(0, LaneProfile{wider.data(), 8, nullptr, 0}).status));
    }
    REQUIRE(ok(test::feed(*cache, 0, t, 0, 16, 16)));
    return test::Dump(*cache);
  };
  REQUIRE(ok(test::feed(*made, 0, t, 0, 16, 16)));
  CHECK(test::Dump(*made) == dump_after(false));
  // Only the keys change with a profile of keys.
  const LaneProfile mixed{wider.data(), 8, thresholds.data(), 8};
  auto wanted = Oaken::create(shape, &mixed, 1);
  REQUIRE(wanted);
  REQUIRE(ok(test::feed(*wanted, 0, t, 0, 16, 16)));
  CHECK(dump_after(true) == test::Dump(*wanted));
  CHECK(!(dump_after(true) == dump_after(false)));
}

TEST_CASE("rows that wait must fit the new profile; without memory nothing changes") {
  struct Centered : CacheTraits<8> {
    using F = BlockFormat<8, Center, NoSplit, AffineQuant<8>, DenseCodec>;
    using Lanes = LaneList<KV<F, F>>;
  };
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 1;
  shape.max_tokens = 64;
  shape.residual = 4;
  test::CountingMemory memory;
  auto made = KvCache<Centered>::create(shape, memory.source());
  REQUIRE(made);
  test::Tokens t = test::tokens_of(5, 6, 1, 8);
  t.keys[3] = 60000.0f;
  REQUIRE(ok(made->append(0, t.k(0, 4), t.v(0, 4))));
  // 60000 + 6000 is beyond the largest binary16.
  const std::vector<float> far_off(8, -6000.0f);
  const Error error = made->set_profile(0, keys_only(far_off));
  CHECK(error.status == Status::kRange);
  CHECK(error.name() == "tail");
  memory.fail_at(1);
  const std::vector<float> mean(8, 1.0f);
  CHECK(made->set_profile(0, keys_only(mean)).status == Status::kNoMemory);
  // Still without a mean.
  auto plain = KvCache<Centered>::create(shape);
  REQUIRE(plain);
  REQUIRE(ok(plain->append(0, t.k(0, 6), t.v(0, 6))));
  REQUIRE(ok(made->append(0, t.k(4, 2), t.v(4, 2))));
  CHECK(test::Dump(*made) == test::Dump(*plain));
  CHECK(memory.clean());
}
