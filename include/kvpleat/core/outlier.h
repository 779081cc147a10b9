// Outlier: one element kept apart from the dense codes.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Bands of a threshold splitter. The middle band is the dense one.
enum class Band : std::uint8_t { kInner = 0, kOuter = 1, kMiddle = 2 };

// Where a value falls: its band and the side it lies on (low: below the band's lower edge, or
// negative in the inner band).
struct BandSide {
  Band band = Band::kMiddle;
  bool low = false;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
