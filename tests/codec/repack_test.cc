#include "kvpleat/codec/repack.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kvpleat/format/formats.h"
#include "support/oaken_rows.h"

using namespace kvpleat;

namespace {

template <std::uint32_t kDim, class Quant, Role kRole>
void round_trip() {
  using Published = BlockFormat<kDim, NoTransform, ThresholdSplit, Quant, FusedCodec, kRole>;
  using Resident = BlockFormat<kDim, NoTransform, ThresholdSplit, Quant, JaggedCodec, kRole>;
  CAPTURE(kDim);
  CAPTURE(Published::kId.view());
  const test::Surroundings around(kDim, test::SampleProfile<Published>::make());
  const Published published = Published::bind(around.context());
  const Resident resident = Resident::bind(around.context());
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    const std::vector<float> rows = test::hostile_rows(seed, 64, kDim);
    for (const std::uint32_t n : {0u, 1u, 16u, 37u, 64u}) {
      CAPTURE(n);
      const test::BlockData one = test::block_of<Published>(rows, n);
      const test::BlockData other = test::block_of<Resident>(rows, n);
      if (n == 0 || n == 64) CHECK(one.spill.empty() == (n == 0));

      std::vector<std::uint8_t> block(Resident::kBlockBytes, 0xee);
      std::vector<std::uint8_t> spill(2 * one.spill.size(), 0xee);
      SpillWriter to{spill.data(), 0, static_cast<std::uint32_t>(spill.size())};
      repack(published, one.bytes(), block.data(), to);
      CHECK(to.size == spill.size());
      CHECK(block == other.block);
      CHECK(spill == other.spill);

      block.assign(Published::kBlockBytes, 0xee);
      spill.assign(one.spill.size(), 0xee);
      SpillWriter back{spill.data(), 0, static_cast<std::uint32_t>(spill.size())};
      repack(resident, other.bytes(), block.data(), back);
      CHECK(back.size == spill.size());
      CHECK(block == one.block);
      CHECK(spill == one.spill);
    }
  }
}
template <std::uint32_t kDim, class Quant = GroupShiftQuant<>>
void round_trips() {
  round_trip<kDim, Quant, Role::kKey>();
  round_trip<kDim, Quant, Role::kValue>();
}

}  // namespace

TEST_CASE("repack: published and resident bytes turn into each other") {
  round_trips<64>();
  round_trips<80>();
  round_trips<96>();
  round_trips<128>();
  round_trips<192>();
  round_trips<1>();
}
TEST_CASE("repack: ranges of a head in its own block, other codes") {
  round_trips<70, GroupShiftQuant<ShiftPolicy::kOuterOnly, OutlierCode::kOffsetBinary5,
                                  ParameterScope::kHead>>();
}
TEST_CASE(
    "the rows of these tests have tokens without and of nothing but outliers, and a hot channel") {
  using F = formats::Oaken<128>;
  const std::vector<float> rows = test::hostile_rows(0, 64, 128);
  const test::BlockData data = test::block_of<F>(rows, 64);
  const std::uint8_t* counts = data.block.data() + F::Layout::kCountsAt;
  std::uint32_t full = 0;
  std::uint32_t none = 0;
  for (std::uint32_t t = 0; t < 64; ++t) {
    full += counts[2 * t] + counts[2 * t + 1] == 128;
    none += counts[2 * t] + counts[2 * t + 1] == 0;
  }
  CHECK(full > 0);
  CHECK(none > 0);
  const test::BlockData values =
      test::block_of<formats::OakenJds16<128>::As<Role::kValue>>(rows, 64);
  CHECK(values.block[formats::OakenJds16<128>::kCodeBytes + 3] > 50);
}
