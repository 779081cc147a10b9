// KvCache<Traits>::State: what a cache owns, and the operations on it. Included by kv_cache.h.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/transform/phase_table.h"

namespace kvpleat::inline KVPLEAT_ISA {

template <class CacheTraitsType>
struct KvCache<CacheTraitsType>::State {
  using Kernels = typename Traits::Kernels;
  using Map = TokenMap<kLanes + 2>;  // the lanes, the raw lane, the sinks
  static constexpr bool kStoresValues = kValueKind == ValueKind::kStored;
  // Rows coded at once: bounds the stack to 32 KiB per side.
  template <class F>
  static constexpr std::uint32_t kChunk = upper_of(1u, lower_of(16u, 4096u / F::kCoded));

  template <class Indices>
  struct TupleOf;
  template <std::size_t... kIndices>
  struct TupleOf<std::index_sequence<kIndices...>> {
    using Type = std::tuple<LaneState<Lane<kIndices>, typename Traits::Store>...>;
    static_assert(((Lane<kIndices>::kKeyDim == kKeyDim) && ...),
                  "kvpleat: a lane's keys have another head_dim than the cache");
    static_assert(
        ((Lane<kIndices>::kValueKind == kValueKind && Lane<kIndices>::kValueDim == kValueDim) &&
         ...),
        "kvpleat: all lanes of a cache store values alike (same head_dim, or NoValue, or KeyView)");
    static_assert(kScope != MapScope::kHead || ((Lane<kIndices>::Key::kSharedBytes == 0) && ...),
                  "kvpleat: a format with side data over all heads (Oaken) cannot be used in a "
                  "head-scoped cache: use OakenPerHead");
  };
  using LaneTuple = typename TupleOf<std::make_index_sequence<kLanes + 1>>::Type;

  MemorySource memory;
  CacheShape shape;
  Array<std::uint8_t> default_lanes;
  Array<char> model;
  Array<char> adapter;
  Array<CosSin> unit_rotations;
  Array<std::uint8_t> phases;  // an abi::PhaseTable, if a format of keys needs one
  LaneTuple lanes;
  Array<Map> maps;
  Array<Layer> layers;

  State(const MemorySource& source, const CacheShape& given) noexcept
      : memory(source),
        shape(given),
        default_lanes(&memory),
        model(&memory),
        adapter(&memory),
        unit_rotations(&memory),
        phases(&memory),
        maps(&memory),
        layers(&memory) {}

  // Calls visit<0>() .. visit<kRawLane>().
  template <class Visit>
  static void each_lane(Visit visit) {
    [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
      (visit.template operator()<kIndices>(), ...);
    }
    (std::make_index_sequence<kLanes + 1>{});
  }
  // The lane `tag`, or nothing.
  template <class Visit>
  static void with_lane(std::uint32_t tag, Visit visit) {
    each_lane([&]<std::size_t kIndex>() {
      if (tag == kIndex) visit.template operator()<kIndex>();
    });
  }
  // Calls visit(side) for the sides that a lane stores.
  template <std::size_t kIndex, class Visit>
  void each_side(Visit visit) noexcept {
    visit(std::get<kIndex>(lanes).keys);
    if constexpr (kStoresValues) visit(std::get<kIndex>(lanes).values);
  }

  static constexpr bool kPositional =
      []<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
    return (Lane<kIndices>::Key::kPositional || ...);
  }
  (std::make_index_sequence<kLanes>{});

