// Golden bytes of KVQuant's formats; tests/golden/make_kvquant_goldens.py writes them.
#include "kvpleat/format/kvquant.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "golden/kvquant_goldens.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 12;

template <class F>
void check(const std::vector<float>& profile, std::span<const golden::ByteAt> bytes,
           std::span<const std::uint8_t> spilled) {
  Rope rope;
  rope.layout = RopeLayout::kHalves;
  rope.dims = 8;
  for (std::uint32_t i = 0; i < 4; ++i) rope.turns[i] = golden::kNuqTurns[i];
  BindContext context;
  context.profile = profile.data();
  context.rope = &rope;
  REQUIRE(profile.size() == F::kProfileSize);
  REQUIRE(F::valid_profile(profile.data()));
  const F format = F::bind(context);
  std::vector<float> coded(3 * kDim);
  std::uint32_t need = 0;
  for (std::uint32_t t = 0; t < 3; ++t) {
    float row[kDim];
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] = test::golden_input(t, c);
    format.forward(row, 1000 + t, &coded[t * kDim]);
    need += format.spill_need(&coded[t * kDim]);
  }
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  std::vector<std::uint8_t> spill(need);
  SpillWriter writer{spill.data(), 0, need};
  EncodeCounters counters;
  format.encode(Rows{coded.data(), 3, kDim}, 17, nullptr, block.data(), writer, counters);
  std::vector<std::uint8_t> wanted(F::kBlockBytes, 0);
  for (const golden::ByteAt& at : bytes) {
    REQUIRE(at.offset < wanted.size());
    wanted[at.offset] = at.byte;
  }
  CHECK(block == wanted);
  CHECK(spill == std::vector<std::uint8_t>(spilled.begin(), spilled.end()));
}

std::vector<float> key_profile(std::span<const float> signposts) {
  std::vector<float> profile(golden::kNuqOffsets, golden::kNuqOffsets + kDim);
  profile.insert(profile.end(), golden::kNuqRanges, golden::kNuqRanges + kDim);
  profile.insert(profile.end(), signposts.begin(), signposts.end());
  return profile;
}

}  // namespace

TEST_CASE("golden bytes: KvQuantKey") {
  check<formats::KvQuantKey<kDim, 4>>(key_profile(golden::kNuqSignposts4), golden::kKvQuantKey4,
                                      golden::kKvQuantKey4Spill);
  check<formats::KvQuantKey<kDim, 3>>(key_profile(golden::kNuqSignposts3), golden::kKvQuantKey3,
                                      golden::kKvQuantKey3Spill);
}
TEST_CASE("golden bytes: KvQuantValue") {
  check<formats::KvQuantValue<kDim, 4>::As<Role::kValue>>(
      {golden::kNuqSignposts4, golden::kNuqSignposts4 + 16}, golden::kKvQuantValue4,
      golden::kKvQuantValue4Spill);
  check<formats::KvQuantValue<kDim, 3>::As<Role::kValue>>(
      {golden::kNuqSignposts3, golden::kNuqSignposts3 + 8}, golden::kKvQuantValue3,
      golden::kKvQuantValue3Spill);
}
