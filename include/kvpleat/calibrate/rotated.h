// Profiles of the balanced rotated formats: mean, channel scales and the direction kept apart, of
// one head, from the first tokens of a sequence.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kvpleat/calibrate/channel_mean.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/bind.h"
#include "kvpleat/transform/rope.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Rows of one head: row t at data + t * stride.
struct HeadRows {
  const float* data = nullptr;
  std::size_t tokens = 0;
  std::size_t stride = 0;

  [[nodiscard]] const float* operator[](std::size_t t) const { return data + t * stride; }
};

// Balance's profile for keys or values.
//   residual: mean square of each channel of the rows that are rotated
//   weight:   of an error in that channel, squared; null: all alike
// scale_c^2 = sqrt(residual_c / weight_c) up to a common factor, which brings the rotated rows to
// RMS 1: least weighted noise (transform/balance.h). A channel without energy gets the mean scale.
// Kept within the bounds of Balance.
inline void balance_scales(const double* residual, const double* weight, std::uint32_t dim,
                           float* scale) noexcept {
  const auto raw = [&](std::uint32_t c) {  // squared
    const double w = weight == nullptr ? 1.0 : weight[c];
    return residual[c] > 0.0 && w > 0.0 ? std::sqrt(residual[c] / w) : 0.0;
  };
  double energy = 0.0;
  double sum = 0.0;
  std::uint32_t count = 0;
  for (std::uint32_t c = 0; c < dim; ++c) {
    if (!(raw(c) > 0.0)) continue;
    energy += residual[c] / raw(c);
    sum += raw(c);
    ++count;
  }
  for (std::uint32_t c = 0; c < dim; ++c) {
    if (count == 0) {
      scale[c] = 0.0f;  // none
      continue;
    }
    const double own = raw(c) > 0.0 ? raw(c) : sum / count;
    scale[c] = nearest_usable_scale(static_cast<float>(std::sqrt(own * (energy / dim))));
  }
}

// DirectionSplit's profile: the direction u that leaves least of sum |x|^2 * |x - <u,x> u|^2 over
// rows [tokens, dim], and the step that lets the largest coefficient of them have code 127. The
// error of a rotated row is in proportion to its energy, which is why rows count by their energy.
// Power iteration from the longest row, 64 rounds, in double. Rows that are all zero: no direction.
inline void principal_direction(HeadRows rows, std::uint32_t dim, float* profile) noexcept {
  constexpr std::uint32_t kMost = 576;
  double direction[kMost];
  double next[kMost];
  KVPLEAT_ASSERT(dim <= kMost);
  double longest = 0.0;
  for (std::uint32_t c = 0; c <= dim; ++c) profile[c] = 0.0f;
  for (std::size_t t = 0; t < rows.tokens; ++t) {
    const double energy = ordered_dot(rows[t], rows[t], dim);
    if (!(energy > longest)) continue;
    longest = energy;
    for (std::uint32_t c = 0; c < dim; ++c)
      direction[c] = static_cast<double>(rows[t][c]) / std::sqrt(energy);
  }
  if (!(longest > 0.0)) return;
  const auto coefficient = [&](const float* row) {
    double sum = 0.0;
    for (std::uint32_t c = 0; c < dim; ++c) sum += static_cast<double>(row[c]) * direction[c];
    return sum;
  };
  for (int round = 0; round < 64; ++round) {
    for (std::uint32_t c = 0; c < dim; ++c) next[c] = 0.0;
    for (std::size_t t = 0; t < rows.tokens; ++t) {
      const double pull =
          coefficient(rows[t]) * (ordered_dot(rows[t], rows[t], dim) / longest) / longest;
      for (std::uint32_t c = 0; c < dim; ++c) next[c] += pull * static_cast<double>(rows[t][c]);
    }
    double energy = 0.0;
    for (std::uint32_t c = 0; c < dim; ++c) energy += next[c] * next[c];
    for (std::uint32_t c = 0; c < dim; ++c) direction[c] = next[c] / std::sqrt(energy);
  }
  double largest = 0.0;
  for (std::size_t t = 0; t < rows.tokens; ++t)
    largest = upper_of(largest, std::fabs(coefficient(rows[t])));
  for (std::uint32_t c = 0; c < dim; ++c) profile[c] = static_cast<float>(direction[c]);
  profile[dim] = static_cast<float>(largest / 127.0);
}

// The whole profile of a key format Chain<PhaseCenter, Chain<Balance, ...>> with DirectionSplit, or
// of a value format Chain<Balance, ...> with it: profile[F::kProfileSize].
//   before: keys before RoPE (values: the same rows as stored)
//   stored: rows as they are appended, at positions 0 ..
//   coded:  workspace, [tokens, F::kDim]
// Mean: of the keys before RoPE. Scales: of a key, the noise of a channel is weighted by the mean
// square of the whole keys in its RoPE pair, mean included: queries read most where keys are large.
// Of a value all channels weigh alike.
template <class F>
void balanced_profile(HeadRows before, HeadRows stored, const Rope& rope, float* coded,
                      float* profile) noexcept {
  constexpr std::uint32_t kDim = F::kDim;
  for (std::uint32_t i = 0; i < F::kProfileSize; ++i) profile[i] = 0.0f;
  float* scale = profile;
  double residual[kDim] = {};
  double weight[kDim] = {};
  const auto tokens = static_cast<double>(stored.tokens);
  if (stored.tokens == 0) return;
  if constexpr (F::kPositional) {
    channel_mean(before.data, before.tokens, before.stride, kDim, profile);
    scale = profile + kDim;
  }
  for (std::size_t t = 0; t < stored.tokens; ++t) {
    float center[kDim] = {};
    if constexpr (F::kPositional) rope.rotate(profile, kDim, static_cast<std::int64_t>(t), center);
    for (std::uint32_t c = 0; c < kDim; ++c) {
      const auto rest = static_cast<double>(stored[t][c] - center[c]);
      const auto whole = static_cast<double>(before[t][c]);
      residual[c] += rest * rest / tokens;
      weight[c] += whole * whole / tokens;
    }
  }
  if constexpr (F::kPositional) {
    for (std::uint32_t i = 0; i < rope.pairs(); ++i) {
      const double both = 0.5 * (weight[rope.first(i)] + weight[rope.second(i)]);
      weight[rope.first(i)] = weight[rope.second(i)] = both;
    }
  }
  balance_scales(residual, F::kPositional ? weight : nullptr, kDim, scale);
  const F format = F::bind({profile, &rope, nullptr});
  for (std::size_t t = 0; t < stored.tokens; ++t)
    format.forward(stored[t], static_cast<std::int64_t>(t), coded + t * kDim);
  principal_direction({coded, stored.tokens, kDim}, kDim, scale + kDim);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
