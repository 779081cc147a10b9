#include "kvpleat/codec/slots.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/quant/affine.h"
#include "kvpleat/split/top_k.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

template <std::uint32_t kDim, std::uint32_t kCount, class Quant = AffineQuant<4>,
          Role kRole = Role::kKey>
struct Fixture {
  using Split = TopKSplit<kCount>;
  using Layout = typename SlotCodec::Layout<kDim, Split, Quant, kRole>;

  std::vector<std::uint8_t> block = std::vector<std::uint8_t>(Layout::kBlockBytes, 0);
  EncodeCounters counters;
  SpillWriter spill;

  void encode(const std::vector<float>& rows, std::uint32_t slot) {
    Layout::encode(Split{}, Quant{}, Rows{rows.data(), rows.size() / kDim, kDim}, slot, nullptr,
                   block.data(), spill, counters);
  }
  std::vector<float> decode(std::uint32_t slot, std::uint32_t n) const {
    std::vector<float> rows(n * kDim);
    Layout::decode(Split{}, Quant{}, BlockBytes{block.data(), nullptr, nullptr, 0}, slot,
                   MutableRows{rows.data(), n, kDim});
    return rows;
  }
};

}  // namespace

TEST_CASE("slots: addresses of index, delta and scale behind the dense bytes") {
  // Per 16 tokens: 8 one-byte indices and 8 deltas each, and a scale of two bytes each.
  using One = Fixture<128, 5>::Layout;
  CHECK(One::kSlots == 8);
  CHECK(One::kIndexBytes == 1);
  CHECK(One::kUnitBytes == 16 * 8 + 16 * 8 + 32);
  CHECK(One::kBlockBytes == 64 * 128 / 2 + 64 * 4 + 4 * One::kUnitBytes);
  // Two-byte indices from head_dim 257 on.
  CHECK(Fixture<256, 5>::Layout::kIndexBytes == 1);
  using Two = Fixture<257, 5>::Layout;
  CHECK(Two::kIndexBytes == 2);
  CHECK(Two::kUnitBytes == 32 * 8 + 16 * 8 + 32);

  const auto check = []<class Layout>() {
    const std::uint32_t base = Layout::kCodeBytes + Layout::kSideBytes;
    const std::uint32_t bytes = Layout::kIndexBytes;
    for (std::uint32_t t = 0; t < 64; ++t) {
      const std::uint32_t unit = base + t / 16 * Layout::kUnitBytes;
      for (std::uint32_t i = 0; i < 8; ++i) {
        const std::uint32_t place = i / 4 * 64 + t % 16 * 4 + i % 4;  // [N/4][16][4]
        CHECK(Layout::index_at(t, i) == unit + place * bytes);
        CHECK(Layout::delta_at(t, i) == unit + 128 * bytes + place);
      }
      CHECK(Layout::scale_at(t) == unit + 128 * bytes + 128 + t % 16 * 2);
    }
  };
  check.operator()<One>();
  check.operator()<Two>();
}

TEST_CASE("slots: outliers leave the range of the dense codes and come back by their delta") {
  Fixture<64, 4> f;
  std::vector<float> row(64);
  for (std::uint32_t c = 0; c < 64; ++c) row[c] = static_cast<float>(c % 16);  // step 1, low 0
  row[3] = 142.0f;           // the dense code is clamped to 15: delta 127
  row[17] = -127.0f;         // clamped to 0: delta -127
  row[18] = 79.0f;           // delta 64
  row[60] = 15.0f + 31.75f;  // delta 31.75 rounds to 32
  f.encode(row, 37);
  using Layout = decltype(f)::Layout;
  CHECK(f.counters.values == 64);
  CHECK(f.counters.outliers == 4);
  const std::uint32_t channels[4] = {3, 17, 18, 60};
  const int deltas[4] = {127, -127, 64, 32};
  for (std::uint32_t i = 0; i < 4; ++i) {
    CHECK(f.block[Layout::index_at(37, i)] == channels[i]);
    CHECK(static_cast<std::int8_t>(f.block[Layout::delta_at(37, i)]) == deltas[i]);
  }
  CHECK(to_float(load<Half>(f.block.data() + Layout::scale_at(37))) == 1.0f);
  std::vector<float> wanted = row;
  wanted[60] = 47.0f;
  CHECK(f.decode(37, 1) == wanted);
}

TEST_CASE("slots: two-byte channels are little endian") {
  Fixture<300, 4> f;
  std::vector<float> row(300, 0.0f);
  row[299] = 50.0f;
  row[258] = -40.0f;
  row[255] = 30.0f;
  row[0] = 20.0f;
  f.encode(row, 0);
  using Layout = decltype(f)::Layout;
  const std::uint32_t channels[4] = {0, 255, 258, 299};
  for (std::uint32_t i = 0; i < 4; ++i) {
    CHECK(f.block[Layout::index_at(0, i)] == channels[i] % 256);
    CHECK(f.block[Layout::index_at(0, i) + 1] == channels[i] / 256);
  }
  // Scale: max|x| / 127 rounded up to a half, error of an outlier at most half of it.
  const std::vector<float> back = f.decode(0, 1);
  const float half_scale = to_float(at_least<Half>(50.0f / 127.0f)) / 2.0f;
  for (std::uint32_t c = 0; c < 300; ++c) CHECK(std::fabs(back[c] - row[c]) <= half_scale);
}

