#include "kvpleat/codec/fused.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "golden/oaken_goldens.h"
#include "kvpleat/quant/group_shift.h"
#include "kvpleat/split/nested_bands.h"
#include "kvpleat/split/threshold.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

using Default = GroupShiftQuant<>;
template <ShiftPolicy kShift, OutlierCode kCode>
using Plain = GroupShiftQuant<kShift, kCode>;
using Offset5 = Plain<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary5>;
using Offset4 = Plain<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary4>;
using NoShift = GroupShiftQuant<ShiftPolicy::kNone>;
using NoShiftOffset = Plain<ShiftPolicy::kNone, OutlierCode::kOffsetBinary5>;
using OuterOnly = GroupShiftQuant<ShiftPolicy::kOuterOnly>;
using PerHead = GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5,
                                ParameterScope::kHead>;
template <std::uint32_t kOuter, std::uint32_t kInner,
          OutlierCode kCode = OutlierCode::kSignMagnitude5>
using NestedQuant =
    GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, kCode, ParameterScope::kLayer, kOuter, kInner>;
using Wide = BasicFusedCodec<CooEntry16>;
using ByToken = BasicFusedCodec<CooEntry8, SpillAlign::kToken>;
using ByChunk = BasicFusedCodec<CooEntry8, SpillAlign::kChunk>;
using WideByToken = BasicFusedCodec<CooEntry16, SpillAlign::kToken>;

template <std::uint32_t kDim, class Split = ThresholdSplit, class Quant = Default,
          class Codec = FusedCodec>
struct Fixture {
  using Layout = typename Codec::template Layout<kDim, Split, Quant, Role::kKey>;

  Split split;
  std::vector<std::uint8_t> block = std::vector<std::uint8_t>(Layout::kBlockBytes, 0);
  std::vector<std::uint8_t> shared = std::vector<std::uint8_t>(Layout::kSharedBytes, 0);
  std::vector<std::uint8_t> spill = std::vector<std::uint8_t>(64 * Layout::kTokenSpillBytes, 0);
  std::uint32_t spill_bytes = 0;
  EncodeCounters counters;

  explicit Fixture(const float* thresholds) : split(Split::bind(thresholds)) {
    REQUIRE(Split::valid(thresholds));
  }

