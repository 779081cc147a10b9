#include "kvpleat/calibrate/channel_error.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "kvpleat/calibrate/channel_mean.h"
#include "kvpleat/format/formats.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 128;
constexpr std::uint32_t kTokens = 256;

using CenteredRotated =
    BlockFormat<kDim, Chain<Center, RandomHadamard<>>, NoSplit, AffineQuant<4>, DenseCodec>;

// OC-13: N(12), two channels shifted by 600 or not.
template <class Key>
ChannelError through(float shift) {
  std::vector<float> keys = test::normal(12, kTokens * kDim);
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    keys[t * kDim + 7] += shift;
    keys[t * kDim + 93] += shift;
  }
  std::vector<float> mean(kDim);
  channel_mean(keys.data(), kTokens, kDim, kDim, mean.data());
  LaneProfile profile;
  if constexpr (Key::kProfileSize > 0) {
    profile.keys = mean.data();
    profile.key_count = mean.size();
  }
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 1;
  shape.max_tokens = kTokens;
  auto cache = KvCache<presets::Single<Key, formats::F16<kDim>>>::create(shape, &profile, 1);
  REQUIRE(cache);
  const TokenRows rows(keys.data(), kTokens, 1, kDim);
  REQUIRE(ok(cache->append(0, rows, rows)));
  std::vector<float> read(kTokens * kDim);
  REQUIRE(ok(cache->read(0, 0, 0, kTokens, read.data(), nullptr)));
  return channel_error(keys.data(), read.data(), kTokens, kDim, kDim);
}

}  // namespace

TEST_CASE("ratios of channels, their mean, the worst") {
  // Rows of three channels in a stride of four: spreads 2, 8, 0.
  const std::vector<float> rows = {1.0f, 12.0f, 5.0f, 99.0f, 3.0f, 8.0f, 5.0f, 99.0f};
  std::vector<float> read = rows;
  double ratios[3];
  ChannelError error = channel_error(rows.data(), read.data(), 2, 4, 3, ratios);
  CHECK(error.mean == 0.0);
  CHECK(error.worst == 0.0);
  CHECK(error.where == 0);
  read[0] += 0.5f;
  read[4] += 0.5f;
  read[5] -= 2.0f;
  read[3] = 0.0f;  // no channel
  error = channel_error(rows.data(), read.data(), 2, 4, 3, ratios);
  CHECK(ratios[0] == 0.25);
  CHECK(ratios[1] == 0.5);
  CHECK(ratios[2] == 0.0);
  CHECK(std::fabs(error.mean - 0.25) < 1e-15);
  CHECK(error.worst == 0.5);
  CHECK(error.where == 1);
  read[2] = 5.5f;
  error = channel_error(rows.data(), read.data(), 2, 4, 3, ratios);
  CHECK(error.worst == std::numeric_limits<double>::infinity());
  CHECK(error.where == 2);
  CHECK(channel_error(nullptr, nullptr, 0, 4, 3).mean == 0.0);
}

TEST_CASE("OC-13 the error statistic shows what a huge channel does to its group") {
  // 4 bits of a group of range r err by a variance of (r / 15)^2 / 12: of unit normal data, r about
  // 6, 0.013; of a range of 600, 133, and the codes of all other channels are the same: their
  // whole spread is lost, a ratio near 1 at least.
  const ChannelError alone = through<formats::Int4<kDim>>(0.0f);
  const ChannelError huge = through<formats::Int4<kDim>>(600.0f);
  CHECK(alone.mean < 0.02);
  CHECK(huge.mean > 0.5);
  CHECK(huge.worst > 0.9);
  CHECK(through<formats::Int4Channel<kDim>>(600.0f).worst < 0.03);  // groups along tokens
  CHECK(through<formats::Int4TopK<kDim>>(600.0f).mean < 0.1);       // outliers apart
  CHECK(through<CenteredRotated>(600.0f).worst < 0.03);
}
