// Lanes: the vector operations that kernels are written in. One struct per target, the same members
// in each; kernels are written once.
//
// Tiles (codec/tile.h) hold 16 tokens or 16 channels in 32-bit lanes. A register has kLanes of them
// (16, 8 or 4): kernels walk kParts = 16 / kLanes registers, and what they compute does not depend
// on which. On targets that we do not know (and HWY_SCALAR, which g++ takes without -m flags) a
// register is a plain array of 16 lanes: the plain path.
//
// Integer operations are exact on every target. Float operations round once, to nearest; mul_add
// rounds once where the target has FMA, else twice.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_LANES_INL_H_
#undef KVPLEAT_SIMD_LANES_INL_H_
#else
#define KVPLEAT_SIMD_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/log_scale.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"

// Highway 1.0.3 names avxvnni where it means avx512vnni, so that vpdpbusd would not inline. A
// superset of its own list, so that its operations still do.
#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX3_DL && HWY_MAJOR == 1 && HWY_MINOR == 0
#undef HWY_TARGET_STR
#define HWY_TARGET_STR \
  HWY_TARGET_STR_AVX3  \
  ",vpclmulqdq,avx512vbmi,avx512vbmi2,vaes,avxvnni,avx512vnni,avx512bitalg,avx512vpopcntdq"
#endif

// Which of the structs below a target takes. A lower bit is a better target of Highway.
#undef KVPLEAT_LANES
#define KVPLEAT_LANES_PLAIN 0
#define KVPLEAT_LANES_NEON 1
#define KVPLEAT_LANES_SSE 2
#define KVPLEAT_LANES_AVX2 3
#define KVPLEAT_LANES_AVX512 4
#define KVPLEAT_LANES_VNNI 5
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
#define KVPLEAT_LANES KVPLEAT_LANES_VNNI
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define KVPLEAT_LANES KVPLEAT_LANES_AVX512
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define KVPLEAT_LANES KVPLEAT_LANES_AVX2
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
#define KVPLEAT_LANES KVPLEAT_LANES_SSE
#elif HWY_ARCH_ARM_A64 && defined(HWY_NEON) && (HWY_TARGET & HWY_NEON)
#define KVPLEAT_LANES KVPLEAT_LANES_NEON
#elif HWY_ARCH_ARM_A64 && defined(HWY_NEON_WITHOUT_AES) && (HWY_TARGET & HWY_NEON_WITHOUT_AES)
#define KVPLEAT_LANES KVPLEAT_LANES_NEON
#elif HWY_ARCH_ARM_A64 && defined(HWY_NEON_BF16) && (HWY_TARGET & HWY_NEON_BF16)
#define KVPLEAT_LANES KVPLEAT_LANES_NEON
#else
#define KVPLEAT_LANES KVPLEAT_LANES_PLAIN
#endif

// Before every loop over an array of registers: below -O3, g++ keeps such arrays in memory unless
// the loop is gone by then.
#undef KVPLEAT_UNROLL
#if KVPLEAT_LANES == KVPLEAT_LANES_PLAIN  // arrays stay arrays, and unrolling only costs
#define KVPLEAT_UNROLL
#elif defined(__clang__)
#define KVPLEAT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define KVPLEAT_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if KVPLEAT_LANES != KVPLEAT_LANES_PLAIN

struct Lanes {
  using DF = hn::ScalableTag<float>;
  using DI = hn::ScalableTag<std::int32_t>;
  using DU = hn::ScalableTag<std::uint32_t>;
  using DB = hn::Repartition<std::uint8_t, DF>;
  using DS = hn::Repartition<std::int8_t, DF>;
  using DW = hn::Repartition<std::uint16_t, DF>;
  using D4 = hn::FixedTag<float, 4>;
  using V4 = hn::Vec<D4>;

  // Registers: kLanes floats, kLanes integers, 4 * kLanes bytes (signed or not), a mask of lanes.
  using F32 = hn::Vec<DF>;
  using I32 = hn::Vec<DI>;
  using B8 = hn::Vec<DB>;
  using M32 = hn::Mask<DF>;

  static constexpr std::uint32_t kLanes = HWY_LANES(float);
  static constexpr std::uint32_t kParts = 16 / kLanes;
  static constexpr std::uint32_t kBytes = 4 * kLanes;
  // Whether dot_u7s8 takes u up to 255 as well: then bit fields may be multiplied in place.
  static constexpr bool kWholeBytes = KVPLEAT_LANES == KVPLEAT_LANES_VNNI;
  static constexpr const char* kName = KVPLEAT_LANES == KVPLEAT_LANES_VNNI     ? "avx512vnni"
                                       : KVPLEAT_LANES == KVPLEAT_LANES_AVX512 ? "avx512"
                                       : KVPLEAT_LANES == KVPLEAT_LANES_AVX2   ? "avx2"
                                       : KVPLEAT_LANES == KVPLEAT_LANES_SSE    ? "sse"
                                                                               : "neon";

  // --- Floats ---
  static HWY_INLINE F32 zero_f32() { return hn::Zero(DF()); }
  static HWY_INLINE F32 set_f32(float x) { return hn::Set(DF(), x); }
  static HWY_INLINE F32 load_f32(const float* at) { return hn::LoadU(DF(), at); }
  static HWY_INLINE void store_f32(float* at, F32 v) { hn::StoreU(v, DF(), at); }
  // The first n lanes (n <= kLanes; more: all), zeros after them. Memory beyond is not touched.
  static HWY_INLINE F32 load_first_f32(const float* at, std::uint32_t n) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX2
    return hn::MaskedLoad(first(n), DF(), at);
#else
    float lanes[kLanes] = {};
    std::memcpy(lanes, at, (n < kLanes ? n : kLanes) * sizeof(float));
    return load_f32(lanes);
#endif
  }
  static HWY_INLINE void store_first_f32(float* at, F32 v, std::uint32_t n) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    _mm512_mask_storeu_ps(at, first(n).raw, v.raw);
#else
    float lanes[kLanes];
    store_f32(lanes, v);
    std::memcpy(at, lanes, (n < kLanes ? n : kLanes) * sizeof(float));