  // Positions that are added to scores again, by kernels that have a table for it.
  static constexpr bool kHasPhases = []<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
    return Traits::Kernels::kTakesPhaseTable &&
           ((Lane<kIndices>::Key::kPositional && Lane<kIndices>::Key::kHasOffset) || ...);
  }
  (std::make_index_sequence<kLanes>{});

  static std::uint32_t map_count(const CacheShape& shape) noexcept {
    return kScope == MapScope::kSequence ? 1
           : kScope == MapScope::kLayer  ? shape.layers
                                         : shape.layers * shape.kv_heads;
  }
  [[nodiscard]] std::uint32_t map_index(std::uint32_t layer, std::uint32_t head) const noexcept {
    return kScope == MapScope::kSequence ? 0
           : kScope == MapScope::kLayer  ? layer
                                         : layer * shape.kv_heads + head;
  }
  [[nodiscard]] Map& map(std::uint32_t layer, std::uint32_t head) noexcept {
    return maps[map_index(layer, head)];
  }
  // Heads that differ in their maps.
  [[nodiscard]] std::uint32_t map_heads() const noexcept {
    return kScope == MapScope::kHead ? shape.kv_heads : 1;
  }

  // ---- creation ----

  Error open(const LaneProfile* profiles, std::size_t profile_count) noexcept {
    if (shape.default_lane_count > 0) {
      if (!default_lanes.reserve(shape.default_lane_count))
        return {Status::kNoMemory, "default_lanes"};
      for (std::size_t i = 0; i < shape.default_lane_count; ++i)
        default_lanes.push(shape.default_lanes[i]);
      shape.default_lanes = default_lanes.data();
    }
    if (!keep_text(shape.model, model)) return {Status::kNoMemory, "model"};
    if (!keep_text(shape.adapter, adapter)) return {Status::kNoMemory, "adapter"};
    if constexpr (kPositional) {
      const std::uint32_t pairs = shape.rope.pairs();
      if (!unit_rotations.reserve(static_cast<std::size_t>(kRotationSpan) * pairs))
        return {Status::kNoMemory, "rope"};
      for (std::uint32_t t = 0; t < kRotationSpan; ++t) {
        for (std::uint32_t i = 0; i < pairs; ++i) unit_rotations.push(shape.rope.rotation(i, t));
      }
    }
    if constexpr (kHasPhases) {
      const std::size_t bytes = phase_table::sizes(shape.rope).bytes;
      if (!phases.reserve(bytes)) return {Status::kNoMemory, "rope"};
      for (std::size_t i = 0; i < bytes; ++i) phases.push(std::uint8_t{0});
      phase_table::make(shape.rope, phases.data());
    }
    const BindContext context = bind_context();
    Status status = Status::kOk;
    each_lane([&]<std::size_t kIndex>() {
      const LaneProfile given = kIndex < profile_count ? profiles[kIndex] : LaneProfile{};
      if (ok(status))
        status = std::get<kIndex>(lanes).keys.open(&memory, shape, given.keys, context);
      if constexpr (kStoresValues) {
        if (ok(status))
          status = std::get<kIndex>(lanes).values.open(&memory, shape, given.values, context);
      }
    });
    if (!ok(status)) return {status, status == Status::kRange ? "max_tokens" : "memory"};
    if (!maps.reserve(map_count(shape)) || !layers.reserve(shape.layers))
      return {Status::kNoMemory, "memory"};
    for (std::uint32_t i = 0; i < map_count(shape); ++i) maps.push(&memory);
    for (std::uint32_t l = 0; l < shape.layers; ++l) {
      const auto raw_rows = [&] {
        return Tail<RawElement>(&memory, shape.kv_heads, kKeyDim, kStoresValues ? kValueDim : 0,
                                map_heads());
      };
      layers.push(raw_rows(), raw_rows());
    }
    return {};
  }
  // Copies a text of the caller's, if there is one, and lets it point to the copy.
  [[nodiscard]] static bool keep_text(const char*& text, Array<char>& copy) noexcept {
    const std::size_t bytes = text_bytes(text);
    if (bytes == 0) return true;
    if (!copy.reserve(bytes)) return false;
    for (std::size_t i = 0; i < bytes; ++i) copy.push(text[i]);
    text = copy.data();
    return true;
  }
  static std::size_t text_bytes(const char* text) noexcept {
    return text == nullptr ? 0 : std::string_view(text).size() + 1;
  }
  [[nodiscard]] BindContext bind_context() const noexcept {
    BindContext context;
    context.rope = &shape.rope;
    context.unit_rotations = unit_rotations.data();
    if constexpr (kHasPhases) context.phases = phase_table::in(phases.data());
    return context;
  }

  // Other calibrated data for a lane without coded tokens. The old floats are kept until every row
  // in the tail that is bound for the lane is known to fit.
  Error set_profile(std::uint32_t lane, const LaneProfile& given) noexcept {
    Error error = {Status::kInvalid, "lane"};
    each_lane([&]<std::size_t kIndex>() {
      if (lane != kIndex || kIndex == kRawLane) return;
      auto& state = std::get<kIndex>(lanes);
      bool empty = true;
      each_side<kIndex>([&](auto& side) { empty = empty && side.empty(); });
      if (!empty) return;
      error = check_profile<kIndex>(shape, given, false);
      if (!ok(error.status)) return;
      Array<float> old_keys(&memory);
      Array<float> old_values(&memory);
      bool kept = given.keys == nullptr || keep(state.keys, old_keys);
      if constexpr (kStoresValues)
        kept = kept && (given.values == nullptr || keep(state.values, old_values));
      if (!kept) {
        error = {Status::kNoMemory, "memory"};
        return;
      }
      const BindContext context = bind_context();
      const auto set = [&](const float* keys, const float* values) {
        if (given.keys != nullptr) state.keys.set_profile(keys, context);
        if constexpr (kStoresValues) {
          if (given.values != nullptr) state.values.set_profile(values, context);
        }
      };
      set(given.keys, given.values);
      if (!ok(tail_fits(lane))) {
        set(old_keys.data(), old_values.data());
        error = {Status::kRange, "tail"};
      }
    });
    return error;
  }
  template <class Side>
  static bool keep(const Side& side, Array<float>& copy) noexcept {
    if (!copy.reserve(side.profile.size())) return false;
    for (std::size_t i = 0; i < side.profile.size(); ++i) copy.push(side.profile[i]);
    return true;
  }
  [[nodiscard]] Status tail_fits(std::uint32_t lane) const noexcept {
    for (std::uint32_t i = 0; i < layers.size(); ++i) {
      const Layer& l = layers[i];
      for (std::uint32_t t = 0; t < l.tail.size(); ++t) {
        for (std::uint32_t h = 0; h < shape.kv_heads; ++h) {
          if (l.tail.tag(t, h) != lane) continue;
          float key[kKeyDim];
          l.tail.read_key(t, h, key);
          Status status = fits<true>(i, l.settled + t, h, lane, key);
          if constexpr (kStoresValues) {
            float value[kValueDim];
            l.tail.read_value(t, h, value);
            if (ok(status)) status = fits<false>(i, l.settled + t, h, lane, value);
          }
          if (!ok(status)) return status;
        }
      }
    }
    return Status::kOk;
  }
  // Whether a lane can use a profile. missing: whether a side that is not given counts as a profile
  // of none.
  template <std::size_t kIndex>
  static Error check_profile(const CacheShape& shape, const LaneProfile& given,
                             bool missing) noexcept {
    const std::size_t views = static_cast<std::size_t>(shape.layers) * shape.kv_heads;
    const auto same = [](const char* a, const char* b) {
      return a == nullptr || b == nullptr || std::string_view(a) == std::string_view(b);
    };
    constexpr auto kName = Text("lane") + number_text<kIndex>();
    if (!same(given.model, shape.model))
      return {Status::kNeedsReprofile, (kName + ".model").view()};
    if (!same(given.adapter, shape.adapter))
      return {Status::kNeedsReprofile, (kName + ".adapter").view()};
    Error error;
    const auto check = [&]<class F>(const float* data, std::size_t size, std::string_view field) {
      if (!ok(error.status) || (data == nullptr && !missing)) return;
      if (data != nullptr && size != views * F::kProfileSize) error = {Status::kMismatch, field};
      for (std::size_t i = 0; i < views && ok(error.status); ++i) {
        const float* own = data == nullptr ? nullptr : data + i * F::kProfileSize;
        if (!F::valid_profile(own)) error = {Status::kInvalid, field};
      }
    };
    using Pair = Lane<kIndex>;
    check.template operator()<typename Pair::Key>(given.keys, given.key_count,
                                                  (kName + ".key.profile").view());
    if constexpr (kStoresValues) {
      check.template operator()<typename Pair::Value>(given.values, given.value_count,
                                                      (kName + ".value.profile").view());
    }
    return error;
  }

  void clear() noexcept {
    each_lane([&]<std::size_t kIndex>() { each_side<kIndex>([](auto& side) { side.clear(); }); });
  }

  // ---- appending ----

  // The tokens of one call: those in the tail, then the new ones. `first` is the index of the first
  // new one.
  struct Call {
    std::uint32_t layer = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;  // new tokens
    const TokenRows* k = nullptr;
    const TokenRows* v = nullptr;
    LaneTags tags{};
    bool as_it_came = false;  // new rows are stored unchanged: all finite, and nothing rounds them
  };

  // Non-finite elements of a call that become zeros.
  struct Replaced {
    std::uint64_t keys = 0;
    std::uint64_t values = 0;
  };

  [[nodiscard]] std::uint32_t given_tag(const Call& call, std::uint32_t index,
                                        std::uint32_t head) const noexcept {
    if (index < shape.sinks) return kSinkTag;
    if (call.tags.tags != nullptr) {
      return call.tags
          .tags[(index - call.first) * call.tags.token_stride + head * call.tags.head_stride];
    }
    if constexpr (kScope == MapScope::kSequence) {
      if (const std::uint32_t known = shared_tag(index); known != kUndecided) return known;
    }
    return default_lane(shape, call.layer, head);
  }
  static std::uint32_t default_lane(const CacheShape& shape, std::uint32_t layer,
                                    std::uint32_t head) noexcept {
    if (shape.default_lane_count == 0)
      return Traits::kRawEnds && (layer == 0 || layer + 1 == shape.layers) ? kRawLane : 0;
    if (shape.default_lane_count == 1) return shape.default_lanes[0];
    if (shape.default_lane_count == shape.layers) return shape.default_lanes[layer];
    return shape.default_lanes[layer * shape.kv_heads + head];
  }
  [[nodiscard]] std::uint32_t tag(const Call& call, std::uint32_t index,
                                  std::uint32_t head) const noexcept {
    const Layer& l = layers[call.layer];
    return index < call.first ? l.tail.tag(index - l.settled, head) : given_tag(call, index, head);
  }
  // A row as it is stored: non-finite values replaced, and rounded to RawElement if it waits or the
  // cache keeps a residual, so that a row has the same bytes whether it waited in the tail or not.
  void clean(float* row, std::uint32_t dim, bool waits = false) const noexcept {
    if (shape.non_finite == NonFinite::kZero) {
      for (std::uint32_t c = 0; c < dim; ++c) row[c] = is_finite(row[c]) ? row[c] : 0.0f;
    }
    if constexpr (sizeof(RawElement) == 2) {
      if (waits || shape.residual > 0) {
        for (std::uint32_t c = 0; c < dim; ++c) row[c] = to_float(nearest<RawElement>(row[c]));
      }
    }
  }
  void load_key(const Call& call, std::uint32_t index, std::uint32_t head,
                float* row) const noexcept {
    const Layer& l = layers[call.layer];
    if (index < call.first) return l.tail.read_key(index - l.settled, head, row);
    call.k->read(index - call.first, head, row);
    clean(row, kKeyDim);
  }
  void load_value(const Call& call, std::uint32_t index, std::uint32_t head,
                  float* row) const noexcept {
    const Layer& l = layers[call.layer];
    if (index < call.first) return l.tail.read_value(index - l.settled, head, row);
    call.v->read(index - call.first, head, row);
    clean(row, kValueDim);
  }
  template <bool kKeys>
  void load(const Call& call, std::uint32_t index, std::uint32_t head, float* row) const noexcept {
    if constexpr (kKeys) {
      load_key(call, index, head, row);
    } else {
      load_value(call, index, head, row);
    }
  }

  Status append(std::uint32_t layer, const TokenRows& k, const TokenRows& v,
                LaneTags tags) noexcept {
    if (layer >= shape.layers) return Status::kInvalid;
    const TokenRows none;
    const TokenRows& values = kStoresValues ? v : none;
    if (!kStoresValues && v.tokens != 0) return Status::kMismatch;
    if (k.tokens == 0) return kStoresValues && v.tokens != 0 ? Status::kMismatch : Status::kOk;
    if (const Status status = k.check(); !ok(status)) return status;
    if (const Status status = values.check(); !ok(status)) return status;
    if (k.heads != shape.kv_heads || k.dim != kKeyDim) return Status::kMismatch;
    if (kStoresValues &&
        (v.tokens != k.tokens || v.heads != shape.kv_heads || v.dim != kValueDim)) {
      return Status::kMismatch;
    }
    Layer& l = layers[layer];
    if (k.tokens > shape.max_tokens - l.total()) return Status::kCapacity;
    if (kScope != MapScope::kHead && tags.tags != nullptr && tags.head_stride != 0)
      return Status::kInvalid;
    Call call{layer, l.total(), static_cast<std::uint32_t>(k.tokens), &k, &values, tags};
    Replaced replaced;
    if (plainly_fits(call)) {
      call.as_it_came = sizeof(RawElement) == 4 || shape.residual == 0;
    } else if (const Status status = check_values(call, replaced); !ok(status)) {
      return status;
    }
    const Status status = advance(call, false);
    if (ok(status)) {
      l.key_counters.non_finite += replaced.keys;
      l.value_counters.non_finite += replaced.values;
    }
    return status;
  }
  Status commit(std::uint32_t layer, std::uint32_t n, LaneTags tags) noexcept {
    if (layer >= shape.layers || (n > 0 && tags.tags == nullptr)) return Status::kInvalid;
    if (kScope != MapScope::kHead && tags.head_stride != 0) return Status::kInvalid;
    Layer& l = layers[layer];
    std::uint32_t first = 0;  // in the tail
    while (first < l.tail.size() && l.tail.tag(first, 0) != kUndecided) ++first;
    std::uint32_t end = first;
    while (end < l.tail.size() && end - first < n && l.tail.tag(end, 0) == kUndecided) ++end;
    if (end - first < n) return Status::kRange;
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t h = 0; h < shape.kv_heads; ++h) {
        const std::uint32_t lane = tags.tags[i * tags.token_stride + h * tags.head_stride];
        if (lane > kRawLane) return Status::kInvalid;
        if (const Status status = check_shared_map(l.settled + first + i, lane); !ok(status))
          return status;
        float key[kKeyDim];
        l.tail.read_key(first + i, h, key);
        const std::uint32_t index = l.settled + first + i;
        Status status = fits<true>(layer, index, h, lane, key);
        if constexpr (kStoresValues) {
          float value[kValueDim];
          l.tail.read_value(first + i, h, value);
          if (ok(status)) status = fits<false>(layer, index, h, lane, value);
        }
        if (!ok(status)) return status;
      }
    }
    const auto set_tags = [&](bool decided) {
      for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t h = 0; h < map_heads(); ++h) {
          const std::uint8_t lane = tags.tags[i * tags.token_stride + h * tags.head_stride];
          l.tail.set_tag(first + i, h, decided ? lane : kUndecided);
        }
      }
    };
    set_tags(true);
    const Status status = advance(Call{layer, l.total()}, false);
    if (!ok(status)) set_tags(false);
    return status;
  }
  Status flush(std::uint32_t first, std::uint32_t end) noexcept {
    if (first >= shape.layers || end > shape.layers) return Status::kInvalid;
    Status status = Status::kOk;
    std::uint32_t prepared = first;
    for (; prepared < end && ok(status); ++prepared) {
      const Call call{prepared, layers[prepared].total()};
      status = prepare_all(call, settle_end(call, true));
    }
    if (ok(status)) {
      for (std::uint32_t l = first; l < end; ++l) {
        const Call call{l, layers[l].total()};
        write_all(call, settle_end(call, true));
      }
    } else {  // the last first: spill pages are rewound
      while (prepared > first) cancel(Call{--prepared});
    }
    return status;
  }

  // In a cache with one map for all layers the first layer to reach a token decides its lane, in
  // the map or, before that, in its tail. kUndecided: no layer has decided it.
  [[nodiscard]] std::uint32_t shared_tag(std::uint32_t index) const noexcept {
    if (index < maps[0].size()) return maps[0].tag(index);
    for (std::uint32_t i = 0; i < shape.layers; ++i) {
      const Layer& l = layers[i];
      if (index < l.settled || index >= l.total()) continue;
      if (const std::uint8_t known = l.tail.tag(index - l.settled, 0); known != kUndecided)
        return known;
    }
    return kUndecided;
  }
  Status check_shared_map(std::uint32_t index, std::uint32_t lane) const noexcept {
    if constexpr (kScope == MapScope::kSequence) {
      const std::uint32_t known = shared_tag(index);
      if (known != kUndecided && known != lane) return Status::kMismatch;
    }
    return Status::kOk;
  }
  // Whether a row fits the format of a lane. The bound is cheap and usually decides; if not, the
  // row is coded.
  template <bool kKeys>
  Status fits(std::uint32_t layer, std::uint32_t index, std::uint32_t head, std::uint32_t lane,
              const float* row) const noexcept {
    constexpr std::uint32_t kDim = kKeys ? kKeyDim : upper_of(kValueDim, 1u);
    const float largest = largest_magnitude(row, kDim);
    Status status = Status::kOk;
    with_lane(lane, [&]<std::size_t kIndex>() {
      const auto& side = [&]() -> const auto& {
        if constexpr (kKeys || !kStoresValues) {
          return std::get<kIndex>(lanes).keys;
        } else {
          return std::get<kIndex>(lanes).values;
        }
      }
      ();
      const auto& format = side.format(layer, head);
      using F = std::remove_cvref_t<decltype(format)>;
      if (format.coded_bound(largest) <= F::kLargest) return;
      float coded[F::kCoded];
      format.forward(row, index, coded);
      for (std::uint32_t c = 0; c < F::kCoded; ++c) {
        if (!(magnitude(coded[c]) <= F::kLargest)) status = Status::kRange;
      }
    });
    return status;
  }
  template <bool kKeys>
  Status check_row(const Call& call, std::uint32_t index, std::uint32_t head, std::uint32_t lane,
                   bool waits, std::uint64_t& replaced) const noexcept {
    constexpr std::uint32_t kDim = kKeys ? kKeyDim : upper_of(kValueDim, 1u);
    float row[kDim];
    (kKeys ? call.k : call.v)->read(index - call.first, head, row);
    if (!is_finite(largest_magnitude(row, kDim))) {
      if (shape.non_finite == NonFinite::kRefuse) return Status::kNonFinite;
      for (std::uint32_t c = 0; c < kDim; ++c) {
        if (is_finite(row[c])) continue;
        row[c] = 0.0f;
        ++replaced;
      }
    }
    // Rows that wait in the tail or stay as sinks must fit the raw element too.
    const bool raw = waits || shape.residual > 0 || lane == kSinkTag;
    if (sizeof(RawElement) == 2 && raw &&
        largest_magnitude(row, kDim) > SideTraits<RawElement>::kLargest) {
      return Status::kRange;
    }
    if (lane == kUndecided) return Status::kOk;  // its lane is checked when it is decided
    clean(row, kDim, waits);
    return fits<kKeys>(call.layer, index, head, lane, row);
  }
  Status check_values(const Call& call, Replaced& replaced) const noexcept {
    // Decided tokens wait behind undecided ones, since they leave the tail in order: without a
    // residual the first token of a tail is undecided.
    bool waits = layers[call.layer].tail.size() > 0;
    for (std::uint32_t index = call.first; index < call.first + call.count; ++index) {
      waits = waits || given_tag(call, index, 0) == kUndecided;
      for (std::uint32_t head = 0; head < shape.kv_heads; ++head) {
        const std::uint32_t lane = given_tag(call, index, head);
        if (lane > kRawLane && lane != kUndecided && index >= shape.sinks) return Status::kInvalid;
        if (kScope == MapScope::kHead &&
            (lane == kUndecided) != (given_tag(call, index, 0) == kUndecided)) {
          return Status::kInvalid;  // a token is decided for all heads at once
        }
        if (lane != kUndecided) {
          if (const Status status = check_shared_map(index, lane); !ok(status)) return status;
        }
        if (const Status status = check_row<true>(call, index, head, lane, waits, replaced.keys);
            !ok(status))
          return status;
        if constexpr (kStoresValues) {
          if (const Status status =
                  check_row<false>(call, index, head, lane, waits, replaced.values);
              !ok(status))
            return status;
        }
      }
    }
    return Status::kOk;
  }

  // Whether every new row is finite and fits: what check_values finds out row by row, here for the
  // rows of a head at once. False decides nothing.
  [[nodiscard]] bool plainly_fits(const Call& call) const noexcept {
    if (kScope == MapScope::kSequence || call.tags.tags != nullptr) return false;
    for (std::uint32_t head = 0; head < shape.kv_heads; ++head) {
      if (!head_fits<true>(call, head)) return false;
      if constexpr (kStoresValues) {
        if (!head_fits<false>(call, head)) return false;
      }
    }
    return true;
  }
  template <bool kKeys>
  [[nodiscard]] bool head_fits(const Call& call, std::uint32_t head) const noexcept {
    constexpr std::uint32_t kDim = kKeys ? kKeyDim : upper_of(kValueDim, 1u);
    constexpr std::uint32_t kRows = 16;
    const TokenRows& from = kKeys ? *call.k : *call.v;
    const auto rows_at = [&](std::uint32_t first, std::uint32_t n, float* copies) {
      if (const float* there = from.floats(first, head); there != nullptr)
        return Rows{there, n, from.token_stride};
      for (std::uint32_t t = 0; t < n; ++t) from.read(first + t, head, copies + t * kDim);
      return Rows{copies, n, kDim};
    };
    float copies[kRows * kDim];
    float largest = 0.0f;
    for (std::uint32_t done = 0; done < call.count; done += kRows) {
      const Rows rows = rows_at(done, lower_of(kRows, call.count - done), copies);
      const float one = Coder<Kernels>::largest_in(rows, kDim);
      if (!is_finite(one)) return false;
      largest = upper_of(largest, one);
    }
    if constexpr (sizeof(RawElement) == 2) {
      // Rows that wait are rounded, none beyond what the largest rounds to.
      if (largest > SideTraits<RawElement>::kLargest) return false;
      largest = upper_of(largest, to_float(nearest<RawElement>(largest)));
    }
    bool fit = true;
    with_lane(default_lane(shape, call.layer, head), [&]<std::size_t kIndex>() {
      const auto& format = [&]() -> const auto& {
        if constexpr (kKeys || !kStoresValues) {
          return std::get<kIndex>(lanes).keys.format(call.layer, head);
        } else {
          return std::get<kIndex>(lanes).values.format(call.layer, head);
        }
      }
      ();
      using F = std::remove_cvref_t<decltype(format)>;
      if (format.coded_bound(largest) <= F::kLargest) return;
      fit = sizeof(RawElement) == 4;
      for (std::uint32_t done = 0; fit && done < call.count; done += kChunk<F>) {
        float coded[kChunk<F> * F::kCoded];
        const std::uint32_t n = lower_of(kChunk<F>, call.count - done);
        const Rows rows = rows_at(done, n, copies);
        fit = Coder<Kernels>::largest_in(
                  Coder<Kernels>::code(format, rows, {call.first + done, nullptr}, coded),
                  F::kCoded) <= F::kLargest;
      }
    });
    return fit;
  }

  // Index up to which tokens leave the tail: sinks at once, the others when the residual is full.
  [[nodiscard]] std::uint32_t settle_end(const Call& call, bool all) const noexcept {
    const Layer& l = layers[call.layer];
    const std::uint32_t total = call.first + call.count;
    const std::uint32_t kept = all ? 0 : lower_of(total, shape.residual);
    std::uint32_t end = upper_of(lower_of(total, shape.sinks), total - kept);
    end = upper_of(end, l.settled);
    for (std::uint32_t i = l.settled; i < end; ++i) {
      if (tag(call, i, 0) == kUndecided) return i;
    }
    return end;
  }
  [[nodiscard]] static std::uint32_t sink_capacity(const CacheShape& shape) noexcept {
    return static_cast<std::uint32_t>(lower_of<std::uint64_t>(shape.sinks, shape.max_tokens));
  }
  [[nodiscard]] static std::uint32_t tail_capacity(const CacheShape& shape,
                                                   std::uint32_t tokens) noexcept {
    if (tokens == 0) return 0;
    const auto residual =
        static_cast<std::uint32_t>(lower_of<std::uint64_t>(shape.residual, shape.max_tokens));
    if (tokens <= residual) return residual;
    return residual + std::bit_ceil(upper_of(tokens - residual, 64u));  // staging grows as it fills
  }

  // Moves tokens out of the tail into their lanes and the new ones into the tail. All memory first,
  // then contents.
  Status advance(const Call& call, bool all) noexcept {
    const std::uint32_t end = settle_end(call, all);
    const Status status = prepare_all(call, end);
    if (ok(status)) {
      write_all(call, end);
    } else {
      cancel(call);
    }
    return status;
  }
  // Memory for what write_all does. On failure the caller cancels.
  Status prepare_all(const Call& call, std::uint32_t end) noexcept {
    Layer& l = layers[call.layer];
    const bool first_sink = shape.sinks > 0 && l.settled == 0 && end > 0;
    if (const Status status = prepare(call, end); !ok(status)) return status;
    if (first_sink && !l.sinks.prepare(sink_capacity(shape))) return Status::kNoMemory;
    const std::uint32_t kept = call.first + call.count - end;
    return l.tail.prepare(tail_capacity(shape, kept)) ? Status::kOk : Status::kNoMemory;
  }
  void write_all(const Call& call, std::uint32_t end) noexcept {
    Layer& l = layers[call.layer];
    const std::uint32_t total = call.first + call.count;
    l.sinks.commit();
    for (std::uint32_t i = l.settled; i < lower_of(end, shape.sinks); ++i)
      push_raw(call, l.sinks, i);
    if (end > l.settled) {
      write_shared(call, end);
      write_heads(call, end);
      finish(call);
    }
    for (std::uint32_t h = 0; h < map_heads(); ++h) {
      Map& m = map(call.layer, h);
      m.commit();
      for (std::uint32_t i = upper_of(l.settled, m.size()); i < end; ++i) m.push(tag(call, i, h));
    }
    const std::uint32_t from_tail = lower_of(end, call.first) - l.settled;
    for (std::uint32_t i = 0; i < from_tail; ++i) l.tail.pop_front();
    l.tail.commit();
    for (std::uint32_t i = upper_of(end, call.first); i < total; ++i) push_raw(call, l.tail, i);
    l.settled = end;
  }
  // A new token of the call, as it came, to the sinks or the tail.
  void push_raw(const Call& call, Tail<RawElement>& to, std::uint32_t index) noexcept {
    // The tags first: once the token is there, a shared map would find its tag, which is not
    // written yet.
    const std::uint32_t first_tag = given_tag(call, index, 0);
    to.push();
    const std::uint32_t at = to.size() - 1;
    for (std::uint32_t h = 0; h < shape.kv_heads; ++h) {
      float key[kKeyDim];
      load<true>(call, index, h, key);
      to.write_key(at, h, key);
      if constexpr (kStoresValues) {
        float value[kValueDim];
        load<false>(call, index, h, value);
        to.write_value(at, h, value);
      }
    }
    for (std::uint32_t h = 0; h < map_heads(); ++h) {
      to.set_tag(at, h, static_cast<std::uint8_t>(h == 0 ? first_tag : given_tag(call, index, h)));
    }
  }

  // Spill bytes of the tokens of a (lane, head), asked in order.
  template <std::size_t kIndex, bool kKeys, class F>
  struct SpillNeed {
    const State& state;
    const Call& call;
    const F& format;
    std::uint32_t head;
    std::uint32_t next;

    std::uint32_t operator()(std::uint32_t) noexcept {
      while (state.tag(call, next, head) != kIndex) ++next;
      float coded[F::kCoded];
      const Rows row = state.template code_rows<kKeys>(call, format, next, 1, head, nullptr, coded);
      ++next;
      return Coder<Kernels>::spill_need(format, row[0]);
    }
  };
  // Whether a format takes the tokens of a (lane, head), asked in order.
  template <std::size_t kIndex, bool kKeys, class F>
  struct Admit {
    const State& state;
    const Call& call;
    const F& format;
    std::uint32_t head;
    std::uint32_t next;

    bool operator()(typename F::Admission& admission) noexcept {
      while (state.tag(call, next, head) != kIndex) ++next;
      float row[F::kDim];
      float coded[F::kCoded];
      state.template load<kKeys>(call, next, head, row);
      format.forward(row, next, coded);
      ++next;
      return format.admit(coded, admission);
    }
  };
  template <std::size_t kIndex, bool kKeys, class Side>
  Status prepare_side(const Call& call, Side& side, std::uint32_t head, std::uint32_t n) noexcept {
    if (!side.open_segment(call.layer, &memory)) return Status::kNoMemory;
    auto& stream = side.segments[call.layer].streams[head];
    using F = std::remove_cvref_t<decltype(side.format(0, 0))>;
    if constexpr (F::kSpills) {
      const SpillNeed<kIndex, kKeys, F> need{*this, call, side.format(call.layer, head), head,
                                             layers[call.layer].settled};
      return stream.prepare(side.store(call.layer), n, need);
    } else if constexpr (AdmittingFormat<F>) {
      const Admit<kIndex, kKeys, F> admit{*this, call, side.format(call.layer, head), head,
                                          layers[call.layer].settled};
      return stream.prepare(side.store(call.layer), n, admit);
    } else {
      return stream.prepare(side.store(call.layer), n, [](std::uint32_t) { return 0u; });
    }
  }
  Status prepare(const Call& call, std::uint32_t end) noexcept {
    const Layer& l = layers[call.layer];
    if (end == l.settled) return Status::kOk;
    Status status = Status::kOk;
    for (std::uint32_t h = 0; h < map_heads(); ++h) {
      Map& m = map(call.layer, h);
      const std::uint32_t first = upper_of(l.settled, m.size());
      const auto tag_at = [&](std::uint32_t i) { return tag(call, first + i, h); };
      if (first < end && !m.prepare(end - first, tag_at)) return Status::kNoMemory;
    }
    for (std::uint32_t h = 0; h < shape.kv_heads; ++h) {
      std::uint32_t counts[kLanes + 2] = {};
      for (std::uint32_t i = l.settled; i < end; ++i) {
        KVPLEAT_ASSERT(tag(call, i, h) <= kSinkTag);
        ++counts[tag(call, i, h)];
      }
      each_lane([&]<std::size_t kIndex>() {
        if (counts[kIndex] == 0) return;
        auto& lane = std::get<kIndex>(lanes);
        if (ok(status)) status = prepare_side<kIndex, true>(call, lane.keys, h, counts[kIndex]);
        if constexpr (kStoresValues) {
          if (ok(status))
            status = prepare_side<kIndex, false>(call, lane.values, h, counts[kIndex]);
        }
        if (h > 0 || !ok(status)) return;
        each_side<kIndex>([&](auto& side) {
          using F = std::remove_cvref_t<decltype(side.format(0, 0))>;
          if constexpr (F::kSharedBytes > 0) {
            const std::uint32_t slots =
                side.segments[call.layer].streams[0].size() + counts[kIndex];
            if (ok(status)) status = side.prepare_shared(call.layer, slots);
          }
        });
      });
      if (!ok(status)) return status;
    }
    return Status::kOk;
  }
  void cancel(const Call& call) noexcept {
    each_lane([&]<std::size_t kIndex>() {
      each_side<kIndex>([&](auto& side) { side.cancel(call.layer); });
    });
    for (std::uint32_t h = 0; h < map_heads(); ++h) map(call.layer, h).cancel();
    layers[call.layer].sinks.cancel();
    layers[call.layer].tail.cancel();
  }
  // Side data that spans the heads: the statistics of a token are merged over them before any head
  // is encoded.
  void write_shared(const Call& call, std::uint32_t end) noexcept {
    each_lane([&]<std::size_t kIndex>() {
      auto& lane = std::get<kIndex>(lanes);
      write_shared_side<kIndex, true>(call, lane.keys, end);
      if constexpr (kStoresValues) write_shared_side<kIndex, false>(call, lane.values, end);
    });
  }
  template <std::size_t kIndex, bool kKeys, class Side>
  void write_shared_side(const Call& call, Side& side, std::uint32_t end) noexcept {
    using F = std::remove_cvref_t<decltype(side.format(0, 0))>;
    if constexpr (F::kSharedBytes > 0) {
      auto& segment = side.segments[call.layer];
      if (segment.streams.size() == 0) return;
      segment.shared_ids.commit();
      for (; segment.promised_shared > 0; --segment.promised_shared)
        segment.shared_ids.push(side.shared.acquire());
      std::uint32_t slot = segment.streams[0].size();
      for (std::uint32_t i = layers[call.layer].settled; i < end;) {
        if (tag(call, i, 0) != kIndex) {
          ++i;
          continue;
        }
        const std::uint32_t last = lower_of(end, i + kChunk<F>);
        std::uint32_t n = 1;
        while (i + n < last && tag(call, i + n, 0) == kIndex) ++n;
        typename F::Stat all[kChunk<F>] = {};
        for (std::uint32_t h = 0; h < shape.kv_heads; ++h) {
          float coded[kChunk<F> * F::kCoded];
          const F& format = side.format(call.layer, h);
          Coder<Kernels>::observe(format, code_rows<kKeys>(call, format, i, n, h, nullptr, coded),
                                  all);
        }
        for (std::uint32_t t = 0; t < n; ++t, ++slot) {
          F::write_shared(all[t], slot % F::kBlockTokens,
                          side.shared.data(segment.shared_ids[slot / F::kBlockTokens]));
        }
        i += n;
      }
    }
  }
  // Tokens [first, first + n) of a head in coded space, n at most kChunk<F>.
  //   angles: of their positions, or null
  //   coded: [n, F::kCoded], room for what has to be computed
  template <bool kKeys, class F>
  Rows code_rows(const Call& call, const F& format, std::uint32_t first, std::uint32_t n,
                 std::uint32_t head, const abi::PhaseAngles* angles, float* coded) const noexcept {
    if (call.as_it_came && first >= call.first) {
      const TokenRows& from = kKeys ? *call.k : *call.v;
      if (const float* there = from.floats(first - call.first, head); there != nullptr) {
        return Coder<Kernels>::code(format, Rows{there, n, from.token_stride}, {first, angles},
                                    coded);
      }
    }
    float copies[kChunk<F> * F::kDim];
    float* rows = codecs::kCodesRowsAsTheyAre<F> ? coded : copies;
    for (std::uint32_t t = 0; t < n; ++t) load<kKeys>(call, first + t, head, rows + t * F::kDim);
    return Coder<Kernels>::code(format, Rows{rows, n, F::kDim}, {first, angles}, coded);
  }
  // Encodes tokens, a few of every head after the other: what depends on the position alone is then
  // computed once for all heads.
  void write_heads(const Call& call, std::uint32_t end) noexcept {
    constexpr std::uint32_t kTokens = 16;
    constexpr std::uint32_t kStride = kHasPhases ? round_up(kKeyDim / 2, 16u) : 1;
    alignas(64) float sines[kTokens * kStride];
    alignas(64) float cosines[kTokens * kStride];
    for (std::uint32_t i = layers[call.layer].settled; i < end;) {
      // In most caches slots are the indices: chunks begin where units of 16 slots do.
      const std::uint32_t n = lower_of(end - i, kTokens - i % kTokens);
      const abi::PhaseAngles angles{i, n, kStride, sines, cosines};
      bool known = false;
      if constexpr (kHasPhases)
        known = shape.kv_heads > 1 && Coder<Kernels>::phase_angles(shape.rope, angles);
      for (std::uint32_t h = 0; h < shape.kv_heads; ++h)
        write_head(call, h, i, i + n, known ? &angles : nullptr);
      i += n;
    }
  }
  // Encodes tokens [first, end) of one head, in runs of one lane.
  void write_head(const Call& call, std::uint32_t head, std::uint32_t first, std::uint32_t end,
                  const abi::PhaseAngles* angles) noexcept {
    for (std::uint32_t i = first; i < end;) {
      const std::uint32_t lane = tag(call, i, head);
      std::uint32_t n = 1;
      while (i + n < end && tag(call, i + n, head) == lane) ++n;
      with_lane(lane, [&]<std::size_t kIndex>() {
        auto& state = std::get<kIndex>(lanes);
        write_run<true>(call, state.keys, head, i, n, angles);
        if constexpr (kStoresValues) write_run<false>(call, state.values, head, i, n, nullptr);
      });
      i += n;
    }
  }
  template <bool kKeys, class Side>
  void write_run(const Call& call, Side& side, std::uint32_t head, std::uint32_t first,
                 std::uint32_t n, const abi::PhaseAngles* angles) noexcept {
    using F = std::remove_cvref_t<decltype(side.format(0, 0))>;
    const F& format = side.format(call.layer, head);
    auto& stream = side.segments[call.layer].streams[head];
    const StreamStore store = side.store(call.layer);
    Layer& layer = layers[call.layer];
    EncodeCounters& counters = kKeys ? layer.key_counters : layer.value_counters;
    float coded[kChunk<F> * F::kCoded];
    for (std::uint32_t done = 0; done < n;) {
      const std::uint32_t take = lower_of(kChunk<F>, n - done);
      const Rows rows = code_rows<kKeys>(call, format, first + done, take, head, angles, coded);
      stream.template push<Kernels>(store, format, rows, counters);
      done += take;
    }
  }
  void finish(const Call& call) noexcept {
    each_lane([&]<std::size_t kIndex>() {
      each_side<kIndex>([&](auto& side) {
        auto& streams = side.segments[call.layer].streams;
        for (std::uint32_t h = 0; h < streams.size(); ++h) streams[h].finish();
      });
    });
  }

  // ---- truncate, read ----

  Status truncate(std::uint32_t layer, std::uint32_t n) noexcept {
    if (layer >= shape.layers) return Status::kInvalid;
    Layer& l = layers[layer];
    if (n > l.total()) return Status::kRange;
    if (n >= l.settled) {
      l.tail.truncate(n - l.settled);
      return Status::kOk;
    }
    l.tail.truncate(0);
    each_lane([&]<std::size_t kIndex>() {
      each_side<kIndex>([&](auto& side) {
        auto& streams = side.segments[layer].streams;
        for (std::uint32_t h = 0; h < streams.size(); ++h) {
          const std::uint32_t slots = map(layer, h).rank(kIndex, n);
          if (slots < streams[h].size()) streams[h].truncate(side.store(layer), slots);
        }
        using F = std::remove_cvref_t<decltype(side.format(0, 0))>;
        if constexpr (F::kSharedBytes > 0) {
          if (streams.size() > 0) side.truncate_shared(layer, map(layer, 0).rank(kIndex, n));
        }
        side.close_if_empty(layer);
      });
    });
    l.sinks.truncate(lower_of(n, l.sinks.size()));
    l.settled = n;
    if constexpr (kScope == MapScope::kSequence) {
      std::uint32_t longest = 0;
      for (std::uint32_t i = 0; i < shape.layers; ++i)
        longest = upper_of(longest, layers[i].settled);
      maps[0].truncate(longest);
    } else {
      for (std::uint32_t h = 0; h < map_heads(); ++h) map(layer, h).truncate(n);
    }
    return Status::kOk;
  }

  Status read(std::uint32_t layer, std::uint32_t head, std::uint32_t first, std::uint32_t n,
              float* keys, float* values) noexcept {
    if (layer >= shape.layers || head >= shape.kv_heads) return Status::kInvalid;
    const Layer& l = layers[layer];
    if (first > l.total() || n > l.total() - first) return Status::kRange;
    if (values != nullptr && kValueKind == ValueKind::kNone) return Status::kUnsupported;
    const Map& m = map(layer, head);
    for (std::uint32_t i = first; i < first + n;) {
      float* key = keys == nullptr ? nullptr : keys + static_cast<std::size_t>(i - first) * kKeyDim;
      float* value =
          values == nullptr ? nullptr : values + static_cast<std::size_t>(i - first) * kValueDim;
      if (i < l.sinks.size() || i >= l.settled) {
        l.read_raw(i, head, key, value);
        ++i;
        continue;
      }
      // Tokens of one lane that follow each other lie in slots that do.
      const std::uint32_t lane = m.tag(i);
      const std::uint32_t slot = m.rank(lane, i);
      const std::uint32_t end = lower_of(lower_of(first + n, l.settled), i + kReadRows);
      std::uint32_t run = 1;
      while (i + run < end && m.tag(i + run) == lane) ++run;
      with_lane(lane, [&]<std::size_t kIndex>() {
        auto& state = std::get<kIndex>(lanes);
        if (key != nullptr) read_slots(state.keys, layer, head, slot, i, run, key);
        if constexpr (kStoresValues) {
          if (value != nullptr) read_slots(state.values, layer, head, slot, i, run, value);
        } else if constexpr (kValueKind == ValueKind::kKeyView) {
          for (std::uint32_t t = 0; value != nullptr && t < run; ++t) {
            float whole[kKeyDim];
            read_slots(state.keys, layer, head, slot + t, i + t, 1, whole);
            for (std::uint32_t c = 0; c < kValueDim; ++c) value[t * kValueDim + c] = whole[c];
          }
        }
      });
      i += run;
    }
    return Status::kOk;
  }
  static constexpr std::uint32_t kReadRows = 16;  // decoded at once: 4 to 36 KiB of stack
  // n rows, at most kReadRows, of slots and indices that follow each other. rows: [n, F::kDim].
  template <class Side>
  void read_slots(Side& side, std::uint32_t layer, std::uint32_t head, std::uint32_t slot,
                  std::uint32_t index, std::uint32_t n, float* rows) noexcept {
    using F = std::remove_cvref_t<decltype(side.format(0, 0))>;
    const F& format = side.format(layer, head);
    const auto decode = [&](float* to) {
      side.segments[layer].streams[head].template decode<Kernels>(side.store(layer), format, slot,
                                                                  MutableRows{to, n, F::kCoded});
    };
    if constexpr (codecs::kCodesRowsAsTheyAre<F>) {
      decode(rows);
    } else {
      float coded[kReadRows * F::kCoded];
      decode(coded);
      Coder<Kernels>::restore(format, Rows{coded, n, F::kCoded}, index, rows);
    }
  }

  // ---- memory ----

  // What slots of a format hold, by part.
  template <class F>
  static void add_slots(MemoryReport& report, std::uint64_t slots, bool raw) noexcept {
    const auto share = [&](std::uint32_t bytes) {
      return static_cast<std::size_t>(slots * bytes / F::kBlockTokens);
    };
    (raw ? report.raw : report.codes) += share(F::kCodeBytes);
    report.side += share(F::kSideBytes);
    report.outliers += share(F::kOutlierBytes);
  }
  template <class F>
  static std::size_t slots_bytes(std::uint64_t slots) noexcept {
    MemoryReport parts;
    add_slots<F>(parts, slots, false);
    return parts.codes + parts.side + parts.outliers;
  }
  static std::size_t fixed_bytes(const CacheShape& shape) noexcept {
    return sizeof(State) + shape.default_lane_count + text_bytes(shape.model) +
           text_bytes(shape.adapter) + map_count(shape) * sizeof(Map) +
           shape.layers * sizeof(Layer);
  }

  MemoryReport report() noexcept {
    MemoryReport result;
    result.maps += fixed_bytes(shape);
    result.profile += unit_rotations.bytes() + phases.bytes();
    for (std::uint32_t i = 0; i < maps.size(); ++i) result.maps += maps[i].bytes();
    for (std::uint32_t i = 0; i < layers.size(); ++i) {
      const Layer& l = layers[i];
      result.values +=
          static_cast<std::uint64_t>(l.total()) * shape.kv_heads * (kKeyDim + kValueDim);
      result.raw += (l.sinks.size() + l.tail.size()) * l.tail.token_bytes();
      result.slack += l.sinks.bytes() - l.sinks.size() * l.sinks.token_bytes();
      result.slack += l.tail.bytes() - l.tail.size() * l.tail.token_bytes();
    }
    each_lane([&]<std::size_t kIndex>() {
      each_side<kIndex>([&](auto& side) {
        using F = std::remove_cvref_t<decltype(side.format(0, 0))>;
        result.profile += side.profile.bytes() + side.formats.bytes();
        result.maps += side.segments.bytes();
        std::uint64_t coded = 0;
        std::uint64_t shared_slots = 0;
        std::size_t open_spill = 0;
        for (std::uint32_t i = 0; i < side.segments.size(); ++i) {
          auto& segment = side.segments[i];
          result.maps += segment.streams.bytes() + segment.shared_ids.bytes();
          if (segment.streams.size() > 0) shared_slots += segment.streams[0].size();
          for (std::uint32_t h = 0; h < segment.streams.size(); ++h) {
            const auto& stream = segment.streams[h];
            coded += stream.size() - stream.open_rows();
            result.maps += stream.table_bytes();
            const std::size_t rows = stream.open_rows() * F::kCoded * sizeof(float);
            result.open_groups += rows;
            result.slack += stream.open_bytes() - rows;
            open_spill += stream.open_spill();
            result.slack += stream.open_spill_bytes() - stream.open_spill();
          }
        }
        add_slots<F>(result, coded, kIndex == kRawLane);
        result.slack += side.blocks.bytes() - slots_bytes<F>(coded);
        if constexpr (F::kSharedBytes > 0) {
          const auto used =
              static_cast<std::size_t>(shared_slots * (F::kSharedBytes / F::kBlockTokens));
          result.shared += used;
          result.slack += side.shared.bytes() - used;
        }
        if constexpr (F::kSpills) {
          const auto sealed = static_cast<std::size_t>(side.blocks.spill().used());
          result.spill += sealed + open_spill;
          result.slack += side.blocks.spill().bytes() - sealed;
        }
      });
    });
    return result;
  }

  // The same from counts.
  template <std::size_t kIndex, class Side>
  static void predict_side(const CacheShape& shape, std::uint32_t tokens,
                           MemoryReport& result) noexcept {
    using F = std::remove_cvref_t<decltype(std::declval<Side&>().format(0, 0))>;
    const std::size_t views = static_cast<std::size_t>(shape.layers) * shape.kv_heads;
    result.profile += views * (F::kProfileSize * sizeof(float) + sizeof(F));
    result.maps += shape.layers * sizeof(SegmentSide<F>);
    std::uint64_t coded = 0;
    std::uint64_t blocks = 0;
    std::uint64_t shared_slots = 0;
    std::uint64_t shared_blocks = 0;
    const std::uint32_t settled =
        upper_of(lower_of(tokens, shape.sinks), tokens - lower_of(tokens, shape.residual));
    const std::uint32_t sinks = lower_of(tokens, shape.sinks);
    for (std::uint32_t l = 0; l < shape.layers; ++l) {
      bool used = false;
      for (std::uint32_t h = 0; h < shape.kv_heads; ++h) {
        std::uint32_t n = default_lane(shape, l, h) == kIndex ? settled - sinks : 0;
        used = used || n > 0;
        const std::uint32_t sealed = n / F::kSeal * F::kSeal;
        coded += sealed;
        blocks += ceil_div(sealed, F::kBlockTokens * Traits::Store::kStretchBlocks);
        result.maps += Stream<F>::predict_table_bytes(n);
        const std::size_t rows = (n - sealed) * F::kCoded * sizeof(float);
        result.open_groups += rows;
        result.slack += Stream<F>::predict_open_bytes(n) - rows;
        if (F::kSharedBytes > 0 && h == 0 && n > 0) {
          const std::uint32_t count = ceil_div(n, F::kBlockTokens);
          shared_slots += n;
          shared_blocks += count;
          result.maps += std::bit_ceil(upper_of(count, 4u)) * sizeof(std::uint32_t);
        }
      }
      if (used) result.maps += shape.kv_heads * sizeof(Stream<F>);
    }
    add_slots<F>(result, coded, kIndex == kRawLane);
    constexpr std::size_t kSlab = Traits::Store::kSlabBytes;
    result.slack += BlockPool::predict(F::kBlockBytes, Side::block_limit(shape), kSlab, F::kSpills,
                                       Traits::Store::kStretchBlocks, blocks) -
                    slots_bytes<F>(coded);
    if constexpr (F::kSharedBytes > 0) {
      const auto used =
          static_cast<std::size_t>(shared_slots * (F::kSharedBytes / F::kBlockTokens));
      result.shared += used;
      result.slack += BlockPool::predict(F::kSharedBytes, Side::shared_limit(shape), kSlab, false,
                                         1, shared_blocks) -
                      used;
    }
  }
  static MemoryReport predict(const CacheShape& shape, std::uint32_t tokens) noexcept {
    MemoryReport result;
    if (!ok(check_shape(shape, nullptr, 0, false).status) || tokens > shape.max_tokens)
      return result;
    result.values =
        static_cast<std::uint64_t>(shape.layers) * tokens * shape.kv_heads * (kKeyDim + kValueDim);
    result.maps += fixed_bytes(shape);
    if (kPositional)
      result.profile +=
          static_cast<std::size_t>(kRotationSpan) * shape.rope.pairs() * sizeof(CosSin);
    if (kHasPhases) result.profile += phase_table::sizes(shape.rope).bytes;
    const std::uint32_t settled =
        upper_of(lower_of(tokens, shape.sinks), tokens - lower_of(tokens, shape.residual));
    const Tail<RawElement> tail(nullptr, shape.kv_heads, kKeyDim, kStoresValues ? kValueDim : 0,
                                kScope == MapScope::kHead ? shape.kv_heads : 1);
    const std::uint32_t capacity = tail_capacity(shape, tokens - settled);
    const std::uint32_t sinks = lower_of(tokens, shape.sinks);
    const std::uint32_t sink_room = sinks == 0 ? 0 : sink_capacity(shape);
    result.raw += shape.layers * (tokens - settled + sinks) * tail.token_bytes();
    result.slack += shape.layers * (sink_room - sinks) * tail.token_bytes();
    result.slack += shape.layers * (capacity - (tokens - settled)) * tail.token_bytes();
    each_lane([&]<std::size_t kIndex>() {
      using LaneStateType = std::tuple_element_t<kIndex, LaneTuple>;
      predict_side<kIndex, decltype(LaneStateType::keys)>(shape, tokens, result);
      if constexpr (kStoresValues)
        predict_side<kIndex, decltype(LaneStateType::values)>(shape, tokens, result);
    });
    return result;
  }
};

