// Queries as kernels of tiles read them.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_QUERY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_QUERY_INL_H_
#undef KVPLEAT_SIMD_QUERY_INL_H_
#else
#define KVPLEAT_SIMD_QUERY_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/work.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// A row of floats in 8-bit planes. One plane: value = unit * code, |code| <= 127. Two planes:
// value = unit * (128 * high + low), -128 <= high <= 127, 0 <= low <= 127. Rounded to nearest: the
// error is at most unit / 2.
struct RowPlanes {
  using L = LaneTools;
  using F32 = L::F32;
  using I32 = L::I32;

  // The largest code.
  static constexpr float top(std::uint32_t planes) { return planes == 1 ? 127.0f : 16383.0f; }

  // A row whose largest magnitude is below 2^-114 counts as zero: 127 divided by it would not do.
  static HWY_INLINE float unit_of(float largest, std::uint32_t planes) {
    return largest < 0x1p-114f ? 0.0f : largest * (1.0f / top(planes));
  }
  static HWY_INLINE float factor_of(float largest, std::uint32_t planes) {
    return largest < 0x1p-114f ? 0.0f : top(planes) / largest;
  }
  // The same for a largest code of 1.
  static HWY_INLINE float factor_of(float largest) {
    return largest < 0x1p-114f ? 0.0f : 1.0f / largest;
  }
  // Four registers of codes, in planes that lie `stride` apart.
  static HWY_INLINE void store(const I32 (&codes)[4], std::uint32_t planes, std::uint32_t stride,
                               std::uint8_t* at) {
    if (planes == 1) {
      L::store_s8_of4(at, codes);
      return;
    }
    I32 high[4];
    I32 low[4];
    KVPLEAT_UNROLL for (std::uint32_t k = 0; k < 4; ++k) {
      high[k] = L::shift_right<7>(codes[k]);
      low[k] = L::and_(codes[k], L::set_i32(127));
    }
    L::store_s8_of4(at, high);
    L::store_s8_of4(at + stride, low);
  }
  // Codes of kLanes values, in planes that lie `stride` apart; adds the codes to a sum.
  static HWY_INLINE void put(F32 value, F32 factor, std::uint32_t planes, std::uint32_t stride,
                             std::uint8_t* at, I32& sum) {
    const I32 code = L::nearest_i32(L::mul(value, factor));
    sum = L::add(sum, code);
    if (planes == 1) {
      L::store_s8(at, code);
    } else {
      L::store_s8(at, L::shift_right<7>(code));
      L::store_s8(at + stride, L::and_(code, L::set_i32(127)));
    }
  }
};

// What prepare writes and score reads.
struct QueryWork {
  using L = LaneTools;

  static void prepare(const abi::TileView& view, float centre, const abi::PrepareArguments& a) {
    const WorkLayout layout(view);
    for (std::uint32_t j = 0; j < a.query_count; ++j) {
      const float* query = a.queries + static_cast<std::size_t>(j) * view.dim;
      // Zeros behind the last channel meet the padding of the tile.
      float* padded = reinterpret_cast<float*>(a.work + layout.floats(j));
      std::memcpy(padded, query, view.dim * sizeof(float));
      std::memset(padded + view.dim, 0, (layout.stride - view.dim) * sizeof(float));
      if (view.seal == 1) groups(view, layout, centre, a, j, padded);
      if (layout.tables) table(view, layout, a, j, padded);
    }
  }

  // Channels [begin, end) of a padded query in planes; end is a multiple of 4 at least.
  static void planes(const float* padded, std::uint32_t begin, std::uint32_t end,
                     std::uint32_t planes, std::uint32_t stride, std::uint8_t* rows, float* unit,
                     std::int32_t* sum) {
    L::F32 top = L::zero_f32();
    for (std::uint32_t c = begin; c < end; c += L::kLanes)
      top = L::upper(top, L::abs(L::load_first_f32(padded + c, end - c)));
    const float largest = L::reduce_max(top);
    const L::F32 factor = L::set_f32(RowPlanes::factor_of(largest, planes));
    L::I32 sums = L::zero_i32();
    for (std::uint32_t c = begin; c < end; c += L::kLanes)
      RowPlanes::put(L::load_first_f32(padded + c, end - c), factor, planes, stride, rows + c,
                     sums);
    *unit = RowPlanes::unit_of(largest, planes);
    *sum = L::reduce_add(sums);
  }

 private:
  // For every group of channels g:
  //   q . x = sum over g of step[g] * (unit[g] * (row . codes) + bias[g]) + low[g] * total[g]
  static void groups(const abi::TileView& view, const WorkLayout& layout, float centre,
                     const abi::PrepareArguments& a, std::uint32_t j, const float* padded) {
    const std::uint32_t planes_count = a.arithmetic == abi::Arithmetic::kAccurate ? 2 : 1;
    std::uint8_t* rows = a.work + layout.rows(j, planes_count);
    std::memset(rows, 0, static_cast<std::size_t>(layout.stride) * planes_count);
    auto* unit = reinterpret_cast<float*>(a.work + layout.groups(j));
    float* bias = unit + layout.padded_groups;
    float* total = bias + layout.padded_groups;
    for (std::uint32_t g = 0; g < view.groups; ++g) {
      const std::uint32_t begin = g * view.group_channels;
      const std::uint32_t end = lower_of(begin + view.group_channels, view.dim);
      total[g] = sum_of(padded + begin, end - begin);
      const float about_zero = (centre - view.zero) * total[g];
      if (a.arithmetic == abi::Arithmetic::kExact) {
        unit[g] = 1.0f;
        bias[g] = about_zero;
        continue;
      }
      std::int32_t sum = 0;
      planes(padded, begin, end, planes_count, layout.stride, rows, &unit[g], &sum);
      bias[g] = about_zero - unit[g] * (centre * static_cast<float>(sum));
    }
  }
  static float sum_of(const float* values, std::uint32_t n) {
    double sum = 0.0;
    for (std::uint32_t i = 0; i < n; ++i) sum += static_cast<double>(values[i]);
    return static_cast<float>(sum);
  }
  // The whole query in one scale, biased by 128: what inline slots look up.
  static void table(const abi::TileView& view, const WorkLayout& layout,
                    const abi::PrepareArguments& a, std::uint32_t j, const float* padded) {
    constexpr std::uint32_t kStride = 256;
    std::uint8_t* bytes = a.work + layout.table(j);
    std::memset(bytes, 0, WorkLayout::kTableBytes);
    std::int32_t sum = 0;
    planes(padded, 0, view.dim, a.arithmetic == abi::Arithmetic::kAccurate ? 2 : 1, kStride, bytes,
           reinterpret_cast<float*>(a.work + layout.table_unit(j)), &sum);
    for (std::uint32_t i = 0; i < WorkLayout::kTableBytes; ++i)
      bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ 0x80u);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
