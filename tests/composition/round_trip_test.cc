// The oracle of round_trip.h: transforms and error bounds in double, written without the library.
#include "composition/round_trip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kvpleat::inline KVPLEAT_ISA {
namespace composition {
namespace {

constexpr double kRopeBase = 10000.0;

using Row = std::vector<double>;

// R(position) row: pairs (i, i + dim/2), angle position * base^(-2i/dim).
Row rotate(const float* row, std::uint32_t dim, std::uint32_t position) {
  Row out(dim);
  for (std::uint32_t i = 0; i < dim / 2; ++i) {
    const double angle = position * std::pow(kRopeBase, -2.0 * i / dim);
    const double x = static_cast<double>(row[i]);
    const double y = static_cast<double>(row[i + dim / 2]);
    out[i] = x * std::cos(angle) - y * std::sin(angle);
    out[i + dim / 2] = x * std::sin(angle) + y * std::cos(angle);
  }
  return out;
}

// Signs, then an orthonormal Hadamard matrix per binary digit of dim, largest first.
Row spread(Row row) {
  const auto dim = static_cast<std::uint32_t>(row.size());
  for (std::uint32_t c = 0; c < dim; ++c) row[c] *= static_cast<double>(random_sign(1, c));
  Row out(dim);
  for (std::uint32_t at = 0; at < dim;) {
    std::uint32_t n = 1;
    while (2 * n <= dim - at) n *= 2;
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) {
        int ones = 0;
        for (std::uint32_t both = i & j; both > 0; both &= both - 1) ++ones;
        out[at + i] += (ones % 2 == 0 ? 1.0 : -1.0) * row[at + j] / std::sqrt(n);
      }
    }
    at += n;
  }
  return out;
}

bool rotates(Transform transform) {
  return transform == Transform::kRotated || transform == Transform::kCenteredRotated;
}

Row coded_row(const Policies& policies, bool keys, const float* row, const float* mean,
              std::uint32_t position) {
  Row coded(row, row + policies.dim);
  if (policies.transform == Transform::kCentered ||
      policies.transform == Transform::kCenteredRotated) {
    const bool turned = keys && policies.transform == Transform::kCenteredRotated;
    const Row center =
        turned ? rotate(mean, policies.dim, position) : Row(mean, mean + policies.dim);
    for (std::uint32_t c = 0; c < policies.dim; ++c) coded[c] -= center[c];
  }
  return rotates(policies.transform) ? spread(coded) : coded;
}

// Half a step over members lowest..highest, from the docs of each quantizer; the stored side data
// are rounded outwards by at most one ulp each.
double half_step(const Policies& policies, double lowest, double highest) {
  const double largest = std::max(std::fabs(lowest), std::fabs(highest));
  const double out = policies.side_ulp;
  const double top = policies.family == Family::kAffine ? std::exp2(policies.bits) - 1.0
                                                        : std::exp2(policies.bits - 1) - 1.0;
  switch (policies.family) {
    case Family::kAffine:
      return 0.5 * (highest - lowest + out * largest) / top * (1.0 + out);
    case Family::kSymmetric:
      return 0.5 * largest / top * (1.0 + out);
    default:
      return largest / top;
  }
}

