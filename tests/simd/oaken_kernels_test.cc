// Kernels on Oaken's bytes against what the bytes say.
//
// The oracle takes an element as the kernels' arithmetic has it (JaggedConstants):
//   centre + step * (level - 128) + unit * delta +- wide / 2
// in double, with deltas of its own, which published order does not round. What a kernel may be off
// by is the rounding of queries or of weights, at most half a unit each, times those terms, and
// floats.
#include "kvpleat/simd/oaken_view.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kvpleat/calibrate/thresholds.h"
#include "kvpleat/codec/jagged.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/format/oaken.h"
#include "kvpleat/format/oaken_resident.h"
#include "kvpleat/simd/fused-inl.h"
#include "kvpleat/simd/jagged-inl.h"
#include "kvpleat/simd/vector.h"
#include "support/cache_fixture.h"
#include "support/generator.h"
#include "support/oaken_rows.h"

using namespace kvpleat;
namespace kernels = kvpleat::HWY_NAMESPACE;
using abi::Arithmetic;

namespace {

// One head's tokens in blocks of 64, and what the oracle knows of each element.
struct Sample {
  abi::OakenView view{};
  std::uint32_t dim = 0;
  std::uint32_t tokens = 0;
  std::vector<std::vector<std::uint8_t>> blocks;
  std::vector<std::vector<std::uint8_t>> shared;
  std::vector<std::vector<std::uint8_t>> spills;
  // [tokens, dim]
  std::vector<float> exact;   // as decoded
  std::vector<double> model;  // as the kernels' arithmetic has it
  std::vector<double> level;  // level - 128
  std::vector<double> delta;
  // [tokens]
  std::vector<JaggedConstants> constants;

