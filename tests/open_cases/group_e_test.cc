// Open cases, group E: attention. OC-62: the parts that need no files and no fork. OC-58 at
// head_dim 64 stands with the tests of attend.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"
#include "support/format_pairs.h"

using namespace kvpleat;
using test::AttendErrors;
using test::CountingMemory;
using test::Dump;
using test::feed;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 64;
constexpr float kInfinite = std::numeric_limits<float>::infinity();
// All named formats at head_dim 64 without a profile would miss two; the pairs at 128 have those.
using Int8 = KvCache<presets::Int8<kDim>>;

CacheShape shape_of(std::uint32_t heads, std::uint64_t tokens) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = heads;
  shape.max_tokens = tokens;
  shape.rope = Rope::standard(RopeLayout::kHalves, kDim, 10000.0);
  return shape;
}
Int8 make(std::uint32_t heads, std::uint64_t tokens, const MemorySource& memory = heap_memory()) {
  auto made = Int8::create(shape_of(heads, tokens), nullptr, 0, memory);
  REQUIRE(made);
  return std::move(*made);
}
AttendArguments arguments_of(const float* queries, std::uint32_t rows, std::uint32_t group,
                             float scale) {
  AttendArguments a;
  a.queries = queries;
  a.rows = rows;
  a.group = group;
  a.scale = scale;
  return a;
}

// ---- head_dim 128: every pair of formats, one profile ----

const test::Profiles& wide_profiles() {
  static const test::Profiles made(1, 128);
  return made;
}
const Tokens& wide_data() {
  static const Tokens made = test::tokens_of(38, 300, 1, 128, 0.5f, -0.5f);
  return made;
}

// Calls visit(cache of one lane) for every pair of formats.
template <std::size_t kFirst, class Visit>
void each_pair(std::uint32_t dim, const test::Profiles& profiles, Visit visit) {
  using Traits = test::PairTraits<128, kFirst>;
  const auto lanes = test::pair_profiles(profiles, kFirst, Traits::kCount);
  for (std::uint8_t lane = 0; lane < Traits::kCount; ++lane) {
    CAPTURE(kFirst + lane);
    CacheShape shape = shape_of(1, 400);
    shape.rope = Rope::standard(RopeLayout::kHalves, dim, 10000.0);
    shape.sinks = 1;
    shape.default_lanes = &lane;
    shape.default_lane_count = 1;
    auto cache = KvCache<Traits>::create(shape, lanes.data(), lanes.size());
    REQUIRE(cache);
    visit(*cache, lane);
  }
}
template <class Visit>
void each_pair(Visit visit) {
  each_pair<0>(128, wide_profiles(), visit);
  each_pair<test::kPairLanes>(128, wide_profiles(), visit);
  each_pair<2 * test::kPairLanes>(128, wide_profiles(), visit);
  each_pair<3 * test::kPairLanes>(128, wide_profiles(), visit);
}

void check_pair_attention(auto& cache, std::uint8_t lane) {
  REQUIRE(ok(feed(cache, 0, wide_data(), 0, 100, 31)));
  const std::vector<float> queries = test::normal(39, 3 * 128);
  AttendReport report;
  AttendArguments a = arguments_of(queries.data(), 1, 3, 0.0884f);
  a.report = &report;
  a.strict = true;
  const AttendErrors errors = test::attend_errors(cache, 0, 0, a, &wide_data());
  CHECK(errors.finite);
  CHECK(errors.kernel <= 1e-4);  // derived in tests/attention/attend_test.cc
  CHECK(errors.excess <= 0.0);
  CHECK(test::worst_over_bound<true>(cache, 0, 0, wide_data()) <= 1.0);
  CHECK(test::worst_over_bound<false>(cache, 0, 0, wide_data()) <= 1.0);
  CHECK(report.key[lane] == Path::kReference);
  CHECK(report.value[lane] == Path::kReference);
}
// K = 0, V = 1: the learned sink takes 5/8 of the softmax.
void check_pair_sink(auto& cache) {
  REQUIRE(ok(cache.truncate(0, 0)));
  Tokens flat{1, 128, 128, std::vector<float>(3 * 128, 0.0f), std::vector<float>(3 * 128, 1.0f)};
  REQUIRE(ok(feed(cache, 0, flat, 0, 3, 3)));
  const std::vector<float> query = test::normal(57, 128);
  const float logit = std::log(5.0f);
  float v[3 * 128];
  float k[3 * 128];
  REQUIRE(ok(cache.read(0, 0, 0, 3, k, v)));
  float out[128];
  const AttendArguments a = arguments_of(query.data(), 1, 1, 0.0884f);
  REQUIRE(ok(attend(cache, 0, 0, a, out, nullptr, LearnedSink{&logit})));
  const AttendErrors errors = test::compare_attend(
      cache, 0, 0, a, out, nullptr, nullptr, [](double s) { return s; }, &logit);
  CHECK(errors.kernel <= 1e-4);
  // Rows whose formats hold 0 and 1 exactly: 3/8 to the last bits.
  bool exact = true;
  for (const float x : k) exact = exact && x == 0.0f;
  for (const float x : v) exact = exact && x == 1.0f;
  if (!exact) return;
  for (const float x : out) CHECK(std::fabs(x - 0.375f) <= 1e-6f);
}

}  // namespace