// The largest coded errors of a head's tokens [kSinks, end), as [kTokens][dim].
std::vector<Row> tile_bounds(const Policies& policies, const std::vector<Row>& coded) {
  std::vector<Row> bounds(kTokens, Row(policies.dim));
  const std::uint32_t seal = policies.group_tokens;
  for (std::uint32_t first = kSinks; first + seal <= kTokens; first += seal) {
    std::vector<std::vector<bool>> apart(seal, std::vector<bool>(policies.dim));
    for (std::uint32_t t = 0; t < seal; ++t) {
      const Row& row = coded[first + t];
      for (std::uint32_t o = 0; o < policies.outliers; ++o) {
        std::uint32_t best = policies.dim;
        for (std::uint32_t c = 0; c < policies.dim; ++c) {
          if (!apart[t][c] && (best == policies.dim || std::fabs(row[c]) > std::fabs(row[best])))
            best = c;
        }
        apart[t][best] = true;
      }
    }
    for (std::uint32_t begin = 0; begin < policies.dim; begin += policies.group_channels) {
      const std::uint32_t end = std::min(begin + policies.group_channels, policies.dim);
      double lowest = 1e300;
      double highest = -1e300;
      for (std::uint32_t t = 0; t < seal; ++t) {
        for (std::uint32_t c = begin; c < end; ++c) {
          if (apart[t][c]) continue;
          lowest = std::min(lowest, coded[first + t][c]);
          highest = std::max(highest, coded[first + t][c]);
        }
      }
      const double bound = lowest <= highest ? half_step(policies, lowest, highest) : 0.0;
      for (std::uint32_t t = 0; t < seal; ++t) {
        for (std::uint32_t c = begin; c < end; ++c) bounds[first + t][c] = bound;
      }
    }
    // A slot holds x - dense in 1/127 of the token's largest difference; dense lies within the
    // range of the others, stretched by the rounding of step and zero point (one step is plenty).
    for (std::uint32_t t = 0; t < seal; ++t) {
      double largest = 0.0;
      double dense = 0.0;
      for (std::uint32_t c = 0; c < policies.dim; ++c) {
        largest = std::max(largest, std::fabs(coded[first + t][c]));
        dense = std::max(dense, 2.0 * bounds[first + t][c]);
      }
      double others = 0.0;
      for (std::uint32_t u = 0; u < seal; ++u) {
        for (std::uint32_t c = 0; c < policies.dim; ++c) {
          if (!apart[u][c]) others = std::max(others, std::fabs(coded[first + u][c]));
        }
      }
      const double slot = 0.5 * (largest + others + dense) / 127.0 * (1.0 + 0x1p-10);
      for (std::uint32_t c = 0; c < policies.dim; ++c) {
        if (apart[t][c]) bounds[first + t][c] = slot;
      }
    }
  }
  return bounds;  // tokens of an open seal keep 0: they wait as floats
}

// Oaken: ranges of each band over all heads of a token; outer and inner: half a step, middle: one.
std::vector<Row> band_bounds(const Policies& policies,
                             const std::vector<std::vector<Row>>& coded_heads, std::uint32_t head) {
  const double outer_low = kThresholds[0];
  const double inner_low = kThresholds[1];
  const double inner_high = kThresholds[2];
  const double outer_high = kThresholds[3];
  const auto band_of = [&](double x) {
    return x > outer_high || x < outer_low ? 1 : x > inner_high || x < inner_low ? 2 : 0;
  };
  const auto shifted = [&](double x) {
    if (x > outer_high) return x - outer_high;
    if (x < outer_low) return outer_low - x;
    if (x > inner_high) return x - inner_high;
    if (x < inner_low) return x - inner_low;
    return std::fabs(x);
  };
  std::vector<Row> bounds(kTokens, Row(policies.dim));
  for (std::uint32_t t = kSinks; t < kTokens; ++t) {
    double lowest[3] = {1e300, 1e300, 1e300};
    double highest[3] = {-1e300, -1e300, -1e300};
    for (const std::vector<Row>& coded : coded_heads) {
      for (const double x : coded[t]) {
        double& low = lowest[band_of(x)];
        double& high = highest[band_of(x)];
        low = std::min(low, shifted(x));
        high = std::max(high, shifted(x));
      }
    }
    for (std::uint32_t c = 0; c < policies.dim; ++c) {
      const int band = band_of(coded_heads[head][t][c]);
      const double low = lowest[band];
      const double high = highest[band];
      const double outward = 0x1p-10 * (std::fabs(low) + std::fabs(high)) + 0x1p-23;
      bounds[t][c] = (high - low + outward) / 15.0 * (band == 2 ? 1.0 : 0.5);
    }
  }
  return bounds;
}

