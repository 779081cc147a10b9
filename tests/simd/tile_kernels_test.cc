// Scores and sums of tile formats against fp64 on the rows that the format decodes from the same
// bytes, on every target.
#include "kvpleat/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3)  // as SSE4 and AVX2; lanes_test.cc runs them
#define HWY_TARGET_INCLUDE "simd/tile_kernels_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their headers must be seen once per target.
#include "kvpleat/simd/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

void tile_prepare(const abi::TileView& view, const abi::PrepareArguments& a) {
  TileKernels::prepare(view, a);
}
void tile_score(const abi::TileView& view, const abi::ScoreArguments& a) {
  TileKernels::score(view, a);
}
void tile_accumulate(const abi::TileView& view, const abi::AccumulateArguments& a) {
  TileKernels::accumulate(view, a);
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kvpleat/format/formats.h"
#include "kvpleat/quant/mid_rise.h"
#include "kvpleat/quant/zero_point.h"
#include "kvpleat/simd/views.h"
#include "kvpleat/simd/work.h"
#include "support/generator.h"
#include "support/simd_targets.h"

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(tile_prepare);
HWY_EXPORT(tile_score);
HWY_EXPORT(tile_accumulate);

namespace {

using abi::Arithmetic;

// A format without its type.
struct AnyTile {
  std::string name;
  abi::TileView view;
  Role role;
  std::uint32_t seal;
  std::uint32_t block_bytes;
  std::function<void(Rows, std::uint32_t, std::uint8_t*)> encode;
  std::function<void(const BlockBytes&, std::uint32_t, MutableRows)> decode;
};

template <class F, Role kRole>
AnyTile any_tile(const char* name) {
  using Typed = typename F::template As<kRole>;
  static_assert(TileFormat<Typed>);
  AnyTile tile;
  tile.name = std::string(name) + (kRole == Role::kKey ? " key" : " value") + " of " +
              std::to_string(Typed::kDim);
  tile.view = tile_view(Typed{});
  tile.role = kRole;
  tile.seal = Typed::kSeal;
  tile.block_bytes = Typed::kBlockBytes;
  tile.encode = [](Rows rows, std::uint32_t slot, std::uint8_t* block) {
    SpillWriter spill;
    EncodeCounters counters;
    Typed{}.encode(rows, slot, nullptr, block, spill, counters);
  };
  tile.decode = [](const BlockBytes& bytes, std::uint32_t slot, MutableRows rows) {
    Typed{}.decode(bytes, slot, rows);
  };
  return tile;
}

template <std::uint32_t kDim, template <std::uint32_t, std::uint32_t, Axis, class> class Quant,
          std::uint32_t kBits, std::uint32_t kGroup, Axis kAxis = Axis::kChannels,
          class Side = Half>
using DenseOf = formats::Dense<kDim, Quant<kBits, kGroup, kAxis, Side>>;
template <std::uint32_t kDim, std::uint32_t kCount, std::uint32_t kBits = 4>
using SlotsOf = BlockFormat<kDim, NoTransform, TopKSplit<kCount>, AffineQuant<kBits>, SlotCodec>;

// Every width, group length, axis, kind of scale; head_dims that fill lines and that do not.
template <Role kRole>
std::vector<AnyTile> all_tiles() {
  constexpr Axis kTokens = Axis::kTokens;
  std::vector<AnyTile> tiles = {
      any_tile<formats::Int4<128>, kRole>("int4"),
      any_tile<formats::Int<128, 4, 64>, kRole>("int4 in 64s"),
      any_tile<formats::Int4G32<64>, kRole>("int4 in 32s"),
      any_tile<formats::Int<96, 4, 64>, kRole>("int4 in 64s, the last short"),
      any_tile<formats::Int8<128>, kRole>("int8"),
      any_tile<formats::Int2<128>, kRole>("int2"),
      any_tile<formats::Int<256, 2, 32>, kRole>("int2 in 32s"),
      any_tile<formats::Int<128, 1>, kRole>("int1"),
      any_tile<formats::Int<64, 1, 32>, kRole>("int1 in 32s"),
      any_tile<formats::Int3<80>, kRole>("int3"),
      any_tile<formats::Int5<80>, kRole>("int5"),
      any_tile<formats::Int6<80>, kRole>("int6"),
      any_tile<formats::Int<80, 7>, kRole>("int7"),
      any_tile<formats::Int<128, 7, 32>, kRole>("int7 in 32s"),
      any_tile<formats::Int<20, 4>, kRole>("int4"),
      any_tile<formats::Int<1, 5>, kRole>("int5"),
      any_tile<formats::Int8<576>, kRole>("int8"),
      any_tile<formats::Int4<576>, kRole>("int4"),
      any_tile<formats::Int4Channel<128>, kRole>("int4 along 32 tokens"),
      any_tile<formats::IntChannel<20, 2, 64>, kRole>("int2 along 64 tokens"),
      any_tile<formats::IntChannel<96, 8, 128>, kRole>("int8 along 128 tokens"),
      any_tile<formats::IntChannel<80, 3, 32>, kRole>("int3 along 32 tokens"),
      any_tile<DenseOf<64, SymmetricQuant, 4, kWholeHead>, kRole>("symmetric 4"),
      any_tile<DenseOf<64, SymmetricQuant, 8, 32, Axis::kChannels, float>, kRole>(
          "symmetric 8 in 32s, float"),
      any_tile<DenseOf<64, SymmetricQuant, 4, 32, kTokens, BFloat16>, kRole>(
          "symmetric 4 along 32 tokens, bfloat16"),
      any_tile<DenseOf<64, MidRiseQuant, 2, 32>, kRole>("mid-rise 2 in 32s"),
      any_tile<DenseOf<64, ZeroPointQuant, 4, 32>, kRole>("zero-point 4 in 32s"),
      any_tile<DenseOf<64, ZeroPointQuant, 4, 32, kTokens>, kRole>("zero-point 4 along 32 tokens"),
      any_tile<DenseOf<64, AffineQuant, 6, 32, Axis::kChannels, BFloat16>, kRole>(
          "int6 in 32s, bfloat16"),
      any_tile<SlotsOf<128, 4>, kRole>("int4 and 4 slots"),
      any_tile<SlotsOf<256, 9>, kRole>("int4 and 12 slots"),
      any_tile<SlotsOf<320, 5, 2>, kRole>("int2 and 8 slots"),
  };
  return tiles;
}

// Slots of blocks, as a cache hands them out: runs begin and end anywhere.
struct Tokens {
  std::vector<std::vector<std::uint8_t>> blocks;
  std::vector<BlockRun> runs;
  std::vector<float> decoded;  // [count, dim], of the slots of the runs
  std::uint32_t count = 0;
};

// What the rows are. Every token: noise of its own size; kOffset: beside a few channels far from 0.
enum class Data { kPlain, kOffset, kEqual, kZero, kHuge, kTiny };

std::vector<float> make_rows(Data data, std::uint32_t n, std::uint32_t dim, std::uint32_t seed) {
  std::vector<float> rows = test::normal(seed, static_cast<std::size_t>(n) * dim);
  for (std::uint32_t t = 0; t < n; ++t) {
    for (std::uint32_t c = 0; c < dim; ++c) {
      float& x = rows[t * dim + c];
      if (data == Data::kOffset) x = c % 11 == 3 ? 12.0f * x + 20.0f : x + 3.0f;
      if (data == Data::kEqual) x = 1.75f;
      if (data == Data::kZero) x = 0.0f;
      if (data == Data::kHuge) x *= 1000.0f;
      if (data == Data::kTiny) x *= 1e-4f;
    }
  }
  return rows;
}

struct Piece {
  std::uint32_t slot;
  std::uint32_t count;
};

// One block per piece. Slots outside the pieces hold 0xff everywhere: NaN scales.
Tokens make_tokens(const AnyTile& tile, const std::vector<Piece>& pieces, Data data,
                   std::uint32_t seed) {
  Tokens tokens;
  const std::uint32_t dim = tile.view.dim;
  for (const Piece& piece : pieces) {
    std::vector<std::uint8_t>& block = tokens.blocks.emplace_back(tile.block_bytes, 0xff);
    const std::uint32_t begin = piece.slot / tile.seal * tile.seal;
    const std::uint32_t end = (piece.slot + piece.count + tile.seal - 1) / tile.seal * tile.seal;
    const std::vector<float> rows = make_rows(data, end - begin, dim, seed++);
    tile.encode(Rows{rows.data(), end - begin, dim}, begin, block.data());
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const BlockBytes bytes{tokens.blocks[i].data(), nullptr, nullptr, 0};
    tokens.runs.push_back(BlockRun{bytes, pieces[i].slot, pieces[i].count});
    tokens.decoded.resize(static_cast<std::size_t>(tokens.count + pieces[i].count) * dim);
    tile.decode(bytes, pieces[i].slot,
                MutableRows{tokens.decoded.data() + static_cast<std::size_t>(tokens.count) * dim,
                            pieces[i].count, dim});
    tokens.count += pieces[i].count;
  }
  return tokens;
}

const std::vector<Piece> kPieces = {{0, 64}, {5, 1}, {0, 33}, {17, 47}, {63, 1}, {30, 20}};

double relative(const std::vector<float>& found, const std::vector<double>& wanted) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double difference = static_cast<double>(found[i]) - wanted[i];
    if (!(difference == difference)) return HUGE_VAL;
    error += difference * difference;
    size += wanted[i] * wanted[i];
  }
  return size > 0.0 ? std::sqrt(error / size) : std::sqrt(error);
}

