// attend: attention over a compressed cache.
//
// A head's tokens are a few uniform segments: one per lane, and the tail. Each is folded by kernels
// that know nothing of the others; states merge exactly. Values are summed in coded space and
// restored once per segment.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "kvpleat/attention/logit_rule.h"
#include "kvpleat/attention/state.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/core/status.h"
#include "kvpleat/format/raw.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/codecs.h"
#include "kvpleat/simd/path.h"
#include "kvpleat/simd/reference.h"

namespace kvpleat::inline KVPLEAT_ISA {

using abi::Arithmetic;

// What attention paid to what. Any pointer may be null; nothing is computed for it then. Q = rows *
// group.
struct AttentionStatistics {
  const IndexRange* ranges = nullptr;  // [range_count], at most kMaxMassRanges; the caller's
  std::uint32_t range_count = 0;
  float* mass = nullptr;     // [Q, range_count]: share of the softmax that fell on each range
  float* largest = nullptr;  // [Q]: largest weight
  float* squares =
      nullptr;  // [Q]: sum of squared weights; variance over n keys = squares / n - 1 / n^2
  std::uint32_t* visible = nullptr;  // [Q]: keys seen
};

// Which code ran, per lane (the raw lane is last) and for rows kept as they came.
struct AttendReport {
  const char* kernels = "";
  const char* target = "";
  Path key[16] = {};
  Path value[16] = {};
  Path raw = Path::kNone;  // sinks and the tail
};

// R rows of queries, `group` query heads that share the KV head.
struct AttendArguments {
  const float* queries = nullptr;  // [rows, group, kKeyDim]
  std::uint32_t rows = 1;
  std::uint32_t group = 1;
  float scale = 1.0f;  // usually 1 / sqrt(head_dim)
  // [rows] or null: row r sees indices in limits[r] only (causal: {0, position + 1}; window:
  // {position + 1 - w, position + 1}).
  const IndexRange* limits = nullptr;
  // [rows, group, mask_tokens] or null: 0 hides a key. mask_tokens must be the layer's token count.
  const std::uint8_t* mask = nullptr;
  std::size_t mask_tokens = 0;
  const AttentionStatistics* statistics = nullptr;
  AttendReport* report = nullptr;
  // How exact vector kernels compute; plain ones are exact.
  Arithmetic arithmetic = Arithmetic::kFast;
  // Refuse (kUnsupported) rather than decode rows to floats where the kernel set is meant to work
  // on the bytes.
  bool strict = false;
};

// Row limits of `rows` queries that are the last of `tokens` tokens: row r sees up to its own
// position. Rows that lie before the first token see nothing.
inline void causal_limits(std::uint32_t tokens, std::uint32_t rows, IndexRange* limits) noexcept {
  for (std::uint32_t r = 0; r < rows; ++r)
    limits[r] = {0, tokens + r + 1 > rows ? tokens + r + 1 - rows : 0};
}

namespace attention {

inline constexpr std::uint32_t kSlots = 256;  // scores live in [queries, kSlots] scratch
inline constexpr std::uint32_t kQueries = abi::kMaxQueries;  // folded in one pass over the bytes

// Most slots whose keys are scored before their values are summed. Raw rows for
// one query are read as fast as memory delivers, and it delivers less where a kernel has just gone
// from keys to values. (Zen 4, one core, g++ 12, 2026-11-30, halves of 128 channels from memory:
// 21.2 ns per token with 256 slots, 18.8 with 2048; only reading the same bytes takes 15.9.)
// Offsets of positions are added for 1024 slots at a time (simd/offset-inl.h).
template <class Key>
inline constexpr std::uint32_t kMostSlots = Key::kHasOffset ? 4 * kSlots : kSlots;
template <std::uint32_t kHeadDim, class Element>
inline constexpr std::uint32_t kMostSlots<RawFormat<kHeadDim, Element>> = 8 * kSlots;
template <class F>
inline constexpr bool kIsRaw = false;
template <std::uint32_t kHeadDim, class Element>
inline constexpr bool kIsRaw<RawFormat<kHeadDim, Element>> = true;

// How a kernel set scores keys of a format. Keys without a coded query are decoded by any set.
// Score offsets of positions need a table that a cache keeps only for the kernels of its traits:
// without it the format adds them, ten times as slowly.
template <class Kernels, class Cache, class Key>
constexpr Path key_path() {
  constexpr bool kLacksTable = Key::kPositional && Key::kHasOffset && Kernels::kTakesPhaseTable &&
                               !Cache::Traits::Kernels::kTakesPhaseTable;
  return scores_restored<Key>() || kLacksTable ? Path::kDecode : Kernels::template kPath<Key>;
}

// How it sums values that are the first channels of keys.
template <class Kernels, class Cache, class Key>
constexpr Path view_path() {
  return key_path<Kernels, Cache, Key>() == Path::kDecode ? Path::kDecode
                                                          : Kernels::template kViewPath<Key>;
}

// One pass: up to kQueries queries of a head over an index range.
template <class Kernels, class Cache, class Rule>
class Pass {
 public:
  static constexpr std::uint32_t kKeyDim = Cache::kKeyDim;
  static constexpr std::uint32_t kValueDim = Cache::kValueDim;
  using State = AttentionState<kValueDim>;

