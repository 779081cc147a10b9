// Open cases, group C: append, residual window, growth; of group D cropping (OC-41, OC-42), of F
// peak memory (OC-73), of H and I independent threads (OC-86) and refusals (OC-97). OC-39: rows of
// a batch are caches of their own here. OC-72 stands with the tests of KvCache.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
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

constexpr std::uint32_t kDim = 64;
using Four = presets::Int4Channel<kDim>;  // groups of 32 along tokens, keys and values
using Two = presets::Int2Channel<kDim>;

CacheShape shape_of(std::uint32_t heads, std::uint64_t tokens, std::uint32_t residual = 0) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = heads;
  shape.max_tokens = tokens;
  shape.residual = residual;
  return shape;
}
template <class Traits>
KvCache<Traits> make(const CacheShape& shape, const MemorySource& memory = heap_memory()) {
  auto made = KvCache<Traits>::create(shape, nullptr, 0, memory);
  REQUIRE(made);
  return std::move(*made);
}
Tokens uniform_tokens(std::uint32_t seed, std::size_t n, std::uint32_t heads) {
  return {heads, kDim, kDim, test::uniform(seed, n * heads * kDim),
          test::uniform(seed + 500, n * heads * kDim)};
}
template <class Cache>
std::vector<float> read_keys(const Cache& cache, std::uint32_t head, std::uint32_t first,
                             std::uint32_t n) {
  std::vector<float> rows(n * kDim);
  REQUIRE(ok(cache.read(0, head, first, n, rows.data(), nullptr)));
  return rows;
}
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}
// Half a step of values in [-1, 1) plus half-precision side data.
constexpr float half_step(float levels) {
  return 1.0f / levels + 0x1p-8f;
}

template <class Traits>
void granularity(float levels) {
  const Tokens data = uniform_tokens(30, 200, 2);
  std::unique_ptr<Dump> first;
  for (int split = 0; split < 4; ++split) {
    CAPTURE(split);
    CountingMemory memory;
    auto cache = make<Traits>(shape_of(2, 200, 32), memory.source());
    std::vector<std::uint32_t> steps;
    if (split == 0) steps.assign(200, 1);
    if (split == 1) steps = {200};
    if (split == 2) steps = {7, 13, 180};
    if (split == 3) steps.assign(169, 1), steps[0] = 32;
    std::uint32_t at = 0;
    for (const std::uint32_t n : steps) {
      REQUIRE(ok(cache.append(0, data.k(at, n), data.v(at, n))));
      at += n;
    }
    REQUIRE(cache.tokens(0) == 200);
    CHECK(cache.memory().total() == memory.bytes());
    if (first == nullptr) first = std::make_unique<Dump>(cache);
    CHECK(Dump(cache) == *first);
    // 168 tokens left the residual: five groups of 32 are quantised, 8 wait.
    float worst = 0.0f;
    for (std::uint32_t t = 0; t < 200; ++t) {
      const std::vector<float> row = read_keys(cache, 1, t, 1);
      for (std::uint32_t c = 0; c < kDim; ++c) {
        const float error = std::fabs(row[c] - data.key(t, 1)[c]);
        CHECK(error <= (t < 160 ? half_step(levels) : 0.0f));
        worst = upper_of(worst, error);
      }
    }
    CHECK(worst > 0.2f / levels);
  }
}

}  // namespace

TEST_CASE("OC-35 one token at a time equals one big append") {
  granularity<Four>(15.0f);
  granularity<Two>(3.0f);
}

