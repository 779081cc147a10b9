#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
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
    "  --gaussian DIM    white Gaussian rows instead of a recording; adds the distance to the "
    "limit "
    "4^-bits\n"
    "  --per_layer       a row for every layer\n"
    "  --equal_bits      instead of the table of presets: tables of what competes at equal bits\n"
    "  --sinks N         keep the first N tokens as they came\n"
    "  --residual N      keep the last N tokens as they came\n"
    "  --ends raw        keep the first and the last layer as they came\n"
    "  --no_timing       errors and sizes only\n"
    "Exit code: 0; 1 if a preset was refused or the output could not be written; 2 on bad input.\n";

struct Arguments {
  std::string data;
  bool data_given = false;
  std::uint32_t gaussian = 0;  // head_dim; 0: a recording
  std::vector<std::string> wanted;
  Options options;
  bool json = false;
  bool list = false;
  bool help = false;
  bool per_layer = false;
  bool equal_bits = false;
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
    } else if (name == "--equal_bits") {
      arguments.equal_bits = true;
    } else if (name == "--no_timing") {
      arguments.options.timing = false;
    } else if (name == "--data") {
      if (!value(arguments.data)) return false;
      arguments.data_given = true;
    } else if (name == "--gaussian") {
      if (!number(arguments.gaussian)) return false;
      if (arguments.gaussian == 0 || arguments.gaussian > 576) {
        error = "--gaussian takes a head_dim, 1 to 576";
        return false;
      }
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
  if (arguments.equal_bits && !arguments.wanted.empty()) {
    error = "--equal_bits and --presets exclude each other";
    return false;
  }
  if (arguments.gaussian != 0 && arguments.data_given) {
    error = "--gaussian and --data exclude each other";
    return false;
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
  return "";
}

void print_header(bool gaussian) {
  std::printf("%-17s %7s %6s %6s %10s %10s %9s %9s %10s %9s %9s %7s  %s\n", "preset", "bits/el",
              "x f16", "side", "key nmse", "val nmse", "attn err", "worst", "attn KL", "append ns",
              "attend ns", "/ f16", gaussian ? " gap dB  path" : "path");
}
// Fixed width, or a dash for what was not measured.
std::string cell(bool measured, const char* format, double value) {
  if (!measured) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
void print_row(const std::string& name, const Result& r, bool timed, bool gaussian) {
  if (!r.error.empty()) {
    std::printf("%-17s refused: %s\n", name.c_str(), r.error.c_str());
    return;
  }
  std::printf("%-17s %7.3f %6.2f %5.1f%% %10.3e %10.3e %9.5f %9.5f %10.3e %9s %9s %7s  %s%s/%s\n",
              name.c_str(), r.bits_per_element, 16.0 / r.bits_per_element, 100.0 * r.side_share,
              r.key_nmse, r.value_nmse, r.attention_error, r.attention_error_worst, r.attention_kl,
              cell(timed, "%.0f", r.append_ns).c_str(), cell(timed, "%.1f", r.attend_ns).c_str(),
              cell(timed, "%.2f", r.attend_ratio_f16).c_str(),
              gaussian ? cell(true, "%7.2f  ", r.gap_db).c_str() : "", r.path.c_str(),
              r.target.c_str());
}
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 32) out += c;
  }
  return out + "\"";
}
// A JSON number; null for what was not measured or is not finite.
std::string number(bool measured, double value) {
  if (!measured || !std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}
void print_json(const std::string& name, const std::string& group, int layer, const Result& r,
                bool timed) {
  std::string line = "{\"preset\": " + quoted(name);
  if (!group.empty()) line += ", \"table\": " + quoted(group);
  if (layer >= 0) line += ", \"layer\": " + std::to_string(layer);
  const auto field = [&](const char* key, bool measured, double value) {
    line += std::string(", \"") + key + "\": " + number(measured, value);
  };
  if (r.error.empty()) {
    field("bits_per_element", true, r.bits_per_element);
    field("ratio_to_f16", true, 16.0 / r.bits_per_element);
    field("format_bits", true, r.format_bits);
    field("side_share", true, r.side_share);
    field("key_nmse", true, r.key_nmse);
    field("value_nmse", true, r.value_nmse);
    field("gap_db", true, r.gap_db);
    field("attention_error", true, r.attention_error);
    field("attention_error_worst", true, r.attention_error_worst);
    field("attention_kl", true, r.attention_kl);
    field("append_ns", timed, r.append_ns);
    field("attend_ns", timed, r.attend_ns);
    field("attend_ratio_f16", timed, r.attend_ratio_f16);
    line += ", \"path\": " + quoted(r.path) + ", \"target\": " + quoted(r.target);
  } else {
    line += ", \"error\": " + quoted(r.error);
  }
  std::printf("%s}\n", line.c_str());
}

}  // namespace

