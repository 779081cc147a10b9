// The tiered cache: tiers of heads, what they keep and what they cost.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"
#include "support/gaussian.h"

using namespace kvpleat;
using test::CountingMemory;
using test::Dump;
using test::feed;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 64;

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

// Ten heads in two layers: one 16-bit, six 8-bit, three hash heads each, spread.
const std::uint8_t kTiers[20] = {1, 2, 1, 0, 1, 1, 2, 1, 2, 1, 2, 1, 1, 1, 2, 1, 0, 1, 1, 2};

CacheShape tier_shape(std::uint32_t residual = 0, std::uint32_t sinks = 0) {
  CacheShape shape = shape_of(2, 10, 2048);
  shape.default_lanes = kTiers;
  shape.default_lane_count = 20;
  shape.residual = residual;
  shape.sinks = sinks;
  return shape;
}

}  // namespace

TEST_CASE("tiers of heads: the top tier reads back 16-bit input to the bit, the others nearly") {
  const auto check = []<class Traits>(auto rounded) {
    using Cache = KvCache<Traits>;
    constexpr std::uint32_t kTokens = 300;
    Tokens data = gaussian_tokens(3, kTokens, 10);
    for (float& x : data.keys) x = rounded(x);
    for (float& x : data.values) x = rounded(x);
    Cache cache = make<Cache>(tier_shape());
    for (std::uint32_t l = 0; l < 2; ++l) REQUIRE(ok(feed(cache, l, data, 0, kTokens, 64)));
    for (std::uint32_t l = 0; l < 2; ++l) {
      for (std::uint32_t h = 0; h < 10; ++h) {
        CAPTURE(l);
        CAPTURE(h);
        const std::uint8_t tier = kTiers[l * 10 + h];
        CHECK(cache.lane(l, h, 7) == tier);
        const std::vector<float> rows = read(cache, l, h, 0, kTokens);
        double error = 0.0;
        double power = 0.0;
        bool exact = true;
        for (std::uint32_t t = 0; t < kTokens; ++t) {
          for (std::uint32_t c = 0; c < kDim; ++c) {
            const float key = data.key(t, h)[c];
            const float value = data.value(t, h)[c];
            const float* own = rows.data() + static_cast<std::size_t>(t) * kDim;
            exact = exact && own[c] == key && own[kTokens * kDim + c] == value;
            const double d = static_cast<double>(own[c]) - static_cast<double>(key);
            error += d * d;
            power += static_cast<double>(key) * static_cast<double>(key);
          }
        }
        CHECK(exact == (tier == 0));
        // 8 bits with outliers apart: 7.5e-5. 12 of 64 Gaussian values hold 63 % of the energy.
        if (tier == 1) CHECK(error / power < 1e-4);
        if (tier == 2) CHECK(error / power == doctest::Approx(0.37).epsilon(0.1));
      }
    }
  };
  check.operator()<presets::TieredTurbo<kDim>>([](float x) { return to_float(to_half(x)); });
  check.operator()<presets::TieredTurbo<kDim, BFloat16>>(
      [](float x) { return to_float(to_bfloat16(x)); });
}

