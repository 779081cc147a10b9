// Open cases over vector kernels, on every target that runs here: OC-06, OC-08, OC-21, OC-23, OC-26,
// OC-54, OC-55, OC-56, OC-58 and OC-59. With ReferenceKernels they stand in tests/open_cases.
//
// Bounds of |output - attention in double over what is stored| / max|stored value|. A logit that errs
// by e changes weights by factors within exp(+-2e), so the output by expm1(2e); see each case for its
// logits.
//   kExact:     float arithmetic: 1e-4, as derived in tests/attention/attend_test.cc
//   kAccurate:  15-bit queries, 14-bit weights: 1e-3
//   kFast:      8-bit queries: a logit errs by at most max|q| / 254 * (sum of |key|) * scale, in the
//               mean over random signs by max|q| / 127 / sqrt(12) * |key| * scale
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kvpleat/dispatch.h"
#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"
#include "support/dispatched_targets.h"

using namespace kvpleat;
using abi::Arithmetic;
using test::AttendErrors;
using test::CountingMemory;
using test::feed;
using test::Tokens;

namespace {

using Kernels = DispatchedKernels;

template <class Run>
void in_each_arithmetic(Run run) {
  for (const Arithmetic arithmetic :
       {Arithmetic::kFast, Arithmetic::kAccurate, Arithmetic::kExact}) {
    CAPTURE(static_cast<int>(arithmetic));
    run(arithmetic);
  }
}

CacheShape shape_of(std::uint32_t heads, std::uint64_t tokens, std::uint32_t dim) {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = heads;
  shape.max_tokens = tokens;
  shape.rope = Rope::standard(RopeLayout::kHalves, dim / 2 * 2, 10000.0);
  return shape;
}
AttendArguments arguments_of(const std::vector<float>& queries, std::uint32_t rows,
                             std::uint32_t group, float scale, Arithmetic arithmetic) {
  AttendArguments a;
  a.queries = queries.data();
  a.rows = rows;
  a.group = group;
  a.scale = scale;
  a.arithmetic = arithmetic;
  return a;
}
template <class Traits>
KvCache<Traits> make(const CacheShape& shape, const MemorySource& memory = heap_memory()) {
  auto made = KvCache<Traits>::create(shape, nullptr, 0, memory);
  REQUIRE(made);
  return std::move(*made);
}
template <template <std::uint32_t> class Preset, std::uint32_t kDim>
struct Vector : Preset<kDim> {
  using Kernels = DispatchedKernels;
};

struct Ties : CacheTraits<67> {
  using Kernels = DispatchedKernels;
  using Own = formats::Dense<67, SymmetricQuant<8, 32>>;
  using Lanes = LaneList<KV<Own, Own>>;
};

}  // namespace

