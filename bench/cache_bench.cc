// cache_bench: append and attend of whole caches, reference kernels. Each line shows bits per
// element, the attention error against double precision on the original values, and bytes per
// second. A cache that is wrong is not timed.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kvpleat/kvpleat.h"

namespace {

using kvpleat::CacheShape;
using kvpleat::TokenRows;

constexpr std::uint32_t kDim = 128;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kGroup = 4;
constexpr std::uint32_t kTokens = 1024;
constexpr float kScale = 0.08838834764f;  // 1 / sqrt(128)

// Sums of four uniform values: near Gaussian, unit variance, equal on every machine.
std::vector<float> gaussian_like(std::uint32_t seed, std::size_t n) {
  std::vector<float> values(n);
  const auto uniform = [&seed] {
    seed = 1664525u * seed + 1013904223u;
    return static_cast<float>(seed >> 8) * 0x1p-23f - 1.0f;
  };
  for (float& value : values) value = (uniform() + uniform() + uniform() + uniform()) * 0.8660254f;
  return values;
}

struct Data {
  std::vector<float> keys = gaussian_like(1, std::size_t{kTokens} * kHeads * kDim);
  std::vector<float> values = gaussian_like(2, std::size_t{kTokens} * kHeads * kDim);
  std::vector<float> queries = gaussian_like(3, std::size_t{kGroup} * kDim);
};
const Data& data() {
  static const Data all;
  return all;
}
TokenRows rows(const std::vector<float>& from, std::size_t first, std::size_t n) {
  return TokenRows(from.data() + first * kHeads * kDim, n, kHeads, kDim);
}
CacheShape shape() {
  CacheShape s;
  s.layers = 1;
  s.kv_heads = kHeads;
  s.max_tokens = kTokens;
  return s;
}

// Relative L2 error of the first query head's output.
template <class Cache>
double attention_error(const Cache& cache, const std::vector<float>& out) {
  const Data& d = data();
  std::vector<double> wanted(kDim);
  std::vector<double> weights(kTokens);
  kvpleat::attend_ref(
      cache.tokens(0), kDim, kDim, d.queries.data(), static_cast<double>(kScale),
      [&](std::uint32_t t) { return d.keys.data() + std::size_t{t} * kHeads * kDim; },
      [&](std::uint32_t t) { return d.values.data() + std::size_t{t} * kHeads * kDim; },
      wanted.data(), weights.data());
  double norm = 0.0;
  double difference = 0.0;
  for (std::uint32_t c = 0; c < kDim; ++c) {
    norm += wanted[c] * wanted[c];
    difference +=
        (wanted[c] - static_cast<double>(out[c])) * (wanted[c] - static_cast<double>(out[c]));
  }
  return std::sqrt(difference / norm);
}

template <class Traits>
void attend(benchmark::State& state) {
  using Cache = kvpleat::KvCache<Traits>;
  auto made = Cache::create(shape());
  if (!made ||
      !ok(made->append(0, rows(data().keys, 0, kTokens), rows(data().values, 0, kTokens)))) {
    state.SkipWithError("the cache could not be filled");
    return;
  }
  std::vector<float> out(std::size_t{kGroup} * kDim);
  kvpleat::AttendReport report;
  kvpleat::AttendArguments arguments;
  arguments.queries = data().queries.data();
  arguments.group = kGroup;
  arguments.scale = kScale;
  arguments.report = &report;
  if (!ok(kvpleat::attend(*made, 0, 0, arguments, out.data()))) {
    state.SkipWithError("attend failed");
    return;
  }
  const double error = attention_error(*made, out);
  if (!(error < 0.7)) {
    state.SkipWithError("the output is wrong");
    return;
  }
  arguments.report = nullptr;
  for (auto _ : state) {
    if (!ok(kvpleat::attend(*made, 0, 0, arguments, out.data())))
      state.SkipWithError("attend failed");
    benchmark::DoNotOptimize(out.data());
  }
  const double bits = made->memory().bits_per_element();
  state.counters["bits"] = bits;
  state.counters["error"] = error;
  state.counters["ns/token"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kTokens * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(static_cast<std::int64_t>(static_cast<double>(state.iterations()) *
                                                    kTokens * 2 * kDim * bits / 8));
  state.SetLabel(std::string(report.kernels) + "/" + report.target);
}

template <class Traits>
void append(benchmark::State& state) {
  using Cache = kvpleat::KvCache<Traits>;
  auto made = Cache::create(shape());
  if (!made) {
    state.SkipWithError(made.error().field);
    return;
  }
  for (auto _ : state) {
    if (!ok(made->truncate(0))) state.SkipWithError("truncate failed");
    for (std::uint32_t t = 0; t < kTokens; ++t) {
      if (!ok(made->append(0, rows(data().keys, t, 1), rows(data().values, t, 1))))
        state.SkipWithError("append failed");
    }
  }
  const double tokens = static_cast<double>(state.iterations()) * kTokens * kHeads;
  state.counters["bits"] = made->memory().bits_per_element();
  state.counters["ns/token"] =
      benchmark::Counter(tokens * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(static_cast<std::int64_t>(tokens * 2 * kDim * sizeof(float)));
  state.SetLabel(kvpleat::kIsaTag);
}

}  // namespace

BENCHMARK(attend<kvpleat::presets::F32<kDim>>)->Name("attend/F32");
BENCHMARK(attend<kvpleat::presets::F16<kDim>>)->Name("attend/F16");
BENCHMARK(attend<kvpleat::presets::Int8<kDim>>)->Name("attend/Int8");
BENCHMARK(attend<kvpleat::presets::Int4<kDim>>)->Name("attend/Int4");
BENCHMARK(attend<kvpleat::presets::Kivi4<kDim>>)->Name("attend/Kivi4");
BENCHMARK(attend<kvpleat::presets::CenteredRotated4<kDim>>)->Name("attend/CenteredRotated4");
BENCHMARK(append<kvpleat::presets::F32<kDim>>)->Name("append/F32");
BENCHMARK(append<kvpleat::presets::F16<kDim>>)->Name("append/F16");
BENCHMARK(append<kvpleat::presets::Int8<kDim>>)->Name("append/Int8");
BENCHMARK(append<kvpleat::presets::Int4<kDim>>)->Name("append/Int4");
BENCHMARK(append<kvpleat::presets::Kivi4<kDim>>)->Name("append/Kivi4");
BENCHMARK(append<kvpleat::presets::CenteredRotated4<kDim>>)->Name("append/CenteredRotated4");

BENCHMARK_MAIN();