#endif
  }
  static HWY_INLINE F32 add(F32 a, F32 b) {
    return hn::Add(a, b);
  }
  static HWY_INLINE F32 sub(F32 a, F32 b) {
    return hn::Sub(a, b);
  }
  static HWY_INLINE F32 mul(F32 a, F32 b) {
    return hn::Mul(a, b);
  }
  // a * b, rounded: compilers join mul and a following add, where they may, to one operation.
  static HWY_INLINE F32 rounded_mul(F32 a, F32 b) {
    F32 v = hn::Mul(a, b);
#if HWY_ARCH_X86 && (HWY_COMPILER_GCC || HWY_COMPILER_CLANG)
    asm("" : "+v"(v.raw));
#elif HWY_ARCH_ARM
    asm("" : "+w"(v.raw));
#endif
    return v;
  }
  static HWY_INLINE F32 div(F32 a, F32 b) {
    return hn::Div(a, b);
  }
  // a * b + c; c - a * b
  static HWY_INLINE F32 mul_add(F32 a, F32 b, F32 c) {
    return hn::MulAdd(a, b, c);
  }
  static HWY_INLINE F32 neg_mul_add(F32 a, F32 b, F32 c) {
    return hn::NegMulAdd(a, b, c);
  }
  // No lane may be NaN.
  static HWY_INLINE F32 lower(F32 a, F32 b) {
    return hn::Min(a, b);
  }
  static HWY_INLINE F32 upper(F32 a, F32 b) {
    return hn::Max(a, b);
  }
  static HWY_INLINE F32 abs(F32 a) {
    return hn::Abs(a);
  }
  // Exact up to 2^24, else to nearest.
  static HWY_INLINE F32 to_f32(I32 a) {
    return hn::ConvertTo(DF(), a);
  }
  // Ties to even, |a| < 2^31; else, and of NaN, any number. (Not hn::NearestInt: it pays for what
  // lies beyond.)
  static HWY_INLINE I32 nearest_i32(F32 a) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    return I32{_mm512_cvtps_epi32(a.raw)};
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    return I32{_mm256_cvtps_epi32(a.raw)};
#elif KVPLEAT_LANES == KVPLEAT_LANES_SSE
    return I32{_mm_cvtps_epi32(a.raw)};
#else
    return hn::NearestInt(a);
#endif
  }
  static HWY_INLINE I32 bits_i32(F32 a) {
    return hn::BitCast(DI(), a);
  }
  static HWY_INLINE F32 bits_f32(I32 a) {
    return hn::BitCast(DF(), a);
  }
  // kLanes values of 16 bits.
  static HWY_INLINE F32 load_half(const std::uint8_t* at) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    __m256i half;
    std::memcpy(&half, at, sizeof half);
    return F32{_mm512_cvtph_ps(half)};
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    __m128i half;
    std::memcpy(&half, at, sizeof half);
    return F32{_mm256_cvtph_ps(half)};
#elif KVPLEAT_LANES == KVPLEAT_LANES_NEON
    uint16x4_t half;
    std::memcpy(&half, at, sizeof half);
    return F32{vcvt_f32_f16(vreinterpret_f16_u16(half))};
#else
    // The bits moved to where a float has them are 2^-112 times the value, also where it is
    // subnormal: one exact product. Infinities and NaN come out as large numbers.
    const I32 half = load_u16(at);
    const I32 sign = shift_left<16>(and_(half, set_i32(0x8000)));
    const I32 rest = shift_left<13>(and_(half, set_i32(0x7fff)));
    return bits_f32(or_(bits_i32(mul(bits_f32(rest), set_f32(0x1p112f))), sign));
#endif
  }
  static HWY_INLINE F32 load_bf16(const std::uint8_t* at) {
    return bits_f32(shift_left<16>(load_u16(at)));
  }
  // The sum of the 16 lanes of kParts registers, pairwise: lane i + lane i + 8, then 4, 2, 1.
  static HWY_INLINE float sum16(const F32* parts) {
    const V4 v = quarter_sum(parts);
    const V4 two = hn::Add(v, hn::Shuffle1032(v));
    return hn::GetLane(hn::Add(two, hn::Shuffle2301(two)));
  }
  // In halves: hn::MaxOfLanes stays in whole registers, which costs twice that.
  static HWY_INLINE float reduce_max(F32 v) {
    const V4 four = quarter_max(v);
    const V4 two = hn::Max(four, hn::Shuffle1032(four));
    return hn::GetLane(hn::Max(two, hn::Shuffle2301(two)));
  }
  // Four of them at once, for a third more than one costs. Sums in the order of sum16.
  //   parts: [4][kParts]
  static HWY_INLINE void sum16_of4(const F32 (&parts)[4][kParts], float* sums) {
    const D4 d;
    V4 v[4];
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < 4; ++i) v[i] = quarter_sum(parts[i]);
    const V4 a = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
    const V4 b = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
    hn::StoreU(hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a)), d, sums);
  }
  static HWY_INLINE void reduce_max_of4(const F32 (&values)[4], float* found) {
    const D4 d;
    V4 v[4];
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < 4; ++i) v[i] = quarter_max(values[i]);
    const V4 a = hn::Max(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
    const V4 b = hn::Max(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
    hn::StoreU(hn::Max(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a)), d, found);
  }
  static HWY_INLINE float reduce_min(F32 v) {
    return hn::GetLane(hn::MinOfLanes(DF(), v));
  }

  // --- Masks ---
  static HWY_INLINE M32 first(std::uint32_t n) {
    return hn::FirstN(DF(), n);
  }
  static HWY_INLINE M32 less(F32 a, F32 b) {
    return hn::Lt(a, b);
  }
  static HWY_INLINE M32 equal(F32 a, F32 b) {
    return hn::Eq(a, b);
  }
  static HWY_INLINE M32 both(M32 a, M32 b) {
    return hn::And(a, b);
  }
  static HWY_INLINE M32 either(M32 a, M32 b) {
    return hn::Or(a, b);
  }
  static HWY_INLINE M32 negate(M32 a) {
    return hn::Not(a);
  }
  static HWY_INLINE bool any(M32 a) {
    return !hn::AllFalse(DF(), a);
  }
  static HWY_INLINE bool all(M32 a) {
    return hn::AllTrue(DF(), a);
  }
  // a where the mask is set, else b; whatever the other holds.
  static HWY_INLINE F32 select(M32 m, F32 a, F32 b) {
    return hn::IfThenElse(m, a, b);
  }
  static HWY_INLINE I32 select(M32 m, I32 a, I32 b) {
    return hn::IfThenElse(hn::RebindMask(DI(), m), a, b);
  }

  // --- Integers ---
  static HWY_INLINE I32 zero_i32() {
    return hn::Zero(DI());
  }
  static HWY_INLINE I32 set_i32(std::int32_t x) {
    return hn::Set(DI(), x);
  }
  static HWY_INLINE I32 load_i32(const std::int32_t* at) {
    return hn::LoadU(DI(), at);
  }
  static HWY_INLINE void store_i32(std::int32_t* at, I32 v) {
    hn::StoreU(v, DI(), at);
  }
  static HWY_INLINE I32 add(I32 a, I32 b) {
    return hn::Add(a, b);
  }
  static HWY_INLINE I32 sub(I32 a, I32 b) {
    return hn::Sub(a, b);
  }
  static HWY_INLINE I32 and_(I32 a, I32 b) {
    return hn::And(a, b);
  }
  static HWY_INLINE I32 or_(I32 a, I32 b) {
    return hn::Or(a, b);
  }
  template <int kBits>
  static HWY_INLINE I32 shift_left(I32 a) {
    return hn::ShiftLeft<kBits>(a);
  }
  template <int kBits>
  static HWY_INLINE I32 shift_right(I32 a) {  // keeps the sign
    return hn::ShiftRight<kBits>(a);
  }
  // kLanes bytes or 16-bit words, widened.
  static HWY_INLINE I32 load_u8(const std::uint8_t* at) {
    return hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<std::uint8_t, DI>(), at));
  }
  static HWY_INLINE I32 load_s8(const std::uint8_t* at) {
    const hn::Rebind<std::uint8_t, DI> bytes;
    return hn::PromoteTo(DI(), hn::BitCast(hn::Rebind<std::int8_t, DI>(), hn::LoadU(bytes, at)));
  }
  static HWY_INLINE I32 load_u16(const std::uint8_t* at) {
    std::uint16_t words[kLanes];
    std::memcpy(words, at, sizeof words);
    return hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<std::uint16_t, DI>(), words));
  }
  // The lanes, clamped to a byte: kLanes bytes.
  static HWY_INLINE void store_s8(std::uint8_t* at, I32 v) {
    const hn::Rebind<std::int8_t, DI> bytes;
    hn::StoreU(hn::BitCast(hn::Rebind<std::uint8_t, DI>(), hn::DemoteTo(bytes, v)),
               hn::Rebind<std::uint8_t, DI>(), at);
  }
  // Four registers in a row: a third of the shuffles. The lanes lie within 16 bits.
  static HWY_INLINE void store_s8_of4(std::uint8_t* at, const I32* v) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(v[0].raw, v[1].raw),
                                             _mm512_packs_epi32(v[2].raw, v[3].raw));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    store_b8(at, B8{_mm512_permutexvar_epi32(order, bytes)});
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(v[0].raw, v[1].raw),
                                             _mm256_packs_epi32(v[2].raw, v[3].raw));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    store_b8(at, B8{_mm256_permutevar8x32_epi32(bytes, order)});
