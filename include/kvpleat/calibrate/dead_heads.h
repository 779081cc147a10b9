// Dead heads: heads whose stored output vanishes, or says nothing, while the original does not; and
// why.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/calibrate/finding.h"
#include "kvpleat/calibrate/thresholds.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"
#include "kvpleat/core/tokens.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class HeadCause : std::uint8_t {
  kHealthy,
  kOutlier,  // a few values stretch the range, so that the others share one or two codes
  kFlat,     // attention is spread evenly: the output is a small mean, below the step
  kCoarse,   // neither: the step is too large for this head
};

constexpr const char* to_string(HeadCause cause) noexcept {
  switch (cause) {
    case HeadCause::kHealthy:
      return "healthy";
    case HeadCause::kOutlier:
      return "an outlier in the range";
    case HeadCause::kFlat:
      return "attention too flat";
    case HeadCause::kCoarse:
      return "step too coarse";
  }
  return "unknown";
}

// A head is dead if norm_ratio falls below its limit or channel_error passes its own: 1 is what
// storing zeros would give. What stands out then is the cause, in the order of HeadCause.
struct HeadLimits {
  double norm_ratio = 0.5;
  double channel_error = 0.9;
  double spread = 24.0;  // a normal distribution of 10^6 values has 7
  double outermost_share = 0.5;
  double entropy = 0.98;
};

struct HeadHealth {
  // Euclidean norm of all outputs over the cache / over the original rows.
  double norm_ratio = 1.0;
  // Median over channels of the relative error of the output: channels count alike, so that a large
  // one does not hide the others.
  double channel_error = 0.0;
  // Entropy of the attention weights / ln of the keys seen, mean over queries: 1 is flat. Over the
  // original keys, and over the stored ones.
  double entropy = 0.0;
  double stored_entropy = 0.0;
  // By Role, of the original rows: largest over median magnitude, and the share of elements in the
  // first or last of 16 even steps over their head vector's own range.
  double spread[2] = {};
  double outermost_share[2] = {};
  HeadCause cause = HeadCause::kHealthy;
  Role side = Role::kKey;  // of an outlier
};

// What a KV head was asked, and what attention over the cache answered. Query j of row r sees the
// indices in limits[r]; null: all tokens.
struct HeadQueries {
  const float* queries = nullptr;  // [rows, group, kKeyDim]
  const float* outputs = nullptr;  // [rows, group, kValueDim], from attend
  std::uint32_t rows = 1;
  std::uint32_t group = 1;
  float scale = 1.0f;
  const IndexRange* limits = nullptr;  // [rows]
};

// Working memory of inspect_head, the caller's.
struct HeadScratch {
  float* floats = nullptr;
  std::size_t float_count = 0;  // tokens * the larger head_dim
  double* doubles = nullptr;
  std::size_t double_count = 0;  // tokens
};

namespace dead_heads {

// Softmax weights over tokens [range.begin, range.end), in double. Returns their entropy / ln of
// how many there are.
template <class KeyAt>
double weigh(IndexRange range, std::uint32_t dim, const float* query, double scale, KeyAt key_at,
             double* weights) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::uint32_t t = range.begin; t < range.end; ++t) {
    const float* key = key_at(t);
    double score = 0.0;
    for (std::uint32_t c = 0; c < dim; ++c)
      score += static_cast<double>(query[c]) * static_cast<double>(key[c]);
    weights[t] = score * scale;
    largest = upper_of(largest, weights[t]);
  }
  double sum = 0.0;
  for (std::uint32_t t = range.begin; t < range.end; ++t) {
    weights[t] = std::exp(weights[t] - largest);
    sum += weights[t];
  }
  double entropy = 0.0;
  for (std::uint32_t t = range.begin; t < range.end; ++t) {
    weights[t] /= sum;
    if (weights[t] > 0.0) entropy -= weights[t] * std::log(weights[t]);
  }
  const bool several = !range.empty() && range.end - range.begin > 1;
  return several ? entropy / std::log(static_cast<double>(range.end - range.begin)) : 0.0;
}
// The median of n > 0 values, which are reordered; of an even number the upper one.
inline float middle(float* values, std::size_t n) noexcept {
  std::nth_element(values, values + n / 2, values + n, Ascending{});
  return values[n / 2];
}

