// The laws of the Format concept (core/concepts.h), for any format: one line per format in a test.
//   TEST_CASE("laws: Mine") { test::key_and_value<Mine, 1, 40, 64>(); }
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/any_format.h"
#include "support/generator.h"

namespace test {

// Rows that reach the corners: random, constant, zero, large, tiny and sparse ones.
inline std::vector<float> sample_rows(std::uint32_t seed, std::uint32_t tokens, std::uint32_t dim) {
  std::vector<float> rows = uniform(seed, static_cast<std::size_t>(tokens) * dim);
  for (std::uint32_t t = 0; t < tokens; ++t) {
    float* row = rows.data() + static_cast<std::size_t>(t) * dim;
    for (std::uint32_t c = 0; c < dim; ++c) {
      switch ((t + seed) % 8) {
        case 1:
          row[c] = 0.3f;
          break;
        case 2:
          row[c] = 0.0f;
          break;
        case 3:
          row[c] *= 100.0f;
          break;
        case 4:
          row[c] *= 1e-6f;
          break;
        case 5:
          row[c] *= c % 7 == 3 ? 20.0f : 1.0f;
          break;
        default:
          break;
      }
    }
  }
  return rows;
}

inline std::vector<float> coded_rows(const AnyFormat& f, const std::vector<float>& rows,
                                     std::int64_t position) {
  std::vector<float> coded(rows.size() / f.dim * f.coded);
  for (std::size_t t = 0; t < rows.size() / f.dim; ++t)
    f.forward(rows.data() + t * f.dim, position + static_cast<std::int64_t>(t),
              coded.data() + t * f.coded);
  return coded;
}

inline kvpleat::Rows view(const std::vector<float>& rows, std::uint32_t width, std::uint32_t first,
                          std::uint32_t n) {
  return {rows.data() + static_cast<std::size_t>(first) * width, n, width};
}

inline std::vector<float> decoded(const AnyFormat& f, const BlockData& data, std::uint32_t slot,
                                  std::uint32_t n) {
  std::vector<float> rows(static_cast<std::size_t>(n) * f.coded);
  f.decode(data, slot, kvpleat::MutableRows{rows.data(), n, f.coded});
  return rows;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
inline bool same_bytes(const BlockData& a, const BlockData& b) {
  return a.block == b.block && a.shared == b.shared && a.spill == b.spill;
}
inline bool all_zero(const BlockData& data) {
  const auto zero = [](const std::vector<std::uint8_t>& bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
  };
  return zero(data.block) && zero(data.shared) && data.spill.empty();
}

inline double row_length(const float* x, std::uint32_t n) {
  double sum = 0.0;
  for (std::uint32_t i = 0; i < n; ++i)
    sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return std::sqrt(sum);
}
inline double row_dot(const float* a, const float* b, std::uint32_t n) {
  double sum = 0.0;
  for (std::uint32_t i = 0; i < n; ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

inline void check_bytes(const AnyFormat& f) {
  CHECK(f.block_bytes == f.parts_bytes);
  const std::uint32_t n = f.block_tokens;
  const std::vector<float> rows = coded_rows(f, sample_rows(1, n, f.dim), 100);
  const std::vector<float> others = coded_rows(f, sample_rows(2, n, f.dim), 100);

  BlockData whole = f.empty();
  f.encode(view(rows, f.coded, 0, n), 0, whole);
  CHECK(whole.counters.values == static_cast<std::uint64_t>(n) * f.dim);
  CHECK(f.padding_is_zero(whole));

  // Seal by seal; and the block as it was after every other seal.
  BlockData stepwise = f.empty();
  std::vector<BlockData> history;
  for (std::uint32_t t = 0; t < n; t += f.seal) {
    history.push_back(stepwise);
    f.encode(view(rows, f.coded, t, f.seal), t, stepwise);
  }
  CHECK(same_bytes(whole, stepwise));
  CHECK(whole.counters.outliers == stepwise.counters.outliers);

  // Two uneven halves.
  const std::uint32_t cut = n / f.seal / 3 * f.seal;
  BlockData halves = f.empty();
  f.encode(view(rows, f.coded, 0, cut), 0, halves);
  f.encode(view(rows, f.coded, cut, n - cut), cut, halves);
  CHECK(same_bytes(whole, halves));

  // Later tokens, whatever they are, leave no trace in what was there.
  BlockData other_end = history[cut / f.seal];
  f.encode(view(others, f.coded, cut, n - cut), cut, other_end);
  CHECK(same_bits(decoded(f, other_end, 0, cut), decoded(f, whole, 0, cut)));
  f.erase(other_end, cut, n - cut);
  CHECK(same_bytes(other_end, history[cut / f.seal]));

  // Erasing from the end gives back every state in turn, and at last nothing but zeros.
  BlockData shrinking = whole;
  bool same = true;
  for (std::uint32_t t = n; t > 0; t -= f.seal) {
    f.erase(shrinking, t - f.seal, f.seal);
    same = same && same_bytes(shrinking, history[(t - f.seal) / f.seal]);
  }
  CHECK(same);
  CHECK(all_zero(shrinking));

  // Writing slots in the middle touches no other slot's bytes: with those slots erased, a block
  // that held other tokens there is the same block. (Spilled bytes are in token order, and so are
  // tables that grow with the tokens: only the end can be rewritten.)
  if (!f.append_only) {
    const std::uint32_t width = f.seal == 1 ? 5 : f.seal;
    const std::uint32_t at = f.seal == 1 ? 13 : n - f.seal;
    BlockData rewritten = whole;
    f.encode(view(others, f.coded, at, width), at, rewritten);
    CHECK(!same_bytes(rewritten, whole));
    BlockData without = whole;
    f.erase(without, at, width);
    BlockData rewritten_without = rewritten;
    f.erase(rewritten_without, at, width);
    CHECK(same_bytes(rewritten_without, without));
    // And the old tokens written back give the old bytes: encode leaves nothing of what was there.
    f.encode(view(rows, f.coded, at, width), at, rewritten);
    CHECK(same_bytes(rewritten, whole));
  }
}

inline void check_values(const AnyFormat& f) {
  const std::uint32_t n = f.block_tokens;
  for (std::uint32_t seed = 3; seed < 5; ++seed) {
    const std::vector<float> rows = coded_rows(f, sample_rows(seed, n, f.dim), 4000);
    BlockData data = f.empty();
    f.encode(view(rows, f.coded, 0, n), 0, data);
    const std::vector<float> back = decoded(f, data, 0, n);
    const std::vector<float> bounds = f.bounds(view(rows, f.coded, 0, n), 0, data);
    std::uint32_t beyond = 0;
    for (std::size_t i = 0; i < back.size(); ++i)
      beyond += !(std::fabs(back[i] - rows[i]) <= bounds[i]);
    CHECK(beyond == 0);

    // Parts read as the whole.
    std::vector<float> parts;
    for (std::uint32_t t = 0; t < n;) {
      const std::uint32_t m = std::min(t % 3 + 1, n - t);
      const std::vector<float> part = decoded(f, data, t, m);
      parts.insert(parts.end(), part.begin(), part.end());
      t += m;
    }
    CHECK(same_bits(parts, back));
  }
}

inline void check_transform(const AnyFormat& f) {
  const std::uint32_t n = 140;  // two runs of 64 and a rest
  const std::vector<float> rows = uniform(6, static_cast<std::size_t>(n) * f.dim, 3.0f);
  const std::vector<float> query = uniform(7, f.dim);
  const double mean = row_length(f.profile.data(), static_cast<std::uint32_t>(f.profile.size()));
  const double q = row_length(query.data(), f.dim);
  // A Hadamard butterfly has at most 10 stages, each rounds once relative to the vector's length
  // (an orthonormal transform keeps it); sign, scale, centre and the float sum of an offset over at
  // most dim terms add the rest. cos and sin are within 2^-24 and enter twice.
  const double units = 16.0 + f.dim;

  for (const std::int64_t start : {std::int64_t{0}, std::int64_t{100000}}) {
    std::vector<std::int64_t> positions(n);
    for (std::uint32_t t = 0; t < n; ++t) {
      // Mostly one run; then neighbours that are not consecutive.
      positions[t] = start + (t < 130 ? t : 3 * t);
    }
    std::vector<float> coded_query(f.coded);
    f.prepare_query(query.data(), coded_query.data());
    std::vector<float> offsets(n, 1.0f);  // adds, never overwrites
    f.add_score_offset(query.data(), positions.data(), n, offsets.data());
    std::vector<float> coded(f.coded);
    std::vector<float> back(f.dim);
    double score_error = 0.0;
    double restore_error = 0.0;
    for (std::uint32_t t = 0; t < n; ++t) {
      const float* row = rows.data() + static_cast<std::size_t>(t) * f.dim;
      f.forward(row, positions[t], coded.data());
      const double wanted = row_dot(query.data(), row, f.dim);
      const double size = row_length(row, f.dim) + 2.0 * mean;
      f.restore(coded.data(), 1.0f, positions[t], back.data());
      // Without a coded query: the score of the restored row.
      const double found = f.scores_restored ? row_dot(query.data(), back.data(), f.dim)
                                             : row_dot(coded_query.data(), coded.data(), f.coded) +
                                                   static_cast<double>(offsets[t]) - 1.0;
      // The 1 that was there before rounds the offset once more.
      score_error = std::max(score_error,
                             (std::fabs(found - wanted) - 0x1p-23) / (units * 0x1p-24 * q * size));
      for (std::uint32_t c = 0; c < f.dim; ++c) {
        const double error = std::fabs(static_cast<double>(back[c]) - static_cast<double>(row[c]));
        restore_error = std::max(restore_error, error / (28.0 * 0x1p-24 * size));
      }
      float largest = 0.0f;
      float input = 0.0f;
      for (std::uint32_t c = 0; c < f.dim; ++c) input = std::max(input, std::fabs(row[c]));
      for (std::uint32_t c = 0; c < f.coded; ++c) largest = std::max(largest, std::fabs(coded[c]));
      CHECK(largest <= f.coded_bound(input) * (1.0f + 0x1p-20f));
    }
    CHECK(score_error <= 1.0);
    CHECK(restore_error <= 1.0);
    if (f.scores_restored) CHECK(coded_query == query);
    if (!f.has_offset) CHECK(offsets == std::vector<float>(n, 1.0f));
  }

  // restore is linear: of a weighted sum of coded rows it gives the weighted sum of rows, with the
  // sum of the weights. Positional transforms restore one position at a time.
  const float weights[3] = {0.5f, -1.25f, 2.0f};
  std::vector<float> sum(f.coded, 0.0f);
  std::vector<double> wanted(f.dim, 0.0);
  double size = 2.0 * mean * 3.75;
  std::vector<float> coded(f.coded);
  for (std::uint32_t t = 0; t < 3; ++t) {
    const float* row = rows.data() + static_cast<std::size_t>(t) * f.dim;
    f.forward(row, 77, coded.data());
    for (std::uint32_t c = 0; c < f.coded; ++c) sum[c] += weights[t] * coded[c];
    for (std::uint32_t c = 0; c < f.dim; ++c)
      wanted[c] += static_cast<double>(weights[t]) * static_cast<double>(row[c]);
    size += 2.0 * row_length(row, f.dim);
  }
  std::vector<float> back(f.dim);
  f.restore(sum.data(), 1.25f, 77, back.data());
  double error = 0.0;
  for (std::uint32_t c = 0; c < f.dim; ++c)
    error = std::max(error, std::fabs(static_cast<double>(back[c]) - wanted[c]));
  CHECK(error <= 34.0 * 0x1p-24 * size);  // as above, and six roundings of the weighted sum
}

inline void check_laws(const AnyFormat& f) {
  INFO(f.id);
  check_bytes(f);
  check_values(f);
  check_transform(f);
}

template <template <std::uint32_t> class F, std::uint32_t... kDims>
void key_and_value() {
  const auto check = []<class One>() { check_laws(TypedFormat<One>()); };
  (check.template operator()<typename F<kDims>::template As<kvpleat::Role::kKey>>(), ...);
  (check.template operator()<typename F<kDims>::template As<kvpleat::Role::kValue>>(), ...);
}
template <template <std::uint32_t> class F, std::uint32_t... kDims>
void key_only() {
  const auto check = []<class One>() { check_laws(TypedFormat<One>()); };
  (check.template operator()<typename F<kDims>::template As<kvpleat::Role::kKey>>(), ...);
}
template <template <std::uint32_t> class F, std::uint32_t... kDims>
void value_only() {
  const auto check = []<class One>() { check_laws(TypedFormat<One>()); };
  (check.template operator()<typename F<kDims>::template As<kvpleat::Role::kValue>>(), ...);
}

}  // namespace test
