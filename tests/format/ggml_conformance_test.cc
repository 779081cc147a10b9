// The laws of the Format concept for ggml's block types, their sizes and what they refuse.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kvpleat/format/ggml.h"
#include "support/format_laws.h"

using namespace kvpleat;
using test::key_and_value;

// From the stored d, and for iq4_nl from the row: quant/ggml.h. A clipped value of q4_0 or q5_0 may
// be a whole d off, all others half; d and m are within 2^-11, half a unit of the smallest half
// (2^-25) at least.
template <std::uint32_t kDim, class Transform, GgmlType kType, Role kRole>
struct test::ErrorBound<BlockFormat<kDim, Transform, NoSplit, GgmlQuant<kType>, RowCodec, kRole>> {
  using Quant = GgmlQuant<kType>;
  using F = BlockFormat<kDim, Transform, NoSplit, Quant, RowCodec, kRole>;
  static float of(const F&, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    const std::uint8_t* run = data.block.data() + F::Layout::run_at(slot, c / 32);
    const float d = std::fabs(to_float(load<Half>(run)));
    const float* x = row + c / 32 * 32;
    float size = 0.0f;
    for (std::uint32_t i = 0; i < 32; ++i) size = std::fmax(size, std::fabs(x[i]));
    float steps = 0.5f * d;
    float top = Quant::kBits == 8 ? 127.0f : static_cast<float>(1u << Quant::kBits);
    if constexpr (kType == GgmlType::kQ4_0 || kType == GgmlType::kQ5_0) {
      const float end = static_cast<float>(1u << (Quant::kBits - 1)) - 0.5f;
      top = end + 0.5f;
      if (std::fabs(row[c]) >= (end - 0x1p-6f) * d) steps = d;
    } else if constexpr (kType == GgmlType::kIq4Nl) {
      const float coding = size / 127.0f;  // half a gap: 12; 14 above the highest level
      return 14.0f * coding + 127.0f * (std::fabs(d - coding) + 0x1p-25f);
    }
    return steps + top * std::fmax(d * 0x1p-11f, 0x1p-25f) +
           std::fmax(size * 0x1p-11f, 0x1p-25f) * (Quant::kHasMinimum ? 1.0f : 0.0f) +
           0x1p-21f * size;
  }
};

TEST_CASE("laws: GgmlQ8_0") {
  key_and_value<formats::GgmlQ8_0, 32, 128>();
}
TEST_CASE("laws: GgmlQ5_1") {
  key_and_value<formats::GgmlQ5_1, 64>();
}
TEST_CASE("laws: GgmlQ5_0") {
  key_and_value<formats::GgmlQ5_0, 96>();
}
TEST_CASE("laws: GgmlQ4_1") {
  key_and_value<formats::GgmlQ4_1, 64>();
}
TEST_CASE("laws: GgmlQ4_0") {
  key_and_value<formats::GgmlQ4_0, 32, 576>();
}
TEST_CASE("laws: GgmlIq4Nl") {
  key_and_value<formats::GgmlIq4Nl, 64>();
}
TEST_CASE("laws: GgmlQ4_0Hadamard") {
  key_and_value<formats::GgmlQ4_0Hadamard, 32, 96, 128>();
}

TEST_CASE("ggml: sizes are whole runs, scales counted") {
  const auto check = []<class F>(std::uint32_t run, std::uint32_t scales) {
    CAPTURE(F::kId.view());
    CHECK(F::kBlockBytes == 64 * (F::kDim / 32) * run);
    CHECK(F::kSideBytes == 64 * (F::kDim / 32) * scales);
    CHECK(F::kCodeBytes + F::kSideBytes == F::kBlockBytes);
  };
  check.operator()<formats::GgmlQ8_0<128>>(34, 2);
  check.operator()<formats::GgmlQ5_1<128>>(24, 4);
  check.operator()<formats::GgmlQ5_0<128>>(22, 2);
  check.operator()<formats::GgmlQ4_1<96>>(20, 4);
  check.operator()<formats::GgmlQ4_0<64>>(18, 2);
  check.operator()<formats::GgmlIq4Nl<64>>(18, 2);
  check.operator()<formats::GgmlQ4_0Hadamard<128>>(18, 2);
  CHECK(formats::GgmlQ4_0Hadamard<64>::kId.view() ==
        "dim=64;transform=hadamard;split=none;quant=ggml;type=q4_0;codec=rows;role=key");
}

TEST_CASE("ggml: a token's bytes are its row in an engine's cache") {
  // Rows coded one by one, as an engine does, are the block.
  using F = formats::GgmlQ5_0<128>;
  const std::vector<float> rows = test::normal(31, 64 * 128);
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  F{}.encode(Rows{rows.data(), 64, 128}, 0, nullptr, block.data(), spill, counters);
  std::vector<std::uint8_t> engine;
  for (std::size_t i = 0; i < rows.size(); i += 32) {
    std::uint8_t run[22];
    GgmlQuant<GgmlType::kQ5_0>{}.encode(rows.data() + i, run);
    engine.insert(engine.end(), run, run + 22);
  }
  CHECK(block == engine);
}
