#include "kvpleat/transform/dense_rotation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/transform/center.h"
#include "kvpleat/transform/chain.h"
#include "kvpleat/transform/hadamard.h"
#include "support/transform_laws.h"

using namespace kvpleat;

namespace {

// A product of two reflections 1 - 2 v v^T / v^T v: orthonormal up to one float rounding.
std::vector<float> rotation(std::uint32_t dim) {
  std::vector<double> m(static_cast<std::size_t>(dim) * dim, 0.0);
  for (std::uint32_t i = 0; i < dim; ++i) m[i * dim + i] = 1.0;
  for (const std::uint32_t seed : {1u, 2u}) {
    const std::vector<float> v = test::normal(seed, dim);
    double square = 0.0;
    for (const float x : v) square += static_cast<double>(x) * static_cast<double>(x);
    for (std::uint32_t i = 0; i < dim; ++i) {
      double along = 0.0;
      for (std::uint32_t c = 0; c < dim; ++c) along += m[i * dim + c] * static_cast<double>(v[c]);
      for (std::uint32_t c = 0; c < dim; ++c)
        m[i * dim + c] -= 2.0 * along / square * static_cast<double>(v[c]);
    }
  }
  std::vector<float> result(m.size());
  for (std::size_t i = 0; i < m.size(); ++i) result[i] = static_cast<float>(m[i]);
  return result;
}

template <std::uint32_t kDim>
void check_laws() {
  test::check_transform_laws<DenseRotation, kDim>(
      test::Bound(rotation(kDim), RopeLayout::kHalves, 0), false);
}

}  // namespace

TEST_CASE("a dense rotation keeps the laws of a transform") {
  check_laws<1>();
  check_laws<7>();
  check_laws<64>();
  check_laws<80>();
}

TEST_CASE("coded is matrix times row, row by row; restore is the transpose") {
  // A quarter turn of the first two channels.
  const float matrix[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
  DenseRotation turn;
  turn.matrix = matrix;
  const float row[3] = {5, 7, 9};
  float coded[3];
  turn.forward<3>(row, 0, coded);
  CHECK(coded[0] == -7.0f);
  CHECK(coded[1] == 5.0f);
  CHECK(coded[2] == 9.0f);
  turn.restore<3>(coded, 1.0f, 0, coded);  // in place
  CHECK(coded[0] == 5.0f);
  CHECK(coded[1] == 7.0f);
  CHECK(coded[2] == 9.0f);
}

TEST_CASE("sums are double, rounded once: equal to the exact sum's float") {
  // 2^30 + 1 - 2^30 is 1; a float sum loses it.
  const float matrix[9] = {1, 1, 1, 0, 0, 0, 0, 0, 0};
  DenseRotation sum;
  sum.matrix = matrix;
  const float row[3] = {0x1p30f, 1.0f, -0x1p30f};
  float coded[3];
  sum.forward<3>(row, 0, coded);
  CHECK(coded[0] == 1.0f);
}

TEST_CASE("valid: orthonormal matrices only") {
  std::vector<float> m = rotation(80);
  CHECK(DenseRotation::valid<80>(m.data()));
  CHECK(!DenseRotation::valid<80>(nullptr));
  const std::vector<float> zeros(80 * 80, 0.0f);
  CHECK(!DenseRotation::valid<80>(zeros.data()));
  // One entry off by 1e-3, anywhere.
  for (const std::size_t at : {std::size_t{0}, std::size_t{3456}, std::size_t{6399}}) {
    const float kept = m[at];
    m[at] += 1e-3f;
    CHECK(!DenseRotation::valid<80>(m.data()));
    m[at] = kept;
  }
  // Scaled by 1.0001, and a projection.
  std::vector<float> scaled = m;
  for (float& x : scaled) x *= 1.0001f;
  CHECK(!DenseRotation::valid<80>(scaled.data()));
  for (std::size_t c = 0; c < 80; ++c) m[5 * 80 + c] = 0.0f;
  CHECK(!DenseRotation::valid<80>(m.data()));
}

TEST_CASE("a chain asks each part about its own profile") {
  using Both = Chain<Center, DenseRotation>;
  static_assert(Both::profile_size(8) == 8 + 64);
  std::vector<float> profile(8, 3.0f);
  const std::vector<float> m = rotation(8);
  profile.insert(profile.end(), m.begin(), m.end());
  CHECK(valid_transform<Both, 8>(profile.data()));
  CHECK(!valid_transform<Both, 8>(nullptr));
  profile[8] += 0.5f;
  CHECK(!valid_transform<Both, 8>(profile.data()));
  CHECK(valid_transform<Center, 8>(nullptr));
  const test::Bound bound(
      [&] {
        std::vector<float> both(8, 0.5f);
        both.insert(both.end(), m.begin(), m.end());
        return both;
      }(),
      RopeLayout::kHalves, 0);
  test::check_transform_laws<Both, 8>(bound);
}
