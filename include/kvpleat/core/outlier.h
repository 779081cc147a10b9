// Outlier: one element kept apart from the dense codes.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Bands of a threshold splitter. The middle band is the dense one.
enum class Band : std::uint8_t { kInner = 0, kOuter = 1, kMiddle = 2 };

// Where a value falls: its band, the side it lies on (low: below the lower threshold inward of the
// band, or negative in an inner band) and, where outer or inner bands are nested, which of them,
// counted from outside.
struct BandSide {
  Band band = Band::kMiddle;
  bool low = false;
  std::uint8_t nested = 0;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
