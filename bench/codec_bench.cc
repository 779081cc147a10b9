// codec_bench: K.q, p.V, append and read of every variant, alone.
//   codec_bench --benchmark_filter='score/.*/d128/q4/n32768/hot'
#include "bench/google.h"

int main(int argc, char** argv) {
  return bench::run_codec_bench(argc, argv);
}
