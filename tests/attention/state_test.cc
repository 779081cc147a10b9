#include "kvpleat/attention/state.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 5;
using State = AttentionState<kDim>;

// The state of one key.
State of(float logit, const float* value) {
  State state;
  state.largest = logit;
  state.sum = 1.0f;
  for (std::uint32_t c = 0; c < kDim; ++c) state.output[c] = value[c];
  state.sums.squares = 1.0f;
  state.sums.largest = 1.0f;
  state.sums.mass[2] = 1.0f;
  state.sums.visible = 1;
  return state;
}
bool same_bits(const State& a, const State& b) {
  return std::memcmp(&a.largest, &b.largest, sizeof a.largest) == 0 && a.sum == b.sum &&
         std::memcmp(a.output, b.output, sizeof a.output) == 0 &&
         std::memcmp(&a.sums, &b.sums, sizeof a.sums) == 0;
}

}  // namespace

TEST_CASE("the identity changes no bit, on either side") {
  const float value[kDim] = {1.1f, -0.0f, 3e-39f, 7.7f, -2.0f};
  const State some = of(-640000.25f, value);
  State left = some;
  left.merge(State{});
  CHECK(same_bits(left, some));
  State right;
  right.merge(some);
  CHECK(same_bits(right, some));
  State both;
  both.merge(State{});
  CHECK(same_bits(both, State{}));
  float out[kDim] = {9, 9, 9, 9, 9};
  both.write(out);
  for (const float x : out) CHECK(x == 0.0f);
  CHECK(both.log_sum() == -std::numeric_limits<float>::infinity());
}

TEST_CASE("merging does not depend on order or grouping") {
  constexpr std::uint32_t kKeys = 40;
  const std::vector<float> logits = test::normal(1, kKeys, 6.0f);
  const std::vector<float> values = test::normal(2, kKeys * kDim);
  double sum = 0.0;
  double squares = 0.0;
  double output[kDim] = {};
  const double top = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  for (std::uint32_t t = 0; t < kKeys; ++t) {
    const double w = std::exp(static_cast<double>(logits[t]) - top);
    sum += w;
    squares += w * w;
    for (std::uint32_t c = 0; c < kDim; ++c)
      output[c] += w * static_cast<double>(values[t * kDim + c]);
  }
  for (std::uint32_t order = 0; order < 5; ++order) {
    const std::uint32_t step = 1 + 2 * order + (order == 2 ? 2 : 0);  // 1, 3, 7, 7, 9: odd, not 5
    std::vector<State> parts(order + 1);
    for (std::uint32_t i = 0; i < kKeys; ++i) {
      const std::uint32_t t = i * step % kKeys;
      parts[i % parts.size()].merge(of(logits[t], &values[t * kDim]));
    }
    State all;
    for (const State& part : parts) all.merge(part);
    // 40 merges, each a few roundings: 40 * 4 * 2^-24 = 1e-5 of values up to 4.
    float out[kDim];
    all.write(out);
    for (std::uint32_t c = 0; c < kDim; ++c)
      CHECK(std::fabs(static_cast<double>(out[c]) - output[c] / sum) <= 4e-5);
    CHECK(std::fabs(static_cast<double>(all.log_sum()) - (top + std::log(sum))) <= 2e-5);
    CHECK(std::fabs(static_cast<double>(all.sums.squares) - squares) <= 2e-5);
    CHECK(all.sums.largest == doctest::Approx(1.0));
    CHECK(std::fabs(static_cast<double>(all.sums.mass[2]) - sum) <= 1e-4);
    CHECK(all.sums.visible == kKeys);
  }
}

TEST_CASE("far logits: what is below e^-60 counts as nothing, in both directions") {
  const float one[kDim] = {1, 1, 1, 1, 1};
  const float two[kDim] = {2, 2, 2, 2, 2};
  State low = of(-3e38f, one);
  low.merge(of(3e38f, two));
  CHECK(low.largest == 3e38f);
  CHECK(low.sum == 1.0f);
  CHECK(low.output[0] == 2.0f);
  CHECK(low.sums.visible == 2);
  State high = of(100.0f, two);
  high.merge(of(39.0f, one));
  CHECK(high.output[0] == 2.0f);
  CHECK(softmax_weight(1.0f, 1.0f) == 1.0f);
  CHECK(softmax_weight(0.0f, 59.0f) > 0.0f);
  CHECK(softmax_weight(0.0f, 60.0f) == 0.0f);
}
