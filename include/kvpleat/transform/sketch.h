// Sketches: the matrix S of the one-bit stage that keeps sign(S r) of a residual r (QJL,
// arXiv:2406.03482; TurboQuant's algorithm 2, arXiv:2504.19874).
//
// |r| * constant * S^T sign(S r) is an estimate of r whose inner product with any y is right on
// average. Both policies say constant<dim>(), project<dim>(r, S r) and back<dim>(z, S^T z).
#pragma once

#include <cmath>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/kronecker_hadamard.h"

namespace kvpleat::inline KVPLEAT_ISA {

// S orthonormal: KroneckerHadamard of an own seed, which must not be the one of the transform in
// front. constant = sqrt(pi / (2 d)), right up to a factor 1 + O(1 / (4 d)). A third of the
// variance of IidSketch: for rows of length 1 and d * E[error^2] = (pi / 2 - 1) |r|^2.
template <std::uint64_t kSeed = 2>
struct OrthogonalSketch {
  static constexpr auto kId = Text("sketch=rht;sketch_seed=") + number_text<kSeed>();
  static constexpr std::uint32_t profile_size(std::uint32_t) { return 0; }
  static OrthogonalSketch bind(const float*) { return {}; }
  template <std::uint32_t kDim>
  static bool valid(const float*) {
    return true;
  }
  template <std::uint32_t kDim>
  static float constant() {
    return static_cast<float>(std::sqrt(1.57079632679489661923 / kDim));
  }
  template <std::uint32_t kDim>
  void project(const float* residual, float* projected) const {
    KroneckerHadamard<kSeed>().template forward<kDim>(residual, 0, projected);
  }
  template <std::uint32_t kDim>
  void back(const float* signs, float* row) const {
    KroneckerHadamard<kSeed>().template restore<kDim>(signs, 1.0f, 0, row);
  }
};

// S with independent standard normal entries, as published. Profile: matrix[dim][dim], row-major
// (calibrate/gaussian.h); not usable without. constant = sqrt(pi / 2) / d. Kept for
// comparison: d * E[error^2] = pi / 2 * |r|^2 - <y, r>^2 for y of length 1.
struct IidSketch {
  static constexpr auto kId = Text("sketch=iid");
  static constexpr std::uint32_t profile_size(std::uint32_t dim) { return dim * dim; }
  static IidSketch bind(const float* profile) {
    IidSketch sketch;
    sketch.matrix = profile;
    return sketch;
  }
  template <std::uint32_t kDim>
  static bool valid(const float* profile) {
    return profile != nullptr && largest_magnitude(profile, profile_size(kDim)) <= kLargestFloat;
  }

  const float* matrix = nullptr;

  template <std::uint32_t kDim>
  static float constant() {
    return static_cast<float>(1.25331413731550025121 / kDim);
  }
  template <std::uint32_t kDim>
  void project(const float* residual, float* projected) const {
    for (std::uint32_t i = 0; i < kDim; ++i)
      projected[i] = static_cast<float>(ordered_dot(matrix + i * kDim, residual, kDim));
  }
  template <std::uint32_t kDim>
  void back(const float* signs, float* row) const {
    double sums[kDim] = {};
    for (std::uint32_t i = 0; i < kDim; ++i) {
      for (std::uint32_t c = 0; c < kDim; ++c)
        sums[c] += static_cast<double>(matrix[i * kDim + c]) * static_cast<double>(signs[i]);
    }
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] = static_cast<float>(sums[c]);
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
