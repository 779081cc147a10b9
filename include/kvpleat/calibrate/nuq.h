// Signposts of NuqQuant from data: one-dimensional k-means, weighted by how much an element
// matters.
// Source: KVQuant, arXiv:2401.18079 (k-means weighted by the Fisher diagonal; Q-Norm).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"

namespace kvpleat::inline KVPLEAT_ISA {

// A sample and its weight (a squared gradient, say; 1: all count alike).
struct WeightedValue {
  float value = 0.0f;
  float weight = 1.0f;
};

// A total order, so that sums over sorted samples are the same everywhere.
struct AscendingValue {
  bool operator()(const WeightedValue& a, const WeightedValue& b) const noexcept {
    return a.value < b.value || (a.value == b.value && a.weight < b.weight);
  }
};

namespace calibrate {

inline constexpr std::size_t kExactSamples = 256;
inline constexpr std::uint32_t kExactSignposts = 16;
inline constexpr int kLloydRounds = 64;

// Visits the sorted samples with the signpost that each is nearest to (as NuqQuant::encode: a tie
// takes the lower one).
template <class Signpost, class Visit>
void each_nearest(const WeightedValue* values, std::size_t n, const Signpost* signposts,
                  std::uint32_t count, Visit visit) {
  std::uint32_t k = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(values[i].value);
    while (k + 1 < count &&
           x > (static_cast<double>(signposts[k]) + static_cast<double>(signposts[k + 1])) * 0.5)
      ++k;
    visit(k, values[i]);
  }
}

// The best partition of n <= kExactSamples sorted samples in `count` <= min(n, kExactSignposts)
// runs, by dynamic programming: O(count * n^2), 20 KiB of stack. Ties: the earliest cut.
inline void exact_signposts(const WeightedValue* values, std::size_t n, std::uint32_t count,
                            double* centers) {
  double weight[kExactSamples + 1] = {};  // of the first i samples; and first, second moments
  double first[kExactSamples + 1] = {};
  double second[kExactSamples + 1] = {};
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(values[i].value);
    const auto w = static_cast<double>(values[i].weight);
    const double wx = w * x;
    weight[i + 1] = weight[i] + w;
    first[i + 1] = first[i] + wx;
    second[i + 1] = std::fma(wx, x, second[i]);  // one rounding, under all flags
  }
  const auto lost = [&](std::size_t begin, std::size_t end) {
    const double w = weight[end] - weight[begin];
    const double m = first[end] - first[begin];
    return w > 0.0 ? upper_of(0.0, second[end] - second[begin] - m * m / w) : 0.0;
  };
  double best[kExactSamples + 1];  // of the first i samples in k + 1 runs
  std::uint16_t cut[kExactSignposts][kExactSamples + 1] = {};
  for (std::size_t i = 1; i <= n; ++i) best[i] = lost(0, i);
  for (std::uint32_t k = 1; k < count; ++k) {
    for (std::size_t i = n; i > k; --i) {  // downwards: best[j < i] is still of k runs
      double least = static_cast<double>(kInfinity);
      for (std::size_t j = k; j < i; ++j) {
        const double sum = best[j] + lost(j, i);
        if (!(sum < least)) continue;
        least = sum;
        cut[k][i] = static_cast<std::uint16_t>(j);
      }
      best[i] = least;
    }
  }
  std::size_t end = n;
  for (std::uint32_t k = count; k-- > 0;) {
    const std::size_t begin = k == 0 ? 0 : cut[k][end];
    const double w = weight[end] - weight[begin];
    centers[k] =
        w > 0.0 ? (first[end] - first[begin]) / w : static_cast<double>(values[begin].value);
    end = begin;
  }
}

// Lloyd's rounds from the quantiles (k + 1/2) / count of the weight. A signpost that no sample is
// nearest to stays where it is.
inline void lloyd_signposts(const WeightedValue* values, std::size_t n, std::uint32_t count,
                            double total, double* centers) {
  double below = 0.0;
  std::uint32_t placed = 0;
  for (std::size_t i = 0; i < n; ++i) {
    below += static_cast<double>(values[i].weight);
    while (placed < count && below >= total * (placed + 0.5) / count)
      centers[placed++] = static_cast<double>(values[i].value);
  }
  while (placed < count) centers[placed++] = static_cast<double>(values[n - 1].value);
  for (int round = 0; round < kLloydRounds; ++round) {
    double weight[256] = {};
    double moment[256] = {};
    each_nearest(values, n, centers, count, [&](std::uint32_t k, const WeightedValue& v) {
      weight[k] += static_cast<double>(v.weight);
      moment[k] += static_cast<double>(v.weight) * static_cast<double>(v.value);
    });
    bool moved = false;
    for (std::uint32_t k = 0; k < count; ++k) {
      const double center = weight[k] > 0.0 ? moment[k] / weight[k] : centers[k];
      moved = moved || center != centers[k];
      centers[k] = center;
    }
    if (!moved) return;
  }
}

