// Profiles of the KVQuant formats from recorded rows of a layer.
// Source: KVQuant, arXiv:2401.18079 (offline calibration of keys and of both codebooks).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kvpleat/calibrate/nuq.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"
#include "kvpleat/format/kvquant.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Rows of one layer, every KV head: element (t, h, c) at t * token_stride + h * head_stride + c.
struct CalibrationRows {
  const float* rows = nullptr;
  const float* weights = nullptr;  // as rows: how much each element matters; null: all alike
  std::size_t tokens = 0;
  std::size_t heads = 0;
  std::size_t token_stride = 0;
  std::size_t head_stride = 0;

  [[nodiscard]] const float* row(std::size_t t, std::size_t h) const {
    return rows + t * token_stride + h * head_stride;
  }
  [[nodiscard]] WeightedValue at(std::size_t t, std::size_t h, std::size_t c) const {
    const std::size_t i = t * token_stride + h * head_stride + c;
    return {rows[i], weights == nullptr ? 1.0f : weights[i]};
  }
};

// profile: [heads, 2 * kDim + 2^kBits] for KvQuantKey<kDim, kBits>: offset and range of each
// channel, then the layer's signposts. rows: keys *before* RoPE. scratch: [tokens * heads * kDim].
// A channel's range is what lies between its r-th lowest and r-th highest value, r = (tokens - 1) *
// outlier_ppm / 2000000 (10000: half a percent off either end): offset = the middle, range = half
// of it, but at least 2^-8 of the head's largest magnitude, so that no later key is out of reach in
// binary16 (1 if all are zero), and within 2^-64 .. 2^64. Signposts are fitted to what is in range,
// over all heads.
// kInvalid: no rows, or outlier_ppm above 1000000; otherwise as fit_signposts.
template <std::uint32_t kDim, std::uint32_t kBits>
Status kvquant_key_profile(const CalibrationRows& rows, std::uint32_t outlier_ppm,
                           WeightedValue* scratch, float* profile) noexcept {
  constexpr std::size_t kSize = formats::KvQuantKey<kDim, kBits>::kProfileSize;
  if (rows.rows == nullptr || rows.tokens == 0 || rows.heads == 0 || scratch == nullptr ||
      outlier_ppm > 1000000u)
    return Status::kInvalid;
  const auto cut =
      static_cast<std::size_t>((rows.tokens - 1) * std::uint64_t{outlier_ppm} / 2000000u);
  for (std::size_t h = 0; h < rows.heads; ++h) {
    float* offset = profile + h * kSize;
    float* range = offset + kDim;
    float largest = 0.0f;
    for (std::size_t c = 0; c < kDim; ++c) {
      for (std::size_t t = 0; t < rows.tokens; ++t) {
        scratch[t] = rows.at(t, h, c);
        if (!is_finite(scratch[t].value)) return Status::kNonFinite;
        largest = upper_of(largest, magnitude(scratch[t].value));
      }
      const auto ranked = [&](std::size_t rank) {
        std::nth_element(scratch, scratch + rank, scratch + rows.tokens, AscendingValue{});
        return scratch[rank].value;
      };
      const float low = ranked(cut);
      const float high = ranked(rows.tokens - 1 - cut);
      offset[c] = low + (high - low) * 0.5f;
      range[c] = upper_of(high - offset[c], offset[c] - low);
    }
    const float least = largest > 0.0f ? largest * 0x1p-8f : 1.0f;
    for (std::size_t c = 0; c < kDim; ++c)
      range[c] = nearest_usable_scale(upper_of(range[c], least));
  }
  std::size_t n = 0;
  for (std::size_t h = 0; h < rows.heads; ++h) {
    const float* offset = profile + h * kSize;
    for (std::size_t t = 0; t < rows.tokens; ++t) {
      for (std::size_t c = 0; c < kDim; ++c) {
        WeightedValue v = rows.at(t, h, c);
        v.value = (v.value - offset[c]) / offset[kDim + c];
        if (magnitude(v.value) <= 1.0f) scratch[n++] = v;
      }
    }
  }
  float signposts[1u << kBits];
  if (const Status status = fit_signposts(scratch, n, 1u << kBits, signposts); !ok(status))
    return status;
  for (std::size_t h = 0; h < rows.heads; ++h) {
    for (std::uint32_t k = 0; k < 1u << kBits; ++k)
      profile[h * kSize + 2 * kDim + k] = signposts[k];
  }
  return Status::kOk;
}

// profile: [heads, 2^kBits] for KvQuantValue<kDim, kBits>: the layer's signposts, fitted to values
// as the format scales them, without their outliers. scratch: [tokens * heads * kDim]. Errors as
// fit_signposts; kRange: a value beyond 65504.
template <std::uint32_t kDim, std::uint32_t kBits>
Status kvquant_value_profile(const CalibrationRows& rows, WeightedValue* scratch,
                             float* profile) noexcept {
  if (rows.rows == nullptr || rows.tokens == 0 || rows.heads == 0 || scratch == nullptr)
    return Status::kInvalid;
  constexpr std::uint32_t kOutliers = formats::kvquant_outliers(kDim);
  const TopKSplit<kOutliers> split;
  const NuqQuant<kBits, NuqScale::kRange> quant;
  std::size_t n = 0;
  for (std::size_t h = 0; h < rows.heads; ++h) {
    for (std::size_t t = 0; t < rows.tokens; ++t) {
      const float* row = rows.row(t, h);
      const float largest = largest_magnitude(row, kDim);
      if (!is_finite(largest)) return Status::kNonFinite;
      if (largest > kLargestHalf) return Status::kRange;
      std::uint16_t channels[kOutliers];
      const std::uint32_t count = split.split(row, kDim, channels);
      bool apart[kDim] = {};
      for (std::uint32_t i = 0; i < count; ++i) apart[channels[i]] = true;
      typename NuqQuant<kBits, NuqScale::kRange>::Stat stat;
      for (std::size_t c = 0; c < kDim; ++c) {
        if (!apart[c]) quant.observe(row[c], stat);
      }
      const auto scale = quant.scale(stat);
      const float range = to_float(scale.range);
      for (std::size_t c = 0; c < kDim; ++c) {
        if (apart[c] || !(range > 0.0f)) continue;
        scratch[n] = rows.at(t, h, c);
        scratch[n].value = (scratch[n].value - to_float(scale.offset)) / range;
        ++n;
      }
    }
  }
  float signposts[1u << kBits];
  if (const Status status = fit_signposts(scratch, n, 1u << kBits, signposts); !ok(status))
    return status;
  for (std::size_t h = 0; h < rows.heads; ++h) {
    for (std::uint32_t k = 0; k < 1u << kBits; ++k) profile[(h << kBits) + k] = signposts[k];
  }
  return Status::kOk;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
