// Attention over keys that are coded before RoPE: scores are taken on restored rows.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"

using namespace kvpleat;
using test::attend_errors;
using test::AttendErrors;
using test::feed;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 40;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kTokens = 300;

// Groups of 32 tokens of one channel, before RoPE: rows wait open in coded space.
using PerChannel =
    BlockFormat<kDim, Unrotate, NoSplit, AffineQuant<4, 32, Axis::kTokens>, DenseCodec>;
using Whole = BlockFormat<kDim, Unrotate, NoSplit, AffineQuant<8>, DenseCodec>;
using Rotated = BlockFormat<kDim, Chain<Chain<Unrotate, Center>, RandomHadamard<>>, NoSplit,
                            AffineQuant<4>, DenseCodec>;

// The split acts on keys before RoPE too.
using Split = ChannelSplit<formats::Int8<8>, formats::Int4<32>, Unrotate>;

// Five lanes before RoPE, one after.
struct Mixed : CacheTraits<kDim> {
  using Value = formats::Int8<kDim>;
  using Lanes = LaneList<KV<formats::KvQuantKey<kDim, 4>, Value>, KV<PerChannel, Value>,
                         KV<Whole, Value>, KV<Rotated, formats::KvQuantValue<kDim, 4>>,
                         KV<formats::Int8<kDim>, Value>, KV<Split, Value>>;
};
enum Tag : std::uint8_t { kKvQuant, kPerChannel, kWhole, kRotated, kAfter, kSplit };

CacheShape shape_of(std::uint32_t sinks, std::uint32_t residual) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.max_tokens = kTokens;
  shape.sinks = sinks;
  shape.residual = residual;
  shape.rope = Rope::standard(RopeLayout::kHalves, 32, 10000.0);  // 8 channels pass
  return shape;
}

// Keys that have a mean and a range per channel before RoPE, and come rotated.
Tokens rotated_tokens(const Rope& rope) {
  Tokens tokens = test::tokens_of(81, kTokens, kHeads, kDim, 0.0f, 0.5f);
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      float* key = tokens.keys.data() + (t * kHeads + h) * kDim;
      for (std::uint32_t c = 0; c < kDim; ++c)
        key[c] =
            key[c] * (0.25f + static_cast<float>(c % 5) * 0.25f) + (c % 3 == h ? 1.5f : -0.25f);
      rope.rotate(key, kDim, t, key);
    }
  }
  return tokens;
}

struct Bench {
  CacheShape shape;
  Tokens tokens;
  std::vector<float> keys;     // [kHeads, offset, range, signposts]
  std::vector<float> centers;  // [kHeads, kDim]
  std::vector<LaneProfile> profiles;

  Bench(std::uint32_t sinks, std::uint32_t residual)
      : shape(shape_of(sinks, residual)), tokens(rotated_tokens(shape.rope)), profiles(6) {
    std::vector<float> before(tokens.keys);
    for (std::uint32_t t = 0; t < kTokens; ++t) {
      for (std::uint32_t h = 0; h < kHeads; ++h) {
        float* key = before.data() + (t * kHeads + h) * kDim;
        shape.rope.rotate(key, kDim, -static_cast<std::int64_t>(t), key);
      }
    }
    const CalibrationRows rows{before.data(), nullptr, kTokens, kHeads, kHeads * kDim, kDim};
    std::vector<WeightedValue> scratch(before.size());
    keys.resize(kHeads * formats::KvQuantKey<kDim, 4>::kProfileSize);
    REQUIRE(ok(kvquant_key_profile<kDim, 4>(rows, 10000, scratch.data(), keys.data())));
    centers.resize(kHeads * kDim);
    for (std::uint32_t h = 0; h < kHeads; ++h)
      channel_mean(before.data() + h * kDim, kTokens, kHeads * kDim, kDim, &centers[h * kDim]);
    profiles[kKvQuant].keys = keys.data();
    profiles[kKvQuant].key_count = keys.size();
    profiles[kRotated].keys = centers.data();
    profiles[kRotated].key_count = centers.size();
  }
  KvCache<Mixed> make(const CacheShape& given) const {
    auto made = KvCache<Mixed>::create(given, profiles.data(), profiles.size());
    REQUIRE(made);
    return std::move(*made);
  }
  KvCache<Mixed> fill(const std::vector<std::uint8_t>& tags, std::size_t step) const {
    KvCache<Mixed> cache = make(shape);
    REQUIRE(ok(feed(cache, 0, tokens, 0, kTokens, step, tags.data())));
    return cache;
  }
};

