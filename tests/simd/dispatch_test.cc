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
#include "kvpleat/highway.h"
#include "support/any_format.h"
#include "support/generator.h"

namespace kvpleat {
namespace {

using K = DispatchedKernels;
using abi::Arithmetic;

// Calls run(name) with every target that this CPU has; afterwards the best one is chosen again.
// Returns what ran.
template <class Run>
std::string on_each_target(Run run) {
  std::string ran;
  for (std::uint32_t i = 0; i < K::target_count(); ++i) {
    if (!K::target_runs(i)) {
      ran += std::string(K::target_name(i)) + " (not on this CPU) ";
      continue;
    }
    REQUIRE(K::use_target(K::target_name(i)).status == Status::kOk);
    REQUIRE(std::string(K::target()) == K::target_name(i));
    CAPTURE(K::target());
    run(std::string(K::target()));
    ran += std::string(K::target()) + " ";
  }
  REQUIRE(K::use_target("").status == Status::kOk);
  return ran;
}

TEST_CASE("targets have names of their own; the best that runs here is chosen, others by name") {
  REQUIRE(K::target_count() > 0);
  std::uint32_t best = 0;
  while (!K::target_runs(best)) ++best;
  REQUIRE(best < K::target_count());
  REQUIRE(K::use_target("").status == Status::kOk);
  CHECK(std::string(K::target()) == K::target_name(best));
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

// What one kernel set computes of the runs of a sample.
struct Results {
  std::vector<float> scores;
  std::vector<float> sums;
};

// Two blocks of a format at its own bytes, runs that begin and end inside units of 16, and what
// meets them. What the runs leave out is garbage.
template <class F>
class Sample {
 public:
  static constexpr std::uint32_t kQueries = 5;
  static constexpr std::uint32_t kStride = 256;

  Sample()
      : surroundings_(F::kDim, test::SampleProfile<F>::make()),
        format_(F::bind(surroundings_.context())),
        queries_(test::normal(91, std::size_t{kQueries} * F::kCoded)),
        weights_(test::normal(92, std::size_t{kQueries} * kStride)) {
    for (float& weight : weights_) weight *= weight;
    runs_[0] = fill(blocks_[0], 93, F::kSeal == 1 ? 5u : 0u, F::kBlockTokens);
    runs_[1] = fill(blocks_[1], 94, 0, F::kSeal == 1 ? 23u : F::kSeal);
  }

  template <class Kernels>
  Results run(Arithmetic arithmetic) const {
    alignas(64) static std::uint8_t work[Kernels::template kWorkBytes<F> + 1];
    Results results{std::vector<float>(kQueries * kStride),
                    std::vector<float>(std::size_t{kQueries} * F::kCoded)};
    Kernels::prepare(format_, abi::PrepareArguments{queries_.data(), kQueries, arithmetic, work});
    Kernels::score(format_,
                   abi::ScoreArguments{runs_, 2, nullptr, 0, queries_.data(), work, kQueries,
                                       arithmetic, results.scores.data(), kStride});
    Kernels::accumulate(
        format_, abi::AccumulateArguments{runs_, 2, nullptr, 0, weights_.data(), kQueries, kStride,
                                          arithmetic, results.sums.data()});
    return results;
  }
  // Per result, the sum of the magnitudes of its terms.
  [[nodiscard]] Results magnitudes() const {
    Results results{std::vector<float>(kQueries * kStride),
                    std::vector<float>(std::size_t{kQueries} * F::kCoded)};
    std::uint32_t t = 0;
    for (const BlockRun& run : runs_) {
      for (std::uint32_t s = 0; s < run.count; ++s, ++t) {
        float row[F::kCoded];
        format_.decode(run.bytes, run.slot + s, MutableRows{row, 1, F::kCoded});
        for (std::uint32_t j = 0; j < kQueries; ++j) {
          for (std::uint32_t c = 0; c < F::kCoded; ++c) {
            results.scores[j * kStride + t] += magnitude(row[c] * queries_[j * F::kCoded + c]);
            results.sums[j * F::kCoded + c] += magnitude(row[c] * weights_[j * kStride + t]);
          }
        }
      }
    }
    return results;
  }

 private:
  // Slots [begin, end) of a block whose other slots are 0xff, as far as its codec lets them be.
  BlockRun fill(test::BlockData& data, std::uint32_t seed, std::uint32_t begin, std::uint32_t end) {
    constexpr bool kOpen = F::kSpills || F::kSeal > 1;  // slots in order, from the first
    data.block.assign(F::kBlockBytes, kOpen ? std::uint8_t{0} : std::uint8_t{0xff});
    data.shared.resize(F::kSharedBytes);
    const std::vector<float> values = test::normal(seed, std::size_t{F::kBlockTokens} * F::kDim);
    std::vector<float> rows(std::size_t{F::kBlockTokens} * F::kCoded);
    std::uint32_t room = 0;
    for (std::uint32_t t = 0; t < F::kBlockTokens; ++t) {
      float* row = &rows[std::size_t{t} * F::kCoded];
      format_.forward(&values[std::size_t{t} * F::kDim], t, row);
      if constexpr (F::kSpills) room += format_.spill_need(row);
      if constexpr (F::kSharedBytes > 0) {
        typename F::Stat stat;
        format_.observe(row, stat);
        F::write_shared(stat, t, data.shared.data());
      }
    }
    data.spill.resize(room);
    SpillWriter spill{data.spill.data(), 0, room};
    const std::uint32_t first = kOpen ? 0 : begin;
    format_.encode(Rows{rows.data(), end - first, F::kCoded}, first, data.shared.data(),
                   data.block.data(), spill, data.counters);
    data.spill.resize(spill.size);
    return {data.bytes(), begin, end - begin};
  }

  test::Surroundings surroundings_;
  F format_;
  std::vector<float> queries_;
  std::vector<float> weights_;
  test::BlockData blocks_[2];
  BlockRun runs_[2];
};

// Largest |a - b| over `unit` of each.
double worst(const std::vector<float>& a, const std::vector<float>& b,
             const std::vector<float>& unit) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= 1e30)) return 1e30;
    if (difference > 0.0) most = std::fmax(most, difference / static_cast<double>(unit[i]));
  }
  return most;
}
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Sums of at most 576 terms, or of 256 tokens, are off by fewer than 40 roundings of 2^-24 of the
// magnitudes in 16 partial sums, and by 256 where tokens are added one by one.
constexpr double kExact = 300 * 0x1p-24;
// Targets without FMA round products as well, and nothing else differs.
constexpr double kAcross = 2 * kExact;
// 8-bit queries and 7-bit weights, of the magnitudes: half a step is 1/254 of the largest, and
// errors of either sign add up to less than that; a level of a codebook may be off by 1/254 more.
// kAccurate: 1/128 of that.
constexpr double kFast = 3.0 / 127;
constexpr double kAccurate = kFast / 128 + kExact;

