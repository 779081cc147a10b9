// Role: which side of attention a format serves. It decides the order of the bytes, not the values.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class Role : std::uint8_t {
  kKey,    // score side: tokens lie in the 32-bit lanes, four channels in a lane's bytes
  kValue,  // accumulate side: channels lie in the lanes, four tokens in the bytes
};

template <Role kRole>
inline constexpr auto kRoleText = Text("key");
template <>
inline constexpr auto kRoleText<Role::kValue> = Text("value");

}  // namespace kvpleat::inline KVPLEAT_ISA
