// NoSplit: every element goes to the dense codes.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct NoSplit {
  static constexpr auto kId = Text("split=none");
  static constexpr std::uint32_t kMaxOutliers = 0;
  static constexpr std::uint32_t kProfileSize = 0;
  static NoSplit bind(const float*) { return {}; }
  static bool valid(const float*) { return true; }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
