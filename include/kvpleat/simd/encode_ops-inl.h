// Vector operations of encoders and decoders: what core/numeric.h and core/half.h say, on vectors
// of 16, 8 or 4 lanes. Every result is the one of the plain code, to the bit.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/log_scale.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/lanes-inl.h"

#if defined(KVPLEAT_SIMD_ENCODE_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_ENCODE_OPS_INL_H_
#undef KVPLEAT_SIMD_ENCODE_OPS_INL_H_
#else
#define KVPLEAT_SIMD_ENCODE_OPS_INL_H_
#endif

// Encoders have vectors where Lanes has. Elsewhere the formats' own functions run.
#undef KVPLEAT_VECTOR_CODECS
#define KVPLEAT_VECTOR_CODECS (KVPLEAT_LANES != KVPLEAT_LANES_PLAIN)

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if KVPLEAT_VECTOR_CODECS

// 16 floats, channels or tokens, are kParts vectors.
struct CodecOps {
  using F = hn::ScalableTag<float>;
  using Int = hn::RebindToSigned<F>;
  using U = hn::RebindToUnsigned<F>;
  using VF = hn::Vec<F>;
  using VI = hn::Vec<Int>;
  using VU = hn::Vec<U>;
  using MF = hn::Mask<F>;
  static constexpr std::uint32_t kLanes = Lanes::kLanes;
  static constexpr std::uint32_t kParts = 16 / kLanes;
  // Doubles.
  using D = hn::Repartition<double, F>;
  using VD = hn::Vec<D>;
  static constexpr std::uint32_t kDoubles = kLanes / 2;
  static constexpr std::uint32_t kDoubleParts = 16 / kDoubles;

  // Hides how v came about: what comes after is not joined to it (a product and a sum are).
  static HWY_INLINE VF rounded(VF v) {
#if HWY_ARCH_X86 && (HWY_COMPILER_GCC || HWY_COMPILER_CLANG)
    asm("" : "+v"(v.raw));
#elif HWY_ARCH_ARM
    asm("" : "+w"(v.raw));
#endif
    return v;
  }
  // lower_of(b, a) and upper_of(b, a): b if neither is smaller, or a is NaN. x86's own minimum gives
  // its second operand in these cases.
  static HWY_INLINE VF lower(VF a, VF b) {
#if HWY_ARCH_X86
    return hn::Min(a, b);
#else
    return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
  }
  static HWY_INLINE VF upper(VF a, VF b) {
#if HWY_ARCH_X86
    return hn::Max(a, b);
#else
    return hn::IfThenElse(hn::Gt(a, b), a, b);
#endif
  }
  static HWY_INLINE VF absolute(VF v) {
    return hn::And(v, hn::BitCast(F(), hn::Set(U(), 0x7fffffffu)));
  }
  // Of numbers that are integers of 32 bits when rounded: without what Highway adds for others.
  static HWY_INLINE VI nearest_int(VF v) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    return VI{_mm512_cvtps_epi32(v.raw)};
#elif KVPLEAT_LANES >= KVPLEAT_LANES_AVX2
    return VI{_mm256_cvtps_epi32(v.raw)};
#elif KVPLEAT_LANES >= KVPLEAT_LANES_SSE
    return VI{_mm_cvtps_epi32(v.raw)};
#else
    return hn::NearestInt(v);
#endif
  }
  // Nearest integer, ties to even, clamped to [0, top]; NaN gives 0.
  static HWY_INLINE VI to_code(VF v, VF top) {
    return nearest_int(lower(upper(v, hn::Zero(F())), top));
  }
  // The same clamped to [-top, top]; not for NaN.
  static HWY_INLINE VI to_signed(VF v, VF top) {
    return nearest_int(lower(upper(v, hn::Neg(top)), top));
  }
  // Codes below 256 as bytes.
  static HWY_INLINE void store_bytes(VI v, std::uint8_t* to) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(v.raw));
#else
    const hn::Rebind<std::uint8_t, Int> bytes;
    hn::StoreU(hn::DemoteTo(bytes, v), bytes, to);
