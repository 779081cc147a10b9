// Open cases of groups A and B over every family of formats: OC-01, OC-05, OC-07, OC-23, and what
// kLargest promises (OC-04). Bounds of each family alone: its conformance test.
// G, N: support/generator.h.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kvpleat/format/channel_split.h"
#include "kvpleat/format/formats.h"
#include "support/generator.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

using namespace kvpleat;
using test::uniform;

namespace {

// Thresholds for rows whose largest magnitude is about 1.
constexpr float kThresholds[8] = {-0.9375f, -0.75f, -0.125f, -0.03125f,
                                  0.03125f, 0.125f, 0.75f,   0.9375f};

// Codes that split a band by sides lie between its ends, which are halves: the smallest step is a
// fifteenth of two smallest halves, and it is the bound of such a band.
double smallest_error(std::string_view id) {
  return id.find("outlier=offset_binary") == std::string_view::npos ? 0.0 : 0x1p-23 / 15.0;
}

// One block without its type.
struct AnyBlock {
  std::string_view id;
  std::uint32_t dim = 0;
  std::uint32_t tokens = 0;
  float largest = 0.0f;
  // What rows [tokens, dim] read as; a row is coded at position `t`.
  std::vector<float> (*read)(const std::vector<float>& rows) = nullptr;
  // The same of coded rows [tokens, dim], without the transform.
  std::vector<float> (*read_coded)(const std::vector<float>& rows) = nullptr;
};

template <class F, bool kTransforms>
std::vector<float> read_back(const std::vector<float>& rows) {
  static_assert(F::kCoded == F::kDim);
  std::vector<float> profile(F::kProfileSize, 0.0f);
  if constexpr (requires { F{}.split.edge({}); }) {
    constexpr std::uint32_t kCount = decltype(F::split)::kProfileSize;
    for (std::uint32_t i = 0; i < kCount; ++i)
      profile[F::kProfileSize - kCount + i] = kThresholds[kCount == 8 ? i
                                                          : i < 2     ? 3 * i
                                                                      : 3 * i - 2];
  }
  static const Rope rope = Rope::standard(RopeLayout::kHalves, F::kDim / 2 * 2, 10000.0);
  const F format = F::bind({profile.data(), &rope, nullptr});
  constexpr std::uint32_t kTokens = F::kBlockTokens;
  std::vector<float> coded = rows;
  if constexpr (kTransforms) {
    for (std::uint32_t t = 0; t < kTokens; ++t)
      format.forward(&rows[t * F::kDim], t, &coded[t * F::kDim]);
  }
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  std::vector<std::uint8_t> shared(F::kSharedBytes + 1, 0);
  std::vector<std::uint8_t> bytes(4 * kTokens * F::kDim);  // the widest entries have four bytes
  SpillWriter spill{bytes.data(), 0, static_cast<std::uint32_t>(bytes.size())};
  EncodeCounters counters;
  if constexpr (F::kSharedBytes > 0) {
    for (std::uint32_t t = 0; t < kTokens; ++t) {
      typename F::Stat stat;
      format.observe(&coded[t * F::kDim], stat);
      F::write_shared(stat, t, shared.data());
    }
  }
  format.encode(Rows{coded.data(), kTokens, F::kDim}, 0, shared.data(), block.data(), spill,
                counters);
  std::vector<float> decoded(kTokens * F::kDim);
  format.decode({block.data(), shared.data(), bytes.data(), spill.size}, 0,
                MutableRows{decoded.data(), kTokens, F::kDim});
  if constexpr (!kTransforms) return decoded;
  std::vector<float> back(kTokens * F::kDim);
  for (std::uint32_t t = 0; t < kTokens; ++t)
    format.restore(&decoded[t * F::kDim], 1.0f, t, &back[t * F::kDim]);
  return back;
}

template <class F>
AnyBlock any_block() {
  return {F::kId.view(),       F::kDim, F::kBlockTokens, F::kLargest, &read_back<F, true>,
          &read_back<F, false>};
}

// Every family, in the role that its name has or in both by turns.
template <std::uint32_t kDim>
std::vector<AnyBlock> families() {
  using V = Role;
  return {
      any_block<formats::Int2<kDim>>(),
      any_block<typename formats::Int4TopK<kDim>::template As<V::kValue>>(),
      any_block<formats::Oaken<kDim>>(),
      any_block<formats::OakenOffsetBinary<kDim>>(),
      any_block<formats::OakenNested<kDim>>(),
      any_block<typename formats::OakenNested4<kDim>::template As<V::kValue>>(),
      any_block<formats::OakenPerHead<kDim>>(),
      any_block<formats::OakenJds16<kDim>>(),
      any_block<typename formats::OakenJds16<kDim>::template As<V::kValue>>(),
      any_block<formats::OakenCoo12<kDim>>(),
      any_block<formats::OakenCoo23<kDim>>(),
      any_block<typename formats::KvQuantValue<kDim, 4>::template As<V::kValue>>(),
      any_block<formats::Renewed8<kDim>>(),
      any_block<typename formats::Sealed8Split<kDim>::template As<V::kValue>>(),
      any_block<formats::Tiered8<kDim>>(),
      any_block<formats::HashSparse<kDim>>(),
      any_block<formats::Adaptive2<kDim>>(),
      any_block<typename formats::Adaptive4<kDim>::template As<V::kValue>>(),
      any_block<formats::Adaptive8<kDim>>(),
      any_block<formats::Fp8E4m3<kDim>>(),
      any_block<formats::Fp8E5m2Token<kDim>>(),
      any_block<formats::Mxfp4<kDim>>(),
      any_block<typename formats::Nvfp4<kDim>::template As<V::kValue>>(),
      any_block<formats::CenteredRotatedKey<kDim, 4>>(),
      any_block<formats::TurboQuant<kDim, 3>>(),
      any_block<formats::CodebookKey<kDim, 4>>(),
      any_block<formats::BalancedKey<kDim, 4>>(),
      any_block<typename formats::BalancedValue<kDim, 2>::template As<V::kValue>>(),
      any_block<formats::TurboQuant2_5<kDim>>(),
      any_block<formats::TurboQuantProd<kDim, 3>>(),
  };
}
const std::vector<AnyBlock>& all() {
  static const std::vector<AnyBlock> blocks = families<72>();
  return blocks;
}

bool finite(const std::vector<float>& x) {
  return std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); });
}
double length(const float* x, std::size_t n) {
  double square = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    square += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return std::sqrt(square);
}
double worst(const std::vector<float>& x, const std::vector<float>& y) {
  double result = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i)
    result = std::max(result, std::fabs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  return result;
}

}  // namespace

