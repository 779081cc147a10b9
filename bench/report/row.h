// Row: one line of the report, and the report itself.
#pragma once

#include <string>
#include <vector>

#include "bench/samples.h"

namespace report {

// All ratios are oriented so that larger is better: a limit of time is printed as allowed / used.
struct Row {
  std::string section;
  std::string check;
  double ratio = 0.0;
  double target = 0.0;   // 0: shown, not judged
  double minimum = 0.0;  // below it the check has failed; 0: none
  double measured = 0.0;
  std::string unit;  // of `measured`
  std::string working_set;
  std::string target_simd;
  double low = 0.0;  // quartiles of the ratio over the rounds; 0: not sampled
  double high = 0.0;
};

struct Options {
  bool json = false;
  bool quick = false;  // tiny sizes, no verdicts
  int rounds = 9;
  bool list = false;                // names only
  std::vector<std::string> wanted;  // parts of names; empty: all
};

class Report {
 public:
  explicit Report(const Options& given) : options(given) {}

  const Options options;

  // Whether a check is asked for. With --list it prints the name instead.
  [[nodiscard]] bool wants(const std::string& check) const;
  void add(const Row& row);
  // A remark beside the table; not in JSON.
  void note(const std::string& text) const;
  // What could not be measured: a bench that is wrong is not timed.
  void fail(const std::string& check, const std::string& why);
  void skip(const std::string& check, const std::string& why) const;

  // Rows below their minimum, and failures.
  [[nodiscard]] int missed() const { return missed_; }
  [[nodiscard]] int broken() const { return broken_; }
  [[nodiscard]] int shown() const { return shown_; }

 private:
  std::string section_;
  int missed_ = 0;
  int broken_ = 0;
  int shown_ = 0;
};

}  // namespace report
