// Run-time dispatch against the kernels of this unit's flags, and AVX2 against AVX-512.
#include "bench/report/tables.h"

namespace report {
namespace {

using bench::KernelSet;
using bench::Step;

Work attend(const char* variant, std::uint32_t queries, KernelSet set, const char* simd) {
  Step step;
  step.queries = queries;
  step.set = set;
  step.simd = simd;
  return {variant, Part::kAttend, step};
}

}  // namespace

void run_targets(Report& report, Subjects& subjects) {
  constexpr KernelSet kVector = KernelSet::kVector;
  constexpr KernelSet kDispatched = KernelSet::kDispatched;
  constexpr Where kWarm = Where::kWarm;
  constexpr Where kL3 = Where::kL3;
  constexpr Where kDram = Where::kDram;
  constexpr Kind kTimes = Kind::kTimes;

  if (bench::kHasVector && bench::kHasDispatched &&
      bench::target_of(kVector) == bench::target_of(kDispatched)) {
    run_checks(
        report, subjects, "chosen at run time against compiled for this machine",
        {{"dispatched_vs_static_int4_q1_warm", kWarm, kTimes, attend("Int4G64", 1, kDispatched, ""),
          attend("Int4G64", 1, kVector, ""), 0, 1.0 / 1.2, 1.0 / 1.4},
         {"dispatched_vs_static_int4_q4_warm", kWarm, kTimes, attend("Int4G64", 4, kDispatched, ""),
          attend("Int4G64", 4, kVector, ""), 0, 1.0 / 1.2, 1.0 / 1.4},
         {"dispatched_vs_static_rotated4_q1_warm", kWarm, kTimes,
          attend("TurboQuant4", 1, kDispatched, ""), attend("TurboQuant4", 1, kVector, ""), 0,
          1.0 / 1.2, 1.0 / 1.4},
         {"dispatched_vs_static_oaken4_q1_l3", kL3, kTimes,
          attend("Oaken2_96_2", 1, kDispatched, ""), attend("Oaken2_96_2", 1, kVector, ""), 0,
          1.0 / 1.2, 1.0 / 1.4},
         {"dispatched_vs_static_f16_q1_l3", kL3, kTimes, attend("F16", 1, kDispatched, ""),
          attend("F16", 1, kVector, ""), 0, 1.0 / 1.2, 1.0 / 1.4}});
  }
  // What is judged is how much of a compressed cache's gain is left without AVX-512.
  if (bench::kHasDispatched && bench::target_runs("avx2") &&
      bench::target_of(kDispatched) != "avx2") {
    const auto avx2 = [](const char* variant, std::uint32_t queries) {
      return attend(variant, queries, kDispatched, "avx2");
    };
    const auto best = [](const char* variant, std::uint32_t queries) {
      return attend(variant, queries, kDispatched, "");
    };
    run_checks(
        report, subjects, "AVX2 against the best target",
        {{"avx2_int4_q1_dram", kDram, kTimes, avx2("Int4G64", 1), best("Int4G64", 1), 0, 1.0 / 1.3,
          1.0 / 1.5},
         {"avx2_int4_q1_warm", kWarm, kTimes, avx2("Int4G64", 1), best("Int4G64", 1), 0, 0, 0},
         {"avx2_int4_q4_l3", kL3, kTimes, avx2("Int4G64", 4), best("Int4G64", 4), 0, 0, 0},
         {"avx2_rotated4_q1_l3", kL3, kTimes, avx2("TurboQuant4", 1), best("TurboQuant4", 1), 0, 0,
          0},
         {"avx2_rotated4_q4_l3", kL3, kTimes, avx2("TurboQuant4", 4), best("TurboQuant4", 4), 0, 0,
          0},
         {"avx2_centred4_q1_l3", kL3, kTimes, avx2("Rotated4", 1), best("Rotated4", 1), 0, 0, 0},
         {"avx2_oaken4_q1_l3", kL3, kTimes, avx2("Oaken2_96_2", 1), best("Oaken2_96_2", 1), 0, 0,
          0},
         {"avx2_f16_q1_l3", kL3, kTimes, avx2("F16", 1), best("F16", 1), 0, 0, 0},
         {"avx2_f16_q4_l3", kL3, kTimes, avx2("F16", 4), best("F16", 4), 0, 0, 0},
         {"avx2_int4_vs_f16_q1_dram", kDram, kTimes, avx2("Int4G64", 1), avx2("F16", 1), 0, 0, 0}});
  }
}

}  // namespace report
