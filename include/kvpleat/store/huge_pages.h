// huge_page_memory: memory in pages of 2 MiB where the system gives them.
//
// A long context read once per token misses the address translation of every 4 KiB page. Not part
// of the umbrella, because it needs the system's memory mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/store/memory_source.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kvpleat::inline KVPLEAT_ISA {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

namespace huge_pages {

// Requests of at least half a page get pages of their own; smaller ones come from the heap.
constexpr bool own_pages(std::size_t bytes) noexcept {
  return bytes >= kHugePage / 2;
}

inline void* allocate(std::size_t bytes) noexcept {
  if (!own_pages(bytes))
    return ::operator new (bytes, std::align_val_t{kMemoryAlignment}, std::nothrow);
#if defined(__linux__)
  // Anonymous mappings begin at any 4 KiB page: map one huge page more, give back both ends.
  const std::size_t size = round_up(bytes, kHugePage);
  void* mapped =
      ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* begin = static_cast<unsigned char*>(mapped);
  const std::size_t skip =
      round_up(reinterpret_cast<std::uintptr_t>(begin), std::uintptr_t{kHugePage}) -
      reinterpret_cast<std::uintptr_t>(begin);
  if (skip > 0) ::munmap(begin, skip);
  if (skip < kHugePage) ::munmap(begin + skip + size, kHugePage - skip);
  // Refused where transparent huge pages are off: the memory works all the same.
  ::madvise(begin + skip, size, MADV_HUGEPAGE);
  return begin + skip;
#else
  return ::operator new (bytes, std::align_val_t{kHugePage}, std::nothrow);
#endif
}
inline void release(void* memory, std::size_t bytes) noexcept {
  if (!own_pages(bytes)) {
    ::operator delete (memory, std::align_val_t{kMemoryAlignment});
    return;
  }
#if defined(__linux__)
  ::munmap(memory, round_up(bytes, kHugePage));
#else
  ::operator delete (memory, std::align_val_t{kHugePage});
#endif
}

}  // namespace huge_pages

// A request of 1 MiB or more takes whole pages of 2 MiB (asked for by madvise; where the system has
// none, pages of 4 KiB), a smaller one comes from the heap. Meant for stores with slabs of 2 MiB
// (HeadMajorStore): reports of a cache count what was asked for, the rest of a page is on top.
inline MemorySource huge_page_memory() noexcept {
  MemorySource source;
  source.allocate = [](void*, std::size_t bytes) noexcept { return huge_pages::allocate(bytes); };
  source.release = [](void*, void* memory, std::size_t bytes) noexcept {
    huge_pages::release(memory, bytes);
  };
  return source;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
