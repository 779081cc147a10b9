#include "kvpleat/codec/sign_sketch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/codec/slots.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/no_codes.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/split/top_k.h"
#include "kvpleat/transform/sketch.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

template <std::uint32_t kDim, class Codes, class Sketch, Role kRole = Role::kKey>
using Sketched = BlockFormat<kDim, NoTransform, NoSplit, SketchQuant<Codes, Sketch, kDim>,
                             SignSketchCodec, kRole>;

// Encodes rows at a slot, decodes them, and checks bytes and values against the definition in
// doubles; the codes in front are those of DenseCodec.
template <class F, class Dense>
void check_definition(const std::vector<float>& matrix, double constant,
                      const BindContext& context) {
  constexpr std::uint32_t kDim = F::kDim;
  constexpr std::uint32_t kTokens = 7;
  constexpr std::uint32_t kSlot = 21;
  const F format = F::bind(context);
  const std::vector<float> rows = test::normal(kDim, kTokens * kDim, 3.0f);
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  format.encode(Rows{rows.data(), kTokens, kDim}, kSlot, nullptr, block.data(), spill, counters);
  CHECK(counters.values == kTokens * kDim);
  std::vector<float> back(kTokens * kDim);
  format.decode({block.data(), nullptr, nullptr, 0}, kSlot,
                MutableRows{back.data(), kTokens, kDim});

  std::vector<float> front(kTokens * kDim, 0.0f);
  std::size_t front_bytes = 0;
  if constexpr (!std::is_void_v<Dense>) {
    std::vector<std::uint8_t> wanted(Dense::kBlockBytes, 0);
    Dense{}.encode(Rows{rows.data(), kTokens, kDim}, kSlot, nullptr, wanted.data(), spill,
                   counters);
    Dense{}.decode({wanted.data(), nullptr, nullptr, 0}, kSlot,
                   MutableRows{front.data(), kTokens, kDim});
    CHECK(std::equal(wanted.begin(), wanted.end(), block.begin()));
    front_bytes = wanted.size();
  }
  using Signs = CodeTile<kDim, 64, 1, F::kRole>;
  CHECK(block.size() == front_bytes + Signs::kBytes + 128);
  std::uint32_t wrong_signs = 0;
  double worst_gamma = 0.0;
  double worst = 0.0;
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    std::vector<double> residual(kDim);
    double square = 0.0;
    for (std::uint32_t c = 0; c < kDim; ++c) {
      residual[c] =
          static_cast<double>(rows[t * kDim + c]) - static_cast<double>(front[t * kDim + c]);
      square += residual[c] * residual[c];
    }
    const double length = std::sqrt(square);
    const auto gamma = static_cast<double>(to_float(load<Half>(
        block.data() + front_bytes + Signs::kBytes + static_cast<std::size_t>(kSlot + t) * 2)));
    worst_gamma = std::max(worst_gamma, std::fabs(gamma - length) / length);
    std::vector<double> estimate(kDim, 0.0);
    for (std::uint32_t i = 0; i < kDim; ++i) {
      double projected = 0.0;
      for (std::uint32_t c = 0; c < kDim; ++c)
        projected += static_cast<double>(matrix[i * kDim + c]) * residual[c];
      const bool negative = Signs::get(block.data() + front_bytes, kSlot + t, i) != 0;
      // A float projection may round to the other side of zero only where it is as good as zero.
      if (negative != (projected < 0.0) && std::fabs(projected) > 1e-5 * length) ++wrong_signs;
      for (std::uint32_t c = 0; c < kDim; ++c)
        estimate[c] += (negative ? -1.0 : 1.0) * static_cast<double>(matrix[i * kDim + c]);
    }
    for (std::uint32_t c = 0; c < kDim; ++c) {
      const auto start = static_cast<double>(front[t * kDim + c]);
      const double error =
          static_cast<double>(back[t * kDim + c]) - start - gamma * constant * estimate[c];
      worst = std::max(worst, std::fabs(error) / (length + std::fabs(start)));
    }
  }
  CHECK(wrong_signs == 0);
  CHECK(worst_gamma <= 0x1p-11 * (1.0 + 1e-5));  // one binary16
  // The direction (up to 12 roundings relative to its length sqrt(pi / 2), S itself rounded), the
  // constant, two products and a sum.
  CHECK(worst <= 30.0 * 0x1p-24 * 2.0);
  // Slots around stay as they were.
  F::erase(block.data(), kSlot, kTokens);
  CHECK(std::all_of(block.begin(), block.end(), [](std::uint8_t b) { return b == 0; }));
}

template <std::uint32_t kDim>
std::vector<float> matrix_of(const OrthogonalSketch<>& sketch) {
  std::vector<float> matrix(kDim * kDim);
  for (std::uint32_t c = 0; c < kDim; ++c) {
    std::vector<float> unit(kDim, 0.0f);
    unit[c] = 1.0f;
    std::vector<float> column(kDim);
    sketch.template project<kDim>(unit.data(), column.data());
    for (std::uint32_t i = 0; i < kDim; ++i) matrix[i * kDim + c] = column[i];
  }
  return matrix;
}

}  // namespace