  Pass(const Cache& cache, std::uint32_t layer, std::uint32_t head,
       const AttendArguments& arguments, const Rule& rule, std::uint32_t first, std::uint32_t count,
       State* states) noexcept
      : cache_(cache),
        layer_(layer),
        head_(head),
        arguments_(arguments),
        rule_(rule),
        first_(first),
        count_(count),
        states_(states) {}

  void run(IndexRange range) noexcept {
    if (arguments_.limits != nullptr) {
      IndexRange seen{0xffffffffu, 0};
      for (std::uint32_t j = 0; j < count_; ++j) {
        const IndexRange limit = arguments_.limits[(first_ + j) / arguments_.group];
        if (limit.empty()) continue;
        seen = {lower_of(seen.begin, limit.begin), upper_of(seen.end, limit.end)};
      }
      range = range & seen;
    }
    cache_.visit(
        layer_, head_, range, [&](const auto& lane) { this->fold_lane(lane); },
        [&](std::uint32_t index, std::uint32_t n) { this->fold_raw(index, n); });
  }

 private:
  // Online softmax of one segment, sums in coded space. What kernels read and write is aligned to
  // cache lines: four queries over raw halves took 36 % longer where sums crossed them (Zen 4).
  template <std::uint32_t kSums>
  struct Segment {
    float largest[kQueries];
    float sum[kQueries];
    AttentionSums sums[kQueries];
    alignas(64) float output[kQueries * kSums];
  };
  // Where the slots of a chunk lie: runs of blocks, then open rows.
  template <std::uint32_t kMost>
  struct Pieces {
    BlockRun runs[kMost / 64 + 2];
    std::uint32_t run_count;
    Rows open;

    [[nodiscard]] const BlockRun* first() const noexcept { return run_count > 0 ? runs : nullptr; }
  };

  const float* query(std::uint32_t j) const noexcept {
    return arguments_.queries + static_cast<std::size_t>(first_ + j) * kKeyDim;
  }
  float* scores(std::uint32_t j) noexcept { return scored_ + j * slots_; }

