// Open cases of group A that need a cache or attention, and OC-20.
// G, N: support/generator.h. Bound of the cases: support/any_quant.h.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kvpleat/attention/attend.h"
#include "kvpleat/attention/attend_ref.h"
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/calibrate/channel_mean.h"
#include "kvpleat/format/formats.h"
#include "support/any_quant.h"
#include "support/generator.h"

using namespace kvpleat;
using test::finite;
using test::largest;
using test::normal;
using test::uniform;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

template <class Key, class Value = Key>
struct Traits : CacheTraits<Key::kDim, Value::kDim> {
  using Lanes = LaneList<KV<Key, Value>>;
};
template <class Key, class Value = Key>
using Cache = KvCache<Traits<Key, Value>>;

CacheShape shape_of(std::uint32_t heads, std::uint32_t tokens) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = heads;
  shape.max_tokens = tokens;
  return shape;
}
template <class C>
std::vector<float> keys_of(const C& cache, std::uint32_t head) {
  std::vector<float> rows(cache.tokens(0) * C::kKeyDim);
  CHECK(ok(cache.read(0, head, 0, cache.tokens(0), rows.data(), nullptr)));
  return rows;
}
template <class C>
std::vector<float> values_of(const C& cache, std::uint32_t head) {
  std::vector<float> rows(cache.tokens(0) * C::kValueDim);
  CHECK(ok(cache.read(0, head, 0, cache.tokens(0), nullptr, rows.data())));
  return rows;
}

// Double attention of one query over rows.
std::vector<double> oracle(const std::vector<float>& keys, const std::vector<float>& values,
                           std::uint32_t dim, const float* query, double scale) {
  const auto tokens = static_cast<std::uint32_t>(keys.size() / dim);
  std::vector<double> out(dim);
  std::vector<double> weights(tokens);
  attend_ref(
      tokens, dim, dim, query, scale, [&](std::uint32_t t) { return keys.data() + t * dim; },
      [&](std::uint32_t t) { return values.data() + t * dim; }, out.data(), weights.data());
  return out;
}
double relative_error(const std::vector<float>& out, const std::vector<double>& wanted) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double e = static_cast<double>(out[i]) - wanted[i];
    error += e * e;
    size += wanted[i] * wanted[i];
  }
  return std::sqrt(error / size);
}
template <class C>
std::vector<float> attend_one(const C& cache, std::uint32_t head, const float* query, float scale) {
  AttendArguments arguments;
  arguments.queries = query;
  arguments.scale = scale;
  std::vector<float> out(C::kValueDim);
  CHECK(ok(attend(cache, 0, head, arguments, out.data())));
  return out;
}

}  // namespace

namespace {

template <class Key, class Value>
void check_non_finite() {
  using C = Cache<Key, Value>;
  std::vector<float> clean = uniform(3, 8 * 2 * 64);
  std::vector<float> bad = clean;
  const auto at = [](std::uint32_t t, std::uint32_t h, std::uint32_t d) {
    return (t * 2 + h) * 64 + d;
  };
  bad[at(2, 1, 5)] = kNaN;
  bad[at(4, 0, 0)] = kInfinity;
  bad[at(4, 0, 63)] = -kInfinity;
  // What the bad rows must look like: the elements are 0.
  std::vector<float> zeroed = clean;
  zeroed[at(2, 1, 5)] = zeroed[at(4, 0, 0)] = zeroed[at(4, 0, 63)] = 0.0f;
  const std::vector<float> query = uniform(4, 64);

  // Refuse: the error, and a cache in which nothing changed.
  auto refusing = C::create(shape_of(2, 64));
  REQUIRE(refusing);
  REQUIRE(ok(
      refusing->append(0, TokenRows(clean.data(), 3, 2, 64), TokenRows(clean.data(), 3, 2, 64))));
  const std::vector<float> before = keys_of(*refusing, 1);
  CHECK(refusing->append(0, TokenRows(bad.data(), 8, 2, 64), TokenRows(clean.data(), 8, 2, 64)) ==
        Status::kNonFinite);
  CHECK(refusing->append(0, TokenRows(clean.data(), 8, 2, 64), TokenRows(bad.data(), 8, 2, 64)) ==
        Status::kNonFinite);
  CHECK(refusing->tokens(0) == 3);
  CHECK(same_bits(keys_of(*refusing, 1), before));
  CHECK(refusing->counters(0).non_finite == 0);

  // Zero: counted, and every group without a bad element is as if nothing had happened.
  CacheShape shape = shape_of(2, 64);
  shape.non_finite = NonFinite::kZero;
  auto zeroing = C::create(shape);
  auto reference = C::create(shape);
  auto of_zeroed = C::create(shape);
  REQUIRE(zeroing);
  REQUIRE(reference);
  REQUIRE(of_zeroed);
  const auto append = [](C& cache, const std::vector<float>& rows) {
    CHECK(ok(cache.append(0, TokenRows(rows.data(), 8, 2, 64), TokenRows(rows.data(), 8, 2, 64))));
    CHECK(ok(cache.flush()));
  };
  append(*zeroing, bad);
  append(*reference, clean);
  append(*of_zeroed, zeroed);
  CHECK(zeroing->counters(0).non_finite == 6);  // three in the keys, three in the values
  for (std::uint32_t h = 0; h < 2; ++h) {
    for (const auto read : {&keys_of<C>, &values_of<C>}) {
      const std::vector<float> found = read(*zeroing, h);
      const std::vector<float> wanted = read(*reference, h);
      CHECK(finite(found));
      CHECK(same_bits(found, read(*of_zeroed, h)));
      for (std::uint32_t t = 0; t < 8; ++t) {
        if ((t == 2 && h == 1) || (t == 4 && h == 0)) continue;
        CHECK(std::memcmp(&found[t * 64], &wanted[t * 64], 64 * sizeof(float)) == 0);
      }
    }
    const std::vector<float> out = attend_one(*zeroing, h, query.data(), 0.125f);
    CHECK(same_bits(out, attend_one(*of_zeroed, h, query.data(), 0.125f)));
    CHECK(finite(out));
  }
}

}  // namespace

