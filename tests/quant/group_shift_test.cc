#include "kvpleat/quant/group_shift.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "kvpleat/split/threshold.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

using Quant = GroupShiftQuant<>;

Quant::Parameters parameters_of(float outer_low, float outer_high, float middle_low,
                                float middle_high, float inner_low, float inner_high) {
  std::uint8_t bytes[12];
  const float values[6] = {outer_low, outer_high, middle_low, middle_high, inner_low, inner_high};
  for (int i = 0; i < 6; ++i) store(bytes + 2 * i, to_half(values[i]));
  return Quant::read(bytes);
}

std::uint32_t zero_split(float low, float high) {
  return parameters_of(0, 0, low, high, 0, 0).of({Band::kMiddle}).split;
}

}  // namespace

TEST_CASE("parameters: six halves, outer, middle, inner; minima down, maxima up; empty bands 0") {
  const float thresholds[4] = {-2.0f, -0.25f, 0.25f, 2.0f};
  const ThresholdSplit split = ThresholdSplit::bind(thresholds);
  Quant::Stat stat;
  for (const float x : {2.1f, -5.3f, 1.01f, -1.73f}) Quant().observe(split, x, stat);
  std::uint8_t bytes[12];
  Quant::write(stat, bytes);
  // Outer: 2.1 - 2 and 5.3 - 2; middle: -1.73 + 0.25 and 1.01 - 0.25; nothing inside.
  CHECK(load<Half>(bytes) == at_most<Half>(2.1f - 2.0f));
  CHECK(load<Half>(bytes + 2) == at_least<Half>(5.3f - 2.0f));
  CHECK(load<Half>(bytes + 4) == at_most<Half>(-1.73f + 0.25f));
  CHECK(load<Half>(bytes + 6) == at_least<Half>(1.01f - 0.25f));
  CHECK(load<Half>(bytes + 8) == Half{});
  CHECK(load<Half>(bytes + 10) == Half{});

  const Quant::Parameters back = Quant::read(bytes);
  const auto& outer = back.of({Band::kOuter});
  CHECK(outer.lowest == to_float(load<Half>(bytes)));
  CHECK(outer.step == (to_float(load<Half>(bytes + 2)) - outer.lowest) / 15.0f);
  const auto& inner = back.of({Band::kInner});
  CHECK(inner.step == 0.0f);
  CHECK(inner.encode(123.0f, 15) == 0);
}

TEST_CASE("the zero split: the first middle code of the high side") {
  CHECK(zero_split(0.0f, 3.0f) == 0);
  CHECK(zero_split(0.5f, 3.0f) == 0);
  CHECK(zero_split(-3.0f, 0.0f) == 16);
  CHECK(zero_split(-3.0f, -1.0f) == 16);
  CHECK(zero_split(-1.0f, 1.0f) == 8);  // 7.5 up
  CHECK(zero_split(-7.0f, 8.0f) == 7);  // exactly 7
  CHECK(zero_split(-1.0f, 14.0f) == 1);
  CHECK(zero_split(-0.001f, 10.0f) == 1);
  CHECK(zero_split(-10.0f, 0.001f) == 15);
}

TEST_CASE("a middle value never changes its side") {
  const float thresholds[4] = {-2.0f, -0.25f, 0.25f, 2.0f};
  const ThresholdSplit split = ThresholdSplit::bind(thresholds);
  // -0.28125 would round to the code of the high side.
  const Quant::Parameters p = parameters_of(0.5f, 4.25f, -0.875f, 1.0f, 0.0f, 0.234375f);
  CHECK(p.of({Band::kMiddle}).split == 7);
  const std::uint32_t low = Quant::encode(split, p, -0.28125f, split.band(-0.28125f));
  CHECK(low == 6);
  CHECK(Quant::decode(split, p, low, {Band::kMiddle}) == -0.375f);
  const std::uint32_t high = Quant::encode(split, p, 0.3125f, split.band(0.3125f));
  CHECK(high == 8);  // a tie at 7.5
  CHECK(Quant::decode(split, p, high, {Band::kMiddle}) == 0.375f);
}

