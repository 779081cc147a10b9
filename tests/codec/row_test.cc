#include "kvpleat/codec/row.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kvpleat/codec/dense.h"
#include "kvpleat/codec/slots.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/group_shift.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/split/top_k.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

// Runs of four values: a tag that tells which run it is, then the values as integers.
struct RunOfFour {
  static constexpr std::uint32_t kValues = 4;
  static constexpr std::uint32_t kBytes = 5;
  static constexpr float kLargest = 100.0f;
  static constexpr auto kId = Text("quant=run_of_four");

  void encode(const float* values, std::uint8_t* bytes) const {
    bytes[0] = 0xee;
    for (std::uint32_t i = 0; i < 4; ++i)
      bytes[1 + i] = static_cast<std::uint8_t>(static_cast<int>(values[i]));
  }
  void decode(const std::uint8_t* bytes, float* values) const {
    for (std::uint32_t i = 0; i < 4; ++i) values[i] = static_cast<float>(bytes[1 + i]);
  }
};
struct WithScale : RunOfFour {
  static constexpr std::uint32_t kScaleBytes = 1;
};
static_assert(RowQuantizer<RunOfFour> && !Quantizer<RunOfFour> && !BandQuantizer<RunOfFour>);
static_assert(!RowQuantizer<AffineQuant<4>> && !RowQuantizer<GroupShiftQuant<>>);

template <class Quant>
using Rows12 = BlockFormat<12, NoTransform, NoSplit, Quant, RowCodec>;

}  // namespace

TEST_CASE("rows: token-major runs, the same for keys and values") {
  using Format = Rows12<RunOfFour>;
  static_assert(kvpleat::Format<Format>);
  CHECK(Format::kBlockBytes == 64 * 3 * 5);
  CHECK(Format::kSeal == 1);
  CHECK(Format::kLargest == 100.0f);
  std::vector<float> rows(64 * 12);
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i % 101);
  const auto check = [&]<class One>() {
    std::vector<std::uint8_t> block(One::kBlockBytes, 0);
    SpillWriter spill;
    EncodeCounters counters;
    One{}.encode(Rows{rows.data(), 64, 12}, 0, nullptr, block.data(), spill, counters);
    CHECK(counters.values == 64 * 12);
    for (std::uint32_t t = 0; t < 64; ++t) {
      for (std::uint32_t c = 0; c < 12; ++c) {
        CHECK(block[t * 15 + c / 4 * 5] == 0xee);
        CHECK(block[t * 15 + c / 4 * 5 + 1 + c % 4] == (t * 12 + c) % 101);
      }
    }
    std::vector<float> back(2 * 12);
    One{}.decode({block.data(), nullptr, nullptr, 0}, 7, MutableRows{back.data(), 2, 12});
    CHECK(back == std::vector<float>(rows.begin() + 7 * 12, rows.begin() + 9 * 12));
    One::erase(block.data(), 1, 2);
    for (std::uint32_t i = 15; i < 45; ++i) CHECK(block[i] == 0);
    CHECK(block[14] != 0);
    CHECK(block[45] == 0xee);
  };
  check.operator()<Format::As<Role::kKey>>();
  check.operator()<Format::As<Role::kValue>>();
}

TEST_CASE("rows: kScaleBytes tells codes and scales apart") {
  CHECK(Rows12<RunOfFour>::kCodeBytes == 64 * 15);
  CHECK(Rows12<RunOfFour>::kSideBytes == 0);
  CHECK(Rows12<WithScale>::kCodeBytes == 64 * 12);
  CHECK(Rows12<WithScale>::kSideBytes == 64 * 3);
  CHECK(Rows12<WithScale>::kBlockBytes == 64 * 15);
}

TEST_CASE("rows: what composes with RowCodec, and what does not") {
  CHECK(composable<NoSplit, RunOfFour, RowCodec>);
  CHECK(composable<NoSplit, AffineQuant<4>, RowCodec>.refusal == Refusal::kRowsNeedRowQuantizer);
  CHECK(composable<NoSplit, GroupShiftQuant<>, RowCodec>.refusal == Refusal::kRowsNeedRowQuantizer);
  CHECK(composable<TopKSplit<4>, RunOfFour, RowCodec>.refusal == Refusal::kRowsTakeNoOutliers);
  CHECK(composable<NoSplit, RunOfFour, DenseCodec>.refusal == Refusal::kRowQuantizerNeedsRows);
  CHECK(composable<TopKSplit<4>, RunOfFour, SlotCodec>.refusal == Refusal::kRowQuantizerNeedsRows);
}
