// Rows that lie open: raw formats, sinks and the tail, open groups, decoded rows. Float arithmetic.
//
// A score is a sum in 16 partial sums by channel mod 16, then added pairwise; an output adds token
// after token. Neither depends on the width of a register, or on the other queries of the call.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_RAW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_RAW_INL_H_
#undef KVPLEAT_SIMD_RAW_INL_H_
#else
#define KVPLEAT_SIMD_RAW_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

struct Raw {
  using L = LaneTools;
  using F32 = L::F32;
  using Element = abi::Element;

  // Runs of a raw format.
  static void score(const abi::RawView& view, const abi::ScoreArguments& a) {
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < a.run_count; ++r) {
      score(rows_of(view, a.runs[r]), ahead_of(view, a.runs, r, a.run_count, a.ahead), a.queries,
            a.query_count, a.scores + first, a.stride);
      first += a.runs[r].count;
    }
  }
  static void accumulate(const abi::RawView& view, const abi::AccumulateArguments& a) {
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < a.run_count; ++r) {
      accumulate(rows_of(view, a.runs[r]), ahead_of(view, a.runs, r, a.run_count, a.ahead),
                 a.weights + first, a.query_count, a.stride, a.sums);
      first += a.runs[r].count;
    }
  }
  // Open rows. ahead: rows of the same length that are read after these, or null.
  static void score(const abi::RawRows& rows, const std::uint8_t* ahead, const float* queries,
                    std::uint32_t query_count, float* scores, std::uint32_t stride) {
    with_element(rows.element, [&]<Element kElement>() HWY_ATTR {
      score_rows<kElement>(rows, ahead, queries, query_count, scores, stride);
    });
  }
  static void accumulate(const abi::RawRows& rows, const std::uint8_t* ahead, const float* weights,
                         std::uint32_t query_count, std::uint32_t stride, float* sums) {
    with_element(rows.element, [&]<Element kElement>() HWY_ATTR {
      accumulate_rows<kElement>(rows, ahead, weights, query_count, stride, sums);
    });
  }
  // Float rows.
  static abi::RawRows open(Rows rows, std::uint32_t dim) {
    return {static_cast<const std::uint8_t*>(static_cast<const void*>(rows.data)),
            rows.stride * sizeof(float), static_cast<std::uint32_t>(rows.count), dim,
            Element::kFloat};
  }

 private:
  static constexpr bool kWide = KVPLEAT_LANES >= KVPLEAT_LANES_AVX512;
  // Queries that meet a row while it is in a register.
  static constexpr std::uint32_t kTogether = 4;
  // Sums and weights in registers at once: of 32 of 16 lanes, or of 16.
  static constexpr std::uint32_t kSums = kWide ? 16 : 4 / L::kParts > 0 ? 4 / L::kParts : 1;
  static constexpr std::uint32_t kWeights = kWide ? 16 : 8;
  // Rows read side by side: as many as there are pointers for.
  static constexpr std::uint32_t kRows = 8;

  template <Element kElement>
  static constexpr std::uint32_t kBytes = kElement == Element::kFloat ? 4 : 2;
  template <Element kElement>
  static constexpr std::uint32_t kLoad = L::kLanes* kBytes<kElement>;

  template <class Visit>
  static HWY_INLINE void with_element(Element element, Visit visit) {
    switch (element) {
      case Element::kFloat:
        return visit.template operator()<Element::kFloat>();
      case Element::kHalf:
        return visit.template operator()<Element::kHalf>();
      case Element::kBFloat16:
        return visit.template operator()<Element::kBFloat16>();
    }
  }
  static HWY_INLINE std::uint32_t row_bytes(const abi::RawView& view) {
    return view.dim * (view.element == Element::kFloat ? 4 : 2);
  }
  static HWY_INLINE abi::RawRows rows_of(const abi::RawView& view, const BlockRun& run) {
    const std::uint32_t bytes = row_bytes(view);
    return {run.bytes.block + std::size_t{run.slot} * bytes, bytes, run.count, view.dim,
            view.element};
  }
  static HWY_INLINE const std::uint8_t* ahead_of(const abi::RawView& view, const BlockRun* runs,
                                                 std::uint32_t r, std::uint32_t run_count,
                                                 const BlockRun* ahead) {
    const BlockRun* next = r + 1 < run_count ? runs + r + 1 : ahead;
    return next == nullptr ? nullptr
                           : next->bytes.block + std::size_t{next->slot} * row_bytes(view);
  }

  template <Element kElement>
  static HWY_INLINE F32 load(const std::uint8_t* at) {
    if constexpr (kElement == Element::kFloat) {
      float values[L::kLanes];
      std::memcpy(values, at, sizeof values);
      return L::load_f32(values);
    } else if constexpr (kElement == Element::kHalf) {
      return L::load_half(at);
    } else {
      return L::load_bf16(at);
    }
  }
  // The first n < kLanes elements, zeros after them.
  template <Element kElement>
  static HWY_INLINE F32 load_first(const std::uint8_t* at, std::uint32_t n) {
    std::uint8_t bytes[L::kLanes * kBytes<kElement>] = {};
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    if constexpr (kElement != Element::kFloat) {
      const __m256i words = _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << n) - 1u), at);
      std::memcpy(bytes, &words, sizeof words);
      return load<kElement>(bytes);
    }
