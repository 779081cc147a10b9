#include "kvpleat/cache/kv_cache.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/cache_fixture.h"

using namespace kvpleat;
using test::CountingMemory;
using test::Dump;
using test::feed;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 40;  // short last group of 32, padded tile, RHT of 32 + 8
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kLayers = 2;
using Cache = KvCache<test::Everything<kDim>>;

const test::Profiles& profiles() {
  static const test::Profiles made(kLayers * kHeads, kDim);
  return made;
}
const Tokens& data() {
  static const Tokens made = test::tokens_of(1, 1000, kHeads, kDim, 0.5f, -0.25f);
  return made;
}
CacheShape shape_of(std::uint32_t residual = 0, std::uint32_t sinks = 0) {
  CacheShape shape;
  shape.layers = kLayers;
  shape.kv_heads = kHeads;
  shape.max_tokens = 1000;
  shape.residual = residual;
  shape.sinks = sinks;
  shape.rope = Rope::standard(RopeLayout::kHalves, kDim, 10000.0);
  return shape;
}
Cache make(const CacheShape& shape, const MemorySource& memory = heap_memory()) {
  auto made = Cache::create(shape, profiles().lanes.data(), profiles().lanes.size(), memory);
  REQUIRE(made.error().name() == "");
  REQUIRE(made);
  return std::move(*made);
}
Cache make(std::uint32_t residual = 0, std::uint32_t sinks = 0) {
  return make(shape_of(residual, sinks));
}
struct Read {
  std::vector<float> keys;
  std::vector<float> values;
};
template <class C>
Read read(const C& cache, std::uint32_t layer, std::uint32_t head, std::uint32_t first,
          std::uint32_t n) {
  Read r{std::vector<float>(n * C::kKeyDim), std::vector<float>(n * C::kValueDim)};
  REQUIRE(ok(cache.read(layer, head, first, n, r.keys.data(),
                        C::kValueDim == 0 ? nullptr : r.values.data())));
  return r;
}
bool equal_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}
bool same(const Read& a, const Read& b) {
  return equal_bits(a.keys, b.keys) && equal_bits(a.values, b.values);
}
constexpr bool sealed_by_token(std::uint32_t lane) {
  return lane != test::kInt4Channel && lane != test::kInt2Channel;
}

}  // namespace

TEST_CASE("append granularity does not change a byte, mixed lanes") {
  constexpr std::uint32_t kTokens = 230;
  const std::vector<std::uint8_t> tags = test::random_tags(3, kTokens, test::kRaw + 1);
  for (const std::uint32_t residual : {0u, 16u, 32u}) {
    CAPTURE(residual);
    std::unique_ptr<Dump> first;
    MemoryReport first_memory;
    for (const std::uint32_t step : {1u, 7u, 13u, 64u, kTokens}) {
      CAPTURE(step);
      Cache cache = make(residual, 3);
      REQUIRE(ok(feed(cache, 0, data(), 0, kTokens, step, tags.data())));
      REQUIRE(ok(feed(cache, 1, data(), 5, 5 + kTokens / 2, step, tags.data())));
      REQUIRE(cache.tokens(0) == kTokens);
      CHECK(cache.tail_tokens(0) == residual);
      for (std::uint32_t i = 0; i < kTokens; ++i)
        CHECK(cache.lane(0, 1, i) == (i < 3 ? std::uint8_t{test::kRaw} : tags[i]));
      if (first == nullptr) {
        first = std::make_unique<Dump>(cache);
        first_memory = cache.memory();
        REQUIRE(first->size() > 100000);
      } else {
        CHECK(Dump(cache) == *first);
        CHECK(cache.memory() == first_memory);
      }
    }
  }
}

TEST_CASE("append granularity does not change a byte, every named format") {
  constexpr std::uint32_t kTokens = 140;
  for (std::uint8_t lane = 0; lane <= test::kRaw; ++lane) {
    CAPTURE(lane);
    std::unique_ptr<Dump> first;
    for (const std::uint32_t step : {kTokens, 1u, 7u, 13u, 64u}) {
      CAPTURE(step);
      CacheShape shape = shape_of(16);
      shape.default_lanes = &lane;
      shape.default_lane_count = 1;
      Cache cache = make(shape);
      REQUIRE(ok(feed(cache, 0, data(), 0, kTokens, step)));
      if (first == nullptr) {
        first = std::make_unique<Dump>(cache);
      } else {
        CHECK(Dump(cache) == *first);
      }
    }
  }
}

TEST_CASE("OC-72 reported bytes equal real bytes, to the byte, and the prediction") {
  for (std::uint8_t lane = 0; lane <= test::kRaw; ++lane) {
    CAPTURE(lane);
    for (const std::uint32_t residual : {0u, 32u}) {
      CountingMemory memory;
      {
        CacheShape shape = shape_of(residual, lane % 3u);
        shape.default_lanes = &lane;
        shape.default_lane_count = 1;
        Cache cache = make(shape, memory.source());
        std::uint32_t done = 0;
        for (const std::uint32_t tokens : {0u, 1u, 31u, 32u, 33u, 100u, 1000u}) {
          CAPTURE(tokens);
          for (std::uint32_t l = 0; l < kLayers; ++l) {
            REQUIRE(ok(feed(cache, l, data(), done, tokens, 37)));
            CHECK(cache.memory().total() == memory.bytes());
          }
          done = tokens;
          const MemoryReport found = cache.memory();
          MemoryReport wanted = Cache::predict(shape, tokens);
          CHECK(found.values == 2ull * tokens * kLayers * kHeads * kDim);
          if (lane == test::kOaken) {  // spill and its pages depend on the data
            CHECK(found.slack >= wanted.slack);
            wanted.spill = found.spill;
            wanted.slack = found.slack;
            CHECK((tokens < 100 || found.spill > 0));
          }
          CHECK(wanted == found);
        }
      }
      CHECK(memory.bytes() == 0);
      CHECK(memory.clean());
    }
  }
}

