#include "kvpleat/codec/oaken_stages.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "golden/oaken_goldens.h"
#include "kvpleat/codec/fused.h"
#include "kvpleat/quant/group_shift.h"
#include "kvpleat/split/nested_bands.h"
#include "kvpleat/split/threshold.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

// Two heads of a token through the stages, as an engine would run them, against the codec.
template <class Split, class Quant, class Entry, SpillAlign kAlign>
void chain_is_the_codec(const float* thresholds) {
  constexpr std::uint32_t kDim = 80;
  constexpr std::uint32_t kSlot = 0;
  using Codec = BasicFusedCodec<Entry, kAlign>;
  using Layout = typename Codec::template Layout<kDim, Split, Quant, Role::kValue>;
  const Split split = Split::bind(thresholds);
  const std::vector<float> rows = test::normal(23, 2 * kDim, 0.8f);  // [2 heads, kDim]
  CAPTURE(Quant::kId.view());

  std::vector<std::uint8_t> shared(Layout::kSharedBytes, 0);
  if constexpr (!Quant::kPerHead) {
    typename Layout::Stat all;
    for (std::uint32_t h = 0; h < 2; ++h) Layout::observe(split, Quant{}, &rows[h * kDim], all);
    Layout::write_shared(all, kSlot, shared.data());
  }

  BandSide at[2][kDim];
  float u[2][kDim];
  typename Quant::Stat layer;
  for (std::uint32_t h = 0; h < 2; ++h) {
    oaken::classify(split, &rows[h * kDim], kDim, at[h]);
    oaken::shift<Quant>(split, &rows[h * kDim], at[h], kDim, u[h]);
    oaken::range<Quant>(u[h], at[h], kDim, layer);
  }
  for (std::uint32_t h = 0; h < 2; ++h) {
    std::vector<std::uint8_t> block(Layout::kBlockBytes, 0);
    std::vector<std::uint8_t> spill(Layout::kTokenSpillBytes, 0);
    SpillWriter writer{spill.data(), 0, Layout::kTokenSpillBytes};
    EncodeCounters counted;
    Layout::encode(split, Quant{}, {&rows[h * kDim], 1, kDim}, kSlot, shared.data(), block.data(),
                   writer, counted);

    typename Quant::Stat own = layer;
    if (Quant::kPerHead) {
      own = {};
      oaken::range<Quant>(u[h], at[h], kDim, own);
    }
    std::vector<std::uint8_t> ranges(Quant::kParameterBytes);
    Quant::write(own, ranges.data());
    std::uint8_t codes[kDim];
    oaken::code<Quant>(Quant::read(ranges.data()), u[h], at[h], kDim, codes);
    std::vector<std::uint8_t> dense(Layout::kRowBytes, 0xff);
    std::vector<std::uint8_t> counts(Layout::kChunks, 0xff);
    std::vector<std::uint8_t> compacted(Layout::kTokenSpillBytes, 0);
    SpillWriter stream{compacted.data(), 0, Layout::kTokenSpillBytes};
    EncodeCounters counters;
    oaken::compact<kDim, Quant, Entry, kAlign>(at[h], codes, dense.data(), counts.data(), stream,
                                               counters);

    const auto at_byte = [&](std::uint32_t first) {
      return block.begin() + static_cast<std::ptrdiff_t>(first);
    };
    CHECK(std::vector<std::uint8_t>(at_byte(0), at_byte(Layout::kRowBytes)) == dense);
    CHECK(std::vector<std::uint8_t>(at_byte(Layout::kCountsAt),
                                    at_byte(Layout::kCountsAt + Layout::kChunks)) == counts);
    if constexpr (Quant::kPerHead) {
      CHECK(std::vector<std::uint8_t>(at_byte(Layout::kCodeBytes),
                                      at_byte(Layout::kCodeBytes + Quant::kParameterBytes)) ==
            ranges);
    } else {
      shared.resize(Quant::kParameterBytes);
      CHECK(shared == ranges);
    }
    CHECK(stream.size == writer.size);
    CHECK(compacted == spill);
    CHECK(counters.outliers == counted.outliers);
    CHECK(counters.values == kDim);
  }
}

}  // namespace

