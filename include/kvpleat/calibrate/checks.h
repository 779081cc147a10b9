// Checks of a cache and its profile: alignment, room of the spill, index width, stale thresholds.
// Dead heads: dead_heads.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/calibrate/band_profile.h"
#include "kvpleat/calibrate/drift.h"
#include "kvpleat/calibrate/finding.h"
#include "kvpleat/calibrate/profile_file.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/store/memory_source.h"

namespace kvpleat::inline KVPLEAT_ISA {

// ---- memory_alignment ----

// What long aligned reads need: blocks and shared bytes at multiples of 64, spill runs and the
// dense rows inside a block at multiples of 8.
inline constexpr std::size_t kRunAlignment = 8;

// How many places were looked at.
struct AlignmentReport {
  std::uint64_t blocks = 0;
  std::uint64_t shared = 0;
  std::uint64_t runs = 0;
};

namespace checks {

inline std::size_t misalignment(const void* place, std::size_t alignment) noexcept {
  return reinterpret_cast<std::uintptr_t>(place) % alignment;
}

// Blocks of one side of one (layer, head, lane). `pieces` is the lane's view of them.
template <class F, class Pieces>
void side_alignment(Finding where, std::uint32_t slot, std::uint32_t count, Pieces pieces,
                    AlignmentReport& report, Findings& findings) {
  constexpr std::uint32_t kSlots = 256;
  for (std::uint32_t done = 0; done < count; done += kSlots) {
    BlockRun runs[kSlots / 64 + 2];
    Rows open;
    const std::uint32_t n = pieces(slot + done, lower_of(kSlots, count - done), runs, open);
    for (std::uint32_t r = 0; r < n; ++r) {
      const BlockBytes& bytes = runs[r].bytes;
      where.page = (slot + done) / F::kBlockTokens + r;
      const auto check = [&](const void* place, std::size_t alignment, const char* what,
                             std::uint64_t& places) {
        if (place == nullptr) return;
        ++places;
        const std::size_t off = misalignment(place, alignment);
        if (off == 0) return;
        where.value = static_cast<double>(off);
        where.limit = static_cast<double>(alignment);
        where.what = what;
        where.fix = "the MemorySource must give multiples of 64 bytes";
        findings.add(where);
      };
      if (runs[r].slot != 0) continue;  // a block is checked with its first slot
      check(bytes.block, kMemoryAlignment, "bytes of a block off its alignment", report.blocks);
      if (F::kSharedBytes > 0)
        check(bytes.shared, kMemoryAlignment, "shared bytes off their alignment", report.shared);
      if (F::kSpills && bytes.spill_bytes > 0)
        check(bytes.spill, kRunAlignment, "a spill run off its alignment", report.runs);
    }
  }
}

}  // namespace checks

// Every block of a cache as it lies in memory.
template <class Cache>
AlignmentReport check_memory_alignment(const Cache& cache, Findings& findings) {
  AlignmentReport report;
  for (std::uint32_t l = 0; l < cache.shape().layers; ++l) {
    for (std::uint32_t h = 0; h < cache.shape().kv_heads; ++h) {
      const auto lane = [&](const auto& view) {
        using Pair = typename std::remove_cvref_t<decltype(view)>::Pair;
        Finding where;
        where.check = Check::kAlignment;
        where.both_sides = false;
        where.layer = l;
        where.head = h;
        checks::side_alignment<typename Pair::Key>(
            where, view.slot, view.count,
            [&](std::uint32_t slot, std::uint32_t n, BlockRun* runs, Rows& open) {
              return view.key_pieces(slot, n, runs, open);
            },
            report, findings);
        if constexpr (Cache::kValueKind == ValueKind::kStored) {
          where.side = Role::kValue;
          checks::side_alignment<typename Pair::Value>(
              where, view.slot, view.count,
              [&](std::uint32_t slot, std::uint32_t n, BlockRun* runs, Rows& open) {
                return view.value_pieces(slot, n, runs, open);
              },
              report, findings);
        }
      };
      cache.visit(l, h, {}, lane, [](std::uint32_t, std::uint32_t) {});
    }
  }
  return report;
}

// Whether a profile lies over the cache it is meant for: same layers, heads and head_dim, and dense
// rows of head_dim nibbles that begin at multiples of 8 bytes (head_dim a multiple of 16).
inline void check_profile_alignment(const ProfileHeader& profile, std::uint32_t layers,
                                    std::uint32_t kv_heads, std::uint32_t head_dim,
                                    Findings& findings) noexcept {
  Finding finding;
  finding.check = Check::kAlignment;
  const auto same = [&](std::uint32_t value, std::uint32_t limit, const char* what) {
    if (value == limit) return;
    finding.value = value;
    finding.limit = limit;
    finding.what = what;
    finding.fix = "profile the model that fills this cache";
    findings.add(finding);
  };
  same(profile.layers, layers, "misaligned profile: layers");
  same(profile.kv_heads, kv_heads, "misaligned profile: kv_heads");
  same(profile.head_dim, head_dim, "misaligned profile: head_dim");
  const std::uint32_t row = ceil_div(profile.head_dim, 2u);
  if (row % kRunAlignment != 0) {
    finding.value = row % kRunAlignment;
    finding.limit = kRunAlignment;
    finding.what = "misaligned profile: dense rows are no multiple of 8 bytes";
    finding.fix = "pad head_dim to a multiple of 16";
    findings.add(finding);
  }
}

// ---- table_overflow ----

// The sparse table of one side of a lane: the bytes of sealed outliers over all layers and heads.
// It grows by pages and has no rows to run out of; its capacity is CacheShape::spill_bytes, or with
// 0 there every element as an outlier, which cannot overflow. An append that would pass the
// capacity fails with kOutOfSpill before anything is written.
struct SpillNeed {
  std::uint64_t capacity = 0;  // bytes
  std::uint64_t needed = 0;    // bytes for `tokens` tokens, by the profile's occupancy
  std::uint64_t worst = 0;     // bytes if every element is an outlier
  std::uint64_t tokens = 0;    // that fit, by the profile's occupancy; at most max_tokens
};

//   bands: [layers, 2]; token_bytes: bytes that one token of one head may spill at most, head_dim
//   in the published order.
inline SpillNeed spill_need(const CacheShape& shape, std::uint32_t token_bytes,
                            std::uint64_t tokens, const BandProfile* bands, Role side) noexcept {
  SpillNeed need;
  const std::uint64_t all = std::uint64_t{shape.kv_heads} * token_bytes;
  need.worst = all * shape.layers * tokens;
  const std::uint64_t most =
      all * shape.layers * ceil_div<std::uint64_t>(shape.max_tokens, 64) * 64;
  need.capacity = shape.spill_bytes == 0 ? most : shape.spill_bytes;
  double per_token = 0.0;
  for (std::uint32_t l = 0; l < shape.layers; ++l) {
    const BandProfile& band = bands[side_index(l, side)];
    per_token += static_cast<double>(all) * (band.outer_share() + band.inner_share());
  }
  need.needed = static_cast<std::uint64_t>(per_token * static_cast<double>(tokens) + 0.5);
  const double fit = per_token > 0.0 ? static_cast<double>(need.capacity) / per_token : 1e18;
  need.tokens = lower_of(shape.max_tokens, static_cast<std::uint64_t>(lower_of(fit, 1e18)));
  return need;
}

// Whether `tokens` tokens per layer fit a cache of this shape.
inline void check_table_overflow(const CacheShape& shape, std::uint32_t token_bytes,
                                 std::uint64_t tokens, const BandProfile* bands,
                                 Findings& findings) noexcept {
  Finding finding;
  finding.check = Check::kTableOverflow;
  if (tokens > shape.max_tokens) {
    finding.value = static_cast<double>(tokens);
    finding.limit = static_cast<double>(shape.max_tokens);
    finding.what = "more tokens than the tables are made for (kCapacity)";
    finding.fix = "raise CacheShape::max_tokens";
    findings.add(finding);
  }
  for (const Role side : {Role::kKey, Role::kValue}) {
    const SpillNeed need = spill_need(shape, token_bytes, tokens, bands, side);
    if (need.needed <= need.capacity) continue;
    finding.side = side;
    finding.both_sides = false;
    finding.value = static_cast<double>(need.needed);
    finding.limit = static_cast<double>(need.capacity);
    finding.what = "sparse table full before the requested length (kOutOfSpill)";
    finding.fix = "raise CacheShape::spill_bytes, or set it to 0";
    findings.add(finding);
  }
}

// ---- index_width ----

// How an outlier entry is laid out. The index counts the elements of one chunk of one token's head
// vector; it never counts tokens, so 6 bits serve any sequence.
struct EntryLayout {
  std::uint32_t head_dim = 0;
  std::uint32_t groups = 3;  // bands, the dense one included
  std::uint32_t chunk = 64;
  std::uint32_t index_bits = 6;
  std::uint32_t entry_bits = 8;
};
struct EntryReport {
  std::uint32_t chunks = 0;       // of a head vector
  std::uint32_t last_chunk = 0;   // elements of the last
  std::uint32_t needed_bits = 0;  // index, group and side
};

// Whether the index reaches the whole chunk, index, group and side fit the entry, and a chunk full
// of outliers can be counted in its byte.
inline EntryReport check_index_width(const EntryLayout& layout, Findings& findings) noexcept {
  EntryReport report;
  Finding finding;
  finding.check = Check::kIndexWidth;
  const auto add = [&](double value, double limit, const char* what, const char* fix) {
    finding.value = value;
    finding.limit = limit;
    finding.what = what;
    finding.fix = fix;
    findings.add(finding);
  };
  if (layout.chunk == 0 || layout.head_dim == 0 || layout.groups < 2 || layout.index_bits > 31) {
    add(0.0, 0.0, "no such layout: a chunk, head_dim and two groups are needed",
        "chunk 64, index_bits 6, groups 2 or 3");
    return report;
  }
  report.chunks = ceil_div(layout.head_dim, layout.chunk);
  report.last_chunk = layout.head_dim - (report.chunks - 1) * layout.chunk;
  std::uint32_t group_bits = 0;  // groups apart from the dense one
  while ((1u << group_bits) < layout.groups - 1) ++group_bits;
  report.needed_bits = layout.index_bits + group_bits + 1;
  if (layout.chunk > (1u << layout.index_bits)) {
    add(layout.chunk, 1u << layout.index_bits, "the index does not reach the end of a chunk",
        "chunks of 64, or one more index bit for every doubling");
  }
  if (layout.chunk > 255) {
    add(layout.chunk, 255, "a full chunk does not fit its count of one byte", "chunks of 64");
  }
  if (report.needed_bits > layout.entry_bits) {
    add(report.needed_bits, layout.entry_bits, "index, group and side do not fit an entry",
        "entries of 16 bits, or outliers of 4 bits without the side");
  }
  return report;
}

// ---- threshold_drift ----

// Every side of every layer whose bands are off.
inline void check_threshold_drift(const DriftMonitor& monitor, std::uint32_t layers,
                                  Findings& findings) noexcept {
  for (std::uint32_t l = 0; l < layers; ++l) {
    for (const Role side : {Role::kKey, Role::kValue}) {
      const DriftState state = monitor.state(l, side);
      if (state.drift == Drift::kNone || state.drift == Drift::kTooFewTokens) continue;
      const bool outer = state.drift == Drift::kOuterFull || state.drift == Drift::kOuterEmpty;
      Finding finding;
      finding.check = Check::kThresholdDrift;
      finding.side = side;
      finding.both_sides = false;
      finding.layer = l;
      finding.value = outer ? state.outer_share : state.inner_share;
      finding.limit = outer ? state.outer_wanted : state.inner_wanted;
      finding.what = to_string(state.drift);
      finding.fix = "profile again: needs_reprofile";
      findings.add(finding);
    }
  }
}

}  // namespace kvpleat::inline KVPLEAT_ISA
