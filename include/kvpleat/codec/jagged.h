// JaggedCodec: Oaken's bytes in resident order (JDS16), for kernels that work on them. Beside each
// outlier lies one redundant byte: what is to be added to the value of its dense nibble. Lossless:
// repack.h turns it into the published bytes and back.
//
// Source of the order: jagged diagonal storage (Saad, 1989), here in groups of four per lane and
// units of 16 lanes, so that one 64-byte vector holds a group and no slot is padding.
#pragma once

#include <array>
#include <cstdint>

#include "kvpleat/codec/band_layout.h"
#include "kvpleat/codec/tile.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/outlier.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Constants of one token, from its ranges and the thresholds; never stored. They define what a
// kernel adds for a nibble n, middle code or payload alike, from one byte per element:
//   level    = 16 n + (16 n >= zero_split ? gap : 0)
//   dense(n) = base + step * level  (+ wide, if 16 n >= zero_split)
// and hence the deltas. M is the middle range, edge the inner thresholds; operations are rounded to
// float one by one, in this order:
//   step        M.step / 16
//   zero_split  16 * M.split if the token has middle codes of both sides; else 255, which no 16 n
//               reaches
//   both sides, with G = edge(high) - edge(low):
//     gap = G / step, to nearest even, if that is at most 15; then wide = 0, and half of what gap
//           leaves is in the base: base = M.lowest + edge(low) + (G - step * gap) / 2
//     else  gap = 0, wide = G, base = M.lowest + edge(low)
//   one side:  gap = wide = 0, base = M.lowest + the edge of that side (0 if the middle is not
//              shifted)
//   unit        (most + jumps) / 127: most = the largest |value - (base + step * 16 p)| at payloads
//               p = 0 and 15 of the four kinds of outliers (band, bit 4 of the code), jumps = wide
//               or step * gap, plus the distance of the outer thresholds if outer codes cross it
// |dense(n) - value of the middle code n| <= step / 4 (of this step) and roundings. Where the inner
// band is wider than 15/16 of a middle step, a kernel needs the addend `wide`.
struct JaggedConstants {
  float base = 0.0f;
  float step = 0.0f;
  float unit = 0.0f;
  float wide = 0.0f;
  std::uint32_t zero_split = 255;
  std::uint32_t gap = 0;

  [[nodiscard]] constexpr float dense(std::uint32_t nibble) const {
    const bool high = 16 * nibble >= zero_split;
    const float low = base + product(static_cast<float>(16 * nibble + (high ? gap : 0u)), step);
    return high ? low + wide : low;
  }
  // Round half to even((value - dense(nibble)) / unit): value is within unit / 2, and roundings, of
  // dense(nibble) + delta * unit.
  [[nodiscard]] constexpr std::int32_t delta(float value, std::uint32_t nibble) const {
    return unit > 0.0f ? round_to_signed((value - dense(nibble)) / unit, 127) : 0;
  }

  template <class Quant, class Split>
  static JaggedConstants of(const Split& split, const typename Quant::Parameters& parameters) {
    const auto& middle = parameters.of({Band::kMiddle});
    JaggedConstants made;
    made.step = middle.step / 16.0f;
    made.base = middle.lowest;
    float jumps = 0.0f;
    if constexpr (Quant::shifts(Band::kMiddle)) {
      const float low = split.edge({Band::kMiddle, true});
      const float high = split.edge({Band::kMiddle, false});
      made.base = middle.lowest + (middle.split == 0 ? high : low);
      if (middle.split >= 1 && middle.split <= 15) {
        made.zero_split = 16 * middle.split;
        const float whole = high - low;
        const std::uint32_t rounded = round_to_code(whole / made.step, 16u);
        if (rounded <= 15) {
          made.gap = rounded;
          jumps = product(static_cast<float>(rounded), made.step);
          made.base = made.base + (whole - jumps) / 2.0f;
        } else {
          made.wide = whole;
          jumps = whole;
        }
      }
    }
    const float last = made.base + product(240.0f, made.step);
    float most = 0.0f;
    for (std::uint32_t band = 0; band < 2; ++band) {
      const BandSide at = {band == 0 ? Band::kOuter : Band::kInner};
      for (std::uint32_t upper = 0; upper < 1u << Quant::kOutlierBits; upper += 16) {
        const float first = Quant::decode(split, parameters, upper, at);
        const float end = Quant::decode(split, parameters, upper + 15, at);
        most = upper_of(most, magnitude(first - made.base));
        most = upper_of(most, magnitude(end - last));
      }
      if constexpr (Quant::divides(Band::kOuter)) {
        if (at.band == Band::kOuter)
          jumps = jumps + (split.edge({Band::kOuter, false}) - split.edge({Band::kOuter, true}));
      }
    }
    made.unit = (most + jumps) / 127.0f;
    return made;
  }
};

