// NuqQuant: codes name one of 2^bits signposts, which a fit to data has placed (calibrate/nuq.h).
// Source: KVQuant, arXiv:2401.18079 ("nuq").
#pragma once

#include <array>
#include <cstdint>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/quant/side_text.h"

namespace kvpleat::inline KVPLEAT_ISA {

// What is stored per group.
enum class NuqScale : std::uint8_t {
  kNone,   // nothing: a transform has scaled the rows (ChannelScale)
  kRange,  // offset and range of the group, so that its members lie in [-1, 1]
};

namespace quant {

// Signposts at equal distances over [-1, 1], rounded to binary16.
template <std::uint32_t kBits>
inline constexpr std::array<float, 1u << kBits> kEqualSignposts = [] {
  constexpr std::uint32_t kTop = (1u << kBits) - 1u;
  std::array<float, 1u << kBits> signposts{};
  for (std::uint32_t i = 0; i <= kTop; ++i) {
    const float numerator = 2.0f * static_cast<float>(i) - static_cast<float>(kTop);
    signposts[i] = to_float(to_half(numerator / static_cast<float>(kTop)));
  }
  return signposts;
}();

}  // namespace quant

// Profile: signposts[2^bits], ascending (equal neighbours are allowed), each representable as
// binary16, per head. None, or all zero: equal distances over [-1, 1], that is about what
// AffineQuant does. Stored per group with kRange: half offset, half range.
//   offset = the half nearest to (maximum + minimum) / 2
//   range  = the smallest half not below the distance of offset to the further of the two; 0 for a
//            distance below 2^-25, half the smallest half: no signpost need be 0
//   u      = (x - offset) / range, 0 if the range is 0;   kNone: u = x
//   code   = the nearest signpost: the number of i with u > (signpost[i] + signpost[i+1]) / 2, so
//            that a tie takes the lower one. u beyond the last signpost takes the last.
//   value  = signpost[code] * range + offset. 11 bits times 11 are exact, so every target gives
//            equal bits;   kNone: value = signpost[code]
// Error with kRange: range * (half the distance of the two signposts that enclose u, or its
// distance from the end one) plus one rounding; the distance above if range is 0. kNone: the same
// with range 1, unbounded outside [-1, 1]: there values saturate and are counted
// (EncodeCounters::saturated), unless a splitter has taken them away (RangeSplit).
template <std::uint32_t kBitCount, NuqScale kStored = NuqScale::kRange,
          std::uint32_t kGroupSize = kWholeHead>
struct NuqQuant {
  static_assert(kBitCount >= 1 && kBitCount <= 8, "kvpleat: NuqQuant takes 1 to 8 bits");
  static_assert(kStored == NuqScale::kRange || kGroupSize == kWholeHead,
                "kvpleat: NuqQuant without a stored range has no groups");
  using Side = Half;
  static constexpr std::uint32_t kBits = kBitCount;
  static constexpr std::uint32_t kGroup = kGroupSize;
  static constexpr Axis kAxis = Axis::kChannels;
  static constexpr bool kExactMerge = true;
  static constexpr bool kRanged = kStored == NuqScale::kRange;
  static constexpr std::uint32_t kSignposts = 1u << kBits;
  static constexpr float kLargest = kLargestHalf;
  static constexpr auto kId = [] {
    constexpr auto kName = Text("quant=nuq;bits=") + number_text<kBits>();
    if constexpr (kRanged) {
      return kName + ";scale=range;group=" + number_text<kGroup>() + ";side=f16";
    } else {
      return kName + ";scale=none";
    }
  }();

  static constexpr std::uint32_t kProfileSize = kSignposts;
  static NuqQuant bind(const float* profile) {
    NuqQuant quant;
    for (std::uint32_t i = 0; profile != nullptr && i < kSignposts; ++i) {
      if (profile[i] != 0.0f) quant.signposts = profile;
    }
    return quant;
  }
  static bool valid(const float* profile) {
    for (std::uint32_t i = 0; profile != nullptr && i < kSignposts; ++i) {
      if (!(magnitude(profile[i]) <= kLargestHalf) || to_float(to_half(profile[i])) != profile[i])
        return false;
      if (i > 0 && profile[i] < profile[i - 1]) return false;
    }
    return true;
  }

  // Whether x lies outside of what the signposts and a transform's scales were made for.
  [[nodiscard]] bool saturates(float x) const requires(!kRanged) { return magnitude(x) > 1.0f; }

  const float* signposts = quant::kEqualSignposts<kBits>.data();

  struct Nothing {};
  struct Extent {
    float lowest = kInfinity;
    float highest = -kInfinity;
  };
  struct Ends {
    Side offset{};
    Side range{};
  };
  using Stat = std::conditional_t<kRanged, Extent, Nothing>;
  using Scale = std::conditional_t<kRanged, Ends, Nothing>;

  constexpr void observe(float x, Stat& stat) const {
    if constexpr (kRanged) {
      stat.lowest = lower_of(stat.lowest, x);
      stat.highest = upper_of(stat.highest, x);
    }
  }
  static constexpr Stat merge(const Stat& a, const Stat& b) {
    if constexpr (kRanged) {
      return {lower_of(a.lowest, b.lowest), upper_of(a.highest, b.highest)};
    } else {
      return {};
    }
  }
  constexpr Scale scale(const Stat& stat) const {
    if constexpr (kRanged) {
      if (!(stat.lowest <= stat.highest)) return {};  // empty group
      const Side stored = nearest<Side>((stat.lowest + stat.highest) * 0.5f);
      const float offset = to_float(stored);
      const float distance = upper_of(stat.highest - offset, offset - stat.lowest);
      return {stored, distance < 0x1p-25f ? Side{} : at_least<Side>(distance)};
    } else {
      return {};
    }
  }
  constexpr std::uint32_t encode(float x, const Scale& scale) const {
    float u = x;
    if constexpr (kRanged) {
      const float range = to_float(scale.range);
      u = range > 0.0f ? (x - to_float(scale.offset)) / range : 0.0f;
    }
    std::uint32_t code = 0;
    for (std::uint32_t i = 0; i + 1 < kSignposts; ++i)
      code += u > (signposts[i] + signposts[i + 1]) * 0.5f ? 1u : 0u;
    return code;
  }
  constexpr float decode(std::uint32_t code, const Scale& scale) const {
    if constexpr (kRanged) {
      return signposts[code] * to_float(scale.range) + to_float(scale.offset);
    } else {
      return signposts[code];
    }
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