TEST_CASE("memory of a mixture follows every step") {
  CountingMemory memory;
  {
    Cache cache = make(shape_of(16, 2), memory.source());
    const auto tags = test::random_tags(8, 400, test::kRaw + 1);
    const auto check = [&] { CHECK(cache.memory().total() == memory.bytes()); };
    for (std::uint32_t t = 0; t < 400; t += 9) {
      REQUIRE(ok(feed(cache, 0, data(), t, lower_of(t + 9, 400u), 9, tags.data())));
      check();
    }
    for (const std::uint32_t n : {390u, 333u, 332u, 256u, 130u, 64u, 9u, 1u, 0u}) {
      REQUIRE(ok(cache.truncate(0, n)));
      check();
      REQUIRE(ok(feed(cache, 0, data(), n, n + 10, 3, tags.data())));
      check();
    }
    REQUIRE(ok(cache.flush()));
    check();
  }
  CHECK(memory.bytes() == 0);
  CHECK(memory.clean());
}

TEST_CASE("Oaken without outliers: predict is exact") {
  CacheShape shape = shape_of();
  const std::uint8_t lane = test::kOaken;
  shape.default_lanes = &lane;
  shape.default_lane_count = 1;
  Cache cache = make(shape);
  Tokens middle = data();
  for (float& x : middle.keys) x = 0.5f + 0.25f * std::sin(x);
  for (float& x : middle.values) x = -0.5f + 0.25f * std::sin(x);
  for (std::uint32_t l = 0; l < kLayers; ++l) REQUIRE(ok(feed(cache, l, middle, 0, 100, 9)));
  CHECK(cache.memory() == Cache::predict(shape, 100));
  CHECK(cache.memory().spill == 0);
}

TEST_CASE("Oaken: the side data of a token spans its heads") {
  Tokens unlike = data();
  for (std::uint32_t t = 0; t < 80; ++t) {
    for (std::uint32_t c = 0; c < kDim; ++c) {
      unlike.keys[(t * kHeads + t % 2) * kDim + c] *= 6.0f;  // the larger head changes
      unlike.values[(t * kHeads + t % 2) * kDim + c] *= 6.0f;
    }
  }
  Cache cache = make();
  const std::vector<std::uint8_t> tags(80, test::kOaken);
  REQUIRE(ok(feed(cache, 0, unlike, 0, 80, 80, tags.data())));
  for (std::uint32_t t = 0; t < 80; ++t) {
    for (const bool keys : {true, false}) {
      float low = 0.0f;
      float high = 0.0f;
      const float* rows = keys ? unlike.key(t, 0) : unlike.value(t, 0);  // both heads
      for (std::uint32_t i = 0; i < kHeads * kDim; ++i) {
        low = lower_of(low, rows[i]);
        high = upper_of(high, rows[i]);
      }
      // At most a step of a band, no wider than the token, and half-precision side data.
      const float bound = (high - low) / 15.0f + upper_of(-low, high) * 0x1p-9f;
      for (std::uint32_t h = 0; h < kHeads; ++h) {
        const Read r = read(cache, 0, h, t, 1);
        for (std::uint32_t c = 0; c < kDim; ++c)
          CHECK(std::fabs((keys ? r.keys : r.values)[c] - rows[h * kDim + c]) <= bound);
      }
    }
  }
}

TEST_CASE("truncate keeps bits, and a refill gives the bytes of an uncut cache") {
  constexpr std::uint32_t kTokens = 150;
  const auto mixed = test::random_tags(5, kTokens, test::kRaw + 1);
  for (std::uint32_t lane = 0; lane <= test::kRaw + 1; ++lane) {
    CAPTURE(lane);
    const std::vector<std::uint8_t> tags =
        lane <= test::kRaw ? std::vector<std::uint8_t>(kTokens, static_cast<std::uint8_t>(lane))
                           : mixed;
    Cache whole = make();
    REQUIRE(ok(feed(whole, 0, data(), 0, kTokens, kTokens, tags.data())));
    const Dump wanted(whole);
    for (const std::uint32_t n :
         {150u, 149u, 129u, 128u, 127u, 97u, 96u, 65u, 64u, 63u, 45u, 33u, 32u, 31u, 5u, 1u, 0u}) {
      CAPTURE(n);
      Cache cache = make();
      REQUIRE(ok(feed(cache, 0, data(), 0, kTokens, 50, tags.data())));
      REQUIRE(ok(cache.truncate(0, n)));
      CHECK(cache.tokens(0) == n);
      for (std::uint32_t h = 0; h < kHeads; ++h)
        CHECK(same(read(cache, 0, h, 0, n), read(whole, 0, h, 0, n)));
      Cache fresh = make();
      REQUIRE(ok(feed(fresh, 0, data(), 0, n, 50, tags.data())));
      if (lane <= test::kRaw && sealed_by_token(lane)) CHECK(Dump(cache) == Dump(fresh));
      REQUIRE(ok(feed(cache, 0, data(), n, kTokens, 7, tags.data())));
      CHECK(cache.tokens(0) == kTokens);
      if (lane <= test::kRaw && (sealed_by_token(lane) || n % 32 == 0)) {
        CHECK(Dump(cache) == wanted);
      } else {
        // A cut group is coded twice: its values lie within two half steps and the widening of the
        // second range, that is 3/2 steps, of the original. A step is at most 8 / 3 (2 bits, values
        // within +-4.5) plus half-precision side data: bound 3/2 * 9/3 = 4.5.
        for (std::uint32_t t = 0; t < kTokens; ++t) {
          const Read r = read(cache, 0, 1, t, 1);
          for (std::uint32_t c = 0; c < kDim; ++c) {
            CHECK(std::fabs(r.keys[c] - data().key(t, 1)[c]) <= 4.5f);
            CHECK(std::fabs(r.values[c] - data().value(t, 1)[c]) <= 4.5f);
          }
        }
      }
    }
    CHECK(whole.truncate(0, kTokens + 1) == Status::kRange);
    CHECK(whole.truncate(kLayers, 0) == Status::kInvalid);
    CHECK(whole.truncate(1) == Status::kRange);  // layer 1 is empty: layer 0 stays too
    CHECK(whole.tokens(0) == kTokens);
  }
}

