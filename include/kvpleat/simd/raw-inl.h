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

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512

// Registers of eight lanes, for one query over rows of 16 bits: halves become floats in half the
// time. (Zen 4, 16 halves with a product each: 1.9 cycles in a register of 16 lanes, 1.1 in two of
// eight. From two queries on products take longer than that, and wide registers need fewer
// instructions.)
struct EightLanes {
  using D = hn::FixedTag<float, 8>;
  using F32 = hn::Vec<D>;
  static constexpr std::uint32_t kLanes = 8;
  static constexpr std::uint32_t kParts = 2;

  static HWY_INLINE F32 zero_f32() { return hn::Zero(D()); }
  static HWY_INLINE F32 set_f32(float x) { return hn::Set(D(), x); }
  static HWY_INLINE F32 load_f32(const float* at) { return hn::LoadU(D(), at); }
  static HWY_INLINE void store_f32(float* at, F32 v) { hn::StoreU(v, D(), at); }
  static HWY_INLINE F32 load_first_f32(const float* at, std::uint32_t n) {
    return hn::MaskedLoad(hn::FirstN(D(), n), D(), at);
  }
  static HWY_INLINE void store_first_f32(float* at, F32 v, std::uint32_t n) {
    _mm256_mask_storeu_ps(at, hn::FirstN(D(), n).raw, v.raw);
  }
  static HWY_INLINE F32 mul_add(F32 a, F32 b, F32 c) { return hn::MulAdd(a, b, c); }
  static HWY_INLINE F32 load_half(const std::uint8_t* at) {
    __m128i halves;
    std::memcpy(&halves, at, sizeof halves);
    return F32{_mm256_cvtph_ps(halves)};
  }
  static HWY_INLINE F32 load_bf16(const std::uint8_t* at) {
    __m128i words;
    std::memcpy(&words, at, sizeof words);
    const __m256i wide = _mm256_cvtepu16_epi32(words);
    return F32{_mm256_castsi256_ps(_mm256_slli_epi32(wide, 16))};
  }
};

#endif

struct Raw {
  using L = LaneTools;
  using Element = abi::Element;

  // Runs of a raw format.
  static void score(const abi::RawView& view, const abi::ScoreArguments& a) {
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < a.run_count;) {
      const Joined joined = join(view, a, r);
      score(joined.rows, joined.ahead, a.queries, a.query_count, a.scores + first, a.stride);
      first += joined.rows.count;
      r += joined.runs;
    }
  }
  static void accumulate(const abi::RawView& view, const abi::AccumulateArguments& a) {
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < a.run_count;) {
      const Joined joined = join(view, a, r);
      accumulate(joined.rows, joined.ahead, a.weights + first, a.query_count, a.stride, a.sums);
      first += joined.rows.count;
      r += joined.runs;
    }
  }
  // Open rows. ahead: rows of the same length that are read after these, elsewhere, or null.
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
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
  using HalfLanes = EightLanes;
#else
  using HalfLanes = L;
