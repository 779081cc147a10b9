// Transforms that are not rotations, on vectors. The phase-centred forward, equal to PhaseCenter
// (transform/center.h) to the bit: the integer polynomials of cos_sin (transform/rope.h) in lanes
// of 64 bits, and its products in double.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/encode_ops-inl.h"
#include "kvpleat/transform/rope.h"

#if defined(KVPLEAT_SIMD_PHASE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_PHASE_INL_H_
#undef KVPLEAT_SIMD_PHASE_INL_H_
#else
#define KVPLEAT_SIMD_PHASE_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

#if KVPLEAT_VECTOR_CODECS

struct PhaseRows {
  using O = CodecOps;
  using U = hn::RebindToUnsigned<O::D>;
  using VU = hn::Vec<U>;
  using VD = O::VD;
  using Floats = hn::Rebind<float, O::D>;

  static void run(const abi::PhaseArguments& a) { return a.restore ? run<true>(a) : run<false>(a); }

 private:
  static constexpr std::uint32_t kPairs = Rope::kMaxPairs + 16;

  template <bool kRestore>
  static HWY_INLINE void run(const abi::PhaseArguments& a) {
    const std::uint32_t pairs = a.rotated / 2;
    // Pairs one after the other, filled up with pairs of zeros that do not turn. Times 2^-32: sines
    // and cosines come as integers of that unit.
    alignas(64) double first[kPairs];
    alignas(64) double second[kPairs];
    alignas(64) std::uint64_t phase[kPairs];
    alignas(64) std::uint64_t turns[kPairs];
    for (std::uint32_t i = 0; i < round_up(pairs, O::kDoubles); ++i) {
      const bool some = i < pairs;
      first[i] = some ? 0x1p-32 * static_cast<double>(a.mean[a.halves ? i : 2 * i]) : 0.0;
      second[i] =
          some ? 0x1p-32 * static_cast<double>(a.mean[a.halves ? i + pairs : 2 * i + 1]) : 0.0;
      turns[i] = some ? a.turns[i] : 0;
      phase[i] = turns[i] * static_cast<std::uint64_t>(a.position);
    }
    alignas(64) double sines[kPairs];
    alignas(64) double cosines[kPairs];
    alignas(64) float turned[2][kPairs];
    for (std::uint32_t t = 0; t < a.count; ++t) {
      for (std::uint32_t i = 0; i < pairs; i += O::kDoubles) {
        const U u64;
        const VU now = hn::Load(u64, phase + i);
        angle(now, sines + i, cosines + i);
        hn::Store(hn::Add(now, hn::Load(u64, turns + i)), u64, phase + i);
      }
      for (std::uint32_t i = 0; i < pairs; i += O::kDoubles) {
        turn(hn::Load(O::D(), sines + i), hn::Load(O::D(), cosines + i),
             hn::Load(O::D(), first + i), hn::Load(O::D(), second + i), turned[0] + i,
             turned[1] + i);
      }
      const float* row = a.rows + t * a.stride;
      float* to = a.to + t * a.to_stride;
      if (a.halves) {
        move<kRestore>(row, turned[0], pairs, to);
        move<kRestore>(row + pairs, turned[1], pairs, to + pairs);
      } else {
        alignas(64) float joined[2 * kPairs];
        const O::F f32;
        for (std::uint32_t i = 0; i < pairs; i += O::kLanes) {
          hn::StoreInterleaved2(hn::Load(f32, turned[0] + i), hn::Load(f32, turned[1] + i), f32,
                                joined + 2 * i);
        }
        move<kRestore>(row, joined, a.rotated, to);
      }
      move<kRestore>(row + a.rotated, a.mean + a.rotated, a.dim - a.rotated, to + a.rotated);
    }
  }
  template <bool kRestore>
  static HWY_INLINE void move(const float* row, const float* center, std::uint32_t n, float* to) {
    const O::F f32;
    std::uint32_t c = 0;
    for (; c + O::kLanes <= n; c += O::kLanes) {
      const O::VF x = hn::LoadU(f32, row + c);
      const O::VF mean = hn::LoadU(f32, center + c);
      hn::StoreU(kRestore ? hn::Add(x, mean) : hn::Sub(x, mean), f32, to + c);
    }
    for (; c < n; ++c) to[c] = kRestore ? row[c] + center[c] : row[c] - center[c];
  }
  // (a * b) >> 32 of numbers below 2^32.
  static HWY_INLINE VU times(VU a, VU b) {
    const hn::Repartition<std::uint32_t, U> u32;
    return hn::ShiftRight<32>(hn::MulEven(hn::BitCast(u32, a), hn::BitCast(u32, b)));
  }
  // The same where a is 2^32 or more, and below 2^33: `rest` is a - 2^32.
  static HWY_INLINE VU times_above(VU rest, VU b) { return hn::Add(b, times(rest, b)); }
  static HWY_INLINE VU constant(std::uint64_t x) { return hn::Set(U(), x); }
  // A number up to 2^32 as a float, in double.
  static HWY_INLINE VD rounded(VU x) {
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    return VD{_mm512_cvtps_pd(_mm512_cvtepu64_ps(x.raw))};
#else
    const O::D f64;
    const VU biased = hn::Or(x, constant(0x4330000000000000u));
    const VD exact = hn::Sub(hn::BitCast(f64, biased), hn::Set(f64, 0x1p52));
    return hn::PromoteTo(f64, hn::DemoteTo(Floats(), exact));
#endif
  }
  // Sines and cosines of kDoubles phases, times 2^32.
  static HWY_INLINE void angle(VU phase, double* sines, double* cosines) {
    const O::D f64;
    const U u64;
    const VU one = constant(1);
    const VU whole = constant(std::uint64_t{1} << 32);
    VU z = hn::And(hn::ShiftRight<30>(phase), constant(0xffffffffu));
    // Bit 31 and more below it: the second octant. At 2^31 itself both functions are the same
    // distance away; the plain code does not mirror there.
    const auto mirrored =
        hn::RebindMask(u64, hn::Gt(hn::BitCast(hn::RebindToSigned<U>(), z),
                                   hn::Set(hn::RebindToSigned<U>(), std::int64_t{0x80000000})));
    const VU along = hn::IfThenElse(mirrored, hn::Sub(whole, z), z);
    z = times(along, along);
    VU s = constant(689090u);
    s = hn::Sub(constant(20107981u), times(s, z));
    s = hn::Sub(constant(342277223u), times(s, z));
    s = hn::Sub(constant(2774394673u), times(s, z));
    s = hn::Sub(constant(6746518852u - (std::uint64_t{1} << 32)), times(s, z));
    s = times_above(s, along);
    VU c = constant(108242u);
    c = hn::Sub(constant(3948193u), times(c, z));
    c = hn::Sub(constant(89607968u), times(c, z));
    c = hn::Sub(constant(1089502240u), times(c, z));
    c = hn::Sub(constant(5298703516u - (std::uint64_t{1} << 32)), times(c, z));
    c = hn::Sub(whole, times_above(c, z));
    // Odd quadrants swap the two once more.
    const VU quadrant = hn::ShiftRight<62>(phase);
    const VU odd = hn::And(quadrant, one);
    const VU high = hn::ShiftRight<1>(quadrant);
    const auto swapped = hn::Xor(hn::VecFromMask(u64, mirrored), hn::Sub(hn::Zero(u64), odd));
    const auto swap = hn::MaskFromVec(swapped);
    const VD sine_size = rounded(hn::IfThenElse(swap, c, s));
    const VD cosine_size = rounded(hn::IfThenElse(swap, s, c));
    const VD sine = hn::Xor(sine_size, hn::BitCast(f64, hn::ShiftLeft<63>(high)));
    const VD cosine = hn::Xor(cosine_size, hn::BitCast(f64, hn::ShiftLeft<63>(hn::Xor(odd, high))));
    hn::Store(sine, f64, sines);
    hn::Store(cosine, f64, cosines);
  }
  // kDoubles pairs (x, y) times 2^-32, turned by what angle gives.
  static HWY_INLINE void turn(VD sine, VD cosine, VD x, VD y, float* first, float* second) {
    // Products of floats are exact in double: fused or not, the sum is rounded once.
    const VD turned_x = hn::NegMulAdd(sine, y, hn::Mul(cosine, x));
    const VD turned_y = hn::MulAdd(sine, x, hn::Mul(cosine, y));
    hn::StoreU(hn::DemoteTo(Floats(), turned_x), Floats(), first);
    hn::StoreU(hn::DemoteTo(Floats(), turned_y), Floats(), second);
  }
};

