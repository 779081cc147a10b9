#include "kvpleat/codec/hash_sparse.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "kvpleat/format/formats.h"
#include "support/gaussian.h"

using namespace kvpleat;

static_assert(composable<TopKSplit<12>, SymmetricQuant<4>, HashSparse<>>);
static_assert(composable<MadSplit<8>, SymmetricQuant<4>, HashSparse<4>>);
static_assert(composable<NoSplit, SymmetricQuant<4>, HashSparse<>>.refusal ==
              Refusal::kHashNeedsVectorSplit);
static_assert(composable<ThresholdSplit, SymmetricQuant<4>, HashSparse<>>.refusal ==
              Refusal::kHashNeedsVectorSplit);
static_assert(composable<TopKSplit<4>, AffineQuant<4>, HashSparse<>>.refusal ==
              Refusal::kHashNeedsSymmetric4);
static_assert(composable<TopKSplit<4>, SymmetricQuant<8>, HashSparse<>>.refusal ==
              Refusal::kHashNeedsSymmetric4);
static_assert(composable<TopKSplit<4>, SymmetricQuant<4, 32>, HashSparse<>>.refusal ==
              Refusal::kHashNeedsSymmetric4);

namespace {

template <class F>
struct Block {
  using Type = F;
  using Layout = typename F::Layout;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(F::kBlockBytes, 0);
  EncodeCounters counters;
  static constexpr F format{};

  void encode(const std::vector<float>& rows, std::uint32_t slot) {
    SpillWriter spill;
    format.encode(Rows{rows.data(), rows.size() / F::kDim, F::kDim}, slot, nullptr, bytes.data(),
                  spill, counters);
  }
  [[nodiscard]] std::vector<float> decode(std::uint32_t slot, std::uint32_t n) const {
    std::vector<float> rows(static_cast<std::size_t>(n) * F::kDim, -1.0f);
    format.decode(BlockBytes{bytes.data(), nullptr, nullptr, 0}, slot,
                  MutableRows{rows.data(), n, F::kDim});
    return rows;
  }
  // Every entry can be reached from its home without crossing a free slot, and none is there twice.
  [[nodiscard]] bool reachable() const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> seen;
    for (std::uint32_t at = 0; at < Layout::kSlots; ++at) {
      const auto e = Layout::entry(bytes.data(), at);
      if (e.code == 0) continue;
      if (++seen[{e.token, e.channel}] > 1) return false;
      for (std::uint32_t i = Layout::home(e.token, e.channel); i != at;
           i = (i + 1) % Layout::kSlots)
        if (Layout::entry(bytes.data(), i).code == 0) return false;
    }
    return true;
  }
  [[nodiscard]] std::uint32_t used() const {
    std::uint32_t n = 0;
    Layout::each_entry(bytes.data(), [&](const auto&) { ++n; });
    return n;
  }
};

}  // namespace

TEST_CASE("hash: slots are the power of two that is at most four fifths full") {
  const auto slots = []<std::uint32_t kDim, std::uint32_t kKept>() {
    return formats::Hash<kDim, kKept>::Layout::kSlots;
  };
  CHECK(slots.operator()<64, 12>() == 1024);   // 768 entries
  CHECK(slots.operator()<64, 13>() == 2048);   // 832 would be 81 %
  CHECK(slots.operator()<128, 25>() == 2048);  // 1600 entries
  CHECK(slots.operator()<64, 1>() == 128);
  CHECK(slots.operator()<1, 12>() == 128);  // one channel: at most one entry per token
  CHECK(slots.operator()<576, 64>() == 8192);
  // Key bits beyond 12 lie in planes.
  CHECK(formats::Hash<64, 12>::Layout::kPlanes == 0);
  CHECK(formats::Hash<65, 12>::Layout::kPlanes == 1);
  CHECK(formats::Hash<128, 12>::Layout::kPlanes == 1);
  CHECK(formats::Hash<129, 12>::Layout::kPlanes == 2);
  CHECK(formats::Hash<576, 12>::Layout::kPlanes == 4);
}

