#include "kvpleat/codec/fused.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "golden/goldens.h"
#include "kvpleat/quant/group_shift.h"
#include "kvpleat/split/threshold.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

template <std::uint32_t kDim>
struct Fixture {
  using Layout = FusedCodec::Layout<kDim, ThresholdSplit, GroupShiftQuant<>, Role::kKey>;

  ThresholdSplit split;
  std::vector<std::uint8_t> block = std::vector<std::uint8_t>(Layout::kBlockBytes, 0);
  std::vector<std::uint8_t> shared = std::vector<std::uint8_t>(Layout::kSharedBytes, 0);
  std::vector<std::uint8_t> spill = std::vector<std::uint8_t>(64 * kDim, 0);
  std::uint32_t spill_bytes = 0;
  EncodeCounters counters;

  explicit Fixture(const float* thresholds) : split(ThresholdSplit::bind(thresholds)) {}

  void encode(std::span<const float> rows, std::uint32_t slot) {
    const Rows view{rows.data(), rows.size() / kDim, kDim};
    for (std::uint32_t t = 0; t < view.count; ++t) {
      typename Layout::Stat stat;
      Layout::observe(split, GroupShiftQuant<>{}, view[t], stat);
      Layout::write_shared(stat, slot + t, shared.data());
    }
    SpillWriter writer{spill.data(), spill_bytes, static_cast<std::uint32_t>(spill.size())};
    Layout::encode(split, GroupShiftQuant<>{}, view, slot, shared.data(), block.data(), writer,
                   counters);
    spill_bytes = writer.size;
  }
  std::vector<float> decode(std::uint32_t slot, std::uint32_t n) const {
    std::vector<float> rows(n * kDim);
    Layout::decode(split, GroupShiftQuant<>{},
                   BlockBytes{block.data(), shared.data(), spill.data(), spill_bytes}, slot,
                   MutableRows{rows.data(), n, kDim});
    return rows;
  }
};

struct Golden {
  std::span<const float> thresholds;
  std::span<const float> input;
  std::span<const std::uint8_t> dense;
  std::span<const std::uint8_t> spill;
  std::span<const std::uint8_t> counts;
  std::span<const std::uint8_t> parameters;
  std::span<const float> decoded;
};

template <std::uint32_t kDim>
void check_golden(const Golden& golden, std::uint32_t slot) {
  REQUIRE(golden.input.size() == kDim);
  Fixture<kDim> f(golden.thresholds.data());
  CHECK(ThresholdSplit::valid(golden.thresholds.data()));
  CHECK(Fixture<kDim>::Layout::spill_need(f.split, golden.input.data()) == golden.spill.size());
  f.encode(golden.input, slot);

  std::vector<std::uint8_t> block(f.block.size(), 0);
  std::vector<std::uint8_t> shared(f.shared.size(), 0);
  const std::size_t row_bytes = (kDim + 1) / 2;
  const std::size_t chunks = (kDim + 63) / 64;
  REQUIRE(golden.dense.size() == row_bytes);
  REQUIRE(golden.counts.size() == chunks);
  for (std::size_t i = 0; i < row_bytes; ++i) block[slot * row_bytes + i] = golden.dense[i];
  for (std::size_t i = 0; i < chunks; ++i)
    block[64 * row_bytes + slot * chunks + i] = golden.counts[i];
  for (std::size_t i = 0; i < 12; ++i) shared[slot * 12 + i] = golden.parameters[i];
  CHECK(f.block == block);
  CHECK(f.shared == shared);
  CHECK(f.spill_bytes == golden.spill.size());
  CHECK(std::vector<std::uint8_t>(f.spill.begin(), f.spill.begin() + f.spill_bytes) ==
        std::vector<std::uint8_t>(golden.spill.begin(), golden.spill.end()));
  CHECK(f.counters.outliers == golden.spill.size());
  CHECK(f.counters.values == kDim);

  // Equal to the bit: every operation of decode is one rounding or an exact product.
  CHECK(f.decode(slot, 1) == std::vector<float>(golden.decoded.begin(), golden.decoded.end()));
}

std::span<const std::uint8_t> bytes(const std::uint8_t* data, std::size_t n) {
  return {data, n};
}

}  // namespace