  template <class Lane>
  void fold_lane(const Lane& lane) noexcept {
    if constexpr (Cache::kValueKind == ValueKind::kKeyView) {
      fold_lane(lane, lane.key_format(), [](std::uint32_t, std::uint32_t, auto&) {});
    } else {
      fold_lane(lane, lane.value_format(), [&](std::uint32_t slot, std::uint32_t n, auto& pieces) {
        pieces.run_count = lane.value_pieces(slot, n, pieces.runs, pieces.open);
      });
    }
    note<Lane>();
  }
  // values: the format of the values; of a key view, the keys'.
  template <class Lane, class V, class ValuePieces>
  void fold_lane(const Lane& lane, const V& values, ValuePieces value_pieces) noexcept {
    using K = typename Lane::Pair::Key;
    constexpr bool kView = Cache::kValueKind == ValueKind::kKeyView;
    constexpr bool kRestored = scores_restored<K>();
    constexpr std::uint32_t kWork = kRestored ? 0 : Kernels::template kWorkBytes<K>;
    const K& keys = lane.key_format();
    alignas(64) float queries[kRestored ? 1 : kQueries * K::kCoded];
    alignas(64) std::uint8_t work[kWork > 0 ? kWork : 1];
    if constexpr (!kRestored) {
      Coder<Kernels>::prepare_queries(keys, Rows{query(0), count_, kKeyDim}, queries);
      Kernels::prepare(keys, abi::PrepareArguments{queries, count_, arguments_.arithmetic, work});
    }
    Segment<V::kCoded> segment;
    begin(segment);
    see(lane.count,
        [&](std::uint32_t at) { return upper_of(lane.slot_of(at), lane.slot) - lane.slot; });
    std::uint32_t index = lane.index;
    // As many as the scores have room for. Chunks and their parts end where the slots are a
    // multiple of theirs, so that only the first can start inside a block. A chunk that does has
    // one part: each has its scores in groups of 16 of its own.
    constexpr std::uint32_t kMost = kView ? kSlots : kMostSlots<K>;
    if (arguments_.mask == nullptr)  // else there is room to show kSlots
      slots_ = lower_of(kMost, kQueries * kSlots / std::bit_ceil(count_));
    const auto piece = [&](std::uint32_t done, std::uint32_t most) {
      return lower_of(most - (lane.slot + done) % most, lane.count - done);
    };
    const auto chunk = [&](std::uint32_t done) {
      return piece(done, (lane.slot + done) % kSlots == 0 ? slots_ : kSlots);
    };
    // Raw rows of values are summed one after the other: how many at a time makes no difference.
    // Kernels of tiles add up a call before they add to the sums, and where calls end with joined
    // parts depends on the other queries.
    constexpr bool kJoined = !kView && kSlots < kMost && kIsRaw<V>;
    using Keys = Pieces<kMost>;
    using Values = Pieces<kJoined ? kMost : kSlots>;
    const auto key_pieces = [&](std::uint32_t done, Keys& keys_at) {
      keys_at.run_count =
          lane.key_pieces(lane.slot + done, chunk(done), keys_at.runs, keys_at.open);
    };
    Keys key_buffers[2];
    Values value;
    Keys* now = &key_buffers[0];
    Keys* next = &key_buffers[1];
    key_pieces(0, *now);
    for (std::uint32_t done = 0, n = 0; done < lane.count; done += n, std::swap(now, next)) {
      n = chunk(done);
      // Each kernel fetches the first bytes of the one after it: blocks lie apart in memory.
      const std::uint32_t held = piece(done, kSlots);
      value_pieces(lane.slot + done, held, value);
      next->run_count = 0;
      if (done + n < lane.count) key_pieces(done + n, *next);
      if (kRestored || K::kHasOffset || arguments_.mask != nullptr) {
        lane.positions(index, n, positions_);
        index = static_cast<std::uint32_t>(positions_[n - 1]) + 1;
      }
      if constexpr (kRestored) {
        score_restored(keys, *now);
      } else {
        const std::uint32_t coded = n - static_cast<std::uint32_t>(now->open.count);
        if (coded > 0) {
          Kernels::score(
              keys, abi::ScoreArguments{now->runs, now->run_count, kView ? nullptr : value.first(),
                                        kView ? 0 : value.run_count, queries, work, count_,
                                        arguments_.arithmetic, scores_, slots_});
        }
        if (coded < n)
          Kernels::score_rows(now->open, K::kCoded, queries, count_, scores_ + coded, slots_);
        if constexpr (K::kHasOffset) {
          Kernels::add_offset(keys, abi::OffsetArguments{query(0), count_, positions_, n,
                                                         arguments_.arithmetic, scores_, slots_});
        }
      }
      if constexpr (kView) {
        if (weigh(segment, V::kCoded, done, n, [] {}))
          sum_values(values, *now, *next, n, segment.output);
      } else {
        std::uint32_t summed = 0;
        const auto sum_up_to = [&](std::uint32_t end) {
          if (summed == end) return;
          if (summed > 0 || end != held)  // else they are there already
            value_pieces(lane.slot + done + summed, end - summed, value);
          scored_ = scores_ + summed;
          if (!kJoined && end < n) {
            Values after;
            value_pieces(lane.slot + done + end, piece(done + end, kSlots), after);
            sum_values(values, value, after, end - summed, segment.output);
          } else {
            sum_values(values, value, *next, end - summed, segment.output);
          }
          summed = end;
        };
        for (std::uint32_t part = 0, m = 0; part < n; part += m) {
          m = piece(done + part, kSlots);
          scored_ = scores_ + part;
          const bool any = weigh(segment, V::kCoded, done + part, m, [&] {
            sum_up_to(part);
            scored_ = scores_ + part;
          });
          if (!any) {
            sum_up_to(part);
            summed = part + m;
          } else if (!kJoined) {
            sum_up_to(part + m);
          }
        }
        sum_up_to(n);
        scored_ = scores_;
      }
    }
    merge(segment, [&](const float* sums, float sum, float* output) {
      if constexpr (kView) {
        float whole[V::kDim];
        Coder<Kernels>::restore_sum(values, sums, sum, whole);
        for (std::uint32_t c = 0; c < kValueDim; ++c) output[c] = whole[c];
      } else {
        Coder<Kernels>::restore_sum(values, sums, sum, output);
      }
    });
  }
  // Values of n slots, with the weights that they have, into sums.
  template <class V, class Now, class Next>
  void sum_values(const V& values, const Now& now, const Next& next, std::uint32_t n,
                  float* sums) noexcept {
    const std::uint32_t coded = n - static_cast<std::uint32_t>(now.open.count);
    if (coded > 0) {
      Kernels::accumulate(
          values, abi::AccumulateArguments{now.runs, now.run_count, next.first(), next.run_count,
                                           scored_, count_, slots_, arguments_.arithmetic, sums});
    }
    if (coded < n)
      Kernels::accumulate_rows(now.open, V::kCoded, scored_ + coded, count_, slots_, sums);
  }
  // Scores of keys that have no coded query: rows are decoded and restored, each at its position,
  // and meet the query as it came.
  template <class K>
  void score_restored(const K& keys, const Pieces<kMostSlots<K>>& pieces) noexcept {
    constexpr std::uint32_t kRows = 8;
    float decoded[kRows * K::kCoded];
    float restored[kRows * kKeyDim];
    std::uint32_t first = 0;
    const auto score = [&](Rows rows) {
      for (std::uint32_t t = 0; t < rows.count; ++t)
        keys.restore(rows[t], 1.0f, positions_[first + t], restored + t * kKeyDim);
      Kernels::score_rows(Rows{restored, rows.count, kKeyDim}, kKeyDim, query(0), count_,
                          scores_ + first, slots_);
      first += static_cast<std::uint32_t>(rows.count);
    };
    for (std::uint32_t r = 0; r < pieces.run_count; ++r) {
      const BlockRun& run = pieces.runs[r];
      for (std::uint32_t done = 0; done < run.count;) {
        const std::uint32_t take = lower_of(kRows, run.count - done);
        keys.decode(run.bytes, run.slot + done, MutableRows{decoded, take, K::kCoded});
        score(Rows{decoded, take, K::kCoded});
        done += take;
      }
    }
    for (std::size_t done = 0; done < pieces.open.count;) {
      const std::size_t take = lower_of<std::size_t>(kRows, pieces.open.count - done);
      score(pieces.open.part(done, take));
      done += take;
    }
  }
  void fold_raw(std::uint32_t index, std::uint32_t n) noexcept {
    slots_ = kSlots;
    Segment<kValueDim> segment;
    begin(segment);
    see(n, [&](std::uint32_t at) { return upper_of(at, index) - index; });
    for (std::uint32_t done = 0, count = 0; done < n; done += count) {
      abi::RawRows keys;
      abi::RawRows values;
      count =
          cache_.raw_rows(layer_, head_, index + done, lower_of(kSlots, n - done), keys, values);
      for (std::uint32_t t = 0; arguments_.mask != nullptr && t < count; ++t)
        positions_[t] = index + done + t;
      Kernels::score_raw(keys, query(0), count_, scores_, slots_);
      if (weigh(segment, kValueDim, done, count, [] {}))
        Kernels::accumulate_raw(values, scores_, count_, slots_, segment.output);
    }
    merge(segment, [](const float* sums, float, float* output) {
      for (std::uint32_t c = 0; c < kValueDim; ++c) output[c] = sums[c];
    });
    if (arguments_.report != nullptr) arguments_.report->raw = Kernels::kRawPath;
  }

