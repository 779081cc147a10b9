#include "kvpleat/attention/attend.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"
#include "support/format_pairs.h"

using namespace kvpleat;
using test::AttendErrors;
using test::feed;
using test::Tokens;

namespace {

// Kernels against double precision over decoded rows. A logit errs by about (log2 D + 2) roundings
// of |q||k| scale (rotating query and row, the dot, the offset): 10 * 2^-24 * 8 * 10 / 8 = 6e-6 at
// D = 64, twice that in a weight; the weights' exp 2 ulp; sums of 100 to 256 floats at most 256 *
// 2^-24 = 1.5e-5; restore and log another few ulp. Together below 5e-5 of the largest value.
constexpr double kKernel = 1e-4;

constexpr std::uint32_t kDim = 64;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kTokens = 100;

CacheShape shape_of(std::uint32_t dim, std::uint32_t sinks = 0, std::uint32_t residual = 0) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.max_tokens = 1000;
  shape.sinks = sinks;
  shape.residual = residual;
  shape.rope = Rope::standard(RopeLayout::kHalves, dim, 10000.0);
  return shape;
}
// Keys around +0.5 and values around -0.5: a lost mean shows.
const Tokens& data() {
  static const Tokens made = test::tokens_of(38, 600, kHeads, kDim, 0.5f, -0.5f);
  return made;
}
const test::Profiles& profiles() {
  static const test::Profiles made(kHeads, kDim);
  return made;
}
using Cache = KvCache<test::Everything<kDim>>;
Cache make(const CacheShape& shape) {
  auto made = Cache::create(shape, profiles().lanes.data(), test::kNamed);
  REQUIRE(made);
  return std::move(*made);
}
AttendArguments arguments_of(const std::vector<float>& queries, std::uint32_t rows = 1,
                             std::uint32_t group = 1) {
  AttendArguments a;
  a.queries = queries.data();
  a.rows = rows;
  a.group = group;
  a.scale = 0.125f;
  return a;
}
// A cache of random lanes with sinks and residual: score offsets and value means matter here.
const Cache& mixed() {
  static const Cache made = [] {
    Cache cache = make(shape_of(kDim, 4, 16));
    const auto tags = test::random_tags(7, 600, test::kRaw + 1);
    REQUIRE(ok(feed(cache, 0, data(), 0, 600, 50, tags.data())));
    return cache;
  }();
  return made;
}

template <std::size_t kFirst>
void check_pairs() {
  using Traits = test::PairTraits<kDim, kFirst>;
  const auto lanes = test::pair_profiles(profiles(), kFirst, Traits::kCount);
  const std::vector<float> queries = test::normal(39, 5 * kDim);
  for (std::uint8_t lane = 0; lane < Traits::kCount; ++lane) {
    CAPTURE(kFirst + lane);
    CacheShape shape = shape_of(kDim, 2);
    shape.default_lanes = &lane;
    shape.default_lane_count = 1;
    auto cache = KvCache<Traits>::create(shape, lanes.data(), lanes.size());
    REQUIRE(cache);
    REQUIRE(ok(feed(*cache, 0, data(), 0, kTokens, 9)));
    AttendReport report;
    AttendArguments a = arguments_of(queries, 1, 5);
    a.report = &report;
    a.strict = true;
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      const AttendErrors errors = test::attend_errors(*cache, 0, h, a, &data());
      CHECK(errors.finite);
      CHECK(errors.kernel <= kKernel);
      CHECK(errors.excess <= 0.0);
      CHECK(test::worst_over_bound<true>(*cache, 0, h, data()) <= 1.0);
      CHECK(test::worst_over_bound<false>(*cache, 0, h, data()) <= 1.0);
    }
    CHECK(report.key[lane] == Path::kReference);
    CHECK(report.value[lane] == Path::kReference);
    CHECK(report.raw == Path::kReference);
    CHECK(report.key[lane == 0 ? 1 : 0] == Path::kNone);
    CHECK(std::string(report.kernels) == "reference");
  }
}

}  // namespace

TEST_CASE("OC-58 every pair of formats agrees with double precision (D = 64)") {
  check_pairs<0>();
  check_pairs<test::kPairLanes>();
  check_pairs<2 * test::kPairLanes>();
  check_pairs<3 * test::kPairLanes>();
}

