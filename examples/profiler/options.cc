#include "profiler/options.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace profiler {

const char* const kUsage =
    "usage: oaken_profiler --profile DIR | --search | --check NAME   [options]\n"
    "  Thresholds of Oaken for a recording of keys and values, and checks of a cache that uses "
    "them.\n"
    "  --profile DIR     thresholds from runs of the recording's first tokens; how they depend on "
    "the number of runs\n"
    "  --samples N       runs that make the profile (default 100)\n"
    "  --out F           writes the profile to a file\n"
    "  --search          bits and attention error for outer 2/4/6 % x inner 4/6/8 %, Pareto marks\n"
    "  --check NAME      memory_alignment, table_overflow (or tables), index_width, "
    "threshold_drift, dead_heads, all\n"
    "  --data DIR        the recording to check (see docs/measuring.md); default: the shipped one\n"
    "  --profile_file F  checks against this profile; default: one made of the recording\n"
    "  --adapter TEXT    adapters that are loaded; a profile made for others is a finding\n"
    "  --scale X         multiplies keys and values: a model that was tuned on\n"
    "  --tokens N        length that the tables should hold (default: the recording's)\n"
    "  --spill_bytes N   capacity of the sparse table per side (default: as much as can be)\n"
    "  --groups N        bands of the layout that index_width looks at (default 3)\n"
    "  --json            one JSON object per line\n"
    "Exit code: 0 clean; 1 findings; 2 bad input.\n";

namespace {

template <class T>
bool number(std::string_view name, const std::string& text, T low, T high, T& out,
            std::string& error) {
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc() && end == text.data() + text.size() && value >= low && value <= high) {
    out = value;
    return true;
  }
  error = std::string(name) + ": '" + text + "' is not a number from " + std::to_string(low) +
          " to " + std::to_string(high);
  return false;
}
bool add_check(const std::string& text, std::vector<kvpleat::Check>& checks, std::string& error) {
  for (int i = 0; i < kvpleat::kChecks; ++i) {
    const auto check = static_cast<kvpleat::Check>(i);
    const bool tables = text == "tables" && check == kvpleat::Check::kTableOverflow;
    if (text == to_string(check) || text == "all" || tables) checks.push_back(check);
  }
  if (!checks.empty()) return true;
  error = "--check: there is no check '" + text + "' (see --help)";
  return false;
}

}  // namespace

bool parse(int argc, char** argv, Options& options, std::string& error) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return true;
    }
    if (name == "--json") {
      options.json = true;
      continue;
    }
    if (name == "--search") {
      options.search = true;
      continue;
    }
    const bool known = name == "--profile" || name == "--samples" || name == "--out" ||
                       name == "--check" || name == "--data" || name == "--profile_file" ||
                       name == "--adapter" || name == "--scale" || name == "--tokens" ||
                       name == "--spill_bytes" || name == "--groups";
    if (!known) {
      error = "unknown option '" + std::string(name) + "' (see --help)";
      return false;
    }
    if (i + 1 >= argc) {
      error = std::string(name) + " needs a value";
      return false;
    }
    const std::string value = argv[++i];
    bool good = true;
    if (name == "--profile") {
      options.make_profile = true;
      options.data = value;
    } else if (name == "--samples") {
      good = number<std::uint32_t>(name, value, 1, 65536, options.samples, error);
    } else if (name == "--out") {
      options.out = value;
    } else if (name == "--check") {
      std::vector<kvpleat::Check> checks;
      good = add_check(value, checks, error);
      if (good) options.checks = checks;
    } else if (name == "--data") {
      options.data = value;
    } else if (name == "--profile_file") {
      options.profile_file = value;
    } else if (name == "--adapter") {
      options.adapter = value;
    } else if (name == "--scale") {
      char* end = nullptr;
      options.scale = std::strtof(value.c_str(), &end);
      good = !value.empty() && *end == '\0' && std::isfinite(options.scale) && options.scale > 0.0f;
      if (!good) error = "--scale: '" + value + "' is not a positive number";
    } else if (name == "--tokens") {
      good = number<std::uint64_t>(name, value, 1, 0x7fffffffu, options.tokens, error);
    } else if (name == "--spill_bytes") {
      good = number<std::uint64_t>(name, value, 0, 1ull << 62, options.spill_bytes, error);
    } else {
      good = number<std::uint32_t>(name, value, 2, 64, options.groups, error);
    }
    if (!good) return false;
    if (value.empty() && name != "--adapter") {
      error = std::string(name) + ": the value is empty";
      return false;
    }
  }
  const int tasks =
      (options.make_profile ? 1 : 0) + (options.search ? 1 : 0) + (options.checks.empty() ? 0 : 1);
  if (tasks != 1) {
    error = "one of --profile, --search and --check is needed (see --help)";
    return false;
  }
  if (!options.out.empty() && !options.make_profile) {
    error = "--out goes with --profile";
    return false;
  }
  if (!options.profile_file.empty() && options.checks.empty()) {
    error = "--profile_file goes with --check";
    return false;
  }
  return true;
}

}  // namespace profiler
