#include "kvpleat/cache/token_map.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "support/cache_fixture.h"

using namespace kvpleat;

namespace {

template <std::uint32_t kLanes>
void push(TokenMap<kLanes>& map, std::vector<std::uint8_t>& tags, std::uint8_t tag) {
  REQUIRE(map.prepare(1, [&](std::uint32_t) { return tag; }));
  map.commit();
  map.push(tag);
  tags.push_back(tag);
}
// Everything against the plain list of tags.
template <std::uint32_t kLanes>
bool agrees(const TokenMap<kLanes>& map, const std::vector<std::uint8_t>& tags) {
  bool same = map.size() == tags.size();
  std::vector<std::uint32_t> before(kLanes);
  std::vector<std::int64_t> found(tags.size() + 1);
  for (std::size_t i = 0; i <= tags.size(); ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      same = same && map.rank(lane, index) == before[lane];
    if (i == tags.size()) break;
    same = same && map.tag(index) == tags[i];
    ++before[tags[i]];
  }
  for (const std::uint32_t from : {0u, 1u, 63u, 64u, 100u}) {
    for (std::uint32_t lane = 0; lane < kLanes && from < tags.size(); ++lane) {
      std::vector<std::int64_t> wanted;
      for (std::size_t i = from; i < tags.size(); ++i)
        if (tags[i] == lane) wanted.push_back(static_cast<std::int64_t>(i));
      map.positions(lane, from, static_cast<std::uint32_t>(wanted.size()), found.data());
      for (std::size_t i = 0; i < wanted.size(); ++i) same = same && found[i] == wanted[i];
    }
  }
  return same;
}

template <std::uint32_t kLanes>
void random_lanes() {
  CAPTURE(kLanes);
  const MemorySource source = heap_memory();
  const auto tags = test::random_tags(kLanes, 200, kLanes);
  for (std::uint32_t cut = 0; cut <= 200; ++cut) {
    TokenMap<kLanes> map(&source);
    std::vector<std::uint8_t> pushed;
    for (const std::uint8_t tag : tags) push(map, pushed, tag);
    if (cut == 0) CHECK(agrees(map, pushed));
    map.truncate(cut);
    pushed.resize(cut);
    if (cut % 13 == 0 || cut % 64 < 2) CHECK(agrees(map, pushed));
    for (std::uint32_t i = 0; i < 70; ++i)
      push(map, pushed, static_cast<std::uint8_t>((tags[i] + 1u) % kLanes));
    CHECK(agrees(map, pushed));
  }
}

}  // namespace

TEST_CASE("rank, tag and positions against a plain list, 1 to 16 lanes, cut anywhere") {
  random_lanes<1>();
  random_lanes<2>();
  random_lanes<3>();
  random_lanes<4>();
  random_lanes<5>();
  random_lanes<9>();
  random_lanes<16>();
}

TEST_CASE("two runs need no memory; the third writes the planes") {
  test::CountingMemory memory;
  const MemorySource source = memory.source();
  {
    TokenMap<3> map(&source);
    std::vector<std::uint8_t> tags;
    for (int i = 0; i < 4; ++i) push(map, tags, 2);
    for (int i = 0; i < 300; ++i) push(map, tags, 0);
    CHECK(map.bytes() == 0);
    CHECK(memory.calls() == 0);
    CHECK(agrees(map, tags));
    for (const std::uint32_t cut : {200u, 5u, 4u, 3u}) {
      map.truncate(cut);
      tags.resize(cut);
      CHECK(agrees(map, tags));
    }
    for (int i = 0; i < 100; ++i) push(map, tags, 1);  // another second run
    CHECK(agrees(map, tags));
    CHECK(map.bytes() == 0);
    push(map, tags, 2);  // back to the first lane: a third run
    CHECK(map.bytes() > 0);
    CHECK(memory.bytes() == map.bytes());
    CHECK(agrees(map, tags));
    map.truncate(0);  // and lazily again
    tags.clear();
    for (int i = 0; i < 70; ++i) push(map, tags, static_cast<std::uint8_t>(i % 3));
    CHECK(agrees(map, tags));
  }
  CHECK(memory.bytes() == 0);
}

TEST_CASE("many tokens at once, cancel and failing memory change nothing") {
  test::CountingMemory memory;
  const MemorySource source = memory.source();
  const auto tags = test::random_tags(5, 1000, 4);
  TokenMap<4> map(&source);
  const auto tag = [&](std::uint32_t i) { return std::uint32_t{tags[i]}; };
  memory.fail_at(1);
  CHECK_FALSE(map.prepare(1000, tag));
  CHECK(map.bytes() == 0);
  REQUIRE(map.prepare(1000, tag));
  map.cancel();
  CHECK(memory.bytes() == 0);
  REQUIRE(map.prepare(1000, tag));
  map.commit();
  for (std::uint32_t i = 0; i < 1000; ++i) map.push(tag(i));
  CHECK(agrees(map, std::vector<std::uint8_t>(tags.begin(), tags.end())));
  // 1000 tokens in 16 words of two planes and four counts.
  CHECK(map.bytes() == 16 * (2 * 8 + 4 * 4));
}
