// The kernel sets this program is built with, chosen at run time by the bench.
//
//   BENCH_VECTOR      kernels for the flags of this unit (kvpleat/highway.h)
//   BENCH_DISPATCHED  kernels chosen for the machine at run time (kvpleat/dispatch.h)
#pragma once

#include <string>

#include "kvpleat/simd/reference.h"
#if defined(BENCH_VECTOR)
#include "kvpleat/highway.h"
#endif
#if defined(BENCH_DISPATCHED)
#include "kvpleat/dispatch.h"
#endif

namespace bench {

enum class KernelSet { kReference, kVector, kDispatched };

inline constexpr bool kHasVector =
#if defined(BENCH_VECTOR)
    true;
#else
    false;
#endif
inline constexpr bool kHasDispatched =
#if defined(BENCH_DISPATCHED)
    true;
#else
    false;
#endif

// What is measured where a check does not say: kernels for this unit's flags if there are any (the
// build was asked for this machine), else those chosen at run time.
inline constexpr KernelSet kBestSet = kHasVector       ? KernelSet::kVector
                                      : kHasDispatched ? KernelSet::kDispatched
                                                       : KernelSet::kReference;

// Calls visit.operator()<Kernels>().
template <class Visit>
decltype(auto) with_kernels(KernelSet set, const Visit& visit) {
#if defined(BENCH_VECTOR)
  if (set == KernelSet::kVector) return visit.template operator()<kvpleat::VectorKernels>();
#endif
#if defined(BENCH_DISPATCHED)
  if (set == KernelSet::kDispatched) return visit.template operator()<kvpleat::DispatchedKernels>();
#endif
  static_cast<void>(set);
  return visit.template operator()<kvpleat::ReferenceKernels>();
}

// The SIMD target that runs.
inline std::string target_of(KernelSet set) {
  return with_kernels(set, []<class Kernels>() { return std::string(Kernels::target()); });
}

}  // namespace bench
