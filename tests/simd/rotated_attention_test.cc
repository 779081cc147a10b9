// Attention over rotated formats with VectorKernels: phase-centred and balanced keys, codebooks, a
// direction, gaps between the positions of a lane. Against the reference on the same bytes.
#include "kvpleat/highway.h"
//
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kvpleat/kvpleat.h"
#include "support/cache_fixture.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 64;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kTokens = 700;

struct Rotated : CacheTraits<kDim> {
  using Kernels = VectorKernels;  // the cache keeps the table of its score offsets
  using Lanes = LaneList<KV<formats::BalancedKey<kDim, 4>, formats::BalancedValue<kDim, 4>>,
                         KV<formats::CodebookKey<kDim, 3>, formats::CodebookValue<kDim, 2>>>;
};
using Cache = KvCache<Rotated>;
struct Plain : Rotated {
  using Kernels = ReferenceKernels;
};
struct RawKeys : CacheTraits<kDim> {
  using Kernels = VectorKernels;
  using Lanes = LaneList<KV<formats::F16<kDim>, formats::Int4<kDim>>>;
};

// Per head: key mean [64], key scales [64], key direction [64] and its step; the values' without
// the mean.
struct RotatedProfiles {
  std::vector<float> balanced_keys, balanced_values, codebook_keys;
  std::vector<LaneProfile> lanes;
  RotatedProfiles() {
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      const std::vector<float> mean = test::normal(50 + h, kDim, 1.5f);
      balanced_keys.insert(balanced_keys.end(), mean.begin(), mean.end());
      codebook_keys.insert(codebook_keys.end(), mean.begin(), mean.end());
      for (std::vector<float>* side : {&balanced_keys, &balanced_values}) {
        for (std::uint32_t c = 0; c < kDim; ++c)
          side->push_back(0.5f + 0.02f * static_cast<float>(c));
        std::vector<float> direction = test::normal(60 + h, kDim);
        float square = 0.0f;
        for (const float x : direction) square += x * x;
        for (const float x : direction) side->push_back(x / std::sqrt(square));
        side->push_back(0.05f);
      }
    }
    lanes.push_back({balanced_keys.data(), balanced_keys.size(), balanced_values.data(),
                     balanced_values.size()});
    lanes.push_back({codebook_keys.data(), codebook_keys.size(), nullptr, 0});
  }
};

struct Difference {
  double error = 0.0;
  double energy = 0.0;
  [[nodiscard]] double relative() const { return std::sqrt(error / energy); }
};

}  // namespace

TEST_CASE("rotated formats: vector kernels agree with the reference") {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.max_tokens = 1000;
  shape.sinks = 3;
  shape.residual = 5;
  const RotatedProfiles profiles;
  const test::Tokens data = test::tokens_of(81, kTokens, kHeads, kDim, 0.3f, -0.4f);
  const std::vector<std::uint8_t> mixed = test::random_tags(7, kTokens, 2);
  // head_dim rotates wholly or in part.
  for (const std::uint32_t dims : {64u, 20u}) {
    shape.rope =
        Rope::standard(dims == 64 ? RopeLayout::kHalves : RopeLayout::kAdjacent, dims, 1e4);
    for (const std::uint8_t* tags : {static_cast<const std::uint8_t*>(nullptr),
                                     static_cast<const std::uint8_t*>(mixed.data())}) {
      auto cache = Cache::create(shape, profiles.lanes.data(), profiles.lanes.size());
      REQUIRE(cache);
      REQUIRE(ok(test::feed(*cache, 0, data, 0, kTokens, 50, tags)));
      for (const std::uint32_t group : {1u, 4u, 7u}) {
        const std::vector<float> queries = test::normal(90 + group, group * kDim);
        AttendReport report;
        AttendArguments a;
        a.queries = queries.data();
        a.group = group;
        a.scale = 0.125f;
        a.report = &report;
        Difference differences[3];
        for (std::uint32_t h = 0; h < kHeads; ++h) {
          std::vector<float> exact(group * kDim);
          REQUIRE(ok(attend<ReferenceKernels>(*cache, 0, h, a, exact.data())));
          for (const Arithmetic arithmetic :
               {Arithmetic::kFast, Arithmetic::kAccurate, Arithmetic::kExact}) {
            std::vector<float> output(group * kDim);
            a.arithmetic = arithmetic;
            a.strict = true;
            REQUIRE(ok(attend<VectorKernels>(*cache, 0, h, a, output.data())));
            CHECK(std::string(report.kernels) == "vector");
            CHECK(report.key[0] == Path::kFused);
            CHECK(report.value[0] == Path::kFused);
            if (tags != nullptr) CHECK(report.key[1] == Path::kFused);
            if (tags != nullptr) CHECK(report.value[1] == Path::kFused);
            Difference& difference = differences[static_cast<int>(arithmetic)];
            for (std::uint32_t i = 0; i < group * kDim; ++i) {
              const double off = static_cast<double>(output[i]) - static_cast<double>(exact[i]);
              difference.error += off * off;
              difference.energy += static_cast<double>(exact[i]) * static_cast<double>(exact[i]);
            }
          }
        }
        CAPTURE(group);
        CAPTURE(dims);
        // Logits have an RMS of about 1 here, so that an output errs by what a score and a sum do,
        // of the part that the codes stand for: .013 and .011 in kFast, 1.6e-4 in kAccurate
        // (levels_test.cc), and by 2e-4 of the offset in both. Measured: .0056, 9.3e-5, 5.5e-7.
        CHECK(differences[0].relative() < 0.015);
        CHECK(differences[1].relative() < 3e-4);
        CHECK(differences[2].relative() < 3e-6);
      }
    }
  }
}

