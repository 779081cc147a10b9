#include "kvpleat/calibrate/dead_heads.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kvpleat/attention/attend.h"
#include "kvpleat/cache/presets.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 64;
constexpr std::uint32_t kHeads = 3;
constexpr std::uint32_t kTokens = 200;
constexpr std::uint32_t kGroup = 2;
constexpr std::uint32_t kRows = 4;

// Random keys, values and queries; scale 1: scores have deviation 8, so attention is peaked.
struct Data {
  std::vector<float> keys = test::normal(1, kTokens* kHeads* kDim);
  std::vector<float> values = test::normal(2, kTokens* kHeads* kDim);
  std::vector<float> queries = test::normal(3, kHeads* kRows* kGroup* kDim);
  float scale = 1.0f;

  static std::size_t at(std::uint32_t token, std::uint32_t head, std::uint32_t channel) {
    return (static_cast<std::size_t>(token) * kHeads + head) * kDim + channel;
  }
  [[nodiscard]] TokenRows k() const { return {keys.data(), kTokens, kHeads, kDim}; }
  [[nodiscard]] TokenRows v() const { return {values.data(), kTokens, kHeads, kDim}; }
  [[nodiscard]] AttendArguments arguments(std::uint32_t head) const {
    AttendArguments arguments;
    arguments.queries = queries.data() + static_cast<std::size_t>(head) * kRows * kGroup * kDim;
    arguments.rows = kRows;
    arguments.group = kGroup;
    arguments.scale = scale;
    return arguments;
  }
};
struct Scratch {
  std::vector<float> floats = std::vector<float>(kTokens * kDim);
  std::vector<double> doubles = std::vector<double>(kTokens);
  [[nodiscard]] HeadScratch view() {
    return {floats.data(), floats.size(), doubles.data(), doubles.size()};
  }
};
template <class Traits>
Result<KvCache<Traits>> fill(const Data& data) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.max_tokens = kTokens;
  auto cache = KvCache<Traits>::create(shape);
  REQUIRE(cache);
  REQUIRE(ok(cache->append(0, data.k(), data.v())));
  return cache;
}
// Attends and inspects.
template <class Traits>
HeadHealth inspect_one(const KvCache<Traits>& cache, const Data& data, std::uint32_t head,
                       const IndexRange* limits = nullptr) {
  AttendArguments arguments = data.arguments(head);
  arguments.limits = limits;
  std::vector<float> outputs(kRows * kGroup * kDim);
  REQUIRE(ok(attend(cache, 0, head, arguments, outputs.data())));
  const HeadQueries asked{arguments.queries, outputs.data(), kRows, kGroup, data.scale, limits};
  Scratch scratch;
  HeadHealth health;
  REQUIRE(ok(inspect_head(cache, 0, head, data.k(), data.v(), asked, scratch.view(), health)));
  return health;
}
template <class Traits>
std::vector<HeadHealth> inspect(const Data& data, std::vector<Finding>& found) {
  const auto cache = fill<Traits>(data);
  std::vector<HeadHealth> all(kHeads);
  found.assign(kHeads, {});
  Findings findings(found.data(), found.size());
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    all[h] = inspect_one(*cache, data, h);
    check_dead_head(5, h, all[h], findings);
  }
  found.resize(findings.count());
  return all;
}

// Keys of 8 bits; values of three levels, so that what lies below half the largest is lost.
struct ThreeLevels : presets::Single<formats::Int8<kDim>, formats::Dense<kDim, SymmetricQuant<2>>> {
};

// Values that the three levels hold exactly.
void make_three_levels(Data& data) {
  for (float& x : data.values) x = x > 0.5f ? 1.0f : (x < -0.5f ? -1.0f : 0.0f);
}
// A head whose values are between -0.36 and 0.36, the same for all tokens, but for two channels of
// 1 and -1 that change places: between those the others are stored as zeros.
void make_small(Data& data, std::uint32_t head) {
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    for (std::uint32_t c = 0; c < kDim; ++c) {
      data.values[Data::at(t, head, c)] =
          0.06f * static_cast<float>(static_cast<int>(c * 7 % 13) - 6);
    }
    data.values[Data::at(t, head, 9)] = t % 2 == 0 ? 1.0f : -1.0f;
    data.values[Data::at(t, head, 10)] = t % 2 == 0 ? -1.0f : 1.0f;
  }
}

}  // namespace

