// Timing of short pieces of work on a shared machine: CPU time of this thread, medians.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace compare {

// Nanoseconds of CPU time this thread has used.
double thread_ns();
// Keeps this thread on the CPU it runs on, so that samples compare. Does nothing where the system
// cannot.
void pin_thread();

inline double median(std::vector<double> samples) {
  if (samples.empty()) return 0.0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace compare