TEST_CASE("OC-36 the full-precision window stays bounded") {
  const Tokens data = uniform_tokens(36, 128, 1);
  CountingMemory memory;
  auto cache = make<Four>(shape_of(1, 5000, 64), memory.source());
  std::size_t at_1000 = 0;
  bool bounded = true;
  bool counted = true;
  for (std::uint32_t t = 0; t < 5000; ++t) {
    REQUIRE(ok(cache.append(0, data.k(t % 128, 1), data.v(t % 128, 1))));
    const MemoryReport report = cache.memory();
    const std::size_t open = report.open_groups / (2 * kDim * sizeof(float));
    bounded = bounded && cache.tail_tokens(0) + open <= 64 + 31;
    counted = counted && report.total() == memory.bytes();
    if (t == 999) at_1000 = report.total();
  }
  CHECK(bounded);
  CHECK(counted);
  // 4000 more tokens at 2 * 64 * 5 bits and block tables of 4 bytes per 64, within two slabs.
  const double grown = static_cast<double>(cache.memory().total() - at_1000);
  CHECK(grown <= 4000.0 * 2 * kDim * 5 / 8 * 1.01 + 2 * 70000.0);
}

TEST_CASE("OC-37 zero-length append and empty batch") {
  auto cache = make<Four>(shape_of(2, 10));
  const Tokens data = uniform_tokens(37, 1, 2);
  const Dump empty(cache);
  const TokenRows none(static_cast<const float*>(nullptr), 0, 2, kDim);
  const MemoryReport held = cache.memory();
  CHECK(ok(cache.append(0, none, none)));
  CHECK(ok(cache.append(0, data.k(0, 0), data.v(0, 0))));
  CHECK(ok(cache.append(0, TokenRows{}, TokenRows{})));
  CHECK(cache.memory() == held);
  CHECK(Dump(cache) == empty);
  CHECK(ok(cache.read(0, 0, 0, 0, nullptr, nullptr)));
  const TokenRows null(static_cast<const float*>(nullptr), 1, 2, kDim);
  CHECK(cache.append(0, null, data.v(0, 1)) == Status::kInvalid);
  CHECK(cache.append(0, data.k(0, 1), null) == Status::kInvalid);
  CHECK(cache.append(0, null, null) == Status::kInvalid);
  CHECK(Dump(cache) == empty);
  CHECK(ok(cache.append(0, data.k(0, 1), data.v(0, 1))));
  CHECK(cache.tokens(0) == 1);
  AttendArguments a;  // an empty batch of queries
  a.rows = 0;
  CHECK(ok(attend(cache, 0, 0, a, nullptr)));
}

TEST_CASE("OC-38 exactly full, one too many, and failed allocation") {
  const Tokens data = uniform_tokens(38, 101, 2);
  for (const std::uint32_t capacity : {100u, 97u}) {
    auto cache = make<Four>(shape_of(2, capacity));
    REQUIRE(ok(feed(cache, 0, data, 0, capacity - 1, capacity)));
    REQUIRE(ok(feed(cache, 0, data, capacity - 1, capacity, 1)));
    const Dump full(cache);
    const MemoryReport held = cache.memory();
    CHECK(feed(cache, 0, data, capacity, capacity + 1, 1) == Status::kCapacity);
    CHECK(Dump(cache) == full);
    CHECK(cache.memory() == held);
    CHECK(cache.tokens(0) == capacity);
  }
  for (std::uint64_t n = 1; n <= 20; ++n) {
    CountingMemory memory;
    {
      auto cache = make<Four>(shape_of(2, 100, 8), memory.source());
      const Dump before(cache);
      const std::size_t bytes = memory.bytes();
      memory.fail_at(n);
      const Status status = feed(cache, 0, data, 0, 100, 100);
      if (!ok(status)) {
        CHECK(status == Status::kNoMemory);
        CHECK(Dump(cache) == before);
        CHECK(memory.bytes() == bytes);
        CHECK(ok(feed(cache, 0, data, 0, 100, 100)));
      } else {
        CHECK(n > 8);
      }
    }
    CHECK(memory.bytes() == 0);
    CHECK(memory.clean());
  }
}

