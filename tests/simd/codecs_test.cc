// A cache that codes by vectors holds the bytes of one that does not, counts what it counts, and
// reads the same rows: through appends of any length, cuts, refills and reads of any part. On every
// target.
#include "kvpleat/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_TARGET_INCLUDE "simd/codecs_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their header must be seen once per target.
#include "kvpleat/simd/codecs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

bool encode(const abi::CodeView& view, const abi::EncodeArguments& a) {
  return CodecFunctions::encode(view, a);
}
bool decode(const abi::CodeView& view, const abi::DecodeArguments& a) {
  return CodecFunctions::decode(view, a);
}
bool hadamard(const abi::HadamardArguments& a) {
  return CodecFunctions::hadamard(a);
}
bool phase_center(const abi::PhaseArguments& a) {
  return CodecFunctions::phase_center(a);
}
bool phase_angles(const std::uint64_t* turns, std::uint32_t pairs, const abi::PhaseAngles& to) {
  return CodecFunctions::phase_angles(turns, pairs, to);
}
bool narrow(const abi::RawView& view, const abi::EncodeArguments& a) {
  return CodecFunctions::narrow(view, a);
}
bool widen(const abi::RawView& view, const abi::DecodeArguments& a) {
  return CodecFunctions::widen(view, a);
}
bool balance(const abi::BalanceArguments& a) {
  return CodecFunctions::balance(a);
}
bool largest(const float* rows, std::size_t stride, std::uint32_t count, std::uint32_t dim,
             std::uint32_t* bits) {
  return CodecFunctions::largest_in(rows, stride, count, dim, bits);
}
bool encode_bands(const abi::BandView& view, const abi::BandArguments& a) {
  return CodecFunctions::encode_bands(view, a);
}
bool decode_bands(const abi::BandView& view, const abi::DecodeArguments& a) {
  return CodecFunctions::decode_bands(view, a);
}
bool observe_bands(const abi::BandView& view, const float* rows, std::size_t stride,
                   std::uint32_t count, abi::BandRanges* ranges) {
  return CodecFunctions::observe_bands(view, rows, stride, count, ranges);
}
bool count_outliers(const abi::BandView& view, const float* row, std::uint8_t* counts) {
  return CodecFunctions::count_outliers(view, row, counts);
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "kvpleat/simd/codecs.h"
#include "kvpleat/simd/reference.h"
#include "support/any_format.h"
#include "support/generator.h"
#include "support/simd_targets.h"

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(encode);
HWY_EXPORT(decode);
HWY_EXPORT(hadamard);
HWY_EXPORT(phase_center);
HWY_EXPORT(phase_angles);
HWY_EXPORT(narrow);
HWY_EXPORT(widen);
HWY_EXPORT(balance);
HWY_EXPORT(largest);
HWY_EXPORT(encode_bands);
HWY_EXPORT(decode_bands);
HWY_EXPORT(observe_bands);
HWY_EXPORT(count_outliers);

namespace {

// The functions of the target under test.
struct TargetFunctions {
  static bool encode(const abi::CodeView& view, const abi::EncodeArguments& a) {
    return HWY_DYNAMIC_DISPATCH(encode)(view, a);
  }
  static bool decode(const abi::CodeView& view, const abi::DecodeArguments& a) {
    return HWY_DYNAMIC_DISPATCH(decode)(view, a);
  }
  static bool hadamard(const abi::HadamardArguments& a) {
    return HWY_DYNAMIC_DISPATCH(hadamard)(a);
  }
  static bool phase_center(const abi::PhaseArguments& a) {
    return HWY_DYNAMIC_DISPATCH(phase_center)(a);
  }
  static bool phase_angles(const std::uint64_t* turns, std::uint32_t pairs,
                           const abi::PhaseAngles& to) {
    return HWY_DYNAMIC_DISPATCH(phase_angles)(turns, pairs, to);
  }
  static bool narrow(const abi::RawView& view, const abi::EncodeArguments& a) {
    return HWY_DYNAMIC_DISPATCH(narrow)(view, a);
  }
  static bool widen(const abi::RawView& view, const abi::DecodeArguments& a) {
    return HWY_DYNAMIC_DISPATCH(widen)(view, a);
  }
  static bool balance(const abi::BalanceArguments& a) { return HWY_DYNAMIC_DISPATCH(balance)(a); }
  static bool largest_in(const float* rows, std::size_t stride, std::uint32_t count,
                         std::uint32_t dim, std::uint32_t* bits) {
    return HWY_DYNAMIC_DISPATCH(largest)(rows, stride, count, dim, bits);
  }
  static bool encode_bands(const abi::BandView& view, const abi::BandArguments& a) {
    return HWY_DYNAMIC_DISPATCH(encode_bands)(view, a);
  }
  static bool decode_bands(const abi::BandView& view, const abi::DecodeArguments& a) {
    return HWY_DYNAMIC_DISPATCH(decode_bands)(view, a);
  }
  static bool observe_bands(const abi::BandView& view, const float* rows, std::size_t stride,
                            std::uint32_t count, abi::BandRanges* ranges) {
    return HWY_DYNAMIC_DISPATCH(observe_bands)(view, rows, stride, count, ranges);
  }
  static bool count_outliers(const abi::BandView& view, const float* row, std::uint8_t* counts) {
    return HWY_DYNAMIC_DISPATCH(count_outliers)(view, row, counts);
  }
};
struct TargetKernels : ReferenceKernels, Codecs<TargetFunctions> {
  static constexpr bool kTakesPhaseTable = true;
};

template <class Traits>
struct ByVectors : Traits {
  using Kernels = TargetKernels;
};

constexpr std::uint32_t kHeads = 2;

// Everything that a cache holds of a head, as bytes.
template <class Cache>
std::vector<std::uint8_t> dump(const Cache& cache, std::uint32_t head) {
  std::vector<std::uint8_t> all;
  const auto add = [&](const void* data, std::size_t bytes) {
    const auto* from = static_cast<const std::uint8_t*>(data);
    all.insert(all.end(), from, from + bytes);
  };
  cache.visit(
      0, head, IndexRange{},
      [&](const auto& lane) {
        using Pair = typename std::remove_cvref_t<decltype(lane)>::Pair;
        const auto side = [&]<class F>(std::uint32_t n, const BlockRun* runs, Rows open) {
          for (std::uint32_t i = 0; i < n; ++i) {
            add(runs[i].bytes.block, F::kBlockBytes);
            if (F::kSharedBytes > 0) add(runs[i].bytes.shared, F::kSharedBytes);
            if (F::kSpills) add(runs[i].bytes.spill, runs[i].bytes.spill_bytes);
          }
          for (std::size_t t = 0; t < open.count; ++t) add(open[t], F::kCoded * sizeof(float));
        };
        std::vector<BlockRun> runs(lane.count / 64 + 2);
        Rows open;
        const std::uint32_t keys = lane.key_pieces(lane.slot, lane.count, runs.data(), open);
        side.template operator()<typename Pair::Key>(keys, runs.data(), open);
        const std::uint32_t values = lane.value_pieces(lane.slot, lane.count, runs.data(), open);
        side.template operator()<typename Pair::Value>(values, runs.data(), open);
      },
      [](std::uint32_t, std::uint32_t) {});
  return all;
}

template <class Traits>
void check(std::uint32_t residual = 0) {
  using Plain = KvCache<Traits>;
  using Vectors = KvCache<ByVectors<Traits>>;
  constexpr std::uint32_t kDim = Traits::kKeyDim;
  using Pair = typename Plain::template Lane<0>;
  INFO(std::string(Pair::Key::kId.view()));
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.query_heads = kHeads;
  shape.max_tokens = 4096;
  shape.residual = residual;
  shape.non_finite = NonFinite::kZero;
  shape.rope = Rope::standard(RopeLayout::kHalves, kDim / 2 * 2, 10000.0);
  std::vector<float> key_profile;
  std::vector<float> value_profile;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    for (const float x : test::SampleProfile<typename Pair::Key>::make()) key_profile.push_back(x);
    for (const float x : test::SampleProfile<typename Pair::Value>::make())
      value_profile.push_back(x);
  }
  const auto no_direction = [](std::vector<float>& profile) {  // keep the rest, the scales too
    for (float& x : profile) x = 0.0f;
  };
  if constexpr (requires { Pair::Key::Layout::kCoefficients; }) {
    no_direction(key_profile);
    no_direction(value_profile);
  }
  LaneProfile profile;
  profile.keys = key_profile.data();
  profile.key_count = key_profile.size();
  profile.values = value_profile.data();
  profile.value_count = value_profile.size();
  auto plain = Plain::create(shape, &profile, 1);
  auto vectors = Vectors::create(shape, &profile, 1);
  REQUIRE(plain);
  REQUIRE(vectors);
  test::Generator random(21);
  const auto same = [&] {
    REQUIRE(plain->tokens(0) == vectors->tokens(0));
    const std::uint32_t n = plain->tokens(0);
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      CHECK(dump(*plain, h) == dump(*vectors, h));
      const std::uint32_t first = n == 0 ? 0 : random.below(n);
      std::vector<float> rows[4];
      for (auto& one : rows) one.assign(std::size_t{n - first} * kDim, -1.0f);
      REQUIRE(ok(plain->read(0, h, first, n - first, rows[0].data(), rows[1].data())));
      REQUIRE(ok(vectors->read(0, h, first, n - first, rows[2].data(), rows[3].data())));
      for (int i = 0; i < 2; ++i) {
        CHECK(std::memcmp(rows[i].data(), rows[i + 2].data(), rows[i].size() * sizeof(float)) == 0);
      }
    }
    for (const bool keys : {true, false}) {
      const EncodeCounters a = keys ? plain->key_counters(0) : plain->value_counters(0);
      const EncodeCounters b = keys ? vectors->key_counters(0) : vectors->value_counters(0);
      CHECK(a.values == b.values);
      CHECK(a.outliers == b.outliers);
      CHECK(a.outer == b.outer);
      CHECK(a.inner == b.inner);
      CHECK(a.saturated == b.saturated);
      CHECK(a.non_finite == b.non_finite);
      CHECK(a.clipped == b.clipped);
    }
  };
  const std::uint32_t steps[] = {1, 3, 40, 1, 1, 130, 17, 64, 5};
  std::vector<float> k;
  std::vector<float> v;
  for (const std::uint32_t n : steps) {
    k.assign(std::size_t{n} * kHeads * kDim, 0.0f);
    v = k;
    for (float& x : k) x = random.next() + random.next();
    for (float& x : v) x = (random.next() + random.next()) * 0.5f;
    if (n % 2 == 1) {
      k[0] = std::nanf("");
      v[kDim] = kInfinity;
    }
    REQUIRE(ok(plain->append(0, TokenRows(k.data(), n, kHeads, kDim),
                             TokenRows(v.data(), n, kHeads, kDim))));
    REQUIRE(ok(vectors->append(0, TokenRows(k.data(), n, kHeads, kDim),
                               TokenRows(v.data(), n, kHeads, kDim))));
    same();
    if (n == 130 || n == 5) {
      const std::uint32_t left = plain->tokens(0) - random.below(90);
      REQUIRE(ok(plain->truncate(0, left)));
      REQUIRE(ok(vectors->truncate(0, left)));
      same();
    }
  }
}

}  // namespace

