#include "kvpleat/codec/kept.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/format/tiered.h"
#include "support/format_laws.h"
#include "support/generator.h"

using namespace kvpleat;

namespace test {

// Half a step for what is kept, everything for the others.
template <std::uint32_t kDim, class Transform, class Split, class Quant, KeptIndex kIndex,
          Role kRole>
struct ErrorBound<BlockFormat<kDim, Transform, Split, Quant, KeptCodec<kIndex>, kRole>> {
  using F = BlockFormat<kDim, Transform, Split, Quant, KeptCodec<kIndex>, kRole>;
  static float of(const F& format, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    std::uint16_t channels[Split::kMaxOutliers];
    const std::uint32_t count = format.split.split(row, kDim, channels);
    const float size = std::fabs(row[c]);
    if (std::find(channels, channels + count, c) == channels + count) return size;
    const float step = to_float(load<Half>(data.block.data() + F::Layout::kStepsAt + 2 * slot));
    // A group of one magnitude keeps the nearest half: 2^-11 of it, or 2^-25.
    return std::fmax(step / 2.0f, std::fmax(size * 0x1p-11f, 0x1p-25f)) + 0x1p-22f * size;
  }
};

}  // namespace test

namespace {

template <std::uint32_t kDim>
using ThreeOfAList = formats::Kept<kDim, 3, KeptIndex::kList>;
template <std::uint32_t kDim>
using ThreeOfABitmap = formats::Kept<kDim, 3, KeptIndex::kBitmap>;

// Squared error of Gaussian rows over their energy.
template <class F>
double lost(std::uint32_t seed) {
  const std::vector<float> rows = test::normal(seed, std::size_t{64} * F::kDim);
  F format;
  std::vector<std::uint8_t> block(F::kBlockBytes);
  SpillWriter spill;
  EncodeCounters counters;
  format.encode(Rows{rows.data(), 64, F::kDim}, 0, nullptr, block.data(), spill, counters);
  std::vector<float> back(rows.size());
  format.decode(BlockBytes{block.data(), nullptr, nullptr, 0}, 0,
                MutableRows{back.data(), 64, F::kDim});
  double error = 0.0;
  double energy = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    error += std::pow(static_cast<double>(rows[i] - back[i]), 2);
    energy += std::pow(static_cast<double>(rows[i]), 2);
  }
  return error / energy;
}

}  // namespace

TEST_CASE("laws: kept by a list, kept behind a bitmap") {
  test::key_and_value<formats::KeptList, 1, 40, 64>();
  test::key_and_value<formats::KeptBitmap, 1, 40, 128>();
  test::key_and_value<ThreeOfAList, 5, 576>();
  test::key_and_value<ThreeOfABitmap, 5, 576>();
}

TEST_CASE("kept: bytes of a token") {
  // Largest 7: step 1, so codes are 8 + value. Channels 1, 6, 9 of 12: four bits each.
  std::vector<float> row(12, 0.25f);
  row[1] = 7.0f;
  row[6] = -3.0f;
  row[9] = 2.0f;
  SpillWriter spill;
  EncodeCounters counters;
  std::vector<std::uint8_t> list(ThreeOfAList<12>::kBlockBytes);
  ThreeOfAList<12>().encode(Rows{row.data(), 1, 12}, 2, nullptr, list.data(), spill, counters);
  CHECK(list[2 * 2] == 0x61);
  CHECK(list[2 * 2 + 1] == 0x09);
  CHECK(list[64 * 2 + 2 * 2] == 0x5f);      // codes 15, 5
  CHECK(list[64 * 2 + 2 * 2 + 1] == 0x0a);  // 10
  CHECK(to_float(load<Half>(list.data() + 64 * 4 + 2 * 2)) == 1.0f);
  std::vector<std::uint8_t> bitmap(ThreeOfABitmap<12>::kBlockBytes);
  ThreeOfABitmap<12>().encode(Rows{row.data(), 1, 12}, 2, nullptr, bitmap.data(), spill, counters);
  CHECK(bitmap[2 * 2] == 0x42);
  CHECK(bitmap[2 * 2 + 1] == 0x02);
  CHECK(bitmap[64 * 2 + 2 * 2] == 0x5f);
  CHECK(bitmap[64 * 2 + 2 * 2 + 1] == 0x0a);
  CHECK(counters.outliers == 6);
}

TEST_CASE("kept: damaged bytes stay in their row") {
  std::vector<std::uint8_t> block(ThreeOfAList<12>::kBlockBytes, 0xff);
  std::vector<float> back(64 * 12 + 1, 5.0f);
  ThreeOfAList<12>().decode(BlockBytes{block.data(), nullptr, nullptr, 0}, 0,
                            MutableRows{back.data(), 64, 12});
  CHECK(back.back() == 5.0f);
  block.assign(ThreeOfABitmap<12>::kBlockBytes, 0xff);
  ThreeOfABitmap<12>().decode(BlockBytes{block.data(), nullptr, nullptr, 0}, 0,
                              MutableRows{back.data(), 64, 12});
  CHECK(back.back() == 5.0f);
}

TEST_CASE("kept: at equal bytes a list keeps twice and a bitmap four times what a table does") {
  CHECK(formats::KeptList<64>::kBlockBytes == formats::HashSparse<64>::kBlockBytes);
  CHECK(formats::KeptBitmap<64>::kBlockBytes == formats::HashSparse<64>::kBlockBytes);
  const double table = lost<formats::HashSparse<64>>(1);
  const double list = lost<formats::KeptList<64>>(1);
  const double bitmap = lost<formats::KeptBitmap<64>>(1);
  const double dense = lost<formats::Adaptive4<64>>(1);  // SymmetricQuant<4>, also 4.25 bits
  MESSAGE("lost of Gaussian rows at 4.25 bits: table " << table << ", list " << list << ", bitmap "
                                                       << bitmap << ", dense " << dense);
  CHECK(list < 0.5 * table);
  CHECK(bitmap < 0.2 * list);
  CHECK(dense < bitmap);  // of 64 alike, none can be left out
}
