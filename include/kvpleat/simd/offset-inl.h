// The score offset of centred keys: scores[j][t] += q_j . mean, or q_j . R(p_t) mean. See
// transform/phase_table.h for the mathematics.
//
// A run of consecutive positions is cut into windows of 256, its rest laid symmetrically around the
// middle of one. A window costs, for each query,
//   once:              turning all pairs to the middle; eight moments of the slow pairs
//   per 16 tokens:     a multiply-add for each entry of the table
// The table takes half of the nearest cache, and codes pass through it between two windows: four
// windows of a query read it together, or one window of four queries.
// kFast multiplies 16-bit words: the table in 2^-14, the coefficients in steps of 2^-17 of the sum
// of their magnitudes. The error is a rounding in each: with n entries about 5e-6 * n^0.5 * (that
// sum), which is 2e-4 of the RMS of the offset for the 32 entries of head_dim 128 and base 10000,
// 1e-3 for 64 pairs that are all fast. kAccurate and kExact multiply floats: within 1e-6 of the sum
// of magnitudes.
// The angle of every fourth window comes from an exact integer phase, so that nothing drifts; those
// between are turned on from it.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_OFFSET_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_OFFSET_INL_H_
#undef KVPLEAT_SIMD_OFFSET_INL_H_
#else
#define KVPLEAT_SIMD_OFFSET_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/transform/phase_table.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What only this kernel asks of a target.
struct OffsetLanes : LaneTools {
#if KVPLEAT_LANES != KVPLEAT_LANES_PLAIN
  // 2 * kLanes floats, a b a b ..
  static HWY_INLINE void load_pairs(const float* at, F32& a, F32& b) {
    hn::LoadInterleaved2(DF(), at, a, b);
  }
  static HWY_INLINE void store_pairs(float* at, F32 a, F32 b) {
    hn::StoreInterleaved2(a, b, DF(), at);
  }
  // Two floats, in every two lanes.
  static HWY_INLINE F32 bcast_pair(const float* at) {
    double pair;
    std::memcpy(&pair, at, sizeof pair);
    return hn::BitCast(DF(), hn::Set(hn::Repartition<double, DF>(), pair));
  }
  static HWY_INLINE F32 reverse(F32 v) {
    return hn::Reverse(DF(), v);
  }
  // The lanes, each within 16 bits.
  static HWY_INLINE void store_s16(std::int16_t* at, I32 v) {
    const hn::Rebind<std::int16_t, DI> words;
    hn::StoreU(hn::DemoteTo(words, v), words, at);
  }
#else
  static HWY_INLINE void load_pairs(const float* at, F32& a, F32& b) {
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      a.lane[i] = at[2 * i];
      b.lane[i] = at[2 * i + 1];
    }
  }
  static HWY_INLINE void store_pairs(float* at, const F32& a, const F32& b) {
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      at[2 * i] = a.lane[i];
      at[2 * i + 1] = b.lane[i];
    }
  }
  static HWY_INLINE F32 bcast_pair(const float* at) {
    F32 v;
    for (std::uint32_t i = 0; i < kLanes; ++i) v.lane[i] = at[i % 2];
    return v;
  }
  static HWY_INLINE F32 reverse(const F32& v) {
    F32 reversed;
    for (std::uint32_t i = 0; i < kLanes; ++i) reversed.lane[i] = v.lane[kLanes - 1 - i];
    return reversed;
  }
  static HWY_INLINE void store_s16(std::int16_t* at, const I32& v) {
    for (std::uint32_t i = 0; i < kLanes; ++i) at[i] = static_cast<std::int16_t>(v.lane[i]);
  }
