// LaneState: all a cache keeps of one lane: pools, formats bound to their profiles, and the segment
// of every layer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/cache/lanes.h"
#include "kvpleat/cache/shape.h"
#include "kvpleat/cache/stream.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/status.h"
#include "kvpleat/store/array.h"
#include "kvpleat/store/block_pool.h"
#include "kvpleat/transform/bind.h"

namespace kvpleat::inline KVPLEAT_ISA {

// The streams of one side (keys or values) of a layer in a lane, one per head, and their shared
// blocks.
template <Format F>
struct SegmentSide {
  Array<Stream<F>> streams;
  Array<std::uint32_t> shared_ids;
  std::uint32_t promised_shared = 0;

  explicit SegmentSide(const MemorySource* memory) noexcept : streams(memory), shared_ids(memory) {}
};

// One side of a lane over all layers.
template <Format F, class Store>
struct LaneSide {
  BlockPool blocks;
  BlockPool shared;
  Array<float> profile;            // [layers, heads, kProfileSize]
  Array<F> formats;                // [layers, heads]
  Array<SegmentSide<F>> segments;  // [layers]
  std::uint32_t heads = 0;

  // Most stretches of blocks that all streams can have.
  static std::uint64_t block_limit(const CacheShape& shape) noexcept {
    return static_cast<std::uint64_t>(shape.layers) * shape.kv_heads *
           ceil_div<std::uint64_t>(shape.max_tokens,
                                   std::uint64_t{F::kBlockTokens} * Store::kStretchBlocks);
  }
  static std::uint64_t shared_limit(const CacheShape& shape) noexcept {
    return static_cast<std::uint64_t>(shape.layers) *
           ceil_div<std::uint64_t>(shape.max_tokens, F::kBlockTokens);
  }
  // Most spill bytes of a token: a byte per value where the format does not say.
  static constexpr std::uint32_t kTokenSpill = [] {
    if constexpr (requires { F::kTokenSpillBytes; }) {
      return static_cast<std::uint32_t>(F::kTokenSpillBytes);
    } else {
      return static_cast<std::uint32_t>(F::kCoded);
    }
  }();
  static constexpr std::size_t kSpillPage = upper_of<std::size_t>(
      Store::kSpillPageBytes, static_cast<std::size_t>(F::kBlockTokens) * kTokenSpill);

