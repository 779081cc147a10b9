// Caches, data and memory for the tests of store/, cache/ and attention/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/generator.h"

namespace test {

inline std::vector<float> normal_around(float offset, std::uint32_t seed, std::size_t n,
                                        float factor = 1.0f) {
  std::vector<float> values = normal(seed, n, factor);
  for (float& v : values) v += offset;
  return values;
}
inline std::vector<std::uint8_t> random_tags(std::uint32_t seed, std::size_t n,
                                             std::uint32_t lanes) {
  Generator generator(seed);
  std::vector<std::uint8_t> tags(n);
  for (std::uint8_t& tag : tags) tag = static_cast<std::uint8_t>(generator.below(lanes));
  return tags;
}

// Counts bytes, fails on request, fills what it gives with 0xFF, and checks every release.
class CountingMemory {
 public:
  ~CountingMemory() {
    for (const auto& [memory, bytes] : live_) ::operator delete (memory, std::align_val_t{64});
  }
  kvpleat::MemorySource source() {
    kvpleat::MemorySource source;
    source.context = this;
    source.allocate = [](void* context, std::size_t bytes) noexcept {
      return static_cast<CountingMemory*>(context)->allocate(bytes);
    };
    source.release = [](void* context, void* memory, std::size_t bytes) noexcept {
      static_cast<CountingMemory*>(context)->release(memory, bytes);
    };
    return source;
  }
  // The n-th call from now on fails, once; 0: none.
  void fail_at(std::uint64_t n) { countdown_ = n; }
  // Whether the call asked for has failed.
  [[nodiscard]] bool has_failed() const { return failed_; }
  void fill(std::uint8_t byte) { fill_ = byte; }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t peak() const { return peak_; }
  void reset_peak() { peak_ = bytes_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  // No release of something unknown or of another size, nothing written behind an end.
  [[nodiscard]] bool clean() const { return clean_; }

 private:
  void* allocate(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    ++calls_;
    failed_ = countdown_ == 1;
    if (countdown_ > 0 && --countdown_ == 0) return nullptr;
    void* memory = ::operator new (bytes + kGuard, std::align_val_t{64}, std::nothrow);
    std::memset(memory, fill_, bytes);
    std::memset(static_cast<std::uint8_t*>(memory) + bytes, 0xa5, kGuard);
    clean_ = clean_ && bytes > 0;
    live_[memory] = bytes;
    bytes_ += bytes;
    peak_ = bytes_ > peak_ ? bytes_ : peak_;
    return memory;
  }
  void release(void* memory, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(memory);
    if (found == live_.end() || found->second != bytes) {
      clean_ = false;
      return;
    }
    for (std::size_t i = 0; i < kGuard; ++i)
      clean_ = clean_ && static_cast<std::uint8_t*>(memory)[bytes + i] == 0xa5;
    bytes_ -= bytes;
    live_.erase(found);
    ::operator delete (memory, std::align_val_t{64});
  }

  static constexpr std::size_t kGuard = 64;

  std::mutex mutex_;
  std::map<void*, std::size_t> live_;
  std::size_t bytes_ = 0;
  std::size_t peak_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t countdown_ = 0;
  bool failed_ = false;
  bool clean_ = true;
  std::uint8_t fill_ = 0xff;
};

// Every named format as a lane of one cache, so that one instantiation tests them all. F32 is the
// raw lane.
template <std::uint32_t kDim>
using CenteredValue =
    kvpleat::BlockFormat<kDim, kvpleat::Chain<kvpleat::Center, kvpleat::RandomHadamard<>>,
                         kvpleat::NoSplit, kvpleat::AffineQuant<4>, kvpleat::DenseCodec>;
template <class F>
using Same = kvpleat::KV<F, F>;

enum Lane : std::uint8_t {
  kF16,
  kBF16,
  kInt8,
  kInt6,
  kInt5,
  kInt4,
  kInt3,
  kInt2,
  kInt4G32,
  kInt4Channel,
  kInt2Channel,
  kInt4TopK,
  kOaken,
  kCentered,
  kRaw,
};
inline constexpr std::uint32_t kNamed = 14;  // lanes of Everything; kRaw is the raw lane

template <std::uint32_t kDim>
struct Everything : kvpleat::CacheTraits<kDim> {
  using Lanes = kvpleat::LaneList<
      Same<kvpleat::formats::F16<kDim>>, Same<kvpleat::formats::BF16<kDim>>,
      Same<kvpleat::formats::Int8<kDim>>, Same<kvpleat::formats::Int6<kDim>>,
      Same<kvpleat::formats::Int5<kDim>>, Same<kvpleat::formats::Int4<kDim>>,
      Same<kvpleat::formats::Int3<kDim>>, Same<kvpleat::formats::Int2<kDim>>,
      Same<kvpleat::formats::Int4G32<kDim>>, Same<kvpleat::formats::Int4Channel<kDim>>,
      Same<kvpleat::formats::Int2Channel<kDim>>, Same<kvpleat::formats::Int4TopK<kDim>>,
      Same<kvpleat::formats::Oaken<kDim>>,
      kvpleat::KV<kvpleat::formats::CenteredRotatedKey<kDim, 4>, CenteredValue<kDim>>>;
};

// What the lanes of a cache are calibrated with. Thresholds suit normal data of unit variance.
struct Profiles {
  std::vector<float> thresholds;
  std::vector<float> key_mean;
  std::vector<float> value_mean;
  std::vector<kvpleat::LaneProfile> lanes;

