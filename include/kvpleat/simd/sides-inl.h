// What is stored of a group, in lanes.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_SIDES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_SIDES_INL_H_
#undef KVPLEAT_SIMD_SIDES_INL_H_
#else
#define KVPLEAT_SIMD_SIDES_INL_H_
#endif

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// kLanes scales: value = (code - zero) * step + low.
struct Sides {
  LaneTools::F32 step;
  LaneTools::F32 low;
};

struct SideReader {
  using L = LaneTools;
  const abi::TileView& view;
  std::uint32_t bytes;  // of a stored value
  bool usual;           // halves, a step and a low: what most formats store

  explicit HWY_INLINE SideReader(const abi::TileView& of)
      : view(of),
        bytes(L::side_bytes(of.side)),
        usual(of.side == abi::Side::kHalf && of.fields == 2 && !of.zero_stored) {}

  // at: the first field; the second is `next` bytes further.
  [[nodiscard]] HWY_INLINE Sides load(const std::uint8_t* at, std::uint32_t next) const {
    if (HWY_LIKELY(usual)) return {L::load_half(at), L::load_half(at + next)};
    Sides sides{L::set_f32(1.0f), L::zero_f32()};
    if (view.fields > 0) sides.step = L::load_side(view.side, at);
    if (view.fields == 2) {
      sides.low = L::load_side(view.side, at + next);
      if (view.zero_stored) sides.low = L::neg_mul_add(sides.low, sides.step, L::zero_f32());
    }
    return sides;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
