// attend_bench: whole attention of every variant, one cache or a batch of them.
//   attend_bench --benchmark_filter='attend/.*/d128/q1/.*/cold'
//   attend_bench --benchmark_filter='batch/'
#include "bench/google.h"

int main(int argc, char** argv) {
  return bench::run_attend_bench(argc, argv);
}
