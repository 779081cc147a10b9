// Open cases, group B: shapes, layout, sizes. OC-24 and OC-25 stand with group A. OC-31 needs a
// device; OC-32 and the saving parts of others need files; OC-34 is an engine's batch: here every
// sequence is a cache of its own.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"

using namespace kvpleat;
using test::AttendErrors;
using test::CountingMemory;
using test::Dump;
using test::feed;
using test::Tokens;

namespace {

CacheShape shape_of(std::uint32_t heads, std::uint64_t tokens, std::uint32_t query_heads = 0) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = heads;
  shape.max_tokens = tokens;
  shape.query_heads = query_heads;
  return shape;
}
template <class Traits>
KvCache<Traits> make(const CacheShape& shape, const MemorySource& memory = heap_memory()) {
  auto made = KvCache<Traits>::create(shape, nullptr, 0, memory);
  REQUIRE(made);
  return std::move(*made);
}
// G(seed) for keys and values.
Tokens uniform_tokens(std::uint32_t seed, std::size_t n, std::uint32_t heads, std::uint32_t dim) {
  Tokens t{heads, dim, dim, {}, {}};
  t.keys = test::uniform(seed, n * heads * dim);
  t.values = test::uniform(seed + 500, n * heads * dim);
  return t;
}
AttendArguments arguments_of(const std::vector<float>& queries, std::uint32_t group, float scale) {
  AttendArguments a;
  a.queries = queries.data();
  a.group = group;
  a.scale = scale;
  return a;
}

template <std::uint32_t kDim>
void short_group() {
  CAPTURE(kDim);
  using Cache = KvCache<presets::Int4G32<kDim>>;
  constexpr std::uint32_t kGroups = (kDim + 31) / 32;
  const Tokens data = uniform_tokens(19, 40, 3, kDim);
  CountingMemory memory;
  Cache cache = make<presets::Int4G32<kDim>>(shape_of(3, 64), memory.source());
  REQUIRE(ok(feed(cache, 0, data, 0, 40, 11)));
  for (std::uint32_t h = 0; h < 3; ++h) {
    for (std::uint32_t t = 0; t < 40; ++t) {
      float k[kDim];
      float v[kDim];
      REQUIRE(ok(cache.read(0, h, t, 1, k, v)));
      for (std::uint32_t g = 0; g < kGroups; ++g) {  // each group within its own bound
        for (const auto& [got, row] :
             {std::pair{&k[0], data.key(t, h)}, {&v[0], data.value(t, h)}}) {
          float low = 1e9f;
          float high = -1e9f;
          float largest = 0.0f;
          for (std::uint32_t c = g * 32; c < lower_of(kDim, g * 32 + 32); ++c) {
            low = lower_of(low, row[c]);
            high = upper_of(high, row[c]);
            largest = upper_of(largest, magnitude(row[c]));
          }
          for (std::uint32_t c = g * 32; c < lower_of(kDim, g * 32 + 32); ++c)
            CHECK(std::fabs(got[c] - row[c]) <= 0.5f * (high - low) / 15.0f + largest * 0x1p-9f);
        }
      }
    }
  }
  const std::vector<float> queries = test::uniform(20, 2 * kDim);
  CHECK(test::attend_errors(cache, 0, 2, arguments_of(queries, 2, 0.1f), &data).kernel <= 1e-4);
  // 40 tokens, 3 heads, K and V: 4 bits per value, 4 bytes per group, the short one too.
  const MemoryReport report = cache.memory();
  CHECK(report.side == 2u * 3u * 40u * kGroups * 4u);
  CHECK(report.codes == 2u * 3u * 40u * kDim / 2u);
  CHECK(report.total() == memory.bytes());
  std::vector<float> before(23 * kDim);
  std::vector<float> after(23 * kDim);
  REQUIRE(ok(cache.read(0, 1, 0, 23, before.data(), nullptr)));
  REQUIRE(ok(cache.truncate(0, 23)));
  REQUIRE(ok(cache.read(0, 1, 0, 23, after.data(), nullptr)));
  CHECK(before == after);
  CHECK(cache.memory().side == 2u * 3u * 23u * kGroups * 4u);
}