TEST_CASE("every named format agrees with double precision") {
  const std::vector<float> queries = test::normal(40, 2 * kDim);
  for (std::uint8_t lane = 0; lane <= test::kRaw; ++lane) {
    CAPTURE(lane);
    CacheShape shape = shape_of(kDim);
    shape.default_lanes = &lane;
    shape.default_lane_count = 1;
    Cache cache = make(shape);
    REQUIRE(ok(feed(cache, 0, data(), 0, kTokens, kTokens)));
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      const AttendErrors errors =
          test::attend_errors(cache, 0, h, arguments_of(queries, 1, 2), &data());
      CHECK(errors.finite);
      CHECK(errors.kernel <= kKernel);
      CHECK(errors.excess <= 0.0);
      CHECK(test::worst_over_bound<true>(cache, 0, h, data()) <= 1.0);
      CHECK(test::worst_over_bound<false>(cache, 0, h, data()) <= 1.0);
      if (lane == test::kRaw) CHECK(errors.original <= kKernel);
    }
  }
}

TEST_CASE("lanes, sinks and residual mixed agree with double precision") {
  const std::vector<float> queries = test::normal(41, 16 * kDim, 1.5f);
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    const AttendErrors errors =
        test::attend_errors(mixed(), 0, h, arguments_of(queries, 2, 8), &data());
    CHECK(errors.finite);
    CHECK(errors.kernel <= kKernel);
    CHECK(errors.excess <= 0.0);
    CHECK(test::worst_over_bound<true>(mixed(), 0, h, data()) <= 1.0);
    CHECK(test::worst_over_bound<false>(mixed(), 0, h, data()) <= 1.0);
  }
}

// ---- negative controls: transforms that forget their mean ----

namespace {

struct NoOffset : Center {  // the score side forgets q . mean
  static NoOffset bind(const BindContext& context) { return {Center::bind(context)}; }
  template <std::uint32_t kN>
  void add_score_offset(const float*, const std::int64_t*, std::uint32_t, float*) const {}
};
struct NoWeight : Center {  // the value side adds the mean once instead of weight times
  static NoWeight bind(const BindContext& context) { return {Center::bind(context)}; }
  template <std::uint32_t kN>
  void restore(const float* coded, float, std::int64_t position, float* row) const {
    Center::restore<kN>(coded, 1.0f, position, row);
  }
};
template <class Transform>
using Int8With = BlockFormat<kDim, Transform, NoSplit, AffineQuant<8>, DenseCodec>;
template <class KeyTransform, class ValueTransform>
struct Centred : CacheTraits<kDim> {
  using Lanes = LaneList<KV<Int8With<KeyTransform>, Int8With<ValueTransform>>>;
};

template <class KeyTransform, class ValueTransform>
double kernel_error(std::uint32_t sinks) {
  using Traits = Centred<KeyTransform, ValueTransform>;
  const LaneProfile profile = profiles().centered();
  auto cache = KvCache<Traits>::create(shape_of(kDim, sinks), &profile, 1);
  REQUIRE(cache);
  REQUIRE(ok(feed(*cache, 0, data(), 0, kTokens, 50)));
  const std::vector<float> queries = test::normal(42, 8 * kDim);
  const AttendErrors errors = test::attend_errors(*cache, 0, 0, arguments_of(queries, 8));
  REQUIRE(errors.finite);
  return errors.kernel;
}

}  // namespace

TEST_CASE("a forgotten mean is detected, but only where lanes meet") {
  CHECK(kernel_error<Center, Center>(4) <= kKernel);
  CHECK(kernel_error<NoOffset, Center>(4) > 0.02);
  CHECK(kernel_error<Center, NoWeight>(4) > 0.02);
  // A cache with one format and no sinks hides the output error: softmax cancels a constant offset.
  // Only the log-sum shows it; that is why the tests above mix.
}

// ---- splits ----