TEST_CASE("OC-01 a group of equal values, every family") {
  for (const AnyBlock& format : all()) {
    CAPTURE(format.id);
    for (const float x : {9.0f, -9.0f, 0.0f, -0.0f, 1e-3f, 65504.0f, 0.1f}) {
      CAPTURE(x);
      const std::vector<float> rows(format.tokens * format.dim, x);
      if (std::fabs(x) * std::sqrt(static_cast<float>(format.dim)) > format.largest) continue;
      const std::vector<float> back = format.read(rows);
      CHECK(finite(back));
      if (x == 0.0f) CHECK(worst(rows, back) == 0.0);
      // The coarsest keep nothing of it (a scale of the head that is too large or too small, a hash
      // table that takes a fifth of a row), none makes it worse than nothing.
      for (std::uint32_t t = 0; t < format.tokens; ++t) {
        std::vector<float> lost(format.dim);
        for (std::uint32_t c = 0; c < format.dim; ++c) lost[c] = back[t * format.dim + c] - x;
        const double size = length(&rows[t * format.dim], format.dim);
        CHECK(length(lost.data(), format.dim) <= size * (1.0 + 1e-6));
      }
    }
  }
}

TEST_CASE("OC-05 scales that underflow for tiny values, every family") {
  for (const AnyBlock& format : all()) {
    CAPTURE(format.id);
    for (const float a : {1e-3f, 1e-4f, 1e-6f, 1e-7f, 1e-8f, 1e-20f}) {
      CAPTURE(a);
      const std::vector<float> rows = uniform(6, format.tokens * format.dim, a);
      const std::vector<float> back = format.read(rows);
      CHECK(finite(back));
      std::vector<float> lost(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) lost[i] = back[i] - rows[i];
      const double least = smallest_error(format.id) * std::sqrt(static_cast<double>(rows.size()));
      CHECK(length(lost.data(), lost.size()) <=
            length(rows.data(), rows.size()) * (1.0 + 1e-6) + least);
    }
  }
}

