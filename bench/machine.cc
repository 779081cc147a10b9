#include "bench/machine.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace bench {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "1024K", "32M" or "512".
std::size_t parse_size(const std::string& text) {
  std::size_t value = 0;
  std::size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
    value = value * 10 + static_cast<std::size_t>(text[i] - '0');
  if (i < text.size() && text[i] == 'K') value <<= 10;
  if (i < text.size() && text[i] == 'M') value <<= 20;
  return value;
}

Machine read_machine() {
  Machine machine;
  machine.cpus = std::thread::hardware_concurrency();
  machine.l2_bytes = std::size_t{1} << 20;
  machine.l3_bytes = std::size_t{32} << 20;
  bool any = false;
  bool third = false;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string level = first_line(folder + "level");
    const std::size_t size = parse_size(first_line(folder + "size"));
    if (level.empty() || size == 0) continue;
    any = true;
    if (level == "2") machine.l2_bytes = size;
    if (level == "3") {
      machine.l3_bytes = size;
      third = true;
    }
  }
  if (any && !third) machine.l3_bytes = 0;

  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    if (machine.cpu.empty() && line.rfind("model name", 0) == 0) machine.cpu = value;
    if (!machine.flags.empty()) continue;
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0) continue;
    std::istringstream words(value);
    std::string word;
    while (words >> word) {
      for (const char* wanted : {"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512_vnni",
                                 "avx512_vbmi", "avx512_vbmi2", "avx512_bf16", "avx_vnni", "gfni",
                                 "amx_int8", "asimd", "asimddp", "sve", "i8mm"}) {
        if (word == wanted) machine.flags += (machine.flags.empty() ? "" : " ") + word;
      }
    }
  }
  if (machine.cpu.empty()) machine.cpu = "unknown CPU";
  return machine;
}

double nanoseconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

}  // namespace

const Machine& this_machine() {
  static const Machine machine = read_machine();
  return machine;
}

std::string compiler_text() {
#if defined(__clang__)
  std::string text = "clang " __clang_version__;
  text = text.substr(0, text.find(' ', 6));
#elif defined(__GNUC__)
  std::string text = "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#else
  std::string text = "unknown compiler";
#endif
#if defined(BENCH_FLAGS)
  text += " " BENCH_FLAGS;
#endif
  return text;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

double thread_ns() {
  timespec now{};
#if defined(CLOCK_THREAD_CPUTIME_ID)
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
#else
  timespec_get(&now, TIME_UTC);
#endif
  return nanoseconds(now);
}

double wall_ns() {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::steady_clock::now().time_since_epoch())
                                 .count());
}

bool pin_thread([[maybe_unused]] unsigned cpu) {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
#else
  return false;
#endif
}

unsigned current_cpu() {
#if defined(__linux__)
  const int cpu = sched_getcpu();
  return cpu < 0 ? 0u : static_cast<unsigned>(cpu);
#else
  return 0;
#endif
}

unsigned idle_cpus() {
  // /proc/stat: cpuN user nice system idle iowait irq softirq steal ...
  const auto busy = [] {
    std::vector<std::uint64_t> ticks;
    std::ifstream stat("/proc/stat");
    std::string line;
    while (std::getline(stat, line)) {
      std::istringstream words(line);
      std::string name;
      std::uint64_t value[8] = {};
      words >> name;
      if (name.rfind("cpu", 0) != 0 || name == "cpu") continue;
      for (std::uint64_t& v : value) words >> v;
      ticks.push_back(value[0] + value[1] + value[2] + value[5] + value[6] + value[7]);
    }
    return ticks;
  };
  const std::vector<std::uint64_t> before = busy();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::vector<std::uint64_t> after = busy();
  unsigned idle = 0;
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i)
    idle += after[i] - before[i] <= 1 ? 1u : 0u;  // of about ten ticks
  return idle;
}

std::size_t free_memory() {
  std::ifstream info("/proc/meminfo");
  std::string line;
  while (std::getline(info, line)) {
    if (line.rfind("MemAvailable:", 0) != 0) continue;
    std::istringstream words(line.substr(13));
    std::size_t kibibytes = 0;
    words >> kibibytes;
    return kibibytes << 10;
  }
  return 0;
}

}  // namespace bench
