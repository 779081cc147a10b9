// Counters that encoding keeps; a cache has one set per layer and side. They never influence bytes.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct EncodeCounters {
  std::uint64_t values = 0;      // elements encoded into blocks
  std::uint64_t outliers = 0;    // elements kept apart (slots or spill)
  std::uint64_t outer = 0;       // of those: beyond the outer thresholds
  std::uint64_t inner = 0;       // of those: inside the inner thresholds
  std::uint64_t non_finite = 0;  // NaN and infinities replaced by zero

  constexpr void add(const EncodeCounters& other) noexcept {
    values += other.values;
    outliers += other.outliers;
    outer += other.outer;
    inner += other.inner;
    non_finite += other.non_finite;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
