#include "kvpleat/calibrate/drift.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "kvpleat/calibrate/threshold_profiler.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 16;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kLayers = 2;
constexpr std::size_t kWidth = kHeads * kDim;
using Cache = KvCache<presets::Oaken<kDim>>;

// Two layers profiled on 20 samples of 64 tokens; layer 1 is three times as large.
struct Model {
  std::vector<BandProfile> bands = std::vector<BandProfile>(kLayers * 2);

  static std::vector<float> rows(std::uint32_t seed, std::size_t tokens, std::uint32_t layer) {
    return test::normal(seed, tokens * kWidth, layer == 0 ? 1.0f : 3.0f);
  }
  explicit Model(float scale = 1.0f) {
    std::vector<BandSums> sums(kLayers * 2);
    std::vector<float> scratch(64 * kWidth);
    ThresholdProfiler profiler(sums.data(), kLayers);
    for (const bool second : {false, true}) {
      for (std::uint32_t l = 0; l < kLayers; ++l) {
        for (std::uint32_t i = 0; i < 20; ++i) {
          std::vector<float> sample = rows(50 + i, 64, l);
          for (float& x : sample) x *= scale;
          const TokenRows view(sample.data(), 64, kHeads, kDim);
          for (const Role side : {Role::kKey, Role::kValue}) {
            REQUIRE(ok(second ? profiler.measure(l, side, view)
                              : profiler.add(l, side, view, scratch.data(), scratch.size())));
          }
        }
      }
    }
    for (std::uint32_t l = 0; l < kLayers; ++l) {
      for (const Role side : {Role::kKey, Role::kValue})
        REQUIRE(ok(profiler.profile(l, side, bands[side_index(l, side)])));
    }
  }
  [[nodiscard]] Cache cache() const {
    std::vector<float> keys(kLayers * kHeads * 4);
    std::vector<float> values(keys.size());
    spread_thresholds(bands.data(), kLayers, kHeads, Role::kKey, keys.data());
    spread_thresholds(bands.data(), kLayers, kHeads, Role::kValue, values.data());
    const LaneProfile profile{keys.data(), keys.size(), values.data(), values.size()};
    CacheShape shape;
    shape.layers = kLayers;
    shape.kv_heads = kHeads;
    shape.max_tokens = 8192;
    auto made = Cache::create(shape, &profile, 1);
    REQUIRE(made);
    return std::move(*made);
  }
};

void append(Cache& cache, std::uint32_t layer, std::uint32_t seed, std::size_t tokens,
            float key_scale, float value_scale) {
  std::vector<float> k = Model::rows(seed, tokens, layer);
  std::vector<float> v = Model::rows(seed + 1, tokens, layer);
  for (float& x : k) x *= key_scale;
  for (float& x : v) x *= value_scale;
  REQUIRE(ok(cache.append(layer, TokenRows(k.data(), tokens, kHeads, kDim),
                          TokenRows(v.data(), tokens, kHeads, kDim))));
}
// Counters of `tokens` tokens of 32 elements with the given shares.
EncodeCounters counters(std::uint64_t tokens, double outer, double inner) {
  EncodeCounters c;
  c.values = tokens * kWidth;
  c.outer = static_cast<std::uint64_t>(outer * static_cast<double>(c.values) + 0.5);
  c.inner = static_cast<std::uint64_t>(inner * static_cast<double>(c.values) + 0.5);
  return c;
}
std::vector<BandProfile> profile_of(std::uint64_t outer, std::uint64_t inner) {
  BandProfile band;
  band.values = 100000;
  band.outer = outer;
  band.inner = inner;
  return std::vector<BandProfile>(4, band);
}

}  // namespace

TEST_CASE("data that grew overfills the outer band, data that shrank the inner one") {
  const Model model;
  struct Case {
    float scale;
    Drift drift;
    const char* name;
  };
  for (const Case& c :
       {Case{1.0f, Drift::kNone, ""}, Case{1.6f, Drift::kOuterFull, "layer1.value.outer"},
        Case{0.5f, Drift::kInnerFull, "layer1.value.inner"}}) {
    CAPTURE(c.scale);
    Cache cache = model.cache();
    std::vector<DriftWindow> windows(kLayers * 2);
    DriftMonitor monitor(model.bands.data(), windows.data(), kLayers, kWidth);
    append(cache, 0, 900, 400, 1.0f, 1.0f);
    append(cache, 1, 910, 400, 1.0f, c.scale);  // the values of layer 1 only
    monitor.observe(cache);
    CHECK(monitor.state(0, Role::kKey).drift == Drift::kNone);
    CHECK(monitor.state(0, Role::kValue).drift == Drift::kNone);
    CHECK(monitor.state(1, Role::kKey).drift == Drift::kNone);
    CHECK(monitor.state(1, Role::kValue).drift == c.drift);
    CHECK(monitor.state(1, Role::kValue).tokens == 400);
    const Error error = monitor.needs_reprofile();
    CHECK(error.status == (c.drift == Drift::kNone ? Status::kOk : Status::kNeedsReprofile));
    CHECK(error.name() == c.name);
  }
  // Profiled again, the scaled data fits.
  for (const float scale : {1.6f, 0.5f}) {
    const Model again(scale);
    Cache cache = again.cache();
    std::vector<DriftWindow> windows(kLayers * 2);
    DriftMonitor monitor(again.bands.data(), windows.data(), kLayers, kWidth);
    for (std::uint32_t l = 0; l < kLayers; ++l) append(cache, l, 920, 400, scale, scale);
    monitor.observe(cache);
    CHECK(ok(monitor.needs_reprofile().status));
  }
}

