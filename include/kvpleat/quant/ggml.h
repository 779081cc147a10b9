// GgmlQuant: the block types of ggml that llama.cpp offers for KV caches, byte for byte.
// Source: the reference quantizers of ggml (ggml-quants.c, quantize_row_*_ref), as formulas.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class GgmlType : std::uint8_t { kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ8_0, kIq4Nl };

template <GgmlType kType>
inline constexpr auto kGgmlText = Text("q4_0");
template <>
inline constexpr auto kGgmlText<GgmlType::kQ4_1> = Text("q4_1");
template <>
inline constexpr auto kGgmlText<GgmlType::kQ5_0> = Text("q5_0");
template <>
inline constexpr auto kGgmlText<GgmlType::kQ5_1> = Text("q5_1");
template <>
inline constexpr auto kGgmlText<GgmlType::kQ8_0> = Text("q8_0");
template <>
inline constexpr auto kGgmlText<GgmlType::kIq4Nl> = Text("iq4_nl");

// The levels of iq4_nl.
inline constexpr std::int8_t kIq4NlLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                 1,    13,   25,  38,  53,  69,  89,  113};

// 32 values as one run; numbers little endian, d and m binary16, rounded to nearest even.
//   type    bytes of a run                     bits    value
//   q4_0    d, nibbles[16]              18     4.5     (code - 8) * d
//   q4_1    d, m, nibbles[16]           20     5       code * d + m
//   q5_0    d, high[4], nibbles[16]     22     5.5     (code - 16) * d
//   q5_1    d, m, high[4], nibbles[16]  24     6       code * d + m
//   q8_0    d, int8[32]                 34     8.5     code * d
//   iq4_nl  d, nibbles[16]              18     4.5     level[code] * d
// Byte j of the nibbles: low nibble value j, high nibble value j + 16. Bit j of `high` (32 bits) is
// bit 4 of the code of value j.
// Codes come from d and m as they were before rounding (v: the first value of largest magnitude):
//   q4_0    d = v / -8                   code = trunc(x * (1/d) + 8.5), at most 15
//   q5_0    d = v / -16                  code = trunc(x * (1/d) + 16.5), at most 31
//   q4_1    d = (max - min) / 15, m = min    code = trunc((x - m) * (1/d) + 0.5), at most 15
//   q5_1    d = (max - min) / 31, m = min    code = trunc((x - m) * (1/d) + 0.5), at most 31
//   q8_0    d = |v| / 127                code = x * (1/d), nearest, ties away from zero
//   iq4_nl  code = level nearest to x * (1/(v / -127)), ties to the higher level; then
//           d = sum(x^2 * level * x) / sum(x^2 * level^2), float sums in ascending order
// Every product, quotient and sum is rounded to float by itself: the bytes of a ggml compiled
// without contraction. (One that contracts may code a value that lies on a border otherwise.)
// A d that is no normal float has 1/d = 0 here, where ggml divides; |v| < 1e-15 gives 32 zero codes
// for iq4_nl. Such a d is stored as 0 anyhow. NaN, which caches refuse, is coded as the lowest
// code. Decoding is exact before its one rounding.
// Error: d/2, but d for a value of q4_0 or q5_0 at the end opposite to v; plus what rounding d and
// m adds, 2^-11 of code * d and of |m|. iq4_nl: half the gap of its levels, 5 to 12 d; 14 d above
// the highest.
template <GgmlType kGgmlType>
struct GgmlQuant {
  static constexpr GgmlType kType = kGgmlType;
  static constexpr std::uint32_t kValues = 32;
  static constexpr bool kHasMinimum = kType == GgmlType::kQ4_1 || kType == GgmlType::kQ5_1;
  static constexpr bool kHasHighBits = kType == GgmlType::kQ5_0 || kType == GgmlType::kQ5_1;
  static constexpr std::uint32_t kBits = kType == GgmlType::kQ8_0 ? 8 : kHasHighBits ? 5 : 4;
  static constexpr std::uint32_t kScaleBytes = kHasMinimum ? 4 : 2;
  static constexpr std::uint32_t kBytes = kScaleBytes + kValues * kBits / 8;
  // Largest magnitude it takes: d and m must be representable. The least-squares d of iq4_nl
  // exceeds |v| / 127 by less than an eighth: by most where every other value is -v, which is coded
  // as 113.
  static constexpr float kLargest = kLargestHalf * (kHasMinimum                ? 1.0f
                                                    : kType == GgmlType::kQ4_0 ? 8.0f
                                                    : kType == GgmlType::kQ5_0 ? 16.0f
                                                    : kType == GgmlType::kQ8_0 ? 127.0f
                                                                               : 112.0f);
  static constexpr auto kId = Text("quant=ggml;type=") + kGgmlText<kType>;

  // values: [32], bytes: [kBytes].
  KVPLEAT_HD void encode(const float* values, std::uint8_t* bytes) const {
    std::uint32_t codes[kValues] = {};
    float d = 0.0f;
    if constexpr (kHasMinimum) {
      constexpr std::uint32_t kTop = (1u << kBits) - 1u;
      float lowest = values[0];
      float highest = values[0];
      for (std::uint32_t i = 1; i < kValues; ++i) {
        lowest = lower_of(lowest, values[i]);
        highest = upper_of(highest, values[i]);
      }
      d = (highest - lowest) / static_cast<float>(kTop);
      const float inverse = inverse_of(d);
      for (std::uint32_t i = 0; i < kValues; ++i)
        codes[i] = truncated(product(values[i] - lowest, inverse) + 0.5f, kTop);
      store(bytes + 2, to_half(lowest));
    } else {
      const float extreme = extreme_of(values);
      if constexpr (kType == GgmlType::kQ8_0) {
        d = magnitude(extreme) / 127.0f;
        const float inverse = inverse_of(d);
        for (std::uint32_t i = 0; i < kValues; ++i)
          codes[i] = static_cast<std::uint32_t>(rounded_away(product(values[i], inverse))) & 255u;
      } else if constexpr (kType == GgmlType::kIq4Nl) {
        d = encode_levels(values, extreme, codes);
      } else {
        constexpr float kZero = static_cast<float>(1u << (kBits - 1));
        d = extreme / -kZero;
        const float inverse = inverse_of(d);
        for (std::uint32_t i = 0; i < kValues; ++i) {
          codes[i] = truncated(product(values[i], inverse) + (kZero + 0.5f), (1u << kBits) - 1u);
        }
      }
    }
    store(bytes, to_half(d));
    write_codes(codes, bytes + kScaleBytes);
  }