  [[nodiscard]] std::size_t at(std::uint32_t t, std::uint32_t c) const {
    return static_cast<std::size_t>(t) * dim + c;
  }
  [[nodiscard]] double centre(std::uint32_t t) const {
    const JaggedConstants& k = constants[t];
    return static_cast<double>(k.base) + 128.0 * static_cast<double>(k.step) +
           static_cast<double>(k.wide) / 2.0;
  }
  [[nodiscard]] BlockRun run(std::uint32_t block, std::uint32_t slot, std::uint32_t count) const {
    return {BlockBytes{blocks[block].data(), shared[block].empty() ? nullptr : shared[block].data(),
                       spills[block].data(), static_cast<std::uint32_t>(spills[block].size())},
            slot, count};
  }
};

template <std::uint32_t kDim, class Quant>
using JaggedOf = BlockFormat<kDim, NoTransform, ThresholdSplit, Quant, JaggedCodec>;
template <std::uint32_t kDim>
using JaggedPerHead =
    JaggedOf<kDim, GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5,
                                   ParameterScope::kHead>>;
template <std::uint32_t kDim>
using JaggedNoShift = JaggedOf<kDim, GroupShiftQuant<ShiftPolicy::kNone>>;
template <std::uint32_t kDim>
using JaggedOuterOnly = JaggedOf<kDim, GroupShiftQuant<ShiftPolicy::kOuterOnly>>;

template <std::uint32_t kDim>
using ByChunk = formats::OakenOf<kDim, ThresholdSplit, GroupShiftQuant<>,
                                 BasicFusedCodec<CooEntry8, SpillAlign::kChunk>>;

template <class F>
struct Alone : CacheTraits<64> {
  using Store = UnitStore;
  using Lanes = LaneList<test::Same<F>>;
};

struct Thresholds {
  float edges[4] = {-0.9375f, -0.046875f, 0.03125f, 0.953125f};
};

// Tokens of one head; `other`, of another head, share the ranges where these are shared.
template <class F>
Sample sample_of(const std::vector<float>& rows, const std::vector<float>& other,
                 const Thresholds& thresholds) {
  constexpr std::uint32_t kDim = F::kDim;
  BindContext context;
  context.profile = thresholds.edges;
  const F format = F::bind(context);
  Sample made;
  made.view = simd::oaken_view(format);
  made.dim = kDim;
  made.tokens = static_cast<std::uint32_t>(rows.size() / kDim);
  for (std::uint32_t first = 0; first < made.tokens; first += 64) {
    const std::uint32_t n = lower_of(64u, made.tokens - first);
    std::vector<std::uint8_t> block(F::kBlockBytes, 0);
    std::vector<std::uint8_t> shared(F::kSharedBytes, 0);
    const Rows part{rows.data() + static_cast<std::size_t>(first) * kDim, n, kDim};
    std::uint32_t room = 0;
    for (std::uint32_t t = 0; t < n; ++t) {
      room += format.spill_need(part[t]);
      if constexpr (F::kSharedBytes > 0) {
        typename F::Stat stat;
        format.observe(part[t], stat);
        if (!other.empty()) format.observe(other.data() + made.at(first + t, 0), stat);
        F::write_shared(stat, t, shared.data());
      }
    }
    std::vector<std::uint8_t> spill(room);
    SpillWriter writer{spill.data(), 0, room};
    EncodeCounters counters;
    format.encode(part, 0, shared.data(), block.data(), writer, counters);
    REQUIRE(writer.size == room);
    const BlockBytes bytes = {block.data(), shared.data(), spill.data(), room};
    std::vector<float> decoded(static_cast<std::size_t>(n) * kDim);
    format.decode(bytes, 0, MutableRows{decoded.data(), n, kDim});
    made.exact.insert(made.exact.end(), decoded.begin(), decoded.end());
    for (std::uint32_t t = 0; t < n; ++t) {
      const auto ranges = F::Layout::parameters(bytes, t);
      const auto k = JaggedConstants::of<decltype(F::quant)>(format.split, ranges);
      made.constants.push_back(k);
      for (std::uint32_t c = 0; c < kDim; ++c) {
        const BandSide at = format.split.band(part[t][c]);
        const std::uint32_t code = decltype(F::quant)::encode(format.split, ranges, part[t][c], at);
        const std::uint32_t nibble = code & 15u;
        const bool high = 16 * nibble >= k.zero_split;
        const double level = 16.0 * nibble + (high ? k.gap : 0u) - 128.0;
        const float value = decoded[t * kDim + c];
        double delta = 0.0;
        if (at.band != Band::kMiddle && k.unit > 0.0f) {
          delta = made.view.jagged
                      ? static_cast<double>(k.delta(value, nibble))
                      : (static_cast<double>(value) - static_cast<double>(k.dense(nibble))) /
                            static_cast<double>(k.unit);
        }
        made.level.push_back(level);
        made.delta.push_back(delta);
        const double sign = high ? 0.5 : -0.5;
        made.model.push_back(made.centre(first + t) + level * static_cast<double>(k.step) +
                             delta * static_cast<double>(k.unit) +
                             sign * static_cast<double>(k.wide));
      }
    }
    // What lies behind the tokens may be anything.
    for (std::uint32_t i = n * 12; i < F::kSharedBytes; ++i) shared[i] = 0xff;
    for (std::uint32_t i = n * 12; i < F::kSideBytes; ++i) block[F::kCodeBytes + i] = 0xff;
    made.blocks.push_back(std::move(block));
    made.shared.push_back(std::move(shared));
    made.spills.push_back(std::move(spill));
  }
  return made;
}

// Published order has no deltas: those of kernels round to half a unit, after 1/16 of a unit.
constexpr double kDeltaError = 0.5625 + 1e-3;

struct Errors {
  double over = 0.0;      // largest |kernel - model| / bound
  double relative = 0.0;  // L2 of kernel - exact over exact
  bool untouched = true;  // nothing was written beside what was asked for
};

struct Piece {
  std::uint32_t block;
  std::uint32_t slot;
  std::uint32_t count;
};

Errors score(const Sample& s, const std::vector<Piece>& pieces, const std::vector<float>& queries,
             Arithmetic arithmetic) {
  const auto n = static_cast<std::uint32_t>(queries.size() / s.dim);
  std::vector<BlockRun> runs;
  std::vector<std::uint32_t> tokens;
  for (const Piece& piece : pieces) {
    runs.push_back(s.run(piece.block, piece.slot, piece.count));
    for (std::uint32_t i = 0; i < piece.count; ++i)
      tokens.push_back(piece.block * 64 + piece.slot + i);
  }
  const auto total = static_cast<std::uint32_t>(tokens.size());
  const std::uint32_t stride = total + 3;
  std::vector<std::uint8_t> memory(kernels::OakenQueries::work_bytes(s.view, n) + 64, 0x5a);
  std::uint8_t* work = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  std::vector<float> scores(static_cast<std::size_t>(n) * stride, 77.0f);
  kernels::OakenKernels::prepare(s.view, {queries.data(), n, arithmetic, work});
  const abi::ScoreArguments arguments = {runs.data(),
                                         static_cast<std::uint32_t>(runs.size()),
                                         nullptr,
                                         0,
                                         queries.data(),
                                         work,
                                         n,
                                         arithmetic,
                                         scores.data(),
                                         stride};
  kernels::OakenKernels::score(s.view, arguments);
  Errors found;
  double error = 0.0;
  double power = 0.0;
  for (std::uint32_t j = 0; j < n; ++j) {
    const float* query = queries.data() + static_cast<std::size_t>(j) * s.dim;
    const double largest = static_cast<double>(largest_magnitude(query, s.dim));
    const double half_unit =
        largest / (arithmetic == Arithmetic::kAccurate ? 127.0 * 128.0 : 127.0) / 2.0;
    for (std::uint32_t i = 0; i < stride; ++i) {
      const float given = scores[static_cast<std::size_t>(j) * stride + i];
      if (i >= total) {
        found.untouched = found.untouched && given == 77.0f;
        continue;
      }
      const std::uint32_t t = tokens[i];
      const JaggedConstants& k = s.constants[t];
      double exact = 0.0;
      double model = 0.0;
      double rounding = 0.0;  // half a unit of the query, times all that it meets
      double sizes = 0.0;
      double deltas = 0.0;
      for (std::uint32_t c = 0; c < s.dim; ++c) {
        const double q = static_cast<double>(query[c]);
        exact += q * static_cast<double>(s.exact[s.at(t, c)]);
        model += q * s.model[s.at(t, c)];
        const double met = std::fabs(s.level[s.at(t, c)]) * static_cast<double>(k.step) +
                           std::fabs(s.delta[s.at(t, c)]) * static_cast<double>(k.unit) +
                           static_cast<double>(k.wide) / 2.0;
        rounding += half_unit * met;
        if (!s.view.jagged && s.delta[s.at(t, c)] != 0.0)
          deltas += (std::fabs(q) + half_unit) * kDeltaError * static_cast<double>(k.unit);
        sizes += std::fabs(q) * (met + std::fabs(s.centre(t)));
      }
      // Each float operation rounds by 2^-24 of at most `sizes`; there are fewer than 16 of them.
      const double bound = rounding * (1.0 + 1e-4) + sizes * 0x1p-20 + deltas;
      found.over =
          std::fmax(found.over, std::fabs(static_cast<double>(given) - model) / (bound + 1e-30));
      if (!(static_cast<double>(given) - model <= 1e300)) found.over = 1e300;  // NaN
      error += (static_cast<double>(given) - exact) * (static_cast<double>(given) - exact);
      power += exact * exact;
    }
  }
  found.relative = std::sqrt(error / power);
  return found;
}

Errors accumulate(const Sample& s, const std::vector<Piece>& pieces,
                  const std::vector<float>& weights, std::uint32_t n, Arithmetic arithmetic) {
  std::vector<BlockRun> runs;
  std::uint32_t total = 0;
  for (const Piece& piece : pieces) {
    runs.push_back(s.run(piece.block, piece.slot, piece.count));
    total += piece.count;
  }
  const auto stride = static_cast<std::uint32_t>(weights.size() / n);
  REQUIRE(stride >= total);
  constexpr float kBefore = 0.25f;
  std::vector<float> sums(static_cast<std::size_t>(n) * s.dim + 16, kBefore);
  const abi::AccumulateArguments arguments = {
      runs.data(),    static_cast<std::uint32_t>(runs.size()),
      nullptr,        0,
      weights.data(), n,
      stride,         arithmetic,
      sums.data()};
  kernels::OakenKernels::accumulate(s.view, arguments);
  Errors found;
  for (std::uint32_t i = 0; i < 16; ++i)
    found.untouched = found.untouched && sums[static_cast<std::size_t>(n) * s.dim + i] == kBefore;
  const double top = arithmetic == Arithmetic::kAccurate ? 65535.0 : 255.0;
  double error = 0.0;
  double power = 0.0;
  for (std::uint32_t j = 0; j < n; ++j) {
    const float* w = weights.data() + static_cast<std::size_t>(j) * stride;
    std::vector<double> exact(s.dim, static_cast<double>(kBefore));
    std::vector<double> model = exact;
    std::vector<double> bound(s.dim, 1e-7);
    std::uint32_t first = 0;
    for (const Piece& piece : pieces) {
      double level = 0.0;  // half a unit of weight * step, of weight * unit, of weight * wide
      double delta = 0.0;
      double wide = 0.0;
      for (std::uint32_t i = 0; i < piece.count; ++i) {
        const JaggedConstants& k = s.constants[piece.block * 64 + piece.slot + i];
        const double p = static_cast<double>(w[first + i]);
        level = std::fmax(level, p * static_cast<double>(k.step) / top / 2.0);
        delta = std::fmax(delta, p * static_cast<double>(k.unit) / top / 2.0);
        wide = std::fmax(wide, p * static_cast<double>(k.wide) / 2.0 / top / 2.0);
      }
      for (std::uint32_t i = 0; i < piece.count; ++i) {
        const std::uint32_t t = piece.block * 64 + piece.slot + i;
        const JaggedConstants& k = s.constants[t];
        const double p = static_cast<double>(w[first + i]);
        for (std::uint32_t c = 0; c < s.dim; ++c) {
          const std::size_t at = s.at(t, c);
          exact[c] += p * static_cast<double>(s.exact[at]);
          model[c] += p * s.model[at];
          bound[c] +=
              1.0001 * (level * std::fabs(s.level[at]) + delta * std::fabs(s.delta[at]) + wide);
          // Float sums: 16 partial ones of at most 16 weights a block, and one addition per block.
          bound[c] +=
              0x1p-19 * p *
              (std::fabs(s.centre(t)) + std::fabs(s.level[at]) * static_cast<double>(k.step) +
               std::fabs(s.delta[at]) * static_cast<double>(k.unit) + static_cast<double>(k.wide));
          if (!s.view.jagged && s.delta[at] != 0.0)
            bound[c] += (p * static_cast<double>(k.unit) + delta) * kDeltaError;
        }
      }
      first += piece.count;
    }
    for (std::uint32_t c = 0; c < s.dim; ++c) {
      const double given = static_cast<double>(sums[static_cast<std::size_t>(j) * s.dim + c]);
      found.over = std::fmax(found.over, std::fabs(given - model[c]) / bound[c]);
      if (!(given <= 1e300)) found.over = 1e300;
      error += (given - exact[c]) * (given - exact[c]);
      power += exact[c] * exact[c];
    }
  }
  found.relative = std::sqrt(error / power);
  return found;
}

std::vector<float> weights_of(std::uint32_t seed, std::uint32_t n, std::uint32_t stride,
                              float sharpness) {
  std::vector<float> weights = test::normal(seed, static_cast<std::size_t>(n) * stride);
  for (float& x : weights) {
    x = sharpness * (x - 4.0f);
    x = x < -60.0f ? 0.0f : std::exp(x);
  }
  return weights;
}

// Whole blocks, pieces that begin and end inside a unit, a single token, a block that is not full.
const std::vector<Piece> kWhole = {{0, 0, 64}, {1, 0, 64}, {2, 0, 13}};
const std::vector<Piece> kParts = {{1, 3, 50}, {0, 17, 1}, {2, 5, 8}, {0, 31, 33}, {1, 48, 16}};

struct KeyAndValue {
  Sample key;
  Sample value;
};
template <template <std::uint32_t> class Format, std::uint32_t kDim>
KeyAndValue both(const std::vector<float>& rows, const std::vector<float>& other,
                 const Thresholds& thresholds) {
  return {sample_of<typename Format<kDim>::template As<Role::kKey>>(rows, other, thresholds),
          sample_of<typename Format<kDim>::template As<Role::kValue>>(rows, other, thresholds)};
}

void check(const KeyAndValue& samples, std::uint32_t seed) {
  const std::uint32_t dim = samples.key.dim;
  CAPTURE(dim);
  for (const Arithmetic arithmetic : {Arithmetic::kFast, Arithmetic::kAccurate}) {
    const bool accurate = arithmetic == Arithmetic::kAccurate;
    CAPTURE(accurate);
    for (const std::uint32_t n : {1u, 2u, 3u, 5u, 8u, 16u}) {
      CAPTURE(n);
      const auto queries = test::normal(seed + n, static_cast<std::size_t>(n) * dim);
      for (const auto* pieces : {&kWhole, &kParts}) {
        const bool whole = pieces == &kWhole;
        CAPTURE(whole);
        const Errors keys = score(samples.key, *pieces, queries, arithmetic);
        CHECK(keys.over <= 1.0);
        CHECK(keys.untouched);
        for (const float sharpness : {1.0f, 12.0f}) {
          CAPTURE(sharpness);
          const auto weights = weights_of(seed + 7 * n, n, 145, sharpness);
          const Errors values = accumulate(samples.value, *pieces, weights, n, arithmetic);
          CHECK(values.over <= 1.0);
          CHECK(values.untouched);
        }
      }
    }
  }
}

constexpr std::uint32_t kTokens = 141;

template <template <std::uint32_t> class Format, std::uint32_t kDim>
void check_hostile() {
  check(both<Format, kDim>(test::hostile_rows(kDim, kTokens, kDim), {}, {}), 100);
}

// Normal rows with heavier tails, and thresholds that leave these shares outside.
struct Ordinary {
  std::vector<float> rows;
  Thresholds thresholds;

