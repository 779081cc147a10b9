#include "kvpleat/transform/unrotate.h"

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

static_assert(Unrotate::kPositional && Unrotate::kScoresRestored && !Unrotate::kHasOffset);
static_assert(Chain<Unrotate, Center>::kScoresRestored);
static_assert(Chain<Chain<Unrotate, Center>, RandomHadamard<>>::kScoresRestored);
static_assert(!Chain<PhaseCenter, RandomHadamard<>>::kScoresRestored);

// Rows come back, and so do their scores. A rotation rounds three times, twice over; a Hadamard
// transform 11 times, twice over; a mean once each: within 40 roundings of the lengths involved.
template <class Transform, std::uint32_t kDim>
void check(RopeLayout layout, std::uint32_t dims) {
  CAPTURE(kDim);
  CAPTURE(dims);
  const test::Bound bound(Transform::profile_size(kDim), 33, layout, dims);
  const auto transform = bind_transform<Transform, kDim>(bound.context());
  const double mean = 2.0 * test::length(bound.profile);
  double worst = 0.0;
  for (const std::int64_t p : {0, 1, 63, 64, 5000, -7, 1 << 30}) {
    const std::vector<float> row =
        test::uniform(200 + static_cast<std::uint32_t>(p & 63), kDim, 3.0f);
    std::vector<float> coded(kDim);
    std::vector<float> back(kDim);
    transform.template forward<kDim>(row.data(), p, coded.data());
    transform.template restore<kDim>(coded.data(), 1.0f, p, back.data());
    for (std::uint32_t c = 0; c < kDim; ++c) {
      const double error = std::fabs(static_cast<double>(back[c]) - static_cast<double>(row[c]));
      worst = std::fmax(worst, error / (40.0 * 0x1p-24 * (test::length(row) + mean)));
    }
    float input = 0.0f;
    float largest = 0.0f;
    for (std::uint32_t c = 0; c < kDim; ++c) {
      input = std::fmax(input, std::fabs(row[c]));
      largest = std::fmax(largest, std::fabs(coded[c]));
    }
    CHECK(largest <= transform.template coded_bound<kDim>(input));
  }
  CHECK(worst <= 1.0);
}

}  // namespace

TEST_CASE("a key codes as it was before RoPE") {
  const Rope rope = Rope::standard(RopeLayout::kAdjacent, 32, 10000.0);
  Unrotate unrotate;
  unrotate.rope = &rope;
  const std::vector<float> before = test::uniform(1, 40);
  for (const std::int64_t p : {0, 3, 1000, 100000}) {
    std::vector<float> key(40);
    rope.rotate(before.data(), 40, p, key.data());
    std::vector<float> coded(40);
    unrotate.forward<40>(key.data(), p, coded.data());
    // Two rotations, each rounding a pair of at most sqrt(2): 2^-22 bounds the four roundings.
    for (std::uint32_t c = 0; c < 40; ++c) CHECK(std::fabs(coded[c] - before[c]) <= 0x1p-22f);
    // Channels that do not rotate are exact.
    for (std::uint32_t c = 32; c < 40; ++c) CHECK(coded[c] == before[c]);
  }
}

TEST_CASE("rows come back at their position, behind other transforms too") {
  for (const RopeLayout layout : {RopeLayout::kAdjacent, RopeLayout::kHalves}) {
    check<Unrotate, 1>(layout, 0);
    check<Unrotate, 64>(layout, 64);
    check<Unrotate, 80>(layout, 32);
    check<Chain<Unrotate, Center>, 40>(layout, 40);
    check<Chain<Chain<Unrotate, Center>, RandomHadamard<>>, 576>(layout, 64);
  }
}

TEST_CASE("a row restored at another position is another row") {
  const Rope rope = Rope::standard(RopeLayout::kHalves, 40, 10000.0);
  Unrotate unrotate;
  unrotate.rope = &rope;
  const std::vector<float> row = test::uniform(2, 40);
  std::vector<float> coded(40);
  std::vector<float> back(40);
  unrotate.forward<40>(row.data(), 20, coded.data());
  unrotate.restore<40>(coded.data(), 1.0f, 21, back.data());
  std::vector<float> turned(40);
  rope.rotate(row.data(), 40, 1, turned.data());
  float apart = 0.0f;
  for (std::uint32_t c = 0; c < 40; ++c) {
    apart = std::fmax(apart, std::fabs(back[c] - row[c]));
    CHECK(std::fabs(back[c] - turned[c]) <= 0x1p-21f);  // one token further, to three rotations
  }
  CHECK(apart > 0.5f);
}
