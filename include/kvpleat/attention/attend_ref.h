// attend_ref: attention in double precision, in token order. The oracle of tests and of error
// tables: over decoded values it tests kernels, over the original values it tests formats.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

// One query over tokens 0 .. tokens-1.
//   key_at(t):     pointer to [key_dim] floats
//   value_at(t):   pointer to [value_dim] floats
//   logit_of(s):   from scale * q . k to the logit (identity: [](double s) { return s; })
//   seen(t):       whether the query sees the token
//   out:           [value_dim]; zeros if nothing is seen
//   weights:       [tokens] softmax weights; working space, must not be null
// Returns the log of the sum of exp(logit), -infinity if nothing is seen. Exact log-sum-exp with
// the true maximum.
template <class KeyAt, class ValueAt, class LogitOf, class Seen>
double attend_ref(std::uint32_t tokens, std::uint32_t key_dim, std::uint32_t value_dim,
                  const float* query, double scale, KeyAt key_at, ValueAt value_at,
                  LogitOf logit_of, Seen seen, double* out, double* weights) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  double largest = kNone;
  for (std::uint32_t t = 0; t < tokens; ++t) {
    weights[t] = kNone;
    if (!seen(t)) continue;
    const float* key = key_at(t);
    double score = 0.0;
    for (std::uint32_t c = 0; c < key_dim; ++c)
      score += static_cast<double>(query[c]) * static_cast<double>(key[c]);
    weights[t] = logit_of(score * scale);
    largest = weights[t] > largest ? weights[t] : largest;
  }
  for (std::uint32_t c = 0; c < value_dim; ++c) out[c] = 0.0;
  double sum = 0.0;
  for (std::uint32_t t = 0; t < tokens; ++t) {
    weights[t] = weights[t] == kNone ? 0.0 : std::exp(weights[t] - largest);
    sum += weights[t];
  }
  if (sum == 0.0) return kNone;
  for (std::uint32_t t = 0; t < tokens; ++t) {
    weights[t] /= sum;
    if (weights[t] == 0.0) continue;
    const float* value = value_at(t);
    for (std::uint32_t c = 0; c < value_dim; ++c)
      out[c] += weights[t] * static_cast<double>(value[c]);
  }
  return largest + std::log(sum);
}

// The same without a logit rule, every token seen.
template <class KeyAt, class ValueAt>
double attend_ref(std::uint32_t tokens, std::uint32_t key_dim, std::uint32_t value_dim,
                  const float* query, double scale, KeyAt key_at, ValueAt value_at, double* out,
                  double* weights) {
  return attend_ref(
      tokens, key_dim, value_dim, query, scale, key_at, value_at,
      [](double score) { return score; }, [](std::uint32_t) { return true; }, out, weights);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
