// Softmax of one row of scores. What each function does: ReferenceKernels (reference.h).
//
// Sums are kept in 16 partial sums by t mod 16, then added pairwise: they do not depend on the
// width of a register.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_SOFTMAX_INL_H_
#undef KVPLEAT_SIMD_SOFTMAX_INL_H_
#else
#define KVPLEAT_SIMD_SOFTMAX_INL_H_
#endif

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

struct Softmax {
  using L = LaneTools;
  using F32 = L::F32;
  using M32 = L::M32;

  // exp(x) for x <= 88; 0 below -60, where weights are too small to matter and denormals would be
  // slow; NaN for NaN; 1 for 0. Relative error at most 3e-7:
  //   x = r * ln2 + f, r an integer, |f| <= ln2 / 2. The first product below is exact (ln2 has 10
  //   bits there, r at most 7), its difference to x as well (Sterbenz), and the second errs by at
  //   most 2^-24 * ln2 / 2 + 2^-24 * 87 * 2.2e-4 < 2.3e-8;
  //   e^f by a polynomial of degree 5, least largest relative error with the first two coefficients
  //   1: 1.52e-7, with its roundings 2.3e-7 over all floats f, with or without FMA;
  //   2^r exact.
  static HWY_INLINE F32 exp(F32 x) {
    // The sum's last bits are the nearest integer of x / ln2, plus 127: the exponent of a float.
    const F32 shifted = L::mul_add(x, L::set_f32(1.44269504f), L::set_f32(0x1.8p23f + 127.0f));
    const F32 r = L::sub(shifted, L::set_f32(0x1.8p23f + 127.0f));
    const F32 f = L::neg_mul_add(r, L::set_f32(-2.12194440e-4f),
                                 L::neg_mul_add(r, L::set_f32(0.693359375f), x));
    F32 y = L::set_f32(kPolynomial[5]);
    y = L::mul_add(y, f, L::set_f32(kPolynomial[4]));
    y = L::mul_add(y, f, L::set_f32(kPolynomial[3]));
    y = L::mul_add(y, f, L::set_f32(kPolynomial[2]));
    y = L::mul_add(y, f, L::set_f32(kPolynomial[1]));
    y = L::mul_add(y, f, L::set_f32(kPolynomial[0]));
    const F32 power = L::bits_f32(L::shift_left<23>(L::bits_i32(shifted)));
    return L::select(L::less(x, L::set_f32(-60.0f)), L::zero_f32(), L::mul(y, power));
  }

  // Not inline: calls are one per query and 256 tokens, from every pair of formats.

  static HWY_NOINLINE void hide(const std::uint8_t* shown, std::uint32_t begin, std::uint32_t end,
                                float* scores) {
    const F32 none = L::set_f32(-kInfinity);
    for (std::uint32_t t = begin / L::kLanes * L::kLanes; t < end; t += L::kLanes) {
      const M32 hidden = L::equal(L::to_f32(L::load_u8(shown + t)), L::zero_f32());
      L::store_f32(scores + t, L::select(hidden, none, L::load_f32(scores + t)));
    }
  }