TEST_CASE("truncate inside the tail") {
  Cache cache = make(32);
  REQUIRE(ok(feed(cache, 0, data(), 0, 100, 100)));
  const Read before = read(cache, 0, 0, 0, 90);
  REQUIRE(ok(cache.truncate(0, 90)));
  CHECK(cache.tail_tokens(0) == 22);
  CHECK(same(read(cache, 0, 0, 0, 90), before));
  REQUIRE(ok(feed(cache, 0, data(), 90, 100, 3)));
  Cache straight = make(32);
  REQUIRE(ok(feed(straight, 0, data(), 0, 100, 100)));
  CHECK(Dump(cache) == Dump(straight));
}

TEST_CASE("flush compresses the residual; nothing else changes") {
  Cache cache = make(32);
  REQUIRE(ok(feed(cache, 0, data(), 0, 100, 10)));
  REQUIRE(cache.tail_tokens(0) == 32);
  REQUIRE(ok(cache.flush(0)));
  CHECK(cache.tail_tokens(0) == 0);
  CHECK(cache.tokens(0) == 100);
  Cache direct = make(0);
  REQUIRE(ok(feed(direct, 0, data(), 0, 100, 100)));
  CHECK(Dump(cache) == Dump(direct));
  CHECK(cache.flush(kLayers) == Status::kInvalid);
}

TEST_CASE("staged tokens wait, are read as they came, and commit gives the direct bytes") {
  for (const std::uint32_t residual : {0u, 8u}) {
    const std::vector<std::uint8_t> undecided(60, kUndecided);
    const auto tags = test::random_tags(6, 60, test::kRaw + 1);
    Cache cache = make(residual, 2);
    REQUIRE(ok(cache.append(0, data().k(0, 60), data().v(0, 60), {undecided.data()})));
    CHECK(cache.tokens(0) == 60);
    CHECK(cache.tail_tokens(0) == 58);  // two sinks need no decision
    CHECK(cache.lane(0, 0, 1) == test::kRaw);
    CHECK(cache.lane(0, 0, 2) == kUndecided);
    const Read r = read(cache, 0, 1, 10, 1);
    CHECK(std::memcmp(r.keys.data(), data().key(10, 1), kDim * sizeof(float)) == 0);
    REQUIRE(ok(cache.flush(0)));  // stops at the first undecided token
    CHECK(cache.tail_tokens(0) == 58);
    CHECK(cache.commit(0, 59, {tags.data()}) == Status::kRange);
    CHECK(cache.commit(kLayers, 1, {tags.data()}) == Status::kInvalid);
    CHECK(cache.commit(0, 1, {}) == Status::kInvalid);
    CHECK(cache.commit(0, 1, {tags.data(), 1, 1}) == Status::kInvalid);  // a tag per head
    CHECK(cache.commit(0, 1, {undecided.data()}) == Status::kInvalid);
    REQUIRE(ok(cache.commit(0, 20, {tags.data() + 2})));
    CHECK(cache.tail_tokens(0) == 38);
    REQUIRE(ok(cache.commit(0, 38, {tags.data() + 22})));
    CHECK(cache.tail_tokens(0) == residual);
    Cache direct = make(residual, 2);
    REQUIRE(ok(feed(direct, 0, data(), 0, 60, 60, tags.data())));
    CHECK(Dump(cache) == Dump(direct));
  }
}

TEST_CASE("default lanes: one, per layer; a tag that is no lane is refused") {
  const std::uint8_t per_layer[kLayers] = {test::kInt8, test::kInt2};
  CacheShape shape = shape_of();
  shape.default_lanes = per_layer;
  shape.default_lane_count = kLayers;
  Cache cache = make(shape);
  for (std::uint32_t l = 0; l < kLayers; ++l) REQUIRE(ok(feed(cache, l, data(), 0, 10, 10)));
  CHECK(cache.lane(0, 0, 9) == test::kInt8);
  CHECK(cache.lane(1, 1, 9) == test::kInt2);

  const std::uint8_t none = test::kRaw + 1;
  const Dump before(cache);
  CHECK(cache.append(0, data().k(0, 1), data().v(0, 1), {&none}) == Status::kInvalid);
  const std::uint8_t two[2] = {0, 1};
  CHECK(cache.append(0, data().k(0, 1), data().v(0, 1), {two, 1, 1}) == Status::kInvalid);
  CHECK(Dump(cache) == before);
  shape.default_lanes = &none;
  shape.default_lane_count = 1;
  CHECK(Cache::create(shape, profiles().lanes.data(), test::kNamed).error().name() ==
        "default_lanes");
  shape.default_lane_count = kLayers * kHeads;  // not a head-scoped cache
  CHECK(Cache::create(shape, profiles().lanes.data(), test::kNamed).error().name() ==
        "default_lanes");
}

TEST_CASE("shapes and profiles are refused by name") {
  const auto refused = [](auto change) {
    CacheShape shape = shape_of();
    change(shape);
    auto made = Cache::create(shape, profiles().lanes.data(), test::kNamed);
    CHECK_FALSE(made);
    CHECK(Cache::predict(shape, 1) == MemoryReport{});
    return std::string(made.error().name());
  };
  CHECK(refused([](CacheShape& s) { s.layers = 0; }) == "layers");
  CHECK(refused([](CacheShape& s) { s.kv_heads = 0; }) == "kv_heads");
  CHECK(refused([](CacheShape& s) { s.max_tokens = 0; }) == "max_tokens");
  CHECK(refused([](CacheShape& s) { s.max_tokens = ~0ull; }) == "max_tokens");
  CHECK(refused([](CacheShape& s) { s.query_heads = 3; }) == "query_heads");
  CHECK(refused([](CacheShape& s) { s.rope.dims = kDim + 2; }) == "rope");
  std::vector<LaneProfile> wrong = profiles().lanes;
  wrong[test::kOaken] = {};
  CHECK(Cache::create(shape_of(), wrong.data(), wrong.size()).error().name() ==
        "lane12.key.profile");
  wrong = profiles().lanes;
  --wrong[test::kCentered].value_count;
  const auto made = Cache::create(shape_of(), wrong.data(), wrong.size());
  CHECK(made.error().name() == "lane13.value.profile");
  CHECK(made.error().status == Status::kMismatch);
  CHECK(Cache::create(shape_of(), wrong.data(), kLayers + 100).error().name() == "profiles");
}

