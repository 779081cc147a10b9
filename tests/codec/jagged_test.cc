#include "kvpleat/codec/jagged.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "golden/oaken_resident_goldens.h"
#include "kvpleat/calibrate/thresholds.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/format/formats.h"
#include "support/generator.h"
#include "support/oaken_rows.h"

using namespace kvpleat;

namespace {

template <std::uint32_t kDim, Role kRole>
using Resident = typename formats::OakenJds16<kDim>::template As<kRole>;
template <std::uint32_t kDim, Role kRole>
using Published = typename formats::Oaken<kDim>::template As<kRole>;

// --- golden -------------------------------------------------------------------------------------

constexpr std::uint32_t kGoldenDim = 72;
constexpr std::uint32_t kGoldenSlot = 14;
constexpr std::uint32_t kGoldenTokens = 6;

std::vector<float> golden_rows() {
  std::vector<float> rows;
  for (std::uint32_t t = 0; t < kGoldenTokens; ++t) {
    for (std::uint32_t c = 0; c < kGoldenDim; ++c) {
      float x = test::golden_input(t, c);
      if (c == 5) x = 3.5f + static_cast<float>(t) / 32.0f;
      if (t == 2) x = std::fabs(x);
      if (t == 3 && std::fabs(x) <= 3.5f)
        x = (c % 2 == 1 ? 1.0f : -2.0f) * (0.125f + static_cast<float>(32 + c) / 4096.0f);
      rows.push_back(x);
    }
  }
  return rows;
}

// What encoding the golden rows into slots 14 .. 19 gives.
template <class F>
test::BlockData golden_block(const F& format) {
  const std::vector<float> rows = golden_rows();
  test::BlockData data{std::vector<std::uint8_t>(F::kBlockBytes, 0),
                       std::vector<std::uint8_t>(F::kSharedBytes, 0),
                       {},
                       {}};
  std::uint32_t room = 0;
  for (std::uint32_t t = 0; t < kGoldenTokens; ++t) {
    typename F::Stat stat;
    format.observe(rows.data() + t * kGoldenDim, stat);
    F::write_shared(stat, kGoldenSlot + t, data.shared.data());
    room += format.spill_need(rows.data() + t * kGoldenDim);
  }
  data.spill.resize(room);
  SpillWriter spill{data.spill.data(), 0, room};
  format.encode(Rows{rows.data(), kGoldenTokens, kGoldenDim}, kGoldenSlot, data.shared.data(),
                data.block.data(), spill, data.counters);
  CHECK(spill.size == room);
  return data;
}
template <class F>
F golden_format() {
  BindContext context;
  context.profile = golden::kResidentThresholds;
  return F::bind(context);
}
template <class Bytes>
std::vector<std::uint8_t> listed(const Bytes& bytes) {
  return {std::begin(bytes), std::end(bytes)};
}
template <Role kRole>
void check_golden(std::uint64_t tile, const std::vector<std::uint8_t>& counts,
                  std::uint32_t first_count, const std::vector<std::uint8_t>& spill) {
  using F = Resident<kGoldenDim, kRole>;
  const test::BlockData data = golden_block(golden_format<F>());
  const auto* bytes = reinterpret_cast<const char*>(data.block.data());
  CHECK(fingerprint(std::string_view(bytes, F::kCodeBytes)) == tile);
  std::vector<std::uint8_t> wanted(F::kOutlierBytes, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) wanted[first_count + i] = counts[i];
  CHECK(std::vector<std::uint8_t>(data.block.begin() + F::kCodeBytes, data.block.end()) == wanted);
  CHECK(data.spill == spill);
}

// --- deltas -------------------------------------------------------------------------------------

// Checks constants and deltas of every token of hostile rows; returns the largest |delta|.
template <class F>
int check_deltas(std::uint32_t seed, std::uint32_t& one_sided, std::uint32_t& wide) {
  using Quant = decltype(F::quant);
  using Layout = typename F::Layout;
  const std::vector<float> rows = test::hostile_rows(seed, 64, F::kDim);
  const test::BlockData data = test::block_of<F>(rows, 64);
  const test::Surroundings around(F::kDim, test::SampleProfile<F>::make());
  const F format = F::bind(around.context());
  std::vector<JaggedConstants> constants;
  std::vector<typename Quant::Parameters> ranges;
  for (std::uint32_t t = 0; t < 64; ++t) {
    ranges.push_back(Layout::parameters(data.bytes(), t));
    constants.push_back(JaggedConstants::of<Quant>(format.split, ranges[t]));
    const JaggedConstants& own = constants[t];
    one_sided += own.zero_split == 255;
    wide += own.wide > 0.0f;
    CHECK(own.gap <= 15);
    for (std::uint32_t n = 0; n < 16; ++n) {
      const float exact = Quant::decode(format.split, ranges[t], n, {Band::kMiddle});
      // gap is within half a step of the real one, half of which is in the base; five roundings
      // of values below |exact| + 1 on either side.
      CHECK(std::fabs(own.dense(n) - exact) <=
            own.step / 4.0f + 0x1p-21f * (std::fabs(exact) + 1.0f));
    }
  }
  // No outlier that a token may have is more than 127 units from its dense value.
  for (std::uint32_t t = 0; t < 64; ++t) {
    const JaggedConstants& own = constants[t];
    for (std::uint32_t code = 0; code < 1u << Quant::kOutlierBits; ++code) {
      for (const Band band : {Band::kOuter, Band::kInner}) {
        const float value = Quant::decode(format.split, ranges[t], code, {band});
        const float dense = own.dense(code % 16);
        // As the deltas below.
        CHECK(std::fabs(value - dense) <= 127.0f * own.unit * (1.0f + 0x1p-21f) +
                                              0x1p-21f * (std::fabs(value) + std::fabs(own.base) +
                                                          256.0f * own.step + own.wide));
      }
    }
  }
  // Entries and deltas by the words of the format, not by the walk of the codec.
  int largest = 0;
  std::uint32_t seen = 0;
  const std::uint8_t* next = data.spill.data();
  const std::uint32_t lanes = Layout::kKeys ? 64 : (F::kDim + 15) / 16 * 16;
  const std::uint8_t* counts = data.block.data() + Layout::kCountsAt;
  const auto count = [&](std::uint32_t lane) {
    if (!Layout::kKeys) return static_cast<std::uint32_t>(counts[lane]);
    std::uint32_t sum = 0;
    for (std::uint32_t k = 0; k < Layout::kChunks; ++k) sum += counts[lane * Layout::kChunks + k];
    return sum;
  };
  for (std::uint32_t unit = 0; unit < lanes; unit += 16) {
    for (std::uint32_t g = 0;; g += 4) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> group;  // lane, number
      for (std::uint32_t lane = unit; lane < unit + 16; ++lane) {
        for (std::uint32_t i = g; i < g + 4 && i < count(lane); ++i) group.emplace_back(lane, i);
      }
      if (group.empty()) break;
      for (std::size_t i = 0; i < group.size(); ++i) {
        const auto [lane, number] = group[i];
        const std::uint32_t entry = next[i];
        const int delta = static_cast<std::int8_t>(next[group.size() + i]);
        std::uint32_t chunk = 0;
        for (std::uint32_t before = 0; Layout::kKeys; ++chunk) {
          before += counts[lane * Layout::kChunks + chunk];
          if (number < before) break;
        }
        const std::uint32_t t = Layout::kKeys ? lane : entry & 63u;
        const std::uint32_t c = Layout::kKeys ? chunk * 64 + (entry & 63u) : lane;
        REQUIRE(c < F::kDim);
        // The entry tells the band of the value that was encoded, and its side.
        const BandSide at = format.split.band(rows[t * F::kDim + c]);
        CHECK(((entry & 128u) != 0) == (at.band == Band::kOuter));
        const std::uint32_t nibble = Layout::Tile::get(data.block.data(), t, c);
        const float value = Quant::decode(format.split, ranges[t], nibble | (entry & 64u) >> 2, at);
        const JaggedConstants& own = constants[t];
        const double left = static_cast<double>(value) - static_cast<double>(own.dense(nibble)) -
                            static_cast<double>(delta) * static_cast<double>(own.unit);
        // The difference and its quotient by the unit round once each, 127 units at most; the bound
        // of a difference is made of values that round like dense().
        const double size = std::fabs(static_cast<double>(value)) +
                            std::fabs(static_cast<double>(own.base)) +
                            256.0 * static_cast<double>(own.step) + static_cast<double>(own.wide);
        CHECK(std::fabs(left) <=
              static_cast<double>(own.unit) * (0.5 + 127.0 * 0x1p-22) + size * 0x1p-22);
        largest = std::max(largest, std::abs(delta));
        ++seen;
      }
      next += 2 * group.size();
    }
  }
  CHECK(next == data.spill.data() + data.spill.size());
  CHECK(seen == data.counters.outliers);
  return largest;
}

