// The oracle of round_trip.h: transforms and error bounds in double, written without the library.
#include "composition/round_trip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace kvpleat::inline KVPLEAT_ISA {
namespace composition {
namespace {

constexpr double kRopeBase = 10000.0;

using Row = std::vector<double>;

// R(position) row: pairs (i, i + dim/2), angle position * base^(-2i/dim).
Row rotate(const float* row, std::uint32_t dim, double position) {
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

// row[at, at + n) by an orthonormal Hadamard matrix, n a power of two.
void hadamard(Row& row, std::uint32_t at, std::uint32_t n) {
  const Row from(row.begin() + at, row.begin() + at + n);
  for (std::uint32_t i = 0; i < n; ++i) {
    row[at + i] = 0.0;
    for (std::uint32_t j = 0; j < n; ++j) {
      int ones = 0;
      for (std::uint32_t both = i & j; both > 0; both &= both - 1) ++ones;
      row[at + i] += (ones % 2 == 0 ? 1.0 : -1.0) * from[j] / std::sqrt(n);
    }
  }
}
void flip_signs(Row& row) {
  for (std::uint32_t c = 0; c < row.size(); ++c) row[c] *= static_cast<double>(random_sign(1, c));
}
// Signs, then a matrix per binary digit of dim, largest first.
void spread(Row& row) {
  flip_signs(row);
  const auto dim = static_cast<std::uint32_t>(row.size());
  for (std::uint32_t at = 0; at < dim;) {
    std::uint32_t n = 1;
    while (2 * n <= dim - at) n *= 2;
    hadamard(row, at, n);
    at += n;
  }
}
// A matrix per block of the largest power of two that divides dim.
std::uint32_t spread_plainly(Row& row) {
  const auto dim = static_cast<std::uint32_t>(row.size());
  std::uint32_t n = 1;
  while (dim % (2 * n) == 0) n *= 2;
  for (std::uint32_t at = 0; at < dim; at += n) hadamard(row, at, n);
  return n;
}
// Signs, these blocks, and a reflection over their numbers (dim / n is 1 or 5 here).
void spread_widely(Row& row) {
  flip_signs(row);
  const std::uint32_t n = spread_plainly(row);
  const auto blocks = static_cast<std::uint32_t>(row.size()) / n;
  REQUIRE((blocks == 1 || blocks == 5));
  for (std::uint32_t i = 0; blocks > 1 && i < n; ++i) {
    double sum = 0.0;
    for (std::uint32_t k = 0; k < blocks; ++k) sum += row[k * n + i];
    for (std::uint32_t k = 0; k < blocks; ++k) row[k * n + i] -= 2.0 * sum / blocks;
  }
}

// Whether the coded channels are not the row's: then only lengths of errors are known.
bool mixes(const Policies& policies) {
  const Transform t = policies.transform;
  return !(t == Transform::kNone || t == Transform::kCentered || t == Transform::kScaled) ||
         policies.stored == Stored::kDirection || policies.stored == Stored::kSketch;
}
// What an error of a channel of a row is divided by before it is compared with coded ones.
double unit_of(const Policies& policies, std::uint32_t c) {
  const bool scaled =
      policies.transform == Transform::kScaled || policies.transform == Transform::kBalanced;
  return scaled ? static_cast<double>(scale_of(c)) : 1.0;
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
  for (std::uint32_t c = 0; c < policies.dim; ++c) coded[c] /= unit_of(policies, c);
  switch (policies.transform) {
    case Transform::kRotated:
    case Transform::kCenteredRotated:
    case Transform::kBalanced:
      spread(coded);
      break;
    case Transform::kPlain:
      spread_plainly(coded);
      break;
    case Transform::kKronecker:
      spread_widely(coded);
      break;
    case Transform::kUnrotated:
      return rotate(row, policies.dim, -static_cast<double>(position));
    default:
      break;
  }
  return coded;
}

// To binary16, of numbers in its normal range: the nearest (ties to even), the smallest not below.
double nearest_half(double x) {
  const double unit = std::exp2(std::floor(std::log2(std::fabs(x))) - 10.0);
  return x == 0.0 ? 0.0 : std::nearbyint(x / unit) * unit;
}
double half_above(double x) {
  const double unit = std::exp2(std::floor(std::log2(std::fabs(x))) - 10.0);
  return x == 0.0 ? 0.0 : std::ceil(x / unit) * unit;
}
// To a power of 2^(1/16), by the nearer value.
double nearest_log(double x) {
  const double below = std::exp2(std::floor(std::log2(x) * 16.0) / 16.0);
  const double above = below * std::exp2(1.0 / 16.0);
  return x > (below + above) / 2.0 ? above : below;
}
// The positive e4m3 numbers by their bytes, 1 .. 126.
double e4m3(int byte) {
  return byte < 8 ? std::ldexp(byte, -9) : std::ldexp(8 + byte % 8, byte / 8 - 10);
}

// Levels of least squared error for N(0,1), or for a channel of a rotated vector of `dim` channels
// and RMS 1: Lloyd's rounds over a grid of the density.
const std::vector<double>& book(std::uint32_t bits, std::uint32_t dim) {
  static std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> books;
  std::vector<double>& levels = books[{bits, dim}];
  if (!levels.empty()) return levels;
  const double reach = dim == 0 ? 8.0 : std::sqrt(dim);
  constexpr std::size_t kGrid = 20000;
  const auto density = [&](double x) {
    return dim == 0 ? std::exp(-x * x / 2.0)
                    : std::pow(1.0 - x * x / dim, (static_cast<double>(dim) - 3.0) / 2.0);
  };
  std::vector<double> mass(kGrid + 1);  // of x below grid point i
  std::vector<double> moment(kGrid + 1);
  const double width = 2.0 * reach / static_cast<double>(kGrid);
  for (std::size_t i = 0; i < kGrid; ++i) {
    const double x = -reach + (static_cast<double>(i) + 0.5) * width;
    mass[i + 1] = mass[i] + density(x);
    moment[i + 1] = moment[i] + density(x) * x;
  }
  const auto at = [&](const std::vector<double>& sums, double x) {  // linear in between
    const double place = std::clamp((x + reach) / width, 0.0, static_cast<double>(kGrid));
    const std::size_t i = std::min(static_cast<std::size_t>(place), kGrid - 1);
    return sums[i] + (place - static_cast<double>(i)) * (sums[i + 1] - sums[i]);
  };
  const std::size_t count = std::size_t{1} << bits;
  for (std::size_t i = 0; i < count; ++i)
    levels.push_back(4.0 * (static_cast<double>(i) + 0.5) / static_cast<double>(count) - 2.0);
  for (int round = 0; round < 5000; ++round) {
    double low = -reach;
    double moved = 0.0;
    std::vector<double> next(levels);
    for (std::size_t i = 0; i < count; ++i) {
      const double high = i + 1 < count ? (levels[i] + levels[i + 1]) / 2.0 : reach;
      next[i] = (at(moment, high) - at(moment, low)) / (at(mass, high) - at(mass, low));
      moved = std::max(moved, std::fabs(next[i] - levels[i]));
      low = high;
    }
    levels = next;
    if (moved < 1e-9) break;
  }
  return levels;
}

// Half the distance of the levels around q, or how far it lies beyond the last one. Where q is
// within `slack` of a level, the wider of both sides.
double half_gap(const std::vector<double>& levels, double q, double slack) {
  double widest = 0.0;
  for (const double at : {q - slack, q + slack}) {
    if (at < levels.front()) {
      widest = std::max(widest, levels.front() - at);
    } else if (at > levels.back()) {
      widest = std::max(widest, at - levels.back());
    } else {
      for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        if (at >= levels[i] && at <= levels[i + 1])
          widest = std::max(widest, (levels[i + 1] - levels[i]) / 2.0);
      }
    }
  }
  return widest;
}

// What the docs of a quantizer promise for one group, from its members.
class Law {
 public:
  Law(const Policies& policies, const Row& members) : p_(policies), members_(members) {
    if (members.empty()) return;
    lowest_ = *std::min_element(members.begin(), members.end());
    highest_ = *std::max_element(members.begin(), members.end());
    largest_ = std::max(std::fabs(lowest_), std::fabs(highest_));
    reach_ = largest_;
    const double codes = std::exp2(p_.bits);
    const double out = 1.0 + p_.side_ulp;
    switch (p_.family) {
      case Family::kAffine:
        half_step_ = 0.5 * (highest_ - lowest_ + p_.side_ulp * largest_) / (codes - 1.0) * out;
        break;
      case Family::kSymmetric:
      case Family::kSealed:
        half_step_ = 0.5 * largest_ / (codes / 2.0 - 1.0) * out;
        break;
      case Family::kPowerOfTwo:
        half_step_ = largest_ / (codes / 2.0 - 1.0);
        break;
      case Family::kMidRise:
        half_step_ = 0.5 * largest_ / (codes / 2.0) * out;
        break;
      case Family::kZeroPoint:
        half_step_ = 0.5 * (std::max(highest_, 0.0) - std::min(lowest_, 0.0)) / (codes - 1.0) * out;
        break;
      case Family::kCodebook:
        fit_codebook();
        break;
      case Family::kNuq:
        fit_signposts();
        break;
      case Family::kMinifloat:
        fit_minifloat();
        break;
      default:
        break;
    }
    if (half_step_ > 0.0) reach_ = largest_ + 2.0 * half_step_;
  }

