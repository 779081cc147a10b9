// MemorySource: where all memory of a cache comes from. Plain function pointers, so engines pass
// their own.
#pragma once

#include <cstddef>
#include <new>

#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

//   allocate: `bytes` bytes (> 0) at a multiple of 64, or null. Never throws. May be called from
//   several threads when
//             several layers are appended to at once.
//   release:  what allocate gave, with the same size.
struct MemorySource {
  void* context = nullptr;
  void* (*allocate)(void* context, std::size_t bytes) noexcept = nullptr;
  void (*release)(void* context, void* memory, std::size_t bytes) noexcept = nullptr;
};

inline constexpr std::size_t kMemoryAlignment = 64;

inline MemorySource heap_memory() noexcept {
  MemorySource source;
  source.allocate = [](void*, std::size_t bytes) noexcept -> void* {
    return ::operator new (bytes, std::align_val_t{kMemoryAlignment}, std::nothrow);
  };
  source.release = [](void*, void* memory, std::size_t) noexcept {
    ::operator delete (memory, std::align_val_t{kMemoryAlignment});
  };
  return source;
}

// Memory of an engine's own allocator, which must outlive every cache made with it.
template <PageAllocator Allocator>
MemorySource memory_of(Allocator& allocator) noexcept {
  MemorySource source;
  source.context = &allocator;
  source.allocate = [](void* context, std::size_t bytes) noexcept -> void* {
    return static_cast<Allocator*>(context)->allocate(bytes);
  };
  source.release = [](void* context, void* memory, std::size_t bytes) noexcept {
    static_cast<Allocator*>(context)->release(memory, bytes);
  };
  return source;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
