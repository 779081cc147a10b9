// The Hadamard transform on every target against transform/hadamard.h.
#include "kvpleat/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_TARGET_INCLUDE "simd/hadamard_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their header must be seen once per target.
#include "kvpleat/simd/hadamard-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// False: a target without vectors, where the transform's own functions are used.
bool hadamard_rows(const abi::HadamardArguments& arguments) {
#if KVPLEAT_VECTOR_CODECS
  HadamardRows::run(arguments);
  return true;
#else
  static_cast<void>(arguments);
  return false;
#endif
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

#include "kvpleat/transform/balance.h"
#include "kvpleat/transform/chain.h"
#include "kvpleat/transform/hadamard.h"
#include "support/generator.h"
#include "support/simd_targets.h"

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(hadamard_rows);

namespace {

template <std::uint32_t kDim>
void check(test::Generator& random) {
  INFO("dim " << kDim);
  using Transform = RandomHadamard<5>;
  using Balanced = Chain<Balance, Transform>;
  constexpr std::uint32_t kCount = 5;
  constexpr std::size_t kStride = kDim + 1;
  std::vector<float> rows(kCount * kStride);
  for (std::uint32_t round = 0; round < 12; ++round) {
    const float size = round % 4 == 0   ? 1.0f
                       : round % 4 == 1 ? 0x1p100f
                       : round % 4 == 2 ? 0x1p-120f
                                        : 100.0f;
    for (float& x : rows) x = random.next() * size;
    if (round % 3 == 2) {  // zeros of both signs, and sums that vanish
      for (float& x : rows)
        x = static_cast<float>(static_cast<int>(random.below(3)) - 1) *
            (random.below(2) != 0 ? size : 0.0f);
    }
    // Scales of a profile: any of a wide range, some zero.
    std::vector<float> scale(kDim);
    for (float& x : scale) x = random.below(7) == 0 ? 0.0f : std::exp2(random.next() * 8.0f);
    for (const std::uint32_t kind : {0u, 1u, 2u, 3u}) {
      const bool restore = kind % 2 != 0;
      Balanced transform;
      transform.first.scale = kind < 2 ? nullptr : scale.data();
      std::vector<float> wanted(rows);
      for (std::uint32_t t = 0; t < kCount; ++t) {
        if (restore) {
          transform.template restore<kDim>(rows.data() + t * kStride, 1.0f, 0,
                                           wanted.data() + t * kStride);
        } else {
          transform.template forward<kDim>(rows.data() + t * kStride, 0,
                                           wanted.data() + t * kStride);
        }
      }
      // To another place, and in place.
      for (const bool in_place : {false, true}) {
        std::vector<float> got(rows);
        const abi::HadamardArguments arguments{in_place ? got.data() : rows.data(),
                                               kStride,
                                               kCount,
                                               kDim,
                                               Transform::kSigns<kDim>.data(),
                                               transform.first.scale,
                                               restore,
                                               got.data(),
                                               kStride};
        if (!HWY_DYNAMIC_DISPATCH(hadamard_rows)(arguments)) return;
        CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0);
      }
    }
  }
}

}  // namespace

TEST_CASE("the Hadamard transform by vectors: the transform's own floats, to the bit") {
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    INFO(std::string(target));
    test::Generator random(13);
    check<128>(random);
    check<64>(random);
    check<80>(random);
    check<96>(random);
    check<256>(random);
    check<576>(random);
    check<20>(random);
    check<1>(random);
    check<39>(random);
  });
  CHECK(ran >= 1);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