  template <std::uint32_t kSums>
  void begin(Segment<kSums>& segment) noexcept {
    for (std::uint32_t j = 0; j < count_; ++j) {
      segment.largest[j] = -kInfinity;
      segment.sum[j] = 0.0f;
      segment.sums[j] = {};
    }
    for (std::uint32_t i = 0; i < count_ * kSums; ++i) segment.output[i] = 0.0f;
  }
  template <std::uint32_t kSums, class Restore>
  void merge(const Segment<kSums>& segment, Restore restore) noexcept {
    for (std::uint32_t j = 0; j < count_; ++j) {
      if (segment.sum[j] == 0.0f) continue;
      State part;
      part.largest = segment.largest[j];
      part.sum = segment.sum[j];
      part.sums = segment.sums[j];
      restore(segment.output + j * kSums, part.sum, part.output);
      states_[j].merge(part);
    }
  }

  // What each query sees of a segment of n slots, and where the mass ranges lie in it.
  //   slot_of(index): the first slot at or after an index; not below 0, may exceed n.
  template <class SlotOf>
  void see(std::uint32_t n, SlotOf slot_of) noexcept {
    const auto slots = [&](IndexRange range) -> IndexRange {
      if (range.empty()) return {0, 0};
      return {slot_of(range.begin), lower_of(n, slot_of(range.end))};
    };
    for (std::uint32_t j = 0; j < count_; ++j) {
      if (arguments_.limits == nullptr) {
        seen_[j] = {0, n};
      } else if (j > 0 && (first_ + j) % arguments_.group != 0) {
        seen_[j] = seen_[j - 1];
      } else {
        seen_[j] = slots(arguments_.limits[(first_ + j) / arguments_.group]);
      }
    }
    const AttentionStatistics* wanted = arguments_.statistics;
    if (wanted == nullptr || wanted->mass == nullptr) return;
    for (std::uint32_t r = 0; r < wanted->range_count; ++r) mass_[r] = slots(wanted->ranges[r]);
  }
  // Turns the scores of slots [done, done + n) of a segment into weights, rescaling what was summed
  // before; calls finish first, which sums what has weights already. False: no query sees any of
  // them.
  template <std::uint32_t kSums, class Finish>
  bool weigh(Segment<kSums>& segment, std::uint32_t dim, std::uint32_t done, std::uint32_t n,
             Finish finish) noexcept {
    bool any = false;
    for (std::uint32_t j = 0; j < count_; ++j) {
      IndexRange in = seen_[j] & IndexRange{done, done + n};
      in = in.empty() ? IndexRange{0, 0} : IndexRange{in.begin - done, in.end - done};
      std::uint32_t seen = in.end - in.begin;
      if (arguments_.mask != nullptr && seen > 0) seen = show(j, in);
      if (seen == 0) {
        clear(scores(j), 0, n);
        continue;
      }
      Logits logits;
      if (!plain_logits(j, in, logits)) logits = rule_logits(j, in);
      // A query or a rule that gives NaN has no output: its sum is NaN from here on, and so are the
      // output and the log-sum. It must not look like a row that sees no key.
      if (logits.largest != logits.largest) {
        segment.sum[j] = logits.largest;
        clear(scores(j), 0, n);
        continue;
      }
      any = true;
      if (logits.largest > segment.largest[j]) {
        finish();
        const float factor =
            segment.sum[j] == 0.0f ? 0.0f : softmax_weight(segment.largest[j], logits.largest);
        segment.sum[j] *= factor;
        Kernels::rescale(segment.output + j * kSums, dim, factor);
        segment.sums[j].scale(factor);
        segment.largest[j] = logits.largest;
      }
      const float sum =
          Kernels::exponentials(scores(j), in.begin, in.end, logits.factor, segment.largest[j]);
      segment.sum[j] += sum;
      if (sum != sum) {  // a NaN among others
        clear(scores(j), 0, n);
        continue;
      }
      clear(scores(j), 0, in.begin / 16 * 16);
      clear(scores(j), round_up(in.end, 16u), n);
      if (arguments_.statistics != nullptr) note_weights(segment.sums[j], j, done, in, seen, sum);
    }
    return any;
  }
  // Logits are factor * score.
  struct Logits {
    float factor = 1.0f;
    float largest = -kInfinity;
  };
  // Of a rule that changes nothing, if the largest logit is finite.
  bool plain_logits(std::uint32_t j, IndexRange in, Logits& logits) noexcept {
    if constexpr (plain_rule<Rule>()) {
      if (!(arguments_.scale > 0.0f && arguments_.scale <= kLargestFloat)) return false;
      logits.factor = arguments_.scale;
      logits.largest = Kernels::largest(scores(j), in.begin, in.end) * arguments_.scale;
      return is_finite(logits.largest);
    } else {
      return false;
    }
  }
  // Of any rule, in place; the largest is NaN if one is.
  Logits rule_logits(std::uint32_t j, IndexRange in) noexcept {
    Logits logits;
    bool nan = false;
    for (std::uint32_t t = in.begin; t < in.end; ++t) {
      float& score = scores(j)[t];
      if (arguments_.mask != nullptr && shown_[t] == 0) {
        score = -kInfinity;
        continue;
      }
      // A visible key has a finite logit: overflow saturates, so that -infinity means "not seen"
      // and nothing else.
      score =
          lower_of(upper_of(rule_.logit(score * arguments_.scale), -kLargestFloat), kLargestFloat);
      logits.largest = upper_of(logits.largest, score);
      nan = nan || score != score;
    }
    if (nan) logits.largest = std::numeric_limits<float>::quiet_NaN();
    return logits;
  }
  // Hides what the mask of a query hides of [in.begin, in.end). Returns how many keys are left.
  std::uint32_t show(std::uint32_t j, IndexRange in) noexcept {
    const std::uint8_t* mask = arguments_.mask + (first_ + j) * arguments_.mask_tokens;
    const std::int64_t first = positions_[in.begin];
    const std::uint32_t n = in.end - in.begin;
    if (positions_[in.end - 1] - first == n - 1) {  // ascending: one behind the other
      std::memcpy(shown_ + in.begin, mask + first, n);
    } else {
      for (std::uint32_t t = in.begin; t < in.end; ++t)
        shown_[t] = mask[static_cast<std::size_t>(positions_[t])];
    }
    const std::uint32_t count = count_nonzero(shown_ + in.begin, n);
    if (count > 0 && count < n) Kernels::hide(shown_, in.begin, in.end, scores(j));
    return count;
  }
  // Eight bytes at a time: the top bit of each becomes whether it is not 0.
  static std::uint32_t count_nonzero(const std::uint8_t* bytes, std::uint32_t n) noexcept {
    constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7fu;
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < n; i += 8) {
      std::uint64_t eight = 0;
      if (n - i >= 8) {
        std::memcpy(&eight, bytes + i, 8);
      } else {
        std::memcpy(&eight, bytes + i, n - i);
      }
      count += static_cast<std::uint32_t>(std::popcount((((eight & kLow) + kLow) | eight) & ~kLow));
    }
    return count;
  }
  static void clear(float* weights, std::uint32_t begin, std::uint32_t end) noexcept {
    for (std::uint32_t t = begin; t < end; ++t) weights[t] = 0.0f;
  }
  void note_weights(AttentionSums& sums, std::uint32_t j, std::uint32_t done, IndexRange in,
                    std::uint32_t seen, float sum) noexcept {
    const AttentionStatistics& wanted = *arguments_.statistics;
    sums.visible += seen;
    sums.largest = 1.0f;  // the segment's largest logit is that of a key
    if (wanted.squares != nullptr)
      sums.squares += Kernels::sum_of_squares(scores(j), in.begin, in.end);
    if (wanted.mass == nullptr) return;
    for (std::uint32_t r = 0; r < wanted.range_count; ++r) {
      const IndexRange part = mass_[r] & IndexRange{done + in.begin, done + in.end};
      if (part.empty()) continue;
      const bool whole = part.end - part.begin == in.end - in.begin;
      sums.mass[r] += whole ? sum : Kernels::sum(scores(j), part.begin - done, part.end - done);
    }
  }
  template <class Lane>
  void note() const noexcept {
    if (arguments_.report == nullptr) return;
    arguments_.report->key[Lane::kLane] = key_path<Kernels, Cache, typename Lane::Pair::Key>();
    if constexpr (Cache::kValueKind == ValueKind::kKeyView) {
      arguments_.report->value[Lane::kLane] = view_path<Kernels, Cache, typename Lane::Pair::Key>();
    } else {
      arguments_.report->value[Lane::kLane] = Kernels::template kPath<typename Lane::Pair::Value>;
    }
  }

