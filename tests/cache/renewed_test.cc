// Renewed scales over the life of a cache.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/cache_fixture.h"
#include "support/gaussian.h"

using namespace kvpleat;
using test::Dump;
using test::feed;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 64;

struct Plain : presets::Single<formats::Renewed8<kDim>, formats::Renewed8<kDim>> {};
struct Refusing : presets::Single<formats::Renewed<kDim, RenewOverflow::kRefuse>,
                                  formats::Renewed<kDim, RenewOverflow::kRefuse>> {};

CacheShape shape_of(std::uint32_t layers, std::uint32_t heads, std::uint64_t tokens) {
  CacheShape shape;
  shape.layers = layers;
  shape.kv_heads = heads;
  shape.max_tokens = tokens;
  return shape;
}
template <class Cache>
Cache make(const CacheShape& shape, const MemorySource& memory = heap_memory()) {
  auto made = Cache::create(shape, memory);
  REQUIRE(made.error().name() == "");
  REQUIRE(made);
  return std::move(*made);
}
Tokens gaussian_tokens(std::uint32_t seed, std::size_t n, std::uint32_t heads) {
  return {heads, kDim, kDim, test::gaussian(seed, n * heads * kDim),
          test::gaussian(seed + 1000, n * heads * kDim)};
}
template <class Cache>
std::vector<float> read(const Cache& cache, std::uint32_t layer, std::uint32_t head,
                        std::uint32_t first, std::uint32_t n) {
  std::vector<float> rows(std::size_t{2} * n * kDim);
  REQUIRE(ok(cache.read(layer, head, first, n, rows.data(),
                        rows.data() + static_cast<std::size_t>(n) * kDim)));
  return rows;
}
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}
// The steps of a head's keys in force at every token, from the bytes of the blocks.
template <class Cache>
std::vector<float> key_steps(const Cache& cache, std::uint32_t head) {
  using F = typename Cache::template Lane<0>::Key;
  std::vector<float> steps;
  cache.visit(
      0, head, {},
      [&](const auto& lane) {
        if constexpr (std::remove_cvref_t<decltype(lane)>::kLane == 0) {
          BlockRun runs[16];
          Rows open;
          const std::uint32_t n = lane.key_pieces(0, lane.count, runs, open);
          for (std::uint32_t r = 0; r < n; ++r) {
            for (std::uint32_t t = 0; t < runs[r].count; ++t)
              steps.push_back(
                  to_float(F::Layout::Dense::scale_of(runs[r].bytes.block, runs[r].slot + t).step));
          }
        }
      },
      [](std::uint32_t, std::uint32_t) {});
  return steps;
}

}  // namespace

TEST_CASE("renewed scales: a token 1000 times larger leaves the tokens before it as they were") {
  const auto check = []<class Traits>() {
    using Cache = KvCache<Traits>;
    constexpr std::uint32_t kTokens = 520;
    Tokens data = gaussian_tokens(1, kTokens, 2);
    for (std::size_t i = 130 * 2 * kDim; i < 131 * 2 * kDim; ++i) {
      data.keys[i] *= 1000.0f;
      data.values[i] *= 1000.0f;
    }
    Cache cache = make<Cache>(shape_of(1, 2, 1000));
    REQUIRE(ok(feed(cache, 0, data, 0, 130, 130)));
    std::vector<std::vector<float>> before;
    for (std::uint32_t h = 0; h < 2; ++h) before.push_back(read(cache, 0, h, 0, 130));
    REQUIRE(ok(feed(cache, 0, data, 130, kTokens, 100)));
    for (std::uint32_t h = 0; h < 2; ++h) {
      CHECK(same(read(cache, 0, h, 0, 130), before[h]));
      // The large token itself is kept to half of a step of its own size.
      const std::vector<float> large = read(cache, 0, h, 130, 1);
      float size = 0.0f;
      float error = 0.0f;
      for (std::uint32_t c = 0; c < kDim; ++c) {
        size = std::fmax(size, std::fabs(data.key(130, h)[c]));
        error = std::fmax(error, std::fabs(large[c] - data.key(130, h)[c]));
      }
      CHECK(error <= size * 1.25f / 254.0f * 1.001f);
    }
    CHECK(cache.counters(0).clipped == 0);
    // Any split of the calls gives the same bytes.
    const Dump whole(cache);
    for (const std::uint32_t step : {1u, 7u, 64u, 127u, 129u, kTokens}) {
      CAPTURE(step);
      Cache other = make<Cache>(shape_of(1, 2, 1000));
      REQUIRE(ok(feed(other, 0, data, 0, kTokens, step)));
      CHECK(Dump(other) == whole);
    }
    // Cut anywhere and filled again: the same bytes.
    for (const std::uint32_t n :
         {519u, 385u, 384u, 383u, 257u, 256u, 200u, 131u, 130u, 128u, 127u, 1u, 0u}) {
      CAPTURE(n);
      const std::vector<float> kept = read(cache, 0, 1, 0, n);
      REQUIRE(ok(cache.truncate(0, n)));
      CHECK(same(read(cache, 0, 1, 0, n), kept));
      REQUIRE(ok(feed(cache, 0, data, n, kTokens, 50)));
      CHECK(Dump(cache) == whole);
    }
  };
  check.operator()<Plain>();
  check.operator()<presets::Tiered8<kDim>>();
}