// kernel: double scores, rounded to float once (2^-24 of |score| <= about 60), weights and a float
// sum over 300 values: 1e-4 of the largest value is ten times that.
void check(const AttendErrors& errors) {
  CHECK(errors.finite);
  CHECK(errors.kernel < 1e-4);
  CHECK(errors.excess <= 0.0);
}

}  // namespace

TEST_CASE("keys before RoPE, alone and in every mixture with raw sinks and a tail") {
  const Bench bench(3, 5);
  const std::vector<float> queries = test::uniform(82, 3 * 5 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.rows = 3;
  a.group = 5;
  a.scale = 0.4f;
  for (std::uint32_t lane = 0; lane < 7; ++lane) {
    CAPTURE(lane);
    const std::vector<std::uint8_t> tags =
        lane < 6 ? std::vector<std::uint8_t>(kTokens, static_cast<std::uint8_t>(lane))
                 : test::random_tags(83, kTokens, 7);  // 6: the raw lane
    const auto cache = bench.fill(tags, 7);
    for (std::uint32_t h = 0; h < kHeads; ++h) check(attend_errors(cache, 0, h, a, &bench.tokens));
  }
}

TEST_CASE("keys before RoPE: the error of the output over the original rows") {
  // The largest of the six is 0.016; twice that. A wrong rotation changes the output by 0.7
  // (below).
  const Bench bench(3, 0);
  const std::vector<float> queries = test::uniform(82, 4 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.group = 4;
  a.scale = 0.4f;
  for (std::uint8_t lane = 0; lane < 6; ++lane) {
    CAPTURE(static_cast<int>(lane));
    const auto cache = bench.fill(std::vector<std::uint8_t>(kTokens, lane), kTokens);
    for (std::uint32_t h = 0; h < kHeads; ++h)
      CHECK(attend_errors(cache, 0, h, a, &bench.tokens).original < 0.032);
  }
}

TEST_CASE("keys before RoPE under limits, masks and statistics") {
  const Bench bench(2, 4);
  const auto cache = bench.fill(test::random_tags(84, kTokens, 7), 11);
  const std::vector<float> queries = test::uniform(85, 9 * 2 * kDim);
  std::vector<IndexRange> limits(9);
  for (std::uint32_t r = 0; r < 9; ++r) limits[r] = {r * 13, 40 + r * 32};
  std::vector<std::uint8_t> mask(9 * 2 * kTokens);
  test::Generator generator(86);
  for (std::uint8_t& m : mask) m = static_cast<std::uint8_t>(generator.below(3) > 0);
  AttendArguments a;
  a.queries = queries.data();
  a.rows = 9;
  a.group = 2;
  a.scale = 0.3f;
  a.limits = limits.data();
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    a.mask = nullptr;
    check(attend_errors(cache, 0, h, a, &bench.tokens));
    a.mask = mask.data();
    a.mask_tokens = kTokens;
    check(attend_errors(cache, 0, h, a, &bench.tokens));
  }

  // The mass on two halves, from the weights of the oracle over what the cache holds.
  const IndexRange halves[2] = {{0, 150}, {150, kTokens}};
  std::vector<float> mass(18 * 2);
  std::vector<std::uint32_t> visible(18);
  AttentionStatistics statistics;
  statistics.ranges = halves;
  statistics.range_count = 2;
  statistics.mass = mass.data();
  statistics.visible = visible.data();
  a.statistics = &statistics;
  std::vector<float> out(18 * kDim);
  std::vector<float> log_sums(18);
  REQUIRE(ok(attend(cache, 0, 1, a, out.data(), log_sums.data())));
  std::vector<double> weights;
  test::compare_attend(
      cache, 0, 1, a, out.data(), log_sums.data(), &bench.tokens, [](double s) { return s; },
      nullptr, &weights);
  for (std::uint32_t q = 0; q < 18; ++q) {
    double wanted[2] = {};
    for (std::uint32_t t = 0; t < kTokens; ++t) wanted[t / 150] += weights[q * kTokens + t];
    for (std::uint32_t i = 0; i < 2; ++i)
      CHECK(std::fabs(static_cast<double>(mass[q * 2 + i]) - wanted[i]) < 1e-4);
    std::uint32_t seen = 0;
    for (std::uint32_t t = limits[q / 2].begin; t < limits[q / 2].end; ++t)
      seen += mask[q * kTokens + t] != 0;
    CHECK(visible[q] == seen);
  }
}

TEST_CASE("keys before RoPE in parts, in any order, give the whole") {
  const Bench bench(0, 0);
  const auto cache = bench.fill(test::random_tags(87, kTokens, 5), 300);
  const std::vector<float> queries = test::uniform(88, 3 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.group = 3;
  a.scale = 0.3f;
  std::vector<float> whole(3 * kDim);
  REQUIRE(ok(attend(cache, 0, 0, a, whole.data())));
  AttentionState<kDim> states[3];
  for (const IndexRange part : {IndexRange{129, 300}, IndexRange{0, 1}, IndexRange{1, 129}})
    REQUIRE(ok(attend_partial(cache, 0, 0, part, a, states)));
  for (std::uint32_t j = 0; j < 3; ++j) {
    float out[kDim];
    states[j].write(out);
    for (std::uint32_t c = 0; c < kDim; ++c) CHECK(std::fabs(out[c] - whole[j * kDim + c]) < 1e-4f);
  }
}

TEST_CASE("keys before RoPE are rotated by their own positions") {
  // The same coded rows under a rotation that turns an eighth faster: every restored key turns.
  const Bench bench(3, 0);
  const std::vector<float> queries = test::uniform(89, 4 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.group = 4;
  a.scale = 0.4f;
  for (const std::uint8_t lane : {kKvQuant, kPerChannel, kWhole, kRotated, kSplit}) {
    CAPTURE(static_cast<int>(lane));
    const auto cache = bench.fill(std::vector<std::uint8_t>(kTokens, lane), kTokens);
    CacheShape faster = bench.shape;
    for (std::uint64_t& turns : faster.rope.turns) turns += turns / 8;
    auto other = bench.make(faster);
    Tokens turned = bench.tokens;
    for (std::uint32_t t = 0; t < kTokens; ++t) {
      for (std::uint32_t h = 0; h < kHeads; ++h) {
        float* key = turned.keys.data() + (t * kHeads + h) * kDim;
        bench.shape.rope.rotate(key, kDim, -static_cast<std::int64_t>(t), key);
        faster.rope.rotate(key, kDim, t, key);
      }
    }
    const std::vector<std::uint8_t> tags(kTokens, lane);
    REQUIRE(ok(feed(other, 0, turned, 0, kTokens, kTokens, tags.data())));
    std::vector<float> out(4 * kDim);
    std::vector<float> out_other(4 * kDim);
    REQUIRE(ok(attend(cache, 0, 1, a, out.data())));
    REQUIRE(ok(attend(other, 0, 1, a, out_other.data())));
    float change = 0.0f;
    for (std::size_t i = 0; i < out.size(); ++i)
      change = upper_of(change, std::fabs(out[i] - out_other[i]));
    CHECK(change > 0.3f);
    // And each is right about its own rows.
    CHECK(attend_errors(other, 0, 1, a, &turned).original < 0.032);
  }
}

TEST_CASE("keys before RoPE take the decode path, and strict says so") {
  struct One : CacheTraits<kDim> {
    using Lanes = LaneList<KV<Whole, formats::Int8<kDim>>>;
  };
  const CacheShape shape = shape_of(0, 0);
  auto made = KvCache<One>::create(shape);
  REQUIRE(made);
  const Tokens tokens = rotated_tokens(shape.rope);
  REQUIRE(ok(feed(*made, 0, tokens, 0, 10, 10)));
  const std::vector<float> query = test::uniform(90, kDim);
  std::vector<float> out(kDim, 7.0f);
  AttendReport report;
  AttendArguments a;
  a.queries = query.data();
  a.report = &report;
  REQUIRE(ok(attend(*made, 0, 0, a, out.data())));
  CHECK(report.key[0] == Path::kDecode);
  CHECK(report.value[0] == Path::kReference);
  a.strict = true;
  CHECK(attend(*made, 0, 0, a, out.data()) == Status::kUnsupported);
}

TEST_CASE("keys before RoPE need a rotation") {
  CacheShape shape = shape_of(0, 0);
  shape.rope = {};
  const auto made = KvCache<Mixed>::create(shape);
  REQUIRE(!made);
  CHECK(std::string_view(made.error().field) == "rope");
}
