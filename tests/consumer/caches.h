// What the consumer programs share: caches of unlike formats as an engine would use them, filled
// from integers, so that every unit must store the same bytes.
//
// The functions are templates of the cache, whose name carries the tag of the unit's instruction
// set: units with other flags get other symbols. A plain inline function would be merged by the
// linker.
#pragma once

#include <kvpleat/kvpleat.h>

#include <cstddef>
#include <cstdint>

namespace consumer {

constexpr std::uint32_t kDim = 40;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kTokens = 75;

// Tiles, phase-centred and rotated keys, and Oaken: one lane each.
struct Mixed : kvpleat::CacheTraits<kDim> {
  using Value = kvpleat::BlockFormat<kDim, kvpleat::NoTransform, kvpleat::TopKSplit<2>,
                                     kvpleat::SymmetricQuant<5, 16>, kvpleat::SlotCodec>;
  using Lanes =
      kvpleat::LaneList<kvpleat::KV<kvpleat::formats::Int4Channel<kDim>, Value>,
                        kvpleat::KV<kvpleat::formats::CenteredRotatedKey<kDim, 4>,
                                    kvpleat::formats::RotatedValue<kDim, 3>>,
                        kvpleat::KV<kvpleat::formats::Oaken<kDim>, kvpleat::formats::Oaken<kDim>>>;
  using RawElement = kvpleat::Half;
};

// Plain data between units: no member functions, no tag.
struct Answer {
  const char* tag;           // of the code that ran
  std::uint64_t bytes;       // digest of everything stored
  float out[kHeads * kDim];  // attention
  bool ok;
};

template <class Cache>
struct Run {
  static void bytes(std::uint64_t& hash, const void* data, std::size_t n) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < n; ++i) hash = (hash ^ at[i]) * 0x100000001b3u;
  }
  template <class Format>
  static void pieces(std::uint64_t& hash, const kvpleat::BlockRun* runs, std::uint32_t count,
                     kvpleat::Rows rows) {
    for (std::uint32_t r = 0; r < count; ++r) {
      bytes(hash, runs[r].bytes.block, Format::kBlockBytes);
      bytes(hash, runs[r].bytes.spill, runs[r].bytes.spill_bytes);
      if (Format::kSharedBytes > 0) bytes(hash, runs[r].bytes.shared, Format::kSharedBytes);
    }
    for (std::size_t t = 0; t < rows.count; ++t)
      bytes(hash, rows[t], Format::kCoded * sizeof(float));
  }
  static void digest(const Cache& cache, std::uint32_t head, std::uint64_t& hash) {
    cache.visit(
        0, head, {},
        [&](const auto& lane) {
          using Pair = typename std::remove_cvref_t<decltype(lane)>::Pair;
          kvpleat::BlockRun runs[8];
          kvpleat::Rows rows;
          const std::uint32_t keys = lane.key_pieces(lane.slot, lane.count, runs, rows);
          pieces<typename Pair::Key>(hash, runs, keys, rows);
          const std::uint32_t values = lane.value_pieces(lane.slot, lane.count, runs, rows);
          pieces<typename Pair::Value>(hash, runs, values, rows);
        },
        [&](std::uint32_t first, std::uint32_t n) {
          for (std::uint32_t t = first; t < first + n; ++t) {
            float row[2 * kDim];
            if (!ok(cache.read(0, head, t, 1, row, row + kDim))) return;
            bytes(hash, row, sizeof row);
          }
        });
  }
  // Multiples of 1/64 in (-2, 2), a few of them large.
  static float element(std::uint32_t i) {
    const auto x = static_cast<std::int32_t>(i * 2654435761u >> 16) % 128;
    return static_cast<float>(i % 61 == 0 ? 4 * x : x) / 64.0f;
  }

  static kvpleat::Status fill(Cache& cache) {
    float keys[kHeads * kDim];
    float values[kHeads * kDim];
    for (std::uint32_t t = 0; t < kTokens; ++t) {
      for (std::uint32_t i = 0; i < kHeads * kDim; ++i) {
        keys[i] = element(t * kHeads * kDim + i);
        values[i] = element(777 * t + i);
      }
      const std::uint8_t lane = static_cast<std::uint8_t>(t % 3);
      const kvpleat::Status status =
          cache.append(0, kvpleat::TokenRows(keys, 1, kHeads, kDim),
                       kvpleat::TokenRows(values, 1, kHeads, kDim), {&lane});
      if (!ok(status)) return status;
    }
    return kvpleat::Status::kOk;
  }
  // Kernels: void takes the cache's own.
  template <class Kernels = void>
  static void answer(Answer& answer) {
    answer.tag = kvpleat::kIsaTag;
    answer.bytes = 0xcbf29ce484222325u;
    answer.ok = false;

    float profile[kHeads * kDim];
    for (std::uint32_t i = 0; i < kHeads * kDim; ++i) profile[i] = element(31 * i);
    const float thresholds[kHeads * 4] = {-1.5f, -0.25f, 0.25f, 1.5f, -1.5f, -0.25f, 0.25f, 1.5f};
    kvpleat::LaneProfile profiles[3];
    profiles[1].keys = profile;
    profiles[1].key_count = kHeads * kDim;
    profiles[2] = {thresholds, kHeads * 4, thresholds, kHeads * 4};
    kvpleat::CacheShape shape;
    shape.layers = 1;
    shape.kv_heads = kHeads;
    shape.max_tokens = kTokens;
    shape.sinks = 2;
    shape.residual = 5;
    shape.rope = kvpleat::Rope::standard(kvpleat::RopeLayout::kHalves, kDim, 10000.0);
    auto made = Cache::create(shape, profiles, 3);
    if (!made || !ok(fill(*made))) return;
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      digest(*made, h, answer.bytes);
      kvpleat::AttendArguments arguments;
      arguments.queries = profile + h * kDim;
      arguments.scale = 0.25f;
      if (!ok(kvpleat::attend<Kernels>(*made, 0, h, arguments, answer.out + h * kDim))) return;
    }
    answer.ok = true;
  }
};

template <class Traits>
using RunOf = Run<kvpleat::KvCache<Traits>>;

}  // namespace consumer