  void encode(std::span<const float> rows, std::uint32_t slot) {
    const Rows view{rows.data(), rows.size() / kDim, kDim};
    for (std::uint32_t t = 0; t < view.count && !Quant::kPerHead; ++t) {
      typename Layout::Stat stat;
      Layout::observe(split, Quant{}, view[t], stat);
      Layout::write_shared(stat, slot + t, shared.data());
    }
    SpillWriter writer{spill.data(), spill_bytes, static_cast<std::uint32_t>(spill.size())};
    Layout::encode(split, Quant{}, view, slot, shared.data(), block.data(), writer, counters);
    spill_bytes = writer.size;
  }
  [[nodiscard]] BlockBytes bytes() const {
    return {block.data(), shared.data(), spill.data(), spill_bytes};
  }
  [[nodiscard]] std::vector<float> decode(std::uint32_t slot, std::uint32_t n) const {
    std::vector<float> rows(static_cast<std::size_t>(n) * kDim);
    Layout::decode(split, Quant{}, bytes(), slot, MutableRows{rows.data(), n, kDim});
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
#define GOLDEN(name)                                                                    \
  Golden {                                                                              \
    golden::k##name##Thresholds, golden::k##name##Input, golden::k##name##Dense,        \
        {golden::k##name##Spill, golden::k##name##SpillBytes}, golden::k##name##Counts, \
        golden::k##name##Parameters, golden::k##name##Decoded                           \
  }

template <std::uint32_t kDim, class Split = ThresholdSplit, class Quant = Default,
          class Codec = FusedCodec>
void check_golden(const Golden& golden, std::uint32_t slot) {
  using F = Fixture<kDim, Split, Quant, Codec>;
  static_assert(Codec::template refusal<Split, Quant>() == Refusal::kNone);
  REQUIRE(golden.input.size() == kDim);
  REQUIRE(golden.thresholds.size() == Split::kProfileSize);
  F f(golden.thresholds.data());
  CHECK(F::Layout::spill_need(f.split, golden.input.data()) == golden.spill.size());
  f.encode(golden.input, slot);

  // docs/formats.md: dense rows, ranges of the head if it has its own, counts.
  std::vector<std::uint8_t> block(f.block.size(), 0);
  std::vector<std::uint8_t> shared(f.shared.size(), 0);
  const std::size_t row_bytes = (kDim + 1) / 2;
  const std::size_t chunks = (kDim + 63) / 64;
  const std::size_t range_bytes = 4 * (Split::kProfileSize / 2 + 1);
  REQUIRE(golden.dense.size() == row_bytes);
  REQUIRE(golden.counts.size() == chunks);
  REQUIRE(golden.parameters.size() == range_bytes);
  for (std::size_t i = 0; i < row_bytes; ++i) block[slot * row_bytes + i] = golden.dense[i];
  const std::size_t counts_at = 64 * (row_bytes + (Quant::kPerHead ? range_bytes : 0));
  for (std::size_t i = 0; i < chunks; ++i) block[counts_at + slot * chunks + i] = golden.counts[i];
  std::uint8_t* ranges = Quant::kPerHead ? &block[64 * row_bytes] : shared.data();
  for (std::size_t i = 0; i < range_bytes; ++i)
    ranges[slot * range_bytes + i] = golden.parameters[i];
  CHECK(f.block == block);
  CHECK(f.shared == shared);
  CHECK(f.spill_bytes == golden.spill.size());
  CHECK(std::vector<std::uint8_t>(f.spill.begin(), f.spill.begin() + f.spill_bytes) ==
        std::vector<std::uint8_t>(golden.spill.begin(), golden.spill.end()));
  std::uint64_t outliers = 0;
  for (const std::uint8_t count : golden.counts) outliers += count;
  CHECK(f.counters.outliers == outliers);
  CHECK(f.counters.outer + f.counters.inner == outliers);
  CHECK(f.counters.values == kDim);

  // Equal to the bit: every operation of decode is one rounding or an exact product.
  CHECK(f.decode(slot, 1) == std::vector<float>(golden.decoded.begin(), golden.decoded.end()));
}

// What section of a block each variant is asked about.
template <template <class, class, class> class Test>
void every_variant() {
  const float three[4] = {-0.9375f, -0.0625f, 0.046875f, 0.953125f};
  const float above[4] = {0.0625f, 0.125f, 0.5f, 0.953125f};
  const float five[8] = {-1.5f, -0.9375f, -0.125f, -0.03125f, 0.046875f, 0.09375f, 0.875f, 1.375f};
  const float four[6] = {-1.5f, -0.9375f, -0.125f, 0.046875f, 0.875f, 1.375f};
  for (const float* thresholds : {three, above}) {
    Test<ThresholdSplit, Default, FusedCodec>()(thresholds);
    Test<ThresholdSplit, Offset5, FusedCodec>()(thresholds);
    Test<ThresholdSplit, Offset4, FusedCodec>()(thresholds);
    Test<ThresholdSplit, NoShift, FusedCodec>()(thresholds);
    Test<ThresholdSplit, NoShiftOffset, FusedCodec>()(thresholds);
    Test<ThresholdSplit, OuterOnly, ByToken>()(thresholds);
    Test<ThresholdSplit, PerHead, ByChunk>()(thresholds);
  }
  Test<NestedBands<2, 2>, NestedQuant<2, 2>, Wide>()(five);
  Test<NestedBands<2, 2>, NestedQuant<2, 2, OutlierCode::kOffsetBinary4>, FusedCodec>()(five);
  Test<NestedBands<2, 1>, NestedQuant<2, 1, OutlierCode::kOffsetBinary5>, WideByToken>()(four);
  Test<NestedBands<1, 2>, NestedQuant<1, 2>, Wide>()(four);
  Test<NestedBands<1, 0>, NestedQuant<1, 0>, FusedCodec>()(three + 1);
  Test<NestedBands<0, 1>, NestedQuant<0, 1>, FusedCodec>()(three + 1);
}

// Rows with every band, one-sided rows, far ones, tiny ones.
std::vector<float> mixed_rows(std::uint32_t seed, std::uint32_t tokens, std::uint32_t dim) {
  std::vector<float> rows = test::normal(seed, static_cast<std::size_t>(tokens) * dim, 0.8f);
  for (std::uint32_t t = 0; t < tokens; ++t) {
    float* row = &rows[static_cast<std::size_t>(t) * dim];
    for (std::uint32_t c = 0; c < dim; ++c) {
      if (t % 8 == 1) row[c] = std::fabs(row[c]);
      if (t % 8 == 2) row[c] = -std::fabs(row[c]);
      if (t % 8 == 3) row[c] *= 100.0f;
      if (t % 8 == 4) row[c] *= 1e-5f;
      if (t % 8 == 5) row[c] = 0.5f;
    }
  }
  return rows;
}

template <class Split, class Quant, class Codec>
struct Properties {
  void operator()(const float* thresholds) {
    constexpr std::uint32_t kDim = 80;  // a short last chunk
    using F = Fixture<kDim, Split, Quant, Codec>;
    CAPTURE(Quant::kId.view());
    const std::vector<float> rows = mixed_rows(91, 64, kDim);
    F f(thresholds);
    f.encode(rows, 0);

    std::uint32_t apart = 0;
    for (const float x : rows) apart += f.split.band(x).band != Band::kMiddle;
    CHECK(f.counters.outliers == apart);
    CHECK(f.counters.outer + f.counters.inner == apart);
    std::uint32_t counted = 0;
    for (std::uint32_t i = 0; i < F::Layout::kOutlierBytes; ++i)
      counted += f.block[F::Layout::kCountsAt + i];
    CHECK(counted == apart);
    CHECK(F::Layout::spill_bytes(f.block.data(), 64) == f.spill_bytes);
    std::uint32_t need = 0;
    for (std::uint32_t t = 0; t < 64; ++t) {
      CHECK(F::Layout::spill_bytes(f.block.data(), t) == need);
      need += F::Layout::spill_need(f.split, &rows[t * kDim]);
    }
    CHECK(need == f.spill_bytes);
    CHECK(need <= 64 * F::Layout::kTokenSpillBytes);

    const std::vector<float> back = f.decode(0, 64);
    int beyond = 0;
    int sides = 0;
    for (std::uint32_t t = 0; t < 64; ++t) {
      const auto parameters = F::Layout::parameters(f.bytes(), t);
      for (std::uint32_t c = 0; c < kDim; ++c) {
        const float x = rows[t * kDim + c];
        const float y = back[t * kDim + c];
        const BandSide at = f.split.band(x);
        const float step = parameters.of(at).step;
        // Four float roundings of values below |x| + 2 (shift, scale, add, shift back).
        const float rounding = 0x1p-22f * (std::fabs(x) + 2.0f);
        beyond += !(std::fabs(y - x) <= (Quant::divides(at.band) ? step : step / 2) + rounding);
        // The decoder finds the encoder's side of everything that was shifted.
        if (!Quant::shifts(at.band)) continue;
        const float edge = f.split.edge(at);
        sides += !(at.low ? y <= edge + rounding : y >= edge - rounding);
      }
    }
    CHECK(beyond == 0);
    CHECK(sides == 0);
    // Any range reads without the rest, and streaming changes no byte.
    const std::vector<float> part = f.decode(21, 7);
    CHECK(part == std::vector<float>(back.begin() + 21 * kDim, back.begin() + 28 * kDim));
    F steps(thresholds);
    for (std::uint32_t t = 0; t < 64; t += 4)
      steps.encode(std::span(rows).subspan(t * kDim, 4 * kDim), t);
    CHECK(steps.block == f.block);
    CHECK(steps.shared == f.shared);
    CHECK(steps.spill == f.spill);
  }
};

// Bytes of any content: reads stay inside the spill, which ends where its memory ends (the
// sanitizers see the next byte), writes inside the rows.
template <class Split, class Quant, class Codec>
struct Damaged {
  void operator()(const float* thresholds) {
    constexpr std::uint32_t kDim = 70;
    using F = Fixture<kDim, Split, Quant, Codec>;
    CAPTURE(Quant::kId.view());
    F f(thresholds);
    f.encode(mixed_rows(5, 64, kDim), 0);
    test::Generator random(17);
    const auto spoil = [&](std::vector<std::uint8_t>& bytes, std::uint32_t one_in) {
      for (std::uint8_t& b : bytes) {
        if (random.below(one_in) == 0) b = static_cast<std::uint8_t>(random.bits() >> 24);
      }
    };
    // Entries lead at most 127 channels beyond the 70 of a row.
    constexpr std::uint32_t kGuard = 128;
    for (std::uint32_t round = 0; round < 12; ++round) {
      F g = f;
      spoil(g.block, round % 3 == 0 ? 1 : 50);
      spoil(g.shared, 20);
      spoil(g.spill, round % 2 == 0 ? 1 : 10);
      const std::uint32_t left = round % 4 == 0 ? 0 : random.below(f.spill_bytes + 1);
      const auto spill = std::make_unique<std::uint8_t[]>(left);
      if (left > 0) std::memcpy(spill.get(), g.spill.data(), left);
      for (std::uint32_t t = 0; t < 64; ++t) {
        std::vector<float> rows(kDim + 2 * kGuard, 12345.0f);
        F::Layout::decode(g.split, Quant{}, {g.block.data(), g.shared.data(), spill.get(), left}, t,
                          MutableRows{rows.data() + kGuard, 1, kDim});
        const auto untouched = [](float x) { return x == 12345.0f; };
        REQUIRE(std::all_of(rows.begin(), rows.begin() + kGuard, untouched));
        REQUIRE(std::all_of(rows.end() - kGuard, rows.end(), untouched));
      }
    }
  }
};

template <std::uint32_t kDim, class Codec>
double padding_bits(std::uint32_t tokens) {
  const float thresholds[4] = {-0.95f, -0.05f, 0.05f, 0.95f};
  float halves[4];
  for (int i = 0; i < 4; ++i) halves[i] = to_float(to_half(thresholds[i]));
  using F = Fixture<kDim, ThresholdSplit, Default, Codec>;
  double bytes = 0.0;
  double entries = 0.0;
  for (std::uint32_t b = 0; b < tokens / 64; ++b) {
    F f(halves);
    f.encode(test::uniform(1000 + b, 64 * kDim), 0);
    bytes += f.spill_bytes;
    entries += static_cast<double>(f.counters.outliers);
  }
  return 8.0 * (bytes - entries) / (tokens * kDim);
}

}  // namespace

TEST_CASE("golden C1: mixed groups, exact steps") {
  check_golden<16>(GOLDEN(C1), 0);
  check_golden<16, ThresholdSplit, PerHead>(GOLDEN(C1), 5);
}
TEST_CASE("golden C2: boundaries and a one-member group") {
  check_golden<64>(GOLDEN(C2), 63);
}
TEST_CASE("golden C3: inner band off zero, empty chunk") {
  check_golden<128>(GOLDEN(C3), 17);
  check_golden<128, ThresholdSplit, PerHead>(GOLDEN(C3), 63);
}
TEST_CASE("golden C4: five-bit offset binary, the side by the zero split") {
  check_golden<10, ThresholdSplit, Offset5>(GOLDEN(C4), 2);
}
TEST_CASE("golden C5a: 64 zeros are 64 inner entries") {
  check_golden<64>(GOLDEN(C5a), 1);
}
TEST_CASE("golden C5b: one constant middle group, no entries") {
  check_golden<64>(GOLDEN(C5b), 0);
}
TEST_CASE("goldens: shifts, thresholds all above zero") {
  check_golden<23, ThresholdSplit, NoShift>(GOLDEN(NoShift), 3);
  check_golden<23, ThresholdSplit, NoShiftOffset>(GOLDEN(NoShiftOffset), 4);
  check_golden<23, ThresholdSplit, OuterOnly>(GOLDEN(OuterOnly), 5);
}
TEST_CASE("goldens: four-bit outliers, entries of two bytes, padding") {
  check_golden<16, ThresholdSplit, Offset4>(GOLDEN(FourBit), 6);
  check_golden<16, ThresholdSplit, Default, Wide>(GOLDEN(Entry16), 7);
  check_golden<128, ThresholdSplit, Default, ByToken>(GOLDEN(ByToken), 8);
  check_golden<128, ThresholdSplit, Default, ByChunk>(GOLDEN(ByChunk), 9);
}
TEST_CASE("goldens: nested bands") {
  check_golden<23, NestedBands<2, 2>, NestedQuant<2, 2>, Wide>(GOLDEN(Nested), 10);
  check_golden<23, NestedBands<2, 2>, NestedQuant<2, 2, OutlierCode::kOffsetBinary4>>(
      GOLDEN(Nested4), 11);
  check_golden<23, NestedBands<2, 1>, NestedQuant<2, 1>, Wide>(GOLDEN(OuterRing), 12);
  check_golden<23, NestedBands<1, 2>, NestedQuant<1, 2, OutlierCode::kOffsetBinary5>, Wide>(
      GOLDEN(InnerRing), 13);
  check_golden<16, NestedBands<0, 1>, NestedQuant<0, 1>>(GOLDEN(NoOuter), 14);
  check_golden<16, NestedBands<1, 0>, NestedQuant<1, 0>>(GOLDEN(NoInner), 15);
}
TEST_CASE("NestedBands<1, 1> is ThresholdSplit") {
  check_golden<16, NestedBands<1, 1>>(GOLDEN(C1), 0);
  check_golden<128, NestedBands<1, 1>>(GOLDEN(C3), 17);
  check_golden<10, NestedBands<1, 1>, Offset5>(GOLDEN(C4), 2);
}

TEST_CASE("every variant: counts, spill, error bounds, sides, ranges, streaming") {
  every_variant<Properties>();
}
TEST_CASE("every variant: damaged bytes never lead outside") {
  every_variant<Damaged>();
}

TEST_CASE("padding costs what the docstring says") {
  // A list of n entries, n binomial of 64 or 128 elements at a share of 0.1, wastes (-n) mod 8
  // bytes: 0.386 bits per element at 64, 0.221 at 128, by summing the distribution. Over 2048 lists
  // the mean strays by less than 2.3 / sqrt(2048) = 0.05 bytes, one deviation; four: 0.026 bits at 64.
  CHECK(padding_bits<64, FusedCodec>(2048) == 0.0);
  CHECK(std::fabs(padding_bits<64, ByToken>(2048) - 0.386) < 0.026);
  CHECK(std::fabs(padding_bits<64, ByChunk>(2048) - 0.386) < 0.026);
  CHECK(std::fabs(padding_bits<128, ByToken>(2048) - 0.221) < 0.013);
  CHECK(std::fabs(padding_bits<128, ByChunk>(2048) - 0.386) < 0.018);
}

TEST_CASE("parameters span the heads of a layer by merge") {
  const ThresholdSplit split = ThresholdSplit::bind(golden::kC1Thresholds);
  // C1 cut into two heads of 8: the merged parameters are those of the whole.
  using Head = Fixture<8>::Layout;
  Head::Stat a;
  Head::Stat b;
  Head::observe(split, {}, golden::kC1Input, a);
  Head::observe(split, {}, golden::kC1Input + 8, b);
  std::uint8_t merged[12];
  Head::write_shared(Head::merge(b, a), 0, merged);
  CHECK(std::memcmp(merged, golden::kC1Parameters, 12) == 0);
}