TEST_CASE("strides and 16-bit input give the bytes of packed floats") {
  constexpr std::size_t kTokens = 70;
  constexpr std::size_t kRow = 3 * kHeads * kDim;
  const auto tags = test::random_tags(9, kTokens, test::kRaw + 1);
  std::vector<float> fused(kTokens * kRow, 1e30f);
  std::vector<float> head_major(kHeads * kTokens * kDim);
  Tokens half = data();
  std::vector<std::uint16_t> bits(kTokens * kHeads * kDim);
  for (std::size_t t = 0; t < kTokens; ++t) {
    for (std::size_t h = 0; h < kHeads; ++h) {
      for (std::size_t c = 0; c < kDim; ++c) {
        fused[t * kRow + kHeads * kDim + h * kDim + c] = data().key(t, h)[c];
        fused[t * kRow + 2 * kHeads * kDim + h * kDim + c] = data().value(t, h)[c];
        head_major[(h * kTokens + t) * kDim + c] = data().key(t, h)[c];
      }
    }
  }
  Cache packed = make(8);
  REQUIRE(ok(feed(packed, 0, data(), 0, kTokens, kTokens, tags.data())));
  Cache strided = make(8);
  const TokenRows k =
      TokenRows(fused.data() + kHeads * kDim, kTokens, kHeads, kDim).strides(kRow, kDim);
  const TokenRows v =
      TokenRows(fused.data() + 2 * kHeads * kDim, kTokens, kHeads, kDim).strides(kRow, kDim);
  REQUIRE(ok(strided.append(0, k, v, {tags.data()})));
  CHECK(Dump(strided) == Dump(packed));
  Cache major = make(8);
  REQUIRE(ok(major.append(
      0, TokenRows(head_major.data(), kTokens, kHeads, kDim).strides(kDim, kTokens * kDim), v,
      {tags.data()})));
  CHECK(Dump(major) == Dump(packed));

  const auto check_bits = [&](auto element, ElementType type) {
    using Element = decltype(element);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const Element e = nearest<Element>(data().keys[i]);
      bits[i] = e.bits;
      half.keys[i] = to_float(e);
    }
    Cache wide = make(8);
    REQUIRE(ok(feed(wide, 0, half, 0, kTokens, kTokens, tags.data())));
    Cache narrow = make(8);
    REQUIRE(ok(narrow.append(0, TokenRows::tagged(bits.data(), type, kTokens, kHeads, kDim),
                             half.v(0, kTokens), {tags.data()})));
    CHECK(Dump(narrow) == Dump(wide));
  };
  check_bits(Half{}, ElementType::kHalf);
  check_bits(BFloat16{}, ElementType::kBFloat16);
}

TEST_CASE("arguments that make no sense are refused and change nothing") {
  Cache cache = make(4);
  REQUIRE(ok(feed(cache, 0, data(), 0, 20, 20)));
  const Dump before(cache);
  const TokenRows k = data().k(20, 5);
  const TokenRows v = data().v(20, 5);
  CHECK(cache.append(kLayers, k, v) == Status::kInvalid);
  CHECK(cache.append(0, k, data().v(20, 4)) == Status::kMismatch);
  CHECK(cache.append(0, TokenRows(data().keys.data(), 5, kHeads + 1, kDim), v) ==
        Status::kMismatch);
  CHECK(cache.append(0, TokenRows(data().keys.data(), 5, kHeads, kDim - 1), v) ==
        Status::kMismatch);
  CHECK(cache.append(0, TokenRows(static_cast<const float*>(nullptr), 5, kHeads, kDim), v) ==
        Status::kInvalid);
  CHECK(cache.append(0,
                     TokenRows(std::span<const float>(data().keys).first(5 * kHeads * kDim - 1), 5,
                               kHeads, kDim),
                     v) == Status::kRange);
  CHECK(cache.append(0, TokenRows(data().keys.data(), 5, kHeads, kDim).strides(~0ull, 1), v) ==
        Status::kRange);
  CHECK(cache.append(0, data().k(0, 981), data().v(0, 981)) == Status::kCapacity);
  CHECK(ok(cache.append(0, TokenRows(static_cast<const float*>(nullptr), 0, kHeads, kDim),
                        TokenRows(static_cast<const float*>(nullptr), 0, kHeads, kDim))));
  float row[kDim];
  CHECK(cache.read(0, kHeads, 0, 1, row, nullptr) == Status::kInvalid);
  CHECK(cache.read(0, 0, 20, 1, row, nullptr) == Status::kRange);
  CHECK(cache.read(0, 0, 1, 0xffffffffu, row, nullptr) == Status::kRange);
  CHECK(Dump(cache) == before);
}