TEST_CASE("caches that code by vectors: the bytes, counters and rows of those that do not") {
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    INFO(std::string(target));
    check<presets::Int4<64>>();
    check<presets::Single<formats::F16<64>, formats::BF16<64>>>();
    check<presets::F32<20>>();
    check<presets::Kivi4<80>>(32);
    check<presets::CenteredRotated4<64>>();
    check<presets::Single<formats::BalancedKey<64, 4>, formats::BalancedValue<64, 4>>>();
    check<presets::Single<formats::CodebookKey<128, 4>, formats::Int4TopK<128>>>();
    check<presets::Oaken<128>>();
    check<presets::Single<formats::OakenAligned<80>, formats::OakenPerHead<80>>>();
    check<presets::Single<formats::OakenJds16<128>, formats::OakenJds16<128>>>();
    check<presets::Single<formats::OakenJds16<39>, formats::OakenJds16<39>>>();
    check<presets::Single<formats::OakenNoShift<20>, formats::OakenOuterOnly<20>>>();
  });
  CHECK(ran >= 1);
}

TEST_CASE("queries and sums are turned as the formats turn them") {
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    INFO(std::string(target));
    const auto check_turns = []<class F>(const F& format) {
      constexpr std::uint32_t kQueries = 5;
      constexpr std::uint32_t kStride = F::kDim + 3;
      const std::vector<float> queries = test::normal(31, kQueries * kStride);
      std::vector<float> coded(kQueries * F::kCoded);
      Coder<TargetKernels>::prepare_queries(format, Rows{queries.data(), kQueries, kStride},
                                            coded.data());
      std::uint32_t different = 0;
      for (std::uint32_t j = 0; j < kQueries; ++j) {
        float own[F::kCoded];
        format.prepare_query(queries.data() + j * kStride, own);
        different += std::memcmp(own, coded.data() + j * F::kCoded, sizeof own) != 0 ? 1u : 0u;
      }
      CHECK(different == 0);
      for (const float weight : {1.0f, 0.37f, 0.0f, 900.0f}) {
        float row[F::kDim];
        float own[F::kDim];
        Coder<TargetKernels>::restore_sum(format, coded.data(), weight, row);
        format.restore(coded.data(), weight, 0, own);
        CHECK(std::memcmp(own, row, sizeof own) == 0);
      }
    };
    const Rope rope = Rope::standard(RopeLayout::kHalves, 64, 1e4);
    const std::vector<CosSin> unit_rotations(kRotationSpan * 32);
    std::vector<float> profile = test::normal(33, 400);
    for (std::uint32_t c = 64; c < 128; ++c) profile[c] = 0.3f + 0.01f * static_cast<float>(c);
    const BindContext context{profile.data(), &rope, unit_rotations.data(), nullptr};
    check_turns(formats::TurboQuant<80, 4>::As<Role::kValue>::bind(context));
    check_turns(formats::BalancedKey<64, 4>::As<Role::kKey>::bind(context));
    check_turns(formats::BalancedValue<64, 4>::As<Role::kValue>::bind(context));
    check_turns(formats::Int<20, 4>::As<Role::kValue>::bind(context));
    // A mean that comes back with the weight.
    using Mean =
        formats::RotatedBook<64, 4, Chain<Center, RandomHadamard<>>, ScalePolicy::kUnbiased>;
    check_turns(Mean::As<Role::kValue>::bind(context));
  });
  CHECK(ran >= 1);
}