// spread and outermost_share of one side. magnitudes: room for tokens * dim.
inline void inspect_rows(const TokenRows& rows, std::uint32_t head, float* magnitudes,
                         double& spread, double& outermost) noexcept {
  constexpr float kSteps = 15.0f;
  std::size_t outer = 0;
  float largest = 0.0f;
  for (std::size_t t = 0; t < rows.tokens; ++t) {
    float* row = magnitudes + t * rows.dim;
    rows.read(t, head, row);
    float low = row[0];
    float high = row[0];
    for (std::size_t c = 0; c < rows.dim; ++c) {
      low = lower_of(low, row[c]);
      high = upper_of(high, row[c]);
    }
    for (std::size_t c = 0; c < rows.dim; ++c) {
      const float code = high > low ? (row[c] - low) / (high - low) * kSteps : kSteps / 2;
      outer += code < 0.5f || code > kSteps - 0.5f ? 1u : 0u;
      row[c] = magnitude(row[c]);
      largest = upper_of(largest, row[c]);
    }
  }
  const std::size_t n = rows.tokens * rows.dim;
  const float median = middle(magnitudes, n);
  outermost = static_cast<double>(outer) / static_cast<double>(n);
  spread = largest == 0.0f ? 0.0 : static_cast<double>(largest) / static_cast<double>(median);
}

}  // namespace dead_heads