TEST_CASE("a band is off beyond a factor of 1.5, not at it") {
  const std::vector<BandProfile> profile = profile_of(4000, 6000);
  std::vector<DriftWindow> windows(4);
  const auto drift = [&](double outer, double inner) {
    DriftMonitor monitor(profile.data(), windows.data(), kLayers, kWidth);
    monitor.observe(0, Role::kKey, counters(10000, outer, inner));
    return monitor.state(0, Role::kKey).drift;
  };
  CHECK(drift(0.04, 0.06) == Drift::kNone);
  CHECK(drift(0.0599, 0.06) == Drift::kNone);
  CHECK(drift(0.0601, 0.06) == Drift::kOuterFull);
  CHECK(drift(0.04, 0.0899) == Drift::kNone);
  CHECK(drift(0.04, 0.0901) == Drift::kInnerFull);
  CHECK(drift(0.0268, 0.06) == Drift::kNone);
  CHECK(drift(0.0265, 0.06) == Drift::kOuterEmpty);
  CHECK(drift(0.04, 0.0402) == Drift::kNone);
  CHECK(drift(0.04, 0.0398) == Drift::kInnerEmpty);
  CHECK(drift(0.12, 0.0398) == Drift::kOuterFull);  // grew: both are off, the full one is named
  CHECK(drift(0.0060, 0.12) == Drift::kInnerFull);  // shrank
  const std::vector<BandProfile> none = profile_of(0, 0);
  DriftMonitor monitor(none.data(), windows.data(), kLayers, kWidth);
  monitor.observe(0, Role::kKey, counters(10000, 0.0029, 0.0));
  CHECK(monitor.state(0, Role::kKey).drift == Drift::kNone);
  monitor.observe(0, Role::kKey, counters(20000, 0.0035, 0.0));
  CHECK(monitor.state(0, Role::kKey).drift == Drift::kOuterFull);
}

TEST_CASE("only the last 4096 tokens count") {
  const std::vector<BandProfile> profile = profile_of(4000, 6000);
  std::vector<DriftWindow> windows(4);
  DriftMonitor monitor(profile.data(), windows.data(), kLayers, kWidth);
  EncodeCounters total;
  const auto step = [&](std::uint64_t tokens, double outer) {
    for (std::uint64_t t = 0; t < tokens; ++t) {
      total.add(counters(1, outer, 0.0625));
      monitor.observe(1, Role::kKey, total);
    }
  };
  step(64 - 1, 1.0);
  CHECK(monitor.state(1, Role::kKey).drift == Drift::kTooFewTokens);
  CHECK(ok(monitor.needs_reprofile().status));
  step(1, 1.0);
  CHECK(monitor.state(1, Role::kKey).drift == Drift::kOuterFull);
  CHECK(monitor.needs_reprofile().name() == "layer1.key.outer");
  CHECK(monitor.state(1, Role::kValue).drift == Drift::kTooFewTokens);
  // 64 wholly outer tokens are 64/4096 = 1.6 % of a full window: with 3.1 % outer after them, 4.7
  // %, within 1.5 times 4 %. Once they have left it, 3.1 %.
  step(4000, 0.03125);
  const DriftState full = monitor.state(1, Role::kKey);
  CHECK(full.drift == Drift::kNone);
  CHECK(full.tokens == 4064);
  CHECK(full.outer_share > 0.04);
  step(4096, 0.03125);
  const DriftState moved = monitor.state(1, Role::kKey);
  CHECK(moved.outer_share == 0.03125);
  CHECK(moved.tokens > 4096 - DriftWindow::kPartTokens);
  CHECK(moved.tokens <= 4096);
  monitor.reset();
  CHECK(monitor.state(1, Role::kKey).tokens == 0);
}

TEST_CASE("counters that start again, and layers that do not exist") {
  const std::vector<BandProfile> profile = profile_of(4000, 6000);
  std::vector<DriftWindow> windows(4);
  DriftMonitor monitor(profile.data(), windows.data(), kLayers, kWidth);
  monitor.observe(0, Role::kKey, counters(100, 0.04, 0.06));
  monitor.observe(0, Role::kKey, counters(50, 0.04, 0.06));  // another cache
  CHECK(monitor.state(0, Role::kKey).tokens == 150);
  monitor.observe(2, Role::kKey, counters(100, 1.0, 0.0));
  CHECK(ok(monitor.needs_reprofile().status));
  for (int i = 0; i <= static_cast<int>(Drift::kInnerEmpty); ++i)
    CHECK(std::string(to_string(static_cast<Drift>(i))) != "unknown");
}
