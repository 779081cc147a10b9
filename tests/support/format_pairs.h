// Every pair of a key and a value format of a list, as lanes of four caches per head_dim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kvpleat/kvpleat.h"
#include "support/cache_fixture.h"

namespace test {

inline constexpr std::size_t kListed = 7;  // formats of the list
inline constexpr std::size_t kPairs = kListed * kListed;
inline constexpr std::size_t kPairLanes = 13;  // pairs of one cache

template <std::uint32_t kDim, std::size_t kIndex, bool kKey>
constexpr auto listed_format() {
  namespace f = kvpleat::formats;
  if constexpr (kIndex == 0) return std::type_identity<f::F16<kDim>>{};
  if constexpr (kIndex == 1) return std::type_identity<f::Int8<kDim>>{};
  if constexpr (kIndex == 2) return std::type_identity<f::Int4G32<kDim>>{};
  if constexpr (kIndex == 3) return std::type_identity<f::Int4Channel<kDim>>{};
  if constexpr (kIndex == 4) return std::type_identity<f::Int4TopK<kDim>>{};
  if constexpr (kIndex == 5) return std::type_identity<f::Oaken<kDim>>{};
  if constexpr (kIndex == 6 && kKey) return std::type_identity<f::CenteredRotatedKey<kDim, 4>>{};
  if constexpr (kIndex == 6 && !kKey) return std::type_identity<CenteredValue<kDim>>{};
}
template <std::uint32_t kDim, std::size_t kPair>
using PairOf = kvpleat::KV<typename decltype(listed_format<kDim, kPair / kListed, true>())::type,
                           typename decltype(listed_format<kDim, kPair % kListed, false>())::type>;

// Pairs [kFirst, kFirst + kPairLanes).
template <std::uint32_t kDim, std::size_t kFirst>
struct PairTraits : kvpleat::CacheTraits<kDim> {
  template <class Indices>
  struct ListOf;
  template <std::size_t... kIndices>
  struct ListOf<std::index_sequence<kIndices...>> {
    using Type = kvpleat::LaneList<PairOf<kDim, kFirst + kIndices>...>;
  };
  static constexpr std::size_t kCount = kPairs - kFirst < kPairLanes ? kPairs - kFirst : kPairLanes;
  using Lanes = typename ListOf<std::make_index_sequence<kCount>>::Type;
};

// The profiles of the pairs of one cache.
inline std::vector<kvpleat::LaneProfile> pair_profiles(const Profiles& profiles, std::size_t first,
                                                       std::size_t count) {
  std::vector<kvpleat::LaneProfile> lanes(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t key = (first + i) / kListed;
    const std::size_t value = (first + i) % kListed;
    for (const auto& [index, from] : {std::pair{std::size_t{5}, profiles.oaken()},
                                      std::pair{std::size_t{6}, profiles.centered()}}) {
      if (key == index) {
        lanes[i].keys = from.keys;
        lanes[i].key_count = from.key_count;
      }
      if (value == index) {
        lanes[i].values = from.values;
        lanes[i].value_count = from.value_count;
      }
    }
  }
  return lanes;
}

}  // namespace test
