// Golden bytes of TurboQuant's variants; tests/golden/make_turbo_goldens.py
// writes them.
#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "golden/turbo_goldens.h"
#include "kvpleat/format/turbo_prod.h"
#include "kvpleat/format/turbo_split.h"
#include "kvpleat/transform/kronecker_hadamard.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

std::vector<float> golden_row(std::uint32_t token, std::uint32_t dim) {
  std::vector<float> row(dim);
  for (std::uint32_t c = 0; c < dim; ++c) row[c] = test::golden_input(token, c);
  return row;
}

template <class F>
std::vector<std::uint8_t> encoded(const F& format) {
  std::vector<float> coded(3 * F::kCoded);
  for (std::uint32_t t = 0; t < 3; ++t)
    format.forward(golden_row(t, F::kDim).data(), 0, &coded[t * F::kCoded]);
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  format.encode(Rows{coded.data(), 3, F::kCoded}, 17, nullptr, block.data(), spill, counters);
  return block;
}

template <class F>
void check(std::span<const golden::ByteAt> bytes, const float* profile = nullptr) {
  BindContext context;
  context.profile = profile;
  std::vector<std::uint8_t> wanted(F::kBlockBytes, 0);
  for (const golden::ByteAt& at : bytes) {
    REQUIRE(at.offset < wanted.size());
    wanted[at.offset] = at.byte;
  }
  CHECK(encoded(F::bind(context)) == wanted);
}

template <std::uint32_t kDim>
void check_rotation(std::span<const std::uint32_t> words) {
  std::vector<float> coded(kDim);
  KroneckerHadamard<>().forward<kDim>(golden_row(0, kDim).data(), 0, coded.data());
  REQUIRE(words.size() == kDim);
  for (std::uint32_t c = 0; c < kDim; ++c)
    CHECK(__builtin_bit_cast(std::uint32_t, coded[c]) == words[c]);
}

template <std::uint32_t kBits>
void check_row(std::span<const std::uint32_t> words) {
  using F = formats::TurboQuantProd<16, kBits>;
  const std::vector<std::uint8_t> block = encoded(F{});
  std::vector<float> coded(16);
  F{}.decode({block.data(), nullptr, nullptr, 0}, 18, MutableRows{coded.data(), 1, 16});
  for (std::uint32_t c = 0; c < 16; ++c)
    CHECK(__builtin_bit_cast(std::uint32_t, coded[c]) == words[c]);
}

}  // namespace

TEST_CASE("golden values of KroneckerHadamard") {
  check_rotation<24>(golden::kKronecker24);
  check_rotation<56>(golden::kKronecker56);
  check_rotation<18>(golden::kKronecker18);
}
TEST_CASE("golden bytes of TurboQuant2_5 and TurboQuant3_5") {
  using Two = formats::TurboQuant2_5<24>;
  using Three = formats::TurboQuant3_5<24>;
  check<Two>(golden::kTurboQuant2_5Key, golden::kSplitChannels);
  check<Two::As<Role::kValue>>(golden::kTurboQuant2_5Value, golden::kSplitChannels);
  check<Three>(golden::kTurboQuant3_5Key, golden::kSplitChannels);
  check<Three::As<Role::kValue>>(golden::kTurboQuant3_5Value, golden::kSplitChannels);
}
TEST_CASE("golden bytes and rows of TurboQuantProd") {
  using One = formats::TurboQuantProd<16, 1>;
  using Three = formats::TurboQuantProd<16, 3>;
  check<One>(golden::kTurboQuantProd1Key);
  check<One::As<Role::kValue>>(golden::kTurboQuantProd1Value);
  check<Three>(golden::kTurboQuantProd3Key);
  check<Three::As<Role::kValue>>(golden::kTurboQuantProd3Value);
  check_row<1>(golden::kProdRow1);
  check_row<3>(golden::kProdRow3);
}