TEST_CASE("OC-52 attention over an empty cache") {
  const std::vector<float> queries = test::normal(52, 2 * kDim);
  const Tokens data = test::tokens_of(52, 70, 2, kDim);
  auto cache = make(2, 80);
  auto cropped = make(2, 80);
  REQUIRE(ok(feed(cropped, 0, data, 0, 70, 70)));
  AttentionState<kDim> part[2];
  const AttendArguments a = arguments_of(queries.data(), 1, 2, 0.125f);
  REQUIRE(ok(attend_partial(cropped, 0, 1, {0, 40}, a, part)));
  REQUIRE(ok(cropped.truncate(0, 0)));
  for (const Int8* empty : {&cache, &cropped}) {
    std::vector<float> out(2 * kDim, 9.0f);
    float sums[2] = {9.0f, 9.0f};
    REQUIRE(ok(attend(*empty, 0, 1, a, out.data())));
    for (const float x : out) CHECK(x == 0.0f);
    REQUIRE(ok(attend(*empty, 0, 1, a, out.data(), sums)));
    CHECK(sums[0] == -kInfinite);
    CHECK(sums[1] == -kInfinite);
    AttentionState<kDim> nothing[2];
    REQUIRE(ok(attend_partial(*empty, 0, 1, {}, a, nothing)));
    AttentionState<kDim> merged = part[1];
    merged.merge(nothing[1]);
    AttentionState<kDim> other = nothing[1];
    other.merge(part[1]);
    for (const AttentionState<kDim>* m : {&merged, &other}) {
      CHECK(m->largest == part[1].largest);
      CHECK(m->sum == part[1].sum);
      CHECK(std::memcmp(m->output, part[1].output, sizeof m->output) == 0);
    }
    nothing[0].merge(nothing[1]);
    CHECK(nothing[0].sum == 0.0f);
    CHECK(nothing[0].log_sum() == -kInfinite);
  }
}

TEST_CASE("OC-53 rows that see no key") {
  const Tokens data = test::tokens_of(36, 5, 1, kDim);
  auto cache = make(1, 5);
  REQUIRE(ok(feed(cache, 0, data, 0, 5, 5)));
  const std::vector<float> queries = test::normal(37, 9 * kDim);
  AttendArguments a = arguments_of(queries.data(), 9, 1, 0.125f);
  IndexRange limits[9];
  causal_limits(5, 9, limits);
  a.limits = limits;
  std::vector<float> out(9 * kDim, 9.0f);
  float sums[9];
  REQUIRE(ok(attend(cache, 0, 0, a, out.data(), sums)));
  for (std::uint32_t r = 0; r < 9; ++r) {
    CHECK((sums[r] == -kInfinite) == (r < 4));
    if (r < 4) CHECK(out[r * kDim + 5] == 0.0f);
  }
  CHECK(test::attend_errors(cache, 0, 0, a, &data).kernel <= 1e-4);
  std::vector<std::uint8_t> mask(9 * 5, 1);
  for (int t = 0; t < 5; ++t) mask[3 * 5 + static_cast<std::size_t>(t)] = 0;
  a.limits = nullptr;
  a.mask = mask.data();
  a.mask_tokens = 5;
  REQUIRE(ok(attend(cache, 0, 0, a, out.data(), sums)));
  CHECK(sums[3] == -kInfinite);
  CHECK(out[3 * kDim] == 0.0f);
  const AttendErrors errors = test::attend_errors(cache, 0, 0, a, &data);
  CHECK(errors.finite);
  CHECK(errors.kernel <= 1e-4);
  // The helper itself sees a NaN on one side, and a log-sum that is missing on one side.
  out[4] = std::nanf("");
  CHECK_FALSE(test::compare_attend(cache, 0, 0, a, out.data(), sums, nullptr, [](double s) {
                return s;
              }).finite);
  out[4] = 0.0f;
  sums[3] = 0.0f;
  CHECK_FALSE(test::compare_attend(cache, 0, 0, a, out.data(), sums, nullptr, [](double s) {
                return s;
              }).finite);
}

