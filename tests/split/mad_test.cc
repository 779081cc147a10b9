#include "kvpleat/split/mad.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kvpleat/core/concepts.h"
#include "kvpleat/format/formats.h"
#include "support/gaussian.h"

using namespace kvpleat;

static_assert(VectorSplitter<MadSplit<4>> && CountingSplitter<MadSplit<4>>);
static_assert(CountingSplitter<MadSplit<4, MadOfTensor>> && RowFilter<MadClamp<>>);
static_assert(RowFilter<MadClamp<MadOfChannel<64>>> && !RowFilter<MadSplit<4>>);
static_assert(!CountingSplitter<TopKSplit<4>> && !VectorSplitter<MadClamp<>>);
static_assert(MadSplit<4, MadOfChannel<64>>::kProfileSize == 128);
static_assert(composable<MadClamp<>, AffineQuant<4, 64, Axis::kTokens>, DenseCodec>);
static_assert(composable<MadClamp<>, RenewedScale<8, 128>, DenseCodec>);
static_assert(composable<MadClamp<>, SealedScale<8, 128>, DenseCodec>.refusal ==
              Refusal::kFilterNeedsShortGroups);
static_assert(composable<MadClamp<>, AffineQuant<4, 128, Axis::kTokens>, DenseCodec>.refusal ==
              Refusal::kFilterNeedsShortGroups);

namespace {

float median_of(const std::vector<float>& x) {
  return mad::lower_median(static_cast<std::uint32_t>(x.size()),
                           [&](std::uint32_t i) { return x[i]; });
}
float median_by_sorting(std::vector<float> x) {
  std::sort(x.begin(), x.end());
  return x[(x.size() - 1) / 2];
}
template <class Split>
std::vector<std::uint16_t> channels_of(const Split& split, const std::vector<float>& row,
                                       EncodeCounters& counters) {
  std::vector<std::uint16_t> channels(Split::kMaxOutliers, 0xffff);
  channels.resize(
      split.split(row.data(), static_cast<std::uint32_t>(row.size()), channels.data(), counters));
  return channels;
}
template <class Split>
std::vector<std::uint16_t> channels_of(const std::vector<float>& row) {
  EncodeCounters counters;
  return channels_of(Split{}, row, counters);
}
std::vector<float> clamped(const std::vector<float>& row, EncodeCounters& counters) {
  std::vector<float> out(row.size());
  MadClamp<>().filter(row.data(), static_cast<std::uint32_t>(row.size()), out.data(), counters);
  return out;
}

// 13 values: median 0, deviations 0 0 1 1 1 1 1 1 1 2 2 and two far ones: MAD 1, limit 4.4478.
const std::vector<float> kKnown = {0, 1, -1, 1, -1, 50, 1, -1, 0, 2, -2, -1, -4.25f};

}  // namespace

TEST_CASE("MAD: the lower median is the one of a sort, for any sign, count and tie") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::vector<float> x = test::uniform(seed, 1 + seed * 10, seed % 2 == 0 ? 1e-6f : 1e6f);
    if (seed % 3 == 0) {
      for (float& v : x) v = std::round(v * 3.0f);  // many ties, zeros of both signs
    }
    CHECK(median_of(x) == median_by_sorting(x));
  }
  CHECK(median_of({4.0f, 1.0f, 3.0f, 2.0f}) == 2.0f);  // even: the lower of the middle two
  CHECK(median_of({-7.0f}) == -7.0f);
  CHECK(median_of({-kLargestFloat, kLargestFloat}) == -kLargestFloat);
}

TEST_CASE("MAD: the limit is 3 * 1.4826 times the median deviation") {
  const MadLimits limits = mad::limits_of(13, [](std::uint32_t i) { return kKnown[i]; });
  CHECK(limits.median == 0.0f);
  CHECK(limits.limit == doctest::Approx(3.0 * 1.4826));
  CHECK(channels_of<MadSplit<4>>(kKnown) == std::vector<std::uint16_t>{5});
  EncodeCounters counters;
  std::vector<float> wanted = kKnown;
  wanted[5] = limits.limit;
  CHECK(clamped(kKnown, counters) == wanted);
  CHECK(counters.clipped == 1);
  CHECK(counters.filters_off == 0);
}

TEST_CASE("MAD: at most kCount outliers, the farthest first, ties at the lowest channel") {
  std::vector<float> row = test::uniform(4, 64);
  row[3] = 20.0f;
  row[10] = -30.0f;
  row[11] = 20.0f + 2.0f * mad::limits_of(64, [&](std::uint32_t i) { return row[i]; }).median;
  row[40] = 25.0f;
  row[41] = -1000.0f;
  CHECK(channels_of<MadSplit<1>>(row) == std::vector<std::uint16_t>{41});
  CHECK(channels_of<MadSplit<3>>(row) == std::vector<std::uint16_t>{10, 40, 41});
  CHECK(channels_of<MadSplit<8>>(row) == std::vector<std::uint16_t>{3, 10, 11, 40, 41});
  // Equal deviations on either side of the median.
  std::vector<float> ties = test::uniform(5, 65);
  std::sort(ties.begin(), ties.end());
  const float median = ties[32];
  for (float& x : ties) x -= median;
  ties[7] = -64.0f;
  ties[40] = ties[50] = 64.0f;
  CHECK(channels_of<MadSplit<2>>(ties) == std::vector<std::uint16_t>{7, 40});
  ties[60] = 100.0f;  // takes the place of the later of two equal ones
  CHECK(channels_of<MadSplit<2>>(ties) == std::vector<std::uint16_t>{7, 60});
}

