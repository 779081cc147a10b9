#include "bench/report/row.h"

#include <cmath>
#include <cstdio>

namespace report {

bool Report::wants(const std::string& check) const {
  bool found = options.wanted.empty();
  for (const std::string& part : options.wanted)
    found = found || check.find(part) != std::string::npos;
  if (found && options.list) {
    std::printf("%s\n", check.c_str());
    return false;
  }
  return found;
}

void Report::add(const Row& row) {
  if (!(row.ratio > 0.0) || !std::isfinite(row.ratio) || !std::isfinite(row.measured)) {
    fail(row.check, "not a number");
    return;
  }
  ++shown_;
  const bool judged = !options.quick;
  const bool miss = judged && row.minimum > 0.0 && row.ratio < row.minimum;
  missed_ += miss ? 1 : 0;
  if (options.json) {
    std::printf(
        "{\"check\": \"%s\", \"ratio\": %.4g, \"target\": %.4g, \"minimum\": %.4g, "
        "\"measured\": %.5g, \"unit\": \"%s\", \"working_set\": \"%s\", \"target_simd\": \"%s\"}\n",
        row.check.c_str(), row.ratio, row.target, row.minimum, row.measured, row.unit.c_str(),
        row.working_set.c_str(), row.target_simd.c_str());
    std::fflush(stdout);
    return;
  }
  if (row.section != section_) {
    section_ = row.section;
    std::printf("\n%s\n%-42s %-5s %7s %15s %7s %7s %10s %-8s %s\n", section_.c_str(), "check",
                "set", "ratio", "quartiles", "target", "min", "measured", "", "verdict");
  }
  char spread[32] = "";
  if (row.high > 0.0) std::snprintf(spread, sizeof spread, "%.3g - %.3g", row.low, row.high);
  char target[16] = "";
  char minimum[16] = "";
  if (row.target > 0.0) std::snprintf(target, sizeof target, "%.3g", row.target);
  if (row.minimum > 0.0) std::snprintf(minimum, sizeof minimum, "%.3g", row.minimum);
  const char* verdict = "";
  if (judged && row.target > 0.0)
    verdict = row.ratio >= row.target ? "reached" : miss ? "MISSED" : "accepted";
  std::printf("%-42s %-5s %7.3f %15s %7s %7s %10.4g %-8s %s\n", row.check.c_str(),
              row.working_set.c_str(), row.ratio, spread, target, minimum, row.measured,
              row.unit.c_str(), verdict);
  std::fflush(stdout);
}

void Report::note(const std::string& text) const {
  if (!options.json && !options.list) std::printf("  %s\n", text.c_str());
}

void Report::fail(const std::string& check, const std::string& why) {
  ++broken_;
  std::fprintf(stderr, "report: %s: %s\n", check.c_str(), why.c_str());
}

void Report::skip(const std::string& check, const std::string& why) const {
  std::fprintf(stderr, "report: %s: skipped: %s\n", check.c_str(), why.c_str());
}

}  // namespace report