#endif
    std::memcpy(bytes, at, n * kBytes<kElement>);
    return load<kElement>(bytes);
  }
  // Asks for what is read next, as many bytes as are read meanwhile, line by line between the
  // loads: requests in bunches queue up, and the loads behind them wait. (Zen 4, one core, g++ 12,
  // keys and values of 128 halves in chunks of 256 tokens, 1 GiB, one query: 25.8 ns per token with
  // 64 lines at once, 19.5 line by line; only reading the same bytes takes 18.4.) Where nothing
  // follows, rows that are in L1 by then: cheaper than a branch.
  struct Ahead {
    const std::uint8_t* at;

    // Before a load; done: bytes read in this round of an unrolled loop.
    HWY_INLINE void read(std::uint32_t done) {
      if (done % 64 != 0) return;
#if defined(__GNUC__)
      __builtin_prefetch(at, 0, 2);
#endif
      at += 64;
    }
  };

  // --- Scores ---

  template <Element kElement>
  static HWY_INLINE void score_rows(const abi::RawRows& rows, const std::uint8_t* ahead,
                                    const float* queries, std::uint32_t query_count, float* scores,
                                    std::uint32_t stride) {
    // Rows are in L1 for all queries but the first four.
    for (std::uint32_t t = 0; t < rows.count; t += 16) {
      const std::uint32_t n = lower_of(rows.count - t, 16u);
      const std::uint8_t* own = rows.data + t * rows.stride;
      Ahead next{ahead == nullptr ? own : ahead + t * rows.stride};
      for (std::uint32_t j = 0; j < query_count; next.at = own) {
        const float* some = queries + std::size_t{j} * rows.dim;
        float* to = scores + std::size_t{j} * stride + t;
        const std::uint32_t left = query_count - j;
        if (left >= 4) {
          score_tile<kElement, 4>(rows, t, n, some, to, stride, next);
          j += 4;
        } else if (left == 3) {
          score_tile<kElement, 3>(rows, t, n, some, to, stride, next);
          j += 3;
        } else if (left == 2) {
          score_tile<kElement, 2>(rows, t, n, some, to, stride, next);
          j += 2;
        } else {
          score_tile<kElement, 1>(rows, t, n, some, to, stride, next);
          j += 1;
        }
      }
    }
  }
  // Rows [t, t + n), n <= 16, against kQueries queries.
  template <Element kElement, std::uint32_t kQueries>
  static HWY_INLINE void score_tile(const abi::RawRows& rows, std::uint32_t t, std::uint32_t n,
                                    const float* queries, float* scores, std::uint32_t stride,
                                    Ahead& next) {
    constexpr std::uint32_t kTokens = kSums / kQueries > 0 ? kSums / kQueries : 1;
    constexpr std::uint32_t kMost = kQueries == 1 ? 2 : kRows;
    constexpr std::uint32_t kSide = kTokens < kMost ? kTokens : kMost;
    for (std::uint32_t done = 0; done < n; done += kTokens) {
      F32 sums[kQueries * kTokens][L::kParts];
      KVPLEAT_UNROLL
      for (std::uint32_t half = 0; half < kTokens; half += kSide) {
        const std::uint8_t* at[kSide];
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kSide; ++i)  // behind the last row: that again
          at[i] = rows.data + rows.stride * (t + lower_of(done + half + i, n - 1));
        dots<kElement, kQueries, kSide, kTokens>(at, queries, rows.dim, sums + half, next);
      }
      float out[16];
      reduce<kQueries * kTokens>(sums, out);
      const std::uint32_t take = lower_of(n - done, kTokens);
      KVPLEAT_UNROLL
      for (std::uint32_t j = 0; j < kQueries; ++j) {
        float* to = scores + std::size_t{j} * stride + done;
        if (HWY_LIKELY(take == kTokens)) {
          std::memcpy(to, out + j * kTokens, kTokens * sizeof(float));
        } else {
          for (std::uint32_t i = 0; i < take; ++i) to[i] = out[j * kTokens + i];
        }
      }
    }
  }
  // sums[j * kPitch + i] = the 16 partial sums of query j and row i.
  template <Element kElement, std::uint32_t kQueries, std::uint32_t kTokens, std::uint32_t kPitch>
  static HWY_INLINE void dots(const std::uint8_t* const* at, const float* queries,
                              std::uint32_t dim, F32 (*sums)[L::kParts], Ahead& next) {
    F32 own[kQueries * kTokens][L::kParts];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kQueries * kTokens; ++i) {
      KVPLEAT_UNROLL
      for (std::uint32_t p = 0; p < L::kParts; ++p) own[i][p] = L::zero_f32();
    }
    std::uint32_t c = 0;
    for (; c + 16 <= dim; c += 16) {
      KVPLEAT_UNROLL
      for (std::uint32_t p = 0; p < L::kParts; ++p) {
        const std::uint32_t from = c + p * L::kLanes;
        F32 query[kQueries];
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j)
          query[j] = L::load_f32(queries + std::size_t{j} * dim + from);
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kTokens; ++i) {
          next.read((i * L::kParts + p) * kLoad<kElement>);
          const F32 row = load<kElement>(at[i] + std::size_t{from} * kBytes<kElement>);
          KVPLEAT_UNROLL
          for (std::uint32_t j = 0; j < kQueries; ++j)
            own[j * kTokens + i][p] = L::mul_add(query[j], row, own[j * kTokens + i][p]);
        }
      }
    }
    KVPLEAT_UNROLL
    for (std::uint32_t p = 0; p < L::kParts; ++p) {
      const std::uint32_t from = c + p * L::kLanes;
      if (from >= dim) break;
      const std::uint32_t n = lower_of(dim - from, L::kLanes);
      for (std::uint32_t i = 0; i < kTokens; ++i) {
        const std::uint8_t* row_at = at[i] + std::size_t{from} * kBytes<kElement>;
        const F32 row = n == L::kLanes ? load<kElement>(row_at) : load_first<kElement>(row_at, n);
        for (std::uint32_t j = 0; j < kQueries; ++j) {
          const F32 query = L::load_first_f32(queries + std::size_t{j} * dim + from, n);
          own[j * kTokens + i][p] = L::mul_add(query, row, own[j * kTokens + i][p]);
        }
      }
    }
    KVPLEAT_UNROLL
    for (std::uint32_t j = 0; j < kQueries; ++j) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kTokens; ++i) {
        KVPLEAT_UNROLL
        for (std::uint32_t p = 0; p < L::kParts; ++p)
          sums[j * kPitch + i][p] = own[j * kTokens + i][p];
      }
    }
  }
  // out[i] = sum16(sums[i]), kCount <= 16.
  template <std::uint32_t kCount>
  static HWY_INLINE void reduce(const F32 (*sums)[L::kParts], float* out) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    // All at once: 15 additions, shuffles and blends, where one by one would take 64 additions and
    // shuffles. In every step two registers of partial sums become one: of a and b, the halves that
    // stay where they are (a blend) and those that change places (a shuffle) are added.
    // The order they come in is undone by the order they are taken in.
    constexpr std::uint32_t kOrder[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
    __m512 eight[8];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < 8; ++i) {
      const __m512 a = sums[kOrder[2 * i] < kCount ? kOrder[2 * i] : 0][0].raw;
      const __m512 b = sums[kOrder[2 * i + 1] < kCount ? kOrder[2 * i + 1] : 0][0].raw;
      eight[i] =
          _mm512_add_ps(_mm512_mask_blend_ps(0xff00, a, b), _mm512_shuffle_f32x4(a, b, 0x4e));
    }
    __m512 four[4];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < 4; ++i) {
      const __m512 a = eight[2 * i];
      const __m512 b = eight[2 * i + 1];
      const __m512 moved = _mm512_castsi512_ps(_mm512_permutex2var_epi32(
          _mm512_castps_si512(a),
          _mm512_setr_epi32(4, 5, 6, 7, 16, 17, 18, 19, 12, 13, 14, 15, 24, 25, 26, 27),
          _mm512_castps_si512(b)));
      four[i] = _mm512_add_ps(_mm512_mask_blend_ps(0xf0f0, a, b), moved);
    }
    const auto pairs = [](__m512 a, __m512 b) HWY_ATTR {  // lanes 0 + 2, 1 + 3 of a, then of b
      const __m512d x = _mm512_castps_pd(a);
      const __m512d y = _mm512_castps_pd(b);
      return _mm512_add_ps(_mm512_castpd_ps(_mm512_mask_blend_pd(0xaa, x, y)),
                           _mm512_castpd_ps(_mm512_shuffle_pd(x, y, 0x55)));
    };
    const __m512 x = pairs(four[0], four[1]);
    const __m512 y = pairs(four[2], four[3]);
    const __m512 all = _mm512_add_ps(
        _mm512_mask_blend_ps(0xaaaa, x, y),
        _mm512_mask_blend_ps(0x5555, _mm512_permute_ps(y, 0xa0), _mm512_permute_ps(x, 0xf5)));
    _mm512_storeu_ps(out, all);