TEST_CASE("MAD 0: the filter is off, the head does not die, and it is counted") {
  // More than half of the values are equal: clamping to the limit would make all of them equal.
  std::vector<float> row(64, 0.25f);
  for (std::uint32_t c = 0; c < 31; ++c) row[c] = static_cast<float>(c);
  EncodeCounters counters;
  CHECK(channels_of(MadSplit<4>{}, row, counters).empty());
  CHECK(counters.filters_off == 1);
  CHECK(clamped(row, counters) == row);
  CHECK(counters.filters_off == 2);
  CHECK(counters.clipped == 0);
  // Not quite equal: a MAD under 2^-14 of the largest magnitude is none either.
  for (std::uint32_t c = 31; c < 64; ++c) row[c] = 0.25f + static_cast<float>(c) * 1e-6f;
  row[0] = 64.0f;
  CHECK(channels_of(MadSplit<4>{}, row, counters).empty());
  CHECK(clamped(row, counters) == row);
  CHECK(counters.filters_off == 4);
  // Just above: 2^-14 of 64 is 2^-8.
  for (std::uint32_t c = 0; c < 64; ++c) row[c] = (static_cast<float>(c % 3) - 1.0f) * 0x1p-8f;
  row[0] = 64.0f;
  CHECK(channels_of(MadSplit<4>{}, row, counters) == std::vector<std::uint16_t>{0});
  CHECK(counters.filters_off == 4);
}

TEST_CASE("MAD: a profile for a tensor, and one for every channel") {
  const float tensor[2] = {1.0f, 2.0f};
  const std::vector<float> row = {3.0f, 3.5f, -1.0f, -1.5f, 1.0f};
  EncodeCounters counters;
  CHECK(channels_of(MadSplit<4, MadOfTensor>::bind(tensor), row, counters) ==
        std::vector<std::uint16_t>{1, 3});
  std::vector<float> out(5);
  MadClamp<MadOfTensor>::bind(tensor).filter(row.data(), 5, out.data(), counters);
  CHECK(out == std::vector<float>{3.0f, 3.0f, -1.0f, -1.0f, 1.0f});
  CHECK(counters.clipped == 2);
  const float channels[10] = {0.0f, 1.0f, 3.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 9.0f, 1.0f};
  CHECK(channels_of(MadSplit<4, MadOfChannel<5>>::bind(channels), row, counters) ==
        std::vector<std::uint16_t>{0, 4});
  MadClamp<MadOfChannel<5>>::bind(channels).filter(row.data(), 5, out.data(), counters);
  CHECK(out == std::vector<float>{1.0f, 3.5f, -1.0f, -1.5f, 8.0f});
  CHECK(counters.filters_off == 4);  // two channels, twice
  // Profiles that are none.
  CHECK(!MadSplit<4, MadOfTensor>::valid(nullptr));
  CHECK(!MadClamp<MadOfChannel<5>>::valid(nullptr));
  CHECK(MadSplit<4, MadOfTensor>::valid(tensor));
  CHECK(MadSplit<4, MadOfChannel<5>>::valid(channels));
  const float negative[2] = {0.0f, -1.0f};
  const float infinite[2] = {0.0f, kInfinity};
  CHECK(!MadSplit<4, MadOfTensor>::valid(negative));
  CHECK(!MadSplit<4, MadOfTensor>::valid(infinite));
  CHECK(MadSplit<4>::valid(nullptr));
}

namespace {

// Mean squared error of rows of 64 values through a format, 32 blocks.
template <class F>
double error_of(const std::vector<float>& rows, const float* profile, EncodeCounters& counters) {
  BindContext context;
  context.profile = profile;
  const F format = F::bind(context);
  std::vector<float> back(rows.size());
  for (std::size_t at = 0; at < rows.size(); at += 64 * F::kDim) {
    std::vector<std::uint8_t> block(F::kBlockBytes, 0);
    SpillWriter spill;
    format.encode(Rows{rows.data() + at, 64, F::kDim}, 0, nullptr, block.data(), spill, counters);
    format.decode(BlockBytes{block.data(), nullptr, nullptr, 0}, 0,
                  MutableRows{back.data() + at, 64, F::kDim});
  }
  return test::mean_square_error(rows, back);
}
template <class Split, std::uint32_t kBits, class Codec>
using Coded = BlockFormat<64, NoTransform, Split, SymmetricQuant<kBits, 32>, Codec>;

}  // namespace