TEST_CASE("OC-39 rows leave the batch in any order") {
  const std::uint32_t lengths[4] = {50, 20, 35, 10};
  CountingMemory engine;
  std::vector<std::optional<KvCache<Four>>> batch(4);
  std::vector<Tokens> data;
  for (std::size_t i = 0; i < 4; ++i) {
    data.push_back(uniform_tokens(39 + static_cast<std::uint32_t>(i), 80, 2));
    batch[i].emplace(make<Four>(shape_of(2, 80, 8), engine.source()));
    REQUIRE(ok(feed(*batch[i], 0, data[i], 0, lengths[i], 11)));
  }
  const std::uint32_t length = batch[2]->tokens(0);
  batch[0].reset();
  for (std::uint32_t t = 0; t < 12; ++t) {
    for (std::size_t i = 1; i < 4; ++i)
      REQUIRE(ok(feed(*batch[i], 0, data[i], lengths[i] + t, lengths[i] + t + 1, 1)));
  }
  CHECK(length == 35);
  batch[2].reset();
  for (const std::size_t i : {1u, 3u}) {
    auto alone = make<Four>(shape_of(2, 80, 8));
    REQUIRE(ok(feed(alone, 0, data[i], 0, lengths[i] + 12, 80)));
    CHECK(Dump(*batch[i]) == Dump(alone));
  }
}

TEST_CASE("OC-41 crop in the middle of a packed group") {
  const Tokens data = uniform_tokens(31, 70, 1);
  const Tokens more = uniform_tokens(32, 40, 1);
  for (const std::uint32_t n : {70u, 69u, 64u, 63u, 45u, 32u, 31u, 1u, 0u}) {
    CAPTURE(n);
    auto cache = make<Four>(shape_of(1, 200));
    REQUIRE(ok(feed(cache, 0, data, 0, 70, 70)));
    const std::vector<float> before = read_keys(cache, 0, 0, n);
    const Dump whole(cache);
    CHECK(cache.truncate(0, 71) == Status::kRange);
    CHECK(Dump(cache) == whole);
    REQUIRE(ok(cache.truncate(0, n)));
    if (n == 70) CHECK(Dump(cache) == whole);
    CHECK(same_bits(read_keys(cache, 0, 0, n), before));
    REQUIRE(ok(feed(cache, 0, more, 0, 40, 7)));
    CHECK(cache.tokens(0) == n + 40);
    for (std::uint32_t t = 0; t < n + 40; ++t) {
      const std::vector<float> row = read_keys(cache, 0, t, 1);
      const float* wanted = t < n ? data.key(t, 0) : more.key(t - n, 0);
      for (std::uint32_t c = 0; c < kDim; ++c) {
        // Kept tokens of the cut group may be coded twice: one more half step.
        const float halves = t < n && t >= n / 32 * 32 ? 2.0f : 1.0f;
        CHECK(std::fabs(row[c] - wanted[c]) <= halves * half_step(15.0f));
      }
    }
  }
}

TEST_CASE("OC-42 many draft-and-reject rounds") {
  const Tokens data = uniform_tokens(43, 400, 1);
  // With a residual of a draft's length no packed group is ever cut. Without one, a group that a
  // draft completes is cut and coded again; each such cut may add a half step, and the drafts of
  // this case cut one group up to three times.
  for (const std::uint32_t residual : {5u, 0u}) {
    CAPTURE(residual);
    std::vector<std::uint32_t> kept;
    std::vector<std::uint32_t> cuts(20);
    const auto run = [&] {
      auto cache = make<Four>(shape_of(1, 400, residual));
      kept.clear();
      cuts.assign(20, 0);
      for (std::uint32_t round = 0; round < 50; ++round) {
        const std::uint32_t before = cache.tokens(0);
        REQUIRE(ok(cache.append(0, data.k(round * 5, 5), data.v(round * 5, 5))));
        const std::uint32_t k = (round + 2) % 6;
        const std::uint32_t sealed = (before + 5 - cache.tail_tokens(0)) / 32 * 32;
        if (before + k < sealed && (before + k) % 32 != 0) ++cuts[(before + k) / 32];
        REQUIRE(ok(cache.truncate(0, before + k)));
        for (std::uint32_t i = 0; i < k; ++i) kept.push_back(round * 5 + i);
      }
      return cache;
    };
    const auto cache = run();
    CHECK(Dump(run()) == Dump(cache));
    auto straight = make<Four>(shape_of(1, 400, residual));
    for (const std::uint32_t t : kept) REQUIRE(ok(straight.append(0, data.k(t, 1), data.v(t, 1))));
    REQUIRE(straight.tokens(0) == cache.tokens(0));
    const std::uint32_t total = cache.tokens(0);
    for (std::uint32_t t = 0; t < total; ++t) {
      const std::vector<float> a = read_keys(cache, 0, t, 1);
      const std::vector<float> b = read_keys(straight, 0, t, 1);
      if (residual > 0) CHECK(cuts[t / 32] == 0);
      if (cuts[t / 32] == 0) CHECK(same_bits(a, b));
      CHECK(cuts[t / 32] <= 3);
      const float halves = 1.0f + static_cast<float>(cuts[t / 32]);
      for (std::uint32_t c = 0; c < kDim; ++c) {
        CHECK(std::fabs(a[c] - data.key(kept[t], 0)[c]) <= halves * half_step(15.0f));
        CHECK(std::fabs(b[c] - data.key(kept[t], 0)[c]) <= half_step(15.0f));
      }
    }
  }
}

