#include "kvpleat/codec/coo.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "golden/oaken_resident_goldens.h"
#include "kvpleat/calibrate/thresholds.h"
#include "kvpleat/core/half.h"
#include "kvpleat/format/formats.h"
#include "support/generator.h"
#include "support/oaken_rows.h"

using namespace kvpleat;

namespace {

// The golden rows of make_oaken_resident_goldens.py, from slot 14 on.
template <class F>
std::vector<std::uint8_t> golden_spill() {
  constexpr std::uint32_t kDim = 72;
  std::vector<float> rows;
  for (std::uint32_t t = 0; t < 6; ++t) {
    for (std::uint32_t c = 0; c < kDim; ++c) {
      float x = test::golden_input(t, c);
      if (c == 5) x = 3.5f + static_cast<float>(t) / 32.0f;
      if (t == 2) x = std::fabs(x);
      if (t == 3 && std::fabs(x) <= 3.5f)
        x = (c % 2 == 1 ? 1.0f : -2.0f) * (0.125f + static_cast<float>(32 + c) / 4096.0f);
      rows.push_back(x);
    }
  }
  BindContext context;
  context.profile = golden::kResidentThresholds;
  const F format = F::bind(context);
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  std::vector<std::uint8_t> shared(F::kSharedBytes, 0);
  std::vector<std::uint8_t> bytes(3 * rows.size(), 0);
  SpillWriter spill{bytes.data(), 0, static_cast<std::uint32_t>(bytes.size())};
  EncodeCounters counters;
  for (std::uint32_t t = 0; t < 6; ++t) {
    typename F::Stat stat;
    format.observe(rows.data() + t * kDim, stat);
    F::write_shared(stat, 14 + t, shared.data());
  }
  format.encode(Rows{rows.data(), 6, kDim}, 14, shared.data(), block.data(), spill, counters);
  bytes.resize(spill.size);
  // Outliers leave their nibbles empty.
  for (std::uint32_t t = 0; t < 6; ++t) {
    for (std::uint32_t c = 0; c < kDim; ++c) {
      if (format.split.band(rows[t * kDim + c]).band != Band::kMiddle)
        CHECK((block[(14 + t) * kDim / 2 + c / 2] >> (c % 2 * 4) & 15) == 0);
    }
  }
  return bytes;
}
template <class Bytes>
std::vector<std::uint8_t> listed(const Bytes& bytes) {
  return {std::begin(bytes), std::end(bytes)};
}

template <std::uint32_t kDim>
void check_values() {
  CAPTURE(kDim);
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    const std::vector<float> rows = test::hostile_rows(seed, 64, kDim);
    const auto published = test::block_of<formats::Oaken<kDim>>(rows, 64);
    const auto codes = test::block_of<formats::OakenCoo12<kDim>>(rows, 64);
    const auto values = test::block_of<formats::OakenCoo23<kDim>>(rows, 64);
    const auto a = test::rows_of<formats::Oaken<kDim>>(published, 0, 64);
    const auto b = test::rows_of<formats::OakenCoo12<kDim>>(codes, 0, 64);
    const auto c = test::rows_of<formats::OakenCoo23<kDim>>(values, 0, 64);
    CHECK(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
    const auto split =
        ThresholdSplit::bind(test::SampleProfile<formats::Oaken<kDim>>::make().data());
    std::uint32_t outliers = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool apart = split.band(rows[i]).band != Band::kMiddle;
      outliers += apart;
      CHECK(c[i] == (apart ? to_float(to_half(rows[i])) : a[i]));
    }
    CHECK(published.spill.size() == outliers);
    CHECK(values.spill.size() == 3 * outliers);
    CHECK(codes.counters.outliers == outliers);
    // At most half a byte is lost to a token.
    CHECK(codes.spill.size() >= (3 * outliers + 1) / 2);
    CHECK(codes.spill.size() <= (3 * outliers + 64) / 2);
  }
}

}  // namespace

TEST_CASE("golden: entries of 12 and 23 bits") {
  CHECK(golden_spill<formats::OakenCoo12<72>>() == listed(golden::kCoo12Spill));
  CHECK(golden_spill<formats::OakenCoo23<72>>() == listed(golden::kCoo23Spill));
}

TEST_CASE("coo: 12 bits decode as the fused 8 do, 23 bits to binary16") {
  check_values<64>();
  check_values<80>();
  check_values<129>();
}

TEST_CASE(
    "coo: what fusing saved, in bits per element of 8 heads of 128, from the bytes of a block") {
  constexpr std::uint32_t kDim = 128;
  constexpr std::uint32_t kHeads = 8;
  const std::vector<float> rows = test::normal(5, 64 * kHeads * kDim);
  std::vector<float> sorted = rows;
  float thresholds[4];
  REQUIRE(ok(band_thresholds(sorted.data(), sorted.size(), BandShares{40000, 60000}, thresholds)));
  BindContext context;
  context.profile = thresholds;
  const auto bits = [&]<class F>() {
    const F format = F::bind(context);
    std::uint64_t bytes = F::kSharedBytes + kHeads * F::kBlockBytes;
    for (std::uint32_t t = 0; t < 64 * kHeads; ++t) bytes += format.spill_need(&rows[t * kDim]);
    return 8.0 * static_cast<double>(bytes) / static_cast<double>(rows.size());
  };
  const double fused = bits.operator()<formats::Oaken<kDim>>();
  const double codes = bits.operator()<formats::OakenCoo12<kDim>>();
  const double values = bits.operator()<formats::OakenCoo23<kDim>>();
  // 10 % of outliers within 0.2 % (jagged_test.cc); half of the heads waste 4 bits: 2 / 128.
  CHECK(std::fabs(fused - (4.0 + 0.125 + 0.8 + 0.09375)) <= 8 * 0.002);
  CHECK(std::fabs(codes - (4.0 + 0.125 + 1.2 + 0.09375 + 0.015625)) <= 12 * 0.002 + 0.004);
  CHECK(std::fabs(values - (4.0 + 0.125 + 2.4 + 0.09375)) <= 24 * 0.002);
}

TEST_CASE("coo: damaged counts and entries never lead outside") {
  CHECK(test::stays_inside<formats::OakenCoo12<10>>(1));
  CHECK(test::stays_inside<formats::OakenCoo23<70>>(1));
}
