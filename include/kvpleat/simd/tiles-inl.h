// TileKernels: kernels of formats that a TileView describes.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_TILES_INL_H_
#undef KVPLEAT_SIMD_TILES_INL_H_
#else
#define KVPLEAT_SIMD_TILES_INL_H_
#endif

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/accumulate-inl.h"
#include "kvpleat/simd/codes-inl.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/query-inl.h"
#include "kvpleat/simd/score-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// Uniform codes. The forms with kBits compile one width; the others hold all.
struct TileKernels {
  static void prepare(const abi::TileView& view, const abi::PrepareArguments& a) {
    QueryWork::prepare(view, static_cast<float>((1u << view.bits) - 1u) * 0.5f, a);
  }
  template <std::uint32_t kBits>
  static void score_bits(const abi::TileView& view, const abi::ScoreArguments& a) {
    TileScore::score(view, a, kKernels<kBits>);
  }
  template <std::uint32_t kBits>
  static void accumulate_bits(const abi::TileView& view, const abi::AccumulateArguments& a) {
    TileAccumulate::accumulate(view, a, kKernels<kBits>);
  }
  static void score(const abi::TileView& view, const abi::ScoreArguments& a) {
    TileScore::score(view, a, kernels_of(view.bits));
  }
  static void accumulate(const abi::TileView& view, const abi::AccumulateArguments& a) {
    TileAccumulate::accumulate(view, a, kernels_of(view.bits));
  }

 private:
  template <std::uint32_t kBits>
  static constexpr CodeKernels kKernels = CodeKernels::of<UniformCodes<kBits>>();

  static const CodeKernels& kernels_of(std::uint32_t bits) {
    static constexpr const CodeKernels* kAll[8] = {&kKernels<1>, &kKernels<2>, &kKernels<3>,
                                                   &kKernels<4>, &kKernels<5>, &kKernels<6>,
                                                   &kKernels<7>, &kKernels<8>};
    return *kAll[bits - 1];
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
