// What the rotated codebook formats lose, on sources whose loss is known. Seeds are fixed: each
// figure is the same in every run, and each tolerance says how far chance could have taken it.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/calibrate/channel_mean.h"
#include "kvpleat/calibrate/rotated.h"
#include "kvpleat/format/formats.h"
#include "support/gaussian.h"
#include "support/quality.h"

using namespace kvpleat;
using test::decibel;
using test::distortion;
using test::nmse;
using test::through;

namespace {

template <std::uint32_t kDim, std::uint32_t kBits, ScalePolicy kPolicy, class Side = Half>
using Book = formats::RotatedBook<kDim, kBits, RandomHadamard<>, kPolicy, Side>;

// 2^20 values: the relative error of the mean of as many squared errors, whose standard deviation
// is about 1.3 times their mean, is 0.13 %. The gate of 0.5 % is four of those.
std::vector<float> gaussian_rows(std::uint32_t seed) {
  return test::gaussian(seed, 1u << 20);
}

// d * C(f, b) of the exact law, by integrals in 25 digits.
template <std::uint32_t kDim>
void check_distortion(const double (&wanted)[5]) {
  CAPTURE(kDim);
  const std::vector<float> rows = gaussian_rows(kDim);
  const auto check = [&]<std::uint32_t kBits>() {
    CAPTURE(kBits);
    const double found = distortion(rows, through(formats::TurboQuant<kDim, kBits>{}, rows), kDim);
    CHECK(found == doctest::Approx(wanted[kBits - 1]).epsilon(0.005));
  };
  check.template operator()<1>();
  check.template operator()<2>();
  check.template operator()<3>();
  check.template operator()<4>();
  check.template operator()<5>();
}

}  // namespace

TEST_CASE("distortion is that of the sphere's law within 0.5 %: d = 64") {
  check_distortion<64>({0.358387, 0.114526, 0.0333908, 0.00913152, 0.00239923});
}
TEST_CASE("distortion is that of the sphere's law within 0.5 %: d = 128") {
  check_distortion<128>({0.360889, 0.116000, 0.0339659, 0.00931479, 0.00245146});
}
TEST_CASE("distortion is that of the sphere's law within 0.5 %: d = 256") {
  check_distortion<256>({0.362136, 0.116740, 0.0342560, 0.00940753, 0.00247794});
}

namespace {

// Over y uniform on the sphere, d * E[<y, x - back>^2] = |x - back|^2: the mean over y is taken
// exactly. The bias is measured with one y per row at <x, y> = 1/2.
struct InnerProducts {
  double variance = 0.0;  // d * E[err^2] for unit x and y
  double estimate = 0.0;  // mean estimate of <x, y> = 1/2
};
template <class F>
InnerProducts inner_products(const std::vector<float>& rows, std::uint32_t seed) {
  const std::vector<float> back = through(F{}, rows);
  InnerProducts result;
  result.variance = distortion(rows, back, F::kDim);
  const std::vector<float> others = gaussian_rows(seed);
  const std::size_t n = rows.size() / F::kDim;
  for (std::size_t t = 0; t < n; ++t) {
    const float* x = rows.data() + t * F::kDim;
    const float* stored = back.data() + t * F::kDim;
    const float* other = others.data() + t * F::kDim;
    // y = x / 2 + sqrt(3)/2 of a unit vector at right angles to x; all by |x|.
    const double size = test::dot(x, x, F::kDim);
    const double share = test::dot(x, other, F::kDim) / size;
    const double across = test::dot(other, other, F::kDim) - share * share * size;
    const double along_x = test::dot(x, stored, F::kDim) / size;
    const double along_other =
        (test::dot(other, stored, F::kDim) - share * along_x * size) / std::sqrt(across * size);
    result.estimate += 0.5 * along_x + std::sqrt(0.75) * along_other;
  }
  result.estimate /= static_cast<double>(n);
  return result;
}

template <std::uint32_t kBits>
void check_inner_products(const std::vector<float>& rows, double bound, double biased) {
  CAPTURE(kBits);
  const InnerProducts unbiased = inner_products<Book<128, kBits, ScalePolicy::kUnbiased>>(rows, 7);
  CHECK(unbiased.variance <= bound);
  // One estimate has a standard deviation of at most sqrt(bound / 128): four of the mean's.
  const double noise = std::sqrt(bound / 128.0 / (static_cast<double>(rows.size()) / 128.0));
  CHECK(std::fabs(unbiased.estimate - 0.5) <= 4.0 * noise);
  // The published variant shrinks by 1 - distortion.
  const InnerProducts published = inner_products<formats::TurboQuant<128, kBits>>(rows, 7);
  CHECK(published.estimate == doctest::Approx(biased).epsilon(0.002));
  CHECK(std::fabs(published.estimate - 0.5) > 4.0 * noise);
}

}  // namespace

TEST_CASE("inner products: the unbiased scale has no bias and the variance of DRIVE and EDEN") {
  const std::vector<float> rows = gaussian_rows(11);
  check_inner_products<1>(rows, 0.575, 0.5 * (1.0 - 0.360889));
  check_inner_products<2>(rows, 0.133, 0.5 * (1.0 - 0.116000));
  check_inner_products<3>(rows, 0.0353, 0.5 * (1.0 - 0.0339659));
  check_inner_products<4>(rows, 0.0095, 0.5 * (1.0 - 0.00931479));
}

