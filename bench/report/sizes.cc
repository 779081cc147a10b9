// Bytes and errors.
#include <cmath>

#include "bench/report/tables.h"

namespace report {

void run_sizes(Report& report, Subjects& subjects) {
  using bench::Law;
  using bench::Step;
  using kvpleat::abi::Arithmetic;
  constexpr const char* kSection = "bytes and errors";
  const bool quick = report.options.quick;
  std::string why;

  const auto get = [&](const char* check, const char* variant) -> const bench::Subject* {
    const bench::Subject* subject = subjects.get(variant, Where::kL3, quick, why);
    if (subject == nullptr) report.fail(check, why);
    return subject;
  };
  Row row;
  row.section = kSection;
  row.working_set = "L3";
  row.target_simd = bench::target_of(bench::kBestSet);

  // Oaken's bits at 8 heads of 128 channels, everything counted but the ends of pages.
  const auto bits = [&](const char* check, const char* variant, double allowed) {
    if (!report.wants(check)) return;
    const bench::Subject* subject = get(check, variant);
    if (subject == nullptr) return;
    row.check = check;
    row.measured = subject->bits;
    row.unit = "bits";
    row.ratio = allowed / subject->bits;
    row.target = 1.0;
    row.minimum = 1.0;
    report.add(row);
  };
  bits("oaken10_published_bits", "Oaken", 5.03 + 0.02);
  bits("oaken10_jds16_bits", "OakenJds16", 5.83 + 0.02);
  bits("oaken4_jds16_bits", "Oaken2_96_2", 4.87 + 0.02);

  // Relative error of the attention output: integer arithmetic against floats on the same bytes.
  //   allowed: codebooks of 8 bits cost .010 (at most .015), queries and weights of 8 bits .0081;
  //   both together in quadrature.
  const auto arithmetic = [&](const char* check, const char* variant, double allowed, double most) {
    if (!report.wants(check)) return;
    const bench::Subject* subject = get(check, variant);
    if (subject == nullptr) return;
    Step fast;
    fast.queries = 4;
    Step exact = fast;
    exact.arithmetic = Arithmetic::kExact;
    exact.set = bench::KernelSet::kReference;
    row.check = check;
    row.measured = bench::error_between(*subject, fast, exact);
    row.unit = "error";
    if (!(row.measured > 0.0)) return;  // the reference kernels themselves: nothing was compared
    row.ratio = allowed / row.measured;
    row.target = most > 0.0 ? 1.0 : 0.0;
    row.minimum = most > 0.0 ? allowed / most : 0.0;
    report.add(row);
  };
  arithmetic("rotated4_arithmetic_error", "TurboQuant4", std::hypot(0.010, 0.0081),
             std::hypot(0.015, 0.0081));
  arithmetic("int4_arithmetic_error", "Int4G64", 0.0135 * 1.5, 0.03);
  arithmetic("oaken10_arithmetic_error", "OakenJds16", 0.014 * 1.5, 0.03);

  // Against the original rows, at equal bits.
  if (const char* check = "oaken4_vs_slots4_error"; report.wants(check)) {
    const bench::Subject* oaken = get(check, "Oaken2_96_2");
    const bench::Subject* slots = get(check, "Int4Slots4");
    if (oaken != nullptr && slots != nullptr) {
      Step step;
      step.queries = 4;
      row.check = check;
      row.measured = bench::error_to_original(*oaken, Law::kHeavy, step);
      row.ratio = bench::error_to_original(*slots, Law::kHeavy, step) / row.measured;
      row.unit = "error";
      row.target = 0.0;
      row.minimum = 0.0;
      report.add(row);
    }
  }
}

}  // namespace report
