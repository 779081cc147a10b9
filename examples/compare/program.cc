#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compare/clock.h"
#include "compare/recording.h"
#include "compare/reference.h"
#include "compare/registry.h"

namespace compare {

namespace {

constexpr const char* kUsage =
    "usage: compare [options]\n"
    "  Compresses recorded keys and values with every preset, attends over the compressed bytes, "
    "prints one table.\n"
    "  --presets a,b     only these\n"
    "  --list            names of all presets\n"
    "  --json            one JSON object per line\n"
    "  --data DIR        k_pre.npy, v.npy, q_pre.npy ([layer, head, token, dim], fp16 or fp32) and "
    "meta.json;\n"
    "                    default: the recording shipped with the examples\n"
    "  --per_layer       a row for every layer\n"
    "  --sinks N         keep the first N tokens as they came\n"
    "  --residual N      keep the last N tokens as they came\n"
    "  --ends raw        keep the first and the last layer as they came\n"
    "  --no_timing       errors and sizes only\n"
    "Exit code: 0, or 2 on bad input.\n";

struct Arguments {
  std::string data;
  std::vector<std::string> wanted;
  Options options;
  bool json = false;
  bool list = false;
  bool help = false;
  bool per_layer = false;
};

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// False: `error` says what is wrong.
bool parse(int argc, char** argv, Arguments& arguments, std::string& error) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&](std::string& out) {
      if (i + 1 >= argc) {
        error = std::string(name) + " needs a value";
        return false;
      }
      out = argv[++i];
      return true;
    };
    const auto number = [&](std::uint32_t& out) {
      std::string text;
      if (!value(text)) return false;
      const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
      if (status == std::errc() && end == text.data() + text.size()) return true;
      error = std::string(name) + ": '" + text + "' is not a token count";
      return false;
    };
    std::string text;
    if (name == "--json") {
      arguments.json = true;
    } else if (name == "--list") {
      arguments.list = true;
    } else if (name == "--help" || name == "-h") {
      arguments.help = true;
    } else if (name == "--per_layer") {
      arguments.per_layer = true;
    } else if (name == "--no_timing") {
      arguments.options.timing = false;
    } else if (name == "--data") {
      if (!value(arguments.data)) return false;
    } else if (name == "--presets") {
      if (!value(text)) return false;
      arguments.wanted = split_list(text);
    } else if (name == "--sinks") {
      if (!number(arguments.options.sinks)) return false;
    } else if (name == "--residual") {
      if (!number(arguments.options.residual)) return false;
    } else if (name == "--ends") {
      if (!value(text)) return false;
      if (text != "raw") {
        error = "--ends takes 'raw'";
        return false;
      }
      arguments.options.raw_ends = true;
    } else {
      error = "unknown option '" + std::string(name) + "' (see --help)";
      return false;
    }
  }
  return true;
}

// The shipped recording, found from the executable: build/<preset>/examples/compare ->
// examples/data.
std::string default_data() {
  std::error_code failure;
  std::filesystem::path at = std::filesystem::read_symlink("/proc/self/exe", failure);
  for (at = at.parent_path(); !failure && !at.empty(); at = at.parent_path()) {
    const std::filesystem::path data = at / "examples" / "data";
    if (std::filesystem::exists(data / "meta.json")) return data.string();
    if (at == at.root_path()) break;
  }
  return "examples/data";
}

void print_header() {
  std::printf("%-17s %7s %6s %6s %10s %10s %9s %9s %10s %9s %9s %7s  %s\n", "preset", "bits/el",
              "x f16", "side", "key nmse", "val nmse", "attn err", "worst", "attn KL", "append ns",
              "attend ns", "/ f16", "path");
}
void print_row(const std::string& name, const Result& r) {
  if (!r.error.empty()) {
    std::printf("%-17s refused: %s\n", name.c_str(), r.error.c_str());
    return;
  }
  std::printf(
      "%-17s %7.3f %6.2f %5.1f%% %10.3e %10.3e %9.5f %9.5f %10.3e %9.0f %9.1f %7.2f  %s/%s\n",
      name.c_str(), r.bits_per_element, 16.0 / r.bits_per_element, 100.0 * r.side_share, r.key_nmse,
      r.value_nmse, r.attention_error, r.attention_error_worst, r.attention_kl, r.append_ns,
      r.attend_ns, r.attend_ratio_f16, r.path.c_str(), r.target.c_str());
}
void print_json(const std::string& name, int layer, const Result& r) {
  std::printf("{\"preset\": \"%s\"", name.c_str());
  if (layer >= 0) std::printf(", \"layer\": %d", layer);
  if (!r.error.empty()) {
    std::printf(", \"error\": \"%s\"}\n", r.error.c_str());
    return;
  }
  std::printf(
      ", \"bits_per_element\": %.6g, \"ratio_to_f16\": %.6g, \"side_share\": %.6g, \"key_nmse\": "
      "%.6g, \"value_nmse\": %.6g",
      r.bits_per_element, 16.0 / r.bits_per_element, r.side_share, r.key_nmse, r.value_nmse);
  std::printf(
      ", \"attention_error\": %.6g, \"attention_error_worst\": %.6g, \"attention_kl\": %.6g",
      r.attention_error, r.attention_error_worst, r.attention_kl);
  std::printf(
      ", \"append_ns\": %.6g, \"attend_ns\": %.6g, \"attend_ratio_f16\": %.6g, \"path\": \"%s\", "
      "\"target\": \"%s\"}\n",
      r.append_ns, r.attend_ns, r.attend_ratio_f16, r.path.c_str(), r.target.c_str());
}

}  // namespace

