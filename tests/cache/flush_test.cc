// flush of all layers: every layer or none.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "kvpleat/kvpleat.h"

namespace {

using kvpleat::TokenRows;
using Cache = kvpleat::KvCache<kvpleat::presets::Int8<8>>;

// Gives `left` more allocations, then none.
struct Limited {
  int left = 1000000;
  void* allocate(std::size_t bytes) noexcept {
    return left-- > 0 ? std::aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;
  }
  void release(void* memory, std::size_t) noexcept { std::free(memory); }
};

}  // namespace

TEST_CASE("flush compresses the residual of all layers, or of none") {
  Limited limited;
  kvpleat::CacheShape shape;
  shape.layers = 3;
  shape.kv_heads = 2;
  shape.max_tokens = 500;
  shape.residual = 40;
  auto made = Cache::create(shape, kvpleat::memory_of(limited));
  REQUIRE(made);
  std::vector<float> rows(40 * 2 * 8);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i % 37) - 18.0f;
  const TokenRows tokens(rows.data(), 40, 2, 8);
  for (std::uint32_t l = 0; l < 3; ++l) REQUIRE(ok(made->append(l, tokens, tokens)));
  const kvpleat::MemoryReport before = made->memory();
  int refused = 0;
  for (int allowed = 0;; ++allowed) {
    limited.left = allowed;
    const kvpleat::Status status = made->flush();
    limited.left = 1000000;
    if (ok(status)) break;
    CHECK(status == kvpleat::Status::kNoMemory);
    CHECK(made->memory() == before);
    for (std::uint32_t l = 0; l < 3; ++l) CHECK(made->tail_tokens(l) == 40);
    ++refused;
  }
  CHECK(refused > 6);  // streams of three layers were denied, one after the other
  for (std::uint32_t l = 0; l < 3; ++l) {
    CHECK(made->tail_tokens(l) == 0);
    float key[8];
    REQUIRE(ok(made->read(l, 1, 7, 1, key, nullptr)));
    for (std::size_t c = 0; c < 8; ++c) {
      // Half a step of 8 bits over a range of at most 36, and the rounding of the half side data.
      CHECK(kvpleat::magnitude(key[c] - rows[(7 * 2 + 1) * 8 + c]) <=
            0.5f * 36.0f / 255.0f + 0.02f);
    }
  }
  CHECK(made->flush(0xffffffffu) == kvpleat::Status::kInvalid);
  CHECK(made->flush(3) == kvpleat::Status::kInvalid);
}
