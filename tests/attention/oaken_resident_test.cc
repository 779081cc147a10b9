// Caches of Oaken in resident order beside caches of the published bytes: the same values, the same
// attention, bit for bit, whatever was appended, cut and settled before.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"
#include "support/generator.h"

using namespace kvpleat;
using test::feed;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 40;  // a short chunk, a padded tile
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kLayers = 2;

// A lane of Oaken in one order or the other, and one of another format.
template <class Oaken>
struct Mixture : CacheTraits<kDim> {
  using Store = UnitStore;
  using Lanes = LaneList<test::Same<Oaken>, test::Same<formats::Int8<kDim>>>;
};
template <class F>
struct Alone : CacheTraits<kDim> {
  using Store = UnitStore;
  using Lanes = LaneList<test::Same<F>>;
};
using Published = KvCache<Mixture<formats::Oaken<kDim>>>;
using Resident = KvCache<Mixture<formats::OakenJds16<kDim>>>;

const test::Profiles& profiles() {
  static const test::Profiles made(kLayers * kHeads, kDim);
  return made;
}
const Tokens& data() {
  static const Tokens made = test::tokens_of(11, 900, kHeads, kDim, 0.25f, -0.125f);
  return made;
}
CacheShape shape_of(std::uint32_t sinks, std::uint32_t residual) {
  CacheShape shape;
  shape.layers = kLayers;
  shape.kv_heads = kHeads;
  shape.max_tokens = 2000;
  shape.sinks = sinks;
  shape.residual = residual;
  return shape;
}
template <class Cache>
Cache make(const CacheShape& shape, const MemorySource& memory = heap_memory()) {
  const LaneProfile lane = profiles().oaken();
  auto made = Cache::create(shape, &lane, 1, memory);
  REQUIRE(made);
  return std::move(*made);
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
// Everything that is read of a layer, then attention of three queries over it.
template <class Cache>
std::vector<float> seen(const Cache& cache, std::uint32_t layer) {
  std::vector<float> all;
  const std::uint32_t n = cache.tokens(layer);
  const std::vector<float> queries = test::normal(12, 3 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.group = 3;
  a.scale = 0.15f;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    std::vector<float> rows(2 * n * kDim + 3 * kDim + 3);
    float* out = rows.data() + 2 * n * kDim;
    CHECK(ok(cache.read(layer, h, 0, n, rows.data(), rows.data() + n * kDim)));
    CHECK(ok(attend(cache, layer, h, a, out, out + 3 * kDim)));
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

// Random appends of 1 to 90 tokens in random lanes, cuts and flushes.
void random_operations(std::uint32_t seed, std::uint32_t sinks, std::uint32_t residual) {
  CAPTURE(seed);
  test::CountingMemory memory;
  {
    const CacheShape shape = shape_of(sinks, residual);
    auto published = make<Published>(shape);
    auto resident = make<Resident>(shape, memory.source());
    test::Generator generator(seed);
    std::uint32_t next = 0;
    for (int step = 0; step < 60; ++step) {
      CAPTURE(step);
      const std::uint32_t layer = generator.below(kLayers);
      const std::uint32_t total = published.tokens(layer);
      const std::uint32_t what = generator.below(8);
      if (what < 5) {
        const std::uint32_t n = 1 + generator.below(what == 0 ? 90 : 20);
        const auto tags = test::random_tags(seed + next, n, 5);
        std::vector<std::uint8_t> lanes;
        for (const std::uint8_t tag : tags) lanes.push_back(tag == 4 ? 1 : 0);
        next = (next + n) % 800;
        const Status a =
            published.append(layer, data().k(next, n), data().v(next, n), {lanes.data()});
        const Status b =
            resident.append(layer, data().k(next, n), data().v(next, n), {lanes.data()});
        REQUIRE(ok(a));
        REQUIRE(ok(b));
      } else if (what < 7) {
        const std::uint32_t n = total - generator.below(lower_of(total, 150u) + 1);
        REQUIRE(ok(published.truncate(layer, n)));
        REQUIRE(ok(resident.truncate(layer, n)));
      } else {
        REQUIRE(ok(published.flush()));
        REQUIRE(ok(resident.flush()));
      }
      CHECK(resident.tokens(layer) == published.tokens(layer));
      CHECK(same(seen(resident, layer), seen(published, layer)));
      CHECK(resident.memory().total() == memory.bytes());
      CHECK(resident.memory().spill == 2 * published.memory().spill);
    }
    CHECK(resident.tokens(0) + resident.tokens(1) > 100);
  }
  CHECK(memory.bytes() == 0);
  CHECK(memory.clean());
}

}  // namespace

TEST_CASE("resident caches read and attend as published ones do, after any operations") {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) random_operations(seed, 0, 0);
  random_operations(5, 3, 20);
}

TEST_CASE("resident: the same bytes token by token, at once, and after cuts") {
  const auto make_one = [] { return make<Resident>(shape_of(0, 0)); };
  auto at_once = make_one();
  REQUIRE(ok(feed(at_once, 0, data(), 0, 300, 300)));
  auto one_by_one = make_one();
  REQUIRE(ok(feed(one_by_one, 0, data(), 0, 300, 1)));
  CHECK(test::Dump(one_by_one) == test::Dump(at_once));
  auto cut = make_one();
  REQUIRE(ok(feed(cut, 0, data(), 0, 300, 29)));
  for (const std::uint32_t n : {299u, 290u, 257u, 256u, 200u, 129u, 128u, 79u, 16u, 1u, 0u}) {
    CAPTURE(n);
    REQUIRE(ok(cut.truncate(0, n)));
    auto never = make_one();
    REQUIRE(ok(feed(never, 0, data(), 0, n, 64)));
    CHECK(test::Dump(cut) == test::Dump(never));
    REQUIRE(ok(feed(cut, 0, data(), n, 300, 17)));
    CHECK(test::Dump(cut) == test::Dump(at_once));
  }
}

TEST_CASE("resident: memory is what was predicted, spill apart, which depends on the data") {
  test::CountingMemory memory;
  const CacheShape shape = shape_of(0, 16);
  auto cache = make<Resident>(shape, memory.source());
  std::uint32_t done = 0;
  for (const std::uint32_t tokens : {0u, 1u, 63u, 64u, 80u, 500u}) {
    CAPTURE(tokens);
    for (std::uint32_t l = 0; l < kLayers; ++l)
      REQUIRE(ok(feed(cache, l, data(), done, tokens, 37)));
    done = tokens;
    const MemoryReport found = cache.memory();
    MemoryReport wanted = Resident::predict(shape, tokens);
    CHECK(found.total() == memory.bytes());
    CHECK(found.slack >= wanted.slack);
    CHECK((tokens <= 16 || found.spill > 0));
    wanted.spill = found.spill;
    wanted.slack = found.slack;
    CHECK(found == wanted);
  }
  // Without outliers the prediction is exact.
  Tokens middle = data();
  for (float& x : middle.keys) x = 0.5f + 0.25f * std::sin(x);
  for (float& x : middle.values) x = -0.5f + 0.25f * std::sin(x);
  auto plain = make<Resident>(shape);
  for (std::uint32_t l = 0; l < kLayers; ++l) REQUIRE(ok(feed(plain, l, middle, 0, 300, 9)));
  CHECK(plain.memory() == Resident::predict(shape, 300));
  CHECK(plain.memory().spill == 0);
}

TEST_CASE("resident: nothing but outliers fills pages of two and of three bytes each") {
  // 64 tokens of 40 outliers: 5120 and 7680 bytes in one run, more than the page asked for.
  const auto check = []<class F>(std::uint32_t entry_bytes) {
    static_assert(64 * kDim * 2 > UnitStore::kSpillPageBytes);
    test::CountingMemory memory;
    {
      CacheShape shape = shape_of(0, 0);
      shape.max_tokens = 200;  // and the limit of the spill holds just that
      auto cache = make<KvCache<Alone<F>>>(shape, memory.source());
      Tokens outer = data();
      for (float& x : outer.keys) x = std::copysign(std::fabs(x) + 2.0f, x);
      for (float& x : outer.values) x = std::copysign(std::fabs(x) + 2.0f, x);
      for (std::uint32_t l = 0; l < kLayers; ++l) REQUIRE(ok(feed(cache, l, outer, 0, 200, 33)));
      CHECK(cache.memory().spill == 2ull * kLayers * kHeads * 200 * kDim * entry_bytes);
      CHECK(cache.memory().total() == memory.bytes());
    }
    CHECK(memory.bytes() == 0);
    CHECK(memory.clean());
  };
  check.operator()<formats::OakenJds16<kDim>>(2);
  check.operator()<formats::OakenCoo23<kDim>>(3);
}

TEST_CASE("resident: attention against the original rows") {
  auto cache = make<Resident>(shape_of(0, 0));
  REQUIRE(ok(feed(cache, 0, data(), 0, 200, 50)));
  const std::vector<float> queries = test::normal(13, 4 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.group = 4;
  a.scale = 0.15f;
  AttendReport report;
  a.report = &report;
  a.strict = true;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    const test::AttendErrors errors = test::attend_errors(cache, 0, h, a, &data());
    CHECK(errors.finite);
    CHECK(errors.kernel <= 1e-4);  // derived in attend_test.cc
    CHECK(errors.excess <= 0.0);
    CHECK(test::worst_over_bound<true>(cache, 0, h, data()) <= 1.0);
    CHECK(test::worst_over_bound<false>(cache, 0, h, data()) <= 1.0);
  }
  CHECK(report.key[0] == Path::kReference);
}

TEST_CASE("presets of resident order") {
  static_assert(std::is_same_v<presets::OakenJds16<64>::Lanes,
                               LaneList<test::Same<formats::OakenJds16<64>>>>);
  static_assert(std::is_same_v<presets::Oaken2_96_2<128>::Lanes,
                               LaneList<test::Same<formats::OakenJds16<128>>>>);
  CHECK(presets::OakenJds16<64>::kKeyDim == 64);
}
