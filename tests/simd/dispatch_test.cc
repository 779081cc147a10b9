// The table of kernels: which targets there are, how one is chosen, and that all of them agree.
#include "kvpleat/dispatch.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kvpleat/attention/attend.h"
#include "kvpleat/cache/presets.h"
#include "kvpleat/format/formats.h"
#include "support/dispatched_targets.h"
#include "support/generator.h"
#include "support/kernel_sample.h"

namespace kvpleat {
namespace {

using K = DispatchedKernels;
using abi::Arithmetic;

TEST_CASE("targets have names of their own; the best that runs here is chosen, others by name") {
  REQUIRE(K::target_count() > 0);
  std::uint32_t best = 0;
  while (!K::target_runs(best)) ++best;
  REQUIRE(best < K::target_count());
  REQUIRE(K::use_target("").status == Status::kOk);
  CHECK(std::string(K::target()) == K::target_name(best));
  MESSAGE("best of this CPU: ", std::string(K::target()));
  for (std::uint32_t i = 0; i < K::target_count(); ++i) {
    for (std::uint32_t j = 0; j < i; ++j)
      CHECK(std::string(K::target_name(i)) != K::target_name(j));
    const Error error = K::use_target(K::target_name(i));
    CHECK(error.status == (K::target_runs(i) ? Status::kOk : Status::kUnsupported));
    if (K::target_runs(i)) CHECK(std::string(K::target()) == K::target_name(i));
    if (!K::target_runs(i))
      CHECK(error.name() == std::string(K::target_name(i)) + ": not on this CPU");
  }
  CHECK_FALSE(K::target_runs(K::target_count()));
  REQUIRE(K::use_target("").status == Status::kOk);

  const Error unknown = K::use_target("avx3");
  CHECK(unknown.status == Status::kInvalid);
  CHECK(unknown.name() == "no kernels for avx3");
  CHECK(std::string(K::target()) == K::target_name(best));
  // A name of any length, and one that begins as another.
  CHECK(K::use_target(std::string(1000, 'x')).status == Status::kInvalid);
  CHECK(K::use_target(std::string(K::target()) + "x").status == Status::kInvalid);
  CHECK(K::use_target(std::string_view(K::target()).substr(1)).status == Status::kInvalid);
}

// ---- every target against the others and against ReferenceKernels ----

template <class F>
void check_role(const test::Law& law) {
  CAPTURE(std::string(F::kId.view()));
  const test::Sample<F> sample;
  const test::Results unit = sample.magnitudes();
  for (const Arithmetic arithmetic :
       {Arithmetic::kFast, Arithmetic::kAccurate, Arithmetic::kExact}) {
    CAPTURE(static_cast<int>(arithmetic));
    const double tolerance = law.tolerance(arithmetic);
    const test::Results wanted = sample.template run<ReferenceKernels>(arithmetic);
    test::Results first;
    test::on_each_dispatched_target([&] {
      const std::string target = K::target();
      const test::Results found = sample.template run<K>(arithmetic);
      CHECK(test::worst(found.scores, wanted.scores, unit.scores) <= tolerance);
      CHECK(test::worst(found.sums, wanted.sums, unit.sums) <= tolerance);
      if (first.scores.empty()) {
        first = found;
      } else if (law.equal_bits && target != "plain") {  // plain code has no FMA
        CHECK(test::same_bits(found.scores, first.scores));
        CHECK(test::same_bits(found.sums, first.sums));
      } else {
        CHECK(test::worst(found.scores, first.scores, unit.scores) <= law.across);
        CHECK(test::worst(found.sums, first.sums, unit.sums) <= law.across);
      }
    });
  }
}

TEST_CASE("every target gives the reference's scores and sums, and those with FMA the same bits") {
  MESSAGE("ran on ", test::on_each_dispatched_target([] {}));
  test::each_kernel_format([]<class F>(const test::Law& law) { check_role<F>(law); });
}

TEST_CASE("attend reports the kernels and the target; strict refuses what has no kernel") {
  auto made = KvCache<presets::F16<64>>::create({.layers = 1, .kv_heads = 1, .max_tokens = 300});
  REQUIRE(made);
  const std::vector<float> rows = test::normal(95, std::size_t{300} * 64);
  REQUIRE(ok(made->append(0, {rows.data(), 300, 1, 64}, {rows.data(), 300, 1, 64})));
  std::vector<float> first;
  const std::string ran = test::on_each_dispatched_target([&] {
    const std::string target = K::target();
    AttendReport report;
    std::vector<float> out(64);
    REQUIRE(ok(attend<K>(
        *made, 0, 0, {.queries = rows.data(), .scale = 0.125f, .report = &report, .strict = true},
        out.data())));
    CHECK(std::string(report.kernels) == "dispatched");
    CHECK(report.target == target);
    CHECK(report.key[0] == Path::kFused);
    CHECK(report.value[0] == Path::kFused);
    if (first.empty()) first = out;
    for (std::uint32_t c = 0; c < 64; ++c) CHECK(out[c] == doctest::Approx(first[c]).epsilon(1e-5));
  });

  CHECK(ran.find(K::target()) != std::string::npos);

  // Formats that attend decodes, in a kernel set that is meant to work on the bytes.
  using Decoded = formats::GgmlQ4_0<64>;
  static_assert(K::kPath<Decoded> == Path::kDecode);
  auto other =
      KvCache<presets::GgmlQ4_0<64>>::create({.layers = 1, .kv_heads = 1, .max_tokens = 64});
  REQUIRE(other);
  REQUIRE(ok(other->append(0, {rows.data(), 64, 1, 64}, {rows.data(), 64, 1, 64})));
  float out[64];
  CHECK(attend<K>(*other, 0, 0, {.queries = rows.data(), .strict = true}, out) ==
        Status::kUnsupported);
  AttendReport report;
  REQUIRE(ok(attend<K>(*other, 0, 0, {.queries = rows.data(), .report = &report}, out)));
  CHECK(report.key[0] == Path::kDecode);
}

}  // namespace
}  // namespace kvpleat
