#include "kvpleat/quant/affine.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/any_quant.h"
#include "support/generator.h"

using namespace kvpleat;
using test::AnyDense;
using test::AnyQuant;
using test::CodedGroup;

namespace {

std::vector<AnyQuant> affine_quants() {
  std::vector<AnyQuant> quants = test::all_quants();
  std::erase_if(quants, [](const AnyQuant& q) { return q.symmetric; });
  return quants;
}

}  // namespace

TEST_CASE(
    "affine: error at most half the stored step, which is the ideal one but for its rounding") {
  REQUIRE(affine_quants().size() == 24);
  for (const AnyQuant& quant : affine_quants()) {
    CAPTURE(quant.id);
    // Relative rounding of Side, directed: 2^-10, 2^-7; of float: 0.
    const float unit =
        quant.side_error == 0x1p-9f ? 0x1p-10f : (quant.side_error == 0x1p-6f ? 0x1p-7f : 0.0f);
    for (const float factor : {1.0f, 1000.0f, 0.01f}) {
      for (std::uint32_t seed = 0; seed < 20; ++seed) {
        std::vector<float> x = test::uniform(seed, 32, factor);
        if (seed % 3 == 1) {
          for (float& v : x) v += 7.0f * factor;  // off zero
        }
        const CodedGroup group = quant.code(x);
        const auto [low, high] = std::minmax_element(x.begin(), x.end());
        CHECK(group.low <= *low);
        // top steps from low reach the maximum (one float rounding of the product and sum).
        CHECK(group.low + quant.top * group.step >=
              *high * (*high > 0.0f ? 1.0f - 0x1p-22f : 1.0f + 0x1p-22f));
        // low is at most `unit` of itself below the minimum and widens the range by that; the step
        // is rounded up by `unit`, and two float roundings (subtract, divide).
        const float ideal = (*high - *low + std::fabs(*low) * 1.01f * unit) / quant.top;
        CHECK(group.step <= ideal * (1.0f + unit) * (1.0f + 0x1p-22f) + 0x1p-24f);
        // Subtract, divide and the sum of decode round once each: 2^-22 of what they handle.
        const float reach = std::fabs(group.low) + quant.top * group.step;
        CHECK(group.worst_error(x) <= 0.5f * group.step + 0x1p-22f * reach);
      }
    }
  }
}

TEST_CASE("affine: codes are the nearest ones, ends are the end codes") {
  const AffineQuant<3, 8> quant;
  AffineQuant<3, 8>::Stat stat;
  for (const float x : {-1.0f, 6.0f}) quant.observe(x, stat);
  const auto scale = quant.scale(stat);
  CHECK(to_float(scale.step) == 1.0f);
  CHECK(to_float(scale.low) == -1.0f);
  CHECK(quant.encode(-1.0f, scale) == 0);
  CHECK(quant.encode(6.0f, scale) == 7);
  CHECK(quant.encode(0.5f, scale) == 2);  // 1.5 is a tie: to even
  CHECK(quant.encode(1.5f, scale) == 2);  // 2.5 as well
  CHECK(quant.encode(100.0f, scale) == 7);
  CHECK(quant.encode(-100.0f, scale) == 0);
  CHECK(quant.decode(3, scale) == 2.0f);
}

TEST_CASE("affine: equal values, empty groups, order of merging") {
  const AffineQuant<4, 8> quant;
  using Stat = AffineQuant<4, 8>::Stat;
  CHECK(quant.scale(Stat{}).step == Half{});
  CHECK(quant.scale(Stat{}).low == Half{});
  Stat one;
  quant.observe(0.1f, one);
  CHECK(quant.scale(one).step == Half{});
  CHECK(quant.scale(one).low == to_half(0.1f));
  CHECK(quant.encode(0.1f, quant.scale(one)) == 0);
  Stat other;
  quant.observe(-3.0f, other);
  CHECK(quant.scale(quant.merge(one, other)).low == quant.scale(quant.merge(other, one)).low);
  CHECK(quant.scale(quant.merge(one, Stat{})).low == quant.scale(one).low);
}

TEST_CASE("affine: the largest magnitude is taken, at every width and side") {
  for (const AnyQuant& quant : affine_quants()) {
    CAPTURE(quant.id);
    std::vector<float> x(32, quant.largest_input);
    x[3] = -quant.largest_input;
    const CodedGroup group = quant.code(x);
    CHECK(test::finite(group.back));
    CHECK(std::isfinite(group.step));
    CHECK(std::isfinite(group.low));
    // Relative: step/2 is largest / top.
    CHECK(group.worst_error(x) <= quant.largest_input * (1.0f / quant.top + 0x1p-5f));
  }
}

TEST_CASE("affine through the dense layout, along channels and tokens: each group as if alone") {
  // 40 channels and groups of 32 leave a short one; 64 tokens hold two groups along tokens.
  const std::vector<float> rows = test::normal(44, 64 * 40);
  const auto check = [&](const AnyDense& format, bool along_tokens) {
    CAPTURE(format.quant.id);
    std::vector<std::uint8_t> block(format.block_bytes, 0);
    std::vector<float> back(rows.size());
    format.encode(rows, block.data());
    format.decode(block.data(), back);
    const std::size_t outer = along_tokens ? 40 : 64;
    const std::size_t inner = along_tokens ? 64 : 40;
    for (std::size_t a = 0; a < outer; ++a) {
      for (std::size_t first = 0; first < inner; first += 32) {
        std::vector<float> x;
        std::vector<float> y;
        for (std::size_t b = first; b < std::min(first + 32, inner); ++b) {
          const std::size_t at = along_tokens ? b * 40 + a : a * 40 + b;
          x.push_back(rows[at]);
          y.push_back(back[at]);
        }
        CHECK(format.quant.code(x).back == y);
      }
    }
  };
  const auto both = [&]<class Channels, class Tokens>() {
    check(test::any_dense<40, Channels, Role::kKey>(), false);
    check(test::any_dense<40, Channels, Role::kValue>(), false);
    check(test::any_dense<40, Tokens, Role::kKey>(), true);
    check(test::any_dense<40, Tokens, Role::kValue>(), true);
  };
  both.operator()<AffineQuant<1, 32>, AffineQuant<1, 32, Axis::kTokens>>();
  both.operator()<AffineQuant<4, 32, Axis::kChannels, BFloat16>,
                  AffineQuant<4, 32, Axis::kTokens, BFloat16>>();
  both.operator()<AffineQuant<7, 32, Axis::kChannels, float>,
                  AffineQuant<7, 32, Axis::kTokens, float>>();
}
