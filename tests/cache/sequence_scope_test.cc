// One map for all layers, and tokens that wait in the tail: their tags must come from the call or the shape, never from
// memory that is not written yet.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kvpleat/kvpleat.h"

namespace {

using kvpleat::KV;
using kvpleat::TokenRows;
namespace formats = kvpleat::formats;

struct TwoLanes : kvpleat::CacheTraits<4> {
  static constexpr kvpleat::MapScope kScope = kvpleat::MapScope::kSequence;
  using Lanes = kvpleat::LaneList<KV<formats::Int8<4>, formats::Int8<4>>,
                                  KV<formats::Int4<4>, formats::Int4<4>>>;
};
using Cache = kvpleat::KvCache<TwoLanes>;

// Memory whose every fresh byte has one value.
struct Filled {
  int value = 0;
  void* allocate(std::size_t bytes) noexcept {
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory != nullptr) std::memset(memory, value, bytes);
    return memory;
  }
  void release(void* memory, std::size_t) noexcept { std::free(memory); }
};

}  // namespace

TEST_CASE("sequence scope: a waiting token's lane does not depend on what memory held before") {
  for (const int value : {0, 1, 0x77, 0xff}) {
    CAPTURE(value);
    Filled filled{value};
    kvpleat::CacheShape shape;
    shape.layers = 2;
    shape.kv_heads = 1;
    shape.max_tokens = 100;
    shape.residual = 4;
    auto made = Cache::create(shape, kvpleat::memory_of(filled));
    REQUIRE(made);
    const std::vector<float> row(4, 1.0f);
    const TokenRows one(row.data(), 1, 1, 4);
    for (std::uint32_t t = 0; t < 20; ++t) {
      for (std::uint32_t l = 0; l < 2; ++l) REQUIRE(ok(made->append(l, one, one)));
    }
    for (std::uint32_t t = 0; t < 20; ++t) CHECK(made->lane(0, 0, t) == 0);
    // A tag left behind by a truncated token is no tag of the next one.
    REQUIRE(ok(made->truncate(0)));
    const std::uint8_t other = 1;
    REQUIRE(ok(made->append(0, one, one, {&other})));
    REQUIRE(ok(made->truncate(0)));
    REQUIRE(ok(made->append(0, one, one)));
    CHECK(made->lane(0, 0, 0) == 0);
  }
}
