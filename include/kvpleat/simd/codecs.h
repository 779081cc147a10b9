// Codecs: coding and decoding of a kernel set, format by format. What a view describes goes to
// functions of vectors; everything else to the format itself. Bytes and floats are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/format/raw.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/code_view.h"
#include "kvpleat/simd/oaken_view.h"
#include "kvpleat/simd/views.h"
#include "kvpleat/transform/balance.h"
#include "kvpleat/transform/center.h"
#include "kvpleat/transform/chain.h"
#include "kvpleat/transform/hadamard.h"
#include "kvpleat/transform/no_transform.h"
#include "kvpleat/transform/rope.h"

namespace kvpleat::inline KVPLEAT_ISA {

namespace codecs {

// Where rows are: at consecutive positions.
struct Positions {
  std::int64_t first = 0;
  const abi::PhaseAngles* angles = nullptr;  // of these positions and others, or null
};

// Forward transforms of several rows.
template <class Functions, std::uint32_t kDim>
struct Transforms {
  // Row t has position at.first + t. to: [rows.count, kDim], may be the rows themselves.
  template <class Transform>
  static void forward(const Transform& transform, Rows rows, Positions at, float* to) {
    for (std::size_t t = 0; t < rows.count; ++t) {
      const float* row = rows[t];
      float between[kDim];
      if (row == to + t * kDim) {
        std::memcpy(between, row, sizeof between);
        row = between;
      }
      transform.template forward<kDim>(row, at.first + static_cast<std::int64_t>(t), to + t * kDim);
    }
  }
  static void forward(const NoTransform&, Rows rows, Positions, float* to) {
    for (std::size_t t = 0; t < rows.count; ++t) {
      if (rows[t] != to + t * kDim) std::memcpy(to + t * kDim, rows[t], kDim * sizeof(float));
    }
  }
  template <class First, class Second>
  static void forward(const Chain<First, Second>& chain, Rows rows, Positions at, float* to) {
    forward(chain.first, rows, at, to);
    forward(chain.second, Rows{to, rows.count, kDim}, at, to);
  }
  template <std::uint64_t kSeed>
  static void forward(const RandomHadamard<kSeed>& transform, Rows rows, Positions at, float* to) {
    if (!Functions::hadamard(hadamard_arguments<kSeed>(nullptr, rows, false, to)))
      forward<RandomHadamard<kSeed>>(transform, rows, at, to);
  }
  // In one pass.
  template <std::uint64_t kSeed>
  static void forward(const Chain<Balance, RandomHadamard<kSeed>>& chain, Rows rows, Positions at,
                      float* to) {
    if (!Functions::hadamard(hadamard_arguments<kSeed>(chain.first.scale, rows, false, to)))
      forward<Balance, RandomHadamard<kSeed>>(chain, rows, at, to);
  }
  static void forward(const PhaseCenter& center, Rows rows, Positions at, float* to) {
    if (!Functions::phase_center(phase_arguments(center, rows, at, false, to)))
      forward<PhaseCenter>(center, rows, at, to);
  }
  static void forward(const Balance& balance, Rows rows, Positions at, float* to) {
    if (balance.scale == nullptr ||
        !Functions::balance(balance_arguments(balance, rows, false, to)))
      forward<Balance>(balance, rows, at, to);
  }