TEST_CASE("scale policies: least squares loses least; matched norm loses more below 3 bits") {
  const std::vector<float> rows = gaussian_rows(12);
  const auto check = [&]<std::uint32_t kBits>() {
    CAPTURE(kBits);
    const auto lost = [&]<ScalePolicy kPolicy>() {
      return distortion(rows, through(Book<128, kBits, kPolicy>{}, rows), 128);
    };
    const double norm = lost.template operator()<ScalePolicy::kNorm>();
    const double matched = lost.template operator()<ScalePolicy::kMatchedNorm>();
    const double least = lost.template operator()<ScalePolicy::kLeastSquares>();
    const double unbiased = lost.template operator()<ScalePolicy::kUnbiased>();
    CHECK(least < norm);
    CHECK(least < matched);
    CHECK(matched < unbiased);
    CHECK((matched > norm) == (kBits <= 2));
    return least;
  };
  // League of stored formats at d = 128 (60 000 vectors there): 0.11525, 0.03352, 0.00915.
  check.operator()<1>();
  CHECK(check.operator()<2>() == doctest::Approx(0.11525).epsilon(0.005));
  CHECK(check.operator()<3>() == doctest::Approx(0.03352).epsilon(0.005));
  CHECK(check.operator()<4>() == doctest::Approx(0.00915).epsilon(0.005));
}

TEST_CASE("LogScale8 costs 1.6e-4 of the energy at most") {
  // A step of ln(2)/16 is uniform over its width: its square over 12 is 1.56e-4. Codes made with
  // the same coarse scale fit it a little, which gives some of it back. 8192 rows, each within
  // 4.7e-4 of the mean, leave 1e-5 to chance (three deviations).
  std::vector<float> rows = gaussian_rows(13);
  for (std::size_t t = 0; t < rows.size() / 128; ++t) {
    const float factor = 1.0f + static_cast<float>(t % 997) / 997.0f;  // over an octave
    for (std::size_t c = 0; c < 128; ++c) rows[t * 128 + c] *= factor;
  }
  const double half =
      distortion(rows, through(Book<128, 4, ScalePolicy::kLeastSquares>{}, rows), 128);
  const double log =
      distortion(rows, through(Book<128, 4, ScalePolicy::kLeastSquares, LogScale8>{}, rows), 128);
  CHECK(log - half > 1.1e-4);
  CHECK(log - half < 1.66e-4);
}

namespace {

// S1: 4 of 128 channels 16 times as wide. S2: 4 of 128 channels with a constant of 12.
std::vector<float> source_1() {
  std::vector<float> rows = gaussian_rows(21);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] *= i % 128 % 32 == 5 ? 16.0f : 1.0f;
  return rows;
}
std::vector<float> source_2() {
  std::vector<float> rows = gaussian_rows(22);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += i % 128 % 32 == 5 ? 12.0f : 0.0f;
  return rows;
}

}  // namespace

TEST_CASE("structured sources: rotation spreads wide channels, centring removes constants") {
  // NMSE at 4 bits with an fp16 scale, published: 0.0082 (S1) and 0.0085 (S2), two digits. A fixed
  // rotation spreads four channels over all, but not into a Gaussian of equal variances.
  const std::vector<float> wide = source_1();
  const std::vector<float> offset = source_2();
  using Plain = Book<128, 4, ScalePolicy::kLeastSquares>;
  const double rotated_wide = nmse(wide, through(Plain{}, wide));
  CHECK(rotated_wide == doctest::Approx(0.0082).epsilon(0.08));
  const double rotated_offset = nmse(offset, through(Plain{}, offset));
  CHECK(rotated_offset == doctest::Approx(0.0085).epsilon(0.08));
  // Without a rotation the same codebook loses several times as much.
  using Unrotated = formats::RotatedBook<128, 4, NoTransform, ScalePolicy::kLeastSquares>;
  CHECK(nmse(wide, through(Unrotated{}, wide)) > 3.0 * rotated_wide);
  // The mean is 1 - 1/5.5 of the energy: centring gains 7.4 dB at best.
  std::vector<float> mean(128);
  channel_mean(offset.data(), 512, 128, 128, mean.data());
  using Centered =
      formats::RotatedBook<128, 4, Chain<Center, RandomHadamard<>>, ScalePolicy::kLeastSquares>;
  const Centered centered = Centered::bind({mean.data(), nullptr, nullptr});
  const double gain = decibel(rotated_offset / nmse(offset, through(centered, offset)));
  CHECK(gain >= 5.0);
  CHECK(gain <= 7.9);
}