TEST_CASE("renewed scales: the table is renewed at 128, 256, ... and follows the data both ways") {
  using Cache = KvCache<Plain>;
  constexpr std::uint32_t kTokens = 640;
  Tokens data = gaussian_tokens(2, kTokens, 1);
  // Ten times smaller from 256 on.
  for (std::size_t i = std::size_t{256} * kDim; i < data.keys.size(); ++i) data.keys[i] *= 0.1f;
  Cache cache = make<Cache>(shape_of(1, 1, 1000));
  REQUIRE(ok(feed(cache, 0, data, 0, kTokens, 64)));
  const std::vector<float> steps = key_steps(cache, 0);
  REQUIRE(steps.size() == kTokens);
  // Within a block a step can only grow.
  for (std::uint32_t t = 1; t < kTokens; ++t) {
    if (t % 128 != 0) CHECK(steps[t] >= steps[t - 1]);
  }
  CHECK(steps[128] != steps[127]);
  CHECK(steps[256] != steps[255]);
  // Block 2 takes over what block 1 holds; block 3 sees that block 2 is small: about a tenth.
  CHECK(steps[256] > 0.7f * steps[128]);
  CHECK(steps[384] < 0.15f * steps[256]);
  CHECK(steps[512] < 1.5f * steps[384]);
  CHECK(steps[512] != steps[511]);
}

TEST_CASE("renewed scales: a ninth size in a block is refused before anything is written") {
  using Cache = KvCache<Refusing>;
  const auto data = [](float first, std::uint32_t n) {
    Tokens tokens{2, kDim, kDim, {}, {}};
    tokens.keys.assign(std::size_t{2} * n * kDim, 0.0f);
    tokens.values.assign(std::size_t{2} * n * kDim, 1.0f);
    float size = first;
    for (std::uint32_t t = 0; t < n; ++t, size *= 2.0f)
      tokens.keys[(std::size_t{2} * t + 1) * kDim + t] = size;  // of head 1 only
    return tokens;
  };
  Cache cache = make<Cache>(shape_of(1, 2, 1000));
  const Tokens eight = data(1.0f, 8);
  REQUIRE(ok(feed(cache, 0, eight, 0, 8, 3)));
  const Dump before(cache);
  const MemoryReport memory = cache.memory();
  const Tokens more = data(256.0f, 1);
  CHECK(cache.append(0, more.k(0, 1), more.v(0, 1)) == Status::kRange);
  // In the middle of a longer call, too.
  Tokens longer = data(1.0f, 5);
  longer.keys[(2 * 4 + 1) * kDim] = 1e5f;
  CHECK(cache.append(0, longer.k(0, 5), longer.v(0, 5)) == Status::kRange);
  CHECK(Dump(cache) == before);
  CHECK(cache.memory() == memory);
  CHECK(cache.counters(0).clipped == 0);
  REQUIRE(ok(cache.append(0, longer.k(0, 4), longer.v(0, 4))));
  // A call that crosses into the next block, where there is room again.
  const Tokens all = data(1.0f, 8);
  Tokens rest{2, kDim, kDim, std::vector<float>(std::size_t{2} * 117 * kDim, 0.5f),
              std::vector<float>(std::size_t{2} * 117 * kDim, 0.5f)};
  rest.keys[(std::size_t{2} * 116 + 1) * kDim] = 1e5f;  // slot 128: the first of block 1
  REQUIRE(cache.tokens(0) == 12);
  REQUIRE(ok(cache.append(0, rest.k(0, 117), rest.v(0, 117))));
  CHECK(key_steps(cache, 1)[128] == to_float(at_least<Half>(1e5f / 127.0f)));
  // One token of one call at a time: the same decisions, the same bytes.
  Cache single = make<Cache>(shape_of(1, 2, 1000));
  REQUIRE(ok(feed(single, 0, eight, 0, 8, 1)));
  CHECK(single.append(0, more.k(0, 1), more.v(0, 1)) == Status::kRange);
  REQUIRE(ok(feed(single, 0, longer, 0, 4, 1)));
  REQUIRE(ok(feed(single, 0, rest, 0, 117, 1)));
  CHECK(Dump(single) == Dump(cache));
  // Under kClip the ninth size is clipped and counted.
  auto clipping = make<KvCache<Plain>>(shape_of(1, 2, 1000));
  REQUIRE(ok(feed(clipping, 0, eight, 0, 8, 8)));
  REQUIRE(ok(clipping.append(0, more.k(0, 1), more.v(0, 1))));
  CHECK(clipping.key_counters(0).clipped == 1);
  CHECK(clipping.value_counters(0).clipped == 0);
}
