#include "kvpleat/quant/ggml.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "golden/ggml_goldens.h"
#include "kvpleat/core/concepts.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

// One run, without its type.
struct AnyRun {
  std::string_view id;
  std::uint32_t bits = 0;
  bool has_minimum = false;
  bool levels = false;
  float largest_input = 0.0f;
  std::vector<std::uint8_t> (*encode)(const std::vector<float>& x) = nullptr;
  std::vector<float> (*decode)(const std::vector<std::uint8_t>& bytes) = nullptr;

  [[nodiscard]] std::vector<float> back(const std::vector<float>& x) const {
    return decode(encode(x));
  }
  [[nodiscard]] float step(const std::vector<float>& x) const {
    const std::vector<std::uint8_t> bytes = encode(x);
    return std::fabs(to_float(load<Half>(bytes.data())));
  }
};

template <GgmlType kType>
AnyRun any_run() {
  using Quant = GgmlQuant<kType>;
  static_assert(RowQuantizer<Quant> && !Quantizer<Quant> && sizeof(Quant) == 1);
  AnyRun run;
  run.id = Quant::kId;
  run.bits = Quant::kBits;
  run.has_minimum = Quant::kHasMinimum;
  run.levels = kType == GgmlType::kIq4Nl;
  run.largest_input = Quant::kLargest;
  run.encode = [](const std::vector<float>& x) {
    std::vector<std::uint8_t> bytes(Quant::kBytes, 0xff);
    Quant{}.encode(x.data(), bytes.data());
    return bytes;
  };
  run.decode = [](const std::vector<std::uint8_t>& bytes) {
    std::vector<float> x(Quant::kValues, kInfinity);
    Quant{}.decode(bytes.data(), x.data());
    return x;
  };
  return run;
}
std::vector<AnyRun> all_runs() {
  return {any_run<GgmlType::kQ4_0>(), any_run<GgmlType::kQ4_1>(), any_run<GgmlType::kQ5_0>(),
          any_run<GgmlType::kQ5_1>(), any_run<GgmlType::kQ8_0>(), any_run<GgmlType::kIq4Nl>()};
}

template <GgmlType kType, std::size_t kBytes>
void check_golden(const std::uint8_t (&wanted)[3][kBytes]) {
  static_assert(GgmlQuant<kType>::kBytes == kBytes);
  for (std::uint32_t row = 0; row < 3; ++row) {
    CAPTURE(row);
    std::vector<float> x(32);
    for (std::uint32_t c = 0; c < 32; ++c)
      x[c] = row < 2 ? test::golden_input(row, c) : golden::kGgmlPowers[c];
    const std::vector<std::uint8_t> bytes = any_run<kType>().encode(x);
    CHECK(bytes == std::vector<std::uint8_t>(wanted[row], wanted[row] + kBytes));
  }
}

float largest(const std::vector<float>& x) {
  float result = 0.0f;
  for (const float v : x) result = std::max(result, std::fabs(v));
  return result;
}

}  // namespace

TEST_CASE("golden bytes: ggml block types") {
  check_golden<GgmlType::kQ4_0>(golden::kGgmlQ4_0);
  check_golden<GgmlType::kQ4_1>(golden::kGgmlQ4_1);
  check_golden<GgmlType::kQ5_0>(golden::kGgmlQ5_0);
  check_golden<GgmlType::kQ5_1>(golden::kGgmlQ5_1);
  check_golden<GgmlType::kQ8_0>(golden::kGgmlQ8_0);
  check_golden<GgmlType::kIq4Nl>(golden::kGgmlIq4Nl);
}

