#include "kvpleat/transform/center.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/transform/no_transform.h"
#include "support/transform_laws.h"

using namespace kvpleat;

TEST_CASE("Center keeps the laws of a transform") {
  test::check_transform_laws<Center, 1>();
  test::check_transform_laws<Center, 40>();
  test::check_transform_laws<Center, 128>();
}

TEST_CASE("PhaseCenter keeps the laws of a transform, whatever part of the head rotates") {
  for (const RopeLayout layout : {RopeLayout::kAdjacent, RopeLayout::kHalves}) {
    test::check_transform_laws<PhaseCenter, 2>(layout, 2);
    test::check_transform_laws<PhaseCenter, 64>(layout, 64);
    test::check_transform_laws<PhaseCenter, 80>(layout, 32);
    test::check_transform_laws<PhaseCenter, 7>(layout, 6);
    test::check_transform_laws<PhaseCenter, 16>(layout, 0);
  }
}

TEST_CASE("NoTransform keeps the laws of a transform") {
  test::check_transform_laws<NoTransform, 40>();
}

TEST_CASE("Center subtracts the mean, exactly where it can") {
  const float mean[4] = {1.0f, -2.0f, 0.5f, 0.0f};
  BindContext context;
  context.profile = mean;
  const Center center = Center::bind(context);
  const float row[4] = {3.0f, 1.0f, 0.5f, -1.0f};
  float coded[4];
  center.forward<4>(row, 0, coded);
  CHECK(std::vector<float>(coded, coded + 4) == std::vector<float>{2.0f, 3.0f, 0.0f, -1.0f});
  float back[4];
  center.restore<4>(coded, 3.0f, 0, back);  // a sum of three rows
  CHECK(std::vector<float>(back, back + 4) == std::vector<float>{5.0f, -3.0f, 1.5f, -1.0f});
}

TEST_CASE("PhaseCenter removes a rotated mean entirely") {
  // Keys that are nothing but R(p) mu: what is stored is zero, to the bit, since both sides are the
  // same rotation.
  const test::Bound bound(64, 64, RopeLayout::kHalves, 64);
  const PhaseCenter center = PhaseCenter::bind(bound.context());
  for (const std::int64_t p : {std::int64_t{0}, std::int64_t{5000}, std::int64_t{1} << 31}) {
    float key[64];
    bound.rope.rotate(bound.profile.data(), 64, p, key);
    float coded[64];
    center.forward<64>(key, p, coded);
    CHECK(std::all_of(coded, coded + 64, [](float x) { return x == 0.0f; }));
  }
}
