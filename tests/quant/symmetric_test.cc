#include "kvpleat/quant/symmetric.h"

#include <doctest/doctest.h>

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

std::vector<AnyQuant> symmetric_quants() {
  std::vector<AnyQuant> quants = test::all_quants();
  std::erase_if(quants, [](const AnyQuant& q) { return !q.symmetric; });
  return quants;
}

}  // namespace

TEST_CASE("symmetric: error at most half the stored step, sign symmetry, zero is kept") {
  REQUIRE(symmetric_quants().size() == 21);
  for (const AnyQuant& quant : symmetric_quants()) {
    CAPTURE(quant.id);
    const float unit =
        quant.side_error == 0x1p-9f ? 0x1p-10f : (quant.side_error == 0x1p-6f ? 0x1p-7f : 0.0f);
    for (const float factor : {1.0f, 1000.0f, 0.01f}) {
      for (std::uint32_t seed = 0; seed < 20; ++seed) {
        std::vector<float> x = test::uniform(seed, 32, factor);
        x[9] = 0.0f;
        const CodedGroup group = quant.code(x);
        // The smallest Side not below max|x| / top (one float rounding of the quotient).
        const float ideal = test::largest(x) / quant.top;
        CHECK(group.step >= ideal);
        CHECK(group.step <= ideal * (1.0f + unit) + 0x1p-24f);
        CHECK(group.worst_error(x) <= 0.5f * group.step * (1.0f + 0x1p-20f));
        CHECK(group.back[9] == 0.0f);
        CHECK(group.codes[9] == 1u << (quant.bits - 1));
        std::vector<float> negated = x;
        for (float& v : negated) v = -v;
        const CodedGroup mirrored = quant.code(negated);
        CHECK(mirrored.step == group.step);
        for (std::size_t i = 0; i < 32; ++i) CHECK(mirrored.back[i] == -group.back[i]);
        for (const std::uint32_t code : group.codes) CHECK(code >= 1);  // -2^(bits-1) is not used
      }
    }
  }
}

TEST_CASE("symmetric: codes and ties") {
  const SymmetricQuant<4, 8> quant;
  SymmetricQuant<4, 8>::Stat stat;
  for (const float x : {7.0f, -1.0f, 0.0f}) quant.observe(x, stat);
  const auto scale = quant.scale(stat);
  CHECK(to_float(scale.step) == 1.0f);
  CHECK(quant.encode(0.5f, scale) == 8);
  CHECK(quant.encode(1.5f, scale) == 10);
  CHECK(quant.encode(-0.5f, scale) == 8);
  CHECK(quant.encode(-2.5f, scale) == 6);
  CHECK(quant.encode(-100.0f, scale) == 1);
  CHECK(quant.encode(100.0f, scale) == 15);
  CHECK(quant.decode(1, scale) == -7.0f);
  CHECK(quant.decode(8, scale) == 0.0f);
}

TEST_CASE("symmetric: equal magnitudes keep themselves, empty groups are zero") {
  const SymmetricQuant<8, 8> quant;
  using Stat = SymmetricQuant<8, 8>::Stat;
  Stat stat;
  for (const float x : {9.0f, -9.0f, 9.0f}) quant.observe(x, stat);
  const auto scale = quant.scale(stat);
  CHECK(to_float(scale.step) == 9.0f);
  CHECK(quant.decode(quant.encode(-9.0f, scale), scale) == -9.0f);
  CHECK(quant.scale(Stat{}).step == Half{});
  CHECK(quant.encode(0.0f, quant.scale(Stat{})) == 128);
  // Equal magnitudes that no half can hold: the usual step.
  Stat large;
  quant.observe(1e6f, large);
  CHECK(to_float(quant.scale(large).step) == to_float(at_least<Half>(1e6f / 127.0f)));
}

TEST_CASE("symmetric: the largest magnitude is taken, at every width and side") {
  for (const AnyQuant& quant : symmetric_quants()) {
    CAPTURE(quant.id);
    std::vector<float> x(32, 1.0f);
    x[3] = -quant.largest_input;
    const CodedGroup group = quant.code(x);
    CHECK(test::finite(group.back));
    CHECK(std::isfinite(group.step));
    CHECK(group.worst_error(x) <= quant.largest_input * (0.5f / quant.top + 0x1p-6f));
  }
}

TEST_CASE("symmetric through the dense layout, along channels and tokens: each group as if alone") {
  const std::vector<float> rows = test::normal(45, 64 * 40);
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
  check(test::any_dense<40, SymmetricQuant<2, 32>, Role::kKey>(), false);
  check(test::any_dense<40, SymmetricQuant<5, 32, Axis::kTokens>, Role::kKey>(), true);
  check(test::any_dense<40, SymmetricQuant<8, 32, Axis::kChannels, BFloat16>, Role::kValue>(),
        false);
  check(test::any_dense<40, SymmetricQuant<3, 32, Axis::kTokens, float>, Role::kValue>(), true);
}
