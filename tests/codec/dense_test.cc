#include "kvpleat/codec/dense.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kvpleat/codec/direction.h"
#include "kvpleat/codec/slots.h"
#include "kvpleat/codec/sparse.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/minifloat.h"
#include "kvpleat/quant/nuq.h"
#include "kvpleat/quant/symmetric.h"
#include "kvpleat/split/direction.h"
#include "kvpleat/split/range.h"
#include "kvpleat/split/top_k.h"
#include "kvpleat/transform/center.h"
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

// Symmetric 4 bit that tries steps of 1, 0.5, 0.25 and 0.5 again, in this order. Counts nothing;
// the step tells which one was stored.
struct ThreeStepsQuant : SymmetricQuant<4, 32> {
  static constexpr std::uint32_t kCandidates = 4;
  Scale scale(const Stat&) const { return {to_half(1.0f)}; }
  Scale candidate(const Stat&, std::uint32_t k) const {
    return {to_half(k == 0 ? 1.0f : (k == 2 ? 0.25f : 0.5f))};
  }
};
static_assert(SearchingQuantizer<ThreeStepsQuant> && !SearchingQuantizer<AffineQuant<4>>);

// Multiples of a step that a profile fixes; no scale is stored.
struct FixedStepQuant {
  struct Side {};
  struct Stat {};
  struct Scale {};
  static constexpr std::uint32_t kBits = 4;
  static constexpr std::uint32_t kGroup = kWholeHead;
  static constexpr Axis kAxis = Axis::kChannels;
  static constexpr bool kExactMerge = true;
  static constexpr float kLargest = 100.0f;
  static constexpr auto kId = Text("quant=fixed_step");
  static constexpr std::uint32_t kProfileSize = 1;
  float step = 1.0f;

  static FixedStepQuant bind(const float* profile) {
    return {profile == nullptr ? 1.0f : profile[0]};
  }
  static bool valid(const float* profile) { return profile == nullptr || profile[0] > 0.0f; }
  bool saturates(float x) const { return x > 15.0f * step; }
  void observe(float, Stat&) const {}
  static Stat merge(const Stat&, const Stat&) { return {}; }
  Scale scale(const Stat&) const { return {}; }
  std::uint32_t encode(float x, const Scale&) const { return round_to_code(x / step, 15); }
  float decode(std::uint32_t code, const Scale&) const { return static_cast<float>(code) * step; }
};
static_assert(Quantizer<FixedStepQuant> && ProfiledQuantizer<FixedStepQuant>);
static_assert(composable<NoSplit, FixedStepQuant, DenseCodec>);

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

TEST_CASE("a searching quantizer stores the candidate that loses least, the first of equals") {
  using Layout = DenseLayout<64, ThreeStepsQuant, Role::kKey>;
  const auto stored = [](const std::vector<float>& x) {
    std::vector<std::uint8_t> block(Layout::kBytes, 0);
    Layout::encode(ThreeStepsQuant{}, Rows{x.data(), 1, 64}, 3, block.data(), kAll);
    std::vector<float> back(64);
    Layout::decode(ThreeStepsQuant{}, block.data(), 3, MutableRows{back.data(), 1, 64});
    // Codes are made with the stored step.
    for (std::uint32_t c = 0; c < 64; ++c) {
      const auto scale = Layout::load_scale(block.data(), 3, c / 32);
      CHECK(back[c] == ThreeStepsQuant{}.decode(ThreeStepsQuant{}.encode(x[c], scale), scale));
    }
    return std::vector<float>{to_float(Layout::load_scale(block.data(), 3, 0).step),
                              to_float(Layout::load_scale(block.data(), 3, 1).step)};
  };
  // Group 0: halves up to 3.5, exact with 0.5 only. Group 1: integers up to 7, exact with 1 only.
  std::vector<float> x(64);
  for (std::uint32_t c = 0; c < 64; ++c)
    x[c] = c < 32 ? 0.5f * static_cast<float>(c % 8) : static_cast<float>(c % 8);
  CHECK(stored(x) == std::vector<float>{0.5f, 1.0f});
  // Group 0: integers up to 3, exact with 1 and 0.5: the first. Group 1: quarters, exact with 0.25.
  for (std::uint32_t c = 0; c < 64; ++c)
    x[c] = c < 32 ? static_cast<float>(c % 4) : 0.25f * static_cast<float>(c % 7);
  CHECK(stored(x) == std::vector<float>{1.0f, 0.25f});
}

