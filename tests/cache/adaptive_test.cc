// The adaptive cache: a width per token by tags, given at once, decided later, or drawn by an
// allocator.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"
#include "support/gaussian.h"

using namespace kvpleat;
using test::Dump;
using test::feed;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 64;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kTokens = 600;
using Cache = KvCache<presets::Adaptive<kDim>>;
static_assert(Cache::kScope == MapScope::kSequence && Cache::kLanes == 4);

const Tokens& data() {
  static const Tokens made = {kHeads, kDim, kDim, test::gaussian(31, kTokens * kHeads * kDim),
                              test::gaussian(32, kTokens * kHeads * kDim)};
  return made;
}
CacheShape shape_of(std::uint32_t layers = 2, std::uint32_t residual = 0) {
  CacheShape shape;
  shape.layers = layers;
  shape.kv_heads = kHeads;
  shape.max_tokens = 4096;
  shape.residual = residual;
  return shape;
}
Cache make(const CacheShape& shape) {
  auto made = Cache::create(shape);
  REQUIRE(made);
  return std::move(*made);
}
// Bits of a lane per element, keys and values alike.
double lane_bits(std::uint32_t lane) {
  const double bits[4] = {8.0 * formats::Adaptive2<kDim>::kBlockBytes / (64.0 * kDim),
                          8.0 * formats::Adaptive4<kDim>::kBlockBytes / (64.0 * kDim),
                          8.0 * formats::Adaptive8<kDim>::kBlockBytes / (64.0 * kDim), 16.0};
  return bits[lane];
}

}  // namespace

TEST_CASE("adaptive: four widths in one cache attend as double precision within their errors") {
  Cache cache = make(shape_of());
  const std::vector<std::uint8_t> tags = test::random_tags(5, kTokens, 4);
  for (std::uint32_t l = 0; l < 2; ++l)
    REQUIRE(ok(feed(cache, l, data(), 0, kTokens, 50, tags.data())));
  const std::vector<float> queries = test::normal(6, 3 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.rows = 1;
  a.group = 3;
  a.scale = 0.125f;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    const test::AttendErrors errors = test::attend_errors(cache, 1, h, a, &data());
    CHECK(errors.finite);
    CHECK(errors.kernel <= 1e-5);  // float sums of 600 terms, each within 2^-24
    CHECK(errors.excess <= 0.0);
    CHECK(errors.original < 0.1);
    // Every token by itself, against what was appended: half a step of its own width. A step is
    // the largest magnitude / 2, / 7, the range / 255; scales are rounded up by at most 2^-10.
    std::vector<float> rows(std::size_t{kTokens} * kDim);
    REQUIRE(ok(cache.read(1, h, 0, kTokens, rows.data(), nullptr)));
    double power[4] = {};
    double error[4] = {};
    for (std::uint32_t t = 0; t < kTokens; ++t) {
      const float* key = data().key(t, h);
      float largest = 0.0f;
      for (std::uint32_t c = 0; c < kDim; ++c) largest = std::fmax(largest, std::fabs(key[c]));
      const float half_steps[4] = {largest / 4.0f, largest / 14.0f, 2.0f * largest / 510.0f,
                                   largest * 0x1p-11f};
      CHECK(cache.lane(1, h, t) == tags[t]);
      for (std::uint32_t c = 0; c < kDim; ++c) {
        const double d = static_cast<double>(rows[t * kDim + c]) - static_cast<double>(key[c]);
        CHECK(std::fabs(d) <= static_cast<double>(half_steps[tags[t]]) * 1.002);
        error[tags[t]] += d * d;
        power[tags[t]] += static_cast<double>(key[c]) * static_cast<double>(key[c]);
      }
    }
    MESSAGE("relative error of keys at 2, 4, 8, 16 bits: ", std::sqrt(error[0] / power[0]), " ",
            std::sqrt(error[1] / power[1]), " ", std::sqrt(error[2] / power[2]), " ",
            std::sqrt(error[3] / power[3]));
    CHECK(std::sqrt(error[0] / power[0]) == doctest::Approx(0.386).epsilon(0.03));
  }
}

