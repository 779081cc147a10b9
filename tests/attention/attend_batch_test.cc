#include "kvpleat/attention/attend_batch.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/cache_fixture.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 16;
using Traits = presets::Kivi4<kDim>;
using Cache = KvCache<Traits>;

Cache make(std::uint32_t tokens, std::uint32_t heads, std::uint32_t seed = 5) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = heads;
  shape.max_tokens = 300;
  shape.sinks = 2;
  auto made = Cache::create(shape);
  REQUIRE(made);
  const test::Tokens data = test::tokens_of(seed, tokens, heads, kDim);
  REQUIRE(ok(test::feed(*made, 0, data, 0, tokens, 33)));
  return std::move(*made);
}

// Backwards, on two threads.
struct TwoThreads {
  std::atomic<std::size_t> calls{0};
  template <class Body>
  void run(std::size_t n, const Body& body) {
    const auto half = [&](std::size_t parity) {
      for (std::size_t i = n; i-- > 0;) {
        if (i % 2 != parity) continue;
        body(i);
        ++calls;
      }
    };
    std::thread other(half, 1);
    half(0);
    other.join();
  }
};

bool equal(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("attend_batch over ragged items equals single calls, to the bit") {
  const std::uint32_t tokens[4] = {100, 17, 1, 200};
  const std::uint32_t rows[4] = {1, 17, 1, 64};
  std::vector<Cache> caches;
  for (const std::uint32_t n : tokens) caches.push_back(make(n, 2, n));
  const std::vector<float> queries = test::normal(41, 64 * 3 * kDim);
  std::vector<IndexRange> limits[4];
  std::vector<float> wanted[4];
  std::vector<float> out[4];
  std::vector<float> sums[4];
  std::vector<AttendItem<Traits>> items(4);
  for (std::size_t i = 0; i < 4; ++i) {
    limits[i].resize(rows[i]);
    causal_limits(tokens[i], rows[i], limits[i].data());
    wanted[i].resize(rows[i] * 3 * kDim);
    out[i].resize(wanted[i].size());
    sums[i].resize(rows[i] * 3);
    items[i].cache = &caches[i];
    items[i].head = i % 2;
    items[i].arguments.queries = queries.data();
    items[i].arguments.rows = rows[i];
    items[i].arguments.group = 3;
    items[i].arguments.scale = 0.25f;
    items[i].arguments.limits = limits[i].data();
    items[i].out = out[i].data();
    items[i].log_sums = sums[i].data();
    REQUIRE(ok(attend(caches[i], 0, items[i].head, items[i].arguments, wanted[i].data())));
  }
  Sequential here;
  REQUIRE(ok(attend_batch(items.data(), 4, here)));
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(equal(out[i], wanted[i]));
    CHECK(sums[i].back() != 0.0f);
    std::fill(out[i].begin(), out[i].end(), 0.0f);
  }
  TwoThreads threads;
  REQUIRE(ok(attend_batch(items.data(), 4, threads)));
  CHECK(threads.calls == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(equal(out[i], wanted[i]));
  REQUIRE(ok(attend_batch(items.data(), 0, here)));
  REQUIRE(ok(attend_batch<void, Traits>(nullptr, 0, here)));

  // One bad item: nothing is computed.
  for (auto& o : out) std::fill(o.begin(), o.end(), 5.0f);
  items[3].head = 2;
  CHECK(attend_batch(items.data(), 4, threads) == Status::kInvalid);
  items[3].head = 1;
  items[2].cache = nullptr;
  CHECK(attend_batch(items.data(), 4, threads) == Status::kInvalid);
  items[2].cache = &caches[2];
  items[3].out = nullptr;
  CHECK(attend_batch(items.data(), 4, threads) == Status::kInvalid);
  CHECK(attend_batch<void, Traits>(nullptr, 1, here) == Status::kInvalid);
  CHECK(threads.calls == 4);
  for (const auto& o : out) {
    for (const float x : o) REQUIRE(x == 5.0f);
  }
}

TEST_CASE("attend_layer equals single calls per head, to the bit") {
  constexpr std::uint32_t kTokens = 150;
  for (const auto& sizes : {std::pair{3u, 6u}, {1u, 1u}, {2u, 10u}, {1u, 20u}}) {
    const std::uint32_t kv_heads = sizes.first;
    const std::uint32_t query_heads = sizes.second;
    CAPTURE(query_heads);
    const std::uint32_t group = query_heads / kv_heads;
    const Cache cache = make(kTokens, kv_heads);
    for (const std::uint32_t rows : {1u, 5u, 19u}) {
      CAPTURE(rows);
      const std::uint32_t total = rows * query_heads;
      const std::vector<float> queries = test::normal(42, total * kDim);
      std::vector<float> sinks = test::normal(43, query_heads);
      std::vector<std::uint8_t> mask = test::random_tags(44, total * kTokens, 2);
      std::vector<IndexRange> limits(rows);
      causal_limits(kTokens, rows, limits.data());
      const IndexRange ranges[2] = {{0, 50}, {50, 150}};
      for (const bool packed : {false, true}) {
        CAPTURE(packed);
        std::vector<float> mass(total * 2);
        std::vector<float> largest(total);
        std::vector<std::uint32_t> visible(total);
        AttentionStatistics statistics;
        statistics.ranges = ranges;
        statistics.range_count = 2;
        statistics.mass = mass.data();
        statistics.largest = largest.data();
        statistics.visible = visible.data();
        AttendReport report;
        AttendArguments a;
        a.queries = queries.data();
        a.rows = rows;
        a.group = 99;  // not read
        a.scale = 0.25f;
        a.limits = limits.data();
        a.report = &report;
        if (packed) {
          a.mask = mask.data();
          a.mask_tokens = kTokens;
          a.statistics = &statistics;
        }
        std::vector<float> out(total * kDim);
        std::vector<float> sums(total);
        TwoThreads threads;
        REQUIRE(ok(attend_layer(cache, 0, query_heads, a, out.data(), sums.data(), threads,
                                LearnedSink{sinks.data()})));
        CHECK(report.key[0] == Path::kReference);
        for (std::uint32_t r = 0; r < rows; ++r) {
          for (std::uint32_t q = 0; q < query_heads; ++q) {
            const std::uint32_t at = r * query_heads + q;
            AttendArguments one;
            one.queries = queries.data() + at * kDim;
            one.scale = 0.25f;
            one.limits = &limits[r];
            if (packed) {
              one.mask = mask.data() + at * kTokens;
              one.mask_tokens = kTokens;
            }
            float wanted[kDim];
            float wanted_sum = 0.0f;
            float wanted_mass[2];
            std::uint32_t wanted_visible = 0;
            AttentionStatistics own;
            own.ranges = ranges;
            own.range_count = 2;
            own.mass = wanted_mass;
            own.visible = &wanted_visible;
            one.statistics = packed ? &own : nullptr;
            REQUIRE(
                ok(attend(cache, 0, q / group, one, wanted, &wanted_sum, LearnedSink{&sinks[q]})));
            CHECK(std::memcmp(wanted, &out[at * kDim], sizeof wanted) == 0);
            CHECK(wanted_sum == sums[at]);
            if (!packed) continue;
            CHECK(std::memcmp(wanted_mass, &mass[at * 2], sizeof wanted_mass) == 0);
            CHECK(wanted_visible == visible[at]);
          }
        }
        std::vector<float> without(total * kDim);
        Sequential here;
        REQUIRE(ok(attend_layer(cache, 0, query_heads, a, without.data(), nullptr, here,
                                LearnedSink{sinks.data()})));
        CHECK(equal(without, out));
      }
    }
  }
}

TEST_CASE("attend_layer refuses what does not fit") {
  const Cache cache = make(20, 4);
  const std::vector<float> queries = test::normal(42, 16 * kDim);
  std::vector<float> out(16 * kDim, 5.0f);
  Sequential here;
  AttendArguments a;
  a.queries = queries.data();
  CHECK(attend_layer(cache, 0, 10, a, out.data(), nullptr, here) == Status::kMismatch);
  CHECK(attend_layer(cache, 0, 0, a, out.data(), nullptr, here) == Status::kInvalid);
  CHECK(attend_layer(cache, 1, 8, a, out.data(), nullptr, here) == Status::kInvalid);
  CHECK(attend_layer(cache, 0, 8, a, nullptr, nullptr, here) == Status::kInvalid);
  a.rows = 0;
  CHECK(ok(attend_layer(cache, 0, 8, a, nullptr, nullptr, here)));
  for (const float x : out) REQUIRE(x == 5.0f);
}