  // The largest |x - decoded|.
  [[nodiscard]] double bound(double x) const {
    if (members_.empty()) return 0.0;
    switch (p_.family) {
      case Family::kNothing:
        return std::fabs(x);
      case Family::kCodebook: {
        // |x - value| <= coding * |q - level| + |level| * |coding - scale|; levels are solved to
        // five digits here.
        const double q = x / coding_;
        double level = 0.0;  // the larger of both around q
        for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
          if (q >= levels_[i] || i == 0)
            level = std::max(std::fabs(levels_[i]), std::fabs(levels_[i + 1]));
        }
        return coding_ * (half_gap(levels_, q, 1e-6) + 1e-4) + level * std::fabs(coding_ - scale_);
      }
      case Family::kNuq:
        return scale_ * half_gap(levels_, (x - offset_) / scale_, 1e-6);
      case Family::kMinifloat: {
        double worst = 0.0;
        for (const double scale : scales_) worst = std::max(worst, minifloat_error(x, scale));
        return worst;
      }
      case Family::kGgml:
        return ggml_error(x);
      default:
        return half_step_;
    }
  }
  // The largest magnitude that a code stands for.
  [[nodiscard]] double reach() const { return members_.empty() ? 0.0 : reach_; }

 private:
  void fit_codebook() {
    levels_ = book(p_.bits, p_.sphere ? p_.dim : 0);
    double energy = 0.0;
    for (const double x : members_) energy += x * x;
    const auto stored = [&](double x) { return p_.log_side ? nearest_log(x) : nearest_half(x); };
    coding_ = stored(std::sqrt(energy / static_cast<double>(members_.size())));
    double both = 0.0;
    double squares = 0.0;
    for (const double x : members_) {
      double level = levels_[0];
      for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
        if (x / coding_ > (levels_[i] + levels_[i + 1]) / 2.0) level = levels_[i + 1];
      }
      both += x * level;
      squares += level * level;
    }
    const double exact[4] = {coding_, std::sqrt(energy / squares), both / squares, energy / both};
    const auto policy = static_cast<std::size_t>(p_.scaling);
    scale_ = policy == 0 ? coding_ : stored(exact[policy]);
    reach_ = levels_.back() * scale_;
  }
  void fit_signposts() {
    for (std::uint32_t i = 0; i < 1u << p_.bits; ++i)
      levels_.push_back(static_cast<double>(signpost(p_.bits, i)));
    if (p_.ranged) {
      offset_ = nearest_half((lowest_ + highest_) / 2.0);
      scale_ = half_above(std::max(highest_ - offset_, offset_ - lowest_));
    }
    reach_ = scale_ + std::fabs(offset_);
  }
  void fit_minifloat() {
    top_ = p_.element == Element::kE4m3 ? 448.0 : p_.element == Element::kE5m2 ? 57344.0 : 6.0;
    if (p_.scales == Scales::kHead) {
      scales_ = {static_cast<double>(kHeadScale)};
    } else if (p_.scales == Scales::kHalf) {
      scales_ = {half_above(largest_ / top_)};
    } else if (p_.scales == Scales::kPowerOfTwo) {
      const double rule = std::exp2(std::floor(std::log2(largest_)) - std::floor(std::log2(top_)));
      scales_ = {rule};
      if (p_.searches) scales_.insert(scales_.end(), {2.0 * rule, 0.5 * rule});
    } else {
      const double head = static_cast<double>(kHeadScale);
      int nearest = 1;
      for (int byte = 2; byte < 127; ++byte) {
        const double exact = largest_ / top_ / head;
        if (std::fabs(e4m3(byte) - exact) < std::fabs(e4m3(nearest) - exact)) nearest = byte;
      }
      scales_ = {e4m3(nearest) * head};
      for (const int other : {1, -1, 4, 5}) {
        if (p_.searches) scales_.push_back(e4m3(std::clamp(nearest + other, 1, 126)) * head);
      }
    }
    reach_ = top_ * *std::max_element(scales_.begin(), scales_.end());
  }
  // Half the distance of the numbers around x / scale, or what lies beyond the largest one.
  [[nodiscard]] double minifloat_error(double x, double scale) const {
    const double digits = p_.element == Element::kE4m3 ? 3.0 : p_.element == Element::kE5m2 ? 2 : 1;
    const double first = p_.element == Element::kE4m3   ? -6.0
                         : p_.element == Element::kE5m2 ? -14
                                                        : 0;
    const double q = std::fabs(x) / scale;
    if (q > top_) return (q - top_) * scale;
    const double exponent =
        q > 0.0 ? std::max(std::floor(std::log2(q * (1.0 + 1e-6))), first) : first;
    return std::exp2(exponent - digits - 1.0) * scale;
  }
  // d and m are binary16: 2^-11 of code * d and of m.
  [[nodiscard]] double ggml_error(double x) const {
    const double levels[] = {8.0, 15.0, 16.0, 31.0, 127.0};
    const double top = levels[p_.ggml];
    if (p_.ggml == 1 || p_.ggml == 3) {
      const double range = highest_ - lowest_;
      return 0.5 * range / top + 0x1p-11 * (range + std::fabs(lowest_));
    }
    const double d = largest_ / top;
    const double most = *std::find_if(members_.begin(), members_.end(),
                                      [&](double m) { return std::fabs(m) == largest_; });
    const bool opposite = p_.ggml != 4 && x * most < 0.0;  // its last level is one d nearer
    return std::max(0.5 * d, opposite ? std::fabs(x) - (top - 1.0) * d : 0.0) + 0x1p-11 * largest_;
  }

