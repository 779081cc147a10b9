// ReferenceKernels: what scores and outputs mean, in plain C++. Every other kernel set is tested
// against it.
//
// A kernel set has a score side (key format, queries -> scores) and an accumulate side (value
// format, probabilities -> sums), instantiated per format, never per pair. All query heads of a
// group are served at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/simd/path.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct ReferenceKernels {
  static constexpr const char* kName = "reference";
  // The SIMD target that runs.
  static const char* target() noexcept { return "scalar"; }
  template <class F>
  static constexpr Path kPath = Path::kReference;

  // scores[j * stride + t] = queries[j] . row t, over the slots of all runs in order.
  //   queries: [group, kCoded] coded queries.
  template <Format F>
  static void score(const F& format, const BlockRun* runs, std::uint32_t run_count,
                    const float* queries, std::uint32_t group, float* scores,
                    std::uint32_t stride) {
    each_batch(format, runs, run_count, [&](std::uint32_t first, Rows rows) {
      score_rows(rows, F::kCoded, queries, group, scores + first, stride);
    });
  }
  // sums[j * kCoded + c] += sum over t of weights[j * stride + t] * row t [c].
  template <Format F>
  static void accumulate(const F& format, const BlockRun* runs, std::uint32_t run_count,
                         const float* weights, std::uint32_t group, std::uint32_t stride,
                         float* sums) {
    each_batch(format, runs, run_count, [&](std::uint32_t first, Rows rows) {
      accumulate_rows(rows, F::kCoded, weights + first, group, stride, sums);
    });
  }

  // The same for rows that lie open, as floats.
  static void score_rows(Rows rows, std::uint32_t dim, const float* queries, std::uint32_t group,
                         float* scores, std::uint32_t stride) {
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      const float* row = rows[t];
      for (std::uint32_t j = 0; j < group; ++j) {
        const float* query = queries + static_cast<std::size_t>(j) * dim;
        double sum = 0.0;
        for (std::uint32_t c = 0; c < dim; ++c)
          sum += static_cast<double>(query[c]) * static_cast<double>(row[c]);
        scores[static_cast<std::size_t>(j) * stride + t] = static_cast<float>(sum);
      }
    }
  }
  static void accumulate_rows(Rows rows, std::uint32_t dim, const float* weights,
                              std::uint32_t group, std::uint32_t stride, float* sums) {
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      const float* row = rows[t];
      for (std::uint32_t j = 0; j < group; ++j) {
        const float weight = weights[static_cast<std::size_t>(j) * stride + t];
        float* sum = sums + static_cast<std::size_t>(j) * dim;
        for (std::uint32_t c = 0; c < dim; ++c) sum[c] += weight * row[c];
      }
    }
  }

 private:
  static constexpr std::uint32_t kBatch = 8;  // rows decoded at once: 2 to 18 KiB of stack

  // Calls visit(ordinal of the first row, decoded rows) for every batch of slots.
  template <class F, class Visit>
  static void each_batch(const F& format, const BlockRun* runs, std::uint32_t run_count,
                         Visit visit) {
    float decoded[kBatch * F::kCoded];
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < run_count; ++r) {
      for (std::uint32_t done = 0; done < runs[r].count;) {
        const std::uint32_t n = runs[r].count - done < kBatch ? runs[r].count - done : kBatch;
        format.decode(runs[r].bytes, runs[r].slot + done, MutableRows{decoded, n, F::kCoded});
        visit(first, Rows{decoded, n, F::kCoded});
        done += n;
        first += n;
      }
    }
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
