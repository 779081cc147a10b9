// run_preset: builds one cache type from a recording and measures it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compare/calibration.h"
#include "compare/clock.h"
#include "compare/placement.h"
#include "compare/recording.h"
#include "compare/reference.h"
#include "compare/result.h"
#include "kvpleat/attention/attend.h"
#include "kvpleat/attention/attend_ref.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"

namespace compare {

template <class Traits>
class Runner {
 public:
  using Cache = kvpleat::KvCache<Traits>;

  Runner(const Recording& recording, const Options& options)
      : recording_(recording),
        options_(options),
        profiles_(make_profiles(std::make_index_sequence<Cache::kLanes>())),
        lanes_(Placement<Traits>::default_lanes(recording)) {
    if (options.inner_layer && lanes_.empty()) lanes_.assign(1, 0);
    if (!options.raw_ends) return;
    if (lanes_.empty()) lanes_.assign(recording.layers, 0);
    const std::size_t of_a_layer = lanes_.size() / recording.layers;
    for (std::size_t i = 0; i < of_a_layer; ++i)
      lanes_[i] = lanes_[lanes_.size() - 1 - i] = static_cast<std::uint8_t>(Cache::kRawLane);
  }

  [[nodiscard]] kvpleat::Result<Cache> create() const {
    kvpleat::CacheShape shape;
    shape.layers = recording_.layers;
    shape.kv_heads = recording_.kv_heads;
    shape.query_heads = recording_.query_heads;
    shape.max_tokens = recording_.tokens;
    shape.sinks = options_.sinks;
    shape.residual = options_.residual;
    shape.rope = recording_.rope;
    shape.default_lanes = lanes_.data();
    shape.default_lane_count = lanes_.size();
    std::vector<kvpleat::LaneProfile> views;
    for (const LaneFloats& own : profiles_) {
      kvpleat::LaneProfile& view = views.emplace_back();
      if (!own.keys.empty()) view.keys = own.keys.data();
      if (!own.values.empty()) view.values = own.values.data();
      view.key_count = own.keys.size();
      view.value_count = own.values.size();
    }
    return Cache::create(shape, views.data(), views.size());
  }
  // Tokens [first, first + n) of a layer.
  kvpleat::Status append(Cache& cache, std::uint32_t layer, std::uint32_t first,
                         std::uint32_t n) const {
    const std::size_t at = recording_.row(layer, first, 0);
    const kvpleat::TokenRows keys(recording_.keys.data() + at, n, recording_.kv_heads,
                                  recording_.dim);
    const kvpleat::TokenRows values(recording_.values.data() + at, n, recording_.kv_heads,
                                    recording_.dim);
    if constexpr (Placement<Traits>::kTagged) {
      std::vector<std::uint8_t> tags(n);
      for (std::uint32_t t = 0; t < n; ++t)
        tags[t] = Placement<Traits>::token_lane(recording_, first + t);
      return cache.append(layer, keys, values, {tags.data(), 1, 0});
    } else {
      return cache.append(layer, keys, values);
    }
  }
  // Decode attention of the last query of every group: one sample, ns per cached token and KV head.
  double attend_sample(const Cache& cache) const {
    std::vector<float> out(static_cast<std::size_t>(recording_.group()) * recording_.dim);
    kvpleat::AttendArguments arguments;
    arguments.group = recording_.group();
    arguments.scale = recording_.scale;
    const double start = thread_ns();
    for (std::uint32_t l = 0; l < recording_.layers; ++l) {
      for (std::uint32_t h = 0; h < recording_.kv_heads; ++h) {
        arguments.queries =
            recording_.query.data() + recording_.query_row(l, h, recording_.queries - 1, 0);
        if (!ok(attend(cache, l, h, arguments, out.data()))) return 0.0;
      }
    }
    return (thread_ns() - start) /
           (static_cast<double>(recording_.layers) * recording_.kv_heads * recording_.tokens);
  }