TEST_CASE("OC-73 peak memory while compressing") {
  // A quarter of the case's size; the long twin has all of it.
  CountingMemory memory;
  CacheShape shape = shape_of(8, 8192 + 1);
  auto cache = make<presets::Int4<128>>(shape, memory.source());
  const std::vector<float> rows = test::normal(73, 512 * 8 * 128);
  const TokenRows chunk(rows.data(), 512, 8, 128);
  for (std::uint32_t i = 0; i < 16; ++i) REQUIRE(ok(cache.append(0, chunk, chunk)));
  REQUIRE(ok(cache.append(0, chunk.part(0, 1), chunk.part(0, 1))));
  const std::uint64_t calls = memory.calls();
  memory.reset_peak();
  AttendArguments a;
  a.queries = rows.data();
  float out[128];
  REQUIRE(ok(attend(cache, 0, 3, a, out)));
  CHECK(memory.calls() == calls);  // attention allocates nothing
  const double compressed = 2.0 * 8193 * 8 * 128 * 4.25 / 8;
  CHECK(static_cast<double>(memory.peak()) <= compressed * 1.1);
  CHECK(memory.bytes() == cache.memory().total());
}

TEST_CASE("OC-73 peak memory while compressing, 32768 tokens" * doctest::skip() *
          doctest::description("long")) {
  CountingMemory memory;
  auto cache = make<presets::Int4<128>>(shape_of(8, 32768 + 1), memory.source());
  const std::vector<float> rows = test::normal(73, 512 * 8 * 128);
  const TokenRows chunk(rows.data(), 512, 8, 128);
  for (std::uint32_t i = 0; i < 64; ++i) REQUIRE(ok(cache.append(0, chunk, chunk)));
  REQUIRE(ok(cache.append(0, chunk.part(0, 1), chunk.part(0, 1))));
  const double compressed = 2.0 * 32769 * 8 * 128 * 4.25 / 8;
  CHECK(static_cast<double>(memory.peak()) <= compressed * 1.1 + 512.0 * 8 * 128 * 4);
}