TEST_CASE("adaptive: tags decided after the forward pass give the bytes of tags given at once") {
  const std::vector<std::uint8_t> tags = test::random_tags(7, kTokens, 4);
  Cache at_once = make(shape_of(1));
  REQUIRE(ok(feed(at_once, 0, data(), 0, kTokens, 64, tags.data())));
  Cache later = make(shape_of(1));
  const std::vector<std::uint8_t> undecided(kTokens, kUndecided);
  for (std::uint32_t t = 0; t < kTokens; t += 40) {
    REQUIRE(ok(feed(later, 0, data(), t, t + 40, 40, undecided.data())));
    CHECK(later.tail_tokens(0) == 40);
    REQUIRE(ok(later.commit(0, 40, {tags.data() + t})));
    CHECK(later.tail_tokens(0) == 0);
  }
  CHECK(Dump(later) == Dump(at_once));
  // Cut anywhere, refilled with the same tags.
  for (const std::uint32_t n : {599u, 300u, 64u, 1u}) {
    REQUIRE(ok(later.truncate(0, n)));
    REQUIRE(ok(feed(later, 0, data(), n, kTokens, 33, tags.data())));
    CHECK(Dump(later) == Dump(at_once));
  }
}

TEST_CASE("adaptive: tokens drawn at a budget cost the budget") {
  const double bits[4] = {lane_bits(0), lane_bits(1), lane_bits(2), lane_bits(3)};
  CHECK(bits[0] == 2.25);
  CHECK(bits[2] == 8.5);
  for (const double budget : {3.0, 6.0, 10.0}) {
    CAPTURE(budget);
    const RandomAtBudget allocator = RandomAtBudget::two_widths(bits, 4, budget, 11);
    Cache cache = make(shape_of(2));
    constexpr std::uint32_t kLong = 4096;
    std::vector<std::uint8_t> tags;
    double drawn = 0.0;
    for (std::uint32_t t = 0; t < kLong; ++t) {
      TokenInfo info;
      info.position = t;
      tags.push_back(static_cast<std::uint8_t>(allocator.choose(info)));
      drawn += bits[tags.back()] / kLong;
    }
    // The rows do not matter here.
    for (std::uint32_t l = 0; l < 2; ++l) {
      for (std::uint32_t t = 0; t < kLong; t += 512)
        REQUIRE(ok(cache.append(l, data().k(0, 512), data().v(0, 512), {tags.data() + t})));
    }
    const MemoryReport memory = cache.memory();
    MESSAGE("budget ", budget, " drawn ", drawn, " all bytes ", memory.bits_per_element());
    // The draws: four deviations of a share of 4096 tokens, at most 7.5 bits apart.
    CHECK(std::fabs(drawn - budget) <= 4.0 * 0.5 / 64.0 * 7.5);
    // All bytes: maps of 5 bits per token and map, open blocks, slabs that are not full.
    const double stored =
        8.0 * static_cast<double>(memory.codes + memory.side) / static_cast<double>(memory.values);
    CHECK(stored == doctest::Approx(drawn).epsilon(1e-9));
    CHECK(memory.bits_per_element() > drawn);
    CHECK(memory.bits_per_element() < drawn * 1.25);
  }
}

TEST_CASE("adaptive: a rule on features, tokens wait for them in the tail") {
  const RuleAllocator<> rule;
  Cache cache = make(shape_of(1));
  const std::vector<std::uint8_t> undecided(kTokens, kUndecided);
  std::uint32_t counts[4] = {};
  for (std::uint32_t t = 0; t < 200; ++t) {
    REQUIRE(ok(cache.append(0, data().k(t, 1), data().v(t, 1), {undecided.data()})));
    TokenInfo info;  // as an engine would know it after the step
    info.position = t;
    info.importance = t % 10 == 0 ? 0.05f : 0.0f;
    info.entropy = t % 4 == 0 ? 3.0f : 0.5f;
    const auto lane = static_cast<std::uint8_t>(rule.choose(info));
    ++counts[lane];
    REQUIRE(ok(cache.commit(0, 1, {&lane})));
    CHECK(cache.lane(0, 1, t) == lane);
  }
  // 196 tokens after the first 4: 19 important, 49 undecided by the model, 9 both.
  CHECK(counts[3] == 4);
  CHECK(counts[2] == 9);
  CHECK(counts[1] == 19 + 49 - 2 * 9);
  CHECK(counts[0] == 200 - 4 - 9 - 50);
}

TEST_CASE("adaptive: memory of every width alone is what was predicted") {
  for (std::uint8_t lane = 0; lane < 4; ++lane) {
    CAPTURE(lane);
    test::CountingMemory memory;
    {
      CacheShape shape = shape_of(2, lane * 8u);
      shape.default_lanes = &lane;
      shape.default_lane_count = 1;
      auto made = Cache::create(shape, memory.source());
      REQUIRE(made);
      for (std::uint32_t l = 0; l < 2; ++l) REQUIRE(ok(feed(*made, l, data(), 0, kTokens, 60)));
      CHECK(made->memory() == Cache::predict(shape, kTokens));
      CHECK(made->memory().total() == memory.bytes());
    }
    CHECK(memory.bytes() == 0);
  }
}

