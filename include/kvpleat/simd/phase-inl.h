// Transforms that are not rotations, on vectors. The phase-centred forward, equal to PhaseCenter
// (transform/center.h) to the bit: the integer polynomials of cos_sin (transform/rope.h) in lanes
// of 64 bits, and its products in double.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

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
  // Sines and cosines as floats.
  static void fill(const std::uint64_t* turns, std::uint32_t pairs, const abi::PhaseAngles& to) {
    const Floats half;
    const U u64;
    const VD unit = hn::Set(O::D(), kUnit);
    const auto position = static_cast<std::uint64_t>(to.position);
    for (std::uint32_t i = 0; i < pairs; i += O::kDoubles) {
      alignas(64) std::uint64_t step[O::kDoubles] = {};
      alignas(64) std::uint64_t phase[O::kDoubles] = {};
      for (std::uint32_t k = 0; k < O::kDoubles && i + k < pairs; ++k) {
        step[k] = turns[i + k];
        phase[k] = step[k] * position;
      }
      const VU steps = hn::Load(u64, step);
      VU next = hn::Load(u64, phase);
      const auto some = [&]<std::uint32_t kCount>(std::uint32_t t) HWY_ATTR {
        VU now[kCount];
        VD sine[kCount];
        VD cosine[kCount];
        KVPLEAT_UNROLL
        for (std::uint32_t k = 0; k < kCount; ++k, next = hn::Add(next, steps)) now[k] = next;
        angles(now, sine, cosine);
        KVPLEAT_UNROLL
        for (std::uint32_t k = 0; k < kCount; ++k) {
          const std::size_t at = std::size_t{t + k} * to.stride + i;
          hn::StoreU(hn::DemoteTo(half, hn::Mul(sine[k], unit)), half, to.sines + at);
          hn::StoreU(hn::DemoteTo(half, hn::Mul(cosine[k], unit)), half, to.cosines + at);
        }
      };
      std::uint32_t t = 0;
      for (; t + kRows <= to.count; t += kRows) some.template operator()<kRows>(t);
      for (; t < to.count; ++t) some.template operator()<1>(t);
    }
  }

 private:
  static constexpr std::uint32_t kPairs = Rope::kMaxPairs + 16;
  // Rows whose pairs are turned one after the other: what belongs to the pairs is loaded once. Not
  // more, since the rows of a head often lie 4 KiB apart, in the same eight lines of L1.
  static constexpr std::uint32_t kRows = 4;

  template <bool kRestore>
  static HWY_INLINE void run(const abi::PhaseArguments& a) {
    if (a.angles != nullptr)
      return a.halves ? run<kRestore, true>(a, *a.angles) : run<kRestore, false>(a, *a.angles);
    return a.halves ? run<kRestore, true>(a) : run<kRestore, false>(a);
  }
  // With angles that are known.
  template <bool kRestore, bool kHalves>
  static HWY_INLINE void run(const abi::PhaseArguments& a, const abi::PhaseAngles& angles) {
    const std::uint32_t pairs = a.rotated / 2;
    alignas(64) float first[kPairs];
    alignas(64) float second[kPairs];
    load_mean<kHalves>(a, pairs, first, second);
    const auto skipped = static_cast<std::size_t>(a.position - angles.position);
    for (std::uint32_t t = 0; t < a.count; ++t) {
      const float* row = a.rows + t * a.stride;
      float* to = a.to + t * a.to_stride;
      const float* sines = angles.sines + (skipped + t) * angles.stride;
      const float* cosines = angles.cosines + (skipped + t) * angles.stride;
      for (std::uint32_t i = 0; i < pairs; i += O::kDoubles) {
        turn_pairs<kRestore, kHalves>(row, i, pairs, O::to_double(sines + i),
                                      O::to_double(cosines + i), O::to_double(first + i),
                                      O::to_double(second + i), to);
      }
      move<kRestore>(row + a.rotated, a.mean + a.rotated, a.dim - a.rotated, to + a.rotated);
    }
  }
  // The mean of pairs one after the other, filled up with zeros.
  template <bool kHalves>
  static HWY_INLINE void load_mean(const abi::PhaseArguments& a, std::uint32_t pairs, float* first,
                                   float* second) {
    for (std::uint32_t i = 0; i < pairs; ++i) {
      first[i] = a.mean[kHalves ? i : 2 * i];
      second[i] = a.mean[kHalves ? i + pairs : 2 * i + 1];
    }
    for (std::uint32_t i = pairs; i < round_up(pairs, O::kDoubles); ++i)
      first[i] = second[i] = 0.0f;
  }
  template <bool kRestore, bool kHalves>
  static HWY_INLINE void run(const abi::PhaseArguments& a) {
    const std::uint32_t pairs = a.rotated / 2;
    // Pairs one after the other, filled up with pairs of zeros that do not turn.
    alignas(64) float first[kPairs];
    alignas(64) float second[kPairs];
    alignas(64) std::uint64_t phase[kPairs];
    alignas(64) std::uint64_t turns[kPairs];
    const auto position = static_cast<std::uint64_t>(a.position);
    load_mean<kHalves>(a, pairs, first, second);
    for (std::uint32_t i = 0; i < pairs; ++i) {
      turns[i] = a.turns[i];
      phase[i] = turns[i] * position;
    }
    for (std::uint32_t i = pairs; i < round_up(pairs, O::kDoubles); ++i) {
      turns[i] = phase[i] = 0;
    }
    for (std::uint32_t done = 0; done < a.count;) {
      const float* rows = a.rows + done * a.stride;
      float* to = a.to + done * a.to_stride;
      std::uint32_t n = 1;
      if (done + kRows <= a.count) {
        n = kRows;
        turn<kRestore, kHalves, kRows>(a, pairs, first, second, turns, phase, rows, to);
      } else {
        turn<kRestore, kHalves, 1>(a, pairs, first, second, turns, phase, rows, to);
      }
      for (std::uint32_t t = 0; t < n; ++t) {
        move<kRestore>(rows + t * a.stride + a.rotated, a.mean + a.rotated, a.dim - a.rotated,
                       to + t * a.to_stride + a.rotated);
      }
      done += n;
    }
  }
  // The rotated channels of kCount rows; phases become those of the next row.
  template <bool kRestore, bool kHalves, std::uint32_t kCount>
  static HWY_INLINE void turn(const abi::PhaseArguments& a, std::uint32_t pairs, const float* first,
                              const float* second, const std::uint64_t* turns, std::uint64_t* phase,
                              const float* rows, float* to) {
    const U u64;
    const O::D f64;
    for (std::uint32_t i = 0; i < pairs; i += O::kDoubles) {
      const VU step = hn::Load(u64, turns + i);
      VU now[kCount];
      VU next = hn::Load(u64, phase + i);
      KVPLEAT_UNROLL
      for (std::uint32_t t = 0; t < kCount; ++t) {
        now[t] = next;
        next = hn::Add(next, step);
      }
      hn::Store(next, u64, phase + i);
      VD sine[kCount];
      VD cosine[kCount];
      angles(now, sine, cosine);
      const VD unit = hn::Set(f64, kUnit);
      const VD x = hn::Mul(O::to_double(first + i), unit);
      const VD y = hn::Mul(O::to_double(second + i), unit);
      KVPLEAT_UNROLL
      for (std::uint32_t t = 0; t < kCount; ++t) {
        turn_pairs<kRestore, kHalves>(rows + t * a.stride, i, pairs, sine[t], cosine[t], x, y,
                                      to + t * a.to_stride);
      }
    }
  }
  // Pairs [i, i + kDoubles) of a row, less or plus (x, y) turned.
  template <bool kRestore, bool kHalves>
  static HWY_INLINE void turn_pairs(const float* row, std::uint32_t i, std::uint32_t pairs, VD sine,
                                    VD cosine, VD x, VD y, float* to) {
    // Products of floats are exact in double: fused or not, the sum is rounded once.
    const VD turned_x = hn::NegMulAdd(sine, y, hn::Mul(cosine, x));
    const VD turned_y = hn::MulAdd(sine, x, hn::Mul(cosine, y));
    move_pairs<kRestore, kHalves>(row, i, pairs, hn::DemoteTo(Floats(), turned_x),
                                  hn::DemoteTo(Floats(), turned_y), to);
  }
  // Pairs [i, i + kDoubles) of a row, as far as there are so many.
  template <bool kRestore, bool kHalves>
  static HWY_INLINE void move_pairs(const float* row, std::uint32_t i, std::uint32_t pairs,
                                    hn::Vec<Floats> x, hn::Vec<Floats> y, float* to) {
    const Floats half;
    const auto moved = [&](const float* from, hn::Vec<Floats> mean) HWY_ATTR {
      const auto v = hn::LoadU(half, from);
      return kRestore ? hn::Add(v, mean) : hn::Sub(v, mean);
    };
    if (i + O::kDoubles <= pairs) {
      if constexpr (kHalves) {
        hn::StoreU(moved(row + i, x), half, to + i);
        hn::StoreU(moved(row + pairs + i, y), half, to + pairs + i);
      } else {
        alignas(64) float joined[2 * O::kDoubles];
        hn::StoreInterleaved2(x, y, half, joined);
        move<kRestore>(row + 2 * i, joined, 2 * O::kDoubles, to + 2 * i);
      }
      return;
    }
    alignas(64) float last[2][O::kDoubles];
    hn::Store(x, half, last[0]);
    hn::Store(y, half, last[1]);
    for (std::uint32_t k = 0; i + k < pairs; ++k) {
      for (std::uint32_t j = 0; j < 2; ++j) {
        const std::uint32_t c = kHalves ? j * pairs + i + k : 2 * (i + k) + j;
        to[c] = kRestore ? row[c] + last[j][k] : row[c] - last[j][k];
      }
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

  // Sines and cosines of kDoubles phases in each register, over kUnit.
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
  // The integers of cos_sin as multiples of 2^-32 in double. A product of two of them has 66 bits:
  // added to 2^20, and rounded down, it loses what the integer code shifts out; taken away from a
  // coefficient and 2^20, and rounded up, likewise. 2^20 itself is taken away exactly.
  static constexpr double kUnit = 1.0;
  static constexpr double kShift = 0x1p20;
  static HWY_INLINE VD plus_product(VD a, VD b) {
    const __m512d shift = _mm512_set1_pd(kShift);
    return VD{_mm512_sub_pd(
        _mm512_fmadd_round_pd(a.raw, b.raw, shift, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
        shift)};
  }
  // coefficient: times 2^32.
  static HWY_INLINE VD minus_product(double coefficient, VD a, VD b) {
    const __m512d from = _mm512_set1_pd(coefficient * 0x1p-32 + kShift);
    return VD{_mm512_sub_pd(
        _mm512_fnmadd_round_pd(a.raw, b.raw, from, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC),
        _mm512_set1_pd(kShift))};
  }
  static HWY_INLINE VD rounded(VD x) {
    return VD{_mm512_cvtps_pd(_mm512_cvtpd_ps(x.raw))};
  }
  // In step for all registers: a product and its difference wait for those before them.
  template <std::uint32_t kCount>
  static HWY_INLINE void angles(const VU (&phase)[kCount], VD (&sine)[kCount],
                                VD (&cosine)[kCount]) {
    const O::D f64;
    const U u64;
    VD along[kCount];
    VD z[kCount];
    VD s[kCount];
    VD c[kCount];
    __mmask8 swap[kCount];
    KVPLEAT_UNROLL
    for (std::uint32_t t = 0; t < kCount; ++t) {
      const VU place = hn::ShiftRight<30>(phase[t]);  // the quadrant, and where in it in 2^-32
      // The lower 32 bits, under the exponent of 2^20.
      const VU within{_mm512_ternarylogic_epi64(place.raw, _mm512_set1_epi64(0xffffffff),
                                                _mm512_set1_epi64(0x4130000000000000), 0xea)};
      const VD x = hn::Sub(hn::BitCast(f64, within), hn::Set(f64, kShift));
      along[t] = hn::Min(x, hn::Sub(hn::Set(f64, 1.0), x));  // mirrored above a half
      // Odd quadrants swap the two, and so does the second octant: bit 32, when what is above a
      // half is carried into it.
      const VU carried = hn::Add(place, constant(0x7fffffff));
      swap[t] = _mm512_test_epi64_mask(carried.raw, _mm512_set1_epi64(0x100000000));
      z[t] = plus_product(along[t], along[t]);
    }
    KVPLEAT_UNROLL
    for (std::uint32_t t = 0; t < kCount; ++t) {
      s[t] = minus_product(20107981.0, hn::Set(f64, 689090.0 * 0x1p-32), z[t]);
      c[t] = minus_product(3948193.0, hn::Set(f64, 108242.0 * 0x1p-32), z[t]);
    }
    static constexpr double kSine[3] = {342277223.0, 2774394673.0, 6746518852.0};
    static constexpr double kCosine[4] = {89607968.0, 1089502240.0, 5298703516.0, 0x1p32};
    KVPLEAT_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k) {
      KVPLEAT_UNROLL
      for (std::uint32_t t = 0; t < kCount; ++t) {
        s[t] = k < 3 ? minus_product(kSine[k], s[t], z[t]) : plus_product(s[t], along[t]);
        c[t] = minus_product(kCosine[k], c[t], z[t]);
      }
    }
    // The upper bit of the quadrant is the sine's sign, that of the next one the cosine's.
    const auto with_sign = [&](VD v, VU sign) HWY_ATTR {
      const VU bits = hn::BitCast(u64, rounded(v));
      return hn::BitCast(
          f64, VU{_mm512_ternarylogic_epi64(
                   bits.raw, sign.raw, _mm512_set1_epi64(std::numeric_limits<std::int64_t>::min()),
                   0x78)});
    };
    KVPLEAT_UNROLL
    for (std::uint32_t t = 0; t < kCount; ++t) {
      const VD first{_mm512_mask_blend_pd(swap[t], s[t].raw, c[t].raw)};
      const VD second{_mm512_mask_blend_pd(swap[t], c[t].raw, s[t].raw)};
      sine[t] = with_sign(first, phase[t]);
      cosine[t] = with_sign(second, hn::Add(phase[t], constant(std::uint64_t{1} << 62)));
    }
  }
#else
  static constexpr double kUnit = 0x1p-32;
  // (a * b) >> 32 of numbers below 2^32.
  static HWY_INLINE VU times(VU a, VU b) {
    const hn::Repartition<std::uint32_t, U> u32;
    return hn::ShiftRight<32>(hn::MulEven(hn::BitCast(u32, a), hn::BitCast(u32, b)));
  }
  // The same where a is 2^32 or more, and below 2^33: `rest` is a - 2^32.
  static HWY_INLINE VU times_above(VU rest, VU b) {
    return hn::Add(b, times(rest, b));
  }
  // A number up to 2^32 as a float, in double.
  static HWY_INLINE VD rounded(VU x) {
    const O::D f64;
    const VU biased = hn::Or(x, constant(0x4330000000000000u));
    const VD exact = hn::Sub(hn::BitCast(f64, biased), hn::Set(f64, 0x1p52));
    return hn::PromoteTo(f64, hn::DemoteTo(Floats(), exact));
  }
  template <std::uint32_t kCount>
  static HWY_INLINE void angles(const VU (&phase)[kCount], VD (&sine)[kCount],
                                VD (&cosine)[kCount]) {
    for (std::uint32_t t = 0; t < kCount; ++t) angle(phase[t], &sine[t], &cosine[t]);
  }
  static HWY_INLINE void angle(VU phase, VD* sine_of, VD* cosine_of) {
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
    *sine_of = sine;
    *cosine_of = cosine;
  }
#endif
  static HWY_INLINE VU constant(std::uint64_t x) {
    return hn::Set(U(), x);
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
