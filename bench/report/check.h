// Check: two pieces of work on the same working set, and how one must compare to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/report/row.h"
#include "bench/samples.h"
#include "bench/subject.h"

namespace report {

// Where the bytes come from.
//   kWarm:  one head of 4096 tokens: what is compressed fits L2, fp16 does not
//   kL3:    8 heads of 4096 tokens; fp16 fits half of an L3 of 32 MiB, nothing fits L2
//   kDram:  layers of 8 heads of 4096 tokens, 16 times the L3 in all or 1 GiB
//   kRows:  8 heads of 512 tokens: the fp32 rows of an append, 4 MiB, come from L3
enum class Where { kWarm, kL3, kDram, kRows };
const char* to_string(Where where);
// For a format of so many bytes per token and KV head.
bench::Place place_of(Where where, double bytes_per_token, bool quick);

enum class Part {
  kAttend,
  kScore,         // K.q alone
  kAccumulate,    // p.V alone
  kDecodedScore,  // the same on rows that the format's own decoder has restored
  kDecodedAccumulate,
  kRead,  // keys and values to floats
  kAppend,
  kMemory,  // the bytes, and nothing done with them
  kMemoryPrefetched
};

// A piece of work: every head of a subject once.
struct Work {
  std::string variant;
  Part part = Part::kAttend;
  bench::Step step;
};

enum class Kind {
  kTimes,    // ratio: time of `against` / time of `work`; measured: ns per token and KV head
  kShare,    // ratio: time to read the same bytes / time of `work`; measured: GB/s
  kAllowed,  // ratio: allowed / used; measured: ns per token and KV head
  kRate,     // ratio: GB/s of fp32 rows / wanted; measured: GB/s
};

struct Check {
  const char* name;
  Where where;
  Kind kind;
  Work work;
  Work against;        // kTimes
  double allowed = 0;  // kAllowed: ns; kRate: GB/s
  double target = 0;
  double minimum = 0;
};

// The work as a function. The subject must outlive it.
std::function<void()> runner(bench::Subject* subject, const Work& work);
// Subjects of head_dim 128 by working set.
class Subjects {
 public:
  explicit Subjects(std::size_t most_bytes) : store_(most_bytes) {}
  // Null: it could not be made, and `why` says so.
  bench::Subject* get(const std::string& variant, Where where, bool quick, std::string& why);
  bench::Subject* get(const std::string& variant, const bench::Place& place, std::string& why) {
    return store_.get(variant, 128, place, why);
  }

 private:
  bench::SubjectStore store_;
};

// Runs checks that are wanted, those of one working set and one pair of formats together.
void run_checks(Report& report, Subjects& subjects, const char* section,
                const std::vector<Check>& checks);

}  // namespace report
