// KIVI's scheme (arXiv:2402.02750) as the presets Kivi4 and Kivi2 keep it: keys by channel over 32
// tokens, values by token over 32 channels, the last tokens in full. The paper empties its window
// of keys at every R-th token; here the last R tokens always stay in full, and keys wait for their
// group on top of that: 0 to 31 tokens more, where the paper has 0 to R - 1 in all.
#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/cache_fixture.h"

using namespace kvpleat;
using test::Tokens;

namespace {

constexpr std::uint32_t kDim = 64;
constexpr std::uint32_t kTokens = 300;

// What a group of 32 values reads as.
template <std::uint32_t kBits>
std::vector<float> coded(const std::vector<float>& group) {
  const AffineQuant<kBits, 32> quant;
  typename AffineQuant<kBits, 32>::Stat stat;
  for (const float x : group) quant.observe(x, stat);
  const auto scale = quant.scale(stat);
  std::vector<float> back;
  for (const float x : group) back.push_back(quant.decode(quant.encode(x, scale), scale));
  return back;
}

template <class Preset, std::uint32_t kBits>
void check(std::uint32_t residual) {
  CAPTURE(kBits);
  CAPTURE(residual);
  const Tokens tokens = test::tokens_of(91, kTokens, 1, kDim, 1.0f, -0.5f);
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 1;
  shape.max_tokens = kTokens;
  shape.residual = residual;
  auto made = KvCache<Preset>::create(shape);
  REQUIRE(made);
  auto& cache = *made;
  for (std::uint32_t n = 1; n <= kTokens; ++n) {
    REQUIRE(ok(cache.append(0, tokens.k(n - 1, 1), tokens.v(n - 1, 1))));
    if (n % 23 != 0 && n != kTokens && n != residual && n != residual + 32) continue;
    CAPTURE(n);
    std::vector<float> keys(n * kDim);
    std::vector<float> values(n * kDim);
    REQUIRE(ok(cache.read(0, 0, 0, n, keys.data(), values.data())));
    const std::uint32_t left = n > residual ? n - residual : 0;  // tokens that left the residual
    const std::uint32_t grouped = left / 32 * 32;
    std::uint32_t wrong = 0;
    for (std::uint32_t first = 0; first < grouped; first += 32) {
      for (std::uint32_t c = 0; c < kDim; ++c) {
        std::vector<float> group;
        for (std::uint32_t t = first; t < first + 32; ++t) group.push_back(tokens.key(t, 0)[c]);
        const std::vector<float> back = coded<kBits>(group);
        for (std::uint32_t i = 0; i < 32; ++i) wrong += keys[(first + i) * kDim + c] != back[i];
      }
    }
    for (std::uint32_t t = grouped; t < n; ++t) {
      for (std::uint32_t c = 0; c < kDim; ++c) wrong += keys[t * kDim + c] != tokens.key(t, 0)[c];
    }
    CHECK(wrong == 0);
    for (std::uint32_t t = 0; t < n; ++t) {
      for (std::uint32_t c = 0; c < kDim; c += 32) {
        const float* row = tokens.value(t, 0) + c;
        std::vector<float> back(row, row + 32);
        if (t < left) back = coded<kBits>(back);
        for (std::uint32_t i = 0; i < 32; ++i) wrong += values[t * kDim + c + i] != back[i];
      }
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("KIVI: keys by channel over 32 tokens, values by token, the last tokens in full") {
  for (const std::uint32_t residual : {0u, 32u, 128u}) {
    check<presets::Kivi4<kDim>, 4>(residual);
    check<presets::Kivi2<kDim>, 2>(residual);
  }
}
