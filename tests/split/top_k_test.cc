#include "kvpleat/split/top_k.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kvpleat/core/concepts.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

static_assert(VectorSplitter<TopKSplit<1>> && VectorSplitter<TopKSplit<64>>);
static_assert(!BandSplitter<TopKSplit<4>>);

template <std::uint32_t kCount>
std::vector<std::uint16_t> split(const std::vector<float>& row) {
  std::vector<std::uint16_t> channels(kCount, 0xffff);
  const std::uint32_t n = TopKSplit<kCount>().split(
      row.data(), static_cast<std::uint32_t>(row.size()), channels.data());
  channels.resize(n);
  return channels;
}

// A stable sort by descending magnitude keeps the lowest channel of a tie in front.
std::vector<std::uint16_t> by_sorting(const std::vector<float>& row, std::size_t count) {
  std::vector<std::uint16_t> channels(row.size());
  std::iota(channels.begin(), channels.end(), std::uint16_t{0});
  std::stable_sort(channels.begin(), channels.end(), [&](std::uint16_t a, std::uint16_t b) {
    return std::fabs(row[a]) > std::fabs(row[b]);
  });
  channels.resize(std::min(count, row.size()));
  std::sort(channels.begin(), channels.end());
  return channels;
}

template <std::uint32_t kCount>
void check_random() {
  CAPTURE(kCount);
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    for (const std::size_t dim : {1u, 2u, 5u, 64u, 80u, 576u}) {
      std::vector<float> row = test::uniform(seed, dim);
      // Every other row has few distinct magnitudes: many ties of both signs.
      if (seed % 2 == 1) {
        for (float& x : row) x = std::round(x * 4.0f) / 4.0f;
      }
      CHECK(split<kCount>(row) == by_sorting(row, kCount));
    }
  }
}

}  // namespace

TEST_CASE("the largest magnitudes, ascending channels, as a sort finds them") {
  check_random<1>();
  check_random<2>();
  check_random<4>();
  check_random<7>();
  check_random<64>();
}

TEST_CASE("ties go to the lowest channel, whatever the sign") {
  CHECK(split<2>({1.0f, -1.0f, 1.0f, -1.0f}) == std::vector<std::uint16_t>{0, 1});
  CHECK(split<2>({0.5f, -1.0f, 1.0f, 1.0f}) == std::vector<std::uint16_t>{1, 2});
  CHECK(split<1>({-0.0f, 0.0f}) == std::vector<std::uint16_t>{0});
  CHECK(split<3>({1.0f, 2.0f, 1.0f, 3.0f, 1.0f}) == std::vector<std::uint16_t>{0, 1, 3});
}

TEST_CASE("a count above dim takes all") {
  CHECK(split<4>({3.0f, 1.0f, 2.0f}) == std::vector<std::uint16_t>{0, 1, 2});
  CHECK(split<64>({0.0f}) == std::vector<std::uint16_t>{0});
}
