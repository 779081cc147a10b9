#include "kvpleat/calibrate/ratio_search.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace kvpleat;

TEST_CASE("the default grid: nine points, in order, each evaluated once") {
  std::vector<BandShares> asked;
  const auto points = find_optimal_ratio(kDefaultRatios, [&](BandShares shares) {
    asked.push_back(shares);
    return RatioCost{1.0, 1.0};
  });
  REQUIRE(points.size() == 9);
  REQUIRE(asked.size() == 9);
  std::size_t n = 0;
  for (const std::uint32_t outer : {20000u, 40000u, 60000u}) {
    for (const std::uint32_t inner : {40000u, 60000u, 80000u}) {
      CHECK(points[n].shares.outer_ppm == outer);
      CHECK(points[n].shares.inner_ppm == inner);
      CHECK(asked[n].outer_ppm == outer);
      CHECK(asked[n].inner_ppm == inner);
      CHECK(points[n].pareto);  // equal costs beat nobody
      ++n;
    }
  }
}

TEST_CASE("a point is marked unless another is as good in both and better in one") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const RatioCost costs[] = {
      {4.0, 0.50},  // best in bits
      {4.0, 0.60},  // the same bits, worse
      {5.0, 0.40},  // in between
      {5.0, 0.40},  // the same again
      {5.5, 0.45},  // beaten by the two before
      {6.0, 0.10},  // best in error
      {6.5, 0.10},  // the same error, more bits
      {1.0, nan},   // not measured
      {nan, 0.01},
  };
  const bool wanted[] = {true, false, true, true, false, true, false, false, false};
  std::size_t next = 0;
  const auto points = find_optimal_ratio(kDefaultRatios, [&](BandShares) { return costs[next++]; });
  for (std::size_t i = 0; i < 9; ++i) {
    CAPTURE(i);
    CHECK(points[i].pareto == wanted[i]);
  }
}

TEST_CASE("any grid") {
  constexpr RatioGrid<1, 2> grid{{10000}, {0, 30000}};
  const auto points = find_optimal_ratio(grid, [](BandShares shares) {
    return RatioCost{4.0 + shares.inner_ppm * 8e-6, 1.0 / (1.0 + shares.inner_ppm)};
  });
  REQUIRE(points.size() == 2);
  CHECK(points[0].pareto);
  CHECK(points[1].pareto);
  CHECK(points[1].shares.inner_ppm == 30000);
}