TEST_CASE("non-finite input: refused, or zeros that leave their neighbours alone") {
  constexpr std::size_t kTokens = 70;
  const auto tags = test::random_tags(10, kTokens, test::kRaw + 1);
  Tokens bad = data();
  Tokens zeros = data();
  const float inf = std::numeric_limits<float>::infinity();
  const float values[3] = {inf, -inf, std::numeric_limits<float>::quiet_NaN()};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t t : {3u, 30u, 66u}) {
      const std::size_t at = (t * kHeads + i % kHeads) * kDim + i * 7;
      bad.keys[at] = values[i];
      zeros.keys[at] = 0.0f;
      bad.values[at + 1] = values[i];
      zeros.values[at + 1] = 0.0f;
    }
  }
  Cache refusing = make(16);
  REQUIRE(ok(feed(refusing, 0, data(), 0, 10, 10, tags.data())));
  const Dump before(refusing);
  CHECK(refusing.append(0, bad.k(10, 60), bad.v(10, 60), {tags.data()}) == Status::kNonFinite);
  CHECK(Dump(refusing) == before);
  CHECK(refusing.counters(0).non_finite == 0);
  CHECK(ok(refusing.append(0, bad.k(10, 20), bad.v(10, 20), {tags.data()})));

  CacheShape shape = shape_of(16);
  shape.non_finite = NonFinite::kZero;
  Cache counting = make(shape);
  REQUIRE(ok(feed(counting, 0, bad, 0, kTokens, 9, tags.data())));
  Cache clean = make(shape);
  REQUIRE(ok(feed(clean, 0, zeros, 0, kTokens, 9, tags.data())));
  CHECK(Dump(counting) == Dump(clean));
  CHECK(counting.counters(0).non_finite == 18);
  CHECK(clean.counters(0).non_finite == 0);
}

TEST_CASE("a value that does not fit its lane is refused at every width") {
  for (std::uint8_t lane = 0; lane <= test::kRaw; ++lane) {
    CAPTURE(lane);
    // Largest magnitudes: float takes all, bfloat16 up to 0x1.fep127; half side data 65504; Oaken
    // half of that, because a shift may double it; slots 63 * 65504, but their group's own scale is
    // a half.
    const bool wide = lane == test::kRaw || lane == test::kBF16;
    const float fits = lane == test::kRaw        ? 3.4e38f
                       : lane == test::kBF16     ? 3.38e38f
                       : lane == test::kOaken    ? 32000.0f
                       : lane == test::kCentered ? 60000.0f
                                                 : 65504.0f;
    const float refused = lane == test::kBF16    ? 3.4e38f
                          : lane == test::kOaken ? 33000.0f
                                                 : 131072.0f * 40.0f;
    Cache cache = make();
    Tokens rows = test::tokens_of(4, 40, kHeads, kDim);
    const std::vector<std::uint8_t> tags(40, lane);
    REQUIRE(ok(feed(cache, 0, rows, 0, 8, 8, tags.data())));
    const Dump before(cache);
    for (const float sign : {1.0f, -1.0f}) {
      if (lane != test::kRaw) {
        Tokens far = rows;
        far.keys[(10 * kHeads + 1) * kDim + 3] = sign * refused;
        CHECK(feed(cache, 0, far, 8, 20, 12, tags.data()) == Status::kRange);
        far = rows;
        far.values[(10 * kHeads + 1) * kDim + 3] = sign * refused;
        CHECK(feed(cache, 0, far, 8, 20, 12, tags.data()) == Status::kRange);
        CHECK(Dump(cache) == before);
      }
      Tokens near = rows;
      near.keys[(10 * kHeads + 1) * kDim + 3] = sign * fits;
      near.values[(11 * kHeads + 1) * kDim + 5] = sign * fits;
      Cache taken = make();
      REQUIRE(ok(feed(taken, 0, near, 0, 40, 40, tags.data())));
      const Read r = read(taken, 0, 1, 0, 32);
      for (std::size_t i = 0; i < r.keys.size(); ++i) {
        REQUIRE(std::isfinite(r.keys[i]));
        REQUIRE(std::isfinite(r.values[i]));
      }
      // Half a step of 2 bits of the doubled range at most: 65504 / 3.
      CHECK(std::fabs(r.keys[10 * kDim + 3] - sign * fits) <= (wide ? fits * 0x1p-8f : 22000.0f));
    }
  }
}

TEST_CASE("a phase-centred row is checked at its own position") {
  // mu is large and R(p) turns it: a row equal to mu fits at position 0, where the difference is
  // zero, but not where R(p) mu = -mu for half of the channels that the rotation of signs adds up.
  using Keys = formats::CenteredRotatedKey<16, 4>;
  using Small = KvCache<presets::Single<Keys, formats::F32<16>>>;
  float mean[16];
  for (std::uint32_t c = 0; c < 16; ++c) mean[c] = 30000.0f * random_sign(1, c);
  const LaneProfile profile{mean, 16, nullptr, 0};
  CacheShape shape;
  shape.layers = shape.kv_heads = 1;
  shape.max_tokens = 64;
  const double half_turn[8] = {3.14159265358979, 3.14159265358979, 3.14159265358979,
                               3.14159265358979, 3.14159265358979, 3.14159265358979,
                               3.14159265358979, 3.14159265358979};
  shape.rope = Rope::from_frequencies(RopeLayout::kHalves, 16, half_turn);
  auto made = Small::create(shape, &profile, 1);
  REQUIRE(made);
  const float value[16] = {};
  const TokenRows k(mean, 1, 1, 16);
  const TokenRows v(value, 1, 1, 16);
  CHECK(ok(made->append(0, k, v)));                // position 0: difference 0
  CHECK(made->append(0, k, v) == Status::kRange);  // position 1: 2 mu, rotated to 4 * 60000
  CHECK(made->tokens(0) == 1);
}

TEST_CASE("spill limit: kOutOfSpill leaves everything as it was") {
  CountingMemory memory;
  CacheShape shape = shape_of(8);
  const std::uint8_t lane = test::kOaken;
  shape.default_lanes = &lane;
  shape.default_lane_count = 1;
  shape.spill_bytes = 4000;
  {
    Cache cache = make(shape, memory.source());
    std::uint32_t tokens = 0;
    Status status = Status::kOk;
    while (ok(status)) {
      const Dump before(cache);
      const MemoryReport held = cache.memory();
      const std::size_t bytes = memory.bytes();
      status = cache.append(0, data().k(tokens, 50), data().v(tokens, 50));
      if (ok(status)) {
        tokens += 50;
        continue;
      }
      CHECK(status == Status::kOutOfSpill);
      CHECK(Dump(cache) == before);
      CHECK(cache.memory() == held);
      CHECK(memory.bytes() == bytes);
    }
    CHECK(tokens >= 100);
    CHECK(cache.tokens(0) == tokens);
    CHECK(ok(cache.append(0, data().k(tokens, 1), data().v(tokens, 1))));
    REQUIRE(ok(cache.truncate(0, 10)));
    CHECK(ok(cache.append(0, data().k(10, 50), data().v(10, 50))));
  }
  CHECK(memory.bytes() == 0);
  CHECK(memory.clean());
}