  const Policies& p_;
  const Row& members_;
  double lowest_ = 0.0;
  double highest_ = 0.0;
  double largest_ = 0.0;
  double reach_ = 0.0;
  double half_step_ = 0.0;
  std::vector<double> levels_;
  double coding_ = 0.0;
  double scale_ = 1.0;
  double offset_ = 0.0;
  double top_ = 0.0;
  std::vector<double> scales_;
};

// Median and limit of a channel of a row: 3 * 1.4826 times the median deviation.
std::pair<double, double> mad_limits(const Policies& policies, const Row& row, std::uint32_t c) {
  const auto own = [](const MadLimits& limits) {
    return std::pair(static_cast<double>(limits.median), static_cast<double>(limits.limit));
  };
  if (policies.mad == MadOver::kTensor) return own(kTensorLimits);
  if (policies.mad == MadOver::kChannel) return own(channel_limits(c));
  const auto lower_median = [](Row values) {
    std::sort(values.begin(), values.end());
    return values[(values.size() - 1) / 2];
  };
  const double median = lower_median(row);
  Row deviations(row);
  for (double& x : deviations) x = std::fabs(x - median);
  return {median, 4.4478 * lower_median(deviations)};
}

// Places of a value among the bands, 0 outermost; and what its code measures.
struct Placed {
  std::uint32_t band;
  double u;      // x, less the threshold where the band is shifted
  bool divides;  // the code tells the side
  double codes;  // the largest code
};
Placed place(const Policies& policies, double x) {
  std::vector<double> edges(kOuterEdges, kOuterEdges + policies.outer_bands);
  std::reverse(edges.begin(), edges.end());
  for (std::uint32_t i = policies.inner_bands; i-- > 0;)
    edges.push_back(static_cast<double>(kInnerEdges[i]));
  std::uint32_t band = 0;
  while (band < edges.size() && !(std::fabs(x) > edges[band])) ++band;
  const bool outer = band < policies.outer_bands;
  const bool middle = band == policies.outer_bands;
  const bool is_signed = !middle && policies.band_code == OutlierCode::kSignMagnitude5;
  const bool shifted = outer || (middle && policies.inner_bands > 0);
  double u = shifted ? x - std::copysign(edges[band], x) : x;
  if (is_signed) u = std::fabs(u);
  const double codes = !middle && policies.band_code == OutlierCode::kOffsetBinary5 ? 31.0 : 15.0;
  return {band, u, shifted && !is_signed, codes};
}

