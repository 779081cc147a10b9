#include "kvpleat/cache/tail.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "support/cache_fixture.h"

using namespace kvpleat;

namespace {

template <class Element>
void ring(float tolerance) {
  test::CountingMemory memory;
  const MemorySource source = memory.source();
  {
    Tail<Element> tail(&source, 2, 3, 2, 2);
    CHECK(tail.token_bytes() == 2 * 5 * sizeof(Element) + 2);
    std::deque<std::uint32_t> wanted;
    std::uint32_t next = 0;
    const auto push = [&] {
      tail.push();
      const std::uint32_t at = tail.size() - 1;
      for (std::uint32_t h = 0; h < 2; ++h) {
        const float key[3] = {static_cast<float>(next), static_cast<float>(h), 0.1f};
        const float value[2] = {-static_cast<float>(next), 0.25f};
        tail.write_key(at, h, key);
        tail.write_value(at, h, value);
        tail.set_tag(at, h, static_cast<std::uint8_t>(next + h));
      }
      wanted.push_back(next++);
    };
    const auto check = [&] {
      REQUIRE(tail.size() == wanted.size());
      for (std::uint32_t i = 0; i < wanted.size(); ++i) {
        for (std::uint32_t h = 0; h < 2; ++h) {
          float key[3];
          float value[2];
          tail.read_key(i, h, key);
          tail.read_value(i, h, value);
          CHECK(key[0] == static_cast<float>(wanted[i]));
          CHECK(key[1] == static_cast<float>(h));
          CHECK(magnitude(key[2] - 0.1f) <= tolerance);
          CHECK(value[0] == -static_cast<float>(wanted[i]));
          CHECK(tail.tag(i, h) == static_cast<std::uint8_t>(wanted[i] + h));
        }
      }
      CHECK(tail.bytes() == memory.bytes());
    };
    REQUIRE(tail.prepare(5));
    tail.commit();
    for (int i = 0; i < 5; ++i) push();
    check();
    for (int round = 0; round < 7; ++round) {  // around the ring
      tail.pop_front();
      wanted.pop_front();
      push();
      check();
    }
    const std::size_t held = tail.bytes();
    REQUIRE(tail.prepare(4));  // never shrinks
    CHECK(tail.bytes() == held);
    REQUIRE(tail.prepare(9));  // grows while the ring is wrapped
    tail.cancel();
    CHECK(memory.bytes() == held);
    REQUIRE(tail.prepare(9));
    tail.commit();
    check();
    for (int i = 0; i < 4; ++i) push();
    check();
    tail.truncate(3);
    wanted.resize(3);
    check();
    push();
    check();
    memory.fail_at(1);
    CHECK_FALSE(tail.prepare(100));
    check();
    Tail<Element> moved(std::move(tail));
    CHECK(moved.size() == 4);
    CHECK(moved.bytes() == memory.bytes());
  }
  CHECK(memory.bytes() == 0);
  CHECK(memory.clean());
}

}  // namespace

TEST_CASE("a ring of tokens, in float, half and bfloat16") {
  ring<float>(0.0f);
  ring<Half>(0.1f * 0x1p-11f);
  ring<BFloat16>(0.1f * 0x1p-8f);
}

TEST_CASE("one tag for all heads") {
  const MemorySource source = heap_memory();
  Tail<float> tail(&source, 4, 1, 0, 1);
  REQUIRE(tail.prepare(2));
  tail.commit();
  tail.push();
  tail.set_tag(0, 3, 9);
  CHECK(tail.tag(0, 0) == 9);
  CHECK(tail.token_bytes() == 4 * sizeof(float) + 1);
}
