// Machine: what the benches run on, clocks, pinning.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

struct Machine {
  std::string cpu;    // as the system shows it
  std::string flags;  // those of its flags that kernels are chosen by
  std::size_t l2_bytes = 0;
  std::size_t l3_bytes = 0;  // 0: none
  unsigned cpus = 1;
};
// Read once. A cache size that the system does not tell is taken as 1 MiB (L2) or 32 MiB (L3).
const Machine& this_machine();

// "g++ 12.2.0 -O2" and the like.
std::string compiler_text();
// "2026-11-30".
std::string today();

// Nanoseconds of CPU time this thread has used: does not count what other processes take from it.
double thread_ns();
// Nanoseconds of a clock that always runs.
double wall_ns();

// Keeps this thread on one CPU, so that samples compare. False: not possible here.
bool pin_thread(unsigned cpu);
// The CPU this thread runs on.
unsigned current_cpu();
// How many CPUs did nothing for the last tenth of a second: the calling thread sleeps for it, so
// its own CPU counts as well.
unsigned idle_cpus();
// Bytes that can be allocated without swapping; 0: not known.
std::size_t free_memory();

}  // namespace bench
