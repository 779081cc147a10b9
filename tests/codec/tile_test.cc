#include "kvpleat/codec/tile.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

// A tile without its type, so that the laws are compiled once.
struct AnyTile {
  Role role;
  std::uint32_t dim;
  std::uint32_t bits;
  std::uint32_t padded;
  std::uint32_t bytes;
  void (*put)(std::uint8_t*, std::uint32_t, std::uint32_t, std::uint32_t);
  std::uint32_t (*get)(const std::uint8_t*, std::uint32_t, std::uint32_t);
};

template <std::uint32_t kDim, std::uint32_t kBits, Role kRole>
constexpr AnyTile tile() {
  using Tile = CodeTile<kDim, 64, kBits, kRole>;
  return {kRole, kDim, kBits, Tile::kPaddedDim, Tile::kBytes, &Tile::put, &Tile::get};
}

template <std::uint32_t kDim>
void add_tiles(std::vector<AnyTile>& tiles) {
  [&]<std::uint32_t... kBits>(std::integer_sequence<std::uint32_t, kBits...>) {
    (tiles.push_back(tile<kDim, kBits + 1, Role::kKey>()), ...);
    (tiles.push_back(tile<kDim, kBits + 1, Role::kValue>()), ...);
  }
  (std::make_integer_sequence<std::uint32_t, 8>());
}

std::vector<AnyTile> all_tiles() {
  std::vector<AnyTile> tiles;
  add_tiles<1>(tiles);
  add_tiles<3>(tiles);
  add_tiles<5>(tiles);
  add_tiles<16>(tiles);
  add_tiles<63>(tiles);
  add_tiles<65>(tiles);
  add_tiles<72>(tiles);
  add_tiles<128>(tiles);
  add_tiles<576>(tiles);
  return tiles;
}

std::uint32_t ones(const std::vector<std::uint8_t>& bytes) {
  std::uint32_t count = 0;
  for (const std::uint8_t b : bytes) count += static_cast<std::uint32_t>(std::popcount(b));
  return count;
}

struct Place {
  std::uint32_t byte;
  std::uint32_t bit;
};

// The formulas of the canonical tiles, as published: t token, c channel, d padded head_dim.
Place published(Role role, std::uint32_t bits, std::uint32_t d, std::uint32_t t, std::uint32_t c) {
  if (role == Role::kKey) {
    switch (bits) {
      case 8:
        return {(t / 16) * (16 * d) + (c / 4) * 64 + (t % 16) * 4 + c % 4, 0};
      case 4:
        return {(t / 16) * (16 * d / 2) + (c / 8) * 64 + (t % 16) * 4 + c % 4, c % 8 < 4 ? 0u : 4u};
      default:
        return {(t / 16) * (16 * d / 4) + (c / 16) * 64 + (t % 16) * 4 + c % 4, 2 * (c % 16 / 4)};
    }
  }
  switch (bits) {
    case 8:
      return {(c / 16) * 1024 + (t / 4) * 64 + (c % 16) * 4 + t % 4, 0};
    case 4:
      return {(c / 16) * 512 + (t / 8) * 64 + (c % 16) * 4 + t % 4, t % 8 < 4 ? 0u : 4u};
    default:
      return {(c / 16) * 256 + (t / 16) * 64 + (c % 16) * 4 + t % 4, 2 * (t % 16 / 4)};
  }
}