#endif
  template <Element kElement, std::uint32_t kQueries>
  using LanesOf = std::conditional_t<kQueries == 1 && kElement != Element::kFloat, HalfLanes, L>;
  // Sums over channels that are in registers at once.
  static constexpr std::uint32_t kSums = kWide ? 16 : 4 / L::kParts > 0 ? 4 / L::kParts : 1;
  // Rows whose scores are added up together.
  template <class T, std::uint32_t kQueries>
  static constexpr std::uint32_t kTogether = kQueries == 1 && T::kLanes == 8 ? 8
                                             : kSums / std::bit_ceil(kQueries) > 0
                                                 ? kSums / std::bit_ceil(kQueries)
                                                 : 1;
  // Rows read side by side. One query reads as fast as memory delivers, which wants them in order:
  // two rows of floats side by side take twice the time.
  template <Element kElement, std::uint32_t kQueries>
  static constexpr std::uint32_t kSide = kQueries > 1                  ? 4
                                         : kElement == Element::kFloat ? 1
                                                                       : 2;
  // Weights in registers at once.
  static constexpr std::uint32_t kWeights = kWide ? 16 : 8;

  template <Element kElement>
  static constexpr std::uint32_t kBytes = kElement == Element::kFloat ? 4 : 2;
  template <class T, Element kElement>
  static constexpr std::uint32_t kLoad = T::kLanes* kBytes<kElement>;

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
  // Runs one behind the other in memory are one. Where they are, and for one query, nothing is
  // fetched ahead: see Ahead.
  struct Joined {
    abi::RawRows rows;
    std::uint32_t runs;
    const std::uint8_t* ahead;
  };
  template <class Arguments>
  static HWY_INLINE Joined join(const abi::RawView& view, const Arguments& a, std::uint32_t r) {
    const std::uint32_t bytes = row_bytes(view);
    const auto start = [&](const BlockRun& run)
                           HWY_ATTR { return run.bytes.block + std::size_t{run.slot} * bytes; };
    Joined joined{{start(a.runs[r]), bytes, 0, view.dim, view.element}, 0, nullptr};
    do {
      joined.rows.count += a.runs[r + joined.runs++].count;
    } while (r + joined.runs < a.run_count &&
             start(a.runs[r + joined.runs]) ==
                 joined.rows.data + std::size_t{joined.rows.count} * bytes);
    const BlockRun* next = r + joined.runs < a.run_count ? a.runs + r + joined.runs : a.ahead;
    if (next != nullptr && (joined.runs == 1 || a.query_count > 1)) joined.ahead = start(*next);
    return joined;
  }

  template <class T, Element kElement>
  static HWY_INLINE typename T::F32 load(const std::uint8_t* at) {
    if constexpr (kElement == Element::kFloat) {
      float values[T::kLanes];
      std::memcpy(values, at, sizeof values);
      return T::load_f32(values);
    } else if constexpr (kElement == Element::kHalf) {
      return T::load_half(at);
    } else {
      return T::load_bf16(at);
    }
  }
  // The first n < kLanes elements, zeros after them.
  template <class T, Element kElement>
  static HWY_INLINE typename T::F32 load_first(const std::uint8_t* at, std::uint32_t n) {
    std::uint8_t bytes[T::kLanes * kBytes<kElement>] = {};
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    if constexpr (kElement != Element::kFloat) {
      const __m256i words = _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << n) - 1u), at);
      std::memcpy(bytes, &words, sizeof bytes);
      return load<T, kElement>(bytes);
    }