bool has_fma(const std::string& target) {
  return target != "plain";
}

// What holds for a format beyond that.
struct Law {
  double accurate = kAccurate;
  bool equal_bits = true;  // targets with FMA give the same bits
};
// Oaken in resident order: in kAccurate as well a byte stands for the delta of an outlier, and each
// target has an order of its own to add units in.
constexpr Law kResident{kFast, false};

template <class F>
void check_role(const Law& law) {
  CAPTURE(std::string(F::kId.view()));
  static_assert(K::kPath<F> == VectorKernels::kPath<F>);
  static_assert(K::kWorkBytes<F> == VectorKernels::kWorkBytes<F>);
  const Sample<F> sample;
  const Results unit = sample.magnitudes();
  for (const Arithmetic arithmetic :
       {Arithmetic::kFast, Arithmetic::kAccurate, Arithmetic::kExact}) {
    CAPTURE(static_cast<int>(arithmetic));
    const double tolerance = arithmetic == Arithmetic::kFast       ? kFast
                             : arithmetic == Arithmetic::kAccurate ? law.accurate
                                                                   : kExact;
    const Results wanted = sample.template run<ReferenceKernels>(arithmetic);
    const Results here = sample.template run<VectorKernels>(arithmetic);
    Results first;
    on_each_target([&](const std::string& target) {
      const Results found = sample.template run<K>(arithmetic);
      CHECK(worst(found.scores, wanted.scores, unit.scores) <= tolerance);
      CHECK(worst(found.sums, wanted.sums, unit.sums) <= tolerance);
      if (target == VectorKernels::target()) {
        CHECK(worst(found.scores, here.scores, unit.scores) <= kAcross);
        CHECK(worst(found.sums, here.sums, unit.sums) <= kAcross);
      }
      if (first.scores.empty()) {
        first = found;
      } else if (law.equal_bits && has_fma(target)) {
        CHECK(same_bits(found.scores, first.scores));
        CHECK(same_bits(found.sums, first.sums));
      } else {
        CHECK(worst(found.scores, first.scores, unit.scores) <= kAcross);
        CHECK(worst(found.sums, first.sums, unit.sums) <= kAcross);
      }
    });
  }
}

// As keys and as values: tiles lie the other way.
template <class F>
void check_format(const Law& law = {}) {
  check_role<F>(law);
  if constexpr (requires { typename F::template As<Role::kValue>; })
    check_role<typename F::template As<Role::kValue>>(law);
}

TEST_CASE("every target gives the reference's scores and sums, and those with FMA the same bits") {
  MESSAGE("ran on ", on_each_target([](const std::string&) {}));
  namespace f = formats;
  check_format<f::F32<64>>();
  check_format<f::F16<80>>();
  check_format<f::BF16<20>>();
  check_format<f::Int8<128>>();
  check_format<f::Int5<96>>();
  check_format<f::Int4<128>>();
  check_format<f::Int4G32<64>>();
  check_format<f::Int2<80>>();
  check_format<f::Int4TopK<64>>();
  check_format<f::Oaken<64>>();
  check_format<f::OakenJds16<80>>(kResident);
}

TEST_CASE("attend reports the kernels and the target; strict refuses what has no kernel") {
  auto made = KvCache<presets::F16<64>>::create({.layers = 1, .kv_heads = 1, .max_tokens = 300});
  REQUIRE(made);
  const std::vector<float> rows = test::normal(95, std::size_t{300} * 64);
  REQUIRE(ok(made->append(0, {rows.data(), 300, 1, 64}, {rows.data(), 300, 1, 64})));
  std::vector<float> first;
  const std::string ran = on_each_target([&](const std::string& target) {
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