// 3 bits: per unit of 16 tokens (key) or 16 channels (value) a 2-bit plane, then a 1-bit plane
// whose line l serves the 2-bit lines 2l and 2l+1: bit (line & 1) * 4 + field of the same byte.
Place low_plane_of_3(Role role, std::uint32_t d, std::uint32_t t, std::uint32_t c) {
  const std::uint32_t unit = role == Role::kKey ? t / 16 : c / 16;
  const std::uint32_t two_bits = role == Role::kKey ? 16 * d / 4 : 256;
  const std::uint32_t lines = two_bits / 64;
  const std::uint32_t one_bit = (lines + 1) / 2 * 64;
  const std::uint32_t along = role == Role::kKey ? c : t;
  const std::uint32_t lane = role == Role::kKey ? t % 16 : c % 16;
  return {unit * (two_bits + one_bit) + along / 16 * 64 + lane * 4 + along % 4,
          2 * (along % 16 / 4)};
}
Place high_plane_of_3(Role role, std::uint32_t d, std::uint32_t t, std::uint32_t c) {
  const std::uint32_t unit = role == Role::kKey ? t / 16 : c / 16;
  const std::uint32_t two_bits = role == Role::kKey ? 16 * d / 4 : 256;
  const std::uint32_t lines = two_bits / 64;
  const std::uint32_t one_bit = (lines + 1) / 2 * 64;
  const std::uint32_t along = role == Role::kKey ? c : t;
  const std::uint32_t lane = role == Role::kKey ? t % 16 : c % 16;
  const std::uint32_t line = along / 16;
  return {unit * (two_bits + one_bit) + two_bits + line / 2 * 64 + lane * 4 + along % 4,
          (line & 1) * 4 + along % 16 / 4};
}

}  // namespace

TEST_CASE("put and get are a bijection on disjoint bits, at every width, role and head_dim") {
  for (const AnyTile& tile : all_tiles()) {
    CAPTURE(static_cast<int>(tile.role));
    CAPTURE(tile.dim);
    CAPTURE(tile.bits);
    // A guard line behind the tile: nothing may be written there.
    std::vector<std::uint8_t> block(tile.bytes + 64, 0);
    const std::uint32_t top = (1u << tile.bits) - 1u;
    test::Generator random(tile.dim * 16 + tile.bits);

    // All ones: as many bits as the codes have, so no two elements share one.
    for (std::uint32_t t = 0; t < 64; ++t) {
      for (std::uint32_t c = 0; c < tile.dim; ++c) tile.put(block.data(), t, c, top);
    }
    CHECK(ones(block) == 64 * tile.dim * tile.bits);
    std::uint32_t padding = 0;
    for (std::uint32_t t = 0; t < 64; ++t) {
      for (std::uint32_t c = tile.dim; c < tile.padded; ++c)
        padding |= tile.get(block.data(), t, c);
    }
    CHECK(padding == 0);

    // Random codes in random order over the ones: the last write of every element is what is read.
    std::vector<std::uint32_t> codes(64 * tile.dim, top);
    for (std::uint32_t i = 0; i < 2 * 64 * tile.dim; ++i) {
      const std::uint32_t t = random.below(64);
      const std::uint32_t c = random.below(tile.dim);
      codes[t * tile.dim + c] = random.below(top + 1);
      tile.put(block.data(), t, c, codes[t * tile.dim + c]);
    }
    std::uint32_t wrong = 0;
    for (std::uint32_t t = 0; t < 64; ++t) {
      for (std::uint32_t c = 0; c < tile.dim; ++c)
        wrong += tile.get(block.data(), t, c) != codes[t * tile.dim + c];
    }
    CHECK(wrong == 0);

    // Zeroes leave nothing behind, inside or in the guard line.
    for (std::uint32_t t = 0; t < 64; ++t) {
      for (std::uint32_t c = 0; c < tile.dim; ++c) tile.put(block.data(), t, c, 0);
    }
    CHECK(ones(block) == 0);
  }
}

TEST_CASE("a code wider than the tile loses its high bits and touches no neighbour") {
  using Tile = CodeTile<16, 64, 4, Role::kKey>;
  std::vector<std::uint8_t> block(Tile::kBytes, 0);
  Tile::put(block.data(), 0, 0, 0xffu);
  CHECK(Tile::get(block.data(), 0, 0) == 15);
  CHECK(ones(block) == 4);
}