TEST_CASE("ggml: every field where the byte table says it is") {
  // d = 1 (v = -8), value j has code j % 16: byte j of the nibbles is j | j << 4 with j, j + 16.
  std::vector<float> x(32);
  for (std::uint32_t i = 0; i < 32; ++i) x[i] = static_cast<float>(i % 16) - 8.0f;
  std::vector<std::uint8_t> bytes = any_run<GgmlType::kQ4_0>().encode(x);
  CHECK(load<Half>(bytes.data()) == Half{0x3c00});
  for (std::uint32_t j = 0; j < 16; ++j) CHECK(bytes[2 + j] == (j | j << 4));

  // q5_0: codes 0 .. 31, so values 16 .. 31 have bit 4.
  for (std::uint32_t i = 0; i < 32; ++i) x[i] = static_cast<float>(i) - 16.0f;
  bytes = any_run<GgmlType::kQ5_0>().encode(x);
  CHECK(load<Half>(bytes.data()) == Half{0x3c00});
  CHECK(std::vector<std::uint8_t>(bytes.begin() + 2, bytes.begin() + 6) ==
        std::vector<std::uint8_t>{0, 0, 0xff, 0xff});
  for (std::uint32_t j = 0; j < 16; ++j) CHECK(bytes[6 + j] == (j | j << 4));

  // q5_1: d = 1, m = 2.
  for (std::uint32_t i = 0; i < 32; ++i) x[i] = static_cast<float>(i) + 2.0f;
  bytes = any_run<GgmlType::kQ5_1>().encode(x);
  CHECK(load<Half>(bytes.data()) == Half{0x3c00});
  CHECK(load<Half>(bytes.data() + 2) == Half{0x4000});
  CHECK(std::vector<std::uint8_t>(bytes.begin() + 4, bytes.begin() + 8) ==
        std::vector<std::uint8_t>{0, 0, 0xff, 0xff});

  // q8_0: two's complement, ties away from zero (d = 1).
  std::fill(x.begin(), x.end(), 0.0f);
  x[0] = 127.0f;
  x[1] = -127.0f;
  x[2] = 0.5f;
  x[3] = -0.5f;
  x[4] = 2.5f;
  x[31] = -1.0f;
  bytes = any_run<GgmlType::kQ8_0>().encode(x);
  CHECK(load<Half>(bytes.data()) == Half{0x3c00});
  CHECK(std::vector<std::uint8_t>(bytes.begin() + 2, bytes.begin() + 7) ==
        std::vector<std::uint8_t>{127, 0x81, 1, 0xff, 3});
  CHECK(bytes[33] == 0xff);

  // iq4_nl: values that are levels times 2 are kept, d = 2, whichever sign the extreme has.
  for (std::uint32_t i = 0; i < 32; ++i) x[i] = 2.0f * static_cast<float>(kIq4NlLevels[i % 16]);
  bytes = any_run<GgmlType::kIq4Nl>().encode(x);
  CHECK(load<Half>(bytes.data()) == Half{0x4000});
  for (std::uint32_t j = 0; j < 16; ++j) CHECK(bytes[2 + j] == (j | j << 4));
  CHECK(any_run<GgmlType::kIq4Nl>().back(x) == x);
  for (float& v : x) v = -v;
  CHECK(any_run<GgmlType::kIq4Nl>().back(x) == x);
}

TEST_CASE("ggml: codes of zeros, and ties between levels go up") {
  const std::vector<float> zeros(32, 0.0f);
  std::vector<std::uint8_t> wanted(18, 0x88);
  wanted[0] = 0;
  wanted[1] = 0x80;  // d = 0 / -8
  CHECK(any_run<GgmlType::kQ4_0>().encode(zeros) == wanted);
  CHECK(any_run<GgmlType::kIq4Nl>().encode(zeros) == std::vector<std::uint8_t>(18, 0));
  // A d too small for 1/d to be a float.
  CHECK(any_run<GgmlType::kQ4_0>().encode(std::vector<float>(32, 1e-40f)) == wanted);
  // v = -127, so x * (1/d) = x: 7 lies between 1 and 13, -115.5 and 101 in the
  // middle as well.
  std::vector<float> x(32, 0.0f);
  x[0] = -127.0f;
  x[1] = 7.0f;
  x[2] = -116.0f;
  x[3] = -115.5f;
  x[4] = 101.0f;
  const std::vector<std::uint8_t> bytes = any_run<GgmlType::kIq4Nl>().encode(x);
  CHECK((bytes[2] & 15) == 0);
  CHECK((bytes[3] & 15) == 9);
  CHECK((bytes[4] & 15) == 0);
  CHECK((bytes[5] & 15) == 1);
  CHECK((bytes[6] & 15) == 15);
}

