// LogScale8: a positive scale in one byte, in steps of 1/16 octave.
#pragma once

#include <array>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"

namespace kvpleat::inline KVPLEAT_ISA {

// code 0: zero; code k, 1 .. 255: 2^((k - 120) / 16), that is 2^-7.4375 (0.00577) .. 2^8.4375
// (346.6), rounded to float. Neighbours are 4.43 % apart, so the nearest is within 2.19 %; as noise
// of a row that is 1.6e-4 of its energy. Meant for scales that a calibrated profile brought near 1.
struct LogScale8 {
  std::uint8_t code = 0;
  friend constexpr bool operator==(LogScale8 a, LogScale8 b) = default;
};

namespace log_scale {

// 2^(i/16).
inline constexpr float kRoots[16] = {
    1.0f,           1.04427378243f, 1.09050773267f, 1.13878863476f, 1.18920711500f, 1.24185781207f,
    1.29683955465f, 1.35425554693f, 1.41421356237f, 1.47682614594f, 1.54221082541f, 1.61049033195f,
    1.68179283051f, 1.75625216037f, 1.83400808640f, 1.91520656140f};
inline constexpr std::array<float, 256> kValues = [] {
  std::array<float, 256> values{};
  for (std::uint32_t k = 1; k < 256; ++k) {
    float value = kRoots[(k + 8) % 16];  // k - 120 = 16 * ((k + 8) / 16 - 8) + (k + 8) % 16
    for (std::uint32_t octave = (k + 8) / 16; octave < 8; ++octave) value *= 0.5f;
    for (std::uint32_t octave = 8; octave < (k + 8) / 16; ++octave) value *= 2.0f;
    values[k] = value;
  }
  return values;
}();

}  // namespace log_scale

constexpr float to_float(LogScale8 scale) {
  return log_scale::kValues[scale.code];
}

template <>
struct SideTraits<LogScale8> {
  static constexpr float kLargest = log_scale::kValues[255];
  // The code whose value is nearest to x; ties to the lower code. Negative x and NaN give 0, x
  // beyond the largest gives 255: callers refuse it first.
  static constexpr LogScale8 nearest(float x) {
    std::uint32_t code = 0;
    for (std::uint32_t step = 128; step > 0; step /= 2) {
      // Halves are exact, so the midpoint is rounded once.
      const float middle =
          0.5f * log_scale::kValues[code + step - 1] + 0.5f * log_scale::kValues[code + step];
      code += x > middle ? step : 0u;
    }
    return LogScale8{static_cast<std::uint8_t>(code)};
  }
  static constexpr LogScale8 next_below(LogScale8 s) {
    return LogScale8{static_cast<std::uint8_t>(s.code > 0 ? s.code - 1 : 0)};
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
