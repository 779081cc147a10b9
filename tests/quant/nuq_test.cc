#include "kvpleat/quant/nuq.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kvpleat/codec/dense.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/quant/affine.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

using Ranged = NuqQuant<2>;
using Plain = NuqQuant<2, NuqScale::kNone>;

static_assert(Quantizer<Ranged> && Quantizer<Plain>);
static_assert(ProfiledQuantizer<Ranged> && ProfiledQuantizer<Plain>);
static_assert(!ProfiledQuantizer<AffineQuant<4>>);
static_assert(std::is_empty_v<Plain::Scale> && std::is_empty_v<Plain::Stat>);
static_assert(sizeof(Ranged::Scale) == 4);
static_assert(sizeof(Ranged) == sizeof(void*));

constexpr float kPosts[4] = {-0.75f, -0.25f, 0.125f, 1.0f};

template <class Quant>
typename Quant::Scale scale_of(const Quant& quant, const std::vector<float>& x) {
  typename Quant::Stat stat;
  for (const float v : x) quant.observe(v, stat);
  return quant.scale(stat);
}

}  // namespace

TEST_CASE("a code is the nearest signpost, a tie the lower one") {
  const Plain quant = Plain::bind(kPosts);
  const auto code = [&](float x) { return quant.encode(x, {}); };
  CHECK(code(-3.0f) == 0);
  CHECK(code(-0.75f) == 0);
  CHECK(code(-0.5f) == 0);  // halfway
  CHECK(code(-0.49f) == 1);
  CHECK(code(-0.0625f) == 1);
  CHECK(code(-0.0624f) == 2);
  CHECK(code(0.5625f) == 2);
  CHECK(code(0.5626f) == 3);
  CHECK(code(50.0f) == 3);  // saturates
  CHECK(code(std::nanf("")) == 0);
  for (std::uint32_t c = 0; c < 4; ++c) CHECK(quant.decode(c, {}) == kPosts[c]);
}

TEST_CASE("codes against a search over all signposts") {
  std::vector<float> posts(32);
  test::Generator generator(5);
  float x = -1.0f;
  for (float& p : posts) p = x = to_float(to_half(x + 0.03f + 0.03f * generator.next()));
  const auto quant = NuqQuant<5, NuqScale::kNone>::bind(posts.data());
  for (const float v : test::uniform(6, 2000, 1.2f)) {
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < 32; ++i) {
      if (std::fabs(v - posts[i]) < std::fabs(v - posts[best])) best = i;
    }
    CHECK(quant.encode(v, {}) == best);
  }
}

TEST_CASE("a group narrower than halves can say reads as its offset, at 2^-25 as its range") {
  const Ranged quant;  // equal distances: no signpost is 0
  const float below = 0x1.fffffep-26f;
  const auto narrow = scale_of(quant, {below, -below});
  CHECK(to_float(narrow.range) == 0.0f);
  CHECK(quant.decode(quant.encode(below, narrow), narrow) == 0.0f);
  const auto wide = scale_of(quant, {0x1p-25f, -0x1p-25f});
  CHECK(to_float(wide.range) == 0x1p-24f);
}

TEST_CASE("offset and range of a group are halves that hold its members in [-1, 1]") {
  const Ranged quant = Ranged::bind(kPosts);
  const auto plain = scale_of(quant, {1.0f, 3.0f, 2.5f});
  CHECK(to_float(plain.offset) == 2.0f);
  CHECK(to_float(plain.range) == 1.0f);
  CHECK(quant.encode(1.0f, plain) == 0);
  CHECK(quant.encode(3.0f, plain) == 3);
  CHECK(quant.decode(3, plain) == 3.0f);
  CHECK(quant.decode(0, plain) == 1.25f);
  for (std::uint32_t seed = 1; seed < 200; ++seed) {
    const float factor = std::ldexp(1.0f, static_cast<int>(seed % 36) - 26);
    std::vector<float> x = test::uniform(seed, 9, factor);
    for (float& v : x) v += factor * static_cast<float>(seed % 11) * 7.0f;
    const auto scale = scale_of(quant, x);
    const float offset = to_float(scale.offset);
    const float range = to_float(scale.range);
    for (const float v : x) {
      if (range == 0.0f) {  // too narrow a group for a half: the offset stands for all
        CHECK(std::fabs(v - offset) < 0x1p-25f);
        CHECK(quant.decode(quant.encode(v, scale), scale) == offset);
        continue;
      }
      CHECK(std::fabs(v - offset) <= range);
      // Half the widest gap is 0.4375 of the range; the offset may be a half away from the middle.
      CHECK(std::fabs(quant.decode(quant.encode(v, scale), scale) - v) <=
            0.4375f * range + 0x1p-23f * (std::fabs(offset) + range));
    }
  }
}

