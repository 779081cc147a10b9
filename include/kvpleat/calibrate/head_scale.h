// head_scale: the scale of a head from sample rows, the profile of formats::Fp8E4m3, Fp8E5m2 and
// Nvfp4.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

// The smallest scale under which rows [tokens, stride], the first dim channels, do not saturate:
// max|x| / Quant::kTop, and no more than one float above it; within 2^-64 .. 2^64. Quant: a
// MinifloatQuant with a profile. No tokens, or nothing but zeros: 1. NaN is passed over.
template <class Quant>
float head_scale(const float* rows, std::size_t tokens, std::size_t stride,
                 std::uint32_t dim) noexcept {
  static_assert(Quant::kProfileSize == 1, "kvpleat: head_scale is for scales fixed by a profile");
  float largest = 0.0f;
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::uint32_t c = 0; c < dim; ++c)
      largest = upper_of(largest, magnitude(rows[t * stride + c]));
  }
  if (!(largest > 0.0f)) return 1.0f;
  float scale = largest / Quant::kTop;
  if (product(Quant::kTop, scale) < largest)  // the quotient was rounded down
    scale = __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, scale) + 1u);
  return nearest_usable_scale(scale);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
