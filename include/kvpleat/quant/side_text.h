// side_text: the name of a side-data type in an identity.
#pragma once

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"

namespace kvpleat::inline KVPLEAT_ISA {

template <class Side>
inline constexpr auto kSideText = Text("f32");
template <>
inline constexpr auto kSideText<Half> = Text("f16");
template <>
inline constexpr auto kSideText<BFloat16> = Text("bf16");

template <Axis kAxis>
inline constexpr auto kAxisText = Text("channels");
template <>
inline constexpr auto kAxisText<Axis::kTokens> = Text("tokens");

}  // namespace kvpleat::inline KVPLEAT_ISA
