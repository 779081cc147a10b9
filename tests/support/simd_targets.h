// Tests of vector code run on every target that their unit was compiled for and that this machine
// has. The unit includes itself through <hwy/foreach_target.h>; see tests/simd/lanes_test.cc.
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <string>
#include <vector>

// What failed on a target. Code inside a target's namespace reports here: doctest's macros would be
// compiled once per target.
struct TargetReport {
  std::vector<std::string> failures;
  std::uint64_t checks = 0;

  void check(bool ok, const std::string& what) {
    ++checks;
    if (!ok && failures.size() < 20) failures.push_back(what);
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& failure : failures) all += failure + "\n";
    return all;
  }
};

// Calls run(name) once per target, with dynamic dispatch set to it. Returns how many there were.
template <class Run>
int on_each_target(std::int64_t compiled, Run run) {
  int ran = 0;
  const std::int64_t supported = hwy::SupportedTargets() & compiled;
  for (std::int64_t rest = supported; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    run(hwy::TargetName(target));
    ++ran;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return ran;
}