constexpr float kUntouched = -123.25f;

// Scores [query_count, count]. NaN if the kernel wrote behind the last token.
std::vector<float> scores_of(const AnyTile& tile, const Tokens& tokens,
                             const std::vector<float>& queries, std::uint32_t query_count,
                             Arithmetic arithmetic) {
  const std::uint32_t stride = tokens.count + 7;
  std::vector<std::uint8_t> memory(query_work_bytes(tile.view) + 64, 0xa5);
  std::uint8_t* work = memory.data();
  while (reinterpret_cast<std::uintptr_t>(work) % 64 != 0) ++work;
  HWY_DYNAMIC_DISPATCH(tile_prepare)
  (tile.view, abi::PrepareArguments{queries.data(), query_count, arithmetic, work});
  std::vector<float> scores(static_cast<std::size_t>(query_count) * stride, kUntouched);
  const BlockRun ahead = tokens.runs.front();
  HWY_DYNAMIC_DISPATCH(tile_score)
  (tile.view,
   abi::ScoreArguments{tokens.runs.data(), static_cast<std::uint32_t>(tokens.runs.size()), &ahead,
                       1, queries.data(), work, query_count, arithmetic, scores.data(), stride});
  std::vector<float> found;
  for (std::uint32_t j = 0; j < query_count; ++j) {
    const float* row = scores.data() + static_cast<std::size_t>(j) * stride;
    const bool kept = row[tokens.count] == kUntouched && row[stride - 1] == kUntouched;
    for (std::uint32_t t = 0; t < tokens.count; ++t)
      found.push_back(kept ? row[t] : std::numeric_limits<float>::quiet_NaN());
  }
  return found;
}
double score_error(const AnyTile& tile, const Tokens& tokens, const std::vector<float>& queries,
                   std::uint32_t query_count, Arithmetic arithmetic) {
  const std::uint32_t dim = tile.view.dim;
  std::vector<double> wanted;
  for (std::uint32_t j = 0; j < query_count; ++j) {
    for (std::uint32_t t = 0; t < tokens.count; ++t) {
      double sum = 0.0;
      for (std::uint32_t c = 0; c < dim; ++c) {
        sum += static_cast<double>(queries[static_cast<std::size_t>(j) * dim + c]) *
               static_cast<double>(tokens.decoded[static_cast<std::size_t>(t) * dim + c]);
      }
      wanted.push_back(sum);
    }
  }
  return relative(scores_of(tile, tokens, queries, query_count, arithmetic), wanted);
}