TEST_CASE("ggml: error within the documented bound") {
  for (const AnyRun& run : all_runs()) {
    CAPTURE(run.id);
    for (const float factor : {1.0f, 300.0f, 0.01f}) {
      for (std::uint32_t seed = 0; seed < 50; ++seed) {
        const std::vector<float> x = test::normal(seed, 32, factor);
        const std::vector<float> back = run.back(x);
        const float d = run.step(x);
        const float size = largest(x);
        // Rounding of d (2^-11 of it, times the code) and m; 2^-22 for the float operations.
        const float codes = run.bits == 8 ? 127.0f : static_cast<float>(1u << run.bits);
        const float side = 0x1p-11f * (codes * d + size) + 0x1p-22f * size + 0x1p-24f;
        std::uint32_t clipped = 0;
        for (std::size_t i = 0; i < 32; ++i) {
          const float error = std::fabs(back[i] - x[i]);
          // Levels: half a gap is at most 12, above the highest lie 14 more; the codes were made
          // with size / 127 instead of d.
          const float coding = size / 127.0f;
          const float half_step =
              run.levels ? 14.0f * coding + 127.0f * std::fabs(d - coding) : 0.5f * d;
          if (error > half_step + side) {
            ++clipped;
            CHECK(error <= d + side);
          }
        }
        // Only q4_0 and q5_0 clip, and only at one end.
        if (run.has_minimum || run.bits == 8 || run.levels) CHECK(clipped == 0);
      }
    }
  }
}

TEST_CASE("ggml: zeros, constants, tiny and largest values stay finite") {
  for (const AnyRun& run : all_runs()) {
    CAPTURE(run.id);
    CHECK(run.back(std::vector<float>(32, 0.0f)) == std::vector<float>(32, 0.0f));
    const std::vector<float> nines(32, 9.0f);
    // iq4_nl codes a constant as the level -127; 9/127 is no half: 2^-11 of 9.
    for (const float y : run.back(nines)) CHECK(std::fabs(y - 9.0f) <= 9.0f * 0x1p-11f);
    for (const float tiny : {1e-6f, 1e-15f, 1e-20f, 1e-38f, 1e-40f, 1e-45f}) {
      const std::vector<float> x = test::uniform(6, 32, tiny);
      const std::vector<float> back = run.back(x);
      for (std::size_t i = 0; i < 32; ++i) CHECK(std::fabs(back[i] - x[i]) <= tiny + 0x1p-25f);
    }
    for (const float sign : {1.0f, -1.0f}) {
      std::vector<float> x(32, 1.0f);
      x[3] = sign * run.largest_input;
      for (const float y : run.back(x)) CHECK(std::isfinite(y));
      CHECK(run.step(x) <= kLargestHalf);
      // The largest d that 32 values of this size can have: all at the far end.
      std::fill(x.begin(), x.end(), -sign * run.largest_input);
      x[0] = sign * run.largest_input;
      for (const float y : run.back(x)) CHECK(std::isfinite(y));
      CHECK(run.step(x) <= kLargestHalf);
    }
  }
}

TEST_CASE("ggml: iq4_nl's d stays within an eighth of the coding scale") {
  // kLargest rests on it. Random runs of two magnitudes and the extremal one.
  const AnyRun run = any_run<GgmlType::kIq4Nl>();
  test::Generator generator(5);
  float worst = 0.0f;
  for (std::uint32_t trial = 0; trial < 4000; ++trial) {
    std::vector<float> x(32);
    const float other = generator.next();
    for (float& v : x) v = trial % 2 == 0 ? other : generator.next();
    x[trial % 32] = 1.0f;
    worst = std::max(worst, run.step(x) * 127.0f);
  }
  std::vector<float> x(32, -1.0f);
  x[0] = 1.0f;
  const float extremal = run.step(x) * 127.0f;
  CHECK(worst <= extremal * 1.001f);
  CHECK(extremal < 1.125f);
  CHECK(extremal > 1.1f);
}

TEST_CASE("ggml: NaN and infinities never leave the codes' range") {
  for (const AnyRun& run : all_runs()) {
    CAPTURE(run.id);
    for (const float bad : {std::nanf(""), kInfinity, -kInfinity}) {
      std::vector<float> x = test::uniform(8, 32);
      x[5] = bad;
      CHECK(run.encode(x).size() >= 18);  // defined behaviour: the sanitizers watch
    }
  }
}