TEST_CASE("an element that is not kept has no part in the search") {
  using Layout = DenseLayout<32, ThreeStepsQuant, Role::kKey>;
  std::vector<float> x(32, 0.25f);
  x[4] = 7.0f;
  std::vector<std::uint8_t> block(Layout::kBytes, 0);
  Layout::encode(ThreeStepsQuant{}, Rows{x.data(), 1, 32}, 0, block.data(), kAll);
  CHECK(to_float(Layout::load_scale(block.data(), 0, 0).step) == 1.0f);
  Layout::encode(ThreeStepsQuant{}, Rows{x.data(), 1, 32}, 0, block.data(),
                 [](std::uint32_t, std::uint32_t c) { return c != 4; });
  CHECK(to_float(Layout::load_scale(block.data(), 0, 0).step) == 0.25f);
  CHECK(Layout::Tile::get(block.data(), 0, 4) == 15);
}

TEST_CASE("what saturates is counted by every codec, once, unless it is kept apart") {
  // Head scale 1: codes to 448. Four values beyond, 1000 the largest.
  const std::vector<float> row = {1.0f, 449.0f, -500.0f, 3.0f, 448.0f, 600.0f, -1000.0f, 0.0f};
  const auto counted = [&]<class F>(const F& format) {
    std::vector<std::uint8_t> block(F::kBlockBytes, 0);
    std::vector<std::uint8_t> bytes(64, 0);
    SpillWriter spill{bytes.data(), 0, 64};
    EncodeCounters counters;
    format.encode(Rows{row.data(), 1, 8}, 0, nullptr, block.data(), spill, counters);
    return counters.saturated;
  };
  using Quant = MinifloatQuant<Fp8E4m3, NoSide>;
  CHECK(counted(BlockFormat<8, NoTransform, NoSplit, Quant, DenseCodec>{}) == 4);
  CHECK(counted(BlockFormat<8, NoTransform, TopKSplit<1>, Quant, SlotCodec>{}) == 3);
  CHECK(counted(BlockFormat<8, NoTransform, TopKSplit<3>, Quant, SparseCodec>{}) == 1);
  CHECK(counted(BlockFormat<8, NoTransform, DirectionSplit<8>, Quant, DirectionCodec>{}) == 4);
  // Signposts over [-1, 1]: six values lie outside, of which a cap of two keeps the largest.
  using Nuq = NuqQuant<4, NuqScale::kNone>;
  CHECK(counted(BlockFormat<8, NoTransform, RangeSplit<>, Nuq, SparseCodec>{}) == 0);
  CHECK(counted(BlockFormat<8, NoTransform, RangeSplit<2>, Nuq, SparseCodec>{}) == 4);
}

TEST_CASE("an empty scale stores nothing; the profile of a quantizer follows the others'") {
  using F = BlockFormat<24, NoTransform, NoSplit, FixedStepQuant, DenseCodec>;
  static_assert(kvpleat::Format<F>);
  CHECK(F::kSideBytes == 0);
  CHECK(F::kBlockBytes == 64 * 32 / 2);
  CHECK(F::kProfileSize == 1);
  const float half = 0.5f;
  const float bad = -1.0f;
  CHECK(F::valid_profile(&half));
  CHECK(F::valid_profile(nullptr));
  CHECK(!F::valid_profile(&bad));
  const F format = F::bind({&half, nullptr, nullptr});
  std::vector<float> row(24);
  for (std::uint32_t c = 0; c < 24; ++c) row[c] = 0.5f * static_cast<float>(c % 16);
  row[5] = 9.0f;
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  format.encode(Rows{row.data(), 1, 24}, 63, nullptr, block.data(), spill, counters);
  CHECK(counters.saturated == 1);
  row[5] = 7.5f;
  std::vector<float> back(24);
  format.decode({block.data(), nullptr, nullptr, 0}, 63, MutableRows{back.data(), 1, 24});
  CHECK(back == row);
  F::erase(block.data(), 63, 1);
  CHECK(block == std::vector<std::uint8_t>(F::kBlockBytes, 0));

  using Centered = BlockFormat<24, Center, NoSplit, FixedStepQuant, DenseCodec>;
  CHECK(Centered::kProfileSize == 25);
  std::vector<float> profile(25, 2.0f);
  profile[24] = 0.25f;
  CHECK(Centered::bind({profile.data(), nullptr, nullptr}).quant.step == 0.25f);
  CHECK(Centered::valid_profile(profile.data()));
  profile[24] = -0.25f;
  CHECK(!Centered::valid_profile(profile.data()));
}