#endif
    std::memcpy(bytes, at, n * kBytes<kElement>);
    return load<T, kElement>(bytes);
  }
  // Asks for what is read next, as many bytes as are read meanwhile, between the loads: requests in
  // bunches queue up, and the loads behind them wait. kFetch false: does nothing. One query reads
  // as fast as memory delivers; along blocks in a row the hardware fetches ahead by itself, and
  // requests beside its own only cost. Blocks that lie apart need them, and more queries leave time
  // for them. (Zen 4, one core, g++ 12, 2026-11-30, keys and values of 128 halves, 256 MiB, ns per
  // token: one query 16 without and 22 with requests, of blocks that lie apart 49 and 26; four
  // queries 32 and 21. Only reading the same bytes takes 15.6, of blocks that lie apart 43.)
  template <bool kFetch>
  struct Ahead {
    const std::uint8_t* at;

    // Before a load of kLoaded bytes; done: bytes read in this round of an unrolled loop.
    template <std::uint32_t kLoaded>
    HWY_INLINE void read(std::uint32_t done) {
      if (!kFetch || done % 64 >= kLoaded) return;
      L::prefetch(at);
      at += 64;
    }
  };
  // Rows that are worked on together: a quarter of the first level.
  static HWY_INLINE std::uint32_t tile_rows(const abi::RawRows& rows) {
    constexpr std::uint32_t kTileBytes = 8192;
    return upper_of(16u, kTileBytes / (rows.dim * (rows.element == Element::kFloat ? 4 : 2)));
  }
  // What is asked for while rows [t, t + n) are read: those after them, behind the last those of
  // `ahead`; and where there are none, the rows themselves, which costs less than a branch.
  static HWY_INLINE const std::uint8_t* after(const abi::RawRows& rows, std::uint32_t t,
                                              std::uint32_t n, const std::uint8_t* ahead) {
    if (t + n < rows.count) return rows.data + (t + n) * rows.stride;
    return ahead == nullptr ? rows.data + t * rows.stride : ahead;
  }

  // --- Scores ---

  template <Element kElement>
  static HWY_INLINE void score_rows(const abi::RawRows& rows, const std::uint8_t* ahead,
                                    const float* queries, std::uint32_t query_count, float* scores,
                                    std::uint32_t stride) {
    const std::uint32_t most = tile_rows(rows);
    for (std::uint32_t t = 0; t < rows.count; t += most) {
      const std::uint32_t n = lower_of(rows.count - t, most);
      const std::uint8_t* next = after(rows, t, n, ahead);
      // Rows are in L1 for all queries but the first four.
      for (std::uint32_t j = 0; j < query_count; next = rows.data + t * rows.stride) {
        const float* some = queries + std::size_t{j} * rows.dim;
        float* to = scores + std::size_t{j} * stride + t;
        const std::uint32_t left = query_count - j;
        if (left >= 4) {
          score_tile<kElement, 4>(rows, t, n, some, to, stride, Ahead<true>{next});
          j += 4;
        } else if (left == 3) {
          score_tile<kElement, 3>(rows, t, n, some, to, stride, Ahead<true>{next});
          j += 3;
        } else if (left == 2) {
          score_tile<kElement, 2>(rows, t, n, some, to, stride, Ahead<true>{next});
          j += 2;
        } else if (ahead != nullptr) {
          score_tile<kElement, 1>(rows, t, n, some, to, stride, Ahead<true>{next});
          j += 1;
        } else {
          score_tile<kElement, 1>(rows, t, n, some, to, stride, Ahead<false>{next});
          j += 1;
        }
      }
    }
  }
  // Rows [t, t + n) against kQueries queries.
  template <Element kElement, std::uint32_t kQueries, class Next>
  static HWY_NOINLINE void score_tile(const abi::RawRows& rows, std::uint32_t t, std::uint32_t n,
                                      const float* queries, float* scores, std::uint32_t stride,
                                      Next next) {
    using T = LanesOf<kElement, kQueries>;
    constexpr std::uint32_t kTokens = kTogether<T, kQueries>;
    constexpr std::uint32_t kRows = lower_of(kTokens, kSide<kElement, kQueries>);
    for (std::uint32_t done = 0; done < n; done += kTokens) {
      typename T::F32 sums[kQueries * kTokens][T::kParts];
      KVPLEAT_UNROLL
      for (std::uint32_t first = 0; first < kTokens; first += kRows) {
        const std::uint8_t* at[kRows];
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kRows; ++i)  // behind the last row: that again
          at[i] = rows.data + rows.stride * (t + lower_of(done + first + i, n - 1));
        dots<T, kElement, kQueries, kRows, kTokens>(at, queries, rows.dim, sums + first, next);
      }
      float out[16];
      reduce<T, kQueries * kTokens>(sums, out);
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
  template <class T, Element kElement, std::uint32_t kQueries, std::uint32_t kTokens,
            std::uint32_t kPitch, class Next>
  static HWY_INLINE void dots(const std::uint8_t* const* at, const float* queries,
                              std::uint32_t dim, typename T::F32 (*sums)[T::kParts], Next& next) {
    using F32 = typename T::F32;
    F32 own[kQueries * kTokens][T::kParts];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kQueries * kTokens; ++i) {
      KVPLEAT_UNROLL
      for (std::uint32_t p = 0; p < T::kParts; ++p) own[i][p] = T::zero_f32();
    }
    std::uint32_t c = 0;
    for (; c + 16 <= dim; c += 16) {
      KVPLEAT_UNROLL
      for (std::uint32_t p = 0; p < T::kParts; ++p) {
        const std::uint32_t from = c + p * T::kLanes;
        F32 query[kQueries];
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j)
          query[j] = in_register(T::load_f32(queries + std::size_t{j} * dim + from));
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kTokens; ++i) {
          next.template read<kLoad<T, kElement>>((p * kTokens + i) * kLoad<T, kElement>);
          const F32 row = load<T, kElement>(at[i] + std::size_t{from} * kBytes<kElement>);
          KVPLEAT_UNROLL
          for (std::uint32_t j = 0; j < kQueries; ++j)
            own[j * kTokens + i][p] = T::mul_add(query[j], row, own[j * kTokens + i][p]);
        }
      }
    }
    KVPLEAT_UNROLL
    for (std::uint32_t p = 0; p < T::kParts; ++p) {
      const std::uint32_t from = c + p * T::kLanes;
      if (from >= dim) break;
      const std::uint32_t n = lower_of(dim - from, T::kLanes);
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kTokens; ++i) {
        const std::uint8_t* row_at = at[i] + std::size_t{from} * kBytes<kElement>;
        const F32 row =
            n == T::kLanes ? load<T, kElement>(row_at) : load_first<T, kElement>(row_at, n);
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j) {
          const F32 query = T::load_first_f32(queries + std::size_t{j} * dim + from, n);
          own[j * kTokens + i][p] = T::mul_add(query, row, own[j * kTokens + i][p]);
        }
      }
    }
    KVPLEAT_UNROLL
    for (std::uint32_t j = 0; j < kQueries; ++j) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kTokens; ++i) {
        KVPLEAT_UNROLL
        for (std::uint32_t p = 0; p < T::kParts; ++p)
          sums[j * kPitch + i][p] = own[j * kTokens + i][p];
      }
    }
  }
  // g++ would load the query again for every row, by the loads that rows need.
  template <class F32>
  static HWY_INLINE F32 in_register(F32 v) {
#if HWY_ARCH_X86 && (HWY_COMPILER_GCC || HWY_COMPILER_CLANG) && KVPLEAT_LANES != KVPLEAT_LANES_PLAIN
    asm("" : "+v"(v.raw));
#endif
    return v;
  }
  // out[i] = the sum of the 16 partial sums of i, kCount <= 16, in the order of Lanes::sum16.
  template <class T, std::uint32_t kCount>
  static HWY_INLINE void reduce(const typename T::F32 (*sums)[T::kParts], float* out) {
    if constexpr (kWide && T::kLanes == 16) {
      reduce_16<kCount>(sums, out);
    } else if constexpr (T::kLanes == 8 && kCount == 8) {
      reduce_8(sums, out);
    } else {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kCount; ++i) out[i] = L::sum16(sums[i]);
    }
  }
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
  template <std::uint32_t kCount>
  static HWY_INLINE void reduce_16(const L::F32 (*sums)[1], float* out) {
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
  }
