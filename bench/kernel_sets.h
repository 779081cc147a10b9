// The kernel sets this program is built with, chosen at run time by the bench.
//
//   BENCH_VECTOR      kernels for the flags of this unit (kvpleat/highway.h)
//   BENCH_DISPATCHED  kernels chosen for the machine at run time (kvpleat/dispatch.h)
#pragma once

#include <cstdint>
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

// Whether dispatched kernels can run as that target here.
inline bool target_runs([[maybe_unused]] const char* name) {
#if defined(BENCH_DISPATCHED)
  for (std::uint32_t i = 0; i < kvpleat::DispatchedKernels::target_count(); ++i) {
    if (kvpleat::DispatchedKernels::target_runs(i) &&
        std::string(kvpleat::DispatchedKernels::target_name(i)) == name) {
      return true;
    }
  }
#endif
  return false;
}

// What is measured where a check does not say: kernels for this unit's flags if there are any (the
// build was asked for this machine), else those chosen at run time.
inline constexpr KernelSet kBestSet = kHasVector       ? KernelSet::kVector
                                      : kHasDispatched ? KernelSet::kDispatched
                                                       : KernelSet::kReference;

// That set as a type: what caches append and read with.
#if defined(BENCH_VECTOR)
using BestKernels = kvpleat::VectorKernels;
#elif defined(BENCH_DISPATCHED)
using BestKernels = kvpleat::DispatchedKernels;
#else
using BestKernels = kvpleat::ReferenceKernels;
#endif

// While it lives, dispatched kernels run as the target of that name; empty: as the best one.
class TargetScope {
 public:
  explicit TargetScope([[maybe_unused]] const char* name) {
#if defined(BENCH_DISPATCHED)
    if (name[0] == 0) return;
    forced_ = ok(kvpleat::DispatchedKernels::use_target(name).status);
#endif
  }
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;
  ~TargetScope() {
#if defined(BENCH_DISPATCHED)
    if (forced_) static_cast<void>(kvpleat::DispatchedKernels::use_target(""));
#endif
  }

 private:
  [[maybe_unused]] bool forced_ = false;
};

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

// The SIMD target that runs. name: as of TargetScope.
inline std::string target_of(KernelSet set, const char* name = "") {
  const TargetScope scope(name);
  return with_kernels(set, []<class Kernels>() { return std::string(Kernels::target()); });
}

}  // namespace bench