TEST_CASE("OC-03 NaN and infinities in the input") {
  check_non_finite<formats::Int4<64>, formats::Int8<64>>();
  check_non_finite<formats::Int4TopK<64>, formats::RotatedValue<64, 4>>();
  check_non_finite<formats::F16<64>, formats::F32<64>>();
}

namespace {

// Accepted within the bound, or kRange with an unchanged cache; true if accepted.
template <class Quant>
bool takes(const std::vector<float>& group) {
  CAPTURE(Quant::kId.view());
  auto cache = KvCache<Traits<formats::Dense<32, Quant>>>::create(shape_of(1, 64));
  REQUIRE(cache);
  const std::vector<float> first = uniform(55, 32);
  const auto append = [&](const std::vector<float>& row) {
    return cache->append(0, TokenRows(row.data(), 1, 1, 32), TokenRows(row.data(), 1, 1, 32));
  };
  REQUIRE(ok(append(first)));
  const std::vector<float> before = keys_of(*cache, 0);
  const Status status = append(group);
  const bool fits = ok(status);
  CHECK((fits || status == Status::kRange));
  CHECK(fits == (largest(group) <= Quant::kLargest));
  CHECK(cache->tokens(0) == (fits ? 2u : 1u));
  const std::vector<float> after = keys_of(*cache, 0);
  CHECK(finite(after));
  CHECK(std::memcmp(before.data(), after.data(), 32 * sizeof(float)) == 0);
  if (fits) {
    const float bound = test::any_quant<Quant>().bound(group);
    for (std::size_t i = 0; i < 32; ++i) CHECK(std::fabs(after[32 + i] - group[i]) <= bound);
  }
  return fits;
}

}  // namespace

TEST_CASE("OC-04 scale or zero point beyond the range of half") {
  for (const float x : {-70000.0f, 9.0e6f, 1.0e6f}) {
    std::vector<float> group = uniform(5, 32);
    group[0] = x;
    CAPTURE(x);
    // Affine: the zero point itself must fit. Symmetric: the step must, x / 127 or x / 7.
    CHECK(!takes<AffineQuant<4, 32>>(group));
    CHECK(!takes<AffineQuant<8, 32>>(group));
    CHECK(takes<SymmetricQuant<4, 32>>(group) == (x == -70000.0f));
    CHECK(takes<SymmetricQuant<8, 32>>(group) == (x != 9.0e6f));
    CHECK(takes<AffineQuant<4, 32, Axis::kChannels, float>>(group));
    CHECK(takes<AffineQuant<8, 32, Axis::kChannels, BFloat16>>(group));
    CHECK(takes<SymmetricQuant<4, 32, Axis::kChannels, float>>(group));
    CHECK(takes<SymmetricQuant<8, 32, Axis::kChannels, BFloat16>>(group));
  }
}