#endif
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX2
  template <class F32>
  static HWY_INLINE void reduce_8(const F32 (*sums)[2], float* out) {
    __m256 four[4];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < 4; ++i) {
      const __m256 a = _mm256_add_ps(sums[i][0].raw, sums[i][1].raw);
      const __m256 b = _mm256_add_ps(sums[i + 4][0].raw, sums[i + 4][1].raw);
      four[i] = _mm256_add_ps(_mm256_blend_ps(a, b, 0xf0), _mm256_permute2f128_ps(a, b, 0x21));
    }
    const auto pairs = [](__m256 a, __m256 b) HWY_ATTR {  // lanes 0 + 2, 1 + 3 of a, then of b
      const __m256d x = _mm256_castps_pd(a);
      const __m256d y = _mm256_castps_pd(b);
      return _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(x, y)),
                           _mm256_castpd_ps(_mm256_unpackhi_pd(x, y)));
    };
    const __m256 x = pairs(four[0], four[2]);
    const __m256 y = pairs(four[1], four[3]);
    // Of x rows 0, 2 and of y rows 1, 3; 4 more in the upper halves.
    const __m256 all = _mm256_add_ps(_mm256_shuffle_ps(x, y, 0x88), _mm256_shuffle_ps(x, y, 0xdd));
    _mm256_storeu_ps(out, _mm256_permute_ps(all, 0xd8));
  }
