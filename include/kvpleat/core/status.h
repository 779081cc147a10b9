// Status: the outcome of an operation. Error: a status and the name of what is at fault.
#pragma once

#include <cstdint>
#include <string_view>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class [[nodiscard]] Status : std::uint8_t{
    kOk,           // done
    kInvalid,      // an argument makes no sense (null data, a layer or head that does not exist, a
                   // shape of zero)
    kCapacity,     // more tokens than max_tokens
    kNoMemory,     // the memory source gave nothing
    kOutOfSpill,   // the outliers do not fit spill_bytes
    kRange,        // a value does not fit the stored type, or an index lies outside the cache
    kNonFinite,    // NaN or infinity in the input under NonFinite::kRefuse
    kMismatch,     // two things that must be equal differ (shapes, element types, tags of a shared
                   // map, identities)
    kUnsupported,  // this composition cannot do it
    kNeedsReprofile,  // calibrated data was made for another model or another set of adapters
};

[[nodiscard]] constexpr bool ok(Status status) noexcept {
  return status == Status::kOk;
}

constexpr const char* to_string(Status status) noexcept {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kInvalid:
      return "invalid argument";
    case Status::kCapacity:
      return "capacity exceeded";
    case Status::kNoMemory:
      return "no memory";
    case Status::kOutOfSpill:
      return "out of spill";
    case Status::kRange:
      return "out of range";
    case Status::kNonFinite:
      return "non-finite value";
    case Status::kMismatch:
      return "mismatch";
    case Status::kUnsupported:
      return "unsupported";
    case Status::kNeedsReprofile:
      return "needs_reprofile";
  }
  return "unknown";
}

// A failed factory call: what went wrong and which field was at fault, for example {kInvalid,
// "kv_heads"}.
struct [[nodiscard]] Error {
  Status status = Status::kOk;
  char field[56] = {};

  constexpr Error() = default;
  constexpr Error(Status s, std::string_view name) noexcept : status(s) {
    for (std::size_t i = 0; i < name.size() && i + 1 < sizeof field; ++i) field[i] = name[i];
  }
  [[nodiscard]] constexpr std::string_view name() const noexcept { return field; }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
