// TableAllocator: a given lane for every layer and KV head, whatever the token.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/tokens.h"

namespace kvpleat::inline KVPLEAT_ISA {

// The tiers of a TieredTurbo cache as an allocator. The same table as CacheShape::default_lanes
// needs no tags at all; this one serves callers that pass tags for other reasons too.
//   lanes: [layers, heads], the caller's, or one byte: the same lane for all (AlwaysAllocator)
struct TableAllocator {
  static constexpr bool kDeferred = false;
  const std::uint8_t* lanes = nullptr;
  std::uint32_t layers = 0;
  std::uint32_t heads = 0;

  [[nodiscard]] std::uint32_t choose(const TokenInfo& info) const noexcept {
    KVPLEAT_ASSERT(info.layer < layers && info.head < heads);
    return lanes[static_cast<std::size_t>(info.layer) * heads + info.head];
  }
};

// One lane for all tokens: what the others are measured against.
struct AlwaysAllocator {
  static constexpr bool kDeferred = false;
  std::uint32_t lane = 0;

  [[nodiscard]] std::uint32_t choose(const TokenInfo&) const noexcept { return lane; }
};

// How many of n heads are in each of three tiers whose shares are given in percent: by largest
// remainder, ties to the better tier, so that the counts sum to n; with n >= 4 a tier with a
// positive share has at least one head, taken from the largest tier. counts: [3], best first.
// Shares that are all zero: everything in the last tier.
constexpr void tier_counts(std::uint32_t n, const std::uint32_t (&shares)[3],
                           std::uint32_t (&counts)[3]) noexcept {
  const std::uint64_t sum = std::uint64_t{shares[0]} + shares[1] + shares[2];
  if (sum == 0) {
    counts[0] = counts[1] = 0;
    counts[2] = n;
    return;
  }
  std::uint64_t rest[3] = {};
  std::uint32_t left = n;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t exact = std::uint64_t{n} * shares[i];
    counts[i] = static_cast<std::uint32_t>(exact / sum);
    rest[i] = exact % sum;
    left -= counts[i];
  }
  for (; left > 0; --left) {
    int most = 0;
    for (int i = 1; i < 3; ++i) {
      if (rest[i] > rest[most]) most = i;
    }
    ++counts[most];
    rest[most] = 0;
  }
  if (n < 4) return;
  for (int i = 0; i < 3; ++i) {
    if (shares[i] == 0 || counts[i] > 0) continue;
    int largest = 0;
    for (int j = 1; j < 3; ++j) {
      if (counts[j] > counts[largest]) largest = j;
    }
    --counts[largest];
    ++counts[i];
  }
}

}  // namespace kvpleat::inline KVPLEAT_ISA
