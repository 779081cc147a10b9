#include "bench/data.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numbers>
#include <tuple>

namespace bench {
namespace {

// White Gaussian values, by Box and Muller from a 64-bit linear congruence.
class Gaussian {
 public:
  explicit Gaussian(std::uint64_t seed) : state_(seed) {}
  float next() {
    if (have_) {
      have_ = false;
      return static_cast<float>(kept_);
    }
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    kept_ = radius * std::sin(angle);
    have_ = true;
    return static_cast<float>(radius * std::cos(angle));
  }

 private:
  double uniform() {  // in (0, 1]
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>((state_ >> 11) + 1) * 0x1p-53;
  }
  std::uint64_t state_;
  double kept_ = 0.0;
  bool have_ = false;
};

std::vector<float> rows(Law law, std::uint64_t seed, std::size_t n) {
  Gaussian source(seed);
  std::vector<float> values(n);
  for (float& value : values) {
    value = source.next();
    if (law == Law::kHeavy) value *= 1.0f + 0.3f * std::fabs(value);
  }
  return values;
}

compare::Recording make(Law law, std::uint32_t dim, std::uint32_t heads, std::uint32_t tokens) {
  compare::Recording made;
  made.layers = 1;
  made.kv_heads = heads;
  made.query_heads = heads;
  made.tokens = tokens;
  made.dim = dim;
  made.scale = 1.0f / std::sqrt(static_cast<float>(dim));
  made.rope = kvpleat::Rope::standard(kvpleat::RopeLayout::kHalves, dim / 2 * 2, 10000.0);
  const std::size_t n = std::size_t{tokens} * heads * dim;
  made.keys_pre = rows(law, 1, n);
  made.values = rows(law, 2, n);
  made.keys.resize(n);
  for (std::uint32_t t = 0; t < tokens; ++t) {
    for (std::uint32_t h = 0; h < heads; ++h) {
      const std::size_t at = made.row(0, t, h);
      made.rope.rotate(made.keys_pre.data() + at, dim, t, made.keys.data() + at);
    }
  }
  return made;
}

}  // namespace

const compare::Recording& recording(Law law, std::uint32_t dim, std::uint32_t heads,
                                    std::uint32_t tokens) {
  static std::map<std::tuple<Law, std::uint32_t, std::uint32_t, std::uint32_t>, compare::Recording>
      all;
  const auto key = std::make_tuple(law, dim, heads, tokens);
  const auto found = all.find(key);
  if (found != all.end()) return found->second;
  return all.emplace(key, make(law, dim, heads, tokens)).first->second;
}

const std::vector<float>& queries(std::uint32_t dim) {
  static std::map<std::uint32_t, std::vector<float>> all;
  std::vector<float>& own = all[dim];
  if (own.empty()) own = rows(Law::kGaussian, 3, std::size_t{kMostQueries} * dim);
  return own;
}

}  // namespace bench
