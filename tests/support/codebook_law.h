// What the formats with CodebookQuant promise of an element: the error law of quant/codebook.h,
// computed from the row anew.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/codec/direction.h"
#include "kvpleat/codec/slots.h"
#include "kvpleat/format/rotated.h"
#include "support/any_format.h"

namespace test {

// |x - value| <= coding * (x / coding to the nearest level) + |level| * |coding - stored|.
// Near a threshold either level may have been taken: |level| <= |q| + distance for both.
template <class Quant>
float codebook_bound(float x, double coding, float stored) {
  if (coding == 0.0) return std::fabs(x);
  const double q = static_cast<double>(x) / coding;
  double distance = 1e30;
  for (const float level : Quant::kLevels)
    distance = std::fmin(distance, std::fabs(q - static_cast<double>(level)));
  const double spread = std::fabs(coding - static_cast<double>(stored));
  // Quotient, threshold and product round once each, numbers of at most |q| + 3.
  return static_cast<float>(coding * distance + (std::fabs(q) + distance) * spread +
                            0x1p-20 * coding * (std::fabs(q) + 3.0));
}

// The coding scale of the members that take part.
template <class Quant>
double coding_scale(const std::vector<float>& members) {
  double energy = 0.0;
  for (const float x : members) energy += static_cast<double>(x) * static_cast<double>(x);
  if (energy == 0.0) return 0.0;
  const double rms = std::sqrt(energy / static_cast<double>(members.size()));
  return static_cast<double>(
      kvpleat::to_float(kvpleat::nearest<typename Quant::Side>(static_cast<float>(rms))));
}

template <std::uint32_t kDim, class Transform, class Split, std::uint32_t kBits, class Book,
          kvpleat::ScalePolicy kPolicy, class Side, std::uint32_t kGroup, class Codec,
          kvpleat::Role kRole>
struct ErrorBound<kvpleat::BlockFormat<kDim, Transform, Split,
                                       kvpleat::CodebookQuant<kBits, Book, kPolicy, Side, kGroup>,
                                       Codec, kRole>> {
  using Quant = kvpleat::CodebookQuant<kBits, Book, kPolicy, Side, kGroup>;
  using F = kvpleat::BlockFormat<kDim, Transform, Split, Quant, Codec, kRole>;
  using Dense = typename F::Layout::Dense;

  static float of(const F& format, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    std::vector<float> coded(row, row + kDim);
    float extra = 0.0f;
    if constexpr (requires { Split::kIsDirection; }) {
      // The dense codes are those of the row without its first coefficient; what was stored in
      // the end differs from it by what the dense codes lost along the direction.
      const std::int32_t first = format.split.code(row);
      const auto last = static_cast<std::int32_t>(
          static_cast<std::int8_t>(data.block[F::Layout::kCoefficients + slot]));
      float size = 0.0f;
      for (std::uint32_t i = 0; i < kDim; ++i) {
        coded[i] = row[i] - format.split.value(first, i);
        size = std::fmax(size, std::fabs(row[i]) + std::fabs(format.split.value(last, i)));
      }
      extra =
          std::fabs(format.split.value(first, c) - format.split.value(last, c)) + 0x1p-21f * size;
    }
    const std::uint32_t group = c / Dense::kGroupChannels;
    const std::uint32_t begin = group * Dense::kGroupChannels;
    const std::uint32_t end = std::min(begin + Dense::kGroupChannels, kDim);
    std::vector<bool> apart(kDim, false);
    if constexpr (kvpleat::VectorSplitter<Split>) {
      std::uint16_t channels[Split::kMaxOutliers];
      const std::uint32_t count = format.split.split(row, kDim, channels);
      for (std::uint32_t i = 0; i < count; ++i) apart[channels[i]] = true;
      if (apart[c]) {
        const float step = kvpleat::to_float(
            kvpleat::load<kvpleat::Half>(data.block.data() + F::Layout::scale_at(slot)));
        return step / 2.0f + 0x1p-21f * std::fabs(row[c]);
      }
    }
    std::vector<float> members;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (!apart[i]) members.push_back(coded[i]);
    }
    const float stored = kvpleat::to_float(Dense::load_scale(data.block.data(), slot, group).norm);
    return codebook_bound<Quant>(coded[c], coding_scale<Quant>(members), stored) + extra;
  }
};

// Mean anything, scales near 1 (0 counts as 1), a direction of length 1 that no axis is near.
template <std::uint32_t kDim, class Transform, class Quant, class Codec, kvpleat::Role kRole>
struct SampleProfile<
    kvpleat::BlockFormat<kDim, Transform, kvpleat::DirectionSplit<kDim>, Quant, Codec, kRole>> {
  static std::vector<float> make() {
    constexpr std::uint32_t kFloats = Transform::profile_size(kDim);
    std::vector<float> profile;
    for (std::uint32_t i = 0; i < kFloats; ++i) {
      profile.push_back(i + kDim < kFloats ? static_cast<float>((7 * i + 3) % 13) / 4.0f - 1.5f
                                           : static_cast<float>(i % 5) / 16.0f + 0.875f);
    }
    profile[kFloats - 1] = 0.0f;
    double energy = 0.0;
    for (std::uint32_t c = 0; c < kDim; ++c) {
      profile.push_back(static_cast<float>((5 * c + 2) % 11) - 4.5f);
      energy += static_cast<double>(profile.back()) * static_cast<double>(profile.back());
    }
    for (std::uint32_t c = 0; c < kDim; ++c)
      profile[kFloats + c] = static_cast<float>(profile[kFloats + c] / std::sqrt(energy));
    profile.push_back(0.0625f);
    return profile;
  }
};

}  // namespace test