#endif
  // acc[lane] + words[2 lane] * pair[0] + words[2 lane + 1] * pair[1], all signed.
  static HWY_INLINE I32 dot_words(I32 acc, const std::int16_t* words, const std::int16_t* pair) {
#if KVPLEAT_LANES == KVPLEAT_LANES_VNNI && !defined(__clang__)
    struct Two {
      std::int16_t words[2];
    };
    __m512i table;
    std::memcpy(&table, words, sizeof table);
    asm("vpdpwssd %2%{1to16%}, %1, %0"
        : "+v"(acc.raw)
        : "v"(table), "m"(*reinterpret_cast<const Two*>(pair)));
    return acc;
#elif KVPLEAT_LANES != KVPLEAT_LANES_PLAIN
    std::int32_t both;
    std::memcpy(&both, pair, sizeof both);
    const hn::Repartition<std::int16_t, DF> dw;
#if KVPLEAT_LANES == KVPLEAT_LANES_VNNI
    return I32{_mm512_dpwssd_epi32(acc.raw, hn::LoadU(dw, words).raw, set_i32(both).raw)};
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX512
    return I32{
        _mm512_add_epi32(acc.raw, _mm512_madd_epi16(hn::LoadU(dw, words).raw, set_i32(both).raw))};
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    return I32{
        _mm256_add_epi32(acc.raw, _mm256_madd_epi16(hn::LoadU(dw, words).raw, set_i32(both).raw))};
#elif KVPLEAT_LANES == KVPLEAT_LANES_SSE
    return I32{_mm_add_epi32(acc.raw, _mm_madd_epi16(hn::LoadU(dw, words).raw, set_i32(both).raw))};
#else
    const int16x8_t table = hn::LoadU(dw, words).raw;
    const int16x8_t two = vreinterpretq_s16_s32(set_i32(both).raw);
    return I32{vaddq_s32(acc.raw, vpaddq_s32(vmull_s16(vget_low_s16(table), vget_low_s16(two)),
                                             vmull_high_s16(table, two)))};
#endif
#else
    for (std::uint32_t i = 0; i < kLanes; ++i)
      acc.lane[i] += words[2 * i] * pair[0] + words[2 * i + 1] * pair[1];
    return acc;
#endif
  }
};

struct ScoreOffset {
  using L = OffsetLanes;
  using F32 = L::F32;
  using I32 = L::I32;

  // The cost is that of the runs of consecutive positions; best in runs of 1024 for one query, 512
  // for two.
  static void add(const abi::OffsetView& view, const abi::OffsetArguments& a) {
    for (std::uint32_t j = 0; j < a.query_count;) {
      const std::uint32_t left = a.query_count - j;
      if (left >= 4) {
        add_queries<4>(view, a, j);
        j += 4;
      } else if (left >= 2) {
        add_queries<2>(view, a, j);
        j += 2;
      } else {
        add_queries<1>(view, a, j);
        j += 1;
      }
    }
  }

 private:
  static constexpr std::uint32_t kLanes = L::kLanes;
  static constexpr std::uint32_t kWindow = phase_table::kWindow;
  static constexpr std::uint32_t kHalf = phase_table::kHalf;
  static constexpr std::uint32_t kStrip = phase_table::kStrip;
  static constexpr std::uint32_t kMaxPairs = Rope::kMaxPairs;   // a multiple of 16
  static constexpr std::uint32_t kMaxEntries = kMaxPairs + 16;  // with moments, padded
  // Of all words of a query: with half a step for each of 2 * kMaxEntries and times kUnit it stays
  // below 2^31.
  static constexpr float kWordSum = 130700.0f;
  static_assert(kMaxPairs % 16 == 0);

  // A query over the mean: q . R(p) mean = sum of along_i cos(theta_i p) + across_i sin(theta_i p).
  struct Query {
    alignas(64) float along[kMaxPairs];
    alignas(64) float across[kMaxPairs];
    float constant;  // of the channels that do not rotate
  };
  // The same at the middle of a window, by entries of the table.
  struct Entries {
    alignas(64) float slow[2 * kMaxPairs];  // a, b of the slow pairs, from table.fast on
    float constant;
    alignas(64) float even[kMaxEntries];
    alignas(64) float odd[kMaxEntries];
    alignas(64) std::int16_t even_words[kMaxEntries];
    alignas(64) std::int16_t odd_words[kMaxEntries];
    float unit;  // of word products; 0: nothing to add
  };
  struct Angles {
    alignas(64) float cosine[kMaxPairs];
    alignas(64) float sine[kMaxPairs];
  };
  // Scores of the queries of a call, windows one behind the other.
  struct Target {
    float* scores;
    std::size_t stride;
  };
  // Windows between exact angles.
  static constexpr std::uint32_t kKept = 4;