template <std::uint32_t... kDims>
void sweep(std::integer_sequence<std::uint32_t, kDims...>) {
  const auto one = [&]<std::uint32_t kDim>() {
    CAPTURE(kDim);
    auto cache = make<presets::Int8<kDim>>(shape_of(2, 37, 4));
    const Tokens data = uniform_tokens(20 + kDim, 37, 2, kDim);
    REQUIRE(ok(feed(cache, 0, data, 0, 37, 10)));
    const std::vector<float> queries = test::uniform(21 + kDim, 2 * kDim);
    for (std::uint32_t h = 0; h < 2; ++h) {
      const AttendErrors errors =
          test::attend_errors(cache, 0, h, arguments_of(queries, 2, 0.2f), &data);
      CHECK(errors.finite);
      CHECK(errors.kernel <= 1e-3);
      CHECK(errors.excess <= 0.0);
      CHECK(test::worst_over_bound<true>(cache, 0, h, data) <= 1.0);
      CHECK(test::worst_over_bound<false>(cache, 0, h, data) <= 1.0);
    }
  };
  (one.template operator()<kDims>(), ...);
}

struct Latent : CacheTraits<576, 512> {
  using Lanes = LaneList<KV<formats::Int8<576>, KeyView<512>>>;
};
template <std::uint32_t kKey, std::uint32_t kValue>
struct Unlike : CacheTraits<kKey, kValue> {
  using Lanes = LaneList<KV<formats::Int8<kKey>, formats::Int8<kValue>>>;
};

}  // namespace

TEST_CASE("OC-20 head_dim not a multiple of the group") {
  short_group<80>();
  short_group<112>();
}

TEST_CASE("OC-21 sweep of head sizes") {
  sweep(std::integer_sequence<std::uint32_t, 1, 8, 40, 64, 72, 80, 88, 96, 112, 128, 136, 192, 256,
                              320, 512, 576>{});
}

TEST_CASE("OC-22 K width differs from V width; V as a view of K") {
  const auto run = [](auto& cache, const Tokens& data) {
    using Cache = std::remove_reference_t<decltype(cache)>;
    constexpr std::uint32_t kKey = Cache::kKeyDim;
    const std::vector<float> queries = test::normal(22, 16 * kKey);
    const AttendErrors errors = test::attend_errors(
        cache, 0, 0, arguments_of(queries, 16, 1.0f / std::sqrt(static_cast<float>(kKey))), &data);
    CHECK(errors.finite);
    CHECK(errors.kernel <= 1e-3);
    CHECK(errors.excess <= 0.0);
  };
  Tokens latent{1, 576, 512, test::normal(23, 50 * 576), {}};
  for (std::size_t t = 0; t < 50; ++t)
    latent.values.insert(latent.values.end(), latent.key(t, 0), latent.key(t, 0) + 512);
  auto shared = make<Latent>(shape_of(1, 50));
  REQUIRE(ok(shared.append(0, latent.k(0, 50))));
  run(shared, latent);
  auto apart = make<Unlike<576, 512>>(shape_of(1, 50));
  REQUIRE(ok(feed(apart, 0, latent, 0, 50, 50)));
  run(apart, latent);
  CHECK(shared.memory().codes == 50u * 576u);  // K once
  CHECK(apart.memory().codes == 50u * (576u + 512u));
  Tokens other{1, 192, 128, test::normal(24, 50 * 192), test::normal(25, 50 * 128)};
  auto unlike = make<Unlike<192, 128>>(shape_of(1, 50));
  REQUIRE(ok(feed(unlike, 0, other, 0, 50, 50)));
  run(unlike, other);
}

