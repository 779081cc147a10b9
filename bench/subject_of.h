// SubjectOf: the subject of a cache type, and the one line that registers it:
//   const bool registered = bench::add_cache<MyTraits<128>>("MyQuant4");
//   const bool registered = bench::add_codec<MyFormat<128>>("MyQuant4");   // for keys and values
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/subject.h"
#include "compare/calibration.h"
#include "kvpleat/attention/attend.h"
#include "kvpleat/attention/attend_batch.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"

namespace bench {

// Traits whose cache appends and reads with the kernels that are measured. Not the traits' own:
// bytes and values are the same.
template <class Traits>
struct WithBestKernels : Traits {
  using Kernels = BestKernels;
};

template <class Traits>
class SubjectOf final : public Subject {
 public:
  using CacheTraits = WithBestKernels<Traits>;
  using Cache = kvpleat::KvCache<CacheTraits>;
  using Lane = typename Cache::template Lane<0>;
  using Key = typename Lane::Key;
  using Value = typename Lane::Value;
  static constexpr std::uint32_t kDim = Traits::kKeyDim;
  static_assert(Cache::kLanes == 1 && Traits::kValueDim == kDim,
                "bench: subjects have one lane, and keys and values of one dim");

  static std::unique_ptr<Subject> make(const char* name, Law law, const Place& place,
                                       std::string& why) {
    auto made = std::unique_ptr<SubjectOf>(new SubjectOf(name, law, place));
    if (!made->create(why) || !made->fill(why)) return nullptr;
    made->measure_bytes();
    return made;
  }

