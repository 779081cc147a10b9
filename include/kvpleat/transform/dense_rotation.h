// DenseRotation: an orthonormal matrix of the profile, for rotations that are no Hadamard transform
// (Haar: calibrate/haar.h; a fitted one). O(dim^2) per row.
#pragma once

#include <cmath>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/bind.h"
#include "kvpleat/transform/hadamard.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Profile: matrix[dim][dim] per head, row-major, orthonormal; coded = matrix row, restored by the
// transpose. Every coded value is one sum in the order of the numeric law, rounded once to float.
// Without a profile the transform is not usable.
struct DenseRotation {
  static constexpr auto kId = Text("transform=dense_rotation");
  static constexpr bool kPositional = false;
  static constexpr bool kHasOffset = false;
  static constexpr std::uint32_t profile_size(std::uint32_t dim) { return dim * dim; }
  static DenseRotation bind(const BindContext& context) {
    DenseRotation rotation;
    rotation.matrix = context.profile;
    return rotation;
  }
  // Whether matrix^T matrix v == v within 1e-5 for four vectors v of random signs: O(dim^2), where
  // the whole product is O(dim^3). An error E of matrix^T matrix - 1 shows as a random sum of its
  // rows, so it hides from one vector only if that sum happens to cancel, and from four never in
  // practice. Rounding an orthonormal matrix to float moves the product by about 2^-24.
  template <std::uint32_t kDim>
  static bool valid(const float* profile) {
    if (profile == nullptr) return false;
    DenseRotation rotation;
    rotation.matrix = profile;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      float row[kDim];
      float coded[kDim];
      float back[kDim];
      for (std::uint32_t c = 0; c < kDim; ++c) row[c] = random_sign(0x726f7461u + seed, c);
      rotation.forward<kDim>(row, 0, coded);
      rotation.restore<kDim>(coded, 1.0f, 0, back);
      for (std::uint32_t c = 0; c < kDim; ++c) {
        if (!(magnitude(back[c] - row[c]) <= 1e-5f)) return false;
      }
    }
    return true;
  }

  const float* matrix = nullptr;

  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t, float* coded) const {
    for (std::uint32_t i = 0; i < kDim; ++i)
      coded[i] = static_cast<float>(ordered_dot(matrix + i * kDim, row, kDim));
  }
  // The matrix is orthonormal, so scores are kept by rotating the query alike.
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    forward<kDim>(query, 0, coded);
  }
  template <std::uint32_t kDim>
  void add_score_offset(const float*, const std::int64_t*, std::uint32_t, float*) const {}
  template <std::uint32_t kDim>
  void restore(const float* coded, float, std::int64_t, float* row) const {
    double sums[kDim] = {};
    for (std::uint32_t i = 0; i < kDim; ++i) {
      for (std::uint32_t c = 0; c < kDim; ++c)
        sums[c] += static_cast<double>(matrix[i * kDim + c]) * static_cast<double>(coded[i]);
    }
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] = static_cast<float>(sums[c]);
  }
  // Rows of the matrix have length 1 within 1e-5: see valid().
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    return input_bound * (std::sqrt(static_cast<float>(kDim)) * 1.0001f);
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
