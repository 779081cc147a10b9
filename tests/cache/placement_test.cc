// Where blocks lie: the same bytes and results wherever that is.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "kvpleat/attention/attend.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/format/formats.h"
#include "kvpleat/store/huge_pages.h"
#include "support/cache_fixture.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 64;
constexpr std::uint32_t kHeads = 3;
constexpr std::uint32_t kTokens = 64 * 9 + 13;

template <class StoreType>
struct Placed : CacheTraits<kDim> {
  using Store = StoreType;
  using Lanes = LaneList<KV<formats::Int4<kDim>, formats::Int4<kDim>>>;
};
using Stretched = SlabStore<65536, 4096, 4>;

template <class Traits>
KvCache<Traits> grown(const MemorySource& memory, bool in_bulk) {
  auto made = KvCache<Traits>::create(
      CacheShape{.layers = 2, .kv_heads = kHeads, .max_tokens = 1000}, memory);
  REQUIRE(made);
  const std::vector<float> keys = test::normal(5, kTokens * kHeads * kDim);
  const std::vector<float> values = test::normal(6, kTokens * kHeads * kDim);
  const std::uint32_t step = in_bulk ? kTokens : 1;
  for (std::uint32_t t = 0; t < kTokens; t += step) {
    for (std::uint32_t layer = 0; layer < 2; ++layer) {
      const std::size_t at = static_cast<std::size_t>(t) * kHeads * kDim;
      REQUIRE(ok(made->append(layer, TokenRows(keys.data() + at, step, kHeads, kDim),
                              TokenRows(values.data() + at, step, kHeads, kDim))));
    }
  }
  return std::move(*made);
}

// Of the keys of a head: how many blocks do not lie behind the one before them.
template <class Cache>
std::uint32_t jumps(const Cache& cache, std::uint32_t layer, std::uint32_t head) {
  std::uint32_t count = 0;
  cache.visit(
      layer, head, {0, kTokens},
      [&](const auto& lane) {
        if constexpr (std::remove_cvref_t<decltype(lane)>::kLane == 0) {
          BlockRun runs[kTokens / 64 + 2];
          Rows open;
          const std::uint32_t n = lane.key_pieces(lane.slot, lane.count, runs, open);
          for (std::uint32_t r = 1; r < n; ++r) {
            const auto pitch = (formats::Int4<kDim>::kBlockBytes + 63) / 64 * 64;
            count += runs[r].bytes.block != runs[r - 1].bytes.block + pitch ? 1u : 0u;
          }
        }
      },
      [](std::uint32_t, std::uint32_t) {});
  return count;
}

template <class Cache>
std::vector<float> outputs(const Cache& cache) {
  std::vector<float> all;
  const std::vector<float> query = test::normal(7, kDim);
  for (std::uint32_t layer = 0; layer < 2; ++layer) {
    for (std::uint32_t head = 0; head < kHeads; ++head) {
      std::vector<float> out(kDim);
      REQUIRE(
          ok(attend(cache, layer, head, {.queries = query.data(), .scale = 0.125f}, out.data())));
      all.insert(all.end(), out.begin(), out.end());
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a stretch keeps the blocks of a head in a row, token by token; memory is as predicted") {
  const auto unit = grown<Placed<DefaultStore>>(heap_memory(), false);
  const auto bulk = grown<Placed<DefaultStore>>(heap_memory(), true);
  const auto stretched = grown<Placed<Stretched>>(heap_memory(), false);
  const auto huge = grown<Placed<HeadMajorStore>>(huge_page_memory(), false);
  for (std::uint32_t layer = 0; layer < 2; ++layer) {
    for (std::uint32_t head = 0; head < kHeads; ++head) {
      CHECK(jumps(unit, layer, head) == 9);  // the other heads' blocks lie between
      CHECK(jumps(bulk, layer, head) <= 1);  // a new slab at most
      CHECK(jumps(stretched, layer, head) == 2);
      CHECK(jumps(huge, layer, head) == 0);
    }
  }
  CHECK(stretched.memory() == KvCache<Placed<Stretched>>::predict(stretched.shape(), kTokens));
  CHECK(huge.memory() == KvCache<Placed<HeadMajorStore>>::predict(huge.shape(), kTokens));
  const std::vector<float> wanted = outputs(unit);
  CHECK(outputs(bulk) == wanted);
  CHECK(outputs(stretched) == wanted);
  CHECK(outputs(huge) == wanted);
}

TEST_CASE("stretches: the limit of a pool holds for full streams, and truncate gives back") {
  auto cache = grown<Placed<Stretched>>(heap_memory(), false);
  const MemoryReport full = cache.memory();
  REQUIRE(ok(cache.truncate(100)));
  CHECK(cache.memory() != full);
  const std::vector<float> rows = test::normal(8, 900 * kHeads * kDim);
  for (std::uint32_t layer = 0; layer < 2; ++layer) {
    REQUIRE(ok(cache.append(layer, TokenRows(rows.data(), 900, kHeads, kDim),
                            TokenRows(rows.data(), 900, kHeads, kDim))));
  }
  CHECK(cache.tokens(1) == 1000);
}
