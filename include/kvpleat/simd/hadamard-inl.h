// The Hadamard transform on vectors, equal to transform/hadamard.h to the bit: its stages in its
// order, since every sum is rounded.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/encode_ops-inl.h"
#include "kvpleat/transform/hadamard.h"

#if defined(KVPLEAT_SIMD_HADAMARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_HADAMARD_INL_H_
#undef KVPLEAT_SIMD_HADAMARD_INL_H_
#else
#define KVPLEAT_SIMD_HADAMARD_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

#if KVPLEAT_VECTOR_CODECS

struct HadamardRows {
  using O = CodecOps;

  static void run(const abi::HadamardArguments& a) {
    if (a.scale == nullptr) return rows<false>(a, a.signs);
    // Both at once: a sign is exact.
    const O::F f32;
    alignas(64) float scale[592];
    std::uint32_t c = 0;
    for (; c + O::kLanes <= a.dim; c += O::kLanes) {
      O::VF x = hn::LoadU(f32, a.scale + c);
      x = hn::IfThenElse(hn::Gt(x, hn::Zero(f32)), x, hn::Set(f32, 1.0f));
      hn::Store(hn::Mul(x, hn::LoadU(f32, a.signs + c)), f32, scale + c);
    }
    for (; c < a.dim; ++c) scale[c] = a.scale[c] > 0.0f ? a.scale[c] * a.signs[c] : a.signs[c];
    rows<true>(a, scale);
  }

 private:
  static constexpr std::uint32_t kMost = 8;  // registers of a part: leaves room for the constants