template <class CacheTraitsType>
Error KvCache<CacheTraitsType>::check_shape(const CacheShape& shape, const LaneProfile* profiles,
                                            std::size_t profile_count,
                                            bool with_profiles) noexcept {
  if (shape.layers == 0) return {Status::kInvalid, "layers"};
  if (shape.kv_heads == 0) return {Status::kInvalid, "kv_heads"};
  if (shape.max_tokens == 0) return {Status::kInvalid, "max_tokens"};
  if (shape.max_tokens > 0x7fffffffu) return {Status::kRange, "max_tokens"};
  if (static_cast<std::uint64_t>(shape.layers) * shape.kv_heads > 0x1000000u)
    return {Status::kRange, "layers"};
  if (shape.query_heads % shape.kv_heads != 0) return {Status::kInvalid, "query_heads"};
  if (!ok(shape.rope.check()) || shape.rope.dims > kKeyDim) return {Status::kInvalid, "rope"};
  if (State::kPositional && shape.rope.dims == 0) return {Status::kInvalid, "rope"};
  const std::size_t count = shape.default_lane_count;
  const std::size_t views = static_cast<std::size_t>(shape.layers) * shape.kv_heads;
  const bool counted = count <= 1 || (kScope != MapScope::kSequence && count == shape.layers) ||
                       (kScope == MapScope::kHead && count == views);
  if (!counted || (count > 0 && shape.default_lanes == nullptr))
    return {Status::kInvalid, "default_lanes"};
  for (std::size_t i = 0; i < count; ++i) {
    if (shape.default_lanes[i] > kRawLane) return {Status::kInvalid, "default_lanes"};
  }
  Error error;
  if (!with_profiles) return error;
  if (profile_count > kLanes || (profile_count > 0 && profiles == nullptr))
    return {Status::kInvalid, "profiles"};
  State::each_lane([&]<std::size_t kIndex>() {
    if (kIndex == kRawLane || !ok(error.status)) return;
    const LaneProfile given = kIndex < profile_count ? profiles[kIndex] : LaneProfile{};
    error = State::template check_profile<kIndex>(shape, given, true);
  });
  return error;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