// The bytes of a spill in jagged order. Lanes are cut into units of 16; a unit holds group by group
// (g = 0, 1, ..) the entries 4g .. 4g+3 of its first lane, as far as they exist, then those of the
// next lane, ..; then, in the same order, their deltas.
struct JaggedOrder {
  // visit(lane, number of the entry in its lane, whether it is the delta) for each byte of units
  // [first, end), in order. count(lane): entries of a lane.
  template <class Count, class Visit>
  static void each(std::uint32_t first, std::uint32_t end, const Count& count, Visit visit) {
    for (std::uint32_t unit = first; unit < end; ++unit) {
      const std::uint32_t top = most(unit, count);
      for (std::uint32_t group = 0; group < top; group += 4) {
        for (std::uint32_t half = 0; half < 2; ++half) {
          for (std::uint32_t lane = unit * 16; lane < unit * 16 + 16; ++lane) {
            const std::uint32_t stop = lower_of(group + 4, count(lane));
            for (std::uint32_t i = group; i < stop; ++i) visit(lane, i, half == 1);
          }
        }
      }
    }
  }
  // The same from the last byte to the first, until visit gives false.
  template <class Count, class Visit>
  static void each_back(std::uint32_t units, const Count& count, Visit visit) {
    for (std::uint32_t unit = units; unit-- > 0;) {
      for (std::uint32_t group = round_up(most(unit, count), 4u); group > 0; group -= 4) {
        for (std::uint32_t half = 2; half-- > 0;) {
          for (std::uint32_t lane = unit * 16 + 16; lane-- > unit * 16;) {
            for (std::uint32_t i = lower_of(group, count(lane)); i-- > group - 4;) {
              if (!visit(lane, i, half == 1)) return;
            }
          }
        }
      }
    }
  }

 private:
  template <class Count>
  static std::uint32_t most(std::uint32_t unit, const Count& count) {
    std::uint32_t top = 0;
    for (std::uint32_t lane = unit * 16; lane < unit * 16 + 16; ++lane)
      top = upper_of(top, count(lane));
    return top;
  }
};

