// Rows that are hard on the order of outliers, for thresholds near -0.94, -0.06, 0.08, 0.95
// (SampleProfile), and a block of one head by any codec of Oaken's codes.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/core/role.h"
#include "kvpleat/format/oaken_resident.h"
#include "support/any_format.h"
#include "support/generator.h"

namespace test {

// Tokens of many kinds: no outlier, nothing but outliers, one side only, a middle on one side, or
// narrower than the inner band; channel 3 (if there is one) is outer in all but the second kind.
inline std::vector<float> hostile_rows(std::uint32_t seed, std::uint32_t tokens,
                                       std::uint32_t dim) {
  std::vector<float> rows = normal(seed, static_cast<std::size_t>(tokens) * dim, 0.5f);
  for (std::uint32_t t = 0; t < tokens; ++t) {
    float* row = rows.data() + static_cast<std::size_t>(t) * dim;
    for (std::uint32_t c = 0; c < dim; ++c) {
      float& x = row[c];
      switch ((t + seed) % 9) {
        case 1:  // all in the middle, both sides
          x = std::copysign(0.1f + 0.5f * std::fmin(std::fabs(x), 1.0f), x);
          break;
        case 2:  // all outer
          x = std::copysign(1.5f + std::fabs(x), x);
          break;
        case 3:  // all inner
          x = c % 2 == 0 ? -0.0f : 0.03125f * std::fmin(std::fabs(x), 1.0f);
          break;
        case 4:  // one side
          x = std::fabs(x) + 0.25f;
          break;
        case 5:
          x = -std::fabs(x) - 0.25f;
          break;
        case 6:  // a narrow middle
          x = std::fabs(x) < 0.75f ? std::copysign(0.09f + 0.001f * std::fabs(x), x) : 3.0f * x;
          break;
        case 7:  // long tails
          x *= 1.0f + 8.0f * std::fabs(x);
          break;
        case 8:  // the middle on one side, little beyond the thresholds on both
          x = std::fabs(x) < 0.5f ? 0.1f + 1.6f * std::fabs(x)
                                  : std::copysign(0.96f + 0.25f * std::fabs(x), x);
          break;
        default:
          break;
      }
    }
    if (dim > 3 && (t + seed) % 9 != 1) row[3] = 2.0f + static_cast<float>(t) / 64.0f;
  }
  return rows;
}

// Tokens [0, n) of the rows, encoded at once.
template <class F>
BlockData block_of(const std::vector<float>& rows, std::uint32_t n) {
  const TypedFormat<F> format;
  BlockData data = format.empty();
  if (n > 0) format.encode(kvpleat::Rows{rows.data(), n, F::kDim}, 0, data);
  return data;
}
template <class F>
std::vector<float> rows_of(const BlockData& data, std::uint32_t slot, std::uint32_t n) {
  std::vector<float> rows(static_cast<std::size_t>(n) * F::kDim);
  TypedFormat<F>().decode(data, slot, kvpleat::MutableRows{rows.data(), n, F::kDim});
  return rows;
}

// Damages counts and spill at random and decodes: whether nothing behind a row is written. (What is
// read is for the sanitizers to watch.)
template <class F>
bool stays_inside(std::uint32_t seed) {
  constexpr std::uint32_t kStride = F::kDim + 64;
  BlockData data = block_of<F>(hostile_rows(seed, 64, F::kDim), 64);
  const auto spill_bytes = static_cast<std::uint32_t>(data.spill.size());
  const TypedFormat<F> format;
  Generator generator(seed);
  bool inside = true;
  for (int i = 0; i < 200; ++i) {
    data.block[F::Layout::kCountsAt + generator.below(F::kOutlierBytes)] =
        static_cast<std::uint8_t>(generator.below(256));
    data.spill[generator.below(spill_bytes)] = static_cast<std::uint8_t>(generator.below(256));
    const std::uint32_t slot = generator.below(64);
    const std::uint32_t n = 1 + generator.below(64 - slot);
    std::vector<float> rows(static_cast<std::size_t>(n) * kStride, 77.0f);
    format.decode(data, slot, kvpleat::MutableRows{rows.data(), n, kStride});
    for (std::uint32_t t = 0; t < n; ++t) {
      for (std::uint32_t c = F::kDim; c < kStride; ++c)
        inside = inside && rows[static_cast<std::size_t>(t) * kStride + c] == 77.0f;
    }
  }
  return inside;
}

}  // namespace test
