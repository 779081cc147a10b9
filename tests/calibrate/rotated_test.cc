#include "kvpleat/calibrate/rotated.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/format/rotated.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

// The noise of a rotation behind Balance: mean(residual / scale^2) * sum(weight * scale^2).
double noise(const std::vector<double>& residual, const std::vector<double>& weight,
             const std::vector<float>& scale) {
  double coded = 0.0;
  double sum = 0.0;
  for (std::size_t c = 0; c < scale.size(); ++c) {
    const double s = static_cast<double>(scale[c]) * static_cast<double>(scale[c]);
    coded += residual[c] / s;
    sum += weight[c] * s;
  }
  return coded / static_cast<double>(scale.size()) * sum;
}

}  // namespace

TEST_CASE("balance_scales: the formula, rotated rows of RMS 1, and no better scales around") {
  const std::vector<double> residual = {1.0, 4.0, 0.25, 9.0};
  const std::vector<double> weight = {1.0, 0.25, 16.0, 1.0};
  std::vector<float> scale(4);
  balance_scales(residual.data(), weight.data(), 4, scale.data());
  // scale^2 ~ sqrt(residual / weight) = 1, 4, 0.125, 3: residual over it 1 1 2 3, mean 7/4.
  const double wanted[4] = {1.0, 4.0, 0.125, 3.0};
  for (std::size_t c = 0; c < 4; ++c)
    CHECK(scale[c] == doctest::Approx(std::sqrt(wanted[c] * 1.75)).epsilon(1e-6));
  const double least = noise(residual, weight, scale);
  for (std::size_t c = 0; c < 4; ++c) {
    for (const float factor : {0.9f, 1.1f}) {
      std::vector<float> other = scale;
      other[c] *= factor;
      CHECK(noise(residual, weight, other) > least);
    }
  }
  // Without weights the noise is (mean of the standard deviations)^2 times the number of channels.
  balance_scales(residual.data(), nullptr, 4, scale.data());
  CHECK(noise(residual, {1.0, 1.0, 1.0, 1.0}, scale) ==
        doctest::Approx(6.5 * 6.5 / 4.0).epsilon(1e-6));
}

TEST_CASE("balance_scales: channels without energy") {
  const double residual[3] = {0.0, 1.0, 4.0};
  float scale[3];
  balance_scales(residual, nullptr, 3, scale);
  CHECK(scale[0] > 0.0f);
  CHECK(scale[0] == doctest::Approx(std::sqrt(0.5 * (scale[1] * scale[1] + scale[2] * scale[2]))));
  const double none[3] = {};
  balance_scales(none, nullptr, 3, scale);
  for (const float s : scale) CHECK(s == 0.0f);
}

TEST_CASE("principal_direction: where the few long rows point") {
  std::vector<float> rows = test::normal(4, 200 * 32);
  std::vector<float> wanted(32);
  for (std::uint32_t c = 0; c < 32; ++c)
    wanted[c] = (c % 3 == 0 ? -1.0f : 1.0f) * static_cast<float>(std::sqrt(1.0 / 32.0));
  for (std::uint32_t t = 0; t < 200; t += 20) {
    for (std::uint32_t c = 0; c < 32; ++c)
      rows[t * 32 + c] += (t == 60 ? -30.0f : 20.0f) * wanted[c];
  }
  std::vector<float> profile(33);
  principal_direction({rows.data(), 200, 32}, 32, profile.data());
  CHECK(DirectionSplit<32>::valid(profile.data()));
  double cosine = 0.0;
  double largest = 0.0;
  for (std::uint32_t c = 0; c < 32; ++c)
    cosine += static_cast<double>(profile[c]) * static_cast<double>(wanted[c]);
  for (std::uint32_t t = 0; t < 200; ++t)
    largest = std::fmax(largest, std::fabs(ordered_dot(rows.data() + t * 32, profile.data(), 32)));
  // Noise of one channel over ten rows of length 20: an angle of about sqrt(31 / 10) / 20.
  CHECK(std::fabs(cosine) > 0.99);
  CHECK(profile[32] == doctest::Approx(largest / 127.0).epsilon(1e-5));
  const std::vector<float> zeros(200 * 32, 0.0f);
  principal_direction({zeros.data(), 200, 32}, 32, profile.data());
  CHECK(profile == std::vector<float>(33, 0.0f));
}

