#include "kvpleat/codec/sparse.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/core/bytes.h"
#include "kvpleat/format/composable.h"
#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/group_shift.h"
#include "kvpleat/quant/nuq.h"
#include "kvpleat/quant/symmetric.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/split/range.h"
#include "kvpleat/split/threshold.h"
#include "kvpleat/split/top_k.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

static_assert(composable<RangeSplit<>, NuqQuant<4>, SparseCodec>);
static_assert(composable<RangeSplit<7>, NuqQuant<3, NuqScale::kNone>, SparseCodec>);
static_assert(composable<TopKSplit<64>, SymmetricQuant<4, 32>, SparseCodec>);
static_assert(composable<ThresholdSplit, AffineQuant<2>, SparseCodec>);
static_assert(composable<NoSplit, AffineQuant<4>, SparseCodec>.refusal ==
              Refusal::kSparseNeedsSplit);
static_assert(composable<TopKSplit<1>, AffineQuant<4, 32, Axis::kTokens>, SparseCodec>.refusal ==
              Refusal::kSparseNeedsTokens);
static_assert(composable<ThresholdSplit, GroupShiftQuant<>, SparseCodec>.refusal ==
              Refusal::kGroupShiftNeedsFused);

template <std::uint32_t kDim, class SplitType, class Quant = AffineQuant<4>,
          Role kRole = Role::kKey>
struct Fixture {
  using Layout = typename SparseCodec::Layout<kDim, SplitType, Quant, kRole>;

  SplitType split{};
  std::vector<std::uint8_t> block = std::vector<std::uint8_t>(Layout::kBlockBytes, 0);
  std::vector<std::uint8_t> spill;
  EncodeCounters counters;

  // rows: [tokens, kDim], behind what was spilled before.
  void encode(const std::vector<float>& rows, std::uint32_t slot) {
    const auto before = static_cast<std::uint32_t>(spill.size());
    std::uint32_t need = 0;
    for (std::size_t t = 0; t < rows.size() / kDim; ++t)
      need += Layout::spill_need(split, rows.data() + t * kDim);
    spill.resize(before + need);
    SpillWriter writer{spill.data(), before, before + need};
    Layout::encode(split, Quant{}, Rows{rows.data(), rows.size() / kDim, kDim}, slot, nullptr,
                   block.data(), writer, counters);
    CHECK(writer.size == before + need);
  }
  std::vector<float> decode(std::uint32_t slot, std::uint32_t n) const {
    // A copy of the exact size, so that a sanitizer sees any read behind it.
    const std::vector<std::uint8_t> bytes(spill);
    std::vector<float> rows(n * kDim);
    Layout::decode(
        split, Quant{},
        BlockBytes{block.data(), nullptr, bytes.data(), static_cast<std::uint32_t>(bytes.size())},
        slot, MutableRows{rows.data(), n, kDim});
    return rows;
  }
};

float as_half(float x) {
  return to_float(to_half(x));
}

}  // namespace

TEST_CASE("sparse: sizes of counts, channels and entries") {
  using Small = Fixture<64, TopKSplit<1>>::Layout;
  CHECK(Small::kCountBytes == 1);
  CHECK(Small::kIndexBytes == 1);
  CHECK(Small::kTokenSpillBytes == 3);
  CHECK(Small::kBlockBytes == 64 * 64 / 2 + 64 * 4 + 64);
  CHECK(Fixture<255, RangeSplit<>>::Layout::kCountBytes == 1);
  using Middle = Fixture<256, RangeSplit<>>::Layout;  // 256 outliers do not fit a byte
  CHECK(Middle::kCountBytes == 2);
  CHECK(Middle::kIndexBytes == 1);
  CHECK(Middle::kTokenSpillBytes == 256 * 3);
  using Large = Fixture<257, RangeSplit<5>>::Layout;
  CHECK(Large::kCountBytes == 1);
  CHECK(Large::kIndexBytes == 2);
  CHECK(Large::kTokenSpillBytes == 20);
  CHECK(Fixture<8, ThresholdSplit>::Layout::kMost == 8);
}