  bool attend(std::uint32_t layer, std::uint32_t head, const Step& step, float* out,
              kvpleat::AttendReport* report) const override {
    Statistics statistics;
    const kvpleat::AttendArguments arguments = arguments_of(step, statistics, report);
    const TargetScope scope(step.simd);
    return with_kernels(step.set, [&]<class Kernels>() {
      return ok(kvpleat::attend<Kernels>(*cache_, layer, head, arguments, out));
    });
  }
  bool attend_part(std::uint32_t layer, std::uint32_t head, kvpleat::IndexRange range,
                   const Step& step) const override {
    Statistics statistics;
    const kvpleat::AttendArguments arguments = arguments_of(step, statistics, nullptr);
    kvpleat::AttentionState<kDim> states[kMostQueries];
    const TargetScope scope(step.simd);
    return with_kernels(step.set, [&]<class Kernels>() {
      return ok(kvpleat::attend_partial<Kernels>(*cache_, layer, head, range, arguments, states));
    });
  }
  bool attend_all(const Step& step) const override {
    Statistics statistics;
    const kvpleat::AttendArguments arguments = arguments_of(step, statistics, nullptr);
    float out[kMostQueries * kDim];
    const TargetScope scope(step.simd);
    return with_kernels(step.set, [&]<class Kernels>() {
      bool good = true;
      each_head([&](std::uint32_t layer, std::uint32_t head) {
        good = ok(kvpleat::attend<Kernels>(*cache_, layer, head, arguments, out)) && good;
      });
      return good;
    });
  }
  void score_all(const Step& step, bool decoded) const override {
    alignas(64) float scores[kMostQueries * kChunk];
    alignas(64) float coded[kMostQueries * Key::kCoded];
    const TargetScope scope(step.simd);
    with_kernels(step.set, [&]<class Kernels>() {
      alignas(64) std::uint8_t work[Kernels::template kWorkBytes<Key> + 64];
      each_head([&](std::uint32_t layer, std::uint32_t head) {
        cache_->visit(
            layer, head, {},
            [&](const auto& lane) {
              const auto& format = lane.key_format();
              using F = std::remove_cvref_t<decltype(format)>;
              if constexpr (std::is_same_v<F, Key>) {
                for (std::uint32_t j = 0; j < step.queries; ++j)
                  format.prepare_query(query(j), coded + j * F::kCoded);
                Kernels::prepare(format, kvpleat::abi::PrepareArguments{coded, step.queries,
                                                                        step.arithmetic, work});
                each_chunk(
                    lane.count,
                    [&](std::uint32_t first, std::uint32_t n, kvpleat::BlockRun* runs) {
                      kvpleat::Rows open;
                      return lane.key_pieces(lane.slot + first, n, runs, open);
                    },
                    [&](const kvpleat::BlockRun* runs, std::uint32_t count,
                        const kvpleat::BlockRun* ahead, std::uint32_t ahead_count) {
                      if (decoded) {
                        each_decoded(format, runs, count,
                                     [&](std::uint32_t at, kvpleat::Rows rows) {
                                       Kernels::score_rows(rows, F::kCoded, coded, step.queries,
                                                           scores + at, kChunk);
                                     });
                        return;
                      }
                      Kernels::score(format, kvpleat::abi::ScoreArguments{
                                                 runs, count, ahead, ahead_count, coded, work,
                                                 step.queries, step.arithmetic, scores, kChunk});
                    });
              }
            },
            [](std::uint32_t, std::uint32_t) {});
      });
    });
    sink_ = scores[0];
  }
  void accumulate_all(const Step& step, bool decoded) const override {
    const float* weights = some_weights();
    alignas(64) float sums[kMostQueries * Value::kCoded] = {};
    const TargetScope scope(step.simd);
    with_kernels(step.set, [&]<class Kernels>() {
      each_head([&](std::uint32_t layer, std::uint32_t head) {
        cache_->visit(
            layer, head, {},
            [&](const auto& lane) {
              const auto& format = lane.value_format();
              using F = std::remove_cvref_t<decltype(format)>;
              if constexpr (std::is_same_v<F, Value>) {
                each_chunk(
                    lane.count,
                    [&](std::uint32_t first, std::uint32_t n, kvpleat::BlockRun* runs) {
                      kvpleat::Rows open;
                      return lane.value_pieces(lane.slot + first, n, runs, open);
                    },
                    [&](const kvpleat::BlockRun* runs, std::uint32_t count,
                        const kvpleat::BlockRun* ahead, std::uint32_t ahead_count) {
                      if (decoded) {
                        each_decoded(format, runs, count,
                                     [&](std::uint32_t at, kvpleat::Rows rows) {
                                       Kernels::accumulate_rows(rows, F::kCoded, weights + at,
                                                                step.queries, kChunk, sums);
                                     });
                        return;
                      }
                      Kernels::accumulate(format, kvpleat::abi::AccumulateArguments{
                                                      runs, count, ahead, ahead_count, weights,
                                                      step.queries, kChunk, step.arithmetic, sums});
                    });
              }
            },
            [](std::uint32_t, std::uint32_t) {});
      });
    });
    sink_ = sums[0];
  }
  bool read_all() const override {
    std::vector<float> keys(std::size_t{kReadTokens} * kDim);
    std::vector<float> values(keys.size());
    bool good = true;
    each_head([&](std::uint32_t layer, std::uint32_t head) {
      for (std::uint32_t done = 0; done < place.tokens; done += kReadTokens) {
        const std::uint32_t n =
            place.tokens - done < kReadTokens ? place.tokens - done : kReadTokens;
        good = ok(cache_->read(layer, head, done, n, keys.data(), values.data())) && good;
      }
    });
    sink_ = keys[0];
    return good;
  }
  bool read(std::uint32_t layer, std::uint32_t head, float* keys, float* values) const override {
    return ok(cache_->read(layer, head, 0, place.tokens, keys, values));
  }
  bool attend_batch(const std::vector<const Subject*>& all, const Step& step) const override {
    std::vector<kvpleat::AttendItem<CacheTraits>> items;
    std::vector<float> out;
    Statistics statistics;
    std::size_t heads = 0;
    for (const Subject* one : all) heads += std::size_t{one->place.layers} * one->place.heads;
    out.resize(heads * step.queries * kDim);
    items.reserve(heads);
    for (const Subject* one : all) {
      const auto& own = static_cast<const SubjectOf&>(*one);
      own.each_head([&](std::uint32_t layer, std::uint32_t head) {
        kvpleat::AttendItem<CacheTraits> item;
        item.cache = own.cache_.get();
        item.layer = layer;
        item.head = head;
        item.arguments = arguments_of(step, statistics, nullptr);
        item.out = out.data() + items.size() * step.queries * kDim;
        items.push_back(item);
      });
    }
    const TargetScope scope(step.simd);
    return with_kernels(step.set, [&]<class Kernels>() {
      return ok(kvpleat::attend_batch<Kernels>(items.data(), items.size(), kvpleat::Sequential{}));
    });
  }
  bool refill() override {
    std::string why;
    return ok(cache_->truncate(0)) && fill(why);
  }

 private:
  static constexpr std::uint32_t kChunk = kvpleat::attention::kSlots;
  static constexpr std::uint32_t kReadTokens = 64;  // of one read: the floats stay in L1 and L2