TEST_CASE("failing memory during create: kNoMemory and nothing leaks") {
  bool created = false;
  for (std::uint64_t n = 1; n <= 300 && !created; ++n) {
    CountingMemory memory;
    memory.fail_at(n);
    {
      auto made =
          Cache::create(shape_of(8), profiles().lanes.data(), test::kNamed, memory.source());
      created = static_cast<bool>(made);
      if (!created) CHECK(made.error().status == Status::kNoMemory);
    }
    CHECK(memory.bytes() == 0);
    CHECK(memory.clean());
  }
  CHECK(created);
}

TEST_CASE("failing memory during append: the cache is unchanged, then goes on") {
  const auto tags = test::random_tags(12, 300, test::kRaw + 1);
  for (const std::uint32_t start : {0u, 7u, 100u}) {
    CAPTURE(start);
    bool appended = false;
    std::unique_ptr<Dump> wanted;
    for (std::uint64_t n = 1; n <= 400 && !appended; ++n) {
      CAPTURE(n);
      CountingMemory memory;
      {
        Cache cache = make(shape_of(16, 1), memory.source());
        REQUIRE(ok(feed(cache, 0, data(), 0, 100, 10, tags.data())));
        REQUIRE(ok(cache.truncate(0, start)));  // lanes that were used and are empty again, too
        const Dump before(cache);
        const MemoryReport held = cache.memory();
        const std::size_t bytes = memory.bytes();
        memory.fail_at(n);
        Status status = feed(cache, 0, data(), start, 300, 300, tags.data());
        appended = ok(status);
        if (!appended) {
          CHECK(status == Status::kNoMemory);
          CHECK(Dump(cache) == before);
          CHECK(cache.memory() == held);
          CHECK(memory.bytes() == bytes);
          REQUIRE(ok(feed(cache, 0, data(), start, 300, 300, tags.data())));
        }
        memory.fail_at(0);
        CHECK(cache.memory().total() == memory.bytes());
        if (wanted == nullptr) wanted = std::make_unique<Dump>(cache);
        CHECK(Dump(cache) == *wanted);
      }
      CHECK(memory.bytes() == 0);
      CHECK(memory.clean());
    }
    CHECK(appended);
  }
}

TEST_CASE("failing memory during commit and flush") {
  const auto tags = test::random_tags(13, 90, test::kRaw + 1);
  const std::vector<std::uint8_t> undecided(90, kUndecided);
  for (std::uint64_t n = 1; n <= 20; ++n) {
    CountingMemory memory;
    Cache cache = make(shape_of(16), memory.source());
    REQUIRE(ok(cache.append(0, data().k(0, 90), data().v(0, 90), {undecided.data()})));
    const Dump before(cache);
    memory.fail_at(n);
    CHECK(cache.commit(0, 90, {tags.data()}) == Status::kNoMemory);
    CHECK(Dump(cache) == before);
    CHECK(cache.memory().total() == memory.bytes());
    REQUIRE(ok(cache.commit(0, 90, {tags.data()})));
    const Dump committed(cache);
    memory.fail_at(1);
    if (!ok(cache.flush(0))) CHECK(Dump(cache) == committed);
    memory.fail_at(0);
    REQUIRE(ok(cache.flush(0)));
    CHECK(cache.tail_tokens(0) == 0);
  }
}

// ---- other scopes, elements and kinds of values ----

namespace {

constexpr std::uint32_t kSmall = 16;

struct HeadScoped : CacheTraits<kSmall> {
  using Lanes =
      LaneList<test::Same<formats::Int8<kSmall>>, test::Same<formats::Int4Channel<kSmall>>,
               test::Same<formats::Int2<kSmall>>>;
  static constexpr MapScope kScope = MapScope::kHead;
};
struct SequenceScoped : CacheTraits<kSmall> {
  using Lanes =
      LaneList<test::Same<formats::Int8<kSmall>>, test::Same<formats::Int4Channel<kSmall>>>;
  static constexpr MapScope kScope = MapScope::kSequence;
};
struct HalfRaw : CacheTraits<kSmall> {
  using Lanes = LaneList<test::Same<formats::Int4<kSmall>>>;
  using RawElement = Half;
};
struct BFloatRaw : CacheTraits<kSmall> {
  using Lanes = LaneList<test::Same<formats::Int4<kSmall>>>;
  using RawElement = BFloat16;
};

CacheShape small_shape(std::uint32_t residual = 0) {
  CacheShape shape;
  shape.layers = 2;
  shape.kv_heads = 3;
  shape.max_tokens = 400;
  shape.residual = residual;
  return shape;
}
const Tokens& small_data() {
  static const Tokens made = test::tokens_of(21, 400, 3, kSmall, 0.5f);
  return made;
}

}  // namespace