  const Cache& cache_;
  const std::uint32_t layer_;
  const std::uint32_t head_;
  const AttendArguments& arguments_;
  const Rule& rule_;
  const std::uint32_t first_;
  const std::uint32_t count_;
  std::uint32_t slots_ = kSlots;  // scored at once; so far apart are the scores of two queries
  float* scored_ = scores_;       // of the slots that are weighed
  State* states_;
  IndexRange seen_[kQueries];        // slots of the segment
  IndexRange mass_[kMaxMassRanges];  // slots of the segment
  alignas(64) float scores_[kQueries * kSlots];
  std::uint8_t shown_[kSlots];
  std::int64_t positions_[4 * kSlots];
};

template <class Kernels, class Cache, class Pair>
constexpr bool lane_fused() {
  bool fused = key_path<Kernels, Cache, typename Pair::Key>() != Path::kDecode;
  if constexpr (Pair::kValueKind == ValueKind::kStored)
    fused = fused && Kernels::template kPath<typename Pair::Value> != Path::kDecode;
  if constexpr (Pair::kValueKind == ValueKind::kKeyView)
    fused = fused && view_path<Kernels, Cache, typename Pair::Key>() != Path::kDecode;
  return fused;
}
// Whether every lane of the cache has kernels of its own in this set.
template <class Kernels, class Cache>
constexpr bool all_fused() {
  return []<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
    return (lane_fused<Kernels, Cache, typename Cache::template Lane<kIndices>>() && ...);
  }
  (std::make_index_sequence<Cache::kLanes>{});
}

