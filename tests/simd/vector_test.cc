// attend<VectorKernels> and attend<DispatchedKernels>, on every target, against ReferenceKernels
// and double precision.
#include "kvpleat/simd/vector.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kvpleat/dispatch.h"
#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 64;
constexpr std::uint32_t kTokens = 1000;  // of every lane more than a chunk of attend
constexpr std::uint32_t kHeads = 2;

// Two lanes of unlike formats, sinks and a residual of halves.
struct Mixed : CacheTraits<kDim> {
  using Kernels = VectorKernels;  // the cache keeps the table of its score offsets
  using Lanes = LaneList<KV<formats::F16<kDim>, formats::Int8<kDim>>,
                         KV<formats::CenteredRotatedKey<kDim, 4>, formats::Int4<kDim>>>;
  using RawElement = Half;
};
// Values are the first channels of keys.
struct Latent : CacheTraits<80, 64> {
  using Lanes = LaneList<KV<formats::BF16<80>, KeyView<64>>, KV<formats::Int8<80>, KeyView<64>>>;
};
// Groups along tokens stay open; outliers are decoded.
struct Open : CacheTraits<kDim> {
  using Lanes = LaneList<KV<formats::Int4Channel<kDim>, formats::Oaken<kDim>>>;
};

template <class Traits>
KvCache<Traits> make(std::uint32_t sinks, std::uint32_t residual) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.max_tokens = 2000;
  shape.sinks = sinks;
  shape.residual = residual;
  shape.rope = Rope::standard(RopeLayout::kHalves, Traits::kKeyDim, 10000.0);
  static const test::Profiles profiles(kHeads, kDim);
  LaneProfile lanes[2] = {};
  if constexpr (std::is_same_v<Traits, Mixed>) lanes[1].keys = profiles.key_mean.data();
  if constexpr (std::is_same_v<Traits, Mixed>) lanes[1].key_count = profiles.key_mean.size();
  if constexpr (std::is_same_v<Traits, Open>) {
    lanes[0].values = profiles.thresholds.data();
    lanes[0].value_count = profiles.thresholds.size();
  }
  auto made = KvCache<Traits>::create(shape, lanes, KvCache<Traits>::kLanes);
  REQUIRE_MESSAGE(made, made.error().field);
  return std::move(*made);
}
const test::Tokens& data() {
  static const test::Tokens made = test::tokens_of(38, kTokens, kHeads, kDim, 0.5f, -0.5f);
  return made;
}
KvCache<Mixed> mixed(std::uint32_t tokens) {
  KvCache<Mixed> cache = make<Mixed>(4, 30);
  const auto tags = test::random_tags(7, kTokens, 3);  // the raw lane as well
  REQUIRE(ok(test::feed(cache, 0, data(), 0, tokens, 50, tags.data())));
  return cache;
}

// Kernels in float against double precision over decoded rows: attention/attend_test.cc derives it,
// for these shapes. With queries of standard deviation 35 / 1.5 logits err that much more.
constexpr double kFloat = 1e-4;
constexpr double kPeaky = 2.5e-3;
// kFast: a logit errs by 0.012 (standard deviation: 64 channels of queries rounded to 1 / 127 of
// their largest, against keys of norm 9), an output by less than that times the deviation of the
// values, and by 64 / sqrt(12) / 127 * 1 of a value's deviation where all weight lies on few tokens
// of a block (7-bit weights): below 0.02 of the largest value at six deviations.
constexpr double kIntegers = 0.02;

