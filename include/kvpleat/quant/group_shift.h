// GroupShiftQuant: Oaken's quantizer. Three bands (outer, middle, inner), each shifted by its
// threshold and scaled by the band's own range in this token, over all KV heads of the layer.
// Source: Oaken (ISCA 2025), equations 2 to 4, made decodable by a zero split of the middle band.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/outlier.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Input u of a band:  outer: |x - outer threshold of its side|;  inner: |x|;  middle: x - inner
// threshold of its side. Outer and inner codes are sign (the side bit) and 4 bits of magnitude. The
// middle code is 4 bits over the signed range; codes below the zero split belong to the low side.
// Stored per token, 6 binary16 (12 bytes), little endian: outer min, max; middle min, max; inner
// min, max.
//   min rounded down, max rounded up: nothing clips. An empty band has both 0.
//   code  = round half to even(float(float(u - min) * float(15 / (max - min)))), clamped to 0 .. 15
//   value = float(min + float(code * float((max - min) / 15))), then plus the threshold
//   split = min >= 0 ? 0 : max <= 0 ? 16 : clamp(ceil(-min * 15/(max - min)), 1, 15)
// Error: outer, inner <= step / 2; middle <= step (the clamp at the split).
struct GroupShiftQuant {
  static constexpr auto kId =
      Text("quant=group_shift;bits=4;outlier=sign_magnitude_5;shift=outer_and_middle");
  static constexpr std::uint32_t kBits = 4;
  static constexpr std::uint32_t kParameterBytes = 12;
  static constexpr float kLargest =
      kLargestHalf * 0.5f;  // u may be the difference of a value and a threshold

  struct Stat {
    std::array<float, 3> lowest = {kInfinity, kInfinity, kInfinity};  // by Band
    std::array<float, 3> highest = {-kInfinity, -kInfinity, -kInfinity};
  };
  // One band of one token, from the stored parameters.
  struct Range {
    float lowest = 0.0f;
    float step = 0.0f;     // (max - min) / 15
    float inverse = 0.0f;  // 15 / (max - min), 0 for an empty range

    constexpr std::uint32_t encode(float u) const {
      return inverse > 0.0f ? round_to_code(product(u - lowest, inverse), 15u) : 0u;
    }
    constexpr float decode(std::uint32_t code) const {
      return lowest + product(static_cast<float>(code), step);
    }
  };
  struct Parameters {
    std::array<Range, 3> band{};
    std::uint32_t zero_split = 0;  // first middle code of the high side
  };

  // `split` is a splitter with the four thresholds of split/threshold.h.
  template <class Split>
  static constexpr float shifted(const Split& split, float x, BandSide at) {
    switch (at.band) {
      case Band::kOuter:
        return at.low ? -(x - split.outer_low) : x - split.outer_high;
      case Band::kInner:
        return magnitude(x);
      default:
        return at.low ? x - split.inner_low : x - split.inner_high;
    }
  }
  template <class Split>
  void observe(const Split& split, float x, Stat& stat) const {
    const BandSide at = split.band(x);
    const float u = shifted(split, x, at);
    const auto b = static_cast<std::size_t>(at.band);
    stat.lowest[b] = lower_of(stat.lowest[b], u);
    stat.highest[b] = upper_of(stat.highest[b], u);
  }
  static Stat merge(const Stat& a, const Stat& b) {
    Stat merged;
    for (std::size_t i = 0; i < 3; ++i) {
      merged.lowest[i] = lower_of(a.lowest[i], b.lowest[i]);
      merged.highest[i] = upper_of(a.highest[i], b.highest[i]);
    }
    return merged;
  }
  static void write(const Stat& stat, std::uint8_t* parameters) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto b = static_cast<std::size_t>(kOrder[i]);
      const bool empty = !(stat.lowest[b] <= stat.highest[b]);
      store(parameters + 4 * i, empty ? Half{} : at_most<Half>(stat.lowest[b]));
      store(parameters + 4 * i + 2, empty ? Half{} : at_least<Half>(stat.highest[b]));
    }
  }
  static Parameters read(const std::uint8_t* parameters) {
    Parameters result;
    for (std::size_t i = 0; i < 3; ++i) {
      const float low = to_float(load<Half>(parameters + 4 * i));
      const float high = to_float(load<Half>(parameters + 4 * i + 2));
      const float width = high - low;
      Range& range = result.band[static_cast<std::size_t>(kOrder[i])];
      range.lowest = low;
      if (width > 0.0f) {
        range.step = width / 15.0f;
        range.inverse = 15.0f / width;
      }
      if (kOrder[i] == Band::kMiddle) result.zero_split = zero_split(low, high, range.inverse);
    }
    return result;
  }
  // The code and, for outliers, what the side bit says. The middle code is pushed to its side of
  // the split.
  template <class Split>
  static std::uint32_t encode(const Split& split, const Parameters& parameters, float x,
                              BandSide at) {
    const std::uint32_t code =
        parameters.band[static_cast<std::size_t>(at.band)].encode(shifted(split, x, at));
    if (at.band != Band::kMiddle) return code;
    return at.low ? lower_of(code, parameters.zero_split - 1u)
                  : lower_of(upper_of(code, parameters.zero_split), 15u);
  }
  template <class Split>
  static float decode_middle(const Split& split, const Parameters& parameters, std::uint32_t code) {
    const float u = parameters.band[static_cast<std::size_t>(Band::kMiddle)].decode(code);
    return u + (code >= parameters.zero_split ? split.inner_high : split.inner_low);
  }
  template <class Split>
  static float decode_outlier(const Split& split, const Parameters& parameters, std::uint32_t code,
                              BandSide at) {
    const float u = parameters.band[static_cast<std::size_t>(at.band)].decode(code);
    const float x = at.low ? -u : u;
    if (at.band == Band::kInner) return x;
    return x + (at.low ? split.outer_low : split.outer_high);
  }

 private:
  static constexpr Band kOrder[3] = {Band::kOuter, Band::kMiddle, Band::kInner};

  static constexpr std::uint32_t zero_split(float low, float high, float inverse) {
    if (low >= 0.0f) return 0;
    if (high <= 0.0f) return 16;
    const float exact = product(-low, inverse);
    std::uint32_t up = static_cast<std::uint32_t>(exact);
    if (static_cast<float>(up) < exact) ++up;
    return lower_of(upper_of(up, 1u), 15u);
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
