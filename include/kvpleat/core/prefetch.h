// prefetch_line: asks for a line of memory before it is read.
#pragma once

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Into all levels of cache. A hint: any address may be given, nothing happens where there is none.
inline void prefetch_line(const void* at) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(at, 0, 3);
#else
  static_cast<void>(at);
#endif
}

}  // namespace kvpleat::inline KVPLEAT_ISA
