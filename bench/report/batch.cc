// Many sequences, each in a cache of its own, through attend_batch.
#include <memory>
#include <vector>

#include "bench/report/tables.h"

namespace report {
namespace {

using bench::Place;
using bench::Step;
using bench::Subject;
using bench::Timed;

// Caches of one format. Ragged lengths are 1/4 to 7/4 of the equal one, the same in all.
struct Batch {
  std::vector<std::unique_ptr<Subject>> own;
  std::vector<const Subject*> all;

  bool make(const char* variant, std::uint32_t count, std::uint32_t tokens, bool ragged,
            std::string& why) {
    const bench::Variant* found = bench::find_variant(variant, 128);
    if (found == nullptr) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t step = i % 7;
      const std::uint32_t length = ragged ? tokens / 4 * (1 + step) : tokens;
      own.push_back(found->make(variant, found->law, Place{1, 8, length, 0}, why));
      if (own.back() == nullptr) return false;
      all.push_back(own.back().get());
    }
    return true;
  }
};

}  // namespace

void run_batch(Report& report) {
  const bool quick = report.options.quick;
  const std::uint32_t tokens = quick ? 64 : 1024;
  for (const bool ragged : {false, true}) {
    for (const std::uint32_t count : {1u, 4u, 16u, 64u}) {
      if (quick && count > 4) continue;
      if (ragged && count == 1) continue;
      const std::string name =
          std::string("batch") + std::to_string(count) + (ragged ? "_ragged" : "_equal") + "_q4";
      if (!report.wants(name)) continue;
      std::string why;
      Batch packed;
      Batch half;
      if (!packed.make("Int4G64", count, tokens, ragged, why) ||
          !half.make("F16", count, tokens, ragged, why)) {
        report.fail(name, why);
        continue;
      }
      Step step;
      step.queries = 4;
      Timed one{[&] { packed.all[0]->attend_batch(packed.all, step); }, {}};
      Timed other{[&] { half.all[0]->attend_batch(half.all, step); }, {}};
      bench::Rounds rounds;
      rounds.count = quick ? 1 : report.options.rounds;
      rounds.sample_ns = quick ? 0.0 : 5e6;
      bench::interleave({&one, &other}, rounds);
      const bench::Ratio ratio = bench::ratio(other, one);
      Row row;
      row.section =
          "sequences of 1024 tokens in a batch: int4 against F16 (8 KV heads, 4 queries each)";
      row.check = name;
      row.ratio = ratio.value;
      row.low = ratio.low;
      row.high = ratio.high;
      row.measured = 1e9 * count / one.time();  // every sequence decodes a token
      row.unit = "tok/s";
      row.working_set = "batch";
      row.target_simd = bench::target_of(step.set);
      report.add(row);
    }
  }
}

}  // namespace report