TEST_CASE("K8 K4 K2 V8 V4 V2: byte and bit of every element") {
  for (const AnyTile& tile : all_tiles()) {
    if (tile.bits != 8 && tile.bits != 4 && tile.bits != 2) continue;
    CAPTURE(static_cast<int>(tile.role));
    CAPTURE(tile.dim);
    CAPTURE(tile.bits);
    CHECK(tile.padded == (tile.dim + 15) / 16 * 16);
    CHECK(tile.bytes == 64 * tile.padded * tile.bits / 8);
    std::vector<std::uint8_t> block(tile.bytes, 0);
    std::uint32_t wrong = 0;
    for (std::uint32_t t = 0; t < 64; ++t) {
      for (std::uint32_t c = 0; c < tile.dim; ++c) {
        const Place at = published(tile.role, tile.bits, tile.padded, t, c);
        const std::uint32_t code = (t + 3 * c) % ((1u << tile.bits) - 1u) + 1u;
        tile.put(block.data(), t, c, code);
        wrong += block[at.byte] != code << at.bit;
        tile.put(block.data(), t, c, 0);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("3 bits: a 2-bit plane with the low bits, then the 1-bit plane") {
  for (const AnyTile& tile : all_tiles()) {
    if (tile.bits != 3) continue;
    CAPTURE(static_cast<int>(tile.role));
    CAPTURE(tile.dim);
    std::vector<std::uint8_t> block(tile.bytes, 0);
    std::uint32_t wrong = 0;
    for (std::uint32_t t = 0; t < 64; ++t) {
      for (std::uint32_t c = 0; c < tile.dim; ++c) {
        const Place low = low_plane_of_3(tile.role, tile.padded, t, c);
        const Place high = high_plane_of_3(tile.role, tile.padded, t, c);
        tile.put(block.data(), t, c, 3);
        wrong += block[low.byte] != 3u << low.bit || block[high.byte] != 0;
        tile.put(block.data(), t, c, 4);
        wrong += block[low.byte] != 0 || block[high.byte] != 1u << high.bit;
        tile.put(block.data(), t, c, 0);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("3 bits at head_dim 128: the plane sizes of the specification") {
  CHECK(CodeTile<128, 64, 3, Role::kKey>::kUnitBytes == 512 + 256);
  CHECK(CodeTile<128, 64, 3, Role::kValue>::kUnitBytes == 256 + 128);
  CHECK(CodeTile<128, 64, 3, Role::kKey>::kBytes == 64 * 128 * 3 / 8);
  CHECK(CodeTile<128, 64, 3, Role::kValue>::kBytes == 64 * 128 * 3 / 8);
}

TEST_CASE("a tile of 128 tokens continues the units of one of 64") {
  using Short = CodeTile<32, 64, 5, Role::kKey>;
  using Long = CodeTile<32, 128, 5, Role::kKey>;
  std::vector<std::uint8_t> a(Short::kBytes, 0);
  std::vector<std::uint8_t> b(Long::kBytes, 0);
  CHECK(Long::kBytes == 2 * Short::kBytes);
  for (std::uint32_t t = 0; t < 64; ++t) {
    for (std::uint32_t c = 0; c < 32; ++c) {
      Short::put(a.data(), t, c, (5 * t + c) % 32);
      Long::put(b.data(), 64 + t, c, (5 * t + c) % 32);
    }
  }
  CHECK(std::vector<std::uint8_t>(b.begin() + Short::kBytes, b.end()) == a);
}

TEST_CASE("put and get work at compile time") {
  constexpr std::uint32_t code = [] {
    std::uint8_t block[CodeTile<5, 64, 7, Role::kValue>::kBytes] = {};
    CodeTile<5, 64, 7, Role::kValue>::put(block, 63, 4, 0x55);
    return CodeTile<5, 64, 7, Role::kValue>::get(block, 63, 4);
  }();
  CHECK(code == 0x55);
}
