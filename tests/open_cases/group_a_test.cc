// Open cases of group A that need a quantizer or one block, and OC-24, OC-25.
// G, N: support/generator.h. Bound of the cases: support/any_quant.h.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "kvpleat/format/formats.h"
#include "support/any_quant.h"
#include "support/generator.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

using namespace kvpleat;
using test::any_dense;
using test::AnyDense;
using test::AnyQuant;
using test::CodedGroup;
using test::finite;
using test::largest;
using test::normal;
using test::uniform;

namespace {

// A dense format of some width in both roles.
template <std::uint32_t kDim, class Quant>
void add_roles(std::vector<AnyDense>& formats) {
  formats.push_back(any_dense<kDim, Quant, Role::kKey>());
  formats.push_back(any_dense<kDim, Quant, Role::kValue>());
}

struct CodedBlock {
  std::vector<std::uint8_t> block;
  std::vector<float> back;
};
CodedBlock code(const AnyDense& format, const std::vector<float>& rows) {
  CodedBlock coded;
  coded.block.resize(format.block_bytes);
  coded.back.resize(rows.size());
  format.encode(rows, coded.block.data());
  format.decode(coded.block.data(), coded.back);
  return coded;
}

}  // namespace

TEST_CASE("OC-01 a group of equal values") {
  std::vector<AnyDense> blocks;
  add_roles<40, AffineQuant<4, 32>>(blocks);
  add_roles<40, AffineQuant<3, 32, Axis::kTokens>>(blocks);
  add_roles<40, SymmetricQuant<2, 32>>(blocks);
  add_roles<40, SymmetricQuant<8, 32, Axis::kTokens>>(blocks);

  for (const float x : {9.0f, -9.0f, 0.0f, -0.0f, 1e-3f, 65504.0f, 0.1f}) {
    CAPTURE(x);
    // Rounding to nearest: 2^-11 of a normal half, 2^-8 of a bfloat16. 9 and 0 are either.
    const bool exact = x == 9.0f || x == -9.0f || x == 0.0f;
    for (const AnyQuant& quant : test::all_quants()) {
      CAPTURE(quant.id);
      const bool bfloat = quant.side_error > 0x1p-9f;
      const float tolerance = exact ? 0.0f : std::fabs(x) * (bfloat ? 0x1p-8f : 0x1p-11f);
      const CodedGroup group = quant.code(std::vector<float>(32, x));
      CHECK(group.worst_error(std::vector<float>(32, x)) <= tolerance);
      // Documented codes: 0 (affine); the code of 0, +1 or -1 (symmetric).
      const std::uint32_t zero = quant.symmetric ? 1u << (quant.bits - 1) : 0u;
      const std::uint32_t wanted =
          quant.symmetric ? zero + (x > 0.0f ? 1u : 0u) - (x < 0.0f ? 1u : 0u) : 0u;
      CHECK(std::count(group.codes.begin(), group.codes.end(), wanted) == 32);
    }
    // Through blocks, groups along channels and along tokens, both roles.
    const float tolerance = exact ? 0.0f : std::fabs(x) * 0x1p-11f;
    for (const AnyDense& format : blocks) {
      CAPTURE(format.quant.id);
      const CodedBlock coded = code(format, std::vector<float>(32 * 40, x));
      float worst = 0.0f;
      for (const float y : coded.back) worst = std::max(worst, std::fabs(y - x));
      CHECK(finite(coded.back));
      CHECK(worst <= tolerance);
    }
  }
}

TEST_CASE("OC-02 a nearly equal group at a large offset") {
  std::vector<float> x(32, 1000.0f);
  x[7] = 1000.0625f;
  x[20] = 999.9375f;
  std::uint32_t seen = 0;
  for (const AnyQuant& quant : test::all_quants()) {
    if (quant.symmetric || (quant.bits != 4 && quant.bits != 8)) continue;
    CAPTURE(quant.id);
    const CodedGroup group = quant.code(x);
    CHECK(group.worst_error(x) <= quant.bound(x));
    CHECK(group.back[7] >= group.back[20]);
    ++seen;
  }
  CHECK(seen == 6);
}

