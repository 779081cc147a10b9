// The laws of the Format concept behind the transforms whose profile is no mean, and those that
// refuse a profile.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "kvpleat/format/formats.h"
#include "kvpleat/transform/channel_scale.h"
#include "kvpleat/transform/dense_rotation.h"
#include "kvpleat/transform/kronecker_hadamard.h"
#include "support/format_laws.h"

using namespace kvpleat;

namespace {

template <std::uint32_t kDim>
using DenseRotated4 = BlockFormat<kDim, DenseRotation, NoSplit, AffineQuant<4>, DenseCodec>;
template <std::uint32_t kDim>
using Scaled4 = BlockFormat<kDim, ChannelScale, NoSplit, AffineQuant<4>, DenseCodec>;
template <std::uint32_t kDim>
using KroneckerKey4 =
    BlockFormat<kDim, Chain<PhaseCenter, KroneckerHadamard<>>, NoSplit, AffineQuant<4>, DenseCodec>;
template <std::uint32_t kDim>
using KroneckerValue4 = BlockFormat<kDim, KroneckerHadamard<>, NoSplit, AffineQuant<4>, DenseCodec>;

}  // namespace

namespace test {

// The reflection 1 - 2 v v^T / v^T v with v = (1, 2, 3, 1, 2, 3, ...).
template <std::uint32_t kDim, Role kRole>
struct SampleProfile<BlockFormat<kDim, DenseRotation, NoSplit, AffineQuant<4>, DenseCodec, kRole>> {
  static std::vector<float> make() {
    double square = 0.0;
    for (std::uint32_t i = 0; i < kDim; ++i) square += (i % 3 + 1.0) * (i % 3 + 1.0);
    std::vector<float> matrix;
    for (std::uint32_t i = 0; i < kDim; ++i) {
      for (std::uint32_t j = 0; j < kDim; ++j) {
        const double outer = 2.0 * (i % 3 + 1.0) * (j % 3 + 1.0) / square;
        matrix.push_back(static_cast<float>((i == j ? 1.0 : 0.0) - outer));
      }
    }
    return matrix;
  }
  static std::vector<float> mean(const std::vector<float>&) { return {}; }
};
template <std::uint32_t kDim, Role kRole>
struct SampleProfile<BlockFormat<kDim, ChannelScale, NoSplit, AffineQuant<4>, DenseCodec, kRole>> {
  static std::vector<float> make() {
    std::vector<float> scales;
    for (std::uint32_t c = 0; c < kDim; ++c)
      scales.push_back(0.3f + static_cast<float>((7 * c + 3) % 13) / 8.0f);
    return scales;
  }
  static std::vector<float> mean(const std::vector<float>&) { return {}; }
};

}  // namespace test

TEST_CASE("laws: a dense rotation") {
  test::key_and_value<DenseRotated4, 1, 40>();
}
TEST_CASE("laws: channel scales") {
  test::key_and_value<Scaled4, 40>();
}
TEST_CASE("laws: Kronecker rotations, of phase-centred keys too") {
  test::key_only<KroneckerKey4, 40, 96>();
  test::value_only<KroneckerValue4, 80>();
}

TEST_CASE("a cache refuses a matrix that is no rotation, and to do without one") {
  using Cache = KvCache<presets::Single<DenseRotated4<8>, DenseRotated4<8>>>;
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 2;
  shape.max_tokens = 8;
  std::vector<float> both = test::SampleProfile<DenseRotated4<8>>::make();
  both.insert(both.end(), both.begin(), both.begin() + 64);
  const LaneProfile profile{both.data(), both.size(), both.data(), both.size()};
  CHECK(Cache::create(shape, &profile, 1));
  const auto without = Cache::create(shape);
  REQUIRE(!without);
  CHECK(without.error().status == Status::kInvalid);
  CHECK(without.error().name() == "lane0.key.profile");
  both[100] += 0.01f;  // of the second head
  const auto refused = Cache::create(shape, &profile, 1);
  REQUIRE(!refused);
  CHECK(refused.error().name() == "lane0.key.profile");
}
