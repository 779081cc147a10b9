// KroneckerHadamard: random signs, then (small orthonormal factors of the odd part) x (Hadamard),
// so that every channel mixes with every other where head_dim is no power of two (80 = 5 * 16, 96 =
// 3 * 32, 576 = 3 * 3 * 64). RandomHadamard rotates blocks apart there: an outlier in the block of
// 16 stays in it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/bind.h"
#include "kvpleat/transform/hadamard.h"

namespace kvpleat::inline KVPLEAT_ISA {

namespace kronecker {

// The smallest prime factor of an odd n > 1.
constexpr std::uint32_t smallest_factor(std::uint32_t n) {
  for (std::uint32_t p = 3; p * p <= n; p += 2) {
    if (n % p == 0) return p;
  }
  return n;
}

// cos x + sin x for |x| <= pi, by Taylor series: the first term left out is below 1e-17. In
// constant expressions every compiler computes the same double.
constexpr double cosine_plus_sine(double x) {
  double sum = 0.0;
  double term = 1.0;  // x^k / k!
  for (int k = 0; k < 34; ++k) {
    sum += k % 4 < 2 ? term : -term;
    term *= x / (k + 1);
  }
  return sum;
}
constexpr double square_root(double x) {
  double root = x > 1.0 ? x : 1.0;
  for (int i = 0; i < 40; ++i) root = 0.5 * (root + x / root);
  return root;
}

// The orthonormal factor of an odd prime order, symmetric and without a zero, hence its own
// inverse.
//   order 3, 5:  1 - 2/p on the diagonal, -2/p elsewhere (a Householder reflection: no orthonormal
//                matrix of order 3 spreads better)
//   order >= 7:  the Hartley matrix, (cos + sin)(2 pi i j / p) / sqrt(p); 8 i j / p is no odd
//                integer for odd p, so no entry vanishes
template <std::uint32_t kOrder>
struct Factor {
  static constexpr std::array<float, kOrder> kHartley = [] {
    std::array<float, kOrder> table{};
    for (std::uint32_t r = 0; r < kOrder; ++r) {
      const double turns = (2 * r > kOrder ? static_cast<double>(r) - kOrder : r) / kOrder;
      table[r] =
          static_cast<float>(cosine_plus_sine(6.283185307179586477 * turns) / square_root(kOrder));
    }
    return table;
  }();
  static constexpr float entry(std::uint32_t i, std::uint32_t j) {
    if constexpr (kOrder < 7) {
      return static_cast<float>((i == j ? kOrder - 2.0 : -2.0) / kOrder);
    } else {
      return kHartley[i * j % kOrder];
    }
  }
  // x[0], x[stride], ... x[(kOrder-1) * stride], in place. Sums as the numeric law asks.
  static constexpr void apply(float* x, std::uint32_t stride) {
    float from[kOrder] = {};
    for (std::uint32_t j = 0; j < kOrder; ++j) from[j] = x[j * stride];
    for (std::uint32_t i = 0; i < kOrder; ++i) {
      double partial[16] = {};
      for (std::uint32_t j = 0; j < kOrder; ++j)
        partial[j % 16] += static_cast<double>(entry(i, j)) * static_cast<double>(from[j]);
      x[i * stride] = static_cast<float>(sum_in_tree(partial));
    }
  }
};

// Applies a factor per prime of kRest, the smallest first, to the digits of x[n]: the first digit
// has `stride`.
template <std::uint32_t kRest>
constexpr void apply_factors(float* x, std::uint32_t n, std::uint32_t stride) {
  if constexpr (kRest > 1) {
    constexpr std::uint32_t kPrime = smallest_factor(kRest);
    for (std::uint32_t base = 0; base < n; base += kPrime * stride) {
      for (std::uint32_t i = base; i < base + stride; ++i) Factor<kPrime>::apply(x + i, stride);
    }
    apply_factors<kRest / kPrime>(x, n, stride * kPrime);
  }
}

}  // namespace kronecker

// head_dim = m * 2^k, m odd. Channel c times its sign; a Hadamard transform of each run of 2^k
// channels; then for each prime p of m, the smallest first, a factor of order p over the next digit
// of the run's number. The matrices are symmetric: restore is the same steps, then the signs.
// O(dim * (k + sum of the primes)); a large prime makes it a dense rotation. The same bytes as
// RandomHadamard with this seed where head_dim is a power of two.
template <std::uint64_t kSeed = 1>
struct KroneckerHadamard {
  static constexpr auto kId = Text("transform=kronecker_rht;seed=") + number_text<kSeed>();
  static constexpr bool kPositional = false;
  static constexpr bool kHasOffset = false;
  static constexpr std::uint32_t profile_size(std::uint32_t) { return 0; }
  static KroneckerHadamard bind(const BindContext&) { return {}; }

  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t, float* coded) const {
    constexpr const auto& kSigns = RandomHadamard<kSeed>::template kSigns<kDim>;
    for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = row[c] * kSigns[c];
    transform<kDim>(coded);
  }
  // The transform is orthonormal, so scores are kept by rotating the query alike.
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    forward<kDim>(query, 0, coded);
  }
  template <std::uint32_t kDim>
  void add_score_offset(const float*, const std::int64_t*, std::uint32_t, float*) const {}
  template <std::uint32_t kDim>
  void restore(const float* coded, float, std::int64_t, float* row) const {
    constexpr const auto& kSigns = RandomHadamard<kSeed>::template kSigns<kDim>;
    if (coded != row) {
      for (std::uint32_t c = 0; c < kDim; ++c) row[c] = coded[c];
    }
    transform<kDim>(row);
    for (std::uint32_t c = 0; c < kDim; ++c) row[c] *= kSigns[c];
  }
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    return input_bound * std::sqrt(static_cast<float>(kDim));
  }

 private:
  template <std::uint32_t kDim>
  static void transform(float* x) {
    constexpr std::uint32_t kEven = kDim & (~kDim + 1u);
    for (std::uint32_t at = 0; at < kDim; at += kEven) hadamard_in_place(x + at, kEven);
    kronecker::apply_factors<kDim / kEven>(x, kDim, kEven);
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