// Which channels of a row are kept apart.
std::vector<bool> apart_of(const Policies& policies, const Row& row) {
  Row beyond(policies.dim);  // 0: stays
  for (std::uint32_t c = 0; c < policies.dim; ++c) {
    const double size = std::fabs(row[c]);
    if (policies.splitter == Splitter::kTopK) {
      beyond[c] = size + 1e-30;
    } else if (policies.splitter == Splitter::kRange) {
      beyond[c] = size > 1.0 ? size : 0.0;
    } else if (policies.splitter == Splitter::kMad) {
      const auto [median, limit] = mad_limits(policies, row, c);
      const double deviation = std::fabs(row[c] - median);
      beyond[c] = deviation > limit ? deviation : 0.0;
    } else if (policies.splitter == Splitter::kBands) {
      beyond[c] = place(policies, row[c]).band == policies.outer_bands ? 0.0 : 1.0;
    }
  }
  std::vector<bool> apart(policies.dim);
  const std::uint32_t most = policies.outliers > 0 ? policies.outliers : policies.dim;
  for (std::uint32_t i = 0; i < most; ++i) {
    const auto best = std::max_element(beyond.begin(), beyond.end());  // the first of equal ones
    if (!(*best > 0.0)) break;
    apart[static_cast<std::size_t>(best - beyond.begin())] = true;
    *best = 0.0;
  }
  return apart;
}