TEST_CASE("OC-54 very negative but valid scores") {
  Tokens data{1, kDim, kDim, std::vector<float>(3 * kDim, -100.0f), std::vector<float>(3 * kDim)};
  for (std::size_t i = 0; i < data.values.size(); ++i)
    data.values[i] = static_cast<float>(i / kDim + 1);
  auto cache = make(1, 3);
  REQUIRE(ok(feed(cache, 0, data, 0, 3, 3)));
  const std::vector<float> query(kDim, 100.0f);
  for (const double score : {-640000.0, -3e38}) {
    const AttendArguments a =
        arguments_of(query.data(), 1, 1, static_cast<float>(score / -640000.0));
    float out[kDim];
    float sum = 0.0f;
    REQUIRE(ok(attend(cache, 0, 0, a, out, &sum)));
    for (const float x : out) CHECK(std::fabs(x - 2.0f) <= 1e-6f);
    CHECK(static_cast<double>(sum) == doctest::Approx(score + std::log(3.0)).epsilon(1e-6));
  }
}

TEST_CASE("OC-55 score overflow in narrow accumulation") {
  // Half inputs, every storage type: the pairs of one format with itself are among all pairs.
  std::vector<std::uint16_t> half(2 * 128);
  for (std::size_t i = 0; i < half.size(); ++i) half[i] = to_half(i < 128 ? 300.0f : 299.5f).bits;
  const std::vector<float> query(128, 300.0f);
  each_pair([&](auto& cache, std::uint8_t) {
    const TokenRows rows = TokenRows::tagged(half.data(), ElementType::kHalf, 2, 1, 128);
    REQUIRE(ok(cache.append(0, rows, rows)));
    const AttendArguments a = arguments_of(query.data(), 1, 1, 1.0f / std::sqrt(128.0f));
    const AttendErrors errors = test::attend_errors(cache, 0, 0, a);
    CHECK(errors.finite);
    CHECK(errors.kernel <= 1e-3);
  });
}

