#include "kvpleat/codec/renewed.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/format/formats.h"
#include "support/gaussian.h"

using namespace kvpleat;

static_assert(Quantizer<RenewedScale<8, 128>> && TableQuantizer<RenewedScale<8, 128>>);
static_assert(TableQuantizer<SealedScale<8, 128>> && !TableQuantizer<AffineQuant<8>>);
static_assert(ChainedFormat<formats::Renewed8<64>> && ChainedFormat<formats::Tiered8<64>>);
static_assert(!ChainedFormat<formats::Sealed8<64>> && !ChainedFormat<formats::Int8<64>>);
static_assert(AdmittingFormat<formats::Renewed<64, RenewOverflow::kRefuse>>);
static_assert(!AdmittingFormat<formats::Renewed8<64>> && !AdmittingFormat<formats::Int8<64>>);
static_assert(formats::Sealed8<64>::kSeal == 128 && formats::Renewed8<64>::kSeal == 1);
static_assert(formats::Renewed8<64>::kAppendOnly && !formats::Sealed8<64>::kAppendOnly);
static_assert(!formats::Int8<64>::kAppendOnly);

namespace {

template <class F>
struct Blocks {
  std::vector<std::vector<std::uint8_t>> blocks;
  EncodeCounters counters;
  std::uint32_t tokens = 0;
  F format{};

  // Appends rows, chaining the blocks as a cache does.
  void append(const std::vector<float>& rows) {
    SpillWriter spill;
    for (std::size_t t = 0; t < rows.size() / F::kDim; t += F::kSeal) {
      if (tokens % F::kBlockTokens == 0)
        blocks.emplace_back(static_cast<std::size_t>(F::kBlockBytes), std::uint8_t{0});
      const Rows row{rows.data() + t * F::kDim, F::kSeal, F::kDim};
      std::uint8_t* block = blocks.back().data();
      if constexpr (ChainedFormat<F>) {
        BlockBytes previous{};
        if (blocks.size() > 1) previous.block = blocks[blocks.size() - 2].data();
        format.encode(row, tokens % F::kBlockTokens, nullptr, block, spill, counters, previous);
      } else {
        format.encode(row, tokens % F::kBlockTokens, nullptr, block, spill, counters);
      }
      tokens += F::kSeal;
    }
  }
  [[nodiscard]] std::vector<float> read(std::uint32_t n) const {
    std::vector<float> rows(static_cast<std::size_t>(n) * F::kDim);
    for (std::uint32_t t = 0; t < n; ++t) {
      format.decode(BlockBytes{blocks[t / F::kBlockTokens].data(), nullptr, nullptr, 0},
                    t % F::kBlockTokens,
                    MutableRows{rows.data() + static_cast<std::size_t>(t) * F::kDim, 1, F::kDim});
    }
    return rows;
  }
  [[nodiscard]] float step(std::uint32_t token) const {
    return to_float(
        F::Layout::Dense::scale_of(blocks[token / F::kBlockTokens].data(), token % F::kBlockTokens)
            .step);
  }
  [[nodiscard]] std::uint32_t entries(std::uint32_t block) const {
    return F::Layout::Dense::entries(blocks[block].data());
  }
};

// A row of kDim values whose largest magnitude is m.
std::vector<float> row_of(float m, std::uint32_t dim) {
  std::vector<float> row(dim, 0.0f);
  row[0] = -m;
  return row;
}

}  // namespace

