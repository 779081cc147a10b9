#include "kvpleat/codec/dense.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/symmetric.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

// Symmetric 4 bit whose stored step is the least-squares one for the codes that the range step
// gave. Sums in double over products of floats.
struct LeastSquaresQuant {
  using Plain = SymmetricQuant<4, 32>;
  using Side = Plain::Side;
  using Stat = Plain::Stat;
  using Scale = Plain::Scale;
  static constexpr std::uint32_t kBits = Plain::kBits;
  static constexpr std::uint32_t kGroup = Plain::kGroup;
  static constexpr Axis kAxis = Plain::kAxis;
  static constexpr bool kExactMerge = Plain::kExactMerge;
  static constexpr float kLargest = Plain::kLargest;
  static constexpr auto kId = Text("quant=least_squares");

  struct Refinement {
    double along = 0.0;   // sum of x * code
    double square = 0.0;  // sum of code^2
  };

  Plain plain;

  void observe(float x, Stat& stat) const { plain.observe(x, stat); }
  static Stat merge(const Stat& a, const Stat& b) { return Plain::merge(a, b); }
  Scale scale(const Stat& stat) const { return plain.scale(stat); }
  std::uint32_t encode(float x, const Scale& scale) const { return plain.encode(x, scale); }
  float decode(std::uint32_t code, const Scale& scale) const { return plain.decode(code, scale); }
  void observe_code(float x, std::uint32_t code, const Scale&, Refinement& sums) const {
    const double c = static_cast<double>(code) - static_cast<double>(Plain::kZero);
    sums.along += static_cast<double>(x) * c;
    sums.square += c * c;
  }
  static Refinement merge_refinement(const Refinement& a, const Refinement& b) {
    return {a.along + b.along, a.square + b.square};
  }
  Scale refine(const Scale& coding, const Refinement& sums) const {
    return sums.square > 0.0 ? Scale{to_half(static_cast<float>(sums.along / sums.square))}
                             : coding;
  }
};
static_assert(RefiningQuantizer<LeastSquaresQuant>);
static_assert(!RefiningQuantizer<AffineQuant<4>> && Quantizer<AffineQuant<4>>);

const auto kAll = [](std::uint32_t, std::uint32_t) { return true; };

template <class Layout, class Quant>
double squared_error(const std::vector<float>& x, std::uint32_t tokens) {
  constexpr std::uint32_t kDim = Layout::kDim;
  std::vector<std::uint8_t> block(Layout::kBytes, 0);
  std::vector<float> back(x.size());
  Layout::encode(Quant{}, Rows{x.data(), tokens, kDim}, 0, block.data(), kAll);
  Layout::decode(Quant{}, block.data(), 0, MutableRows{back.data(), tokens, kDim});
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = static_cast<double>(x[i]) - static_cast<double>(back[i]);
    sum += e * e;
  }
  return sum;
}

}  // namespace

TEST_CASE("scales of groups along channels, key: [16 tokens] step, [16 tokens] low per group") {
  using Layout = DenseLayout<80, AffineQuant<4, 32>, Role::kKey>;
  CHECK(Layout::kGroups == 3);
  CHECK(Layout::kCodeBytes == 64 * 80 / 2);
  CHECK(Layout::kSideBytes == 64 * 3 * 4);
  for (std::uint32_t t = 0; t < 64; ++t) {
    for (std::uint32_t g = 0; g < 3; ++g) {
      std::vector<std::uint8_t> block(Layout::kBytes, 0);
      const AffineQuant<4, 32>::Scale scale{Half{0x1234}, Half{0xabcd}};
      Layout::store_scale(block.data(), t, g, scale);
      // 64 bytes per (16-token block, group): 32 of steps, 32 of lows.
      const std::size_t at = 64 * 80 / 2 + (t / 16 * 3 + g) * 64 + t % 16 * 2;
      CHECK(load<Half>(block.data() + at) == Half{0x1234});
      CHECK(load<Half>(block.data() + at + 32) == Half{0xabcd});
      const auto back = Layout::load_scale(block.data(), t, g);
      CHECK(back.step == scale.step);
      CHECK(back.low == scale.low);
    }
  }
}