  // The way back, of rows that were summed with weights that add up to `weight`.
  template <class Transform>
  static void restore(const Transform& transform, Rows coded, float weight, std::int64_t position,
                      float* to) {
    for (std::size_t t = 0; t < coded.count; ++t) {
      const float* row = coded[t];
      float between[kDim];
      if (row == to + t * kDim) {
        std::memcpy(between, row, sizeof between);
        row = between;
      }
      transform.template restore<kDim>(row, weight, position + static_cast<std::int64_t>(t),
                                       to + t * kDim);
    }
  }
  static void restore(const NoTransform& transform, Rows coded, float, std::int64_t position,
                      float* to) {
    forward(transform, coded, {position, nullptr}, to);
  }
  template <class First, class Second>
  static void restore(const Chain<First, Second>& chain, Rows coded, float weight,
                      std::int64_t position, float* to) {
    restore(chain.second, coded, weight, position, to);
    restore(chain.first, Rows{to, coded.count, kDim}, weight, position, to);
  }
  template <std::uint64_t kSeed>
  static void restore(const RandomHadamard<kSeed>& transform, Rows coded, float weight,
                      std::int64_t position, float* to) {
    if (!Functions::hadamard(hadamard_arguments<kSeed>(nullptr, coded, true, to)))
      restore<RandomHadamard<kSeed>>(transform, coded, weight, position, to);
  }
  template <std::uint64_t kSeed>
  static void restore(const Chain<Balance, RandomHadamard<kSeed>>& chain, Rows coded, float weight,
                      std::int64_t position, float* to) {
    if (!Functions::hadamard(hadamard_arguments<kSeed>(chain.first.scale, coded, true, to)))
      restore<Balance, RandomHadamard<kSeed>>(chain, coded, weight, position, to);
  }
  static void restore(const Balance& balance, Rows coded, float weight, std::int64_t position,
                      float* to) {
    if (balance.scale == nullptr ||
        !Functions::balance(balance_arguments(balance, coded, true, to)))
      restore<Balance>(balance, coded, weight, position, to);
  }
  static void restore(const PhaseCenter& center, Rows coded, float weight, std::int64_t position,
                      float* to) {
    if (weight != 1.0f ||
        !Functions::phase_center(phase_arguments(center, coded, {position, nullptr}, true, to)))
      restore<PhaseCenter>(center, coded, weight, position, to);
  }

  // Queries of several heads into coded space. to: [queries.count, kDim], may be the queries.
  template <class Transform>
  static void prepare_queries(const Transform& transform, Rows queries, float* to) {
    for (std::size_t j = 0; j < queries.count; ++j) {
      float between[kDim];
      std::memcpy(between, queries[j], sizeof between);
      transform.template prepare_query<kDim>(between, to + j * kDim);
    }
  }
  template <class First, class Second>
  static void prepare_queries(const Chain<First, Second>& chain, Rows queries, float* to) {
    prepare_queries(chain.first, queries, to);
    prepare_queries(chain.second, Rows{to, queries.count, kDim}, to);
  }
  template <std::uint64_t kSeed>
  static void prepare_queries(const RandomHadamard<kSeed>& transform, Rows queries, float* to) {
    forward(transform, queries, {0, nullptr}, to);
  }
  static void prepare_queries(const Balance& balance, Rows queries, float* to) {
    restore(balance, queries, 1.0f, 0, to);  // the same products
  }

