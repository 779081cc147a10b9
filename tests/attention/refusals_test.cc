// What attention says of queries that make no sense, and what a cache says of shapes that do not.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kvpleat/kvpleat.h"

namespace {

using kvpleat::CacheShape;
using kvpleat::Status;
using kvpleat::TokenRows;
using Cache = kvpleat::KvCache<kvpleat::presets::Int8<16>>;
using Centred = kvpleat::KvCache<kvpleat::presets::CenteredRotated4<16>>;

CacheShape shape_of(std::uint32_t tokens) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 1;
  shape.max_tokens = tokens;
  return shape;
}
// A value that quiet comparisons must not lose.
const float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("a query with NaN gives NaN, not the answer of a row that sees no key") {
  auto made = Cache::create(shape_of(300));
  REQUIRE(made);
  const std::vector<float> rows(300 * 16, 1.0f);
  REQUIRE(
      ok(made->append(0, TokenRows(rows.data(), 300, 1, 16), TokenRows(rows.data(), 300, 1, 16))));
  std::vector<float> queries(3 * 16, 0.5f);
  queries[16 + 7] = kNan;  // the middle row only
  std::vector<float> out(3 * 16);
  float log_sums[3] = {};
  kvpleat::AttendArguments arguments;
  arguments.queries = queries.data();
  arguments.rows = 3;
  REQUIRE(ok(attend(*made, 0, 0, arguments, out.data(), log_sums)));
  CHECK(out[0] == doctest::Approx(1.0));
  CHECK(out[2 * 16] == doctest::Approx(1.0));
  for (int c = 0; c < 16; ++c) CHECK(std::isnan(out[static_cast<std::size_t>(16 + c)]));
  CHECK(std::isnan(log_sums[1]));
  // A row whose keys are all hidden has no use for its query: zeros, as without NaN.
  const kvpleat::IndexRange nothing[3] = {{0, 300}, {0, 0}, {0, 300}};
  arguments.limits = nothing;
  REQUIRE(ok(attend(*made, 0, 0, arguments, out.data(), log_sums)));
  CHECK(out[16] == 0.0f);
  CHECK(log_sums[1] == -std::numeric_limits<float>::infinity());
}

TEST_CASE("a number of queries that overflows is refused") {
  auto made = Cache::create(shape_of(10));
  REQUIRE(made);
  const float query[16] = {};
  float out[16] = {};
  kvpleat::AttendArguments arguments;
  arguments.queries = query;
  arguments.rows = 0x80000000u;
  arguments.group = 2;
  CHECK(attend(*made, 0, 0, arguments, out) == Status::kRange);
}

TEST_CASE("shapes: a residual beyond max_tokens takes no more room than max_tokens") {
  CacheShape shape = shape_of(100);
  shape.residual = 0xffffffffu;
  auto made = Cache::create(shape);
  REQUIRE(made);
  const std::vector<float> rows(100 * 16, 1.0f);
  REQUIRE(
      ok(made->append(0, TokenRows(rows.data(), 100, 1, 16), TokenRows(rows.data(), 100, 1, 16))));
  CHECK(made->tail_tokens(0) == 100);
  CHECK(made->memory().slack < 4096);
  CHECK(made->memory() == Cache::predict(shape, 100));
}

TEST_CASE(
    "shapes: memory without functions, and phase-centred keys without a RoPE, are refused by "
    "name") {
  const auto no_memory = Cache::create(shape_of(10), kvpleat::MemorySource{});
  REQUIRE_FALSE(no_memory);
  CHECK(no_memory.error().status == Status::kInvalid);
  CHECK(no_memory.error().name() == "memory");
  CHECK(Cache::create(shape_of(10), kvpleat::heap_memory()));
  const auto no_rope = Centred::create(shape_of(10));
  REQUIRE_FALSE(no_rope);
  CHECK(no_rope.error().name() == "rope");
  CacheShape shape = shape_of(10);
  shape.rope = kvpleat::Rope::standard(kvpleat::RopeLayout::kHalves, 16, 10000.0);
  CHECK(Centred::create(shape));
}

TEST_CASE("an executor may be a temporary") {
  auto made = Cache::create(shape_of(10));
  REQUIRE(made);
  const std::vector<float> rows(10 * 16, 1.0f);
  REQUIRE(
      ok(made->append(0, TokenRows(rows.data(), 10, 1, 16), TokenRows(rows.data(), 10, 1, 16))));
  const float query[16] = {};
  float out[16] = {};
  kvpleat::AttendArguments arguments;
  arguments.queries = query;
  CHECK(ok(attend_layer(*made, 0, 1, arguments, out, nullptr, kvpleat::Sequential{})));
  CHECK(out[0] == doctest::Approx(1.0));
}