TEST_CASE("signs of an orthonormal sketch behind 3-bit codes, by definition") {
  const auto check = []<std::uint32_t kDim, Role kRole>() {
    using F = Sketched<kDim, AffineQuant<3>, OrthogonalSketch<>, kRole>;
    using Dense = BlockFormat<kDim, NoTransform, NoSplit, AffineQuant<3>, DenseCodec, kRole>;
    check_definition<F, Dense>(matrix_of<kDim>({}), std::sqrt(std::acos(-1.0) / (2.0 * kDim)), {});
  };
  check.operator()<64, Role::kKey>();
  check.operator()<64, Role::kValue>();
  check.operator()<40, Role::kKey>();
  check.operator()<1, Role::kValue>();
}
TEST_CASE("signs of a Gaussian sketch, the matrix of the profile") {
  const std::vector<float> matrix = test::normal(9, 48 * 48);
  BindContext context;
  context.profile = matrix.data();
  const double constant = std::sqrt(std::acos(-1.0) / 2.0) / 48.0;
  using Dense = BlockFormat<48, NoTransform, NoSplit, AffineQuant<2>, DenseCodec>;
  check_definition<Sketched<48, AffineQuant<2>, IidSketch>, Dense>(matrix, constant, context);
}
TEST_CASE("one bit: no codes in front, nothing but signs and a length") {
  using F = Sketched<64, NoCodes, OrthogonalSketch<>>;
  static_assert(F::kBlockBytes == 64 * 64 / 8 + 128);
  static_assert(F::kCodeBytes == 512 && F::kSideBytes == 128);
  check_definition<F, void>(matrix_of<64>({}), std::sqrt(std::acos(-1.0) / 128.0), {});
}

TEST_CASE("zero rows are zero bytes and read as zeros; the largest rows fit gamma") {
  using F = Sketched<64, AffineQuant<2>, OrthogonalSketch<>>;
  std::vector<float> rows(64, 0.0f);
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  std::vector<float> back(64, 1.0f);
  const F format;
  format.encode(Rows{rows.data(), 1, 64}, 0, nullptr, block.data(), spill, counters);
  format.decode({block.data(), nullptr, nullptr, 0}, 0, MutableRows{back.data(), 1, 64});
  CHECK(back == rows);
  CHECK(std::all_of(block.begin(), block.end(), [](std::uint8_t b) { return b == 0; }));
  for (std::uint32_t c = 0; c < 64; ++c) rows[c] = random_sign(3, c) * F::kLargest;
  using One = Sketched<64, NoCodes, OrthogonalSketch<>>;
  static_assert(One::kLargest == 65504.0f / 16.0f);
  std::vector<std::uint8_t> bits(One::kBlockBytes, 0);
  One{}.encode(Rows{rows.data(), 1, 64}, 0, nullptr, bits.data(), spill, counters);
  One{}.decode({bits.data(), nullptr, nullptr, 0}, 0, MutableRows{back.data(), 1, 64});
  for (const float x : back) CHECK(is_finite(x));
}

TEST_CASE("identity, profile, and what does not compose") {
  using Quant = SketchQuant<AffineQuant<2>, IidSketch, 16>;
  CHECK(Sketched<16, AffineQuant<2>, IidSketch>::kId.view() ==
        "dim=16;transform=none;split=none;quant=affine;bits=2;group=0;axis=channels;side=f16;"
        "sketch=iid;codec=sign_sketch;role=key");
  CHECK(Sketched<16, NoCodes, OrthogonalSketch<5>>::kId.view() ==
        "dim=16;transform=none;split=none;quant=none;sketch=rht;sketch_seed=5;codec=sign_sketch;"
        "role=key");
  using F = Sketched<16, AffineQuant<2>, IidSketch>;
  static_assert(F::kProfileSize == 256 && F::kHasTile == false);
  std::vector<float> profile(256, 1.0f);
  CHECK(F::valid_profile(profile.data()));
  CHECK(!F::valid_profile(nullptr));
  profile[255] = kInfinity;
  CHECK(!F::valid_profile(profile.data()));
  CHECK(Sketched<16, NoCodes, OrthogonalSketch<>>::valid_profile(nullptr));

  static_assert(composable<NoSplit, Quant, SignSketchCodec>);
  static_assert(composable<NoSplit, AffineQuant<2>, SignSketchCodec>.refusal ==
                Refusal::kSketchNeedsSketchQuant);
  static_assert(composable<TopKSplit<2>, Quant, SignSketchCodec>.refusal ==
                Refusal::kSketchNeedsSketchQuant);
  static_assert(composable<NoSplit, Quant, DenseCodec>.refusal == Refusal::kSketchNeedsItsCodec);
  static_assert(composable<TopKSplit<2>, Quant, SlotCodec>.refusal ==
                Refusal::kSketchNeedsItsCodec);
  static_assert(composable<NoSplit, NoCodes, DenseCodec>.refusal == Refusal::kBitsOutOfRange);
}