TEST_CASE("errors: middle a step, outer and inner half a step, sides kept, on random tokens") {
  const float thresholds[4] = {-1.5f, -0.125f, 0.0625f, 1.25f};
  const ThresholdSplit split = ThresholdSplit::bind(thresholds);
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::vector<float> x = test::normal(seed, 128);
    if (seed % 4 == 1) {
      for (float& v : x) v = std::fabs(v);  // one side only
    }
    if (seed % 4 == 2) {
      for (float& v : x) v *= 100.0f;
    }
    // A statistic in two parts merges to that of the whole.
    Quant::Stat whole;
    Quant::Stat a;
    Quant::Stat b;
    for (std::size_t i = 0; i < x.size(); ++i) {
      Quant().observe(split, x[i], whole);
      Quant().observe(split, x[i], i % 3 == 0 ? a : b);
    }
    std::uint8_t bytes[12];
    std::uint8_t merged[12];
    Quant::write(whole, bytes);
    Quant::write(Quant::merge(a, b), merged);
    CHECK(std::vector<std::uint8_t>(bytes, bytes + 12) ==
          std::vector<std::uint8_t>(merged, merged + 12));
    const Quant::Parameters p = Quant::read(bytes);
    for (const float v : x) {
      const BandSide at = split.band(v);
      const std::uint32_t code = Quant::encode(split, p, v, at);
      CHECK(code < (at.band == Band::kMiddle ? 16 : 32));
      const float step = p.of(at).step;
      const float y = Quant::decode(split, p, code, {at.band});
      // Shift, scale, add, shift back: four roundings of values below |v| + 2.
      const float rounding = 0x1p-22f * (std::fabs(v) + 2.0f);
      CHECK(std::fabs(y - v) <= (at.band == Band::kMiddle ? step : step / 2.0f) + rounding);
      if (at.band == Band::kMiddle) CHECK((code < p.of({Band::kMiddle}).split) == at.low);
    }
  }
}

namespace {

template <class Q>
typename Q::Parameters ranges_of(std::initializer_list<float> values) {
  std::uint8_t bytes[4 * Q::kBands];
  std::uint32_t i = 0;
  for (const float v : values) store(bytes + 2 * i++, to_half(v));
  return Q::read(bytes);
}

}  // namespace

TEST_CASE("offset binary: 31 levels, the outer side by a split, the inner one without") {
  using Q = GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary5>;
  static_assert(Q::kOutlierBits == 5 && Q::divides(Band::kOuter) && !Q::divides(Band::kInner));
  const float thresholds[4] = {-2.0f, -0.25f, 0.25f, 2.0f};
  const ThresholdSplit split = ThresholdSplit::bind(thresholds);
  // Golden C4: -2.0625 is nearest to a code of the high side; moved, it stays below -2.
  const auto p = ranges_of<Q>({-3.0f, 4.75f, -0.75f, 0.75f, -0.125f, 0.1171875f});
  CHECK(p.of({Band::kOuter}).step == 0.25f);
  CHECK(p.of({Band::kOuter}).split == 12);
  CHECK(p.of({Band::kInner}).split == 0);
  const std::uint32_t code = Q::encode(split, p, -2.0625f, split.band(-2.0625f));
  CHECK(code == 11);
  CHECK(Q::decode(split, p, code, {Band::kOuter}) == -2.25f);
  CHECK(Q::decode(split, p, 12, {Band::kOuter}) == 2.0f);
  CHECK(Q::encode(split, p, 6.75f, split.band(6.75f)) == 31);
  // The clamps of the split at 31 levels.
  CHECK(ranges_of<Q>({0.5f, 3.0f, 0, 0, 0, 0}).of({Band::kOuter}).split == 0);
  CHECK(ranges_of<Q>({-3.0f, -1.0f, 0, 0, 0, 0}).of({Band::kOuter}).split == 32);
  CHECK(ranges_of<Q>({-0.001f, 10.0f, 0, 0, 0, 0}).of({Band::kOuter}).split == 1);
  CHECK(ranges_of<Q>({-10.0f, 0.001f, 0, 0, 0, 0}).of({Band::kOuter}).split == 31);
}

