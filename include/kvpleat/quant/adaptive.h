// adaptive_quantize: one vector at 2, 4, 8 or 16 bits, and the tags that name the widths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"
#include "kvpleat/quant/mid_rise.h"
#include "kvpleat/quant/symmetric.h"
#include "kvpleat/quant/zero_point.h"

namespace kvpleat::inline KVPLEAT_ISA {

// A head vector in codes, as numbers; the formats of format/adaptive.h hold such codes in tiles.
//   bits  codes            scale                         zero_point   value
//   2     -2 .. 1          binary16, max|x| / 2          0            (code + 1/2) * scale
//   4     -7 .. 7          binary16, max|x| / 7          0            code * scale
//   8     0 .. 255         float, (max - min) / 255      0 .. 255     (code - zero_point) * scale
//   16    bits of a Half   1                             0            the Half
// Scales of 2 and 4 bits are rounded up to binary16, min and max of 8 bits include 0. (Formats keep
// the 8-bit scale as binary16 too.) status: kInvalid for another width or above kMost values,
// kNonFinite, kRange for a magnitude whose scale or Half is infinite; codes are zero then.
struct QuantizedVector {
  static constexpr std::size_t kMost = 576;
  std::int32_t codes[kMost] = {};
  std::uint32_t size = 0;
  std::uint32_t bits = 0;
  float scale = 0.0f;
  std::int32_t zero_point = 0;
  Status status = Status::kOk;
};

namespace adaptive {

template <class Quant>
constexpr auto scale_of(const Quant& quant, std::span<const float> row) {
  typename Quant::Stat stat;
  for (const float x : row) quant.observe(x, stat);
  return quant.scale(stat);
}

}  // namespace adaptive

// QuantizedVector q = adaptive_quantize(row, 4);  q.codes[i] * q.scale is about row[i].
constexpr QuantizedVector adaptive_quantize(std::span<const float> row, std::uint32_t bits) {
  QuantizedVector result;
  result.bits = bits;
  if (row.size() > QuantizedVector::kMost) {
    result.status = Status::kInvalid;
    return result;
  }
  result.size = static_cast<std::uint32_t>(row.size());
  const float largest = largest_magnitude(row.data(), row.size());
  const auto fits = [&](float limit) {
    result.status = !is_finite(largest) ? Status::kNonFinite
                    : largest > limit   ? Status::kRange
                                        : Status::kOk;
    return ok(result.status);
  };
  const auto each = [&](auto code) {
    for (std::size_t i = 0; i < row.size(); ++i) result.codes[i] = code(row[i]);
  };
  switch (bits) {
    case 2: {
      const MidRiseQuant<2> quant;
      if (!fits(quant.kLargest)) break;
      const auto scale = adaptive::scale_of(quant, row);
      result.scale = to_float(scale.step);
      each([&](float x) {
        return static_cast<std::int32_t>(quant.encode(x, scale)) - quant.kHalfRange;
      });
      break;
    }
    case 4: {
      const SymmetricQuant<4> quant;
      if (!fits(quant.kLargest)) break;
      const auto scale = adaptive::scale_of(quant, row);
      result.scale = to_float(scale.step);
      each([&](float x) {
        return static_cast<std::int32_t>(quant.encode(x, scale)) -
               static_cast<std::int32_t>(quant.kZero);
      });
      break;
    }
    case 8: {
      const ZeroPointQuant<8, kWholeHead, Axis::kChannels, float> quant;
      if (!fits(quant.kLargest)) break;
      const auto scale = adaptive::scale_of(quant, row);
      result.scale = scale.step;
      result.zero_point = static_cast<std::int32_t>(scale.zero);
      each([&](float x) { return static_cast<std::int32_t>(quant.encode(x, scale)); });
      break;
    }
    case 16:
      if (!fits(kLargestHalf)) break;
      result.scale = 1.0f;
      each([](float x) { return static_cast<std::int32_t>(to_half(x).bits); });
      break;
    default:
      result.status = Status::kInvalid;
  }
  return result;
}

// The value of element i.
constexpr float value_of(const QuantizedVector& q, std::uint32_t i) {
  const std::int32_t code = q.codes[i];
  switch (q.bits) {
    case 2:
      return product(static_cast<float>(2 * code + 1) * 0.5f, q.scale);
    case 4:
    case 8:
      return product(static_cast<float>(code - q.zero_point), q.scale);
    default:
      return to_float(Half{static_cast<std::uint16_t>(code)});
  }
}

// Tags 0, 1, 2, 3 name 2, 4, 8 and 16 bits; they are the lanes of presets::Adaptive. 4: no such
// width.
constexpr std::uint8_t tag_of_bits(std::uint32_t bits) {
  return bits == 2 ? 0 : bits == 4 ? 1 : bits == 8 ? 2 : bits == 16 ? 3 : 4;
}
constexpr std::uint32_t bits_of_tag(std::uint8_t tag) {
  return tag < 4 ? 2u << tag : 0u;
}
// n tags of two bits, token i in bits 2 (i mod 4) of byte i / 4; zeros fill the last byte.
//   bytes: [ceil(n / 4)]
constexpr void pack_tags(const std::uint8_t* tags, std::size_t n, std::uint8_t* bytes) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto field = static_cast<std::uint8_t>((tags[i] & 3u) << (2 * (i % 4)));
    bytes[i / 4] = static_cast<std::uint8_t>(i % 4 == 0 ? field : bytes[i / 4] | field);
  }
}
constexpr std::uint8_t packed_tag(const std::uint8_t* bytes, std::size_t i) {
  return static_cast<std::uint8_t>((bytes[i / 4] >> (2 * (i % 4))) & 3u);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