TEST_CASE("OC-06 the product of two small scales, vector kernels") {
  auto cache = make<Vector<presets::Int8, 128>>(shape_of(1, 64, 128));
  Tokens data{1, 128, 128, test::normal(7, 64 * 128, 1e-3f), test::normal(9, 64 * 128)};
  REQUIRE(ok(feed(cache, 0, data, 0, 64, 64)));
  std::vector<float> stored(64 * 128);
  REQUIRE(ok(cache.read(0, 0, 0, 64, stored.data(), nullptr)));
  const std::vector<float> queries = test::normal(8, 64 * 128, 1e-3f);
  std::vector<IndexRange> limits(64);
  for (std::uint32_t t = 0; t < 64; ++t) limits[t] = {t, t + 1};
  test::on_each_dispatched_target([&] {
    in_each_arithmetic([&](Arithmetic arithmetic) {
      // The log-sum of a row that sees one key is its logit.
      AttendArguments prefill = arguments_of(queries, 64, 1, 1e6f, arithmetic);
      prefill.limits = limits.data();
      std::vector<float> out(64 * 128);
      std::vector<float> logits(64);
      REQUIRE(ok(attend(cache, 0, 0, prefill, out.data(), logits.data())));
      for (std::uint32_t t = 0; t < 64; ++t) {
        double wanted = 0.0;
        double size = 0.0;
        double largest = 0.0;
        for (std::uint32_t c = 0; c < 128; ++c) {
          const auto q = static_cast<double>(queries[t * 128 + c]);
          const double k = static_cast<double>(stored[t * 128 + c]) * 1e6;
          wanted += q * k;
          size += k * k;
          largest = std::fmax(largest, std::fabs(q));
        }
        // A query rounded to steps of largest / 127 (or / 16383): errors of up to half a step, of
        // deviation step / sqrt(12), over |key|: six deviations. kExact: 1e-3 as the case asks.
        const double step = arithmetic == Arithmetic::kFast       ? largest / 127.0
                            : arithmetic == Arithmetic::kAccurate ? largest / 16383.0
                                                                  : largest / 32768.0;
        const double bound =
            6.0 * step / std::sqrt(12.0) * std::sqrt(size) + 1e-5 * std::fabs(wanted);
        CHECK(std::fabs(static_cast<double>(logits[t]) - wanted) <= bound);
        if (arithmetic != Arithmetic::kFast) {
          CHECK(std::fabs(static_cast<double>(logits[t]) - wanted) <=
                1e-3 * std::fmax(std::fabs(wanted), std::sqrt(size) * largest));
        }
        AttendArguments decode = prefill;
        decode.queries = queries.data() + t * 128;
        decode.rows = 1;
        decode.limits = &limits[t];
        float logit = 0.0f;
        std::vector<float> row(128);
        REQUIRE(ok(attend(cache, 0, 0, decode, row.data(), &logit)));
        CHECK(logit == logits[t]);  // any number of queries in a pass gives the same
      }
    });
  });
}

TEST_CASE("OC-08 ties round alike, vector encoders") {
  const float ties[6] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f};
  const float rounded[6] = {0.0f, 2.0f, 2.0f, -0.0f, -2.0f, -2.0f};
  constexpr std::uint32_t kTokens = 37;
  std::vector<float> rows(kTokens * 67);
  std::vector<float> wanted(kTokens * 67);
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    for (std::uint32_t c = 0, i = t; c < 67; ++c) {
      rows[t * 67 + c] = c % 32 == 0 ? 127.0f : ties[i % 6];
      wanted[t * 67 + c] = c % 32 == 0 ? 127.0f : rounded[i % 6];
      i += c % 32 != 0 ? 1u : 0u;
    }
  }
  test::on_each_dispatched_target([&] {
    for (const std::uint32_t step : {1u, 16u, kTokens}) {
      auto cache = make<Ties>(shape_of(1, kTokens, 67));
      for (std::uint32_t t = 0; t < kTokens; t += step) {
        const std::uint32_t n = lower_of(step, kTokens - t);
        const TokenRows part(rows.data() + t * 67, n, 1, 67);
        REQUIRE(ok(cache.append(0, part, part)));
      }
      std::vector<float> keys(kTokens * 67);
      std::vector<float> values(kTokens * 67);
      REQUIRE(ok(cache.read(0, 0, 0, kTokens, keys.data(), values.data())));
      CHECK(keys == wanted);  // elements 64 to 66 among them
      CHECK(values == wanted);
    }
  });
}

