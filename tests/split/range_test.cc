#include "kvpleat/split/range.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kvpleat/core/concepts.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

static_assert(VectorSplitter<RangeSplit<>> && VectorSplitter<RangeSplit<64>>);
static_assert(RangeSplit<>::kMaxOutliers == 576 && RangeSplit<3>::kMaxOutliers == 3);

using Channels = std::vector<std::uint16_t>;

template <std::uint32_t kCap>
Channels split(const std::vector<float>& row) {
  Channels channels(RangeSplit<kCap>::kMaxOutliers, 0xffff);
  channels.resize(RangeSplit<kCap>().split(row.data(), static_cast<std::uint32_t>(row.size()),
                                           channels.data()));
  return channels;
}

}  // namespace

TEST_CASE("the ends of the range belong to it") {
  const float beyond = 0x1.000002p0f;
  CHECK(split<0>({1.0f, -1.0f, beyond, -beyond, 0.0f}) == Channels{2, 3});
  CHECK(split<0>({0.5f, -1.0f}).empty());
  CHECK(split<0>(std::vector<float>(576, 2.0f)).size() == 576);
}

TEST_CASE("a cap keeps the largest, ties to the lowest channel, and nothing inside the range") {
  const std::vector<float> row = {3.0f, -2.0f, 0.9f, 2.0f, -5.0f, 1.5f, 2.0f};
  CHECK(split<0>(row) == Channels{0, 1, 3, 4, 5, 6});
  CHECK(split<6>(row) == Channels{0, 1, 3, 4, 5, 6});
  CHECK(split<4>(row) == Channels{0, 1, 3, 4});
  CHECK(split<3>(row) == Channels{0, 1, 4});
  CHECK(split<1>(row) == Channels{4});
  CHECK(split<3>({0.5f, 4.0f, 0.75f, 1.0f}) == Channels{1});
}

TEST_CASE("with and without a cap as a scan finds them") {
  for (std::uint32_t seed = 1; seed < 40; ++seed) {
    const std::vector<float> row = test::uniform(seed, 80, 1.0f + 0.01f * static_cast<float>(seed));
    Channels wanted;
    for (std::uint16_t c = 0; c < 80; ++c) {
      if (row[c] > 1.0f || row[c] < -1.0f) wanted.push_back(c);
    }
    CHECK(split<0>(row) == wanted);
    const Channels capped = split<5>(row);
    CHECK(capped.size() == (wanted.size() < 5 ? wanted.size() : 5));
    for (std::size_t i = 0; i < capped.size(); ++i) {
      CHECK(magnitude(row[capped[i]]) > 1.0f);
      if (i > 0) CHECK(capped[i] > capped[i - 1]);
    }
  }
}