TEST_CASE("Oaken's bytes at random decode by vectors as by the format") {
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    INFO(std::string(target));
    test::Generator random(23);
    const auto check_damaged = [&]<class F>(F*) {
      INFO(std::string(F::kId.view()));
      const std::vector<float> profile = test::SampleProfile<F>::make();
      const F format = F::bind(BindContext{profile.data(), nullptr, nullptr});
      std::vector<std::uint8_t> block(F::kBlockBytes);
      std::vector<std::uint8_t> shared(F::kSharedBytes + 1);
      std::vector<std::uint8_t> spill(64 * F::kDim);
      for (std::uint32_t round = 0; round < 40; ++round) {
        // Halves of ranges below 2, so that no value is NaN; now and then far too many outliers.
        for (auto* bytes : {&block, &shared, &spill}) {
          for (std::uint8_t& byte : *bytes)
            byte = static_cast<std::uint8_t>(random.below(256) & (bytes == &spill ? 0xffu : 0xbfu));
        }
        for (std::uint32_t i = F::kBlockBytes - F::kOutlierBytes; i < F::kBlockBytes; ++i)
          block[i] = static_cast<std::uint8_t>(random.below(round % 4 == 0 ? 256 : 9));
        const std::uint32_t slot = random.below(64);
        const std::uint32_t n = 1 + random.below(64 - slot);
        const auto most = static_cast<std::uint32_t>(spill.size());
        const BlockBytes bytes{block.data(), shared.data(), spill.data(),
                               random.below(round % 3 == 0 ? 300 : most)};
        std::vector<float> wanted(std::size_t{n} * F::kDim, -1.0f);
        std::vector<float> got = wanted;
        format.decode(bytes, slot, MutableRows{wanted.data(), n, F::kDim});
        TargetKernels::decode(format, bytes, slot, MutableRows{got.data(), n, F::kDim});
        CHECK(std::memcmp(wanted.data(), got.data(), got.size() * sizeof(float)) == 0);
      }
    };
    check_damaged(static_cast<formats::Oaken<128>::As<Role::kKey>*>(nullptr));
    check_damaged(static_cast<formats::OakenAligned<80>::As<Role::kValue>*>(nullptr));
    check_damaged(static_cast<formats::OakenPerHead<39>::As<Role::kKey>*>(nullptr));
    check_damaged(static_cast<formats::OakenNoShift<20>::As<Role::kValue>*>(nullptr));
  });
  CHECK(ran >= 1);
}

TEST_CASE("rows decoded to halves are the decoded floats, rounded") {
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    INFO(std::string(target));
    using F = formats::Int<80, 5>::As<Role::kValue>;
    const F format{};
    std::vector<std::uint8_t> block(F::kBlockBytes);
    std::vector<float> rows(std::size_t{64} * F::kDim);
    test::Generator random(22);
    for (float& x : rows) x = random.next() * 0x1p-12f;  // subnormal halves among them
    SpillWriter none;
    EncodeCounters ignored;
    format.encode(Rows{rows.data(), 64, F::kDim}, 0, nullptr, block.data(), none, ignored);
    const BlockBytes bytes{block.data(), nullptr, nullptr, 0};
    format.decode(bytes, 3, MutableRows{rows.data(), 21, F::kDim});
    std::vector<Half> halves(std::size_t{21} * F::kDim);
    TargetKernels::decode_halves(format, bytes, 3, 21, halves.data());
    std::uint32_t different = 0;
    for (std::size_t i = 0; i < halves.size(); ++i)
      different += halves[i] == to_half(rows[i]) ? 0u : 1u;
    CHECK(different == 0);
  });
  CHECK(ran >= 1);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
