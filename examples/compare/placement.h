// Placement: which lanes the tokens of a recording go to, for presets of several lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "compare/calibration.h"
#include "compare/recording.h"
#include "kvpleat/allocate/random_at_budget.h"
#include "kvpleat/allocate/table.h"
#include "kvpleat/cache/presets.h"

namespace compare {

// Which lanes the tokens of a recording go to. Specialise it for a preset of several lanes.
//   default_lanes: CacheShape::default_lanes; empty: the cache's own choice
//   token_lane:    the tag of a token, if kTagged
template <class Traits>
struct Placement {
  static constexpr bool kTagged = false;
  static std::vector<std::uint8_t> default_lanes(const Recording&) { return {}; }
};

// 10 % of the heads in 16 bits, 60 % in 8, 30 % in 4. Heads are ranked by the energy of their values
// over the calibration tokens: what a head can add to the output. (Not by attention, which needs the
// model to run.)
template <std::uint32_t kDim, class Element>
struct Placement<kvpleat::presets::TieredTurbo<kDim, Element>> {
  static constexpr bool kTagged = false;
  static std::vector<std::uint8_t> default_lanes(const Recording& r) {
    const std::uint32_t heads = r.layers * r.kv_heads;
    std::vector<double> energy(heads, 0.0);
    for (std::uint32_t i = 0; i < heads; ++i) {
      for (std::uint32_t t = 0; t < calibration_tokens(r); ++t) {
        const float* row = r.values.data() + r.row(i / r.kv_heads, t, i % r.kv_heads);
        energy[i] += kvpleat::ordered_dot(row, row, r.dim);
      }
    }
    std::vector<std::uint32_t> order(heads);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return energy[a] > energy[b]; });
    std::uint32_t counts[3] = {};
    kvpleat::tier_counts(heads, {10, 60, 30}, counts);
    std::vector<std::uint8_t> lanes(heads);
    for (std::uint32_t i = 0; i < heads; ++i) {
      lanes[order[i]] =
          static_cast<std::uint8_t>(i < counts[0] ? 0 : (i < counts[0] + counts[1] ? 1 : 2));
    }
    return lanes;
  }
};

// Widths drawn at random, 4.8 bits on average (20 % at 2, 60 % at 4, 15 % at 8, 5 % at 16): what a
// trained controller has to beat at equal bits.
struct RandomWidths {
  static constexpr bool kTagged = true;
  static std::vector<std::uint8_t> default_lanes(const Recording&) { return {}; }
  static std::uint8_t token_lane(const Recording&, std::uint32_t token) {
    static constexpr double kShares[4] = {0.20, 0.60, 0.15, 0.05};
    static const auto allocator = kvpleat::RandomAtBudget::from_shares(kShares, 4, 1);
    kvpleat::TokenInfo info;
    info.position = token;
    return static_cast<std::uint8_t>(allocator.choose(info));
  }
};
template <std::uint32_t kDim, class KeyStage>
struct Placement<kvpleat::presets::Adaptive<kDim, KeyStage>> : RandomWidths {};
template <std::uint32_t kDim>
struct Placement<kvpleat::presets::AdaptiveCentered<kDim>> : RandomWidths {};

}  // namespace compare
