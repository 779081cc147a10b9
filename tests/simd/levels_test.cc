// Kernels of codebook tiles, with slots or a direction beside them, on every target: against double
// precision over the rows that the format decodes.
#include "kvpleat/simd/targets.h"

// Those that a program runs (simd/unit.h): kernels of all widths take long to compile.
#if !defined(HWY_DISABLED_TARGETS)
#define HWY_DISABLED_TARGETS (HWY_AVX3 | HWY_SSE4 | HWY_SSSE3)
#endif
#undef HWY_TARGET_INCLUDE
#if !defined(HWY_COMPILE_ONLY_STATIC)
#define HWY_COMPILE_ALL_ATTAINABLE
#endif
#define HWY_TARGET_INCLUDE "simd/levels_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their header must be seen once per target.
#include "kvpleat/simd/direction-inl.h"
#include "kvpleat/simd/levels-inl.h"

#include "support/simd_targets.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

inline void prepare_levels(const abi::TileView& view, const abi::PrepareArguments& arguments) {
  LevelKernels::prepare(view, arguments);
}
inline void score_levels(const abi::TileView& view, const abi::ScoreArguments& arguments) {
  LevelKernels::score(view, arguments);
  Direction::score(view, arguments);
}
inline void accumulate_levels(const abi::TileView& view,
                              const abi::AccumulateArguments& arguments) {
  LevelKernels::accumulate(view, arguments);
  Direction::accumulate(view, arguments);
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kvpleat/codec/dense.h"
#include "kvpleat/codec/direction.h"
#include "kvpleat/codec/slots.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/codebook.h"
#include "kvpleat/simd/views.h"
#include "kvpleat/split/direction.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/split/top_k.h"
#include "kvpleat/transform/no_transform.h"
#include "support/generator.h"

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(prepare_levels);
HWY_EXPORT(score_levels);
HWY_EXPORT(accumulate_levels);

namespace levels_test {

using abi::Arithmetic;

// Coded rows as kernels and as the format see them.
struct Data {
  std::string name;
  abi::TileView view;
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks;
  std::vector<BlockRun> runs;
  std::uint32_t tokens = 0;
  std::vector<float> profile;
  std::vector<float> rows;    // [tokens][dim], decoded
  std::vector<float> levels;  // [tokens][dim], of the codes alone
  std::vector<float> steps;   // [tokens][dim]: the scale of each element
};

// Runs that begin and end inside a unit, one of a whole block, one of a single slot.
constexpr std::uint32_t kRuns[][2] = {{5, 59}, {0, 64}, {63, 1}, {0, 37}, {20, 9}};

// Everything in the blocks but the runs is 0xff: NaN as a scale of any type.
template <class F>
Data make(const char* name, float size) {
  Data data;
  data.name = std::string(name) + (F::kRole == Role::kKey ? " key" : " value");
  std::uint32_t seed = F::kDim;
  data.profile = test::normal(seed++, F::kProfileSize > 0 ? F::kProfileSize : 1);
  if (F::kProfileSize > 0) {  // a direction of length 1, and a step
    float sum = 0.0f;
    for (std::uint32_t c = 0; c < F::kDim; ++c) sum += data.profile[c] * data.profile[c];
    for (std::uint32_t c = 0; c < F::kDim; ++c) data.profile[c] /= std::sqrt(sum);
    data.profile[F::kDim] = size * 0.2f;
  }
  BindContext context;
  context.profile = data.profile.data();
  const F format = F::bind(context);
  data.view = tile_view(format);
  for (const auto& [slot, count] : kRuns) {
    std::vector<float> rows = test::normal(seed++, std::size_t{count} * F::kDim, size);
    // Rows of different lengths; one of zeros, if there are two.
    for (std::uint32_t t = 0; t < count; ++t) {
      const float factor = count > 1 && t == count / 2 ? 0.0f : 1.0f + static_cast<float>(t % 7);
      for (std::uint32_t c = 0; c < F::kDim; ++c) rows[t * F::kDim + c] *= 0.25f * factor;
    }
    auto block = std::make_unique<std::uint8_t[]>(F::kBlockBytes);
    std::memset(block.get(), 0xff, F::kBlockBytes);
    SpillWriter spill;
    EncodeCounters counters;
    format.encode(Rows{rows.data(), count, F::kDim}, slot, nullptr, block.get(), spill, counters);
    const BlockBytes bytes{block.get(), nullptr, nullptr, 0};
    data.rows.resize(data.rows.size() + std::size_t{count} * F::kDim);
    format.decode(
        bytes, slot,
        MutableRows{data.rows.data() + std::size_t{data.tokens} * F::kDim, count, F::kDim});
    using Dense = typename F::Layout::Dense;
    for (std::uint32_t t = slot; t < slot + count; ++t) {
      for (std::uint32_t c = 0; c < F::kDim; ++c) {
        const std::uint32_t code = Dense::Tile::get(block.get(), t, c);
        const auto scale = Dense::load_scale(block.get(), t, c / Dense::kGroupChannels);
        data.levels.push_back(decltype(F::quant)::kLevels[code]);
        data.steps.push_back(to_float(scale.norm));
      }
    }
    data.runs.push_back(BlockRun{bytes, slot, count});
    data.blocks.push_back(std::move(block));
    data.tokens += count;
  }
  return data;
}

template <std::uint32_t kDim, std::uint32_t kBits, class Side, std::uint32_t kGroup = kWholeHead,
          class Split = NoSplit, class Codec = DenseCodec>
void add(const char* name, std::vector<Data>& keys, std::vector<Data>& values, float size) {
  using F =
      BlockFormat<kDim, NoTransform, Split,
                  CodebookQuant<kBits, GaussianBook, ScalePolicy::kLeastSquares, Side, kGroup>,
                  Codec>;
  static_assert(TileFormat<F>);
  keys.push_back(make<typename F::template As<Role::kKey>>(name, size));
  values.push_back(make<typename F::template As<Role::kValue>>(name, size));
}

struct All {
  std::vector<Data> keys;
  std::vector<Data> values;
  All() {
    add<128, 4, Half>("128 x 4", keys, values, 1.0f);
    add<128, 3, LogScale8>("128 x 3, log scale", keys, values, 1.0f);
    add<128, 2, Half>("128 x 2", keys, values, 1e-3f);
    add<80, 5, BFloat16>("80 x 5, bfloat16", keys, values, 1e20f);
    add<64, 6, float>("64 x 6, float", keys, values, 1e-30f);
    add<20, 1, Half>("20 x 1", keys, values, 5.0f);
    add<96, 3, Half, 32>("96 x 3 in groups of 32", keys, values, 1.0f);
    add<576, 6, Half>("576 x 6", keys, values, 1.0f);
    add<256, 4, Half, kWholeHead, TopKSplit<4>, SlotCodec>("256 x 4 with slots", keys, values,
                                                           1.0f);
    add<64, 4, LogScale8, kWholeHead, DirectionSplit<64>, DirectionCodec>("64 x 4 with a direction",
                                                                          keys, values, 1.0f);
  }
};
const All& all() {
  static const All made;
  return made;
}

struct Errors {
  std::uint32_t wrong = 0;  // beyond the bound
  double worst = 0.0;       // error over bound
  double error = 0.0;       // sums of squares
  double energy = 0.0;
  void add(double value, double exact, double bound) {
    const double off = value - exact;
    const bool fine = std::fabs(off) <= bound;
    wrong += fine ? 0u : 1u;
    worst = std::max(worst, bound > 0.0 ? std::fabs(off) / bound : 0.0);
    error += off * off;
    energy += exact * exact;
  }
  [[nodiscard]] double relative() const { return energy > 0.0 ? std::sqrt(error / energy) : 0.0; }
};

struct Result {
  Errors errors;
  std::vector<float> values;
};

// What the arithmetic may be off by, of one product row[i] * x[i] with x = level * step:
//   a row is off by half its unit: largest / 254 or / 32638 of a key's query, largest / 510 or
//   / 65534 of weights times steps; a level by half of level_unit or of level_unit / 128;
//   dropped products of low halves: half of both
// and float sums by 2^-24 of the magnitudes for every addition.
struct Units {
  double row;    // of the largest
  double level;  // of level_unit
};
Units units_of(Arithmetic arithmetic, Role role) {
  if (arithmetic == Arithmetic::kExact) return {0.0, 0.0};
  const bool fast = arithmetic == Arithmetic::kFast;
  const double row =
      role == Role::kKey ? (fast ? 1.0 / 127 : 1.0 / 16319) : (fast ? 1.0 / 255 : 1.0 / 32767);
  return {0.5 * row, fast ? 0.5 : 0.5 / 128 + 0.25 / 128};
}

Result scores(const Data& data, std::uint32_t count, Arithmetic arithmetic) {
  const std::uint32_t dim = data.view.dim;
  const std::uint32_t n = data.tokens;
  const std::uint32_t stride = n + 5;
  std::vector<float> queries = test::normal(count + dim, std::size_t{count} * dim);
  if (count == 3) std::fill_n(queries.begin() + dim, dim, 0.0f);
  std::vector<float> result(std::size_t{count} * stride, 7.0f);
  std::vector<std::uint8_t> memory(query_work_bytes(data.view) + 64, 0xff);
  std::uint8_t* work = memory.data();
  work += (64 - reinterpret_cast<std::uintptr_t>(work) % 64) % 64;
  HWY_DYNAMIC_DISPATCH(prepare_levels)
  (data.view, abi::PrepareArguments{queries.data(), count, arithmetic, work});
  HWY_DYNAMIC_DISPATCH(score_levels)
  (data.view, abi::ScoreArguments{data.runs.data(), static_cast<std::uint32_t>(data.runs.size()),
                                  data.runs.data(), 2, queries.data(), work, count, arithmetic,
                                  result.data(), stride});
  const Units units = units_of(arithmetic, Role::kKey);
  Result made;
  for (std::uint32_t j = 0; j < count; ++j) {
    const float* q = queries.data() + std::size_t{j} * dim;
    for (std::uint32_t t = 0; t < n; ++t) {
      const std::size_t row = std::size_t{t} * dim;
      double exact = 0.0, magnitudes = 0.0, rounding = 0.0;
      for (std::uint32_t c = 0; c < dim; ++c) {
        const std::uint32_t g = c / data.view.group_channels * data.view.group_channels;
        const std::uint32_t end = std::min(g + data.view.group_channels, dim);
        const double largest = largest_magnitude(q + g, end - g);
        const double x = data.rows[row + c];
        const double step = data.steps[row + c];
        const double dense = std::fabs(data.levels[row + c]) * step;
        exact += static_cast<double>(q[c]) * x;
        // The direction and slots come in floats; the query of slots is rounded as well.
        magnitudes +=
            std::fabs(q[c]) * (std::fabs(x) + dense + std::fabs(x - data.levels[row + c] * step));
        rounding +=
            units.row * largest * (dense + (data.view.slots > 0 ? std::fabs(x) + dense : 0.0));
        rounding +=
            (std::fabs(q[c]) + units.row * largest) * units.level * data.view.level_unit * step;
      }
      const double bound = rounding + 0x1p-24 * (dim / 8.0 + 16.0) * magnitudes;
      made.errors.add(result[std::size_t{j} * stride + t], exact, bound);
      made.values.push_back(result[std::size_t{j} * stride + t]);
    }
    for (std::uint32_t t = n; t < stride; ++t)
      made.errors.wrong += result[std::size_t{j} * stride + t] == 7.0f ? 0u : 1u;
  }
  return made;
}

// Weights as a softmax makes them; `peaky`: most are zero.
Result sums(const Data& data, std::uint32_t count, Arithmetic arithmetic, bool peaky) {
  const std::uint32_t dim = data.view.dim;
  const std::uint32_t n = data.tokens;
  const std::uint32_t stride = n + 5;
  std::vector<float> weights = test::normal(count + dim, std::size_t{count} * stride, 1.5f);
  for (std::uint32_t j = 0; j < count; ++j) {
    for (std::uint32_t t = 0; t < stride; ++t) {
      float& w = weights[std::size_t{j} * stride + t];
      w = std::exp(w - 4.0f);
      if (peaky && t % 40 != 7) w = 0.0f;
      if (count == 3 && j == 1) w = 0.0f;
      if (t >= n) w = 1e9f;
    }
  }
  std::vector<float> result(std::size_t{count} * dim, 0.5f);
  HWY_DYNAMIC_DISPATCH(accumulate_levels)
  (data.view,
   abi::AccumulateArguments{data.runs.data(), static_cast<std::uint32_t>(data.runs.size()), nullptr,
                            0, weights.data(), count, stride, arithmetic, result.data()});
  const Units units = units_of(arithmetic, Role::kValue);
  Result made;
  for (std::uint32_t j = 0; j < count; ++j) {
    const float* w = weights.data() + std::size_t{j} * stride;
    for (std::uint32_t c = 0; c < dim; ++c) {
      double exact = 0.5, magnitudes = 0.5, rounding = 0.0;
      std::uint32_t first = 0;
      for (const BlockRun& run : data.runs) {  // each lies in 64 tokens of its own
        double largest = 0.0;
        for (std::uint32_t t = first; t < first + run.count; ++t)
          largest =
              std::max(largest, static_cast<double>(w[t]) * data.steps[std::size_t{t} * dim + c]);
        for (std::uint32_t t = first; t < first + run.count; ++t) {
          const std::size_t at = std::size_t{t} * dim + c;
          const double x = data.rows[at];
          const double step = data.steps[at];
          const double level = std::fabs(data.levels[at]);
          exact += w[t] * x;
          magnitudes +=
              w[t] * (std::fabs(x) + level * step + std::fabs(x - data.levels[at] * step));
          rounding += units.row * largest * level;
          rounding += (w[t] * step + units.row * largest) * units.level * data.view.level_unit;
        }
        first += run.count;
      }
      const double bound = rounding + 0x1p-24 * (n / 8.0 + 16.0) * magnitudes;
      made.errors.add(result[std::size_t{j} * dim + c], exact, bound);
      made.values.push_back(result[std::size_t{j} * dim + c]);
    }
  }
  return made;
}

}  // namespace levels_test

using namespace levels_test;

// Kernels take 4, 2 and 1 queries at a time (8 where registers allow): 1, 3, 5 and 16 have them all.
// Sanitizers multiply the time by ten and look at addresses, not at values: one number of queries
// each.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

TEST_CASE("levels: scores and sums within the bounds of their arithmetic, on every target") {
  std::vector<std::vector<float>> first;  // of the first target
  const int ran = on_each_target(HWY_TARGETS, [&](const char* target) {
    std::size_t at = 0;
    std::uint32_t differ = 0;
    const auto compare = [&](const Result& result) {
      CHECK(result.errors.wrong == 0);
      if (at == first.size()) first.push_back(result.values);
      // Integers are equal on all targets. Targets without FMA round once more: every value differs
      // by a few units in the last place of the largest.
      float largest = 0.0f;
      for (const float x : first[at]) largest = std::max(largest, std::fabs(x));
      for (std::size_t i = 0; i < result.values.size(); ++i)
        differ += std::fabs(result.values[i] - first[at][i]) <= 4e-6f * largest ? 0u : 1u;
      ++at;
    };
    double worst[2][3] = {};
    for (const Arithmetic arithmetic :
         {Arithmetic::kFast, Arithmetic::kAccurate, Arithmetic::kExact}) {
      for (const std::uint32_t count : {1u, 3u, 5u, 16u}) {
        if (count > 5 && (kSanitized || arithmetic != Arithmetic::kFast)) continue;
        if (kSanitized && count != (arithmetic == Arithmetic::kFast ? 5u : 3u)) continue;
        for (const Data& data : all().keys) {
          CAPTURE(target);
          CAPTURE(data.name);
          CAPTURE(count);
          CAPTURE(static_cast<int>(arithmetic));
          const Result result = scores(data, count, arithmetic);
          compare(result);
          double& most = worst[0][static_cast<int>(arithmetic)];
          most = std::max(most, result.errors.relative());
        }
        for (const Data& data : all().values) {
          CAPTURE(target);
          CAPTURE(data.name);
          CAPTURE(count);
          CAPTURE(static_cast<int>(arithmetic));
          const Result result = sums(data, count, arithmetic, count == 2);
          compare(result);
          double& most = worst[1][static_cast<int>(arithmetic)];
          most = std::max(most, result.errors.relative());
        }
      }
    }
    CHECK(differ == 0);
    MESSAGE(std::string(target) << ": RMS error over RMS, scores " << worst[0][0] << " "
                                << worst[0][1] << " " << worst[0][2] << ", sums " << worst[1][0]
                                << " " << worst[1][1] << " " << worst[1][2]);
  });
  CHECK(ran >= 1);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