  Profiles(std::size_t views, std::uint32_t dim)
      : key_mean(normal_around(1.0f, 71, views * dim, 0.5f)),
        value_mean(normal_around(-2.0f, 72, views * dim, 0.5f)),
        lanes(kNamed) {
    for (std::size_t i = 0; i < views; ++i)
      thresholds.insert(thresholds.end(), {-1.75f, -0.0625f, 0.0625f, 1.75f});
    lanes[kOaken] = oaken();
    lanes[kCentered] = centered();
  }
  [[nodiscard]] kvpleat::LaneProfile oaken() const {
    return {thresholds.data(), thresholds.size(), thresholds.data(), thresholds.size()};
  }
  [[nodiscard]] kvpleat::LaneProfile centered() const {
    return {key_mean.data(), key_mean.size(), value_mean.data(), value_mean.size()};
  }
};

// Tokens of every head, packed.
struct Tokens {
  std::uint32_t heads = 0;
  std::uint32_t key_dim = 0;
  std::uint32_t value_dim = 0;
  std::vector<float> keys;
  std::vector<float> values;

  [[nodiscard]] kvpleat::TokenRows k(std::size_t first, std::size_t n) const {
    return {keys.data() + first * heads * key_dim, n, heads, key_dim};
  }
  [[nodiscard]] kvpleat::TokenRows v(std::size_t first, std::size_t n) const {
    return {values.data() + first * heads * value_dim, n, heads, value_dim};
  }
  [[nodiscard]] const float* key(std::size_t token, std::size_t head) const {
    return keys.data() + (token * heads + head) * key_dim;
  }
  [[nodiscard]] const float* value(std::size_t token, std::size_t head) const {
    return values.data() + (token * heads + head) * value_dim;
  }
};
// Offsets make a lost mean visible.
inline Tokens tokens_of(std::uint32_t seed, std::size_t n, std::uint32_t heads, std::uint32_t dim,
                        float key_offset = 0.0f, float value_offset = 0.0f) {
  Tokens t{heads, dim, dim, {}, {}};
  t.keys = normal_around(key_offset, seed, n * heads * dim);
  t.values = normal_around(value_offset, seed + 1000, n * heads * dim);
  return t;
}

// Appends tokens [first, end) in steps; tags: one per token from token 0 on, or null. Stops at the
// first failure.
template <class Cache>
kvpleat::Status feed(Cache& cache, std::uint32_t layer, const Tokens& data, std::size_t first,
                     std::size_t end, std::size_t step, const std::uint8_t* tags = nullptr) {
  for (std::size_t i = first; i < end; i += step) {
    const std::size_t n = step < end - i ? step : end - i;
    const kvpleat::LaneTags given{tags == nullptr ? nullptr : tags + i};
    const kvpleat::Status status = cache.append(layer, data.k(i, n), data.v(i, n), given);
    if (!kvpleat::ok(status)) return status;
  }
  return kvpleat::Status::kOk;
}

// Everything that is stored: tags, all bytes of all blocks (unused slots too), shared bytes, spill,
// open rows, tail.
class Dump {
 public:
  template <class Cache>
  explicit Dump(const Cache& cache) {
    for (std::uint32_t l = 0; l < cache.shape().layers; ++l) {
      for (std::uint32_t h = 0; h < cache.shape().kv_heads; ++h) add(cache, l, h);
    }
  }
  friend bool operator==(const Dump& a, const Dump& b) { return a.bytes_ == b.bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  void put(const void* data, std::size_t n) {
    const auto* first = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), first, first + n);
  }
  template <class F, class Pieces>
  void add_side(std::uint32_t slot, std::uint32_t count, Pieces pieces) {
    std::vector<kvpleat::BlockRun> runs(count / 64 + 2);
    kvpleat::Rows open;
    const std::uint32_t n = pieces(slot, count, runs.data(), open);
    for (std::uint32_t r = 0; r < n; ++r) {
      const kvpleat::BlockBytes& bytes = runs[r].bytes;
      put(&runs[r].slot, sizeof runs[r].slot);
      put(&runs[r].count, sizeof runs[r].count);
      put(bytes.block, F::kBlockBytes);
      if (F::kSharedBytes > 0) put(bytes.shared, F::kSharedBytes);
      put(&bytes.spill_bytes, sizeof bytes.spill_bytes);
      if (bytes.spill_bytes > 0) put(bytes.spill, bytes.spill_bytes);
    }
    for (std::size_t t = 0; t < open.count; ++t) put(open[t], F::kCoded * sizeof(float));
  }
  template <class Cache>
  void add(const Cache& cache, std::uint32_t layer, std::uint32_t head) {
    for (std::uint32_t i = 0; i < cache.tokens(layer); ++i) {
      const std::uint8_t tag = cache.lane(layer, head, i);
      put(&tag, 1);
    }
    cache.visit(
        layer, head, {},
        [&](const auto& lane) {
          using Pair = typename std::remove_cvref_t<decltype(lane)>::Pair;
          add_side<typename Pair::Key>(
              lane.slot, lane.count,
              [&](std::uint32_t slot, std::uint32_t n, kvpleat::BlockRun* runs,
                  kvpleat::Rows& open) { return lane.key_pieces(slot, n, runs, open); });
          if constexpr (Cache::kValueKind == kvpleat::ValueKind::kStored) {
            add_side<typename Pair::Value>(
                lane.slot, lane.count,
                [&](std::uint32_t slot, std::uint32_t n, kvpleat::BlockRun* runs,
                    kvpleat::Rows& open) { return lane.value_pieces(slot, n, runs, open); });
          }
        },
        [&](std::uint32_t first, std::uint32_t n) {
          std::vector<float> key(Cache::kKeyDim);
          std::vector<float> value(Cache::kValueDim);
          constexpr bool kStored = Cache::kValueKind == kvpleat::ValueKind::kStored;
          for (std::uint32_t i = first; i < first + n; ++i) {
            cache.read_raw(layer, head, i, key.data(), kStored ? value.data() : nullptr);
            put(key.data(), key.size() * sizeof(float));
            if (kStored) put(value.data(), value.size() * sizeof(float));
          }
        });
  }

  std::vector<std::uint8_t> bytes_;
};

}  // namespace test