// What is added to sums that were 0.5. NaN if the kernel wrote behind them.
std::vector<float> sums_of(const AnyTile& tile, const Tokens& tokens,
                           const std::vector<float>& weights, std::uint32_t query_count,
                           Arithmetic arithmetic) {
  const std::size_t count = static_cast<std::size_t>(query_count) * tile.view.dim;
  std::vector<float> sums(count + 16, 0.5f);
  HWY_DYNAMIC_DISPATCH(tile_accumulate)
  (tile.view, abi::AccumulateArguments{
                  tokens.runs.data(), static_cast<std::uint32_t>(tokens.runs.size()), nullptr, 0,
                  weights.data(), query_count, tokens.count, arithmetic, sums.data()});
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] =
        sums[count + i % 16] == 0.5f ? sums[i] - 0.5f : std::numeric_limits<float>::quiet_NaN();
  }
  sums.resize(count);
  return sums;
}
double sum_error(const AnyTile& tile, const Tokens& tokens, const std::vector<float>& weights,
                 std::uint32_t query_count, Arithmetic arithmetic) {
  const std::uint32_t dim = tile.view.dim;
  std::vector<double> wanted;
  for (std::uint32_t j = 0; j < query_count; ++j) {
    for (std::uint32_t c = 0; c < dim; ++c) {
      double sum = 0.0;
      for (std::uint32_t t = 0; t < tokens.count; ++t) {
        sum += static_cast<double>(weights[static_cast<std::size_t>(j) * tokens.count + t]) *
               static_cast<double>(tokens.decoded[static_cast<std::size_t>(t) * dim + c]);
      }
      wanted.push_back(sum);
    }
  }
  return relative(sums_of(tile, tokens, weights, query_count, arithmetic), wanted);
}

