// Baseline code that calls a unit only on a CPU that can run it, as a dispatching engine does.
#include <cstdio>
#include <cstring>

#include "caches.h"

void baseline(consumer::Answer& answer);
void avx2(consumer::Answer& answer);
void avx512(consumer::Answer& answer);
void baseline(const kvpleat::abi::BlockRun& run);
void avx2(const kvpleat::abi::BlockRun& run);
void avx512(const kvpleat::abi::BlockRun& run);

int main() {
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 =
      has_avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  // One type, whatever flags the other units have: these calls link.
  const kvpleat::abi::BlockRun run{};
  baseline(run);
  if (has_avx2) avx2(run);
  if (has_avx512) avx512(run);

  consumer::Answer answers[3] = {};
  const int count = 1 + has_avx2 + has_avx512;
  baseline(answers[0]);
  if (has_avx2) avx2(answers[1]);
  if (has_avx512) avx512(answers[2]);
  for (int i = 0; i < count; ++i) {
    const consumer::Answer& mine = answers[i];
    std::printf("%s%s %016llx", i == 0 ? "" : ", ", mine.tag,
                static_cast<unsigned long long>(mine.bytes));
    if (!mine.ok || mine.bytes != answers[0].bytes) return 1;
    if (std::strcmp(mine.tag, "isa_base") != 0 && i == 0) return 1;
    if (i > 0 && std::strcmp(mine.tag, answers[i - 1].tag) == 0) return 1;
    for (std::uint32_t c = 0; c < consumer::kHeads * consumer::kDim; ++c) {
      // Weights and sums may be contracted: float roundings of 75 terms of magnitude up to 8.
      const float difference = mine.out[c] - answers[0].out[c];
      if (!(difference < 1e-4f && difference > -1e-4f)) return 1;
    }
  }
  std::printf("%s%s\n", has_avx2 ? "" : ", no AVX2 here", has_avx512 ? "" : ", no AVX-512 here");
}
