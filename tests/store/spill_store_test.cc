#include "kvpleat/store/spill_store.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "support/cache_fixture.h"

using namespace kvpleat;

TEST_CASE("runs are contiguous, hold their bytes, and pages die with their last run") {
  test::CountingMemory memory;
  const MemorySource source = memory.source();
  {
    SpillStore store;
    store.open(&source, 256, 1u << 20);
    std::vector<SpillRun> runs;
    std::uint64_t used = 0;
    for (std::uint32_t i = 0; i < 300; ++i) {
      SpillRun run;
      const std::uint32_t bytes = 1 + i * 37 % 256;
      REQUIRE(ok(store.acquire(bytes, run)));
      CHECK(run.offset + run.bytes <= 256);
      std::memset(store.data(run), static_cast<int>(i % 251), bytes);
      runs.push_back(run);
      used += bytes;
      REQUIRE(store.used() == used);
      REQUIRE(store.bytes() == memory.bytes());
    }
    for (std::uint32_t i = 0; i < 300; ++i) {
      bool whole = true;
      for (std::uint32_t b = 0; b < runs[i].bytes; ++b)
        whole = whole && store.data(runs[i])[b] == i % 251;
      CHECK(whole);
    }
    const std::size_t all = store.bytes();
    for (std::uint32_t i = 0; i < 300; ++i) {
      store.release(runs[i * 7 % 300]);
      REQUIRE(store.bytes() == memory.bytes());
    }
    CHECK(all > 100 * 256);
    CHECK(store.used() == 0);
    CHECK(store.bytes() == 0);
    SpillRun none;
    REQUIRE(ok(store.acquire(0, none)));
    CHECK(none.page == kNoPage);
    CHECK(store.data(none) == nullptr);
    store.release(none);
    CHECK(store.bytes() == 0);
  }
  CHECK(memory.bytes() == 0);
  CHECK(memory.clean());
}

TEST_CASE("the limit counts bytes of live runs, exactly") {
  const MemorySource source = heap_memory();
  SpillStore store;
  store.open(&source, 128, 100);
  SpillRun a;
  SpillRun b;
  REQUIRE(ok(store.acquire(60, a)));
  CHECK(store.acquire(41, b) == Status::kOutOfSpill);
  CHECK(b.page == kNoPage);
  CHECK(store.used() == 60);
  REQUIRE(ok(store.acquire(40, b)));
  CHECK(store.acquire(1, b) == Status::kOutOfSpill);
  store.release(a);
  REQUIRE(ok(store.acquire(60, a)));
}

TEST_CASE("failing memory: kNoMemory, nothing held that was not held before") {
  for (std::uint64_t n = 1; n <= 20; ++n) {
    test::CountingMemory memory;
    const MemorySource source = memory.source();
    {
      SpillStore store;
      store.open(&source, 64, 1u << 20);
      SpillRun run;
      memory.fail_at(n);
      std::uint32_t pages = 0;
      std::size_t before = 0;
      Status status = Status::kOk;
      while (ok(status) && pages < 30) {
        before = memory.bytes();
        status = store.acquire(64, run);
        pages += ok(status) ? 1 : 0;
      }
      CHECK(status == Status::kNoMemory);
      CHECK(memory.bytes() == before);
      CHECK(store.bytes() == before);
      CHECK(store.used() == 64 * pages);
      CHECK(ok(store.acquire(64, run)));
    }
    CHECK(memory.bytes() == 0);
    CHECK(memory.clean());
  }
}

TEST_CASE("a released place is used again; other runs do not move") {
  const MemorySource source = heap_memory();
  SpillStore store;
  store.open(&source, 64, 1u << 20);
  SpillRun runs[40];
  for (SpillRun& run : runs) REQUIRE(ok(store.acquire(64, run)));
  const std::uint8_t* kept = store.data(runs[39]);
  for (int i = 0; i < 39; ++i) store.release(runs[i]);
  CHECK(store.data(runs[39]) == kept);
  SpillRun again;
  REQUIRE(ok(store.acquire(64, again)));
  CHECK(again.page == 0);
}

TEST_CASE("spill: a cancelled run leaves the store as it was, pages and all") {
  const kvpleat::MemorySource memory = kvpleat::heap_memory();
  kvpleat::SpillStore store;
  store.open(&memory, 256, 100000);
  kvpleat::SpillRun kept;
  REQUIRE(ok(store.acquire(100, kept)));
  const std::size_t bytes = store.bytes();
  for (int round = 0; round < 3; ++round) {
    kvpleat::SpillRun runs[6];
    for (auto& run : runs)
      REQUIRE(ok(store.acquire(90, run)));  // the first fits the page, the others open more
    for (int i = 6; i-- > 0;) store.cancel(runs[i]);
    CHECK(store.used() == 100);
    CHECK(store.bytes() == bytes);
  }
  kvpleat::SpillRun next;
  REQUIRE(ok(store.acquire(100, next)));
  CHECK(next.page == kept.page);  // the page that was open is open again
  store.release(next);
  store.release(kept);
}
