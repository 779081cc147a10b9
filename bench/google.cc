#include "bench/google.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/read_kernel.h"
#include "bench/samples.h"
#include "bench/subject.h"

namespace bench {
namespace {

enum class Part { kAttend, kScore, kAccumulate, kAppend, kRead };

struct Case {
  Part part;
  const Variant* variant;
  std::uint32_t queries;
  std::uint32_t context;
  bool cold;
};

SubjectStore& store() {
  // One cold set at a time: filters pick what is run.
  static SubjectStore all(std::size_t{1} << 30);
  return all;
}

double cold_bytes() {
  const Machine& machine = this_machine();
  const double l3 =
      static_cast<double>(machine.l3_bytes == 0 ? 8 * machine.l2_bytes : machine.l3_bytes);
  return std::min(16.0 * l3, 1073741824.0);
}

Place place_of(const Case& one, std::string& why) {
  Place place{1, 1, one.context, 0};
  if (!one.cold) return place;
  const Subject* probe = store().get(one.variant->name, one.variant->dim, place, why);
  if (probe == nullptr) return place;
  // Formats that share parameters over the heads of a layer have eight of them to share.
  place.heads = one.context > 32768 ? 1 : 8;
  place.layers =
      static_cast<std::uint32_t>(std::ceil(cold_bytes() / (probe->bytes() * place.heads)));
  return place;
}

volatile std::uint64_t digest = 0;

// Nanoseconds to read what lies in the arena.
double read_ns(const Subject& subject, bool prefetch) {
  std::vector<double> samples;
  for (int i = 0; i < 5; ++i) {
    const double start = thread_ns();
    int repeats = 0;
    do {
      for (const auto& [bytes, n] : subject.arena.ranges())
        digest = digest ^ (prefetch ? read_prefetched(bytes, n) : read_plain(bytes, n));
      ++repeats;
    } while (thread_ns() - start < 1e6);
    samples.push_back((thread_ns() - start) / repeats);
  }
  return median(samples);
}

const char* level_of(double bytes) {
  const Machine& machine = this_machine();
  if (bytes < 0.75 * static_cast<double>(machine.l2_bytes)) return "L2";
  if (bytes < 0.75 * static_cast<double>(machine.l3_bytes)) return "L3";
  return "DRAM";
}

void run_case(benchmark::State& state, const Case& one) {
  std::string why;
  const Place place = place_of(one, why);
  Subject* subject = store().get(one.variant->name, one.variant->dim, place, why);
  if (subject == nullptr) {
    state.SkipWithError(why.c_str());
    return;
  }
  Step step;
  step.queries = one.queries;
  Step reference = step;
  reference.set = KernelSet::kReference;
  kvpleat::AttendReport paths;
  std::vector<float> out(std::size_t{step.queries} * subject->dim);
  // A few percent is what 8-bit queries and 7-bit weights cost; a wrong kernel is off by its whole
  // output.
  const double lost = error_between(*subject, step, reference);
  if (!subject->attend(0, 0, step, out.data(), &paths) || !(lost < 0.06)) {
    state.SkipWithError("the output is wrong");
    return;
  }
  const double error = error_to_original(*subject, one.variant->law, step);
  const double start = thread_ns();
  for (auto _ : state) {
    switch (one.part) {
      case Part::kAttend:
        subject->attend_all(step);
        break;
      case Part::kScore:
        subject->score_all(step, false);
        break;
      case Part::kAccumulate:
        subject->accumulate_all(step, false);
        break;
      case Part::kAppend:
        subject->refill();
        break;
      case Part::kRead:
        subject->read_all();
        break;
    }
    benchmark::ClobberMemory();
  }
  const double tokens = place.head_tokens();
  const double rows = 2.0 * 4.0 * subject->dim * tokens;  // fp32
  const double bytes = one.part == Part::kScore        ? subject->key_bytes * tokens
                       : one.part == Part::kAccumulate ? subject->value_bytes * tokens
                       : one.part == Part::kAttend     ? subject->bytes()
                                                       : rows;
  // Of one iteration, CPU time of this thread; what the loop itself adds is nothing to a pass.
  const double ns = (thread_ns() - start) / static_cast<double>(state.iterations());
  state.counters["bits"] = subject->bits;
  state.counters["ns/token"] = ns / tokens;
  state.counters["GB/s"] = bytes / ns;
  if (one.part != Part::kAppend && one.part != Part::kRead) {
    const double share = bytes / arena_bytes(*subject) / ns;
    state.counters["read share"] = read_ns(*subject, false) * share;
    state.counters["prefetched share"] = read_ns(*subject, true) * share;
  }
  state.counters["error"] = error;
  state.counters["kernel error"] = lost;
  const std::string path =
      one.part == Part::kAccumulate ? to_string(paths.value[0]) : to_string(paths.key[0]);
  state.SetLabel(std::string(level_of(one.cold ? 1e18 : subject->bytes())) + " " + paths.target +
                 " " + path + " " + compiler_text());
}

struct BatchCase {
  const Variant* variant;
  std::uint32_t queries;
  std::uint32_t sequences;
  bool ragged;
};

void run_batch_case(benchmark::State& state, const BatchCase& one) {
  constexpr std::uint32_t kTokens = 1024;
  std::vector<std::unique_ptr<Subject>> own;
  std::vector<const Subject*> all;
  std::string why;
  double tokens = 0.0;
  for (std::uint32_t i = 0; i < one.sequences; ++i) {
    // Ragged: 1/4 to 7/4 of the equal length.
    const std::uint32_t length = one.ragged ? kTokens / 4 * (1 + i % 7) : kTokens;
    own.push_back(one.variant->make(one.variant->name.c_str(), one.variant->law,
                                    Place{1, 8, length, 0}, why));
    if (own.back() == nullptr) {
      state.SkipWithError(why.c_str());
      return;
    }
    all.push_back(own.back().get());
    tokens += own.back()->place.head_tokens();
  }
  Step step;
  step.queries = one.queries;
  const double start = thread_ns();
  for (auto _ : state) {
    all[0]->attend_batch(all, step);
    benchmark::ClobberMemory();
  }
  const double ns = (thread_ns() - start) / static_cast<double>(state.iterations());
  state.counters["bits"] = own[0]->bits;
  state.counters["tokens/s"] = 1e9 * one.sequences / ns;  // every sequence decodes one
  state.counters["ns/token"] = ns / tokens;
  state.SetLabel(target_of(step.set) + " " + compiler_text());
}

void add(const Case& one) {
  static constexpr const char* kParts[] = {"attend", "score", "accumulate", "append", "read"};
  const std::string name = std::string(kParts[static_cast<int>(one.part)]) + "/" +
                           one.variant->name + "/d" + std::to_string(one.variant->dim) + "/q" +
                           std::to_string(one.queries) + "/n" + std::to_string(one.context) +
                           (one.cold ? "/cold" : "/hot");
  benchmark::RegisterBenchmark(name.c_str(), [one](benchmark::State& state) {
    run_case(state, one);
  })->Unit(benchmark::kMicrosecond);
}

int run(int argc, char** argv) {
  const Machine& machine = this_machine();
  pin_thread(current_cpu());
  benchmark::AddCustomContext("cpu", machine.cpu);
  benchmark::AddCustomContext("cpu flags", machine.flags);
  benchmark::AddCustomContext("compiler", compiler_text());
  benchmark::AddCustomContext("target", target_of(kBestSet));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

constexpr std::uint32_t kContexts[] = {1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};

}  // namespace

int run_codec_bench(int argc, char** argv) {
  for (const Variant& variant : variants()) {
    for (const bool cold : {false, true}) {
      for (const std::uint32_t context : kContexts) {
        for (const std::uint32_t queries : {1u, 4u, 8u}) {
          add({Part::kScore, &variant, queries, context, cold});
          add({Part::kAccumulate, &variant, queries, context, cold});
        }
        if (cold || context > 4096) continue;
        add({Part::kAppend, &variant, 1, context, cold});
        add({Part::kRead, &variant, 1, context, cold});
      }
    }
  }
  return run(argc, argv);
}

int run_attend_bench(int argc, char** argv) {
  for (const Variant& variant : variants()) {
    for (const bool cold : {false, true}) {
      for (const std::uint32_t context : kContexts) {
        for (const std::uint32_t queries : {1u, 4u, 8u})
          add({Part::kAttend, &variant, queries, context, cold});
      }
    }
    for (const bool ragged : {false, true}) {
      for (const std::uint32_t sequences : {1u, 4u, 16u, 64u}) {
        for (const std::uint32_t queries : {1u, 4u}) {
          const BatchCase one{&variant, queries, sequences, ragged};
          const std::string name = "batch/" + variant.name + "/d" + std::to_string(variant.dim) +
                                   "/q" + std::to_string(queries) + "/b" +
                                   std::to_string(sequences) + (ragged ? "/ragged" : "/equal");
          benchmark::RegisterBenchmark(name.c_str(), [one](benchmark::State& state) {
            run_batch_case(state, one);
          })->Unit(benchmark::kMicrosecond);
        }
      }
    }
  }
  return run(argc, argv);
}

}  // namespace bench