  template <std::uint32_t kQueries>
  static void add_queries(const abi::OffsetView& view, const abi::OffsetArguments& a,
                          std::uint32_t first) {
    // The table is read once for four sums: of queries, or of windows.
    constexpr std::uint32_t kWindows = 4 / kQueries;
    const abi::PhaseTable* table = view.table;
    Query queries[kQueries];
    for (std::uint32_t j = 0; j < kQueries; ++j)
      multiply(view, a.queries + static_cast<std::size_t>(first + j) * view.dim, queries[j]);
    float* const scores = a.scores + static_cast<std::size_t>(first) * a.stride;
    if (table == nullptr || table->pairs == 0) {
      for (std::uint32_t j = 0; j < kQueries; ++j)
        add_constant(queries[j].constant, a.count, scores + j * a.stride);
      return;
    }
    // Windows end where t is a multiple of theirs, and angles depend on the position alone: so the
    // bits of an offset do not depend on how many tokens a call has, nor on the other queries.
    Angles angles;
    for (std::uint32_t t = 0; t < a.count;) {
      const std::uint32_t n = run_length(a.positions + t, a.count - t);
      const auto position = static_cast<std::uint64_t>(a.positions[t]);
      const Target target{scores + t, a.stride};
      if (t % kWindow == 0 && n >= kWindows * kWindow) {
        Entries entries[kQueries * kWindows];
        for (std::uint32_t w = 0; w < kWindows; ++w) {
          turn_to(*table, position + w * kWindow, w == 0, angles);
          for (std::uint32_t j = 0; j < kQueries; ++j)
            turn_pairs(*table, queries[j], angles, entries[w * kQueries + j]);
        }
        add_windows<kQueries, kWindows>(*table, a.arithmetic, entries, kHalf, target);
        t += kWindows * kWindow;
        continue;
      }
      Entries entries[kQueries];
      const std::uint32_t m = lower_of(n, kWindow - t % kWindow);
      // A part of a window starts at its element `lead`; |t'| < 0.5 + reach.
      const std::uint32_t lead = (kWindow - m) / 2;
      turn_to(*table, position - lead, true, angles);
      for (std::uint32_t j = 0; j < kQueries; ++j)
        turn_pairs(*table, queries[j], angles, entries[j]);
      if (m == kWindow) {
        add_windows<kQueries, 1>(*table, a.arithmetic, entries, kHalf, target);
      } else {
        alignas(64) float window[kQueries * kWindow];
        for (std::uint32_t i = 0; i < kQueries * kWindow; i += kLanes)
          L::store_f32(window + i, L::zero_f32());
        add_windows<kQueries, 1>(*table, a.arithmetic, entries, kHalf - lead, {window, kWindow});
        for (std::uint32_t j = 0; j < kQueries; ++j)
          add_part(window + j * kWindow + lead, m, target.scores + j * target.stride);
      }
      t += m;
    }
  }

  // Of n ascending positions: how many are consecutive from the first.
  static HWY_INLINE std::uint32_t run_length(const std::int64_t* positions, std::uint32_t n) {
    const auto consecutive = [&](std::uint32_t count) {
      return positions[count - 1] - positions[0] == static_cast<std::int64_t>(count - 1);
    };
    if (consecutive(n)) return n;
    std::uint32_t some = 1;  // is, and n is not
    while (n - some > 1) {
      const std::uint32_t middle = (some + n) / 2;
      (consecutive(middle) ? some : n) = middle;
    }
    return some;
  }
  static void add_constant(float constant, std::uint32_t n, float* scores) {
    const F32 all = L::set_f32(constant);
    for (std::uint32_t t = 0; t < n; t += kLanes) {
      L::store_first_f32(scores + t, L::add(L::load_first_f32(scores + t, n - t), all), n - t);
    }
  }
  static HWY_INLINE void add_part(const float* window, std::uint32_t n, float* scores) {
    for (std::uint32_t t = 0; t < n; t += kLanes) {
      const F32 offset = L::load_first_f32(window + t, n - t);
      L::store_first_f32(scores + t, L::add(L::load_first_f32(scores + t, n - t), offset), n - t);
    }
  }

