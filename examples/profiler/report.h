// What oaken_profiler prints: lines for people, or one JSON object per line.
#pragma once

#include <string>
#include <vector>

#include "compare/recording.h"
#include "kvpleat/calibrate/finding.h"
#include "kvpleat/calibrate/ratio_search.h"
#include "profiler/profile.h"
#include "profiler/subject.h"

namespace profiler {

class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  void recording(const Recording& recording, const std::string& profile);
  // Shares of both tails and of the inner band of a recording under a profile and, with a cache
  // that holds it, what each band has lost: the square root of lost over original energy.
  void bands(const Recording& recording, const Profile& profile, const Subject* subject);
  void stability(const std::vector<Stability>& rows, const Sampling& sampling,
                 std::uint32_t tokens);
  void ratios(const kvpleat::RatioPoint* points, std::size_t n);
  void times(const Times& times);
  // The outcome of a check; detail says what was looked at.
  void check(kvpleat::Check check, const kvpleat::Findings& findings, const std::string& detail);
  void note(const std::string& text);

 private:
  void line(const char* kind, const std::string& fields);

  bool json_;
};

}  // namespace profiler
