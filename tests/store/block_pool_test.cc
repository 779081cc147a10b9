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
    // 8192: 32 blocks a slab, and 5 in the last, whose header is smaller.
    for (const std::size_t slab : {0u, 1000u, 8192u, 65536u}) {
      CAPTURE(slab);
      CountingMemory memory;  // gives 0xFF
      const MemorySource source = memory.source();
      {
        BlockPool pool;
        REQUIRE(ok(pool.open(&source, 200, 37, slab, spills)));
        CHECK(pool.bytes() == BlockPool::predict(200, 37, slab, spills, 1, 0));
        std::vector<std::uint32_t> ids;
        for (std::uint32_t i = 0; i < 37; ++i) {
          REQUIRE(ok(pool.reserve(1)));
          ids.push_back(pool.acquire());
          CHECK(is_zero(pool, ids.back()));
          CHECK(reinterpret_cast<std::uintptr_t>(pool.data(ids.back())) % 64 == 0);
          std::memset(pool.data(ids.back()), static_cast<int>(i + 1), 200);
          CHECK(pool.bytes() == memory.bytes());
          CHECK(pool.bytes() == BlockPool::predict(200, 37, slab, spills, 1, i + 1));
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
        CHECK(pool.bytes() == BlockPool::predict(200, 37, slab, spills, 1, 0));
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
      CHECK(pool.bytes() == BlockPool::predict(64, 100, 256, false, 1, held + n));
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

TEST_CASE("stretches: blocks of one owner lie in a row, other owners take other stretches") {
  constexpr std::uint32_t kStretch = 4;
  for (const bool spills : {false, true}) {
    for (const std::size_t slab : {std::size_t{0}, std::size_t{2100}, std::size_t{65536}}) {
      CAPTURE(slab);
      CountingMemory memory;
      const MemorySource source = memory.source();
      {
        BlockPool pool;
        REQUIRE(ok(pool.open(&source, 200, 9, slab, spills, kStretch)));
        std::vector<std::uint32_t> owners[3];
        for (std::uint32_t i = 0; i < 11; ++i) {  // in step, as the heads of a layer grow
          for (auto& own : owners) {
            const bool extends = !own.empty() && pool.room_after(own.back()) > 0;
            CHECK(extends == (i % kStretch != 0));
            if (!extends) REQUIRE(ok(pool.reserve(1)));
            own.push_back(extends ? pool.extend(own.back()) : pool.acquire());
            CHECK(is_zero(pool, own.back()));
            std::memset(pool.data(own.back()), 0xee, 200);
            if (i % kStretch != 0) {
              CHECK(pool.data(own.back()) == pool.data(own[own.size() - 2]) + 256);
            }
            if (spills) CHECK(pool.run(own.back()).page == kNoPage);
          }
          CHECK(pool.live() == 3 * (i / kStretch + 1));
          CHECK(pool.bytes() == memory.bytes());
          CHECK(pool.bytes() == BlockPool::predict(200, 9, slab, spills, kStretch, pool.live()));
        }
        CHECK(pool.reserve(1) == Status::kCapacity);
        // The last blocks go: the stretch stays with its owner until its first block goes, too.
        CHECK(pool.room_after(owners[0].back()) == 1);
        pool.release(owners[0].back());
        owners[0].pop_back();
        CHECK(pool.room_after(owners[0].back()) == 2);
        CHECK(pool.live() == 9);
        const std::uint32_t again = pool.extend(owners[0].back());
        CHECK(is_zero(pool, again));
        pool.release(again);
        // Two owners of a block: neither may extend it.
        pool.share(owners[0].back());
        CHECK(pool.room_after(owners[0].back()) == 0);
        pool.release(owners[0].back());
        CHECK(pool.room_after(owners[0].back()) == 2);
        pool.release(owners[0][9]);
        CHECK(pool.live() == 9);
        pool.release(owners[0][8]);
        CHECK(pool.live() == 8);
        REQUIRE(ok(pool.reserve(1)));
        const std::uint32_t fresh = pool.acquire();
        CHECK(pool.room_after(fresh) == kStretch - 1);
        pool.release(fresh);
        for (std::uint32_t i = 0; i < 8; ++i) pool.release(owners[0][i * 5 % 8]);
        for (std::uint32_t i = 0; i < 11; ++i) pool.release(owners[1][i * 5 % 11]);
        for (std::uint32_t i = 0; i < 11; ++i) pool.release(owners[2][10 - i]);
        CHECK(pool.live() == 0);
        CHECK(pool.bytes() == BlockPool::predict(200, 9, slab, spills, kStretch, 0));
        CHECK(pool.bytes() == memory.bytes());
      }
      CHECK(memory.bytes() == 0);
      CHECK(memory.clean());
    }
  }
}
