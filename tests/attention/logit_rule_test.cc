#include "kvpleat/attention/logit_rule.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kvpleat/core/concepts.h"

using namespace kvpleat;

static_assert(LogitRule<PlainLogit> && LogitRule<SoftCap> && LogitRule<LearnedSink>);
static_assert(!PlainLogit::kSink && !SoftCap::kSink && LearnedSink::kSink);

TEST_CASE("logit rules") {
  CHECK(PlainLogit{}.logit(-3.25f) == -3.25f);
  const SoftCap cap{50.0f};
  CHECK(cap.logit(0.0f) == 0.0f);
  CHECK(cap.logit(1e30f) == 50.0f);
  CHECK(cap.logit(-1e30f) == -50.0f);
  // tanhf and one product: 2 ulp.
  CHECK(std::fabs(static_cast<double>(cap.logit(20.0f)) - 50.0 * std::tanh(0.4)) <= 4e-6);
  CHECK(cap.logit(1.0f) < 1.0f);
  const float logits[2] = {0.5f, -7.0f};
  const LearnedSink sink{logits};
  CHECK(sink.logit(2.0f) == 2.0f);
  CHECK(sink.sink(0) == 0.5f);
  CHECK(sink.sink(1) == -7.0f);
}