// The row as it is coded: filtered, or without what its coefficient along the direction says.
Row dense_row(const Policies& policies, const Row& row) {
  Row dense(row);
  if (policies.splitter == Splitter::kMadClamp) {
    for (std::uint32_t c = 0; c < policies.dim; ++c) {
      const auto [median, limit] = mad_limits(policies, row, c);
      dense[c] = std::clamp(row[c], median - limit, median + limit);
    }
  } else if (policies.splitter == Splitter::kDirection) {
    double along = 0.0;
    for (std::uint32_t c = 0; c < policies.dim; ++c)
      along += row[c] * static_cast<double>(direction(policies.dim, c));
    const auto step = static_cast<double>(kDirectionStep);
    const double coefficient = std::nearbyint(along / step) * step;
    for (std::uint32_t c = 0; c < policies.dim; ++c)
      dense[c] -= coefficient * static_cast<double>(direction(policies.dim, c));
  }
  return dense;
}

// Renewed steps: the one in force is at most that of 5/4 of the largest magnitude so far (the first
// of a block covers what the block before stores, half a step more). The entries of a block suffice
// here, so that nothing is clipped.
std::vector<double> renewed_bounds(const Policies& policies, const std::vector<Row>& coded,
                                   const std::vector<std::vector<bool>>& apart) {
  std::vector<double> bounds(kTokens);
  double largest = 0.0;
  const double top = std::exp2(policies.bits - 1) - 1.0;
  for (std::uint32_t t = kSinks; t < kTokens; ++t) {
    for (std::uint32_t c = 0; c < policies.dim; ++c) {
      if (!apart[t][c]) largest = std::max(largest, std::fabs(coded[t][c]));
    }
    bounds[t] = 0.5 * 1.25 * largest / top * (1.0 + 0x1p-10);
  }
  return bounds;
}