#endif
  }
  static HWY_INLINE VI load_bytes(const std::uint8_t* from) {
    const hn::Rebind<std::uint8_t, Int> bytes;
    return hn::PromoteTo(Int(), hn::LoadU(bytes, from));
  }
  static HWY_INLINE VD to_double(const float* from) {
    const hn::Rebind<float, D> half;
    return hn::PromoteTo(D(), hn::LoadU(half, from));
  }
  // Lane i of the first half, i < kLanes / 2, and of the second.
  static HWY_INLINE VD lower_double(VF v) {
    return hn::PromoteTo(D(), hn::LowerHalf(v));
  }
  static HWY_INLINE VD upper_double(VF v) {
    return hn::PromoteTo(D(), hn::UpperHalf(hn::Half<F>(), v));
  }

  // Lane i gives lane i ^ kDistance.
  template <std::uint32_t kDistance>
  static HWY_INLINE VF exchange(VF v) {
    static_assert(kDistance < kLanes);
    if constexpr (kDistance == 1) {
      return hn::Shuffle2301(v);
    } else if constexpr (kDistance == 2) {
      return hn::Shuffle1032(v);
    } else if constexpr (kDistance * 2 == kLanes) {
      return hn::ConcatLowerUpper(F(), v, v);
    } else {
      return hn::SwapAdjacentBlocks(v);
    }
  }
  template <std::uint32_t kDistance>
  static HWY_INLINE VD exchange(VD v) {
    static_assert(kDistance < kDoubles);
    if constexpr (kDistance == 1) {
      return hn::Shuffle01(v);
    } else if constexpr (kDistance * 2 == kDoubles) {
      return hn::ConcatLowerUpper(D(), v, v);
    } else {
      return hn::SwapAdjacentBlocks(v);
    }
  }
  // Joins 16 partial results in the tree of the numeric law; lane 0 has the result.
  //   join(a, b): a is the one with the lower index.
  template <std::uint32_t kDistance = 8, class Join>
  static HWY_INLINE VF tree(VF* part, Join join) {
    if constexpr (kDistance == 0) {
      return part[0];
    } else {
      if constexpr (kDistance >= kLanes) {
        for (std::uint32_t i = 0; i < kDistance / kLanes; ++i)
          part[i] = join(part[i], part[i + kDistance / kLanes]);
      } else {
        part[0] = join(part[0], exchange<kDistance>(part[0]));
      }
      return tree<kDistance / 2>(part, join);
    }
  }
  template <std::uint32_t kDistance = 8>
  static HWY_INLINE double sum_in_tree(VD* part) {
    if constexpr (kDistance == 0) {
      return hn::GetLane(part[0]);
    } else {
      if constexpr (kDistance >= kDoubles) {
        for (std::uint32_t i = 0; i < kDistance / kDoubles; ++i)
          part[i] = hn::Add(part[i], part[i + kDistance / kDoubles]);
      } else {
        part[0] = hn::Add(part[0], exchange<kDistance>(part[0]));
      }
      return sum_in_tree<kDistance / 2>(part);
    }
  }
  // part += a * b of 16 floats, exact products.
  static HWY_INLINE void add_products(const VF* a, const VF* b, VD* part) {
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < kParts; ++i) {
      part[2 * i] = hn::MulAdd(lower_double(a[i]), lower_double(b[i]), part[2 * i]);
      part[2 * i + 1] = hn::MulAdd(upper_double(a[i]), upper_double(b[i]), part[2 * i + 1]);
    }
  }
};

// Stored sides, as bits in lanes of 32: the functions of core/half.h for values that fit. A float
// is its own side.
template <abi::Side kSide>
struct SideOps {
  using O = CodecOps;
  using VF = O::VF;
  using VU = O::VU;
  static constexpr std::uint32_t kBytes = kSide == abi::Side::kFloat       ? 4
                                          : kSide == abi::Side::kLogScale8 ? 1
                                                                           : 2;