  Status open(const MemorySource* memory, const CacheShape& shape, const float* given,
              const BindContext& context) noexcept {
    static_assert(!F::kSpills || Store::kSpillPageBytes > 0,
                  "kvpleat: the codec spills outliers, but the store has no spill pages: use a "
                  "store with kSpillPageBytes > 0");
    heads = shape.kv_heads;
    const std::size_t views = static_cast<std::size_t>(shape.layers) * shape.kv_heads;
    rebuild(profile, memory);
    rebuild(formats, memory);
    rebuild(segments, memory);
    Status status = blocks.open(memory, F::kBlockBytes, block_limit(shape), Store::kSlabBytes,
                                F::kSpills, Store::kStretchBlocks);
    if (!ok(status)) return status;
    if constexpr (F::kSharedBytes > 0) {
      status = shared.open(memory, F::kSharedBytes, shared_limit(shape), Store::kSlabBytes, false);
      if (!ok(status)) return status;
    }
    if constexpr (F::kSpills) {
      const std::uint64_t all =
          block_limit(shape) * Store::kStretchBlocks * F::kBlockTokens * kTokenSpill;
      blocks.spill().open(memory, kSpillPage, shape.spill_bytes == 0 ? all : shape.spill_bytes);
    }
    if (!profile.reserve(views * F::kProfileSize) || !formats.reserve(views) ||
        !segments.reserve(shape.layers)) {
      return Status::kNoMemory;
    }
    profile.resize_raw(views * F::kProfileSize);
    formats.resize_raw(views);
    set_profile(given, context);
    for (std::uint32_t l = 0; l < shape.layers; ++l) segments.push(memory);
    return Status::kOk;
  }
  // Copies the profile of every view (null: zeros) and binds the formats to it.
  void set_profile(const float* given, const BindContext& context) noexcept {
    for (std::size_t i = 0; i < profile.size(); ++i)
      profile[i] = given == nullptr ? 0.0f : given[i];
    for (std::size_t i = 0; i < formats.size(); ++i) {
      BindContext own = context;
      own.profile = F::kProfileSize == 0 ? nullptr : profile.data() + i * F::kProfileSize;
      ::new (static_cast<void*>(formats.data() + i)) F(F::bind(own));
    }
  }
  // Whether no stream of the lane has a token, in blocks or in an open group.
  [[nodiscard]] bool empty() const noexcept {
    for (std::uint32_t l = 0; l < segments.size(); ++l) {
      for (std::uint32_t h = 0; h < segments[l].streams.size(); ++h) {
        if (segments[l].streams[h].size() > 0) return false;
      }
    }
    return true;
  }
  // A segment gets its streams when its first token comes.
  [[nodiscard]] bool open_segment(std::uint32_t layer, const MemorySource* memory) noexcept {
    SegmentSide<F>& segment = segments[layer];
    if (segment.streams.size() > 0) return true;
    if (!segment.streams.reserve(heads)) return false;
    for (std::uint32_t h = 0; h < heads; ++h) segment.streams.push(memory);
    return true;
  }
  [[nodiscard]] StreamStore store(std::uint32_t layer) noexcept {
    return {&blocks, F::kSharedBytes > 0 ? &shared : nullptr, segments[layer].shared_ids.data()};
  }
  [[nodiscard]] const F& format(std::uint32_t layer, std::uint32_t head) const noexcept {
    return formats[static_cast<std::size_t>(layer) * heads + head];
  }
  // Shared blocks for slots [0, slots).
  Status prepare_shared(std::uint32_t layer, std::uint32_t slots) noexcept {
    SegmentSide<F>& segment = segments[layer];
    const std::uint32_t needed = ceil_div(slots, F::kBlockTokens);
    if (needed <= segment.shared_ids.size()) return Status::kOk;
    const std::uint32_t fresh = needed - segment.shared_ids.size();
    if (const Status status = shared.reserve(fresh); !ok(status)) return status;
    segment.promised_shared = fresh;
    const bool room = needed <= segment.shared_ids.capacity() ||
                      segment.shared_ids.prepare(std::bit_ceil(upper_of(needed, 4u)));
    return room ? Status::kOk : Status::kNoMemory;
  }
  void cancel(std::uint32_t layer) noexcept {
    SegmentSide<F>& segment = segments[layer];
    for (std::uint32_t h = segment.streams.size(); h-- > 0;)
      segment.streams[h].cancel(store(layer));  // in reverse: spill pages are rewound
    if constexpr (F::kSharedBytes > 0) shared.cancel(segment.promised_shared);
    segment.promised_shared = 0;
    segment.shared_ids.cancel();
    close_if_empty(layer);
  }
  // A segment without tokens holds no memory of its own.
  void close_if_empty(std::uint32_t layer) noexcept {
    SegmentSide<F>& segment = segments[layer];
    for (std::uint32_t h = 0; h < segment.streams.size(); ++h) {
      if (segment.streams[h].size() > 0) return;
    }
    if (segment.streams.capacity() > 0) rebuild(segment.streams, segment.streams.memory());
    if (segment.shared_ids.capacity() > 0) rebuild(segment.shared_ids, segment.shared_ids.memory());
  }
  void truncate_shared(std::uint32_t layer, std::uint32_t slots) noexcept {
    SegmentSide<F>& segment = segments[layer];
    while (segment.shared_ids.size() > ceil_div(slots, F::kBlockTokens)) {
      shared.release(segment.shared_ids.back());
      segment.shared_ids.pop();
    }
    if (slots % F::kBlockTokens != 0 && segment.shared_ids.size() > 0) {
      constexpr std::uint32_t kPerToken = F::kSharedBytes / F::kBlockTokens;
      std::uint8_t* bytes = shared.data(segment.shared_ids.back());
      for (std::uint32_t i = slots % F::kBlockTokens * kPerToken; i < F::kSharedBytes; ++i)
        bytes[i] = 0;
    }
  }
  void clear() noexcept {
    for (std::uint32_t l = 0; l < segments.size(); ++l) {
      for (std::uint32_t h = 0; h < segments[l].streams.size(); ++h)
        segments[l].streams[h].clear(store(l));
      if constexpr (F::kSharedBytes > 0) truncate_shared(l, 0);
    }
  }

 private:
  template <class T>
  static void rebuild(Array<T>& array, const MemorySource* memory) noexcept {
    array.~Array<T>();
    ::new (static_cast<void*>(&array)) Array<T>(memory);
  }
};

// Stands for the value side of lanes that store no values.
struct NoLaneSide {};

template <class Pair, class Store>
struct LaneState {
  using Key = typename Pair::Key;
  using Value = typename Pair::Value;
  static constexpr ValueKind kValueKind = Pair::kValueKind;
  static constexpr bool kStoresValues = kValueKind == ValueKind::kStored;

  template <bool kStored, class V>
  struct ValueSide {
    using Type = LaneSide<V, Store>;
  };
  template <class V>
  struct ValueSide<false, V> {
    using Type = NoLaneSide;
  };

  LaneSide<Key, Store> keys;
  [[no_unique_address]] typename ValueSide<kStoresValues, Value>::Type values;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