TEST_CASE("hash: an entry is a code and a key at its home, the step lies behind") {
  Block<formats::Hash<64, 12>> b;
  std::vector<float> row(64, 0.0f);
  row[37] = -7.0f;
  row[2] = 3.0f;
  b.encode(row, 5);
  using Layout = decltype(b)::Layout;
  // Step 1, codes -7 and 3: stored as 1 and 11. Keys 37 * 64 + 5 and 2 * 64 + 5.
  const std::uint32_t home = (37u * 64u + 5u) * 0x9e3779b1u >> 22;
  CHECK(Layout::home(5, 37) == home);
  CHECK(b.bytes[2 * home] == ((37u * 64u + 5u) % 16u * 16u + 1u));
  CHECK(b.bytes[2 * home + 1] == (37u * 64u + 5u) / 16u);
  const std::uint32_t other = (2u * 64u + 5u) * 0x9e3779b1u >> 22;
  CHECK(b.bytes[2 * other] == ((2u * 64u + 5u) % 16u * 16u + 11u));
  CHECK(b.bytes[2 * other + 1] == (2u * 64u + 5u) / 16u);
  CHECK(b.bytes[2048 + 10] == 0x00);
  CHECK(b.bytes[2048 + 11] == 0x3c);
  CHECK(b.used() == 2);  // zeros take no entry
  CHECK(b.counters.outliers == 2);
  CHECK(b.decode(5, 1) == row);
  CHECK(b.decode(4, 1) == std::vector<float>(64, 0.0f));
}

TEST_CASE("hash: the k largest of each token, every key bit, every dimension") {
  const auto check = []<class F>() {
    CAPTURE(F::kDim);
    constexpr std::uint32_t kKept = std::remove_const_t<decltype(F::split)>::kMaxOutliers;
    Block<F> b;
    const std::vector<float> rows = test::gaussian(F::kDim, std::size_t{64} * F::kDim);
    b.encode(rows, 0);
    CHECK(b.reachable());
    const std::vector<float> back = b.decode(0, 64);
    for (std::uint32_t t = 0; t < 64; ++t) {
      const float* row = rows.data() + static_cast<std::size_t>(t) * F::kDim;
      std::uint16_t channels[kKept];
      const std::uint32_t n = TopKSplit<kKept>().split(row, F::kDim, channels);
      float largest = 0.0f;
      for (std::uint32_t c = 0; c < F::kDim; ++c) largest = std::fmax(largest, std::fabs(row[c]));
      for (std::uint32_t c = 0; c < F::kDim; ++c) {
        const bool kept = std::find(channels, channels + n, c) != channels + n;
        const float error = std::fabs(back[static_cast<std::size_t>(t) * F::kDim + c] - row[c]);
        // Half a step, rounded up to binary16.
        if (kept) CHECK(error <= largest / 14.0f * 1.001f);
        if (!kept) CHECK(error == std::fabs(row[c]));
      }
    }
  };
  check.operator()<formats::Hash<64, 12>>();
  check.operator()<formats::Hash<128, 25>>();
  check.operator()<formats::Hash<576, 64>>();
  check.operator()<formats::Hash<3, 2>>();
}

TEST_CASE("hash: entries around the end of the table, erased to what was before") {
  // 64 tokens of one channel in 128 slots: some probes wrap around.
  Block<formats::Hash<40, 1>> b;
  std::vector<std::vector<std::uint8_t>> history;
  std::vector<float> row(40, 0.0f);
  test::Generator generator(3);
  for (std::uint32_t t = 0; t < 64; ++t) {
    history.push_back(b.bytes);
    std::fill(row.begin(), row.end(), 0.0f);
    row[generator.below(40)] = 1.0f;
    b.encode(row, t);
    CHECK(b.reachable());
  }
  for (std::uint32_t t = 64; t-- > 0;) {
    decltype(b)::Type::erase(b.bytes.data(), t, 1);
    CHECK(b.bytes == history[t]);
  }
}