// Compares the attention of one KV head over a cache with attention over the original rows.
//   keys, values: the original rows of all tokens of the layer, every head, as they were appended.
// kInvalid: no such layer or head, no tokens, no queries; kMismatch: the rows are not those of the
// cache; kRange: they leave their buffer; kCapacity: too little scratch. O(queries * tokens * dim).
template <class Traits>
Status inspect_head(const KvCache<Traits>& cache, std::uint32_t layer, std::uint32_t head,
                    const TokenRows& keys, const TokenRows& values, const HeadQueries& asked,
                    const HeadScratch& scratch, HeadHealth& health,
                    const HeadLimits& limits = {}) noexcept {
  using Cache = KvCache<Traits>;
  constexpr std::uint32_t kKeyDim = Cache::kKeyDim;
  constexpr std::uint32_t kValueDim = Cache::kValueDim;
  static_assert(kValueDim > 0, "kvpleat: a cache without values has no attention to inspect");
  if (layer >= cache.shape().layers || head >= cache.shape().kv_heads) return Status::kInvalid;
  const std::uint32_t tokens = cache.tokens(layer);
  const std::uint32_t heads = cache.shape().kv_heads;
  const std::size_t queries = static_cast<std::size_t>(asked.rows) * asked.group;
  if (tokens == 0 || queries == 0 || asked.queries == nullptr || asked.outputs == nullptr)
    return Status::kInvalid;
  if (const Status status = keys.check(); !ok(status)) return status;
  if (const Status status = values.check(); !ok(status)) return status;
  if (keys.tokens != tokens || values.tokens != tokens || keys.heads != heads ||
      values.heads != heads || keys.dim != kKeyDim || values.dim != kValueDim) {
    return Status::kMismatch;
  }
  float* rows = scratch.floats;
  double* weights = scratch.doubles;
  if (rows == nullptr || weights == nullptr || scratch.double_count < tokens ||
      scratch.float_count < static_cast<std::size_t>(tokens) * upper_of(kKeyDim, kValueDim)) {
    return Status::kCapacity;
  }
  if (const Status status = cache.read(layer, head, 0, tokens, rows, nullptr); !ok(status))
    return status;

  HeadHealth found;
  double energy[kValueDim] = {};
  double stored_energy = 0.0;
  double lost[kValueDim] = {};
  for (std::size_t q = 0; q < queries; ++q) {
    const float* query = asked.queries + q * kKeyDim;
    const auto scale = static_cast<double>(asked.scale);
    IndexRange range{0, tokens};
    if (asked.limits != nullptr) range = range & asked.limits[q / asked.group];
    float row[upper_of(kKeyDim, kValueDim)];
    found.stored_entropy += dead_heads::weigh(
        range, kKeyDim, query, scale,
        [&](std::uint32_t t) { return rows + static_cast<std::size_t>(t) * kKeyDim; }, weights);
    found.entropy += dead_heads::weigh(
        range, kKeyDim, query, scale,
        [&](std::uint32_t t) {
          keys.read(t, head, row);
          return static_cast<const float*>(row);
        },
        weights);
    double wanted[kValueDim] = {};
    for (std::uint32_t t = range.begin; t < range.end; ++t) {
      values.read(t, head, row);
      for (std::uint32_t c = 0; c < kValueDim; ++c)
        wanted[c] += weights[t] * static_cast<double>(row[c]);
    }
    for (std::uint32_t c = 0; c < kValueDim; ++c) {
      const auto got = static_cast<double>(asked.outputs[q * kValueDim + c]);
      energy[c] += wanted[c] * wanted[c];
      stored_energy += got * got;
      lost[c] += (got - wanted[c]) * (got - wanted[c]);
    }
  }
  found.entropy /= static_cast<double>(queries);
  found.stored_entropy /= static_cast<double>(queries);
  double all = 0.0;
  float errors[kValueDim];
  for (std::uint32_t c = 0; c < kValueDim; ++c) {
    all += energy[c];
    errors[c] = energy[c] > 0.0 ? static_cast<float>(std::sqrt(lost[c] / energy[c]))
                                : (lost[c] > 0.0 ? kInfinity : 0.0f);
  }
  if (all > 0.0) found.norm_ratio = std::sqrt(stored_energy / all);
  found.channel_error = static_cast<double>(dead_heads::middle(errors, kValueDim));
  dead_heads::inspect_rows(keys, head, rows, found.spread[0], found.outermost_share[0]);
  dead_heads::inspect_rows(values, head, rows, found.spread[1], found.outermost_share[1]);

  if (found.norm_ratio < limits.norm_ratio || found.channel_error > limits.channel_error) {
    const double flat = upper_of(found.entropy, found.stored_entropy);
    found.cause = flat > limits.entropy ? HeadCause::kFlat : HeadCause::kCoarse;
    double most = 1.0;  // the side whose outliers stand out more
    for (const std::size_t s : {0u, 1u}) {
      const double excess = upper_of(found.spread[s] / limits.spread,
                                     found.outermost_share[s] / limits.outermost_share);
      if (!(excess > most)) continue;
      most = excess;
      found.cause = HeadCause::kOutlier;
      found.side = s == 0 ? Role::kKey : Role::kValue;
    }
  }
  health = found;
  return Status::kOk;
}

// A dead head as a finding; nothing for a healthy one.
inline void check_dead_head(std::uint32_t layer, std::uint32_t head, const HeadHealth& health,
                            Findings& findings, const HeadLimits& limits = {}) noexcept {
  if (health.cause == HeadCause::kHealthy) return;
  Finding finding;
  finding.check = Check::kDeadHeads;
  finding.layer = layer;
  finding.head = head;
  const bool vanished = health.norm_ratio < limits.norm_ratio;
  finding.value = vanished ? health.norm_ratio : health.channel_error;
  finding.limit = vanished ? limits.norm_ratio : limits.channel_error;
  switch (health.cause) {
    case HeadCause::kOutlier:
      finding.side = health.side;
      finding.both_sides = false;
      finding.what = "dead head: an outlier in the range";
      finding.fix = "split outliers off (thresholds, top-k) or rotate";
      break;
    case HeadCause::kFlat:
      finding.what = "dead head: attention too flat";
      finding.fix = "a higher tier for this head: 8 bits or raw";
      break;
    default:
      finding.what = "dead head: step too coarse";
      finding.fix = "smaller groups, or a higher tier for this head";
      break;
  }
  findings.add(finding);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