TEST_CASE("OC-05 scales that underflow for tiny values") {
  for (const float a : {1e-3f, 1e-4f, 1e-6f, 1e-7f, 1e-8f, 1e-20f}) {
    const std::vector<float> x = uniform(6, 32, a);
    CAPTURE(a);
    for (const AnyQuant& quant : test::all_quants()) {
      CAPTURE(quant.id);
      const CodedGroup group = quant.code(x);
      // With one bit the smallest half, 2^-24, is too coarse a step below it: half of it rounded
      // up.
      const float slack = quant.bits == 1 ? 0x1p-24f : 0.0f;
      CHECK(group.worst_error(x) <= a + slack);
      const std::uint32_t top = *std::max_element(group.codes.begin(), group.codes.end());
      CHECK(top < 1u << quant.bits);
    }
  }
}

#if defined(__SSE2__)
TEST_CASE("OC-07 subnormal side data and flush-to-zero mode") {
  const unsigned before = _mm_getcsr();
  const unsigned modes = 0x8040u;  // flush to zero is bit 15, denormals are zero bit 6
  for (const unsigned mode : {0u, modes}) {
    for (const float a : {3e-5f, 1e-40f}) {
      const std::vector<float> x = uniform(9, 32, a);
      double bound = 0.0;
      for (const float v : x) bound = std::max(bound, std::fabs(static_cast<double>(v)));
      for (const AnyQuant& quant : test::all_quants()) {
        if (quant.bits != 4 && quant.bits != 8) continue;
        CAPTURE(quant.id);
        _mm_setcsr((before & ~modes) | mode);
        const CodedGroup group = quant.code(x);
        const unsigned after = _mm_getcsr();
        _mm_setcsr(before);
        CHECK((after & modes) == mode);
        double worst = 0.0;
        for (std::size_t i = 0; i < 32; ++i)
          worst = std::max(
              worst, std::fabs(static_cast<double>(group.back[i]) - static_cast<double>(x[i])));
        CHECK(finite(group.back));
        CHECK(worst <= bound);
      }
    }
  }
}
#endif

TEST_CASE("OC-08 ties round alike, in the tail as well") {
  // Groups of 32, 32 and 3 with 127 first: step 1. Half to even.
  const float ties[6] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f};
  const int rounded[6] = {0, 2, 2, 0, -2, -2};
  std::vector<float> row(67);
  std::vector<int> codes(67);
  for (std::uint32_t c = 0, i = 0; c < 67; ++c) {
    row[c] = c % 32 == 0 ? 127.0f : ties[i % 6];
    codes[c] = c % 32 == 0 ? 127 : rounded[i % 6];
    i += c % 32 != 0;
  }
  std::vector<AnyDense> formats;
  add_roles<67, SymmetricQuant<8, 32>>(formats);
  for (const AnyDense& format : formats) {
    const CodedBlock coded = code(format, row);
    for (std::uint32_t c = 0; c < 67; ++c) {
      CHECK(static_cast<int>(format.code(coded.block.data(), 0, c)) - 128 == codes[c]);
      CHECK(coded.back[c] == static_cast<float>(codes[c]));
    }
  }
}

TEST_CASE("OC-09 codes are computed from the stored scale") {
  const AnyQuant quant = test::any_quant<AffineQuant<4, 32>>();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::vector<float> x = normal(10 + i, 32, 30.0f);
    const CodedGroup first = quant.code(x);
    CHECK(first.worst_error(x) <= quant.bound(x));
    const CodedGroup second = quant.code(first.back);
    // One half rounding of low, and of step times up to 15: at most 2^-10 each (directed).
    CHECK(second.worst_error(first.back) <= 0x1p-10f * (std::fabs(first.low) + 15.0f * first.step));
  }
}

namespace {

template <std::uint32_t kBits>
void add_ramp_formats(std::vector<AnyDense>& formats) {
  add_roles<256, AffineQuant<kBits>>(formats);
  add_roles<256, AffineQuant<kBits, 32>>(formats);
  formats.push_back(any_dense<256, SymmetricQuant<kBits>, Role::kKey>());
  formats.push_back(any_dense<256, SymmetricQuant<kBits, 32>, Role::kValue>());
}

}  // namespace

