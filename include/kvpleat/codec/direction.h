// DirectionCodec: dense codes plus one signed byte per token, the coefficient of a direction.
#pragma once

#include <cstdint>

#include "kvpleat/codec/dense.h"
#include "kvpleat/core/axis.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

// After the tile and its side data, for keys and values alike:
//   coefficient [64 tokens] int8, two's complement
// value = dense value + coefficient * step * direction[c]. A token is coded in three rounds:
//   1. coefficient of the row      2. dense codes of the row without it
//   3. coefficient of the row without the dense values: that is the one stored
// The third puts the dense error along the direction into the coefficient: along it the error is at
// most step / 2 plus roundings, unless the coefficient is clamped. A clamped coefficient leaves the
// rest to the dense codes. Bits per element: those of the tile + 8 / head_dim.
struct DirectionCodec {
  static constexpr auto kId = Text("codec=direction");
  static constexpr bool kSpills = false;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (!Quantizer<Quant>) {
      return DenseCodec::refusal<Split, Quant>();
    } else if constexpr (!requires { Split::kIsDirection; } || Quant::kAxis != Axis::kChannels) {
      return Refusal::kDirectionNeedsSplit;
    } else {
      return composition::refusal_of_tile<Quant>();
    }
  }

  template <std::uint32_t kDim, class Split, class Quant, Role kRole>
  struct Layout {
    using Dense = DenseLayout<kDim, Quant, kRole>;
    static constexpr std::uint32_t kBlockTokens = Dense::kBlockTokens;
    static constexpr std::uint32_t kSeal = 1;
    static constexpr std::uint32_t kCodeBytes = Dense::kCodeBytes;
    static constexpr std::uint32_t kSideBytes = Dense::kSideBytes;
    static constexpr std::uint32_t kOutlierBytes = kBlockTokens;
    static constexpr std::uint32_t kSharedBytes = 0;
    static constexpr std::uint32_t kBlockBytes = kCodeBytes + kSideBytes + kOutlierBytes;
    // A row without its part along a direction is not longer than the row, but one channel may be
    // as large as the row is long: sqrt(head_dim) times what the row's largest was. A quantizer
    // that scales by the RMS of the whole row says what that means to it.
    static constexpr float kLargest = [] {
      if constexpr (requires { Quant::template kLargestRms<kDim>; } && Dense::kGroups == 1) {
        return Quant::template kLargestRms<kDim>;
      } else {
        float root = 1.0f;
        while (root * root < static_cast<float>(kDim)) root += 1.0f;
        return Quant::kLargest / root;
      }
    }();
    static constexpr std::uint32_t kCoefficients = Dense::kBytes;  // their first byte

    static std::int32_t coefficient(const std::uint8_t* block, std::uint32_t slot) {
      return static_cast<std::int8_t>(block[kCoefficients + slot]);
    }
    static void encode(const Split& split, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t*, std::uint8_t* block, SpillWriter&,
                       EncodeCounters& counters) {
      float rest[kDim];
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const float* row = rows[t];
        const std::int32_t first = split.code(row);
        for (std::uint32_t c = 0; c < kDim; ++c) rest[c] = row[c] - split.value(first, c);
        const auto all = [](std::uint32_t, std::uint32_t) { return true; };
        Dense::encode(quant, Rows{rest, 1, kDim}, slot + t, block, all);
        dense::count_saturated<kDim>(quant, Rows{rest, 1, kDim}, all, counters);
        Dense::decode(quant, block, slot + t, MutableRows{rest, 1, kDim});
        for (std::uint32_t c = 0; c < kDim; ++c) rest[c] = row[c] - rest[c];
        block[kCoefficients + slot + t] =
            static_cast<std::uint8_t>(static_cast<std::int8_t>(split.code(rest)));
      }
      counters.values += rows.count * kDim;
    }
    static void decode(const Split& split, const Quant& quant, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      Dense::decode(quant, bytes.block, slot, rows);
      if (split.direction == nullptr) return;  // adding 0 would take the sign of zeros
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const std::int32_t code = coefficient(bytes.block, slot + t);
        for (std::uint32_t c = 0; c < kDim; ++c) rows[t][c] += split.value(code, c);
      }
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      Dense::erase(block, slot, n);
      for (std::uint32_t t = slot; t < slot + n; ++t) block[kCoefficients + t] = 0;
    }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