  static void multiply(const abi::OffsetView& view, const float* query, Query& result) {
    const float* mean = view.mean;
    const std::uint32_t dims = view.table != nullptr ? view.table->dims : 0;
    const std::uint32_t pairs = dims / 2;
    for (std::uint32_t i = 0; i < pairs; i += kLanes) {
      F32 q0, q1, m0, m1;
      if (i + kLanes <= pairs) {
        load_two(*view.table, query, i, q0, q1);
        load_two(*view.table, mean, i, m0, m1);
      } else {
        load_last_two(*view.table, query, i, q0, q1);
        load_last_two(*view.table, mean, i, m0, m1);
      }
      L::store_f32(result.along + i, L::mul_add(q0, m0, L::mul(q1, m1)));
      L::store_f32(result.across + i, L::sub(L::mul(q1, m0), L::mul(q0, m1)));
    }
    for (std::uint32_t i = round_up(pairs, kLanes); i < round_up(pairs, 16u); ++i)
      result.along[i] = result.across[i] = 0.0f;
    F32 sums[L::kParts];
    KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) sums[p] = L::zero_f32();
    for (std::uint32_t c = dims; c < view.dim; c += 16) {
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) {
        const std::uint32_t at = c + p * kLanes;
        if (at >= view.dim) continue;
        sums[p] = L::mul_add(L::load_first_f32(query + at, view.dim - at),
                             L::load_first_f32(mean + at, view.dim - at), sums[p]);
      }
    }
    result.constant = L::sum16(sums);
  }
  // Both channels of pairs i .. i + kLanes - 1.
  static HWY_INLINE void load_two(const abi::PhaseTable& table, const float* row, std::uint32_t i,
                                  F32& x, F32& y) {
    if (table.halves != 0) {
      x = L::load_f32(row + i);
      y = L::load_f32(row + table.pairs + i);
    } else {
      L::load_pairs(row + 2 * i, x, y);
    }
  }
  // The same at the end: zeros beyond the last pair.
  static HWY_INLINE void load_last_two(const abi::PhaseTable& table, const float* row,
                                       std::uint32_t i, F32& x, F32& y) {
    float first[kLanes] = {};
    float second[kLanes] = {};
    for (std::uint32_t k = 0; i + k < table.pairs; ++k) {
      first[k] = row[table.halves != 0 ? i + k : 2 * (i + k)];
      second[k] = row[table.halves != 0 ? table.pairs + i + k : 2 * (i + k) + 1];
    }
    x = L::load_f32(first);
    y = L::load_f32(second);
  }

  // Cosine and sine of the angles at the middle of the window that starts at a position. The phase
  // is exact; of its upper 32 bits as a float, h = pi * phase is half the angle, |h| <= pi / 2:
  //   cos(2h) = 1 - 2 sin(h)^2    sin(2h) = 2 sin(h) cos(h)
  // with Taylor polynomials of degree 13 and 14, whose first dropped terms are below 7e-10.
  static HWY_INLINE void turn(const abi::PhaseTable& table, std::uint64_t position,
                              Angles& angles) {
    alignas(64) std::int32_t phases[kMaxPairs];
    for (std::uint32_t i = 0; i < table.padded_pairs; ++i) {
      const std::uint64_t phase = table.turns[i] * position + table.to_middle[i];
      phases[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(phase >> 32));
    }
    const F32 one = L::set_f32(1.0f);
    for (std::uint32_t i = 0; i < table.padded_pairs; i += kLanes) {
      const F32 h = L::mul(L::to_f32(L::load_i32(phases + i)), L::set_f32(0x1.921fb6p-31f));
      const F32 z = L::mul(h, h);
      F32 s = L::set_f32(1.0f / 6227020800.0f);
      s = L::mul_add(s, z, L::set_f32(-1.0f / 39916800.0f));
      s = L::mul_add(s, z, L::set_f32(1.0f / 362880.0f));
      s = L::mul_add(s, z, L::set_f32(-1.0f / 5040.0f));
      s = L::mul_add(s, z, L::set_f32(1.0f / 120.0f));
      s = L::mul_add(s, z, L::set_f32(-1.0f / 6.0f));
      s = L::mul_add(L::mul(s, z), h, h);
      F32 c = L::set_f32(-1.0f / 87178291200.0f);
      c = L::mul_add(c, z, L::set_f32(1.0f / 479001600.0f));
      c = L::mul_add(c, z, L::set_f32(-1.0f / 3628800.0f));
      c = L::mul_add(c, z, L::set_f32(1.0f / 40320.0f));
      c = L::mul_add(c, z, L::set_f32(-1.0f / 720.0f));
      c = L::mul_add(c, z, L::set_f32(1.0f / 24.0f));
      c = L::mul_add(c, z, L::set_f32(-0.5f));
      c = L::mul_add(c, z, one);
      const F32 twice = L::add(s, s);
      L::store_f32(angles.cosine + i, L::neg_mul_add(twice, s, one));
      L::store_f32(angles.sine + i, L::mul(twice, c));
    }
  }

  // The angles of the next window.
  static HWY_INLINE void turn_on(const abi::PhaseTable& table, Angles& angles) {
    for (std::uint32_t i = 0; i < table.padded_pairs; i += kLanes) {
      const F32 cosine = L::load_f32(angles.cosine + i);
      const F32 sine = L::load_f32(angles.sine + i);
      const F32 c = L::load_f32(table.next_cosine + i);
      const F32 s = L::load_f32(table.next_sine + i);
      L::store_f32(angles.cosine + i, L::neg_mul_add(sine, s, L::mul(cosine, c)));
      L::store_f32(angles.sine + i, L::mul_add(cosine, s, L::mul(sine, c)));
    }
  }

  // The angles of the window that starts at a position: of every fourth one exact, of the others
  // turned on from it. anew: `angles` are not those of the window before.
  static HWY_INLINE void turn_to(const abi::PhaseTable& table, std::uint64_t position, bool anew,
                                 Angles& angles) {
    const std::uint64_t steps = position / kWindow % kKept;
    if (!anew && steps > 0) {
      turn_on(table, angles);
      return;
    }
    turn(table, position - steps * kWindow, angles);
    for (std::uint64_t i = 0; i < steps; ++i) turn_on(table, angles);
  }

  // The coefficients of a query at the middle: fast pairs where the table has them, slow ones aside.
  static HWY_INLINE void turn_pairs(const abi::PhaseTable& table, const Query& query,
                                    const Angles& angles, Entries& entries) {
    for (std::uint32_t i = 0; i < table.padded_pairs; i += kLanes) {
      const F32 along = L::load_f32(query.along + i);
      const F32 across = L::load_f32(query.across + i);
      const F32 cosine = L::load_f32(angles.cosine + i);
      const F32 sine = L::load_f32(angles.sine + i);
      const F32 a = L::mul_add(along, cosine, L::mul(across, sine));
      const F32 b = L::neg_mul_add(along, sine, L::mul(across, cosine));
      L::store_f32(entries.even + i, a);
      L::store_f32(entries.odd + i, b);
      if (i + kLanes > table.fast) L::store_pairs(entries.slow + 2 * i, a, b);
    }
    entries.constant = query.constant;
  }
  // Slow pairs by their moments.
  template <std::uint32_t kCount>
  static HWY_INLINE void add_moments(const abi::PhaseTable& table, Entries* entries) {
    if (table.moments > 0) {
      F32 sums[kCount][L::kParts];
      KVPLEAT_UNROLL for (std::uint32_t j = 0; j < kCount; ++j) {
        KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) sums[j][p] = L::zero_f32();
      }
      for (std::uint32_t i = table.fast; i < table.pairs; ++i) {
        const float* row = table.slow + (i - table.fast) * 16;
        F32 moments[L::kParts];
        KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) moments[p] =
            L::load_f32(row + p * kLanes);
        KVPLEAT_UNROLL for (std::uint32_t j = 0; j < kCount; ++j) {
          const F32 pair = L::bcast_pair(entries[j].slow + 2 * i);
          KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) sums[j][p] =
              L::mul_add(pair, moments[p], sums[j][p]);
        }
      }
      for (std::uint32_t j = 0; j < kCount; ++j) {
        float moments[16];
        KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p)
            L::store_f32(moments + p * kLanes, sums[j][p]);
        for (std::uint32_t k = 0; k < phase_table::kMoments; ++k) {
          entries[j].even[table.fast + k] = moments[2 * k];
          entries[j].odd[table.fast + k] = moments[2 * k + 1];
        }
      }
    }
    for (std::uint32_t i = table.fast + table.moments; i < round_up(table.entries, 16u); ++i) {
      for (std::uint32_t j = 0; j < kCount; ++j) entries[j].even[i] = entries[j].odd[i] = 0.0f;
    }
  }
  // To 16-bit words, so large that no sum of products overflows.
  template <std::uint32_t kCount>
  static HWY_INLINE void round(std::uint32_t count, Entries* entries) {
    F32 sums[kCount][L::kParts];
    F32 largest[kCount];
    KVPLEAT_UNROLL for (std::uint32_t j = 0; j < kCount; ++j) {
      largest[j] = L::zero_f32();
      KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) sums[j][p] = L::zero_f32();
      for (std::uint32_t i = 0; i < count; i += 16) {
        KVPLEAT_UNROLL for (std::uint32_t p = 0; p < L::kParts; ++p) {
          const F32 even = L::abs(L::load_f32(entries[j].even + i + p * kLanes));
          const F32 odd = L::abs(L::load_f32(entries[j].odd + i + p * kLanes));
          const F32 both = L::mul(L::add(even, odd), L::set_f32(0x1p-10f));  // no sum overflows
          sums[j][p] = L::add(sums[j][p], both);
          largest[j] = L::upper(largest[j], both);
        }
      }
    }
    float sum[kCount];
    float top[kCount];
    if constexpr (kCount == 4) {
      L::sum16_of4(sums, sum);
      L::reduce_max_of4(largest, top);
    } else {
      for (std::uint32_t j = 0; j < kCount; ++j) {
        sum[j] = L::sum16(sums[j]);
        top[j] = L::reduce_max(largest[j]);
      }
    }
    for (std::uint32_t j = 0; j < kCount; ++j) {
      // Below 1e-30 a step would no longer be a number. NaN stays NaN, in the unit.
      const float steps =
          sum[j] < 1e-30f ? 0.0f : lower_of(kWordSum / sum[j], 32767.0f / top[j]) * 0x1p-10f;
      entries[j].unit = sum[j] < 1e-30f ? 0.0f : 1.0f / (steps * phase_table::kUnit);
      const F32 scale = L::set_f32(steps);
      for (std::uint32_t i = 0; i < count; i += kLanes) {
        L::store_s16(entries[j].even_words + i,
                     L::nearest_i32(L::mul(L::load_f32(entries[j].even + i), scale)));
        L::store_s16(entries[j].odd_words + i,
                     L::nearest_i32(L::mul(L::load_f32(entries[j].odd + i), scale)));
      }
    }
  }

  // Registers of t' at once: even and odd sums of all queries stay in registers (16 of 32, or 8 of
  // 16).
  static constexpr std::uint32_t registers_for(std::uint32_t queries) {
    const std::uint32_t all =
        KVPLEAT_LANES == KVPLEAT_LANES_AVX2 || KVPLEAT_LANES == KVPLEAT_LANES_SSE ? 8 : 16;
    return KVPLEAT_LANES == KVPLEAT_LANES_PLAIN ? 1 : lower_of(all / (2 * queries), 4u);
  }
  // Adds the offset of kWindows windows to the scores of kQueries queries: of t' in them with |t'| <
  // 0.5 + reach, and of some beyond. entries: [kWindows][kQueries].
  template <std::uint32_t kQueries, std::uint32_t kWindows>
  static HWY_INLINE void add_windows(const abi::PhaseTable& table, abi::Arithmetic arithmetic,
                                     Entries* entries, std::uint32_t reach, const Target& target) {
    constexpr std::uint32_t kCount = kQueries * kWindows;
    constexpr std::uint32_t kRegisters = registers_for(kCount);
    float* windows[kCount];
    for (std::uint32_t k = 0; k < kCount; ++k)
      windows[k] = target.scores + k % kQueries * target.stride + k / kQueries * kWindow;
    add_moments<kCount>(table, entries);
    if (arithmetic == abi::Arithmetic::kFast) {
      round<kCount>(table.entries, entries);
      for (std::uint32_t at = 0; at < reach; at += kRegisters * kLanes)
        evaluate_words<kCount, kRegisters>(table, entries, at, windows);
    } else {
      for (std::uint32_t at = 0; at < reach; at += kRegisters * kLanes)
        evaluate_floats<kCount, kRegisters>(table, entries, at, windows);
    }
  }
  template <std::uint32_t kQueries, std::uint32_t kRegisters>
  static HWY_INLINE void evaluate_words(const abi::PhaseTable& table, const Entries* entries,
                                        std::uint32_t at, float* const* windows) {
    I32 even[kQueries][kRegisters];
    I32 odd[kQueries][kRegisters];
    KVPLEAT_UNROLL for (std::uint32_t j = 0; j < kQueries; ++j) {
      KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRegisters; ++r) {
        even[j][r] = L::zero_i32();
        odd[j][r] = L::zero_i32();
      }
    }
    const std::int16_t* words[kRegisters];
    KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRegisters; ++r) words[r] =
        table.words + 2 * place(table, at + r * kLanes);
    for (std::uint32_t e = 0; e < table.entries; e += 2) {
      KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRegisters; ++r) {
        KVPLEAT_UNROLL for (std::uint32_t j = 0; j < kQueries; ++j) even[j][r] =
            L::dot_words(even[j][r], words[r], entries[j].even_words + e);
        KVPLEAT_UNROLL for (std::uint32_t j = 0; j < kQueries; ++j) odd[j][r] =
            L::dot_words(odd[j][r], words[r] + 2 * kStrip, entries[j].odd_words + e);
        words[r] += 4 * kStrip;
      }
    }
    KVPLEAT_UNROLL for (std::uint32_t j = 0; j < kQueries; ++j) {
      const F32 unit = L::set_f32(entries[j].unit);
      const F32 constant = L::set_f32(entries[j].constant);
      KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRegisters; ++r) {
        const F32 after = L::to_f32(L::add(even[j][r], odd[j][r]));
        const F32 before = L::to_f32(L::sub(even[j][r], odd[j][r]));
        put(L::mul_add(after, unit, constant), L::mul_add(before, unit, constant), at + r * kLanes,
            windows[j]);
      }
    }
  }
  template <std::uint32_t kQueries, std::uint32_t kRegisters>
  static HWY_INLINE void evaluate_floats(const abi::PhaseTable& table, const Entries* entries,
                                         std::uint32_t at, float* const* windows) {
    F32 even[kQueries][kRegisters];
    F32 odd[kQueries][kRegisters];
    KVPLEAT_UNROLL for (std::uint32_t j = 0; j < kQueries; ++j) {
      KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRegisters; ++r) {
        even[j][r] = L::zero_f32();
        odd[j][r] = L::zero_f32();
      }
    }
    const float* rows[kRegisters];
    KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRegisters; ++r) rows[r] =
        table.rows + 2 * place(table, at + r * kLanes) - (at + r * kLanes) % kStrip;
    for (std::uint32_t e = 0; e < table.entries; ++e) {
      KVPLEAT_UNROLL for (std::uint32_t j = 0; j < kQueries; ++j) {
        const F32 a = L::set_f32(entries[j].even[e]);
        const F32 b = L::set_f32(entries[j].odd[e]);
        KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRegisters; ++r) {
          even[j][r] = L::mul_add(a, L::load_f32(rows[r]), even[j][r]);
          odd[j][r] = L::mul_add(b, L::load_f32(rows[r] + kStrip), odd[j][r]);
        }
      }
      KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRegisters; ++r) rows[r] += 2 * kStrip;
    }
    KVPLEAT_UNROLL for (std::uint32_t j = 0; j < kQueries; ++j) {
      const F32 constant = L::set_f32(entries[j].constant);
      KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRegisters; ++r) {
        put(L::add(L::add(even[j][r], odd[j][r]), constant),
            L::add(L::sub(even[j][r], odd[j][r]), constant), at + r * kLanes, windows[j]);
      }
    }
  }
  // Where |t'| = 0.5 + at begins in the table, in pairs of words.
  static HWY_INLINE std::uint32_t place(const abi::PhaseTable& table, std::uint32_t at) {
    return at / kStrip * table.entries * kStrip + at % kStrip;
  }
  static HWY_INLINE void put(F32 after, F32 before, std::uint32_t at, float* window) {
    float* up = window + kHalf + at;
    float* down = window + kHalf - at - kLanes;
    L::store_f32(up, L::add(L::load_f32(up), after));
    L::store_f32(down, L::add(L::load_f32(down), L::reverse(before)));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