 private:
  struct LaneFloats {
    std::vector<float> keys;
    std::vector<float> values;
  };
  template <std::size_t... kIndices>
  std::vector<LaneFloats> make_profiles(std::index_sequence<kIndices...>) const {
    std::vector<LaneFloats> all;
    const auto add = [&]<class Pair>() {
      constexpr kvpleat::BandShares kShares = kBandShares<Traits>;
      all.push_back({Profile<typename Pair::Key>::of(
                         {recording_, recording_.keys, recording_.keys_pre, kShares}),
                     Profile<typename Pair::Value>::of(
                         {recording_, recording_.values, recording_.values, kShares})});
    };
    (add.template operator()<typename Cache::template Lane<kIndices>>(), ...);
    return all;
  }

  const Recording& recording_;
  const Options& options_;
  std::vector<LaneFloats> profiles_;
  std::vector<std::uint8_t> lanes_;  // empty: the cache's own choice
};

// Errors of a filled cache, averaged over what the recording has.
template <class Traits>
void measure_errors(const kvpleat::KvCache<Traits>& cache, const Recording& recording,
                    const Reference& reference, Result& result) {
  const std::uint32_t dim = recording.dim;
  const std::uint32_t group = recording.group();
  const std::uint32_t rows = recording.queries;
  std::vector<float> keys(static_cast<std::size_t>(recording.tokens) * dim);
  std::vector<float> values(keys.size());
  std::vector<float> out(static_cast<std::size_t>(rows) * group * dim);
  std::vector<double> weights(recording.tokens);
  std::vector<double> unused(dim);
  std::vector<kvpleat::IndexRange> limits(rows);
  for (std::uint32_t q = 0; q < rows; ++q) limits[q] = {0, recording.position(q) + 1};
  double energy[2] = {0.0, 0.0};
  double lost[2] = {0.0, 0.0};
  double errors = 0.0;
  double divergence = 0.0;
  std::size_t count = 0;
  for (std::uint32_t l = 0; l < recording.layers; ++l) {
    for (std::uint32_t h = 0; h < recording.kv_heads; ++h) {
      if (!ok(cache.read(l, h, 0, recording.tokens, keys.data(), values.data()))) {
        result.error = "read failed";
        return;
      }
      for (std::uint32_t t = 0; t < recording.tokens; ++t) {
        for (std::uint32_t c = 0; c < dim; ++c) {
          const std::size_t at = recording.row(l, t, h) + c;
          const std::size_t own = static_cast<std::size_t>(t) * dim + c;
          const double pairs[2][2] = {
              {static_cast<double>(recording.keys[at]), static_cast<double>(keys[own])},
              {static_cast<double>(recording.values[at]), static_cast<double>(values[own])}};
          for (int side = 0; side < 2; ++side) {
            energy[side] += pairs[side][0] * pairs[side][0];
            lost[side] += (pairs[side][0] - pairs[side][1]) * (pairs[side][0] - pairs[side][1]);
          }
        }
      }
      kvpleat::AttendArguments arguments;
      kvpleat::AttendReport report;
      arguments.queries = recording.query.data() + recording.query_row(l, h, 0, 0);
      arguments.rows = rows;
      arguments.group = group;
      arguments.scale = recording.scale;
      arguments.limits = limits.data();
      arguments.report = &report;
      if (const kvpleat::Status status = attend(cache, l, h, arguments, out.data()); !ok(status)) {
        result.error = std::string("attend: ") + to_string(status);
        return;
      }
      result.target = report.target;
      for (const kvpleat::Path path : report.key) {
        if (path != kvpleat::Path::kNone && result.path.empty()) result.path = to_string(path);
      }
      if (result.path.empty() && report.raw != kvpleat::Path::kNone)
        result.path = to_string(report.raw);
      for (std::uint32_t q = 0; q < rows; ++q) {
        for (std::uint32_t m = 0; m < group; ++m) {
          const std::size_t row = recording.query_row(l, h, q, m);
          const double* wanted = reference.outputs.data() + row;
          const float* got = out.data() + (static_cast<std::size_t>(q) * group + m) * dim;
          double norm = 0.0;
          double difference = 0.0;
          for (std::uint32_t c = 0; c < dim; ++c) {
            norm += wanted[c] * wanted[c];
            difference += (wanted[c] - static_cast<double>(got[c])) *
                          (wanted[c] - static_cast<double>(got[c]));
          }
          const double error = std::sqrt(difference / norm);
          errors += error;
          if (!(error <= result.attention_error_worst))
            result.attention_error_worst = error;  // NaN stays
          const auto at = [&](std::uint32_t t) {
            return keys.data() + static_cast<std::size_t>(t) * dim;
          };
          kvpleat::attend_ref(recording.position(q) + 1, dim, dim, recording.query.data() + row,
                              static_cast<double>(recording.scale), at, at, unused.data(),
                              weights.data());
          const double* expected = reference.weights.data() + row / dim * recording.tokens;
          for (std::uint32_t t = 0; t <= recording.position(q); ++t) {
            if (expected[t] > 0.0)
              divergence += expected[t] * std::log(expected[t] / std::max(weights[t], 1e-300));
          }
          ++count;
        }
      }
    }
  }
  result.key_nmse = lost[0] / energy[0];
  result.value_nmse = lost[1] / energy[1];
  result.attention_error = errors / static_cast<double>(count);
  result.attention_kl = divergence / static_cast<double>(count);
}

template <class Traits>
Result run_preset(const Recording& recording, const Reference& reference, const Options& options) {
  constexpr int kAppendSamples = 3;
  constexpr int kAttendSamples = 9;
  Result result;
  const Runner<Traits> runner(recording, options);
  auto made = runner.create();
  if (!made) {
    result.error =
        std::string(to_string(made.error().status)) + ": " + std::string(made.error().name());
    return result;
  }
  auto& cache = *made;
  std::vector<double> append_samples;
  for (int sample = 0; sample < (options.timing ? kAppendSamples : 1); ++sample) {
    if (!ok(cache.truncate(0))) break;
    const double start = thread_ns();
    for (std::uint32_t l = 0; l < recording.layers; ++l) {
      for (std::uint32_t t = 0; t < recording.tokens; ++t) {
        if (const kvpleat::Status status = runner.append(cache, l, t, 1); !ok(status)) {
          result.error = std::string("append: ") + to_string(status);
          return result;
        }
      }
    }
    append_samples.push_back((thread_ns() - start) / (static_cast<double>(recording.layers) *
                                                      recording.kv_heads * recording.tokens));
  }
  result.append_ns = median(append_samples);
  const kvpleat::MemoryReport memory = cache.memory();
  result.bits_per_element = memory.bits_per_element();
  result.side_share =
      1.0 - static_cast<double>(memory.codes + memory.raw) / static_cast<double>(memory.total());
  result.format_bits = 8.0 *
                       static_cast<double>(memory.codes + memory.side + memory.outliers +
                                           memory.shared + memory.spill + memory.raw) /
                       static_cast<double>(memory.values);
  measure_errors(cache, recording, reference, result);
  result.gap_db = 10.0 * std::log10(0.5 * (result.key_nmse + result.value_nmse)) +
                  20.0 * std::log10(2.0) * result.format_bits;
  if (!options.timing || !result.error.empty()) return result;

  // The F16 cache is timed in turn with this one: both see the same machine.
  const Options plain;
  const Runner<kvpleat::presets::F16<Traits::kKeyDim>> baseline(recording, plain);
  auto half = baseline.create();
  for (std::uint32_t l = 0; half && l < recording.layers; ++l) {
    if (!ok(baseline.append(*half, l, 0, recording.tokens))) return result;
  }
  if (!half) return result;
  std::vector<double> own;
  std::vector<double> f16;
  for (int sample = 0; sample < kAttendSamples; ++sample) {
    own.push_back(runner.attend_sample(cache));
    f16.push_back(baseline.attend_sample(*half));
  }
  result.attend_ns = median(own);
  result.attend_ratio_f16 = result.attend_ns / median(f16);
  return result;
}

}  // namespace compare
