#include "kvpleat/store/block_pool.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "support/cache_fixture.h"

using namespace kvpleat;
using test::CountingMemory;

namespace {

bool is_zero(const BlockPool& pool, std::uint32_t id) {
  for (std::size_t i = 0; i < pool.block_bytes(); ++i)
    if (pool.data(id)[i] != 0) return false;
  return true;
}

}  // namespace

TEST_CASE("blocks come zeroed, apart and aligned; slabs go with their last block") {
  for (const bool spills : {false, true}) {
    for (const std::size_t slab : {std::size_t{0}, std::size_t{1000}, std::size_t{65536}}) {
      CAPTURE(slab);
      CountingMemory memory;  // gives 0xFF
      const MemorySource source = memory.source();
      {
        BlockPool pool;
        REQUIRE(ok(pool.open(&source, 200, 37, slab, spills)));
        CHECK(pool.bytes() == BlockPool::predict(200, 37, slab, spills, 0));
        std::vector<std::uint32_t> ids;
        for (std::uint32_t i = 0; i < 37; ++i) {
          REQUIRE(ok(pool.reserve(1)));
          ids.push_back(pool.acquire());
          CHECK(is_zero(pool, ids.back()));
          CHECK(reinterpret_cast<std::uintptr_t>(pool.data(ids.back())) % 64 == 0);
          std::memset(pool.data(ids.back()), static_cast<int>(i + 1), 200);
          CHECK(pool.bytes() == memory.bytes());
          CHECK(pool.bytes() == BlockPool::predict(200, 37, slab, spills, i + 1));
          if (spills) CHECK(pool.run(ids.back()).page == kNoPage);
        }
        CHECK(pool.reserve(1) == Status::kCapacity);
        CHECK(pool.live() == 37);
        for (std::uint32_t i = 0; i < 37; ++i) {
          CHECK(pool.data(ids[i])[0] == i + 1);
          CHECK(pool.data(ids[i])[199] == i + 1);
        }
        for (std::uint32_t i = 0; i < 37; ++i) {
          pool.release(ids[i * 10 % 37]);
          CHECK(pool.bytes() == memory.bytes());
        }
        CHECK(pool.bytes() == BlockPool::predict(200, 37, slab, spills, 0));
        REQUIRE(ok(pool.reserve(1)));
        CHECK(is_zero(pool, pool.acquire()));
      }
      CHECK(memory.bytes() == 0);
      CHECK(memory.clean());
    }
  }
}

TEST_CASE("reserve and cancel restore bytes exactly") {
  CountingMemory memory;
  const MemorySource source = memory.source();
  BlockPool pool;
  REQUIRE(ok(pool.open(&source, 64, 100, 256, false)));  // 4 blocks per slab
  for (std::uint32_t held = 0; held < 10; ++held) {
    const std::size_t before = pool.bytes();
    for (std::uint32_t n = 0; n <= 90; n += 9) {
      REQUIRE(ok(pool.reserve(n)));
      CHECK(pool.bytes() == memory.bytes());
      CHECK(pool.bytes() == BlockPool::predict(64, 100, 256, false, held + n));
      pool.cancel(n);
      CHECK(pool.bytes() == before);
    }
    CHECK(pool.reserve(101 - held) == Status::kCapacity);
    REQUIRE(ok(pool.reserve(60)));
    CHECK(pool.reserve(41 - held) == Status::kCapacity);  // promises count
    pool.cancel(60);
    CHECK(pool.bytes() == before);
    REQUIRE(ok(pool.reserve(1)));
    static_cast<void>(pool.acquire());
  }
}

TEST_CASE("references: a shared block lives until its last owner releases it") {
  const MemorySource source = heap_memory();
  BlockPool pool;
  REQUIRE(ok(pool.open(&source, 100, 10, 1024, true)));
  pool.spill().open(&source, 512, 1024);
  REQUIRE(ok(pool.reserve(1)));
  const std::uint32_t id = pool.acquire();
  pool.data(id)[7] = 42;
  SpillRun run;
  REQUIRE(ok(pool.spill().acquire(30, run)));
  pool.set_run(id, run);
  CHECK_FALSE(pool.shared(id));
  pool.share(id);
  CHECK(pool.shared(id));
  pool.release(id);
  CHECK_FALSE(pool.shared(id));
  CHECK(pool.live() == 1);
  CHECK(pool.data(id)[7] == 42);
  CHECK(pool.spill().used() == 30);
  pool.release(id);
  CHECK(pool.live() == 0);
  CHECK(pool.spill().used() == 0);  // the run goes with its block
  REQUIRE(ok(pool.reserve(1)));
  const std::uint32_t next = pool.acquire();
  CHECK(pool.run(next).page == kNoPage);
  REQUIRE(ok(pool.spill().acquire(30, run)));
  pool.set_run(next, run);
  pool.drop_run(next);
  CHECK(pool.spill().used() == 0);
}

TEST_CASE("failing memory: open and reserve change nothing") {
  for (std::uint64_t n = 1; n <= 20; ++n) {
    CountingMemory memory;
    const MemorySource source = memory.source();
    {
      BlockPool pool;
      memory.fail_at(n);
      const Status opened = pool.open(&source, 64, 100, 256, true);
      CHECK(ok(opened) == (n > 1));
      if (ok(opened)) {
        const std::size_t before = pool.bytes();
        CHECK(pool.reserve(80) == Status::kNoMemory);  // 20 slabs
        CHECK(pool.bytes() == before);
        CHECK(memory.bytes() == before);
        CHECK(ok(pool.reserve(80)));
        pool.cancel(80);
      }
    }
    CHECK(memory.bytes() == 0);
    CHECK(memory.clean());
  }
}

TEST_CASE("limits: none, and too many") {
  CountingMemory memory;
  const MemorySource source = memory.source();
  BlockPool empty;
  REQUIRE(ok(empty.open(&source, 64, 0, 256, false)));
  CHECK(empty.reserve(1) == Status::kCapacity);
  CHECK(empty.bytes() == 0);
  BlockPool huge;
  CHECK(huge.open(&source, 64, 0x80000000ull, 256, false) == Status::kRange);
  CHECK(memory.calls() == 0);
}