TEST_CASE("principal_direction: few long rows count for more than many wide ones") {
  // Channel 0 has 200 rows of deviation 4, an energy of 3200; channel 1 four rows of 25, one of 2500.
  // Weighted by the rows' energies: about 200 * 16 * 80 against 4 * 625 * 680.
  std::vector<float> rows = test::normal(6, 200 * 32);
  for (std::uint32_t t = 0; t < 200; ++t) {
    rows[t * 32] *= 4.0f;
    if (t % 50 == 7) rows[t * 32 + 1] += 25.0f;
  }
  std::vector<float> profile(33);
  principal_direction({rows.data(), 200, 32}, 32, profile.data());
  CHECK(std::fabs(profile[1]) > 0.95f);
}

TEST_CASE("balanced_profile: keys and values, every part") {
  constexpr std::uint32_t kDim = 16;
  constexpr std::uint32_t kTokens = 64;
  const Rope rope = Rope::standard(RopeLayout::kAdjacent, kDim, 10000.0);
  // Two heads side by side: stride 32, this one second. A mean of 3 in channel 5.
  std::vector<float> before = test::normal(5, kTokens * 32);
  std::vector<float> stored(before.size());
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    before[t * 32 + 16 + 5] += 3.0f;
    for (std::uint32_t c = 0; c < kDim; ++c) before[t * 32 + 16 + c] *= c < 8 ? 2.0f : 0.5f;
    rope.rotate(before.data() + t * 32 + 16, kDim, t, stored.data() + t * 32 + 16);
  }
  std::vector<float> coded(kTokens * kDim);
  using Key = formats::BalancedKey<kDim, 4>;
  std::vector<float> profile(Key::kProfileSize, 99.0f);
  balanced_profile<Key>({before.data() + 16, kTokens, 32}, {stored.data() + 16, kTokens, 32}, rope,
                        coded.data(), profile.data());
  CHECK(Key::valid_profile(profile.data()));
  CHECK(profile[5] == doctest::Approx(6.0).epsilon(0.1));
  double energy = 0.0;
  for (const float x : coded) energy += static_cast<double>(x) * static_cast<double>(x);
  CHECK(energy / (kTokens * kDim) == doctest::Approx(1.0).epsilon(1e-5));
  // The pair of channel 5 is weighted by its mean: (2^2 + 2^2 + 6^2) / 2 = 22 instead of 4, so its
  // scale is (4 / 22)^(1/4) = 0.65 of that of a like pair (spread of 64 samples: 9 %).
  const float* scale = profile.data() + kDim;
  CHECK(scale[4] / scale[2] == doctest::Approx(0.653).epsilon(0.15));
  CHECK(scale[5] / scale[3] == doctest::Approx(0.653).epsilon(0.15));

  using Value = formats::BalancedValue<kDim, 4>::As<Role::kValue>;
  std::vector<float> of_value(Value::kProfileSize, 99.0f);
  const HeadRows values = {before.data() + 16, kTokens, 32};
  balanced_profile<Value>(values, values, rope, coded.data(), of_value.data());
  CHECK(Value::valid_profile(of_value.data()));
  // No centre, no weights: scale^2 ~ standard deviation; channels 8.. have a quarter.
  CHECK(of_value[9] / of_value[1] == doctest::Approx(0.5).epsilon(0.15));
  CHECK(of_value[kDim + kDim] > 0.0f);

  balanced_profile<Key>({}, {}, rope, coded.data(), profile.data());
  CHECK(profile == std::vector<float>(Key::kProfileSize, 0.0f));
}