TEST_CASE("sparse: bytes of an entry and of a count") {
  Fixture<300, RangeSplit<>> f;
  std::vector<float> rows(2 * 300, 0.25f);
  rows[259] = -2.5f;
  rows[300 + 3] = 1.5f;
  rows[300 + 299] = 40.0f;
  f.encode(rows, 5);
  using Layout = decltype(f)::Layout;
  const std::uint8_t* counts = f.block.data() + Layout::kCodeBytes + Layout::kSideBytes;
  CHECK(counts[2 * 5] == 1);
  CHECK(counts[2 * 5 + 1] == 0);
  CHECK(counts[2 * 6] == 2);
  // Channel 259 = 0x103, -2.5 = 0xc100; 3, 1.5 = 0x3e00; 299 = 0x12b, 40 = 0x5100.
  CHECK(f.spill == std::vector<std::uint8_t>{3, 1, 0, 0xc1, 3, 0, 0, 0x3e, 0x2b, 1, 0, 0x51});
  CHECK(f.counters.outliers == 3);
  CHECK(f.counters.values == 600);
  CHECK(f.decode(5, 2)[259] == -2.5f);
  CHECK(f.decode(6, 1)[299] == 40.0f);
}

TEST_CASE("sparse: outliers are binary16, the others as if the outliers were not there") {
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    Fixture<72, TopKSplit<3>> f;
    std::vector<float> rows = test::uniform(seed, 64 * 72);
    for (std::uint32_t t = 0; t < 64; ++t) {
      for (std::uint32_t i = 0; i < 3; ++i)
        rows[t * 72 + (11 * t + 23 * i + seed) % 72] *= 100.0f + static_cast<float>(i);
    }
    f.encode(rows, 0);
    const std::vector<float> back = f.decode(0, 64);
    for (std::uint32_t t = 0; t < 64; ++t) {
      const float* row = rows.data() + t * 72;
      std::uint16_t channels[3];
      REQUIRE(f.split.split(row, 72, channels) == 3);
      AffineQuant<4> quant;
      AffineQuant<4>::Stat stat;
      for (std::uint16_t c = 0; c < 72; ++c) {
        if (std::find(channels, channels + 3, c) == channels + 3) quant.observe(row[c], stat);
      }
      const auto scale = quant.scale(stat);
      bool same = true;
      for (std::uint16_t c = 0; c < 72; ++c) {
        const bool apart = std::find(channels, channels + 3, c) != channels + 3;
        const float wanted =
            apart ? as_half(row[c]) : quant.decode(quant.encode(row[c], scale), scale);
        same = same && back[t * 72 + c] == wanted;
      }
      CHECK(same);
    }
  }
}

TEST_CASE("sparse: the place of an outlier holds its clamped code") {
  Fixture<16, TopKSplit<1>> f;
  std::vector<float> row(16);
  for (std::uint32_t c = 0; c < 16; ++c) row[c] = static_cast<float>(c) / 16.0f;
  row[4] = 50.0f;
  f.encode(row, 0);
  using Layout = decltype(f)::Layout;
  CHECK(Layout::Dense::Tile::get(f.block.data(), 0, 4) == 15);
  row[4] = -50.0f;
  f.spill.clear();
  f.encode(row, 0);
  CHECK(Layout::Dense::Tile::get(f.block.data(), 0, 4) == 0);
}

