// Two threads against one: each takes half of the tokens of every head.
#include <algorithm>
#include <atomic>
#include <thread>

#include "bench/machine.h"
#include "bench/report/tables.h"

namespace report {
namespace {

using bench::Step;
using bench::Subject;

// Wall time of `threads` workers, each pinned, by clocks read inside them: the thread that starts
// them may sleep through all of it.
double run_once(const Subject& subject, const Step& step, unsigned threads) {
  std::atomic<unsigned> ready{0};
  std::vector<double> begin(threads);
  std::vector<double> end(threads);
  const auto work = [&](unsigned i) {
    bench::pin_thread(i);
    const std::uint32_t tokens = subject.place.tokens;
    const std::uint32_t first = tokens / threads * i;
    const kvpleat::IndexRange range{first, i + 1 == threads ? tokens : first + tokens / threads};
    const auto pass = [&] {
      for (std::uint32_t layer = 0; layer < subject.place.layers; ++layer) {
        for (std::uint32_t head = 0; head < subject.place.heads; ++head)
          subject.attend_part(layer, head, range, step);
      }
    };
    pass();  // its own part of the caches, and the clock speed
    ready.fetch_add(1);
    while (ready.load() < threads) {
    }
    begin[i] = bench::wall_ns();
    pass();
    end[i] = bench::wall_ns();
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work, i);
  for (std::thread& worker : workers) worker.join();
  return *std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end());
}

// Two CPUs that others leave alone, within five seconds.
bool wait_for_cpus() {
  for (int i = 0; i < 50; ++i) {
    if (bench::idle_cpus() >= 2) return true;
  }
  return false;
}

}  // namespace

void run_threads(Report& report, Subjects& subjects) {
  struct Case {
    const char* name;
    const char* variant;
    Where where;
    std::uint32_t queries;
  };
  const bool quick = report.options.quick;
  for (const Case& one : {Case{"two_threads_int4_q1_l3", "Int4G64", Where::kL3, 1},
                          Case{"two_threads_int4_q4_l3", "Int4G64", Where::kL3, 4},
                          Case{"two_threads_int4_q1_dram", "Int4G64", Where::kDram, 1},
                          Case{"two_threads_f16_q1_l3", "F16", Where::kL3, 1},
                          Case{"two_threads_f16_q1_dram", "F16", Where::kDram, 1}}) {
    if (!report.wants(one.name)) continue;
    if (bench::this_machine().cpus < 2) {
      report.skip(one.name, "one CPU");
      continue;
    }
    std::string why;
    const Subject* subject = subjects.get(one.variant, one.where, quick, why);
    if (subject == nullptr) {
      report.fail(one.name, why);
      continue;
    }
    Step step;
    step.queries = one.queries;
    bench::Timed single;
    bench::Timed both;
    bool idle = true;
    const int rounds = quick ? 1 : report.options.rounds;
    for (int round = 0; round < rounds && idle; ++round) {
      idle = quick || wait_for_cpus();
      single.ns.push_back(run_once(*subject, step, 1));
      both.ns.push_back(run_once(*subject, step, 2));
    }
    if (!idle) {
      report.skip(one.name, "fewer than two idle CPUs");
      continue;
    }
    const bench::Ratio ratio = bench::ratio(single, both);
    Row row;
    row.section = "two threads against one";
    row.check = one.name;
    row.ratio = ratio.value;
    row.low = ratio.low;
    row.high = ratio.high;
    row.target = 1.9;
    row.minimum = 1.6;
    row.measured = both.time() / subject->place.head_tokens();
    row.unit = "ns/token";
    row.working_set = to_string(one.where);
    row.target_simd = bench::target_of(step.set);
    report.add(row);
  }
}

}  // namespace report