  // scale: signs, or what rows are divided by before and multiplied with after.
  template <bool kScaled>
  static HWY_INLINE void rows(const abi::HadamardArguments& a, const float* scale) {
    std::uint32_t t = 0;
    if constexpr (O::kLanes == 16) {
      // Two rows at a time: the stages of one row wait for each other.
      const float root = inverse_root(kMost * O::kLanes);
      for (; a.dim == kMost * O::kLanes && t + 2 <= a.count; t += 2) {
        const float* from = a.rows + t * a.stride;
        float* to = a.to + t * a.to_stride;
        if (a.restore) {
          part<kMost, true, kScaled, true, 2>(from, scale, root, to, a.stride, a.to_stride);
        } else {
          part<kMost, false, kScaled, true, 2>(from, scale, root, to, a.stride, a.to_stride);
        }
      }
    }
    for (; t < a.count; ++t) {
      const float* from = a.rows + t * a.stride;
      float* to = a.to + t * a.to_stride;
      std::uint32_t at = 0;
      for (std::uint32_t rest = a.dim; rest > 0; rest = a.dim - at) {
        const std::uint32_t n = std::bit_floor(rest);
        if (a.restore) {
          block<true, kScaled>(from + at, scale + at, n, to + at);
        } else {
          block<false, kScaled>(from + at, scale + at, n, to + at);
        }
        at += n;
      }
    }
  }
  // n is a power of two.
  template <bool kRestore, bool kScaled>
  static HWY_INLINE void block(const float* from, const float* scale, std::uint32_t n, float* to) {
    const float factor = inverse_root(n);
    switch (n / O::kLanes) {
      case 0:
        return small<kRestore, kScaled>(from, scale, n, to);
      case 1:
        return part<1, kRestore, kScaled, true>(from, scale, factor, to);
      case 2:
        return part<2, kRestore, kScaled, true>(from, scale, factor, to);
      case 4:
        return part<4, kRestore, kScaled, true>(from, scale, factor, to);
      case kMost:
        return part<kMost, kRestore, kScaled, true>(from, scale, factor, to);
      default:
        return parts<kRestore, kScaled>(from, scale, n, factor, to);
    }
  }
  template <bool kRestore, bool kScaled>
  static HWY_INLINE void small(const float* from, const float* scale, std::uint32_t n, float* to) {
    for (std::uint32_t i = 0; i < n; ++i)
      to[i] = kRestore ? from[i] : kScaled ? from[i] / scale[i] : from[i] * scale[i];
    hadamard_in_place(to, n);
    for (std::uint32_t i = 0; kRestore && i < n; ++i) to[i] = product(to[i], scale[i]);
  }
  // Parts in registers, then the longer distances through memory.
  template <bool kRestore, bool kScaled>
  static HWY_INLINE void parts(const float* from, const float* scale, std::uint32_t n, float root,
                               float* to) {
    const O::F f32;
    constexpr std::uint32_t kPart = kMost * O::kLanes;
    for (std::uint32_t i = 0; i < n; i += kPart)
      part<kMost, kRestore, kScaled, false>(from + i, scale + i, root, to + i);
    const O::VF factor = hn::Set(f32, root);
    for (std::uint32_t half = kPart; half < n; half *= 2) {
      const bool last = 2 * half == n;
      for (std::uint32_t base = 0; base < n; base += 2 * half) {
        for (std::uint32_t i = base; i < base + half; i += O::kLanes) {
          const O::VF a = hn::LoadU(f32, to + i);
          const O::VF b = hn::LoadU(f32, to + i + half);
          O::VF sum = hn::Add(a, b);
          O::VF difference = hn::Sub(a, b);
          if (last) {
            sum = finish<kRestore>(sum, factor, scale + i);
            difference = finish<kRestore>(difference, factor, scale + i + half);
          }
          hn::StoreU(sum, f32, to + i);
          hn::StoreU(difference, f32, to + i + half);
        }
      }
    }
  }
  // Rounded products.
  template <bool kRestore>
  static HWY_INLINE O::VF finish(O::VF v, O::VF factor, const float* scale) {
    v = O::rounded(hn::Mul(v, factor));
    return kRestore ? hn::Mul(v, hn::LoadU(O::F(), scale)) : v;
  }
  // kVectors registers of each row, all stages inside them.
  template <std::uint32_t kVectors, bool kRestore, bool kScaled, bool kLast,
            std::uint32_t kRows = 1>
  static HWY_INLINE void part(const float* from, const float* scale, float root, float* to,
                              std::size_t stride = 0, std::size_t to_stride = 0) {
    const O::F f32;
    O::VF v[kVectors * kRows];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kVectors * kRows; ++i) {
      v[i] = hn::LoadU(f32, from + i / kVectors * stride + i % kVectors * O::kLanes);
      if (kRestore) continue;
      const O::VF x = hn::LoadU(f32, scale + i % kVectors * O::kLanes);
      v[i] = kScaled ? O::rounded(hn::Div(v[i], x)) : hn::Mul(v[i], x);
    }
    inside<1>(v);
    inside<2>(v);
    if constexpr (O::kLanes > 4) inside<4>(v);
    if constexpr (O::kLanes > 8) inside<8>(v);
    between<1, kVectors>(v);
    if constexpr (kVectors > 2) between<2, kVectors>(v);
    if constexpr (kVectors > 4) between<4, kVectors>(v);
    const O::VF factor = hn::Set(f32, root);
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kVectors * kRows; ++i) {
      const std::uint32_t at = i % kVectors * O::kLanes;
      if (kLast) v[i] = finish<kRestore>(v[i], factor, scale + at);
      hn::StoreU(v[i], f32, to + i / kVectors * to_stride + at);
    }
  }
  // Distances inside a register: the sum in the lane of the first, the difference in that of the
  // second; one times a number, or minus one times it, is exact.
  template <std::uint32_t kDistance, std::size_t kVectors>
  static HWY_INLINE void inside(O::VF (&v)[kVectors]) {
    alignas(64) static constexpr float kTurn[4][16] = {
        {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1},
        {1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1},
        {1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1},
        {1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1}};
    constexpr std::uint32_t kWhich = kDistance == 1   ? 0
                                     : kDistance == 2 ? 1
                                     : kDistance == 4 ? 2
                                                      : 3;
    const O::VF turn = hn::Load(O::F(), kTurn[kWhich]);
    KVPLEAT_UNROLL
    for (std::size_t i = 0; i < kVectors; ++i)
      v[i] = hn::MulAdd(v[i], turn, O::exchange<kDistance>(v[i]));
  }
  template <std::uint32_t kDistance, std::uint32_t kVectors, std::size_t kAll>
  static HWY_INLINE void between(O::VF (&v)[kAll]) {
    if constexpr (kDistance < kVectors) {
      KVPLEAT_UNROLL
      for (std::size_t i = 0; i < kAll; ++i) {
        if ((i & kDistance) != 0) continue;
        const O::VF a = v[i];
        const O::VF b = v[i + kDistance];
        v[i] = hn::Add(a, b);
        v[i + kDistance] = hn::Sub(a, b);
      }
    }
  }
};

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
