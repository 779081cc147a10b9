// Lanes: the formats of a cache. KV names the two formats of a lane and puts each in its role.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "kvpleat/core/config.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/store_policy.h"
#include "kvpleat/format/raw.h"
#include "kvpleat/simd/reference.h"

namespace kvpleat::inline KVPLEAT_ISA {

// In place of a value format. NoValue: the cache holds keys only. KeyView<n>: the value of a token
// is the first n channels of its key (multi-head latent attention): nothing is stored twice.
struct NoValue {};
template <std::uint32_t kChannels>
struct KeyView {
  static constexpr std::uint32_t kDim = kChannels;
};

enum class ValueKind : std::uint8_t { kStored, kNone, kKeyView };

namespace lanes {

template <class Value>
struct ValueTraits {
  static constexpr ValueKind kKind = ValueKind::kStored;
  static constexpr std::uint32_t kDim = Value::kDim;
  using Type = typename Value::template As<Role::kValue>;
};
template <>
struct ValueTraits<NoValue> {
  static constexpr ValueKind kKind = ValueKind::kNone;
  static constexpr std::uint32_t kDim = 0;
  using Type = NoValue;
};
template <std::uint32_t kChannels>
struct ValueTraits<KeyView<kChannels>> {
  static constexpr ValueKind kKind = ValueKind::kKeyView;
  static constexpr std::uint32_t kDim = kChannels;
  using Type = KeyView<kChannels>;
};

// A sum of values cannot be restored at one position.
template <class Value>
constexpr bool is_positional() {
  if constexpr (requires { Value::kPositional; }) {
    return Value::kPositional;
  } else {
    return false;
  }
}

}  // namespace lanes

template <class KeyFormat, class ValueFormat>
struct KV {
  using Key = typename KeyFormat::template As<Role::kKey>;
  using Value = typename lanes::ValueTraits<ValueFormat>::Type;
  static constexpr ValueKind kValueKind = lanes::ValueTraits<ValueFormat>::kKind;
  static constexpr std::uint32_t kKeyDim = Key::kDim;
  static constexpr std::uint32_t kValueDim = lanes::ValueTraits<ValueFormat>::kDim;
  static_assert(!lanes::is_positional<Value>(),
                "kvpleat: values cannot use a transform that depends on the position "
                "(PhaseCenter, Unrotate): use Center");
  static_assert(kValueKind != ValueKind::kKeyView || (kValueDim <= kKeyDim && !Key::kPositional),
                "kvpleat: KeyView<n> needs n <= the key's dim and keys whose restore does not "
                "depend on the position");
};

template <class... Pairs>
struct LaneList {
  static_assert(sizeof...(Pairs) >= 1 && sizeof...(Pairs) <= 14,
                "kvpleat: a cache has 1 to 14 lanes of its own (and one raw lane)");
  static constexpr std::size_t kSize = sizeof...(Pairs);
  template <std::size_t kIndex>
  using At = std::tuple_element_t<kIndex, std::tuple<Pairs...>>;
};

// Traits::Lanes, or one sentence about what is wrong with the traits.
template <class Lanes>
inline constexpr bool kIsLaneList = false;
template <class... Pairs>
inline constexpr bool kIsLaneList<LaneList<Pairs...>> = true;
template <class Traits>
constexpr auto lanes_of() {
  if constexpr (requires { typename Traits::Lanes; }) {
    static_assert(kIsLaneList<typename Traits::Lanes>,
                  "kvpleat: Lanes must be a LaneList of KV<Key, Value> pairs");
    return std::type_identity<typename Traits::Lanes>{};
  } else {
    static_assert(
        requires { typename Traits::Lanes; },
        "kvpleat: KvCache takes cache traits: derive from CacheTraits<head_dim> and name Lanes");
    return std::type_identity<LaneList<KV<RawFormat<1, float>, NoValue>>>{};
  }
}

// How many token maps exist: one for the cache, one per layer, or one per layer and KV head.
enum class MapScope : std::uint8_t { kSequence, kLayer, kHead };

// Base of a cache's traits; derive and give Lanes.
//   RawElement: what sinks, the residual and the rows of open lanes are held in. float keeps any
//   input exactly; Half or BFloat16 halve the memory and keep 16-bit input exactly.
//   kRawEnds: tokens of the first and the last layer go to the raw lane, unless
//   CacheShape::default_lanes or the tags of an append say otherwise.
template <std::uint32_t kKeyChannels, std::uint32_t kValueChannels = kKeyChannels>
struct CacheTraits {
  static constexpr std::uint32_t kKeyDim = kKeyChannels;
  static constexpr std::uint32_t kValueDim = kValueChannels;
  static constexpr MapScope kScope = MapScope::kLayer;
  static constexpr bool kRawEnds = false;
  using RawElement = float;
  using Store = DefaultStore;
  using Kernels = ReferenceKernels;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