TEST_CASE("renewed: the table lies behind the codes") {
  using Layout = RenewedLayout<64, RenewedScale<8, 128>, Role::kKey>;
  CHECK(Layout::kCodeBytes == 128 * 64);
  CHECK(Layout::kSideBytes == 24);
  CHECK(Layout::step_at(0) == 8192);
  CHECK(Layout::step_at(7) == 8206);
  CHECK(Layout::start_at(0) == 8208);
  CHECK(Layout::start_at(7) == 8215);
  Blocks<formats::Renewed8<64>> b;
  b.append(row_of(127.0f, 64));
  b.append(row_of(254.0f, 64));  // 254 * 5 / 4 = 317.5: step 2.5
  CHECK(b.blocks[0][8192] == 0x00);
  CHECK(b.blocks[0][8193] == 0x3c);  // 1.0
  CHECK(b.blocks[0][8194] == 0x00);
  CHECK(b.blocks[0][8195] == 0x41);  // 2.5
  CHECK(b.blocks[0][8208] == 0);
  CHECK(b.blocks[0][8209] == 1);
  CHECK(b.blocks[0][0] == 1);          // token 0, channel 0: -127 + 128
  CHECK(b.blocks[0][4] == 128 - 102);  // token 1: -254 / 2.5 = -101.6
}

TEST_CASE("renewed: a step holds until a token lies outside its range, and from there on") {
  using F = formats::Renewed8<4>;
  Blocks<F> b;
  b.append(row_of(127.0f, 4));
  b.append(row_of(127.5f, 4));  // half a step beyond the top is still within half a step
  CHECK(b.entries(0) == 1);
  b.append(row_of(1.0f, 4));
  b.append(row_of(127.51f, 4));
  CHECK(b.entries(0) == 2);
  b.append(row_of(150.0f, 4));  // inside the headroom
  CHECK(b.entries(0) == 2);
  b.append(row_of(1.0f, 4));
  CHECK(b.step(0) == 1.0f);
  CHECK(b.step(2) == 1.0f);
  CHECK(b.step(3) == to_float(at_least<Half>(1.25f * 127.51f / 127.0f)));
  CHECK(b.step(5) == b.step(3));
  CHECK(b.counters.clipped == 0);
}

TEST_CASE("renewed: zeros open no entry, the first value does") {
  using F = formats::Renewed8<4>;
  Blocks<F> b;
  for (int i = 0; i < 8; ++i) b.append(std::vector<float>(4, 0.0f));
  CHECK(b.entries(0) == 0);
  b.append({0.5f, -0.25f, 0.0f, 0.125f});
  CHECK(b.entries(0) == 1);
  const std::vector<float> back = b.read(9);
  for (std::size_t i = 0; i < 32; ++i) CHECK(back[i] == 0.0f);
  CHECK(std::fabs(back[32] - 0.5f) <= b.step(8) / 2.0f);
  CHECK(back[34] == 0.0f);
}

TEST_CASE("renewed: a value whose step would be zero leaves the table as it is") {
  Blocks<formats::Renewed8<8>> cache;
  cache.append(row_of(0.0f, 8));
  cache.append(row_of(0x1p-149f, 8));
  cache.append(row_of(0x1p-140f, 8));  // its quotient is a float, its step the smallest half
  cache.append(row_of(1.0f, 8));
  using F = formats::Renewed8<8>;
  const std::uint8_t* table = cache.blocks[0].data() + F::kCodeBytes;
  CHECK(cache.entries(0) == 2);
  CHECK(cache.step(1) == 0.0f);
  CHECK(cache.step(2) == 0x1p-24f);
  CHECK(table[16] == 2);
  CHECK(table[17] == 3);
  for (std::uint32_t i = 18; i < 24; ++i) CHECK(table[i] == 0);

  // Nothing else came: no byte of the table is written.
  Blocks<F> tiny;
  for (int t = 0; t < 5; ++t) tiny.append(row_of(0x1p-149f, 8));
  for (std::uint32_t i = F::kCodeBytes; i < F::kBlockBytes; ++i) CHECK(tiny.blocks[0][i] == 0);
}

