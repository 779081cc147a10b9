// Path: how an attention call worked on a format's bytes.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class Path : std::uint8_t {
  kNone,    // no token of this format took part
  kFused,   // vector kernel on the stored bytes; in Arithmetic::kExact it decodes them, in L1
  kDecode,  // rows decoded, or score offsets added, by the format's own code; then vector kernels
  kReference,  // plain C++: rows decoded one by one
};

constexpr const char* to_string(Path path) noexcept {
  switch (path) {
    case Path::kNone:
      return "none";
    case Path::kFused:
      return "fused";
    case Path::kDecode:
      return "decode";
    case Path::kReference:
      return "reference";
  }
  return "unknown";
}

}  // namespace kvpleat::inline KVPLEAT_ISA
