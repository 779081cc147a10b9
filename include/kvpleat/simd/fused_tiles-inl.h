// FusedTiles: kernels of every format that a TileView describes: uniform codes or levels, inline
// slots, a direction beside the tile.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_FUSED_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_FUSED_TILES_INL_H_
#undef KVPLEAT_SIMD_FUSED_TILES_INL_H_
#else
#define KVPLEAT_SIMD_FUSED_TILES_INL_H_
#endif

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/direction-inl.h"
#include "kvpleat/simd/levels-inl.h"
#include "kvpleat/simd/tiles-inl.h"
#include "kvpleat/simd/views.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

struct FusedTiles {
  // Any view: holds the kernels of all widths.
  static void prepare(const abi::TileView& view, const abi::PrepareArguments& a) {
    view.levels != nullptr ? LevelKernels::prepare(view, a) : TileKernels::prepare(view, a);
  }
  static void score(const abi::TileView& view, const abi::ScoreArguments& a) {
    view.levels != nullptr ? LevelKernels::score(view, a) : TileKernels::score(view, a);
    Direction::score(view, a);
  }
  static void accumulate(const abi::TileView& view, const abi::AccumulateArguments& a) {
    view.levels != nullptr ? LevelKernels::accumulate(view, a) : TileKernels::accumulate(view, a);
    Direction::accumulate(view, a);
  }

  // A format: holds its kernels only.
  template <TileFormat F>
  static void prepare_of(const F& format, const abi::PrepareArguments& a) {
    if constexpr (views::Tile<F>::Meaning::kLevels) {
      LevelKernels::prepare(tile_view(format), a);
    } else {
      TileKernels::prepare(tile_view(format), a);
    }
  }
  template <TileFormat F>
  static void score_of(const F& format, const abi::ScoreArguments& a) {
    constexpr std::uint32_t kBits = views::Tile<F>::kShape.bits;
    const abi::TileView view = tile_view(format);
    if constexpr (views::Tile<F>::Meaning::kLevels) {
      LevelKernels::score_bits<kBits>(view, a);
    } else {
      TileKernels::score_bits<kBits>(view, a);
    }
    if constexpr (views::Tile<F>::kHasDirection) Direction::score(view, a);
  }
  template <TileFormat F>
  static void accumulate_of(const F& format, const abi::AccumulateArguments& a) {
    constexpr std::uint32_t kBits = views::Tile<F>::kShape.bits;
    const abi::TileView view = tile_view(format);
    if constexpr (views::Tile<F>::Meaning::kLevels) {
      LevelKernels::accumulate_bits<kBits>(view, a);
    } else {
      TileKernels::accumulate_bits<kBits>(view, a);
    }
    if constexpr (views::Tile<F>::kHasDirection) Direction::accumulate(view, a);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
