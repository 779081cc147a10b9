// Open cases of group F for Oaken's outliers: OC-63 to OC-66, in published and in resident order, as
// COO entries and in nested bands. (OC-64 asks for save and load too: with the snapshot.)
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"

using namespace kvpleat;
using test::Dump;
using test::feed;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 64;

// Lanes of one cache: keys and values in unlike orders, so that both roles of each are met.
struct Orders : CacheTraits<kDim> {
  using Lanes = LaneList<KV<formats::Oaken<kDim>, formats::OakenJds16<kDim>>,
                         KV<formats::OakenJds16<kDim>, formats::OakenCoo12<kDim>>,
                         KV<formats::OakenPerHead<kDim>, formats::Oaken<kDim>>,
                         KV<formats::OakenCoo23<kDim>, formats::OakenPerHead<kDim>>>;
};
using Cache = KvCache<Orders>;
constexpr std::uint8_t kLanes = 4;

CacheShape shape_of(const std::uint8_t& lane, std::uint64_t tokens) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 1;
  shape.max_tokens = tokens;
  shape.default_lanes = &lane;
  shape.default_lane_count = 1;
  return shape;
}
Cache make(const CacheShape& shape, const std::vector<float>& thresholds) {
  const std::vector<LaneProfile> lanes(
      kLanes, {thresholds.data(), thresholds.size(), thresholds.data(), thresholds.size()});
  auto made = Cache::create(shape, lanes.data(), lanes.size());
  REQUIRE(made);
  return std::move(*made);
}
// Spill bytes of the keys.
std::size_t key_spill(const Cache& cache) {
  std::size_t bytes = 0;
  cache.visit(
      0, 0, {},
      [&](const auto& lane) {
        std::vector<BlockRun> runs(lane.count / 64 + 2);
        Rows open;
        const std::uint32_t n = lane.key_pieces(lane.slot, lane.count, runs.data(), open);
        for (std::uint32_t i = 0; i < n; ++i) bytes += runs[i].bytes.spill_bytes;
      },
      [](std::uint32_t, std::uint32_t) {});
  return bytes;
}
// Bytes of n entries of one token's keys.
std::size_t entries_of(std::uint8_t lane, std::size_t n) {
  return lane == 1 ? 2 * n : lane == 3 ? 3 * n : n;
}
std::vector<float> keys_of(const Cache& cache, std::uint32_t first, std::uint32_t n) {
  std::vector<float> rows(static_cast<std::size_t>(n) * kDim);
  REQUIRE(ok(cache.read(0, 0, first, n, rows.data(), nullptr)));
  return rows;
}

}  // namespace

TEST_CASE("OC-63 outliers among decode tokens: Oaken") {
  // 128 tokens at once give the thresholds of 4/90/6, 64 follow one by one with +40 in channel 11.
  std::vector<float> sample = test::normal(50, 128 * kDim);
  Tokens quiet{1, kDim, kDim, sample, {}};
  const std::vector<float> tail = test::normal(51, 64 * kDim);
  quiet.keys.insert(quiet.keys.end(), tail.begin(), tail.end());
  Tokens loud = quiet;
  for (std::uint32_t t = 128; t < 192; ++t) loud.keys[t * kDim + 11] = 40.0f;
  quiet.values = quiet.keys;
  loud.values = loud.keys;
  std::vector<float> thresholds(4);
  REQUIRE(ok(band_thresholds(sample.data(), sample.size(), {}, thresholds.data())));
  for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
    CAPTURE(lane);
    std::vector<float> read[2];
    for (const bool is_loud : {false, true}) {
      Cache cache = make(shape_of(lane, 192), thresholds);
      const Tokens& tokens = is_loud ? loud : quiet;
      REQUIRE(ok(feed(cache, 0, tokens, 0, 128, 128)));
      const std::uint64_t before = cache.key_counters(0).outer;
      REQUIRE(ok(feed(cache, 0, tokens, 128, 192, 1)));
      REQUIRE(ok(cache.flush(0)));
      std::uint64_t outer = 0;
      for (std::size_t i = 128 * kDim; i < tokens.keys.size(); ++i)
        outer += tokens.keys[i] > thresholds[3] || tokens.keys[i] < thresholds[0];
      CHECK(cache.key_counters(0).outer - before == outer);
      read[is_loud] = keys_of(cache, 128, 64);
    }
    // Channel 11 is the end of the outer band, whose stored maximum is a half: 2^-11 of 38, and
    // roundings of floats.
    float worst = 0.0f;
    // Squared errors of the others: in the middle and inner bands, and in the outer one.
    double lost[2][2] = {};
    for (std::uint32_t i = 0; i < 64 * kDim; ++i) {
      const float x = loud.keys[128 * kDim + i];
      if (i % kDim == 11) {
        worst = std::fmax(worst, std::fabs(read[1][i] - x));
        continue;
      }
      const bool outer = x > thresholds[3] || x < thresholds[0];
      for (int r = 0; r < 2; ++r) {
        const double error = static_cast<double>(read[r][i]) - static_cast<double>(x);
        lost[r][outer] += error * error;
      }
    }
    CHECK(worst <= 40.0f * 0x1p-10f);
    // Root mean square within 5 %: other bands do not see it. (Those in the outer band share its
    // range and are coarser beside it; values of COO entries of 23 bits are not.)
    CHECK(lost[1][0] <= 1.05 * 1.05 * lost[0][0]);
    if (lane == 3) {
      CHECK(lost[1][1] == lost[0][1]);
    } else {
      CHECK(lost[1][1] > lost[0][1]);
    }
  }
}