// What every call checks.
template <class Set, class Cache>
Status check(const Cache& cache, std::uint32_t layer, std::uint32_t head,
             const AttendArguments& arguments) noexcept {
  if (layer >= cache.shape().layers || head >= cache.shape().kv_heads) return Status::kInvalid;
  if (Cache::kValueKind == ValueKind::kNone) return Status::kUnsupported;
  if (arguments.group == 0 || (arguments.rows > 0 && arguments.queries == nullptr))
    return Status::kInvalid;
  const std::uint64_t group = arguments.group;
  if (arguments.rows * group > 0x7fffffffu) return Status::kRange;
  const std::uint32_t query_heads = cache.shape().query_heads;
  if (query_heads != 0 && query_heads != group * cache.shape().kv_heads) return Status::kMismatch;
  if (arguments.mask != nullptr && arguments.mask_tokens != cache.tokens(layer))
    return Status::kMismatch;
  if (arguments.statistics != nullptr) {
    const AttentionStatistics& statistics = *arguments.statistics;
    if (statistics.range_count > kMaxMassRanges) return Status::kRange;
    if (statistics.range_count > 0 && statistics.ranges == nullptr) return Status::kInvalid;
  }
  if (arguments.strict && !all_fused<Set, Cache>()) return Status::kUnsupported;
  return Status::kOk;
}

