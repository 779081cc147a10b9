// What inline outlier slots (codec/slots.h) add to scores and sums.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_SLOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_SLOTS_INL_H_
#undef KVPLEAT_SIMD_SLOTS_INL_H_
#else
#define KVPLEAT_SIMD_SLOTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/work.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

struct InlineSlots {
  using L = LaneTools;
  using F32 = L::F32;
  using I32 = L::I32;
  using B8 = L::B8;

  // scores[16 * i + t] += scale[t] * sum over slots of q[index] * delta, for units [unit, end_unit)
  // of 16 tokens. Indices of one byte: four slots of 16 tokens at once, by a lookup in the 8-bit
  // query (kPlanes planes) and a dot product; else, and in floats, one by one.
  template <std::uint32_t kPlanes>
  static void score(const abi::TileView& view, const WorkLayout& layout,
                    const abi::ScoreArguments& a, const std::uint8_t* block, std::uint32_t unit,
                    std::uint32_t end_unit, std::uint32_t j, float* scores) {
    for (std::uint32_t u = unit; u < end_unit; ++u, scores += 16) {
      const Unit at(view, block, u);
      if constexpr (kPlanes > 0) {
        if (layout.tables) {
          lookup<kPlanes>(view, layout, a, at, j, scores);
          continue;
        }
      }
      const auto* query = reinterpret_cast<const float*>(a.work + layout.floats(j));
      for (std::uint32_t t = 0; t < 16; ++t) {
        float sum = 0.0f;
        for (std::uint32_t i = 0; i < view.slots; ++i) {
          const std::int32_t delta = at.delta(i, t);
          const std::uint32_t channel = at.channel(i, t);
          if (delta != 0 && channel < view.dim) sum += query[channel] * static_cast<float>(delta);
        }
        scores[t] += sum * at.scale(t);
      }
    }
  }

  // sums[j * dim + index] += weight * scale[t] * delta, for slots [slot, slot + count) of a block,
  // whose weights begin at `weights`. One read of a slot serves all queries.
  static void accumulate(const abi::TileView& view, const abi::AccumulateArguments& a,
                         const std::uint8_t* block, std::uint32_t slot, std::uint32_t count,
                         const float* weights) {
    for (std::uint32_t t = 0; t < count; ++t) {
      const Unit at(view, block, (slot + t) / 16);
      const std::uint32_t lane = (slot + t) % 16;
      float shares[abi::kMaxQueries];
      bool any = false;
      for (std::uint32_t j = 0; j < a.query_count; ++j) {
        const float weight = weights[static_cast<std::size_t>(j) * a.stride + t];
        shares[j] = weight * at.scale(lane);
        any = any || weight != 0.0f;
      }
      if (!any) continue;
      for (std::uint32_t i = 0; i < view.slots; ++i) {
        const std::int32_t delta = at.delta(i, lane);
        const std::uint32_t channel = at.channel(i, lane);
        if (delta == 0 || channel >= view.dim) continue;
        float* sum = a.sums + channel;
        for (std::uint32_t j = 0; j < a.query_count; ++j, sum += view.dim)
          *sum += shares[j] * static_cast<float>(delta);
      }
    }
  }

 private:
  // The slots of 16 tokens: indices, deltas, scales.
  struct Unit {
    const std::uint8_t* indices;
    const std::uint8_t* deltas;
    const std::uint8_t* scales;
    std::uint32_t index_bytes;

    Unit(const abi::TileView& view, const std::uint8_t* block, std::uint32_t unit)
        : indices(block + view.slots_at +
                  static_cast<std::size_t>(unit) * 16 * (view.slots * (view.index_bytes + 1) + 2)),
          deltas(indices + 16 * view.slots * view.index_bytes),
          scales(deltas + 16 * view.slots),
          index_bytes(view.index_bytes) {}
    [[nodiscard]] std::int32_t delta(std::uint32_t i, std::uint32_t t) const {
      return static_cast<std::int8_t>(deltas[place(i, t)]);
    }
    [[nodiscard]] std::uint32_t channel(std::uint32_t i, std::uint32_t t) const {
      const std::uint8_t* at = indices + place(i, t) * index_bytes;
      return index_bytes == 1 ? at[0] : at[0] | static_cast<std::uint32_t>(at[1]) << 8;
    }
    [[nodiscard]] float scale(std::uint32_t t) const {
      return to_float(load<Half>(scales + 2 * t));
    }
    static std::uint32_t place(std::uint32_t i, std::uint32_t t) {
      return (i / 4 * 16 + t) * 4 + i % 4;
    }
  };

  template <std::uint32_t kPlanes>
  static void lookup(const abi::TileView& view, const WorkLayout& layout,
                     const abi::ScoreArguments& a, const Unit& at, std::uint32_t j, float* scores) {
    const std::uint8_t* table = a.work + layout.table(j);
    const float unit = load<float>(a.work + layout.table_unit(j));
    for (std::uint32_t p = 0; p < L::kParts; ++p) {
      // The table is biased by 128, which the sum of the deltas takes back.
      I32 bias = L::zero_i32();
      I32 sums[kPlanes];
      KVPLEAT_UNROLL for (std::uint32_t k = 0; k < kPlanes; ++k) sums[k] = L::zero_i32();
      for (std::uint32_t i = 0; i < view.slots / 4; ++i) {
        const B8 index = L::load_b8(at.indices + i * 64 + p * L::kBytes);
        const B8 delta = L::load_b8(at.deltas + i * 64 + p * L::kBytes);
        bias = L::dot_u8s8(bias, L::set_byte(128), delta);
        KVPLEAT_UNROLL for (std::uint32_t k = 0; k < kPlanes; ++k) {
          B8 found = L::lookup128(L::load_table128(table + 256 * k), index);
          if (view.dim > 128) {
            found = L::select_high(
                index, L::lookup128(L::load_table128(table + 256 * k + 128), index), found);
          }
          sums[k] = L::dot_u8s8(sums[k], found, delta);
        }
      }
      F32 sum = L::to_f32(L::sub(sums[0], bias));
      if constexpr (kPlanes == 2)
        sum = L::mul_add(sum, L::set_f32(128.0f), L::to_f32(L::sub(sums[1], bias)));
      const F32 scale = L::mul(L::load_half(at.scales + 2 * p * L::kLanes), L::set_f32(unit));
      float* to = scores + p * L::kLanes;
      L::store_f32(to, L::mul_add(scale, sum, L::load_f32(to)));
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
