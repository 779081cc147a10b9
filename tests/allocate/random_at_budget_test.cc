#include "kvpleat/allocate/random_at_budget.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/core/concepts.h"

using namespace kvpleat;

static_assert(BitAllocator<RandomAtBudget>);

namespace {

const double kBits[4] = {2.25, 4.25, 8.5, 16.0};

std::vector<double> frequencies(const RandomAtBudget& allocator, std::uint32_t tokens) {
  std::vector<double> found(4, 0.0);
  for (std::uint32_t p = 0; p < tokens; ++p) {
    TokenInfo info;
    info.position = p;
    found[allocator.choose(info)] += 1.0;
  }
  for (double& count : found) count /= tokens;
  return found;
}

}  // namespace

TEST_CASE("shares meet the budget exactly in expectation, draws nearly") {
  for (const double budget : {2.25, 3.0, 4.25, 5.0, 6.1, 8.5, 12.0, 16.0}) {
    CAPTURE(budget);
    const RandomAtBudget allocator = RandomAtBudget::two_widths(kBits, 4, budget, 7);
    // Shares are multiples of 2^-32, of differences below 16.
    CHECK(std::fabs(allocator.average(kBits) - budget) <= 16.0 * 0x1p-32);
    constexpr std::uint32_t kTokens = 100000;
    const std::vector<double> found = frequencies(allocator, kTokens);
    double average = 0.0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      average += found[i] * kBits[i];
      // Four deviations of a binomial share.
      const double p = allocator.share(i);
      CHECK(std::fabs(found[i] - p) <= 4.0 * std::sqrt(p * (1.0 - p) / kTokens));
    }
    CHECK(average == doctest::Approx(budget).epsilon(0.02));
  }
}

TEST_CASE("a budget that no width reaches takes the nearest width") {
  CHECK(RandomAtBudget::two_widths(kBits, 4, 1.0, 7).share(0) == 1.0);
  CHECK(RandomAtBudget::two_widths(kBits, 4, 20.0, 7).share(3) == 1.0);
  const double unsorted[3] = {16.0, 2.0, 4.0};
  const RandomAtBudget allocator = RandomAtBudget::two_widths(unsorted, 3, 3.0, 7);
  CHECK(allocator.share(0) == 0.0);
  CHECK(allocator.share(1) == 0.5);
  CHECK(allocator.share(2) == 0.5);
}

TEST_CASE("given shares, any number of lanes") {
  const double shares[4] = {1.0, 0.0, 2.0, 1.0};
  const RandomAtBudget allocator = RandomAtBudget::from_shares(shares, 4, 3);
  CHECK(allocator.share(0) == 0.25);
  CHECK(allocator.share(1) == 0.0);
  CHECK(allocator.share(2) == 0.5);
  CHECK(frequencies(allocator, 10000)[1] == 0.0);
  const double none[2] = {0.0, -1.0};
  CHECK(frequencies(RandomAtBudget::from_shares(none, 2, 3), 100)[0] == doctest::Approx(1.0));
}

TEST_CASE("a token's lane depends on seed and position, on layer and head where asked for") {
  RandomAtBudget a = RandomAtBudget::two_widths(kBits, 4, 6.0, 1);
  const RandomAtBudget other = RandomAtBudget::two_widths(kBits, 4, 6.0, 2);
  std::uint32_t differ_by_seed = 0;
  std::uint32_t differ_by_layer = 0;
  std::uint32_t differ_by_head = 0;
  for (std::uint32_t p = 0; p < 1000; ++p) {
    TokenInfo info;
    info.position = p;
    const std::uint32_t first = a.choose(info);
    CHECK(a.choose(info) == first);
    differ_by_seed += other.choose(info) != first ? 1u : 0u;
    info.layer = 5;
    info.head = 2;
    CHECK(a.choose(info) == first);  // one draw per position
    RandomAtBudget layered = a;
    layered.per_layer = true;
    const std::uint32_t in_layer = layered.choose(info);
    differ_by_layer += in_layer != first ? 1u : 0u;
    RandomAtBudget headed = layered;
    headed.per_head = true;
    differ_by_head += headed.choose(info) != in_layer ? 1u : 0u;
  }
  // Two widths with shares 0.588 and 0.412: independent draws differ in 48 %.
  CHECK(differ_by_seed > 400);
  CHECK(differ_by_layer > 400);
  CHECK(differ_by_head > 400);
  CHECK(differ_by_seed < 570);
}