TEST_CASE("OC-23 upper half of a wide head") {
  const auto run = []<std::uint32_t kDim, std::uint32_t kFirst>() {
    const auto upper = [&](std::vector<float> rows) {
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i % kDim < kFirst ? 0.0f : rows[i];
      return rows;
    };
    auto cache = make<presets::Int8<kDim>>(shape_of(1, 5000));
    Tokens data{1, kDim, kDim, upper(test::uniform(21, 5000 * kDim)),
                upper(test::uniform(22, 5000 * kDim))};
    const std::vector<float> query = upper(test::uniform(23, kDim));
    const AttendArguments a = arguments_of(query, 1, 0.1f);
    REQUIRE(ok(feed(cache, 0, data, 0, 33, 33)));
    float brief[kDim];
    REQUIRE(ok(attend(cache, 0, 0, a, brief)));
    CHECK(test::attend_errors(cache, 0, 0, a, &data).kernel <= 1e-3);
    REQUIRE(ok(feed(cache, 0, data, 33, 5000, 1000)));
    CHECK(test::attend_errors(cache, 0, 0, a, &data).kernel <= 1e-3);
    // Split over tokens: the parts merge to the whole, and the first 33 tokens are the short run.
    AttentionState<kDim> parts[5];
    for (std::uint32_t i = 0; i < 5; ++i)
      REQUIRE(ok(attend_partial(cache, 0, 0, {i * 1000, (i + 1) * 1000}, a, &parts[i])));
    for (std::uint32_t i = 1; i < 5; ++i) parts[0].merge(parts[i]);
    float split[kDim];
    float whole[kDim];
    parts[0].write(split);
    REQUIRE(ok(attend(cache, 0, 0, a, whole)));
    AttentionState<kDim> prefix;
    REQUIRE(ok(attend_partial(cache, 0, 0, {0, 33}, a, &prefix)));
    float first[kDim];
    prefix.write(first);
    CHECK(std::memcmp(first, brief, sizeof first) == 0);
    float high = 0.0f;
    for (std::uint32_t c = 0; c < kDim; ++c) {
      CHECK(std::fabs(split[c] - whole[c]) <= 1e-5f);
      // Zeros share the group of the others: half a step of (max - min) / 255, and 2^-9 of it.
      if (c < kFirst) CHECK(std::fabs(whole[c]) <= 1.0f / 255.0f + 0x1p-9f);
      if (c >= kFirst) high += std::fabs(whole[c]);
    }
    CHECK(high > 0.01f);
  };
  run.operator()<256, 128>();
  run.operator()<512, 272>();
}

TEST_CASE("OC-26 grouped query heads") {
  using Cache = KvCache<presets::Int8<64>>;
  for (const auto& sizes :
       {std::pair{8u, 1u}, {16u, 2u}, {8u, 2u}, {24u, 4u}, {12u, 4u}, {5u, 5u}, {71u, 1u}}) {
    const std::uint32_t query_heads = sizes.first;
    const std::uint32_t heads = sizes.second;
    CAPTURE(query_heads);
    CAPTURE(heads);
    auto cache = make<presets::Int8<64>>(shape_of(heads, 70, query_heads));
    Tokens data = uniform_tokens(26, 70, heads, 64);
    for (std::size_t i = 0; i < data.values.size(); ++i)
      data.values[i] = static_cast<float>(i / 64 % heads + 1);
    REQUIRE(ok(feed(cache, 0, data, 0, 70, 70)));
    const std::vector<float> queries = test::uniform(27, query_heads * 64);
    std::vector<float> out(query_heads * 64);
    Sequential here;
    REQUIRE(ok(attend_layer(cache, 0, query_heads, arguments_of(queries, 1, 0.3f), out.data(),
                            nullptr, here)));
    for (std::uint32_t q = 0; q < query_heads; ++q) {
      for (std::uint32_t c = 0; c < 64; ++c)
        CHECK(std::fabs(out[q * 64 + c] - static_cast<float>(q / (query_heads / heads) + 1)) <=
              1e-3f);
    }
  }
  CHECK(Cache::create(shape_of(4, 70, 10)).error().name() == "query_heads");
  CHECK(Cache::create(shape_of(0, 70, 8)).error().name() == "kv_heads");
}