template <std::uint32_t kDim, Role kRole>
void check_equal_to_published() {
  CAPTURE(kDim);
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    const std::vector<float> rows = test::hostile_rows(seed, 64, kDim);
    for (const std::uint32_t n : {64u, 63u, 17u, 16u, 1u}) {
      const auto published = test::block_of<Published<kDim, kRole>>(rows, n);
      const auto resident = test::block_of<Resident<kDim, kRole>>(rows, n);
      CHECK(resident.shared == published.shared);
      CHECK(resident.spill.size() == 2 * published.spill.size());
      CHECK(resident.counters.outer == published.counters.outer);
      CHECK(resident.counters.inner == published.counters.inner);
      const auto a = test::rows_of<Published<kDim, kRole>>(published, 0, n);
      const auto b = test::rows_of<Resident<kDim, kRole>>(resident, 0, n);
      CHECK(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
    }
  }
}

}  // namespace

TEST_CASE("golden: constants of the dense values") {
  using F = Resident<kGoldenDim, Role::kKey>;
  const F format = golden_format<F>();
  const test::BlockData data = golden_block(format);
  for (std::uint32_t t = 0; t < kGoldenTokens; ++t) {
    CAPTURE(t);
    const JaggedConstants found = JaggedConstants::of<GroupShiftQuant<>>(
        format.split, F::Layout::parameters(data.bytes(), kGoldenSlot + t));
    CHECK(found.base == golden::kResidentConstants[4 * t]);
    CHECK(found.step == golden::kResidentConstants[4 * t + 1]);
    CHECK(found.unit == golden::kResidentConstants[4 * t + 2]);
    CHECK(found.wide == golden::kResidentConstants[4 * t + 3]);
    CHECK(found.zero_split == golden::kResidentLevels[2 * t]);
    CHECK(found.gap == golden::kResidentLevels[2 * t + 1]);
  }
}
TEST_CASE("golden: jagged keys and values") {
  check_golden<Role::kKey>(golden::kJaggedKeyTile, listed(golden::kJaggedKeyCounts),
                           2 * kGoldenSlot, listed(golden::kJaggedKeySpill));
  check_golden<Role::kValue>(golden::kJaggedValueTile, listed(golden::kJaggedValueCounts), 0,
                             listed(golden::kJaggedValueSpill));
}