namespace {

template <std::uint32_t kDim>
void head_size() {
  CAPTURE(kDim);
  auto cache = make<Vector<presets::Int8, kDim>>(shape_of(2, 137, kDim));
  const Tokens data = test::tokens_of(20 + kDim, 137, 2, kDim);
  REQUIRE(ok(feed(cache, 0, data, 0, 137, 10)));
  const std::vector<float> queries = test::normal(21 + kDim, 2 * kDim);
  const float scale = 1.0f / std::sqrt(static_cast<float>(kDim));
  test::on_each_dispatched_target([&] {
    in_each_arithmetic([&](Arithmetic arithmetic) {
      for (std::uint32_t h = 0; h < 2; ++h) {
        AttendReport report;
        AttendArguments a = arguments_of(queries, 1, 2, scale, arithmetic);
        a.report = &report;
        a.strict = true;
        const AttendErrors errors = test::attend_errors(cache, 0, h, a, &data);
        CHECK(errors.finite);
        // kFast: normal queries of up to 4 deviations: steps of 4 / 127, |key| * scale about 1: a
        // logit errs by 0.0091 in deviation, 0.04 at most over 274 keys; weights by half of 1 / 127
        // of the largest. Together below 0.05.
        const double bound = arithmetic == Arithmetic::kFast       ? 0.05
                             : arithmetic == Arithmetic::kAccurate ? 1e-3
                                                                   : 1e-4;
        CHECK(errors.kernel <= bound);
        CHECK(report.key[0] == Path::kFused);
        CHECK(report.value[0] == Path::kFused);
        CHECK(std::string(report.target) == Kernels::target());
        CHECK(std::string(report.kernels) == "dispatched");
      }
    });
  });
}
template <std::uint32_t... kDims>
void head_sizes(std::integer_sequence<std::uint32_t, kDims...>) {
  (head_size<kDims>(), ...);
}

}  // namespace

TEST_CASE("OC-21 sweep of head sizes, vector kernels") {
  head_sizes(std::integer_sequence<std::uint32_t, 1, 8, 40, 72, 80, 112, 136, 192, 256, 576>{});
}

TEST_CASE("OC-23 upper half of a wide head, vector kernels") {
  constexpr std::uint32_t kDim = 512;
  constexpr std::uint32_t kFirst = 272;
  const auto upper = [&](std::vector<float> rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i % kDim < kFirst ? 0.0f : rows[i];
    return rows;
  };
  auto cache = make<Vector<presets::Int8, kDim>>(shape_of(1, 1500, kDim));
  Tokens data{1, kDim, kDim, upper(test::normal(21, 1500 * kDim)),
              upper(test::normal(22, 1500 * kDim))};
  const std::vector<float> query = upper(test::normal(23, kDim));
  REQUIRE(ok(feed(cache, 0, data, 0, 1500, 500)));
  test::on_each_dispatched_target([&] {
    in_each_arithmetic([&](Arithmetic arithmetic) {
      const AttendArguments a = arguments_of(query, 1, 1, 0.06f, arithmetic);
      const AttendErrors errors = test::attend_errors(cache, 0, 0, a, &data);
      CHECK(errors.kernel <= (arithmetic == Arithmetic::kFast ? 0.05 : 1e-3));
      // Split over tokens, also inside blocks: the parts merge to the whole.
      AttentionState<kDim> parts[4];
      const std::uint32_t cuts[5] = {0, 33, 500, 1003, 1500};
      for (std::uint32_t i = 0; i < 4; ++i)
        REQUIRE(ok(attend_partial(cache, 0, 0, {cuts[i], cuts[i + 1]}, a, &parts[i])));
      for (std::uint32_t i = 1; i < 4; ++i) parts[0].merge(parts[i]);
      float split[kDim];
      float whole[kDim];
      parts[0].write(split);
      REQUIRE(ok(attend(cache, 0, 0, a, whole)));
      float high = 0.0f;
      // Weights are rounded anew in each part: half of 1 / 127 of a part's largest.
      const float tolerance = arithmetic == Arithmetic::kFast ? 0.02f : 1e-3f;
      for (std::uint32_t c = 0; c < kDim; ++c) {
        CHECK(std::fabs(split[c] - whole[c]) <= tolerance);
        if (c >= kFirst) high += std::fabs(whole[c]);
      }
      CHECK(high > 0.01f);
    });
  });
}