  Ordinary(std::uint32_t dim, BandShares shares)
      : rows(test::normal(dim, static_cast<std::size_t>(kTokens) * dim)) {
    for (float& x : rows) x *= 1.0f + 0.3f * std::fabs(x);
    std::vector<float> sorted = rows;
    REQUIRE(ok(band_thresholds(sorted.data(), sorted.size(), shares, thresholds.edges)));
  }
};

template <template <std::uint32_t> class Format, std::uint32_t kDim>
void check_ordinary(BandShares shares) {
  const Ordinary ordinary(kDim, shares);
  const KeyAndValue samples = both<Format, kDim>(ordinary.rows, {}, ordinary.thresholds);
  const auto queries = test::normal(5, 8 * kDim);
  const auto weights = weights_of(6, 8, 145, 1.0f);
  const double key_fast = score(samples.key, kWhole, queries, Arithmetic::kFast).relative;
  const double key_accurate = score(samples.key, kWhole, queries, Arithmetic::kAccurate).relative;
  const double value_fast =
      accumulate(samples.value, kWhole, weights, 8, Arithmetic::kFast).relative;
  const double value_accurate =
      accumulate(samples.value, kWhole, weights, 8, Arithmetic::kAccurate).relative;

  CAPTURE(key_fast);
  CAPTURE(key_accurate);
  CAPTURE(value_fast);
  CAPTURE(value_accurate);
  // Measured: 0.007 to 0.010 and 0.003 to 0.007, the latter from the deltas' own byte.
  CHECK(key_fast <= 0.015);
  CHECK(key_accurate <= 0.8 * key_fast);
  CHECK(value_fast <= 0.015);
  CHECK(value_accurate <= value_fast);
}

std::uint32_t wide_tokens(const Sample& s) {
  std::uint32_t n = 0;
  for (const JaggedConstants& k : s.constants) n += k.wide > 0.0f ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("the target that runs") {
  MESSAGE(std::string(kernels::Lanes::kName));
  CHECK(kernels::Lanes::kLanes * kernels::Lanes::kParts == 16);
}

TEST_CASE("constants of tokens are those of JaggedConstants") {
  constexpr std::uint32_t kDim = 20;
  using F = formats::OakenJds16<kDim>::As<Role::kKey>;
  // The second: an inner band so narrow that its gap rounds to 0.
  for (std::uint32_t seed = 0; seed < 80; ++seed) {
    const Thresholds thresholds =
        seed < 40 ? Thresholds{} : Thresholds{{-0.9375f, -0.0001f, 0.00015f, 0.953125f}};
    // Scales from subnormal halves up to the largest.
    auto rows = test::hostile_rows(seed, 128, kDim);
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] *= std::ldexp(1.0f, static_cast<int>(i / kDim % 24) - 16);
    const Sample s = sample_of<F>(rows, {}, thresholds);
    for (std::uint32_t b = 0; b < 2; ++b) {
      kernels::OakenConstants found;
      const std::uint32_t slot = seed % 20;
      const std::uint32_t count = 64 - slot - seed % 7;
      kernels::OakenConstants::derive(s.view, s.run(b, slot, count), found);
      bool equal = true;
      for (std::uint32_t t = slot; t < slot + count; ++t) {
        const JaggedConstants& k = s.constants[64 * b + t];
        const auto near_to = [](float a, double e, double size) {
          return std::fabs(static_cast<double>(a) - e) <= 0x1p-21 * size;
        };
        equal = equal && (found.split[t] ^ 0x80u) == k.zero_split && found.gap[t] == k.gap &&
                found.step[t] == k.step && found.wide[t] == k.wide;
        const double size = std::fabs(static_cast<double>(k.base)) +
                            128.0 * static_cast<double>(k.step) + static_cast<double>(k.wide);
        equal = equal && near_to(found.base[t], s.centre(64 * b + t), size);
        // Of a few additions of values of at most 127 units and the outer thresholds.
        equal = equal &&
                near_to(found.unit[t], static_cast<double>(k.unit), static_cast<double>(k.unit));
      }
      CHECK(equal);
      for (std::uint32_t t = slot / 16 * 16; t < slot; ++t) equal = equal && found.step[t] == 0.0f;
      for (std::uint32_t t = slot + count; t % 16 != 0; ++t)
        equal = equal && found.base[t] == 0.0f && found.unit[t] == 0.0f;
      CHECK(equal);
    }
  }
}

TEST_CASE("queries that are not finite: no sums that overflow") {
  const Sample s = sample_of<formats::OakenJds16<20>::As<Role::kKey>>(test::hostile_rows(1, 64, 20),
                                                                      {}, Thresholds{});
  for (const float x : {std::nanf(""), kInfinity, -kInfinity}) {
    for (const Arithmetic arithmetic : {Arithmetic::kFast, Arithmetic::kAccurate}) {
      std::vector<float> query(20, 1.0f);
      query[7] = x;
      std::vector<std::uint8_t> work(kernels::OakenQueries::work_bytes(s.view, 1));
      kernels::OakenKernels::prepare(s.view, {query.data(), 1, arithmetic, work.data()});
      kernels::OakenQueries::Head head{};
      std::memcpy(&head, work.data(), sizeof head);
      CHECK(head.whole[0] == 0);
      CHECK(head.whole[1] == 0);
      CHECK(!std::isfinite(head.sum));
    }
  }
}

TEST_CASE("resident order: every kind of token, at any head_dim") {
  check_hostile<formats::OakenJds16, 128>();
  check_hostile<formats::OakenJds16, 64>();
  check_hostile<formats::OakenJds16, 80>();
  check_hostile<formats::OakenJds16, 20>();
  check_hostile<formats::OakenJds16, 256>();
  check_hostile<formats::OakenJds16, 576>();
}

TEST_CASE("resident order: other policies, ranges of each head and of all") {
  check_hostile<JaggedPerHead, 72>();
  check_hostile<JaggedNoShift, 128>();
  check_hostile<JaggedOuterOnly, 96>();
  // A head among heads with other ranges: most of its codes lie in few levels.
  const auto rows = test::hostile_rows(3, kTokens, 128);
  auto other = test::hostile_rows(4, kTokens, 128);
  for (float& x : other) x *= 3.0f;
  check(both<formats::OakenJds16, 128>(rows, other, {}), 200);
}

TEST_CASE("resident order: an inner band wider than a middle step") {
  Thresholds wide;
  const float edges[4] = {-3.0f, -2.0f, 1.5f, 2.25f};
  std::memcpy(wide.edges, edges, sizeof edges);
  auto rows = test::normal(9, static_cast<std::size_t>(kTokens) * 64, 2.0f);
  const KeyAndValue samples = both<formats::OakenJds16, 64>(rows, {}, wide);
  CHECK(wide_tokens(samples.key) > kTokens / 2);
  check(samples, 300);
  // One such token among others, in a unit that a run begins or ends in.
  rows = test::normal(10, static_cast<std::size_t>(kTokens) * 64, 0.5f);
  for (const std::uint32_t t : {5u, 20u, 63u, 113u}) {
    for (std::uint32_t c = 0; c < 64; ++c)
      rows[t * 64 + c] = c % 2 == 0 ? 0.03175f + 0.00001f * static_cast<float>(c) : -0.0475f;
  }
  const KeyAndValue few = both<formats::OakenJds16, 64>(rows, {}, {});
  CHECK(wide_tokens(few.key) >= 4);
  CHECK(wide_tokens(few.key) < 10);
  check(few, 301);
}

TEST_CASE("resident order: how far from the decoded rows") {
  check_ordinary<formats::OakenJds16, 128>({40000, 60000});
  check_ordinary<formats::OakenJds16, 128>({20000, 20000});
  check_ordinary<formats::OakenJds16, 64>({100000, 100000});
}

TEST_CASE("resident order: a hot channel, all outliers") {
  auto rows = test::normal(11, static_cast<std::size_t>(kTokens) * 128, 0.4f);
  for (std::uint32_t t = 0; t < kTokens; ++t) {
    rows[t * 128 + 77] = 20.0f + static_cast<float>(t) / 8.0f;
    rows[t * 128 + 5] = t % 2 == 0 ? -30.0f : 0.0f;
  }
  check(both<formats::OakenJds16, 128>(rows, {}, {}), 400);
  for (float& x : rows) x = std::copysign(std::fabs(x) + 1.0f, x);
  check(both<formats::OakenJds16, 128>(rows, {}, {}), 401);
  rows.resize(static_cast<std::size_t>(kTokens) * 256, -2.5f);
  check(both<formats::OakenJds16, 256>(rows, {}, {}), 402);
}

TEST_CASE("resident order: a block that was cut") {
  const auto cut = []<class F>() {
    const auto rows = test::hostile_rows(12, 192, F::kDim);
    Sample s = sample_of<F>(rows, {}, {});
    std::vector<std::uint8_t>& spill = s.spills[2];
    const auto bytes = static_cast<std::uint32_t>(spill.size());
    spill.resize(F::cut_spill(s.blocks[2].data(), spill.data(), bytes, 13));
    F::erase(s.blocks[2].data(), 13, 51);
    spill.shrink_to_fit();
    return s;
  };
  check({cut.operator()<formats::OakenJds16<128>::As<Role::kKey>>(),
         cut.operator()<formats::OakenJds16<128>::As<Role::kValue>>()},
        500);
}

TEST_CASE("published order: every kind of token, at any head_dim") {
  check_hostile<formats::Oaken, 128>();
  check_hostile<formats::Oaken, 64>();
  check_hostile<formats::Oaken, 80>();
  check_hostile<formats::Oaken, 21>();
  check_hostile<formats::Oaken, 256>();
  check_hostile<formats::OakenPerHead, 128>();
  check_hostile<formats::OakenNoShift, 72>();
  check_hostile<formats::OakenAligned, 96>();
  check_hostile<ByChunk, 136>();
}

TEST_CASE("published order: how far from the decoded rows") {
  check_ordinary<formats::Oaken, 128>({40000, 60000});
  check_ordinary<formats::Oaken, 128>({20000, 20000});
  check_ordinary<formats::Oaken, 64>({100000, 100000});
}

TEST_CASE("damaged counts and spills: nothing outside is read") {
  // What is read is for the sanitizers to watch.
  const auto damage = []<class F>(bool keys) {
    Sample s = sample_of<F>(test::hostile_rows(13, kTokens, F::kDim), {}, {});
    test::Generator generator(14);
    const auto queries = test::normal(15, 3 * F::kDim);
    const auto weights = weights_of(16, 3, 145, 1.0f);
    for (int i = 0; i < 60; ++i) {
      for (std::uint32_t b = 0; b < 3; ++b) {
        s.blocks[b][F::Layout::kCountsAt + generator.below(F::kOutlierBytes)] =
            static_cast<std::uint8_t>(generator.below(256));
        const auto size = static_cast<std::uint32_t>(s.spills[b].size());
        if (size > 0) s.spills[b][generator.below(size)] ^= 0xffu;
        if (i % 4 == 0 && size > 10) {
          s.spills[b].resize(size - generator.below(10));
          s.spills[b].shrink_to_fit();
        }
      }
      const Errors found = keys ? score(s, kParts, queries, Arithmetic::kFast)
                                : accumulate(s, kParts, weights, 3, Arithmetic::kAccurate);
      CHECK(found.untouched);
    }
  };
  damage.operator()<formats::OakenJds16<128>::As<Role::kKey>>(true);
  damage.operator()<formats::OakenJds16<128>::As<Role::kValue>>(false);
  damage.operator()<formats::OakenJds16<256>::As<Role::kKey>>(true);
  damage.operator()<formats::Oaken<128>::As<Role::kKey>>(true);
  damage.operator()<formats::Oaken<72>::As<Role::kValue>>(false);
  damage.operator()<formats::OakenAligned<64>::As<Role::kValue>>(false);
}

namespace {

template <class F>
void check_attention() {
  constexpr std::uint32_t kHeads = 2;
  const test::Profiles profiles(kHeads, 64);
  const LaneProfile lane = profiles.oaken();
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.max_tokens = 900;
  shape.sinks = 2;
  shape.residual = 20;
  auto cache = KvCache<Alone<F>>::create(shape, &lane, 1, heap_memory());
  REQUIRE(cache);
  const test::Tokens tokens = test::tokens_of(17, 900, kHeads, 64, 0.25f, -0.125f);
  REQUIRE(ok(test::feed(*cache, 0, tokens, 0, 777, 77)));
  REQUIRE(ok(cache->truncate(0, 700)));
  const std::vector<float> queries = test::normal(18, 5 * 64);
  AttendArguments a;
  a.queries = queries.data();
  a.group = 5;
  a.scale = 0.125f;
  AttendReport report;
  a.report = &report;
  a.strict = true;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    std::vector<float> wanted(5 * 64);
    std::vector<float> found(5 * 64);
    a.strict = false;
    REQUIRE(ok(attend(*cache, 0, h, a, wanted.data(), nullptr)));
    a.strict = true;
    double errors[3];
    for (const Arithmetic arithmetic :
         {Arithmetic::kFast, Arithmetic::kAccurate, Arithmetic::kExact}) {
      a.arithmetic = arithmetic;
      REQUIRE(ok(attend<kernels::VectorKernels>(*cache, 0, h, a, found.data(), nullptr)));
      CHECK(report.key[0] == Path::kFused);
      CHECK(report.value[0] == Path::kFused);
      double error = 0.0;
      double power = 0.0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        const double w = static_cast<double>(wanted[i]);
        error += (static_cast<double>(found[i]) - w) * (static_cast<double>(found[i]) - w);
        power += w * w;
      }
      errors[static_cast<int>(arithmetic)] = std::sqrt(error / power);
    }
    // Scores of kFast are off by 0.01 of their deviation, which is about 1 here, and so is each
    // weight; sums by as much again. kExact rounds floats.
    CHECK(errors[0] <= 0.04);
    CHECK(errors[1] <= errors[0]);
    CHECK(errors[2] <= 1e-5);
  }
}

}  // namespace

TEST_CASE("caches in both orders attend as ReferenceKernels do") {
  check_attention<formats::OakenJds16<64>>();
  check_attention<formats::Oaken<64>>();
}