#endif

  // --- Outputs ---

  template <Element kElement>
  static HWY_INLINE void accumulate_rows(const abi::RawRows& rows, const std::uint8_t* ahead,
                                         const float* weights, std::uint32_t query_count,
                                         std::uint32_t stride, float* sums) {
    const std::uint32_t most = tile_rows(rows);
    for (std::uint32_t t = 0; t < rows.count; t += most) {
      const std::uint32_t n = lower_of(rows.count - t, most);
      const std::uint8_t* next = after(rows, t, n, ahead);
      for (std::uint32_t j = 0; j < query_count; next = rows.data + t * rows.stride) {
        const float* some = weights + std::size_t{j} * stride + t;
        float* to = sums + std::size_t{j} * rows.dim;
        const std::uint32_t left = query_count - j;
        if (left >= 4) {
          add_rows<kElement, 4>(rows, t, n, some, stride, to, Ahead<true>{next});
          j += 4;
        } else if (left == 3) {
          add_rows<kElement, 3>(rows, t, n, some, stride, to, Ahead<true>{next});
          j += 3;
        } else if (left == 2) {
          add_rows<kElement, 2>(rows, t, n, some, stride, to, Ahead<true>{next});
          j += 2;
        } else if (ahead != nullptr) {
          add_rows<kElement, 1>(rows, t, n, some, stride, to, Ahead<true>{next});
          j += 1;
        } else {
          add_rows<kElement, 1>(rows, t, n, some, stride, to, Ahead<false>{next});
          j += 1;
        }
      }
    }
  }
  // As many channels as registers hold, then the others. (Four queries of 128 channels would take
  // two passes, each over half of every row.)
  template <Element kElement, std::uint32_t kQueries, class Next>
  static HWY_NOINLINE void add_rows(const abi::RawRows& rows, std::uint32_t t, std::uint32_t n,
                                    const float* weights, std::uint32_t stride, float* sums,
                                    Next next) {
    using T = LanesOf<kElement, kQueries>;
    std::uint32_t c = 0;
    if constexpr (kQueries < 4) {
      constexpr std::uint32_t kWidth = kWide ? T::kLanes == 8 ? 16 : 8 : kQueries == 1 ? 8 : 4;
      for (; c + kWidth * T::kLanes <= rows.dim; c += kWidth * T::kLanes)
        add_in_registers<T, kElement, kQueries, kWidth>(rows, t, n, weights, stride, c, sums, next);
      for (; c + 4 * T::kLanes <= rows.dim; c += 4 * T::kLanes)
        add_in_registers<T, kElement, kQueries, 4>(rows, t, n, weights, stride, c, sums, next);
    }
    if (c < rows.dim) add_tile<T, kElement, kQueries>(rows, t, n, weights, stride, c, sums, next);
  }
  // Rows [t, t + n) into the sums of kQueries queries, sums in registers, row after row.
  template <class T, Element kElement, std::uint32_t kQueries, std::uint32_t kWidth, class Next>
  static HWY_INLINE void add_in_registers(const abi::RawRows& rows, std::uint32_t t,
                                          std::uint32_t n, const float* weights,
                                          std::uint32_t stride, std::uint32_t c, float* sums,
                                          Next& next) {
    using F32 = typename T::F32;
    F32 sum[kQueries][kWidth];
    KVPLEAT_UNROLL
    for (std::uint32_t j = 0; j < kQueries; ++j) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i)
        sum[j][i] = T::load_f32(sums + std::size_t{j} * rows.dim + c + i * T::kLanes);
    }
    const std::uint8_t* at = rows.data + rows.stride * t + std::size_t{c} * kBytes<kElement>;
    for (std::uint32_t k = 0; k < n; ++k, at += rows.stride) {
      F32 weight[kQueries];
      KVPLEAT_UNROLL
      for (std::uint32_t j = 0; j < kQueries; ++j)
        weight[j] = T::set_f32(weights[std::size_t{j} * stride + k]);
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i) {
        next.template read<kLoad<T, kElement>>(i * kLoad<T, kElement>);
        const F32 row = load<T, kElement>(at + i * kLoad<T, kElement>);
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j)
          sum[j][i] = T::mul_add(weight[j], row, sum[j][i]);
      }
    }
    KVPLEAT_UNROLL
    for (std::uint32_t j = 0; j < kQueries; ++j) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i)
        T::store_f32(sums + std::size_t{j} * rows.dim + c + i * T::kLanes, sum[j][i]);
    }
  }

  // Channels from `from` on of rows [t, t + n) into the sums of kQueries queries. One pass over the
  // channels: weights stay in registers, sums in L1.
  template <class T, Element kElement, std::uint32_t kQueries, class Next>
  static HWY_INLINE void add_tile(const abi::RawRows& rows, std::uint32_t t, std::uint32_t n,
                                  const float* weights, std::uint32_t stride, std::uint32_t from,
                                  float* sums, Next& next) {
    using F32 = typename T::F32;
    constexpr std::uint32_t kTokens = lower_of(kWeights / kQueries, 4u);
    for (std::uint32_t done = 0; done < n; done += kTokens) {
      const std::uint8_t* at[kTokens];
      F32 weight[kQueries][kTokens];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kTokens; ++i) {  // behind the last row: that with weight 0
        const bool real = done + i < n;
        at[i] = rows.data + rows.stride * (t + (real ? done + i : n - 1));
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j)
          weight[j][i] = T::set_f32(real ? weights[std::size_t{j} * stride + done + i] : 0.0f);
      }
      std::uint32_t c = from;
      for (; c + T::kLanes <= rows.dim; c += T::kLanes) {
        F32 sum[kQueries];
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j)
          sum[j] = T::load_f32(sums + std::size_t{j} * rows.dim + c);
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kTokens; ++i) {
          next.template read<kLoad<T, kElement>>(i * kLoad<T, kElement>);
          const F32 row = load<T, kElement>(at[i] + std::size_t{c} * kBytes<kElement>);
          KVPLEAT_UNROLL
          for (std::uint32_t j = 0; j < kQueries; ++j)
            sum[j] = T::mul_add(weight[j][i], row, sum[j]);
        }
        KVPLEAT_UNROLL
        for (std::uint32_t j = 0; j < kQueries; ++j)
          T::store_f32(sums + std::size_t{j} * rows.dim + c, sum[j]);
      }
      if (c == rows.dim) continue;
      const std::uint32_t left = rows.dim - c;
      KVPLEAT_UNROLL
      for (std::uint32_t j = 0; j < kQueries; ++j) {
        float* to = sums + std::size_t{j} * rows.dim + c;
        F32 sum = T::load_first_f32(to, left);
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < kTokens; ++i) {
          const F32 row = load_first<T, kElement>(at[i] + std::size_t{c} * kBytes<kElement>, left);
          sum = T::mul_add(weight[j][i], row, sum);
        }
        T::store_first_f32(to, sum, left);
      }
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