TEST_CASE("OC-56 junk beyond the last token") {
  const Tokens data = test::tokens_of(37, 4090, 1, kDim);
  const std::vector<float> query = test::normal(56, kDim);
  const AttendArguments a = arguments_of(query.data(), 1, 1, 0.125f);
  // Per channel keys (seal 32), slots, shared bytes with spill: what can hold junk.
  using Traits = test::PairTraits<128, 2 * test::kPairLanes>;
  static_assert(Traits::kCount == test::kPairLanes);
  for (const std::uint32_t n : {1u, 15u, 16u, 17u, 4090u}) {
    CAPTURE(n);
    std::vector<float> out[2];
    for (const bool junk : {false, true}) {
      CountingMemory memory;
      memory.fill(junk ? 0xff : 0x00);
      auto cache = make(1, 4096, memory.source());
      REQUIRE(ok(feed(cache, 0, data, 0, n, 4090)));
      out[junk].resize(kDim);
      REQUIRE(ok(attend(cache, 0, 0, a, out[junk].data())));
    }
    for (const float x : out[1]) CHECK(std::isfinite(x));
    CHECK(std::memcmp(out[0].data(), out[1].data(), kDim * sizeof(float)) == 0);
  }
  // Cropped, and what lies behind the cut overwritten.
  const std::vector<float> wide_query = test::normal(57, 128);
  const AttendArguments wide = arguments_of(wide_query.data(), 1, 1, 0.0884f);
  each_pair([&](auto& cache, std::uint8_t) {
    REQUIRE(ok(feed(cache, 0, wide_data(), 0, 65, 65)));
    REQUIRE(ok(cache.truncate(0, 38)));  // one sink and 37 slots
    float before[128];
    REQUIRE(ok(attend(cache, 0, 0, wide, before)));
    cache.visit(
        0, 0, {},
        [&](const auto& lane) {
          using Pair = typename std::remove_cvref_t<decltype(lane)>::Pair;
          const auto spoil = [&]<class F>(auto pieces) {
            BlockRun runs[4];
            Rows open;
            const std::uint32_t count = pieces(runs, open);
            for (std::uint32_t r = 0; r < count; ++r) {
              // 0xFF into every slot behind the cut: where erase would write zeros.
              std::vector<std::uint8_t> zeros(F::kBlockBytes, 0xff);
              F::erase(zeros.data(), 37, F::kBlockTokens - 37);
              auto* block = const_cast<std::uint8_t*>(runs[r].bytes.block);
              for (std::uint32_t i = 0; i < F::kBlockBytes; ++i)
                block[i] = static_cast<std::uint8_t>(block[i] | ~zeros[i]);
            }
          };
          spoil.template operator()<typename Pair::Key>([&](BlockRun* runs, Rows& open) {
            return lane.key_pieces(lane.slot, lane.count, runs, open);
          });
          spoil.template operator()<typename Pair::Value>([&](BlockRun* runs, Rows& open) {
            return lane.value_pieces(lane.slot, lane.count, runs, open);
          });
        },
        [](std::uint32_t, std::uint32_t) {});
    float after[128];
    REQUIRE(ok(attend(cache, 0, 0, wide, after)));
    CHECK(std::isfinite(after[0]));
    CHECK(std::memcmp(before, after, sizeof before) == 0);
  });
}

TEST_CASE("OC-57 learned sink term under every storage type") {
  each_pair([&](auto& cache, std::uint8_t) { check_pair_sink(cache); });
}

TEST_CASE("OC-58 every K/V type pair, no silent slow path (D = 128)") {
  each_pair([&](auto& cache, std::uint8_t lane) { check_pair_attention(cache, lane); });
}

TEST_CASE("OC-59 fused result equals read-then-attend") {
  for (const std::uint32_t n : {3u, 300u}) {
    auto cache = KvCache<presets::Int8<128>>::create(shape_of(1, 300));
    REQUIRE(cache);
    Tokens data{1, 128, 128, std::vector<float>(n * 128, 1.0f), test::uniform(39, n * 128)};
    REQUIRE(ok(feed(*cache, 0, data, 0, n, 100)));
    std::vector<float> query(128, 5.0f);
    query[0] = 2000.0f;
    CHECK(test::attend_errors(*cache, 0, 0, arguments_of(query.data(), 1, 1, 0.0884f)).kernel <=
          1e-4);
    auto random = KvCache<presets::Int8<128>>::create(shape_of(1, 300));
    REQUIRE(ok(feed(*random, 0, test::tokens_of(40, n, 1, 128), 0, n, 100)));
    query = test::normal(41, 128);
    query[0] = 2000.0f;
    CHECK(test::attend_errors(*random, 0, 0, arguments_of(query.data(), 1, 1, 0.0884f)).kernel <=
          1e-4);
  }
}

