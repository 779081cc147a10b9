// Baseline code that calls a unit only on a CPU that can run it, as a dispatching engine does.
#include <cstdio>
#include <cstring>

const char* baseline();
const char* avx2();
const char* avx512();

int main() {
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 =
      has_avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  const char* const tags[] = {baseline(), has_avx2 ? avx2() : "no AVX2 here",
                              has_avx512 ? avx512() : "no AVX-512 here"};
  std::printf("%s, %s, %s\n", tags[0], tags[1], tags[2]);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < i; ++j) {
      if (std::strcmp(tags[i], tags[j]) == 0) return 1;
    }
  }
}