// Softmax weights of Gaussian logits.
std::vector<float> make_weights(std::uint32_t query_count, std::uint32_t n, float peak,
                                std::uint32_t seed) {
  std::vector<float> weights = test::normal(seed, static_cast<std::size_t>(query_count) * n, peak);
  for (float& w : weights) w = w < -60.0f ? 0.0f : std::exp(w < 0.0f ? w : 0.0f);
  return weights;
}

// Relative L2 against fp64. A query or a row of weights is rounded to within half a unit; a unit is
// its largest magnitude over 127 (fast) or 16383 (accurate). Largest over root mean square is about
// 3 for a query and 3 for weights here, so the rounding is 3 / (127 * sqrt(12)) = 0.7 % of it, and so
// is the error of the score or sum where codes lie around their centre as values lie around 0: 1.2 %
// leaves room for the luck of a draw. Where values lie far from 0 (kOffset) the codes' share of a
// score varies with the query: the published bound of the arithmetic, 3 %. Exact: a few hundred
// float roundings of 6e-8.
double bound_of(Arithmetic arithmetic, Data data) {
  if (arithmetic == Arithmetic::kExact) return 2e-6;
  const double fast = data == Data::kOffset ? 0.03 : 0.012;
  return arithmetic == Arithmetic::kFast ? fast : fast / 100.0;
}
const char* name_of(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kFast       ? "fast"
         : arithmetic == Arithmetic::kAccurate ? "accurate"
                                               : "exact";
}
constexpr Arithmetic kArithmetics[] = {Arithmetic::kFast, Arithmetic::kAccurate,
                                       Arithmetic::kExact};

}  // namespace

TEST_CASE("tile kernels: scores are those of the decoded rows") {
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    CAPTURE(std::string(target));
    std::uint32_t seed = 1;
    for (const AnyTile& tile : all_tiles<Role::kKey>()) {
      for (const Data data : {Data::kPlain, Data::kOffset}) {
        const Tokens tokens = make_tokens(tile, kPieces, data, ++seed);
        for (const Arithmetic arithmetic : kArithmetics) {
          for (const std::uint32_t count : {seed % 4 + 1, 5u}) {
            const std::vector<float> queries = test::normal(seed + 90, count * tile.view.dim);
            const double error = score_error(tile, tokens, queries, count, arithmetic);
            CHECK_MESSAGE(error <= bound_of(arithmetic, data),
                          tile.name << ", " << count << " queries, "
                                    << std::string(name_of(arithmetic)) << ": " << error);
          }
        }
      }
    }
  });
  CHECK(ran >= 1);
}