TEST_CASE("scales of groups along channels, value: [64 tokens] step, [64 tokens] low per group") {
  using Layout = DenseLayout<80, AffineQuant<4, 32>, Role::kValue>;
  for (std::uint32_t t = 0; t < 64; ++t) {
    for (std::uint32_t g = 0; g < 3; ++g) {
      std::vector<std::uint8_t> block(Layout::kBytes, 0);
      Layout::store_scale(block.data(), t, g, {Half{0x1234}, Half{0xabcd}});
      const std::size_t at = 64 * 80 / 2 + g * 256 + t * 2;
      CHECK(load<Half>(block.data() + at) == Half{0x1234});
      CHECK(load<Half>(block.data() + at + 128) == Half{0xabcd});
    }
  }
}

TEST_CASE("scales of groups along tokens: [D] step, [D] low per group, D padded to 16") {
  const auto check = []<class Layout>(std::uint32_t padded) {
    for (std::uint32_t t = 0; t < 64; t += 32) {
      for (std::uint32_t c = 0; c < Layout::kDim; ++c) {
        std::vector<std::uint8_t> block(Layout::kBytes, 0);
        Layout::store_scale(block.data(), t, c, {Half{0x1234}, Half{0xabcd}});
        const std::size_t at = 64 * padded / 2 + t / 32 * 4 * padded + c * 2;
        CHECK(load<Half>(block.data() + at) == Half{0x1234});
        CHECK(load<Half>(block.data() + at + 2 * padded) == Half{0xabcd});
      }
    }
    CHECK(Layout::kSideBytes == 2 * 4 * padded);
  };
  check.operator()<DenseLayout<40, AffineQuant<4, 32, Axis::kTokens>, Role::kKey>>(48);
  check.operator()<DenseLayout<40, AffineQuant<4, 32, Axis::kTokens>, Role::kValue>>(48);
}

TEST_CASE("a group of 128 tokens makes a block of 128 tokens") {
  using Layout = DenseLayout<16, AffineQuant<4, 128, Axis::kTokens>, Role::kValue>;
  CHECK(Layout::kBlockTokens == 128);
  CHECK(Layout::kSeal == 128);
  CHECK(Layout::kBytes == 128 * 16 / 2 + 16 * 4);
}

TEST_CASE("each group uses its own scale, and the scale is that of its members only") {
  // Group g of token t spans exactly 15 * 2^g from low t: step 2^g, exact in half.
  using Quant = AffineQuant<4, 32>;
  using Layout = DenseLayout<80, Quant, Role::kKey>;
  std::vector<float> rows(64 * 80);
  for (std::uint32_t t = 0; t < 64; ++t) {
    for (std::uint32_t c = 0; c < 80; ++c)
      rows[t * 80 + c] =
          static_cast<float>(t) + static_cast<float>(c % 16) * static_cast<float>(1u << c / 32);
  }
  std::vector<std::uint8_t> block(Layout::kBytes, 0);
  Layout::encode(Quant{}, Rows{rows.data(), 64, 80}, 0, block.data(), kAll);
  for (std::uint32_t t = 0; t < 64; ++t) {
    for (std::uint32_t c = 0; c < 80; ++c) {
      const auto scale = Layout::load_scale(block.data(), t, c / 32);
      CHECK(to_float(scale.step) == static_cast<float>(1u << c / 32));
      CHECK(to_float(scale.low) == static_cast<float>(t));
      CHECK(Layout::Tile::get(block.data(), t, c) == c % 16);
      CHECK(Layout::decode_one(Quant{}, block.data(), t, c) == rows[t * 80 + c]);
    }
  }
}

