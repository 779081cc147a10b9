// ReferenceKernels: what scores and outputs mean, in plain C++. Every other kernel set is tested
// against it.
//
// A kernel set has a score side (key format, queries -> scores) and an accumulate side (value
// format, probabilities -> sums), instantiated per format, never per pair. All query heads of a
// group are served at once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/path.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct ReferenceKernels {
  static constexpr const char* kName = "reference";
  // The SIMD target that runs.
  static const char* target() noexcept { return "scalar"; }
  // How rows that lie open are worked on: sinks, the tail, open groups.
  static constexpr Path kRawPath = Path::kReference;
  // Whether a cache keeps the table (transform/phase_table.h, 26 to 200 KB) that score offsets of
  // phase-centred keys are computed with.
  static constexpr bool kTakesPhaseTable = false;
  template <class F>
  static constexpr Path kPath = Path::kReference;
  // The same for accumulate where keys of a format are the values as well (KeyView).
  template <class F>
  static constexpr Path kViewPath = Path::kReference;
  // Bytes that prepare writes for abi::kMaxQueries queries.
  template <class F>
  static constexpr std::uint32_t kWorkBytes = 0;

  // Called once for the queries of a segment, before its calls of score.
  template <Format F>
  static void prepare(const F&, const abi::PrepareArguments&) {}
  // scores[j * stride + t] = queries[j] . row t, over the slots of all runs in order.
  template <Format F>
  static void score(const F& format, const abi::ScoreArguments& a) {
    each_batch(format, a.runs, a.run_count, [&](std::uint32_t first, Rows rows) {
      score_rows(rows, F::kCoded, a.queries, a.query_count, a.scores + first, a.stride);
    });
  }
  // sums[j * kCoded + c] += sum over t of weights[j * stride + t] * row t [c].
  template <Format F>
  static void accumulate(const F& format, const abi::AccumulateArguments& a) {
    each_batch(format, a.runs, a.run_count, [&](std::uint32_t first, Rows rows) {
      accumulate_rows(rows, F::kCoded, a.weights + first, a.query_count, a.stride, a.sums);
    });
  }
  // scores[j * stride + t] += what query j . row loses by coding, at positions[t].
  template <Format F>
  static void add_offset(const F& format, const abi::OffsetArguments& a) {
    for (std::uint32_t j = 0; j < a.query_count; ++j) {
      format.add_score_offset(a.queries + static_cast<std::size_t>(j) * F::kDim, a.positions,
                              a.count, a.scores + static_cast<std::size_t>(j) * a.stride);
    }
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

  // The same for rows that lie open, in the type they are stored in.
  static void score_raw(const abi::RawRows& rows, const float* queries, std::uint32_t group,
                        float* scores, std::uint32_t stride) {
    float row[kMaxDim];
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      read(rows, t, row);
      score_rows(Rows{row, 1, rows.dim}, rows.dim, queries, group, scores + t, stride);
    }
  }
  static void accumulate_raw(const abi::RawRows& rows, const float* weights, std::uint32_t group,
                             std::uint32_t stride, float* sums) {
    float row[kMaxDim];
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      read(rows, t, row);
      accumulate_rows(Rows{row, 1, rows.dim}, rows.dim, weights + t, group, stride, sums);
    }
  }

  // ---- softmax: one row of scores, of which elements [begin, end) count ----
  //
  // A row is 64-byte aligned. Kernels may read and write whole groups of 16 elements, so it has
  // room for a multiple of 16. Elements outside [begin, end) may hold anything, NaN as well.

  // scores[t] = -infinity where shown[t] is 0.
  static void hide(const std::uint8_t* shown, std::uint32_t begin, std::uint32_t end,
                   float* scores) {
    for (std::uint32_t t = begin; t < end; ++t) scores[t] = shown[t] != 0 ? scores[t] : -kInfinity;
  }
  // The largest score. NaN is passed over; -infinity if nothing else is there.
  static float largest(const float* scores, std::uint32_t begin, std::uint32_t end) {
    float top = -kInfinity;
    for (std::uint32_t t = begin; t < end; ++t) top = scores[t] > top ? scores[t] : top;
    return top;
  }
  // Turns scores into weights exp(factor * score - top), those below e^-60 into 0, and elements
  // outside [begin, end) in groups of 16 that it touches into 0. Returns their sum, NaN if a score
  // is. Needs finite factor > 0 and top >= factor * score up to rounding.
  static float exponentials(float* scores, std::uint32_t begin, std::uint32_t end, float factor,
                            float top) {
    float sum = 0.0f;
    for (std::uint32_t t = begin; t < end; ++t) {
      const float x = factor * scores[t] - top;
      scores[t] = x < -60.0f ? 0.0f : std::exp(x);
      sum += scores[t];
    }
    for (std::uint32_t t = begin / 16 * 16; t < begin; ++t) scores[t] = 0.0f;
    for (std::uint32_t t = end; t < round_up(end, 16u); ++t) scores[t] = 0.0f;
    return sum;
  }
  // Sum of weights, and of their squares. Weights outside [begin, end) in groups of 16 are skipped.
  static float sum(const float* weights, std::uint32_t begin, std::uint32_t end) {
    float all = 0.0f;
    for (std::uint32_t t = begin; t < end; ++t) all += weights[t];
    return all;
  }
  static float sum_of_squares(const float* weights, std::uint32_t begin, std::uint32_t end) {
    float all = 0.0f;
    for (std::uint32_t t = begin; t < end; ++t) all += weights[t] * weights[t];
    return all;
  }
  // sums[c] *= factor, c < n; aligned to nothing.
  static void rescale(float* sums, std::uint32_t n, float factor) {
    for (std::uint32_t c = 0; c < n; ++c) sums[c] *= factor;
  }

 private:
  static constexpr std::uint32_t kBatch = 8;  // rows decoded at once: 2 to 18 KiB of stack
  static constexpr std::uint32_t kMaxDim = 576;

  static void read(const abi::RawRows& rows, std::uint32_t t, float* row) {
    const std::uint8_t* at = rows.data + rows.stride * t;
    for (std::uint32_t c = 0; c < rows.dim; ++c) {
      row[c] = rows.element == abi::Element::kFloat  ? load<float>(at + c * 4)
               : rows.element == abi::Element::kHalf ? to_float(load<Half>(at + c * 2))
                                                     : to_float(load<BFloat16>(at + c * 2));
    }
  }
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
