#include "kvpleat/allocate/table.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kvpleat/core/concepts.h"

using namespace kvpleat;

static_assert(BitAllocator<TableAllocator> && BitAllocator<AlwaysAllocator>);

TEST_CASE("a table answers for its layer and head, whatever the token") {
  const std::uint8_t lanes[6] = {0, 1, 2, 2, 1, 0};
  const TableAllocator table{lanes, 2, 3};
  for (std::uint32_t layer = 0; layer < 2; ++layer) {
    for (std::uint32_t head = 0; head < 3; ++head) {
      TokenInfo info;
      info.layer = layer;
      info.head = head;
      info.position = 77 * head;
      info.importance = 1.0f;
      CHECK(table.choose(info) == lanes[layer * 3 + head]);
    }
  }
  CHECK(AlwaysAllocator{3}.choose({}) == 3);
}

TEST_CASE("shares become counts by largest remainder, no tier with a share is empty") {
  const auto counts = [](std::uint32_t n, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t shares[3] = {a, b, c};
    std::uint32_t result[3] = {};
    tier_counts(n, shares, result);
    return std::vector<std::uint32_t>(result, result + 3);
  };
  using Counts = std::vector<std::uint32_t>;
  CHECK(counts(100, 10, 60, 30) == Counts{10, 60, 30});
  CHECK(counts(90, 10, 60, 30) == Counts{9, 54, 27});
  CHECK(counts(8, 10, 60, 30) == Counts{1, 5, 2});  // 0.8, 4.8, 2.4
  CHECK(counts(4, 10, 60, 30) ==
        Counts{1, 2, 1});  // 0.4, 2.4, 1.2: the first takes from the second
  CHECK(counts(3, 10, 60, 30) == Counts{0, 2, 1});  // too few for three tiers
  CHECK(counts(240, 15, 70, 15) == Counts{36, 168, 36});
  CHECK(counts(10, 0, 50, 50) == Counts{0, 5, 5});
  CHECK(counts(5, 50, 50, 0) == Counts{3, 2, 0});  // a tie: the better tier
  CHECK(counts(7, 0, 0, 0) == Counts{0, 0, 7});
  for (std::uint32_t n = 0; n < 300; ++n) {
    const Counts c = counts(n, 20, 65, 15);
    CHECK(c[0] + c[1] + c[2] == n);
    if (n >= 4) CHECK((c[0] > 0 && c[1] > 0 && c[2] > 0));
  }
}
