// Counters that encoding keeps; a cache has one set per layer and side. They never influence bytes.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct EncodeCounters {
  std::uint64_t values = 0;      // elements encoded into blocks
  std::uint64_t outliers = 0;    // elements kept apart (slots, spill, entries of a hash table)
  std::uint64_t outer = 0;       // of those: beyond the outer thresholds
  std::uint64_t inner = 0;       // of those: inside the inner thresholds
  std::uint64_t saturated = 0;   // elements beyond the range of a scale that a profile fixes
  std::uint64_t non_finite = 0;  // NaN and infinities replaced by zero
  std::uint64_t clipped = 0;     // elements moved to a limit: by a filter, or beyond the last scale
  std::uint64_t dropped = 0;     // elements that found no room in a full hash table
  std::uint64_t filters_off = 0;  // groups too uniform for a filter by the median deviation

  constexpr void add(const EncodeCounters& other) noexcept {
    values += other.values;
    outliers += other.outliers;
    outer += other.outer;
    inner += other.inner;
    saturated += other.saturated;
    non_finite += other.non_finite;
    clipped += other.clipped;
    dropped += other.dropped;
    filters_off += other.filters_off;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