TEST_CASE("MAD: clamping costs 14 times the 8-bit error on Gaussian data, splitting nothing") {
  const std::vector<float> rows = test::gaussian(11, 64 * 64 * 32);
  // The tensor's own limit: median 0, three deviations.
  float tensor[2] = {0.0f, 0.0f};
  const MadLimits limits = mad::limits_of(static_cast<std::uint32_t>(rows.size()),
                                          [&](std::uint32_t i) { return rows[i]; });
  tensor[0] = limits.median;
  tensor[1] = limits.limit;
  CHECK(limits.median == doctest::Approx(0.0).epsilon(0.02));
  CHECK(limits.limit == doctest::Approx(3.0).epsilon(0.02));
  EncodeCounters plain_counts;
  EncodeCounters clamp_counts;
  EncodeCounters split_counts;
  const double plain8 = error_of<Coded<NoSplit, 8, DenseCodec>>(rows, nullptr, plain_counts);
  const double clamp8 =
      error_of<Coded<MadClamp<MadOfTensor>, 8, DenseCodec>>(rows, tensor, clamp_counts);
  const double split8 =
      error_of<Coded<MadSplit<4, MadOfTensor>, 8, SlotCodec>>(rows, tensor, split_counts);
  const double plain4 = error_of<Coded<NoSplit, 4, DenseCodec>>(rows, nullptr, plain_counts);
  const double clamp4 =
      error_of<Coded<MadClamp<MadOfTensor>, 4, DenseCodec>>(rows, tensor, clamp_counts);
  const double split4 =
      error_of<Coded<MadSplit<4, MadOfTensor>, 4, SlotCodec>>(rows, tensor, split_counts);
  MESSAGE("mean squared error, 8 bits: plain ", plain8, " clamped ", clamp8, " split ", split8,
          "; 4 bits: plain ", plain4, " clamped ", clamp4, " split ", split4);
  // 2 * integral over x > 3 of (x - 3)^2 of the density is 4.1e-4; 8 bits in groups of 32 lose
  // 2.8e-5. 2.7 in 1000 of 131072 values are clamped, about 354: their part is known to a quarter.
  const double clamping_alone = clamp8 - plain8;
  CHECK(clamping_alone / plain8 > 10.0);
  CHECK(clamping_alone / plain8 < 18.0);
  CHECK(clamp_counts.clipped == split_counts.outliers);  // no row has more than four
  CHECK(split8 < plain8);
  // At 4 bits the same loss is small beside that of the codes.
  CHECK(clamp4 < 1.1 * plain4);
  CHECK(split4 < plain4);
  CHECK(split_counts.filters_off == 0);
}

TEST_CASE("MAD: with real outliers both help the others, and only the split keeps the outliers") {
  std::vector<float> rows = test::gaussian(12, 64 * 64 * 32);
  for (std::size_t t = 0; t < rows.size() / 64; ++t) rows[t * 64 + (7 * t) % 64] *= 40.0f;
  EncodeCounters counters;
  const double plain = error_of<Coded<NoSplit, 4, DenseCodec>>(rows, nullptr, counters);
  const double clamp = error_of<Coded<MadClamp<>, 4, DenseCodec>>(rows, nullptr, counters);
  const double split = error_of<Coded<MadSplit<4>, 4, SlotCodec>>(rows, nullptr, counters);
  CHECK(split < 0.1 * plain);
  CHECK(clamp > 5.0 * split);
}

TEST_CASE("MAD in the spill: outliers to half an ulp of binary16, the rest as without them") {
  using F = BlockFormat<64, NoTransform, MadSplit<8>, AffineQuant<4>, SparseCodec>;
  std::vector<float> row = test::gaussian(13, 64);
  row[9] = 321.7f;
  row[50] = -77.3f;
  const std::uint16_t wanted[2] = {9, 50};
  REQUIRE(channels_of<MadSplit<8>>(row) == std::vector<std::uint16_t>(wanted, wanted + 2));
  std::vector<float> rows = row;
  rows.resize(128, 0.5f);  // a second token, of equal values: the filter is off
  const F format = F::bind({});
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  std::vector<std::uint8_t> memory(64);
  SpillWriter spill{memory.data(), 0, 64};
  EncodeCounters counters;
  CHECK(format.spill_need(row.data()) == 6);
  format.encode(Rows{rows.data(), 2, 64}, 0, nullptr, block.data(), spill, counters);
  CHECK(spill.size == 6);
  CHECK(counters.outliers == 2);
  CHECK(counters.filters_off == 1);
  std::vector<float> back(128);
  format.decode(BlockBytes{block.data(), nullptr, memory.data(), spill.size}, 0,
                MutableRows{back.data(), 2, 64});
  CHECK(back[9] == to_float(to_half(321.7f)));
  CHECK(back[50] == to_float(to_half(-77.3f)));
  for (std::uint32_t c = 0; c < 64; ++c) {
    // Half a step of what stays: at most 2 * 4.5 / 15.
    if (c != 9 && c != 50) CHECK(std::fabs(back[c] - row[c]) <= 0.31f);
    CHECK(back[64 + c] == 0.5f);
  }
}
