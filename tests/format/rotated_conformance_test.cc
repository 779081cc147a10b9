// The laws of the Format concept for TurboQuant and the rotated codebook formats; sizes, texts.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "kvpleat/format/formats.h"
#include "support/codebook_law.h"
#include "support/format_laws.h"

using namespace kvpleat;
using test::key_and_value;
using test::key_only;
using test::value_only;

namespace {

template <std::uint32_t kDim>
using TurboQuant4 = formats::TurboQuant<kDim, 4>;
template <std::uint32_t kDim>
using TurboQuant3 = formats::TurboQuant<kDim, 3>;
template <std::uint32_t kDim>
using TurboQuant1 = formats::TurboQuant<kDim, 1>;
template <std::uint32_t kDim>
using CodebookKey5 = formats::CodebookKey<kDim, 5>;
template <std::uint32_t kDim>
using CodebookValue2 = formats::CodebookValue<kDim, 2>;
template <std::uint32_t kDim>
using BalancedKey4 = formats::BalancedKey<kDim, 4>;
template <std::uint32_t kDim>
using BalancedKey3 = formats::BalancedKey<kDim, 3>;
template <std::uint32_t kDim>
using BalancedValue4 = formats::BalancedValue<kDim, 4>;
template <std::uint32_t kDim>
using BalancedValue2 = formats::BalancedValue<kDim, 2>;
// Variants: a plain mean and a one-byte scale; slots; short groups.
template <std::uint32_t kDim>
using CenteredLog4 = formats::RotatedBook<kDim, 4, Chain<Center, RandomHadamard<>>,
                                          ScalePolicy::kMatchedNorm, LogScale8>;
template <std::uint32_t kDim>
using Slots4 = formats::RotatedBook<kDim, 4, RandomHadamard<>, ScalePolicy::kUnbiased, Half,
                                    TopKSplit<4>, SlotCodec>;
template <std::uint32_t kDim>
using Slots2Key = formats::RotatedBook<kDim, 4, Chain<PhaseCenter, RandomHadamard<>>,
                                       ScalePolicy::kUnbiased, LogScale8, TopKSplit<2>, SlotCodec>;
template <std::uint32_t kDim>
using ShortGroups =
    BlockFormat<kDim, RandomHadamard<3>, NoSplit,
                CodebookQuant<4, SphereBook<32>, ScalePolicy::kLeastSquares, LogScale8, 32>,
                DenseCodec>;

}  // namespace

TEST_CASE("laws: TurboQuant") {
  key_and_value<TurboQuant4, 1, 64>();
  key_and_value<TurboQuant3, 40>();
  key_and_value<TurboQuant1, 8>();
}
TEST_CASE("laws: CodebookKey, CodebookValue") {
  key_only<CodebookKey5, 72>();
  value_only<CodebookValue2, 128>();
}
TEST_CASE("laws: BalancedKey, BalancedValue") {
  key_only<BalancedKey4, 1, 64, 576>();
  key_only<BalancedKey3, 40>();
  value_only<BalancedValue4, 80>();
  value_only<BalancedValue2, 8>();
}
TEST_CASE("laws: variants of RotatedBook") {
  key_and_value<CenteredLog4, 40>();
  value_only<Slots4, 64>();
  key_only<Slots2Key, 72>();
  value_only<ShortGroups, 72>();
}

TEST_CASE("rotated: sizes are the byte formulas") {
  const auto check = []<class F>(std::uint32_t codes, std::uint32_t sides, std::uint32_t apart) {
    CAPTURE(F::kId.view());
    CHECK(F::kCodeBytes == codes);
    CHECK(F::kSideBytes == sides);
    CHECK(F::kOutlierBytes == apart);
    CHECK(F::kBlockBytes == codes + sides + apart);
    CHECK(F::kSharedBytes == 0);
  };
  check.operator()<formats::TurboQuant<128, 4>>(4096, 128, 0);
  check.operator()<formats::TurboQuant<128, 3>>(3072, 128, 0);
  check.operator()<formats::CodebookKey<64, 2>>(1024, 128, 0);
  check.operator()<formats::BalancedKey<64, 4>>(2048, 64, 64);
  check.operator()<formats::BalancedKey<128, 3>>(3072, 64, 64);
  check.operator()<formats::BalancedValue<128, 2>::As<Role::kValue>>(2048, 64, 64);
  check.operator()<CenteredLog4<64>>(2048, 64, 0);
  check.operator()<Slots4<64>>(2048, 128, 640);
  check.operator()<Slots2Key<64>>(2048, 64, 640);  // slots come by the four
  check.operator()<ShortGroups<128>>(4096, 4 * 64, 0);
}

TEST_CASE("rotated: the identity names law, policy, side and direction") {
  CHECK(formats::TurboQuant<64, 4>::kId.view() ==
        "dim=64;transform=rht;seed=1;split=none;quant=codebook;bits=4;book=lloyd_max;law=sphere_64;"
        "scale=norm;group=0;axis=channels;side=f16;codec=dense;role=key");
  CHECK(formats::BalancedKey<64, 3>::kId.view() ==
        "dim=64;transform=phase_center;transform=balance;transform=rht;seed=1;split=direction;"
        "bits=8;quant=codebook;bits=3;book=lloyd_max;law=sphere_64;scale=unbiased;group=0;"
        "axis=channels;side=log8;codec=direction;role=key");
}

TEST_CASE("rotated: what a profile may be") {
  using F = formats::BalancedKey<8, 4>;
  CHECK(F::valid_profile(nullptr));
  std::vector<float> profile = test::SampleProfile<F>::make();
  REQUIRE(profile.size() == F::kProfileSize);
  REQUIRE(F::kProfileSize == 8 + 8 + 9);
  CHECK(F::valid_profile(profile.data()));
  const auto with = [&](std::size_t i, float x) {
    std::vector<float> other = profile;
    other[i] = x;
    return F::valid_profile(other.data());
  };
  CHECK(with(8, 0.0f));
  CHECK(!with(8, -1.0f));
  CHECK(!with(8, kInfinity));
  CHECK(!with(8, 3e38f));  // times an error of half a step and more: infinite rows
  CHECK(!with(3, kInfinity));
  CHECK(!with(17, 1.5f));  // a direction that is too long
  CHECK(!with(24, -1.0f));
  CHECK(!with(24, kInfinity));
  CHECK(with(24, 0.0f));
  // Beside a step of 0 the direction is not looked at; it must be numbers all the same.
  profile[24] = 0.0f;
  CHECK(with(17, 1.5f));
  CHECK(!with(17, kInfinity));
  CHECK(!with(17, std::nanf("")));
}
