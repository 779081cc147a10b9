#include "kvpleat/store/array.h"

#include <doctest/doctest.h>

#include <utility>

#include "support/cache_fixture.h"

using namespace kvpleat;

TEST_CASE("prepare touches nothing, commit moves, cancel gives back to the byte") {
  test::CountingMemory memory;
  const MemorySource source = memory.source();
  {
    Array<int> array(&source);
    CHECK(array.bytes() == 0);
    REQUIRE(array.reserve(4));
    for (int i = 0; i < 4; ++i) array.push(i * i);
    const int* before = array.data();
    REQUIRE(array.prepare(3));  // there is room
    CHECK(memory.calls() == 1);
    REQUIRE(array.prepare(10));
    CHECK(array.data() == before);
    CHECK(array.capacity() == 4);
    CHECK(array.bytes() == 14 * sizeof(int));
    CHECK(memory.bytes() == array.bytes());
    REQUIRE(array.prepare(8));  // less than prepared
    CHECK(memory.calls() == 2);
    array.cancel();
    CHECK(memory.bytes() == 4 * sizeof(int));
    CHECK(array.bytes() == memory.bytes());
    REQUIRE(array.prepare(10));
    REQUIRE(array.prepare(20));  // replaces
    CHECK(memory.bytes() == 24 * sizeof(int));
    array.commit();
    array.commit();
    CHECK(array.capacity() == 20);
    CHECK(memory.bytes() == 20 * sizeof(int));
    for (int i = 0; i < 4; ++i) CHECK(array[static_cast<std::size_t>(i)] == i * i);
    memory.fail_at(1);
    CHECK_FALSE(array.prepare(21));
    CHECK(array.bytes() == 20 * sizeof(int));
    CHECK(array.size() == 4);
    CHECK_FALSE(array.prepare(std::size_t{1} << 32));  // sizes are 32 bits
    CHECK_FALSE(array.prepare(~std::size_t{0}));
    array.pop();
    CHECK(array.back() == 4);
    array.resize_raw(1);
    CHECK(array.size() == 1);
    Array<int> moved(std::move(array));
    CHECK(moved.size() == 1);
    CHECK(array.bytes() == 0);
  }
  CHECK(memory.bytes() == 0);
  CHECK(memory.clean());
}

namespace {

struct Counted {
  int* alive;
  explicit Counted(int* count) noexcept : alive(count) { ++*alive; }
  Counted(Counted&& other) noexcept : alive(other.alive) { ++*alive; }
  ~Counted() { --*alive; }
};

}  // namespace

TEST_CASE("elements are moved, and destroyed once") {
  test::CountingMemory memory;
  const MemorySource source = memory.source();
  int alive = 0;
  {
    Array<Counted> array(&source);
    for (std::size_t n = 1; n <= 9; ++n) {
      REQUIRE(array.reserve(n));
      array.push(&alive);
      CHECK(alive == static_cast<int>(n));
    }
    array.pop();
    CHECK(alive == 8);
    REQUIRE(array.prepare(50));
  }
  CHECK(alive == 0);
  CHECK(memory.bytes() == 0);
}
