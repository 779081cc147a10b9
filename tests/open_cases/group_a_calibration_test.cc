// Open cases of group A that are about calibration over several samples.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "kvpleat/calibrate/drift.h"
#include "kvpleat/calibrate/threshold_profiler.h"
#include "support/generator.h"

using namespace kvpleat;

TEST_CASE("OC-18 calibration from an unrepresentative first batch") {
  constexpr std::uint32_t kDim = 64;
  using Cache = KvCache<presets::Oaken<kDim>>;
  const std::vector<float> zeros(8 * kDim, 0.0f);
  const std::vector<float> rows = test::uniform(17, 64 * kDim, 5.0f);
  const TokenRows first(zeros.data(), 8, 1, kDim);
  const TokenRows rest(rows.data(), 64, 1, kDim);

  BandSums sums[2];
  std::vector<float> scratch(64 * kDim);
  ThresholdProfiler profiler(sums, 1);
  BandProfile bands[2];
  const auto calibrate = [&](const TokenRows& sample) {
    for (const Role side : {Role::kKey, Role::kValue}) {
      REQUIRE(ok(profiler.add(0, side, sample, scratch.data(), scratch.size())));
      REQUIRE(ok(profiler.measure(0, side, sample)));
      REQUIRE(ok(profiler.profile(0, side, bands[side_index(0, side)])));
    }
  };
  const auto fill = [&](Error& drift) {
    float thresholds[4];
    spread_thresholds(bands, 1, 1, Role::kKey, thresholds);
    const LaneProfile profile{thresholds, 4, thresholds, 4};
    CacheShape shape;
    shape.layers = shape.kv_heads = 1;
    shape.max_tokens = 128;
    auto cache = Cache::create(shape, &profile, 1);
    REQUIRE(cache);
    REQUIRE(ok(cache->append(0, first, first)));
    REQUIRE(ok(cache->append(0, rest, rest)));
    DriftWindow windows[2];
    DriftMonitor monitor(bands, windows, 1, kDim);
    monitor.observe(*cache);
    drift = monitor.needs_reprofile();
    std::vector<float> back(72 * kDim);
    REQUIRE(ok(cache->read(0, 0, 0, 72, back.data(), nullptr)));
    return back;
  };

  // Thresholds of zeros are four zeros. Scales are taken from every token as it comes, so nothing
  // is NaN and nothing clips: the old tokens read zero, the later ones to within a step of their
  // band. All that is wrong is that every later value is an outlier, and that is reported.
  calibrate(first);
  for (const Half t : bands[0].thresholds) CHECK(to_float(t) == 0.0f);
  Error drift;
  const std::vector<float> back = fill(drift);
  for (std::size_t i = 0; i < 8 * kDim; ++i) CHECK(back[i] == 0.0f);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // Outer codes: |x| in 15 steps over at most [0, 5], half a step, and the halves of the range.
    CHECK(std::fabs(back[8 * kDim + i] - rows[i]) <= 5.0f / 30.0f + 0.005f);
  }
  CHECK(drift.status == Status::kNeedsReprofile);
  CHECK(drift.name() == "layer0.key.outer");

  // Calibration is begun anew, from data that is like what comes.
  profiler.reset();
  calibrate(rest);
  CHECK(to_float(bands[0].thresholds[3]) > 4.0f);
  fill(drift);
  CHECK(drift.name() != "layer0.key.outer");
  CHECK(drift.status == Status::kNeedsReprofile);  // the eight zero tokens: 1/9 of all is inner
  CHECK(drift.name() == "layer0.key.inner");
}