#if defined(__SSE2__)
TEST_CASE("OC-07 flush-to-zero mode, every family") {
  const unsigned before = _mm_getcsr();
  const unsigned modes = 0x8040u;  // flush to zero is bit 15, denormals are zero bit 6
  for (const AnyBlock& format : all()) {
    CAPTURE(format.id);
    for (const unsigned mode : {0u, modes}) {
      CAPTURE(mode);
      for (const float a : {3e-5f, 1e-40f}) {
        CAPTURE(a);
        const std::vector<float> rows = uniform(9, format.tokens * format.dim, a);
        _mm_setcsr((before & ~modes) | mode);
        const std::vector<float> back = format.read(rows);
        const unsigned after = _mm_getcsr();
        _mm_setcsr(before);
        CHECK((after & modes) == mode);
        CHECK(finite(back));
        double bound = 0.0;
        for (const float x : rows) bound = std::max(bound, std::fabs(static_cast<double>(x)));
        CHECK(worst(rows, back) <= bound + smallest_error(format.id));
      }
    }
  }
}
#endif

TEST_CASE("OC-04 the largest magnitude that a format takes has finite scales, every family") {
  for (const AnyBlock& format : all()) {
    CAPTURE(format.id);
    const float top = format.largest;
    std::vector<float> rows = uniform(4, format.tokens * format.dim);
    for (std::uint32_t t = 0; t < format.tokens; ++t) {
      float* row = &rows[t * format.dim];
      for (std::uint32_t c = 0; c < format.dim; ++c) {
        const float sign = row[c] < 0.0f ? -1.0f : 1.0f;
        switch (t % 8) {
          case 0:
            row[c] = sign * top;
            break;
          case 1:
            row[c] = top;
            break;
          case 2:
            row[c] = -top;
            break;
          case 3:
            row[c] = c == t ? -top : top;
            break;
          case 4:
            row[c] = c == t ? sign * top : 0.0f;
            break;
          case 5:
            row[c] = c == t ? top : sign;
            break;
          case 6:
            row[c] = c % 16 == 0 ? sign * top : sign * (0.999f * top);
            break;
          default:
            row[c] *= top;
        }
      }
    }
    const std::vector<float> back = format.read_coded(rows);
    CHECK(finite(back));
    CHECK(worst(rows, back) <= 2.0 * static_cast<double>(top));
  }
}

TEST_CASE("OC-23 upper half of a wide head, every family with indices") {
  constexpr std::uint32_t kDim = 512;
  using V = Role;
  const std::vector<AnyBlock> wide = {
      any_block<formats::Int4TopK<kDim>>(),
      any_block<formats::Oaken<kDim>>(),
      any_block<formats::OakenNested<kDim>>(),
      any_block<formats::OakenJds16<kDim>>(),
      any_block<typename formats::OakenJds16<kDim>::template As<V::kValue>>(),
      any_block<formats::OakenCoo12<kDim>>(),
      any_block<formats::OakenCoo23<kDim>>(),
      any_block<typename formats::KvQuantValue<kDim, 4>::template As<V::kValue>>(),
      any_block<formats::Tiered8<kDim>>(),
      any_block<typename formats::HashSparse<kDim>::template As<V::kValue>>(),
      any_block<formats::Mxfp4<kDim>>(),
  };
  for (const AnyBlock& format : wide) {
    CAPTURE(format.id);
    std::vector<float> rows = uniform(21, format.tokens * kDim);
    for (std::uint32_t i = 0; i < format.tokens * kDim; ++i) {
      if (i % kDim < 272) rows[i] = 0.0f;
    }
    const std::vector<float> back = format.read(rows);
    double below = 0.0;
    for (std::uint32_t t = 0; t < format.tokens; ++t) {
      const float* row = &rows[t * kDim];
      const float* got = &back[t * kDim];
      below = std::max(below, length(got, 272));
      std::vector<float> lost(240);
      for (std::uint32_t c = 0; c < 240; ++c) lost[c] = got[272 + c] - row[272 + c];
      CHECK(length(got + 272, 240) > 0.5 * length(row + 272, 240));
      CHECK(length(lost.data(), 240) < 0.75 * length(row + 272, 240));
    }
    CHECK(below <= 0.5 * (2.0 / 15.0) * std::sqrt(272.0));  // half a 4-bit step of [-1, 1] at most
  }
}
