// CodeTile: where the bits of a code lie inside a block. The canonical tiles K8 K4 K2 K1 and V8 V4
// V2 V1, and their combination in planes for other widths.
//
// A width that is not 1, 2, 4 or 8 is cut into planes of its binary digits, widest first: 3 = 2 +
// 1, 5 = 4 + 1, 6 = 4 + 2, 7 = 4 + 2 + 1. The widest plane holds the lowest bits of the code.
// Fields never straddle a byte. With w = width of a plane, f = 8 / w fields per byte, t = slot, c =
// channel (D = head_dim rounded up to 16):
//   key:    byte  plane + (t/16) * block + (c / 4f) * 64 + (t%16) * 4 + c%4    field (c % 4f) / 4
//   value:  byte  plane + (c/16) * block + (t / 4f) * 64 + (c%16) * 4 + t%4    field (t % 4f) / 4
// where `block` holds all planes of 16 tokens (key) or 16 channels (value), one plane after the
// other. Field i is bits i*w .. i*w + w-1 of the byte. Codes of padding channels stay zero.
#pragma once

#include <bit>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/role.h"

namespace kvpleat::inline KVPLEAT_ISA {

template <std::uint32_t kDim, std::uint32_t kTokens, std::uint32_t kBits, Role kRole>
struct CodeTile {
  static_assert(kDim >= 1 && kTokens % 64 == 0 && kBits >= 1 && kBits <= 8);
  static constexpr std::uint32_t kPaddedDim = round_up(kDim, 16u);
  // Elements a 64-byte line of 1-bit fields runs over: channels for keys, tokens for values.
  static constexpr std::uint32_t kRun = kRole == Role::kKey ? kPaddedDim : kTokens;
  static constexpr std::uint32_t plane_bytes(std::uint32_t width) {
    return ceil_div(kRun, 32u / width) * 64u;
  }
  static constexpr std::uint32_t kUnitBytes = [] {
    std::uint32_t bytes = 0;
    for (std::uint32_t rest = kBits; rest > 0; rest -= std::bit_floor(rest))
      bytes += plane_bytes(std::bit_floor(rest));
    return bytes;
  }();
  static constexpr std::uint32_t kUnits = (kRole == Role::kKey ? kTokens : kPaddedDim) / 16u;
  static constexpr std::uint32_t kBytes = kUnits * kUnitBytes;

  KVPLEAT_HD static constexpr void put(std::uint8_t* block, std::uint32_t slot,
                                       std::uint32_t channel, std::uint32_t code) {
    each_plane(
        slot, channel,
        [&](std::uint32_t at, std::uint32_t position, std::uint32_t width, std::uint32_t shift) {
          const std::uint32_t mask = ((1u << width) - 1u) << position;
          const std::uint32_t field = ((code >> shift) << position) & mask;
          block[at] = static_cast<std::uint8_t>((block[at] & ~mask) | field);
        });
  }
  KVPLEAT_HD static constexpr std::uint32_t get(const std::uint8_t* block, std::uint32_t slot,
                                                std::uint32_t channel) {
    std::uint32_t code = 0;
    each_plane(
        slot, channel,
        [&](std::uint32_t at, std::uint32_t position, std::uint32_t width, std::uint32_t shift) {
          code |= ((static_cast<std::uint32_t>(block[at]) >> position) & ((1u << width) - 1u))
                  << shift;
        });
    return code;
  }

 private:
  // Width of the widest plane of a code of kRest bits. A constant, since std::bit_floor is no
  // device function.
  template <std::uint32_t kRest>
  static constexpr std::uint32_t kWidest = std::bit_floor(kRest);

  // Calls visit(byte offset, bit position in the byte, width, lowest bit of the code) for every
  // plane, widest first. The planes are unrolled at compile time: their widths are constants in the
  // visitor.
  template <std::uint32_t kRest = kBits, std::uint32_t kShift = 0, std::uint32_t kPlane = 0,
            class Visit>
  KVPLEAT_HD static constexpr void each_plane(std::uint32_t slot, std::uint32_t channel,
                                              Visit&& visit) {
    constexpr std::uint32_t kWidth = kWidest<kRest>;
    constexpr std::uint32_t kSpan = 32u / kWidth;  // elements along one line
    const std::uint32_t lane = kRole == Role::kKey ? slot : channel;
    const std::uint32_t along = kRole == Role::kKey ? channel : slot;
    const std::uint32_t at =
        (lane / 16) * kUnitBytes + kPlane + (along / kSpan) * 64u + (lane % 16) * 4 + along % 4;
    visit(at, (along % kSpan) / 4u * kWidth, kWidth, kShift);
    if constexpr (kRest > kWidth) {
      each_plane<kRest - kWidth, kShift + kWidth, kPlane + plane_bytes(kWidth)>(slot, channel,
                                                                                visit);
    }
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