#elif KVPLEAT_LANES == KVPLEAT_LANES_SSE
    store_b8(at, B8{_mm_packs_epi16(_mm_packs_epi32(v[0].raw, v[1].raw),
                                    _mm_packs_epi32(v[2].raw, v[3].raw))});
#else
    for (std::uint32_t i = 0; i < 4; ++i) store_s8(at + i * kLanes, v[i]);
#endif
  }
  static HWY_INLINE void store_u8(std::uint8_t* at, I32 v) {
    const hn::Rebind<std::uint8_t, DI> bytes;
    hn::StoreU(hn::DemoteTo(bytes, v), bytes, at);
  }
  static HWY_INLINE std::int32_t reduce_add(I32 v) {
    return hn::GetLane(hn::SumOfLanes(DI(), v));
  }
  static HWY_INLINE std::int32_t reduce_max(I32 v) {
    return hn::GetLane(hn::MaxOfLanes(DI(), v));
  }

  // --- Bytes ---
  static HWY_INLINE B8 load_b8(const std::uint8_t* at) {
    return hn::LoadU(DB(), at);
  }
  static HWY_INLINE void store_b8(std::uint8_t* at, B8 v) {
    hn::StoreU(v, DB(), at);
  }
  static HWY_INLINE B8 set_byte(std::uint8_t x) {
    return hn::Set(DB(), x);
  }
  // Four bytes, in every lane.
  static HWY_INLINE B8 bcast4(const std::uint8_t* at) {
    std::int32_t four;
    std::memcpy(&four, at, sizeof four);
    return hn::BitCast(DB(), hn::Set(DI(), four));
  }
  // Sixteen bytes, in every four lanes: what lookup16 looks up in.
  static HWY_INLINE B8 bcast16(const std::uint8_t* at) {
    return hn::LoadDup128(DB(), at);
  }
  // Sixteen bytes from `from` + at[i] for each four lanes i.
  static HWY_INLINE B8 load_quarters(const std::uint8_t* from, const std::uint32_t* at) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    const auto quarter = [&](std::uint32_t i) HWY_ATTR {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at[i]));
    };
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(quarter(0)), quarter(1), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(quarter(2)), quarter(3), 1);
    return B8{_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)};
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    return B8{_mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(from + at[1]),
                                  reinterpret_cast<const __m128i*>(from + at[0]))};
#else
    return load_b8(from + at[0]);
#endif
  }
  static HWY_INLINE B8 as_b8(I32 a) {
    return hn::BitCast(DB(), a);
  }
  static HWY_INLINE I32 as_i32(B8 a) {
    return hn::BitCast(DI(), a);
  }
  static HWY_INLINE B8 and_(B8 a, B8 b) {
    return hn::And(a, b);
  }
  static HWY_INLINE B8 or_(B8 a, B8 b) {
    return hn::Or(a, b);
  }
  static HWY_INLINE B8 xor_(B8 a, B8 b) {
    return hn::Xor(a, b);
  }
  static HWY_INLINE B8 add(B8 a, B8 b) {
    return hn::Add(a, b);
  }  // modulo 256
  static HWY_INLINE B8 sub(B8 a, B8 b) {
    return hn::Sub(a, b);
  }
  static HWY_INLINE B8 lower(B8 a, B8 b) {
    return hn::Min(a, b);
  }  // unsigned
  static HWY_INLINE B8 upper(B8 a, B8 b) {
    return hn::Max(a, b);
  }
  // 0xff where a > b, else 0; both <= 127.
  static HWY_INLINE B8 above(B8 a, B8 b) {
    const auto more = hn::Gt(hn::BitCast(DS(), a), hn::BitCast(DS(), b));
    return hn::BitCast(DB(), hn::VecFromMask(DS(), more));
  }
  // a where a byte of m is 0xff, b where it is 0.
  static HWY_INLINE B8 select_bytes(B8 m, B8 a, B8 b) {
    return hn::Or(hn::And(m, a), hn::AndNot(m, b));
  }
  // a where bit 7 of m is set, else b.
  static HWY_INLINE B8 select_high(B8 m, B8 a, B8 b) {
    const auto high = hn::Lt(hn::BitCast(DS(), m), hn::Zero(DS()));
    return hn::IfThenElse(hn::RebindMask(DB(), high), a, b);
  }
  // Bits kBits.. of every byte under a mask <= 0xff >> kBits.
  template <int kBits>
  static HWY_INLINE B8 field(B8 a, B8 mask) {
    if constexpr (kBits == 0) {
      return hn::And(a, mask);
    } else {
      return hn::And(hn::BitCast(DB(), hn::ShiftRight<kBits>(hn::BitCast(DW(), a))), mask);
    }
  }
  // The same to the left, under a mask >= 1 << kBits.
  template <int kBits>
  static HWY_INLINE B8 field_up(B8 a, B8 mask) {
    return hn::And(hn::BitCast(DB(), hn::ShiftLeft<kBits>(hn::BitCast(DW(), a))), mask);
  }
  template <int kBits>
  static HWY_INLINE B8 shift_right(B8 a) {
    return field<kBits>(a, set_byte(static_cast<std::uint8_t>(0xff >> kBits)));
  }
  template <int kBits>
  static HWY_INLINE B8 shift_left(B8 a) {
    return field_up<kBits>(a, set_byte(static_cast<std::uint8_t>(0xff << kBits)));
  }
  // table[index] within every 16 bytes; index < 16.
  static HWY_INLINE B8 lookup16(B8 table, B8 index) {
    return hn::TableLookupBytes(table, index);
  }
  // The same; 0 where bit 7 of an index is set.
  static HWY_INLINE B8 lookup16_or0(B8 table, B8 index) {
    return hn::TableLookupBytesOr0(table, index);
  }
  // 64 bytes to look up in by the lower six bits of an index; the others are ignored. A shorter
  // table is repeated, so that more bits are ignored.