// P = head_dim rounded up to 16, C = ceil(head_dim / 64) chunks. An outlier's place in the tile
// holds its payload, as published.
//   block   0        the canonical tile of 4 bits (tile.h): K4 for keys, V4 for values
//           32 * P   only if Quant::kPerHead: [64 tokens] ranges
//           then     keys: [64 tokens][C]    outliers of each chunk, 0 .. 64
//                    values: [P channels]    outliers of each channel, 0 .. 64
//   shared  as published: the ranges of a token, over all heads
//   spill   two bytes per outlier in jagged order (above), without padding.
//           keys: lane = token, entries ascend by channel; values: lane = channel, entries ascend
//           by token.
//     entry  bits 5..0 index: keys: channel in its chunk; values: token in the block
//            bit 6: bit 4 of the outlier's code (1 = low side or negative); bit 7: 1 = outer,
//            0 = inner
//     delta  int8, JaggedConstants::delta(value, payload): redundant, for kernels; decode does not
//            read it
// Keys: entry i of a token belongs to the chunk in which the running sum of its counts passes i.
// The order is a function of the tokens present: there is no other order for a block that is not
// full. So a token that comes later moves bytes of the spill (keys: of its unit of 16 tokens;
// values: of the block), never what they say; encode rewrites that part, and a cut (cut_spill)
// takes out what belongs to later tokens.
// Bits per element at head_dim a multiple of 64: 4 + 16 * outlier share + 8 / 64 (counts) +
// 96 / (heads * head_dim).
struct JaggedCodec {
  static constexpr auto kId = Text("codec=fused;order=jds16");
  static constexpr bool kSpills = true;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (!ThresholdSplitter<Split> || !BandQuantizer<Quant>) {
      return Refusal::kJaggedNeedsOaken;
    } else {
      return Split::kOuterBands == 1 && Split::kInnerBands == 1 && Quant::kOuterBands == 1 &&
                     Quant::kInnerBands == 1
                 ? Refusal::kNone
                 : Refusal::kJaggedNeedsOaken;
    }
  }

  template <std::uint32_t kDim, class Split, class Quant, Role kRole>
  struct Layout : BandLayout<kDim, Split, Quant, CodeTile<kDim, 64, 4, kRole>::kBytes> {
    using Tile = CodeTile<kDim, 64, 4, kRole>;
    using Base = BandLayout<kDim, Split, Quant, Tile::kBytes>;
    using Base::kBlockTokens, Base::kChunks, Base::kCountsAt;
    using typename Base::Parameters;
    static constexpr bool kKeys = kRole == Role::kKey;
    static constexpr std::uint32_t kLanes = kKeys ? kBlockTokens : Tile::kPaddedDim;
    static constexpr std::uint32_t kLaneCounts = kKeys ? kChunks : 1;
    static constexpr std::uint32_t kOutlierBytes = kLanes * kLaneCounts;
    static constexpr std::uint32_t kBlockBytes = kCountsAt + kOutlierBytes;
    static constexpr std::uint32_t kTokenSpillBytes = 2 * kDim;

    static std::uint32_t spill_need(const Split& split, const float* row) {
      return 2 * Base::outliers(split, row);
    }
    // Spill bytes that cut_spill leaves.
    static std::uint32_t spill_bytes(const BlockBytes& bytes, std::uint32_t n) {
      std::uint32_t kept = 0;
      if constexpr (kKeys) {
        for (std::uint32_t lane = 0; lane < n; ++lane) kept += count(bytes.block, lane);
      } else {
        each_entry(bytes, 0, n,
                   [&](std::uint32_t, std::uint32_t, BandSide, std::uint32_t) { ++kept; });
      }
      return 2 * kept;
    }
    // Leaves the spill and, of values, the counts of the first n tokens; returns the bytes left.
    // Counts of keys are needed here and erased afterwards.
    static std::uint32_t cut_spill(std::uint8_t* block, std::uint8_t* spill, std::uint32_t bytes,
                                   std::uint32_t n) {
      std::array<std::uint32_t, kLanes> kept{};
      if constexpr (kKeys) {
        for (std::uint32_t lane = 0; lane < n; ++lane) kept[lane] = count(block, lane);
      } else {
        each_entry(BlockBytes{block, nullptr, spill, bytes}, 0, n,
                   [&](std::uint32_t, std::uint32_t c, BandSide, std::uint32_t) { ++kept[c]; });
      }
      std::uint32_t read = 0;
      std::uint32_t write = 0;
      JaggedOrder::each(0, kLanes / 16, counts_of(block),
                        [&](std::uint32_t lane, std::uint32_t i, bool) {
                          if (read < bytes && i < kept[lane]) spill[write++] = spill[read];
                          ++read;
                        });
      if constexpr (!kKeys) {
        for (std::uint32_t c = 0; c < kLanes; ++c)
          block[kCountsAt + c] = static_cast<std::uint8_t>(kept[c]);
      }
      return write;
    }

    static void encode(const Split& split, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t* shared, std::uint8_t* block, SpillWriter& spill,
                       EncodeCounters& counters) {
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        const auto ranges = Base::open_parameters(split, quant, rows[t], slot + t, shared, block);
        Token token;
        for (std::uint32_t c = 0; c < kDim; ++c) {
          const float x = rows[t][c];
          const BandSide at = split.band(x);
          token.put(c, Quant::encode(split, ranges, x, at), at.band);
          if (at.band == Band::kMiddle) continue;
          ++(at.band == Band::kOuter ? counters.outer : counters.inner);
          ++counters.outliers;
        }
        append(split, ranges, token, slot + t, block, spill);
      }
      counters.values += rows.count * kDim;
    }
    static void decode(const Split& split, const Quant&, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      std::array<Parameters, kBlockTokens> ranges{};
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        ranges[t] = Base::parameters(bytes, slot + t);
        for (std::uint32_t c = 0; c < kDim; ++c) {
          rows[t][c] =
              Quant::decode(split, ranges[t], Tile::get(bytes.block, slot + t, c), {Band::kMiddle});
        }
      }
      each_entry(bytes, slot, static_cast<std::uint32_t>(rows.count),
                 [&](std::uint32_t token, std::uint32_t c, BandSide at, std::uint32_t code) {
                   rows[token - slot][c] = Quant::decode(split, ranges[token - slot], code, at);
                 });
    }
    // Of the block, after cut_spill.
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      for (std::uint32_t t = slot; t < slot + n; ++t) {
        for (std::uint32_t c = 0; c < kDim; ++c) Tile::put(block, t, c, 0);
        if constexpr (kKeys) {
          for (std::uint32_t k = 0; k < kChunks; ++k) block[kCountsAt + t * kChunks + k] = 0;
        }
      }
      Base::erase_parameters(block, slot, n);
    }

    // The codes of one token, and which of them are outliers.
    struct Token {
      static constexpr std::uint8_t kMiddle = 1;  // else bits 6 and 7 of the entry
      std::array<std::uint8_t, kDim> nibble{};
      std::array<std::uint8_t, kDim> kind{};

      void put(std::uint32_t c, std::uint32_t code, Band band) {
        nibble[c] = static_cast<std::uint8_t>(code & 15u);
        kind[c] =
            band == Band::kMiddle
                ? kMiddle
                : static_cast<std::uint8_t>((band == Band::kOuter ? 128u : 0u) | code >> 4 << 6);
      }
    };
    // Puts the token behind those that are there; the spill has room for it.
    static void append(const Split& split, const Parameters& ranges, const Token& token,
                       std::uint32_t slot, std::uint8_t* block, SpillWriter& spill) {
      const auto constants = JaggedConstants::of<Quant>(split, ranges);
      std::array<std::uint8_t, kDim> entry{};  // keys: by number, values: by channel
      std::array<std::uint8_t, kDim> delta{};
      std::uint8_t* counts = block + kCountsAt + (kKeys ? slot * kChunks : 0);
      if constexpr (kKeys) {
        for (std::uint32_t k = 0; k < kChunks; ++k) counts[k] = 0;
      }
      std::uint32_t added = 0;
      for (std::uint32_t c = 0; c < kDim; ++c) {
        const std::uint32_t nibble = token.nibble[c];
        Tile::put(block, slot, c, nibble);
        if (token.kind[c] == Token::kMiddle) continue;
        const std::uint32_t i = kKeys ? added : c;
        entry[i] = static_cast<std::uint8_t>(token.kind[c] | (kKeys ? c % 64 : slot));
        const float value =
            Quant::decode(split, ranges, code_of(entry[i], nibble), band_of(entry[i]));
        delta[i] = static_cast<std::uint8_t>(constants.delta(value, nibble));
        ++added;
      }
      if (added == 0) return;
      KVPLEAT_ASSERT(spill.size + 2 * added <= spill.capacity);
      // From the end: each byte that was there moves up by what is new before it.
      const auto before = counts_of(block);
      const auto after = [&](std::uint32_t lane) {
        if constexpr (kKeys) {
          return lane == slot ? added : before(lane);
        } else {
          return before(lane) + (lane < kDim && token.kind[lane] != Token::kMiddle ? 1u : 0u);
        }
      };
      std::uint32_t read = spill.size;
      spill.size += 2 * added;
      std::uint32_t write = spill.size;
      JaggedOrder::each_back(kLanes / 16, after,
                             [&](std::uint32_t lane, std::uint32_t i, bool is_delta) {
                               if (i < before(lane)) {
                                 spill.data[--write] = spill.data[--read];
                               } else {
                                 spill.data[--write] = (is_delta ? delta : entry)[kKeys ? i : lane];
                               }
                               return write != read;
                             });
      for (std::uint32_t c = 0; c < kDim; ++c) {
        if (token.kind[c] != Token::kMiddle) ++counts[kKeys ? c / 64 : c];
      }
    }
    // visit(token, channel, band, code) for every outlier of tokens [slot, slot + n), in stored
    // order. Damaged bytes lead neither out of the spill nor out of a row.
    template <class Visit>
    static void each_entry(const BlockBytes& bytes, std::uint32_t slot, std::uint32_t n,
                           Visit visit) {
      const std::uint32_t first = kKeys ? slot / 16 : 0;
      const std::uint32_t end = kKeys ? ceil_div(slot + n, 16u) : kLanes / 16;
      std::uint32_t next = 0;
      if constexpr (kKeys) {
        for (std::uint32_t lane = 0; lane < first * 16; ++lane)
          next += 2 * count(bytes.block, lane);
      }
      JaggedOrder::each(first, end, counts_of(bytes.block),
                        [&](std::uint32_t lane, std::uint32_t i, bool is_delta) {
                          const std::uint32_t place = next++;
                          if (is_delta || place >= bytes.spill_bytes) return;
                          const std::uint32_t entry = bytes.spill[place];
                          const std::uint32_t token = kKeys ? lane : entry & 63u;
                          const std::uint32_t c =
                              kKeys ? chunk_of(bytes.block, lane, i) * 64 + (entry & 63u) : lane;
                          if (token < slot || token >= slot + n || c >= kDim) return;
                          visit(token, c, band_of(entry),
                                code_of(entry, Tile::get(bytes.block, token, c)));
                        });
    }

   private:
    static constexpr BandSide band_of(std::uint32_t entry) {
      return {(entry & 128u) != 0 ? Band::kOuter : Band::kInner};
    }
    static constexpr std::uint32_t code_of(std::uint32_t entry, std::uint32_t nibble) {
      return nibble | (entry & 64u) >> 2;
    }
    static std::uint32_t count(const std::uint8_t* block, std::uint32_t lane) {
      std::uint32_t sum = 0;
      for (std::uint32_t k = 0; k < kLaneCounts; ++k)
        sum += block[kCountsAt + lane * kLaneCounts + k];
      return sum;
    }
    static auto counts_of(const std::uint8_t* block) {
      return [block](std::uint32_t lane) { return count(block, lane); };
    }
    // The chunk of entry i of a token.
    static std::uint32_t chunk_of(const std::uint8_t* block, std::uint32_t token, std::uint32_t i) {
      const std::uint8_t* counts = block + kCountsAt + token * kChunks;
      std::uint32_t k = 0;
      for (; k + 1 < kChunks && i >= counts[k]; ++k) i -= counts[k];
      return k;
    }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