TEST_CASE("tiers of heads: attention is that of double precision within the tiers' errors") {
  using Cache = KvCache<presets::TieredTurbo<kDim>>;
  constexpr std::uint32_t kTokens = 400;
  Tokens data = gaussian_tokens(4, kTokens, 10);
  const std::vector<float> queries = test::normal(5, 4 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.rows = 1;
  a.group = 4;
  a.scale = 0.125f;
  for (const std::uint32_t residual : {0u, 32u}) {
    Cache cache = make<Cache>(tier_shape(residual, residual / 8));
    REQUIRE(ok(feed(cache, 0, data, 0, kTokens, 37)));
    for (std::uint32_t h = 0; h < 10; ++h) {
      CAPTURE(h);
      const test::AttendErrors errors = test::attend_errors(cache, 0, h, a, &data);
      CHECK(errors.finite);
      CHECK(errors.kernel <= 1e-5);  // float sums of 400 terms, each within 2^-24
      CHECK(errors.excess <= 0.0);
      // Of the largest value, 4.5 deviations. The output of the 16-bit tier errs by half's 2^-12 of
      // logits up to 4 and of values; that of 8 bits by logits off by 0.01 and less; what the hash
      // tier leaves out changes weights by tens of percent.
      const std::uint8_t tier = kTiers[h];
      CHECK(errors.original < (tier == 0 ? 1e-3 : tier == 1 ? 1e-2 : 0.3));
      if (tier == 2) CHECK(errors.original > 1e-3);
    }
  }
}

TEST_CASE("tiers of heads: memory is what was predicted and what was allocated") {
  using Cache = KvCache<presets::TieredTurbo<kDim>>;
  const Tokens data = gaussian_tokens(6, 700, 10);
  for (const std::uint32_t residual : {0u, 16u}) {
    CountingMemory memory;
    {
      const CacheShape shape = tier_shape(residual, 4);
      Cache cache = make<Cache>(shape, memory.source());
      for (const std::uint32_t n : {1u, 63u, 128u, 129u, 300u, 700u}) {
        CAPTURE(n);
        for (std::uint32_t l = 0; l < 2; ++l)
          REQUIRE(ok(feed(cache, l, data, cache.tokens(l), n, 64)));
        CHECK(cache.memory() == Cache::predict(shape, n));
        CHECK(cache.memory().total() == memory.bytes());
      }
      // Cut and filled again: the same bytes.
      const Dump whole(cache);
      REQUIRE(ok(cache.truncate(333)));
      for (std::uint32_t l = 0; l < 2; ++l) {
        REQUIRE(ok(feed(cache, l, data, 333, 700, 20)));
      }
      CHECK(Dump(cache) == whole);
    }
    CHECK(memory.bytes() == 0);
    CHECK(memory.clean());
  }
}

// The ratios of a publication by arithmetic on widths alone: scales, slots and tables cost nothing.
static_assert(TierShares{10, 60, 30}.literal_bits() == 7.6);
static_assert(TierShares{15, 70, 15}.literal_bits() == 8.6);
static_assert(TierShares{20, 65, 15}.literal_bits() == 9.0);
static_assert(TierShares{10, 60, 30}.literal_ratio() > 2.105 &&
              TierShares{10, 60, 30}.literal_ratio() < 2.106);
static_assert(TierShares{15, 70, 15}.literal_ratio() > 1.860 &&
              TierShares{15, 70, 15}.literal_ratio() < 1.861);
static_assert(TierShares{20, 65, 15}.literal_ratio() > 1.777 &&
              TierShares{20, 65, 15}.literal_ratio() < 1.778);

TEST_CASE("tiers of heads: literal ratios and those of all bytes") {
  using Cache = KvCache<presets::TieredTurbo<kDim>>;
  // 20 heads: the shares hold exactly.
  constexpr std::uint32_t kLayers = 2;
  constexpr std::uint32_t kTokens = 1024;
  const struct {
    TierShares shares;
    double literal;
  } rows[3] = {{{10, 60, 30}, 2.11}, {{15, 70, 15}, 1.86}, {{20, 65, 15}, 1.78}};
  for (const auto& row : rows) {
    const std::uint32_t shares[3] = {row.shares.top, row.shares.middle, row.shares.bottom};
    std::uint32_t counts[3] = {};
    tier_counts(kLayers * 10, shares, counts);
    std::vector<std::uint8_t> lanes;
    for (std::uint8_t i = 0; i < 3; ++i) lanes.insert(lanes.end(), counts[i], i);
    CacheShape shape = shape_of(kLayers, 10, kTokens);
    shape.default_lanes = lanes.data();
    shape.default_lane_count = lanes.size();
    Cache cache = make<Cache>(shape);
    const Tokens data = gaussian_tokens(7, kTokens, 10);
    for (std::uint32_t l = 0; l < kLayers; ++l)
      REQUIRE(ok(cache.append(l, data.k(0, kTokens), data.v(0, kTokens))));
    const MemoryReport memory = cache.memory();
    CHECK(memory == Cache::predict(shape, kTokens));
    MESSAGE(std::string(to_string(memory).c_str()), "; literal ", row.shares.literal_ratio(),
            ", measured ", memory.ratio_to_half());
    CHECK(row.shares.literal_ratio() == doctest::Approx(row.literal).epsilon(0.003));
    // 16, 9.273 and 4.25 bits; and maps and ends of slabs, 10 % at most in so few heads.
    const double bits =
        (16.0 * shares[0] + (8.0 + 81.5 / 64.0) * shares[1] + 4.25 * shares[2]) / 100.0;
    const auto held = static_cast<double>(memory.codes + memory.side + memory.outliers);
    CHECK(held * 8.0 == doctest::Approx(bits * 2.0 * kLayers * 10 * kTokens * kDim).epsilon(1e-4));
    CHECK(memory.bits_per_element() > bits);
    CHECK(memory.bits_per_element() < bits * 1.10);
  }
}
