// A quantizer that is not ours, told to the kernels by views::Code.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kvpleat/dispatch.h"
#include "kvpleat/kvpleat.h"
#include "support/attention_oracle.h"
#include "support/cache_fixture.h"
#include "support/dispatched_targets.h"

using namespace kvpleat;
using abi::Arithmetic;

namespace {

// Steps of both signs: the member of largest magnitude takes code -8, as in ggml's q4_0.
struct SignedStep {
  using Side = Half;
  static constexpr std::uint32_t kBits = 4;
  static constexpr std::uint32_t kGroup = 32;
  static constexpr Axis kAxis = Axis::kChannels;
  static constexpr bool kExactMerge = true;
  static constexpr float kLargest = kLargestHalf;
  static constexpr auto kId = Text("quant=signed_step");
  struct Stat {
    float largest = 0.0f;
  };
  struct Scale {
    Side step{};
  };
  void observe(float x, Stat& stat) const {
    if (magnitude(x) > magnitude(stat.largest)) stat.largest = x;
  }
  static Stat merge(Stat a, Stat b) { return magnitude(b.largest) > magnitude(a.largest) ? b : a; }
  Scale scale(const Stat& stat) const { return {nearest<Side>(stat.largest / -8.0f)}; }
  std::uint32_t encode(float x, const Scale& scale) const {
    const float step = to_float(scale.step);
    if (step == 0.0f) return 8;
    return round_to_code(lower_of(upper_of(x / step + 8.0f, 0.0f), 15.0f), 15u);
  }
  constexpr float decode(std::uint32_t code, const Scale& scale) const {
    return (static_cast<float>(code) - 8.0f) * to_float(scale.step);
  }
};

}  // namespace

template <>
struct kvpleat::views::Code<SignedStep> : kvpleat::views::UniformCode {
  static constexpr float kZero = 8.0f;
};

namespace {

struct Signed : CacheTraits<64> {
  using Kernels = DispatchedKernels;
  using Own = formats::Dense<64, SignedStep>;
  using Lanes = LaneList<KV<Own, Own>>;
};

}  // namespace

TEST_CASE("a quantizer of one's own, with steps of both signs, in every arithmetic and target") {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = 2;
  shape.max_tokens = 300;
  auto cache = KvCache<Signed>::create(shape);
  REQUIRE(cache);
  const test::Tokens data = test::tokens_of(3, 300, 2, 64, 0.25f, -0.25f);
  REQUIRE(ok(test::feed(*cache, 0, data, 0, 300, 100)));
  const std::vector<float> queries = test::normal(4, 3 * 64);
  test::on_each_dispatched_target([&] {
    for (const Arithmetic arithmetic :
         {Arithmetic::kFast, Arithmetic::kAccurate, Arithmetic::kExact}) {
      AttendReport report;
      AttendArguments a;
      a.queries = queries.data();
      a.group = 3;
      a.scale = 0.125f;
      a.arithmetic = arithmetic;
      a.strict = true;
      a.report = &report;
      const test::AttendErrors errors = test::attend_errors(*cache, 0, 1, a, &data);
      CHECK(errors.finite);
      CHECK(report.value[0] == Path::kFused);
      // Queries and weights rounded to 1 / 127 (1 / 16383) of the largest: see open_cases_test.cc.
      CHECK(errors.kernel <= (arithmetic == Arithmetic::kFast       ? 0.03
                              : arithmetic == Arithmetic::kAccurate ? 3e-4
                                                                    : 1e-5));
    }
  });
}
