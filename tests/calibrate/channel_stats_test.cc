#include "kvpleat/calibrate/channel_stats.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

TEST_CASE("root mean square of each channel, with a stride") {
  // [2 tokens, stride 4], 3 channels.
  const std::vector<float> rows = {3, 0, -5, 1e30f, 4, 0, 5, 1e30f};
  std::vector<float> rms(4, 99.0f);
  channel_rms(rows.data(), 2, 4, 3, rms.data());
  CHECK(rms[0] == static_cast<float>(std::sqrt(12.5)));
  CHECK(rms[1] == 0.0f);
  CHECK(rms[2] == 5.0f);
  CHECK(rms[3] == 99.0f);
  channel_rms(nullptr, 0, 4, 3, rms.data());
  CHECK(rms == std::vector<float>{0.0f, 0.0f, 0.0f, 99.0f});
}

TEST_CASE("squares of large and tiny rows stay finite and above zero") {
  const float rows[4] = {3e38f, 1e-30f, -3e38f, 1e-30f};
  float rms[2];
  channel_rms(rows, 2, 2, 2, rms);
  CHECK(rms[0] == 3e38f);
  CHECK(rms[1] == 1e-30f);
}

TEST_CASE("equal inside each RoPE pair, untouched beyond") {
  float scale[6] = {3, 1, 4, 1, 9, 2};
  equalize_pairs(Rope::standard(RopeLayout::kHalves, 4, 10000.0), scale);
  const auto both = static_cast<float>(std::sqrt(12.5));
  CHECK(scale[0] == both);
  CHECK(scale[2] == both);
  CHECK(scale[1] == 1.0f);
  CHECK(scale[3] == 1.0f);
  CHECK(scale[4] == 9.0f);
  CHECK(scale[5] == 2.0f);
  float adjacent[4] = {3, 4, 1, 1};
  equalize_pairs(Rope::standard(RopeLayout::kAdjacent, 4, 10000.0), adjacent);
  CHECK(adjacent[0] == both);
  CHECK(adjacent[1] == both);
  CHECK(adjacent[3] == 1.0f);
}

TEST_CASE("scales are the RMS, and 1 where a channel is dead") {
  const float rms[3] = {0.0f, 2.5f, 1e-20f};
  float scale[3];
  channel_scales(rms, 3, scale);
  CHECK(scale[0] == 1.0f);
  CHECK(scale[1] == 2.5f);
  CHECK(scale[2] == 0x1p-64f);  // the smallest that ChannelScale takes
}

TEST_CASE("the channels of largest RMS, ascending; ties take the lowest") {
  const float rms[6] = {1, 5, 2, 5, 2, 0};
  float channels[4] = {-1, -1, -1, -1};
  largest_channels(rms, 6, 3, channels);
  CHECK(channels[0] == 1.0f);
  CHECK(channels[1] == 2.0f);
  CHECK(channels[2] == 3.0f);
  CHECK(channels[3] == -1.0f);
  largest_channels(rms, 6, 0, channels);
  CHECK(channels[0] == 1.0f);
  const std::vector<float> many = test::uniform(8, 576, 1.0f);
  std::vector<float> all(576);
  largest_channels(many.data(), 576, 576, all.data());
  for (std::size_t c = 0; c < 576; ++c) CHECK(all[c] == static_cast<float>(c));
}
