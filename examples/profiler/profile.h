// Profiles of recordings: made from runs of tokens, read from and written to files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/recording.h"
#include "kvpleat/calibrate/band_profile.h"
#include "kvpleat/calibrate/profile_file.h"
#include "kvpleat/calibrate/thresholds.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/tokens.h"

namespace profiler {

using compare::Recording;

struct Profile {
  kvpleat::ProfileHeader header;
  std::vector<kvpleat::BandProfile> bands;  // [layers, 2]
};

// Thresholds after n samples against those after all, and how they divide tokens that were not
// profiled. Means and worst over layers and sides.
struct Stability {
  std::uint32_t samples = 0;
  double outer_off = 0.0;  // |difference| / distance of the two outer thresholds of all samples
  double outer_worst = 0.0;
  double inner_off = 0.0;  // the same of the inner ones
  double inner_worst = 0.0;
  double outer_share = 0.0;  // of tokens behind the profiled ones; 0 if there are none
  double inner_share = 0.0;
};

// A recording is one inference; a sample here is a run of tokens of it. Profiled are the first 512
// tokens, or half of them if that is less: they are cut into at least samples + samples / 4 runs of
// equal length, which are taken in an order that spreads any number of them over the text.
struct Sampling {
  std::uint32_t tokens = 0;      // profiled
  std::uint32_t run_tokens = 0;  // of a run
  std::uint32_t runs = 0;        // that there are
};
Sampling sampling_of(const Recording& recording, std::uint32_t samples);

// Tokens [first, first + n) of one side of a layer.
kvpleat::TokenRows rows_of(const Recording& recording, std::uint32_t layer, kvpleat::Role side,
                           std::uint32_t first, std::uint32_t n);

// The profile of `samples` runs. stability: rows for 10, 30, 100 and all runs, as far as there are;
// null: not wanted. False: `error` says why.
bool make_profile(const Recording& recording, std::uint32_t samples, kvpleat::BandShares shares,
                  const std::string& adapter, Profile& profile, std::vector<Stability>* stability,
                  std::string& error);

// False: `error` names the file and the field.
bool load_profile(const std::string& path, Profile& profile, std::string& error);
bool save_profile(const std::string& path, const Profile& profile, std::string& error);

}  // namespace profiler