// Checks and starts the report.
template <class Set, class Cache>
Status start(const Cache& cache, std::uint32_t layer, std::uint32_t head,
             const AttendArguments& arguments) noexcept {
  if (const Status status = check<Set>(cache, layer, head, arguments); !ok(status)) return status;
  if (arguments.report != nullptr) {
    *arguments.report = {};
    arguments.report->kernels = Set::kName;
    arguments.report->target = Set::target();
  }
  return Status::kOk;
}

template <std::uint32_t kDim>
void write_statistics(const AttentionStatistics& wanted, std::size_t q,
                      const AttentionState<kDim>& state) noexcept {
  const float inverse = state.sum > 0.0f ? 1.0f / state.sum : 0.0f;
  if (wanted.mass != nullptr) {
    for (std::uint32_t r = 0; r < wanted.range_count; ++r) {
      wanted.mass[q * wanted.range_count + r] = state.sums.mass[r] * inverse;
    }
  }
  if (wanted.largest != nullptr) wanted.largest[q] = state.sums.largest * inverse;
  if (wanted.squares != nullptr) wanted.squares[q] = state.sums.squares * inverse * inverse;
  if (wanted.visible != nullptr) wanted.visible[q] = state.sums.visible;
}

}  // namespace attention

// Folds the tokens of an index range into states, one per (row, query head): states[rows * group],
// AttentionState{} at first. Any split of the tokens into calls, in any order, merges to the same
// result up to rounding. The rule's sink is not applied: it belongs to the whole (attend does).
// Errors as attend; states are untouched then.
template <class Kernels = void, class Traits, LogitRule Rule = PlainLogit>
Status attend_partial(const KvCache<Traits>& cache, std::uint32_t layer, std::uint32_t head,
                      IndexRange range, const AttendArguments& arguments,
                      AttentionState<KvCache<Traits>::kValueDim>* states,
                      const Rule& rule = {}) noexcept {
  using Cache = KvCache<Traits>;
  using Set = std::conditional_t<std::is_void_v<Kernels>, typename Traits::Kernels, Kernels>;
  if (const Status status = attention::start<Set>(cache, layer, head, arguments); !ok(status))
    return status;
  if constexpr (Cache::kValueKind != ValueKind::kNone) {
    const std::uint32_t total = arguments.rows * arguments.group;
    for (std::uint32_t first = 0; first < total; first += attention::kQueries) {
      const std::uint32_t count = lower_of(attention::kQueries, total - first);
      attention::Pass<Set, Cache, Rule>(cache, layer, head, arguments, rule, first, count,
                                        states + first)
          .run(range);
    }
  }
  return Status::kOk;
}