TEST_CASE("balance: the noise of S1 becomes what its formula says") {
  // Without weights: (mean deviation)^2 / mean square. S1: (124 + 64)^2 / (128 * (124 + 1024)) =
  // 0.2405, 6.2 dB below the rotation alone, if the rotated rows are Gaussian in both.
  const std::vector<float> rows = source_1();
  using Format =
      formats::RotatedBook<128, 4, Chain<Balance, RandomHadamard<>>, ScalePolicy::kLeastSquares>;
  std::vector<double> residual(128, 0.0);
  for (std::size_t i = 0; i < 512 * 128; ++i)
    residual[i % 128] += static_cast<double>(rows[i]) * static_cast<double>(rows[i]) / 512.0;
  std::vector<float> scale(128);
  balance_scales(residual.data(), nullptr, 128, scale.data());
  const double plain = nmse(rows, through(Book<128, 4, ScalePolicy::kLeastSquares>{}, rows));
  const double balanced = nmse(rows, through(Format::bind({scale.data(), nullptr, nullptr}), rows));
  // The plain rotation does better than Gaussian here (0.0082, not 0.0092): 0.5 dB.
  CHECK(decibel(plain / balanced) > 5.2);
  CHECK(balanced == doctest::Approx(0.0092 * 0.2405).epsilon(0.05));
}

TEST_CASE("direction: rows far along it are stored like others") {
  // One row in 16 lies 20 along a direction: the profile, made from the first 512 rows, finds it.
  constexpr std::uint32_t kDim = 64;
  std::vector<float> rows = gaussian_rows(31);
  for (std::size_t t = 0; t < rows.size() / kDim; t += 16) {
    for (std::size_t c = 0; c < kDim; ++c) rows[t * kDim + c] += c % 5 < 2 ? 2.5f : -2.5f;
  }
  using Format = formats::BalancedValue<kDim, 4>::As<Role::kValue>;
  std::vector<float> profile(Format::kProfileSize);
  std::vector<float> coded(512 * kDim);
  const HeadRows sample = {rows.data(), 512, kDim};
  balanced_profile<Format>(sample, sample, Rope{}, coded.data(), profile.data());
  const std::vector<float> back = through(Format::bind({profile.data(), nullptr, nullptr}), rows);
  const std::vector<float> plain = through(Book<kDim, 4, ScalePolicy::kLeastSquares>{}, rows);
  const auto lost = [&](const std::vector<float>& found, std::size_t first, std::size_t step) {
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t t = first; t < rows.size() / kDim; t += step, count += kDim) {
      for (std::size_t i = t * kDim; i < (t + 1) * kDim; ++i)
        sum += std::pow(static_cast<double>(rows[i] - found[i]), 2.0);
    }
    return sum / count;
  };
  // Such a row has an energy of 64 + 400 instead of 64: 8.6 dB.
  CHECK(decibel(lost(plain, 0, 16) / lost(plain, 1, 16)) == doctest::Approx(8.6).epsilon(0.03));
  CHECK(decibel(lost(back, 0, 16) / lost(back, 1, 16)) < 0.5);
  // Half a dB: LogScale8 costs 1.7 %, and all rows have one channel less to lose.
  CHECK(decibel(lost(back, 1, 16) / lost(plain, 1, 16)) < 0.5);
}

TEST_CASE("every knob changes the outcome") {
  std::vector<float> rows = test::gaussian(41, 64 * 64);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += i % 64 == 9 ? 3.0f : 0.0f;
  std::vector<float> mean(64);
  channel_mean(rows.data(), 64, 64, 64, mean.data());
  std::vector<std::vector<float>> all;
  const auto add = [&]<class F>(const float* profile) {
    all.push_back(through(F::bind({profile, nullptr, nullptr}), rows));
  };
  constexpr ScalePolicy kLeast = ScalePolicy::kLeastSquares;
  add.operator()<Book<64, 4, kLeast>>(nullptr);
  add.operator()<Book<64, 4, ScalePolicy::kNorm>>(nullptr);
  add.operator()<Book<64, 4, ScalePolicy::kMatchedNorm>>(nullptr);
  add.operator()<Book<64, 4, ScalePolicy::kUnbiased>>(nullptr);
  add.operator()<Book<64, 4, kLeast, LogScale8>>(nullptr);
  add.operator()<Book<64, 3, kLeast>>(nullptr);
  add.operator()<BlockFormat<64, RandomHadamard<>, NoSplit, CodebookQuant<4, GaussianBook, kLeast>,
                             DenseCodec>>(nullptr);
  add.operator()<BlockFormat<64, RandomHadamard<>, NoSplit,
                             CodebookQuant<4, SphereBook<64>, kLeast, Half, 32>, DenseCodec>>(
      nullptr);
  add.operator()<formats::RotatedBook<64, 4, RandomHadamard<2>, kLeast>>(nullptr);
  add.operator()<formats::RotatedBook<64, 4, NoTransform, kLeast>>(nullptr);
  add.operator()<formats::RotatedBook<64, 4, Chain<Center, RandomHadamard<>>, kLeast>>(mean.data());
  add.
  operator()<formats::RotatedBook<64, 4, RandomHadamard<>, kLeast, Half, TopKSplit<4>, SlotCodec>>(
      nullptr);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(nmse(rows, all[i]) < 0.05);
    for (std::size_t j = 0; j < i; ++j) CHECK(all[i] != all[j]);
  }
}