 private:
  template <std::uint64_t kSeed>
  static abi::HadamardArguments hadamard_arguments(const float* scale, Rows rows, bool back,
                                                   float* to) {
    return {rows.data,
            rows.stride,
            static_cast<std::uint32_t>(rows.count),
            kDim,
            RandomHadamard<kSeed>::template kSigns<kDim>.data(),
            scale,
            back,
            to,
            kDim};
  }
  static abi::BalanceArguments balance_arguments(const Balance& balance, Rows rows, bool back,
                                                 float* to) {
    return {rows.data, rows.stride,   static_cast<std::uint32_t>(rows.count),
            kDim,      balance.scale, back,
            to,        kDim};
  }
  static abi::PhaseArguments phase_arguments(const PhaseCenter& center, Rows rows, Positions at,
                                             bool back, float* to) {
    const Rope& rope = *center.rope;
    return {rows.data,
            rows.stride,
            static_cast<std::uint32_t>(rows.count),
            kDim,
            at.first,
            center.mean,
            rope.turns.data(),
            rope.dims,
            rope.layout == RopeLayout::kHalves,
            back,
            at.angles,
            to,
            kDim};
  }
};

// Formats whose forward is that of their transform.
template <class F>
inline constexpr bool kTransforms = false;
template <std::uint32_t kDim, class Transform, class Split, class Quant, class Codec, Role kRole>
inline constexpr bool kTransforms<BlockFormat<kDim, Transform, Split, Quant, Codec, kRole>> = true;

// Formats whose forward copies: rows are in coded space as they come.
template <class F>
inline constexpr bool kCodesRowsAsTheyAre = false;
template <std::uint32_t kDim, class Split, class Quant, class Codec, Role kRole>
inline constexpr bool
    kCodesRowsAsTheyAre<BlockFormat<kDim, NoTransform, Split, Quant, Codec, kRole>> = true;
template <std::uint32_t kDim, class Element>
inline constexpr bool kCodesRowsAsTheyAre<RawFormat<kDim, Element>> = true;

// The bits of the largest magnitude of rows, as largest_magnitude orders them.
inline std::uint32_t largest(Rows rows, std::uint32_t dim) {
  std::uint32_t most = 0;
  for (std::size_t t = 0; t < rows.count; ++t)
    most = upper_of(most, __builtin_bit_cast(std::uint32_t, largest_magnitude(rows[t], dim)));
  return most;
}

// Statistics by the format's own functions.
template <SharedFormat F>
void observe(const F& format, Rows rows, typename F::Stat* stats) {
  for (std::size_t t = 0; t < rows.count; ++t) {
    typename F::Stat one{};
    format.observe(rows[t], one);
    stats[t] = F::merge(stats[t], one);
  }
}

// Formats of Oaken's bands (simd/oaken_view.h).
template <class F>
concept Banded = simd::kHasOakenView<F>;

template <Banded F>
abi::BandView band_view(const F& format) {
  abi::BandView view{};
  view.oaken = simd::oaken_view(format);
  view.keys = F::kRole == Role::kKey;
  view.shifts_outer = std::remove_cvref_t<decltype(format.quant)>::shifts(Band::kOuter);
  view.outer_low = format.split.outer_low;
  view.inner_low = format.split.inner_low;
  view.inner_high = format.split.inner_high;
  view.outer_high = format.split.outer_high;
  return view;
}

}  // namespace codecs

// Functions: static members that take the structs of abi.h and tell whether they did it (false: the
// target has no vectors).
//   bool encode(const abi::CodeView&, const abi::EncodeArguments&)
//   bool decode(const abi::CodeView&, const abi::DecodeArguments&)
//   bool hadamard(const abi::HadamardArguments&)
//   bool phase_center(const abi::PhaseArguments&)
//   bool phase_angles(const std::uint64_t* turns, std::uint32_t pairs, const abi::PhaseAngles&)
//   bool narrow(const abi::RawView&, const abi::EncodeArguments&)     raw rows: their elements
//   bool widen(const abi::RawView&, const abi::DecodeArguments&)      the way back
//   bool balance(const abi::BalanceArguments&)
//   bool largest_in(const float* rows, std::size_t stride, std::uint32_t count, std::uint32_t dim,
//                std::uint32_t* bits)                      of the largest magnitude
//   bool encode_bands(const abi::BandView&, const abi::BandArguments&)
//   bool decode_bands(const abi::BandView&, const abi::DecodeArguments&)
//   bool observe_bands(const abi::BandView&, const float* rows, std::size_t stride,
//                      std::uint32_t count, abi::BandRanges*)      folds into [count] ranges
//   bool count_outliers(const abi::BandView&, const float* row, std::uint8_t* counts)  per chunk
// The members below are those that a kernel set may have, with these parameters: one that has others
// is not called (cache/stream.h, cache/kv_cache_state.h and attention/attend.h go through Coder).
template <class Functions>
struct Codecs {
  // Rows into coded space.
  //   coded: [rows.count, F::kCoded]
  template <Format F>
  static void forward(const F& format, Rows rows, codecs::Positions at, float* coded) {
    if constexpr (codecs::kTransforms<F>) {
      codecs::Transforms<Functions, F::kDim>::forward(format.transform, rows, at, coded);
    } else {
      for (std::size_t t = 0; t < rows.count; ++t)
        format.forward(rows[t], at.first + static_cast<std::int64_t>(t), coded + t * F::kCoded);
    }
  }
  // Sines and cosines that forward takes for the phases of a RoPE. False: there are none.
  static bool phase_angles(const Rope& rope, const abi::PhaseAngles& to) {
    return Functions::phase_angles(rope.turns.data(), rope.pairs(), to);
  }
  // The largest magnitude of rows of `dim` floats; NaN counts as larger than infinity.
  static float largest_in(Rows rows, std::uint32_t dim) {
    std::uint32_t bits = 0;
    if (!Functions::largest_in(rows.data, rows.stride, static_cast<std::uint32_t>(rows.count), dim,
                               &bits)) {
      bits = codecs::largest(rows, dim);
    }
    return __builtin_bit_cast(float, bits);
  }
  // The way back, with weight 1. rows: [coded.count, F::kDim]
  template <Format F>
  static void restore(const F& format, Rows coded, std::int64_t position, float* rows) {
    if constexpr (codecs::kTransforms<F>) {
      codecs::Transforms<Functions, F::kDim>::restore(format.transform, coded, 1.0f, position,
                                                      rows);
    } else {
      for (std::size_t t = 0; t < coded.count; ++t) {
        format.restore(coded[t], 1.0f, position + static_cast<std::int64_t>(t), rows + t * F::kDim);
      }
    }
  }
  // Queries of several heads, as format.prepare_query has them. coded: [queries.count, F::kCoded]
  template <Format F>
  static void prepare_queries(const F& format, Rows queries, float* coded) {
    if constexpr (codecs::kTransforms<F>) {
      codecs::Transforms<Functions, F::kDim>::prepare_queries(format.transform, queries, coded);
    } else {
      for (std::size_t j = 0; j < queries.count; ++j)
        format.prepare_query(queries[j], coded + j * F::kCoded);
    }
  }
  // A sum of coded rows whose weights add up to `weight`, of a transform that has no position.
  template <Format F>
  static void restore_sum(const F& format, const float* sum, float weight, float* row) {
    if constexpr (codecs::kTransforms<F>) {
      codecs::Transforms<Functions, F::kDim>::restore(format.transform, Rows{sum, 1, F::kDim},
                                                      weight, 0, row);
    } else {
      format.restore(sum, weight, 0, row);
    }
  }
  // The same bytes, and the same counts, as format.encode.
  template <Format F>
  static void encode(const F& format, Rows rows, std::uint32_t slot, const std::uint8_t* shared,
                     std::uint8_t* block, SpillWriter& spill, EncodeCounters& counters) {
    if constexpr (EncodesByView<F>) {
      const abi::EncodeArguments arguments{rows.data, rows.stride,
                                           static_cast<std::uint32_t>(rows.count), slot, block};
      if (Functions::encode(code_view(format), arguments)) {
        counters.values += rows.count * F::kDim;
        return;
      }
    }
    if constexpr (RawRowFormat<F>) {
      const abi::EncodeArguments arguments{rows.data, rows.stride,
                                           static_cast<std::uint32_t>(rows.count), slot, block};
      if (Functions::narrow(raw_view(format), arguments)) {
        counters.values += rows.count * F::kDim;
        return;
      }
    }
    if constexpr (codecs::Banded<F>) {
      std::uint64_t outer = 0;
      std::uint64_t inner = 0;
      const abi::BandArguments arguments{
          rows.data,  rows.stride, static_cast<std::uint32_t>(rows.count),
          slot,       shared,      block,
          spill.data, &spill.size, &outer,
          &inner};
      if (Functions::encode_bands(codecs::band_view(format), arguments)) {
        KVPLEAT_ASSERT(spill.size <= spill.capacity);
        counters.values += rows.count * F::kDim;
        counters.outer += outer;
        counters.inner += inner;
        counters.outliers += outer + inner;
        return;
      }
    }
    format.encode(rows, slot, shared, block, spill, counters);
  }
  // Folds rows into the statistics of their tokens, as observe and merge of the format do.
  //   stats: [rows.count]
  template <SharedFormat F>
  static void observe(const F& format, Rows rows, typename F::Stat* stats) {
    if constexpr (codecs::Banded<F>) {
      constexpr std::size_t kRows = 16;
      for (std::size_t done = 0; done < rows.count; done += kRows) {
        const Rows part = rows.part(done, lower_of(kRows, rows.count - done));
        abi::BandRanges ranges[kRows];
        for (std::size_t t = 0; t < part.count; ++t) {
          for (std::size_t band = 0; band < 3; ++band) {
            ranges[t].lowest[band] = stats[done + t].lowest[band];
            ranges[t].highest[band] = stats[done + t].highest[band];
          }
        }
        if (!Functions::observe_bands(codecs::band_view(format), part.data, part.stride,
                                      static_cast<std::uint32_t>(part.count), ranges)) {
          return codecs::observe(format, rows, stats);
        }
        for (std::size_t t = 0; t < part.count; ++t) {
          for (std::size_t band = 0; band < 3; ++band) {
            stats[done + t].lowest[band] = ranges[t].lowest[band];
            stats[done + t].highest[band] = ranges[t].highest[band];
          }
        }
      }
    } else {
      codecs::observe(format, rows, stats);
    }
  }
  template <SpillingFormat F>
  static std::uint32_t spill_need(const F& format, const float* coded) {
    if constexpr (codecs::Banded<F>) {
      std::uint8_t counts[ceil_div(F::kDim, 64u)];
      if (Functions::count_outliers(codecs::band_view(format), coded, counts)) {
        if constexpr (requires { F::Layout::Shape::token_bytes(counts); }) {
          return F::Layout::Shape::token_bytes(counts);
        } else {
          std::uint32_t found = 0;
          for (const std::uint32_t n : counts) found += n;
          return 2 * found;  // jagged: an entry and its delta
        }
      }
    }
    return format.spill_need(coded);
  }
  // The same floats as format.decode.
  template <Format F>
  static void decode(const F& format, const BlockBytes& bytes, std::uint32_t slot,
                     MutableRows rows) {
    if constexpr (DecodesByView<F>) {
      const abi::DecodeArguments arguments{bytes, slot, static_cast<std::uint32_t>(rows.count),
                                           rows.data, rows.stride};
      if (Functions::decode(code_view(format), arguments)) return;
    }
    if constexpr (RawRowFormat<F>) {
      const abi::DecodeArguments arguments{bytes, slot, static_cast<std::uint32_t>(rows.count),
                                           rows.data, rows.stride};
      if (Functions::widen(raw_view(format), arguments)) return;
    }
    if constexpr (codecs::Banded<F>) {
      const abi::DecodeArguments arguments{bytes, slot, static_cast<std::uint32_t>(rows.count),
                                           rows.data, rows.stride};
      if (Functions::decode_bands(codecs::band_view(format), arguments)) return;
    }
    format.decode(bytes, slot, rows);
  }
  // The same rounded to halves, nearest, ties to even: rows that follow each other. Rows are
  // finite.
  //   rows: [n, F::kCoded]
  template <Format F>
  static void decode_halves(const F& format, const BlockBytes& bytes, std::uint32_t slot,
                            std::uint32_t n, Half* rows) {
    constexpr std::uint32_t kRows = 8;  // at once: 2 to 18 KiB of stack
    float decoded[kRows * F::kCoded];
    for (std::uint32_t done = 0; done < n; done += kRows) {
      const std::uint32_t take = lower_of(kRows, n - done);
      decode(format, bytes, slot + done, MutableRows{decoded, take, F::kCoded});
      Half* to = rows + static_cast<std::size_t>(done) * F::kCoded;
      // A block of raw rows that begins at `to`.
      const abi::RawView raw{F::kCoded, abi::Element::kHalf};
      const abi::EncodeArguments arguments{decoded, F::kCoded, take, 0,
                                           reinterpret_cast<std::uint8_t*>(to)};
      if (Functions::narrow(raw, arguments)) continue;
      for (std::uint32_t i = 0; i < take * F::kCoded; ++i) to[i] = to_half(decoded[i]);
    }
  }
};

// What a cache and its attention code with: a kernel set's own functions where it has them, else the
// formats'.
template <class Kernels>
struct Coder {
  static float largest_in(Rows rows, std::uint32_t dim) {
    if constexpr (requires { Kernels::largest_in(rows, dim); }) {
      return Kernels::largest_in(rows, dim);
    } else {
      return __builtin_bit_cast(float, codecs::largest(rows, dim));
    }
  }
  // Rows in coded space: themselves, if nothing changes, or in `coded`.
  template <Format F>
  static Rows code(const F& format, Rows rows, codecs::Positions at, float* coded) {
    if constexpr (codecs::kCodesRowsAsTheyAre<F>) {
      return rows;
    } else {
      forward(format, rows, at, coded);
      return Rows{coded, rows.count, F::kCoded};
    }
  }
  template <Format F>
  static void forward(const F& format, Rows rows, codecs::Positions at, float* coded) {
    if constexpr (requires { Kernels::forward(format, rows, at, coded); }) {
      Kernels::forward(format, rows, at, coded);
    } else {
      for (std::size_t t = 0; t < rows.count; ++t)
        format.forward(rows[t], at.first + static_cast<std::int64_t>(t), coded + t * F::kCoded);
    }
  }
  static bool phase_angles(const Rope& rope, const abi::PhaseAngles& to) {
    if constexpr (requires { Kernels::phase_angles(rope, to); }) {
      return Kernels::phase_angles(rope, to);
    } else {
      return false;
    }
  }
  template <Format F>
  static void restore(const F& format, Rows coded, std::int64_t position, float* rows) {
    if constexpr (requires { Kernels::restore(format, coded, position, rows); }) {
      Kernels::restore(format, coded, position, rows);
    } else {
      for (std::size_t t = 0; t < coded.count; ++t) {
        format.restore(coded[t], 1.0f, position + static_cast<std::int64_t>(t), rows + t * F::kDim);
      }
    }
  }
  template <Format F>
  static void prepare_queries(const F& format, Rows queries, float* coded) {
    if constexpr (requires { Kernels::prepare_queries(format, queries, coded); }) {
      Kernels::prepare_queries(format, queries, coded);
    } else {
      for (std::size_t j = 0; j < queries.count; ++j)
        format.prepare_query(queries[j], coded + j * F::kCoded);
    }
  }
  template <Format F>
  static void restore_sum(const F& format, const float* sum, float weight, float* row) {
    if constexpr (requires { Kernels::restore_sum(format, sum, weight, row); }) {
      Kernels::restore_sum(format, sum, weight, row);
    } else {
      format.restore(sum, weight, 0, row);
    }
  }
  template <Format F>
  static void encode(const F& format, Rows rows, std::uint32_t slot, const std::uint8_t* shared,
                     std::uint8_t* block, SpillWriter& spill, EncodeCounters& counters) {
    if constexpr (requires {
                    Kernels::encode(format, rows, slot, shared, block, spill, counters);
                  }) {
      Kernels::encode(format, rows, slot, shared, block, spill, counters);
    } else {
      format.encode(rows, slot, shared, block, spill, counters);
    }
  }
  template <SharedFormat F>
  static void observe(const F& format, Rows rows, typename F::Stat* stats) {
    if constexpr (requires { Kernels::observe(format, rows, stats); }) {
      Kernels::observe(format, rows, stats);
    } else {
      codecs::observe(format, rows, stats);
    }
  }
  template <SpillingFormat F>
  static std::uint32_t spill_need(const F& format, const float* coded) {
    if constexpr (requires { Kernels::spill_need(format, coded); }) {
      return Kernels::spill_need(format, coded);
    } else {
      return format.spill_need(coded);
    }
  }
  template <Format F>
  static void decode(const F& format, const BlockBytes& bytes, std::uint32_t slot,
                     MutableRows rows) {
    if constexpr (requires { Kernels::decode(format, bytes, slot, rows); }) {
      Kernels::decode(format, bytes, slot, rows);
    } else {
      format.decode(bytes, slot, rows);
    }
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