TEST_CASE("jagged: values are those of the published bytes, bit for bit") {
  check_equal_to_published<64, Role::kKey>();
  check_equal_to_published<64, Role::kValue>();
  check_equal_to_published<80, Role::kKey>();
  check_equal_to_published<80, Role::kValue>();
  check_equal_to_published<128, Role::kKey>();
  check_equal_to_published<128, Role::kValue>();
}

TEST_CASE("jagged: order, and deltas within half a unit") {
  std::uint32_t one_sided = 0;
  std::uint32_t wide = 0;
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    CHECK(check_deltas<Resident<72, Role::kKey>>(seed, one_sided, wide) >= 100);
    CHECK(check_deltas<Resident<72, Role::kValue>>(seed, one_sided, wide) >= 100);
  }
  CHECK(one_sided > 0);
  CHECK(wide > 0);
}
TEST_CASE("jagged: deltas of outliers in five bits over the signed range") {
  using Quant = GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary5>;
  using F = BlockFormat<64, NoTransform, ThresholdSplit, Quant, JaggedCodec>;
  std::uint32_t one_sided = 0;
  std::uint32_t wide = 0;
  CHECK(check_deltas<F>(0, one_sided, wide) >= 50);
  CHECK(check_deltas<typename F::As<Role::kValue>>(1, one_sided, wide) >= 50);
}