TEST_CASE("OC-26 grouped query heads, vector kernels") {
  for (const auto& sizes :
       {std::pair{8u, 1u}, {16u, 2u}, {24u, 4u}, {12u, 4u}, {5u, 5u}, {71u, 1u}}) {
    const std::uint32_t query_heads = sizes.first;
    const std::uint32_t heads = sizes.second;
    CAPTURE(query_heads);
    CAPTURE(heads);
    auto cache = make<Vector<presets::Int8, 64>>(shape_of(heads, 70, 64));
    Tokens data = test::tokens_of(26, 70, heads, 64);
    for (std::size_t i = 0; i < data.values.size(); ++i)
      data.values[i] = static_cast<float>(i / 64 % heads + 1);
    REQUIRE(ok(feed(cache, 0, data, 0, 70, 70)));
    const std::vector<float> queries = test::normal(27, query_heads * 64);
    std::vector<float> out(query_heads * 64);
    test::on_each_dispatched_target([&] {
      in_each_arithmetic([&](Arithmetic arithmetic) {
        Sequential here;
        REQUIRE(
            ok(attend_layer(cache, 0, query_heads, arguments_of(queries, 1, 1, 0.3f, arithmetic),
                            out.data(), nullptr, here)));
        for (std::uint32_t q = 0; q < query_heads; ++q) {
          const auto wanted = static_cast<float>(q / (query_heads / heads) + 1);
          for (std::uint32_t c = 0; c < 64; ++c)
            CHECK(std::fabs(out[q * 64 + c] - wanted) <= 1e-3f * wanted);
        }
      });
    });
  }
}

TEST_CASE("OC-54 very negative but valid scores, vector kernels") {
  constexpr std::uint32_t kDim = 64;
  Tokens data{1, kDim, kDim, std::vector<float>(3 * kDim, -100.0f), std::vector<float>(3 * kDim)};
  for (std::size_t i = 0; i < data.values.size(); ++i)
    data.values[i] = static_cast<float>(i / kDim + 1);
  auto cache = make<Vector<presets::Int8, kDim>>(shape_of(1, 3, kDim));
  REQUIRE(ok(feed(cache, 0, data, 0, 3, 3)));
  const std::vector<float> query(kDim, 100.0f);
  test::on_each_dispatched_target([&] {
    in_each_arithmetic([&](Arithmetic arithmetic) {
      for (const double score : {-640000.0, -3e38}) {
        const AttendArguments a =
            arguments_of(query, 1, 1, static_cast<float>(score / -640000.0), arithmetic);
        float out[kDim];
        float sum = 0.0f;
        REQUIRE(ok(attend(cache, 0, 0, a, out, &sum)));
        float worst = 0.0f;
        for (const float x : out)
          worst = std::fabs(x - 2.0f) <= worst ? worst : std::fabs(x - 2.0f);
        CHECK(worst <= 1e-5f);
        CHECK(static_cast<double>(sum) == doctest::Approx(score + std::log(3.0)).epsilon(1e-6));
      }
    });
  });
}

namespace {

// What has kernels, in two caches.
constexpr std::uint32_t kWide = 128;
struct Many : test::Everything<kWide> {
  using Kernels = DispatchedKernels;
};
const test::Profiles& profiles() {
  static const test::Profiles made(1, kWide);
  return made;
}
// One lane after another of a cache.
template <class Visit>
void each_lane(Visit visit, const MemorySource& memory = heap_memory()) {
  for (std::uint8_t lane = 0; lane <= test::kRaw; ++lane) {
    CAPTURE(lane);
    CacheShape shape = shape_of(1, 400, kWide);
    shape.sinks = 1;
    shape.default_lanes = &lane;
    shape.default_lane_count = 1;
    auto cache =
        KvCache<Many>::create(shape, profiles().lanes.data(), profiles().lanes.size(), memory);
    REQUIRE(cache);
    visit(*cache, lane);
  }
}

}  // namespace

