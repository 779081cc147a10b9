// Golden bytes of the rotated codebook formats; tests/golden/make_rotated_goldens.py writes them.
#include "kvpleat/format/rotated.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "golden/rotated_goldens.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

// Rows 0..2 of the golden input in slots 17..19 must give exactly these bytes.
template <class F>
void check_golden(const F& format, std::int64_t position,
                  std::span<const golden::ByteAt> expected) {
  std::vector<float> coded(3 * F::kCoded);
  for (std::uint32_t t = 0; t < 3; ++t) {
    float row[F::kDim];
    for (std::uint32_t c = 0; c < F::kDim; ++c) row[c] = test::golden_input(t, c);
    format.forward(row, position + t, coded.data() + t * F::kCoded);
  }
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  format.encode(Rows{coded.data(), 3, F::kCoded}, 17, nullptr, block.data(), spill, counters);
  std::vector<std::uint8_t> wanted(F::kBlockBytes, 0);
  for (const golden::ByteAt& at : expected) {
    REQUIRE(at.offset < wanted.size());
    wanted[at.offset] = at.byte;
  }
  CHECK(block == wanted);
}

template <std::uint32_t kBits>
void check_turbo(std::span<const golden::ByteAt> key, std::span<const golden::ByteAt> value) {
  using F = formats::TurboQuant<16, kBits>;
  check_golden(F{}, 0, key);
  check_golden(typename F::template As<Role::kValue>{}, 0, value);
}

template <std::uint32_t kBits>
void check_balanced(std::span<const golden::ByteAt> key, std::span<const golden::ByteAt> value) {
  const Rope rope = Rope::standard(RopeLayout::kHalves, 16, 10000.0);
  std::vector<float> profile(16, 0.0f);  // the mean
  profile.insert(profile.end(), golden::kScales, golden::kScales + 16);
  profile.insert(profile.end(), golden::kDirection, golden::kDirection + 17);
  using Key = formats::BalancedKey<16, kBits>;
  check_golden(Key::bind({profile.data(), &rope, nullptr}), 0, key);
  using Value = typename formats::BalancedValue<16, kBits>::template As<Role::kValue>;
  check_golden(Value::bind({profile.data() + 16, nullptr, nullptr}), 0, value);
}

}  // namespace

TEST_CASE("golden bytes: TurboQuant") {
  check_turbo<4>(golden::kTurboQuant4Key, golden::kTurboQuant4Value);
  check_turbo<3>(golden::kTurboQuant3Key, golden::kTurboQuant3Value);
  check_turbo<2>(golden::kTurboQuant2Key, golden::kTurboQuant2Value);
}
TEST_CASE("golden bytes: BalancedKey, BalancedValue") {
  check_balanced<4>(golden::kBalanced4Key, golden::kBalanced4Value);
  check_balanced<3>(golden::kBalanced3Key, golden::kBalanced3Value);
  check_balanced<2>(golden::kBalanced2Key, golden::kBalanced2Value);
}
TEST_CASE("golden bytes: matched norm in one byte") {
  using F = formats::RotatedBook<16, 4, RandomHadamard<>, ScalePolicy::kMatchedNorm, LogScale8>;
  check_golden(F::As<Role::kValue>{}, 0, golden::kMatchedLog4Value);
}
TEST_CASE("golden bytes: CodebookKey") {
  Rope rope;
  rope.layout = RopeLayout::kHalves;
  rope.dims = 8;
  for (std::uint32_t i = 0; i < 4; ++i) rope.turns[i] = golden::kTurns[i];
  check_golden(formats::CodebookKey<12, 4>::bind({golden::kMean, &rope, nullptr}), 1000,
               golden::kCodebook4Key);
}
