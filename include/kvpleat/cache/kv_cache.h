// KvCache: the compressed keys and values of one sequence, over many layers and heads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kvpleat/cache/lanes.h"
#include "kvpleat/cache/memory_report.h"
#include "kvpleat/cache/segment.h"
#include "kvpleat/cache/shape.h"
#include "kvpleat/cache/tail.h"
#include "kvpleat/cache/token_map.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/error.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"
#include "kvpleat/core/tokens.h"
#include "kvpleat/format/raw.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/store/array.h"
#include "kvpleat/store/memory_source.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Indices [begin, end) of a layer.
struct IndexRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0xffffffffu;

  [[nodiscard]] constexpr bool empty() const { return begin >= end; }
  friend constexpr IndexRange operator&(IndexRange a, IndexRange b) {
    return {upper_of(a.begin, b.begin), lower_of(a.end, b.end)};
  }
};

// Lane tags of appended tokens: tags[token * token_stride + head * head_stride]. Empty: the default
// lanes of the shape.
struct LaneTags {
  const std::uint8_t* tags = nullptr;
  std::size_t token_stride = 1;
  std::size_t head_stride = 0;  // 0: one tag for all heads
};
// Tag of a token whose lane is not known yet: it stays in the tail, readable, until commit.
inline constexpr std::uint8_t kUndecided = 0xff;

// Calibrated data of one lane, copied at creation: keys and values of [layers, kv_heads,
// Format::kProfileSize] floats. Load in this order: weights, adapters, profile, cache. A profile
// that says what it was made for is refused (kNeedsReprofile, "laneN.model" or "laneN.adapter") by
// a cache whose shape says something else: an adapter loaded later moves the keys and values that
// thresholds and means were taken from.
struct LaneProfile {
  const float* keys = nullptr;
  std::size_t key_count = 0;
  const float* values = nullptr;
  std::size_t value_count = 0;
  const char* model = nullptr;  // as in CacheShape; null: not said
  const char* adapter = nullptr;
};

// Traits: derive from CacheTraits and name Lanes. Lane i < kLanes is Lanes::At<i>; lane kRawLane
// holds rows as they came.
//
// A layer is written as a whole, all heads at once. Every operation that can fail checks and
// reserves first and writes afterwards: on an error nothing has changed, to the byte. The same
// tokens leave the same bytes however they are split into calls. All memory comes from the
// MemorySource, and until something is truncated it is a function of what is stored, but for the
// ends of spill pages: runs of all layers lie in them in the order of the calls. Threads: one writer
// per layer, readers of that layer between its writes; layers are independent (sequence scope: they
// share a map, so one writer per cache).
template <class CacheTraitsType>
class KvCache {
 public:
  using Traits = CacheTraitsType;
  using Lanes = typename decltype(lanes_of<Traits>())::type;
  static constexpr std::uint32_t kKeyDim = Traits::kKeyDim;
  static constexpr std::uint32_t kLanes = static_cast<std::uint32_t>(Lanes::kSize);
  static constexpr std::uint32_t kRawLane = kLanes;
  static constexpr std::uint32_t kSinkTag =
      kLanes + 1;  // in token maps: the sinks, which lie in no lane
  static constexpr ValueKind kValueKind = Lanes::template At<0>::kValueKind;
  static constexpr std::uint32_t kValueDim = kValueKind == ValueKind::kNone ? 0 : Traits::kValueDim;
  static constexpr MapScope kScope = Traits::kScope;
  static_assert(
      !(Traits::kRawEnds && kScope == MapScope::kSequence),
      "kvpleat: kRawEnds gives layers lanes of their own, a sequence-scoped cache has one "
      "map for all layers: use MapScope::kLayer or kHead");
  using RawElement = typename Traits::RawElement;

  // Lanes and the raw lane as pairs of formats.
  template <std::size_t kIndex, class = void>
  struct LaneAt {
    using Type = typename Lanes::template At<kIndex>;
  };
  template <class Unused>
  struct LaneAt<kRawLane, Unused> {
    using Value = std::conditional_t<kValueKind == ValueKind::kStored,
                                     RawFormat<Traits::kValueDim, RawElement>,
                                     typename Lanes::template At<0>::Value>;
    using Type = KV<RawFormat<kKeyDim, RawElement>, Value>;
  };
  template <std::size_t kIndex>
  using Lane = typename LaneAt<kIndex>::Type;