  static HWY_INLINE VU nearest(VF x) {
    const O::U u32;
    const VU all = hn::BitCast(u32, x);
    if constexpr (kSide == abi::Side::kFloat) {
      return all;
    } else if constexpr (kSide == abi::Side::kBFloat16) {
      const VU odd = hn::And(hn::ShiftRight<16>(all), hn::Set(u32, 1u));
      return hn::ShiftRight<16>(hn::Add(all, hn::Add(odd, hn::Set(u32, 0x7fffu))));
    } else {
      const VU sign = hn::And(hn::ShiftRight<16>(all), hn::Set(u32, 0x8000u));
      const VU u = hn::And(all, hn::Set(u32, 0x7fffffffu));
      const VU odd = hn::And(hn::ShiftRight<13>(u), hn::Set(u32, 1u));
      const VU rounded = hn::Add(hn::Add(u, odd), hn::Set(u32, 0xfffu - 0x38000000u));
      // Adding one half moves the place of 2^-24 to the last bit.
      const VF shifted = hn::Add(hn::BitCast(O::F(), u), hn::Set(O::F(), 0.5f));
      const VU subnormal = hn::Sub(hn::BitCast(u32, shifted), hn::Set(u32, 0x3f000000u));
      const O::Int i32;
      const auto is_small = hn::Lt(hn::BitCast(i32, u), hn::Set(i32, 0x38800000));
      VU result =
          hn::IfThenElse(hn::RebindMask(u32, is_small), subnormal, hn::ShiftRight<13>(rounded));
      const auto is_large = hn::Gt(hn::BitCast(i32, u), hn::Set(i32, 0x477fffff));
      result = hn::IfThenElse(hn::RebindMask(u32, is_large), hn::Set(u32, 0x7c00u), result);
      return hn::Or(result, sign);
    }
  }
  static HWY_INLINE VF to_float(VU bits) {
    const O::U u32;
    const O::F f32;
    if constexpr (kSide == abi::Side::kFloat) {
      return hn::BitCast(f32, bits);
    } else if constexpr (kSide == abi::Side::kBFloat16) {
      return hn::BitCast(f32, hn::ShiftLeft<16>(bits));
    } else {
      const VU sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(u32, 0x8000u)));
      const VU wide = hn::ShiftLeft<13>(hn::And(bits, hn::Set(u32, 0x7fffu)));
      const VU exponent = hn::And(wide, hn::Set(u32, 0x0f800000u));
      const VU normal = hn::Add(wide, hn::Set(u32, 0x38000000u));
      // Subnormal: 2^-14 more, and taken away again, exactly.
      const VF above = hn::BitCast(f32, hn::Add(wide, hn::Set(u32, 0x38800000u)));
      const VU subnormal = hn::BitCast(u32, hn::Sub(above, hn::Set(f32, 0x1p-14f)));
      VU result = hn::IfThenElse(hn::Eq(exponent, hn::Zero(u32)), subnormal, normal);
      result = hn::IfThenElse(hn::Eq(exponent, hn::Set(u32, 0x0f800000u)),
                              hn::Or(wide, hn::Set(u32, 0x7f800000u)), result);
      return hn::BitCast(f32, hn::Or(result, sign));
    }
  }
  static HWY_INLINE VU at_most(VF x) {
    const VU candidate = nearest(x);
    if constexpr (kSide == abi::Side::kFloat) return candidate;
    const O::U u32;
    const VU sign = hn::Set(u32, 0x8000u);
    const VU one = hn::Set(u32, 1u);
    const auto negative = hn::Eq(hn::And(candidate, sign), sign);
    const auto zero = hn::Eq(hn::AndNot(sign, candidate), hn::Zero(u32));
    VU below = hn::IfThenElse(negative, hn::Add(candidate, one), hn::Sub(candidate, one));
    below = hn::IfThenElse(zero, hn::Set(u32, 0x8001u), below);
    const auto fits = hn::Le(to_float(candidate), x);
    return hn::IfThenElse(hn::RebindMask(u32, fits), candidate, below);
  }
  static HWY_INLINE VU at_least(VF x) {
    const VU sign = hn::Set(O::U(), kSide == abi::Side::kFloat ? 0x80000000u : 0x8000u);
    return hn::Xor(at_most(hn::Neg(x)), sign);
  }
};

// Loads and stores of runs of stored sides, up to 16 of them, and of single ones.
struct SideAccess {
  using O = CodecOps;
  static constexpr std::uint32_t bytes(abi::Side side) {
    return side == abi::Side::kFloat ? 4 : side == abi::Side::kLogScale8 ? 1 : 2;
  }
  static float load(abi::Side side, const std::uint8_t* from) {
    switch (side) {
      case abi::Side::kHalf:
        return kvpleat::to_float(kvpleat::load<Half>(from));
      case abi::Side::kBFloat16:
        return kvpleat::to_float(kvpleat::load<BFloat16>(from));
      case abi::Side::kFloat:
        return kvpleat::load<float>(from);
      default:
        return kvpleat::to_float(LogScale8{from[0]});
    }
  }
  // n floats from n sides that lie one after the other. to: room for n rounded up to 16.
  static HWY_INLINE void load_run(abi::Side side, const std::uint8_t* from, std::uint32_t n,
                                  float* to) {
    std::uint32_t i = 0;
    if (side == abi::Side::kHalf || side == abi::Side::kBFloat16) {
      const O::U u32;
      const hn::Rebind<std::uint16_t, O::U> u16;
      for (; i + O::kLanes <= n; i += O::kLanes) {
        const auto raw = hn::LoadU(u16, reinterpret_cast<const std::uint16_t*>(from + 2 * i));
        const O::VU bits = hn::PromoteTo(u32, raw);
        hn::StoreU(side == abi::Side::kHalf ? SideOps<abi::Side::kHalf>::to_float(bits)
                                            : SideOps<abi::Side::kBFloat16>::to_float(bits),
                   O::F(), to + i);
      }
    }
    for (; i < n; ++i) to[i] = load(side, from + i * bytes(side));
  }
  // The lower bytes(side) of each of n numbers.
  static HWY_INLINE void store_run(abi::Side side, const std::uint32_t* bits, std::uint32_t n,
                                   std::uint8_t* to) {
    switch (side) {
      case abi::Side::kFloat:
        std::memcpy(to, bits, n * sizeof(float));
        return;
      case abi::Side::kLogScale8:
        for (std::uint32_t i = 0; i < n; ++i) to[i] = static_cast<std::uint8_t>(bits[i]);
        return;
      default:
        for (std::uint32_t i = 0; i < n; ++i)
          store(to + 2 * i, static_cast<std::uint16_t>(bits[i]));
    }
  }
};

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