  static HWY_NOINLINE float largest(const float* scores, std::uint32_t begin, std::uint32_t end) {
    // Four chains: a comparison and a selection take several cycles. NaN is never the larger one.
    constexpr std::uint32_t kStep = 4 * L::kLanes;
    F32 top[4];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < 4; ++i) top[i] = L::set_f32(-kInfinity);
    const auto fold = [&](std::uint32_t i, F32 x)
                          HWY_ATTR { top[i] = L::select(L::less(top[i], x), x, top[i]); };
    std::uint32_t t = begin / L::kLanes * L::kLanes;
    if (t < begin) {
      fold(0, keep(scores, t, begin, end, -kInfinity));
      t += L::kLanes;
    }
    for (; t + kStep <= end; t += kStep) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < 4; ++i) fold(i, L::load_f32(scores + t + i * L::kLanes));
    }
    for (; t < end; t += L::kLanes) fold(1, keep(scores, t, begin, end, -kInfinity));
    fold(0, top[1]);
    fold(2, top[3]);
    fold(0, top[2]);
    return L::reduce_max(top[0]);
  }

  static HWY_NOINLINE float exponentials(float* scores, std::uint32_t begin, std::uint32_t end,
                                         float factor, float top) {
    const F32 by = L::set_f32(factor);
    const F32 most = L::set_f32(top);
    return each_group(begin, end, [&](F32 sum, std::uint32_t t, auto kept) HWY_ATTR {
      // The product is rounded as the largest one was: logits of 3e38 have roundings of 1e31.
      const F32 logit = L::rounded_mul(L::load_f32(scores + t), by);
      const F32 y = kept(exp(L::sub(logit, most)));
      L::store_f32(scores + t, y);
      return L::add(sum, y);
    });
  }
  static HWY_NOINLINE float sum(const float* weights, std::uint32_t begin, std::uint32_t end) {
    return each_group(begin, end, [&](F32 sum, std::uint32_t t, auto kept) HWY_ATTR {
      return L::add(sum, kept(L::load_f32(weights + t)));
    });
  }
  static HWY_NOINLINE float sum_of_squares(const float* weights, std::uint32_t begin,
                                           std::uint32_t end) {
    return each_group(begin, end, [&](F32 sum, std::uint32_t t, auto kept) HWY_ATTR {
      const F32 w = kept(L::load_f32(weights + t));
      return L::mul_add(w, w, sum);
    });
  }
  static HWY_NOINLINE void rescale(float* sums, std::uint32_t n, float factor) {
    const F32 by = L::set_f32(factor);
    std::uint32_t c = 0;
    for (; c + L::kLanes <= n; c += L::kLanes)
      L::store_f32(sums + c, L::mul(L::load_f32(sums + c), by));
    if (c < n) L::store_first_f32(sums + c, L::mul(L::load_first_f32(sums + c, n - c), by), n - c);
  }

 private:
  static constexpr float kPolynomial[6] = {1.0f,           1.0f,           0x1.fffd5cp-2f,
                                           0x1.555494p-3f, 0x1.5763f6p-5f, 0x1.123dd4p-7f};

  // The lanes of [t, t + kLanes) that lie in [begin, end).
  static HWY_INLINE M32 inside(std::uint32_t t, std::uint32_t begin, std::uint32_t end) {
    const M32 before_end = L::first(end > t ? lower_of(end - t, L::kLanes) : 0);
    const M32 before_begin = L::first(begin > t ? lower_of(begin - t, L::kLanes) : 0);
    return L::both(before_end, L::negate(before_begin));
  }
  static HWY_INLINE F32 keep(const float* x, std::uint32_t t, std::uint32_t begin,
                             std::uint32_t end, float other) {
    return L::select(inside(t, begin, end), L::load_f32(x + t), L::set_f32(other));
  }
  // Sum in 16 partial sums over the groups of 16 that [begin, end) touches: a register of them
  // becomes add(register, t, kept). kept(y): y with zeros outside the range.
  template <class Add>
  static HWY_INLINE float each_group(std::uint32_t begin, std::uint32_t end, Add add) {
    F32 sums[L::kParts];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < L::kParts; ++i) sums[i] = L::zero_f32();
    std::uint32_t t = begin / 16 * 16;
    const auto edge = [&]() HWY_ATTR {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < L::kParts; ++i) {
        const std::uint32_t at = t + i * L::kLanes;
        const M32 mask = inside(at, begin, end);
        sums[i] =
            add(sums[i], at, [&](F32 y) HWY_ATTR { return L::select(mask, y, L::zero_f32()); });
      }
      t += 16;
    };
    if (t < begin) edge();
    for (; t + 16 <= end; t += 16) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < L::kParts; ++i)
        sums[i] = add(sums[i], t + i * L::kLanes, [](F32 y) HWY_ATTR { return y; });
    }
    if (t < end) edge();
    return L::sum16(sums);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