TEST_CASE("OC-06 the product of two small scales") {
  const std::vector<float> keys = uniform(7, 64 * 128, 1e-3f);
  const std::vector<float> queries = uniform(8, 64 * 128, 1e-3f);
  using C = Cache<formats::Int8<128>>;
  auto cache = C::create(shape_of(1, 64));
  REQUIRE(cache);
  REQUIRE(
      ok(cache->append(0, TokenRows(keys.data(), 64, 1, 128), TokenRows(keys.data(), 64, 1, 128))));
  const std::vector<float> stored = keys_of(*cache, 0);
  // The log-sum of a row that sees one key is its logit. Row r of the prefill sees key r; decode
  // asks the same with one query.
  std::vector<IndexRange> limits(64);
  for (std::uint32_t t = 0; t < 64; ++t) limits[t] = {t, t + 1};
  std::vector<float> out(64 * 128);
  std::vector<float> logits(64);
  AttendArguments prefill;
  prefill.queries = queries.data();
  prefill.rows = 64;
  prefill.scale = 1e6f;
  prefill.limits = limits.data();
  REQUIRE(ok(attend(*cache, 0, 0, prefill, out.data(), logits.data())));
  for (std::uint32_t t = 0; t < 64; ++t) {
    double wanted = 0.0;
    double size = 0.0;
    for (std::uint32_t c = 0; c < 128; ++c) {
      const double term = static_cast<double>(queries[t * 128 + c]) *
                          static_cast<double>(stored[t * 128 + c]) * 1e6;
      wanted += term;
      size += term * term;
    }
    // Relative to the larger of the logit and the root of the sum of squares of its terms: a sum
    // that cancels has no relative accuracy of its own.
    const double scale = std::max(std::fabs(wanted), std::sqrt(size));
    CHECK(std::fabs(static_cast<double>(logits[t]) - wanted) <= 1e-3 * scale);
    AttendArguments decode = prefill;
    decode.queries = queries.data() + t * 128;
    decode.rows = 1;
    decode.limits = &limits[t];
    float logit = 0.0f;
    std::vector<float> row(128);
    REQUIRE(ok(attend(*cache, 0, 0, decode, row.data(), &logit)));
    CHECK(std::fabs(static_cast<double>(logit) - static_cast<double>(logits[t])) <= 1e-5 * scale);
  }
}

namespace {

using CenteredRotated =
    BlockFormat<128, Chain<Center, RandomHadamard<>>, NoSplit, AffineQuant<4>, DenseCodec>;

// Relative output error of 4-bit keys against attention over the original rows.
template <class Key>
double huge_channel_error(bool huge) {
  std::vector<float> keys = normal(12, 256 * 128);
  if (huge) {
    for (std::uint32_t t = 0; t < 256; ++t) {
      keys[t * 128 + 7] += 600.0f;
      keys[t * 128 + 93] += 600.0f;
    }
  }
  const std::vector<float> values = normal(13, 256 * 128);
  const std::vector<float> query = normal(14, 128);
  std::vector<float> mean(128);
  channel_mean(keys.data(), 256, 128, 128, mean.data());
  LaneProfile profile;
  if constexpr (Key::kProfileSize > 0) {
    profile.keys = mean.data();
    profile.key_count = mean.size();
  }
  auto cache = Cache<Key, formats::F32<128>>::create(shape_of(1, 256), &profile, 1);
  REQUIRE(cache);
  REQUIRE(ok(cache->append(0, TokenRows(keys.data(), 256, 1, 128),
                           TokenRows(values.data(), 256, 1, 128))));
  const float scale = 1.0f / std::sqrt(128.0f);
  const std::vector<float> out = attend_one(*cache, 0, query.data(), scale);
  REQUIRE(finite(out));
  return relative_error(out, oracle(keys, values, 128, query.data(), static_cast<double>(scale)));
}

}  // namespace

