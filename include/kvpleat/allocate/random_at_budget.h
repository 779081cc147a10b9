// RandomAtBudget: a lane drawn by a seeded hash, with shares that meet an average width. What a
// learned allocator must beat at equal average bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/tokens.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Deterministic: the lane of a token is a function of seed, position and (unless the lanes of a
// token are shared by all layers) layer and head. O(lanes). Expectations are exact to 2^-32.
struct RandomAtBudget {
  static constexpr bool kDeferred = false;
  static constexpr std::uint32_t kMostLanes = 8;
  std::uint64_t seed = 1;
  bool per_layer = false;  // false: one draw per position (sequence scope)
  bool per_head = false;
  std::uint32_t lanes = 0;
  // Lane i has the draws from below[i-1] up to below[i], of 2^32.
  std::uint64_t below[kMostLanes] = {};

  // Lane i with the share weights[i] / sum of weights. Weights that are negative count as 0; if all
  // are 0, lane 0 takes all.
  static RandomAtBudget from_shares(const double* weights, std::uint32_t count,
                                    std::uint64_t seed) noexcept {
    RandomAtBudget allocator;
    allocator.seed = seed;
    allocator.lanes = count < kMostLanes ? count : kMostLanes;
    double sum = 0.0;
    for (std::uint32_t i = 0; i < allocator.lanes; ++i) sum += weights[i] > 0.0 ? weights[i] : 0.0;
    double part = 0.0;
    for (std::uint32_t i = 0; i < allocator.lanes; ++i) {
      part += weights[i] > 0.0 ? weights[i] : 0.0;
      allocator.below[i] = sum > 0.0 ? static_cast<std::uint64_t>(part / sum * 0x1p32 + 0.5)
                                     : std::uint64_t{1} << 32;
    }
    if (allocator.lanes > 0) allocator.below[allocator.lanes - 1] = std::uint64_t{1} << 32;
    return allocator;
  }
  // Of the lanes of the given widths (in any order) the two nearest to the budget from either side,
  // in the shares whose average is the budget. A budget below the smallest or above the largest
  // width: that width alone.
  //   bits: [count] average bits of each lane, what it really stores
  static RandomAtBudget two_widths(const double* bits, std::uint32_t count, double budget,
                                   std::uint64_t seed) noexcept {
    double weights[kMostLanes] = {};
    const std::uint32_t n = count < kMostLanes ? count : kMostLanes;
    std::uint32_t low = n;
    std::uint32_t high = n;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (bits[i] <= budget && (low == n || bits[i] > bits[low])) low = i;
      if (bits[i] >= budget && (high == n || bits[i] < bits[high])) high = i;
    }
    if (low == n) {
      if (high < n) weights[high] = 1.0;
    } else if (high == n || bits[high] == bits[low]) {
      weights[low] = 1.0;
    } else {
      weights[low] = (bits[high] - budget) / (bits[high] - bits[low]);
      weights[high] = 1.0 - weights[low];
    }
    return from_shares(weights, n, seed);
  }

  [[nodiscard]] double share(std::uint32_t lane) const noexcept {
    const std::uint64_t before = lane == 0 ? 0 : below[lane - 1];
    return static_cast<double>(below[lane] - before) * 0x1p-32;
  }
  // What tokens cost on average.
  [[nodiscard]] double average(const double* bits) const noexcept {
    double sum = 0.0;
    for (std::uint32_t i = 0; i < lanes; ++i) sum += share(i) * bits[i];
    return sum;
  }
  [[nodiscard]] std::uint32_t choose(const TokenInfo& info) const noexcept {
    std::uint64_t z = seed * 0x9e3779b97f4a7c15ull + info.position;
    z = mixed(z);
    if (per_layer) z = mixed(z + info.layer + 1);
    if (per_head) z = mixed(z + info.head + 1);
    const std::uint64_t draw = z >> 32;
    std::uint32_t lane = 0;
    while (lane + 1 < lanes && draw >= below[lane]) ++lane;
    return lane;
  }

 private:
  // SplitMix64.
  static constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