// Rows as they are: their largest, and one number per channel.
struct PlainRows {
  using O = CodecOps;

  // The bits of the largest magnitude, in the order of largest_magnitude (core/numeric.h).
  static std::uint32_t largest(const float* rows, std::size_t stride, std::uint32_t count,
                               std::uint32_t dim) {
    const O::Int i32;
    const O::VI magnitude = hn::Set(i32, 0x7fffffff);
    O::VI most[2] = {hn::Zero(i32), hn::Zero(i32)};
    std::uint32_t rest = 0;
    for (std::uint32_t t = 0; t < count; ++t) {
      const float* row = rows + t * stride;
      std::uint32_t c = 0;
      for (; c + 2 * O::kLanes <= dim; c += 2 * O::kLanes) {
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < 2; ++i) {
          const O::VI x = hn::BitCast(i32, hn::LoadU(O::F(), row + c + i * O::kLanes));
          most[i] = hn::Max(most[i], hn::And(x, magnitude));
        }
      }
      for (; c < dim; ++c) {
        const auto bits = __builtin_bit_cast(std::uint32_t, row[c]) & 0x7fffffffu;
        rest = upper_of(rest, bits);
      }
    }
    const O::VI all = hn::MaxOfLanes(i32, hn::Max(most[0], most[1]));
    return upper_of(rest, static_cast<std::uint32_t>(hn::GetLane(all)));
  }
  // Raw blocks: elements one after the other (format/raw.h). Rows are finite.
  static void narrow(const abi::RawView& view, const abi::EncodeArguments& a) {
    switch (view.element) {
      case abi::Element::kHalf:
        return narrow<abi::Side::kHalf>(view.dim, a);
      case abi::Element::kBFloat16:
        return narrow<abi::Side::kBFloat16>(view.dim, a);
      default:
        for (std::uint32_t t = 0; t < a.count; ++t) {
          std::memcpy(a.block + std::size_t{a.slot + t} * view.dim * 4, a.rows + t * a.stride,
                      view.dim * sizeof(float));
        }
    }
  }
  static void widen(const abi::RawView& view, const abi::DecodeArguments& a) {
    const abi::Side side = view.element == abi::Element::kHalf       ? abi::Side::kHalf
                           : view.element == abi::Element::kBFloat16 ? abi::Side::kBFloat16
                                                                     : abi::Side::kFloat;
    const std::size_t bytes = std::size_t{view.dim} * SideAccess::bytes(side);
    for (std::uint32_t t = 0; t < a.count; ++t) {
      const std::uint8_t* from = a.bytes.block + (a.slot + t) * bytes;
      float* row = a.rows + t * a.stride;
      if (side == abi::Side::kFloat) {
        std::memcpy(row, from, bytes);
      } else {
        SideAccess::load_run(side, from, view.dim, row);
      }
    }
  }
  static void balance(const abi::BalanceArguments& a) {
    return a.restore ? balance<true>(a) : balance<false>(a);
  }

 private:
  template <bool kRestore>
  static HWY_INLINE void balance(const abi::BalanceArguments& a) {
    const O::F f32;
    for (std::uint32_t t = 0; t < a.count; ++t) {
      const float* row = a.rows + t * a.stride;
      float* to = a.to + t * a.to_stride;
      std::uint32_t c = 0;
      for (; c + O::kLanes <= a.dim; c += O::kLanes) {
        const O::VF x = hn::LoadU(f32, row + c);
        O::VF scale = hn::LoadU(f32, a.scale + c);
        scale = hn::IfThenElse(hn::Gt(scale, hn::Zero(f32)), scale, hn::Set(f32, 1.0f));
        hn::StoreU(kRestore ? hn::Mul(x, scale) : hn::Div(x, scale), f32, to + c);
      }
      for (; c < a.dim; ++c) {
        const float scale = a.scale[c] > 0.0f ? a.scale[c] : 1.0f;
        to[c] = kRestore ? product(row[c], scale) : row[c] / scale;
      }
    }
  }
  template <abi::Side kSide>
  static HWY_INLINE void narrow(std::uint32_t dim, const abi::EncodeArguments& a) {
    const hn::Rebind<std::uint16_t, O::U> u16;
    for (std::uint32_t t = 0; t < a.count; ++t) {
      const float* row = a.rows + t * a.stride;
      std::uint8_t* to = a.block + std::size_t{a.slot + t} * dim * 2;
      std::uint32_t c = 0;
      for (; c + O::kLanes <= dim; c += O::kLanes) {
        const O::VF x = hn::LoadU(O::F(), row + c);
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
        if constexpr (kSide == abi::Side::kHalf) {
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 2 * c),
                              _mm512_cvtps_ph(x.raw, _MM_FROUND_TO_NEAREST_INT));
          continue;
        }
#endif
        const auto bits = hn::BitCast(hn::RebindToSigned<O::U>(), SideOps<kSide>::nearest(x));
        hn::StoreU(hn::DemoteTo(u16, bits), u16, reinterpret_cast<std::uint16_t*>(to + 2 * c));
      }
      for (; c < dim; ++c) {
        const std::uint16_t bits =
            kSide == abi::Side::kHalf ? to_half(row[c]).bits : to_bfloat16(row[c]).bits;
        store(to + 2 * c, bits);
      }
    }
  }
};

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