  struct Statistics {
    kvpleat::IndexRange ranges[2] = {{0, 64}, {64, 0xffffffffu}};
    float mass[2 * kMostQueries];
    float largest[kMostQueries];
    float squares[kMostQueries];
    std::uint32_t visible[kMostQueries];
    kvpleat::AttentionStatistics views;
  };

  SubjectOf(const char* own, Law law, const Place& where) : Subject(where), law_(law) {
    name = own;
    dim = kDim;
  }

  static const float* query(std::uint32_t j) {
    return queries(kDim).data() + std::size_t{j} * kDim;
  }
  kvpleat::AttendArguments arguments_of(const Step& step, Statistics& statistics,
                                        kvpleat::AttendReport* report) const {
    kvpleat::AttendArguments arguments;
    arguments.queries = query(0);
    arguments.group = step.queries;
    arguments.scale = step.sharpness / std::sqrt(static_cast<float>(kDim));
    arguments.report = report;
    set_arithmetic(arguments, step.arithmetic);
    if (step.statistics) {
      statistics.views.ranges = statistics.ranges;
      statistics.views.range_count = 2;
      statistics.views.mass = statistics.mass;
      statistics.views.largest = statistics.largest;
      statistics.views.squares = statistics.squares;
      statistics.views.visible = statistics.visible;
      arguments.statistics = &statistics.views;
    }
    return arguments;
  }
  template <class Arguments>
  static void set_arithmetic(Arguments& arguments, kvpleat::abi::Arithmetic arithmetic) {
    if constexpr (requires { arguments.arithmetic = arithmetic; })
      arguments.arithmetic = arithmetic;
  }
  // [kMostQueries, kChunk], e^0 to e^-4: made once, exponentials would cost as much as the kernel.
  static const float* some_weights() {
    struct Weights {
      alignas(64) float values[kMostQueries * kChunk];
      Weights() {
        for (std::uint32_t i = 0; i < kMostQueries * kChunk; ++i)
          values[i] = std::exp(static_cast<float>(i * 2654435761u >> 22) * -0.004f);
      }
    };
    static const Weights made;
    return made.values;
  }
  template <class Visit>
  void each_head(const Visit& visit) const {
    for (std::uint32_t layer = 0; layer < place.layers; ++layer) {
      for (std::uint32_t head = 0; head < place.heads; ++head) visit(layer, head);
    }
  }

  // Calls visit(runs, count, first run of the next chunk) for chunks of a lane's slots, as attend
  // does. pieces(first, n, runs): the runs of slots [first, first + n).
  template <class Pieces, class Visit>
  static void each_chunk(std::uint32_t slots, const Pieces& pieces, const Visit& visit) {
    kvpleat::BlockRun buffers[2][kChunk / 64 + 2];
    const auto load = [&](std::uint32_t first, kvpleat::BlockRun* runs) {
      return first < slots ? pieces(first, slots - first < kChunk ? slots - first : kChunk, runs)
                           : 0u;
    };
    std::uint32_t count = load(0, buffers[0]);
    for (std::uint32_t done = 0, i = 0; done < slots; done += kChunk, i ^= 1) {
      const std::uint32_t next = load(done + kChunk, buffers[i ^ 1]);
      visit(buffers[i], count, next > 0 ? buffers[i ^ 1] : nullptr, next);
      count = next;
    }
  }

  // Calls visit(first, rows) for the rows of runs, decoded a unit of 16 at a time.
  template <class F, class Visit>
  static void each_decoded(const F& format, const kvpleat::BlockRun* runs, std::uint32_t count,
                           const Visit& visit) {
    float rows[16 * F::kCoded];
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < count; ++r) {
      for (std::uint32_t done = 0; done < runs[r].count;) {
        const std::uint32_t left = runs[r].count - done;
        const std::uint32_t n = left < 16 ? left : 16;
        format.decode(runs[r].bytes, runs[r].slot + done, kvpleat::MutableRows{rows, n, F::kCoded});
        visit(first, kvpleat::Rows{rows, n, F::kCoded});
        done += n;
        first += n;
      }
    }
  }