// Checks decoded [kTokens, dim] rows of a head against the original ones; returns each token's
// largest possible error as a Euclidean norm. `tightest`: largest error found over its bound.
std::vector<double> check_rows(const Policies& policies, const float* decoded,
                               const std::vector<float>& original, std::uint32_t head,
                               const std::vector<Row>& bounds, double& tightest) {
  std::vector<double> norms(kTokens);
  int beyond = 0;
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    const float* row = &original[(t * kHeads + head) * policies.dim];
    const float* read = decoded + t * policies.dim;
    if (t < kSinks) {
      beyond += std::memcmp(row, read, policies.dim * sizeof(float)) != 0;
      continue;
    }
    // Float rounding of transform, decode and restore: a few ulps of the largest magnitude, times
    // the log2(dim) stages of a rotation.
    double largest = 4.0;  // at least the means
    for (std::uint32_t c = 0; c < policies.dim; ++c)
      largest = std::max(largest, std::fabs(static_cast<double>(row[c])));
    const double rounding = 32.0 * 0x1p-24 * largest;
    double errors = 0.0;
    for (std::uint32_t c = 0; c < policies.dim; ++c) {
      const double error = std::fabs(static_cast<double>(read[c]) - static_cast<double>(row[c]));
      errors += error * error;
      const double bound = bounds[t][c] + rounding;
      norms[t] += bound * bound;
      if (rotates(policies.transform)) continue;
      beyond += !(error <= bound);
      if (bounds[t][c] > 0.0) tightest = std::max(tightest, error / bound);
    }
    norms[t] = std::sqrt(norms[t]);
    beyond += !(std::sqrt(errors) <= norms[t]);
    if (rotates(policies.transform) && bounds[t][0] > 0.0)
      tightest = std::max(tightest, std::sqrt(errors) / norms[t]);
  }
  CHECK(beyond == 0);
  return norms;
}

// Compares attention with attend_ref over key and value rows [kTokens][dim] at `stride`.
template <class Tolerance>
void check_attention(const Policies& policies, const Input& input, const Outcome& outcome,
                     std::uint32_t head, const float* keys, const float* values, std::size_t stride,
                     Tolerance tolerance) {
  const std::uint32_t dim = policies.dim;
  std::vector<double> out(dim);
  std::vector<double> weights(kTokens);
  for (std::uint32_t j = 0; j < kGroup; ++j) {
    const std::size_t q = head * kGroup + j;
    const float* query = &input.queries[q * dim];
    const double log_sum = attend_ref(
        kTokens, dim, dim, query, 0.25, [&](std::uint32_t t) { return keys + t * stride; },
        [&](std::uint32_t t) { return values + t * stride; }, out.data(), weights.data());
    double length = 0.0;
    for (std::uint32_t c = 0; c < dim; ++c) length += std::pow(static_cast<double>(query[c]), 2);
    const auto [logit_error, output_error] = tolerance(std::sqrt(length));
    CHECK(std::fabs(static_cast<double>(outcome.log_sums[q]) - log_sum) <= logit_error);
    double worst = 0.0;
    for (std::uint32_t c = 0; c < dim; ++c)
      worst = std::max(worst, std::fabs(static_cast<double>(outcome.out[q * dim + c]) - out[c]));
    CHECK(worst <= output_error);
  }
}

// Noise in [-1, 1).
class Noise {
 public:
  explicit Noise(std::uint32_t seed) : state_(seed) {}
  float next() {
    state_ = 1664525u * state_ + 1013904223u;
    return static_cast<float>(state_ >> 8) * 0x1p-23f - 1.0f;
  }

 private:
  std::uint32_t state_;
};

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

