// NoCodes: no bits at all, every value is zero. What is in front of a stage that codes the rest
// (SignSketchCodec at one bit).
#pragma once

#include <cstdint>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct NoCodes {
  using Side = Half;
  static constexpr std::uint32_t kBits = 0;
  static constexpr std::uint32_t kGroup = kWholeHead;
  static constexpr Axis kAxis = Axis::kChannels;
  static constexpr bool kExactMerge = true;
  static constexpr float kLargest = kLargestFloat;
  static constexpr auto kId = Text("quant=none");

  struct Stat {};
  struct Scale {};

  KVPLEAT_HD constexpr void observe(float, Stat&) const {}
  KVPLEAT_HD static constexpr Stat merge(const Stat&, const Stat&) { return {}; }
  KVPLEAT_HD constexpr Scale scale(const Stat&) const { return {}; }
  KVPLEAT_HD constexpr std::uint32_t encode(float, const Scale&) const { return 0; }
  KVPLEAT_HD constexpr float decode(std::uint32_t, const Scale&) const { return 0.0f; }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