TEST_CASE("OC-64 no outliers, all outliers, one full row: Oaken") {
  const std::vector<float> queries = test::uniform(54, 3 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.group = 3;
  a.scale = 0.125f;
  const auto tokens_of = [](std::size_t n, auto change) {
    Tokens tokens{1, kDim, kDim, test::uniform(52, n * kDim), test::uniform(53, n * kDim)};
    for (std::size_t i = 0; i < tokens.keys.size(); ++i) {
      tokens.keys[i] = change(tokens.keys[i], i / kDim);
      tokens.values[i] = change(tokens.values[i], i / kDim);
    }
    return tokens;
  };
  const auto away = [](float x, float by) { return x < 0.0f ? x - by : x + by; };
  const std::vector<float> thresholds = {-2.0f, -0.125f, 0.125f, 2.0f};
  for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
    CAPTURE(lane);
    const auto check_attend = [&](const Cache& cache, const Tokens& tokens) {
      const test::AttendErrors errors = test::attend_errors(cache, 0, 0, a, &tokens);
      CHECK(errors.finite);
      CHECK(errors.kernel < 1e-5);  // double scores, float weights and sums over 100 values
      CHECK(errors.excess <= 0.0);
    };
    // 0 %: two bands of eight codes each over +-(0.125 .. 1.125): a step of 2 / 15 at most.
    const Tokens none = tokens_of(100, [&](float x, std::size_t) { return away(x, 0.1251f); });
    Cache plain = make(shape_of(lane, 100), thresholds);
    REQUIRE(ok(feed(plain, 0, none, 0, 100, 9)));
    REQUIRE(ok(plain.flush(0)));
    CHECK(key_spill(plain) == 0);
    CHECK(plain.counters(0).outliers == 0);
    const std::vector<float> read = keys_of(plain, 0, 100);
    for (std::size_t i = 0; i < read.size(); ++i)
      CHECK(std::fabs(read[i] - none.keys[i]) <= 2.0f / 15.0f + 0x1p-9f);
    check_attend(plain, none);

    // 100 %: every element has an entry.
    const Tokens all = tokens_of(100, [&](float x, std::size_t) { return away(x, 2.125f); });
    Cache full = make(shape_of(lane, 100), thresholds);
    REQUIRE(ok(feed(full, 0, all, 0, 100, 13)));
    REQUIRE(ok(full.flush(0)));
    CHECK(key_spill(full) == 100 * entries_of(lane, kDim));
    CHECK(full.counters(0).outliers == 2 * 100 * kDim);
    check_attend(full, all);

    // All large values in token 50: cropping takes its entries, and no others.
    const Tokens one = tokens_of(100, [&](float x, std::size_t t) {
      return away(x, t == 50 ? 9.0f : t == 7 ? 2.5f : 0.1251f);
    });
    Cache cache = make(shape_of(lane, 5000), thresholds);
    REQUIRE(ok(feed(cache, 0, one, 0, 100, 100)));
    REQUIRE(ok(cache.flush(0)));
    CHECK(key_spill(cache) == 2 * entries_of(lane, kDim));
    check_attend(cache, one);
    const std::vector<float> before = keys_of(cache, 0, 51);
    REQUIRE(ok(cache.truncate(0, 51)));
    CHECK(key_spill(cache) == 2 * entries_of(lane, kDim));
    CHECK(keys_of(cache, 0, 51) == before);
    REQUIRE(ok(cache.truncate(0, 50)));
    CHECK(key_spill(cache) == entries_of(lane, kDim));
    const std::vector<float> kept = keys_of(cache, 0, 50);
    CHECK(std::equal(kept.begin(), kept.end(), before.begin()));

    // Grown again to 5000 tokens, as if nothing had been cut.
    const Tokens many = tokens_of(5000, [&](float x, std::size_t t) {
      return away(x, t == 50 || t % 700 == 3 ? 9.0f : 0.1251f);
    });
    Cache other = make(shape_of(lane, 5000), thresholds);
    REQUIRE(ok(feed(other, 0, many, 0, 5000, 5000)));
    REQUIRE(ok(cache.truncate(0, 0)));
    REQUIRE(ok(feed(cache, 0, many, 0, 5000, 77)));
    CHECK(Dump(cache) == Dump(other));
  }
}

