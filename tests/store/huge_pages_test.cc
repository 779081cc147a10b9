#include "kvpleat/store/huge_pages.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "support/cache_fixture.h"

using namespace kvpleat;

TEST_CASE("small requests come from the heap, large ones are aligned to their pages") {
  const MemorySource source = huge_page_memory();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{70000}, kHugePage / 2 - 1,
                                  kHugePage / 2, kHugePage, kHugePage + 1, 5 * kHugePage + 777}) {
    CAPTURE(bytes);
    auto* memory = static_cast<unsigned char*>(source.allocate(source.context, bytes));
    REQUIRE(memory != nullptr);
    const std::size_t alignment = bytes >= kHugePage / 2 ? kHugePage : kMemoryAlignment;
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
    std::memset(memory, 0xa5, bytes);
    auto* other = static_cast<unsigned char*>(source.allocate(source.context, bytes));
    REQUIRE(other != nullptr);
    std::memset(other, 0x5a, bytes);
    CHECK(memory[0] == 0xa5);
    CHECK(memory[bytes - 1] == 0xa5);
    source.release(source.context, other, bytes);
    CHECK(memory[bytes / 2] == 0xa5);
    source.release(source.context, memory, bytes);
  }
}

TEST_CASE("what cannot be mapped is null") {
  const MemorySource source = huge_page_memory();
  CHECK(source.allocate(source.context, ~std::size_t{0} / 2) == nullptr);
}
