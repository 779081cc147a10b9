// report: every number that this library promises for a CPU, as a ratio within one run.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bench/machine.h"
#include "bench/report/tables.h"
#include "bench/variants.h"

namespace {

constexpr const char* kUsage =
    "usage: report [--json] [--quick] [--list] [--rounds N] [PART_OF_A_NAME ...]\n"
    "Ratios are oriented so that larger is better. Exit code 1 if one is below its minimum.\n"
    "  --json    one object per line\n"
    "  --quick   tiny sizes, numbers mean nothing: does everything run, and is it right?\n"
    "  --list    names of the checks\n"
    "  --rounds  samples of each piece of work (9)\n";

// What is promised holds for AVX-512 with VNNI and VBMI, by whatever name of it.
bool judged(const std::string& target) {
  return target.find("avx512vnni") != std::string::npos ||
         target.find("AVX3_DL") != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  report::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--quick") {
      options.quick = true;
    } else if (argument == "--list") {
      options.list = true;
    } else if (argument == "--rounds" && i + 1 < argc) {
      options.rounds = std::atoi(argv[++i]);
      if (options.rounds < 1) options.rounds = 1;
    } else if (argument.rfind("--", 0) == 0) {
      std::fputs(kUsage, argument == "--help" ? stdout : stderr);
      return argument == "--help" ? 0 : 2;
    } else {
      options.wanted.push_back(argument);
    }
  }
  const bench::Machine& machine = bench::this_machine();
  const std::string target = bench::target_of(bench::kBestSet);
  if (!options.quick && !options.list && !judged(target)) {
    std::fprintf(
        options.json ? stderr : stdout,
        "report: skipped: kernels run as %s here; what is promised holds for AVX-512 with VNNI and "
        "VBMI (AVX3_DL)\n",
        target.c_str());
    return 0;
  }
  bench::pin_thread(bench::current_cpu());
  if (!options.json && !options.list) {
    std::printf("%s: L2 %zu KiB, L3 %zu KiB, %u CPUs; %s\n%s; target %s; %s\n", machine.cpu.c_str(),
                machine.l2_bytes >> 10, machine.l3_bytes >> 10, machine.cpus, machine.flags.c_str(),
                bench::compiler_text().c_str(), target.c_str(), bench::today().c_str());
  }
  bench::add_plain_variants();
  bench::add_rotated_variants();
  bench::add_oaken_variants();

  report::Report report(options);
  const std::size_t free = bench::free_memory();
  report::Subjects subjects(free == 0 ? std::size_t{4} << 30 : free / 2);
  report::run_tables(report, subjects);
  report::run_sizes(report, subjects);
  report::run_streaming(report, subjects);
  report::run_threads(report, subjects);
  report::run_batch(report);
  report::run_targets(report, subjects);

  if (options.list) return 0;
  if (!options.json) {
    std::printf("\n%d rows, %d below their minimum, %d could not be measured\n", report.shown(),
                report.missed(), report.broken());
  }
  return report.missed() > 0 || report.broken() > 0 ? 1 : 0;
}
