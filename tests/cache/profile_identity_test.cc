// What a cache knows about its profile: for which model and adapters it was made, and how the bands
// are filled on each side.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "support/cache_fixture.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 16;
using Cache = KvCache<presets::Oaken<kDim>>;

CacheShape shape_for(const char* model, const char* adapter) {
  CacheShape shape;
  shape.layers = 2;
  shape.kv_heads = 2;
  shape.max_tokens = 256;
  shape.model = model;
  shape.adapter = adapter;
  return shape;
}

Error made(const char* model, const char* adapter, const char* profile_model,
           const char* profile_adapter) {
  std::vector<float> thresholds;
  for (int i = 0; i < 4; ++i)
    thresholds.insert(thresholds.end(), {-1.75f, -0.0625f, 0.0625f, 1.75f});
  LaneProfile profile{thresholds.data(), thresholds.size(), thresholds.data(), thresholds.size()};
  profile.model = profile_model;
  profile.adapter = profile_adapter;
  const auto cache = Cache::create(shape_for(model, adapter), &profile, 1);
  return cache ? Error{} : cache.error();
}

}  // namespace

TEST_CASE("a profile of another model or adapter set is refused by name") {
  CHECK(ok(made("m", "", "m", "").status));
  CHECK(ok(made("m", "lora", "m", "lora").status));
  // The profile was made before the adapter was loaded, after, or with another one.
  for (const auto& [mine, theirs] : std::vector<std::pair<const char*, const char*>>{
           {"lora", ""}, {"", "lora"}, {"lora", "lora2"}}) {
    const Error error = made("m", mine, "m", theirs);
    CHECK(error.status == Status::kNeedsReprofile);
    CHECK(error.name() == "lane0.adapter");
  }
  const Error model = made("m", "lora", "n", "");
  CHECK(model.status == Status::kNeedsReprofile);
  CHECK(model.name() == "lane0.model");
  CHECK(std::string(to_string(model.status)) == "needs_reprofile");
}

TEST_CASE("what is not said is not checked") {
  CHECK(ok(made(nullptr, nullptr, "m", "lora").status));
  CHECK(ok(made("m", "lora", nullptr, nullptr).status));
  CHECK(made(nullptr, "", nullptr, "lora").name() == "lane0.adapter");
}

TEST_CASE("the texts are kept, counted, and ask every later profile") {
  const std::vector<float> thresholds(16, 0.0f);
  LaneProfile profile{thresholds.data(), 16, thresholds.data(), 16};
  std::string model = "the name of a model";
  std::string adapter = "lora";
  test::CountingMemory memory;
  for (std::uint64_t call = 1; call < 100; ++call) {  // without memory at any point
    memory.fail_at(call);
    const CacheShape shape = shape_for(model.c_str(), adapter.c_str());
    const std::uint64_t before = memory.calls();
    const auto failed = Cache::create(shape, &profile, 1, memory.source());
    if (failed) {
      CHECK(call == memory.calls() - before + 1);  // not one allocation was done without
      break;
    }
    CHECK(failed.error().status == Status::kNoMemory);
    CHECK(memory.bytes() == 0);
  }
  memory.fail_at(0);
  const CacheShape shape = shape_for(model.c_str(), adapter.c_str());
  auto cache = Cache::create(shape, &profile, 1, memory.source());
  REQUIRE(cache);
  CHECK(cache->memory().total() == memory.bytes());
  CHECK(Cache::predict(shape, 0) == cache->memory());
  model = adapter = "?";
  CHECK(std::string(cache->shape().model) == "the name of a model");
  CHECK(std::string(cache->shape().adapter) == "lora");
  profile.adapter = "";
  const Error error = cache->set_profile(0, profile);
  CHECK(error.status == Status::kNeedsReprofile);
  CHECK(error.name() == "lane0.adapter");
  profile.adapter = "lora";
  CHECK(ok(cache->set_profile(0, profile).status));
}

TEST_CASE("counters are kept per layer and side") {
  // Keys of unit variance, values eight times as large: nearly all of them are outer.
  constexpr std::size_t kTokens = 100;
  const std::vector<float> keys = test::normal(5, kTokens * 2 * kDim);
  const std::vector<float> values = test::normal(6, kTokens * 2 * kDim, 8.0f);
  std::vector<float> thresholds;
  for (int i = 0; i < 4; ++i)
    thresholds.insert(thresholds.end(), {-1.75f, -0.0625f, 0.0625f, 1.75f});
  const LaneProfile profile{thresholds.data(), 16, thresholds.data(), 16};
  CacheShape shape = shape_for(nullptr, nullptr);
  shape.non_finite = NonFinite::kZero;
  auto cache = Cache::create(shape, &profile, 1);
  REQUIRE(cache);
  REQUIRE(ok(cache->append(1, TokenRows(keys.data(), kTokens, 2, kDim),
                           TokenRows(values.data(), kTokens, 2, kDim))));
  const auto count = [](const std::vector<float>& rows, bool outer) {
    std::uint64_t n = 0;
    for (const float x : rows) n += outer ? magnitude(x) > 1.75f : magnitude(x) <= 0.0625f;
    return n;
  };
  const EncodeCounters& k = cache->key_counters(1);
  const EncodeCounters& v = cache->value_counters(1);
  CHECK(k.values == keys.size());
  CHECK(k.outer == count(keys, true));
  CHECK(k.inner == count(keys, false));
  CHECK(v.values == values.size());
  CHECK(v.outer == count(values, true));
  CHECK(v.inner == count(values, false));
  CHECK(v.outer > 5 * k.outer);
  CHECK(cache->counters(1).outer == k.outer + v.outer);
  CHECK(cache->counters(1).outliers == k.outer + v.outer + k.inner + v.inner);
  CHECK(cache->key_counters(0).values == 0);
  CHECK(cache->value_counters(0).values == 0);

  std::vector<float> bad(2 * kDim, 1.0f);
  bad[3] = bad[5] = kInfinity;
  std::vector<float> good(2 * kDim, 1.0f);
  REQUIRE(
      ok(cache->append(0, TokenRows(good.data(), 1, 2, kDim), TokenRows(bad.data(), 1, 2, kDim))));
  CHECK(cache->key_counters(0).non_finite == 0);
  CHECK(cache->value_counters(0).non_finite == 2);
}