TEST_CASE("OC-13 one huge channel") {
  // Groups along channels: poor, but finite (REQUIREd inside), and visibly worse than without.
  const double channels = huge_channel_error<formats::Int4G32<128>>(true);
  const double channels_plain = huge_channel_error<formats::Int4G32<128>>(false);
  CAPTURE(channels);
  CAPTURE(channels_plain);
  CHECK(channels > 2.0 * channels_plain);
  const double tokens = huge_channel_error<formats::Int4Channel<128>>(true);
  const double tokens_plain = huge_channel_error<formats::Int4Channel<128>>(false);
  CAPTURE(tokens);
  CAPTURE(tokens_plain);
  CHECK(tokens <= 0.15);
  CHECK(tokens <= 2.0 * tokens_plain);
  const double outliers = huge_channel_error<formats::Int4TopK<128>>(true);
  const double outliers_plain = huge_channel_error<formats::Int4TopK<128>>(false);
  CAPTURE(outliers);
  CAPTURE(outliers_plain);
  CHECK(outliers <= 0.25);
  CHECK(outliers <= 2.0 * outliers_plain);
  // Rotated: the two channels are spread over all 128, 75 each, and leave 4 bits little of the
  // rest: finite (REQUIREd inside), no number is asked for. Centred first, as keys should be, it is
  // as good as any.
  huge_channel_error<formats::RotatedValue<128, 4>>(true);
  CHECK(huge_channel_error<CenteredRotated>(true) <= 0.15);
}

TEST_CASE("OC-16 keys and values have separate scales") {
  const std::vector<float> keys = uniform(15, 64 * 64, 30.0f);
  const std::vector<float> values = uniform(16, 64 * 64, 0.01f);
  auto cache = Cache<formats::Int8<64>>::create(shape_of(1, 64));
  REQUIRE(cache);
  REQUIRE(
      ok(cache->append(0, TokenRows(keys.data(), 64, 1, 64), TokenRows(values.data(), 64, 1, 64))));
  const auto error = [](const std::vector<float>& x, const std::vector<float>& y) {
    return relative_error(y, std::vector<double>(x.begin(), x.end()));
  };
  CHECK(error(keys, keys_of(*cache, 0)) <= 0.01);
  CHECK(error(values, values_of(*cache, 0)) <= 0.01);
}

TEST_CASE("OC-17 scales reach the kernel and are not swapped") {
  // No static scales exist: one element of 127 per row pins the step of symmetric 8 bit to 0.5 for
  // keys and 2 for values, so that coding is exact.
  std::vector<float> keys(40 * 64);
  std::vector<float> values(40 * 64);
  test::Generator random(170);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto integer = [&] { return static_cast<float>(random.below(201)) - 100.0f; };
    keys[i] = 0.5f * (i % 64 == 5 ? 127.0f : integer());
    values[i] = 2.0f * (i % 64 == 9 ? -127.0f : integer());
  }
  using F = formats::Dense<64, SymmetricQuant<8>>;
  auto cache = Cache<F>::create(shape_of(1, 64));
  REQUIRE(cache);
  REQUIRE(
      ok(cache->append(0, TokenRows(keys.data(), 40, 1, 64), TokenRows(values.data(), 40, 1, 64))));
  CHECK(keys_of(*cache, 0) == keys);
  CHECK(values_of(*cache, 0) == values);

  const std::vector<float> queries = uniform(171, 40 * 64, 0.05f);
  std::vector<IndexRange> limits(40);
  causal_limits(40, 40, limits.data());
  AttendArguments prefill;
  prefill.queries = queries.data();
  prefill.rows = 40;
  prefill.scale = 0.125f;
  prefill.limits = limits.data();
  std::vector<float> out(40 * 64);
  REQUIRE(ok(attend<ReferenceKernels>(*cache, 0, 0, prefill, out.data())));
  for (std::uint32_t r = 0; r < 40; ++r) {
    const std::vector<float> seen_keys(keys.begin(), keys.begin() + (r + 1) * 64);
    const std::vector<float> seen_values(values.begin(), values.begin() + (r + 1) * 64);
    const std::vector<double> wanted =
        oracle(seen_keys, seen_values, 64, queries.data() + r * 64, 0.125);
    CHECK(relative_error(std::vector<float>(out.begin() + r * 64, out.begin() + (r + 1) * 64),
                         wanted) <= 1e-5);
  }
  const float* query = queries.data() + 39 * 64;
  const std::vector<float> decoded = attend_one(*cache, 0, query, 0.125f);
  CHECK(relative_error(decoded, oracle(keys, values, 64, query, 0.125)) <= 1e-5);

  // With the scales swapped the result would be another one.
  std::vector<float> swapped_keys = keys;
  std::vector<float> swapped_values = values;
  for (float& x : swapped_keys) x *= 4.0f;
  for (float& x : swapped_values) x *= 0.25f;
  CHECK(relative_error(decoded, oracle(swapped_keys, swapped_values, 64, query, 0.125)) > 0.1);
}

