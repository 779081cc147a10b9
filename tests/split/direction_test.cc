#include "kvpleat/split/direction.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/core/concepts.h"

using namespace kvpleat;

static_assert(OutlierSplitter<DirectionSplit<3>>);
static_assert(!VectorSplitter<DirectionSplit<3>> && !BandSplitter<DirectionSplit<3>>);

TEST_CASE("direction: code of a coefficient, nearest, ties to even, clamped") {
  const float profile[4] = {0.6f, 0.0f, -0.8f, 0.5f};  // length 1, step 0.5
  const auto split = DirectionSplit<3>::bind(profile);
  const auto code = [&](float along) {
    const float row[3] = {0.6f * along, 17.0f, -0.8f * along};
    return split.code(row);
  };
  CHECK(code(5.0f) == 10);
  CHECK(code(-5.0f) == -10);
  CHECK(code(5.24f) == 10);
  CHECK(code(5.26f) == 11);
  CHECK(code(1e6f) == 127);
  CHECK(code(-1e6f) == -127);
  const float exact[3] = {0.0f, 0.0f, -0.9375f};  // 0.75 = 1.5 steps: to 2
  CHECK(split.code(exact) == 2);
  CHECK(split.value(-3, 0) == -1.5f * 0.6f);
  CHECK(split.value(-3, 1) == 0.0f);
  CHECK(split.value(127, 2) == 63.5f * -0.8f);
}

TEST_CASE("direction: none without a profile or with step 0") {
  const float profile[4] = {1.0f, 0.0f, 0.0f, 0.0f};
  const float row[3] = {9.0f, 9.0f, 9.0f};
  for (const float* given : {static_cast<const float*>(nullptr), profile}) {
    const auto split = DirectionSplit<3>::bind(given);
    CHECK(split.code(row) == 0);
    CHECK(split.value(5, 0) == 0.0f);
    CHECK(DirectionSplit<3>::valid(given));
  }
  const float too_long[4] = {1.0f, 0.1f, 0.0f, 0.5f};
  CHECK(!DirectionSplit<3>::valid(too_long));
  const float negative[4] = {1.0f, 0.0f, 0.0f, -0.5f};
  CHECK(!DirectionSplit<3>::valid(negative));
  const float nan[4] = {1.0f, std::nanf(""), 0.0f, 0.5f};
  CHECK(!DirectionSplit<3>::valid(nan));
}
