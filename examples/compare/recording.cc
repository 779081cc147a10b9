#include "compare/recording.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "compare/npy.h"

namespace compare {
namespace {

constexpr std::uint32_t kMostQueries = 64;

bool fail(std::string& error, const std::string& what) {
  error = what;
  return false;
}

// Loads NAME_pre.npy, or NAME.npy if there is no such file.
bool load_rows(const std::string& folder, const std::string& name, NpyArray& array, bool& rotated,
               std::string& error) {
  const std::string before = folder + "/" + name + "_pre.npy";
  rotated = !std::filesystem::exists(before);
  const std::string path = rotated ? folder + "/" + name + ".npy" : before;
  if (!read_npy(path, array, error)) return false;
  if (array.shape.size() != 4)
    return fail(error, path + ": expected 4 dimensions [layer, head, token, dim]");
  for (const float value : array.values) {
    if (!std::isfinite(value)) return fail(error, path + ": holds a value that is not finite");
  }
  return true;
}

// Reads meta.json:
//   {"model": "...", "scale": 0.125, "rope": {"layout": "adjacent", "base": 1e5, "dims": 64}}
// scale defaults to 1/sqrt(head_dim), dims to head_dim; nothing else that decides numbers is
// guessed.
bool read_meta(const std::string& path, std::uint32_t dim, Recording& recording,
               std::string& error) {
  if (!std::filesystem::is_regular_file(path)) return fail(error, path + ": no such file");
  std::ifstream stream(path);
  const nlohmann::json meta = nlohmann::json::parse(stream, nullptr, false);
  if (!meta.is_object()) return fail(error, path + ": not a JSON object");
  recording.model = "unnamed model";
  if (meta.contains("model") && meta["model"].is_string())
    recording.model = meta["model"].get<std::string>();
  recording.scale = 1.0f / std::sqrt(static_cast<float>(dim));
  if (meta.contains("scale")) {
    if (!meta["scale"].is_number()) return fail(error, path + ": scale is not a number");
    recording.scale = meta["scale"].get<float>();
    if (!std::isfinite(recording.scale)) return fail(error, path + ": scale is not finite");
  }
  if (!meta.contains("rope") || !meta["rope"].is_object()) {
    return fail(error,
                path + R"(: needs "rope": {"layout": "adjacent" or "halves", "base": number})");
  }
  const nlohmann::json& rope = meta["rope"];
  if (!rope.contains("layout") || (rope["layout"] != "adjacent" && rope["layout"] != "halves")) {
    return fail(error, path + R"(: rope.layout must be "adjacent" or "halves")");
  }
  if (!rope.contains("base") || !rope["base"].is_number() || !(rope["base"].get<double>() > 0.0)) {
    return fail(error, path + ": rope.base must be a positive number");
  }
  if (rope.contains("scaling") && !rope["scaling"].is_null()) {
    return fail(error, path + ": rope.scaling is not supported");
  }
  std::uint32_t dims = dim;
  if (rope.contains("dims")) {
    if (!rope["dims"].is_number_unsigned() || rope["dims"] > dim || rope["dims"] == 0) {
      return fail(error, path + ": rope.dims must be positive and at most head_dim");
    }
    dims = rope["dims"].get<std::uint32_t>();
  }
  if (dims % 2 != 0) return fail(error, path + ": rope.dims must be even");
  const bool halves = rope["layout"] == "halves";
  const double base = rope["base"].get<double>();
  recording.rope = kvpleat::Rope::standard(
      halves ? kvpleat::RopeLayout::kHalves : kvpleat::RopeLayout::kAdjacent, dims, base);
  recording.rope_text = std::string("RoPE ") + (halves ? "halves" : "adjacent") + " of " +
                        std::to_string(dims) + ", base " +
                        std::to_string(static_cast<long long>(base));
  return true;
}
std::string shape_text(const NpyArray& array) {
  std::string text = "[";
  for (std::size_t i = 0; i < array.shape.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(array.shape[i]);
  return text + "]";
}

}  // namespace

bool load_recording(const std::string& folder, Recording& recording, std::string& error) {
  if (!std::filesystem::is_directory(folder)) return fail(error, folder + ": no such folder");
  NpyArray k;
  NpyArray v;
  NpyArray q;
  bool k_rotated = false;
  bool q_rotated = false;
  if (!load_rows(folder, "k", k, k_rotated, error) || !load_rows(folder, "q", q, q_rotated, error))
    return false;
  if (!read_npy(folder + "/v.npy", v, error)) return false;
  if (v.shape != k.shape) return fail(error, folder + "/v.npy: its shape differs from the keys'");
  for (const float value : v.values) {
    if (!std::isfinite(value))
      return fail(error, folder + "/v.npy: holds a value that is not finite");
  }
  if (q.shape[0] != k.shape[0] || q.shape[3] != k.shape[3] || k.shape[1] == 0 ||
      q.shape[1] % k.shape[1] != 0 || q.shape[2] > k.shape[2]) {
    return fail(error, folder + ": queries " + shape_text(q) + " do not fit keys " + shape_text(k) +
                           " (equal layers and dim, heads a multiple, tokens at most)");
  }
  for (const std::size_t size : k.shape) {
    if (size == 0 || size > 0x7fffffffu)
      return fail(error, folder + ": the keys have an empty or absurd dimension");
  }
  if (q.shape[1] == 0 || q.shape[2] == 0) return fail(error, folder + ": there are no queries");

  Recording made;
  made.layers = static_cast<std::uint32_t>(k.shape[0]);
  made.kv_heads = static_cast<std::uint32_t>(k.shape[1]);
  made.tokens = static_cast<std::uint32_t>(k.shape[2]);
  made.dim = static_cast<std::uint32_t>(k.shape[3]);
  made.query_heads = static_cast<std::uint32_t>(q.shape[1]);
  const auto recorded = static_cast<std::uint32_t>(q.shape[2]);
  made.queries = recorded < kMostQueries ? recorded : kMostQueries;
  if (!read_meta(folder + "/meta.json", made.dim, made, error)) return false;

  const std::size_t total = k.values.size();
  made.keys.resize(total);
  made.keys_pre.resize(total);
  made.values.resize(total);
  for (std::uint32_t l = 0; l < made.layers; ++l) {
    for (std::uint32_t h = 0; h < made.kv_heads; ++h) {
      for (std::uint32_t t = 0; t < made.tokens; ++t) {
        const std::size_t from =
            ((static_cast<std::size_t>(l) * made.kv_heads + h) * made.tokens + t) * made.dim;
        const std::size_t to = made.row(l, t, h);
        const float* row = k.values.data() + from;
        float* rotated = made.keys.data() + to;
        float* before = made.keys_pre.data() + to;
        if (k_rotated) {
          made.rope.rotate(row, made.dim, -static_cast<std::int64_t>(t), before);
          for (std::uint32_t c = 0; c < made.dim; ++c) rotated[c] = row[c];
        } else {
          made.rope.rotate(row, made.dim, t, rotated);
          for (std::uint32_t c = 0; c < made.dim; ++c) before[c] = row[c];
        }
        for (std::uint32_t c = 0; c < made.dim; ++c) made.values[to + c] = v.values[from + c];
      }
    }
  }
  made.query.resize(static_cast<std::size_t>(made.layers) * made.query_heads * made.queries *
                    made.dim);
  for (std::uint32_t l = 0; l < made.layers; ++l) {
    for (std::uint32_t head = 0; head < made.query_heads; ++head) {
      for (std::uint32_t i = 0; i < made.queries; ++i) {
        const std::size_t from =
            ((static_cast<std::size_t>(l) * made.query_heads + head) * recorded + recorded -
             made.queries + i) *
            made.dim;
        float* to =
            made.query.data() + made.query_row(l, head / made.group(), i, head % made.group());
        const float* row = q.values.data() + from;
        if (q_rotated) {
          for (std::uint32_t c = 0; c < made.dim; ++c) to[c] = row[c];
        } else {
          made.rope.rotate(row, made.dim, made.position(i), to);
        }
      }
    }
  }
  recording = std::move(made);
  return true;
}

Recording gaussian_recording(std::uint32_t dim) {
  Recording made;
  made.layers = 1;
  made.kv_heads = 2;
  made.query_heads = 4;
  made.tokens = 2048;
  made.queries = kMostQueries;
  made.dim = dim;
  made.scale = 1.0f / std::sqrt(static_cast<float>(dim));
  made.model = "white Gaussian";
  made.rope = kvpleat::Rope::standard(kvpleat::RopeLayout::kAdjacent, dim / 2 * 2, 10000.0);
  made.rope_text = "RoPE adjacent, base 10000";
  std::mt19937 engine(20240501u);
  // std::normal_distribution differs between standard libraries; Box and Muller's formula does not.
  const auto normal = [&] {
    const double radius = (static_cast<double>(engine()) + 0.5) * 0x1p-32;
    const double angle = (static_cast<double>(engine()) + 0.5) * 0x1p-32 * 6.283185307179586;
    return static_cast<float>(std::sqrt(-2.0 * std::log(radius)) * std::cos(angle));
  };
  const std::size_t total = static_cast<std::size_t>(made.tokens) * made.kv_heads * dim;
  made.keys_pre.resize(total);
  made.keys.resize(total);
  made.values.resize(total);
  for (float& x : made.keys_pre) x = normal();
  for (float& x : made.values) x = normal();
  for (std::uint32_t t = 0; t < made.tokens; ++t) {
    for (std::uint32_t h = 0; h < made.kv_heads; ++h)
      made.rope.rotate(made.keys_pre.data() + made.row(0, t, h), dim, t,
                       made.keys.data() + made.row(0, t, h));
  }
  made.query.resize(static_cast<std::size_t>(made.query_heads) * made.queries * dim);
  for (float& x : made.query) x = normal();
  return made;
}

Recording Recording::layer(std::uint32_t index) const {
  Recording one = *this;
  one.layers = 1;
  const auto cut = [&](const std::vector<float>& all) {
    const std::size_t size = all.size() / layers;
    return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(index * size),
                              all.begin() + static_cast<std::ptrdiff_t>((index + 1) * size));
  };
  one.keys = cut(keys);
  one.keys_pre = cut(keys_pre);
  one.values = cut(values);
  one.query = cut(query);
  return one;
}

}  // namespace compare