// Rounds to binary16, as a profile holds them.
inline Status store_signposts(const double* centers, std::uint32_t count, float* signposts) {
  for (std::uint32_t k = 0; k < count; ++k) {
    if (!(magnitude(static_cast<float>(centers[k])) <= kLargestHalf)) return Status::kRange;
  }
  for (std::uint32_t k = 0; k < count; ++k)
    signposts[k] = to_float(to_half(static_cast<float>(centers[k])));
  return Status::kOk;
}

inline Status check_samples(const WeightedValue* values, std::size_t n, std::uint32_t count) {
  if (n == 0 || values == nullptr || count < 2 || count > 256) return Status::kInvalid;
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_finite(values[i].value) || !is_finite(values[i].weight)) return Status::kNonFinite;
    if (values[i].weight < 0.0f) return Status::kInvalid;
  }
  return Status::kOk;
}

}  // namespace calibrate

// signposts[count], ascending, in binary16: they lower the weighted sum of squared errors of the
// n samples, which are sorted. count: 2^bits, 2 to 256. Exact (the least sum, before the rounding)
// to 256 samples and 16 signposts, else a local optimum after at most 64 rounds of Lloyd's method.
// Samples with fewer values than signposts: the last signposts are equal. The same result on every
// machine. O(n log n + 64 n). kInvalid: no samples, a count out of range, a negative weight, all
// weights 0; kNonFinite; kRange: a signpost beyond 65504.
inline Status fit_signposts(WeightedValue* values, std::size_t n, std::uint32_t count,
                            float* signposts) noexcept {
  if (const Status status = calibrate::check_samples(values, n, count); !ok(status)) return status;
  std::sort(values, values + n, AscendingValue{});
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) total += static_cast<double>(values[i].weight);
  if (!(total > 0.0)) return Status::kInvalid;
  double centers[256];
  if (n <= calibrate::kExactSamples && count <= calibrate::kExactSignposts) {
    const auto runs = static_cast<std::uint32_t>(lower_of<std::size_t>(n, count));
    calibrate::exact_signposts(values, n, runs, centers);
    for (std::uint32_t k = runs; k < count; ++k) centers[k] = centers[runs - 1];
  } else {
    calibrate::lloyd_signposts(values, n, count, total, centers);
  }
  return calibrate::store_signposts(centers, count, signposts);
}

// Q-Norm, for 2 bits: moves and stretches signposts until the samples, coded by them, have the mean
// and the standard deviation of the samples (a fit alone shrinks them). At most 32 rounds, since
// codes change with the signposts; the published form stretches what codes decode to and leaves the
// codes. values: sorted, as fit_signposts leaves them. Nothing changes if all samples are coded
// alike. Errors as fit_signposts.
inline Status match_moments(const WeightedValue* values, std::size_t n, std::uint32_t count,
                            float* signposts) noexcept {
  if (const Status status = calibrate::check_samples(values, n, count); !ok(status)) return status;
  double centers[256];
  for (std::uint32_t k = 0; k < count; ++k) centers[k] = static_cast<double>(signposts[k]);
  for (int round = 0; round < 32; ++round) {
    double total = 0.0;
    double mean[2] = {};
    double square[2] = {};  // of the samples, of what they are coded as
    const auto each = [&](auto visit) {
      calibrate::each_nearest(values, n, centers, count,
                              [&](std::uint32_t k, const WeightedValue& v) {
                                const double pair[2] = {static_cast<double>(v.value), centers[k]};
                                visit(pair, static_cast<double>(v.weight));
                              });
    };
    each([&](const double* x, double w) {
      total += w;
      for (int i = 0; i < 2; ++i) mean[i] = std::fma(w, x[i], mean[i]);
    });
    if (!(total > 0.0)) return Status::kInvalid;
    for (double& m : mean) m /= total;
    each([&](const double* x, double w) {
      for (int i = 0; i < 2; ++i) {
        const double d = x[i] - mean[i];
        square[i] = std::fma(w * d, d, square[i]);
      }
    });
    if (!(square[1] > 0.0)) return Status::kOk;
    const double stretch = std::sqrt(square[0] / square[1]);
    for (std::uint32_t k = 0; k < count; ++k)
      centers[k] = std::fma(centers[k] - mean[1], stretch, mean[0]);
  }
  return calibrate::store_signposts(centers, count, signposts);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