#if KVPLEAT_LANES == KVPLEAT_LANES_VNNI
  struct Table64 {
    B8 part;
  };
  static HWY_INLINE Table64 load_table64(const std::uint8_t* at) {
    return {load_b8(at)};
  }
  static HWY_INLINE B8 lookup64(const Table64& table, B8 index) {
    return B8{_mm512_permutexvar_epi8(index.raw, table.part.raw)};
  }
#elif KVPLEAT_LANES == KVPLEAT_LANES_NEON
  struct Table64 {
    uint8x16x4_t parts;
  };
  static HWY_INLINE Table64 load_table64(const std::uint8_t* at) {
    return {{{vld1q_u8(at), vld1q_u8(at + 16), vld1q_u8(at + 32), vld1q_u8(at + 48)}}};
  }
  static HWY_INLINE B8 lookup64(const Table64& table, B8 index) {
    return B8{vqtbl4q_u8(table.parts, vandq_u8(index.raw, vdupq_n_u8(63)))};
  }
#else
  struct Table64 {
    B8 parts[4];
  };
  static HWY_INLINE Table64 load_table64(const std::uint8_t* at) {
    return {{bcast16(at), bcast16(at + 16), bcast16(at + 32), bcast16(at + 48)}};
  }
  // pshufb gives 0 where bit 7 of an index is set, and else takes the lower four. An index of part
  // i becomes 0x70 + its lower four bits, any other saturates to 0x80 or more.
  static HWY_INLINE B8 lookup64(const Table64& table, B8 index) {
    const B8 within = hn::And(index, set_byte(63));
    const B8 raise = set_byte(0x70);
    B8 found = hn::TableLookupBytes(table.parts[0], hn::SaturatedAdd(within, raise));
    KVPLEAT_UNROLL for (std::uint32_t i = 1; i < 4; ++i) {
      const B8 from = xor_(within, set_byte(static_cast<std::uint8_t>(16 * i)));
      found = or_(found, hn::TableLookupBytes(table.parts[i], hn::SaturatedAdd(from, raise)));
    }
    return found;
  }
#endif
  // The same with 128 bytes and seven bits.
  struct Table128 {
    Table64 low;
    Table64 high;
  };
  static HWY_INLINE Table128 load_table128(const std::uint8_t* at) {
    return {load_table64(at), load_table64(at + 64)};
  }
  static HWY_INLINE B8 lookup128(const Table128& table, B8 index) {
#if KVPLEAT_LANES == KVPLEAT_LANES_VNNI
    return B8{_mm512_permutex2var_epi8(table.low.part.raw, index.raw, table.high.part.raw)};
#else
    const B8 bit = set_byte(64);
    const B8 high = hn::VecFromMask(DB(), hn::Eq(and_(index, bit), bit));
    return select_bytes(high, lookup64(table.high, index), lookup64(table.low, index));
#endif
  }

#if KVPLEAT_LANES == KVPLEAT_LANES_VNNI
  // g++ 12 copies a sum that goes around a loop to another register before the intrinsic and back
  // behind it: two of three instructions of a loop over codes.
  static HWY_INLINE __m512i dpbusd(__m512i acc, __m512i u, __m512i s) {
#if defined(__clang__)
    return _mm512_dpbusd_epi32(acc, u, s);
#else
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(u), "v"(s));
    return acc;
#endif
  }
#endif
  // acc[lane] + sum over the four bytes of a lane of u * s, u unsigned and s signed.
  // u <= 127: one instruction or two where the target has no 8-bit dot product of its own.
  static HWY_INLINE I32 dot_u7s8(I32 acc, B8 u, B8 s) {
#if KVPLEAT_LANES == KVPLEAT_LANES_VNNI
    return I32{dpbusd(acc.raw, u.raw, s.raw)};
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX512
    const __m512i pairs = _mm512_maddubs_epi16(u.raw, s.raw);
    return I32{_mm512_add_epi32(acc.raw, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))};
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    const __m256i pairs = _mm256_maddubs_epi16(u.raw, s.raw);
    return I32{_mm256_add_epi32(acc.raw, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))};
#elif KVPLEAT_LANES == KVPLEAT_LANES_SSE
    const __m128i pairs = _mm_maddubs_epi16(u.raw, s.raw);
    return I32{_mm_add_epi32(acc.raw, _mm_madd_epi16(pairs, _mm_set1_epi16(1)))};
#elif defined(__ARM_FEATURE_DOTPROD)
    return I32{vdotq_s32(acc.raw, vreinterpretq_s8_u8(u.raw), vreinterpretq_s8_u8(s.raw))};
#else
    const int8x16_t a = vreinterpretq_s8_u8(u.raw);
    const int8x16_t b = vreinterpretq_s8_u8(s.raw);
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(a), vget_low_s8(b)));
    return I32{vaddq_s32(acc.raw, vpaddq_s32(low, vpaddlq_s16(vmull_high_s8(a, b))))};
