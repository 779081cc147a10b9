// Options: the command line of oaken_profiler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvpleat/calibrate/finding.h"

namespace profiler {

struct Options {
  std::string data;          // empty: the recording shipped with the examples
  std::string profile_file;  // empty: profiled now, from the recording
  std::string out;
  std::string adapter;  // of what is loaded
  std::vector<kvpleat::Check> checks;
  std::uint32_t samples = 100;
  std::uint32_t groups = 3;
  std::uint64_t tokens = 0;       // requested length; 0: the recording's
  std::uint64_t spill_bytes = 0;  // 0: no limit
  float scale = 1.0f;
  bool make_profile = false;
  bool search = false;
  bool json = false;
  bool help = false;
};

extern const char* const kUsage;

// False: `error` is one line that says what is wrong.
bool parse(int argc, char** argv, Options& options, std::string& error);

}  // namespace profiler
