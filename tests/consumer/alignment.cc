// Every buffer that the caller owns lies 2 (16-bit), 4 or 20 bytes behind a multiple of 64.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "caches.h"

using Cache = kvpleat::KvCache<consumer::Mixed>;
using kvpleat::BFloat16;
using kvpleat::Half;
using kvpleat::TokenRows;

constexpr std::uint32_t kRow = consumer::kHeads * consumer::kDim;

// What users hold by value: nothing over-aligned.
static_assert(alignof(Cache) <= alignof(std::max_align_t));
static_assert(alignof(kvpleat::Result<Cache>) <= alignof(std::max_align_t));
static_assert(alignof(kvpleat::CacheShape) <= alignof(std::max_align_t));
static_assert(alignof(TokenRows) <= alignof(std::max_align_t));
static_assert(alignof(kvpleat::AttendArguments) <= alignof(std::max_align_t));
static_assert(alignof(kvpleat::AttentionState<64>) <= alignof(std::max_align_t));

// n elements of T at `offset` bytes behind a multiple of 64.
template <class T>
class Shifted {
 public:
  Shifted(std::size_t n, std::size_t offset) : memory_(n * sizeof(T) + 128) {
    void* first = memory_.data();
    std::size_t room = memory_.size();
    std::align(64, n * sizeof(T), first, room);
    data_ = static_cast<unsigned char*>(first) + offset;
  }
  void* data() const { return data_; }
  void put(std::size_t i, T value) { std::memcpy(data_ + i * sizeof(T), &value, sizeof value); }
  T get(std::size_t i) const {
    T value;
    std::memcpy(&value, data_ + i * sizeof(T), sizeof value);
    return value;
  }

 private:
  std::vector<unsigned char> memory_;
  unsigned char* data_ = nullptr;
};

Cache make() {
  kvpleat::CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = consumer::kHeads;
  shape.max_tokens = consumer::kTokens;
  shape.sinks = 2;
  shape.residual = 5;
  shape.rope = kvpleat::Rope::standard(kvpleat::RopeLayout::kHalves, consumer::kDim, 10000.0);
  // A profile 4 bytes off.
  Shifted<float> thresholds(8, 4);
  const float values[4] = {-1.5f, -0.25f, 0.25f, 1.5f};
  for (std::size_t i = 0; i < 8; ++i) thresholds.put(i, values[i % 4]);
  const auto* profile = static_cast<const float*>(thresholds.data());
  kvpleat::LaneProfile profiles[3];
  profiles[2] = {profile, 8, profile, 8};
  auto made = Cache::create(shape, profiles, 3);
  return std::move(*made);
}

template <class T>
T element(std::uint32_t i) {
  const float x = consumer::Run<Cache>::element(i);
  if constexpr (sizeof(T) == 4) {
    return x;
  } else {
    return kvpleat::nearest<T>(x);  // exact: multiples of 1/64 below 8
  }
}

template <class T>
bool fill(Cache& cache, kvpleat::ElementType type, std::size_t offset) {
  Shifted<T> keys(kRow, offset);
  Shifted<T> values(kRow, offset);
  for (std::uint32_t t = 0; t < consumer::kTokens; ++t) {
    for (std::uint32_t i = 0; i < kRow; ++i) {
      keys.put(i, element<T>(t * kRow + i));
      values.put(i, element<T>(777 * t + i));
    }
    const auto lane = static_cast<std::uint8_t>(t % 3);
    const kvpleat::Status status = cache.append(
        0, TokenRows::tagged(keys.data(), type, 1, consumer::kHeads, consumer::kDim),
        TokenRows::tagged(values.data(), type, 1, consumer::kHeads, consumer::kDim), {&lane});
    if (!ok(status)) return false;
  }
  return true;
}

std::uint64_t digest(const Cache& cache) {
  std::uint64_t hash = 0;
  for (std::uint32_t h = 0; h < consumer::kHeads; ++h) consumer::Run<Cache>::digest(cache, h, hash);
  return hash;
}

// Reads and attends into buffers at natural alignment only.
bool use(const Cache& cache, std::size_t offset) {
  constexpr std::uint32_t kDim = consumer::kDim;
  Shifted<float> keys(consumer::kTokens * kDim, offset);
  Shifted<float> values(consumer::kTokens * kDim, offset);
  Shifted<float> queries(kDim, offset);
  Shifted<float> out(kDim, offset);
  Shifted<float> again(kDim, 0);
  for (std::uint32_t i = 0; i < kDim; ++i) queries.put(i, element<float>(9 * i));
  kvpleat::AttendArguments arguments;
  arguments.queries = static_cast<const float*>(queries.data());
  if (!ok(cache.read(0, 1, 0, consumer::kTokens, static_cast<float*>(keys.data()),
                     static_cast<float*>(values.data()))) ||
      !ok(attend(cache, 0, 1, arguments, static_cast<float*>(out.data()))) ||
      !ok(attend(cache, 0, 1, arguments, static_cast<float*>(again.data())))) {
    return false;
  }
  for (std::uint32_t i = 0; i < kDim; ++i) {
    if (out.get(i) != again.get(i)) return false;
  }
  return true;
}

int main() {
  // Caches inside a vector and moved within it; on the stack, behind a member of one byte.
  std::vector<Cache> caches;
  for (int i = 0; i < 6; ++i) caches.push_back(make());
  struct Beside {
    char first;
    Cache cache;
  } beside{'x', make()};

  bool good = fill<float>(beside.cache, kvpleat::ElementType::kFloat, 0) &&
              fill<float>(caches[0], kvpleat::ElementType::kFloat, 4) &&
              fill<float>(caches[1], kvpleat::ElementType::kFloat, 20) &&
              fill<Half>(caches[2], kvpleat::ElementType::kHalf, 2) &&
              fill<Half>(caches[3], kvpleat::ElementType::kHalf, 20) &&
              fill<BFloat16>(caches[4], kvpleat::ElementType::kBFloat16, 2) &&
              // Not even natural alignment is asked of elements.
              fill<float>(caches[5], kvpleat::ElementType::kFloat, 1);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    if (i == 4) continue;  // bfloat16 rounds the larger elements
    good = good && digest(caches[i]) == digest(beside.cache);
  }
  for (const Cache& cache : caches) good = good && use(cache, 4) && use(cache, 20);
  std::printf("%s: %s\n", kvpleat::kIsaTag, good ? "equal bytes" : "failed");
  return good ? 0 : 1;
}