TEST_CASE("OC-19 calibration looks only at valid elements") {
  const std::vector<float> data = uniform(18, 16 * 256);
  std::vector<float> pitched(16 * 512, 1e30f);
  for (std::uint32_t t = 0; t < 16; ++t)
    std::copy_n(data.begin() + t * 256, 256, pitched.begin() + t * 512);

  using F = formats::Dense<256, SymmetricQuant<8>>;
  auto cache = Cache<F>::create(shape_of(1, 64));
  auto packed = Cache<F>::create(shape_of(1, 64));
  REQUIRE(cache);
  REQUIRE(packed);
  const TokenRows rows = TokenRows(pitched.data(), 16, 1, 256).strides(512, 512);
  const TokenRows plain(data.data(), 16, 1, 256);
  REQUIRE(ok(cache->append(0, rows, rows)));
  REQUIRE(ok(packed->append(0, plain, plain)));
  const std::vector<float> found = keys_of(*cache, 0);
  CHECK(same_bits(found, keys_of(*packed, 0)));
  for (std::uint32_t t = 0; t < 16; ++t) {
    const std::vector<float> row(data.begin() + t * 256, data.begin() + (t + 1) * 256);
    const std::vector<float> back(found.begin() + t * 256, found.begin() + (t + 1) * 256);
    // The largest element reads as 127 steps of max|x| / 127 as a half.
    CHECK(largest(back) == 127.0f * to_float(at_least<Half>(largest(row) / 127.0f)));
  }
  std::vector<float> mean(256);
  channel_mean(pitched.data(), 16, 512, 256, mean.data());
  std::vector<float> wanted(256);
  channel_mean(data.data(), 16, 256, 256, wanted.data());
  CHECK(same_bits(mean, wanted));
  CHECK(largest(mean) < 1.0f);
}

namespace {

template <std::uint32_t kDim>
void check_short_group() {
  using F = formats::Int4G32<kDim>;
  using C = Cache<F>;
  CAPTURE(kDim);
  const std::vector<float> rows = uniform(19, 40 * 3 * kDim);
  auto cache = C::create(shape_of(3, 64));
  REQUIRE(cache);
  const TokenRows view(rows.data(), 40, 3, kDim);
  REQUIRE(ok(cache->append(0, view, view)));
  // The short group has its own scale: 4 bytes per token like the others.
  constexpr std::uint32_t kGroups = (kDim + 31) / 32;
  CHECK(F::kSideBytes == 64 * kGroups * 4);
  const auto check_reads = [&](std::uint32_t tokens) {
    CHECK(cache->tokens(0) == tokens);
    for (std::uint32_t h = 0; h < 3; ++h) {
      for (const std::vector<float>& back : {keys_of(*cache, h), values_of(*cache, h)}) {
        for (std::uint32_t t = 0; t < tokens; ++t) {
          for (std::uint32_t g = 0; g < kDim; g += 32) {
            const std::uint32_t n = std::min(32u, kDim - g);
            const float* first = rows.data() + (t * 3 + h) * kDim + g;
            const std::vector<float> x(first, first + n);
            const float bound = test::any_quant<AffineQuant<4, 32>>().bound(x);
            for (std::uint32_t i = 0; i < n; ++i)
              CHECK(std::fabs(back[t * kDim + g + i] - x[i]) <= bound);
          }
        }
      }
      const std::vector<float> query = uniform(190, kDim);
      const std::vector<float> out = attend_one(*cache, h, query.data(), 0.1f);
      // Kernels against the oracle over what is stored: 1e-3, as the cases ask of the kernels.
      CHECK(relative_error(out, oracle(keys_of(*cache, h), values_of(*cache, h), kDim, query.data(),
                                       0.1)) <= 1e-3);
    }
  };
  check_reads(40);
  const std::vector<float> before = keys_of(*cache, 2);
  REQUIRE(ok(cache->truncate(23)));
  check_reads(23);
  CHECK(std::memcmp(before.data(), keys_of(*cache, 2).data(), 23 * kDim * sizeof(float)) == 0);
}

}  // namespace

TEST_CASE("OC-20 head_dim is not a multiple of the group") {
  check_short_group<80>();
  check_short_group<112>();
}
