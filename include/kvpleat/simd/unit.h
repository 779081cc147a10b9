// The unit of kernels: compiles every kernel for every target that is worth it and defines what
// simd/table.h declares. Exactly one translation unit of a program includes it, as its first
// header:
//
//   #include "kvpleat/simd/unit.h"
//
// compiled with the flags of the oldest CPU that shall run it, and linked with Highway's library
// (-lhwy). CMake does all that: link kvpleat::kernels.
//
// Targets: on x86 plain code, AVX2, and AVX-512 with VNNI and VBMI; on Arm NEON; those below the
// unit's flags are left out. A CPU that has a target of Highway between these runs the next one
// below: AVX-512 without VNNI has no integer kernel that AVX2 has not, and vectors of SVE are of no
// size that an array could have. HWY_DISABLED_TARGETS says otherwise.
#pragma once

#if defined(HIGHWAY_HWY_FOREACH_TARGET_H_) || defined(HIGHWAY_HWY_DETECT_TARGETS_H_)
#error \
    "kvpleat: simd/unit.h must be the first header of a unit of its own: one unit can include <hwy/foreach_target.h> only once. Code of yours that is compiled once per target includes kvpleat/simd/*-inl.h instead"
#endif

#include <atomic>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/simd/table.h"
#include "kvpleat/simd/targets.h"

// Before Highway is asked, whose default is none.
#if !defined(HWY_DISABLED_TARGETS)
#define HWY_DISABLED_TARGETS KVPLEAT_UNUSED_TARGETS
#endif
#include <hwy/detect_targets.h>

// Targets of later versions than ours have no name here yet.
#if HWY_ARCH_X86
#if defined(HWY_AVX10_2)
#define KVPLEAT_UNUSED_TARGETS \
  (HWY_AVX10_2 | HWY_AVX3_SPR | HWY_AVX3_ZEN4 | HWY_AVX3 | HWY_SSE4 | HWY_SSSE3 | HWY_SSE2)
#elif defined(HWY_AVX3_SPR)
#define KVPLEAT_UNUSED_TARGETS \
  (HWY_AVX3_SPR | HWY_AVX3_ZEN4 | HWY_AVX3 | HWY_SSE4 | HWY_SSSE3 | HWY_SSE2)
#elif defined(HWY_AVX3_ZEN4)
#define KVPLEAT_UNUSED_TARGETS (HWY_AVX3_ZEN4 | HWY_AVX3 | HWY_SSE4 | HWY_SSSE3 | HWY_SSE2)
#else
#define KVPLEAT_UNUSED_TARGETS (HWY_AVX3 | HWY_SSE4 | HWY_SSSE3)
#endif
#elif HWY_ARCH_ARM && defined(HWY_NEON_BF16) && defined(__ARM_FEATURE_AES)
#define KVPLEAT_UNUSED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_NEON_BF16 | HWY_NEON_WITHOUT_AES)
#elif HWY_ARCH_ARM && defined(HWY_NEON_BF16)  // one NEON: what the others add is not used
#define KVPLEAT_UNUSED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_NEON_BF16 | HWY_NEON)
#elif HWY_ARCH_ARM
#define KVPLEAT_UNUSED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#elif HWY_ARCH_RVV
#define KVPLEAT_UNUSED_TARGETS HWY_RVV
#else
#define KVPLEAT_UNUSED_TARGETS 0
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kvpleat/simd/table-inl.h"
#include <hwy/foreach_target.h>
//
#include "kvpleat/simd/table-inl.h"

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(target_table);

// The tables that HWY_EXPORT found, the best first, each once, and which of them this CPU has.
struct KernelTargets {
  static constexpr std::uint32_t kMost = 8;

  const abi::KernelTable* tables[kMost];
  bool runs[kMost];
  std::uint32_t count;

  KernelTargets() : count(0) {
    const std::int64_t supported = hwy::SupportedTargets();
    for (std::int64_t rest = HWY_TARGETS; rest != 0; rest &= rest - 1) {
      const std::int64_t target = rest & -rest;  // a lower bit is a better target
      if (count == kMost) break;
      tables[count] = table_of(target);
      // The last one is what the unit's flags ask for: it runs, or nothing here does.
      runs[count] = (supported & target) != 0 || target == HWY_STATIC_TARGET;
      ++count;
    }
  }
  static const KernelTargets& all() {
    static const KernelTargets targets;
    return targets;
  }
  [[nodiscard]] const abi::KernelTable* best() const {
    std::uint32_t i = 0;
    while (i + 1 < count && !runs[i]) ++i;
    return tables[i];
  }
  static std::atomic<const abi::KernelTable*>& chosen() {
    static constinit std::atomic<const abi::KernelTable*> table = nullptr;
    return table;
  }

 private:
  static const abi::KernelTable* table_of(std::int64_t target) {
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0  // one target: HWY_EXPORT makes an array of one
    static_cast<void>(target);
    return HWY_DISPATCH_TABLE(target_table)[0]();
#else
    hwy::ChosenTarget only{};
    only.Update(target);
    return HWY_DISPATCH_TABLE(target_table)[only.GetIndex()]();
#endif
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA

namespace kvpleat::abi {

template <>
const KernelTable& Kernels::table() noexcept {
  const KernelTable* table = KernelTargets::chosen().load(std::memory_order_acquire);
  if (table == nullptr) {
    // Two threads may come here together: they choose the same, unless somebody else has chosen.
    const KernelTable* best = KernelTargets::all().best();
    if (KernelTargets::chosen().compare_exchange_strong(table, best, std::memory_order_acq_rel))
      table = best;
  }
  return *table;
}
template <>
std::uint32_t Kernels::target_count() noexcept {
  return KernelTargets::all().count;
}
template <>
const KernelTable& Kernels::table_of(std::uint32_t target) noexcept {
  KVPLEAT_ASSERT(target < target_count());
  return *KernelTargets::all().tables[target];
}
template <>
bool Kernels::runs(std::uint32_t target) noexcept {
  return target < target_count() && KernelTargets::all().runs[target];
}
template <>
void Kernels::choose(std::uint32_t target) noexcept {
  KVPLEAT_ASSERT(runs(target));
  KernelTargets::chosen().store(&table_of(target), std::memory_order_release);
}

}  // namespace kvpleat::abi