TEST_CASE("OC-86 independent caches on many threads") {
  const Tokens data = uniform_tokens(86, 80, 2);
  const std::vector<float> query = test::normal(87, kDim);
  constexpr int kThreads = 8;
  std::vector<std::unique_ptr<Dump>> dumps(kThreads);
  std::vector<std::vector<float>> outputs(kThreads, std::vector<float>(kDim));
  std::vector<char> good(kThreads, 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto at = static_cast<std::size_t>(i);
      for (int round = 0; round < 10; ++round) {
        auto made = KvCache<Four>::create(shape_of(2, 80, 8));
        good[at] = good[at] && made && ok(feed(*made, 0, data, 0, 80, 7));
        if (!good[at]) return;
        AttendArguments a;
        a.queries = query.data();
        good[at] = ok(attend(*made, 0, 1, a, outputs[at].data()));
        dumps[at] = std::make_unique<Dump>(*made);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < kThreads; ++i) {
    REQUIRE(good[i]);
    CHECK(*dumps[i] == *dumps[0]);
    CHECK(same_bits(outputs[i], outputs[0]));
  }
}

TEST_CASE("OC-97 unsupported requests never kill the host program") {
  std::FILE* caught = std::tmpfile();
  REQUIRE(caught != nullptr);
  std::fflush(stderr);
  const int saved = dup(2);
  REQUIRE(dup2(fileno(caught), 2) == 2);

  struct KeysOnly : CacheTraits<kDim> {
    using Lanes = LaneList<KV<formats::Int4<kDim>, NoValue>>;
  };
  const Tokens data = uniform_tokens(97, 60, 2);
  auto cache = make<Four>(shape_of(2, 50, 4));
  auto keys = make<KeysOnly>(shape_of(2, 50));
  REQUIRE(ok(feed(cache, 0, data, 0, 40, 40)));
  REQUIRE(ok(keys.append(0, data.k(0, 40))));
  const Dump before(cache);
  const Dump keys_before(keys);
  std::vector<float> out(4 * kDim);
  AttendArguments a;
  a.queries = out.data();
  const std::uint8_t no_lane = 77;
  const std::uint8_t mask[1] = {1};
  float nan_row[2 * kDim] = {std::nanf("")};
  int refused = 0;
  const auto expect = [&](Status status, Status wanted) {
    CHECK(status == wanted);
    ++refused;
  };
  expect(feed(cache, 0, data, 0, 11, 11), Status::kCapacity);
  expect(cache.append(1, data.k(0, 1), data.v(0, 1)), Status::kInvalid);
  expect(cache.append(0, data.k(0, 1), data.v(0, 2)), Status::kMismatch);
  expect(cache.append(0, data.k(0, 1), data.v(0, 1), {&no_lane}), Status::kInvalid);
  expect(cache.append(0, TokenRows(nan_row, 1, 2, kDim), data.v(0, 1)), Status::kNonFinite);
  for (float& x : nan_row) x = 1e30f;
  expect(cache.append(0, TokenRows(nan_row, 1, 2, kDim), data.v(0, 1)), Status::kRange);
  expect(cache.append(0, TokenRows(std::span<const float>(nan_row).first(3), 1, 2, kDim),
                      data.v(0, 1)),
         Status::kRange);
  expect(cache.truncate(0, 41), Status::kRange);
  expect(cache.truncate(9, 1), Status::kInvalid);
  expect(cache.commit(0, 1, {&no_lane}), Status::kRange);
  expect(cache.flush(3), Status::kInvalid);
  expect(cache.read(0, 0, 40, 1, out.data(), nullptr), Status::kRange);
  expect(cache.read(0, 2, 0, 1, out.data(), nullptr), Status::kInvalid);
  expect(attend(cache, 0, 5, a, out.data()), Status::kInvalid);
  expect(attend(cache, 0, 0, a, nullptr), Status::kInvalid);
  a.mask = mask;
  a.mask_tokens = 1;
  expect(attend(cache, 0, 0, a, out.data()), Status::kMismatch);
  a.mask = nullptr;
  expect(attend(keys, 0, 0, a, out.data()), Status::kUnsupported);
  expect(keys.read(0, 0, 0, 1, nullptr, out.data()), Status::kUnsupported);
  expect(keys.append(0, data.k(0, 1), data.v(0, 1)), Status::kMismatch);
  CHECK(Dump(cache) == before);
  CHECK(Dump(keys) == keys_before);
  // Both go on.
  CHECK(ok(feed(cache, 0, data, 40, 50, 3)));
  CHECK(ok(attend(cache, 0, 1, a, out.data())));
  CHECK(ok(keys.append(0, data.k(40, 10))));

  std::fflush(stderr);
  dup2(saved, 2);
  close(saved);
  std::fseek(caught, 0, SEEK_END);
  CHECK(std::ftell(caught) == 0);
  CHECK(refused == 19);
  std::fclose(caught);
}
