// Subject: an Oaken cache filled from a recording, whatever its head_dim.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compare/recording.h"
#include "kvpleat/cache/memory_report.h"
#include "kvpleat/calibrate/checks.h"
#include "kvpleat/calibrate/dead_heads.h"
#include "kvpleat/calibrate/drift.h"
#include "kvpleat/core/status.h"
#include "profiler/profile.h"

namespace profiler {

struct Setup {
  std::uint64_t max_tokens = 0;   // 0: those of the recording
  std::uint64_t spill_bytes = 0;  // 0: no limit
};

// CPU nanoseconds per cached token and KV head of one decode step, medians. fetch reads every
// stored byte; decode turns them into rows; consume is dot products, softmax and weighted sum over
// rows that are there. attend does all of it, in pieces that stay in the cache of the CPU.
struct Times {
  double fetch = 0.0;
  double decode = 0.0;
  double consume = 0.0;
  double attend = 0.0;
};

// The sparse table: how many outliers the chunks of 64 elements have, and what they take.
struct Tables {
  std::uint64_t rows = 0;     // chunks, one row each in both tables
  std::uint64_t entries = 0;  // of one byte
  std::uint32_t fewest = 64;  // in a chunk
  std::uint32_t most = 0;
  std::uint64_t dense_bytes = 0;
  std::uint64_t page_bytes = 0;  // of the store: what memory is taken in
};

class Subject {
 public:
  virtual ~Subject() = default;

  // An empty cache for a recording. Null: `error` says what is wrong.
  static std::unique_ptr<Subject> create(const Recording& recording, const Profile& profile,
                                         const Setup& setup, std::string& error);

  // Tokens [first, first + n) of the recording to a layer; indices wrap around.
  virtual kvpleat::Status append(std::uint32_t layer, std::uint32_t first, std::uint32_t n) = 0;
  virtual std::uint32_t tokens(std::uint32_t layer) const = 0;
  virtual const kvpleat::CacheShape& shape() const = 0;
  virtual kvpleat::MemoryReport memory() const = 0;
  virtual void observe(kvpleat::DriftMonitor& monitor) const = 0;
  virtual kvpleat::AlignmentReport check_alignment(kvpleat::Findings& findings) const = 0;
  // rows queries of each head of the group, [rows, group, dim], row r sees limits[r].
  virtual kvpleat::Status attend(std::uint32_t layer, std::uint32_t head, const float* queries,
                                 std::uint32_t rows, const kvpleat::IndexRange* limits,
                                 float* out) const = 0;
  // Decoded rows of tokens [first, first + n); values may be null.
  virtual kvpleat::Status read(std::uint32_t layer, std::uint32_t head, std::uint32_t first,
                               std::uint32_t n, float* keys, float* values) const = 0;
  virtual kvpleat::Status inspect(std::uint32_t layer, std::uint32_t head,
                                  const kvpleat::HeadQueries& asked,
                                  kvpleat::HeadHealth& health) const = 0;
  virtual Tables tables() const = 0;
  virtual Times times() const = 0;
};

}  // namespace profiler
