// Runs tests of DispatchedKernels on every target of the table that this CPU has.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "kvpleat/dispatch.h"

namespace test {

// Calls run() with every target chosen in turn; afterwards the best one is chosen again. Returns
// what ran, and what did not.
template <class Run>
std::string on_each_dispatched_target(Run run) {
  using Kernels = kvpleat::DispatchedKernels;
  std::string ran;
  for (std::uint32_t i = 0; i < Kernels::target_count(); ++i) {
    const std::string name = Kernels::target_name(i);
    if (!Kernels::target_runs(i)) {
      ran += name + " (not on this CPU) ";
      continue;
    }
    REQUIRE(kvpleat::ok(Kernels::use_target(name).status));
    REQUIRE(std::string(Kernels::target()) == name);
    CAPTURE(name);
    run();
    ran += name + " ";
  }
  REQUIRE(kvpleat::ok(Kernels::use_target("").status));
  return ran;
}

}  // namespace test
