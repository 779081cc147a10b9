#include "kvpleat/transform/balance.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/transform_laws.h"

using namespace kvpleat;

namespace {

// 0 in every fifth channel, else 0.5 .. 1.5.
std::vector<float> scales(std::uint32_t dim) {
  std::vector<float> result = test::uniform(9, dim);
  for (std::uint32_t c = 0; c < dim; ++c)
    result[c] = c % 5 == 4 ? 0.0f : 0.5f + result[c] * result[c];
  return result;
}

}  // namespace

TEST_CASE("balance keeps the laws of a transform") {
  const auto check = []<std::uint32_t kDim>() {
    test::check_transform_laws<Balance, kDim>(test::Bound(scales(kDim), RopeLayout::kHalves, 0),
                                              false);
  };
  check.operator()<1>();
  check.operator()<65>();
  check.operator()<576>();
}

TEST_CASE("balance: 0 counts as 1, no profile as all 1") {
  const float scale[4] = {0.25f, 0.0f, 8.0f, 3.0f};
  const float row[4] = {1.0f, 2.0f, 3.0f, 1.0f};
  const Balance balance = Balance::bind({scale, nullptr, nullptr});
  float coded[4];
  float query[4];
  float back[4];
  balance.forward<4>(row, 0, coded);
  balance.prepare_query<4>(row, query);
  balance.restore<4>(coded, 1.0f, 0, back);
  const float wanted[4] = {4.0f, 2.0f, 0.375f, 1.0f / 3.0f};
  const float wanted_query[4] = {0.25f, 2.0f, 24.0f, 3.0f};
  for (int c = 0; c < 4; ++c) {
    CHECK(coded[c] == wanted[c]);
    CHECK(query[c] == wanted_query[c]);
    CHECK(back[c] == row[c]);
  }
  CHECK(balance.coded_bound<4>(2.0f) == 8.0f);
  Balance::bind({}).forward<4>(row, 0, coded);
  for (int c = 0; c < 4; ++c) CHECK(coded[c] == row[c]);
}

TEST_CASE("balance: every scale finite and not negative") {
  const auto valid = [](float other) {
    const float scale[3] = {1.0f, other, 2.0f};
    return Balance::valid<3>(scale);
  };
  CHECK(valid(3.0f));
  CHECK(valid(0.0f));
  CHECK(valid(0x1p-64f));
  CHECK(valid(0x1p64f));
  CHECK(!valid(0x1.fp-65f));
  CHECK(!valid(0x1.1p64f));
  CHECK(!valid(-1.0f));
  CHECK(!valid(kInfinity));
  CHECK(!valid(std::nanf("")));
  CHECK(Balance::valid<3>(nullptr));
}
