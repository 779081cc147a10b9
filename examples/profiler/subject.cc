#include "profiler/subject.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compare/clock.h"
#include "kvpleat/attention/attend.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "kvpleat/simd/reference.h"

namespace profiler {
namespace {

using kvpleat::Role;
using kvpleat::Status;

// Blocks of one head and side of an Oaken cache, with the format that reads them.
template <class F>
struct Stored {
  const F* format = nullptr;
  std::vector<kvpleat::BlockRun> runs;
};

template <std::uint32_t kDim>
class OakenSubject final : public Subject {
 public:
  using Cache = kvpleat::KvCache<kvpleat::presets::Oaken<kDim>>;
  using Key = typename Cache::template Lane<0>::Key;
  using Value = typename Cache::template Lane<0>::Value;

  OakenSubject(const Recording& recording, Cache&& cache)
      : recording_(recording), cache_(std::move(cache)) {}

  static std::unique_ptr<Subject> create(const Recording& recording, const Profile& profile,
                                         const Setup& setup, std::string& error) {
    kvpleat::CacheShape shape;
    shape.layers = recording.layers;
    shape.kv_heads = recording.kv_heads;
    shape.query_heads = recording.query_heads;
    shape.max_tokens = setup.max_tokens == 0 ? recording.tokens : setup.max_tokens;
    shape.spill_bytes = setup.spill_bytes;
    std::vector<float> keys(static_cast<std::size_t>(shape.layers) * shape.kv_heads * 4);
    std::vector<float> values(keys.size());
    spread_thresholds(profile.bands.data(), shape.layers, shape.kv_heads, Role::kKey, keys.data());
    spread_thresholds(profile.bands.data(), shape.layers, shape.kv_heads, Role::kValue,
                      values.data());
    const kvpleat::LaneProfile lane{keys.data(), keys.size(), values.data(), values.size()};
    auto made = Cache::create(shape, &lane, 1);
    if (!made) {
      error =
          "the cache: " + std::string(made.error().name()) + ": " + to_string(made.error().status);
      return nullptr;
    }
    return std::make_unique<OakenSubject>(recording, std::move(*made));
  }

  Status append(std::uint32_t layer, std::uint32_t first, std::uint32_t n) override {
    while (n > 0) {
      const std::uint32_t at = first % recording_.tokens;
      const std::uint32_t take = std::min(n, recording_.tokens - at);
      const Status status = cache_.append(layer, rows_of(recording_, layer, Role::kKey, at, take),
                                          rows_of(recording_, layer, Role::kValue, at, take));
      if (!ok(status)) return status;
      first += take;
      n -= take;
    }
    return Status::kOk;
  }
  std::uint32_t tokens(std::uint32_t layer) const override { return cache_.tokens(layer); }
  const kvpleat::CacheShape& shape() const override { return cache_.shape(); }
  kvpleat::MemoryReport memory() const override { return cache_.memory(); }
  void observe(kvpleat::DriftMonitor& monitor) const override { monitor.observe(cache_); }
  kvpleat::AlignmentReport check_alignment(kvpleat::Findings& findings) const override {
    return check_memory_alignment(cache_, findings);
  }
  Status attend(std::uint32_t layer, std::uint32_t head, const float* queries, std::uint32_t rows,
                const kvpleat::IndexRange* limits, float* out) const override {
    kvpleat::AttendArguments arguments;
    arguments.queries = queries;
    arguments.rows = rows;
    arguments.group = recording_.group();
    arguments.scale = recording_.scale;
    arguments.limits = limits;
    return kvpleat::attend(cache_, layer, head, arguments, out);
  }
  Status read(std::uint32_t layer, std::uint32_t head, std::uint32_t first, std::uint32_t n,
              float* keys, float* values) const override {
    return cache_.read(layer, head, first, n, keys, values);
  }
  Status inspect(std::uint32_t layer, std::uint32_t head, const kvpleat::HeadQueries& asked,
                 kvpleat::HeadHealth& health) const override {
    const std::uint32_t n = cache_.tokens(layer);
    std::vector<float> floats(static_cast<std::size_t>(n) * kDim);
    std::vector<double> doubles(n);
    const kvpleat::HeadScratch scratch{floats.data(), floats.size(), doubles.data(),
                                       doubles.size()};
    return inspect_head(cache_, layer, head, rows_of(recording_, layer, Role::kKey, 0, n),
                        rows_of(recording_, layer, Role::kValue, 0, n), asked, scratch, health);
  }

