// The laws of the Format concept for FP8, MXFP4 and NVFP4, their golden bytes and sizes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "golden/minifloat_goldens.h"
#include "kvpleat/format/minifloat.h"
#include "support/format_laws.h"

using namespace kvpleat;
using test::key_and_value;

// A scale of the head under which sample rows (at most 100) do not saturate.
template <std::uint32_t kDim, class Element, class Side, std::uint32_t kGroup, ScaleSearch kSearch,
          Role kRole>
struct test::SampleProfile<
    BlockFormat<kDim, NoTransform, NoSplit, MinifloatQuant<Element, Side, kGroup, kSearch>,
                DenseCodec, kRole>> {
  static std::vector<float> make() {
    return std::vector<float>(MinifloatQuant<Element, Side, kGroup, kSearch>::kProfileSize, 0.3f);
  }
};

// Half a step of the element at x / s, times s; beyond M s what is clipped; from the stored scale.
template <std::uint32_t kDim, class Element, class Side, std::uint32_t kGroup, ScaleSearch kSearch,
          Role kRole>
struct test::ErrorBound<
    BlockFormat<kDim, NoTransform, NoSplit, MinifloatQuant<Element, Side, kGroup, kSearch>,
                DenseCodec, kRole>> {
  using Quant = MinifloatQuant<Element, Side, kGroup, kSearch>;
  using F = BlockFormat<kDim, NoTransform, NoSplit, Quant, DenseCodec, kRole>;
  static float of(const F& format, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    using Dense = typename F::Layout::Dense;
    const float s =
        format.quant.step(Dense::load_scale(data.block.data(), slot, c / Dense::kGroupChannels));
    const float size = std::fabs(row[c]);
    const float top = Quant::Traits::kLargest * s;
    // 3, 2 and 1 mantissa bits; subnormal steps 2^-9, 2^-16 and 0.5.
    const bool four = Quant::kBits == 4;
    const bool wide = Quant::Traits::kLargest > 1000.0f;
    const float relative = four ? 0.25f : wide ? 0x1p-3f : 0x1p-4f;
    const float least = (four ? 0.25f : wide ? 0x1p-17f : 0x1p-10f) * s;
    const float inside = std::fmax(std::fmin(size, top) * relative, least);
    // A scale of 0 keeps nothing.
    const float clipped = s > 0.0f ? std::fmax(size - top, 0.0f) : size;
    return std::fmax(inside, clipped) + 0x1p-22f * (size + s);
  }
};

namespace {

template <std::uint32_t kDim>
using Mxfp8 = formats::Minifloat<kDim, Fp8E4m3, E8m0, 32>;

template <class F>
void check_golden_of(const F& format, std::span<const golden::ByteAt> expected) {
  std::vector<float> rows;
  for (std::uint32_t t = 0; t < 2; ++t) {
    for (std::uint32_t c = 0; c < F::kDim; ++c) rows.push_back(test::golden_input(t, c));
  }
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  format.encode(Rows{rows.data(), 2, F::kDim}, 17, nullptr, block.data(), spill, counters);
  std::vector<std::uint8_t> wanted(F::kBlockBytes, 0);
  for (const golden::ByteAt& at : expected) {
    REQUIRE(at.offset < wanted.size());
    wanted[at.offset] = at.byte;
  }
  CHECK(block == wanted);
}
template <class F>
void check_golden(const float* profile, std::span<const golden::ByteAt> key,
                  std::span<const golden::ByteAt> value) {
  CAPTURE(F::kId.view());
  const BindContext context{profile, nullptr, nullptr};
  check_golden_of(F::bind(context), key);
  check_golden_of(F::template As<Role::kValue>::bind(context), value);
}

}  // namespace