template <class Kernels>
struct Attend {
  static void check(bool fine, const std::string& what) { CHECK_MESSAGE(fine, what); }
  struct Result {
    std::vector<float> out;
    std::vector<float> log_sums;
  };
  template <class Set, class Cache, class Rule = PlainLogit>
  Result attend_with(const Cache& cache, const AttendArguments& a, const Rule& rule = {}) {
    Result result;
    result.out.assign(std::size_t{a.rows} * a.group * Cache::kValueDim, 7.0f);
    result.log_sums.assign(std::size_t{a.rows} * a.group, 7.0f);
    check(ok(attend<Set>(cache, 0, 1, a, result.out.data(), result.log_sums.data(), rule)),
          "attend fails");
    return result;
  }
  // Both sets, largest difference over the largest magnitude of any output; NaN and infinities must
  // agree.
  template <class Cache, class Rule = PlainLogit>
  void same(const char* what, const Cache& cache, const AttendArguments& a, double tolerance,
            const Rule& rule = {}) {
    const Result got = attend_with<Kernels>(cache, a, rule);
    const Result wanted = attend_with<ReferenceKernels>(cache, a, rule);
    double worst = 0.0;
    bool alike = true;
    const auto compare = [&](const std::vector<float>& x, const std::vector<float>& y,
                             double least) {
      double largest = least;
      for (const float v : y) {
        if (is_finite(v)) largest = std::fmax(largest, std::fabs(static_cast<double>(v)));
      }
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (is_finite(y[i]) && is_finite(x[i])) {
          worst = std::fmax(
              worst, std::fabs(static_cast<double>(x[i]) - static_cast<double>(y[i])) / largest);
        } else {
          alike = alike && (x[i] == y[i] || (x[i] != x[i] && y[i] != y[i]));
        }
      }
    };
    compare(got.out, wanted.out, 1.0);
    compare(got.log_sums, wanted.log_sums, 1.0);
    check(alike, std::string(what) + ": not finite in one only");
    check(worst <= tolerance, std::string(what) + ": differs by " + std::to_string(worst));
  }

  void run() {
    const KvCache<Mixed> cache = mixed(kTokens);
    const std::vector<float> queries = test::normal(41, 40 * kDim, 1.5f);
    AttendArguments a;
    a.scale = 0.125f;
    a.arithmetic = Arithmetic::kExact;
    a.queries = queries.data();

    // Rows and groups; against double precision as well.
    const std::uint32_t shapes[][2] = {{1, 1}, {1, 4}, {1, 8}, {2, 3},
                                       {3, 5}, {5, 1}, {5, 7}, {1, 17}};
    for (const auto& shape : shapes) {
      a.rows = shape[0];
      a.group = shape[1];
      const std::string what =
          "rows " + std::to_string(a.rows) + " group " + std::to_string(a.group);
      same(what.c_str(), cache, a, kFloat);
      const test::AttendErrors errors = test::attend_errors<Kernels>(cache, 0, 1, a);
      check(errors.finite && errors.kernel <= kFloat, what + ": oracle");
      for (const Arithmetic arithmetic : {Arithmetic::kFast, Arithmetic::kAccurate}) {
        a.arithmetic = arithmetic;
        same((what + " integers").c_str(), cache, a, kIntegers);
      }
      a.arithmetic = Arithmetic::kExact;
    }
    // Every query as if it were alone, to the bit, in every arithmetic.
    for (const Arithmetic arithmetic :
         {Arithmetic::kFast, Arithmetic::kAccurate, Arithmetic::kExact}) {
      a.arithmetic = arithmetic;
      a.rows = 1;
      a.group = 21;
      const Result all = attend_with<Kernels>(cache, a);
      for (std::uint32_t q = 0; q < 21; ++q) {
        AttendArguments one = a;
        one.group = 1;
        one.queries = queries.data() + q * kDim;
        const Result alone = attend_with<Kernels>(cache, one);
        check(std::memcmp(alone.out.data(), &all.out[q * kDim], kDim * sizeof(float)) == 0 &&
                  alone.log_sums[0] == all.log_sums[q],
              "a query depends on the others");
      }
    }
    a.arithmetic = Arithmetic::kExact;

    // Limits, masks, both.
    IndexRange limits[5];
    causal_limits(kTokens, 5, limits);
    limits[1] = {300, 317};
    limits[2] = {5, 5};
    limits[3] = {0, 3};
    a.rows = 5;
    a.group = 3;
    a.limits = limits;
    same("limits", cache, a, kFloat);
    std::vector<std::uint8_t> mask(15 * kTokens);
    const auto random = test::random_tags(47, mask.size(), 3);
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = random[i] == 0 ? 0 : 129;
    for (std::size_t i = 0; i < kTokens; ++i) mask[kTokens + i] = 0;  // query 1 sees nothing
    for (std::size_t i = 0; i < kTokens; ++i) mask[2 * kTokens + i] = i == 430;  // one key
    a.mask = mask.data();
    a.mask_tokens = kTokens;
    same("limits and mask", cache, a, kFloat);
    a.limits = nullptr;
    same("mask", cache, a, kFloat);
    const test::AttendErrors masked = test::attend_errors<Kernels>(cache, 0, 1, a);
    check(masked.finite && masked.kernel <= kFloat, "mask: oracle");
    statistics(cache, a);
    a.limits = limits;
    statistics(cache, a);
    a.mask = nullptr;
    a.mask_tokens = 0;
    statistics(cache, a);
    a.limits = nullptr;
    statistics(cache, a);

    // Rules, and scales that are no plain factor.
    const float sinks[3] = {-2.0f, 5.0f, 40.0f};
    same("soft cap", cache, a, kFloat, SoftCap{3.0f});
    same("learned sink", cache, a, kFloat, LearnedSink{sinks});
    for (const float scale : {-0.125f, 0.0f, 1e-30f, -1e30f, 1e38f}) {
      a.scale = scale;
      // A logit of 1e38 or more decides alone; float scores may decide otherwise only if they tie.
      same("scale", cache, a, kFloat);
    }
    a.scale = 0.125f;

    // Peaky, overflowing and NaN queries.
    std::vector<float> odd = test::normal(43, 15 * kDim, 35.0f);
    a.queries = odd.data();
    same("peaky", cache, a, kPeaky);
    for (std::uint32_t i = 0; i < kDim; ++i) odd[2 * kDim + i] = 1e36f;
    a.arithmetic = Arithmetic::kExact;
    a.scale = 100.0f;
    same("overflow", cache, a, kPeaky * 100 * 8);
    a.scale = 0.125f;
    odd[4 * kDim + 3] = std::numeric_limits<float>::quiet_NaN();
    for (std::uint32_t i = 0; i < kDim; ++i)
      odd[7 * kDim + i] = std::numeric_limits<float>::quiet_NaN();
    for (std::uint32_t i = 0; i < kDim; ++i) odd[2 * kDim + i] = 0.0f;
    same("NaN", cache, a, kPeaky);
    const Result nan = attend_with<Kernels>(cache, a);
    check(nan.out[4 * kDim] != nan.out[4 * kDim] && nan.log_sums[7] != nan.log_sums[7],
          "NaN is lost");
    check(is_finite(nan.out[5 * kDim]) && is_finite(nan.log_sums[0]), "NaN spreads");
    a.queries = queries.data();

    // Few tokens: none, one sink, sinks and tail, the first coded ones.
    for (const std::uint32_t n : {0u, 1u, 4u, 5u, 34u, 35u, 36u, 99u, 320u}) {
      const KvCache<Mixed> few = mixed(n);
      same(("tokens " + std::to_string(n)).c_str(), few, a, kFloat);
    }
    // A large tail whose ring has turned over.
    KvCache<Mixed> turned = make<Mixed>(0, 100);
    check(ok(test::feed(turned, 0, data(), 0, kTokens, 37)), "feed");
    check(turned.tail_tokens(0) == 100, "tail");
    same("tail", turned, a, kFloat);

    // What ran, and what a strict call says to it.
    AttendReport ran;
    a.report = &ran;
    static_cast<void>(attend_with<Kernels>(cache, a));
    check(ran.key[0] == Kernels::template kPath<Mixed::Lanes::At<0>::Key> &&
              ran.value[1] == Kernels::template kPath<Mixed::Lanes::At<1>::Value>,
          "report");
    check(ran.key[0] == Path::kFused && ran.key[2] == Path::kFused && ran.raw == Path::kFused,
          "raw rows not fused");
    bool fused = true;
    for (const std::size_t lane : {0u, 1u, 2u})
      fused = fused && ran.key[lane] == Path::kFused && ran.value[lane] == Path::kFused;
    check(fused, "not fused");
    std::vector<float> out(15 * kDim);
    a.strict = true;
    check(ok(attend<Kernels>(cache, 0, 0, a, out.data())), "strict");
    a.strict = false;

    latent(a);
    open(a);
  }

  template <class Cache>
  void statistics(const Cache& cache, AttendArguments a) {
    const IndexRange ranges[5] = {{0, 4}, {100, 400}, {690, 1000}, {0, 0xffffffffu}, {9, 9}};
    struct Sums {
      std::vector<float> mass = std::vector<float>(75);
      std::vector<float> largest = std::vector<float>(15);
      std::vector<float> squares = std::vector<float>(15);
      std::vector<std::uint32_t> visible = std::vector<std::uint32_t>(15);
    } sums[2];
    AttentionStatistics wanted;
    a.statistics = &wanted;
    wanted.ranges = ranges;
    wanted.range_count = 5;
    for (Sums& s : sums) {
      wanted.mass = s.mass.data();
      wanted.largest = s.largest.data();
      wanted.squares = s.squares.data();
      wanted.visible = s.visible.data();
      static_cast<void>(&s == &sums[0] ? attend_with<Kernels>(cache, a)
                                       : attend_with<ReferenceKernels>(cache, a));
    }
    // Shares of the softmax: twice the error of a logit, and a sum of 1000 weights.
    for (std::size_t i = 0; i < 75; ++i)
      check(magnitude(sums[0].mass[i] - sums[1].mass[i]) <= 1e-4f, "mass");
    for (std::size_t q = 0; q < 15; ++q) {
      check(magnitude(sums[0].largest[q] - sums[1].largest[q]) <= 1e-4f, "largest");
      check(magnitude(sums[0].squares[q] - sums[1].squares[q]) <= 1e-4f, "squares");
      check(sums[0].visible[q] == sums[1].visible[q], "visible");
      const bool seen = sums[0].visible[q] > 0;
      check(magnitude(sums[0].mass[q * 5 + 3] - (seen ? 1.0f : 0.0f)) <= 1e-5f, "mass of all");
    }
  }

  void latent(AttendArguments a) {
    KvCache<Latent> cache = make<Latent>(3, 20);
    const std::vector<float> keys = test::normal(9, 400 * kHeads * 80);
    const auto tags = test::random_tags(8, 400, 2);
    LaneTags given;
    given.tags = tags.data();
    const TokenRows rows(keys.data(), 400, kHeads, 80);
    check(ok(cache.append(0, rows, TokenRows{}, given)), "append");
    const std::vector<float> queries = test::normal(42, 15 * 80);
    a.queries = queries.data();
    same("key view", cache, a, kFloat);
    AttendReport ran;
    a.report = &ran;
    static_cast<void>(attend_with<Kernels>(cache, a));
    check(ran.key[0] == Path::kFused && ran.value[0] == Path::kFused, "raw key view not fused");

    // Values of a view over tiles of keys lie along the lanes: decoded, and refused in strict mode.
    check(ran.value[1] == Path::kDecode, "key view of tiles");
    a.strict = true;
    std::vector<float> out(15 * 64);
    check(attend<Kernels>(cache, 0, 0, a, out.data()) == Status::kUnsupported, "strict key view");
  }
  void open(AttendArguments a) {
    KvCache<Open> cache = make<Open>(0, 0);
    check(ok(test::feed(cache, 0, data(), 0, 333, 41)), "feed");
    same("open groups", cache, a, kFloat);
    const KvCache<Open> none = make<Open>(0, 0);
    same("empty", none, a, 0.0);
  }
};

}  // namespace

TEST_CASE("attend by vector kernels is attend by plain ones") {
  MESSAGE(std::string(VectorKernels::target()));
  Attend<VectorKernels>().run();
}

TEST_CASE("attend by kernels that are chosen at run time is attend by plain ones") {
  std::uint32_t ran = 0;
  for (std::uint32_t i = 0; i < DispatchedKernels::target_count(); ++i) {
    if (!DispatchedKernels::target_runs(i)) continue;
    REQUIRE(ok(DispatchedKernels::use_target(DispatchedKernels::target_name(i)).status));
    CAPTURE(std::string(DispatchedKernels::target()));
    MESSAGE(std::string(DispatchedKernels::target()));
    Attend<DispatchedKernels>().run();
    ++ran;
  }
  REQUIRE(ok(DispatchedKernels::use_target("").status));
  CHECK(ran >= 1);
}
