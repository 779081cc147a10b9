// Without Eigen on this machine there is nothing to test here.
#if __has_include(<Eigen/Core>)
#include "kvpleat/eigen.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kvpleat/cache/presets.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ColumnMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;

constexpr std::uint32_t kHeads = 3;
constexpr std::uint32_t kDim = 8;
constexpr Eigen::Index kColumns = kHeads * kDim;

RowMajor sample(std::uint32_t seed, Eigen::Index rows, Eigen::Index columns) {
  const std::vector<float> values = test::normal(seed, static_cast<std::size_t>(rows * columns));
  return Eigen::Map<const RowMajor>(values.data(), rows, columns);
}

// Whether rows are those of m, element by element.
bool same(const TokenRows& rows, const ColumnMajor& m) {
  if (!ok(rows.check()) || rows.tokens != static_cast<std::size_t>(m.rows())) return false;
  std::vector<float> row(rows.dim);
  for (std::size_t t = 0; t < rows.tokens; ++t) {
    for (std::size_t h = 0; h < rows.heads; ++h) {
      rows.read(t, h, row.data());
      for (std::size_t c = 0; c < rows.dim; ++c) {
        if (row[c] != m(static_cast<Eigen::Index>(t), static_cast<Eigen::Index>(h * rows.dim + c)))
          return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("token_rows: both orders, strides, blocks, and nothing is copied") {
  const RowMajor a = sample(1, 5, kColumns);
  const ColumnMajor b = a;
  CHECK(same(token_rows(a, kHeads, kDim), b));
  CHECK(same(token_rows(b, kHeads, kDim), b));
  CHECK(token_rows(a, kHeads, kDim).data == a.data());
  CHECK(token_rows(b, kHeads, kDim).data == b.data());

  // Every second element of rows that lie 60 apart.
  std::vector<float> buffer(5 * 60, -99.0f);
  Eigen::Map<RowMajor, 0, Strides> spread(buffer.data(), 5, kColumns, Strides(60, 2));
  spread = a;
  CHECK(same(token_rows(spread, kHeads, kDim), b));
  Eigen::Map<const ColumnMajor, 0, Eigen::OuterStride<>> padded(b.data(), 2, kColumns,
                                                                Eigen::OuterStride<>(5));
  CHECK(same(token_rows(padded, kHeads, kDim), b.topRows(2)));

  // The keys of a fused [tokens, 3 * heads * dim] buffer, and heads of another count.
  const RowMajor fused = sample(2, 4, 3 * kColumns);
  const auto keys = fused.middleCols(kColumns, kColumns);
  CHECK(same(token_rows(keys, kHeads, kDim), keys));
  CHECK(same(token_rows(fused, 9, kDim), fused));
  CHECK(same(token_rows(fused.transpose(), 2, 2), fused.transpose()));
  // Fixed sizes, one token, and arrays.
  const Eigen::Matrix<float, 1, 4> one(1.0f, 2.0f, 3.0f, 4.0f);
  CHECK(same(token_rows(one, 2, 2), one));
  const Eigen::Array<float, 2, 4> array = Eigen::Array<float, 2, 4>::Random();
  CHECK(same(token_rows(array, 1, 4), array.matrix()));
}

TEST_CASE("token_rows: half and bfloat16 are taken by their bytes") {
  const RowMajor a = sample(3, 7, kColumns);
  const Eigen::Matrix<Eigen::half, Eigen::Dynamic, Eigen::Dynamic> half = a.cast<Eigen::half>();
  const Eigen::Matrix<Eigen::bfloat16, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> brain =
      a.cast<Eigen::bfloat16>();
  CHECK(token_rows(half, kHeads, kDim).type == ElementType::kHalf);
  CHECK(token_rows(brain, kHeads, kDim).type == ElementType::kBFloat16);
  CHECK(same(token_rows(half, kHeads, kDim), half.cast<float>()));
  CHECK(same(token_rows(brain, kHeads, kDim), brain.cast<float>()));
  // Our conversion is Eigen's, to the bit.
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    std::uint16_t bits = 0;
    const Eigen::half h(a.data()[i]);
    std::memcpy(&bits, &h, 2);
    CHECK(to_half(a.data()[i]).bits == bits);
    const Eigen::bfloat16 b(a.data()[i]);
    std::memcpy(&bits, &b, 2);
    CHECK(to_bfloat16(a.data()[i]).bits == bits);
  }
}

TEST_CASE("token_rows: sizes that do not match are refused by whoever takes the rows") {
  const RowMajor a = sample(1, 5, kColumns);
  for (const auto& [heads, dim] : {std::pair<std::size_t, std::size_t>{kHeads, kDim + 1},
                                   {kHeads + 1, kDim},
                                   {5, 4},  // 24 / 5 is 4, but 4 columns are left
                                   {kHeads, kDim - 1},
                                   {0, kDim},
                                   {kHeads, 0}}) {
    CHECK(token_rows(a, heads, dim).check() == Status::kInvalid);
  }
  auto made = KvCache<presets::Int8<kDim>>::create({.layers = 1, .kv_heads = 2, .max_tokens = 9});
  REQUIRE(made);
  CHECK(made->append(0, token_rows(a, 2, 12), token_rows(a, 2, 12)) == Status::kMismatch);
  CHECK(made->append(0, token_rows(a, 2, kDim), token_rows(a, 2, kDim)) == Status::kInvalid);
  CHECK(made->tokens(0) == 0);
}

TEST_CASE("attend: from and into any Eigen memory, equal to packed floats to the bit") {
  using Cache = KvCache<presets::F32<kDim>>;
  auto made = Cache::create({.layers = 1, .kv_heads = kHeads, .max_tokens = 100});
  REQUIRE(made);
  Cache& cache = *made;
  const ColumnMajor k = sample(5, 70, kColumns);
  const Eigen::Matrix<Eigen::half, Eigen::Dynamic, Eigen::Dynamic> v =
      sample(6, 70, kColumns).cast<Eigen::half>();
  REQUIRE(ok(cache.append(0, token_rows(k, kHeads, kDim), token_rows(v, kHeads, kDim))));

  const AttendArguments arguments{.rows = 3, .group = 2, .scale = 0.35f};
  const RowMajor q = sample(7, 6, kDim);
  const ColumnMajor q_columns = q;
  std::vector<float> wanted(6 * kDim);
  std::vector<float> log_sums(6);
  AttendArguments plain = arguments;
  plain.queries = q.data();
  REQUIRE(ok(attend(cache, 0, 1, plain, wanted.data(), log_sums.data())));
  const Eigen::Map<const RowMajor> reference(wanted.data(), 6, kDim);

  // Against the original values, softmax in double.
  for (Eigen::Index i = 0; i < 6; ++i) {
    const Eigen::VectorXd logits =
        0.35 * (k.middleCols(kDim, kDim).cast<double>() * q.row(i).transpose().cast<double>());
    const Eigen::ArrayXd p = (logits.array() - logits.maxCoeff()).exp();
    const Eigen::VectorXd out =
        v.middleCols(kDim, kDim).cast<double>().transpose() * (p / p.sum()).matrix();
    // Raw floats: products and sums of 8 and 70 terms round relative to logits below 10 and values
    // below 3.5, at most 100 * 2^-24 * 10 in all logits (twice in the weights) and the sum.
    CHECK((out - reference.row(i).transpose().cast<double>()).cwiseAbs().maxCoeff() <=
          300.0 * 0x1p-24 * 10.0);
  }

  RowMajor packed(6, kDim);
  Eigen::VectorXf sums(6);
  REQUIRE(ok(attend(cache, 0, 1, q, arguments, packed, sums.data())));
  CHECK(packed == reference);
  CHECK(std::memcmp(sums.data(), log_sums.data(), 6 * sizeof(float)) == 0);

  ColumnMajor columns(6, kDim);
  REQUIRE(ok(attend(cache, 0, 1, q_columns, arguments, columns)));
  CHECK(columns == reference);

  // A map with strides: what lies between stays.
  std::vector<float> buffer(6 * 40, -99.0f);
  Eigen::Map<RowMajor, 0, Strides> spread(buffer.data(), 6, kDim, Strides(40, 3));
  REQUIRE(ok(attend(cache, 0, 1, q, arguments, spread)));
  CHECK(spread == reference);
  std::size_t untouched = 0;
  for (const float x : buffer) untouched += x == -99.0f ? 1u : 0u;
  CHECK(untouched == 6 * 40 - 6 * kDim);

  // A block of a larger result, from an expression, and 16-bit results.
  RowMajor all = RowMajor::Constant(8, kColumns, -99.0f);
  REQUIRE(ok(attend(cache, 0, 1, (2.0f * q) / 2.0f, arguments, all.block(1, kDim, 6, kDim))));
  CHECK(all.block(1, kDim, 6, kDim) == reference);
  CHECK((all.array() != -99.0f).count() == 6 * kDim);
  Eigen::Matrix<Eigen::half, Eigen::Dynamic, Eigen::Dynamic> halves(6, kDim);
  REQUIRE(ok(attend(cache, 0, 1, q, arguments, halves)));
  CHECK(halves == reference.cast<Eigen::half>());
  Eigen::Matrix<Eigen::bfloat16, Eigen::Dynamic, Eigen::Dynamic> brain(6, kDim);
  REQUIRE(ok(attend(cache, 0, 1, q, arguments, brain)));
  CHECK(brain == reference.cast<Eigen::bfloat16>());
  // 16-bit queries are read exactly.
  const Eigen::Matrix<Eigen::half, Eigen::Dynamic, Eigen::Dynamic> q_half = q.cast<Eigen::half>();
  const RowMajor q_rounded = q_half.cast<float>();
  REQUIRE(ok(attend(cache, 0, 1, q_half, arguments, packed)));
  REQUIRE(ok(attend(cache, 0, 1, q_rounded, arguments, columns)));
  CHECK(packed == columns);
  // One query as a transposed vector.
  const Eigen::VectorXf one = q.row(0).transpose();
  Eigen::VectorXf result(kDim);
  REQUIRE(ok(attend(cache, 0, 1, one.transpose(), {.scale = 0.35f}, result.transpose())));
  CHECK(result.transpose() == reference.row(0));
  // And as every second element of a buffer.
  std::vector<float> apart(2 * kDim, -99.0f);
  Eigen::Map<Eigen::RowVectorXf, 0, Eigen::InnerStride<2>> every_second(apart.data(), kDim);
  every_second = one.transpose();
  result.setZero();
  REQUIRE(ok(attend(cache, 0, 1, every_second, {.scale = 0.35f}, result.transpose())));
  CHECK(result.transpose() == reference.row(0));
}

TEST_CASE("attend: sizes are checked before anything is written") {
  using Cache = KvCache<presets::Int8<kDim>>;
  auto made = Cache::create({.layers = 1, .kv_heads = 1, .max_tokens = 10});
  REQUIRE(made);
  const RowMajor k = sample(5, 4, kDim);
  REQUIRE(ok(made->append(0, token_rows(k, 1, kDim), token_rows(k, 1, kDim))));
  const RowMajor q = sample(7, 4, kDim);
  const AttendArguments four{.rows = 2, .group = 2};
  RowMajor out = RowMajor::Constant(4, kDim, -99.0f);
  RowMajor short_out = RowMajor::Constant(3, kDim, -99.0f);
  RowMajor narrow_out = RowMajor::Constant(4, kDim - 1, -99.0f);
  CHECK(attend(*made, 0, 0, q, four, short_out) == Status::kMismatch);
  CHECK(attend(*made, 0, 0, q, four, narrow_out) == Status::kMismatch);
  CHECK(attend(*made, 0, 0, q.topRows(3), four, out) == Status::kMismatch);
  CHECK(attend(*made, 0, 0, q.leftCols(4), four, out) == Status::kMismatch);
  CHECK(attend(*made, 1, 0, q, four, out) == Status::kInvalid);
  ColumnMajor columns = ColumnMajor::Constant(4, kDim, -99.0f);
  CHECK(attend(*made, 1, 0, q, four, columns) == Status::kInvalid);
  CHECK((out.array() == -99.0f).all());
  CHECK((columns.array() == -99.0f).all());
  CHECK((short_out.array() == -99.0f).all());
  CHECK(ok(attend(*made, 0, 0, q, four, out)));
  CHECK((out.array() != -99.0f).all());
}
#endif
