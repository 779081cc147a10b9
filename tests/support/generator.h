// The generators of the test inputs: the same numbers on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

// G(seed): s = 1664525 s + 1013904223 (mod 2^32), value (s >> 8) * 2^-23 - 1, exact in float.
// G(1) starts -0.527089000, -0.261458755, 0.008484006, 0.409766436.
class Generator {
 public:
  explicit Generator(std::uint32_t seed) : state_(seed) {}

  // A value in [-1, 1).
  float next() {
    step();
    return static_cast<float>(state_ >> 8) * 0x1p-23f - 1.0f;
  }
  // A value in 0 .. n-1.
  std::uint32_t below(std::uint32_t n) {
    step();
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(state_) * n) >> 32);
  }
  // 32 bits of two steps: the low bits of one step repeat early.
  std::uint32_t bits() {
    step();
    const std::uint32_t high = state_ & 0xffff0000u;
    step();
    return high | (state_ >> 16);
  }

 private:
  void step() { state_ = 1664525u * state_ + 1013904223u; }

  std::uint32_t state_;
};

// factor * G(seed), n values.
inline std::vector<float> uniform(std::uint32_t seed, std::size_t n, float factor = 1.0f) {
  Generator generator(seed);
  std::vector<float> values(n);
  for (float& v : values) v = factor * generator.next();
  return values;
}

// factor * N(seed): sums of four values of G, scaled to unit variance.
inline std::vector<float> normal(std::uint32_t seed, std::size_t n, float factor = 1.0f) {
  Generator generator(seed);
  std::vector<float> values(n);
  for (float& v : values) {
    float sum = 0.0f;
    for (int i = 0; i < 4; ++i) sum += generator.next();
    v = factor * (sum * 0.8660254f);  // sqrt(3/4)
  }
  return values;
}

// Inputs of the golden bytes: multiples of 2^-11 in (-4, 4), by integer arithmetic; most are no
// halves. The script tests/golden/make_goldens.py has the same formula.
inline float golden_input(std::uint32_t token, std::uint32_t channel) {
  const std::uint32_t mixed =
      (3701 * token + 2311 * channel * channel + 1109 * channel + 5) % 16381;
  return static_cast<float>(static_cast<int>(mixed) - 8190) / 2048.0f;
}

}  // namespace test