#endif
  }
  // The same for every u. maddubs saturates and sdot is signed: there, bit 7 is taken apart.
  static HWY_INLINE I32 dot_u8s8(I32 acc, B8 u, B8 s) {
#if KVPLEAT_LANES == KVPLEAT_LANES_VNNI
    return dot_u7s8(acc, u, s);
#elif KVPLEAT_LANES == KVPLEAT_LANES_NEON
    const I32 lower = dot_u7s8(acc, and_(u, set_byte(0x7f)), s);
    return add(lower, shift_left<7>(dot_u7s8(zero_i32(), shift_right<7>(u), s)));
#else
    const B8 top = shift_right<7>(u);
    const I32 lower = dot_u7s8(acc, and_(u, set_byte(0x7f)), s);
#if KVPLEAT_LANES == KVPLEAT_LANES_AVX512
    const __m512i pairs = _mm512_maddubs_epi16(top.raw, s.raw);
    return I32{_mm512_add_epi32(lower.raw, _mm512_madd_epi16(pairs, _mm512_set1_epi16(128)))};
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    const __m256i pairs = _mm256_maddubs_epi16(top.raw, s.raw);
    return I32{_mm256_add_epi32(lower.raw, _mm256_madd_epi16(pairs, _mm256_set1_epi16(128)))};
#else
    const __m128i pairs = _mm_maddubs_epi16(top.raw, s.raw);
    return I32{_mm_add_epi32(lower.raw, _mm_madd_epi16(pairs, _mm_set1_epi16(128)))};
#endif
#endif
  }
  // The same for u of any size and small s, unsigned, <= 15 (any, where there are no vectors).
  static HWY_INLINE I32 dot_u8u4(I32 acc, B8 u, B8 s) {
#if KVPLEAT_LANES != KVPLEAT_LANES_NEON
    return dot_u7s8(acc, u, s);  // pairs are far from what saturates
#elif defined(__ARM_FEATURE_DOTPROD)
    return I32{vreinterpretq_s32_u32(vdotq_u32(vreinterpretq_u32_s32(acc.raw), u.raw, s.raw))};
#else
    const uint32x4_t low = vpaddlq_u16(vmull_u8(vget_low_u8(u.raw), vget_low_u8(s.raw)));
    const uint32x4_t high = vpaddlq_u16(vmull_high_u8(u.raw, s.raw));
    return I32{vaddq_s32(acc.raw, vreinterpretq_s32_u32(vpaddq_u32(low, high)))};
#endif
  }
  // The same for both signed, -127 to 127.
  static HWY_INLINE I32 dot_s8s8(I32 acc, B8 a, B8 b) {
#if KVPLEAT_LANES == KVPLEAT_LANES_NEON
    return dot_u7s8(acc, a, b);  // is signed there
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    return dot_u7s8(acc, B8{_mm256_abs_epi8(a.raw)}, B8{_mm256_sign_epi8(b.raw, a.raw)});
#elif KVPLEAT_LANES == KVPLEAT_LANES_SSE
    return dot_u7s8(acc, B8{_mm_abs_epi8(a.raw)}, B8{_mm_sign_epi8(b.raw, a.raw)});
#else
    const B8 turned{
        _mm512_mask_sub_epi8(b.raw, _mm512_movepi8_mask(a.raw), _mm512_setzero_si512(), b.raw)};
    return dot_u7s8(acc, B8{_mm512_abs_epi8(a.raw)}, turned);
#endif
  }
  // The same with one group of four signed bytes for all lanes. g++ 12 neither folds a broadcast
  // into vpdpbusd nor lets hoisted ones go before it runs out of registers; asm does the first and
  // so avoids the second.
  static HWY_INLINE I32 dot_u7s8_at(I32 acc, B8 u, const std::uint8_t* s) {
#if KVPLEAT_LANES == KVPLEAT_LANES_VNNI && !defined(__clang__)
    struct Four {
      std::uint8_t bytes[4];
    };
    asm("vpdpbusd %2%{1to16%}, %1, %0"
        : "+v"(acc.raw)
        : "v"(u.raw), "m"(*reinterpret_cast<const Four*>(s)));
    return acc;
#else
    return dot_u7s8(acc, u, bcast4(s));
#endif
  }
  static HWY_INLINE I32 dot_u8s8_at(I32 acc, B8 u, const std::uint8_t* s) {
#if KVPLEAT_LANES == KVPLEAT_LANES_VNNI
    return dot_u7s8_at(acc, u, s);
#else
    return dot_u8s8(acc, u, bcast4(s));
#endif
  }

 private:
  // Sixteen lanes in four: lane i + i + 8, then 4.
  static HWY_INLINE V4 quarter_sum(const F32* parts) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    const hn::Half<DF> half;
    const auto eight = hn::Add(hn::LowerHalf(half, parts[0]), hn::UpperHalf(half, parts[0]));
    return hn::Add(hn::LowerHalf(D4(), eight), hn::UpperHalf(D4(), eight));
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    const F32 eight = hn::Add(parts[0], parts[1]);
    return hn::Add(hn::LowerHalf(D4(), eight), hn::UpperHalf(D4(), eight));
#else
    return hn::Add(hn::Add(parts[0], parts[2]), hn::Add(parts[1], parts[3]));
#endif
  }
  static HWY_INLINE V4 quarter_max(F32 v) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    const hn::Half<DF> half;
    const auto eight = hn::Max(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
    return hn::Max(hn::LowerHalf(D4(), eight), hn::UpperHalf(D4(), eight));
#elif KVPLEAT_LANES == KVPLEAT_LANES_AVX2
    return hn::Max(hn::LowerHalf(D4(), v), hn::UpperHalf(D4(), v));
#else
    return v;
#endif
  }
};

#else  // plain

struct Lanes {
  static constexpr std::uint32_t kLanes = 16;
  static constexpr std::uint32_t kParts = 1;
  static constexpr std::uint32_t kBytes = 64;
  static constexpr bool kWholeBytes = true;
  static constexpr const char* kName = "plain";

  struct F32 {
    float lane[kLanes];
  };
  struct I32 {
    std::int32_t lane[kLanes];
  };
  struct B8 {
    std::uint8_t byte[kBytes];
  };
  struct M32 {
    bool lane[kLanes];
  };