TEST_CASE("golden C1: mixed groups, exact steps") {
  check_golden<16>({golden::kC1Thresholds, golden::kC1Input, golden::kC1Dense, golden::kC1Spill,
                    golden::kC1Counts, golden::kC1Parameters, golden::kC1Decoded},
                   0);
}
TEST_CASE("golden C2: boundaries and a one-member group") {
  check_golden<64>({golden::kC2Thresholds, golden::kC2Input, golden::kC2Dense, golden::kC2Spill,
                    golden::kC2Counts, golden::kC2Parameters, golden::kC2Decoded},
                   63);
}
TEST_CASE("golden C3: inner band off zero, empty chunk") {
  check_golden<128>({golden::kC3Thresholds, golden::kC3Input, golden::kC3Dense, golden::kC3Spill,
                     golden::kC3Counts, golden::kC3Parameters, golden::kC3Decoded},
                    17);
}
TEST_CASE("golden C5a: 64 zeros are 64 inner entries") {
  check_golden<64>({golden::kC5aThresholds, golden::kC5aInput, golden::kC5aDense, golden::kC5aSpill,
                    golden::kC5aCounts, golden::kC5aParameters, golden::kC5aDecoded},
                   1);
}
TEST_CASE("golden C5b: one constant middle group, no entries") {
  check_golden<64>({golden::kC5bThresholds, golden::kC5bInput, golden::kC5bDense,
                    bytes(golden::kC5bSpill, golden::kC5bSpillBytes), golden::kC5bCounts,
                    golden::kC5bParameters, golden::kC5bDecoded},
                   0);
}

TEST_CASE("fused: counts, spill and error bounds on random rows, with a short last chunk") {
  constexpr std::uint32_t kDim = 80;
  const float thresholds[4] = {-0.9375f, -0.0625f, 0.0625f, 0.9375f};
  Fixture<kDim> f(thresholds);
  std::vector<float> rows = test::uniform(91, 64 * kDim);
  for (std::uint32_t t = 0; t < 64; ++t) rows[t * kDim + t] *= 9.0f;
  f.encode(rows, 0);

  std::uint32_t apart = 0;
  for (const float x : rows) apart += f.split.band(x).band != Band::kMiddle;
  CHECK(f.spill_bytes == apart);
  CHECK(f.counters.outliers == apart);
  CHECK(f.counters.outer + f.counters.inner == apart);
  CHECK(decltype(f)::Layout::spill_bytes(f.block.data(), 64) == apart);

  const std::vector<float> back = f.decode(0, 64);
  for (std::uint32_t t = 0; t < 64; ++t) {
    const auto parameters = GroupShiftQuant<>::read(f.shared.data() + 12 * t);
    for (std::uint32_t c = 0; c < kDim; ++c) {
      const float x = rows[t * kDim + c];
      const float y = back[t * kDim + c];
      const BandSide at = f.split.band(x);
      const float step = parameters.of(at).step;
      // Four float roundings of values below |x| + 1 (shift, scale, add, shift back).
      const float rounding = 0x1p-22f * (std::fabs(x) + 1.0f);
      CHECK(std::fabs(y - x) <= (at.band == Band::kMiddle ? step : step / 2) + rounding);
      // The decoder finds the encoder's side.
      if (at.band == Band::kMiddle)
        CHECK((at.low ? y <= thresholds[1] + rounding : y >= thresholds[2] - rounding));
      if (at.band == Band::kOuter)
        CHECK((at.low ? y <= thresholds[0] + rounding : y >= thresholds[3] - rounding));
    }
  }
  // Reading from the middle starts at the right spill byte.
  const std::vector<float> part = f.decode(21, 7);
  CHECK(part == std::vector<float>(back.begin() + 21 * kDim, back.begin() + 28 * kDim));
}

TEST_CASE("fused: damaged counts and entries never lead outside") {
  constexpr std::uint32_t kDim = 10;
  const float thresholds[4] = {-2.0f, -0.25f, 0.25f, 2.0f};
  Fixture<kDim> f(thresholds);
  f.encode(std::vector<float>(2 * kDim, 0.0f), 0);
  f.block[Fixture<kDim>::Layout::kCodeBytes] = 255;  // more entries than there are
  f.spill[0] = 63 << 2;                              // an index beyond the row
  const std::vector<float> back = f.decode(0, 2);    // sanitizers watch
  CHECK(back.size() == 2 * kDim);
}

TEST_CASE("fused: parameters span the heads of a layer by merge") {
  const float thresholds[4] = {-2.0f, -0.25f, 0.25f, 2.0f};
  const ThresholdSplit split = ThresholdSplit::bind(thresholds);
  using Layout = Fixture<16>::Layout;
  const std::vector<float> x(golden::kC1Input, golden::kC1Input + 16);
  // C1 cut into two heads of 8: the merged parameters are those of the whole.
  using Head = Fixture<8>::Layout;
  Head::Stat a;
  Head::Stat b;
  Head::observe(split, {}, x.data(), a);
  Head::observe(split, {}, x.data() + 8, b);
  std::uint8_t merged[12];
  Head::write_shared(Head::merge(b, a), 0, merged);
  Layout::Stat whole;
  Layout::observe(split, {}, x.data(), whole);
  std::uint8_t expected[12];
  Layout::write_shared(whole, 0, expected);
  CHECK(std::vector<std::uint8_t>(merged, merged + 12) ==
        std::vector<std::uint8_t>(expected, expected + 12));
}
