// The decoder on every target against the formats' own decode.
#include "kvpleat/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_TARGET_INCLUDE "simd/decode_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their header must be seen once per target.
#include "kvpleat/simd/decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// False: a target without vectors, where the formats' own functions are used.
bool decode_rows(const abi::CodeView& view, const abi::DecodeArguments& arguments) {
#if KVPLEAT_VECTOR_CODECS
  Decode::rows(view, arguments);
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

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kvpleat/format/formats.h"
#include "kvpleat/simd/code_view.h"
#include "support/any_format.h"
#include "support/generator.h"
#include "support/simd_targets.h"

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(decode_rows);

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

// Bytes at random decode alike, NaN scales and all, at any slot and count; nothing outside the rows
// is written.
template <class Format, Role kRole>
void check(test::Generator& random) {
  using F = typename Format::template As<kRole>;
  INFO(std::string(F::kId.view()));
  const test::Surroundings around(F::kDim, test::SampleProfile<F>::make());
  std::vector<float> profile = around.profile;
  if constexpr (requires { F::Layout::kCoefficients; }) {
    for (float& x : profile) x = 0.0f;
    profile[F::kProfileSize - 1 - F::kDim / 2] = 1.0f;
    profile[F::kProfileSize - 1] = 0.3f;
  }
  std::vector<std::uint8_t> block(F::kBlockBytes);
  const std::uint32_t pieces[][2] = {
      {0, F::kBlockTokens}, {5, 1}, {13, 7}, {F::kBlockTokens - 1, 1}};
  for (std::uint32_t round = 0; round < 6; ++round) {
    // The last two without a direction.
    if constexpr (requires { F::Layout::kCoefficients; }) {
      if (round == 4) profile[F::kProfileSize - 1] = 0.0f;
    }
    const F format =
        F::bind(BindContext{profile.data(), &around.rope, around.unit_rotations.data()});
    for (std::uint8_t& byte : block) byte = static_cast<std::uint8_t>(random.below(256));
    if (round == 1) {  // ordinary halves
      for (std::size_t i = F::kCodeBytes + 1; i < block.size(); i += 2)
        block[i] = static_cast<std::uint8_t>(0x2c + random.below(16));
    }
    if (round == 5) {  // scales of 0, and zeros of both signs
      for (std::size_t i = F::kCodeBytes; i < block.size(); ++i) block[i] = 0;
    }
    for (const auto& piece : pieces) {
      const std::uint32_t n = piece[1];
      constexpr std::size_t kStride = F::kDim + 3;
      std::vector<float> wanted(n * kStride, 7.0f);
      std::vector<float> got(n * kStride, 7.0f);
      const BlockBytes bytes{block.data(), nullptr, nullptr, 0};
      format.decode(bytes, piece[0], MutableRows{wanted.data(), n, kStride});
      const abi::DecodeArguments arguments{bytes, piece[0], n, got.data(), kStride};
      if (!HWY_DYNAMIC_DISPATCH(decode_rows)(code_view(format), arguments)) return;
      std::uint32_t different = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        // The sign and payload of a NaN are the machine's.
        if (got[i] != got[i] && wanted[i] != wanted[i]) continue;
        different += std::memcmp(&got[i], &wanted[i], sizeof(float)) != 0 ? 1u : 0u;
      }
      CHECK(different == 0);
    }
  }
}
template <class... Formats>
void check_all() {
  test::Generator random(11);
  (check<Formats, Role::kKey>(random), ...);
  (check<Formats, Role::kValue>(random), ...);
}

}  // namespace

TEST_CASE("decoding by vectors: the rows of the format, to the bit") {
  on_targets([] {
    check_all<formats::Int<128, 4, 64>, formats::Int<80, 1>, formats::Int<20, 3>,
              formats::Int<96, 7, 20>,
              formats::Dense<64, AffineQuant<8, 16, Axis::kChannels, float>>,
              formats::Dense<576, SymmetricQuant<5, 64, Axis::kChannels, BFloat16>>,
              formats::Dense<64, SymmetricQuant<6>>, formats::IntChannel<80, 2>,
              formats::IntChannel<20, 4, 128>, formats::Int4TopK<128>, formats::Int4TopK<576>,
              formats::Dense<64, SymmetricQuant<4, 32, Axis::kTokens, float>>>();
  });
}

TEST_CASE("decoding by vectors: codebooks and directions") {
  on_targets([] {
    check_all<formats::CodebookValue<128, 4>, formats::CodebookValue<80, 2>,
              formats::CodebookValue<64, 6>, formats::BalancedValue<128, 4>,
              formats::BalancedValue<20, 3>>();
  });
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
