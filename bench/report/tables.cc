// The checks that compare two pieces of work: all but a few of the report.
#include "bench/report/tables.h"

#include <initializer_list>

namespace report {
namespace {

using bench::Step;
using kvpleat::abi::Arithmetic;

Work attend(const char* variant, std::uint32_t queries) {
  Step step;
  step.queries = queries;
  return {variant, Part::kAttend, step};
}
Work score(const char* variant, std::uint32_t queries) {
  Work work = attend(variant, queries);
  work.part = Part::kScore;
  return work;
}
Work accumulate(const char* variant, std::uint32_t queries) {
  Work work = attend(variant, queries);
  work.part = Part::kAccumulate;
  return work;
}
Work part(const char* variant, Part which) {
  return {variant, which, {}};
}
Work with(Work work, Arithmetic arithmetic) {
  work.step.arithmetic = arithmetic;
  return work;
}
Work decoded(Work work, Part which) {
  work.part = which;
  return work;
}

}  // namespace

void run_tables(Report& report, Subjects& subjects) {
  constexpr Where kWarm = Where::kWarm;
  constexpr Where kL3 = Where::kL3;
  constexpr Where kDram = Where::kDram;
  constexpr Where kRows = Where::kRows;
  constexpr Kind kTimes = Kind::kTimes;
  constexpr Kind kShare = Kind::kShare;
  constexpr Kind kAllowed = Kind::kAllowed;
  constexpr Kind kRate = Kind::kRate;

  // F16 first: what everything else is compared with must itself be good.
  run_checks(report, subjects, "our own F16",
             {{"f16_share_q1_dram", kDram, kShare, attend("F16", 1), {}, 0, 0.90, 0.85},
              {"f16_share_q1_l3", kL3, kShare, attend("F16", 1), {}, 0, 0, 0},
              {"f16_share_q4_dram", kDram, kShare, attend("F16", 4), {}, 0, 0, 0},
              {"f16_share_q4_l3", kL3, kShare, attend("F16", 4), {}, 0, 0, 0}});

  run_checks(
      report, subjects, "int4, groups of 64 channels (4.5 bits)",
      {{"int4_vs_f16_q1_warm", kWarm, kTimes, attend("Int4G64", 1), attend("F16", 1), 0, 4.3, 3.5},
       {"int4_vs_f16_q1_l3", kL3, kTimes, attend("Int4G64", 1), attend("F16", 1), 0, 3.4, 3.0},
       {"int4_vs_f16_q1_dram", kDram, kTimes, attend("Int4G64", 1), attend("F16", 1), 0, 3.4, 3.0},
       {"int4_vs_f16_q4_warm", kWarm, kTimes, attend("Int4G64", 4), attend("F16", 4), 0, 0, 0},
       {"int4_vs_f16_q4_l3", kL3, kTimes, attend("Int4G64", 4), attend("F16", 4), 0, 3.4, 2.7},
       {"int4_vs_f16_q4_dram", kDram, kTimes, attend("Int4G64", 4), attend("F16", 4), 0, 3.4, 2.7},
       {"int4_share_q1_l3", kL3, kShare, attend("Int4G64", 1), {}, 0, 0.92, 0.85},
       {"int4_share_q1_dram", kDram, kShare, attend("Int4G64", 1), {}, 0, 0.90, 0.80},
       {"int4_share_q4_l3", kL3, kShare, attend("Int4G64", 4), {}, 0, 0.75, 0.60},
       {"int4_share_q4_dram", kDram, kShare, attend("Int4G64", 4), {}, 0, 0.82, 0.70},
       // Against the fastest peer on a CPU, at its best layout.
       {"int4_time_q4_l3", kL3, kAllowed, attend("Int4G64", 4), {}, 8.0, 1.0, 0.7},
       {"int4_time_q4_dram", kDram, kAllowed, attend("Int4G64", 4), {}, 13.0, 1.0, 0.7},
       {"int4_peaky_q4_l3", kL3, kTimes,
        [] {
          Work work = attend("Int4G64", 4);
          work.step.sharpness = 35.0f;
          return work;
        }(),
        attend("Int4G64", 4), 0, 1.0 / 1.1, 1.0 / 1.3},
       {"int4_statistics_q4_l3", kL3, kTimes,
        [] {
          Work work = attend("Int4G64", 4);
          work.step.statistics = true;
          return work;
        }(),
        attend("Int4G64", 4), 0, 1.0 / 1.03, 1.0 / 1.1},
       {"int4_statistics_q1_dram", kDram, kTimes,
        [] {
          Work work = attend("Int4G64", 1);
          work.step.statistics = true;
          return work;
        }(),
        attend("Int4G64", 1), 0, 1.0 / 1.03, 1.0 / 1.1},
       {"int4_accurate_q1_dram", kDram, kTimes, with(attend("Int4G64", 1), Arithmetic::kAccurate),
        attend("Int4G64", 1), 0, 1.0 / 1.15, 1.0 / 1.3},
       {"int4_accurate_q4_l3", kL3, kTimes, with(attend("Int4G64", 4), Arithmetic::kAccurate),
        attend("Int4G64", 4), 0, 0, 0},
       {"int4_exact_q1_dram", kDram, kTimes, with(attend("Int4G64", 1), Arithmetic::kExact),
        attend("Int4G64", 1), 0, 0, 0}});

  run_checks(
      report, subjects, "K.q and p.V alone",
      {{"kq_int8_vs_f16_q1_l3", kL3, kTimes, score("Int8", 1), score("F16", 1), 0, 1.8, 1.6},
       {"kq_int8_vs_f16_q1_dram", kDram, kTimes, score("Int8", 1), score("F16", 1), 0, 1.65, 1.5},
       {"kq_int2_vs_f16_q1_dram", kDram, kTimes, score("Int2G32", 1), score("F16", 1), 0, 4.8, 4.0},
       {"kq_int4_q1_warm", kWarm, kTimes, score("Int4G64", 1), score("F16", 1), 0, 0, 0},
       {"pv_int4_q1_warm", kWarm, kTimes, accumulate("Int4G64", 1), accumulate("F16", 1), 0, 0, 0},
       {"kq_int4_q4_warm", kWarm, kTimes, score("Int4G64", 4), score("F16", 4), 0, 0, 0},
       {"pv_int4_q4_warm", kWarm, kTimes, accumulate("Int4G64", 4), accumulate("F16", 4), 0, 0, 0},
       {"kq_slots16_vs_dense_q1_warm", kWarm, kTimes, score("Int4Slots16", 1), score("Int4", 1), 0,
        1.0 / 1.5, 1.0 / 1.8},
       {"kq_codebook_vs_int4_q1_l3", kL3, kTimes, score("TurboQuant4", 1), score("Int4", 1), 0,
        1.0 / 1.15, 1.0 / 1.3}});

  run_checks(
      report, subjects, "rotated codebooks (4.125, 3.125, 2.125 bits; Rotated4: phase-centred)",
      {{"rotated4_vs_f16_q1_l3", kL3, kTimes, attend("TurboQuant4", 1), attend("F16", 1), 0, 3.7,
        3.2},
       {"rotated4_vs_f16_q1_dram", kDram, kTimes, attend("TurboQuant4", 1), attend("F16", 1), 0,
        3.7, 3.2},
       {"rotated4_vs_int4_q1_warm", kWarm, kTimes, attend("TurboQuant4", 1), attend("Int4G64", 1),
        0, 1.0, 1.0 / 1.1},
       {"rotated4_vs_int4_q4_warm", kWarm, kTimes, attend("TurboQuant4", 4), attend("Int4G64", 4),
        0, 1.0, 1.0 / 1.1},
       {"rotated4_vs_int4_q1_l3", kL3, kTimes, attend("TurboQuant4", 1), attend("Int4G64", 1), 0,
        1.0, 1.0 / 1.1},
       {"rotated4_vs_int4_q4_l3", kL3, kTimes, attend("TurboQuant4", 4), attend("Int4G64", 4), 0,
        1.0, 1.0 / 1.1},
       {"rotated4_vs_int4_q1_dram", kDram, kTimes, attend("TurboQuant4", 1), attend("Int4G64", 1),
        0, 1.0, 1.0 / 1.1},
       {"rotated4_vs_int4_q4_dram", kDram, kTimes, attend("TurboQuant4", 4), attend("Int4G64", 4),
        0, 1.0, 1.0 / 1.1},
       {"rotated4_share_q1_l3", kL3, kShare, attend("TurboQuant4", 1), {}, 0, 0.92, 0.85},
       {"rotated4_share_q1_dram", kDram, kShare, attend("TurboQuant4", 1), {}, 0, 0.90, 0.80},
       {"rotated3_vs_rotated4_q1_l3", kL3, kTimes, attend("TurboQuant3", 1),
        attend("TurboQuant4", 1), 0, 1.0 / 0.95, 1.0 / 1.1},
       {"rotated2_vs_f16_q1_l3", kL3, kTimes, attend("TurboQuant2", 1), attend("F16", 1), 0, 6.5,
        5.5},
       {"rotated2_vs_f16_q1_dram", kDram, kTimes, attend("TurboQuant2", 1), attend("F16", 1), 0,
        6.0, 4.5},
       {"centred4_vs_int4_q1_l3", kL3, kTimes, attend("Rotated4", 1), attend("Int4G64", 1), 0,
        1.0 / 1.1, 1.0 / 1.3},
       {"centred4_vs_int4_q1_dram", kDram, kTimes, attend("Rotated4", 1), attend("Int4G64", 1), 0,
        1.0 / 1.1, 1.0 / 1.3},
       {"centred4_vs_int4_q4_dram", kDram, kTimes, attend("Rotated4", 4), attend("Int4G64", 4), 0,
        1.0 / 1.1, 1.0 / 1.3},
       {"centred4_vs_int4_q4_l3", kL3, kTimes, attend("Rotated4", 4), attend("Int4G64", 4), 0,
        1.0 / 1.5, 1.0 / 1.8}});

  run_checks(
      report, subjects, "Oaken (published 5.03 bits; jds16: 5.83 at 4/90/6, 4.87 at 2/96/2)",
      {{"oaken4_vs_f16_q1_l3", kL3, kTimes, attend("Oaken2_96_2", 1), attend("F16", 1), 0, 2.6,
        2.2},
       {"oaken4_vs_f16_q1_dram", kDram, kTimes, attend("Oaken2_96_2", 1), attend("F16", 1), 0, 2.5,
        2.0},
       {"oaken4_vs_f16_q4_l3", kL3, kTimes, attend("Oaken2_96_2", 4), attend("F16", 4), 0, 2.1,
        1.7},
       {"oaken4_vs_f16_q4_dram", kDram, kTimes, attend("Oaken2_96_2", 4), attend("F16", 4), 0, 2.9,
        2.3},
       {"oaken10_vs_f16_q1_l3", kL3, kTimes, attend("OakenJds16", 1), attend("F16", 1), 0, 2.2,
        1.8},
       {"oaken10_vs_f16_q1_dram", kDram, kTimes, attend("OakenJds16", 1), attend("F16", 1), 0, 2.2,
        1.8},
       {"oaken10_vs_f16_q4_l3", kL3, kTimes, attend("OakenJds16", 4), attend("F16", 4), 0, 1.9,
        1.6},
       {"oaken10_vs_f16_q4_dram", kDram, kTimes, attend("OakenJds16", 4), attend("F16", 4), 0, 2.5,
        2.0},
       {"published10_vs_f16_q1_l3", kL3, kTimes, attend("Oaken", 1), attend("F16", 1), 0, 1.1, 0.9},
       {"published10_vs_f16_q1_dram", kDram, kTimes, attend("Oaken", 1), attend("F16", 1), 0, 1.4,
        1.2},
       {"published10_kq_vs_decoder_l3", kL3, kTimes, score("Oaken", 1),
        decoded(score("Oaken", 1), Part::kDecodedScore), 0, 3.5, 2.5},
       {"published10_pv_vs_decoder_l3", kL3, kTimes, accumulate("Oaken", 1),
        decoded(accumulate("Oaken", 1), Part::kDecodedAccumulate), 0, 2.4, 1.8},
       // At equal bits (4.87): what is not Oaken, four inline slots beside int4.
       {"oaken4_vs_slots4_q1_l3", kL3, kTimes, attend("Oaken2_96_2", 1), attend("Int4Slots4", 1), 0,
        0, 0},
       {"oaken4_vs_slots4_q4_l3", kL3, kTimes, attend("Oaken2_96_2", 4), attend("Int4Slots4", 4), 0,
        0, 0},
       {"oaken4_vs_slots4_q1_dram", kDram, kTimes, attend("Oaken2_96_2", 1),
        attend("Int4Slots4", 1), 0, 0, 0},
       {"outer_only_vs_zero_split_kq_warm", kWarm, kTimes, score("OakenOuterOnly", 1),
        score("OakenJds16", 1), 0, 1.0 / 0.8, 1.0 / 0.95}});

  run_checks(
      report, subjects, "encode and decode, one core, fp32 rows",
      {{"encode_rotated_int4_vector",
        kRows,
        kAllowed,
        part("RotatedInt4", Part::kAppend),
        {},
        200.0,
        1.0,
        100.0 / 150.0},
       {"encode_int4_rate", kRows, kRate, part("Int4", Part::kAppend), {}, 8.0, 1.0, 0.7},
       {"encode_int4g64_rate", kRows, kRate, part("Int4G64", Part::kAppend), {}, 8.0, 0, 0},
       {"encode_f16_rate", kRows, kRate, part("F16", Part::kAppend), {}, 8.0, 0, 0},
       {"encode_rotated4_rate", kRows, kRate, part("Rotated4", Part::kAppend), {}, 5.0, 1.0, 0.7},
       {"encode_turboquant4_rate", kRows, kRate, part("TurboQuant4", Part::kAppend), {}, 5.0, 0, 0},
       {"encode_oaken_rate", kRows, kRate, part("Oaken", Part::kAppend), {}, 4.0, 1.0, 0.7},
       {"encode_oaken_jds16_rate", kRows, kRate, part("OakenJds16", Part::kAppend), {}, 4.0, 0, 0},
       {"decode_int4_rate", kRows, kRate, part("Int4", Part::kRead), {}, 10.0, 1.0, 0.7},
       {"decode_rotated4_rate", kRows, kRate, part("Rotated4", Part::kRead), {}, 10.0, 1.0, 0.7},
       {"decode_oaken_rate", kRows, kRate, part("Oaken", Part::kRead), {}, 10.0, 1.0, 0.7},
       {"decode_f16_rate", kRows, kRate, part("F16", Part::kRead), {}, 10.0, 0, 0}});
}

}  // namespace report