TEST_CASE("hash: erasing tokens in the middle leaves the others reachable and unchanged") {
  Block<formats::Hash<64, 12>> b;
  const std::vector<float> rows = test::gaussian(8, 64 * 64);
  b.encode(rows, 0);
  const std::vector<float> before = b.decode(0, 64);
  decltype(b)::Type::erase(b.bytes.data(), 10, 30);
  CHECK(b.reachable());
  const std::vector<float> after = b.decode(0, 64);
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(after[i] == (i / 64 >= 10 && i / 64 < 40 ? 0.0f : before[i]));
}

TEST_CASE("hash: a full table drops the smallest of a token and counts them") {
  // Made for two per token, given up to 16: 256 slots hold 255 entries.
  using F = BlockFormat<64, NoTransform, TopKSplit<16>, SymmetricQuant<4>, HashSparse<2>>;
  CHECK(F::Layout::kSlots == 256);
  Block<F> b;
  std::vector<float> rows(std::size_t{20} * 64);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = 1.0f + static_cast<float>(i % 64) / 8.0f;
  for (std::uint32_t t = 0; t < 20; ++t)
    b.encode({rows.begin() + t * 64, rows.begin() + (t + 1) * 64}, t);
  // 15 tokens of 16 fit; the next keeps its 15 largest, channels 49 .. 63; the others nothing.
  CHECK(b.used() == 255);
  CHECK(b.counters.outliers == 255);
  CHECK(b.counters.dropped == 1 + 4 * 16);
  CHECK(b.reachable());
  const std::vector<float> back = b.decode(0, 20);
  for (std::uint32_t c = 0; c < 64; ++c) {
    CHECK((back[14 * 64 + c] != 0.0f) == (c >= 48));
    CHECK((back[15 * 64 + c] != 0.0f) == (c >= 49));
    CHECK(back[16 * 64 + c] == 0.0f);
  }
  Block<F> at_once;
  at_once.encode(rows, 0);
  CHECK(at_once.bytes == b.bytes);
  CHECK(at_once.counters.dropped == b.counters.dropped);
  // Room again once the last tokens are gone.
  F::erase(b.bytes.data(), 15, 5);
  CHECK(b.used() == 240);
  b.encode({rows.begin(), rows.begin() + 64}, 15);
  CHECK(b.used() == 255);
  // Equal magnitudes: the highest channels go.
  Block<F> ties;
  for (std::uint32_t t = 0; t < 16; ++t) ties.encode(std::vector<float>(64, 1.0f), t);
  CHECK(ties.counters.dropped == 1);
  CHECK(ties.decode(15, 1)[14] == 1.0f);
  CHECK(ties.decode(15, 1)[15] == 0.0f);
}

TEST_CASE("hash: scores over the table are those of the decoded rows") {
  using F = formats::Hash<128, 25>;
  Block<F> b;
  b.encode(test::gaussian(6, 64 * 128), 0);
  const std::vector<float> query = test::gaussian(7, 128);
  const std::vector<float> rows = b.decode(0, 64);
  double scores[64] = {};
  F::Layout::score(SymmetricQuant<4>{}, b.bytes.data(), query.data(), scores);
  for (std::uint32_t t = 0; t < 64; ++t) {
    double wanted = 0.0;
    for (std::uint32_t c = 0; c < 128; ++c)
      wanted += static_cast<double>(query[c]) * static_cast<double>(rows[t * 128 + c]);
    CHECK(scores[t] == doctest::Approx(wanted).epsilon(1e-12));  // sums of doubles in another order
  }
}