std::vector<Preset>& presets() {
  static std::vector<Preset> all;
  return all;
}

const std::vector<EqualBits>& equal_bits_tables() {
  static const std::vector<EqualBits> tables = {
      {"bands and shift: four bits plain, bands with a scale each, outer values shifted, all "
       "shifted (Oaken)",
       {"Int4", "OakenNoShift", "OakenOuterOnly", "Oaken"}},
      {"an outlier in 23 bits (stored in 24), in 12, and in 8 with its payload in the dense nibble",
       {"OakenCoo23", "OakenCoo12", "Oaken"}},
      {"five to six bits: Oaken 4/90/6 and 2/96/2 against int4 with inline slots and plain groups",
       {"Oaken", "Oaken2_96_2", "OakenJds16", "Int4TopK", "Int5", "Int4G32", "Kivi4"}},
      {"rotated four-bit keys: no mean removed, one mean, the mean before RoPE, with the scale in "
       "a "
       "byte, and balanced",
       {"TurboQuant4", "RotatedPlain", "RotatedMean", "RotatedPhase", "RotatedPhaseLog",
        "Rotated4"}},
      {"four to four and a half bits: the largest values in a hash table, by a list, behind a "
       "bitmap; "
       "dense",
       {"Tiered4Hash", "KeptList", "KeptBitmap", "Int4", "GgmlQ4_0", "GgmlQ4_0Hadamard", "Mxfp4",
        "Nvfp4", "TurboQuant4", "Rotated4"}},
  };
  return tables;
}

