// Eigen: matrices, maps and blocks as the caller's keys, values and queries, and as the place of
// results. Not in the umbrella: kvpleat itself needs no Eigen. Written for Eigen 3.4 and later.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kvpleat/attention/attend.h"
#include "kvpleat/attention/logit_rule.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/status.h"
#include "kvpleat/core/tokens.h"

namespace kvpleat::inline KVPLEAT_ISA {

namespace eigen {

// Eigen's 16-bit types have our bytes.
template <class Scalar>
struct Element {
  static_assert(kNeverTrue<Scalar>,
                "kvpleat: Eigen matrices of float, Eigen::half or Eigen::bfloat16 are taken; cast "
                "others first, for example token_rows(m.cast<float>().eval(), ...)");
  static constexpr ElementType kType = ElementType::kFloat;
};
template <>
struct Element<float> {
  static constexpr ElementType kType = ElementType::kFloat;
};
template <>
struct Element<Eigen::half> {
  static_assert(sizeof(Eigen::half) == sizeof(Half));
  static constexpr ElementType kType = ElementType::kHalf;
};
template <>
struct Element<Eigen::bfloat16> {
  static_assert(sizeof(Eigen::bfloat16) == sizeof(BFloat16));
  static constexpr ElementType kType = ElementType::kBFloat16;
};

template <class Matrix>
inline constexpr bool kInMemory = (static_cast<unsigned>(Matrix::Flags) &
                                   static_cast<unsigned>(Eigen::DirectAccessBit)) != 0;

// What to read or write a matrix by: [n, dim] packed floats.
using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Matrix>
bool is_packed(const Matrix& m, Eigen::Index columns) {
  if constexpr (!kInMemory<Matrix>) {
    return false;
  } else {
    return m.colStride() == 1 && (m.rowStride() == columns || m.rows() <= 1);
  }
}

}  // namespace eigen

// A view of matrix [tokens, heads * dim], head h in columns [h * dim, (h + 1) * dim): row- or
// column-major, a map with inner and outer strides, a block of a larger matrix, Eigen::half,
// Eigen::bfloat16 or float. Nothing is copied: what it views must live until the call that takes it
// returns. Sizes that do not match or negative strides give rows that every call refuses
// (kInvalid).
template <class Derived>
TokenRows token_rows(const Eigen::DenseBase<Derived>& matrix, std::size_t heads, std::size_t dim) {
  static_assert(eigen::kInMemory<Derived>,
                "kvpleat: token_rows takes a matrix, map or block that lies in memory: evaluate an "
                "expression first, for example token_rows((a * b).eval(), ...)");
  constexpr ElementType kType = eigen::Element<std::remove_cv_t<typename Derived::Scalar>>::kType;
  TokenRows rows;
  if constexpr (eigen::kInMemory<Derived>) {
    const Derived& m = matrix.derived();
    rows = TokenRows::tagged(m.data(), kType, static_cast<std::size_t>(m.rows()), heads, dim);
    if (heads == 0 || dim == 0 || static_cast<std::size_t>(m.cols()) / heads != dim ||
        static_cast<std::size_t>(m.cols()) % heads != 0 || m.rowStride() < 0 || m.colStride() < 0) {
      rows.dim = 0;
      return rows;
    }
    const auto channel = static_cast<std::size_t>(m.colStride());
    rows = rows.strides(static_cast<std::size_t>(m.rowStride()), dim * channel, channel);
  }
  return rows;
}

// attend with queries and results in Eigen's memory: any storage order and strides, float,
// Eigen::half or Eigen::bfloat16.
//   queries: [rows * group, kKeyDim]; an expression is evaluated
//   out:     [rows * group, kValueDim], a matrix, map or block; never resized
//   arguments: its member `queries` is ignored
// Packed row-major floats are used in place; anything else goes through a copy on the heap. Errors
// as attend; kMismatch: a matrix has another size. On an error nothing is written.
template <class Kernels = void, class Traits, class Queries, class Out, LogitRule Rule = PlainLogit>
Status attend(const KvCache<Traits>& cache, std::uint32_t layer, std::uint32_t head,
              const Eigen::MatrixBase<Queries>& queries, AttendArguments arguments, Out&& out,
              float* log_sums = nullptr, const Rule& rule = {}) {
  using Result = std::remove_cvref_t<Out>;
  using Scalar = typename Result::Scalar;
  using Cache = KvCache<Traits>;
  static_assert(eigen::kInMemory<Result>,
                "kvpleat: attend writes to a matrix, map or block that lies in memory");
  static_cast<void>(eigen::Element<typename Queries::Scalar>::kType);
  static_cast<void>(eigen::Element<Scalar>::kType);
  const auto total = static_cast<Eigen::Index>(arguments.rows) * arguments.group;
  if (queries.rows() != total || queries.cols() != Cache::kKeyDim || out.rows() != total ||
      out.cols() != Cache::kValueDim) {
    return Status::kMismatch;
  }
  eigen::Floats from;
  const auto read = [&] {
    if constexpr (std::is_same_v<typename Queries::Scalar, float> && eigen::kInMemory<Queries>) {
      if (eigen::is_packed(queries.derived(), Cache::kKeyDim)) return queries.derived().data();
    }
    from = queries.derived().template cast<float>();
    return static_cast<const float*>(from.data());
  };
  arguments.queries = read();
  if constexpr (std::is_same_v<Scalar, float>) {
    if (eigen::is_packed(out, Cache::kValueDim))
      return attend<Kernels>(cache, layer, head, arguments, out.data(), log_sums, rule);
  }
  eigen::Floats to(total, static_cast<Eigen::Index>(Cache::kValueDim));
  const Status status = attend<Kernels>(cache, layer, head, arguments, to.data(), log_sums, rule);
  if (ok(status)) out.matrix() = to.template cast<Scalar>();
  return status;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
