// HashSparse: only the largest elements of each token, in one open-addressing table per block. What
// is not in the table reads as zero.
//
// An entry costs 16 bits at head_dim 64 whatever it keeps, and a table is at most four fifths full:
// 20 bits per kept value. Against dense 4-bit codes this wins only where less than one value in
// five is worth keeping.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

// kPerToken: entries per token that the table is made for; 0: as many as the splitter picks. Fewer
// suit a splitter that picks a varying number (MadSplit): then the table may fill up.
//
// S slots = the power of two not below 64 * kPerToken / 0.8. A key is channel * 64 + token, of K =
// 6 + ceil(log2(head_dim)) bits. Keys and values alike:
//   entry  [S] two bytes, little endian   bits 3..0 the code, 1..15 (0: a free slot); bits 15..4
//                                         key bits 11..0
//   plane  [K - 12][S/8]                  key bit 12 + p of slot s: bit s mod 8 of byte s / 8;
//                                         none up to head_dim 64
//   step   [64] binary16                  of each token: SymmetricQuant<4> over what it keeps
// The splitter picks the elements of a token. Those whose code is zero are left out: they read as
// zero without an entry. The others go in by ascending channel, tokens in order: the slot of a key
// is the first free one from (key * 0x9e3779b1 mod 2^32) >> (32 - log2 S) on, around the end. One
// slot stays free, so that every probe ends. If the table has not enough free slots, the token
// keeps the largest of its elements (ties: the lowest channel first) and the others are dropped and
// counted (EncodeCounters::dropped).
// Bytes of a token depend on the tokens before it, never on later ones. Erasing takes entries out
// by shifting back those that a free slot would hide; for the last tokens there are none, and the
// table is as it was before they came. Slots in the middle cannot be rewritten (kAppendOnly).
// The step of a token is that of its largest element: an outlier is kept, and what lies beside it
// rounds to zero. Where single values stand out by far, take them off first.
// Error: kept values step / 2; all others their magnitude. Bits per element: S * (4 + max(K, 12)) /
// (64 * head_dim) + 16 / head_dim.
// Cost: encode, decode and erase pass over the S slots once per call, whatever part of the block
// they are about: O(S) to read one token, O(64 S) to fill a block token by token.
template <std::uint32_t kPerToken = 0>
struct HashSparse {
  static constexpr auto kId = Text("codec=hash_sparse;per_token=") + number_text<kPerToken>();
  static constexpr bool kSpills = false;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (!VectorSplitter<Split>) {
      return Refusal::kHashNeedsVectorSplit;
    } else if constexpr (Split::kMaxOutliers < 1 || Split::kMaxOutliers > 64) {
      return Refusal::kHashNeedsVectorSplit;
    } else if constexpr (requires { typename Quant::Sketch; }) {
      return Refusal::kSketchNeedsItsCodec;
    } else if constexpr (!requires {
                           Quant::kZero;
                           requires Quant::kBits == 4 && Quant::kZero == 8 && Quant::kTop == 7;
                           requires Quant::kGroup == kWholeHead&& Quant::kAxis == Axis::kChannels;
                           requires std::is_same_v<typename Quant::Side, Half>;
                           requires sizeof(typename Quant::Scale) == sizeof(Half);
                         }) {
      return Refusal::kHashNeedsSymmetric4;
    } else {
      return Refusal::kNone;
    }
  }

  // An element in the table.
  struct Entry {
    std::uint32_t token = 0;
    std::uint32_t channel = 0;
    std::uint32_t code = 0;  // 0: the slot is free
  };

  template <std::uint32_t kDim, class Split, class Quant, Role>
  struct Layout {
    static constexpr bool kAppendOnly = true;
    static constexpr std::uint32_t kBlockTokens = 64;
    static constexpr std::uint32_t kSeal = 1;
    static constexpr std::uint32_t kMost = lower_of<std::uint32_t>(Split::kMaxOutliers, kDim);
    static constexpr std::uint32_t kMade = kPerToken == 0 ? kMost : lower_of(kPerToken, kMost);
    static constexpr std::uint32_t kSlots = std::bit_ceil(kBlockTokens * kMade * 5 / 4);
    static constexpr std::uint32_t kSlotBits =
        static_cast<std::uint32_t>(std::bit_width(kSlots)) - 1u;
    static constexpr std::uint32_t kPlanes =
        kDim <= 64 ? 0 : static_cast<std::uint32_t>(std::bit_width(kDim - 1u)) - 6u;
    static constexpr std::uint32_t kPlanesAt = 2 * kSlots;
    static constexpr std::uint32_t kCodeBytes = kPlanesAt + kPlanes * kSlots / 8;
    static constexpr std::uint32_t kSideBytes = kBlockTokens * 2;
    static constexpr std::uint32_t kOutlierBytes = 0;
    static constexpr std::uint32_t kSharedBytes = 0;
    static constexpr std::uint32_t kBlockBytes = kCodeBytes + kSideBytes;
    static constexpr float kLargest = Quant::kLargest;

    static constexpr std::uint32_t home(std::uint32_t token, std::uint32_t channel) {
      return (channel * 64 + token) * 0x9e3779b1u >> (32 - kSlotBits);
    }
    static Entry entry(const std::uint8_t* block, std::uint32_t at) {
      const std::uint32_t low = static_cast<std::uint32_t>(block[2 * at]) |
                                static_cast<std::uint32_t>(block[2 * at + 1]) << 8;
      std::uint32_t key = low >> 4;
      for (std::uint32_t p = 0; p < kPlanes; ++p)
        key |= ((block[kPlanesAt + p * (kSlots / 8) + at / 8] >> (at % 8)) & 1u) << (12 + p);
      return {key % 64, key / 64, low & 15u};
    }
    // Calls visit(entry) for every element of the table, in slot order. Entries of channels that do
    // not exist (damaged bytes) are left out.
    template <class Visit>
    static void each_entry(const std::uint8_t* block, Visit visit) {
      for (std::uint32_t at = 0; at < kSlots; ++at) {
        const Entry found = entry(block, at);
        if (found.code != 0 && found.channel < kDim) visit(found);
      }
    }
    static Half step(const std::uint8_t* block, std::uint32_t token) {
      return load<Half>(block + kCodeBytes + 2 * token);
    }

    static void encode(const Split& split, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t*, std::uint8_t* block, SpillWriter&,
                       EncodeCounters& counters) {
      std::uint32_t used = 0;
      for (std::uint32_t at = 0; at < kSlots; ++at) used += entry(block, at).code != 0 ? 1u : 0u;
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const float* row = rows[t];
        std::uint16_t channels[Split::kMaxOutliers];
        const std::uint32_t count = split_row(split, row, kDim, channels, counters);
        typename Quant::Stat stat;
        for (std::uint32_t i = 0; i < count; ++i) quant.observe(row[channels[i]], stat);
        const typename Quant::Scale scale =
            count == 0 ? typename Quant::Scale{} : quant.scale(stat);
        std::uint32_t coded = 0;  // those with a code other than zero
        for (std::uint32_t i = 0; i < count; ++i) {
          if (quant.encode(row[channels[i]], scale) != Quant::kZero)
            channels[coded++] = channels[i];
        }
        const std::uint32_t room = kSlots - 1 > used ? kSlots - 1 - used : 0;
        counters.dropped += coded > room ? coded - room : 0;
        while (coded > room) drop_smallest(row, channels, coded);
        for (std::uint32_t i = 0; i < coded; ++i)
          insert(block, {slot + t, channels[i], quant.encode(row[channels[i]], scale)});
        used += coded;
        counters.outliers += coded;
        store(block + kCodeBytes + 2 * (slot + t), scale.step);
      }
      counters.values += rows.count * kDim;
    }
    static void decode(const Split&, const Quant& quant, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        for (std::uint32_t c = 0; c < kDim; ++c) rows[t][c] = 0.0f;
      }
      each_entry(bytes.block, [&](const Entry& found) {
        const std::uint32_t t = found.token - slot;  // wraps below `slot`
        if (t >= rows.count) return;
        rows[t][found.channel] = quant.decode(found.code, {step(bytes.block, found.token)});
      });
    }
    // scores[t] += query . row of token t, for all 64 tokens of the block: one pass over the table,
    // in slot order; sums of doubles, so the order shows below float precision only.
    //   query: [kDim]; scores: [64]
    static void score(const Quant& quant, const std::uint8_t* block, const float* query,
                      double* scores) {
      each_entry(block, [&](const Entry& found) {
        scores[found.token] +=
            static_cast<double>(query[found.channel]) *
            static_cast<double>(quant.decode(found.code, {step(block, found.token)}));
      });
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      for (std::uint32_t at = 0; at < kSlots; ++at) {
        // What is shifted here is looked at again.
        for (Entry found = entry(block, at); found.code != 0 && found.token - slot < n;
             found = entry(block, at))
          remove(block, at);
      }
      for (std::uint32_t t = slot; t < slot + n; ++t) store(block + kCodeBytes + 2 * t, Half{});
    }

   private:
    static void put(std::uint8_t* block, std::uint32_t at, const Entry& e) {
      const std::uint32_t key = e.code == 0 ? 0 : e.channel * 64 + e.token;
      block[2 * at] = static_cast<std::uint8_t>((key & 15u) << 4 | e.code);
      block[2 * at + 1] = static_cast<std::uint8_t>((key >> 4) & 255u);
      for (std::uint32_t p = 0; p < kPlanes; ++p) {
        std::uint8_t& byte = block[kPlanesAt + p * (kSlots / 8) + at / 8];
        const auto bit = static_cast<std::uint8_t>(1u << (at % 8));
        byte = static_cast<std::uint8_t>(((key >> (12 + p)) & 1u) != 0 ? byte | bit : byte & ~bit);
      }
    }
    // There is a free slot.
    static void insert(std::uint8_t* block, const Entry& e) {
      std::uint32_t at = home(e.token, e.channel);
      for (std::uint32_t tried = 0; entry(block, at).code != 0; ++tried) {
        if (tried == kSlots) return;
        at = (at + 1) % kSlots;
      }
      put(block, at, e);
    }
    // Frees a slot and moves entries behind it that a probe would no longer reach.
    static void remove(std::uint8_t* block, std::uint32_t at) {
      std::uint32_t free = at;
      for (std::uint32_t i = 1; i < kSlots; ++i) {
        const std::uint32_t next = (at + i) % kSlots;
        const Entry found = entry(block, next);
        if (found.code == 0) break;
        // It may move unless its home lies behind the free slot.
        const std::uint32_t from_home = (next - home(found.token, found.channel)) % kSlots;
        if (from_home < (next - free) % kSlots) continue;
        put(block, free, found);
        free = next;
      }
      put(block, free, Entry{});
    }
    static void drop_smallest(const float* row, std::uint16_t* channels, std::uint32_t& count) {
      std::uint32_t smallest = 0;  // ties: the highest channel goes
      for (std::uint32_t i = 1; i < count; ++i) {
        if (!(magnitude(row[channels[i]]) > magnitude(row[channels[smallest]]))) smallest = i;
      }
      for (std::uint32_t i = smallest + 1; i < count; ++i) channels[i - 1] = channels[i];
      --count;
    }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