TEST_CASE("renewed: eight entries, then clipped and counted, or refused") {
  using F = formats::Renewed8<4>;
  Blocks<F> b;
  float m = 1.0f;
  for (int i = 0; i < 8; ++i, m *= 2.0f) b.append(row_of(m, 4));
  CHECK(b.entries(0) == 8);
  CHECK(b.counters.clipped == 0);
  const float last = b.step(7);
  b.append(row_of(1000.0f, 4));
  CHECK(b.entries(0) == 8);
  CHECK(b.step(8) == last);
  CHECK(b.counters.clipped == 1);
  CHECK(b.read(9)[8 * 4] == -127.0f * last);

  using Refusing = formats::Renewed<4, RenewOverflow::kRefuse>;
  const Refusing format;
  auto state = Refusing::admission(nullptr, 0);
  m = 1.0f;
  for (int i = 0; i < 8; ++i, m *= 2.0f) CHECK(format.admit(row_of(m, 4).data(), state));
  CHECK(!format.admit(row_of(1000.0f, 4).data(), state));
  CHECK(format.admit(row_of(1.0f, 4).data(), state));
}

TEST_CASE("renewed: admission follows what encoding does, from any slot on") {
  using F = formats::Renewed<4, RenewOverflow::kRefuse>;
  test::Generator generator(9);
  Blocks<F> b;
  std::uint32_t refused = 0;
  auto ahead = F::admission(nullptr, 0);
  for (std::uint32_t t = 0; t < 600; ++t) {
    std::vector<float> row(4);
    // Doubles every ten tokens: more often than a block has entries.
    const float size = static_cast<float>(1u << (t % 200 / 10));
    for (float& x : row) x = size * generator.next();
    // The state followed from the start and the one read from the bytes agree.
    const std::uint32_t slot = b.tokens % 128;
    const std::uint8_t* block = b.blocks.empty() ? nullptr : b.blocks.back().data();
    auto now = F::admission(block, slot);
    CHECK(now.entries == (slot == 0 ? 0 : ahead.entries));
    CHECK(now.largest == ahead.largest);
    const bool taken = b.format.admit(row.data(), ahead);
    CHECK(b.format.admit(row.data(), now) == taken);
    refused += taken ? 0 : 1;
    if (taken) b.append(row);
  }
  CHECK(b.counters.clipped == 0);
  CHECK(refused > 0);
  CHECK(b.tokens > 256);
}

TEST_CASE("renewed: the first step of a block covers what the block before it stores") {
  using F = formats::Renewed8<4>;
  Blocks<F> b;
  b.append(row_of(127.0f, 4));
  for (int t = 1; t < 128; ++t) b.append(row_of(12.7f, 4));
  b.append(row_of(1.0f, 4));  // slot 0 of block 1: 127 lies in block 0
  CHECK(b.step(128) == 1.0f);
  for (int t = 1; t < 128; ++t) b.append(row_of(12.7f, 4));
  b.append(row_of(1.0f, 4));  // the largest of block 1 is 12.7, stored as 13
  CHECK(b.step(256) == to_float(at_least<Half>(13.0f / 127.0f)));
  for (int t = 1; t < 128; ++t) b.append(row_of(1.0f, 4));
  b.append(row_of(50.0f, 4));  // its own first token is larger than all of block 2
  CHECK(b.step(384) == to_float(at_least<Half>(50.0f / 127.0f)));
}