TEST_CASE("head-scoped maps: heads of one layer in different lanes") {
  const std::uint8_t lanes[6] = {0, 1, 2, 3, 2, 1};  // [layers, kv_heads]
  CountingMemory memory;
  {
    CacheShape shape = small_shape();
    shape.default_lanes = lanes;
    shape.default_lane_count = 6;
    auto made = KvCache<HeadScoped>::create(shape, nullptr, 0, memory.source());
    REQUIRE(made);
    auto& cache = *made;
    for (std::uint32_t l = 0; l < 2; ++l) REQUIRE(ok(feed(cache, l, small_data(), 0, 100, 9)));
    CHECK(cache.memory() == KvCache<HeadScoped>::predict(shape, 100));
    for (std::uint32_t l = 0; l < 2; ++l) {
      for (std::uint32_t h = 0; h < 3; ++h) CHECK(cache.lane(l, h, 50) == lanes[l * 3 + h]);
    }
    // Head 0 of layer 1 is raw: exact. Head 2 of layer 0 has 2 bits: not.
    CHECK(std::memcmp(read(cache, 1, 0, 99, 1).keys.data(), small_data().key(99, 0),
                      kSmall * sizeof(float)) == 0);
    CHECK(std::memcmp(read(cache, 0, 2, 99, 1).keys.data(), small_data().key(99, 2),
                      kSmall * sizeof(float)) != 0);
  }
  CHECK(memory.bytes() == 0);

  // One tag per token and head; splits do not matter; truncate cuts every head at its own slot.
  const auto tags = test::random_tags(31, 300 * 3, 4);
  const auto fill = [&](auto& cache, std::uint32_t first, std::uint32_t end, std::uint32_t step) {
    for (std::uint32_t t = first; t < end; t += step) {
      const std::uint32_t n = lower_of(step, end - t);
      REQUIRE(ok(cache.append(0, small_data().k(t, n), small_data().v(t, n),
                              {tags.data() + t * 3, 3, 1})));
    }
  };
  auto whole = KvCache<HeadScoped>::create(small_shape(8));
  auto steps = KvCache<HeadScoped>::create(small_shape(8));
  fill(*whole, 0, 300, 300);
  fill(*steps, 0, 300, 7);
  CHECK(Dump(*whole) == Dump(*steps));
  const Read before = read(*steps, 0, 2, 0, 133);
  REQUIRE(ok(steps->truncate(0, 133)));
  CHECK(same(read(*steps, 0, 2, 0, 133), before));
  for (std::uint32_t t = 0; t < 133; ++t)
    for (std::uint32_t h = 0; h < 3; ++h) REQUIRE(steps->lane(0, h, t) == tags[t * 3 + h]);
  // Undecided for one head only: refused.
  const std::uint8_t partly[3] = {0, kUndecided, 0};
  CHECK(steps->append(0, small_data().k(0, 1), small_data().v(0, 1), {partly, 3, 1}) ==
        Status::kInvalid);
}

TEST_CASE("sequence scope: layers share their tags") {
  for (const std::uint32_t residual : {0u, 8u}) {
    CAPTURE(residual);
    auto made = KvCache<SequenceScoped>::create(small_shape(residual));
    REQUIRE(made);
    auto& cache = *made;
    const auto tags = test::random_tags(41, 100, 3);
    auto other = tags;
    other[95] = static_cast<std::uint8_t>((other[95] + 1) % 3);
    REQUIRE(ok(feed(cache, 0, small_data(), 0, 100, 9, tags.data())));
    CHECK(cache.append(1, small_data().k(0, 100), small_data().v(0, 100), {other.data()}) ==
          Status::kMismatch);
    CHECK(cache.tokens(1) == 0);
    REQUIRE(ok(feed(cache, 1, small_data(), 0, 50, 50, tags.data())));
    REQUIRE(ok(feed(cache, 1, small_data(), 50, 100, 7)));  // no tags: what layer 0 said
    REQUIRE(ok(cache.flush()));
    for (std::uint32_t t = 0; t < 100; ++t) REQUIRE(cache.lane(1, 2, t) == tags[t]);
    CHECK(same(read(cache, 0, 1, 0, 100), read(cache, 1, 1, 0, 100)));
    // One layer cut: the map stays for the other; then both.
    REQUIRE(ok(cache.truncate(0, 20)));
    CHECK(cache.lane(1, 0, 80) == tags[80]);
    REQUIRE(ok(cache.truncate(1, 30)));
    CHECK(feed(cache, 0, small_data(), 20, 40, 40, tags.data()) == Status::kOk);
    CHECK(same(read(cache, 0, 1, 0, 20), read(cache, 1, 1, 0, 20)));
  }
}

TEST_CASE("raw element half: 16-bit input is exact, splits do not matter") {
  for (const std::uint32_t residual : {0u, 16u}) {
    CountingMemory memory;
    CacheShape shape = small_shape(residual);
    shape.sinks = 4;
    auto a = KvCache<HalfRaw>::create(shape, nullptr, 0, memory.source());
    auto b = KvCache<HalfRaw>::create(shape);
    REQUIRE(a);
    REQUIRE(b);
    REQUIRE(ok(feed(*a, 0, small_data(), 0, 200, 200)));
    REQUIRE(ok(feed(*b, 0, small_data(), 0, 200, 3)));
    CHECK(Dump(*a) == Dump(*b));
    CHECK(a->memory().total() == memory.bytes());
    const Read sinks = read(*a, 0, 1, 0, 4);
    const Read tail = read(*a, 0, 1, 199, 1);
    for (std::uint32_t c = 0; c < kSmall; ++c) {
      CHECK(sinks.keys[c] == to_float(to_half(small_data().key(0, 1)[c])));
      if (residual > 0) CHECK(tail.keys[c] == to_float(to_half(small_data().key(199, 1)[c])));
    }
    Tokens far = small_data();
    far.keys[5] = 65505.0f;
    CHECK(feed(*a, 1, far, 0, 10, 10) == Status::kRange);
    CHECK(a->tokens(1) == 0);
  }
}

TEST_CASE("raw element bfloat16: a value that the tail would round out of its lane is refused") {
  auto made = KvCache<BFloatRaw>::create(small_shape(4));
  REQUIRE(made);
  Tokens flat = small_data();
  for (float& x : flat.keys) x = 65500.0f;  // rounds to 65536, beyond the half side data
  CHECK(feed(*made, 0, flat, 0, 10, 10) == Status::kRange);
  for (float& x : flat.keys) x = 65000.0f;
  REQUIRE(ok(feed(*made, 0, flat, 0, 10, 10)));
  for (const float x : read(*made, 0, 0, 0, 10).keys) CHECK(std::isfinite(x));
}