TEST_CASE("OC-10 every bit width uses its own mask and table") {
  std::vector<float> ramp(256);
  for (std::uint32_t i = 0; i < 256; ++i) ramp[i] = -1.0f + 2.0f * static_cast<float>(i) / 255.0f;
  std::vector<AnyDense> formats;
  [&]<std::uint32_t... kI>(std::integer_sequence<std::uint32_t, kI...>) {
    (add_ramp_formats<kI + 2>(formats), ...);
  }
  (std::make_integer_sequence<std::uint32_t, 7>());

  for (const AnyDense& format : formats) {
    CAPTURE(format.quant.id);
    const std::uint32_t n = format.group_channels;
    const std::vector<float> all = code(format, ramp).back;
    for (std::uint32_t g = 0; g < 256; g += n) {
      const std::vector<float> x(ramp.begin() + g, ramp.begin() + g + n);
      const std::vector<float> y(all.begin() + g, all.begin() + g + n);
      const std::size_t distinct = std::set<float>(y.begin(), y.end()).size();
      const std::size_t codes = 1u << format.quant.bits;
      if (!format.quant.symmetric) {
        // A step is rounded up to a half, 2^-10 of it at most, so the last of n members falls up to
        // n 2^-10 steps short: 256 members in 256 codes, or 32 in 32, may meet once where the ramp
        // crosses from one rounding to the next.
        const std::size_t reachable = std::min<std::size_t>(n, codes);
        CHECK(distinct <= reachable);
        CHECK(distinct + (codes == n ? 1 : 0) >= reachable);
      } else if (n == 256) {
        CHECK(distinct <= codes - 1);
        CHECK(distinct + (codes == n ? 1 : 0) >= codes - 1);
      }
      CHECK(std::is_sorted(y.begin(), y.end()));
      const float bound = format.quant.bound(x);
      float worst = 0.0f;
      for (std::uint32_t i = 0; i < n; ++i) worst = std::max(worst, std::fabs(x[i] - y[i]));
      CHECK(worst <= bound);
    }
  }
}

TEST_CASE("OC-11 the whole code range is used") {
  const AnyQuant quant = test::any_quant<AffineQuant<4, 32>>();
  const std::vector<float> values = uniform(11, 4096);
  double sum = 0.0;
  for (std::ptrdiff_t g = 0; g < 4096; g += 32) {
    const std::vector<float> x(values.begin() + g, values.begin() + g + 32);
    const CodedGroup group = quant.code(x);
    CHECK(std::count(group.codes.begin(), group.codes.end(), 0u) > 0);
    CHECK(std::count(group.codes.begin(), group.codes.end(), 15u) > 0);
    for (std::size_t i = 0; i < 32; ++i) {
      const double e = (static_cast<double>(group.back[i]) - static_cast<double>(x[i])) /
                       static_cast<double>(group.step);
      sum += e * e;
    }
  }
  // Uniform rounding errors have 1/12 = 0.0833; the two end points of each group have none.
  CHECK(sum / 4096.0 >= 0.070);
  CHECK(sum / 4096.0 <= 0.090);
}

namespace {

template <std::uint32_t kDim>
void add_odd_formats(std::vector<AnyDense>& formats) {
  [&]<std::uint32_t... kI>(std::integer_sequence<std::uint32_t, kI...>) {
    (add_roles<kDim, AffineQuant<kI + 2>>(formats), ...);
  }
  (std::make_integer_sequence<std::uint32_t, 6>());
}

}  // namespace

TEST_CASE("OC-12 odd element counts and the order of sub-byte fields") {
  std::vector<AnyDense> formats;
  add_odd_formats<1>(formats);
  add_odd_formats<3>(formats);
  add_odd_formats<5>(formats);
  add_odd_formats<63>(formats);
  add_odd_formats<65>(formats);
  for (const AnyDense& format : formats) {
    CAPTURE(format.dim);
    CAPTURE(format.quant.id);
    std::vector<float> row(format.dim);
    for (std::uint32_t d = 0; d < format.dim; ++d) row[d] = static_cast<float>(d) / 64.0f - 0.5f;
    CodedBlock coded = code(format, row);
    const float bound = format.quant.bound(row);
    for (std::uint32_t d = 0; d < format.dim; ++d) {
      CHECK(std::fabs(coded.back[d] - row[d]) <= bound);
      const float one = format.decode_one(coded.block.data(), 0, d);
      CHECK(std::memcmp(&one, &coded.back[d], sizeof one) == 0);
    }
    // Unused bits are zero: with the codes and the scale of the token erased, nothing is left.
    format.erase(coded.block.data(), 0, 1);
    CHECK(std::count(coded.block.begin(), coded.block.end(), 0) ==
          static_cast<std::ptrdiff_t>(format.block_bytes));
  }
}

