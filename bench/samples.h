// Samples of several kernels in turn: what disturbs the machine for a while disturbs all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

double median(std::vector<double> values);

// A kernel to be timed. run() does the whole piece of work once.
struct Timed {
  std::function<void()> run;
  std::vector<double> ns;  // of one run, CPU time of this thread, one entry per round

  [[nodiscard]] double time() const { return median(ns); }
};

struct Rounds {
  int count = 9;
  // Runs are repeated until a sample takes that long.
  double sample_ns = 2e6;
  // Before each sample one run that does not count: for working sets that fit a cache, which the
  // other kernels have emptied.
  bool warm = true;
};

// Times all kernels, one sample of each per round.
void interleave(std::vector<Timed*> kernels, const Rounds& rounds);

// How often a goes into b: the median over rounds of b's time by a's, and the quartiles of it.
struct Ratio {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
};
Ratio ratio(const Timed& slow, const Timed& fast);
// The same times a constant, for kernels that do not do equal work.
Ratio scaled(Ratio ratio, double factor);

}  // namespace bench