TEST_CASE("groups that are empty, equal, or as large as it takes") {
  const Ranged quant = Ranged::bind(kPosts);
  const auto empty = scale_of(quant, {});
  CHECK(to_float(empty.offset) == 0.0f);
  CHECK(to_float(empty.range) == 0.0f);
  const auto equal = scale_of(quant, {9.0f, 9.0f});
  CHECK(quant.decode(quant.encode(9.0f, equal), equal) == 9.0f);
  const auto odd = scale_of(quant, {0.1f, 0.1f});  // no half: the range is what it misses
  CHECK(std::fabs(quant.decode(quant.encode(0.1f, odd), odd) - 0.1f) <= 0x1p-15f);
  for (const float sign : {-1.0f, 1.0f}) {
    const auto wide = scale_of(quant, {Ranged::kLargest, -Ranged::kLargest, 0.0f});
    CHECK(is_finite(to_float(wide.range)));
    CHECK(std::fabs(quant.decode(quant.encode(sign * Ranged::kLargest, wide), wide)) <=
          Ranged::kLargest);
  }
}

TEST_CASE("without a profile signposts are at equal distances") {
  const auto check = []<class Quant>() {
    const std::vector<float> zeros(Quant::kSignposts, 0.0f);
    for (const Quant& quant : {Quant{}, Quant::bind(nullptr), Quant::bind(zeros.data())}) {
      CHECK(quant.signposts[0] == -1.0f);
      CHECK(quant.signposts[Quant::kSignposts - 1] == 1.0f);
      // To half a unit of binary16 at 1, on either side.
      const float wanted = 2.0f / static_cast<float>(Quant::kSignposts - 1);
      for (std::uint32_t i = 1; i < Quant::kSignposts; ++i)
        CHECK(std::fabs(quant.signposts[i] - quant.signposts[i - 1] - wanted) <= 0x1p-11f);
    }
    CHECK(Quant::valid(nullptr));
    CHECK(Quant::valid(Quant{}.signposts));
  };
  check.operator()<NuqQuant<1>>();
  check.operator()<NuqQuant<4>>();
  check.operator()<NuqQuant<8, NuqScale::kNone>>();
}

TEST_CASE("signposts that are no halves, descend, or are not finite are refused") {
  CHECK(Ranged::valid(kPosts));
  const auto with = [](std::uint32_t at, float x) {
    std::vector<float> posts(kPosts, kPosts + 4);
    posts[at] = x;
    return Ranged::valid(posts.data());
  };
  CHECK(with(1, -0.75f));  // equal neighbours
  CHECK(!with(1, -0.8f));
  CHECK(!with(1, -0.875f));  // descends
  CHECK(!with(3, std::nanf("")));
  CHECK(!with(3, kInfinity));
  CHECK(!with(3, 0x1.002p0f));  // between two halves
}

TEST_CASE("an empty scale stores nothing, and its block is the codes alone") {
  constexpr std::uint32_t kDim = 24;
  using Dense = DenseLayout<kDim, Plain, Role::kValue>;
  static_assert(Dense::kSideBytes == 0 && Dense::kFields == 0);
  static_assert(Dense::kBytes == Dense::Tile::kBytes);
  const Plain quant = Plain::bind(kPosts);
  const std::vector<float> rows = test::uniform(7, 64 * kDim);
  // Guard bytes behind the block.
  std::vector<std::uint8_t> block(Dense::kBytes + 16, 0);
  for (std::size_t i = Dense::kBytes; i < block.size(); ++i) block[i] = 0xa5;
  Dense::encode(quant, Rows{rows.data(), 64, kDim}, 0, block.data(),
                [](std::uint32_t, std::uint32_t) { return true; });
  std::vector<float> back(64 * kDim);
  Dense::decode(quant, block.data(), 0, MutableRows{back.data(), 64, kDim});
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(back[i] == kPosts[quant.encode(rows[i], {})]);
  Dense::erase(block.data(), 0, 64);
  for (std::size_t i = 0; i < block.size(); ++i) CHECK(block[i] == (i < Dense::kBytes ? 0 : 0xa5));
}
