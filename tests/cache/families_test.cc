// Every family of formats as a lane of one cache: OC-35, OC-41, OC-56, OC-59 and OC-72 for what
// tests/support/cache_fixture.h (Everything) has no lane for, and what a lane refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"

using namespace kvpleat;
using test::CountingMemory;
using test::Dump;
using test::feed;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 40;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kTokens = 300;  // over two blocks of 128

enum Lane : std::uint8_t {
  kJds,
  kNested,
  kCoo,
  kPerHead,
  kSteps,
  kSlots,
  kHash,
  kWidths,
  kFp8,
  kFp4,
  kKvQuant,
  kTurbo,
  kBalanced,
  kCodebook,
  kLanes,
};

struct Families : CacheTraits<kDim> {
  using Lanes =
      LaneList<test::Same<formats::OakenJds16<kDim>>, test::Same<formats::OakenNested<kDim>>,
               test::Same<formats::OakenCoo12<kDim>>, test::Same<formats::OakenPerHead<kDim>>,
               KV<formats::Renewed8<kDim>, formats::Sealed8<kDim>>,
               test::Same<formats::Tiered8<kDim>>, test::Same<formats::HashSparse<kDim>>,
               KV<formats::Adaptive2<kDim>, formats::Adaptive8<kDim>>,
               KV<formats::Fp8E4m3<kDim>, formats::Fp8E5m2Token<kDim>>,
               KV<formats::Mxfp4<kDim>, formats::Nvfp4<kDim>>,
               KV<formats::KvQuantKey<kDim, 4>, formats::KvQuantValue<kDim, 4>>,
               KV<formats::TurboQuant2_5<kDim>, formats::TurboQuantProd<kDim, 2>>,
               KV<formats::BalancedKey<kDim, 4>, formats::BalancedValue<kDim, 3>>,
               KV<formats::CodebookKey<kDim, 2>, formats::CodebookValue<kDim, 1>>>;
};
using Cache = KvCache<Families>;

struct Profiles {
  std::vector<float> thresholds;
  std::vector<float> nested;
  std::vector<float> ranges;  // KvQuantKey: offset, range of each channel, signposts
  std::vector<float> balanced_keys;
  std::vector<float> balanced_values;
  std::vector<LaneProfile> lanes = std::vector<LaneProfile>(kLanes);

  Profiles() {
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      thresholds.insert(thresholds.end(), {-1.75f, -0.0625f, 0.0625f, 1.75f});
      nested.insert(nested.end(), {-2.5f, -1.75f, -0.25f, -0.0625f, 0.0625f, 0.25f, 1.75f, 2.5f});
      const std::size_t at = ranges.size();
      ranges.resize(at + formats::KvQuantKey<kDim, 4>::kProfileSize, 0.0f);
      std::fill_n(ranges.begin() + static_cast<std::ptrdiff_t>(at) + kDim, kDim, 2.5f);
      // Mean, scales, a direction along four channels and its step.
      for (std::uint32_t c = 0; c < kDim; ++c) balanced_keys.push_back(c % 3 == 0 ? 0.5f : -0.25f);
      for (std::vector<float>* profile : {&balanced_keys, &balanced_values}) {
        for (std::uint32_t c = 0; c < kDim; ++c)
          profile->push_back(0.75f + static_cast<float>(c % 5) * 0.125f);
        for (std::uint32_t c = 0; c < kDim; ++c) profile->push_back(c % 10 == h ? 0.5f : 0.0f);
        profile->push_back(0.0625f);
      }
    }
    const auto both = [](const std::vector<float>& x) {
      return LaneProfile{x.data(), x.size(), x.data(), x.size()};
    };
    lanes[kJds] = lanes[kCoo] = lanes[kPerHead] = both(thresholds);
    lanes[kNested] = both(nested);
    lanes[kKvQuant].keys = ranges.data();
    lanes[kKvQuant].key_count = ranges.size();
    lanes[kBalanced] = {balanced_keys.data(), balanced_keys.size(), balanced_values.data(),
                        balanced_values.size()};
  }
};

const Tokens& data() {
  static const Tokens made = test::tokens_of(91, kTokens, kHeads, kDim, 0.125f, -0.0625f);
  return made;
}
CacheShape shape_of(const std::uint8_t& lane) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.max_tokens = kTokens;
  shape.rope = Rope::standard(RopeLayout::kHalves, kDim, 10000.0);
  shape.default_lanes = &lane;
  shape.default_lane_count = 1;
  return shape;
}
Cache make(const std::uint8_t& lane, const MemorySource& memory = heap_memory()) {
  static const Profiles profiles;
  auto made = Cache::create(shape_of(lane), profiles.lanes.data(), profiles.lanes.size(), memory);
  REQUIRE(made.error().name() == "");
  REQUIRE(made);
  return std::move(*made);
}
std::vector<float> read(const Cache& cache, std::uint32_t head, std::uint32_t first,
                        std::uint32_t n) {
  std::vector<float> rows(2 * static_cast<std::size_t>(n) * kDim);
  REQUIRE(ok(cache.read(0, head, first, n, rows.data(), rows.data() + n * kDim)));
  return rows;
}

}  // namespace

