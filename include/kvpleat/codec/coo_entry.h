// CooEntry: one outlier in the spill, by its place in a chunk of 64 elements.
#pragma once

#include <cstdint>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/outlier.h"

namespace kvpleat::inline KVPLEAT_ISA {

// kEntryBits bits, little endian: the upper six are the index in the chunk, the lowest is bit 4 of
// the outlier's code if that has five, and those between number the band, from inside, the middle
// not counted. With one inner and one outer band, five-bit codes and eight bits: bits 7..2 index,
// bit 1: 1 = outer, 0 = inner, bit 0: bit 4 of the code. Bits of the number that are not needed are
// 0. Source: Oaken (ISCA 2025), figure 7 and table 3.
template <std::uint32_t kEntryBits>
struct CooEntry {
  static_assert(kEntryBits == 8 || kEntryBits == 16, "kvpleat: a CooEntry has 8 or 16 bits");
  static constexpr std::uint32_t kBits = kEntryBits;
  static constexpr std::uint32_t kBytes = kEntryBits / 8;

  // Bands that the entry can tell apart, for codes of code_bits.
  static constexpr std::uint32_t bands(std::uint32_t code_bits) {
    return 1u << (kEntryBits - 6 - (code_bits - 4));
  }
  // What Quant's bands and codes become.
  template <class Quant>
  static constexpr std::uint32_t pack(std::uint32_t index, BandSide at, std::uint32_t code) {
    constexpr std::uint32_t kCodeBits = Quant::kOutlierBits - 4;
    const std::uint32_t number = at.band == Band::kInner
                                     ? Quant::kInnerBands - 1u - at.nested
                                     : Quant::kInnerBands + Quant::kOuterBands - 1u - at.nested;
    return index << (kEntryBits - 6) | number << kCodeBits | code >> 4;
  }
  struct Unpacked {
    std::uint32_t index = 0;
    std::uint32_t upper = 0;  // of the code, in its place: 0 or 16
    BandSide at{};            // without the side
    bool valid = false;       // false: no such band, damaged bytes
  };
  template <class Quant>
  static constexpr Unpacked unpack(std::uint32_t entry) {
    constexpr std::uint32_t kCodeBits = Quant::kOutlierBits - 4;
    constexpr std::uint32_t kNumbers = 1u << (kEntryBits - 6 - kCodeBits);
    const std::uint32_t number = (entry >> kCodeBits) % kNumbers;
    Unpacked result;
    result.index = entry >> (kEntryBits - 6);
    result.upper = kCodeBits == 1 ? (entry & 1u) << 4 : 0u;
    result.valid = number < Quant::kInnerBands + Quant::kOuterBands;
    if (number + 1 <= Quant::kInnerBands) {  // number < kInnerBands; nvcc tells of 0
      result.at = {Band::kInner, false,
                   static_cast<std::uint8_t>(Quant::kInnerBands - 1u - number)};
    } else if (result.valid) {
      result.at = {
          Band::kOuter, false,
          static_cast<std::uint8_t>(Quant::kInnerBands + Quant::kOuterBands - 1u - number)};
    }
    return result;
  }
  static void push(std::uint32_t entry, SpillWriter& spill) {
    for (std::uint32_t b = 0; b < kBytes; ++b)
      spill.push(static_cast<std::uint8_t>(entry >> (8 * b) & 255u));
  }
  static std::uint32_t load_at(const std::uint8_t* bytes) {
    std::uint32_t entry = 0;
    for (std::uint32_t b = 0; b < kBytes; ++b)
      entry |= static_cast<std::uint32_t>(bytes[b]) << (8 * b);
    return entry;
  }
};
using CooEntry8 = CooEntry<8>;
using CooEntry16 = CooEntry<16>;

// What the entries of a block are padded to, with zero bytes, besides the start of a block's run,
// which the store always puts at a multiple of 8 bytes.
//   kBlock: nothing more. kToken: each token's entries to a multiple of 8 bytes; kChunk: each
//   chunk's.
enum class SpillAlign : std::uint8_t { kBlock, kToken, kChunk };

template <SpillAlign kAlign>
inline constexpr auto kSpillAlignText = Text("block");
template <>
inline constexpr auto kSpillAlignText<SpillAlign::kToken> = Text("token");
template <>
inline constexpr auto kSpillAlignText<SpillAlign::kChunk> = Text("chunk");

// How the entries of one token of kDim elements lie in the spill. `counts` are its chunks'.
template <std::uint32_t kDim, class Entry, SpillAlign kAlign>
struct SpillShape {
  static constexpr std::uint32_t kChunks = ceil_div(kDim, 64u);
  // Of a chunk, its padding included.
  static constexpr std::uint32_t chunk_bytes(std::uint32_t count) {
    return kAlign == SpillAlign::kChunk ? round_up(count * Entry::kBytes, 8u)
                                        : count * Entry::kBytes;
  }
  // Padding at the end of a token whose chunks take this many bytes.
  static constexpr std::uint32_t token_padding(std::uint32_t bytes) {
    return kAlign == SpillAlign::kToken ? round_up(bytes, 8u) - bytes : 0u;
  }
  static constexpr std::uint32_t token_bytes(const std::uint8_t* counts) {
    std::uint32_t bytes = 0;
    for (std::uint32_t k = 0; k < kChunks; ++k) bytes += chunk_bytes(counts[k]);
    return bytes + token_padding(bytes);
  }
  // Of a token of outliers only.
  static constexpr std::uint32_t kMost = [] {
    std::uint8_t counts[kChunks] = {};
    for (std::uint32_t c = 0; c < kDim; ++c) ++counts[c / 64];
    return token_bytes(counts);
  }();
};

}  // namespace kvpleat::inline KVPLEAT_ISA