// The largest coded errors of a head's tokens [kSinks, end), as [kTokens][dim].
std::vector<Row> tile_bounds(const Policies& policies, const std::vector<Row>& coded) {
  std::vector<Row> bounds(kTokens, Row(policies.dim));
  std::vector<Row> dense(kTokens);
  std::vector<std::vector<bool>> apart(kTokens);
  for (std::uint32_t t = kSinks; t < kTokens; ++t) {
    dense[t] = dense_row(policies, coded[t]);
    apart[t] = apart_of(policies, coded[t]);
  }
  const bool renewed = policies.family == Family::kRenewed;
  const std::vector<double> by_token =
      renewed ? renewed_bounds(policies, dense, apart) : std::vector<double>();
  const std::uint32_t seal = policies.group_tokens;
  for (std::uint32_t first = kSinks; first + seal <= kTokens; first += seal) {
    double reach = 0.0;  // of the dense codes of these tokens
    for (std::uint32_t begin = 0; begin < policies.dim; begin += policies.group_channels) {
      const std::uint32_t end = std::min(begin + policies.group_channels, policies.dim);
      Row members;
      for (std::uint32_t t = first; t < first + seal; ++t) {
        for (std::uint32_t c = begin; c < end; ++c) {
          if (policies.stored == Stored::kHash ? apart[t][c] : !apart[t][c])
            members.push_back(dense[t][c]);
        }
      }
      const Law law(policies, members);
      reach = std::max(reach, law.reach());
      for (std::uint32_t t = first; t < first + seal; ++t) {
        for (std::uint32_t c = begin; c < end; ++c)
          bounds[t][c] = renewed ? by_token[t] : law.bound(dense[t][c]);
      }
    }
    for (std::uint32_t t = first; t < first + seal; ++t) {
      double largest = 0.0;
      for (const double x : coded[t]) largest = std::max(largest, std::fabs(x));
      // A slot holds x - dense in 1/127 of the token's largest difference.
      const double slot = 0.5 * (largest + reach) / 127.0 * (1.0 + 0x1p-10);
      double energy = 0.0;
      double clamped = 0.0;
      for (std::uint32_t c = 0; c < policies.dim; ++c) {
        energy += bounds[t][c] * bounds[t][c];
        if (policies.splitter == Splitter::kMadClamp)
          clamped += std::pow(coded[t][c] - dense[t][c], 2);
      }
      for (std::uint32_t c = 0; c < policies.dim; ++c) {
        const double size = std::fabs(coded[t][c]);
        double& bound = bounds[t][c];
        if (policies.stored == Stored::kSlots && apart[t][c]) {
          bound = slot;
        } else if (policies.stored == Stored::kSparse && apart[t][c]) {
          bound = 0x1p-11 * size + 0x1p-25;
        } else if (policies.stored == Stored::kHash && !apart[t][c]) {
          bound = size;
        } else if (policies.stored == Stored::kDirection) {
          // The last coefficient takes the error along the direction: at most half its step.
          const auto half = static_cast<double>(kDirectionStep) / 2.0;
          bound = std::sqrt(bound * bound + half * half / policies.dim);
        } else if (policies.stored == Stored::kSketch) {
          // With S orthonormal and c = sqrt(pi / (2 dim)) the estimate of the residual r has length
          // sqrt(pi / 2) |r|, and its product with r is c |r| sum|S r| >= c |r|^2.
          const double half_pi = std::acos(0.0);
          const double share = 1.0 + half_pi - 2.0 * std::sqrt(half_pi / policies.dim);
          bound = (std::sqrt(energy * share) * (1.0 + 0x1p-10) + std::sqrt(clamped)) /
                  std::sqrt(policies.dim);
        } else if (policies.splitter == Splitter::kMadClamp) {
          bound += std::fabs(coded[t][c] - dense[t][c]);
        }
      }
    }
  }
  return bounds;  // tokens of an open seal keep 0: they wait as floats
}