  // bytes: [kBytes], values: [32].
  KVPLEAT_HD void decode(const std::uint8_t* bytes, float* values) const {
    const float d = to_float(load<Half>(bytes));
    for (std::uint32_t i = 0; i < kValues; ++i) {
      const std::uint32_t code = read_code(bytes + kScaleBytes, i);
      // 8 bits times at most 11 are exact in float: fused or not, the sum is the same.
      if constexpr (kHasMinimum) {
        values[i] = static_cast<float>(code) * d + to_float(load<Half>(bytes + 2));
      } else if constexpr (kType == GgmlType::kQ8_0) {
        values[i] = static_cast<float>(static_cast<std::int8_t>(code)) * d;
      } else if constexpr (kType == GgmlType::kIq4Nl) {
        values[i] = static_cast<float>(kIq4NlLevels[code]) * d;
      } else {
        values[i] = (static_cast<float>(code) - static_cast<float>(1u << (kBits - 1))) * d;
      }
    }
  }

 private:
  // The first value of largest magnitude.
  KVPLEAT_HD static float extreme_of(const float* values) {
    float extreme = 0.0f;
    for (std::uint32_t i = 0; i < kValues; ++i) {
      if (magnitude(extreme) < magnitude(values[i])) extreme = values[i];
    }
    return extreme;
  }
  KVPLEAT_HD static float inverse_of(float d) {
    return magnitude(d) >= 0x1p-126f ? 1.0f / d : 0.0f;
  }
  KVPLEAT_HD static std::uint32_t truncated(float x, std::uint32_t top) {
    const float limit = static_cast<float>(top);
    return static_cast<std::uint32_t>(x > 0.0f ? (x < limit ? x : limit) : 0.0f);
  }
  // Nearest integer, ties away from zero, for |x| < 2^22.
  KVPLEAT_HD static std::int32_t rounded_away(float x) {
    const float size = magnitude(x);
    if (!(size < 128.0f)) return 0;  // NaN
    const auto whole = static_cast<std::int32_t>(size);
    const std::int32_t nearest = whole + (size - static_cast<float>(whole) >= 0.5f ? 1 : 0);
    return x < 0.0f ? -nearest : nearest;
  }
  KVPLEAT_HD static std::uint32_t nearest_level(float x) {
    if (!(x > static_cast<float>(kIq4NlLevels[0]))) return 0;
    std::uint32_t above = 1;
    while (above < 15 && !(x < static_cast<float>(kIq4NlLevels[above]))) ++above;
    const float up = static_cast<float>(kIq4NlLevels[above]) - x;
    const float down = x - static_cast<float>(kIq4NlLevels[above - 1]);
    return down < up ? above - 1 : above;
  }
  // Codes and d of iq4_nl.
  KVPLEAT_HD static float encode_levels(const float* values, float extreme, std::uint32_t* codes) {
    if (!(magnitude(extreme) >= 1e-15f)) return 0.0f;
    const float inverse = 1.0f / (extreme / static_cast<float>(kIq4NlLevels[0]));
    float along = 0.0f;
    float square = 0.0f;
    for (std::uint32_t i = 0; i < kValues; ++i) {
      codes[i] = nearest_level(product(inverse, values[i]));
      const auto level = static_cast<float>(kIq4NlLevels[codes[i]]);
      const float weighted = product(product(values[i], values[i]), level);
      along += product(weighted, values[i]);
      square += product(weighted, level);
    }
    return along / square;
  }

  KVPLEAT_HD static void write_codes(const std::uint32_t* codes, std::uint8_t* bytes) {
    if constexpr (kBits == 8) {
      for (std::uint32_t i = 0; i < kValues; ++i) bytes[i] = static_cast<std::uint8_t>(codes[i]);
    } else {
      std::uint8_t* nibbles = bytes + (kHasHighBits ? 4 : 0);
      for (std::uint32_t j = 0; j < 16; ++j) {
        nibbles[j] = static_cast<std::uint8_t>((codes[j] & 15u) | (codes[j + 16] & 15u) << 4);
      }
      if constexpr (kHasHighBits) {
        std::uint32_t high = 0;
        for (std::uint32_t i = 0; i < kValues; ++i) high |= (codes[i] >> 4) << i;
        for (std::uint32_t b = 0; b < 4; ++b)
          bytes[b] = static_cast<std::uint8_t>(high >> (8 * b) & 255u);
      }
    }
  }
  KVPLEAT_HD static std::uint32_t read_code(const std::uint8_t* bytes, std::uint32_t i) {
    if constexpr (kBits == 8) {
      return bytes[i];
    } else {
      const std::uint32_t byte = bytes[(kHasHighBits ? 4 : 0) + i % 16];
      const std::uint32_t nibble = i < 16 ? byte & 15u : byte >> 4;
      if constexpr (!kHasHighBits) return nibble;
      return nibble | (static_cast<std::uint32_t>(bytes[i / 8]) >> i % 8 & 1u) << 4;
    }
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
