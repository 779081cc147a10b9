#include "bench/samples.h"

#include <algorithm>
#include <cmath>

#include "bench/machine.h"

namespace bench {
namespace {

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0.0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

void interleave(std::vector<Timed*> kernels, const Rounds& rounds) {
  std::vector<int> repeats(kernels.size(), 1);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!rounds.warm) continue;
    kernels[i]->run();
    const double start = thread_ns();
    kernels[i]->run();
    const double once = std::max(thread_ns() - start, 100.0);
    repeats[i] = static_cast<int>(std::clamp(std::ceil(rounds.sample_ns / once), 1.0, 1e6));
  }
  for (Timed* kernel : kernels) kernel->ns.clear();
  for (int round = 0; round < rounds.count; ++round) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (rounds.warm) kernels[i]->run();
      const double start = thread_ns();
      for (int r = 0; r < repeats[i]; ++r) kernels[i]->run();
      kernels[i]->ns.push_back((thread_ns() - start) / repeats[i]);
    }
  }
}

Ratio ratio(const Timed& slow, const Timed& fast) {
  std::vector<double> each;
  for (std::size_t i = 0; i < slow.ns.size() && i < fast.ns.size(); ++i)
    each.push_back(slow.ns[i] / fast.ns[i]);
  return {median(each), quantile(each, 0.25), quantile(each, 0.75)};
}

Ratio scaled(Ratio ratio, double factor) {
  return {ratio.value * factor, ratio.low * factor, ratio.high * factor};
}

}  // namespace bench
