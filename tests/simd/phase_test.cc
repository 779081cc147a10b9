// The phase-centred forward on every target against PhaseCenter.
#include "kvpleat/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_TARGET_INCLUDE "simd/phase_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their header must be seen once per target.
#include "kvpleat/simd/phase-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// False: a target without vectors, where the transform's own functions are used.
bool phase_rows(const abi::PhaseArguments& arguments) {
#if KVPLEAT_VECTOR_CODECS
  PhaseRows::run(arguments);
  return true;
#else
  static_cast<void>(arguments);
  return false;
#endif
}

void fill_angles(const std::uint64_t* turns, std::uint32_t pairs, const abi::PhaseAngles& to) {
#if KVPLEAT_VECTOR_CODECS
  PhaseRows::fill(turns, pairs, to);
#else
  static_cast<void>(turns);
  static_cast<void>(pairs);
  static_cast<void>(to);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <doctest/doctest.h>
#include <hwy/aligned_allocator.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kvpleat/transform/center.h"
#include "support/generator.h"
#include "support/simd_targets.h"

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(phase_rows);
HWY_EXPORT(fill_angles);

namespace {

template <std::uint32_t kDim>
void check(test::Generator& random, RopeLayout layout, std::uint32_t rotated) {
  INFO("dim " << kDim << ", rotated " << rotated);
  Rope rope = Rope::standard(layout, rotated, 10000.0);
  // Phases on and beside the ends of octants as well: pair 0 turns by eighths.
  rope.turns[0] = std::uint64_t{1} << 61;
  if (rotated > 2) rope.turns[1] = (std::uint64_t{1} << 61) + (std::uint64_t{1} << 29);
  constexpr std::uint32_t kCount = 20;
  constexpr std::size_t kStride = kDim + 1;
  std::vector<float> rows(kCount * kStride);
  std::vector<float> mean(kDim);
  PhaseCenter center;
  center.mean = mean.data();
  center.rope = &rope;
  for (const std::int64_t position :
       {std::int64_t{0}, std::int64_t{7}, std::int64_t{123456789}, std::int64_t{1} << 40}) {
    for (float& x : rows) x = random.next() * 3.0f;
    for (float& x : mean) x = random.below(5) == 0 ? 0.0f : random.next() * 10.0f;
    for (const bool restore : {false, true}) {
      std::vector<float> wanted(rows);
      for (std::uint32_t t = 0; t < kCount; ++t) {
        const float* row = rows.data() + t * kStride;
        float* to = wanted.data() + t * kStride;
        if (restore) {
          center.restore<kDim>(row, 1.0f, position + t, to);
        } else {
          center.forward<kDim>(row, position + t, to);
        }
      }
      // Angles that were computed before, of more positions than these.
      const std::uint32_t stride = round_up(upper_of(rotated / 2, 1u), 16u);
      hwy::AlignedFreeUniquePtr<float[]> floats =
          hwy::AllocateAligned<float>(std::size_t{2} * (kCount + 5) * stride);
      const abi::PhaseAngles angles{position - 3, kCount + 5, stride, floats.get(),
                                    floats.get() + std::size_t{kCount + 5} * stride};
      HWY_DYNAMIC_DISPATCH(fill_angles)(rope.turns.data(), rotated / 2, angles);
      for (const std::uint32_t kind : {0u, 1u, 2u, 3u}) {
        const bool in_place = kind % 2 != 0;
        std::vector<float> got(rows);
        const abi::PhaseArguments arguments{in_place ? got.data() : rows.data(),
                                            kStride,
                                            kCount,
                                            kDim,
                                            position,
                                            mean.data(),
                                            rope.turns.data(),
                                            rotated,
                                            layout == RopeLayout::kHalves,
                                            restore,
                                            kind < 2 ? nullptr : &angles,
                                            got.data(),
                                            kStride};
        if (!HWY_DYNAMIC_DISPATCH(phase_rows)(arguments)) return;
        CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0);
      }
    }
  }
}

}  // namespace

TEST_CASE("the phase-centred forward by vectors: the transform's own floats, to the bit") {
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    INFO(std::string(target));
    test::Generator random(14);
    for (const RopeLayout layout : {RopeLayout::kHalves, RopeLayout::kAdjacent}) {
      check<128>(random, layout, 128);
      check<80>(random, layout, 32);
      check<20>(random, layout, 20);
      check<576>(random, layout, 576);
      check<5>(random, layout, 2);
      check<17>(random, layout, 0);
    }
  });
  CHECK(ran >= 1);
}

TEST_CASE("the phase-centred forward by vectors: every phase") {
  // One pair, its phase stepping through the circle: all quadrants, octants and roundings.
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    INFO(std::string(target));
    Rope rope;
    rope.dims = 2;
    rope.turns[0] = 0x9e3779b97f4a7c15u;
    const float mean[2] = {1.5f, -0.25f};
    PhaseCenter center;
    center.mean = mean;
    center.rope = &rope;
    std::uint32_t different = 0;
    const std::vector<float> rows(2000);
    for (std::int64_t position = 0; position < 100000; position += 1000) {
      std::vector<float> got(2000);
      const abi::PhaseArguments arguments{
          rows.data(), 2,     1000,  2,       position,   mean, rope.turns.data(),
          2,           false, false, nullptr, got.data(), 2};
      if (!HWY_DYNAMIC_DISPATCH(phase_rows)(arguments)) return;
      for (std::uint32_t t = 0; t < 1000; ++t) {
        float wanted[2];
        center.forward<2>(rows.data() + 2 * t, position + t, wanted);
        different += std::memcmp(wanted, got.data() + 2 * t, sizeof wanted) != 0 ? 1u : 0u;
      }
    }
    CHECK(different == 0);
  });
  CHECK(ran >= 1);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
