// find_optimal_ratio: which shares of outer and inner values pay, by measurement.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kvpleat/calibrate/thresholds.h"
#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

// What is tried: every outer share with every inner share. The default is the grid of the article
// on Oaken: outer 2, 4, 6 %, inner 4, 6, 8 %.
template <std::size_t kOuter = 3, std::size_t kInner = 3>
struct RatioGrid {
  std::array<std::uint32_t, kOuter> outer_ppm{};
  std::array<std::uint32_t, kInner> inner_ppm{};
};
inline constexpr RatioGrid<3, 3> kDefaultRatios{{20000, 40000, 60000}, {40000, 60000, 80000}};

// What a pair of shares costs: bits per element, and an error of the evaluator's choice. Smaller is
// better for both.
struct RatioCost {
  double bits = 0.0;
  double error = 0.0;
};
struct RatioPoint {
  BandShares shares{};
  RatioCost cost{};
  bool pareto = false;  // no other point is at least as good in both and better in one
};

// Calls evaluator(BandShares) -> RatioCost once for each pair, outer shares in order and for each
// the inner ones; marks the points that no other beats. Points of equal cost are marked alike; one
// whose cost is not a number is never marked. The caller chooses among the marked: more outliers
// cost bits and lower the error, so there is no single best one.
template <std::size_t kOuter, std::size_t kInner, class Evaluator>
std::array<RatioPoint, kOuter * kInner> find_optimal_ratio(const RatioGrid<kOuter, kInner>& grid,
                                                           Evaluator evaluator) {
  std::array<RatioPoint, kOuter * kInner> points{};
  std::size_t n = 0;
  for (const std::uint32_t outer : grid.outer_ppm) {
    for (const std::uint32_t inner : grid.inner_ppm) {
      points[n].shares = {outer, inner};
      points[n].cost = evaluator(points[n].shares);
      ++n;
    }
  }
  for (RatioPoint& point : points) {
    const RatioCost& own = point.cost;
    point.pareto = own.bits == own.bits && own.error == own.error;
    for (const RatioPoint& other : points) {
      const RatioCost& cost = other.cost;
      if (cost.bits <= own.bits && cost.error <= own.error &&
          (cost.bits < own.bits || cost.error < own.error)) {
        point.pareto = false;
      }
    }
  }
  return points;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
