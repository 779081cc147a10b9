#include "kvpleat/transform/rope.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr long double kTwoPi = 6.283185307179586476925286766559L;

// Angle of a pair at a position: phase modulo one turn in integers, then long double. Its error is
// below 2^-61.
long double angle_of(std::uint64_t turns, std::int64_t position) {
  const std::uint64_t phase = turns * static_cast<std::uint64_t>(position);
  return std::ldexp(static_cast<long double>(phase), -64) * kTwoPi;
}

// One float of the result against long double. A component is at most |pair| 2^-24 off by the
// errors of cosine and sine (each 2^-24, worst case along both: sqrt(2)), plus its own rounding.
void check_rotation(const Rope& rope, std::uint32_t dim, std::int64_t position) {
  const std::vector<float> row = test::uniform(7, dim, 5.0f);
  std::vector<float> out(dim);
  rope.rotate(row.data(), dim, position, out.data());
  double worst = 0.0;
  for (std::uint32_t i = 0; i < rope.dims / 2; ++i) {
    const bool adjacent = rope.layout == RopeLayout::kAdjacent;
    const std::uint32_t first = adjacent ? 2 * i : i;
    const std::uint32_t second = adjacent ? 2 * i + 1 : i + rope.dims / 2;
    const long double angle = angle_of(rope.turns[i], position);
    const long double x = static_cast<long double>(row[first]);
    const long double y = static_cast<long double>(row[second]);
    const double size = static_cast<double>(std::sqrt(x * x + y * y));
    const long double wanted[2] = {std::cos(angle) * x - std::sin(angle) * y,
                                   std::sin(angle) * x + std::cos(angle) * y};
    worst = std::max(
        worst, std::fabs(static_cast<double>(wanted[0]) - static_cast<double>(out[first])) / size);
    worst = std::max(
        worst, std::fabs(static_cast<double>(wanted[1]) - static_cast<double>(out[second])) / size);
  }
  CAPTURE(position);
  CHECK(worst <= 2.5 * 0x1p-24);
  for (std::uint32_t c = rope.dims; c < dim; ++c) CHECK(out[c] == row[c]);
}

}  // namespace

TEST_CASE("cos_sin: absolute error below 2^-24") {
  test::Generator random(1);
  double worst = 0.0;
  double circle = 0.0;
  const auto check = [&](std::uint64_t phase) {
    const CosSin r = cos_sin(phase);
    const long double angle = std::ldexp(static_cast<long double>(phase), -64) * kTwoPi;
    worst = std::max(
        worst, std::fabs(static_cast<double>(std::cos(angle)) - static_cast<double>(r.cosine)));
    worst = std::max(worst,
                     std::fabs(static_cast<double>(std::sin(angle)) - static_cast<double>(r.sine)));
    const double c = static_cast<double>(r.cosine);
    const double s = static_cast<double>(r.sine);
    circle = std::max(circle, std::fabs(c * c + s * s - 1.0));
  };
  for (int i = 0; i < 100000; ++i)
    check(static_cast<std::uint64_t>(random.bits()) << 32 | random.bits());
  // Both sides of every octant.
  for (std::uint64_t octant = 0; octant < 8; ++octant) {
    for (std::uint64_t d = 0; d < 1000; ++d) {
      check((octant << 61) + (d << 30));
      check((octant << 61) - (d << 30) - 1);
    }
  }
  CHECK(worst < 0x1p-24);
  CHECK(circle < 3 * 0x1p-24);
}

TEST_CASE("cos_sin: quarter turns are exact") {
  const auto is = [](std::uint64_t phase, float cosine, float sine) {
    const CosSin r = cos_sin(phase);
    return r.cosine == cosine && r.sine == sine;
  };
  CHECK(is(0, 1.0f, 0.0f));
  CHECK(is(1ull << 62, 0.0f, 1.0f));
  CHECK(is(2ull << 62, -1.0f, 0.0f));
  CHECK(is(3ull << 62, 0.0f, -1.0f));
}