TEST_CASE("OC-65 sparse index width: Oaken's entries never count tokens") {
  constexpr std::uint32_t kTokens = 131072;
  constexpr std::uint32_t kNarrow = 8;
  struct Narrow : CacheTraits<kNarrow> {
    using Lanes = LaneList<KV<formats::Oaken<kNarrow>, formats::OakenJds16<kNarrow>>>;
  };
  Tokens tokens{1, kNarrow, kNarrow, test::uniform(65, kTokens * kNarrow), {}};
  const std::uint32_t marked[4] = {65534, 65535, 65536, 131071};
  for (const std::uint32_t t : marked) {
    tokens.keys[t * kNarrow] = 40.0f + static_cast<float>(t % 7);
    tokens.keys[t * kNarrow + 7] = -50.0f;
  }
  tokens.values = tokens.keys;
  const std::vector<float> thresholds = {-2.0f, 0.0f, 0.0f, 2.0f};  // inner: 0 alone
  const LaneProfile lane = {thresholds.data(), 4, thresholds.data(), 4};
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 1;
  shape.max_tokens = kTokens;
  auto cache = KvCache<Narrow>::create(shape, &lane, 1);
  REQUIRE(cache);
  REQUIRE(ok(feed(*cache, 0, tokens, 0, kTokens, 50000)));
  REQUIRE(ok(cache->flush(0)));
  CHECK(cache->key_counters(0).outer == 8);
  for (const std::uint32_t t : marked) {
    for (const std::uint32_t at : {t - 1, t}) {
      float key[kNarrow];
      float value[kNarrow];
      REQUIRE(ok(cache->read(0, 0, at, 1, key, value)));
      for (std::uint32_t c = 0; c < kNarrow; ++c) {
        // A step of the middle (2 / 15); of the outer band half a step of at most 10 / 15 (its two
        // values are its ends), rounded to halves.
        const float x = tokens.key(at, 0)[c];
        CHECK(std::fabs(key[c] - x) <= (std::fabs(x) > 2.0f ? 0.05f : 2.0f / 15.0f + 0x1p-9f));
        CHECK(value[c] == key[c]);
      }
    }
  }
  // Damaged entries: tests/codec/fused_test.cc, jagged_test.cc, coo_test.cc. 547 heads of 128:
  // entries name a place in a chunk of 64 elements of their own head.
}

TEST_CASE("OC-66 infinite or NaN candidates: Oaken") {
  std::vector<float> row = test::normal(53, kDim, 0.5f);
  for (const std::uint32_t c : {10u, 30u, 44u, 60u}) row[c] = c % 20 == 10 ? 50.0f : -50.0f;
  const std::vector<float> thresholds = {-2.0f, -0.0625f, 0.0625f, 2.0f};
  const std::pair<std::uint32_t, std::uint32_t> places[] = {{0, 1}, {62, 63}, {29, 31}, {45, 9}};
  for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
    CAPTURE(lane);
    for (const auto& [infinite, nan] : places) {
      std::vector<float> bad = row;
      bad[infinite] = std::numeric_limits<float>::infinity();
      bad[nan] = std::numeric_limits<float>::quiet_NaN();
      const TokenRows rows(bad.data(), 1, 1, kDim);
      CacheShape shape = shape_of(lane, 4);
      Cache strict = make(shape, thresholds);
      CHECK(strict.append(0, rows, rows) == Status::kNonFinite);
      CHECK(strict.tokens(0) == 0);
      shape.non_finite = NonFinite::kZero;
      Cache cache = make(shape, thresholds);
      REQUIRE(ok(cache.append(0, rows, rows)));
      REQUIRE(ok(cache.flush(0)));
      CHECK(cache.counters(0).non_finite == 4);
      // As the row with zeros there, which are inner values.
      std::vector<float> zeroed = row;
      zeroed[infinite] = zeroed[nan] = 0.0f;
      const TokenRows clean(zeroed.data(), 1, 1, kDim);
      Cache wanted = make(shape, thresholds);
      REQUIRE(ok(wanted.append(0, clean, clean)));
      REQUIRE(ok(wanted.flush(0)));
      CHECK(Dump(cache) == Dump(wanted));
      CHECK(cache.key_counters(0).outer == 4);
      const std::vector<float> back = keys_of(cache, 0, 1);
      for (const std::uint32_t c : {10u, 30u, 44u, 60u})
        CHECK(std::fabs(back[c] - row[c]) <= 50.0f * 0x1p-10f);
    }
  }
}