TEST_CASE(
    "adaptive: phase-centred keys with a constant part before RoPE lose less at every width") {
  using Centered = KvCache<presets::AdaptiveCentered<kDim>>;
  // Keys: rotation of (mean + a fifth of noise), as real keys are mostly a constant vector per head.
  CacheShape shape = shape_of(1);
  shape.kv_heads = 1;
  shape.rope = Rope::standard(RopeLayout::kHalves, kDim, 10000.0);
  const std::vector<float> mean = test::gaussian(41, kDim);
  Tokens tokens{1, kDim, kDim, test::gaussian(42, 256 * kDim, 0.2f),
                test::gaussian(43, 256 * kDim)};
  for (std::uint32_t t = 0; t < 256; ++t) {
    std::vector<float> row(kDim);
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] = tokens.keys[t * kDim + c] + mean[c];
    shape.rope.rotate(row.data(), kDim, t, tokens.keys.data() + t * kDim);
  }
  const LaneProfile profile{mean.data(), mean.size(), nullptr, 0};
  const std::vector<LaneProfile> profiles(3, profile);
  auto centered = Centered::create(shape, profiles.data(), profiles.size());
  REQUIRE(centered.error().name() == "");
  REQUIRE(centered);
  Cache plain = make(shape);
  for (std::uint8_t lane = 0; lane < 3; ++lane) {
    REQUIRE(ok(centered->truncate(0, 0)));
    REQUIRE(ok(plain.truncate(0, 0)));
    const std::vector<std::uint8_t> tags(256, lane);
    REQUIRE(ok(feed(*centered, 0, tokens, 0, 256, 64, tags.data())));
    REQUIRE(ok(feed(plain, 0, tokens, 0, 256, 64, tags.data())));
    std::vector<float> a(std::size_t{256} * kDim);
    std::vector<float> b(std::size_t{256} * kDim);
    REQUIRE(ok(centered->read(0, 0, 0, 256, a.data(), nullptr)));
    REQUIRE(ok(plain.read(0, 0, 0, 256, b.data(), nullptr)));
    const double with_centre = test::mean_square_error(a, tokens.keys);
    const double without = test::mean_square_error(b, tokens.keys);
    MESSAGE("lane ", static_cast<int>(lane), ": mean squared error phase-centred ", with_centre,
            ", as appended ", without);
    // The residual is a fifth of the key: 14 dB, less what the ranges of two draws differ.
    CHECK(with_centre < 0.1 * without);
  }
}

namespace {

struct HalfRaw : presets::Adaptive<16> {
  using RawElement = Half;
};

}  // namespace

TEST_CASE("adaptive: decided tokens that wait behind undecided ones must fit the raw element") {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 1;
  shape.max_tokens = 64;
  const std::vector<float> small(2 * 16, 1.0f);
  std::vector<float> large = small;
  large[16 + 3] = 100000.0f;  // of the second token: fits 4 bits (458528), not a Half
  const TokenRows one(small.data(), 1, 1, 16);
  const TokenRows big(large.data() + 16, 1, 1, 16);
  const TokenRows two(large.data(), 2, 1, 16);
  const TokenRows both(small.data(), 2, 1, 16);
  const std::uint8_t undecided = kUndecided;
  const std::uint8_t four = tag_of_bits(4);
  const std::uint8_t tags[2] = {kUndecided, four};
  auto made = KvCache<HalfRaw>::create(shape);
  REQUIRE(made);
  auto& cache = *made;
  // Alone it goes straight to its lane.
  REQUIRE(ok(cache.append(0, big, one, {&four})));
  CHECK(cache.tail_tokens(0) == 0);
  // In the same call as the undecided one, or in a later one: keys and values alike.
  CHECK(cache.append(0, two, both, {tags}) == Status::kRange);
  CHECK(cache.append(0, both, two, {tags}) == Status::kRange);
  REQUIRE(ok(cache.append(0, one, one, {&undecided})));
  CHECK(cache.append(0, big, one, {&four}) == Status::kRange);
  CHECK(cache.append(0, one, big, {&four}) == Status::kRange);
  CHECK(cache.tokens(0) == 2);
  REQUIRE(ok(cache.append(0, one, one, {&four})));
  REQUIRE(ok(cache.commit(0, 1, {&four})));
  REQUIRE(ok(cache.append(0, big, one, {&four})));  // nothing waits any more
  float keys[4 * 16];
  float values[4 * 16];
  REQUIRE(ok(cache.read(0, 0, 0, 4, keys, values)));
  for (const float x : keys) CHECK(is_finite(x));
  CHECK(keys[3 * 16 + 3] == keys[3]);
}