TEST_CASE("OC-35 append granularity does not change a byte, every family") {
  for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
    CAPTURE(lane);
    std::unique_ptr<Dump> first;
    for (const std::uint32_t step : {kTokens, 1u, 7u, 64u}) {
      CAPTURE(step);
      Cache cache = make(lane);
      REQUIRE(ok(feed(cache, 0, data(), 0, kTokens, step)));
      if (first == nullptr) {
        first = std::make_unique<Dump>(cache);
        // Read at once and token by token.
        const std::vector<float> all = read(cache, 1, 0, kTokens);
        std::uint32_t other = 0;
        for (std::uint32_t t = 0; t < kTokens; ++t) {
          const std::vector<float> one = read(cache, 1, t, 1);
          other += !std::equal(one.begin(), one.begin() + kDim, all.begin() + t * kDim);
          other += !std::equal(one.begin() + kDim, one.end(), all.begin() + (kTokens + t) * kDim);
        }
        CHECK(other == 0);
      } else {
        CHECK(Dump(cache) == *first);
      }
    }
  }
}

TEST_CASE("OC-41 a crop keeps what stays to the bit, refilling gives the bytes of one append") {
  for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
    CAPTURE(lane);
    Cache whole = make(lane);
    REQUIRE(ok(feed(whole, 0, data(), 0, kTokens, kTokens)));
    const Dump wanted(whole);
    for (const std::uint32_t kept : {299u, 256u, 200u, 128u, 127u, 64u, 45u, 1u, 0u}) {
      CAPTURE(kept);
      Cache cache = make(lane);
      REQUIRE(ok(feed(cache, 0, data(), 0, kTokens, 50)));
      const std::vector<float> before = read(cache, 0, 0, kTokens);
      REQUIRE(ok(cache.truncate(0, kept)));
      const std::vector<float> after = read(cache, 0, 0, kept);
      CHECK(std::equal(after.begin(), after.begin() + kept * kDim, before.begin()));
      CHECK(std::equal(after.begin() + kept * kDim, after.end(), before.begin() + kTokens * kDim));
      REQUIRE(ok(feed(cache, 0, data(), kept, kTokens, 23)));
      // Sealed groups (128 tokens of values) are coded again from what they read as.
      if (lane != kSteps || kept % 128 == 0) CHECK(Dump(cache) == wanted);
    }
  }
}

TEST_CASE("OC-72 reported bytes equal real bytes and the prediction, every family") {
  for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
    CAPTURE(lane);
    CountingMemory memory;
    {
      Cache cache = make(lane, memory.source());
      std::uint32_t done = 0;
      for (const std::uint32_t tokens : {0u, 1u, 31u, 32u, 33u, 100u, 300u}) {
        CAPTURE(tokens);
        REQUIRE(ok(feed(cache, 0, data(), done, tokens, 37)));
        done = tokens;
        const MemoryReport found = cache.memory();
        CHECK(found.total() == memory.bytes());
        MemoryReport wanted = Cache::predict(shape_of(lane), tokens);
        CHECK(found.values == 2ull * tokens * kHeads * kDim);
        const bool spills = lane <= kPerHead || lane == kKvQuant;
        CHECK((found.spill > 0) == (spills && tokens > 0));
        if (spills) {  // spill and its pages depend on the data
          wanted.spill = found.spill;
          wanted.slack = found.slack;
        }
        CHECK(wanted == found);
      }
      REQUIRE(ok(cache.truncate(0, 77)));
      CHECK(cache.memory().total() == memory.bytes());
    }
    CHECK(memory.bytes() == 0);
    CHECK(memory.clean());
  }
}

TEST_CASE("OC-56, OC-59 junk in fresh memory changes nothing, attention is that of what is read") {
  const std::vector<float> queries = test::normal(57, 2 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.group = 2;
  a.scale = 0.158f;
  for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
    CAPTURE(lane);
    for (const std::uint32_t n : {1u, 15u, 17u, 130u, 300u}) {
      CAPTURE(n);
      std::vector<float> out[2];
      for (const bool junk : {false, true}) {
        CountingMemory memory;
        memory.fill(junk ? 0xff : 0x00);
        Cache cache = make(lane, memory.source());
        REQUIRE(ok(feed(cache, 0, data(), 0, n, 100)));
        out[junk].resize(2 * kDim);
        REQUIRE(ok(attend(cache, 0, 1, a, out[junk].data())));
        if (junk) continue;
        Tokens original = data();
        original.keys.resize(n * kHeads * kDim);
        original.values.resize(n * kHeads * kDim);
        const test::AttendErrors errors = test::attend_errors(cache, 0, 1, a, &original);
        CHECK(errors.finite);
        CHECK(errors.kernel <= 1e-5);  // float weights and sums over at most 300 values
        CHECK(errors.excess <= 0.0);
      }
      CHECK(out[0] == out[1]);
    }
  }
}

TEST_CASE("what a lane cannot hold is refused, and nothing changes, every family") {
  for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
    CAPTURE(lane);
    Cache cache = make(lane);
    REQUIRE(ok(feed(cache, 0, data(), 0, 70, 70)));
    const Dump before(cache);
    Tokens large = test::tokens_of(92, 3, kHeads, kDim);
    large.keys[kDim + 3] = -3e38f;  // beyond every format but the raw ones
    CHECK(cache.append(0, large.k(0, 3), large.v(0, 3)) == Status::kRange);
    std::swap(large.keys, large.values);
    CHECK(cache.append(0, large.k(0, 3), large.v(0, 3)) == Status::kRange);
    large.values[kDim + 3] = std::nanf("");
    CHECK(cache.append(0, large.k(0, 3), large.v(0, 3)) == Status::kNonFinite);
    CHECK(cache.tokens(0) == 70);
    CHECK(Dump(cache) == before);
  }
}
