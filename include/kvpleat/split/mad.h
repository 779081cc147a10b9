// MadSplit, MadClamp: outliers by the median absolute deviation, kept apart or moved to the limit.
//
// A value is an outlier if |x - median| > 3 * 1.4826 * MAD, where MAD is the median of
// |x - median|; for Gaussian data that is three standard deviations.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Where a value stops being usual. limit 0: the filter is off.
struct MadLimits {
  float median = 0.0f;
  float limit = 0.0f;

  [[nodiscard]] KVPLEAT_HD constexpr bool off() const { return !(limit > 0.0f); }
  // How far an outlier lies from the median; 0 for a usual value.
  [[nodiscard]] KVPLEAT_HD constexpr float beyond(float x) const {
    const float deviation = magnitude(x - median);
    return !off() && deviation > limit ? deviation : 0.0f;
  }
  // x, moved to the nearer limit if it is an outlier.
  [[nodiscard]] KVPLEAT_HD constexpr float clamped(float x) const {
    if (!(beyond(x) > 0.0f)) return x;
    return x < median ? median - limit : median + limit;
  }
};

namespace mad {

// The head_dim that an axis is made for; 0: any.
template <class AxisPolicy>
inline constexpr std::uint32_t kMadeFor = [] {
  if constexpr (requires { AxisPolicy::kMadeFor; }) {
    return static_cast<std::uint32_t>(AxisPolicy::kMadeFor);
  } else {
    return 0u;
  }
}();

inline constexpr float kFactor = 4.4478f;  // 3 * 1.4826

// The lower median of value(0) .. value(n-1), n > 0: the ((n-1) / 2)-th of the sorted values. Found
// bit by bit over the integers in whose order floats lie: no copy, no sort, 32 passes.
template <class Value>
constexpr float lower_median(std::uint32_t n, Value value) {
  const std::uint32_t rank = (n - 1) / 2;
  std::uint32_t found = 0;
  for (std::uint32_t bit = 0x80000000u; bit > 0; bit >>= 1) {
    std::uint32_t below = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto bits = __builtin_bit_cast(std::uint32_t, static_cast<float>(value(i)));
      const std::uint32_t key = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
      below += key < (found | bit) ? 1u : 0u;
    }
    if (below <= rank) found |= bit;
  }
  return __builtin_bit_cast(float, (found & 0x80000000u) != 0 ? found ^ 0x80000000u : ~found);
}

// The limits of one group. Off where more than half of the values are (nearly) equal: MAD = 0 or
// under 2^-14 of the largest magnitude. Clamping would then move everything onto the median.
template <class Value>
constexpr MadLimits limits_of(std::uint32_t n, Value value) {
  if (n == 0) return {};
  const float median = lower_median(n, value);
  const float deviation =
      lower_median(n, [&](std::uint32_t i) { return magnitude(value(i) - median); });
  float largest = 0.0f;
  for (std::uint32_t i = 0; i < n; ++i) largest = upper_of(largest, magnitude(value(i)));
  if (!(deviation > 0.0f) || deviation < largest * 0x1p-14f) return {median, 0.0f};
  return {median, product(kFactor, deviation)};
}

}  // namespace mad

// Over which values median and MAD are taken. An axis makes, from a head vector, what answers
// at(channel).

// The head vector itself: no profile, changes with every token.
struct MadOfRow {
  static constexpr auto kId = Text("row");
  static constexpr std::uint32_t kProfileSize = 0;
  static MadOfRow bind(const float*) { return {}; }
  static bool valid(const float*) { return true; }

  struct Limits {
    MadLimits all;
    [[nodiscard]] MadLimits at(std::uint32_t) const { return all; }
    [[nodiscard]] std::uint32_t off(std::uint32_t) const { return all.off() ? 1u : 0u; }
  };
  [[nodiscard]] Limits limits(const float* row, std::uint32_t dim) const {
    return {mad::limits_of(dim, [row](std::uint32_t c) { return row[c]; })};
  }
};
// All keys or values of a head (or more) in a sample. Profile: median, limit
// (calibrate/mad.h); limit 0: off.
struct MadOfTensor {
  static constexpr auto kId = Text("tensor");
  static constexpr std::uint32_t kProfileSize = 2;
  static MadOfTensor bind(const float* profile) {
    MadOfTensor axis;
    axis.all = {profile[0], profile[1]};
    return axis;
  }
  static bool valid(const float* profile) {
    return profile != nullptr && is_finite(profile[0]) && is_finite(profile[1]) &&
           profile[1] >= 0.0f;
  }

  struct Limits {
    MadLimits all;
    [[nodiscard]] MadLimits at(std::uint32_t) const { return all; }
    [[nodiscard]] std::uint32_t off(std::uint32_t) const { return all.off() ? 1u : 0u; }
  };
  [[nodiscard]] Limits limits(const float*, std::uint32_t) const { return {all}; }

  MadLimits all;
};
// Every channel by itself, over a sample. Profile: [kDim] of median, limit. A profile and not the
// tokens of a block: the bytes of a token would depend on the tokens after it, and a format of
// tokens that stand alone (seal 1) would need open groups.
template <std::uint32_t kDim>
struct MadOfChannel {
  static constexpr auto kId = Text("channel");
  static constexpr std::uint32_t kProfileSize = 2 * kDim;
  static constexpr std::uint32_t kMadeFor = kDim;  // the only head_dim that it takes
  static MadOfChannel bind(const float* profile) {
    MadOfChannel axis;
    axis.profile = profile;
    return axis;
  }
  static bool valid(const float* profile) {
    if (profile == nullptr) return false;
    for (std::uint32_t c = 0; c < kDim; ++c) {
      if (!MadOfTensor::valid(profile + static_cast<std::size_t>(2) * c)) return false;
    }
    return true;
  }

