// AttentionState: the online-softmax state of one query. States of disjoint token sets merge in any
// order. Online softmax after Milakov & Gimelshein, arXiv:1805.02867.
#pragma once

#include <cmath>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

inline constexpr std::uint32_t kMaxMassRanges = 8;

// Weights below e^-60 of the largest count as zero: what they would add is far below float
// precision, and denormal weights are slow.
inline float softmax_weight(float logit, float largest) noexcept {
  const float x = logit - largest;
  return x > -60.0f ? std::exp(x) : 0.0f;
}

// Sums of weights beside the output; only kept if statistics are asked for.
struct AttentionSums {
  float squares = 0.0f;             // of weights, relative to the state's largest logit
  float largest = 0.0f;             // weight of a key
  float mass[kMaxMassRanges] = {};  // weights of tokens in each asked-for index range
  std::uint32_t visible = 0;        // keys seen

  void scale(float factor) noexcept {
    squares *= factor * factor;
    largest *= factor;
    for (float& m : mass) m *= factor;
  }
  void add(const AttentionSums& other, float factor) noexcept {
    squares += other.squares * factor * factor;
    largest = upper_of(largest, other.largest * factor);
    for (std::uint32_t r = 0; r < kMaxMassRanges; ++r) mass[r] += other.mass[r] * factor;
    visible += other.visible;
  }
};

// AttentionState{} is the identity: no key seen.
template <std::uint32_t kDim>
struct AttentionState {
  float largest = -kInfinity;  // logit
  float sum = 0.0f;            // of weights exp(logit - largest)
  float output[kDim] = {};     // sum of weight * value
  AttentionSums sums;

  // Folds another set of tokens in. Merging with the identity, on either side, keeps every bit.
  void merge(const AttentionState& other) noexcept {
    if (other.sum == 0.0f) return;
    if (sum == 0.0f) {
      *this = other;
      return;
    }
    const float top = upper_of(largest, other.largest);
    const float mine = softmax_weight(largest, top);
    const float theirs = softmax_weight(other.largest, top);
    for (std::uint32_t c = 0; c < kDim; ++c)
      output[c] = output[c] * mine + other.output[c] * theirs;
    sum = sum * mine + other.sum * theirs;
    sums.scale(mine);
    sums.add(other.sums, theirs);
    largest = top;
  }
  // out[kDim]: the attention output; zeros if no key was seen, NaN if a logit was.
  void write(float* out) const noexcept {
    for (std::uint32_t c = 0; c < kDim; ++c) out[c] = sum == 0.0f ? 0.0f : output[c] / sum;
  }
  // log of the sum of exp(logit); -infinity if no key was seen.
  [[nodiscard]] float log_sum() const noexcept {
    return sum == 0.0f ? -kInfinity : largest + std::log(sum);
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