TEST_CASE("an element that is not kept has no part in the statistics and is coded clamped") {
  using Quant = AffineQuant<4, 16>;
  using Layout = DenseLayout<16, Quant, Role::kKey>;
  std::vector<float> row(16);
  for (std::uint32_t c = 0; c < 16; ++c) row[c] = static_cast<float>(c);
  row[5] = 1000.0f;
  std::vector<std::uint8_t> block(Layout::kBytes, 0);
  Layout::encode(Quant{}, Rows{row.data(), 1, 16}, 7, block.data(),
                 [](std::uint32_t, std::uint32_t c) { return c != 5; });
  CHECK(to_float(Layout::load_scale(block.data(), 7, 0).step) == 1.0f);
  CHECK(Layout::Tile::get(block.data(), 7, 5) == 15);
  CHECK(Layout::Tile::get(block.data(), 7, 6) == 6);
}

TEST_CASE("erase leaves the other slots' bytes as they were") {
  using Quant = AffineQuant<3, 32>;
  using Layout = DenseLayout<40, Quant, Role::kValue>;
  const std::vector<float> rows = test::uniform(71, 64 * 40);
  std::vector<std::uint8_t> part(Layout::kBytes, 0);
  std::vector<std::uint8_t> whole(Layout::kBytes, 0);
  Layout::encode(Quant{}, Rows{rows.data(), 20, 40}, 0, part.data(), kAll);
  Layout::encode(Quant{}, Rows{rows.data(), 64, 40}, 0, whole.data(), kAll);
  CHECK(part != whole);
  Layout::erase(whole.data(), 20, 44);
  CHECK(part == whole);
}

TEST_CASE("a refined scale beats the range scale") {
  // 64 tokens of normal values: half a percent at least, by the least-squares property. A stored
  // half is within 2^-11 of the optimum, which costs (2^-11)^2 of the energy: 2.4e-7, nothing.
  const std::vector<float> rows = test::normal(72, 64 * 64);
  using Refined = DenseLayout<64, LeastSquaresQuant, Role::kKey>;
  using Plain = DenseLayout<64, LeastSquaresQuant::Plain, Role::kKey>;
  const double refined = squared_error<Refined, LeastSquaresQuant>(rows, 64);
  const double plain = squared_error<Plain, LeastSquaresQuant::Plain>(rows, 64);
  CHECK(refined < 0.995 * plain);
  CHECK(refined > 0.5 * plain);

  // And group by group it is never worse, up to the rounding of the stored scale.
  for (std::uint32_t t = 0; t < 64; ++t) {
    const std::vector<float> row(rows.begin() + t * 64, rows.begin() + t * 64 + 64);
    double energy = 0.0;
    for (const float x : row) energy += static_cast<double>(x) * static_cast<double>(x);
    CHECK(squared_error<Refined, LeastSquaresQuant>(row, 1) <=
          squared_error<Plain, LeastSquaresQuant::Plain>(row, 1) + energy * 0x1p-20);
  }
}

TEST_CASE("codes of a refining quantizer come from the coding scale") {
  const std::vector<float> rows = test::normal(73, 64);
  using Refined = DenseLayout<64, LeastSquaresQuant, Role::kKey>;
  using Plain = DenseLayout<64, LeastSquaresQuant::Plain, Role::kKey>;
  std::vector<std::uint8_t> a(Refined::kBytes, 0);
  std::vector<std::uint8_t> b(Plain::kBytes, 0);
  Refined::encode(LeastSquaresQuant{}, Rows{rows.data(), 1, 64}, 0, a.data(), kAll);
  Plain::encode(LeastSquaresQuant::Plain{}, Rows{rows.data(), 1, 64}, 0, b.data(), kAll);
  CHECK(std::memcmp(a.data(), b.data(), Refined::kCodeBytes) == 0);
  CHECK(a != b);
}