TEST_CASE("OC-65 hash: a damaged channel is ignored, nothing is written beyond the row") {
  Block<formats::Hash<40, 4>> b;
  using Layout = decltype(b)::Layout;
  std::fill(b.bytes.begin(), b.bytes.end(), std::uint8_t{0x3c});
  for (std::uint32_t at = 0; at < Layout::kSlots; ++at) {  // channels 40 .. 63 of tokens 0 .. 2
    const std::uint32_t word = ((40 + at % 24) * 64 + at % 3) << 4 | 15;
    b.bytes[2 * at] = static_cast<std::uint8_t>(word & 255u);
    b.bytes[2 * at + 1] = static_cast<std::uint8_t>(word >> 8);
    REQUIRE(Layout::entry(b.bytes.data(), at).token == at % 3);
  }
  std::vector<float> guarded(3 * 40 + 64, 7.0f);
  b.format.decode(BlockBytes{b.bytes.data(), nullptr, nullptr, 0}, 0,
                  MutableRows{guarded.data(), 3, 40});
  for (std::size_t i = 0; i < 120; ++i) CHECK(guarded[i] == 0.0f);
  for (std::size_t i = 120; i < guarded.size(); ++i) CHECK(guarded[i] == 7.0f);
  // A table without a free slot takes nothing more, and erasing ends.
  b.encode(std::vector<float>(40, 1.0f), 3);
  CHECK(b.counters.dropped == 4);
  decltype(b)::Type::erase(b.bytes.data(), 0, 64);
  CHECK(std::count(b.bytes.begin(), b.bytes.end(), std::uint8_t{0}) ==
        static_cast<std::ptrdiff_t>(b.bytes.size()));
}

TEST_CASE("hash against dense 4 bits: the crossover lies at one value in five") {
  // Rows in which one value in n is not zero, the rest exactly zero: the table loses nothing but
  // the codes, so the question is only what it costs. Dense 4-bit codes: 4.25 bits.
  const auto bits = []<std::uint32_t kKept>() {
    return 8.0 * formats::Hash<64, kKept>::kBlockBytes / (64.0 * 64.0);
  };
  const double dense = 8.0 * formats::Adaptive4<64>::kBlockBytes / (64.0 * 64.0);
  CHECK(dense == 4.25);
  MESSAGE("bits per element at head_dim 64: kept 1 in 64 ", bits.operator()<1>(), ", 1 in 16 ",
          bits.operator()<4>(), ", 1 in 10 ", bits.operator()<6>(), ", 1 in 5 ",
          bits.operator()<12>(), ", 1 in 4 ", bits.operator()<16>(), ", 2 in 5 ",
          bits.operator()<25>(), "; dense 4 bits ", dense);
  CHECK(bits.operator()<6>() < dense);
  CHECK(bits.operator()<12>() == dense);  // 12 of 64: 0.1875
  CHECK(bits.operator()<13>() > dense);   // 13 of 64: 0.203
  CHECK(bits.operator()<16>() > dense);
  // In general: 16 bits of an entry at load 0.8 against 4 bits of a code.
  CHECK(16.0 / 0.8 * (1.0 / 5.0) == doctest::Approx(4.0));
}

TEST_CASE("hash against dense 4 bits at equal bytes: it loses on Gaussian data, wins on sparse") {
  const auto error_of = []<class F>(const std::vector<float>& rows) {
    Block<F> b;
    b.encode(rows, 0);
    return test::mean_square_error(rows, b.decode(0, 64));
  };
  const std::vector<float> gaussian = test::gaussian(21, 64 * 64);
  std::vector<float> sparse = gaussian;  // one value in eight, and noise of a hundredth
  for (std::size_t i = 0; i < sparse.size(); ++i) sparse[i] *= i % 8 == i / 64 % 8 ? 1.0f : 0.01f;
  const double hash_gaussian = error_of.operator()<formats::HashSparse<64>>(gaussian);
  const double dense_gaussian = error_of.operator()<formats::Adaptive4<64>>(gaussian);
  const double hash_sparse = error_of.operator()<formats::HashSparse2<64>>(sparse);
  const double dense_sparse = error_of.operator()<formats::Adaptive2<64>>(sparse);
  MESSAGE("mean squared error at 4.25 bits, Gaussian: hash ", hash_gaussian, " dense ",
          dense_gaussian, "; at 2.25 bits, one in eight: hash ", hash_sparse, " dense ",
          dense_sparse);
  // What is not kept is lost: of Gaussian rows 52 of 64 values, a third of the energy.
  CHECK(hash_gaussian > 10.0 * dense_gaussian);
  CHECK(hash_sparse < 0.5 * dense_sparse);
}
