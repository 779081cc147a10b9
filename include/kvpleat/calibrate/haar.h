// HaarRotation: a random orthonormal matrix, uniform over all of them: the profile of DenseRotation
// that TurboQuant's theorem asks for. Needs Eigen.
#pragma once

#include <Eigen/Core>
#include <Eigen/QR>
#include <cstddef>
#include <cstdint>

#include "kvpleat/calibrate/gaussian.h"
#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

// matrix[dim][dim], row-major: Q of the QR decomposition of a Gaussian matrix, each column times
// the sign of R's diagonal. Without the signs Q depends on the algorithm that computes it and is
// not uniform (F. Mezzadri, How to generate random matrices from the classical compact groups,
// arXiv:math-ph/0609050). Orthonormal within one float rounding of every entry. O(dim^3), on the
// heap.
inline void haar_rotation(std::uint64_t seed, std::uint32_t dim, float* matrix) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto n = static_cast<Eigen::Index>(dim);
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Floats> result(matrix, n, n);
  gaussian_matrix(seed, static_cast<std::size_t>(dim) * dim, matrix);
  const Eigen::HouseholderQR<Matrix> qr(result.cast<double>());
  Matrix q = qr.householderQ() * Matrix::Identity(n, n);
  for (Eigen::Index c = 0; c < n; ++c) {
    if (qr.matrixQR()(c, c) < 0.0) q.col(c) = -q.col(c);
  }
  result = q.cast<float>();
}

}  // namespace kvpleat::inline KVPLEAT_ISA