TEST_CASE("OC-60 mask given per query head") {
  constexpr std::uint32_t kKeys = 8;
  Tokens data = test::tokens_of(60, kKeys, 2, kDim);
  for (std::size_t i = 0; i < data.values.size(); ++i)
    data.values[i] = static_cast<float>(i / (2 * kDim));
  auto cache = make(2, kKeys);
  REQUIRE(ok(feed(cache, 0, data, 0, kKeys, kKeys)));
  const std::vector<float> queries = test::normal(61, 8 * kDim);
  std::vector<std::uint8_t> mask(8 * kKeys, 0);
  for (std::size_t h = 0; h < 8; ++h) mask[h * kKeys + h] = 1;
  AttendArguments a = arguments_of(queries.data(), 1, 1, 0.125f);
  a.mask = mask.data();
  a.mask_tokens = kKeys;
  std::vector<float> out(8 * kDim);
  Sequential here;
  REQUIRE(ok(attend_layer(cache, 0, 8, a, out.data(), nullptr, here)));
  for (std::uint32_t h = 0; h < 8; ++h) {
    for (std::uint32_t c = 0; c < kDim; ++c) CHECK(out[h * kDim + c] == static_cast<float>(h));
  }
  a.mask_tokens = kKeys + 1;
  CHECK(attend_layer(cache, 0, 8, a, out.data(), nullptr, here) == Status::kMismatch);
}

TEST_CASE("OC-61 prefill and decode rows in one call") {
  const std::uint32_t tokens[4] = {100, 17, 1, 200};
  const std::uint32_t rows[4] = {1, 17, 1, 64};
  std::vector<Int8> caches;
  const std::vector<float> queries = test::normal(42, 64 * kDim);
  std::vector<std::vector<float>> alone(4);
  std::vector<std::vector<IndexRange>> limits(4);
  for (std::size_t i = 0; i < 4; ++i) {
    caches.push_back(make(1, 200));
    REQUIRE(ok(feed(caches[i], 0, test::tokens_of(41, tokens[i], 1, kDim), 0, tokens[i], 64)));
    limits[i].resize(rows[i]);
    causal_limits(tokens[i], rows[i], limits[i].data());
  }
  std::vector<AttendItem<presets::Int8<kDim>>> items(4);
  for (std::size_t i = 0; i < 4; ++i) {
    items[i].cache = &caches[i];
    items[i].arguments = arguments_of(queries.data(), rows[i], 1, 0.125f);
    items[i].arguments.limits = limits[i].data();
    alone[i].resize(rows[i] * kDim);
    REQUIRE(ok(attend(caches[i], 0, 0, items[i].arguments, alone[i].data())));
  }
  Sequential here;
  for (std::size_t round = 0; round < 100; ++round) {
    std::vector<std::vector<float>> out(4);
    std::vector<AttendItem<presets::Int8<kDim>>> shuffled;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t at = (i * 3 + round) % 4;
      out[at].resize(rows[at] * kDim);
      items[at].out = out[at].data();
      shuffled.push_back(items[at]);
    }
    REQUIRE(ok(attend_batch(shuffled.data(), 4, here)));
    for (std::size_t i = 0; i < 4; ++i)
      REQUIRE(std::memcmp(out[i].data(), alone[i].data(), out[i].size() * sizeof(float)) == 0);
  }
}

TEST_CASE("OC-62 reusing a stored prefix equals computing it cold") {
  const Tokens data = test::tokens_of(42, 150, 1, kDim);
  const std::vector<float> query = test::normal(62, kDim);
  std::vector<float> wanted(kDim);
  for (int run = 0; run < 3; ++run) {
    auto cold = make(1, 150);
    auto warm = make(1, 150);
    auto back = make(1, 150);
    REQUIRE(ok(feed(cold, 0, data, 0, 150, 150)));
    REQUIRE(ok(feed(warm, 0, data, 0, 97, 97)));
    REQUIRE(ok(feed(warm, 0, data, 97, 150, 53)));
    REQUIRE(ok(feed(back, 0, data, 0, 130, 130)));
    REQUIRE(ok(back.truncate(0, 96)));
    REQUIRE(ok(feed(back, 0, data, 96, 150, 54)));
    CHECK(Dump(warm) == Dump(cold));
    CHECK(Dump(back) == Dump(cold));
    for (const Int8* cache : {&cold, &warm, &back}) {
      std::vector<float> out(kDim);
      REQUIRE(ok(attend(*cache, 0, 0, arguments_of(query.data(), 1, 1, 0.125f), out.data())));
      if (run == 0 && cache == &cold) wanted = out;
      CHECK(std::memcmp(out.data(), wanted.data(), kDim * sizeof(float)) == 0);
    }
  }
}
