// BandProfile: what calibration knows of one side (keys or values) of one layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/role.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Thresholds, how they divided the samples that they were taken from, and the range of those
// samples. A profile of a model has [layers, 2] of them: keys, then values.
struct BandProfile {
  Half thresholds[4] = {};      // outer low, inner low, inner high, outer high
  std::uint64_t values = 0;     // elements that the next two count
  std::uint64_t outer = 0;      // beyond the outer thresholds
  std::uint64_t inner = 0;      // between the inner ones
  float lowest = 0.0f;          // of all samples
  float highest = 0.0f;         //
  float mean_magnitude = 0.0f;  //

  [[nodiscard]] constexpr double outer_share() const noexcept { return share(outer); }
  [[nodiscard]] constexpr double inner_share() const noexcept { return share(inner); }
  friend constexpr bool operator==(const BandProfile& a, const BandProfile& b) = default;

 private:
  [[nodiscard]] constexpr double share(std::uint64_t count) const noexcept {
    return values == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(values);
  }
};

// Place of a side in arrays of [layers, 2].
constexpr std::size_t side_index(std::uint32_t layer, Role side) noexcept {
  return static_cast<std::size_t>(layer) * 2 + (side == Role::kValue ? 1 : 0);
}
constexpr const char* side_name(Role side) noexcept {
  return side == Role::kKey ? "key" : "value";
}

// The name of something about a side: "layer12.key.range".
class BandName {
 public:
  constexpr BandName(std::uint32_t layer, Role side, std::string_view what) noexcept {
    put("layer");
    char digits[10] = {};
    std::size_t n = 0;
    do digits[n++] = static_cast<char>('0' + layer % 10);
    while ((layer /= 10) > 0);
    while (n > 0) characters_[size_++] = digits[--n];
    put(".");
    put(side_name(side));
    put(".");
    put(what);
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters_, size_}; }

 private:
  constexpr void put(std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size() && size_ < sizeof characters_; ++i)
      characters_[size_++] = text[i];
  }
  char characters_[48] = {};
  std::size_t size_ = 0;
};

// The thresholds of one side as the profile that a cache takes: [layers, heads, 4] floats, the same
// for all heads of a layer.
inline void spread_thresholds(const BandProfile* bands, std::uint32_t layers, std::uint32_t heads,
                              Role side, float* profile) noexcept {
  for (std::uint32_t l = 0; l < layers; ++l) {
    for (std::uint32_t h = 0; h < heads; ++h) {
      for (const Half t : bands[side_index(l, side)].thresholds) *profile++ = to_float(t);
    }
  }
}

}  // namespace kvpleat::inline KVPLEAT_ISA