TEST_CASE("stages one by one give golden C1") {
  constexpr std::uint32_t kDim = 16;
  using Quant = GroupShiftQuant<>;
  const ThresholdSplit split = ThresholdSplit::bind(golden::kC1Thresholds);
  BandSide at[kDim];
  oaken::classify(split, golden::kC1Input, kDim, at);
  const char* classes = "m- m+ m+ m- m+ m- o+ o+ o- o- i+ i- i+ m- m+ i-";
  for (std::uint32_t c = 0; c < kDim; ++c) {
    const char band = classes[3 * c];
    CHECK(at[c].band == (band == 'm' ? Band::kMiddle : band == 'o' ? Band::kOuter : Band::kInner));
    CHECK(at[c].low == (classes[3 * c + 1] == '-'));
  }
  float u[kDim];
  oaken::shift<Quant>(split, golden::kC1Input, at, kDim, u);
  const float shifted[kDim] = {-0.875f,   1.0f,   0.25f, -0.25f,  0.0625f, -0.03125f,
                               0.5f,      4.25f,  -1.0f, -0.625f, 0.0f,    -0.125f,
                               0.234375f, -0.75f, 0.5f,  -0.0625f};
  for (std::uint32_t c = 0; c < kDim; ++c) CHECK(u[c] == shifted[c]);
  Quant::Stat stat;
  oaken::range<Quant>(u, at, kDim, stat);
  std::uint8_t ranges[12];
  Quant::write(stat, ranges);
  for (std::uint32_t i = 0; i < 12; ++i) CHECK(ranges[i] == golden::kC1Parameters[i]);
  std::uint8_t codes[kDim];
  oaken::code<Quant>(Quant::read(ranges), u, at, kDim, codes);
  // Bit 4 of an outlier is its side or sign.
  const std::uint8_t expected[kDim] = {0,      15, 9, 5,      8,  6, 0,  15,
                                       16 + 2, 16, 0, 16 + 8, 15, 1, 11, 16 + 4};
  for (std::uint32_t c = 0; c < kDim; ++c) CHECK(codes[c] == expected[c]);
  std::uint8_t dense[8];
  std::uint8_t counts[1];
  std::uint8_t entries[16];
  SpillWriter spill{entries, 0, 16};
  EncodeCounters counters;
  oaken::compact<kDim, Quant, CooEntry8, SpillAlign::kBlock>(at, codes, dense, counts, spill,
                                                             counters);
  for (std::uint32_t i = 0; i < 8; ++i) CHECK(dense[i] == golden::kC1Dense[i]);
  CHECK(counts[0] == 8);
  CHECK(spill.size == 8);
  for (std::uint32_t i = 0; i < 8; ++i) CHECK(entries[i] == golden::kC1Spill[i]);
}

TEST_CASE("stages one by one give the codec's bytes") {
  const float three[4] = {-0.9375f, -0.0625f, 0.046875f, 0.953125f};
  const float five[8] = {-1.5f, -0.9375f, -0.125f, -0.03125f, 0.046875f, 0.09375f, 0.875f, 1.375f};
  chain_is_the_codec<ThresholdSplit, GroupShiftQuant<>, CooEntry8, SpillAlign::kBlock>(three);
  chain_is_the_codec<ThresholdSplit,
                     GroupShiftQuant<ShiftPolicy::kNone, OutlierCode::kOffsetBinary5>, CooEntry8,
                     SpillAlign::kToken>(three);
  chain_is_the_codec<
      ThresholdSplit,
      GroupShiftQuant<ShiftPolicy::kOuterOnly, OutlierCode::kSignMagnitude5, ParameterScope::kHead>,
      CooEntry8, SpillAlign::kChunk>(three);
  chain_is_the_codec<NestedBands<2, 2>,
                     GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary5,
                                     ParameterScope::kLayer, 2, 2>,
                     CooEntry16, SpillAlign::kToken>(five);
}
