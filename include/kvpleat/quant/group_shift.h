// GroupShiftQuant: Oaken's quantizer. Bands (outer, middle, inner), each shifted by its threshold
// and scaled by the band's own range in this token.
// Source: Oaken (ISCA 2025), equations 2 to 4, made decodable by a zero split of the bands whose
// code alone must tell the side.
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

// Which bands are measured from their threshold; the others from zero. Published: outer and middle.
enum class ShiftPolicy : std::uint8_t { kNone, kOuterOnly, kOuterAndMiddle };
// How outer and inner values are coded. The paper describes a sign bit beside four bits of the
// dense nibble, and, in equation 3, five bits over a signed range.
enum class OutlierCode : std::uint8_t {
  kSignMagnitude5,  // bit 4: the side (of an outer value) or the sign; bits 3..0: a magnitude
  kOffsetBinary5,   // 0 .. 31 over the signed range
  kOffsetBinary4,   // 0 .. 15 over the signed range: nothing of the code in the entry
};
// Whose values share a token's ranges. Published: all KV heads of the layer. Per head they lie in
// the head's own block, so that heads may be stored apart (head-scoped lanes, tensor parallel).
enum class ParameterScope : std::uint8_t { kLayer, kHead };

namespace group_shift {

template <ShiftPolicy kShift>
inline constexpr auto kShiftText = Text("outer_and_middle");
template <>
inline constexpr auto kShiftText<ShiftPolicy::kNone> = Text("none");
template <>
inline constexpr auto kShiftText<ShiftPolicy::kOuterOnly> = Text("outer_only");
template <OutlierCode kCode>
inline constexpr auto kCodeText = Text("sign_magnitude_5");
template <>
inline constexpr auto kCodeText<OutlierCode::kOffsetBinary5> = Text("offset_binary_5");
template <>
inline constexpr auto kCodeText<OutlierCode::kOffsetBinary4> = Text("offset_binary_4");
template <ParameterScope kScope>
inline constexpr auto kScopeText = Text("layer");
template <>
inline constexpr auto kScopeText<ParameterScope::kHead> = Text("head");
template <std::uint32_t kOuter, std::uint32_t kInner>
inline constexpr auto kBandsText = Text(";outer_bands=") + number_text<kOuter>() +
                                   ";inner_bands=" + number_text<kInner>();
template <>
inline constexpr auto kBandsText<1, 1> = Text("");

}  // namespace group_shift

// u, the input of a band: x - its threshold on its side where the band is shifted, else x; its
// magnitude for sign-magnitude outliers. Inner bands are never shifted; nor is the middle if there
// is no inner band, hence no threshold inside it. L: 31 for offset_binary_5 outliers, else 15.
// Stored per token, a pair of binary16 (4 bytes), little endian, for every band from outside to
// inside (outer, middle, inner: 12 bytes): min, max of u.
//   min rounded down, max rounded up: nothing clips. An empty band has both 0.
//   code  = round half to even(float(float(u - min) * float(L / (max - min)))), clamped to 0 .. L
//   value = float(min + float(code * float((max - min) / L))), the sign, then plus the threshold
// Where the code alone must tell the side (the middle if shifted; offset-binary outer bands if
// shifted), codes below the split belong to the low side; a code of the wrong side is moved to the
// nearest of its own:
//   split = min >= 0 ? 0 : max <= 0 ? L + 1 : clamp(ceil(-min * float(L / (max - min))), 1, L)
// Error: step / 2; a step in bands with a split.
template <ShiftPolicy kShift = ShiftPolicy::kOuterAndMiddle,
          OutlierCode kCode = OutlierCode::kSignMagnitude5,
          ParameterScope kScope = ParameterScope::kLayer, std::uint32_t kOuter = 1,
          std::uint32_t kInner = 1>
struct GroupShiftQuant {
  static constexpr auto kId =
      Text("quant=group_shift;bits=4;outlier=") + group_shift::kCodeText<kCode> +
      ";shift=" + group_shift::kShiftText<kShift> + ";scope=" + group_shift::kScopeText<kScope> +
      group_shift::kBandsText<kOuter, kInner>;
  static constexpr ShiftPolicy kShiftPolicy = kShift;
  static constexpr OutlierCode kOutlierCode = kCode;
  static constexpr bool kPerHead = kScope == ParameterScope::kHead;
  static constexpr std::uint32_t kBits = 4;
  static constexpr std::uint32_t kOutlierBits = kCode == OutlierCode::kOffsetBinary4 ? 4 : 5;
  static constexpr std::uint32_t kOuterBands = kOuter;
  static constexpr std::uint32_t kInnerBands = kInner;
  static constexpr std::uint32_t kBands = kOuter + 1 + kInner;
  static constexpr std::uint32_t kParameterBytes = 4 * kBands;
  static constexpr float kLargest =
      kLargestHalf * 0.5f;  // u may be the difference of a value and a threshold

  // Place of a band among the stored ranges, from outside to inside.
  static constexpr std::uint32_t place(BandSide at) {
    switch (at.band) {
      case Band::kOuter:
        return at.nested;
      case Band::kInner:
        return kOuter + 1u + at.nested;
      default:
        return kOuter;
    }
  }
  static constexpr Band band_at(std::uint32_t place) {
    // place + 1 <= n: place < n without comparing with zero, which nvcc tells of.
    return place + 1 <= kOuter ? Band::kOuter : place == kOuter ? Band::kMiddle : Band::kInner;
  }
  // Whether a band is measured from its threshold.
  static constexpr bool shifts(Band band) {
    if (band == Band::kOuter) return kShift != ShiftPolicy::kNone;
    return band == Band::kMiddle && kShift == ShiftPolicy::kOuterAndMiddle && kInner > 0;
  }
  // Whether a band's code begins with a sign.
  static constexpr bool signs(Band band) {
    return band != Band::kMiddle && kCode == OutlierCode::kSignMagnitude5;
  }
  // Whether the code alone tells the side.
  static constexpr bool divides(Band band) { return shifts(band) && !signs(band); }
  // The largest code, sign apart.
  static constexpr std::uint32_t top(Band band) {
    return band != Band::kMiddle && kCode == OutlierCode::kOffsetBinary5 ? 31 : 15;
  }