TEST_CASE("OC-27 zero or impossible dimensions") {
  // head_dim, bits and group are compile time: tests/compile_fail has them.
  using Cache = KvCache<presets::Int8<16>>;
  const auto field = [](CacheShape shape) {
    CountingMemory memory;
    const auto made = Cache::create(shape, nullptr, 0, memory.source());
    CHECK_FALSE(made);
    CHECK(memory.calls() == 0);  // refused before anything is allocated
    return std::string(made.error().name());
  };
  CHECK(field(shape_of(0, 1)) == "kv_heads");
  CHECK(field(shape_of(1, 0)) == "max_tokens");
  CHECK(field(shape_of(1, std::numeric_limits<std::uint64_t>::max())) == "max_tokens");
  CHECK(field(shape_of(1, 0x80000000ull)) == "max_tokens");
  CacheShape shape = shape_of(1, 1);
  shape.layers = 0;
  CHECK(field(shape) == "layers");
  shape.layers = 0xffffffffu;
  CHECK(field(shape) == "layers");
  // Each bound alone is fine, the product of all is not: refused while opening.
  shape.layers = 0x1000000u;
  shape.max_tokens = 0x7fffffffu;
  CountingMemory memory;
  const auto made = Cache::create(shape, nullptr, 0, memory.source());
  CHECK(made.error().name() == "max_tokens");
  CHECK(memory.bytes() == 0);
}

TEST_CASE("OC-28 strided and interleaved inputs") {
  constexpr std::size_t kRow = 3 * 3 * 80;
  const Tokens data = uniform_tokens(28, 19, 3, 80);
  auto packed = make<presets::Int4G32<80>>(shape_of(3, 19));
  REQUIRE(ok(feed(packed, 0, data, 0, 19, 19)));
  const auto same = [&](const TokenRows& k, const TokenRows& v) {
    auto cache = make<presets::Int4G32<80>>(shape_of(3, 19));
    REQUIRE(ok(cache.append(0, k, v)));
    CHECK(Dump(cache) == Dump(packed));
  };
  std::vector<float> fused(19 * kRow, 1e30f);
  std::vector<float> padded(19 * 1000, 1e30f);
  std::vector<float> major(3 * 19 * 80);
  for (std::size_t t = 0; t < 19; ++t) {
    std::memcpy(&fused[t * kRow + 240], data.key(t, 0), 240 * sizeof(float));
    std::memcpy(&fused[t * kRow + 480], data.value(t, 0), 240 * sizeof(float));
    std::memcpy(&padded[t * 1000], data.key(t, 0), 240 * sizeof(float));
    for (std::size_t h = 0; h < 3; ++h)
      std::memcpy(&major[(h * 19 + t) * 80], data.key(t, h), 80 * sizeof(float));
  }
  const TokenRows v = TokenRows(&fused[480], 19, 3, 80).strides(kRow, 80);
  same(TokenRows(&fused[240], 19, 3, 80).strides(kRow, 80), v);
  same(TokenRows(padded.data(), 19, 3, 80).strides(1000, 80), v);
  same(TokenRows(major.data(), 19, 3, 80).strides(80, 19 * 80), v);
}

TEST_CASE("OC-29 wrong element type cannot be passed") {
  // double does not compile (ElementTypeOf, tests/compile_fail). A tag that claims too much is
  // caught by the length of the span.
  static_assert(std::is_constructible_v<TokenRows, const Half*, int, int, int>);
  static_assert(std::is_constructible_v<TokenRows, const BFloat16*, int, int, int>);
  auto cache = make<presets::Int8<16>>(shape_of(1, 10));
  const std::vector<float> rows = test::uniform(29, 5 * 16);
  const Dump before(cache);
  const std::span<const float> brief = std::span<const float>(rows).first(79);
  CHECK(cache.append(0, TokenRows(brief, 5, 1, 16), TokenRows(rows.data(), 5, 1, 16)) ==
        Status::kRange);
  CHECK(cache.append(0, TokenRows(rows.data(), 5, 1, 16),
                     TokenRows(brief, 5, 1, 16).strides(16, 16)) == Status::kRange);
  CHECK(Dump(cache) == before);
}

TEST_CASE("OC-30 offsets beyond 2^32 are computed in 64 bits") {
  // Addresses of blocks and rows at 2^33 elements, without the memory behind them.
  const TokenRows rows = TokenRows(static_cast<const float*>(nullptr), 1, 1, 1);
  CHECK(rows.part(std::size_t{1} << 33, 1).tokens == 1);
  CHECK(formats::Int2<128>::kBlockTokens == 64);
  const std::size_t predicted =
      KvCache<presets::Int2<128>>::predict(shape_of(64, 1u << 20), 1u << 20).codes;
  CHECK(predicted == 2 * (std::size_t{1} << 33) / 4);  // K and V, 2 bits of 2^33 elements each
}

