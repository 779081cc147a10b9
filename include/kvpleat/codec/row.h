// RowCodec: the rows of tokens as runs of a RowQuantizer, one token after the other. The order of
// engines whose cache is an array of quantized rows: a token's bytes can be exchanged as they are.
#pragma once

#include <cstdint>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

// V = Quant::kValues, N = Quant::kBytes. The same bytes for keys and values:
//   block  [64 tokens][head_dim / V] runs of N bytes; run i holds channels i * V .. i * V + V - 1
// Bits per element: 8 * N / V. Quant::kScaleBytes, where it exists, tells how many bytes of a run
// are scales; without it they all count as codes.
struct RowCodec {
  static constexpr auto kId = Text("codec=rows");
  static constexpr bool kSpills = false;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (!RowQuantizer<Quant>) {
      return Refusal::kRowsNeedRowQuantizer;
    } else {
      return Split::kMaxOutliers > 0 ? Refusal::kRowsTakeNoOutliers : Refusal::kNone;
    }
  }

  template <std::uint32_t kDim, class Split, class Quant, Role kRole>
  struct Layout {
    static_assert(kDim % Quant::kValues == 0,
                  "kvpleat: RowCodec stores whole runs: head_dim must be a multiple of the "
                  "quantizer's kValues (32 for the ggml types); pad the rows with zeros, or use a "
                  "format of groups (Int4G32)");
    static constexpr std::uint32_t kBlockTokens = 64;
    static constexpr std::uint32_t kSeal = 1;
    static constexpr std::uint32_t kRuns = kDim / Quant::kValues;  // of one token
    static constexpr std::uint32_t kRowBytes = kRuns * Quant::kBytes;
    static constexpr std::uint32_t kBlockBytes = kBlockTokens * kRowBytes;
    static constexpr std::uint32_t kSideBytes = [] {
      if constexpr (requires { Quant::kScaleBytes; }) {
        return kBlockTokens * kRuns * static_cast<std::uint32_t>(Quant::kScaleBytes);
      } else {
        return 0u;
      }
    }();
    static constexpr std::uint32_t kCodeBytes = kBlockBytes - kSideBytes;
    static constexpr std::uint32_t kOutlierBytes = 0;
    static constexpr std::uint32_t kSharedBytes = 0;
    static constexpr float kLargest = Quant::kLargest;

    // Byte of run i of the token in `slot`.
    static constexpr std::uint32_t run_at(std::uint32_t slot, std::uint32_t i) {
      return slot * kRowBytes + i * Quant::kBytes;
    }

    static void encode(const Split&, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t*, std::uint8_t* block, SpillWriter&,
                       EncodeCounters& counters) {
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        for (std::uint32_t i = 0; i < kRuns; ++i)
          quant.encode(rows[t] + i * Quant::kValues, block + run_at(slot + t, i));
      }
      counters.values += rows.count * kDim;
    }
    static void decode(const Split&, const Quant& quant, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        for (std::uint32_t i = 0; i < kRuns; ++i)
          quant.decode(bytes.block + run_at(slot + t, i), rows[t] + i * Quant::kValues);
      }
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      for (std::uint32_t i = slot * kRowBytes; i < (slot + n) * kRowBytes; ++i) block[i] = 0;
    }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