  bool create(std::string& why) {
    const compare::Recording& rows = recording(law_, kDim, place.heads, distinct_tokens(place));
    constexpr kvpleat::BandShares kShares = compare::kBandShares<Traits>;
    const std::vector<float> keys =
        repeated(compare::Profile<Key>::of({rows, rows.keys, rows.keys_pre, kShares}));
    const std::vector<float> values =
        repeated(compare::Profile<Value>::of({rows, rows.values, rows.values, kShares}));
    kvpleat::LaneProfile profile;
    profile.keys = keys.empty() ? nullptr : keys.data();
    profile.key_count = keys.size();
    profile.values = values.empty() ? nullptr : values.data();
    profile.value_count = values.size();
    kvpleat::CacheShape shape;
    shape.layers = place.layers;
    shape.kv_heads = place.heads;
    shape.max_tokens = place.tokens;
    shape.rope = rows.rope;
    auto made = Cache::create(shape, &profile, 1, arena.source());
    if (!made) {
      why = std::string(to_string(made.error().status)) + ": " + std::string(made.error().name());
      return false;
    }
    cache_ = std::make_unique<Cache>(std::move(*made));
    arena.forget_ranges();
    return true;
  }
  // The profile of one layer for all of them.
  [[nodiscard]] std::vector<float> repeated(const std::vector<float>& one) const {
    std::vector<float> all;
    all.reserve(one.size() * place.layers);
    for (std::uint32_t l = 0; l < place.layers; ++l) all.insert(all.end(), one.begin(), one.end());
    return all;
  }
  bool fill(std::string& why) {
    const compare::Recording& rows = recording(law_, kDim, place.heads, distinct_tokens(place));
    const std::uint32_t most = place.chunk == 0 ? rows.tokens : place.chunk;
    for (std::uint32_t layer = 0; layer < place.layers; ++layer) {
      for (std::uint32_t done = 0; done < place.tokens;) {
        const std::uint32_t first = done % rows.tokens;
        std::uint32_t n = most < rows.tokens - first ? most : rows.tokens - first;
        if (n > place.tokens - done) n = place.tokens - done;
        const std::size_t at = rows.row(0, first, 0);
        const kvpleat::Status status =
            cache_->append(layer, {rows.keys.data() + at, n, place.heads, kDim},
                           {rows.values.data() + at, n, place.heads, kDim});
        if (!ok(status)) {
          why = std::string("append: ") + to_string(status);
          return false;
        }
        done += n;
      }
    }
    return true;
  }
  // Bytes that a pass reads: blocks, spill, and each head's part of what heads share.
  void measure_bytes() {
    const kvpleat::MemoryReport memory = cache_->memory();
    bits = 8.0 *
           static_cast<double>(memory.codes + memory.side + memory.outliers + memory.shared +
                               memory.spill + memory.raw) /
           static_cast<double>(memory.values);
    double spill[2] = {0.0, 0.0};
    each_head([&](std::uint32_t layer, std::uint32_t head) {
      cache_->visit(
          layer, head, {},
          [&](const auto& lane) {
            for (std::uint32_t done = 0; done < lane.count; done += kChunk) {
              const std::uint32_t n = lane.count - done < kChunk ? lane.count - done : kChunk;
              kvpleat::BlockRun runs[kChunk / 64 + 2];
              kvpleat::Rows open;
              std::uint32_t count = lane.key_pieces(lane.slot + done, n, runs, open);
              for (std::uint32_t r = 0; r < count; ++r) spill[0] += runs[r].bytes.spill_bytes;
              count = lane.value_pieces(lane.slot + done, n, runs, open);
              for (std::uint32_t r = 0; r < count; ++r) spill[1] += runs[r].bytes.spill_bytes;
            }
          },
          [](std::uint32_t, std::uint32_t) {});
    });
    key_bytes = bytes_of<Key>(spill[0]);
    value_bytes = bytes_of<Value>(spill[1]);
  }
  template <class F>
  [[nodiscard]] double bytes_of(double spill) const {
    return (static_cast<double>(F::kBlockBytes) +
            static_cast<double>(F::kSharedBytes) / place.heads) /
               F::kBlockTokens +
           spill / place.head_tokens();
  }

  Law law_;
  std::unique_ptr<Cache> cache_;
  mutable float sink_ = 0.0f;
};

// law: of the rows it is measured on.
template <class Traits>
bool add_cache(const char* name, Law law = Law::kGaussian) {
  variants().push_back({name, Traits::kKeyDim, law, &SubjectOf<Traits>::make});
  return true;
}
template <class Format>
struct CodecTraits : kvpleat::presets::Single<Format, Format> {};
template <class Format>
bool add_codec(const char* name, Law law = Law::kGaussian) {
  return add_cache<CodecTraits<Format>>(name, law);
}

}  // namespace bench