TEST_CASE("OC-30 more than 2^31 elements" * doctest::skip() * doctest::description("long")) {
  const auto run = [](std::uint32_t heads, std::uint32_t tokens, std::uint32_t chunk) {
    auto cache = make<presets::Int2<128>>(shape_of(heads, tokens));
    std::vector<float> rows(static_cast<std::size_t>(chunk) * heads * 128);
    const auto value_of = [&](std::uint32_t t) {
      return t + 1 == tokens ? 9.0f : static_cast<float>(t % 7) - 3.0f;
    };
    for (std::uint32_t first = 0; first < tokens; first += chunk) {
      const std::uint32_t n = lower_of(chunk, tokens - first);
      for (std::uint32_t t = 0; t < n; ++t) {
        for (std::uint32_t i = 0; i < heads * 128; ++i)
          rows[static_cast<std::size_t>(t) * heads * 128 + i] = value_of(first + t);
      }
      const TokenRows k(rows.data(), n, heads, 128);
      REQUIRE(ok(cache.append(0, k, k)));
    }
    for (const std::uint32_t t : {0u, (1u << 24) - 1, 1u << 24, tokens / 2, tokens - 1}) {
      if (t >= tokens) continue;
      float got[128];
      REQUIRE(ok(cache.read(0, heads - 1, t, 1, got, nullptr)));
      CHECK(got[0] == value_of(t));
      CHECK(got[127] == value_of(t));
    }
    const std::vector<float> query(128, 10.0f);
    float out[128];
    REQUIRE(ok(attend(cache, 0, heads - 1, arguments_of(query, 1, 1.0f), out)));
    CHECK(std::fabs(out[0] - 9.0f) <= 1e-6f);
  };
  run(1, 16777220, 65536);
  run(16, 1048580, 4096);
}

TEST_CASE("OC-33 a sequence does not depend on its neighbours") {
  // Caches of one engine share its memory: each sequence is alone in its cache.
  const Tokens data = test::tokens_of(33, 100, 2, 64);
  CountingMemory engine;
  auto alone = make<presets::Int4Channel<64>>(shape_of(2, 128));
  REQUIRE(ok(feed(alone, 0, data, 0, 100, 100)));
  std::vector<KvCache<presets::Int4Channel<64>>> batch;
  for (int i = 0; i < 4; ++i)
    batch.push_back(make<presets::Int4Channel<64>>(shape_of(2, 128), engine.source()));
  const std::uint32_t lengths[4] = {100, 37, 1, 64};
  // Rows of a left-padded batch: sequence i starts at token 100 - length.
  std::vector<Tokens> padded(4, Tokens{2, 64, 64, std::vector<float>(100 * 128, 1e4f),
                                       std::vector<float>(100 * 128, 1e4f)});
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t first = (100 - lengths[i]) * 128;
    std::memcpy(&padded[i].keys[first], data.keys.data(), lengths[i] * 128 * sizeof(float));
    std::memcpy(&padded[i].values[first], data.values.data(), lengths[i] * 128 * sizeof(float));
  }
  for (std::uint32_t t = 0; t < 100; ++t) {
    for (std::size_t i = 0; i < 4; ++i) {
      if (t < 100 - lengths[i]) continue;
      REQUIRE(ok(batch[i].append(0, padded[i].k(t, 1), padded[i].v(t, 1))));
    }
  }
  CHECK(Dump(batch[0]) == Dump(alone));
  const std::vector<float> query = test::normal(34, 64);
  float a[64];
  float b[64];
  REQUIRE(ok(attend(alone, 0, 1, arguments_of(query, 1, 0.125f), a)));
  REQUIRE(ok(attend(batch[0], 0, 1, arguments_of(query, 1, 0.125f), b)));
  CHECK(std::memcmp(a, b, sizeof a) == 0);
}
