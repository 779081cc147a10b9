// DriftMonitor: whether the data still fits the thresholds it is stored with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/calibrate/band_profile.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/status.h"

namespace kvpleat::inline KVPLEAT_ISA {

// How a band has drifted. Data that grew overfills the outer band, which costs bytes; data that
// shrank overfills the inner band, which costs accuracy. Full bands are named before empty ones.
enum class Drift : std::uint8_t {
  kNone,
  kTooFewTokens,  // not enough in the window to tell
  kOuterFull,
  kInnerFull,
  kOuterEmpty,
  kInnerEmpty,
};

constexpr const char* to_string(Drift drift) noexcept {
  switch (drift) {
    case Drift::kNone:
      return "none";
    case Drift::kTooFewTokens:
      return "too few tokens";
    case Drift::kOuterFull:
      return "outer too full";
    case Drift::kInnerFull:
      return "inner too full";
    case Drift::kOuterEmpty:
      return "outer too empty";
    case Drift::kInnerEmpty:
      return "inner too empty";
  }
  return "unknown";
}

struct DriftLimits {
  double factor = 1.5;         // a band off by more than this, either way
  double least_share = 0.002;  // shares below it count as this much: a band of 0 may gain 0.003
  std::uint32_t least_tokens = 64;  // in the window, before anything is said
};

// What one side of one layer looks like in the window.
struct DriftState {
  Drift drift = Drift::kNone;
  std::uint64_t tokens = 0;
  double outer_share = 0.0;
  double inner_share = 0.0;
  double outer_wanted = 0.0;  // of the profile
  double inner_wanted = 0.0;
};

// The counts of the last 4096 tokens of one side of one layer, in 16 parts of at least 256 tokens.
struct DriftWindow {
  static constexpr std::uint32_t kParts = 16;
  static constexpr std::uint32_t kPartTokens = 256;

  struct Counts {
    std::uint64_t values = 0;
    std::uint64_t outer = 0;
    std::uint64_t inner = 0;
  };
  EncodeCounters last{};  // totals at the last call
  Counts parts[kParts] = {};
  std::uint32_t at = 0;  // the part that is being filled
};

// Compares how full the outer and the inner band are with the profile, per layer and side, over a
// sliding window of 4096 tokens. Fed with the counters that a cache keeps anyway; it costs nothing
// per element. The window moves by parts: calls at least every 256 tokens keep it exact, a call
// that covers more tokens puts them all into one part.
class DriftMonitor {
 public:
  //   profile: [layers, 2], keys then values, the caller's.
  //   windows: [layers, 2], the caller's, cleared here.
  //   token_values: elements of one token of one side, kv_heads * head_dim.
  DriftMonitor(const BandProfile* profile, DriftWindow* windows, std::uint32_t layers,
               std::uint64_t token_values, DriftLimits limits = {}) noexcept
      : profile_(profile),
        windows_(windows),
        layers_(layers),
        token_values_(upper_of<std::uint64_t>(token_values, 1)),
        limits_(limits) {
    reset();
  }
  // Forgets what was seen; the next counters count from zero.
  void reset() noexcept {
    for (std::size_t i = 0; i < static_cast<std::size_t>(layers_) * 2; ++i) windows_[i] = {};
  }

  // Counters as the cache reports them now (totals since it was created). Totals that shrink are of
  // another cache, and count from zero. Nothing happens for a layer that does not exist. O(1).
  void observe(std::uint32_t layer, Role side, const EncodeCounters& total) noexcept {
    if (layer >= layers_) return;
    DriftWindow& window = windows_[side_index(layer, side)];
    if (total.values < window.last.values) window.last = {};
    DriftWindow::Counts* part = &window.parts[window.at];
    if (part->values >= DriftWindow::kPartTokens * token_values_) {
      window.at = (window.at + 1) % DriftWindow::kParts;
      part = &window.parts[window.at];
      *part = {};
    }
    part->values += total.values - window.last.values;
    part->outer += total.outer - window.last.outer;
    part->inner += total.inner - window.last.inner;
    window.last = total;
  }
  // Both sides of every layer of a cache.
  template <class Cache>
  void observe(const Cache& cache) noexcept {
    for (std::uint32_t l = 0; l < lower_of(layers_, cache.shape().layers); ++l) {
      observe(l, Role::kKey, cache.key_counters(l));
      observe(l, Role::kValue, cache.value_counters(l));
    }
  }

  // For a layer that exists.
  [[nodiscard]] DriftState state(std::uint32_t layer, Role side) const noexcept {
    const DriftWindow& window = windows_[side_index(layer, side)];
    const BandProfile& wanted = profile_[side_index(layer, side)];
    DriftWindow::Counts all;
    for (const DriftWindow::Counts& part : window.parts) {
      all.values += part.values;
      all.outer += part.outer;
      all.inner += part.inner;
    }
    DriftState state;
    state.tokens = all.values / token_values_;
    state.outer_wanted = wanted.outer_share();
    state.inner_wanted = wanted.inner_share();
    if (all.values > 0) {
      state.outer_share = static_cast<double>(all.outer) / static_cast<double>(all.values);
      state.inner_share = static_cast<double>(all.inner) / static_cast<double>(all.values);
    }
    if (state.tokens < limits_.least_tokens) {
      state.drift = Drift::kTooFewTokens;
    } else if (above(state.outer_share, state.outer_wanted)) {
      state.drift = Drift::kOuterFull;
    } else if (above(state.inner_share, state.inner_wanted)) {
      state.drift = Drift::kInnerFull;
    } else if (above(state.outer_wanted, state.outer_share)) {
      state.drift = Drift::kOuterEmpty;
    } else if (above(state.inner_wanted, state.inner_share)) {
      state.drift = Drift::kInnerEmpty;
    }
    return state;
  }
  // kNeedsReprofile and the first band that is off, "layer3.value.outer"; kOk if none is. (Another
  // model or adapter: check_profile in profile_file.h, and LaneProfile.)
  [[nodiscard]] Error needs_reprofile() const noexcept {
    for (std::uint32_t l = 0; l < layers_; ++l) {
      for (const Role side : {Role::kKey, Role::kValue}) {
        const Drift drift = state(l, side).drift;
        if (drift == Drift::kNone || drift == Drift::kTooFewTokens) continue;
        const bool outer = drift == Drift::kOuterFull || drift == Drift::kOuterEmpty;
        return {Status::kNeedsReprofile, BandName(l, side, outer ? "outer" : "inner").view()};
      }
    }
    return {};
  }

 private:
  [[nodiscard]] bool above(double a, double b) const noexcept {
    return upper_of(a, limits_.least_share) > limits_.factor * upper_of(b, limits_.least_share);
  }

  const BandProfile* profile_;
  DriftWindow* windows_;
  std::uint32_t layers_;
  std::uint64_t token_values_;
  DriftLimits limits_;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
