// attend_batch, attend_layer: many heads, rows and caches in one call, over the caller's threads.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kvpleat/attention/attend.h"
#include "kvpleat/attention/logit_rule.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"

namespace kvpleat::inline KVPLEAT_ISA {

// run(n, body): calls body(i) once for every i < n, in any order, from any threads, and returns
// when all have returned. body never throws.
template <class E>
concept Executor = requires(E& executor, void (*body)(std::size_t)) {
  executor.run(std::size_t{}, body);
};

// In the caller's thread.
struct Sequential {
  template <class Body>
  void run(std::size_t n, const Body& body) const noexcept {
    for (std::size_t i = 0; i < n; ++i) body(i);
  }
};

// One attend call of a batch. Everything is the caller's.
template <class Traits>
struct AttendItem {
  const KvCache<Traits>* cache = nullptr;
  std::uint32_t layer = 0;
  std::uint32_t head = 0;
  AttendArguments arguments;
  float* out = nullptr;       // [rows, group, kValueDim]
  float* log_sums = nullptr;  // [rows, group] or null
};

// attend on items[0, n): ragged in rows, groups and tokens, one rule for all. Equal, to the bit, to
// n calls in any order. All items are checked before any is computed: on an error, the one of the
// first item at fault, no output is touched. kInvalid: an item without a cache; otherwise as
// attend.
template <class Kernels = void, class Traits, Executor Run, LogitRule Rule = PlainLogit>
Status attend_batch(const AttendItem<Traits>* items, std::size_t n, Run&& executor,
                    const Rule& rule = {}) noexcept {
  using Set = std::conditional_t<std::is_void_v<Kernels>, typename Traits::Kernels, Kernels>;
  if (n > 0 && items == nullptr) return Status::kInvalid;
  for (std::size_t i = 0; i < n; ++i) {
    const AttendItem<Traits>& item = items[i];
    if (item.cache == nullptr || (item.out == nullptr && item.arguments.rows > 0))
      return Status::kInvalid;
    const Status status = attention::check<Set>(*item.cache, item.layer, item.head, item.arguments);
    if (!ok(status)) return status;
  }
  executor.run(n, [&](std::size_t i) {
    const AttendItem<Traits>& item = items[i];
    static_cast<void>(attend<Kernels>(*item.cache, item.layer, item.head, item.arguments, item.out,
                                      item.log_sums, rule));  // checked: cannot fail
  });
  return Status::kOk;
}

namespace attention {

// A rule of all query heads, seen by the group that starts at `first`.
template <LogitRule Rule>
struct GroupRule {
  static constexpr bool kSink = Rule::kSink;
  static constexpr bool kPlain = plain_rule<Rule>();
  const Rule& rule;
  std::uint32_t first;
  [[nodiscard]] float logit(float score) const noexcept { return rule.logit(score); }
  [[nodiscard]] float sink(std::uint32_t j) const noexcept { return rule.sink(first + j); }
};

}  // namespace attention

// Attention of every head of a layer. Query head i belongs to KV head i / (query_heads / kv_heads).
//   arguments: as attend, but `group` is not read, and Q is rows * query_heads everywhere:
//              queries [rows, query_heads, kKeyDim], mask [rows, query_heads, mask_tokens],
//              statistics [rows, query_heads, ...]; report: of the first KV head.
//   out:       [rows, query_heads, kValueDim]
//   log_sums:  [rows, query_heads] or null
// Tasks for the executor: one per KV head and as many rows as are folded in one pass (a single row
// if there is a mask or statistics). The rule's sink takes the query head. Stack of a task: as
// attend and 64 * (kKeyDim + kValueDim) bytes; no heap. Errors as attend, checked before anything
// is computed; kMismatch also if query_heads is no multiple of kv_heads.
template <class Kernels = void, class Traits, Executor Run, LogitRule Rule = PlainLogit>
Status attend_layer(const KvCache<Traits>& cache, std::uint32_t layer, std::uint32_t query_heads,
                    const AttendArguments& arguments, float* out, float* log_sums, Run&& executor,
                    const Rule& rule = {}) noexcept {
  using Cache = KvCache<Traits>;
  using Set = std::conditional_t<std::is_void_v<Kernels>, typename Traits::Kernels, Kernels>;
  const std::uint32_t kv_heads = cache.shape().kv_heads;
  if (query_heads == 0) return Status::kInvalid;
  if (query_heads % kv_heads != 0) return Status::kMismatch;
  AttendArguments all = arguments;
  all.group = query_heads / kv_heads;
  if (const Status status = attention::check<Set>(cache, layer, 0, all); !ok(status)) return status;
  if (out == nullptr && all.rows > 0) return Status::kInvalid;
  if constexpr (Cache::kValueKind != ValueKind::kNone) {
    constexpr std::uint32_t kKeyDim = Cache::kKeyDim;
    constexpr std::uint32_t kValueDim = Cache::kValueDim;
    const bool packed = all.mask != nullptr || all.statistics != nullptr;
    const std::uint32_t together =
        packed ? 1u : upper_of(1u, attention::kQueries / all.group);  // rows of a task
    const std::uint32_t parts = ceil_div(all.rows, together);
    executor.run(static_cast<std::size_t>(parts) * kv_heads, [&](std::size_t task) {
      const auto head = static_cast<std::uint32_t>(task / parts);
      const std::uint32_t first = static_cast<std::uint32_t>(task % parts) * together;
      const attention::GroupRule<Rule> own{rule, head * all.group};
      const auto at = [&](std::uint32_t row) {  // of the first query of a row
        return static_cast<std::size_t>(row) * query_heads + own.first;
      };
      AttendArguments part = all;
      part.rows = lower_of(together, all.rows - first);
      if (all.limits != nullptr) part.limits = all.limits + first;
      if (all.mask != nullptr) part.mask = all.mask + at(first) * all.mask_tokens;
      if (task != 0) part.report = nullptr;
      AttentionStatistics statistics;
      if (all.statistics != nullptr) {
        statistics = *all.statistics;
        const auto move = [&](auto*& pointer, std::size_t by) {
          if (pointer != nullptr) pointer += by;
        };
        move(statistics.mass, at(first) * statistics.range_count);
        move(statistics.largest, at(first));
        move(statistics.squares, at(first));
        move(statistics.visible, at(first));
        part.statistics = &statistics;
      }
      if (part.rows == 1) {  // the queries of a group lie side by side
        part.queries = all.queries + at(first) * kKeyDim;
        static_cast<void>(attend<Kernels>(cache, layer, head, part, out + at(first) * kValueDim,
                                          log_sums == nullptr ? nullptr : log_sums + at(first),
                                          own));  // checked: cannot fail
        return;
      }
      float queries[attention::kQueries * kKeyDim];
      float outputs[attention::kQueries * kValueDim];
      float sums[attention::kQueries];
      for (std::uint32_t r = 0; r < part.rows; ++r) {
        std::memcpy(queries + r * all.group * kKeyDim, all.queries + at(first + r) * kKeyDim,
                    all.group * kKeyDim * sizeof(float));
      }
      part.queries = queries;
      static_cast<void>(attend<Kernels>(cache, layer, head, part, outputs, sums, own));
      for (std::uint32_t r = 0; r < part.rows; ++r) {
        std::memcpy(out + at(first + r) * kValueDim, outputs + r * all.group * kValueDim,
                    all.group * kValueDim * sizeof(float));
        if (log_sums == nullptr) continue;
        std::memcpy(log_sums + at(first + r), sums + r * all.group, all.group * sizeof(float));
      }
    });
  }
  return Status::kOk;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
