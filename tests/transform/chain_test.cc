#include "kvpleat/transform/chain.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kvpleat/transform/center.h"
#include "kvpleat/transform/hadamard.h"
#include "support/transform_laws.h"

using namespace kvpleat;

TEST_CASE("chains keep the laws of a transform") {
  test::check_transform_laws<Chain<PhaseCenter, RandomHadamard<>>, 64>(RopeLayout::kHalves, 64);
  test::check_transform_laws<Chain<PhaseCenter, RandomHadamard<>>, 80>(RopeLayout::kAdjacent, 40);
  test::check_transform_laws<Chain<Center, RandomHadamard<>>, 65>();
  test::check_transform_laws<Chain<RandomHadamard<>, Center>, 40>();
  test::check_transform_laws<Chain<Center, Center>, 24>();
  test::check_transform_laws<Chain<PhaseCenter, Chain<RandomHadamard<>, Center>>, 48>(
      RopeLayout::kHalves, 48);
}

TEST_CASE("a chain is one after the other, and each part has its own profile") {
  using Both = Chain<Center, Center>;
  CHECK(Both::profile_size(2) == 4);
  const float profile[4] = {1.0f, 2.0f, 10.0f, 20.0f};
  BindContext context;
  context.profile = profile;
  const Both both = bind_transform<Both, 2>(context);
  const float row[2] = {100.0f, 200.0f};
  float coded[2];
  both.forward<2>(row, 0, coded);
  CHECK(coded[0] == 89.0f);
  CHECK(coded[1] == 178.0f);
  CHECK(both.coded_bound<2>(1.0f) >= 1.0f + 2.0f + 20.0f);
}

TEST_CASE("a chain's traits follow from its parts") {
  using Keys = Chain<PhaseCenter, RandomHadamard<>>;
  static_assert(Keys::kPositional && Keys::kHasOffset);
  static_assert(!Chain<RandomHadamard<>, Center>::kPositional);
  static_assert(Chain<RandomHadamard<>, Center>::kHasOffset);
  static_assert(!Chain<RandomHadamard<>, RandomHadamard<2>>::kHasOffset);
  CHECK(Keys::kId.view() == "transform=phase_center;transform=rht;seed=1");
}