TEST_CASE("OC-55 score overflow in narrow accumulation, vector kernels") {
  std::vector<std::uint16_t> half(2 * kWide);
  for (std::size_t i = 0; i < half.size(); ++i) half[i] = to_half(i < kWide ? 300.0f : 299.5f).bits;
  const std::vector<float> query(kWide, 300.0f);
  each_lane([&](auto& cache, std::uint8_t) {
    const TokenRows rows = TokenRows::tagged(half.data(), ElementType::kHalf, 2, 1, kWide);
    REQUIRE(ok(cache.append(0, rows, rows)));
    test::on_each_dispatched_target([&] {
      in_each_arithmetic([&](Arithmetic arithmetic) {
        const AttendArguments a = arguments_of(query, 1, 1, 1.0f / std::sqrt(128.0f), arithmetic);
        const AttendErrors errors = test::attend_errors(cache, 0, 0, a);
        CHECK(errors.finite);
        CHECK(errors.kernel <= 1e-3);  // the query is exact in 8 bits
      });
    });
  });
}

TEST_CASE("OC-56 junk beyond the last token, vector kernels") {
  const Tokens data = test::tokens_of(37, 200, 1, kWide);
  const std::vector<float> query = test::normal(56, 3 * kWide);
  for (const std::uint32_t n : {1u, 15u, 16u, 17u, 77u, 200u}) {
    CAPTURE(n);
    std::vector<std::vector<float>> clean;
    for (const bool junk : {false, true}) {
      CountingMemory memory;
      memory.fill(junk ? 0xff : 0x00);
      std::size_t at = 0;
      each_lane(
          [&](auto& cache, std::uint8_t) {
            REQUIRE(ok(feed(cache, 0, data, 0, n, 64)));
            if (junk) {  // and into every slot behind the last token
              cache.visit(
                  0, 0, {},
                  [&](const auto& lane) {
                    using Pair = typename std::remove_cvref_t<decltype(lane)>::Pair;
                    const auto spoil = [&]<class F>(const BlockRun* runs, std::uint32_t count) {
                      if (count == 0) return;
                      const BlockRun& last = runs[count - 1];
                      const std::uint32_t used = last.slot + last.count;
                      if (used == F::kBlockTokens) return;
                      std::vector<std::uint8_t> kept(F::kBlockBytes, 0xff);
                      F::erase(kept.data(), used, F::kBlockTokens - used);
                      auto* block = const_cast<std::uint8_t*>(last.bytes.block);
                      for (std::uint32_t i = 0; i < F::kBlockBytes; ++i)
                        block[i] = static_cast<std::uint8_t>(block[i] | ~kept[i]);
                    };
                    BlockRun runs[8];
                    Rows open;
                    spoil.template operator()<typename Pair::Key>(
                        runs, lane.key_pieces(lane.slot, lane.count, runs, open));
                    spoil.template operator()<typename Pair::Value>(
                        runs, lane.value_pieces(lane.slot, lane.count, runs, open));
                  },
                  [](std::uint32_t, std::uint32_t) {});
            }
            test::on_each_dispatched_target([&] {
              in_each_arithmetic([&](Arithmetic arithmetic) {
                std::vector<float> out(3 * kWide);
                REQUIRE(ok(attend(cache, 0, 0, arguments_of(query, 1, 3, 0.0884f, arithmetic),
                                  out.data())));
                for (const float x : out) CHECK(std::isfinite(x));
                if (!junk) {
                  clean.push_back(out);
                } else {
                  CHECK(std::memcmp(out.data(), clean[at].data(), 3 * kWide * sizeof(float)) == 0);
                }
                ++at;
              });
            });
          },
          memory.source());
    }
  }
}