  struct Limits {
    const float* profile;
    [[nodiscard]] MadLimits at(std::uint32_t c) const {
      const float* own = profile + static_cast<std::size_t>(2) * c;
      return {own[0], own[1]};
    }
    [[nodiscard]] std::uint32_t off(std::uint32_t dim) const {
      std::uint32_t count = 0;
      for (std::uint32_t c = 0; c < dim; ++c) count += at(c).off() ? 1u : 0u;
      return count;
    }
  };
  [[nodiscard]] Limits limits(const float*, std::uint32_t dim) const {
    KVPLEAT_ASSERT(dim == kDim);
    static_cast<void>(dim);
    return {profile};
  }

  const float* profile = nullptr;
};

// Keeps outliers apart, at most kCount of each head vector: those farthest from their median, ties:
// the lowest channel first. What does not fit stays with the dense codes and widens their range.
// Groups whose filter is off are counted (EncodeCounters::filters_off).
template <std::uint32_t kCount, class AxisPolicy = MadOfRow>
struct MadSplit {
  static_assert(kCount >= 1 && kCount <= 64, "kvpleat: MadSplit keeps 1 to 64 outliers per token");
  static constexpr auto kId =
      Text("split=mad;outliers=") + number_text<kCount>() + ";axis_of_mad=" + AxisPolicy::kId;
  static constexpr std::uint32_t kMaxOutliers = kCount;
  static constexpr std::uint32_t kProfileSize = AxisPolicy::kProfileSize;
  static constexpr std::uint32_t kMadeFor = mad::kMadeFor<AxisPolicy>;
  static MadSplit bind(const float* profile) {
    MadSplit split;
    split.axis = AxisPolicy::bind(profile);
    return split;
  }
  static bool valid(const float* profile) { return AxisPolicy::valid(profile); }

  // Writes the outliers' channels in ascending order to channels[kCount]; returns how many.
  std::uint32_t split(const float* row, std::uint32_t dim, std::uint16_t* channels,
                      EncodeCounters& counters) const {
    const typename AxisPolicy::Limits limits = axis.limits(row, dim);
    counters.filters_off += limits.off(dim);
    float kept[kCount];  // deviations, descending; equal ones in ascending channel order
    std::uint32_t count = 0;
    for (std::uint32_t c = 0; c < dim; ++c) {
      const float beyond = limits.at(c).beyond(row[c]);
      if (!(beyond > 0.0f) || (count == kCount && !(beyond > kept[count - 1]))) continue;
      std::uint32_t at = count < kCount ? count++ : kCount - 1;
      for (; at > 0 && beyond > kept[at - 1]; --at) {
        kept[at] = kept[at - 1];
        channels[at] = channels[at - 1];
      }
      kept[at] = beyond;
      channels[at] = static_cast<std::uint16_t>(c);
    }
    for (std::uint32_t i = 1; i < count; ++i) {  // few entries: insertion sort by channel
      const std::uint16_t channel = channels[i];
      std::uint32_t at = i;
      for (; at > 0 && channels[at - 1] > channel; --at) channels[at] = channels[at - 1];
      channels[at] = channel;
    }
    return count;
  }
  std::uint32_t split(const float* row, std::uint32_t dim, std::uint16_t* channels) const {
    EncodeCounters ignored;
    return split(row, dim, channels, ignored);
  }

  [[no_unique_address]] AxisPolicy axis{};
};

// Moves outliers to the limit before the row is coded: nothing is kept apart, and what was beyond
// is lost (counted in EncodeCounters::clipped). On Gaussian data the loss is about 14 times the
// whole error of 8-bit codes: for 4 bits and below. Split at 8.
template <class AxisPolicy = MadOfRow>
struct MadClamp {
  static constexpr auto kId = Text("split=mad_clamp;axis_of_mad=") + AxisPolicy::kId;
  static constexpr std::uint32_t kMaxOutliers = 0;
  static constexpr std::uint32_t kProfileSize = AxisPolicy::kProfileSize;
  static constexpr std::uint32_t kMadeFor = mad::kMadeFor<AxisPolicy>;
  static MadClamp bind(const float* profile) {
    MadClamp clamp;
    clamp.axis = AxisPolicy::bind(profile);
    return clamp;
  }
  static bool valid(const float* profile) { return AxisPolicy::valid(profile); }

  void filter(const float* row, std::uint32_t dim, float* filtered,
              EncodeCounters& counters) const {
    const typename AxisPolicy::Limits limits = axis.limits(row, dim);
    counters.filters_off += limits.off(dim);
    for (std::uint32_t c = 0; c < dim; ++c) {
      const MadLimits own = limits.at(c);
      counters.clipped += own.beyond(row[c]) > 0.0f ? 1u : 0u;
      filtered[c] = own.clamped(row[c]);
    }
  }

  [[no_unique_address]] AxisPolicy axis{};
};

}  // namespace kvpleat::inline KVPLEAT_ISA
