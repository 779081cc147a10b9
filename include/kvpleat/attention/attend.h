// attend: attention over a compressed cache.
//
// A head's tokens are a few uniform segments: one per lane, and the tail. Each is folded by kernels
// that know nothing of the others; states merge exactly. Values are summed in coded space and
// restored once per segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kvpleat/attention/logit_rule.h"
#include "kvpleat/attention/state.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"
#include "kvpleat/simd/path.h"
#include "kvpleat/simd/reference.h"

namespace kvpleat::inline KVPLEAT_ISA {

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
inline constexpr std::uint32_t kQueries = 8;  // queries folded in one pass over the bytes

// How a kernel set scores keys of a format. Keys without a coded query are decoded by any set.
template <class Kernels, class Key>
constexpr Path key_path() {
  return scores_restored<Key>() ? Path::kDecode : Kernels::template kPath<Key>;
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
  // Online softmax of one segment, sums in coded space.
  template <std::uint32_t kSums>
  struct Segment {
    float largest[kQueries];
    float sum[kQueries];
    AttentionSums sums[kQueries];
    float output[kQueries * kSums];
  };

  const float* query(std::uint32_t j) const noexcept {
    return arguments_.queries + static_cast<std::size_t>(first_ + j) * kKeyDim;
  }
  [[nodiscard]] bool needs_positions() const noexcept {
    return arguments_.limits != nullptr || arguments_.mask != nullptr ||
           arguments_.statistics != nullptr;
  }

  template <class Lane>
  void fold_lane(const Lane& lane) noexcept {
    using K = typename Lane::Pair::Key;
    constexpr bool kView = Cache::kValueKind == ValueKind::kKeyView;
    constexpr bool kRestored = scores_restored<K>();
    const K& keys = lane.key_format();
    float queries[kRestored ? 1 : kQueries * K::kCoded];
    if constexpr (!kRestored) {
      for (std::uint32_t j = 0; j < count_; ++j)
        keys.prepare_query(query(j), queries + j * K::kCoded);
    }

    const auto fold = [&](const auto& values, auto value_pieces) {
      using V = std::remove_cvref_t<decltype(values)>;
      Segment<V::kCoded> segment;
      begin(segment);
      std::uint32_t index = lane.index;
      for (std::uint32_t done = 0; done < lane.count; done += kSlots) {
        const std::uint32_t n = lower_of(kSlots, lane.count - done);
        BlockRun runs[kSlots / 64 + 2];
        Rows open;
        std::uint32_t run_count = lane.key_pieces(lane.slot + done, n, runs, open);
        if (kRestored || K::kHasOffset || needs_positions()) {
          lane.positions(index, n, positions_);
          index = static_cast<std::uint32_t>(positions_[n - 1]) + 1;
        }
        if constexpr (kRestored) {
          score_restored(keys, runs, run_count, open);
        } else {
          const std::uint32_t coded = n - static_cast<std::uint32_t>(open.count);
          if (coded > 0) Kernels::score(keys, runs, run_count, queries, count_, scores_, kSlots);
          if (coded < n)
            Kernels::score_rows(open, K::kCoded, queries, count_, scores_ + coded, kSlots);
        }
        if constexpr (K::kHasOffset) {
          for (std::uint32_t j = 0; j < count_; ++j)
            keys.add_score_offset(query(j), positions_, n, scores_ + j * kSlots);
        }
        if (!weigh(segment, V::kCoded, n)) continue;
        run_count = value_pieces(lane.slot + done, n, runs, open);
        const std::uint32_t value_coded = n - static_cast<std::uint32_t>(open.count);
        if (value_coded > 0)
          Kernels::accumulate(values, runs, run_count, scores_, count_, kSlots, segment.output);
        if (value_coded < n) {
          Kernels::accumulate_rows(open, V::kCoded, scores_ + value_coded, count_, kSlots,
                                   segment.output);
        }
      }
      for (std::uint32_t j = 0; j < count_; ++j) {
        if (segment.sum[j] == 0.0f) continue;
        State part;
        part.largest = segment.largest[j];
        part.sum = segment.sum[j];
        part.sums = segment.sums[j];
        if constexpr (kView) {
          float whole[V::kDim];
          values.restore(segment.output + j * V::kCoded, part.sum, 0, whole);
          for (std::uint32_t c = 0; c < kValueDim; ++c) part.output[c] = whole[c];
        } else {
          values.restore(segment.output + j * V::kCoded, part.sum, 0, part.output);
        }
        states_[j].merge(part);
      }
    };
    if constexpr (kView) {
      fold(keys, [&](std::uint32_t slot, std::uint32_t n, BlockRun* runs, Rows& rows) {
        return lane.key_pieces(slot, n, runs, rows);
      });
    } else {
      fold(lane.value_format(), [&](std::uint32_t slot, std::uint32_t n, BlockRun* runs,
                                    Rows& rows) { return lane.value_pieces(slot, n, runs, rows); });
    }
    note<Lane>();
  }
  // Scores of keys that have no coded query: rows are decoded and restored, each at its position,
  // and meet the query as it came.
  template <class K>
  void score_restored(const K& keys, const BlockRun* runs, std::uint32_t run_count,
                      Rows open) noexcept {
    constexpr std::uint32_t kRows = 8;
    float decoded[kRows * K::kCoded];
    float restored[kRows * kKeyDim];
    std::uint32_t first = 0;
    const auto score = [&](Rows rows) {
      for (std::uint32_t t = 0; t < rows.count; ++t)
        keys.restore(rows[t], 1.0f, positions_[first + t], restored + t * kKeyDim);
      Kernels::score_rows(Rows{restored, rows.count, kKeyDim}, kKeyDim, query(0), count_,
                          scores_ + first, kSlots);
      first += static_cast<std::uint32_t>(rows.count);
    };
    for (std::uint32_t r = 0; r < run_count; ++r) {
      for (std::uint32_t done = 0; done < runs[r].count;) {
        const std::uint32_t take = lower_of(kRows, runs[r].count - done);
        keys.decode(runs[r].bytes, runs[r].slot + done, MutableRows{decoded, take, K::kCoded});
        score(Rows{decoded, take, K::kCoded});
        done += take;
      }
    }
    for (std::size_t done = 0; done < open.count;) {
      const std::size_t take = lower_of<std::size_t>(kRows, open.count - done);
      score(open.part(done, take));
      done += take;
    }
  }
  void fold_raw(std::uint32_t index, std::uint32_t n) noexcept {
    constexpr std::uint32_t kRows = 8;
    float keys[kRows * kKeyDim];
    float values[kRows * kValueDim];
    Segment<kValueDim> segment;
    begin(segment);
    for (std::uint32_t done = 0; done < n; done += kRows) {
      const std::uint32_t take = lower_of(kRows, n - done);
      for (std::uint32_t t = 0; t < take; ++t) {
        cache_.read_raw(layer_, head_, index + done + t, keys + t * kKeyDim,
                        values + t * kValueDim);
        positions_[t] = index + done + t;
      }
      Kernels::score_rows(Rows{keys, take, kKeyDim}, kKeyDim, query(0), count_, scores_, kSlots);
      if (weigh(segment, kValueDim, take)) {
        Kernels::accumulate_rows(Rows{values, take, kValueDim}, kValueDim, scores_, count_, kSlots,
                                 segment.output);
      }
    }
    for (std::uint32_t j = 0; j < count_; ++j) {
      if (segment.sum[j] == 0.0f) continue;
      State part;
      part.largest = segment.largest[j];
      part.sum = segment.sum[j];
      part.sums = segment.sums[j];
      for (std::uint32_t c = 0; c < kValueDim; ++c)
        part.output[c] = segment.output[j * kValueDim + c];
      states_[j].merge(part);
    }
    if (arguments_.report != nullptr) arguments_.report->raw = Path::kReference;
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
  // Turns the scores of n tokens into weights, rescaling what was summed before. False: no query
  // sees any of them.
  template <std::uint32_t kSums>
  bool weigh(Segment<kSums>& segment, std::uint32_t dim, std::uint32_t n) noexcept {
    bool any = false;
    for (std::uint32_t j = 0; j < count_; ++j) {
      float* logits = scores_ + j * kSlots;
      float top = -kInfinity;
      bool nan = false;
      for (std::uint32_t t = 0; t < n; ++t) {
        // A visible key has a finite logit: overflow saturates, so that -infinity means "not seen"
        // and nothing else.
        const float logit = lower_of(
            upper_of(rule_.logit(logits[t] * arguments_.scale), -kLargestFloat), kLargestFloat);
        logits[t] = visible(j, t) ? logit : -kInfinity;
        top = upper_of(top, logits[t]);
        nan = nan || logits[t] != logits[t];
      }
      // A query or a rule that gives NaN has no output: its sum is NaN from here on, and so are the
      // output and the log-sum. It must not look like a row that sees no key.
      if (nan) segment.sum[j] = std::numeric_limits<float>::quiet_NaN();
      if (nan || top == -kInfinity) {
        for (std::uint32_t t = 0; t < n; ++t) logits[t] = 0.0f;
        continue;
      }
      any = true;
      if (top > segment.largest[j]) {
        const float factor =
            segment.sum[j] == 0.0f ? 0.0f : softmax_weight(segment.largest[j], top);
        segment.sum[j] *= factor;
        for (std::uint32_t c = 0; c < dim; ++c) segment.output[j * dim + c] *= factor;
        segment.sums[j].scale(factor);
        segment.largest[j] = top;
      }
      float sum = 0.0f;
      std::uint32_t seen = 0;
      for (std::uint32_t t = 0; t < n; ++t) {
        seen += logits[t] != -kInfinity ? 1u : 0u;
        logits[t] = softmax_weight(logits[t], segment.largest[j]);
        sum += logits[t];
      }
      segment.sum[j] += sum;
      if (arguments_.statistics != nullptr) note_weights(segment.sums[j], logits, n, seen);
    }
    return any;
  }
  [[nodiscard]] bool visible(std::uint32_t j, std::uint32_t t) const noexcept {
    if (arguments_.limits != nullptr) {
      const IndexRange limit = arguments_.limits[(first_ + j) / arguments_.group];
      if (positions_[t] < limit.begin || positions_[t] >= limit.end) return false;
    }
    return arguments_.mask == nullptr ||
           arguments_.mask[(first_ + j) * arguments_.mask_tokens +
                           static_cast<std::size_t>(positions_[t])] != 0;
  }
  void note_weights(AttentionSums& sums, const float* weights, std::uint32_t n,
                    std::uint32_t seen) const noexcept {
    sums.visible += seen;
    for (std::uint32_t t = 0; t < n; ++t) {
      sums.squares += weights[t] * weights[t];
      sums.largest = upper_of(sums.largest, weights[t]);
      for (std::uint32_t r = 0; r < arguments_.statistics->range_count; ++r) {
        const IndexRange range = arguments_.statistics->ranges[r];
        if (positions_[t] >= range.begin && positions_[t] < range.end) sums.mass[r] += weights[t];
      }
    }
  }
  template <class Lane>
  void note() const noexcept {
    if (arguments_.report == nullptr) return;
    arguments_.report->key[Lane::kLane] = key_path<Kernels, typename Lane::Pair::Key>();
    if constexpr (Cache::kValueKind == ValueKind::kKeyView) {
      arguments_.report->value[Lane::kLane] = key_path<Kernels, typename Lane::Pair::Key>();
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
  State* states_;
  float scores_[kQueries * kSlots];
  std::int64_t positions_[kSlots];
};

template <class Kernels, class Pair>
constexpr bool lane_fused() {
  bool fused = key_path<Kernels, typename Pair::Key>() != Path::kDecode;
  if constexpr (Pair::kValueKind == ValueKind::kStored)
    fused = fused && Kernels::template kPath<typename Pair::Value> != Path::kDecode;
  return fused;
}
// Whether every lane of the cache has kernels of its own in this set.
template <class Kernels, class Cache>
constexpr bool all_fused() {
  return []<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
    return (lane_fused<Kernels, typename Cache::template Lane<kIndices>>() && ...);
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
// together, not during an append to the same layer. Stack: about 20 KiB + 100 * (kKeyDim +
// kValueDim) bytes; no heap. O(rows * group * tokens * dim). kInvalid: no such layer or head, no
// queries, group 0; kMismatch: mask_tokens or query heads disagree with the cache; kRange: too
// many mass ranges, or rows * group above 2^31; kUnsupported: a cache without values, or a decode
// path under `strict`.
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
      State states[attention::kQueries];
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