TEST_CASE("KeyView and NoValue: keys are stored once, values not at all") {
  struct View : CacheTraits<576, 512> {
    using Lanes = LaneList<KV<formats::Int8<576>, KeyView<512>>>;
  };
  struct KeysOnly : CacheTraits<kSmall> {
    using Lanes = LaneList<KV<formats::Int4<kSmall>, NoValue>>;
  };
  CacheShape shape;
  shape.layers = shape.kv_heads = 1;
  shape.max_tokens = 100;
  shape.residual = 4;
  shape.sinks = 1;
  CountingMemory memory;
  auto view = KvCache<View>::create(shape, nullptr, 0, memory.source());
  REQUIRE(view);
  const auto keys = test::normal(61, 50 * 576);
  REQUIRE(ok(view->append(0, TokenRows(keys.data(), 50, 1, 576))));
  CHECK(view->memory().total() == memory.bytes());
  CHECK(view->memory() == KvCache<View>::predict(shape, 50));
  const Read r = read(*view, 0, 0, 0, 50);
  for (std::uint32_t t = 0; t < 50; ++t)
    CHECK(std::memcmp(&r.values[t * 512], &r.keys[t * 576], 512 * sizeof(float)) == 0);
  CHECK(view->append(0, TokenRows(keys.data(), 1, 1, 576), TokenRows(keys.data(), 1, 1, 512)) ==
        Status::kMismatch);

  CountingMemory only_memory;
  auto only = KvCache<KeysOnly>::create(shape, nullptr, 0, only_memory.source());
  REQUIRE(only);
  REQUIRE(ok(only->append(0, TokenRows(keys.data(), 90, 1, kSmall))));
  CHECK(only->memory() == KvCache<KeysOnly>::predict(shape, 90));
  CHECK(only->memory().total() == only_memory.bytes());
  float row[kSmall];
  CHECK(ok(only->read(0, 0, 89, 1, row, nullptr)));
  CHECK(only->read(0, 0, 0, 1, nullptr, row) == Status::kUnsupported);
}

TEST_CASE("a moved cache keeps its bytes; the moved-from one can be destroyed") {
  CountingMemory memory;
  {
    Cache cache = make(shape_of(8), memory.source());
    REQUIRE(ok(feed(cache, 0, data(), 0, 70, 70)));
    const Dump before(cache);
    Cache moved = std::move(cache);
    CHECK(Dump(moved) == before);
    Cache other = make(shape_of(), memory.source());
    other = std::move(moved);
    CHECK(Dump(other) == before);
  }
  CHECK(memory.bytes() == 0);
}

TEST_CASE("two threads work on different layers") {
  const auto tags = test::random_tags(14, 400, test::kRaw + 1);
  Cache alone = make(16, 2);
  for (std::uint32_t l = 0; l < kLayers; ++l)
    REQUIRE(ok(feed(alone, l, data(), l * 50, 400, 11, tags.data())));
  Cache cache = make(16, 2);
  const std::vector<float> query = test::normal(15, kDim);
  bool good[kLayers] = {true, true};
  const auto work = [&](std::uint32_t layer) {
    float out[kDim];
    for (std::uint32_t t = layer * 50; t < 400; t += 11) {
      good[layer] =
          good[layer] && ok(feed(cache, layer, data(), t, lower_of(t + 11, 400u), 11, tags.data()));
      AttendArguments arguments;
      arguments.queries = query.data();
      arguments.scale = 0.1f;
      good[layer] = good[layer] && ok(attend(cache, layer, 1, arguments, out));
      if (t % 3 == 0) {
        good[layer] = good[layer] && ok(cache.truncate(layer, cache.tokens(layer) - 5)) &&
                      ok(feed(cache, layer, data(), cache.tokens(layer) + layer * 50,
                              lower_of(t + 11, 400u), 2, tags.data()));
      }
    }
  };
  std::thread second(work, 1);
  work(0);
  second.join();
  CHECK(good[0]);
  CHECK(good[1]);
  for (std::uint32_t l = 0; l < kLayers; ++l) {
    REQUIRE(cache.tokens(l) == alone.tokens(l));
    CHECK(same(read(cache, l, 0, 0, 30), read(alone, l, 0, 0, 30)));
  }
}

namespace {

struct RawEnds : CacheTraits<32> {
  using Lanes = LaneList<KV<formats::Int4<32>, formats::Int4<32>>>;
  static constexpr bool kRawEnds = true;
};

}  // namespace

TEST_CASE("kRawEnds: the first and the last layer go to the raw lane unless told otherwise") {
  using EndsCache = KvCache<RawEnds>;
  const std::vector<float> rows = test::uniform(91, 70 * 2 * 32);
  const TokenRows tokens(rows.data(), 70, 2, 32);
  CacheShape shape;
  shape.layers = 4;
  shape.kv_heads = 2;
  shape.max_tokens = 128;
  auto made = EndsCache::create(shape);
  REQUIRE(made);
  std::vector<float> back(70 * 32);
  for (std::uint32_t l = 0; l < 4; ++l) {
    REQUIRE(ok(made->append(l, tokens, tokens)));
    const bool raw = l == 0 || l == 3;
    CHECK(made->lane(l, 1, 5) == (raw ? EndsCache::kRawLane : 0u));
    REQUIRE(ok(made->read(l, 1, 0, 70, back.data(), nullptr)));
    bool same = true;
    for (std::uint32_t t = 0; t < 70; ++t) {
      for (std::uint32_t c = 0; c < 32; ++c)
        same = same && back[t * 32 + c] == rows[(t * 2 + 1) * 32 + c];
    }
    CHECK(same == raw);
  }
  CHECK(made->memory() == EndsCache::predict(shape, 70));

  const std::uint8_t lanes[1] = {0};
  shape.default_lanes = lanes;
  shape.default_lane_count = 1;
  auto told = EndsCache::create(shape);
  REQUIRE(told);
  REQUIRE(ok(told->append(0, tokens, tokens)));
  CHECK(told->lane(0, 0, 0) == 0);
}