  // --- Floats ---
  static HWY_INLINE F32 zero_f32() { return F32{}; }
  static HWY_INLINE F32 set_f32(float x) {
    return make_f32([&](std::uint32_t) { return x; });
  }
  static HWY_INLINE F32 load_f32(const float* at) {
    F32 v;
    std::memcpy(v.lane, at, sizeof v.lane);
    return v;
  }
  static HWY_INLINE void store_f32(float* at, const F32& v) {
    std::memcpy(at, v.lane, sizeof v.lane);
  }
  static HWY_INLINE F32 load_first_f32(const float* at, std::uint32_t n) {
    F32 v{};
    for (std::uint32_t i = 0; i < kLanes && i < n; ++i) v.lane[i] = at[i];
    return v;
  }
  static HWY_INLINE void store_first_f32(float* at, const F32& v, std::uint32_t n) {
    for (std::uint32_t i = 0; i < kLanes && i < n; ++i) at[i] = v.lane[i];
  }
  static HWY_INLINE F32 add(const F32& a, const F32& b) {
    return make_f32([&](std::uint32_t i) { return a.lane[i] + b.lane[i]; });
  }
  static HWY_INLINE F32 sub(const F32& a, const F32& b) {
    return make_f32([&](std::uint32_t i) { return a.lane[i] - b.lane[i]; });
  }
  static HWY_INLINE F32 mul(const F32& a, const F32& b) {
    return make_f32([&](std::uint32_t i) { return a.lane[i] * b.lane[i]; });
  }
  static HWY_INLINE F32 div(const F32& a, const F32& b) {
    return make_f32([&](std::uint32_t i) { return a.lane[i] / b.lane[i]; });
  }
  static HWY_INLINE F32 rounded_mul(const F32& a, const F32& b) {
    return make_f32([&](std::uint32_t i) { return product(a.lane[i], b.lane[i]); });
  }
  static HWY_INLINE F32 mul_add(const F32& a, const F32& b, const F32& c) {
    return make_f32([&](std::uint32_t i) { return a.lane[i] * b.lane[i] + c.lane[i]; });
  }
  static HWY_INLINE F32 neg_mul_add(const F32& a, const F32& b, const F32& c) {
    return make_f32([&](std::uint32_t i) { return c.lane[i] - a.lane[i] * b.lane[i]; });
  }
  static HWY_INLINE F32 lower(const F32& a, const F32& b) {
    return make_f32([&](std::uint32_t i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static HWY_INLINE F32 upper(const F32& a, const F32& b) {
    return make_f32([&](std::uint32_t i) { return b.lane[i] < a.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static HWY_INLINE F32 abs(const F32& a) {
    return make_f32([&](std::uint32_t i) { return magnitude(a.lane[i]); });
  }
  static HWY_INLINE F32 to_f32(const I32& a) {
    return make_f32([&](std::uint32_t i) { return static_cast<float>(a.lane[i]); });
  }
  static HWY_INLINE I32 nearest_i32(const F32& a) {
    return make_i32([&](std::uint32_t i) {
      // Whole numbers beyond 2^22: adding the magic number would cost their last bit.
      if (!(magnitude(a.lane[i]) < 0x1p31f)) return -0x7fffffff - 1;
      return magnitude(a.lane[i]) < 0x1p22f ? static_cast<std::int32_t>(round_to_even(a.lane[i]))
                                            : static_cast<std::int32_t>(std::nearbyint(a.lane[i]));
    });
  }
  static HWY_INLINE I32 bits_i32(const F32& a) {
    I32 v;
    std::memcpy(v.lane, a.lane, sizeof v.lane);
    return v;
  }
  static HWY_INLINE F32 bits_f32(const I32& a) {
    F32 v;
    std::memcpy(v.lane, a.lane, sizeof v.lane);
    return v;
  }
  static HWY_INLINE F32 load_half(const std::uint8_t* at) {
    return make_f32([&](std::uint32_t i) { return to_float(load<Half>(at + 2 * i)); });
  }
  static HWY_INLINE F32 load_bf16(const std::uint8_t* at) {
    return make_f32([&](std::uint32_t i) { return to_float(load<BFloat16>(at + 2 * i)); });
  }
  static HWY_INLINE float sum16(const F32* parts) {
    F32 v = parts[0];
    for (std::uint32_t width = 8; width > 0; width /= 2) {
      for (std::uint32_t i = 0; i < width; ++i) v.lane[i] += v.lane[i + width];
    }
    return v.lane[0];
  }
  static HWY_INLINE float reduce_max(const F32& v) {
    float found = v.lane[0];
    for (std::uint32_t i = 1; i < kLanes; ++i) found = upper_of(found, v.lane[i]);
    return found;
  }
  static HWY_INLINE void sum16_of4(const F32 (&parts)[4][kParts], float* sums) {
    for (std::uint32_t i = 0; i < 4; ++i) sums[i] = sum16(parts[i]);
  }
  static HWY_INLINE void reduce_max_of4(const F32 (&values)[4], float* found) {
    for (std::uint32_t i = 0; i < 4; ++i) found[i] = reduce_max(values[i]);
  }
  static HWY_INLINE float reduce_min(const F32& v) {
    float found = v.lane[0];
    for (std::uint32_t i = 1; i < kLanes; ++i) found = lower_of(found, v.lane[i]);
    return found;
  }

  // --- Masks ---
  static HWY_INLINE M32 first(std::uint32_t n) {
    return make_m32([&](std::uint32_t i) { return i < n; });
  }
  static HWY_INLINE M32 less(const F32& a, const F32& b) {
    return make_m32([&](std::uint32_t i) { return a.lane[i] < b.lane[i]; });
  }
  static HWY_INLINE M32 equal(const F32& a, const F32& b) {
    return make_m32([&](std::uint32_t i) { return a.lane[i] == b.lane[i]; });
  }
  static HWY_INLINE M32 both(const M32& a, const M32& b) {
    return make_m32([&](std::uint32_t i) { return a.lane[i] && b.lane[i]; });
  }
  static HWY_INLINE M32 either(const M32& a, const M32& b) {
    return make_m32([&](std::uint32_t i) { return a.lane[i] || b.lane[i]; });
  }
  static HWY_INLINE M32 negate(const M32& a) {
    return make_m32([&](std::uint32_t i) { return !a.lane[i]; });
  }
  static HWY_INLINE bool any(const M32& a) {
    bool found = false;
    for (std::uint32_t i = 0; i < kLanes; ++i) found = found || a.lane[i];
    return found;
  }
  static HWY_INLINE bool all(const M32& a) { return !any(negate(a)); }
  static HWY_INLINE F32 select(const M32& m, const F32& a, const F32& b) {
    return make_f32([&](std::uint32_t i) { return m.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static HWY_INLINE I32 select(const M32& m, const I32& a, const I32& b) {
    return make_i32([&](std::uint32_t i) { return m.lane[i] ? a.lane[i] : b.lane[i]; });
  }

  // --- Integers: modulo 2^32, as the registers of the other targets ---
  static HWY_INLINE I32 zero_i32() { return I32{}; }
  static HWY_INLINE I32 set_i32(std::int32_t x) {
    return make_i32([&](std::uint32_t) { return x; });
  }
  static HWY_INLINE I32 load_i32(const std::int32_t* at) {
    I32 v;
    std::memcpy(v.lane, at, sizeof v.lane);
    return v;
  }
  static HWY_INLINE void store_i32(std::int32_t* at, const I32& v) {
    std::memcpy(at, v.lane, sizeof v.lane);
  }
  static HWY_INLINE I32 add(const I32& a, const I32& b) {
    return make_i32([&](std::uint32_t i) { return signed_of(bits(a, i) + bits(b, i)); });
  }
  static HWY_INLINE I32 sub(const I32& a, const I32& b) {
    return make_i32([&](std::uint32_t i) { return signed_of(bits(a, i) - bits(b, i)); });
  }
  static HWY_INLINE I32 and_(const I32& a, const I32& b) {
    return make_i32([&](std::uint32_t i) { return a.lane[i] & b.lane[i]; });
  }
  static HWY_INLINE I32 or_(const I32& a, const I32& b) {
    return make_i32([&](std::uint32_t i) { return a.lane[i] | b.lane[i]; });
  }
  template <int kBits>
  static HWY_INLINE I32 shift_left(const I32& a) {
    return make_i32([&](std::uint32_t i) { return signed_of(bits(a, i) << kBits); });
  }
  template <int kBits>
  static HWY_INLINE I32 shift_right(const I32& a) {
    return make_i32([&](std::uint32_t i) { return a.lane[i] >> kBits; });
  }
  static HWY_INLINE I32 load_u8(const std::uint8_t* at) {
    return make_i32([&](std::uint32_t i) { return std::int32_t{at[i]}; });
  }
  static HWY_INLINE I32 load_s8(const std::uint8_t* at) {
    return make_i32([&](std::uint32_t i) { return std::int32_t{static_cast<std::int8_t>(at[i])}; });
  }
  static HWY_INLINE I32 load_u16(const std::uint8_t* at) {
    return make_i32([&](std::uint32_t i) { return std::int32_t{load<std::uint16_t>(at + 2 * i)}; });
  }
  static HWY_INLINE void store_s8(std::uint8_t* at, const I32& v) {
    for (std::uint32_t i = 0; i < kLanes; ++i)
      at[i] = static_cast<std::uint8_t>(lower_of(upper_of(v.lane[i], -128), 127));
  }
  static HWY_INLINE void store_s8_of4(std::uint8_t* at, const I32* v) {
    for (std::uint32_t i = 0; i < 4; ++i) store_s8(at + i * kLanes, v[i]);
  }
  static HWY_INLINE void store_u8(std::uint8_t* at, const I32& v) {
    for (std::uint32_t i = 0; i < kLanes; ++i)
      at[i] = static_cast<std::uint8_t>(lower_of(upper_of(v.lane[i], 0), 255));
  }
  static HWY_INLINE std::int32_t reduce_add(const I32& v) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < kLanes; ++i) sum += bits(v, i);
    return signed_of(sum);
  }
  static HWY_INLINE std::int32_t reduce_max(const I32& v) {
    std::int32_t found = v.lane[0];
    for (std::uint32_t i = 1; i < kLanes; ++i) found = upper_of(found, v.lane[i]);
    return found;
  }

  // --- Bytes ---
  static HWY_INLINE B8 load_b8(const std::uint8_t* at) {
    B8 v;
    std::memcpy(v.byte, at, sizeof v.byte);
    return v;
  }
  static HWY_INLINE void store_b8(std::uint8_t* at, const B8& v) {
    std::memcpy(at, v.byte, sizeof v.byte);
  }
  static HWY_INLINE B8 set_byte(std::uint8_t x) {
    return make_b8([&](std::uint32_t) { return std::uint32_t{x}; });
  }
  static HWY_INLINE B8 bcast4(const std::uint8_t* at) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{at[i % 4]}; });
  }
  static HWY_INLINE B8 bcast16(const std::uint8_t* at) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{at[i % 16]}; });
  }
  static HWY_INLINE B8 load_quarters(const std::uint8_t* from, const std::uint32_t* at) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{from[at[i / 16] + i % 16]}; });
  }
  static HWY_INLINE B8 as_b8(const I32& a) {
    B8 v;
    std::memcpy(v.byte, a.lane, sizeof v.byte);
    return v;
  }
  static HWY_INLINE I32 as_i32(const B8& a) {
    I32 v;
    std::memcpy(v.lane, a.byte, sizeof v.lane);
    return v;
  }
  static HWY_INLINE B8 and_(const B8& a, const B8& b) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{a.byte[i]} & b.byte[i]; });
  }
  static HWY_INLINE B8 or_(const B8& a, const B8& b) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{a.byte[i]} | b.byte[i]; });
  }
  static HWY_INLINE B8 xor_(const B8& a, const B8& b) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{a.byte[i]} ^ b.byte[i]; });
  }
  static HWY_INLINE B8 add(const B8& a, const B8& b) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{a.byte[i]} + b.byte[i]; });
  }
  static HWY_INLINE B8 sub(const B8& a, const B8& b) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{a.byte[i]} - b.byte[i]; });
  }
  static HWY_INLINE B8 lower(const B8& a, const B8& b) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{lower_of(a.byte[i], b.byte[i])}; });
  }
  static HWY_INLINE B8 upper(const B8& a, const B8& b) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{upper_of(a.byte[i], b.byte[i])}; });
  }
  static HWY_INLINE B8 above(const B8& a, const B8& b) {
    return make_b8([&](std::uint32_t i) { return a.byte[i] > b.byte[i] ? 0xffu : 0u; });
  }
  static HWY_INLINE B8 select_bytes(const B8& m, const B8& a, const B8& b) {
    return make_b8([&](std::uint32_t i) {
      return (std::uint32_t{m.byte[i]} & a.byte[i]) | (~std::uint32_t{m.byte[i]} & b.byte[i]);
    });
  }
  static HWY_INLINE B8 select_high(const B8& m, const B8& a, const B8& b) {
    return make_b8(
        [&](std::uint32_t i) { return std::uint32_t{m.byte[i] >= 128 ? a.byte[i] : b.byte[i]}; });
  }
  template <int kBits>
  static HWY_INLINE B8 field(const B8& a, const B8& mask) {
    return make_b8(
        [&](std::uint32_t i) { return (std::uint32_t{a.byte[i]} >> kBits) & mask.byte[i]; });
  }
  template <int kBits>
  static HWY_INLINE B8 field_up(const B8& a, const B8& mask) {
    return make_b8(
        [&](std::uint32_t i) { return (std::uint32_t{a.byte[i]} << kBits) & mask.byte[i]; });
  }
  template <int kBits>
  static HWY_INLINE B8 shift_right(const B8& a) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{a.byte[i]} >> kBits; });
  }
  template <int kBits>
  static HWY_INLINE B8 shift_left(const B8& a) {
    return make_b8([&](std::uint32_t i) { return std::uint32_t{a.byte[i]} << kBits; });
  }
  static HWY_INLINE B8 lookup16(const B8& table, const B8& index) {
    return make_b8([&](std::uint32_t i) {
      return std::uint32_t{table.byte[i / 16 * 16 + (index.byte[i] & 15u)]};
    });
  }
  static HWY_INLINE B8 lookup16_or0(const B8& table, const B8& index) {
    return make_b8([&](std::uint32_t i) {
      return index.byte[i] > 127 ? 0u
                                 : std::uint32_t{table.byte[i / 16 * 16 + (index.byte[i] & 15u)]};
    });
  }
  struct Table64 {
    const std::uint8_t* bytes;
  };
  static HWY_INLINE Table64 load_table64(const std::uint8_t* at) { return {at}; }
  static HWY_INLINE B8 lookup64(const Table64& table, const B8& index) {
    return make_b8(
        [&](std::uint32_t i) { return std::uint32_t{table.bytes[index.byte[i] & 63u]}; });
  }
  struct Table128 {
    const std::uint8_t* bytes;
  };
  static HWY_INLINE Table128 load_table128(const std::uint8_t* at) { return {at}; }
  static HWY_INLINE B8 lookup128(const Table128& table, const B8& index) {
    return make_b8(
        [&](std::uint32_t i) { return std::uint32_t{table.bytes[index.byte[i] & 127u]}; });
  }
  static HWY_INLINE I32 dot_u7s8(const I32& acc, const B8& u, const B8& s) {
    return make_i32([&](std::uint32_t i) {
      std::int32_t sum = acc.lane[i];
      for (std::uint32_t k = 0; k < 4; ++k)
        sum += std::int32_t{u.byte[4 * i + k]} * static_cast<std::int8_t>(s.byte[4 * i + k]);
      return sum;
    });
  }
  static HWY_INLINE I32 dot_u8s8(const I32& acc, const B8& u, const B8& s) {
    return dot_u7s8(acc, u, s);
  }
  static HWY_INLINE I32 dot_u8u4(const I32& acc, const B8& u, const B8& s) {
    return make_i32([&](std::uint32_t i) {
      std::int32_t sum = acc.lane[i];
      for (std::uint32_t k = 4 * i; k < 4 * i + 4; ++k)
        sum += std::int32_t{u.byte[k]} * std::int32_t{s.byte[k]};
      return sum;
    });
  }
  static HWY_INLINE I32 dot_s8s8(const I32& acc, const B8& a, const B8& b) {
    return make_i32([&](std::uint32_t i) {
      std::int32_t sum = acc.lane[i];
      for (std::uint32_t k = 4 * i; k < 4 * i + 4; ++k)
        sum += static_cast<std::int8_t>(a.byte[k]) * static_cast<std::int8_t>(b.byte[k]);
      return sum;
    });
  }
  static HWY_INLINE I32 dot_u7s8_at(const I32& acc, const B8& u, const std::uint8_t* s) {
    return dot_u7s8(acc, u, bcast4(s));
  }
  static HWY_INLINE I32 dot_u8s8_at(const I32& acc, const B8& u, const std::uint8_t* s) {
    return dot_u7s8(acc, u, bcast4(s));
  }

 private:
  template <class Lane>
  static HWY_INLINE F32 make_f32(Lane lane) {
    F32 v;
    for (std::uint32_t i = 0; i < kLanes; ++i) v.lane[i] = lane(i);
    return v;
  }
  template <class Lane>
  static HWY_INLINE I32 make_i32(Lane lane) {
    I32 v;
    for (std::uint32_t i = 0; i < kLanes; ++i) v.lane[i] = lane(i);
    return v;
  }
  template <class Lane>
  static HWY_INLINE M32 make_m32(Lane lane) {
    M32 v;
    for (std::uint32_t i = 0; i < kLanes; ++i) v.lane[i] = lane(i);
    return v;
  }
  template <class Byte>
  static HWY_INLINE B8 make_b8(Byte byte) {
    B8 v;
    for (std::uint32_t i = 0; i < kBytes; ++i) v.byte[i] = static_cast<std::uint8_t>(byte(i));
    return v;
  }
  static HWY_INLINE std::uint32_t bits(const I32& a, std::uint32_t i) {
    return static_cast<std::uint32_t>(a.lane[i]);
  }
  static HWY_INLINE std::int32_t signed_of(std::uint32_t x) { return static_cast<std::int32_t>(x); }
};