TEST_CASE("tile kernels: sums are those of the decoded rows") {
  on_each_target(HWY_TARGETS, [](const char* target) {
    CAPTURE(std::string(target));
    std::uint32_t seed = 100;
    for (const AnyTile& tile : all_tiles<Role::kValue>()) {
      for (const Data data : {Data::kPlain, Data::kOffset}) {
        const Tokens tokens = make_tokens(tile, kPieces, data, ++seed);
        for (const Arithmetic arithmetic : kArithmetics) {
          for (const std::uint32_t count : {seed % 4 + 1, 5u}) {
            const std::vector<float> weights = make_weights(count, tokens.count, 1.0f, seed + 90);
            const double error = sum_error(tile, tokens, weights, count, arithmetic);
            CHECK_MESSAGE(error <= bound_of(arithmetic, data),
                          tile.name << ", " << count << " queries, "
                                    << std::string(name_of(arithmetic)) << ": " << error);
          }
        }
      }
    }
  });
}

TEST_CASE("tile kernels: 8 and 16 queries, rows of zeros, of equal, of huge and of tiny values") {
  on_each_target(HWY_TARGETS, [](const char* target) {
    CAPTURE(std::string(target));
    std::uint32_t seed = 200;
    for (const AnyTile& tile :
         {any_tile<formats::Int<128, 4, 64>, Role::kKey>("int4 in 64s"),
          any_tile<formats::Int4Channel<64>, Role::kKey>("int4 along 32 tokens"),
          any_tile<SlotsOf<128, 4>, Role::kKey>("int4 and 4 slots")}) {
      for (const Data data : {Data::kPlain, Data::kEqual, Data::kZero, Data::kHuge, Data::kTiny}) {
        const Tokens tokens = make_tokens(tile, kPieces, data, ++seed);
        for (const Arithmetic arithmetic : kArithmetics) {
          for (const std::uint32_t count : {8u, 16u}) {
            const std::vector<float> queries = test::normal(seed + 90, count * tile.view.dim);
            const double error = score_error(tile, tokens, queries, count, arithmetic);
            CHECK_MESSAGE(error <= bound_of(arithmetic, data),
                          tile.name << ", " << count << " queries, "
                                    << std::string(name_of(arithmetic)) << ": " << error);
          }
        }
      }
    }
    for (const AnyTile& tile :
         {any_tile<formats::Int<128, 4, 64>, Role::kValue>("int4 in 64s"),
          any_tile<formats::Int4Channel<64>, Role::kValue>("int4 along 32 tokens"),
          any_tile<SlotsOf<128, 4>, Role::kValue>("int4 and 4 slots")}) {
      for (const Data data : {Data::kPlain, Data::kEqual, Data::kZero, Data::kHuge, Data::kTiny}) {
        const Tokens tokens = make_tokens(tile, kPieces, data, ++seed);
        for (const Arithmetic arithmetic : kArithmetics) {
          for (const std::uint32_t count : {8u, 16u}) {
            const std::vector<float> weights = make_weights(count, tokens.count, 1.0f, seed + 90);
            // The sums start at 0.5: what is below the last place of that is lost.
            const double slack = data == Data::kTiny ? 1e-3 : 0.0;
            const double error = sum_error(tile, tokens, weights, count, arithmetic);
            CHECK_MESSAGE(error <= bound_of(arithmetic, data) + slack,
                          tile.name << ", " << count << " queries, "
                                    << std::string(name_of(arithmetic)) << ": " << error);
          }
        }
      }
    }
  });
}