TEST_CASE(
    "a cache of other kernels has no table of offsets: right, reported, refused when strict") {
  const RotatedProfiles profiles;
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.max_tokens = kTokens;
  shape.rope = Rope::standard(RopeLayout::kHalves, kDim, 10000.0);
  auto with = Cache::create(shape, profiles.lanes.data(), profiles.lanes.size());
  auto without = KvCache<Plain>::create(shape, profiles.lanes.data(), profiles.lanes.size());
  REQUIRE(with);
  REQUIRE(without);
  const test::Tokens data = test::tokens_of(7, kTokens, kHeads, kDim);
  REQUIRE(ok(test::feed(*with, 0, data, 0, kTokens, 50)));
  REQUIRE(ok(test::feed(*without, 0, data, 0, kTokens, 50)));
  CHECK(with->memory().profile > without->memory().profile);
  const std::vector<float> queries = test::normal(91, kDim);
  AttendReport report;
  AttendArguments a;
  a.queries = queries.data();
  a.scale = 0.125f;
  a.report = &report;
  a.arithmetic = Arithmetic::kExact;
  float wanted[kDim];
  float got[kDim];
  REQUIRE(ok(attend<VectorKernels>(*with, 0, 0, a, wanted)));
  CHECK(report.key[0] == Path::kFused);
  REQUIRE(ok(attend<VectorKernels>(*without, 0, 0, a, got)));
  CHECK(report.key[0] == Path::kDecode);
  CHECK(report.value[0] == Path::kFused);
  // Both offsets are floats; the reference's own differ by 1e-6 of the term.
  for (std::uint32_t c = 0; c < kDim; ++c) CHECK(std::fabs(got[c] - wanted[c]) <= 1e-4f);
  a.strict = true;
  CHECK(attend<VectorKernels>(*without, 0, 0, a, got) == Status::kUnsupported);
  CHECK(ok(attend<ReferenceKernels>(*without, 0, 0, a, got)));
}

TEST_CASE("coded values of raw keys: a query as if it were alone, to the bit") {
  CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = kHeads;
  shape.max_tokens = 3000;
  auto cache = KvCache<RawKeys>::create(shape);
  REQUIRE(cache);
  REQUIRE(ok(test::feed(*cache, 0, test::tokens_of(5, 3000, kHeads, kDim), 0, 3000, 500)));
  const std::vector<float> queries = test::normal(6, 9 * kDim);
  AttendArguments a;
  a.queries = queries.data();
  a.group = 9;
  a.scale = 0.125f;
  for (const Arithmetic arithmetic :
       {Arithmetic::kFast, Arithmetic::kAccurate, Arithmetic::kExact}) {
    a.arithmetic = arithmetic;
    std::vector<float> all(9 * kDim);
    REQUIRE(ok(attend(*cache, 0, 1, a, all.data())));
    for (std::uint32_t q = 0; q < 9; ++q) {
      AttendArguments one = a;
      one.group = 1;
      one.queries = queries.data() + q * kDim;
      std::vector<float> alone(kDim);
      REQUIRE(ok(attend(*cache, 0, 1, one, alone.data())));
      CHECK(std::memcmp(alone.data(), all.data() + q * kDim, kDim * sizeof(float)) == 0);
    }
  }
}
