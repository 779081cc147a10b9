#include "bench/report/check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "bench/machine.h"
#include "bench/read_kernel.h"

namespace report {
namespace {

using bench::arena_bytes;
using bench::Place;
using bench::Subject;
using bench::Timed;

// Integer arithmetic (8-bit queries, 7-bit weights) is within about 2 % of the reference on the
// same bytes at logits of standard deviation 1 (docs/measuring.md, "Before timing"); a wrong kernel
// is off by its whole output.
constexpr double kMostError = 0.06;

volatile std::uint64_t digest = 0;

std::string key_of(const Work& work) {
  return work.variant + "/" + std::to_string(static_cast<int>(work.part)) + "/" +
         std::to_string(work.step.queries) + "/" + std::to_string(static_cast<int>(work.step.set)) +
         "/" + std::to_string(static_cast<int>(work.step.arithmetic)) + "/" +
         std::to_string(work.step.sharpness) + "/" + std::to_string(work.step.statistics) + "/" +
         work.step.simd;
}

// What is timed must be right: attention through the same kernels, at mild logits. (Peaky ones
// decide between a few tokens: 8-bit queries may decide otherwise.) Reading must give the rows of
// the reference, which is attention by exact arithmetic.
bool valid(Report& report, const Subject& subject, const Check& check, const Work& work) {
  if (work.part == Part::kMemory || work.part == Part::kMemoryPrefetched) return true;
  bench::Step own = work.step;
  own.sharpness = std::min(own.sharpness, 1.0f);
  bench::Step reference = own;
  reference.set = bench::KernelSet::kReference;
  reference.statistics = false;
  const double most = own.arithmetic == kvpleat::Arithmetic::kAccurate ? kMostError / 3.0
                      : own.arithmetic == kvpleat::Arithmetic::kExact  ? 1e-4
                                                                       : kMostError;
  const double error = bench::error_between(subject, own, reference);
  if (error >= 0.0 && error < most) return true;
  report.fail(check.name, work.variant + ": wrong output: relative error " + std::to_string(error));
  return false;
}

}  // namespace

std::function<void()> runner(Subject* subject, const Work& work) {
  const bench::Step step = work.step;
  switch (work.part) {
    case Part::kAttend:
      return [subject, step] { subject->failed = !subject->attend_all(step) || subject->failed; };
    case Part::kScore:
      return [subject, step] { subject->score_all(step, false); };
    case Part::kAccumulate:
      return [subject, step] { subject->accumulate_all(step, false); };
    case Part::kDecodedScore:
      return [subject, step] { subject->score_all(step, true); };
    case Part::kDecodedAccumulate:
      return [subject, step] { subject->accumulate_all(step, true); };
    case Part::kRead:
      return [subject] { subject->failed = !subject->read_all() || subject->failed; };
    case Part::kAppend:
      return [subject] { subject->failed = !subject->refill() || subject->failed; };
    case Part::kMemory:
      return [subject] {
        for (const auto& [bytes, n] : subject->arena.ranges())
          digest = digest ^ bench::read_plain(bytes, n);
      };
    case Part::kMemoryPrefetched:
      return [subject] {
        for (const auto& [bytes, n] : subject->arena.ranges())
          digest = digest ^ bench::read_prefetched(bytes, n);
      };
  }
  return [] {};
}

const char* to_string(Where where) {
  switch (where) {
    case Where::kWarm:
      return "L2";
    case Where::kL3:
    case Where::kRows:
      return "L3";
    case Where::kDram:
      return "DRAM";
  }
  return "";
}

Place place_of(Where where, double bytes_per_token, bool quick) {
  if (quick) {
    return where == Where::kWarm   ? Place{1, 1, 256, 0}
           : where != Where::kDram ? Place{1, 8, 128, 0}
                                   : Place{2, 8, 128, 0};
  }
  const bench::Machine& machine = bench::this_machine();
  if (where == Where::kWarm) return {1, 1, 4096, 0};
  if (where == Where::kL3) return {1, 8, 4096, 0};
  if (where == Where::kRows) return {1, 8, 512, 0};
  const double l3 =
      static_cast<double>(machine.l3_bytes == 0 ? machine.l2_bytes * 8 : machine.l3_bytes);
  const double wanted = std::min(16.0 * l3, 1073741824.0);
  const double layers = std::ceil(wanted / (bytes_per_token * 8 * 4096));
  return {static_cast<std::uint32_t>(layers), 8, 4096, 0};
}

Subject* Subjects::get(const std::string& variant, Where where, bool quick, std::string& why) {
  // How many layers fill memory depends on the format's size, which a small one tells.
  double bytes = 512.0;
  if (where == Where::kDram && !quick) {
    const Subject* probe = get(variant, place_of(Where::kL3, 0.0, false), why);
    if (probe == nullptr) return nullptr;
    bytes = probe->key_bytes + probe->value_bytes;
  }
  return get(variant, place_of(where, bytes, quick), why);
}

void run_checks(Report& report, Subjects& subjects, const char* section,
                const std::vector<Check>& checks) {
  // Checks of the same place and formats share their samples.
  using Group = std::pair<Where, std::set<std::string>>;
  std::vector<std::pair<Group, std::vector<const Check*>>> groups;
  for (const Check& check : checks) {
    if (!report.wants(check.name)) continue;
    Group group{check.where, {check.work.variant}};
    if (check.kind == Kind::kTimes) group.second.insert(check.against.variant);
    auto at = std::find_if(groups.begin(), groups.end(),
                           [&](const auto& other) { return other.first == group; });
    if (at == groups.end()) at = groups.insert(groups.end(), {group, {}});
    at->second.push_back(&check);
  }
  for (const auto& [group, members] : groups) {
    const Where where = group.first;
    std::map<std::string, Subject*> own;
    std::string why;
    bool good = true;
    for (const std::string& variant : group.second) {
      own[variant] = subjects.get(variant, where, report.options.quick, why);
      good = good && own[variant] != nullptr;
    }
    if (!good) {
      for (const Check* check : members) report.fail(check->name, why);
      continue;
    }
    std::map<std::string, Timed> timed;
    const auto enlist = [&](const Work& work) -> std::string {
      const std::string key = key_of(work);
      if (timed.find(key) == timed.end()) timed[key].run = runner(own[work.variant], work);
      return key;
    };
    std::vector<const Check*> running;
    for (const Check* check : members) {
      if (!valid(report, *own[check->work.variant], *check, check->work)) continue;
      if (check->kind == Kind::kTimes &&
          !valid(report, *own[check->against.variant], *check, check->against))
        continue;
      running.push_back(check);
      enlist(check->work);
      if (check->kind == Kind::kTimes) enlist(check->against);
      if (check->kind == Kind::kShare) enlist({check->work.variant, Part::kMemory, {}});
    }
    std::vector<Timed*> kernels;
    for (auto& [key, one] : timed) kernels.push_back(&one);
    bench::Rounds rounds;
    rounds.count = report.options.quick ? 1 : report.options.rounds;
    rounds.sample_ns = report.options.quick ? 0.0 : where == Where::kWarm ? 2e6 : 5e6;
    rounds.warm = where != Where::kDram;
    if (!kernels.empty()) bench::interleave(kernels, rounds);

    for (const Check* check : running) {
      const Subject& subject = *own[check->work.variant];
      if (subject.failed || (check->kind == Kind::kTimes && own[check->against.variant]->failed)) {
        report.fail(check->name, "a call failed while it was timed");
        continue;
      }
      const Timed& work = timed[key_of(check->work)];
      const double tokens = subject.place.head_tokens();
      Row row;
      row.section = section;
      row.check = check->name;
      row.target = check->target;
      row.minimum = check->minimum;
      row.working_set = to_string(where);
      row.target_simd = bench::target_of(check->work.step.set, check->work.step.simd);
      bench::Ratio ratio;
      if (check->kind == Kind::kTimes) {
        const double others = own[check->against.variant]->place.head_tokens();
        ratio = bench::scaled(bench::ratio(timed[key_of(check->against)], work), tokens / others);
        row.measured = work.time() / tokens;
        row.unit = "ns/token";
      } else if (check->kind == Kind::kShare) {
        const Timed& memory = timed[key_of({check->work.variant, Part::kMemory, {}})];
        const double bytes = subject.bytes();
        ratio = bench::scaled(bench::ratio(memory, work), bytes / arena_bytes(subject));
        row.measured = bytes / work.time();
        row.unit = "GB/s";
      } else if (check->kind == Kind::kAllowed) {
        ratio.value = check->allowed * tokens / work.time();
        row.measured = work.time() / tokens;
        row.unit = "ns/token";
      } else {
        const double rows = 2.0 * 4.0 * subject.dim * tokens;  // keys and values, fp32
        row.measured = rows / work.time();
        ratio.value = row.measured / check->allowed;
        row.unit = "GB/s";
      }
      row.ratio = ratio.value;
      row.low = ratio.low;
      row.high = ratio.high;
      report.add(row);
    }
  }
}

}  // namespace report
