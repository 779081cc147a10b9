// Subject: a filled cache of one format, ready to be timed. The type is behind it, so that checks
// can be written as tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bench/arena.h"
#include "bench/data.h"
#include "bench/kernel_sets.h"
#include "kvpleat/attention/attend.h"
#include "kvpleat/simd/abi.h"

namespace bench {

// How much a cache holds and how it was written.
struct Place {
  std::uint32_t layers = 1;
  std::uint32_t heads = 1;
  std::uint32_t tokens = 4096;
  // Tokens of one append: blocks of a head lie side by side within it, those of other heads between
  // two of them. 0: as many as there are distinct rows.
  std::uint32_t chunk = 0;

  [[nodiscard]] double head_tokens() const { return static_cast<double>(layers) * heads * tokens; }
  friend bool operator<(const Place& a, const Place& b) {
    return std::tie(a.layers, a.heads, a.tokens, a.chunk) <
           std::tie(b.layers, b.heads, b.tokens, b.chunk);
  }
};

// Rows are made for this many tokens and repeated from there on.
inline constexpr std::uint32_t kDistinctTokens = 4096;
inline std::uint32_t distinct_tokens(const Place& place) {
  return place.tokens < kDistinctTokens ? place.tokens : kDistinctTokens;
}

// One decode step.
struct Step {
  std::uint32_t queries = 1;  // of a KV head, at most kMostQueries
  KernelSet set = kBestSet;
  kvpleat::abi::Arithmetic arithmetic = kvpleat::abi::Arithmetic::kFast;
  float sharpness = 1.0f;  // logits of standard deviation about this
  bool statistics = false;
  const char* simd = "";  // of dispatched kernels: a target other than the best
};

class Subject {
 public:
  explicit Subject(const Place& where) : place(where) {}
  virtual ~Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const Place place;
  std::string name;
  std::uint32_t dim = 0;
  double bits = 0.0;         // per element: what the formats store; no tables, no slack
  double key_bytes = 0.0;    // per token and KV head
  double value_bytes = 0.0;  // the same
  Arena arena;               // what lies in it: blocks and little else

  [[nodiscard]] double bytes() const { return (key_bytes + value_bytes) * place.head_tokens(); }

  // One head. out: [queries, dim]. False: refused.
  virtual bool attend(std::uint32_t layer, std::uint32_t head, const Step& step, float* out,
                      kvpleat::AttendReport* report) const = 0;
  // Tokens [begin, end) of one head, not merged with others.
  virtual bool attend_part(std::uint32_t layer, std::uint32_t head, kvpleat::IndexRange range,
                           const Step& step) const = 0;
  // Every head of every layer: attend; K.q alone; p.V alone; keys and values decoded to floats.
  //   decoded: the format's own decoder first, then kernels on rows: what no kernel would cost.
  virtual bool attend_all(const Step& step) const = 0;
  virtual void score_all(const Step& step, bool decoded) const = 0;
  virtual void accumulate_all(const Step& step, bool decoded) const = 0;
  // Every head of many subjects of this type through attend_batch, in this thread.
  virtual bool attend_batch(const std::vector<const Subject*>& all, const Step& step) const = 0;
  virtual bool read_all() const = 0;
  // Decodes one head: keys and values [tokens, dim].
  virtual bool read(std::uint32_t layer, std::uint32_t head, float* keys, float* values) const = 0;
  // Empties the cache and appends everything again.
  virtual bool refill() = 0;

  bool failed = false;  // a timed call
};

// Makes subjects of one name. Null: refused, and `why` says so.
using Factory = std::unique_ptr<Subject> (*)(const char* name, Law law, const Place& place,
                                             std::string& why);

struct Variant {
  std::string name;
  std::uint32_t dim;
  Law law;
  Factory make;
};
// All variants, in the order of registration.
std::vector<Variant>& variants();
// Null: there is none of that name and head_dim.
const Variant* find_variant(const std::string& name, std::uint32_t dim);

// Subjects that stay alive over many measurements, until there are more than so many bytes of them:
// then those used longest ago go, but never the last four asked for.
class SubjectStore {
 public:
  explicit SubjectStore(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  // Null: it could not be made, and `why` says so.
  Subject* get(const std::string& variant, std::uint32_t dim, const Place& place, std::string& why);
  void clear() { all_.clear(); }

 private:
  struct Entry {
    std::string variant;
    Place place;
    std::unique_ptr<Subject> subject;
    std::uint64_t used = 0;
  };
  std::vector<Entry> all_;
  std::uint64_t clock_ = 0;
  std::size_t most_bytes_;
};

// What the arena of a subject handed out.
double arena_bytes(const Subject& subject);

// |a - b| / |b| over n values.
double relative_error(const float* a, const float* b, std::size_t n);
// Of the attention output of layer 0, head 0: against double precision on the original rows, and
// between two steps on the same bytes. Negative: attend refused.
double error_to_original(const Subject& subject, Law law, const Step& step);
double error_between(const Subject& subject, const Step& step, const Step& reference);

}  // namespace bench