TEST_CASE("slots: error of outliers is at most scale / 2, of the others at most step / 2") {
  Fixture<80, 3> f;
  std::vector<float> rows = test::uniform(81, 64 * 80);
  for (std::uint32_t t = 0; t < 64; ++t) rows[t * 80 + t % 80] *= 40.0f;
  f.encode(rows, 0);
  const std::vector<float> back = f.decode(0, 64);
  using Layout = decltype(f)::Layout;
  for (std::uint32_t t = 0; t < 64; ++t) {
    std::uint16_t channels[3];
    TopKSplit<3>().split(rows.data() + t * 80, 80, channels);
    const float scale = to_float(load<Half>(f.block.data() + Layout::scale_at(t)));
    const float step = to_float(Layout::Dense::load_scale(f.block.data(), t, 0).step);
    for (std::uint32_t c = 0; c < 80; ++c) {
      const bool outlier = std::find(channels, channels + 3, c) != channels + 3;
      const float x = rows[t * 80 + c];
      // Three float roundings (subtract, add twice) of values below 2 |x| + step.
      const float rounding = 0x1p-22f * (2.0f * std::fabs(x) + step);
      CHECK(std::fabs(back[t * 80 + c] - x) <= (outlier ? scale : step) / 2.0f + rounding);
    }
  }
}

TEST_CASE("slots: fewer outliers than slots leave zero bytes") {
  Fixture<3, 5> f;  // all three elements are outliers; five slots are empty
  f.encode({1.0f, -2.0f, 3.0f}, 20);
  using Layout = decltype(f)::Layout;
  CHECK(f.counters.outliers == 3);
  for (std::uint32_t i = 3; i < 8; ++i) {
    CHECK(f.block[Layout::index_at(20, i)] == 0);
    CHECK(f.block[Layout::delta_at(20, i)] == 0);
  }
  const std::vector<float> back = f.decode(20, 1);
  const float half_scale = to_float(at_least<Half>(3.0f / 127.0f)) / 2.0f;
  CHECK(std::fabs(back[0] - 1.0f) <= half_scale);
  CHECK(std::fabs(back[1] + 2.0f) <= half_scale);
  CHECK(std::fabs(back[2] - 3.0f) <= half_scale);
}

TEST_CASE("slots: a row of equal values is exact, zeros give zero deltas") {
  Fixture<16, 4> f;
  f.encode(std::vector<float>(16, 2.5f), 0);
  CHECK(f.decode(0, 1) == std::vector<float>(16, 2.5f));
  Fixture<16, 4> zeros;
  zeros.encode(std::vector<float>(16, 0.0f), 0);
  CHECK(zeros.decode(0, 1) == std::vector<float>(16, 0.0f));
}

TEST_CASE("slots with groups along tokens: every outlier of a seal stays out of the statistics") {
  using Quant = AffineQuant<4, 32, Axis::kTokens>;
  Fixture<8, 1, Quant> f;
  std::vector<float> rows(32 * 8);
  for (std::uint32_t t = 0; t < 32; ++t) {
    for (std::uint32_t c = 0; c < 8; ++c) rows[t * 8 + c] = static_cast<float>(t % 16) * 0.125f;
    rows[t * 8 + t % 8] = 100.0f;
  }
  f.encode(rows, 32);
  for (std::uint32_t c = 0; c < 8; ++c) {
    // Outliers took a few of the members; the range of the rest is at most 15 steps of 1/8.
    const auto scale = decltype(f)::Layout::Dense::load_scale(f.block.data(), 32, c);
    CHECK(to_float(scale.step) <= 0.125f);
    CHECK(to_float(scale.step) >= 0.0625f);
  }
  const std::vector<float> back = f.decode(32, 32);
  for (std::uint32_t i = 0; i < 32 * 8; ++i) CHECK(std::fabs(back[i] - rows[i]) <= 0.5f);
}

TEST_CASE("slots: a damaged channel is ignored") {
  Fixture<20, 4> f;
  f.encode(std::vector<float>(20, 1.0f), 0);
  using Layout = decltype(f)::Layout;
  f.block[Layout::index_at(0, 0)] = 200;
  f.block[Layout::delta_at(0, 0)] = 5;
  store(f.block.data() + Layout::scale_at(0), to_half(1.0f));
  CHECK(f.decode(0, 1) == std::vector<float>(20, 1.0f));
}
