#include "kvpleat/transform/channel_scale.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/transform/chain.h"
#include "kvpleat/transform/hadamard.h"
#include "support/transform_laws.h"

using namespace kvpleat;

namespace {

std::vector<float> scales(std::uint32_t dim) {
  std::vector<float> result = test::uniform(9, dim);
  for (float& s : result) s = 0.5f + s * s;  // 0.5 .. 1.5
  return result;
}

}  // namespace

TEST_CASE("channel scales keep the laws of a transform") {
  const auto check = []<class T, std::uint32_t kDim>() {
    test::check_transform_laws<T, kDim>(test::Bound(scales(kDim), RopeLayout::kHalves, 0), false);
  };
  check.operator()<ChannelScale, 1>();
  check.operator()<ChannelScale, 65>();
  check.operator()<ChannelScale, 576>();
}

TEST_CASE("scales that are powers of two change no bit of rows and scores") {
  const float scale[4] = {0.25f, 1.0f, 8.0f, 0x1p-20f};
  ChannelScale transform;
  transform.scale = scale;
  const std::vector<float> row = test::uniform(1, 4, 3.0f);
  const std::vector<float> query = test::uniform(2, 4);
  float coded[4];
  float coded_query[4];
  float back[4];
  transform.forward<4>(row.data(), 0, coded);
  transform.prepare_query<4>(query.data(), coded_query);
  transform.restore<4>(coded, 1.0f, 0, back);
  for (std::size_t c = 0; c < 4; ++c) {
    CHECK(coded[c] == row[c] / scale[c]);
    CHECK(coded_query[c] == query[c] * scale[c]);
    CHECK(back[c] == row[c]);
    CHECK(coded[c] * coded_query[c] == row[c] * query[c]);
  }
}

TEST_CASE("restore is within one unit in the last place of each element") {
  const std::vector<float> scale = scales(576);
  ChannelScale transform;
  transform.scale = scale.data();
  const std::vector<float> row = test::normal(3, 576, 100.0f);
  std::vector<float> coded(576);
  std::vector<float> back(576);
  transform.forward<576>(row.data(), 0, coded.data());
  transform.restore<576>(coded.data(), 1.0f, 0, back.data());
  std::uint32_t beyond = 0;
  // Two roundings of 2^-24 each, relative to the element itself.
  for (std::size_t c = 0; c < 576; ++c)
    beyond += std::fabs(back[c] - row[c]) > std::fabs(row[c]) * 0x1.00001p-23f ? 1u : 0u;
  CHECK(beyond == 0);
}

TEST_CASE("valid: every scale within 2^-64 and 2^64") {
  const auto valid = [](float bad) {
    const float scale[3] = {1.0f, bad, 2.0f};
    return ChannelScale::valid<3>(scale);
  };
  CHECK(valid(3.0f));
  CHECK(valid(0x1p-64f));
  CHECK(valid(0x1p64f));
  CHECK(!valid(0x1.fp-65f));
  CHECK(!valid(0x1.1p64f));
  CHECK(!valid(0.0f));
  CHECK(!valid(-1.0f));
  CHECK(!valid(kInfinity));
  CHECK(!valid(std::nanf("")));
  CHECK(!ChannelScale::valid<3>(nullptr));
}

TEST_CASE("coded_bound is that of the smallest scale") {
  const float scale[3] = {2.0f, 0.25f, 1.0f};
  ChannelScale transform;
  transform.scale = scale;
  CHECK(transform.coded_bound<3>(3.0f) == 12.0f);
}
