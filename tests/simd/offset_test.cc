// The score offset on every target, against cosines in double precision.
#include "kvpleat/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#if !defined(HWY_COMPILE_ONLY_STATIC)
#define HWY_COMPILE_ALL_ATTAINABLE
#endif
#define HWY_TARGET_INCLUDE "simd/offset_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their header must be seen once per target.
#include "kvpleat/simd/offset-inl.h"

#include "support/simd_targets.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

inline void add_offset(const abi::OffsetView& view, const abi::OffsetArguments& arguments) {
  ScoreOffset::add(view, arguments);
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kvpleat/format/channel_split.h"
#include "kvpleat/format/rotated.h"
#include "kvpleat/simd/offset_view.h"
#include "support/generator.h"

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(add_offset);

namespace offset_test {

using abi::Arithmetic;

struct Table {
  std::vector<std::uint8_t> memory;
  const abi::PhaseTable* table = nullptr;
  explicit Table(const Rope& rope) : memory(phase_table::sizes(rope).bytes + 64) {
    auto* at = memory.data();
    at += (64 - reinterpret_cast<std::uintptr_t>(at) % 64) % 64;
    table = phase_table::make(rope, at);
  }
};

double angle_at(const Rope& rope, std::uint32_t pair, std::int64_t position) {
  const std::uint64_t phase = rope.turns[pair] * static_cast<std::uint64_t>(position);
  return static_cast<double>(static_cast<std::int64_t>(phase)) * (0x1p-64 * 6.28318530717958647693);
}

// An offset, and the sum of the magnitudes of what it is a sum of.
struct Exact {
  double value = 0.0;
  double magnitudes = 0.0;
};
Exact exact_offset(const Rope& rope, std::uint32_t dim, const float* query, const float* mean,
                   std::int64_t position) {
  Exact exact;
  for (std::uint32_t i = 0; i < rope.pairs(); ++i) {
    const double q0 = query[rope.first(i)];
    const double q1 = query[rope.second(i)];
    const double m0 = mean[rope.first(i)];
    const double m1 = mean[rope.second(i)];
    const double x = angle_at(rope, i, position);
    exact.value += (q0 * m0 + q1 * m1) * std::cos(x) + (q1 * m0 - q0 * m1) * std::sin(x);
    exact.magnitudes +=
        std::fabs(q0 * m0) + std::fabs(q1 * m1) + std::fabs(q1 * m0) + std::fabs(q0 * m1);
  }
  for (std::uint32_t c = rope.dims; c < dim; ++c) {
    exact.value += static_cast<double>(query[c]) * mean[c];
    exact.magnitudes += std::fabs(static_cast<double>(query[c]) * mean[c]);
  }
  return exact;
}

std::vector<std::int64_t> run(std::int64_t first, std::uint32_t n) {
  std::vector<std::int64_t> positions;
  for (std::uint32_t t = 0; t < n; ++t) positions.push_back(first + t);
  return positions;
}
std::vector<std::int64_t> with_gaps(std::uint32_t seed, std::uint32_t n) {
  test::Generator generator(seed);
  std::vector<std::int64_t> positions;
  std::int64_t at = 5;
  for (std::uint32_t t = 0; t < n; ++t) {
    positions.push_back(at);
    at += generator.below(5) == 0 ? 1 + generator.below(300) : 1;
  }
  return positions;
}

struct Case {
  const Rope& rope;
  const abi::PhaseTable* table;
  std::uint32_t dim;
};

// Checks the scores of `count` queries. Returns the RMS error over the RMS of the offset.
//   kExact: a float sum of up to n = entries terms rounds n times, the angle, its cosine and sine,
//   products and moments another dozen; the polynomials of slow pairs add 2e-7.
//   kFast: half a unit of 2^-14 in the table and half a step of 2^-17 in 2 n coefficients, of the
//   sum of the magnitudes of the coefficients. Moments of a pair add up to less than 3 of it:
//   2 * sum |J_k(x)| <= 2 * sqrt(16 / 2) * ... is 4.4 at most for x <= 5 (computed).
double check(const Case& c, const std::vector<std::int64_t>& positions, std::uint32_t count,
             Arithmetic arithmetic) {
  const auto n = static_cast<std::uint32_t>(positions.size());
  const std::uint32_t stride = n + 7;
  const std::vector<float> queries = test::normal(count + n, std::size_t{count} * c.dim);
  const std::vector<float> mean = test::normal(77, c.dim, 2.0f);
  const float before = 3.0f;
  std::vector<float> scores(std::size_t{count} * stride, before);
  HWY_DYNAMIC_DISPATCH(add_offset)
  (abi::OffsetView{c.dim, mean.data(), c.table},
   abi::OffsetArguments{queries.data(), count, positions.data(), n, arithmetic, scores.data(),
                        stride});
  const double entries = c.table == nullptr ? 0.0 : c.table->entries;
  const double rounding = 0x1p-24 * (entries + c.dim - c.rope.dims + 16.0) + 2e-7;
  const double words = 4.4 * (entries / 130700.0 + 0.5 / 16383.0);
  const double relative = rounding + (arithmetic == Arithmetic::kFast ? words : 0.0);
  double error = 0.0;
  double energy = 0.0;
  std::uint32_t wrong = 0;
  for (std::uint32_t j = 0; j < count; ++j) {
    for (std::uint32_t t = 0; t < stride; ++t) {
      const float score = scores[std::size_t{j} * stride + t];
      if (t >= n) {
        wrong += score == before ? 0u : 1u;  // nothing beyond the last token
        continue;
      }
      const Exact exact = exact_offset(c.rope, c.dim, queries.data() + std::size_t{j} * c.dim,
                                       mean.data(), positions[t]);
      const double off = static_cast<double>(score) - before - exact.value;
      const double final_rounding = 0x1p-23 * (std::fabs(exact.value) + before);
      wrong += std::fabs(off) <= relative * exact.magnitudes + final_rounding ? 0u : 1u;
      error += off * off;
      energy += exact.value * exact.value;
    }
  }
  CHECK(wrong == 0);
  return std::sqrt(error / energy);
}

}  // namespace offset_test

using namespace offset_test;

TEST_CASE("offset: any rotation, any positions, any number of queries, on every target") {
  struct Shape {
    std::uint32_t dim, dims;
    double base;
  };
  // Of the last three all pairs are fast; 8 channels leave fewer slow pairs than moments.
  const Shape shapes[] = {{128, 128, 1e4},  {128, 128, 5e5},  {64, 64, 1e4},   {80, 32, 1e4},
                          {96, 96, 1e6},    {20, 18, 1e4},    {576, 576, 1e4}, {8, 8, 1e4},
                          {48, 48, 1.6625}, {16, 16, 0.9737}, {128, 128, 1.5}};
  const int ran = on_each_target(HWY_TARGETS, [&](const char* target) {
    double worst_fast = 0.0;
    double worst_exact = 0.0;
    for (const Shape& shape : shapes) {
      for (const RopeLayout layout : {RopeLayout::kAdjacent, RopeLayout::kHalves}) {
        CAPTURE(target);
        CAPTURE(shape.dim);
        CAPTURE(shape.base);
        const Rope rope = Rope::standard(layout, shape.dims, shape.base);
        const Table table(rope);
        const Case c{rope, table.table, shape.dim};
        const std::vector<std::int64_t> patterns[] = {
            run(0, 256),   run(1000003, 255), run(std::int64_t{1} << 31, 64),
            run(-300, 17), run(12345, 1),     run(77, 300),
            run(4096, 2),  with_gaps(3, 120), {-5, -4, 7, 8, 9, 11, 12, 14, 1 << 20}};
        std::uint32_t count = 1;
        for (const std::vector<std::int64_t>& positions : patterns) {
          worst_fast = std::max(worst_fast, check(c, positions, count, Arithmetic::kFast));
          worst_exact = std::max(worst_exact, check(c, positions, count, Arithmetic::kExact));
          count = count % 5 + 1;
        }
      }
    }
    MESSAGE(std::string(target) << ": RMS error over RMS " << worst_fast << " fast, " << worst_exact
                                << " exact");
    // Measured with these inputs: 5.8e-4 (288 pairs) and 5.3e-7.
    CHECK(worst_fast < 1.2e-3);
    CHECK(worst_exact < 1e-6);
  });
  CHECK(ran >= 1);
}

TEST_CASE("offset: windows together, alone and cut, of one query and of several") {
  std::vector<std::int64_t> broken = run(1, 1024);
  for (const std::int64_t position : run(5000, 777)) broken.push_back(position);
  for (const std::int64_t position : run(1 << 20, 1)) broken.push_back(position);
  const std::vector<std::int64_t> patterns[] = {run(0, 1024),      run(7, 512),  run(1 << 30, 1025),
                                                run(-500, 1280),   run(3, 2303), broken,
                                                with_gaps(9, 1100)};
  const int ran = on_each_target(HWY_TARGETS, [&](const char* target) {
    CAPTURE(target);
    for (const std::uint32_t dims : {128u, 80u, 6u}) {
      const Rope rope = Rope::standard(RopeLayout::kHalves, dims, 1e4);
      const Table table(rope);
      const Case c{rope, table.table, dims + 3};
      for (const std::vector<std::int64_t>& positions : patterns) {
        CAPTURE(positions.size());
        for (const std::uint32_t count : {1u, 2u, 3u, 4u}) {
          CHECK(check(c, positions, count, Arithmetic::kFast) < 1.2e-3);
          CHECK(check(c, positions, count, Arithmetic::kExact) < 1e-6);
        }
      }
    }
  });
  CHECK(ran >= 1);
}

TEST_CASE("offset: the same bits in calls of any length, beside any queries") {
  const int ran = on_each_target(HWY_TARGETS, [&](const char* target) {
    CAPTURE(target);
    const Rope rope = Rope::standard(RopeLayout::kHalves, 128, 1e4);
    const Table table(rope);
    const std::vector<float> mean = test::normal(77, 128, 2.0f);
    constexpr std::uint32_t kCount = 7;
    const std::vector<float> queries = test::normal(78, std::size_t{kCount} * 128);
    const abi::OffsetView view{128, mean.data(), table.table};
    for (const std::vector<std::int64_t>& positions :
         {run(0, 2048), run(300, 1500), run(-77, 1030), with_gaps(11, 1400)}) {
      const auto n = static_cast<std::uint32_t>(positions.size());
      for (const Arithmetic arithmetic : {Arithmetic::kFast, Arithmetic::kExact}) {
        std::vector<float> together(std::size_t{kCount} * n, 0.25f);
        // As attention calls for many queries: 256 slots at a time.
        for (std::uint32_t t = 0; t < n; t += 256) {
          HWY_DYNAMIC_DISPATCH(add_offset)
          (view, abi::OffsetArguments{queries.data(), kCount, positions.data() + t,
                                      std::min(256u, n - t), arithmetic, together.data() + t, n});
        }
        for (const std::uint32_t beside : {1u, 2u, 3u}) {
          std::uint32_t different = 0;
          for (std::uint32_t j = 0; j + beside <= kCount; ++j) {
            std::vector<float> alone(std::size_t{beside} * n, 0.25f);
            HWY_DYNAMIC_DISPATCH(add_offset)
            (view, abi::OffsetArguments{queries.data() + std::size_t{j} * 128, beside,
                                        positions.data(), n, arithmetic, alone.data(), n});
            different += std::memcmp(alone.data(), together.data() + std::size_t{j} * n,
                                     n * sizeof(float)) != 0
                             ? 1u
                             : 0u;
          }
          CHECK(different == 0);
        }
      }
    }
  });
  CHECK(ran >= 1);
}

TEST_CASE("offset: as exact as promised for the rotations that models have") {
  for (const double base : {1e4, 1e5, 5e5}) {
    const Rope rope = Rope::standard(RopeLayout::kHalves, 128, base);
    const Table table(rope);
    for (const std::uint32_t count : {4u, 8u, 16u}) {
      const Case c{rope, table.table, 128};
      CHECK(check(c, run(8192, 256), count, Arithmetic::kFast) < 4e-4);
      CHECK(check(c, run(8192, 256), count, Arithmetic::kAccurate) < 1e-6);
    }
  }
}

TEST_CASE("offset: frequencies in any order, beyond half a turn and negative") {
  double theta[24];
  for (std::uint32_t i = 0; i < 24; ++i)
    theta[i] = (i % 2 == 0 ? 1.0 : -1.0) * std::pow(10.0, -0.37 * ((i * 7) % 24)) * 5.0;
  const Rope rope = Rope::from_frequencies(RopeLayout::kAdjacent, 48, theta);
  const Table table(rope);
  CHECK(check(Case{rope, table.table, 48}, run(99, 256), 3, Arithmetic::kFast) < 2e-3);
  CHECK(check(Case{rope, table.table, 48}, run(99, 256), 3, Arithmetic::kExact) < 2e-6);
  // Falling: the last ones are slow, of both signs.
  for (std::uint32_t i = 0; i < 24; ++i)
    theta[i] = (i % 2 == 0 ? 1.0 : -1.0) * std::pow(10.0, -0.25 * i);
  const Rope falling = Rope::from_frequencies(RopeLayout::kAdjacent, 48, theta);
  const Table other(falling);
  CHECK(other.table->moments == 8);
  CHECK(check(Case{falling, other.table, 48}, run(99, 256), 3, Arithmetic::kFast) < 2e-3);
  CHECK(check(Case{falling, other.table, 48}, run(99, 256), 3, Arithmetic::kExact) < 2e-6);
}

TEST_CASE("offset: a mean that does not rotate") {
  const Rope none = Rope::standard(RopeLayout::kAdjacent, 0, 1e4);
  const Table table(none);
  for (const std::uint32_t dim : {1u, 20u, 128u}) {
    for (const abi::PhaseTable* given :
         {static_cast<const abi::PhaseTable*>(nullptr), table.table}) {
      CHECK(check(Case{none, given, dim}, run(0, 100), 5, Arithmetic::kFast) < 1e-6);
      CHECK(check(Case{none, given, dim}, run(0, 1), 1, Arithmetic::kExact) < 1e-5);
    }
  }
}

TEST_CASE("offset: large, small, zero and NaN queries") {
  const Rope rope = Rope::standard(RopeLayout::kHalves, 64, 1e4);
  const Table table(rope);
  const std::vector<std::int64_t> positions = run(640, 100);
  const std::vector<float> mean = test::normal(5, 64);
  for (const Arithmetic arithmetic : {Arithmetic::kFast, Arithmetic::kExact}) {
    for (const float factor : {1e34f, 1e-20f, 1e-36f, 0.0f}) {
      std::vector<float> queries = test::normal(6, 3 * 64, factor);
      const float nan = std::numeric_limits<float>::quiet_NaN();
      queries[64 + 9] = nan;
      std::vector<float> scores(3 * 100, 0.0f);
      HWY_DYNAMIC_DISPATCH(add_offset)
      (abi::OffsetView{64, mean.data(), table.table},
       abi::OffsetArguments{queries.data(), 3, positions.data(), 100, arithmetic, scores.data(),
                            100});
      std::uint32_t wrong = 0;
      for (std::uint32_t t = 0; t < 100; ++t) {
        for (const std::uint32_t j : {0u, 2u}) {
          const Exact exact =
              exact_offset(rope, 64, queries.data() + j * 64, mean.data(), positions[t]);
          // Words: see check; below 1e-30 kFast adds nothing.
          const double tolerance = 2e-3 * exact.magnitudes + 1e-30;
          wrong += std::fabs(scores[j * 100 + t] - exact.value) <= tolerance ? 0u : 1u;
        }
        wrong += std::isnan(scores[100 + t]) ? 0u : 1u;
      }
      CAPTURE(factor);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("offset: which formats show theirs to kernels") {
  using Key = formats::CodebookKey<64, 4>;
  using Mean = formats::RotatedBook<64, 4, Chain<Center, RandomHadamard<>>, ScalePolicy::kUnbiased>;
  using Late = formats::RotatedBook<64, 4, Chain<RandomHadamard<>, Center>, ScalePolicy::kUnbiased>;
  using Both = formats::RotatedBook<64, 4, Chain<PhaseCenter, Center>, ScalePolicy::kUnbiased>;
  using Split = ChannelSplit<formats::RotatedBook<16, 4, RandomHadamard<>, ScalePolicy::kUnbiased>,
                             formats::RotatedBook<48, 4, RandomHadamard<>, ScalePolicy::kUnbiased>,
                             PhaseCenter>;
  CHECK(kHasOffsetView<Key>);
  CHECK(kHasOffsetView<Mean>);
  CHECK(kHasOffsetView<Split>);
  CHECK(!kHasOffsetView<Late>);  // its mean meets the query after a rotation
  CHECK(!kHasOffsetView<Both>);  // two offsets
  CHECK(!kHasOffsetView<formats::TurboQuant<64, 4>>);
  const Rope rope = Rope::standard(RopeLayout::kHalves, 64, 1e4);
  const Table table(rope);
  std::vector<CosSin> unit_rotations(kRotationSpan * 32);
  const std::vector<float> mean = test::normal(3, 64);
  BindContext context{mean.data(), &rope, unit_rotations.data(), nullptr};
  const Key bare = Key::bind(context);
  CHECK(!usable(bare, offset_view_of(bare)));
  context.phases = table.table;
  const Key key = Key::bind(context);
  const abi::OffsetView view = offset_view_of(key);
  CHECK(usable(key, view));
  CHECK(view.dim == 64);
  CHECK(view.mean == mean.data());
  CHECK(view.table == table.table);
  const Mean constant = Mean::bind(context);
  CHECK(usable(constant, offset_view_of(constant)));
  CHECK(offset_view_of(constant).table == nullptr);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