TEST_CASE("frequencies become turns per token") {
  // The conversion multiplies a double by 1/(2 pi): relative error 2^-52 or so, hence 2^12 units of
  // 2^-64 turn per token, a phase error of 2^-21 turn after 2^31 tokens.
  const Rope rope = Rope::standard(RopeLayout::kAdjacent, 64, 10000.0);
  CHECK(rope.pairs() == 32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const long double turns =
        std::pow(10000.0L, -2.0L * static_cast<long double>(i) / 64.0L) / kTwoPi;
    const long double found = std::ldexp(static_cast<long double>(rope.turns[i]), -64);
    CHECK(std::fabs(static_cast<double>(found / turns - 1.0L)) <= 0x1p-49);
  }
  // Above one turn per token only the fraction counts; backwards is forwards the other way.
  const double theta[2] = {6.283185307179586 * 2.25, -6.283185307179586 * 0.25};
  const Rope fast = Rope::from_frequencies(RopeLayout::kAdjacent, 4, theta);
  CHECK(std::fabs(std::ldexp(static_cast<double>(fast.turns[0]), -64) - 0.25) < 1e-15);
  CHECK(std::fabs(std::ldexp(static_cast<double>(fast.turns[1]), -64) - 0.75) < 1e-15);
}

TEST_CASE("rotate against long double: layouts, partial dims, far and negative positions") {
  for (const RopeLayout layout : {RopeLayout::kAdjacent, RopeLayout::kHalves}) {
    for (const auto& [dims, dim] :
         {std::pair{64u, 64u}, {32u, 80u}, {2u, 3u}, {576u, 576u}, {0u, 5u}}) {
      const Rope rope = Rope::standard(layout, dims, 500000.0);
      for (const std::int64_t position :
           {std::int64_t{0}, std::int64_t{1}, std::int64_t{4095}, std::int64_t{1} << 20,
            (std::int64_t{1} << 31) - 1, std::int64_t{1} << 31, std::int64_t{-1},
            std::int64_t{-77777}, -(std::int64_t{1} << 31)}) {
        check_rotation(rope, dim, position);
      }
    }
  }
}

TEST_CASE("rotation by p, then by -p, gives the row back; by p and q what p + q gives") {
  const Rope rope = Rope::standard(RopeLayout::kHalves, 64, 10000.0);
  const std::vector<float> row = test::uniform(8, 64, 3.0f);
  for (const std::int64_t p : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{2147483647}}) {
    std::vector<float> there(64);
    std::vector<float> back(64);
    rope.rotate(row.data(), 64, p, there.data());
    rope.rotate(there.data(), 64, -p, back.data());
    std::vector<float> both(64);
    rope.rotate(there.data(), 64, 5, both.data());
    std::vector<float> at_once(64);
    rope.rotate(row.data(), 64, p + 5, at_once.data());
    for (std::uint32_t i = 0; i < 32; ++i) {
      // Two rotations, 2.5 units of 2^-24 of the pair each.
      const float bound = 5.0f * 0x1p-24f * std::hypot(row[i], row[i + 32]);
      CHECK(std::fabs(back[i] - row[i]) <= bound);
      CHECK(std::fabs(back[i + 32] - row[i + 32]) <= bound);
      CHECK(std::fabs(both[i] - at_once[i]) <= 1.5f * bound);
      CHECK(std::fabs(both[i + 32] - at_once[i + 32]) <= 1.5f * bound);
    }
  }
}

TEST_CASE("rotate works in place, and position 0 changes nothing") {
  const Rope rope = Rope::standard(RopeLayout::kAdjacent, 8, 10000.0);
  std::vector<float> row = test::uniform(9, 10);
  const std::vector<float> original = row;
  rope.rotate(row.data(), 10, 0, row.data());
  CHECK(row == original);
  std::vector<float> out(10);
  rope.rotate(original.data(), 10, 123, out.data());
  rope.rotate(row.data(), 10, 123, row.data());
  CHECK(row == out);
  CHECK(row != original);
}

TEST_CASE("check refuses odd and too many dims") {
  Rope rope;
  CHECK(ok(rope.check()));
  rope.dims = 576;
  CHECK(ok(rope.check()));
  rope.dims = 577;
  CHECK(rope.check() == Status::kInvalid);
  rope.dims = 578;
  CHECK(rope.check() == Status::kInvalid);
  rope.dims = 63;
  CHECK(rope.check() == Status::kInvalid);
}