  struct Stat {
    std::array<float, kBands> lowest = filled(kInfinity);
    std::array<float, kBands> highest = filled(-kInfinity);

    static constexpr std::array<float, kBands> filled(float x) {
      std::array<float, kBands> all{};
      for (float& one : all) one = x;
      return all;
    }
  };
  // One band of one token, from the stored parameters.
  struct Range {
    float lowest = 0.0f;
    float step = 0.0f;        // (max - min) / top
    float inverse = 0.0f;     // top / (max - min), 0 for an empty range
    std::uint32_t split = 0;  // first code of the high side, in bands that it divides

    constexpr std::uint32_t encode(float u, std::uint32_t top) const {
      return inverse > 0.0f ? round_to_code(product(u - lowest, inverse), top) : 0u;
    }
    constexpr float decode(std::uint32_t code) const {
      return lowest + product(static_cast<float>(code), step);
    }
  };
  struct Parameters {
    std::array<Range, kBands> ranges{};  // by place
    constexpr const Range& of(BandSide at) const { return ranges[place(at)]; }
  };

  // u with its sign. `split` is a splitter with the thresholds as edge(): split/threshold.h,
  // split/nested_bands.h.
  template <class Split>
  static constexpr float shifted(const Split& split, float x, BandSide at) {
    return shifts(at.band) ? x - split.edge(at) : x;
  }
  static constexpr void fold(float u, BandSide at, Stat& stat) {
    const float size = signs(at.band) ? magnitude(u) : u;
    const std::uint32_t b = place(at);
    stat.lowest[b] = lower_of(stat.lowest[b], size);
    stat.highest[b] = upper_of(stat.highest[b], size);
  }
  template <class Split>
  void observe(const Split& split, float x, Stat& stat) const {
    const BandSide at = split.band(x);
    fold(shifted(split, x, at), at, stat);
  }
  static Stat merge(const Stat& a, const Stat& b) {
    Stat merged;
    for (std::size_t i = 0; i < kBands; ++i) {
      merged.lowest[i] = lower_of(a.lowest[i], b.lowest[i]);
      merged.highest[i] = upper_of(a.highest[i], b.highest[i]);
    }
    return merged;
  }
  static void write(const Stat& stat, std::uint8_t* parameters) {
    for (std::size_t i = 0; i < kBands; ++i) {
      const bool empty = !(stat.lowest[i] <= stat.highest[i]);
      store(parameters + 4 * i, empty ? Half{} : at_most<Half>(stat.lowest[i]));
      store(parameters + 4 * i + 2, empty ? Half{} : at_least<Half>(stat.highest[i]));
    }
  }
  static Parameters read(const std::uint8_t* parameters) {
    Parameters result;
    for (std::uint32_t i = 0; i < kBands; ++i) {
      const float low = to_float(load<Half>(parameters + 4 * i));
      const float high = to_float(load<Half>(parameters + 4 * i + 2));
      const float width = high - low;
      const auto levels = static_cast<float>(top(band_at(i)));
      Range& range = result.ranges[i];
      range.lowest = low;
      if (width > 0.0f) {
        range.step = width / levels;
        range.inverse = levels / width;
      }
      if (divides(band_at(i))) range.split = zero_split(low, high, range.inverse, top(band_at(i)));
    }
    return result;
  }
  // The code of u: kBits of a middle value, kOutlierBits of any other.
  static std::uint32_t code(const Parameters& parameters, float u, BandSide at) {
    const Range& range = parameters.of(at);
    const std::uint32_t most = top(at.band);
    if (signs(at.band)) {
      const bool negative = shifts(at.band) ? at.low : u < 0.0f;
      return range.encode(magnitude(u), most) | (negative ? 16u : 0u);
    }
    const std::uint32_t nearest_code = range.encode(u, most);
    if (!divides(at.band)) return nearest_code;
    return at.low ? lower_of(nearest_code, range.split - 1u)
                  : lower_of(upper_of(nearest_code, range.split), most);
  }
  template <class Split>
  static std::uint32_t encode(const Split& split, const Parameters& parameters, float x,
                              BandSide at) {
    return code(parameters, shifted(split, x, at), at);
  }
  // `at`: its band, and which of nested ones; the side is the code's to tell.
  template <class Split>
  static float decode(const Split& split, const Parameters& parameters, std::uint32_t code,
                      BandSide at) {
    const Range& range = parameters.of(at);
    float x = 0.0f;
    if (signs(at.band)) {
      at.low = code >= 16u;
      x = range.decode(code & 15u);
      if (at.low) x = -x;
    } else {
      at.low = code < range.split;
      x = range.decode(code);
    }
    return shifts(at.band) ? x + split.edge(at) : x;
  }

 private:
  static constexpr std::uint32_t zero_split(float low, float high, float inverse,
                                            std::uint32_t most) {
    if (low >= 0.0f) return 0;
    if (high <= 0.0f) return most + 1u;
    const float exact = product(-low, inverse);
    if (!(exact > 1.0f)) return 1;  // also NaN, of damaged parameters
    if (!(exact < static_cast<float>(most))) return most;
    const auto down = static_cast<std::uint32_t>(exact);
    return static_cast<float>(down) < exact ? down + 1u : down;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