  // Errors: kInvalid or kRange with the field of the shape or profile at fault; kNeedsReprofile;
  // kNoMemory.
  //   profiles: one per lane that needs calibrated data, in lane order; missing ones count as not
  //   given.
  static Result<KvCache> create(const CacheShape& shape, const LaneProfile* profiles = nullptr,
                                std::size_t profile_count = 0,
                                const MemorySource& memory = heap_memory()) noexcept {
    if (const Error error = check_shape(shape, profiles, profile_count); !ok(error.status))
      return error;
    if (memory.allocate == nullptr || memory.release == nullptr) {
      return Error(Status::kInvalid, "memory");
    }
    void* place = memory.allocate(memory.context, sizeof(State));
    if (place == nullptr) return Error(Status::kNoMemory, "memory");
    KvCache cache(::new (place) State(memory, shape));
    if (const Error error = cache.state_->open(profiles, profile_count); !ok(error.status))
      return error;
    return Result<KvCache>(std::move(cache));
  }
  // The same without profiles, in an engine's memory.
  static Result<KvCache> create(const CacheShape& shape, const MemorySource& memory) noexcept {
    return create(shape, nullptr, 0, memory);
  }
  // What was moved from may only be destroyed or assigned to.
  KvCache(KvCache&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  KvCache& operator=(KvCache&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~KvCache() {
    if (state_ == nullptr) return;
    state_->clear();
    const MemorySource memory = state_->memory;
    state_->~State();
    memory.release(memory.context, state_, sizeof(State));
  }

  // What it points to lies in the cache: a copy of the shape must not outlive it. Those below
  // take a layer (and head, and index) that exists. O(1).
  [[nodiscard]] const CacheShape& shape() const noexcept { return state_->shape; }
  // Tokens of a layer: what attention sees.
  [[nodiscard]] std::uint32_t tokens(std::uint32_t layer) const noexcept {
    return state_->layers[layer].total();
  }
  // Of those, how many lie in the tail, as they came.
  [[nodiscard]] std::uint32_t tail_tokens(std::uint32_t layer) const noexcept {
    return state_->layers[layer].tail.size();
  }
  // Lane of a token; kRawLane for sinks, kUndecided while it is staged.
  [[nodiscard]] std::uint8_t lane(std::uint32_t layer, std::uint32_t head,
                                  std::uint32_t index) const noexcept {
    const Layer& l = state_->layers[layer];
    if (index < l.sinks.size()) return static_cast<std::uint8_t>(kRawLane);
    return index < l.settled ? static_cast<std::uint8_t>(state_->map(layer, head).tag(index))
                             : l.tail.tag(index - l.settled, head);
  }
  // What encoding has counted since the cache was created, truncated tokens included: of the keys,
  // of the values, and of both.
  [[nodiscard]] const EncodeCounters& key_counters(std::uint32_t layer) const noexcept {
    return state_->layers[layer].key_counters;
  }
  [[nodiscard]] const EncodeCounters& value_counters(std::uint32_t layer) const noexcept {
    return state_->layers[layer].value_counters;
  }
  [[nodiscard]] EncodeCounters counters(std::uint32_t layer) const noexcept {
    EncodeCounters both = key_counters(layer);
    both.add(value_counters(layer));
    return both;
  }

  // Appends k.tokens tokens to a layer. k: [tokens, kv_heads, kKeyDim]; v: [tokens, kv_heads,
  // kValueDim], empty if the cache stores no values. Zero tokens change nothing. kInvalid: no such
  // layer, null data, a tag that is no lane, one tag per head in a cache that is not head-scoped;
  // kMismatch: k, v and the shape disagree, or tags differ from those that another layer gave
  // (sequence scope); kCapacity, kNoMemory, kOutOfSpill, kNonFinite; kRange: a value does not fit
  // its format. O(tokens * heads * dim).
  Status append(std::uint32_t layer, const TokenRows& k, const TokenRows& v,
                LaneTags tags = {}) noexcept {
    return state_->append(layer, k, v, tags);
  }
  Status append(std::uint32_t layer, const TokenRows& k) noexcept
      requires(kValueKind != ValueKind::kStored) {
    return state_->append(layer, k, TokenRows{}, {});
  }
  // Decides the first n undecided tokens of a layer. kRange: fewer are undecided; otherwise as
  // append.
  Status commit(std::uint32_t layer, std::uint32_t n, LaneTags tags) noexcept {
    return state_->commit(layer, n, tags);
  }
  // Compresses the residual of a layer now (up to the first undecided token). Groups along tokens
  // stay open until full.
  Status flush(std::uint32_t layer) noexcept { return state_->flush(layer, layer + 1); }
  // All layers, or none on an error.
  Status flush() noexcept { return state_->flush(0, shape().layers); }
  // Keeps the first n tokens of a layer; they read as before, to the bit. A cut group stays coded
  // until it is refilled; then its kept tokens are coded a second time (at most another half
  // step each time). A residual at least as long as a draft keeps drafts out of the groups, and
  // rolling back is exact. kRange: n is above tokens(layer). Otherwise cannot fail.
  Status truncate(std::uint32_t layer, std::uint32_t n) noexcept {
    return state_->truncate(layer, n);
  }
  // All layers; checked on all before any is cut.
  Status truncate(std::uint32_t n) noexcept {
    for (std::uint32_t l = 0; l < shape().layers; ++l) {
      if (n > tokens(l)) return Status::kRange;
    }
    for (std::uint32_t l = 0; l < shape().layers; ++l) {
      if (const Status status = truncate(l, n); !ok(status)) return status;
    }
    return Status::kOk;
  }

  // Gives a lane other calibrated data, before its first token is coded: means from the first
  // tokens of the sequence, which wait in the tail meanwhile (residual or kUndecided; calibrate/
  // phase_mean.h). As at creation; a side that is null keeps what it has. On an error nothing has
  // changed. kInvalid: no such lane, a token of it is coded already ("lane"), or the profile cannot
  // be used (its name); kMismatch: its size; kNeedsReprofile: it was made for another model or
  // adapter; kRange ("tail"): a row in the tail does not fit the lane any more; kNoMemory.
  // O(profile + tail).
  Error set_profile(std::uint32_t lane, const LaneProfile& profile) noexcept {
    return state_->set_profile(lane, profile);
  }

  // Decoded rows of tokens [first, first + n) of a head: keys [n, kKeyDim], values [n, kValueDim],
  // either may be null. kInvalid: no such layer or head; kRange: not that many tokens;
  // kUnsupported: values of a cache without values.
  Status read(std::uint32_t layer, std::uint32_t head, std::uint32_t first, std::uint32_t n,
              float* keys, float* values) const noexcept {
    return state_->read(layer, head, first, n, keys, values);
  }

  // Every byte the cache holds. O(layers * heads + slabs).
  [[nodiscard]] MemoryReport memory() const noexcept { return state_->report(); }
  // What memory() will say once every layer holds `tokens` tokens in its default lanes, truncations
  // and staging aside. Spilled outliers depend on the data: they count as 0 here. All zeros
  // for a shape that create refuses.
  static MemoryReport predict(const CacheShape& shape, std::uint32_t tokens) noexcept {
    return State::predict(shape, tokens);
  }

  // "dim=64;transform=none;...": the identity of a lane's keys.
  template <std::size_t kIndex>
  static constexpr std::string_view key_id() {
    return Lane<kIndex>::Key::kId.view();
  }

  // ---- for attention and tools: a view of what lies in an index range ----

  // The tokens of one lane in an index range, as slots [slot, slot + count) of the head's streams.
  template <std::size_t kIndex>
  struct LaneView {
    static constexpr std::size_t kLane = kIndex;
    using Pair = Lane<kIndex>;
    const KvCache& cache;
    std::uint32_t layer;
    std::uint32_t head;
    std::uint32_t index;  // of the first token of the range (not necessarily one of this lane)
    std::uint32_t slot;
    std::uint32_t count;

    [[nodiscard]] const typename Pair::Key& key_format() const noexcept {
      return side().format(layer, head);
    }
    [[nodiscard]] const auto& value_format() const noexcept {
      return value_side().format(layer, head);
    }
    std::uint32_t key_pieces(std::uint32_t first, std::uint32_t n, BlockRun* runs,
                             Rows& rows) const noexcept {
      return side().segments[layer].streams[head].pieces(side().store(layer), first, n, runs, rows);
    }
    std::uint32_t value_pieces(std::uint32_t first, std::uint32_t n, BlockRun* runs,
                               Rows& rows) const noexcept {
      return value_side().segments[layer].streams[head].pieces(value_side().store(layer), first, n,
                                                               runs, rows);
    }
    // Indices of n tokens of the lane from the one at or after `from` on.
    void positions(std::uint32_t from, std::uint32_t n, std::int64_t* out) const noexcept {
      cache.state_->map(layer, head).positions(kIndex, from, n, out);
    }

    // How many tokens of the lane come before an index: the slot of the first at or after it.
    [[nodiscard]] std::uint32_t slot_of(std::uint32_t at) const noexcept {
      const auto& map = cache.state_->map(layer, head);
      return map.rank(kIndex, lower_of(at, map.size()));
    }

   private:
    auto& side() const noexcept { return std::get<kIndex>(cache.state_->lanes).keys; }
    auto& value_side() const noexcept { return std::get<kIndex>(cache.state_->lanes).values; }
  };
  // Calls lane(LaneView) for every lane with tokens in the range and tail(first index, count) for
  // tokens in the tail.
  template <class OnLane, class OnRaw>
  void visit(std::uint32_t layer, std::uint32_t head, IndexRange range, OnLane on_lane,
             OnRaw on_raw) const noexcept {
    const Layer& l = state_->layers[layer];
    range = range & IndexRange{0, l.total()};
    if (range.empty()) return;
    if (range.begin < l.sinks.size()) {
      on_raw(range.begin, lower_of(range.end, l.sinks.size()) - range.begin);
    }
    const std::uint32_t settled_end = lower_of(range.end, l.settled);
    if (range.begin < settled_end) {
      const auto& map = state_->map(layer, head);
      State::each_lane([&]<std::size_t kIndex>() {
        const std::uint32_t slot = map.rank(kIndex, range.begin);
        const std::uint32_t end = map.rank(kIndex, settled_end);
        if (slot < end)
          on_lane(LaneView<kIndex>{*this, layer, head, range.begin, slot, end - slot});
      });
    }
    if (range.end > l.settled) {
      const std::uint32_t begin = upper_of(range.begin, l.settled);
      on_raw(begin, range.end - begin);
    }
  }
  // The stored rows of sinks or of tokens in the tail from `index` on, n at most: as many as lie one
  // behind the other, all of the one kind. Returns how many. Values of a key view are its first
  // channels.
  std::uint32_t raw_rows(std::uint32_t layer, std::uint32_t head, std::uint32_t index,
                         std::uint32_t n, abi::RawRows& keys, abi::RawRows& values) const noexcept {
    const Layer& l = state_->layers[layer];
    const bool sink = index < l.sinks.size();
    const Tail<RawElement>& from = sink ? l.sinks : l.tail;
    const std::uint32_t at = sink ? index : index - l.settled;
    const std::uint32_t count = from.contiguous(at, lower_of(n, from.size() - at));
    constexpr abi::Element kElement = std::is_same_v<RawElement, float>  ? abi::Element::kFloat
                                      : std::is_same_v<RawElement, Half> ? abi::Element::kHalf
                                                                         : abi::Element::kBFloat16;
    const std::uint8_t* key = from.key_bytes(at, head);
    const std::uint8_t* value = kValueKind == ValueKind::kStored ? from.value_bytes(at, head) : key;
    keys = {key, from.token_bytes(), count, kKeyDim, kElement};
    values = {value, from.token_bytes(), count, kValueDim, kElement};
    return count;
  }
  // Rows of a sink or of a token in the tail, as they came. Either pointer may be null.
  void read_raw(std::uint32_t layer, std::uint32_t head, std::uint32_t index, float* key,
                float* value) const noexcept {
    state_->layers[layer].read_raw(index, head, key, value);
  }

 private:
  struct State;
  struct Layer {
    Tail<RawElement> sinks;
    Tail<RawElement> tail;
    EncodeCounters key_counters;
    EncodeCounters value_counters;
    std::uint32_t settled = 0;  // tokens in sinks and lanes; the others are in the tail

    Layer(Tail<RawElement>&& first, Tail<RawElement>&& last) noexcept
        : sinks(std::move(first)), tail(std::move(last)) {}
    [[nodiscard]] std::uint32_t total() const noexcept { return settled + tail.size(); }
    void read_raw(std::uint32_t index, std::uint32_t head, float* key,
                  float* value) const noexcept {
      const bool sink = index < sinks.size();
      const Tail<RawElement>& from = sink ? sinks : tail;
      const std::uint32_t at = sink ? index : index - settled;
      if (key != nullptr) from.read_key(at, head, key);
      if (value == nullptr) return;
      if constexpr (kValueKind == ValueKind::kStored) {
        from.read_value(at, head, value);
      } else {
        float whole[kKeyDim];
        from.read_key(at, head, whole);
        for (std::uint32_t c = 0; c < kValueDim; ++c) value[c] = whole[c];
      }
    }
  };

  explicit KvCache(State* state) noexcept : state_(state) {}
  static Error check_shape(const CacheShape& shape, const LaneProfile* profiles,
                           std::size_t profile_count, bool with_profiles = true) noexcept;

  State* state_ = nullptr;
};

}  // namespace kvpleat::inline KVPLEAT_ISA

#include "kvpleat/cache/kv_cache_state.h"
