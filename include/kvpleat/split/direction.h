// DirectionSplit: one direction of the coded space is kept apart, with a code of its own.
//
// Tokens that draw much attention (sinks, delimiters) have keys far off the mean along one
// direction. A rotated code has an error in proportion to the length of its row, so that these very
// tokens would be stored worst; without that direction they are rows like others.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Profile per head: direction[kDim] in coded space, of length 1 (within 1e-3), and the step of its
// coefficient. Step 0, or no profile: nothing is kept apart. calibrate/rotated.h makes it.
template <std::uint32_t kDim>
struct DirectionSplit {
  static constexpr auto kId = Text("split=direction;bits=8");
  static constexpr std::uint32_t kMaxOutliers = 1;  // no channel, but not nothing either
  static constexpr std::uint32_t kProfileSize = kDim + 1;
  static constexpr bool kIsDirection = true;
  static constexpr std::uint32_t kMadeFor = kDim;  // the only head_dim that it takes
  static DirectionSplit bind(const float* profile) {
    DirectionSplit split;
    if (profile != nullptr && profile[kDim] > 0.0f) split.direction = profile;
    return split;
  }
  static bool valid(const float* profile) {
    if (profile == nullptr || profile[kDim] == 0.0f) return true;
    if (!(profile[kDim] > 0.0f && profile[kDim] <= 0x1p100f)) return false;
    const double length = ordered_dot(profile, profile, kDim);  // squared
    return length > 0.998 && length < 1.002;
  }

  const float* direction = nullptr;  // null: none

  // The code of a row's coefficient: round half to even(float(<direction, row>) / step), clamped to
  // +-127; the sum in double, in the order of the numeric law.
  [[nodiscard]] std::int32_t code(const float* row) const {
    if (direction == nullptr) return 0;
    return round_to_signed(static_cast<float>(ordered_dot(direction, row, kDim)) / direction[kDim],
                           127);
  }
  // Channel c of what the code stands for: two rounded products.
  [[nodiscard]] float value(std::int32_t code, std::uint32_t c) const {
    if (direction == nullptr) return 0.0f;
    return product(product(static_cast<float>(code), direction[kDim]), direction[c]);
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