TEST_CASE("jagged: damaged counts and entries never lead outside") {
  const auto check = []<class F>() {
    CHECK(test::stays_inside<F>(1));
    // A cut of damaged counts keeps to the spill as well.
    test::BlockData data = test::block_of<F>(test::hostile_rows(2, 64, F::kDim), 64);
    for (std::uint32_t i = 0; i < F::kOutlierBytes; ++i)
      data.block[F::Layout::kCountsAt + i] = static_cast<std::uint8_t>(37 * i + 200);
    const auto bytes = static_cast<std::uint32_t>(data.spill.size());
    CHECK(F::cut_spill(data.block.data(), data.spill.data(), bytes, 40) <= bytes);
  };
  check.operator()<Resident<10, Role::kKey>>();
  check.operator()<Resident<10, Role::kValue>>();
  check.operator()<Resident<72, Role::kKey>>();
}

TEST_CASE("jagged: bits per element, 8 heads of 128, from the bytes of a block") {
  struct Case {
    BandShares shares;
    double outliers;
    double bits;
  };
  for (const Case& wanted : {Case{{40000, 60000}, 0.10, 5.82}, Case{{20000, 20000}, 0.04, 4.86}}) {
    constexpr std::uint32_t kDim = 128;
    constexpr std::uint32_t kHeads = 8;
    const std::vector<float> rows = test::normal(5, 64 * kHeads * kDim);
    std::vector<float> sorted = rows;
    float thresholds[4];
    REQUIRE(ok(band_thresholds(sorted.data(), sorted.size(), wanted.shares, thresholds)));
    BindContext context;
    context.profile = thresholds;
    const auto bits = [&]<class F>() {
      const F format = F::bind(context);
      std::uint64_t bytes = F::kSharedBytes + kHeads * F::kBlockBytes;
      std::uint64_t outliers = 0;
      for (std::uint32_t t = 0; t < 64 * kHeads; ++t) {
        bytes += format.spill_need(rows.data() + t * kDim);
        for (std::uint32_t c = 0; c < kDim; ++c)
          outliers += format.split.band(rows[t * kDim + c]).band != Band::kMiddle;
      }
      // Ranks are integers and thresholds are rounded to binary16 (2^-11): a few values of 65536
      // change sides.
      const double share = static_cast<double>(outliers) / static_cast<double>(rows.size());
      CHECK(std::fabs(share - wanted.outliers) <= 0.002);
      const double found = 8.0 * static_cast<double>(bytes) / static_cast<double>(rows.size());
      CHECK(found == doctest::Approx(4.0 + 0.125 + 16.0 * share + 96.0 / 1024.0).epsilon(1e-9));
      CHECK(std::fabs(found - wanted.bits) <= 0.005 + 16.0 * 0.002);
    };
    bits.operator()<Resident<kDim, Role::kKey>>();
    bits.operator()<Resident<kDim, Role::kValue>>();
  }
}
