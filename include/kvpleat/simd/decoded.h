// DecodedRows: scores and sums of formats without a kernel of their own: rows are decoded by the
// format, a few at a time, then the row functions of a kernel set work on floats.
#pragma once

#include <cstdint>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/codecs.h"

namespace kvpleat::inline KVPLEAT_ISA {

template <class Kernels>
struct DecodedRows {
  template <Format F>
  static void score(const F& format, const abi::ScoreArguments& a) {
    each_batch(format, a.runs, a.run_count, [&](std::uint32_t first, Rows rows) {
      Kernels::score_rows(rows, F::kCoded, a.queries, a.query_count, a.scores + first, a.stride);
    });
  }
  template <Format F>
  static void accumulate(const F& format, const abi::AccumulateArguments& a) {
    each_batch(format, a.runs, a.run_count, [&](std::uint32_t first, Rows rows) {
      Kernels::accumulate_rows(rows, F::kCoded, a.weights + first, a.query_count, a.stride, a.sums);
    });
  }

 private:
  static constexpr std::uint32_t kBatch = 16;  // rows decoded at once: 4 to 36 KiB of stack

  template <class F, class Visit>
  static void each_batch(const F& format, const BlockRun* runs, std::uint32_t run_count,
                         Visit visit) {
    alignas(64) float decoded[kBatch * F::kCoded];
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < run_count; ++r) {
      for (std::uint32_t done = 0; done < runs[r].count;) {
        const std::uint32_t n = lower_of(kBatch, runs[r].count - done);
        Coder<Kernels>::decode(format, runs[r].bytes, runs[r].slot + done,
                               MutableRows{decoded, n, F::kCoded});
        visit(first, Rows{decoded, n, F::kCoded});
        done += n;
        first += n;
      }
    }
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