#else
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kCount; ++i) out[i] = L::sum16(sums[i]);
#endif
  }

  // --- Outputs ---

  template <Element kElement>
  static HWY_INLINE void accumulate_rows(const abi::RawRows& rows, const std::uint8_t* ahead,
                                         const float* weights, std::uint32_t query_count,
                                         std::uint32_t stride, float* sums) {
    for (std::uint32_t t = 0; t < rows.count; t += 16) {
      const std::uint32_t n = lower_of(rows.count - t, 16u);
      const std::uint8_t* own = rows.data + t * rows.stride;
      Ahead next{ahead == nullptr ? own : ahead + t * rows.stride};
      for (std::uint32_t j = 0; j < query_count; next.at = own) {
        const float* some = weights + std::size_t{j} * stride + t;
        float* to = sums + std::size_t{j} * rows.dim;
        const std::uint32_t left = query_count - j;
        if (left >= 4) {
          add_tile<kElement, 4>(rows, t, n, some, stride, 0, to, next);
          j += 4;
        } else if (left == 3) {
          add_rows<kElement, 3>(rows, t, n, some, stride, to, next);
          j += 3;
        } else if (left == 2) {
          add_rows<kElement, 2>(rows, t, n, some, stride, to, next);
          j += 2;
        } else {
          add_rows<kElement, 1>(rows, t, n, some, stride, to, next);
          j += 1;
        }
      }
    }
  }
  // As many channels as registers hold, then the others.
  template <Element kElement, std::uint32_t kQueries>
  static HWY_INLINE void add_rows(const abi::RawRows& rows, std::uint32_t t, std::uint32_t n,
                                  const float* weights, std::uint32_t stride, float* sums,
                                  Ahead& next) {
    constexpr std::uint32_t kWidth = kWide ? 8 : kQueries == 1 ? 8 : 4;
    std::uint32_t c = 0;
    for (; c + kWidth * L::kLanes <= rows.dim; c += kWidth * L::kLanes)
      add_in_registers<kElement, kQueries, kWidth>(rows, t, n, weights, stride, c, sums, next);
    if (c < rows.dim) add_tile<kElement, kQueries>(rows, t, n, weights, stride, c, sums, next);
  }
  // Rows [t, t + n) into the sums of kQueries queries, sums in registers, row after row.
  template <Element kElement, std::uint32_t kQueries, std::uint32_t kWidth>
  static HWY_INLINE void add_in_registers(const abi::RawRows& rows, std::uint32_t t,
                                          std::uint32_t n, const float* weights,
                                          std::uint32_t stride, std::uint32_t c, float* sums,
                                          Ahead& next) {
    F32 sum[kQueries][kWidth];
    KVPLEAT_UNROLL
    for (std::uint32_t j = 0; j < kQueries; ++j) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i)
        sum[j][i] = L::load_f32(sums + std::size_t{j} * rows.dim + c + i * L::kLanes);
    }
    const std::uint8_t* at = rows.data + rows.stride * t + std::size_t{c} * kBytes<kElement>;
    for (std::uint32_t k = 0; k < n; ++k, at += rows.stride) {
      F32 weight[kQueries];
      KVPLEAT_UNROLL
      for (std::uint32_t j = 0; j < kQueries; ++j)
        weight[j] = L::set_f32(weights[std::size_t{j} * stride + k]);
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i) {
        next.read(i * kLoad<kElement>);
        const F32 row = load<kElement>(at + i * kLoad<kElement>);
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j)
          sum[j][i] = L::mul_add(weight[j], row, sum[j][i]);
      }
    }
    KVPLEAT_UNROLL
    for (std::uint32_t j = 0; j < kQueries; ++j) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i)
        L::store_f32(sums + std::size_t{j} * rows.dim + c + i * L::kLanes, sum[j][i]);
    }
  }

  // Channels from `from` on of rows [t, t + n) into the sums of kQueries queries. One pass over the
  // channels: weights stay in registers, sums in L1. (Sums in registers would take two passes for
  // four queries of 128 channels, each over half of every row.)
  template <Element kElement, std::uint32_t kQueries>
  static HWY_INLINE void add_tile(const abi::RawRows& rows, std::uint32_t t, std::uint32_t n,
                                  const float* weights, std::uint32_t stride, std::uint32_t from,
                                  float* sums, Ahead& next) {
    constexpr std::uint32_t kTokens = kWeights / kQueries < kRows ? kWeights / kQueries : kRows;
    for (std::uint32_t done = 0; done < n; done += kTokens) {
      const std::uint8_t* at[kTokens];
      F32 weight[kQueries][kTokens];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kTokens; ++i) {  // behind the last row: that with weight 0
        const bool real = done + i < n;
        at[i] = rows.data + rows.stride * (t + (real ? done + i : n - 1));
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j)
          weight[j][i] = L::set_f32(real ? weights[std::size_t{j} * stride + done + i] : 0.0f);
      }
      std::uint32_t c = from;
      for (; c + L::kLanes <= rows.dim; c += L::kLanes) {
        F32 sum[kQueries];
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j)
          sum[j] = L::load_f32(sums + std::size_t{j} * rows.dim + c);
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kTokens; ++i) {
          next.read(i * kLoad<kElement>);
          const F32 row = load<kElement>(at[i] + std::size_t{c} * kBytes<kElement>);
          KVPLEAT_UNROLL
          for (std::uint32_t j = 0; j < kQueries; ++j)
            sum[j] = L::mul_add(weight[j][i], row, sum[j]);
        }
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j)
          L::store_f32(sums + std::size_t{j} * rows.dim + c, sum[j]);
      }
      if (c == rows.dim) continue;
      const std::uint32_t left = rows.dim - c;
      KVPLEAT_UNROLL
      for (std::uint32_t j = 0; j < kQueries; ++j) {
        float* to = sums + std::size_t{j} * rows.dim + c;
        F32 sum = L::load_first_f32(to, left);
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kTokens; ++i) {
          const F32 row = load_first<kElement>(at[i] + std::size_t{c} * kBytes<kElement>, left);
          sum = L::mul_add(weight[j][i], row, sum);
        }
        L::store_first_f32(to, sum, left);
      }
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