Input make_input(std::uint32_t dim) {
  Input input;
  input.shape.layers = 1;
  input.shape.kv_heads = kHeads;
  input.shape.max_tokens = kTokens;
  input.shape.sinks = kSinks;
  input.shape.rope = Rope::standard(RopeLayout::kHalves, dim, kRopeBase);
  Noise noise(dim);
  const auto fill = [&](std::vector<float>& values, std::size_t n, float factor) {
    for (std::size_t i = 0; i < n; ++i) values.push_back(factor * noise.next());
  };
  fill(input.key_means, kHeads * dim, 2.0f);
  fill(input.value_means, kHeads * dim, 1.0f);
  fill(input.queries, kHeads * kGroup * dim, 1.0f);
  const auto element = [&] {
    const float x = noise.next();
    return noise.next() > 0.9f ? 4.0f * x : x;  // one in twenty may be large
  };
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      const Row center = rotate(&input.key_means[h * dim], dim, t);
      for (std::uint32_t c = 0; c < dim; ++c) {
        input.keys.push_back(static_cast<float>(center[c]) + element());
        input.values.push_back(input.value_means[h * dim + c] + element());
      }
    }
  }
  return input;
}

void check(const Policies& policies, const Input& input, const Outcome& singly,
           const Outcome& at_once) {
  REQUIRE(singly.ok);
  REQUIRE(at_once.ok);
  CHECK(same(singly.keys, at_once.keys));
  CHECK(same(singly.values, at_once.values));
  CHECK(same(singly.out, at_once.out));
  CHECK(same(singly.log_sums, at_once.log_sums));
  CHECK(singly.memory == at_once.memory);

  const std::uint32_t dim = policies.dim;
  std::vector<std::vector<Row>> keys(kHeads, std::vector<Row>(kTokens));
  std::vector<std::vector<Row>> values = keys;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    for (std::uint32_t t = 0; t < kTokens; ++t) {
      const std::size_t at = (t * kHeads + h) * dim;
      keys[h][t] = coded_row(policies, true, &input.keys[at], &input.key_means[h * dim], t);
      values[h][t] = coded_row(policies, false, &input.values[at], &input.value_means[h * dim], t);
    }
  }
  double tightest = 0.0;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    const bool bands = policies.family == Family::kGroupShift;
    const auto key_bounds = bands ? band_bounds(policies, keys, h) : tile_bounds(policies, keys[h]);
    const auto value_bounds =
        bands ? band_bounds(policies, values, h) : tile_bounds(policies, values[h]);
    const float* decoded_keys = &singly.keys[h * kTokens * dim];
    const float* decoded_values = &singly.values[h * kTokens * dim];
    const std::vector<double> key_errors =
        check_rows(policies, decoded_keys, input.keys, h, key_bounds, tightest);
    const std::vector<double> value_errors =
        check_rows(policies, decoded_values, input.values, h, value_bounds, tightest);

    // Over decoded rows: float sums of 80 tokens of magnitude < 8.
    check_attention(policies, input, singly, h, decoded_keys, decoded_values, dim,
                    [](double) { return std::pair(1e-4, 1e-4); });
    // Over the original rows: a logit moves by at most d = scale |q| |dk|, so a weight by a factor
    // within e^(+-2d), and the output by (e^2d - 1) max|v| + max|dv|.
    const double key_error = *std::max_element(key_errors.begin(), key_errors.end());
    const double value_error = *std::max_element(value_errors.begin(), value_errors.end());
    double largest = 0.0;
    for (const float x : input.values) largest = std::max(largest, std::fabs(double{x}));
    check_attention(policies, input, singly, h, &input.keys[h * dim], &input.values[h * dim],
                    static_cast<std::size_t>(kHeads) * dim, [&](double query) {
                      const double moved = 0.25 * query * key_error;
                      return std::pair(moved + 1e-4,
                                       std::expm1(2.0 * moved) * largest + value_error + 1e-4);
                    });
  }
  // The bounds bind: what was read did go through codes of this width.
  CHECK(tightest > (rotates(policies.transform) ? 0.4 : 0.8));
}

}  // namespace composition
}  // namespace kvpleat::inline KVPLEAT_ISA