TEST_CASE("partial ranges merge to the whole, in any order") {
  const std::vector<float> queries = test::normal(43, 9 * kDim);
  const AttendArguments a = arguments_of(queries, 3, 3);
  std::vector<float> whole(9 * kDim);
  std::vector<float> log_sums(9);
  REQUIRE(ok(attend(mixed(), 0, 1, a, whole.data(), log_sums.data())));
  const std::vector<std::uint32_t> cuts = {0, 1, 3, 4, 5, 64, 65, 301, 302, 583, 584, 590, 600};
  for (std::uint32_t order = 0; order < 12; ++order) {
    std::vector<AttentionState<kDim>> states(9);
    std::vector<AttentionState<kDim>> direct(9);
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const std::size_t at = (i * 5 + order) % (cuts.size() - 1);
      const IndexRange range{cuts[at], cuts[at + 1]};
      std::vector<AttentionState<kDim>> part(9);
      REQUIRE(ok(attend_partial(mixed(), 0, 1, range, a, part.data())));
      for (std::size_t q = 0; q < 9; ++q) states[q].merge(part[q]);
      REQUIRE(ok(attend_partial(mixed(), 0, 1, range, a, direct.data())));  // folds on
    }
    for (const auto* merged : {&states, &direct}) {
      for (std::size_t q = 0; q < 9; ++q) {
        float out[kDim];
        (*merged)[q].write(out);
        // 13 merges of float states: a few ulp each of values up to 5.
        for (std::uint32_t c = 0; c < kDim; ++c)
          CHECK(std::fabs(out[c] - whole[q * kDim + c]) <= 5e-6f);
        CHECK(std::fabs((*merged)[q].log_sum() - log_sums[q]) <= 1e-5f);
      }
    }
  }
}