// Oaken: ranges of each band over all heads of a token, or over its own; half a step, or one where
// the code tells the side. Ranges are binary16, rounded outwards.
std::vector<Row> band_bounds(const Policies& policies,
                             const std::vector<std::vector<Row>>& coded_heads, std::uint32_t head) {
  std::vector<Row> bounds(kTokens, Row(policies.dim));
  const std::uint32_t bands = policies.outer_bands + 1 + policies.inner_bands;
  for (std::uint32_t t = kSinks; t < kTokens; ++t) {
    std::vector<double> lowest(bands, 1e300);
    std::vector<double> highest(bands, -1e300);
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      if (policies.per_head && h != head) continue;
      for (const double x : coded_heads[h][t]) {
        const Placed at = place(policies, x);
        lowest[at.band] = std::min(lowest[at.band], at.u);
        highest[at.band] = std::max(highest[at.band], at.u);
      }
    }
    for (std::uint32_t c = 0; c < policies.dim; ++c) {
      const double x = coded_heads[head][t][c];
      const Placed at = place(policies, x);
      const double low = lowest[at.band];
      const double high = highest[at.band];
      const double outward = 0x1p-10 * (std::fabs(low) + std::fabs(high)) + 0x1p-23;
      bounds[t][c] = (high - low + outward) / at.codes * (at.divides ? 1.0 : 0.5);
      if (policies.stored == Stored::kCoo23 && at.band != policies.outer_bands)
        bounds[t][c] = 0x1p-11 * std::fabs(x) + 0x1p-25;  // as binary16
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
    double coded = 0.0;
    double widest = 0.0;
    for (std::uint32_t c = 0; c < policies.dim; ++c) {
      const double unit = unit_of(policies, c);
      const double error =
          std::fabs(static_cast<double>(read[c]) - static_cast<double>(row[c])) / unit;
      const double bound = bounds[t][c] + rounding;
      errors += error * error;
      coded += bound * bound;
      widest = std::max(widest, unit);
      if (mixes(policies)) continue;
      beyond += !(error <= bound);
      if (bounds[t][c] > 0.0) tightest = std::max(tightest, error / bound);
    }
    beyond += !(errors <= coded);
    norms[t] = widest * std::sqrt(coded);
    const bool sealed = *std::max_element(bounds[t].begin(), bounds[t].end()) > 0.0;
    if (mixes(policies) && sealed) tightest = std::max(tightest, std::sqrt(errors / coded));
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

void check(const Policies& key_policies, const Policies& value_policies, const Input& input,
           const Outcome& singly, const Outcome& at_once) {
  REQUIRE(singly.ok);
  REQUIRE(at_once.ok);
  CHECK(same(singly.keys, at_once.keys));
  CHECK(same(singly.values, at_once.values));
  CHECK(same(singly.out, at_once.out));
  CHECK(same(singly.log_sums, at_once.log_sums));
  CHECK(singly.memory == at_once.memory);

  const std::uint32_t dim = key_policies.dim;
  std::vector<std::vector<Row>> keys(kHeads, std::vector<Row>(kTokens));
  std::vector<std::vector<Row>> values = keys;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    for (std::uint32_t t = 0; t < kTokens; ++t) {
      const std::size_t at = (t * kHeads + h) * dim;
      keys[h][t] = coded_row(key_policies, true, &input.keys[at], &input.key_means[h * dim], t);
      values[h][t] =
          coded_row(value_policies, false, &input.values[at], &input.value_means[h * dim], t);
    }
  }
  double key_tightest = 0.0;
  double value_tightest = 0.0;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    const auto bounds_of = [h](const Policies& policies,
                               const std::vector<std::vector<Row>>& rows) {
      return policies.family == Family::kGroupShift ? band_bounds(policies, rows, h)
                                                    : tile_bounds(policies, rows[h]);
    };
    const float* decoded_keys = &singly.keys[h * kTokens * dim];
    const float* decoded_values = &singly.values[h * kTokens * dim];
    const std::vector<double> key_errors = check_rows(key_policies, decoded_keys, input.keys, h,
                                                      bounds_of(key_policies, keys), key_tightest);
    const std::vector<double> value_errors =
        check_rows(value_policies, decoded_values, input.values, h,
                   bounds_of(value_policies, values), value_tightest);

    // Over decoded rows: float sums of 80 tokens of magnitude < 8.
    check_attention(key_policies, input, singly, h, decoded_keys, decoded_values, dim,
                    [](double) { return std::pair(1e-4, 1e-4); });
    // Over the original rows: a logit moves by at most d = scale |q| |dk|, so a weight by a factor
    // within e^(+-2d), and the output by (e^2d - 1) max|v| + max|dv|.
    const double key_error = *std::max_element(key_errors.begin(), key_errors.end());
    const double value_error = *std::max_element(value_errors.begin(), value_errors.end());
    double largest = 0.0;
    for (const float x : input.values) largest = std::max(largest, std::fabs(double{x}));
    check_attention(key_policies, input, singly, h, &input.keys[h * dim], &input.values[h * dim],
                    static_cast<std::size_t>(kHeads) * dim, [&](double query) {
                      const double moved = 0.25 * query * key_error;
                      return std::pair(moved + 1e-4,
                                       std::expm1(2.0 * moved) * largest + value_error + 1e-4);
                    });
  }
  // The bounds bind: what was read did go through codes of this width. Lengths are bounded more
  // loosely than channels: errors that are even over a step have 0.58 of the length of half steps,
  // 0.29 of that of whole ones (bands); and a sketch is bounded by its worst direction.
  const auto binding = [](const Policies& policies) {
    if (!mixes(policies)) return 0.8;
    if (policies.stored == Stored::kSketch) return 0.2;
    return policies.family == Family::kGroupShift ? 0.25 : 0.4;
  };
  CHECK(key_tightest > binding(key_policies));
  CHECK(value_tightest > binding(value_policies));
}

}  // namespace composition
}  // namespace kvpleat::inline KVPLEAT_ISA
