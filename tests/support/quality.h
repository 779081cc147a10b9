// Measures of quality over many rows: distortion, and errors of inner products.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/rows.h"

namespace test {

inline double dot(const float* a, const float* b, std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// Rows of one format through a block and back, transform and all, 64 tokens a time.
template <class F>
std::vector<float> through(const F& format, const std::vector<float>& rows) {
  std::vector<float> back(rows.size());
  std::vector<float> coded(64 * F::kCoded);
  const std::size_t tokens = rows.size() / F::kDim;
  for (std::size_t first = 0; first < tokens; first += 64) {
    const std::size_t n = tokens - first < 64 ? tokens - first : 64;
    std::vector<std::uint8_t> block(F::kBlockBytes, 0);
    kvpleat::SpillWriter spill;
    kvpleat::EncodeCounters counters;
    for (std::size_t t = 0; t < n; ++t)
      format.forward(rows.data() + (first + t) * F::kDim, static_cast<std::int64_t>(first + t),
                     coded.data() + t * F::kCoded);
    format.encode(kvpleat::Rows{coded.data(), n, F::kCoded}, 0, nullptr, block.data(), spill,
                  counters);
    format.decode({block.data(), nullptr, nullptr, 0}, 0,
                  kvpleat::MutableRows{coded.data(), n, F::kCoded});
    for (std::size_t t = 0; t < n; ++t)
      format.restore(coded.data() + t * F::kCoded, 1.0f, static_cast<std::int64_t>(first + t),
                     back.data() + (first + t) * F::kDim);
  }
  return back;
}

// Sum of squared errors over the sum of squares, all rows together.
inline double nmse(const std::vector<float>& rows, const std::vector<float>& back) {
  double lost = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double error = static_cast<double>(rows[i]) - static_cast<double>(back[i]);
    lost += error * error;
  }
  return lost / dot(rows.data(), rows.data(), rows.size());
}
// The mean over rows of |x - back|^2 / |x|^2.
inline double distortion(const std::vector<float>& rows, const std::vector<float>& back,
                         std::size_t dim) {
  double sum = 0.0;
  for (std::size_t at = 0; at < rows.size(); at += dim) {
    double lost = 0.0;
    for (std::size_t i = at; i < at + dim; ++i) {
      const double error = static_cast<double>(rows[i]) - static_cast<double>(back[i]);
      lost += error * error;
    }
    sum += lost / dot(rows.data() + at, rows.data() + at, dim);
  }
  return sum / static_cast<double>(rows.size() / dim);
}
inline double decibel(double ratio) {
  return 10.0 * std::log10(ratio);
}

}  // namespace test