TEST_CASE("many rows and groups: any number of queries gives what each alone gives, to the bit") {
  const std::vector<float> queries = test::normal(44, 213 * kDim);
  std::vector<float> alone(213 * kDim);
  std::vector<float> alone_sums(213);
  for (std::uint32_t q = 0; q < 213; ++q) {
    AttendArguments a = arguments_of(queries);
    a.queries = queries.data() + q * kDim;
    REQUIRE(ok(attend(mixed(), 0, 0, a, &alone[q * kDim], &alone_sums[q])));
  }
  for (const auto& sizes : {std::pair{1u, 2u},
                            {1u, 7u},
                            {1u, 8u},
                            {1u, 9u},
                            {1u, 71u},
                            {3u, 71u},
                            {71u, 3u},
                            {213u, 1u}}) {
    const std::uint32_t rows = sizes.first;
    const std::uint32_t group = sizes.second;
    CAPTURE(rows);
    CAPTURE(group);
    std::vector<float> out(rows * group * kDim);
    std::vector<float> sums(rows * group);
    REQUIRE(ok(attend(mixed(), 0, 0, arguments_of(queries, rows, group), out.data(), sums.data())));
    CHECK(std::memcmp(out.data(), alone.data(), out.size() * sizeof(float)) == 0);
    CHECK(std::memcmp(sums.data(), alone_sums.data(), sums.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("raw keys are scored far ahead of their values; it changes nothing") {
  constexpr std::uint32_t kLong = 4500;  // more than twice what is scored at once
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 1;
  shape.max_tokens = kLong;
  auto made = KvCache<presets::F16<16>>::create(shape, nullptr, 0);
  REQUIRE(made);
  const Tokens tokens = test::tokens_of(52, kLong, 1, 16, 0.5f, -0.5f);
  REQUIRE(ok(feed(*made, 0, tokens, 0, kLong, 700)));
  const std::vector<float> queries = test::normal(53, 16 * 16);
  const AttendArguments all = arguments_of(queries, 1, 16);
  std::vector<float> out(16 * 16);
  std::vector<float> sums(16);
  REQUIRE(ok(attend(*made, 0, 0, all, out.data(), sums.data())));
  const AttendErrors errors = test::attend_errors(*made, 0, 0, all);
  CHECK(errors.finite);
  CHECK(errors.kernel <= kKernel);
  for (const std::uint32_t begin : {1u, 5u, 48u, 250u, 2047u, 2049u}) {
    CAPTURE(begin);
    for (std::uint32_t group = 1; group <= 16; group *= 2) {
      const IndexRange limit{begin, kLong - begin};
      AttendArguments a = arguments_of(queries, 1, group);
      a.limits = &limit;
      const AttendErrors seen = test::attend_errors(*made, 0, 0, a);
      CHECK(seen.finite);
      CHECK(seen.kernel <= kKernel);
    }
  }
  const std::vector<std::uint8_t> shown(3 * kLong, std::uint8_t{1});
  for (std::uint32_t group = 1; group <= 3; ++group) {
    CAPTURE(group);
    AttendArguments a = arguments_of(queries, 1, group);
    for (const bool masked : {false, true}) {
      a.mask = masked ? shown.data() : nullptr;
      a.mask_tokens = kLong;
      std::vector<float> some(group * 16);
      std::vector<float> some_sums(group);
      REQUIRE(ok(attend(*made, 0, 0, a, some.data(), some_sums.data())));
      CHECK(std::memcmp(some.data(), out.data(), some.size() * sizeof(float)) == 0);
      CHECK(std::memcmp(some_sums.data(), sums.data(), group * sizeof(float)) == 0);
    }
  }
}

// ---- limits, masks, rules, statistics ----

TEST_CASE("limits: causal, window and empty rows") {
  const std::vector<float> queries = test::normal(45, 12 * 2 * kDim);
  AttendArguments a = arguments_of(queries, 12, 2);
  IndexRange limits[12];
  causal_limits(600, 12, limits);
  CHECK(limits[0].end == 589);
  CHECK(limits[11].end == 600);
  limits[1] = {580, 590};        // a window inside lanes and tail
  limits[2] = {0, 3};            // sinks only
  limits[3] = {590, 700};        // beyond the end
  limits[4] = {5, 5};            // nothing
  limits[5] = {700, 800};        // nothing either
  limits[6] = {0xffffffffu, 0};  // inverted
  a.limits = limits;
  const AttendErrors errors = test::attend_errors(mixed(), 0, 1, a, &data());
  CHECK(errors.finite);
  CHECK(errors.kernel <= kKernel);
  std::vector<float> out(24 * kDim, 7.0f);
  std::vector<float> sums(24, 7.0f);
  REQUIRE(ok(attend(mixed(), 0, 1, a, out.data(), sums.data())));
  for (const std::uint32_t row : {4u, 5u, 6u}) {
    for (std::uint32_t i = row * 2 * kDim; i < (row + 1) * 2 * kDim; ++i) CHECK(out[i] == 0.0f);
    CHECK(sums[row * 2] == -std::numeric_limits<float>::infinity());
  }
  IndexRange early[9];
  causal_limits(5, 9, early);
  CHECK(early[3].empty());
  CHECK(early[4].end == 1);
}

TEST_CASE("masks per row and query head") {
  const std::vector<float> queries = test::normal(46, 6 * kDim);
  AttendArguments a = arguments_of(queries, 2, 3);
  std::vector<std::uint8_t> mask(6 * 600);
  const auto random = test::random_tags(47, mask.size(), 2);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = random[i];
  std::fill(mask.begin() + 600, mask.begin() + 1200, std::uint8_t{0});  // query 1 sees nothing
  a.mask = mask.data();
  a.mask_tokens = 600;
  const IndexRange limits[2] = {{0, 300}, {100, 600}};
  for (const IndexRange* limit : {static_cast<const IndexRange*>(nullptr), &limits[0]}) {
    a.limits = limit;
    const AttendErrors errors = test::attend_errors(mixed(), 0, 0, a, &data());
    CHECK(errors.finite);
    CHECK(errors.kernel <= kKernel);
  }
  a.mask_tokens = 599;
  float out[6 * kDim];
  CHECK(attend(mixed(), 0, 0, a, out) == Status::kMismatch);
}

TEST_CASE("SoftCap and LearnedSink") {
  const std::vector<float> queries = test::normal(48, 6 * kDim, 4.0f);
  const AttendArguments a = arguments_of(queries, 2, 3);
  const SoftCap cap{3.0f};
  AttendErrors errors = test::attend_errors(mixed(), 0, 0, a, &data(), cap,
                                            [](double s) { return 3.0 * std::tanh(s / 3.0); });
  CHECK(errors.finite);
  CHECK(errors.kernel <= kKernel);
  CHECK(errors.excess <= 0.0);
  CHECK(test::attend_errors(mixed(), 0, 0, a).kernel <= kKernel);
  CHECK(test::attend_errors(mixed(), 0, 0, a, nullptr, cap, [](double s) { return s; }).kernel >
        0.02);  // the cap matters
  const float logits[3] = {-2.0f, 5.0f, 40.0f};
  errors = test::attend_errors(
      mixed(), 0, 0, a, nullptr, LearnedSink{logits}, [](double s) { return s; }, logits);
  CHECK(errors.finite);
  CHECK(errors.kernel <= kKernel);
  // Over nothing the sink takes all: zeros, its logit as log-sum.
  const Cache empty = make(shape_of(kDim));
  float out[6 * kDim];
  float sums[6];
  REQUIRE(ok(attend(empty, 0, 0, a, out, sums, LearnedSink{logits})));
  CHECK(out[0] == 0.0f);
  CHECK(sums[1] == 5.0f);
}

TEST_CASE("statistics are those of the softmax weights") {
  const std::vector<float> queries = test::normal(49, 11 * kDim, 2.0f);
  AttendArguments a = arguments_of(queries, 11);
  IndexRange limits[11];
  causal_limits(600, 11, limits);
  limits[4] = {0, 0};
  a.limits = limits;
  const IndexRange ranges[3] = {{0, 4}, {100, 400}, {590, 1000}};
  float mass[33];
  float largest[11];
  float squares[11];
  std::uint32_t visible[11];
  AttentionStatistics statistics;
  statistics.ranges = ranges;
  statistics.range_count = 3;
  statistics.mass = mass;
  statistics.largest = largest;
  statistics.squares = squares;
  statistics.visible = visible;
  a.statistics = &statistics;
  std::vector<float> out(11 * kDim);
  std::vector<float> sums(11);
  REQUIRE(ok(attend(mixed(), 0, 1, a, out.data(), sums.data())));
  std::vector<double> weights;
  const AttendErrors errors = test::compare_attend(
      mixed(), 0, 1, a, out.data(), sums.data(), nullptr, [](double s) { return s; }, nullptr,
      &weights);
  CHECK(errors.kernel <= kKernel);
  for (std::uint32_t q = 0; q < 11; ++q) {
    double wanted[3] = {};
    double top = 0.0;
    double square = 0.0;
    std::uint32_t seen = 0;
    for (std::uint32_t t = 0; t < 600; ++t) {
      const double w = weights[q * 600 + t];
      seen += t >= limits[q].begin && t < limits[q].end;
      top = std::fmax(top, w);
      square += w * w;
      for (int r = 0; r < 3; ++r) wanted[r] += t >= ranges[r].begin && t < ranges[r].end ? w : 0.0;
    }
    CHECK(visible[q] == seen);
    CHECK(std::fabs(static_cast<double>(largest[q]) - top) <= kKernel);
    CHECK(std::fabs(static_cast<double>(squares[q]) - square) <= kKernel);
    for (int r = 0; r < 3; ++r)
      CHECK(std::fabs(static_cast<double>(mass[q * 3 + static_cast<std::uint32_t>(r)]) -
                      wanted[r]) <= kKernel);
  }
  statistics.range_count = kMaxMassRanges + 1;
  CHECK(attend(mixed(), 0, 1, a, out.data()) == Status::kRange);
  statistics.range_count = 1;
  statistics.ranges = nullptr;
  CHECK(attend(mixed(), 0, 1, a, out.data()) == Status::kInvalid);
}

TEST_CASE("arguments that make no sense are refused before anything is written") {
  const std::vector<float> queries = test::normal(50, kDim);
  float out[kDim] = {1.0f};
  AttendArguments a = arguments_of(queries);
  CHECK(attend(mixed(), 1, 0, a, out) == Status::kInvalid);
  CHECK(attend(mixed(), 0, kHeads, a, out) == Status::kInvalid);
  CHECK(attend(mixed(), 0, 0, a, nullptr) == Status::kInvalid);
  a.group = 0;
  CHECK(attend(mixed(), 0, 0, a, out) == Status::kInvalid);
  a = arguments_of(queries);
  a.queries = nullptr;
  CHECK(attend(mixed(), 0, 0, a, out) == Status::kInvalid);
  a.rows = 0;
  CHECK(ok(attend(mixed(), 0, 0, a, nullptr)));
  CHECK(out[0] == 1.0f);
  CacheShape shape = shape_of(kDim);
  shape.query_heads = 6;
  const Cache cache = make(shape);
  a = arguments_of(queries);
  CHECK(attend(cache, 0, 0, a, out) == Status::kMismatch);  // 1 * 2 query heads, not 6
}

// ---- another kernel set over the same cache ----

namespace {

// Decodes whole runs first.
struct RunKernels : ReferenceKernels {
  static constexpr const char* kName = "runs";
  template <class F>
  static constexpr Path kPath = Path::kDecode;

  template <class F, class Visit>
  static void each_run(const F& format, const BlockRun* runs, std::uint32_t run_count,
                       Visit visit) {
    std::vector<float> decoded(256 * F::kCoded);
    std::uint32_t first = 0;
    for (std::uint32_t r = 0; r < run_count; ++r) {
      format.decode(runs[r].bytes, runs[r].slot,
                    MutableRows{decoded.data(), runs[r].count, F::kCoded});
      visit(first, Rows{decoded.data(), runs[r].count, F::kCoded});
      first += runs[r].count;
    }
  }
  template <Format F>
  static void score(const F& format, const abi::ScoreArguments& a) {
    each_run(format, a.runs, a.run_count, [&](std::uint32_t first, Rows rows) {
      score_rows(rows, F::kCoded, a.queries, a.query_count, a.scores + first, a.stride);
    });
  }
  template <Format F>
  static void accumulate(const F& format, const abi::AccumulateArguments& a) {
    each_run(format, a.runs, a.run_count, [&](std::uint32_t first, Rows rows) {
      accumulate_rows(rows, F::kCoded, a.weights + first, a.query_count, a.stride, a.sums);
    });
  }
};
// Has kernels of its own for keys only.
struct KeyKernels : ReferenceKernels {
  template <class F>
  static constexpr Path kPath = [] {
    if constexpr (requires { F::kRole; }) {
      return F::kRole == Role::kValue ? Path::kDecode : Path::kFused;
    } else {
      return Path::kFused;
    }
  }();
};

}  // namespace

TEST_CASE("kernels are a choice of the call: another set over the same bytes") {
  using Traits = Centred<Center, Center>;
  const LaneProfile profile = profiles().centered();
  auto cache = KvCache<Traits>::create(shape_of(kDim, 3), &profile, 1);
  REQUIRE(cache);
  REQUIRE(ok(feed(*cache, 0, data(), 0, 300, 50)));
  const std::vector<float> queries = test::normal(51, 9 * kDim);
  AttendArguments a = arguments_of(queries, 9);
  AttendReport report;
  a.report = &report;
  std::vector<float> reference(9 * kDim);
  std::vector<float> runs(9 * kDim);
  REQUIRE(ok(attend(*cache, 0, 0, a, reference.data())));
  CHECK(report.key[0] == Path::kReference);
  REQUIRE(ok(attend<RunKernels>(*cache, 0, 0, a, runs.data())));
  CHECK(report.key[0] == Path::kDecode);
  CHECK(report.value[0] == Path::kDecode);
  CHECK(report.raw == Path::kReference);
  CHECK(std::string(report.kernels) == "runs");
  CHECK(std::string(to_string(report.key[0])) == "decode");
  CHECK(std::memcmp(reference.data(), runs.data(), runs.size() * sizeof(float)) == 0);
  a.strict = true;
  CHECK(ok(attend(*cache, 0, 0, a, reference.data())));
  CHECK(attend<RunKernels>(*cache, 0, 0, a, runs.data()) == Status::kUnsupported);
  CHECK(attend<KeyKernels>(*cache, 0, 0, a, runs.data()) == Status::kUnsupported);
  std::vector<AttentionState<kDim>> states(9);
  CHECK(attend_partial<RunKernels>(*cache, 0, 0, {}, a, states.data()) == Status::kUnsupported);
  CHECK(states[0].sum == 0.0f);
}