  Tables tables() const override {
    Tables tables;
    tables.page_bytes = Cache::Traits::Store::kSpillPageBytes;
    each_head(
        [&](std::uint32_t, std::uint32_t, const Stored<Key>& keys, const Stored<Value>& values) {
          count(keys, tables);
          count(values, tables);
        });
    return tables;
  }
  Times times() const override {
    constexpr int kSamples = 9;
    std::vector<double> fetch;
    std::vector<double> decode;
    std::vector<double> consume;
    std::vector<double> whole;
    for (int i = 0; i < kSamples; ++i) {
      double parts[3] = {};
      each_head([&](std::uint32_t layer, std::uint32_t head, const Stored<Key>& keys,
                    const Stored<Value>& values) { step(layer, head, keys, values, parts); });
      fetch.push_back(parts[0]);
      decode.push_back(parts[1]);
      consume.push_back(parts[2]);
      const double start = compare::thread_ns();
      std::vector<float> out(static_cast<std::size_t>(recording_.group()) * kDim);
      for (std::uint32_t l = 0; l < recording_.layers; ++l) {
        for (std::uint32_t h = 0; h < recording_.kv_heads; ++h) {
          static_cast<void>(attend(l, h, last_query(l, h), 1, nullptr, out.data()));
        }
      }
      whole.push_back(compare::thread_ns() - start);
    }
    const double per = static_cast<double>(recording_.layers) * recording_.kv_heads *
                       std::max(1u, cache_.tokens(0));
    return {compare::median(fetch) / per, compare::median(decode) / per,
            compare::median(consume) / per, compare::median(whole) / per};
  }

 private:
  [[nodiscard]] const float* last_query(std::uint32_t layer, std::uint32_t head) const {
    return recording_.query.data() + recording_.query_row(layer, head, recording_.queries - 1, 0);
  }
  template <class Visit>
  void each_head(Visit visit) const {
    for (std::uint32_t l = 0; l < recording_.layers; ++l) {
      for (std::uint32_t h = 0; h < recording_.kv_heads; ++h) {
        Stored<Key> keys;
        Stored<Value> values;
        const auto collect = [&](const auto& lane) {
          if constexpr (std::remove_cvref_t<decltype(lane)>::kLane == 0) {
            kvpleat::Rows open;
            keys.format = &lane.key_format();
            keys.runs.resize(lane.count / 64 + 2);
            keys.runs.resize(lane.key_pieces(lane.slot, lane.count, keys.runs.data(), open));
            values.format = &lane.value_format();
            values.runs.resize(lane.count / 64 + 2);
            values.runs.resize(lane.value_pieces(lane.slot, lane.count, values.runs.data(), open));
          }
        };
        cache_.visit(l, h, {}, collect, [](std::uint32_t, std::uint32_t) {});
        visit(l, h, keys, values);
      }
    }
  }
  // Rows and entries of both tables. A block of the published order ends in the counts of its
  // chunks, token by token.
  template <class F>
  static void count(const Stored<F>& stored, Tables& tables) {
    constexpr std::uint32_t kChunks = (kDim + 63) / 64;
    static_assert(F::kBlockBytes == F::kCodeBytes + F::kBlockTokens * kChunks,
                  "the published order of the fused codec");
    for (const kvpleat::BlockRun& run : stored.runs) {
      for (std::uint32_t i = run.slot * kChunks; i < (run.slot + run.count) * kChunks; ++i) {
        const std::uint32_t n = run.bytes.block[F::kCodeBytes + i];
        ++tables.rows;
        tables.entries += n;
        tables.fewest = std::min(tables.fewest, n);
        tables.most = std::max(tables.most, n);
      }
      tables.dense_bytes += static_cast<std::uint64_t>(run.count) * F::kCodeBytes / F::kBlockTokens;
    }
  }