#endif

// What is no operation of a target but built from them.
struct LaneTools : Lanes {
  // Hides from the compiler where a pointer comes from. g++ hoists broadcasts of a query out of the
  // loop over tokens and spills them; behind this it does not know that they are the same.
  template <class T>
  static HWY_INLINE T* opaque(T* pointer) {
#if defined(__GNUC__)
    asm("" : "+r"(pointer));
#endif
    return pointer;
  }
  // Into the second level (abi.h says why).
  static HWY_INLINE void prefetch(const std::uint8_t* at) {
#if defined(__GNUC__)
    __builtin_prefetch(at, 0, 2);
#else
    static_cast<void>(at);
#endif
  }
  // Of what lies `bytes` further, in another block: no object holds both.
  static HWY_INLINE void prefetch_from(const std::uint8_t* at, std::intptr_t bytes) {
    prefetch(reinterpret_cast<const std::uint8_t*>(reinterpret_cast<std::intptr_t>(at) + bytes));
  }
  // What to ask for while run r is worked on (abi.h), or null.
  template <class Arguments>
  static HWY_INLINE const BlockRun* run_ahead(const Arguments& a, std::uint32_t r) {
    const std::uint32_t at = r + abi::kRunsAhead;
    if (at < a.run_count) return a.runs + at;
    return at - a.run_count < a.ahead_count ? a.ahead + (at - a.run_count) : nullptr;
  }
  // Bytes from the block of run r to that one's; 0 if there is none.
  template <class Arguments>
  static HWY_INLINE std::intptr_t to_next(const Arguments& a, std::uint32_t r) {
    return distance(a.runs[r].bytes.block, run_ahead(a, r));
  }
  static HWY_INLINE std::intptr_t distance(const std::uint8_t* block, const BlockRun* next) {
    if (next == nullptr) return 0;
    return reinterpret_cast<std::intptr_t>(next->bytes.block) -
           reinterpret_cast<std::intptr_t>(block);
  }
  static constexpr std::uint32_t side_bytes(abi::Side side) {
    return side == abi::Side::kFloat ? 4 : side == abi::Side::kLogScale8 ? 1 : 2;
  }
  // kLanes stored scales in a row. Halves are what nearly every format stores.
  static HWY_INLINE F32 load_side(abi::Side side, const std::uint8_t* at) {
    if (HWY_LIKELY(side == abi::Side::kHalf)) return load_half(at);
    return load_other_side(side, at);
  }

 private:
  static HWY_NOINLINE F32 load_other_side(abi::Side side, const std::uint8_t* at) {
    if (side == abi::Side::kHalf) return load_half(at);
    if (side == abi::Side::kBFloat16) return load_bf16(at);
    float values[kLanes];
    if (side == abi::Side::kFloat) {
      std::memcpy(values, at, sizeof values);
    } else {
      for (std::uint32_t i = 0; i < kLanes; ++i) values[i] = log_scale::kValues[at[i]];
    }
    return load_f32(values);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
