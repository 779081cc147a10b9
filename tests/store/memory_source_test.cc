#include "kvpleat/store/memory_source.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <new>

using namespace kvpleat;

namespace {

struct Arena {
  std::size_t live = 0;
  void* allocate(std::size_t bytes) noexcept {
    live += bytes;
    return ::operator new (bytes, std::align_val_t{64}, std::nothrow);
  }
  void release(void* memory, std::size_t bytes) noexcept {
    live -= bytes;
    ::operator delete (memory, std::align_val_t{64});
  }
};
struct Throwing {
  void* allocate(std::size_t);
  void release(void*, std::size_t);
};
static_assert(PageAllocator<Arena> && !PageAllocator<Throwing> && !PageAllocator<int>);

}  // namespace

TEST_CASE("the heap gives aligned memory") {
  const MemorySource heap = heap_memory();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{63}, std::size_t{70000}}) {
    void* memory = heap.allocate(heap.context, bytes);
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % kMemoryAlignment == 0);
    std::memset(memory, 0xff, bytes);
    heap.release(heap.context, memory, bytes);
  }
}

TEST_CASE("an engine's allocator is called with its own object and the same sizes") {
  Arena arena;
  const MemorySource source = memory_of(arena);
  void* a = source.allocate(source.context, 100);
  void* b = source.allocate(source.context, 28);
  CHECK(arena.live == 128);
  source.release(source.context, a, 100);
  CHECK(arena.live == 28);
  source.release(source.context, b, 28);
  CHECK(arena.live == 0);
}
