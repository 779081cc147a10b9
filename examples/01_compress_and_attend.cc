// Compress keys and values, attend over the compressed bytes: the whole library in a few lines.
#include <cstdio>
#include <vector>

#include "kvpleat/kvpleat.h"

int main() {
  constexpr int kTokens = 1000, kHeads = 2, kDim = 128;
  std::vector<float> k(kTokens * kHeads * kDim), v(k.size()), q(4 * kDim), out(4 * kDim);
  for (std::size_t i = 0; i < k.size(); ++i)
    k[i] = static_cast<float>(i * 7919 % 2003) * 0.001f - 1.0f;
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(i * 6037 % 1999) * 0.001f - 1.0f;
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = k[i * 3];

  using Cache = kvpleat::KvCache<kvpleat::presets::Kivi4<kDim>>;
  auto made = Cache::create({.layers = 1, .kv_heads = kHeads, .max_tokens = kTokens});
  if (!made) return std::puts(made.error().field), 1;
  Cache& cache = *made;
  if (!ok(cache.append(0, {k.data(), kTokens, kHeads, kDim}, {v.data(), kTokens, kHeads, kDim})))
    return 1;
  if (!ok(attend(cache, 0, 1, {.queries = q.data(), .group = 4, .scale = 0.088f}, out.data())))
    return 1;
  std::printf("out[0] = %.4f\n%s\n", static_cast<double>(out[0]),
              to_string(cache.memory()).c_str());
}
