// The stages of Oaken's quantization engine, one by one: classify, shift, range, code, compact.
// FusedCodec encodes with them; called in this order on a token they give its bytes.
// Source: Oaken (ISCA 2025), section 5: decomposer, threshold subtraction, min-max finder,
// quantizers, and the zero-remove shifter that compacts the sparse stream.
#pragma once

#include <cstdint>

#include "kvpleat/codec/coo_entry.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/outlier.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace oaken {

// The band and side of every element.
//   row: [n] coded values; at: [n].
template <class Split>
void classify(const Split& split, const float* row, std::uint32_t n, BandSide* at) {
  for (std::uint32_t c = 0; c < n; ++c) at[c] = split.band(row[c]);
}

// What each element is measured as: minus its threshold where its band is shifted. Signed.
//   row: [n]; at: [n] of classify; u: [n], may be row.
template <class Quant, class Split>
void shift(const Split& split, const float* row, const BandSide* at, std::uint32_t n, float* u) {
  for (std::uint32_t c = 0; c < n; ++c) u[c] = Quant::shifted(split, row[c], at[c]);
}

// Folds the elements into the ranges of their bands. Over all heads of a token: fold each head into
// one stat, in any order, or merge the heads' own; then Quant::write stores the ranges.
//   u: [n] of shift; at: [n].
template <class Quant>
void range(const float* u, const BandSide* at, std::uint32_t n, typename Quant::Stat& stat) {
  for (std::uint32_t c = 0; c < n; ++c) Quant::fold(u[c], at[c], stat);
}

// The code of every element, from the ranges as stored.
//   u, at: [n]; codes: [n], below 16 in the middle, below 2^kOutlierBits elsewhere.
template <class Quant>
void code(const typename Quant::Parameters& ranges, const float* u, const BandSide* at,
          std::uint32_t n, std::uint8_t* codes) {
  for (std::uint32_t c = 0; c < n; ++c)
    codes[c] = static_cast<std::uint8_t>(Quant::code(ranges, u[c], at[c]));
}

// Lays one token down: bits 3..0 of every code in a nibble, an entry per outlier in the spill, and
// how many of them each chunk has.
//   at, codes: [kDim]; dense: [ceil(kDim / 2)]; counts: [ceil(kDim / 64)]. Both are overwritten; the
//   spill grows by Shape::token_bytes(counts).
template <std::uint32_t kDim, class Quant, class Entry, SpillAlign kAlign>
void compact(const BandSide* at, const std::uint8_t* codes, std::uint8_t* dense,
             std::uint8_t* counts, SpillWriter& spill, EncodeCounters& counters) {
  using Shape = SpillShape<kDim, Entry, kAlign>;
  for (std::uint32_t i = 0; i < (kDim + 1) / 2; ++i) {
    const std::uint32_t upper = 2 * i + 1 < kDim ? codes[2 * i + 1] & 15u : 0u;
    dense[i] = static_cast<std::uint8_t>((codes[2 * i] & 15u) | upper << 4);
  }
  std::uint32_t bytes = 0;
  for (std::uint32_t k = 0; k < Shape::kChunks; ++k) {
    std::uint32_t count = 0;
    for (std::uint32_t c = 64 * k; c < lower_of(64 * k + 64, kDim); ++c) {
      if (at[c].band == Band::kMiddle) continue;
      Entry::push(Entry::template pack<Quant>(c % 64, at[c], codes[c]), spill);
      ++count;
      ++(at[c].band == Band::kOuter ? counters.outer : counters.inner);
    }
    counts[k] = static_cast<std::uint8_t>(count);
    counters.outliers += count;
    for (std::uint32_t b = count * Entry::kBytes; b < Shape::chunk_bytes(count); ++b) spill.push(0);
    bytes += Shape::chunk_bytes(count);
  }
  for (std::uint32_t b = Shape::token_padding(bytes); b > 0; --b) spill.push(0);
  counters.values += kDim;
}

}  // namespace oaken
}  // namespace kvpleat::inline KVPLEAT_ISA