namespace {

int measure(const Arguments& arguments) {
  std::string error;
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (preset.listed && std::find(names.begin(), names.end(), preset.name) == names.end())
      names.push_back(preset.name);
  }
  if (arguments.list) {
    for (const std::string& name : names) std::printf("%s\n", name.c_str());
    return 0;
  }
  for (const std::string& wanted : arguments.wanted) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) continue;
    std::fprintf(stderr, "compare: there is no preset '%s' (see --list)\n", wanted.c_str());
    return 2;
  }
  Recording recording;
  std::string folder = arguments.data_given ? arguments.data : default_data();
  if (arguments.gaussian != 0) {
    folder = "--gaussian";
    recording = gaussian_recording(arguments.gaussian);
  } else if (folder.empty() && !arguments.data_given) {
    std::fprintf(stderr, "compare: no recording found beside the program; pass --data DIR\n");
    return 2;
  } else if (!load_recording(folder, recording, error)) {
    std::fprintf(stderr, "compare: %s\n", error.c_str());
    return 2;
  }
  std::vector<const Preset*> selected;
  std::vector<std::uint32_t> dims;
  for (const Preset& preset : presets()) {
    if (std::find(dims.begin(), dims.end(), preset.dim) == dims.end()) dims.push_back(preset.dim);
    const auto& wanted = arguments.wanted;
    const bool asked =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), preset.name) != wanted.end();
    if (asked && preset.dim == recording.dim && preset.listed) selected.push_back(&preset);
  }
  if (std::find(dims.begin(), dims.end(), recording.dim) == dims.end()) {
    std::string built;
    for (const std::uint32_t dim : dims) built += " " + std::to_string(dim);
    std::fprintf(
        stderr,
        "compare: %s has head_dim %u; this program is built for%s (CMake: KVPLEAT_COMPARE_DIMS)\n",
        folder.c_str(), recording.dim, built.c_str());
    return 2;
  }
  for (const std::string& wanted : arguments.wanted) {
    const auto same = [&](const Preset* preset) { return preset->name == wanted; };
    if (std::any_of(selected.begin(), selected.end(), same)) continue;
    std::fprintf(stderr, "compare: preset '%s' is not registered for head_dim %u\n", wanted.c_str(),
                 recording.dim);
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
  for (std::uint32_t l = 0; arguments.per_layer && l < recording.layers; ++l) {
    layers.push_back(recording.layer(l));
    layer_references.push_back(attend_original(layers.back()));
  }
  if (!arguments.json) {
    std::printf(
        "%s: %u layers, %u KV heads x %u, group %u, %u tokens; errors over %u queries per head; "
        "%s; %s\n",
        recording.model.c_str(), recording.layers, recording.kv_heads, recording.dim,
        recording.group(), recording.tokens, recording.queries, recording.rope_text.c_str(),
        kvpleat::kIsaTag);
    print_header(arguments.gaussian != 0);
  }
  bool refused = false;
  std::string group;  // title of the table of equal bits
  const auto show = [&](const std::string& name, int layer, const Result& result) {
    refused = refused || !result.error.empty();
    if (arguments.json) {
      print_json(name, group, layer, result, arguments.options.timing);
    } else {
      print_row(layer < 0 ? name : "  layer " + std::to_string(layer), result,
                arguments.options.timing, arguments.gaussian != 0);
    }
  };
  const auto measure_one = [&](const Preset& preset) {
    if (progress) std::fprintf(stderr, "%s ...\n", preset.name.c_str());
    show(preset.name, -1, preset.run(recording, reference, arguments.options));
    for (std::uint32_t l = 0; l < layers.size(); ++l) {
      Options own = arguments.options;
      own.inner_layer = l > 0 && l + 1 < layers.size();
      own.raw_ends = own.raw_ends && !own.inner_layer;
      show(preset.name, static_cast<int>(l), preset.run(layers[l], layer_references[l], own));
    }
    std::fflush(stdout);
  };
  if (!arguments.equal_bits) {
    for (const Preset* preset : selected) measure_one(*preset);
  }
  for (const EqualBits& table : equal_bits_tables()) {
    if (!arguments.equal_bits) break;
    group = table.title;
    if (!arguments.json) std::printf("%s\n", table.title);
    for (const char* name : table.names) {
      for (const Preset& preset : presets()) {
        if (preset.dim == recording.dim && preset.name == name) measure_one(preset);
      }
    }
  }
  if (std::ferror(stdout) != 0) {
    std::fprintf(stderr, "compare: the output could not be written\n");
    return 1;
  }
  return refused ? 1 : 0;
}

}  // namespace

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
  // Users' presets are registered before main; those of the library go first, and keep their names.
  std::vector<Preset> own;
  own.swap(presets());
  add_library_presets();
  for (const Preset& preset : own) {
    const auto same = [&](const Preset& known) {
      return known.name == preset.name && known.dim == preset.dim;
    };
    if (std::any_of(presets().begin(), presets().end(), same)) {
      std::fprintf(stderr, "compare: there are two presets '%s' for head_dim %u\n",
                   preset.name.c_str(), preset.dim);
      return 2;
    }
    presets().push_back(preset);
  }
  try {
    return measure(arguments);
  } catch (const std::exception& failure) {  // of the file system, or for want of memory
    std::fprintf(stderr, "compare: %s\n", failure.what());
    return 2;
  }
}

}  // namespace compare