namespace {

template <std::uint32_t kDim, class Rotation>
void check_one_rotation() {
  const Rotation rotation;
  CAPTURE(kDim);
  const std::vector<float> rows = normal(22, 200 * kDim);
  std::vector<float> turned(rows.size());
  std::vector<float> back(rows.size());
  for (std::uint32_t t = 0; t < 200; ++t) {
    rotation.template forward<kDim>(rows.data() + t * kDim, 0, turned.data() + t * kDim);
    rotation.template restore<kDim>(turned.data() + t * kDim, 1.0f, 0, back.data() + t * kDim);
  }
  const auto dot = [](const float* a, const float* b) {
    double sum = 0.0;
    for (std::uint32_t c = 0; c < kDim; ++c)
      sum += static_cast<double>(a[c]) * static_cast<double>(b[c]);
    return sum;
  };
  for (std::uint32_t t = 0; t < 100; ++t) {
    const float* a = rows.data() + 2 * t * kDim;
    const float* b = a + kDim;
    const float* x = turned.data() + 2 * t * kDim;
    const float* y = x + kDim;
    const double norms = std::sqrt(dot(a, a) * dot(b, b));
    CHECK(std::fabs(dot(x, y) - dot(a, b)) <= 1e-5 * norms);
    CHECK(std::fabs(std::sqrt(dot(x, x)) - std::sqrt(dot(a, a))) <= 1e-5 * std::sqrt(dot(a, a)));
  }
  float worst = 0.0f;
  for (std::size_t i = 0; i < rows.size(); ++i)
    worst = std::max(worst, std::fabs(back[i] - rows[i]));
  CHECK(worst <= 1e-5f * largest(rows));
}
// Blocks apart, and all channels together.
template <std::uint32_t kDim>
void check_rotation() {
  check_one_rotation<kDim, RandomHadamard<>>();
  check_one_rotation<kDim, KroneckerHadamard<>>();
}

}  // namespace

TEST_CASE("OC-24 rotation where head_dim is no power of two") {
  check_rotation<80>();
  check_rotation<96>();
  check_rotation<192>();
  check_rotation<320>();
  check_rotation<576>();
}

namespace {

template <std::uint32_t kBits>
void check_norms(double least_cosine) {
  using F = formats::RotatedValue<128, kBits>;
  const F format;
  const double radii[] = {0.0, 1e-6, 0.5, 1.0, 37.0, 5000.0};
  for (const double r : radii) {
    std::vector<float> row = normal(23, 128);
    double norm = 0.0;
    for (const float x : row) norm += static_cast<double>(x) * static_cast<double>(x);
    for (float& x : row) x = static_cast<float>(static_cast<double>(x) * r / std::sqrt(norm));
    std::vector<float> coded(128);
    format.forward(row.data(), 0, coded.data());
    std::vector<float> back(128);
    std::vector<std::uint8_t> block(F::kBlockBytes, 0);
    SpillWriter spill;
    EncodeCounters counters;
    format.encode(Rows{coded.data(), 1, 128}, 0, nullptr, block.data(), spill, counters);
    std::vector<float> decoded(128);
    format.decode({block.data(), nullptr, nullptr, 0}, 0, MutableRows{decoded.data(), 1, 128});
    format.restore(decoded.data(), 1.0f, 0, back.data());
    CAPTURE(r);
    CHECK(finite(back));
    double dot = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < 128; ++i) {
      dot += static_cast<double>(back[i]) * static_cast<double>(row[i]);
      size += static_cast<double>(back[i]) * static_cast<double>(back[i]);
    }
    if (r == 0.0) {
      CHECK(largest(back) == 0.0f);
    } else if (r < 0.5) {
      CHECK(std::sqrt(size) <= 2e-6);
    } else {
      CHECK(dot / (r * std::sqrt(size)) >= least_cosine);
      CHECK(std::fabs(std::sqrt(size) - r) <= 0.05 * r);
    }
  }
}

}  // namespace

TEST_CASE("OC-25 rotation codec with norms far from one, and zero") {
  check_norms<3>(0.97);
  check_norms<4>(0.99);
}
