#include "all_backward.h"
//
#include "caches.h"

void answer_in_b(consumer::Answer& answer);
kvpleat::Status append_in_b(kvpleat::KvCache<consumer::Mixed>& cache);

void answer_in_b(consumer::Answer& answer) {
  consumer::RunOf<consumer::Mixed>::answer(answer);
}
kvpleat::Status append_in_b(kvpleat::KvCache<consumer::Mixed>& cache) {
  return consumer::RunOf<consumer::Mixed>::fill(cache);
}
