#include "kvpleat/codec/direction.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/codebook.h"
#include "kvpleat/split/direction.h"
#include "kvpleat/split/top_k.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

using Quant = CodebookQuant<4, SphereBook<64>, ScalePolicy::kLeastSquares, LogScale8>;
using F = BlockFormat<64, NoTransform, DirectionSplit<64>, Quant, DirectionCodec>;
using Dense = BlockFormat<64, NoTransform, NoSplit, Quant, DenseCodec>;

// Direction (1, -1, 1, ..) / 8, step 1/4.
std::vector<float> profile(float step) {
  std::vector<float> result;
  for (std::uint32_t c = 0; c < 64; ++c) result.push_back(c % 2 == 0 ? 0.125f : -0.125f);
  result.push_back(step);
  return result;
}

template <class Format>
std::vector<float> round_trip(const Format& format, const std::vector<float>& rows,
                              std::vector<std::uint8_t>& block) {
  block.assign(Format::kBlockBytes, 0);
  std::vector<float> back(rows.size());
  SpillWriter spill;
  EncodeCounters counters;
  format.encode(Rows{rows.data(), rows.size() / 64, 64}, 3, nullptr, block.data(), spill, counters);
  CHECK(counters.values == rows.size());
  format.decode({block.data(), nullptr, nullptr, 0}, 3,
                MutableRows{back.data(), rows.size() / 64, 64});
  return back;
}
double energy(const std::vector<float>& x) {
  double sum = 0.0;
  for (const float v : x) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}
double along(const float* x, const std::vector<float>& direction) {
  double sum = 0.0;
  for (std::size_t c = 0; c < 64; ++c)
    sum += static_cast<double>(x[c]) * static_cast<double>(direction[c]);
  return sum;
}

}  // namespace

TEST_CASE("direction codec: without a direction the bytes of the dense codec, then zeros") {
  const std::vector<float> rows = test::normal(1, 4 * 64);
  std::vector<std::uint8_t> block;
  std::vector<std::uint8_t> dense;
  const std::vector<float> back = round_trip(F{}, rows, block);
  CHECK(back == round_trip(Dense{}, rows, dense));
  REQUIRE(block.size() == dense.size() + 64);
  dense.resize(block.size(), 0);
  CHECK(block == dense);
}

TEST_CASE("direction codec: tokens far along the direction lose no more than others") {
  const std::vector<float> own = profile(0.25f);
  const F format = F::bind({own.data(), nullptr, nullptr});
  std::vector<float> rows = test::normal(2, 60 * 64);
  for (std::uint32_t t = 0; t < 60; t += 3) {
    for (std::uint32_t c = 0; c < 64; ++c) rows[t * 64 + c] += 24.0f * own[c];
  }
  std::vector<std::uint8_t> block;
  std::vector<std::uint8_t> dense;
  const std::vector<float> back = round_trip(format, rows, block);
  const std::vector<float> plain = round_trip(Dense{}, rows, dense);
  double lost[2][2] = {};  // [far along][with the direction]
  for (std::uint32_t t = 0; t < 60; ++t) {
    for (std::uint32_t c = 0; c < 64; ++c) {
      const std::size_t i = t * 64 + c;
      lost[t % 3 == 0][1] += std::pow(static_cast<double>(back[i] - rows[i]), 2.0);
      lost[t % 3 == 0][0] += std::pow(static_cast<double>(plain[i] - rows[i]), 2.0);
    }
    // Along the direction: half a step, and the rounding of sums of values below 32.
    CHECK(std::fabs(along(back.data() + t * 64, own) - along(rows.data() + t * 64, own)) <=
          0.125 + 64 * 0x1p-20);
  }
  // Such a row has 64 + 24^2 = 10 times the energy of another, and so has its error without the
  // direction. With it all rows are alike, but for the codebook: 20 rows of 64 errors each, a
  // standard deviation of 1.2 / sqrt(1280) = 3.4 % of their mean, twice.
  CHECK(lost[1][0] / 20.0 > 8.0 * lost[0][0] / 40.0);
  CHECK(lost[1][1] / 20.0 == doctest::Approx(lost[0][1] / 40.0).epsilon(0.2));
  CHECK(lost[0][1] < 1.05 * lost[0][0]);
}

TEST_CASE("direction codec: a clamped coefficient leaves the rest to the codes") {
  const std::vector<float> own = profile(0.01f);  // reaches 1.27
  const F format = F::bind({own.data(), nullptr, nullptr});
  std::vector<float> row(64);
  for (std::uint32_t c = 0; c < 64; ++c) row[c] = 40.0f * own[c];
  std::vector<std::uint8_t> block;
  const std::vector<float> back = round_trip(format, row, block);
  CHECK(static_cast<std::int8_t>(block[F::Layout::kCoefficients + 3]) == 127);
  std::vector<float> error(64);
  for (std::size_t c = 0; c < 64; ++c) error[c] = back[c] - row[c];
  // All magnitudes are equal, level 0.93189 is theirs: least squares is exact but for LogScale8.
  CHECK(energy(error) <= 0.0225 * 0.0225 * energy(row));
  const std::vector<float> zero(64, 0.0f);
  CHECK(round_trip(format, zero, block) == zero);
}

TEST_CASE("direction codec: what it composes with") {
  CHECK(composable<DirectionSplit<64>, Quant, DirectionCodec>);
  CHECK(composable<DirectionSplit<64>, AffineQuant<4>, DirectionCodec>);
  CHECK(composable<NoSplit, Quant, DirectionCodec>.refusal == Refusal::kDirectionNeedsSplit);
  CHECK(composable<TopKSplit<2>, Quant, DirectionCodec>.refusal == Refusal::kDirectionNeedsSplit);
  CHECK(composable<DirectionSplit<64>, AffineQuant<4, 32, Axis::kTokens>, DirectionCodec>.refusal ==
        Refusal::kDirectionNeedsSplit);
  CHECK(composable<DirectionSplit<64>, Quant, DenseCodec>.refusal ==
        Refusal::kDenseTakesNoOutliers);
  // The bound of a quantizer that knows the RMS, and of one that does not.
  CHECK(F::kLargest == Quant::kLargestRms<64>);
  using Affine = BlockFormat<64, NoTransform, DirectionSplit<64>, AffineQuant<4>, DirectionCodec>;
  CHECK(Affine::kLargest == kLargestHalf / 8.0f);
}
