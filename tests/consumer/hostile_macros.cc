#include "foreign.h"  // every system header that ours use

#include <cstdio>

// As windows.h, minwindef.h, rpcndr.h, complex.h, math.h, glog and older test frameworks have them,
// and then the other way round: words of no arguments as macros with one, and the reverse.
#if !defined(SWAPPED)
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#define CHECK(condition) hostile_check_macro(condition)
#define I hostile_i_macro
#define E hostile_e_macro
#define DOMAIN 1
#else
#define min hostile_min_macro
#define max hostile_max_macro
#define near(x) hostile_near_macro(x)
#define far(x) hostile_far_macro(x)
#define small(x) hostile_small_macro(x)
#define CHECK hostile_check_macro
#define I(x) hostile_i_macro(x)
#define E(x) hostile_e_macro(x)
#define DOMAIN(x) hostile_domain_macro(x)
#endif

#include "all_headers.h"
#include "caches.h"

int main() {
  consumer::Answer answer;
  consumer::RunOf<consumer::Mixed>::answer(answer);
  std::printf("%s, bytes %016llx\n", answer.tag, static_cast<unsigned long long>(answer.bytes));
  return answer.ok ? 0 : 1;
}
