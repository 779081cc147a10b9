// TileShape: what a kernel must know to work on a format's tiles without its type.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/role.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct TileShape {
  Role role = Role::kKey;
  std::uint32_t bits = 0;
  std::uint32_t group_channels = 0;  // channels per group; 1: groups run along tokens
  std::uint32_t seal = 1;
  std::uint32_t fields = 0;  // side values per group: step, or step and low
  std::uint32_t slots = 0;   // inline outliers per token
};

}  // namespace kvpleat::inline KVPLEAT_ISA