TEST_CASE("renewed: what is kept apart leaves no trace in the steps") {
  using F = formats::RenewedSplit<64, TopKSplit<2>>;
  Blocks<F> plain;
  Blocks<F> spiked;
  const std::vector<float> rows = test::gaussian(3, 300 * 64);
  for (std::uint32_t t = 0; t < 300; ++t) {
    std::vector<float> row(rows.begin() + t * 64, rows.begin() + (t + 1) * 64);
    for (float& x : row) x *= t < 128 ? 1.0f : 0.1f;
    row[5] = 40.0f;
    row[9] = -40.0f;
    plain.append(row);
    row[5] = 4000.0f;
    row[9] = -3000.0f;
    spiked.append(row);
  }
  for (std::uint32_t t = 0; t < 300; ++t) {
    CHECK(plain.step(t) == spiked.step(t));
    CHECK(plain.step(t) < 4.5f * 1.25f / 127.0f);
  }
  // Block 2 follows what is small in block 1, not the outliers beside it.
  CHECK(spiked.step(128) > 0.5f * spiked.step(127));
  CHECK(spiked.step(256) < 0.2f * spiked.step(128));
  CHECK(spiked.counters.outliers == 600);
  const std::vector<float> back = spiked.read(300);
  for (std::uint32_t t = 0; t < 300; ++t) {
    CHECK(std::fabs(back[t * 64 + 5] - 4000.0f) <= 4000.0f / 254.0f * 1.001f);
    CHECK(std::fabs(back[t * 64 + 9] + 3000.0f) <= 4000.0f / 254.0f * 1.001f);
  }
}

TEST_CASE("sealed: one exact step for all tokens of a block") {
  using F = formats::Sealed8<64>;
  Blocks<F> b;
  std::vector<float> rows = test::gaussian(4, 128 * 64);
  rows[100 * 64 + 3] = 254.0f;
  b.append(rows);
  CHECK(b.entries(0) == 1);
  CHECK(b.step(0) == 2.0f);
  CHECK(b.step(127) == 2.0f);
  const std::vector<float> back = b.read(128);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(std::fabs(back[i] - rows[i]) <= 1.0001f);
}

TEST_CASE("renewed beside sealed and per-channel steps: error at equal width, Gaussian data") {
  constexpr std::uint32_t kTokens = 128 * 16;
  const std::vector<float> rows = test::gaussian(5, kTokens * 64);
  const auto error_of = [&]<class F>(std::uint32_t* entries) {
    Blocks<F> b;
    if constexpr (F::kSeal == 1) {
      b.append(rows);
    } else {
      for (std::uint32_t t = 0; t < kTokens; t += F::kSeal)
        b.append({rows.begin() + t * 64, rows.begin() + (t + F::kSeal) * 64});
    }
    if constexpr (F::kSideBytes == 24) {
      for (std::uint32_t i = 0; i < b.blocks.size(); ++i) *entries += b.entries(i);
      CHECK(b.counters.clipped == 0);
    }
    return test::mean_square_error(rows, b.read(kTokens));
  };
  std::uint32_t entries = 0;
  std::uint32_t split_entries = 0;
  const double renewed = error_of.template operator()<formats::Renewed8<64>>(&entries);
  const double sealed = error_of.template operator()<formats::Sealed8<64>>(nullptr);
  const double split = error_of.template operator()<formats::Tiered8TopK<64>>(&split_entries);
  const double by_mad = error_of.template operator()<formats::Tiered8<64>>(&split_entries);
  const double channel = error_of.template operator()<formats::IntChannel<64, 8, 128>>(nullptr);
  const double token = error_of.template operator()<formats::Int8<64>>(nullptr);
  MESSAGE("mean squared error: renewed ", renewed, " (", entries, " entries in 16 blocks), sealed ",
          sealed, ", renewed with the largest four in slots ", split,
          ", with MAD outliers in slots ", by_mad, ", per channel and 128 tokens ", channel,
          ", per token ", token);
  // A uniform error of step / sqrt(12), step = m / 127: 8192 Gaussian values reach m = 4.0 with a
  // spread of 0.25, twice 8192 (a block and the one before) 4.15. Headroom of 5/4 enters squared.
  CHECK(sealed == doctest::Approx(4.0 * 4.0 / (127.0 * 127.0 * 12.0)).epsilon(0.15));
  CHECK(renewed > sealed);
  CHECK(renewed < 2.0 * sealed);
  CHECK(by_mad < renewed);
  CHECK(split < by_mad);  // slots that are always used serve better than those kept for outliers
  CHECK(entries <= 16 * 3);
}
