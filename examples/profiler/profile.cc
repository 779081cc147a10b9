#include "profiler/profile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "kvpleat/calibrate/threshold_profiler.h"
#include "kvpleat/split/threshold.h"

namespace profiler {
namespace {

using kvpleat::Role;

constexpr Role kSides[2] = {Role::kKey, Role::kValue};

std::uint32_t profiled_tokens(const Recording& recording) {
  return std::min(512u, recording.tokens / 2);
}

// Thresholds of [layers, 2], four each.
bool thresholds_of(const kvpleat::ThresholdProfiler& profiler, std::uint32_t layers,
                   std::vector<float>& found) {
  found.resize(static_cast<std::size_t>(layers) * 8);
  for (std::uint32_t l = 0; l < layers; ++l) {
    for (const Role side : kSides) {
      if (!ok(profiler.thresholds(l, side, found.data() + kvpleat::side_index(l, side) * 4)))
        return false;
    }
  }
  return true;
}

Stability compare_thresholds(const Recording& recording, std::uint32_t first,
                             const std::vector<float>& some, const std::vector<float>& all) {
  Stability row;
  const double sides = recording.layers * 2.0;
  for (std::uint32_t l = 0; l < recording.layers; ++l) {
    for (const Role side : kSides) {
      const float* a = some.data() + kvpleat::side_index(l, side) * 4;
      const float* b = all.data() + kvpleat::side_index(l, side) * 4;
      const auto off = [&](int low, int high) {
        const double width = std::max(static_cast<double>(b[high] - b[low]), 1e-30);
        return std::max(std::fabs(static_cast<double>(a[low] - b[low])),
                        std::fabs(static_cast<double>(a[high] - b[high]))) /
               width;
      };
      row.outer_off += off(0, 3) / sides;
      row.outer_worst = std::max(row.outer_worst, off(0, 3));
      row.inner_off += off(1, 2) / sides;
      row.inner_worst = std::max(row.inner_worst, off(1, 2));
      const kvpleat::ThresholdSplit split = kvpleat::ThresholdSplit::bind(a);
      const std::vector<float>& from = side == Role::kKey ? recording.keys : recording.values;
      const std::size_t begin = recording.row(l, first, 0);
      const std::size_t end = recording.row(l, recording.tokens, 0);
      double outer = 0.0;
      double inner = 0.0;
      for (std::size_t i = begin; i < end; ++i) {
        const kvpleat::Band band = split.band(from[i]).band;
        outer += band == kvpleat::Band::kOuter ? 1.0 : 0.0;
        inner += band == kvpleat::Band::kInner ? 1.0 : 0.0;
      }
      if (end > begin) {
        row.outer_share += outer / static_cast<double>(end - begin) / sides;
        row.inner_share += inner / static_cast<double>(end - begin) / sides;
      }
    }
  }
  return row;
}

}  // namespace

Sampling sampling_of(const Recording& recording, std::uint32_t samples) {
  Sampling sampling;
  sampling.tokens = profiled_tokens(recording);
  sampling.run_tokens = std::max(1u, sampling.tokens / (samples + samples / 4));
  sampling.runs = sampling.tokens / sampling.run_tokens;
  return sampling;
}

kvpleat::TokenRows rows_of(const Recording& recording, std::uint32_t layer, Role side,
                           std::uint32_t first, std::uint32_t n) {
  const std::vector<float>& from = side == Role::kKey ? recording.keys : recording.values;
  return {from.data() + recording.row(layer, first, 0), n, recording.kv_heads, recording.dim};
}

bool make_profile(const Recording& recording, std::uint32_t samples, kvpleat::BandShares shares,
                  const std::string& adapter, Profile& profile, std::vector<Stability>* stability,
                  std::string& error) {
  const Sampling sampling = sampling_of(recording, samples);
  if (samples == 0 || samples > sampling.runs) {
    error = "--samples " + std::to_string(samples) + ": the first " +
            std::to_string(sampling.tokens) + " tokens make 1 to " +
            std::to_string(sampling.tokens) + " runs";
    return false;
  }
  const std::uint32_t layers = recording.layers;
  std::vector<kvpleat::BandSums> sums(static_cast<std::size_t>(layers) * 2);
  std::vector<float> scratch(static_cast<std::size_t>(sampling.run_tokens) * recording.kv_heads *
                             recording.dim);
  kvpleat::ThresholdProfiler profiler(sums.data(), layers, shares);
  // Steps of about 0.38 of all runs, without a common divisor, visit each run once.
  std::uint32_t step = std::max(1u, sampling.runs * 5 / 13);
  while (std::gcd(step, sampling.runs) != 1) ++step;
  const auto run = [&](std::uint32_t i) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * step % sampling.runs) *
           sampling.run_tokens;
  };
  const auto pass = [&](std::uint32_t first, std::uint32_t end, bool measure) {
    for (std::uint32_t i = first; i < end; ++i) {
      for (std::uint32_t l = 0; l < layers; ++l) {
        for (const Role side : kSides) {
          const kvpleat::TokenRows rows = rows_of(recording, l, side, run(i), sampling.run_tokens);
          const kvpleat::Status status =
              measure ? profiler.measure(l, side, rows)
                      : profiler.add(l, side, rows, scratch.data(), scratch.size());
          if (ok(status)) continue;
          error = "layer " + std::to_string(l) + " " + kvpleat::side_name(side) + ": " +
                  kvpleat::to_string(status);
          return false;
        }
      }
    }
    return true;
  };

  if (stability != nullptr) {
    std::vector<std::uint32_t> counts;
    for (const std::uint32_t n : {10u, 30u, 100u}) {
      if (n < sampling.runs) counts.push_back(n);
    }
    counts.push_back(sampling.runs);
    std::vector<std::vector<float>> after(counts.size());
    std::uint32_t done = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (!pass(done, counts[i], false)) return false;
      done = counts[i];
      if (!thresholds_of(profiler, layers, after[i])) {
        error = "thresholds beyond 32752";
        return false;
      }
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      stability->push_back(compare_thresholds(recording, sampling.tokens, after[i], after.back()));
      stability->back().samples = counts[i];
    }
    profiler.reset();
  }

  if (!pass(0, samples, false) || !pass(0, samples, true)) return false;
  Profile made;
  made.bands.resize(sums.size());
  for (std::uint32_t l = 0; l < layers; ++l) {
    for (const Role side : kSides) {
      if (!ok(profiler.profile(l, side, made.bands[kvpleat::side_index(l, side)]))) {
        error = "layer " + std::to_string(l) + ": thresholds beyond 32752";
        return false;
      }
    }
  }
  if (!kvpleat::set_text(made.header.model, recording.model) ||
      !kvpleat::set_text(made.header.adapter, adapter)) {
    error = "the names of model and adapter have at most 95 bytes";
    return false;
  }
  made.header.shares = shares;
  made.header.samples = samples;
  made.header.layers = layers;
  made.header.kv_heads = recording.kv_heads;
  made.header.head_dim = recording.dim;
  profile = std::move(made);
  return true;
}

