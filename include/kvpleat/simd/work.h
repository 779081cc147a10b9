// Sizes that kernels of tiles and their callers agree on: of a unit of a tile, and of the work area
// that queries are prepared in.
#pragma once

#include <bit>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Bytes of a unit of a tile: 16 tokens of a key, 16 channels of a value (codec/tile.h).
//   run: elements along the unit, padding included
constexpr std::uint32_t tile_unit_bytes(std::uint32_t bits, std::uint32_t run) {
  std::uint32_t bytes = 0;
  for (std::uint32_t rest = bits; rest > 0; rest -= std::bit_floor(rest))
    bytes += ceil_div(run, 32 / std::bit_floor(rest)) * 64;
  return bytes;
}

// Per query, for kMaxQueries queries each, one kind after the other:
//   floats  [stride] float               the query, zeros behind it
//   rows    [1 or 2 planes][stride] int8 the same in 8-bit planes (groups along channels)
//   groups  [3][padded_groups] float     unit, bias and total of each group (the same)
//   tables  [2 planes][256] uint8        the query in one unit, biased by 128 (inline slots)
//   units   float                        its unit
// Every part is a multiple of 64 bytes.
struct WorkLayout {
  static constexpr std::uint32_t kTableBytes = 2 * 256;

  std::uint32_t stride;
  std::uint32_t padded_groups;
  bool grouped;
  bool tables;

  explicit constexpr WorkLayout(const abi::TileView& view)
      : stride(round_up(view.padded_dim, 64u)),
        padded_groups(round_up(view.groups, 16u)),
        grouped(view.seal == 1),
        tables(view.slots > 0 && view.index_bytes == 1) {}

  [[nodiscard]] constexpr std::uint32_t floats(std::uint32_t j) const { return j * stride * 4; }
  [[nodiscard]] constexpr std::uint32_t rows(std::uint32_t j, std::uint32_t planes) const {
    return floats(abi::kMaxQueries) + j * planes * stride;
  }
  [[nodiscard]] constexpr std::uint32_t groups(std::uint32_t j) const {
    return rows(abi::kMaxQueries, grouped ? 2 : 0) + j * 3 * padded_groups * 4;
  }
  [[nodiscard]] constexpr std::uint32_t table(std::uint32_t j) const {
    return groups(grouped ? abi::kMaxQueries : 0) + j * kTableBytes;
  }
  [[nodiscard]] constexpr std::uint32_t table_unit(std::uint32_t j) const {
    return table(tables ? abi::kMaxQueries : 0) + j * 4;
  }
  [[nodiscard]] constexpr std::uint32_t bytes() const {
    return table_unit(tables ? abi::kMaxQueries : 0);
  }
};

constexpr std::uint32_t query_work_bytes(const abi::TileView& view) {
  return WorkLayout(view).bytes();
}

}  // namespace kvpleat::inline KVPLEAT_ISA
