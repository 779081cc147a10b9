// CacheShape: what a cache is created with. Everything here is run time; what an unrolled loop
// depends on is in the type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/transform/rope.h"

namespace kvpleat::inline KVPLEAT_ISA {

// What happens to NaN and infinities in appended rows, checked for the whole call before anything
// is written.
enum class NonFinite : std::uint8_t {
  kRefuse,  // the call fails with kNonFinite and changes nothing
  kZero,    // they are stored as 0 and counted; their neighbours are stored as if they had been 0
};

struct CacheShape {
  std::uint32_t layers = 0;
  std::uint32_t kv_heads = 0;
  std::uint64_t max_tokens = 0;   // per layer, below 2^31
  std::uint32_t query_heads = 0;  // 0: not known; else a multiple of kv_heads
  std::uint32_t sinks = 0;        // first tokens, kept in the raw lane
  std::uint32_t residual = 0;     // last tokens, kept as they came (room for max_tokens at most)
  NonFinite non_finite = NonFinite::kRefuse;
  std::uint64_t spill_bytes =
      0;        // most bytes of sealed outliers per lane and side; 0: as many as there can be
  Rope rope{};  // needed by phase-centred keys
  // Lane of a token whose append names none: one for all, or [layers], or [layers, kv_heads]
  // (head-scoped caches). Copied.
  const std::uint8_t* default_lanes = nullptr;
  std::size_t default_lane_count = 0;
  // What the keys and values come from: the model's identity and the adapters loaded on top of it
  // (""). Null: not said, and profiles are not checked against it. Copied.
  const char* model = nullptr;
  const char* adapter = nullptr;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
