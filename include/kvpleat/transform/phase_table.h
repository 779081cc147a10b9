// PhaseTable: what adding the score offset of phase-centred keys (transform/center.h) needs of a
// RoPE. It depends on nothing else, so that one serves all layers and heads.
//
// In a window of 256 positions, t' = -127.5 .. 127.5 from its middle, the offset of a query is
//   sum over pairs of a_i cos(theta_i t') + b_i sin(theta_i t')
// with (a, b) turned to the middle. The first sum is even in t' and the second is odd, so both are
// computed for t' > 0 only: E(t') + O(t') and, mirrored, E(t') - O(t'). Pairs that turn by at most
// kReach in half a window are in it, within 2e-7 of |a_i| + |b_i|, polynomials of degree 15:
//   cos(theta t') = sum over k < 8 of (2 - [k = 0]) (-1)^k J_2k(128 theta)     T_2k(t' / 128)
//   sin(theta t') = sum over k < 8 of  2            (-1)^k J_(2k+1)(128 theta) T_(2k+1)(t' / 128)
// (the first term dropped is 2 J_16(5) = 1.6e-7). So all of them together take eight rows of the
// table in each sum; they are the moments of the slow pairs. In most models half of the pairs are
// slow, or more.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/rope.h"

namespace kvpleat {
namespace abi {

// Pairs in the order of the rotation. Slow are those from `fast` on: a frequency that does not fall
// with the pair, as no model has it, costs time only.
struct PhaseTable {
  std::uint32_t dims;          // rotated channels
  std::uint32_t halves;        // pair i is channels i, i + dims / 2; 0: 2i, 2i + 1
  std::uint32_t pairs;         // dims / 2
  std::uint32_t padded_pairs;  // rounded up to 16
  std::uint32_t fast;
  std::uint32_t moments;  // 8, or 0 if there is no slow pair
  std::uint32_t entries;  // fast + moments, rounded up to 2: rows of the table
  // Phase of the middle of the window that starts at position p, in 2^-64 turns:
  //   turns[i] * p + to_middle[i]
  const std::uint64_t* turns;      // [padded_pairs], zeros at the end
  const std::uint64_t* to_middle;  // [padded_pairs]
  // Cosine and sine of the angle of a whole window, which turns one middle to the next.
  const float* next_cosine;  // [padded_pairs], ones at the end
  const float* next_sine;    // [padded_pairs], zeros at the end
  const float* slow;         // [pairs - fast][16] moments of a_i, b_i, a_i, b_i ..
  // Of entry e: its even and its odd function at t' = 0.5 .. 127.5, 32 at a time, so that they are
  // read from the first byte to the last; zeros if it is none.
  const float* rows;  // [4][entries][2][32]
  // Times kUnit, rounded; two entries side by side.
  const std::int16_t* words;  // [4][entries / 2][2][32][2]
};

}  // namespace abi

inline namespace KVPLEAT_ISA {
namespace phase_table {

inline constexpr std::uint32_t kWindow = 256;
inline constexpr std::uint32_t kHalf = kWindow / 2;
inline constexpr std::uint32_t kStrip = 32;
inline constexpr std::uint32_t kMoments = 8;
inline constexpr double kReach = 5.0;
inline constexpr float kUnit = 16383.0f;

struct Sizes {
  std::uint32_t padded_pairs = 0;
  std::uint32_t fast = 0;
  std::uint32_t moments = 0;
  std::uint32_t entries = 0;
  std::size_t bytes = 0;
};

// Radians per token, in [-pi, pi).
inline double angle(const Rope& rope, std::uint32_t pair) {
  return static_cast<double>(static_cast<std::int64_t>(rope.turns[pair])) *
         (0x1p-64 * 6.28318530717958647693);
}

inline Sizes sizes(const Rope& rope) {
  Sizes s;
  const std::uint32_t pairs = rope.pairs();
  s.padded_pairs = round_up(pairs, 16u);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    if (std::fabs(angle(rope, i)) * kHalf > kReach) s.fast = i + 1;
  }
  if (pairs - s.fast <= kMoments) s.fast = pairs;  // their moments would be as many
  s.moments = s.fast < pairs ? kMoments : 0;
  s.entries = round_up(s.fast + s.moments, 2u);
  s.bytes = sizeof(abi::PhaseTable) + 64 +
            2 * (sizeof(std::uint64_t) + sizeof(float)) * s.padded_pairs +
            sizeof(float) * (pairs - s.fast) * 16 +
            (sizeof(float) + sizeof(std::int16_t)) * s.entries * kWindow;
  return s;
}

// Moments of cos(x s) and sin(x s), -1 <= s <= 1, alternating: by the discrete cosine transform at
// 64 nodes, exact to the last bits for functions as smooth as these.
inline void moments_of(double x, float* moments) {
  constexpr int kNodes = 64;
  for (std::uint32_t m = 0; m < 2 * kMoments; ++m) {
    double sum = 0.0;
    for (int n = 0; n < kNodes; ++n) {
      const double angle = (n + 0.5) * (3.14159265358979323846 / kNodes);
      const double s = std::cos(angle);
      sum += (m % 2 == 0 ? std::cos(x * s) : std::sin(x * s)) * std::cos(m * angle);
    }
    moments[m] = static_cast<float>(sum * (m == 0 ? 1.0 : 2.0) / kNodes);
  }
}

// Writes the table to memory of sizes(rope).bytes at a multiple of 64; it holds pointers into
// itself.
inline const abi::PhaseTable* make(const Rope& rope, void* memory) {
  const Sizes s = sizes(rope);
  const std::uint32_t pairs = rope.pairs();
  auto* at = static_cast<std::uint8_t*>(memory);
  const auto take = [&]<class T>(T*& array, std::size_t count) {
    array = ::new (static_cast<void*>(at)) T[count]();
    at += count * sizeof(T);
  };
  abi::PhaseTable* table = nullptr;
  take(table, 1);
  at = static_cast<std::uint8_t*>(memory) + round_up<std::size_t>(sizeof *table, 64);
  float* rows = nullptr;
  std::int16_t* words = nullptr;
  float* slow = nullptr;
  float* next_cosine = nullptr;
  float* next_sine = nullptr;
  std::uint64_t* turns = nullptr;
  std::uint64_t* to_middle = nullptr;
  take(rows, std::size_t{s.entries} * kWindow);
  take(words, std::size_t{s.entries} * kWindow);
  take(slow, std::size_t{pairs - s.fast} * 16);
  take(next_cosine, s.padded_pairs);
  take(next_sine, s.padded_pairs);
  take(turns, s.padded_pairs);
  take(to_middle, s.padded_pairs);
  for (std::uint32_t i = 0; i < s.padded_pairs; ++i) next_cosine[i] = 1.0f;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    turns[i] = rope.turns[i];
    // 127.5 tokens; half a frequency has a sign.
    to_middle[i] = rope.turns[i] * 127u +
                   static_cast<std::uint64_t>(static_cast<std::int64_t>(rope.turns[i]) / 2);
    // The whole angle modulo a turn first: its sine in float is then exact to the last bit.
    const std::uint64_t next = rope.turns[i] * kWindow;
    const double x =
        static_cast<double>(static_cast<std::int64_t>(next)) * (0x1p-64 * 6.28318530717958647693);
    next_cosine[i] = static_cast<float>(std::cos(x));
    next_sine[i] = static_cast<float>(std::sin(x));
  }
  const auto put = [&](std::uint32_t entry, std::uint32_t j, double even, double odd) {
    const double values[2] = {even, odd};
    for (std::uint32_t f = 0; f < 2; ++f) {
      const std::uint32_t strip = j / kStrip;
      rows[((strip * s.entries + entry) * 2 + f) * kStrip + j % kStrip] =
          static_cast<float>(values[f]);
      words[(((strip * (s.entries / 2) + entry / 2) * 2 + f) * kStrip + j % kStrip) * 2 +
            entry % 2] =
          static_cast<std::int16_t>(round_to_signed(static_cast<float>(values[f]) * kUnit, 16383));
    }
  };
  for (std::uint32_t j = 0; j < kHalf; ++j) {
    for (std::uint32_t i = 0; i < s.fast; ++i) {
      const double x = angle(rope, i) * (j + 0.5);
      put(i, j, std::cos(x), std::sin(x));
    }
    const double x = std::acos((j + 0.5) / kHalf);
    for (std::uint32_t k = 0; k < s.moments; ++k)
      put(s.fast + k, j, std::cos(2 * k * x), std::cos((2 * k + 1) * x));
  }
  for (std::uint32_t i = s.fast; i < pairs; ++i)
    moments_of(angle(rope, i) * kHalf, slow + (i - s.fast) * 16);
  *table = abi::PhaseTable{rope.dims, rope.layout == RopeLayout::kHalves ? 1u : 0u,
                           pairs,     s.padded_pairs,
                           s.fast,    s.moments,
                           s.entries, turns,
                           to_middle, next_cosine,
                           next_sine, slow,
                           rows,      words};
  return table;
}

// The table that was made in a memory. (An instance of std::launder for this type would be a function
// without a tag.)
inline const abi::PhaseTable* in(const void* memory) {
  return __builtin_launder(static_cast<const abi::PhaseTable*>(memory));
}

}  // namespace phase_table
}  // namespace KVPLEAT_ISA
}  // namespace kvpleat
