// The encoder on every target against the formats' own encode.
#include "kvpleat/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_TARGET_INCLUDE "simd/encode_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their header must be seen once per target.
#include "kvpleat/simd/encode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// False: a target without vectors, where the formats' own functions are used.
bool encode_rows(const abi::CodeView& view, const abi::EncodeArguments& arguments) {
#if KVPLEAT_VECTOR_CODECS
  Encode::rows(view, arguments);
  return true;
#else
  static_cast<void>(view);
  static_cast<void>(arguments);
  return false;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "kvpleat/format/formats.h"
#include "kvpleat/simd/code_view.h"
#include "support/any_format.h"
#include "support/generator.h"
#include "support/simd_targets.h"

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(encode_rows);

namespace {

// Runs the checks on each target that has vectors.
template <class Run>
void on_targets(Run run) {
  const int ran = on_each_target(HWY_TARGETS, [&](const char* target) {
    INFO(std::string(target));
    run();
  });
  CHECK(ran >= 1);
}

// Rows that try roundings: ordinary ones, constant ones, huge and tiny and denormal ones, zeros of
// both signs, few distinct numbers, ties of a uniform grid, one number far from the others.
void fill_row(test::Generator& random, std::uint32_t kind, float largest, float* row,
              std::uint32_t dim) {
  const float scale = std::exp2(static_cast<float>(random.below(20)) - 12.0f);
  const auto ordinary = [&] {
    return (random.next() + random.next() + random.next()) * scale *
           lower_of(largest * 0.001f, 1.0f);
  };
  const float constant = ordinary();
  for (std::uint32_t c = 0; c < dim; ++c) {
    float& x = row[c];
    switch (kind % 12) {
      case 0:
      case 1:
      case 2:
        x = ordinary();
        break;
      case 3:
        x = constant;
        break;
      case 4:
        x = random.below(2) != 0 ? constant : -constant;
        break;
      case 5:
        x = random.next() * largest;
        break;
      case 6:
        x = random.next() * 0x1p-130f;
        break;
      case 7:
        x = random.below(2) != 0 ? 0.0f : -0.0f;
        break;
      case 8:
        x = random.below(3) != 0 ? 0.0f : random.below(2) != 0 ? -0.0f : 1.0f;
        break;
      case 9:
        x = static_cast<float>(random.below(31)) * 0.5f - 3.5f;
        break;
      case 10:
        x = c == dim / 3 ? lower_of(largest, 1000.0f) : ordinary();
        break;
      default:
        x = random.next() * 0x1p-18f;
    }
  }
}

// The same bytes as the format's own encode, whatever slot and count, and nothing but its slots
// written; other tokens' codes in a shared line stay.
template <class Format, Role kRole>
void check(test::Generator& random) {
  using F = typename Format::template As<kRole>;
  INFO(std::string(F::kId.view()));
  static_assert(EncodesByView<F>);
  const test::Surroundings around(F::kDim, test::SampleProfile<F>::make());
  std::vector<float> profile = around.profile;
  if constexpr (requires { F::Layout::kCoefficients; }) {
    for (std::uint32_t c = 0; c < F::kDim; ++c)
      profile[F::kProfileSize - 1 - F::kDim + c] = 1.0f / std::sqrt(static_cast<float>(F::kDim));
    profile[F::kProfileSize - 1] = 0.03f;
  }
  for (std::uint32_t round = 0; round < 30; ++round) {
    if constexpr (requires { F::Layout::kCoefficients; }) {
      if (round == 29) profile[F::kProfileSize - 1] = 0.0f;
    }
    const F format =
        F::bind(BindContext{profile.data(), &around.rope, around.unit_rotations.data()});
    std::vector<float> rows(std::size_t{F::kBlockTokens} * (F::kDim + 1));
    for (std::uint32_t t = 0; t < F::kBlockTokens; ++t) {
      fill_row(random, round < 12 ? round : random.below(12), F::kLargest * 0.99f,
               rows.data() + std::size_t{t} * (F::kDim + 1), F::kDim);
    }
    std::vector<std::uint8_t> wanted(F::kBlockBytes, 0);
    if (round % 3 == 2) {
      // Left over from before, but for padding, which is zero in every block.
      SpillWriter none;
      EncodeCounters ignored;
      format.encode(Rows{rows.data() + 1, F::kBlockTokens - F::kSeal, F::kDim + 1}, F::kSeal,
                    nullptr, wanted.data(), none, ignored);
    }
    std::vector<std::uint8_t> got = wanted;
    for (std::uint32_t slot = 0; slot < F::kBlockTokens;) {
      std::uint32_t n = round % 4 == 0 ? F::kBlockTokens : (1 + random.below(33)) * F::kSeal;
      n = lower_of(n, F::kBlockTokens - slot);
      const float* from = rows.data() + std::size_t{slot} * (F::kDim + 1);
      SpillWriter none;
      EncodeCounters ignored;
      format.encode(Rows{from, n, F::kDim + 1}, slot, nullptr, wanted.data(), none, ignored);
      const abi::EncodeArguments arguments{from, F::kDim + 1, n, slot, got.data()};
      if (!HWY_DYNAMIC_DISPATCH(encode_rows)(code_view(format), arguments)) return;
      slot += n;
      const bool same = std::memcmp(wanted.data(), got.data(), F::kBlockBytes) == 0;
      INFO("round " << round << " up to slot " << slot);
      CHECK(same);
      if (!same) return;
    }
  }
}
// The same bytes of one row in slot 0.
template <class F>
bool same_row(const F& format, const float* row) {
  std::vector<std::uint8_t> wanted(F::kBlockBytes, 0);
  std::vector<std::uint8_t> got = wanted;
  SpillWriter none;
  EncodeCounters ignored;
  format.encode(Rows{row, 1, F::kDim}, 0, nullptr, wanted.data(), none, ignored);
  const abi::EncodeArguments arguments{row, F::kDim, 1, 0, got.data()};
  return !HWY_DYNAMIC_DISPATCH(encode_rows)(code_view(format), arguments) || wanted == got;
}
// Elements whose quotients are thresholds, or a few floats beside them.
template <class F>
void check_thresholds(test::Generator& random) {
  INFO(std::string(F::kId.view()));
  using Quant = std::remove_cvref_t<decltype(F{}.quant)>;
  using Side = typename Quant::Side;
  const F format = F::bind(BindContext{nullptr, nullptr, nullptr});
  std::uint32_t aimed = 0;
  std::uint32_t different = 0;
  for (std::uint32_t round = 0; round < 2000; ++round) {
    const float scale = to_float(nearest<Side>(std::exp2(random.next() * 4.0f)));
    std::vector<float> row(F::kDim);
    double energy = 0.0;
    for (std::uint32_t c = 0; c + 16 < F::kDim; ++c) {
      if (random.below(2) != 0) continue;
      const std::uint32_t k = random.below(Quant::kCount - 1);
      row[c] = Quant::kThresholds[k] * scale;
      const float towards = random.below(2) != 0 ? kInfinity : -kInfinity;
      for (std::uint32_t i = random.below(4); i > 0; --i) row[c] = std::nextafter(row[c], towards);
      energy += static_cast<double>(row[c]) * static_cast<double>(row[c]);
    }
    // What is left makes the scale the one that they are made for.
    const double rest = F::kDim * static_cast<double>(scale) * static_cast<double>(scale) - energy;
    if (rest < 0.0) continue;
    const auto filling = static_cast<float>(std::sqrt(rest / 16.0));
    for (std::uint32_t c = F::kDim - 16; c < F::kDim; ++c) row[c] = filling;
    typename Quant::Stat stat{};
    for (const float x : row) format.quant.observe(x, stat);
    aimed += to_float(format.quant.scale(stat).norm) == scale ? 1u : 0u;
    different += same_row(format, row.data()) ? 0u : 1u;
  }
  CHECK(aimed > 100);
  CHECK(different == 0);
}
// Rows whose scale lies halfway between two sides, and rows that lie halfway between two
// coefficients of their direction: but for the last bits of their elements.
template <class F>
void check_halfway(test::Generator& random) {
  INFO(std::string(F::kId.view()));
  using Side = typename std::remove_cvref_t<decltype(F{}.quant)>::Side;
  std::vector<float> profile(F::kProfileSize + 1, 0.0f);
  constexpr bool kDirection = requires {
    F::Layout::kCoefficients;
  };
  float* direction = profile.data() + F::kProfileSize - 1 - F::kDim;
  if constexpr (kDirection) {
    for (std::uint32_t c = 0; c < F::kDim; ++c)
      direction[c] = (c % 3 == 0 ? -1.0f : 1.0f) / std::sqrt(static_cast<float>(F::kDim));
    direction[F::kDim] = 0.25f;
  }
  const F format = F::bind(BindContext{profile.data(), nullptr, nullptr});
  std::uint32_t different = 0;
  for (std::uint32_t round = 0; round < 2000; ++round) {
    std::vector<float> row(F::kDim);
    for (float& x : row) x = random.next() + random.next() + random.next();
    if (kDirection && round % 2 == 0) {
      const double along = ordered_dot(row.data(), direction, F::kDim);
      const double wanted = 0.25 * (0.5 + static_cast<double>(random.below(20)));
      for (std::uint32_t c = 0; c < F::kDim; ++c)
        row[c] += static_cast<float>((wanted - along) * static_cast<double>(direction[c]));
    } else {
      if (kDirection) direction[F::kDim] = 1000.0f;  // nothing is taken away first
      const double size = std::sqrt(ordered_dot(row.data(), row.data(), F::kDim) / F::kDim);
      const float side = to_float(nearest<Side>(static_cast<float>(size)));
      float next = side;
      while (to_float(nearest<Side>(next)) == side) next *= 1.0f + 0x1p-12f;
      const double middle =
          (static_cast<double>(side) + static_cast<double>(to_float(nearest<Side>(next)))) / 2.0;
      for (float& x : row) x = static_cast<float>(static_cast<double>(x) * middle / size);
    }
    different += same_row(format, row.data()) ? 0u : 1u;
    if (kDirection) direction[F::kDim] = 0.25f;
  }
  CHECK(different == 0);
}
template <class... Formats>
void check_all() {
  test::Generator random(12);
  (check<Formats, Role::kKey>(random), ...);
  (check<Formats, Role::kValue>(random), ...);
}

}  // namespace

TEST_CASE("encoding by vectors: the bytes of the format, uniform codes") {
  on_targets([] {
    check_all<formats::Int<128, 4, 64>, formats::Int<80, 1>, formats::Int<20, 3>,
              formats::Int<96, 7, 20>,
              formats::Dense<64, AffineQuant<8, 16, Axis::kChannels, float>>,
              formats::Dense<576, SymmetricQuant<5, 64, Axis::kChannels, BFloat16>>,
              formats::Dense<64, SymmetricQuant<6>>,
              formats::Dense<80, SymmetricQuant<3, kWholeHead, Axis::kChannels, float>>,
              formats::Dense<64, AffineQuant<2, 32, Axis::kChannels, BFloat16>>>();
  });
}

TEST_CASE("encoding by vectors: the bytes of the format, groups along tokens") {
  on_targets([] {
    check_all<formats::IntChannel<128, 4>, formats::IntChannel<80, 2>,
              formats::IntChannel<20, 5, 128>,
              formats::Dense<64, SymmetricQuant<4, 32, Axis::kTokens, float>>,
              formats::Dense<64, SymmetricQuant<8, 4, Axis::kTokens>>>();
  });
}

TEST_CASE("encoding by vectors: quotients on thresholds and beside them") {
  on_targets([] {
    test::Generator random(14);
    check_thresholds<formats::CodebookValue<128, 4>::As<Role::kValue>>(random);
    check_thresholds<formats::CodebookValue<80, 2>::As<Role::kKey>>(random);
    check_thresholds<formats::RotatedBook<128, 4, NoTransform, ScalePolicy::kUnbiased,
                                          LogScale8>::As<Role::kKey>>(random);
    check_thresholds<formats::RotatedBook<64, 3, NoTransform, ScalePolicy::kMatchedNorm,
                                          BFloat16>::As<Role::kKey>>(random);
    check_thresholds<formats::CodebookValue<64, 6>::As<Role::kValue>>(random);
  });
}

TEST_CASE("encoding by vectors: scales and coefficients halfway between two") {
  on_targets([] {
    test::Generator random(15);
    check_halfway<formats::CodebookValue<128, 4>::As<Role::kValue>>(random);
    check_halfway<formats::RotatedBook<128, 4, NoTransform, ScalePolicy::kUnbiased,
                                       LogScale8>::As<Role::kKey>>(random);
    check_halfway<formats::RotatedBook<96, 3, NoTransform, ScalePolicy::kMatchedNorm,
                                       BFloat16>::As<Role::kKey>>(random);
    check_halfway<formats::RotatedBook<128, 4, NoTransform, ScalePolicy::kUnbiased, LogScale8,
                                       DirectionSplit<128>, DirectionCodec>::As<Role::kKey>>(
        random);
    check_halfway<formats::RotatedBook<39, 2, NoTransform, ScalePolicy::kLeastSquares, Half,
                                       DirectionSplit<39>, DirectionCodec>::As<Role::kValue>>(
        random);
  });
}

TEST_CASE("encoding by vectors: the bytes of the format, codebooks and directions") {
  on_targets([] {
    check_all<formats::CodebookValue<128, 4>,
              formats::RotatedBook<80, 2, NoTransform, ScalePolicy::kUnbiased>,
              formats::TurboQuant<64, 6>, formats::BalancedValue<128, 4>,
              formats::CodebookValue<80, 3>,
              formats::RotatedBook<39, 4, NoTransform, ScalePolicy::kMatchedNorm, LogScale8>,
              formats::RotatedBook<20, 3, NoTransform, ScalePolicy::kUnbiased, LogScale8,
                                   DirectionSplit<20>, DirectionCodec>,
              formats::RotatedBook<64, 1, NoTransform, ScalePolicy::kMatchedNorm, BFloat16>,
              formats::RotatedBook<96, 5, NoTransform, ScalePolicy::kUnbiased, float>>();
  });
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