TEST_CASE("OC-58 every type, no silent slow path, vector kernels") {
  const Tokens data = test::tokens_of(38, 100, 1, kWide, 0.5f, -0.5f);
  const std::vector<float> queries = test::normal(39, 3 * kWide);
  each_lane([&](auto& cache, std::uint8_t lane) {
    REQUIRE(ok(feed(cache, 0, data, 0, 100, 31)));
    test::on_each_dispatched_target([&] {
      in_each_arithmetic([&](Arithmetic arithmetic) {
        AttendReport report;
        AttendArguments a = arguments_of(queries, 1, 3, 0.0884f, arithmetic);
        a.report = &report;
        a.strict = true;
        const AttendErrors errors = test::attend_errors(cache, 0, 0, a, &data);
        CHECK(errors.finite);
        // As in the sweep of head sizes; outliers and group-shift deltas of 8 bits come on top.
        CHECK(errors.kernel <= (arithmetic == Arithmetic::kFast       ? 0.05
                                : arithmetic == Arithmetic::kAccurate ? 2e-3
                                                                      : 1e-4));
        CHECK(report.key[lane] == Path::kFused);
        CHECK(report.value[lane] == Path::kFused);
        CHECK(report.raw == Path::kFused);
      });
    });
  });
}

TEST_CASE("OC-58 a format without kernels: right, reported, and refused in strict mode") {
  const Tokens data = test::tokens_of(38, 100, 1, 64);
  const std::vector<float> queries = test::normal(39, 3 * 64);
  auto cache = make<Vector<presets::GgmlQ4_0, 64>>(shape_of(1, 100, 64));
  REQUIRE(ok(feed(cache, 0, data, 0, 100, 31)));
  test::on_each_dispatched_target([&] {
    AttendReport report;
    AttendArguments a = arguments_of(queries, 1, 3, 0.125f, Arithmetic::kFast);
    a.report = &report;
    CHECK(test::attend_errors(cache, 0, 0, a, &data).kernel <= 1e-4);
    CHECK(report.key[0] == Path::kDecode);
    CHECK(report.value[0] == Path::kDecode);
    a.strict = true;
    std::vector<float> out(3 * 64, 7.0f);
    CHECK(attend(cache, 0, 0, a, out.data()) == Status::kUnsupported);
    CHECK(out[0] == 7.0f);
  });
}

TEST_CASE("OC-59 fused result equals read-then-attend, vector kernels") {
  for (const std::uint32_t n : {3u, 300u}) {
    CAPTURE(n);
    auto ones = make<Vector<presets::Int8, 128>>(shape_of(1, 300, 128));
    Tokens data{1, 128, 128, std::vector<float>(n * 128, 1.0f), test::normal(39, n * 128)};
    REQUIRE(ok(feed(ones, 0, data, 0, n, 100)));
    auto random = make<Vector<presets::Int8, 128>>(shape_of(1, 300, 128));
    REQUIRE(ok(feed(random, 0, test::tokens_of(40, n, 1, 128), 0, n, 100)));
    std::vector<float> query(128, 5.0f);
    query[0] = 2000.0f;
    std::vector<float> noise = test::normal(41, 128);
    noise[0] = 2000.0f;
    test::on_each_dispatched_target([&] {
      // Equal keys: equal logits whatever a query is rounded to. Weights times the steps of the values
      // are rounded to the largest / 127 (or / 16383): half of that, where the values are of size 1.
      in_each_arithmetic([&](Arithmetic arithmetic) {
        const AttendErrors errors =
            test::attend_errors(ones, 0, 0, arguments_of(query, 1, 1, 0.0884f, arithmetic));
        CHECK(errors.kernel <= (arithmetic == Arithmetic::kFast       ? 0.5 / 127.0
                                : arithmetic == Arithmetic::kAccurate ? 0.5 / 16383.0 + 1e-5
                                                                      : 1e-5));
      });
      // A query of unlike channels is rounded in kFast and kAccurate: who needs 1e-4 asks for kExact.
      CHECK(
          test::attend_errors(random, 0, 0, arguments_of(noise, 1, 1, 0.0884f, Arithmetic::kExact))
              .kernel <= 1e-4);
    });
  }
}