TEST_CASE("without shift: the sign of the value, not its side; no split at all") {
  using Q = GroupShiftQuant<ShiftPolicy::kNone>;
  static_assert(!Q::divides(Band::kMiddle) && !Q::shifts(Band::kOuter));
  const float thresholds[4] = {0.25f, 0.5f, 1.0f, 3.0f};  // 0.125 is outer, low and positive
  const ThresholdSplit split = ThresholdSplit::bind(thresholds);
  const auto p = ranges_of<Q>({0.125f, 3.875f, -1.0f, 2.75f, 0.5f, 1.0f});
  CHECK(p.of({Band::kMiddle}).split == 0);
  const BandSide at = split.band(0.125f);
  CHECK(at.band == Band::kOuter);
  CHECK(at.low);
  CHECK(Q::encode(split, p, 0.125f, at) == 0);
  CHECK(Q::decode(split, p, 0, at) == 0.125f);
  CHECK(Q::encode(split, p, -3.875f, split.band(-3.875f)) == 16 + 15);
  CHECK(Q::decode(split, p, 31, {Band::kOuter}) == -3.875f);
  // The middle code is plain: nearest, whatever the side.
  CHECK(Q::encode(split, p, 0.375f, split.band(0.375f)) == 6);  // 5.5 up to even
  CHECK(Q::decode(split, p, 6, {Band::kMiddle}) == 0.5f);
}

TEST_CASE("outer only: the middle keeps its values, the outer bands their distance") {
  using Q = GroupShiftQuant<ShiftPolicy::kOuterOnly>;
  static_assert(Q::shifts(Band::kOuter) && !Q::shifts(Band::kMiddle) && !Q::divides(Band::kMiddle));
  const float thresholds[4] = {-2.0f, -0.25f, 0.25f, 2.0f};
  const ThresholdSplit split = ThresholdSplit::bind(thresholds);
  CHECK(Q::shifted(split, 1.5f, split.band(1.5f)) == 1.5f);
  CHECK(Q::shifted(split, 2.5f, split.band(2.5f)) == 0.5f);
  CHECK(Q::shifted(split, -2.5f, split.band(-2.5f)) == -0.5f);
}

TEST_CASE("damaged parameters give numbers or NaN, never undefined behaviour") {
  using Q = GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary5>;
  const float bad[] = {kInfinity, -kInfinity, -65504.0f,
                       65504.0f,  -0.0f,      std::numeric_limits<float>::quiet_NaN()};
  for (const float low : bad) {
    for (const float high : bad) {
      const auto p = ranges_of<Q>({low, high, low, high, low, high});
      CHECK(p.of({Band::kOuter}).split <= 32);
      CHECK(p.of({Band::kMiddle}).split <= 16);
    }
  }
}

TEST_CASE("identities name every policy") {
  using Text5 = GroupShiftQuant<ShiftPolicy::kOuterOnly, OutlierCode::kOffsetBinary5,
                                ParameterScope::kHead, 2, 1>;
  CHECK(GroupShiftQuant<>::kId.view() ==
        "quant=group_shift;bits=4;outlier=sign_magnitude_5;shift=outer_and_middle;scope=layer");
  CHECK(Text5::kId.view() ==
        "quant=group_shift;bits=4;outlier=offset_binary_5;shift=outer_only;scope=head;"
        "outer_bands=2;inner_bands=1");
  CHECK(GroupShiftQuant<ShiftPolicy::kNone, OutlierCode::kOffsetBinary4>::kId.view() ==
        "quant=group_shift;bits=4;outlier=offset_binary_4;shift=none;scope=layer");
}
