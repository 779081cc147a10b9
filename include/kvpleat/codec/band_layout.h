// BandLayout: what layouts for the bands of a threshold splitter have in common.
#pragma once

#include <cstdint>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/outlier.h"

namespace kvpleat::inline KVPLEAT_ISA {

// A token's ranges lie in the shared bytes, [64 tokens][Quant::kParameterBytes]; if
// Quant::kPerHead, in the same order in the head's own block, from kCodeSize on.
template <std::uint32_t kDim, class Split, class Quant, std::uint32_t kCodeSize>
struct BandLayout {
  using Stat = typename Quant::Stat;
  using Parameters = typename Quant::Parameters;
  static constexpr std::uint32_t kBlockTokens = 64;
  static constexpr std::uint32_t kSeal = 1;
  static constexpr std::uint32_t kChunks = ceil_div(kDim, 64u);
  static constexpr std::uint32_t kCodeBytes = kCodeSize;
  static constexpr std::uint32_t kRangeBytes = kBlockTokens * Quant::kParameterBytes;
  static constexpr std::uint32_t kSideBytes = Quant::kPerHead ? kRangeBytes : 0;
  static constexpr std::uint32_t kSharedBytes = Quant::kPerHead ? 0 : kRangeBytes;
  static constexpr std::uint32_t kCountsAt = kCodeBytes + kSideBytes;
  static constexpr float kLargest = Quant::kLargest;

  static void observe(const Split& split, const Quant& quant, const float* row, Stat& stat) {
    for (std::uint32_t c = 0; c < kDim; ++c) quant.observe(split, row[c], stat);
  }
  static Stat merge(const Stat& a, const Stat& b) { return Quant::merge(a, b); }
  static void write_shared(const Stat& stat, std::uint32_t slot, std::uint8_t* shared) {
    Quant::write(stat, shared + slot * Quant::kParameterBytes);
  }
  // The stored ranges of a token.
  static Parameters parameters(const BlockBytes& bytes, std::uint32_t slot) {
    return Quant::read((Quant::kPerHead ? bytes.block + kCodeBytes : bytes.shared) +
                       slot * Quant::kParameterBytes);
  }
  // The same of a token that is being encoded: ranges of its head alone are written first.
  static Parameters open_parameters(const Split& split, const Quant& quant, const float* row,
                                    std::uint32_t slot, const std::uint8_t* shared,
                                    std::uint8_t* block) {
    if constexpr (Quant::kPerHead) {
      Stat stat;
      observe(split, quant, row, stat);
      Quant::write(stat, block + kCodeBytes + slot * Quant::kParameterBytes);
    }
    return parameters(BlockBytes{block, shared, nullptr, 0}, slot);
  }
  static void erase_parameters(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
    if constexpr (Quant::kPerHead) {
      std::uint8_t* ranges = block + kCodeBytes + slot * Quant::kParameterBytes;
      for (std::uint32_t i = 0; i < n * Quant::kParameterBytes; ++i) ranges[i] = 0;
    }
  }
  static std::uint32_t outliers(const Split& split, const float* row) {
    std::uint32_t found = 0;
    for (std::uint32_t c = 0; c < kDim; ++c) found += split.band(row[c]).band != Band::kMiddle;
    return found;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
