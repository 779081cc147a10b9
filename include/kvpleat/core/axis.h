// Axis: along what a quantization group runs.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class Axis : std::uint8_t {
  kChannels,  // a group is kGroup neighbouring channels of one token ("per token"); the last may be
              // short
  kTokens,    // a group is kGroup consecutive tokens of one channel ("per channel", KIVI's keys)
};

// Group size that means: all channels of the head vector.
inline constexpr std::uint32_t kWholeHead = 0;

}  // namespace kvpleat::inline KVPLEAT_ISA