TEST_CASE("a healthy cache gives no finding, and its numbers are what they mean") {
  std::vector<Finding> found;
  for (const HeadHealth& health : inspect<presets::F32<kDim>>(Data{}, found)) {
    CHECK(health.cause == HeadCause::kHealthy);
    CHECK(health.norm_ratio == doctest::Approx(1.0).epsilon(1e-5));
    CHECK(health.channel_error < 1e-5);
    CHECK(health.stored_entropy == doctest::Approx(health.entropy));
    CHECK(health.entropy < 0.8);
    // 12800 normal values: the largest is about 3.4 (four uniforms), the median magnitude 0.69.
    CHECK(health.spread[0] > 4.0);
    CHECK(health.spread[0] < 6.0);
    // First and last of 16 steps over the row's own range: at least 2 of 64.
    CHECK(health.outermost_share[1] >= 2.0 / 64.0);
    CHECK(health.outermost_share[1] < 0.1);
  }
  CHECK(found.empty());
  for (const HeadHealth& health : inspect<presets::Int4<kDim>>(Data{}, found)) {
    CHECK(health.norm_ratio > 0.8);
    CHECK(health.channel_error < 0.5);
  }
  CHECK(found.empty());
}

TEST_CASE("a planted outlier is named: values") {
  Data data;
  for (std::uint32_t t = 0; t < kTokens; ++t)
    data.values[Data::at(t, 1, 7)] = t % 2 == 0 ? 200.0f : -200.0f;
  std::vector<Finding> found;
  const auto all = inspect<presets::Int4<kDim>>(data, found);
  CHECK(all[0].cause == HeadCause::kHealthy);
  CHECK(all[2].cause == HeadCause::kHealthy);
  CHECK(all[1].cause == HeadCause::kOutlier);
  CHECK(all[1].side == Role::kValue);
  // All but the outlier fall into the first or the last step.
  CHECK(all[1].outermost_share[1] > 0.9);
  CHECK(all[1].spread[1] > 100.0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].check == Check::kDeadHeads);
  CHECK(found[0].layer == 5);
  CHECK(found[0].head == 1);
  CHECK(!found[0].both_sides);
  CHECK(found[0].side == Role::kValue);
  CHECK(std::string(found[0].what) == "dead head: an outlier in the range");
  CHECK(std::string(found[0].fix).find("split") != std::string::npos);
  // The fix helps: with outliers in slots of their own the head lives.
  inspect<presets::Int4TopK<kDim>>(data, found);
  CHECK(found.empty());
}

TEST_CASE("a planted outlier is named: keys, which lose the scores") {
  Data data;
  // The queries do not look at the channel: the original attention knows nothing of it.
  for (std::uint32_t t = 0; t < kTokens; ++t) data.keys[Data::at(t, 2, 40)] = 500.0f;
  for (std::uint32_t q = 0; q < kRows * kGroup; ++q)
    data.queries[(2 * kRows * kGroup + q) * kDim + 40] = 0.0f;
  std::vector<Finding> found;
  const auto all = inspect<presets::Int4<kDim>>(data, found);
  CHECK(all[0].cause == HeadCause::kHealthy);
  CHECK(all[2].cause == HeadCause::kOutlier);
  CHECK(all[2].side == Role::kKey);
  CHECK(all[2].stored_entropy > all[2].entropy);
  REQUIRE(found.size() == 1);
  CHECK(found[0].head == 2);
}

TEST_CASE("a planted flat head is named") {
  Data data;
  make_three_levels(data);
  make_small(data, 1);
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    for (std::uint32_t c = 0; c < kDim; ++c) data.keys[Data::at(t, 1, c)] *= 0.001f;
  }
  std::vector<Finding> found;
  const auto all = inspect<ThreeLevels>(data, found);
  CHECK(all[0].cause == HeadCause::kHealthy);
  CHECK(all[2].cause == HeadCause::kHealthy);
  CHECK(all[1].cause == HeadCause::kFlat);
  CHECK(all[1].entropy > 0.99);
  // The alternating channels cancel, the others are stored as zeros.
  CHECK(all[1].norm_ratio < 0.05);
  CHECK(all[1].channel_error == doctest::Approx(1.0));
  REQUIRE(found.size() == 1);
  CHECK(found[0].head == 1);
  CHECK(found[0].value == all[1].norm_ratio);
  CHECK(std::string(found[0].what) == "dead head: attention too flat");
  CHECK(std::string(found[0].fix).find("higher tier") != std::string::npos);
}

