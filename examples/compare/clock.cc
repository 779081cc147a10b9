#include "compare/clock.h"

#include <ctime>
#if defined(__linux__)
#include <sched.h>
#endif

namespace compare {

double thread_ns() {
  timespec now{};
#if defined(CLOCK_THREAD_CPUTIME_ID)
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
#else
  timespec_get(&now, TIME_UTC);
#endif
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void pin_thread() {
#if defined(__linux__)
  const int cpu = sched_getcpu();
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
#endif
}

}  // namespace compare
