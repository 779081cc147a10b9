#include "bench/read_kernel.h"

#include <cstring>

// The widest loads of the machine whatever this unit is compiled for.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define BENCH_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BENCH_CLONES
#endif

namespace bench {
namespace {

using Line = std::uint64_t __attribute__((vector_size(64)));

}  // namespace

// Four accumulators: one chain of ORs would still keep up with memory, but not with L1.
BENCH_CLONES std::uint64_t read_plain(const std::uint8_t* bytes, std::size_t n) {
  Line sums[4] = {};
  for (std::size_t i = 0; i + 256 <= n; i += 256) {
    for (std::size_t j = 0; j < 4; ++j) {
      Line line;
      std::memcpy(&line, bytes + i + j * 64, sizeof line);
      sums[j] |= line;
    }
  }
  const Line all = (sums[0] | sums[1]) | (sums[2] | sums[3]);
  std::uint64_t digest = 0;
  for (std::size_t j = 0; j < 8; ++j) digest ^= all[j];
  return digest;
}

BENCH_CLONES std::uint64_t read_prefetched(const std::uint8_t* bytes, std::size_t n) {
  Line sums[4] = {};
  for (std::size_t i = 0; i + 256 <= n; i += 256) {
    for (std::size_t j = 0; j < 4; ++j) {
      Line line;
      std::memcpy(&line, bytes + i + j * 64, sizeof line);
      sums[j] |= line;
      __builtin_prefetch(bytes + i + j * 64 + 2048);
    }
  }
  const Line all = (sums[0] | sums[1]) | (sums[2] | sums[3]);
  std::uint64_t digest = 0;
  for (std::size_t j = 0; j < 8; ++j) digest ^= all[j];
  return digest;
}

}  // namespace bench