std::vector<Preset>& presets() {
  static std::vector<Preset> all;
  return all;
}

int run(int argc, char** argv) {
  Arguments arguments;
  std::string error;
  if (!parse(argc, argv, arguments, error)) {
    std::fprintf(stderr, "compare: %s\n", error.c_str());
    return 2;
  }
  if (arguments.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  // Users' presets are registered before main; those of the library go first.
  std::vector<Preset> own;
  own.swap(presets());
  add_library_presets();
  presets().insert(presets().end(), own.begin(), own.end());

  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    bool known = false;
    for (const std::string& name : names) known = known || name == preset.name;
    if (!known) names.push_back(preset.name);
  }
  if (arguments.list) {
    for (const std::string& name : names) std::printf("%s\n", name.c_str());
    return 0;
  }
  for (const std::string& wanted : arguments.wanted) {
    bool known = false;
    for (const std::string& name : names) known = known || name == wanted;
    if (!known) {
      std::fprintf(stderr, "compare: there is no preset '%s' (see --list)\n", wanted.c_str());
      return 2;
    }
  }
  Recording recording;
  const std::string folder = arguments.data.empty() ? default_data() : arguments.data;
  if (!load_recording(folder, recording, error)) {
    std::fprintf(stderr, "compare: %s\n", error.c_str());
    return 2;
  }
  std::vector<const Preset*> selected;
  std::string dims;
  for (const Preset& preset : presets()) {
    if (dims.find(std::to_string(preset.dim)) == std::string::npos)
      dims += " " + std::to_string(preset.dim);
    if (preset.dim != recording.dim) continue;
    bool asked = arguments.wanted.empty();
    for (const std::string& name : arguments.wanted) asked = asked || name == preset.name;
    if (asked) selected.push_back(&preset);
  }
  if (selected.empty()) {
    std::fprintf(
        stderr,
        "compare: %s has head_dim %u; this program is built for%s (CMake: KVPLEAT_COMPARE_DIMS)\n",
        folder.c_str(), recording.dim, dims.c_str());
    return 2;
  }
  pin_thread();
  const bool progress = isatty(STDERR_FILENO) != 0 ||
                        static_cast<std::uint64_t>(recording.tokens) * recording.layers > 65536;
  if (progress)
    std::fprintf(stderr, "attention in double precision over the original values ...\n");
  const Reference reference = attend_original(recording);
  std::vector<Recording> layers;
  std::vector<Reference> layer_references;
  if (arguments.per_layer) {
    for (std::uint32_t l = 0; l < recording.layers; ++l) {
      layers.push_back(recording.layer(l));
      layer_references.push_back(attend_original(layers.back()));
    }
  }
  if (!arguments.json) {
    std::printf(
        "%s: %u layers, %u KV heads x %u, group %u, %u tokens; errors over %u queries per head; "
        "%s\n",
        recording.model.c_str(), recording.layers, recording.kv_heads, recording.dim,
        recording.group(), recording.tokens, recording.queries, kvpleat::kIsaTag);
    print_header();
  }
  for (const Preset* preset : selected) {
    if (progress) std::fprintf(stderr, "%s ...\n", preset->name.c_str());
    const Result result = preset->run(recording, reference, arguments.options);
    arguments.json ? print_json(preset->name, -1, result) : print_row(preset->name, result);
    for (std::uint32_t l = 0; l < layers.size(); ++l) {
      Options own_options = arguments.options;
      own_options.raw_ends = own_options.raw_ends && (l == 0 || l + 1 == layers.size());
      const Result one = preset->run(layers[l], layer_references[l], own_options);
      arguments.json ? print_json(preset->name, static_cast<int>(l), one)
                     : print_row("  layer " + std::to_string(l), one);
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace compare
