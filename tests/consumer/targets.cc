// Kernels of the instruction set that this program is compiled for, against ReferenceKernels. Prints
// the target, then a line per format and arithmetic with a digest of the result's bits: targets with
// FMA must print the same lines.
#include <kvpleat/highway.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "support/kernel_sample.h"

namespace {

std::uint64_t digest(const test::Results& results) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::vector<float>* values : {&results.scores, &results.sums}) {
    for (const float value : *values)
      hash = (hash ^ __builtin_bit_cast(std::uint32_t, value)) * 0x100000001b3u;
  }
  return hash;
}

template <class F>
bool check(const test::Law& law) {
  bool good = true;
  const test::Sample<F> sample;
  const test::Results unit = sample.magnitudes();
  for (const test::Arithmetic arithmetic :
       {test::Arithmetic::kFast, test::Arithmetic::kAccurate, test::Arithmetic::kExact}) {
    const test::Results wanted = sample.template run<kvpleat::ReferenceKernels>(arithmetic);
    const test::Results found = sample.template run<kvpleat::VectorKernels>(arithmetic);
    const double scores = test::worst(found.scores, wanted.scores, unit.scores);
    const double sums = test::worst(found.sums, wanted.sums, unit.sums);
    const bool fine = scores <= law.tolerance(arithmetic) && sums <= law.tolerance(arithmetic);
    good = good && fine;
    // Other bits are allowed: no digest.
    if (law.equal_bits)
      std::printf("%s %d %016llx\n", F::kId.c_str(), static_cast<int>(arithmetic),
                  static_cast<unsigned long long>(digest(found)));
    if (!fine)
      std::printf("%s %d: off by %g and %g of the magnitudes\n", F::kId.c_str(),
                  static_cast<int>(arithmetic), scores, sums);
  }
  return good;
}

}  // namespace

int main() {
  std::printf("%s\n", kvpleat::VectorKernels::target());
  bool good = true;
  test::each_kernel_format([&]<class F>(const test::Law& law) { good = check<F>(law) && good; });
  return good ? 0 : 1;
}