bool load_profile(const std::string& path, Profile& profile, std::string& error) {
  std::ifstream stream(path, std::ios::binary);
  if (!std::filesystem::is_regular_file(path) || !stream) {
    error = path + ": cannot be opened";
    return false;
  }
  const std::string text((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  Profile read;
  kvpleat::Error failure = read_profile_header(text, read.header);
  if (ok(failure.status)) {
    read.bands.resize(static_cast<std::size_t>(read.header.layers) * 2);
    failure = read_profile(text, read.header, read.bands.data(), read.bands.size());
  }
  if (!ok(failure.status)) {
    error = path + ": " + std::string(failure.name()) + ": " + to_string(failure.status);
    return false;
  }
  profile = std::move(read);
  return true;
}

bool save_profile(const std::string& path, const Profile& profile, std::string& error) {
  std::size_t size = 0;
  std::string text;
  kvpleat::Error failure = write_profile(profile.header, profile.bands.data(), nullptr, 0, size);
  if (failure.status == kvpleat::Status::kCapacity) {
    text.resize(size);
    failure = write_profile(profile.header, profile.bands.data(), text.data(), text.size(), size);
  }
  if (!ok(failure.status)) {
    error = "the profile cannot be written: " + std::string(failure.name()) + ": " +
            to_string(failure.status);
    return false;
  }
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (stream) return true;
  error = path + ": cannot be written";
  return false;
}

}  // namespace profiler