// Attention of one KV head over all tokens of a layer.
//   out:      [rows, group, kValueDim]; zeros for a row that sees no key
//   log_sums: [rows, group] or null: log of the sum of exp(logit); -infinity where no key is seen
// A query with NaN, or a rule that returns it, gives NaN in both. Scores and sums are floats: q . k
// and the sum of |value| must stay below 3e38.
// Kernels: void takes the cache's own set; another set runs over the same bytes. Readers may run
// together, not during an append to the same layer. Stack: about 34 KiB (raw formats 37) + 70 *
// kKeyDim + 150 * kValueDim bytes (60 KB at 128), and what the kernel set adds, kWorkBytes above
// all (in all, measured with VectorKernels: Int4 90 KB, Rotated4 120 KB at 128; 200 and 230 KB at
// 512); no heap. O(rows * group * tokens * dim).
// kInvalid: no such layer or head, no queries, group 0; kMismatch: mask_tokens or query heads
// disagree with the cache; kRange: too many mass ranges, or rows * group above 2^31; kUnsupported:
// a cache without values, or a decode path under `strict`.
template <class Kernels = void, class Traits, LogitRule Rule = PlainLogit>
Status attend(const KvCache<Traits>& cache, std::uint32_t layer, std::uint32_t head,
              const AttendArguments& arguments, float* out, float* log_sums = nullptr,
              const Rule& rule = {}) noexcept {
  using Cache = KvCache<Traits>;
  using Set = std::conditional_t<std::is_void_v<Kernels>, typename Traits::Kernels, Kernels>;
  if (const Status status = attention::start<Set>(cache, layer, head, arguments); !ok(status))
    return status;
  if (out == nullptr && arguments.rows > 0) return Status::kInvalid;
  if constexpr (Cache::kValueKind != ValueKind::kNone) {
    using State = AttentionState<Cache::kValueDim>;
    const std::uint32_t total = arguments.rows * arguments.group;
    for (std::uint32_t first = 0; first < total; first += attention::kQueries) {
      const std::uint32_t count = lower_of(attention::kQueries, total - first);
      union Room {  // only as many states as there are queries are set up
        Room() {}
        State states[attention::kQueries];
      } room;
      State* states = room.states;
      for (std::uint32_t j = 0; j < count; ++j) std::construct_at(states + j);
      attention::Pass<Set, Cache, Rule>(cache, layer, head, arguments, rule, first, count, states)
          .run(IndexRange{});
      for (std::uint32_t j = 0; j < count; ++j) {
        const std::size_t q = first + j;
        if constexpr (Rule::kSink) {
          State sink;
          sink.largest = rule.sink((first + j) % arguments.group);
          sink.sum = 1.0f;
          states[j].merge(sink);
        }
        states[j].write(out + q * Cache::kValueDim);
        if (log_sums != nullptr) log_sums[q] = states[j].log_sum();
        if (arguments.statistics != nullptr)
          attention::write_statistics(*arguments.statistics, q, states[j]);
      }
    }
  }
  return Status::kOk;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
