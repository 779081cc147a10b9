// ThresholdProfiler: Oaken's thresholds from about 100 samples, averaged per layer and side.
// Source: Oaken (ISCA 2025), section 4.1: offline, top-k of each inference, mean over inferences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/calibrate/band_profile.h"
#include "kvpleat/calibrate/thresholds.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"
#include "kvpleat/core/tokens.h"
#include "kvpleat/split/threshold.h"

namespace kvpleat::inline KVPLEAT_ISA {

// All that is kept of one side of one layer between samples.
struct BandSums {
  double ranks[4] = {};  // sums over samples
  std::uint64_t samples = 0;
  std::uint64_t elements = 0;
  double magnitudes = 0.0;
  float lowest = kInfinity;
  float highest = -kInfinity;
  std::uint64_t values = 0;  // of the second pass
  std::uint64_t outer = 0;
  std::uint64_t inner = 0;
};

// A sample is the keys or the values of one layer in one inference, all heads. Each gives four
// ranks (thresholds.h); a threshold is the mean of its ranks over the samples, rounded to binary16
// once. Samples count alike, however long they are: one with an extreme value moves a threshold by
// at most one n-th of what it moved the sample's own rank.
//
// A second pass over the samples (measure) counts how full the bands are under the thresholds that
// came out; drift is judged against that. Both read the logical elements of the rows only. The
// profile may be asked for at any time: after 10, 30 and 100 samples it shows what more would
// change. O(layers) memory, the caller's.
class ThresholdProfiler {
 public:
  //   sums: [layers, 2], the caller's, cleared here.
  ThresholdProfiler(BandSums* sums, std::uint32_t layers, BandShares shares = {}) noexcept
      : sums_(sums), layers_(layers), shares_(shares) {
    reset();
  }
  // Forgets every sample.
  void reset() noexcept {
    for (std::size_t i = 0; i < static_cast<std::size_t>(layers_) * 2; ++i) sums_[i] = {};
  }

  // One sample. scratch: room for tokens * heads * dim floats. kInvalid: no such layer, no rows, no
  // shares; kCapacity: too little scratch; kNonFinite: a NaN or an infinity; kRange: the rows leave
  // their buffer. Nothing changes then. O(elements).
  Status add(std::uint32_t layer, Role side, const TokenRows& rows, float* scratch,
             std::size_t scratch_size) noexcept {
    if (const Status status = check(layer, rows); !ok(status)) return status;
    const std::size_t n = rows.tokens * rows.heads * rows.dim;
    if (scratch == nullptr || scratch_size < n) return Status::kCapacity;
    float* row = scratch;
    for (std::size_t t = 0; t < rows.tokens; ++t) {
      for (std::size_t h = 0; h < rows.heads; ++h, row += rows.dim) rows.read(t, h, row);
    }
    float lowest = kInfinity;
    float highest = -kInfinity;
    double magnitudes = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_finite(scratch[i])) return Status::kNonFinite;
      lowest = lower_of(lowest, scratch[i]);
      highest = upper_of(highest, scratch[i]);
      magnitudes += static_cast<double>(magnitude(scratch[i]));
    }
    float ranks[4];
    if (const Status status = band_ranks(scratch, n, shares_, ranks); !ok(status)) return status;
    BandSums& sums = sums_[side_index(layer, side)];
    for (int i = 0; i < 4; ++i) sums.ranks[i] += static_cast<double>(ranks[i]);
    ++sums.samples;
    sums.elements += n;
    sums.magnitudes += magnitudes;
    sums.lowest = lower_of(sums.lowest, lowest);
    sums.highest = upper_of(sums.highest, highest);
    return Status::kOk;
  }

  // The second pass: counts the bands of a sample under the thresholds so far. Add every sample
  // first: what was counted before another add belongs to other thresholds. Errors as add, and
  // kRange as thresholds.
  Status measure(std::uint32_t layer, Role side, const TokenRows& rows) noexcept {
    if (const Status status = check(layer, rows); !ok(status)) return status;
    if (rows.dim > kMostChannels) return Status::kInvalid;
    float thresholds[4];
    if (const Status status = this->thresholds(layer, side, thresholds); !ok(status)) return status;
    const ThresholdSplit split = ThresholdSplit::bind(thresholds);
    std::uint64_t outer = 0;
    std::uint64_t inner = 0;
    float row[kMostChannels];
    for (std::size_t t = 0; t < rows.tokens; ++t) {
      for (std::size_t h = 0; h < rows.heads; ++h) {
        rows.read(t, h, row);
        for (std::size_t c = 0; c < rows.dim; ++c) {
          if (!is_finite(row[c])) return Status::kNonFinite;
          const Band band = split.band(row[c]).band;
          outer += band == Band::kOuter ? 1u : 0u;
          inner += band == Band::kInner ? 1u : 0u;
        }
      }
    }
    BandSums& sums = sums_[side_index(layer, side)];
    sums.values += rows.tokens * rows.heads * rows.dim;
    sums.outer += outer;
    sums.inner += inner;
    return Status::kOk;
  }

  [[nodiscard]] std::uint64_t samples(std::uint32_t layer, Role side) const noexcept {
    return sums_[side_index(layer, side)].samples;
  }
  // The four thresholds after the samples so far, halves as floats. kInvalid: no such layer, no
  // sample; kRange: a threshold beyond 32752.
  Status thresholds(std::uint32_t layer, Role side, float* found) const noexcept {
    BandProfile bands;
    const Status status = profile(layer, side, bands);
    for (int i = 0; ok(status) && i < 4; ++i) found[i] = to_float(bands.thresholds[i]);
    return status;
  }
  Status profile(std::uint32_t layer, Role side, BandProfile& bands) const noexcept {
    if (layer >= layers_ || samples(layer, side) == 0) return Status::kInvalid;
    const BandSums& sums = sums_[side_index(layer, side)];
    BandProfile found;
    for (int i = 0; i < 4; ++i) {
      found.thresholds[i] = half_of(sums.ranks[i] / static_cast<double>(sums.samples));
      if (!(magnitude(to_float(found.thresholds[i])) <= kLargestHalf * 0.5f)) return Status::kRange;
    }
    found.values = sums.values;
    found.outer = sums.outer;
    found.inner = sums.inner;
    found.lowest = sums.lowest;
    found.highest = sums.highest;
    found.mean_magnitude = static_cast<float>(sums.magnitudes / static_cast<double>(sums.elements));
    bands = found;
    return Status::kOk;
  }

 private:
  static constexpr std::size_t kMostChannels = 576;

  Status check(std::uint32_t layer, const TokenRows& rows) const noexcept {
    if (layer >= layers_ || rows.tokens == 0) return Status::kInvalid;
    return rows.check();
  }
  // The half nearest to a double, in one rounding: the float in between is rounded to odd, so that
  // no tie of halves is made or lost.
  static Half half_of(double x) noexcept {
    const float nearest = static_cast<float>(x);
    if (static_cast<double>(nearest) == x || !is_finite(nearest)) return to_half(nearest);
    auto bits = __builtin_bit_cast(std::uint32_t, nearest);
    const double wide = static_cast<double>(magnitude(nearest));
    if (wide > (x < 0.0 ? -x : x)) --bits;  // towards zero
    return to_half(__builtin_bit_cast(float, bits | 1u));
  }

  BandSums* sums_;
  std::uint32_t layers_;
  BandShares shares_;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
