// Center and PhaseCenter: remove the mean vector of a head before quantization.
//
// Center removes one constant row from what is stored. Use it for values, or for keys without RoPE.
// PhaseCenter removes R(p) mu from the post-RoPE key of position p, where mu is the mean of the
// keys *before* RoPE. Real keys are mostly that vector, smeared over the circle by the rotation;
// what remains is 8 to 12 dB smaller. Scores stay exact whatever mu is: q . R(p) mu is added back
// (q . k = q . (k - R(p) mu) + q . R(p) mu).
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/bind.h"
#include "kvpleat/transform/phase_table.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Profile: mean[dim] per head; all zero if none is given.
struct Center {
  static constexpr auto kId = Text("transform=center");
  static constexpr bool kPositional = false;
  static constexpr bool kHasOffset = true;
  static constexpr std::uint32_t profile_size(std::uint32_t dim) { return dim; }
  static Center bind(const BindContext& context) {
    Center center;
    center.mean = context.profile;
    return center;
  }

  const float* mean = nullptr;

  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t, float* coded) const {
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = row[c] - mean[c];
  }
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = query[c];
  }
  template <std::uint32_t kDim>
  void add_score_offset(const float* query, const std::int64_t*, std::uint32_t n,
                        float* offsets) const {
    const float offset = static_cast<float>(ordered_dot(query, mean, kDim));
    for (std::uint32_t t = 0; t < n; ++t) offsets[t] += offset;
  }
  template <std::uint32_t kDim>
  void restore(const float* coded, float weight, std::int64_t, float* row) const {
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] = coded[c] + weight * mean[c];
  }
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    float largest = 0.0f;
    for (std::uint32_t c = 0; c < kDim; ++c) largest = upper_of(largest, magnitude(mean[c]));
    return input_bound + largest;
  }
};

// Profile: mean[dim] of the keys before RoPE, per head; all zero if none is given. Keys only: what
// restore adds depends on the position, so a weighted sum of rows cannot be restored.
struct PhaseCenter {
  static constexpr auto kId = Text("transform=phase_center");
  static constexpr bool kPositional = true;
  static constexpr bool kHasOffset = true;
  static constexpr std::uint32_t profile_size(std::uint32_t dim) { return dim; }
  static PhaseCenter bind(const BindContext& context) {
    PhaseCenter center;
    center.mean = context.profile;
    center.rope = context.rope;
    center.unit_rotations = context.unit_rotations;
    center.phases = context.phases;
    return center;
  }

  const float* mean = nullptr;
  const Rope* rope = nullptr;
  const CosSin* unit_rotations = nullptr;
  const abi::PhaseTable* phases = nullptr;  // for vector kernels, else null

  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t position, float* coded) const {
    float center[kDim];
    rope->rotate(mean, kDim, position, center);
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = row[c] - center[c];
  }
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = query[c];
  }
  // For pair i, q . R(p) mu is a_i cos + b_i sin with a = q0 m0 + q1 m1 and b = q1 m0 - q0 m1. Over
  // a run of consecutive positions (a, b) is turned once to the first position; inside the run the
  // rotations come from a table.
  template <std::uint32_t kDim>
  void add_score_offset(const float* query, const std::int64_t* positions, std::uint32_t n,
                        float* offsets) const {
    const std::uint32_t pairs = rope->pairs();
    float constant = 0.0f;
    for (std::uint32_t c = rope->dims; c < kDim; ++c) constant += query[c] * mean[c];
    float a[kDim / 2 + 1] = {};
    float b[kDim / 2 + 1] = {};
    for (std::uint32_t t = 0; t < n;) {
      std::uint32_t run = 1;
      while (t + run < n && run < kRotationSpan && positions[t + run] == positions[t] + run) ++run;
      for (std::uint32_t i = 0; i < pairs; ++i) {
        const float q0 = query[rope->first(i)];
        const float q1 = query[rope->second(i)];
        const float m0 = mean[rope->first(i)];
        const float m1 = mean[rope->second(i)];
        const float along = q0 * m0 + q1 * m1;
        const float across = q1 * m0 - q0 * m1;
        const CosSin start = rope->rotation(i, positions[t]);
        a[i] = along * start.cosine + across * start.sine;
        b[i] = across * start.cosine - along * start.sine;
      }
      for (std::uint32_t u = 0; u < run; ++u) {
        const CosSin* rotation = unit_rotations + u * pairs;
        float sum = constant;
        for (std::uint32_t i = 0; i < pairs; ++i)
          sum += a[i] * rotation[i].cosine + b[i] * rotation[i].sine;
        offsets[t + u] += sum;
      }
      t += run;
    }
  }
  template <std::uint32_t kDim>
  void restore(const float* coded, float weight, std::int64_t position, float* row) const {
    float center[kDim];
    rope->rotate(mean, kDim, position, center);
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] = coded[c] + weight * center[c];
  }
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    float largest = 0.0f;
    for (std::uint32_t c = 0; c < kDim; ++c) largest = upper_of(largest, magnitude(mean[c]));
    return input_bound +
           1.5f * largest;  // a rotated pair is at most sqrt(2) times its larger member
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
