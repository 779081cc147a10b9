// side_text: the name of a side-data type in an identity.
#pragma once

#include <type_traits>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/log_scale.h"
#include "kvpleat/core/minifloat.h"

namespace kvpleat::inline KVPLEAT_ISA {

// What steps, offsets and ranges may be stored as: signed, with a zero, rounded up and down.
template <class Side>
inline constexpr bool kIsSignedSide =
    std::is_same_v<Side, Half> || std::is_same_v<Side, BFloat16> || std::is_same_v<Side, float>;

template <class Side>
inline constexpr auto kSideText = [] {
  static_assert(kIsSignedSide<Side>, "kvpleat: this type of side data has no name in an identity");
  return Text("f32");
}();
template <>
inline constexpr auto kSideText<Half> = Text("f16");
template <>
inline constexpr auto kSideText<BFloat16> = Text("bf16");
template <>
inline constexpr auto kSideText<LogScale8> = Text("log8");
template <>
inline constexpr auto kSideText<E8m0> = Text("e8m0");
template <>
inline constexpr auto kSideText<Fp8E4m3> = Text("e4m3");

template <Axis kAxis>
inline constexpr auto kAxisText = Text("channels");
template <>
inline constexpr auto kAxisText<Axis::kTokens> = Text("tokens");

}  // namespace kvpleat::inline KVPLEAT_ISA
