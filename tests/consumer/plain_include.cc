#include <cstdio>

#include "caches.h"

int main() {
  consumer::Answer answer;
  consumer::RunOf<consumer::Mixed>::answer(answer);
  std::printf("%s, bytes %016llx, out %.5f\n", answer.tag,
              static_cast<unsigned long long>(answer.bytes), static_cast<double>(answer.out[0]));
  return answer.ok ? 0 : 1;
}