TEST_CASE("laws: Fp8E4m3") {
  key_and_value<formats::Fp8E4m3, 1, 64, 72>();
}
TEST_CASE("laws: Fp8E5m2") {
  key_and_value<formats::Fp8E5m2, 40>();
}
TEST_CASE("laws: Fp8E4m3Token") {
  key_and_value<formats::Fp8E4m3Token, 1, 80>();
}
TEST_CASE("laws: Fp8E5m2Token") {
  key_and_value<formats::Fp8E5m2Token, 24>();
}
TEST_CASE("laws: Mxfp4") {
  key_and_value<formats::Mxfp4, 1, 40, 64>();
}
TEST_CASE("laws: Mxfp4Search") {
  key_and_value<formats::Mxfp4Search, 80>();
}
TEST_CASE("laws: 8-bit codes under a power of two") {
  key_and_value<Mxfp8, 40>();
}
TEST_CASE("laws: Nvfp4") {
  key_and_value<formats::Nvfp4, 1, 40, 64>();
}
TEST_CASE("laws: Nvfp4Plain") {
  key_and_value<formats::Nvfp4Plain, 24, 80>();
}

TEST_CASE("golden bytes: FP8, MXFP4, NVFP4") {
  const float* head = &golden::kHeadScale;
  check_golden<formats::Fp8E4m3<8>>(head, golden::kFp8E4m3Key, golden::kFp8E4m3Value);
  check_golden<formats::Fp8E5m2<8>>(nullptr, golden::kFp8E5m2Key, golden::kFp8E5m2Value);
  check_golden<formats::Fp8E4m3Token<8>>(nullptr, golden::kFp8E4m3TokenKey,
                                         golden::kFp8E4m3TokenValue);
  check_golden<formats::Mxfp4<40>>(nullptr, golden::kMxfp4Key, golden::kMxfp4Value);
  check_golden<formats::Mxfp4Search<40>>(nullptr, golden::kMxfp4SearchKey,
                                         golden::kMxfp4SearchValue);
  check_golden<formats::Nvfp4Plain<24>>(nullptr, golden::kNvfp4PlainKey, golden::kNvfp4PlainValue);
  check_golden<formats::Nvfp4<24>>(head, golden::kNvfp4Key, golden::kNvfp4Value);
}

TEST_CASE("minifloat formats: sizes count every scale, none where the profile holds it") {
  CHECK(formats::Fp8E4m3<128>::kSideBytes == 0);
  CHECK(formats::Fp8E4m3<128>::kBlockBytes == 64 * 128);
  CHECK(formats::Fp8E4m3<128>::kProfileSize == 1);
  CHECK(formats::Fp8E4m3Token<128>::kSideBytes == 64 * 2);
  CHECK(formats::Fp8E4m3Token<128>::kProfileSize == 0);
  CHECK(formats::Mxfp4<80>::kSideBytes == 64 * 3);  // the last group is short
  CHECK(formats::Mxfp4<128>::kBlockBytes == 64 * (64 + 4));
  CHECK(formats::Nvfp4<80>::kSideBytes == 64 * 5);
  CHECK(formats::Nvfp4<128>::kBlockBytes == 64 * (64 + 8));
  CHECK(formats::Nvfp4<128>::kProfileSize == 1);
}

TEST_CASE("minifloat formats: what saturates is counted, profiles are checked") {
  using F = formats::Fp8E4m3<16>;
  const float scale = 0.01f;
  const F format = F::bind({&scale, nullptr, nullptr});
  std::vector<float> row(16, 1.0f);
  row[3] = 4.5f;
  row[9] = -1000.0f;
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  format.encode(Rows{row.data(), 1, 16}, 5, nullptr, block.data(), spill, counters);
  CHECK(counters.saturated == 2);
  CHECK(counters.values == 16);
  std::vector<float> back(16);
  format.decode({block.data(), nullptr, nullptr, 0}, 5, MutableRows{back.data(), 1, 16});
  CHECK(back[3] == product(448.0f, scale));
  CHECK(back[9] == -product(448.0f, scale));
  EncodeCounters sum;
  sum.add(counters);
  sum.add(counters);
  CHECK(sum.saturated == 4);
  const float bad = -1.0f;
  CHECK(F::valid_profile(nullptr));
  CHECK(F::valid_profile(&scale));
  CHECK(!F::valid_profile(&bad));
  CHECK(!formats::Nvfp4<16>::valid_profile(&bad));
}