TEST_CASE("sparse: no outliers, all outliers") {
  Fixture<40, RangeSplit<>> none;
  const std::vector<float> quiet = test::uniform(3, 64 * 40);
  none.encode(quiet, 0);
  CHECK(none.spill.empty());
  // The tile and its scales are those of DenseCodec.
  using Layout = decltype(none)::Layout;
  std::vector<std::uint8_t> dense(Layout::Dense::kBytes, 0);
  Layout::Dense::encode(AffineQuant<4>{}, Rows{quiet.data(), 64, 40}, 0, dense.data(),
                        [](std::uint32_t, std::uint32_t) { return true; });
  CHECK(std::equal(dense.begin(), dense.end(), none.block.begin()));
  for (std::size_t i = dense.size(); i < none.block.size(); ++i) CHECK(none.block[i] == 0);

  Fixture<40, RangeSplit<>> all;
  std::vector<float> loud = quiet;
  for (float& x : loud) x = x < 0.0f ? x - 1.5f : x + 1.5f;
  all.encode(loud, 0);
  CHECK(all.spill.size() == 64 * 40 * 3);
  const std::vector<float> back = all.decode(0, 64);
  for (std::size_t i = 0; i < loud.size(); ++i) CHECK(back[i] == as_half(loud[i]));
}

TEST_CASE("sparse: a cap leaves the smaller outliers dense") {
  Fixture<16, RangeSplit<2>, NuqQuant<4, NuqScale::kNone>> f;
  std::vector<float> row(16, 0.0f);
  row[3] = 5.0f;
  row[7] = -9.0f;
  row[12] = 4.0f;
  f.encode(row, 0);
  CHECK(f.spill.size() == 6);
  const std::vector<float> back = f.decode(0, 1);
  CHECK(back[3] == 5.0f);
  CHECK(back[7] == -9.0f);
  CHECK(back[12] == 1.0f);  // the last signpost
}

TEST_CASE("sparse: a splitter by bands keeps both outer and inner values") {
  Fixture<8, ThresholdSplit> f;
  const float thresholds[4] = {-2.0f, -0.25f, 0.25f, 2.0f};
  f.split = ThresholdSplit::bind(thresholds);
  const std::vector<float> row = {0.125f, 1.0f, -3.0f, -0.0f, 0.5f, 2.5f, -1.0f, 2.0f};
  f.encode(row, 63);
  CHECK(f.counters.outliers == 4);
  const std::vector<float> back = f.decode(63, 1);
  for (const std::uint32_t c : {0u, 2u, 3u, 5u}) CHECK(back[c] == row[c]);
}

TEST_CASE("sparse: damaged counts, channels and a cut spill stay inside") {
  Fixture<40, TopKSplit<4>> f;
  f.encode(test::uniform(9, 64 * 40), 0);
  const auto whole = f;
  const std::vector<float> clean = f.decode(0, 64);
  test::Generator generator(10);
  for (int round = 0; round < 200; ++round) {
    f = whole;
    const std::uint32_t base = decltype(f)::Layout::Dense::kBytes;
    f.block[base + generator.below(64)] = static_cast<std::uint8_t>(generator.below(256));
    f.spill[generator.below(static_cast<std::uint32_t>(f.spill.size()))] =
        static_cast<std::uint8_t>(generator.below(256));
    f.spill.resize(generator.below(static_cast<std::uint32_t>(f.spill.size()) + 1));
    std::vector<float> guarded(66 * 40, 123.0f);
    const std::vector<std::uint8_t> bytes(f.spill);
    decltype(f)::Layout::decode(
        f.split, AffineQuant<4>{},
        BlockBytes{f.block.data(), nullptr, bytes.data(), static_cast<std::uint32_t>(bytes.size())},
        0, MutableRows{guarded.data() + 40, 64, 40});
    for (std::uint32_t c = 0; c < 40; ++c) {
      CHECK(guarded[c] == 123.0f);
      CHECK(guarded[65 * 40 + c] == 123.0f);
    }
  }
  // A channel that does not exist is passed over; the rest reads as before.
  f = whole;
  f.spill[0] = 255;
  const std::vector<float> back = f.decode(0, 64);
  std::uint32_t differ = 0;
  for (std::size_t i = 0; i < back.size(); ++i) differ += back[i] != clean[i];
  CHECK(differ == 1);
}