TEST_CASE("a head that dies without outliers or flat attention: the step is too coarse") {
  Data data;
  make_three_levels(data);
  make_small(data, 0);
  std::vector<Finding> found;
  const auto all = inspect<ThreeLevels>(data, found);
  CHECK(all[0].cause == HeadCause::kCoarse);
  CHECK(all[0].entropy < 0.9);
  REQUIRE(found.size() == 1);
  CHECK(found[0].head == 0);
  CHECK(std::string(found[0].what) == "dead head: step too coarse");
}

TEST_CASE("queries see their own range; a head of zeros is not dead") {
  Data data;
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    for (std::uint32_t c = 0; c < kDim; ++c) {
      data.values[Data::at(t, 0, c)] = 0.0f;
      if (t >= 100) data.values[Data::at(t, 1, c)] = 1e4f;  // behind the limit
    }
  }
  const auto cache = fill<presets::F32<kDim>>(data);
  const std::vector<IndexRange> limits(kRows, IndexRange{0, 100});
  for (const std::uint32_t h : {0u, 1u}) {
    const HeadHealth health = inspect_one(*cache, data, h, limits.data());
    CHECK(health.cause == HeadCause::kHealthy);
    CHECK(health.norm_ratio == doctest::Approx(1.0).epsilon(1e-5));
    CHECK(health.channel_error < 1e-5);
  }
}

TEST_CASE("with outliers on both sides the larger is named") {
  Data data;
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    data.keys[Data::at(t, 1, 40)] = 2000.0f;
    data.values[Data::at(t, 1, 7)] = t % 2 == 0 ? 100.0f : -100.0f;
    data.keys[Data::at(t, 2, 40)] = 100.0f;
    data.values[Data::at(t, 2, 7)] = t % 2 == 0 ? 2000.0f : -2000.0f;
  }
  std::vector<Finding> found;
  inspect<presets::Int4<kDim>>(data, found);
  REQUIRE(found.size() == 2);
  CHECK(found[0].side == Role::kKey);
  CHECK(found[1].side == Role::kValue);
}

TEST_CASE("refusals") {
  const Data data;
  const auto cache = fill<presets::F32<kDim>>(data);
  Scratch scratch;
  HeadHealth health;
  health.norm_ratio = 7.0;
  const std::vector<float> outputs(kRows * kGroup * kDim);
  const HeadQueries asked{data.queries.data(), outputs.data(), kRows, kGroup, 1.0f};
  const auto status = [&](std::uint32_t layer, std::uint32_t head, const TokenRows& k,
                          const TokenRows& v, const HeadScratch& room, const HeadQueries& q) {
    return inspect_head(*cache, layer, head, k, v, q, room, health);
  };
  const HeadScratch room = scratch.view();
  CHECK(status(1, 0, data.k(), data.v(), room, asked) == Status::kInvalid);
  CHECK(status(0, kHeads, data.k(), data.v(), room, asked) == Status::kInvalid);
  CHECK(status(0, 0, data.k().part(0, 10), data.v(), room, asked) == Status::kMismatch);
  CHECK(status(0, 0, data.k(), TokenRows(), room, asked) == Status::kMismatch);
  CHECK(status(0, 0, TokenRows(data.keys.data(), kTokens, 1, kDim), data.v(), room, asked) ==
        Status::kMismatch);
  CHECK(status(0, 0, TokenRows(std::span<const float>(data.keys).first(9), kTokens, kHeads, kDim),
               data.v(), room, asked) == Status::kRange);
  HeadScratch little = room;
  little.float_count -= 1;
  CHECK(status(0, 0, data.k(), data.v(), little, asked) == Status::kCapacity);
  little = room;
  little.double_count -= 1;
  CHECK(status(0, 0, data.k(), data.v(), little, asked) == Status::kCapacity);
  HeadQueries none = asked;
  none.rows = 0;
  CHECK(status(0, 0, data.k(), data.v(), room, none) == Status::kInvalid);
  none = asked;
  none.outputs = nullptr;
  CHECK(status(0, 0, data.k(), data.v(), room, none) == Status::kInvalid);
  CHECK(health.norm_ratio == 7.0);
  for (int i = 0; i <= static_cast<int>(HeadCause::kCoarse); ++i)
    CHECK(std::string(to_string(static_cast<HeadCause>(i))) != "unknown");
}
