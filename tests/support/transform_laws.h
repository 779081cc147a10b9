// The laws of a transform (transform/bind.h), for any transform.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kvpleat/transform/bind.h"
#include "support/generator.h"

namespace test {

// A rotation of the first `dims` channels and a profile of numbers around zero.
struct Bound {
  kvpleat::Rope rope;
  std::vector<kvpleat::CosSin> unit_rotations;
  std::vector<float> profile;

  Bound(std::uint32_t profile_size, std::uint32_t seed, kvpleat::RopeLayout layout,
        std::uint32_t dims)
      : Bound(uniform(seed, profile_size, 2.0f), layout, dims) {}
  Bound(std::vector<float> own_profile, kvpleat::RopeLayout layout, std::uint32_t dims)
      : rope(kvpleat::Rope::standard(layout, dims, 10000.0)), profile(std::move(own_profile)) {
    for (std::int64_t u = 0; u < kvpleat::kRotationSpan; ++u) {
      for (std::uint32_t i = 0; i < rope.pairs(); ++i)
        unit_rotations.push_back(rope.rotation(i, u));
    }
  }
  [[nodiscard]] kvpleat::BindContext context() const {
    return {profile.data(), &rope, unit_rotations.data()};
  }
};

inline double length(const std::vector<float>& x) {
  double sum = 0.0;
  for (const float v : x) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum);
}

// score: q . x == q' . x' + offset. restore: of what forward gives, of sums of it, with weights.
// Tolerances: one rounding is 2^-24 of the length of the vectors involved (row, mean, query). A
// Hadamard transform rounds up to 11 times, a rotation 3 times, subtracting and adding a mean
// once each; a float sum over dim terms up to dim times.
// A transform that does not move rows has a profile that is no mean: it says so with `moves`.
template <class Transform, std::uint32_t kDim>
void check_transform_laws(const Bound& bound, bool moves = true) {
  CAPTURE(kDim);
  CAPTURE(bound.rope.dims);
  const auto transform = kvpleat::bind_transform<Transform, kDim>(bound.context());
  const std::vector<float> query = uniform(32, kDim);
  std::vector<float> coded_query(kDim);
  transform.template prepare_query<kDim>(query.data(), coded_query.data());
  const double mean = moves ? 2.0 * length(bound.profile) : 0.0;
  const double q = length(query);

  // Runs of 64 and more, a run that breaks at 64 exactly, gaps, steps back, repeats, far away.
  std::vector<std::int64_t> positions;
  for (std::int64_t p = 0; p < 64; ++p) positions.push_back(p);
  for (std::int64_t p = 64; p < 130; ++p) positions.push_back(p);
  for (std::int64_t p = 1000; p < 1064; ++p) positions.push_back(p);
  for (const std::int64_t p : {2000, 2001, 2003, 2002, 2002, 7, 8}) positions.push_back(p);
  for (std::int64_t p = 0; p < 70; ++p) positions.push_back((std::int64_t{1} << 31) - 35 + p);
  positions.push_back(-3);
  positions.push_back(-2);
  const auto n = static_cast<std::uint32_t>(positions.size());
  std::vector<float> offsets(n, 0.0f);
  transform.template add_score_offset<kDim>(query.data(), positions.data(), n, offsets.data());

  double score = 0.0;
  double restored = 0.0;
  for (std::uint32_t t = 0; t < n; ++t) {
    const std::vector<float> row = uniform(100 + t, kDim, 3.0f);
    std::vector<float> coded(kDim);
    std::vector<float> back(kDim);
    transform.template forward<kDim>(row.data(), positions[t], coded.data());
    transform.template restore<kDim>(coded.data(), 1.0f, positions[t], back.data());
    double wanted = 0.0;
    double found = static_cast<double>(offsets[t]);
    for (std::uint32_t c = 0; c < kDim; ++c) {
      wanted += static_cast<double>(query[c]) * static_cast<double>(row[c]);
      found += static_cast<double>(coded_query[c]) * static_cast<double>(coded[c]);
      const double error = std::fabs(static_cast<double>(back[c]) - static_cast<double>(row[c]));
      restored = std::max(restored, error / (30.0 * 0x1p-24 * (length(row) + mean)));
    }
    score = std::max(
        score, std::fabs(found - wanted) / ((30.0 + kDim) * 0x1p-24 * q * (length(row) + mean)));
  }
  CHECK(score <= 1.0);
  CHECK(restored <= 1.0);

  // One call over all positions is as many calls over one each, up to the same rounding.
  double apart = 0.0;
  for (std::uint32_t t = 0; t < n; ++t) {
    float one = 0.0f;
    transform.template add_score_offset<kDim>(query.data(), &positions[t], 1, &one);
    apart = std::max(apart, std::fabs(static_cast<double>(one) - static_cast<double>(offsets[t])));
  }
  CHECK(apart <= 2.0 * (30.0 + kDim) * 0x1p-24 * q * mean);

  // Linear in (coded, weight): at one position for all, as positional transforms ask.
  const float weights[3] = {0.25f, 1.5f, -0.5f};
  std::vector<float> sum(kDim, 0.0f);
  std::vector<double> wanted(kDim, 0.0);
  double size = 2.25 * mean;
  for (std::uint32_t t = 0; t < 3; ++t) {
    const std::vector<float> row = uniform(400 + t, kDim, 3.0f);
    std::vector<float> coded(kDim);
    transform.template forward<kDim>(row.data(), 4242, coded.data());
    for (std::uint32_t c = 0; c < kDim; ++c) {
      sum[c] += weights[t] * coded[c];
      wanted[c] += static_cast<double>(weights[t]) * static_cast<double>(row[c]);
    }
    size += static_cast<double>(std::fabs(weights[t])) * length(row);
  }
  std::vector<float> back(kDim);
  transform.template restore<kDim>(sum.data(), 1.25f, 4242, back.data());
  double error = 0.0;
  for (std::uint32_t c = 0; c < kDim; ++c)
    error = std::max(error, std::fabs(static_cast<double>(back[c]) - wanted[c]));
  CHECK(error <= 36.0 * 0x1p-24 * size);  // six more roundings: products and sums of the weights
}

template <class Transform, std::uint32_t kDim>
void check_transform_laws(kvpleat::RopeLayout layout = kvpleat::RopeLayout::kHalves,
                          std::uint32_t dims = 0) {
  check_transform_laws<Transform, kDim>(Bound(Transform::profile_size(kDim), 31, layout, dims));
}

}  // namespace test
