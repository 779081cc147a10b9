// Oaken over several heads: caches of some of a layer's KV heads against one of all of them
// (tensor parallel), head-scoped lanes, and spills of more than a byte per element.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"

using namespace kvpleat;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 16;
constexpr std::uint32_t kHeads = 4;
constexpr std::uint32_t kTokens = 150;  // two sealed blocks and an open one

struct SharedRanges : CacheTraits<kDim> {
  using Lanes = LaneList<test::Same<formats::Oaken<kDim>>>;
};
// Side data of its own makes Oaken fit for lanes per head.
struct OwnRanges : CacheTraits<kDim> {
  using Lanes = LaneList<test::Same<formats::OakenPerHead<kDim>>>;
  static constexpr MapScope kScope = MapScope::kHead;
};
struct Nested : CacheTraits<kDim> {
  using Lanes = LaneList<KV<formats::OakenNested<kDim>, formats::OakenAligned<kDim>>>;
};

std::vector<float> repeated(const std::vector<float>& thresholds, std::uint32_t heads) {
  std::vector<float> all;
  for (std::uint32_t h = 0; h < heads; ++h)
    all.insert(all.end(), thresholds.begin(), thresholds.end());
  return all;
}
const std::vector<float> kThree = {-1.75f, -0.0625f, 0.0625f, 1.75f};
const std::vector<float> kFive = {-2.25f,   -1.75f,  -0.0625f, -0.03125f,
                                  0.03125f, 0.0625f, 1.75f,    2.25f};

template <class Traits>
KvCache<Traits> make(std::uint32_t heads, const std::vector<float>& key_thresholds,
                     const std::vector<float>& value_thresholds) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = heads;
  shape.max_tokens = 200;
  const std::vector<float> keys = repeated(key_thresholds, heads);
  const std::vector<float> values = repeated(value_thresholds, heads);
  const LaneProfile profile{keys.data(), keys.size(), values.data(), values.size()};
  auto made = KvCache<Traits>::create(shape, &profile, 1);
  REQUIRE(made.error().name() == "");
  REQUIRE(made);
  return std::move(*made);
}

// Heads [first, first + 2) of `all`.
Tokens shard(const Tokens& all, std::uint32_t first) {
  Tokens part{2, kDim, kDim, {}, {}};
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    part.keys.insert(part.keys.end(), all.key(t, first), all.key(t, first) + 2 * kDim);
    part.values.insert(part.values.end(), all.value(t, first), all.value(t, first) + 2 * kDim);
  }
  return part;
}

template <class Traits>
std::vector<float> attended(const KvCache<Traits>& cache, std::uint32_t head, const Tokens& data) {
  const std::vector<float> queries = test::normal(40, 3 * kDim);
  AttendArguments arguments;
  arguments.queries = queries.data();
  arguments.group = 3;
  arguments.scale = 0.25f;
  std::vector<float> out(3 * (kDim + 1));
  REQUIRE(ok(attend(cache, 0, head, arguments, out.data(), out.data() + 3 * kDim)));
  // Against the original rows: what the cache lost with its rows explains all of the error.
  const test::AttendErrors errors = test::attend_errors(cache, 0, head, arguments, &data);
  CHECK(errors.finite);
  CHECK(errors.excess <= 0.0);
  // Four bits of unit-variance data: some error, and not much.
  CHECK(errors.original > 1e-4);
  CHECK(errors.original < 0.2);
  return out;
}

// Whether two caches of two heads each attend as one of four, to the bit.
template <class Traits>
bool shards_agree() {
  const Tokens data = test::tokens_of(7, kTokens, kHeads, kDim);
  auto whole = make<Traits>(kHeads, kThree, kThree);
  REQUIRE(ok(test::feed(whole, 0, data, 0, kTokens, 11)));
  bool equal = true;
  for (const std::uint32_t first : {0u, 2u}) {
    const Tokens part = shard(data, first);
    auto half = make<Traits>(2, kThree, kThree);
    REQUIRE(ok(test::feed(half, 0, part, 0, kTokens, 37)));
    for (std::uint32_t h = 0; h < 2; ++h) {
      const std::vector<float> a = attended(whole, first + h, data);
      const std::vector<float> b = attended(half, h, part);
      equal = equal && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    }
  }
  return equal;
}

}  // namespace

TEST_CASE("heads in two caches attend as in one, if ranges are per head") {
  CHECK(shards_agree<OwnRanges>());
  // The published ranges span the heads: other heads in a cache, other bytes.
  CHECK(!shards_agree<SharedRanges>());
}

TEST_CASE("ranges per head: their bytes are in the blocks, the report counts them") {
  const Tokens data = test::tokens_of(7, 64, kHeads, kDim);
  auto own = make<OwnRanges>(kHeads, kThree, kThree);
  auto shared = make<SharedRanges>(kHeads, kThree, kThree);
  REQUIRE(ok(test::feed(own, 0, data, 0, 64, 64)));
  REQUIRE(ok(test::feed(shared, 0, data, 0, 64, 64)));
  // Keys and values, 64 tokens: 12 bytes per head, or per token; counts: one chunk.
  CHECK(own.memory().side == 2 * 64 * 12 * kHeads);
  CHECK(own.memory().shared == 0);
  CHECK(shared.memory().side == 0);
  CHECK(shared.memory().shared == 2 * 64 * 12);
  CHECK(own.memory().outliers == 2 * 64 * kHeads);
  CHECK(shared.memory().outliers == 2 * 64 * kHeads);
  CHECK(own.memory().spill == shared.memory().spill);
}

TEST_CASE("spills of more than a byte per element: every element an outlier, cut and refilled") {
  // All inner: 16-bit entries of the keys, padded ones of the values.
  Tokens data = test::tokens_of(9, 200, kHeads, kDim);
  for (float& x : data.keys) x *= 0.001f;
  for (float& x : data.values) x *= 0.001f;
  auto cache = make<Nested>(kHeads, kFive, kThree);
  REQUIRE(ok(test::feed(cache, 0, data, 0, 200, 23)));
  // Three sealed blocks and 8 tokens: 2 bytes a key element, 1 a value element (16 is a multiple
  // of 8).
  CHECK(cache.memory().spill == 200 * kHeads * kDim * 3);
  REQUIRE(ok(cache.truncate(0, 70)));
  CHECK(cache.memory().spill == 70 * kHeads * kDim * 3);
  Tokens others = test::tokens_of(10, 200, kHeads, kDim);
  auto fresh = make<Nested>(kHeads, kFive, kThree);
  REQUIRE(ok(test::feed(fresh, 0, data, 0, 70, 70)));
  REQUIRE(ok(test::feed(fresh, 0, others, 70, 200, 130)));
  REQUIRE(ok(test::feed(cache, 0, others, 70, 200, 9)));
  CHECK(test::Dump(cache) == test::Dump(fresh));
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    std::vector<float> keys(200 * kDim);
    REQUIRE(ok(cache.read(0, h, 0, 200, keys.data(), nullptr)));
    for (std::uint32_t t = 70; t < 200; t += 43) {
      for (std::uint32_t c = 0; c < kDim; ++c) {
        // Middle: a step, 2 * 1.69 / 15 at most. The data stay below 3.47, so outer bands and their
        // half steps are narrower.
        CHECK(std::fabs(keys[t * kDim + c] - others.key(t, h)[c]) <= 0.23f);
      }
    }
  }
}