TEST_CASE("tile kernels: peaky weights, and none at all") {
  on_each_target(HWY_TARGETS, [](const char* target) {
    CAPTURE(std::string(target));
    for (const AnyTile& tile :
         {any_tile<formats::Int<128, 4, 64>, Role::kValue>("int4 in 64s"),
          any_tile<formats::Int4Channel<64>, Role::kValue>("int4 along 32 tokens")}) {
      const Tokens tokens = make_tokens(tile, kPieces, Data::kPlain, 7);
      for (const Arithmetic arithmetic : kArithmetics) {
        const std::vector<float> peaky = make_weights(3, tokens.count, 35.0f, 8);
        CHECK(sum_error(tile, tokens, peaky, 3, arithmetic) <= bound_of(arithmetic, Data::kPlain));
        const std::vector<float> none(3 * tokens.count, 0.0f);
        CHECK(sum_error(tile, tokens, none, 3, arithmetic) == 0.0);
      }
    }
  });
}

TEST_CASE("tile kernels: a query with NaN gives NaN, the others what they give without it") {
  on_each_target(HWY_TARGETS, [](const char* target) {
    CAPTURE(std::string(target));
    for (const AnyTile& tile :
         {any_tile<formats::Int<128, 4, 64>, Role::kKey>("int4 in 64s"),
          any_tile<DenseOf<64, SymmetricQuant, 4, kWholeHead>, Role::kKey>("symmetric 4"),
          any_tile<formats::Int4Channel<64>, Role::kKey>("int4 along 32 tokens")}) {
      const Tokens tokens = make_tokens(tile, kPieces, Data::kPlain, 7);
      for (const Arithmetic arithmetic : kArithmetics) {
        std::vector<float> queries = test::normal(8, 2 * tile.view.dim);
        const std::vector<float> clean = scores_of(tile, tokens, queries, 2, arithmetic);
        queries[3] = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> scores = scores_of(tile, tokens, queries, 2, arithmetic);
        for (std::uint32_t t = 0; t < tokens.count; ++t) {
          CHECK(std::isnan(scores[t]));
          CHECK(scores[tokens.count + t] == clean[tokens.count + t]);
        }
      }
    }
  });
}

TEST_CASE("tile kernels: targets with FMA give equal bits, others nearly so") {
  const auto everything = [] {
    std::vector<float> all;
    std::uint32_t seed = 300;
    for (const AnyTile& tile : all_tiles<Role::kKey>()) {
      const Tokens tokens = make_tokens(tile, kPieces, Data::kOffset, ++seed);
      for (const Arithmetic arithmetic : kArithmetics) {
        const std::vector<float> queries = test::normal(seed, 3 * tile.view.dim);
        const std::vector<float> scores = scores_of(tile, tokens, queries, 3, arithmetic);
        all.insert(all.end(), scores.begin(), scores.end());
      }
    }
    for (const AnyTile& tile : all_tiles<Role::kValue>()) {
      const Tokens tokens = make_tokens(tile, kPieces, Data::kOffset, ++seed);
      for (const Arithmetic arithmetic : kArithmetics) {
        const std::vector<float> weights = make_weights(3, tokens.count, 1.0f, seed);
        const std::vector<float> sums = sums_of(tile, tokens, weights, 3, arithmetic);
        all.insert(all.end(), sums.begin(), sums.end());
      }
    }
    return all;
  };
  std::vector<std::vector<float>> found;
  std::vector<std::string> names;
  on_each_target(HWY_TARGETS, [&](const char* target) {
    found.push_back(everything());
    names.emplace_back(target);
  });
  for (std::size_t i = 1; i < found.size(); ++i) {
    const bool fma = names[i] == "AVX3" || names[i] == "AVX2" || names[i] == "NEON";
    CAPTURE(names[0]);
    CAPTURE(names[i]);
    REQUIRE(found[i].size() == found[0].size());
    double difference = 0.0;
    double size = 0.0;
    std::size_t unequal = 0;
    for (std::size_t k = 0; k < found[0].size(); ++k) {
      unequal += found[i][k] == found[0][k] ? 0u : 1u;
      difference = std::fmax(difference, std::fabs(static_cast<double>(found[i][k] - found[0][k])));
      size = std::fmax(size, std::fabs(static_cast<double>(found[0][k])));
    }
    if (fma) CHECK(unequal == 0);
    CHECK(difference <= size * 1e-5);
  }
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