  template <class F>
  static std::uint64_t fetch(const Stored<F>& stored) {
    std::uint64_t sum = 0;
    const auto add = [&](const std::uint8_t* bytes, std::size_t n) {
      for (std::size_t i = 0; i + 8 <= n; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + i, 8);
        sum += word;
      }
    };
    for (const kvpleat::BlockRun& run : stored.runs) {
      add(run.bytes.block, F::kBlockBytes);
      add(run.bytes.shared, F::kSharedBytes);
      add(run.bytes.spill, run.bytes.spill_bytes);
    }
    return sum;
  }
  template <class F>
  static void decode(const Stored<F>& stored, std::vector<float>& rows) {
    std::size_t at = 0;
    for (const kvpleat::BlockRun& run : stored.runs) {
      stored.format->decode(run.bytes, run.slot,
                            kvpleat::MutableRows{rows.data() + at, run.count, kDim});
      at += static_cast<std::size_t>(run.count) * kDim;
    }
  }
  // One decode step of one head in three separate stages; adds their times to parts.
  void step(std::uint32_t layer, std::uint32_t head, const Stored<Key>& keys,
            const Stored<Value>& values, double* parts) const {
    const std::uint32_t n = cache_.tokens(layer);
    const std::uint32_t group = recording_.group();
    std::vector<float> key_rows(static_cast<std::size_t>(n) * kDim);
    std::vector<float> value_rows(key_rows.size());
    std::vector<float> scores(static_cast<std::size_t>(group) * n);
    std::vector<float> out(static_cast<std::size_t>(group) * kDim);
    const double start = compare::thread_ns();
    volatile std::uint64_t kept = fetch(keys) + fetch(values);
    static_cast<void>(kept);
    const double fetched = compare::thread_ns();
    decode(keys, key_rows);
    decode(values, value_rows);
    const double decoded = compare::thread_ns();
    kvpleat::ReferenceKernels::score_rows({key_rows.data(), n, kDim}, kDim, last_query(layer, head),
                                          group, scores.data(), n);
    for (std::uint32_t j = 0; j < group; ++j) {
      float* row = scores.data() + static_cast<std::size_t>(j) * n;
      float largest = -kvpleat::kInfinity;
      for (std::uint32_t t = 0; t < n; ++t) largest = std::max(largest, row[t] *= recording_.scale);
      for (std::uint32_t t = 0; t < n; ++t) row[t] = kvpleat::softmax_weight(row[t], largest);
    }
    kvpleat::ReferenceKernels::accumulate_rows({value_rows.data(), n, kDim}, kDim, scores.data(),
                                               group, n, out.data());
    const double consumed = compare::thread_ns();
    parts[0] += fetched - start;
    parts[1] += decoded - fetched;
    parts[2] += consumed - decoded;
  }

  const Recording& recording_;
  Cache cache_;
};

}  // namespace

std::unique_ptr<Subject> Subject::create(const Recording& recording, const Profile& profile,
                                         const Setup& setup, std::string& error) {
  switch (recording.dim) {
    case 64:
      return OakenSubject<64>::create(recording, profile, setup, error);
    case 128:
      return OakenSubject<128>::create(recording, profile, setup, error);
    default:
      error = "head_dim " + std::to_string(recording.dim) + ": this program has 64 and 128";
      return nullptr;
  }
}

}  // namespace profiler
