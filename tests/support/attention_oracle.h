// Attention in double precision beside a cache: over what it holds, and over what was appended.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/cache_fixture.h"

namespace test {

// Errors of one attend call.
//   kernel:   largest |out - out over decoded rows|, over the largest |decoded value|; and of the
//             log-sum, over max(1, |log-sum|)
//   excess:   largest |out - out over the original rows| minus its bound; at most 0 if the cache
//             lost no more than its rows did. With e = the largest error of a logit,
//             weights differ by a factor in [exp(-2e), exp(2e)], hence the output by at most
//             (exp(2e) - 1) * max|value| + max|decoded value - value|.
//   original: largest |out - out over the original rows|, over the largest |value|
struct AttendErrors {
  double kernel = 0.0;
  double excess = -1e300;
  double original = 0.0;
  bool finite = true;

  void add(const AttendErrors& other) {
    kernel = std::fmax(kernel, other.kernel);
    excess = std::fmax(excess, other.excess);
    original = std::fmax(original, other.original);
    finite = finite && other.finite;
  }
};

// Compares what attend gave (out, log_sums) for `arguments` on a head. tokens: the original rows,
// or null. logit_of: the rule in double. sinks: [group] sink logits or null.
template <class Cache, class LogitOf>
AttendErrors compare_attend(const Cache& cache, std::uint32_t layer, std::uint32_t head,
                            const kvpleat::AttendArguments& a, const float* out,
                            const float* log_sums, const Tokens* original, LogitOf logit_of,
                            const float* sinks = nullptr, std::vector<double>* weights = nullptr) {
  constexpr std::uint32_t kKeyDim = Cache::kKeyDim;
  constexpr std::uint32_t kValueDim = Cache::kValueDim;
  const std::uint32_t n = cache.tokens(layer);
  std::vector<float> keys(static_cast<std::size_t>(n) * kKeyDim + 1);
  std::vector<float> values(static_cast<std::size_t>(n) * kValueDim + 1);
  AttendErrors errors;
  errors.finite = kvpleat::ok(cache.read(layer, head, 0, n, keys.data(), values.data()));
  std::vector<double> w(n + 1);
  double wanted[kValueDim];
  for (std::uint32_t q = 0; q < a.rows * a.group; ++q) {
    const float* query = a.queries + static_cast<std::size_t>(q) * kKeyDim;
    const std::uint32_t row = q / a.group;
    const auto seen = [&](std::uint32_t t) {
      if (a.limits != nullptr && (t < a.limits[row].begin || t >= a.limits[row].end)) return false;
      return a.mask == nullptr || a.mask[q * a.mask_tokens + t] != 0;
    };
    // A key without a value: it shrinks the output by its share and joins the log-sum.
    const auto with_sink = [&](double log_sum) {
      if (sinks == nullptr) return log_sum;
      const double sink = static_cast<double>(sinks[q % a.group]);
      const double top = std::fmax(sink, log_sum);
      const double all = top + std::log(std::exp(sink - top) + std::exp(log_sum - top));
      const double share = std::exp(log_sum - all);
      for (double& x : wanted) x *= share;
      for (double& x : w) x *= share;
      return all;
    };
    const auto key_at = [&](std::uint32_t t) { return &keys[t * kKeyDim]; };
    const auto value_at = [&](std::uint32_t t) { return &values[t * kValueDim]; };
    const double scale = static_cast<double>(a.scale);
    const double log_sum = with_sink(kvpleat::attend_ref(
        n, kKeyDim, kValueDim, query, scale, key_at, value_at, logit_of, seen, wanted, w.data()));
    if (weights != nullptr) weights->insert(weights->end(), w.begin(), w.begin() + n);
    double largest = 1e-30;
    for (std::uint32_t t = 0; t < n; ++t) {
      for (std::uint32_t c = 0; c < kValueDim; ++c)
        largest = std::fmax(largest, std::fabs(static_cast<double>(values[t * kValueDim + c])));
    }
    const float* got = out + static_cast<std::size_t>(q) * kValueDim;
    for (std::uint32_t c = 0; c < kValueDim; ++c) {
      errors.finite = errors.finite && std::isfinite(got[c]);
      errors.kernel =
          std::fmax(errors.kernel, std::fabs(static_cast<double>(got[c]) - wanted[c]) / largest);
    }
    if (log_sums != nullptr) {
      if (log_sum == -std::numeric_limits<double>::infinity()) {
        errors.finite = errors.finite && static_cast<double>(log_sums[q]) == log_sum;
      } else {
        errors.kernel =
            std::fmax(errors.kernel, std::fabs(static_cast<double>(log_sums[q]) - log_sum) /
                                         std::fmax(1.0, std::fabs(log_sum)));
      }
    }
    if (original == nullptr) continue;
    double logit_error = 0.0;
    double value_error = 0.0;
    double value_largest = 1e-30;
    for (std::uint32_t t = 0; t < n; ++t) {
      if (!seen(t)) continue;
      const float* key = original->key(t, head);
      const float* value = original->value(t, head);
      double before = 0.0;
      double after = 0.0;
      for (std::uint32_t c = 0; c < kKeyDim; ++c) {
        before += static_cast<double>(query[c]) * static_cast<double>(key[c]);
        after += static_cast<double>(query[c]) * static_cast<double>(keys[t * kKeyDim + c]);
      }
      logit_error =
          std::fmax(logit_error, std::fabs(logit_of(after * scale) - logit_of(before * scale)));
      for (std::uint32_t c = 0; c < kValueDim; ++c) {
        const double x = static_cast<double>(value[c]);
        value_error =
            std::fmax(value_error, std::fabs(x - static_cast<double>(values[t * kValueDim + c])));
        value_largest = std::fmax(value_largest, std::fabs(x));
      }
    }
    with_sink(kvpleat::attend_ref(
        n, kKeyDim, kValueDim, query, scale,
        [&](std::uint32_t t) { return original->key(t, head); },
        [&](std::uint32_t t) { return original->value(t, head); }, logit_of, seen, wanted,
        w.data()));
    const double bound = std::expm1(2.0 * logit_error) * value_largest + value_error;
    for (std::uint32_t c = 0; c < kValueDim; ++c) {
      const double error = std::fabs(static_cast<double>(got[c]) - wanted[c]);
      errors.original = std::fmax(errors.original, error / value_largest);
      errors.excess = std::fmax(errors.excess, error - bound * 1.0001 - 1e-5 * value_largest);
    }
  }
  return errors;
}

// Calls attend and compares.
template <class Kernels = void, class Cache, class Rule, class LogitOf>
AttendErrors attend_errors(const Cache& cache, std::uint32_t layer, std::uint32_t head,
                           const kvpleat::AttendArguments& a, const Tokens* original,
                           const Rule& rule, LogitOf logit_of, const float* sinks = nullptr) {
  const std::size_t queries = static_cast<std::size_t>(a.rows) * a.group;
  std::vector<float> out(queries * Cache::kValueDim, std::nanf(""));
  std::vector<float> log_sums(queries, std::nanf(""));
  if (!kvpleat::ok(
          kvpleat::attend<Kernels>(cache, layer, head, a, out.data(), log_sums.data(), rule))) {
    return {1e300, 1e300, 1e300, false};
  }
  return compare_attend(cache, layer, head, a, out.data(), log_sums.data(), original, logit_of,
                        sinks);
}
template <class Kernels = void, class Cache>
AttendErrors attend_errors(const Cache& cache, std::uint32_t layer, std::uint32_t head,
                           const kvpleat::AttendArguments& a, const Tokens* original = nullptr) {
  return attend_errors<Kernels>(cache, layer, head, a, original, kvpleat::PlainLogit{},
                                [](double s) { return s; });
}

// The largest ratio of |coded(decoded row) - coded(row)| to what the quantizer of F allows, over
// the keys or the values of one lane: half a step (a whole one for Oaken's middle band) plus 2^-9
// of the largest magnitude for half-precision side data. A step is the range of the group over
// 2^bits - 1; the range of the whole row (or of the seal group, along tokens) bounds that of its
// groups, and what outlier slots hold errs by less than a step. Oaken: the range over all heads.
// Raw 16-bit formats: half an ulp, 2^-11 or 2^-8 of a value.
//   coded: rows of the tokens of the lane in slot order, [n][kCoded], before and after.
struct QuantizerBound {
  double levels = 0.0;  // 2^bits - 1; 0: raw
  double steps = 0.5;
  double relative = 0x1p-9;
};
template <class F>
constexpr QuantizerBound bound_of() {
  if constexpr (requires { F::kRowBytes; }) {
    return {0.0, 0.0, F::kRowBytes == 4 * F::kDim ? 0.0 : 0x1p-8};
  } else if constexpr (F::kSpills) {
    return {15.0, 1.0, 0x1p-9};
  } else {
    return {static_cast<double>((1u << F::kTile.bits) - 1u), 0.5, 0x1p-9};
  }
}

// Worst error of a head's stored keys (or values) over what bound_of allows, all lanes. At most 1.
template <bool kKeys, class Cache>
double worst_over_bound(const Cache& cache, std::uint32_t layer, std::uint32_t head,
                        const Tokens& original) {
  double worst = 0.0;
  cache.visit(
      layer, head, {},
      [&](const auto& lane) {
        const auto& format = [&]() -> const auto& {
          if constexpr (kKeys) {
            return lane.key_format();
          } else {
            return lane.value_format();
          }
        }
        ();
        using F = std::remove_cvref_t<decltype(format)>;
        constexpr QuantizerBound kBound = bound_of<F>();
        std::vector<std::int64_t> positions(lane.count);
        lane.positions(lane.index, lane.count, positions.data());
        std::vector<float> before(lane.count * F::kCoded);
        std::vector<float> after(lane.count * F::kCoded);
        double over_heads[2] = {0.0, 0.0};
        const auto coded_row = [&](std::int64_t t, std::uint32_t h, float* coded) {
          format.forward(kKeys ? original.key(static_cast<std::size_t>(t), h)
                               : original.value(static_cast<std::size_t>(t), h),
                         t, coded);
        };
        for (std::uint32_t i = 0; i < lane.count; ++i) {
          float row[F::kDim];
          coded_row(positions[i], head, &before[i * F::kCoded]);
          static_cast<void>(
              kvpleat::ok(cache.read(layer, head, static_cast<std::uint32_t>(positions[i]), 1,
                                     kKeys ? row : nullptr, kKeys ? nullptr : row)));
          format.forward(row, positions[i], &after[i * F::kCoded]);
        }
        for (std::uint32_t i = 0; i < lane.count; ++i) {
          for (std::uint32_t c = 0; c < F::kCoded; ++c) {
            double low = 1e300;
            double high = -1e300;
            const auto fold = [&](float x) {
              low = std::fmin(low, static_cast<double>(x));
              high = std::fmax(high, static_cast<double>(x));
            };
            if (F::kSpills) {
              if (c == 0) {
                std::vector<float> other(F::kCoded);
                for (std::uint32_t h = 0; h < original.heads; ++h) {
                  coded_row(positions[i], h, other.data());
                  for (const float x : other) fold(x);
                }
                over_heads[0] = low;
                over_heads[1] = high;
              }
              low = over_heads[0];
              high = over_heads[1];
            } else if (F::kSeal > 1) {
              const std::uint32_t first = i / F::kSeal * F::kSeal;
              for (std::uint32_t t = first; t < first + F::kSeal && t < lane.count; ++t)
                fold(before[t * F::kCoded + c]);
            } else {
              for (std::uint32_t d = 0; d < F::kCoded; ++d) fold(before[i * F::kCoded + d]);
            }
            const double largest = std::fmax(std::fabs(low), std::fabs(high));
            const double step = kBound.levels > 0.0 ? (high - low) / kBound.levels : 0.0;
            // 1e-6: the transforms of this comparison are float themselves.
            const double bound =
                kBound.steps * step + kBound.relative * largest + 1e-6 * (1.0 + largest);
            const double error = std::fabs(static_cast<double>(before[i * F::kCoded + c]) -
                                           static_cast<double>(after[i * F::kCoded + c]));
            worst = std::fmax(worst, error / bound);
          }
        }
      },
      [&](std::uint32_t first, std::uint32_t n) {
        std::vector<float> row(original.key_dim + original.value_dim);
        for (std::uint32_t t = first; t < first + n; ++t) {
          cache.read_raw(layer, head, t, kKeys ? row.data() : nullptr,
                         kKeys ? nullptr : row.data());
          const float* wanted = kKeys ? original.key(t, head) : original.value(t, head);
          for (std::uint32_t c = 0; c < (kKeys ? original.key_dim : original.value_dim); ++c)
            if (row[c] != wanted[c]) worst = 1e300;
        }
      });
  return worst;
}

}  // namespace test
