// A codec of your own beside fp16 and int4: bits, error, time to append and to attend, and which
// kernels ran. Kernels are chosen for the CPU at run time: the program links kvpleat::kernels.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "kvpleat/dispatch.h"
#include "kvpleat/kvpleat.h"

namespace {

constexpr std::uint32_t kDim = 128, kHeads = 8, kTokens = 4096, kGroup = 4;

// Like AffineQuant<4, 64>, but the range ends at 0.9 of the extremes: finer steps, a few clipped
// values.
struct ClippedQuant : kvpleat::AffineQuant<4, 64> {
  static constexpr auto kId = kvpleat::Text("quant=clipped;bits=4;group=64;keep=0.9");
  Scale scale(const Stat& stat) const {
    if (!(stat.lowest < stat.highest)) return AffineQuant::scale(stat);
    const float cut = kvpleat::product(0.05f, stat.highest - stat.lowest);
    return AffineQuant::scale({stat.lowest + cut, stat.highest - cut});
  }
};

}  // namespace

// One line says what its codes stand for, code * step + low, and vector kernels attend over them.
// Without it rows are decoded first, and the column "path" says so.
template <>
struct kvpleat::views::Code<ClippedQuant> : kvpleat::views::UniformCode {};

namespace {

template <class Format>
struct Measured : kvpleat::CacheTraits<kDim> {
  using Kernels = kvpleat::DispatchedKernels;
  using Lanes = kvpleat::LaneList<kvpleat::KV<Format, Format>>;
};

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
// Median of nine.
template <class Run>
double time_of(Run run) {
  std::vector<double> samples;
  for (int i = 0; i < 9; ++i) {
    const double start = seconds();
    run();
    samples.push_back(seconds() - start);
  }
  std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
  return samples[4];
}

struct Data {
  std::vector<float> keys, values, queries;
  std::vector<float> exact;  // what attention gives over the original rows
};

template <class Format>
bool measure(const char* name, Data& data) {
  auto made = kvpleat::KvCache<Measured<Format>>::create(
      {.layers = 1, .kv_heads = kHeads, .max_tokens = kTokens});
  if (!made) return false;
  const kvpleat::TokenRows k(data.keys.data(), kTokens, kHeads, kDim);
  const kvpleat::TokenRows v(data.values.data(), kTokens, kHeads, kDim);
  bool good = true;
  const double append = time_of([&] {
    good = good && kvpleat::ok(made->truncate(0));
    good = good && kvpleat::ok(made->append(0, k, v));
  });

  std::vector<float> out(data.queries.size());
  kvpleat::AttendReport report;
  const double attend = time_of([&] {
    for (std::uint32_t head = 0; head < kHeads; ++head) {
      kvpleat::AttendArguments a;
      a.queries = data.queries.data() + head * kGroup * kDim;
      a.group = kGroup;
      a.scale = 1.0f / std::sqrt(static_cast<float>(kDim));
      a.report = &report;
      good = good && kvpleat::ok(kvpleat::attend(*made, 0, head, a, &out[head * kGroup * kDim]));
    }
  });
  if (!good) return false;

  if (data.exact.empty()) data.exact = out;  // the first format keeps every bit
  double error = 0.0, size = 0.0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    error += std::pow(static_cast<double>(out[i]) - static_cast<double>(data.exact[i]), 2);
    size += std::pow(static_cast<double>(data.exact[i]), 2);
  }
  const double vectors = 2.0 * kTokens * kHeads;  // keys and values
  std::printf("%-12s %5.2f %9.4f %12.1f %12.2f   %s\n", name, made->memory().bits_per_element(),
              std::sqrt(error / size), vectors * kDim * sizeof(float) / append * 1e-9,
              attend / (kTokens * kHeads) * 1e9, to_string(report.key[0]));
  return true;
}

}  // namespace

int main() {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  Data data;
  for (auto* rows : {&data.keys, &data.values}) {
    rows->resize(std::size_t{kTokens} * kHeads * kDim);
    for (float& x : *rows) x = normal(generator);
  }
  data.queries.resize(kHeads * kGroup * kDim);
  for (float& x : data.queries) x = 2.0f * normal(generator);

  std::printf("%u tokens, %u KV heads, head_dim %u, %u queries per head; one thread; target %s\n\n",
              kTokens, kHeads, kDim, kGroup, kvpleat::DispatchedKernels::target());
  std::printf("%-12s %5s %9s %12s %12s   %s\n", "codec", "bits", "error", "append GB/s",
              "attend ns", "path");
  namespace f = kvpleat::formats;
  const bool good = measure<f::F32<kDim>>("F32", data) && measure<f::F16<kDim>>("F16", data) &&
                    measure<f::Int<kDim, 4, 64>>("int4 G64", data) &&
                    measure<f::Dense<kDim, ClippedQuant>>("clipped", data);
  std::puts(
      "\nerror: of the attention output, relative to F32. append: floats in. attend: per token and "
      "KV head.");
  return good ? 0 : 1;
}
