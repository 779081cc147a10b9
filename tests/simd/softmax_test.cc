// Softmax functions against double precision and scalar code, on every target.
#include "kvpleat/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_TARGET_INCLUDE "simd/softmax_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their header must be seen once per target.
#include "kvpleat/simd/softmax-inl.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "kvpleat/simd/reference.h"
#include "support/simd_targets.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

struct SoftmaxTest {
  static constexpr std::uint32_t kRow = 256;
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

  TargetReport& report;
  std::uint64_t state = 777;

  std::uint32_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 32);
  }
  float uniform(float low, float high) {
    return low + (high - low) * static_cast<float>(next() >> 8) * 0x1p-24f;
  }
  void check(bool fine, const char* what, std::uint32_t begin, std::uint32_t end) {
    ++report.checks;
    if (!fine)
      report.check(false, what + (" [" + std::to_string(begin)) + ", " + std::to_string(end) + ")");
  }

  // A row with garbage around [begin, end): what lies there must not matter.
  void fill(float* row, std::uint32_t begin, std::uint32_t end, float low, float high) {
    for (std::uint32_t t = 0; t < kRow; ++t) {
      row[t] = t >= begin && t < end ? uniform(low, high)
               : t % 3 == 0          ? kNan
               : t % 3 == 1          ? kInfinity
                                     : 3e38f;
    }
  }
  template <class Visit>
  void each_range(Visit visit) {
    const std::uint32_t edges[] = {0,  1,  3,  4,  7,   8,   15,  16,  17,  31, 32,
                                   48, 63, 64, 65, 100, 128, 200, 240, 255, 256};
    for (const std::uint32_t begin : edges) {
      for (const std::uint32_t end : edges) {
        if (begin < end) visit(begin, end);
      }
    }
  }

  // exp alone: the bound that its comment derives, over 2^21 arguments.
  void test_exp() {
    alignas(64) float row[kRow];
    double worst = 0.0;
    for (std::uint32_t step = 0; step < (1u << 21); step += kRow) {
      double wanted[kRow];
      for (std::uint32_t t = 0; t < kRow; ++t) {
        row[t] = -60.0f * static_cast<float>(step + t) * 0x1p-21f;
        wanted[t] = std::exp(static_cast<double>(row[t]));
      }
      static_cast<void>(Softmax::exponentials(row, 0, kRow, 1.0f, 0.0f));
      for (std::uint32_t t = 0; t < kRow; ++t)
        worst = std::fmax(worst, std::fabs(static_cast<double>(row[t]) / wanted[t] - 1.0));
    }
    check(worst <= 3e-7, "exp errs", 0, 0);
    check(worst >= 5e-8, "exp is too good to be true", 0, 0);
    const float cases[16] = {0.0f,      -0.0f,      -60.0f, -60.00001f, -87.0f, -1e9f,
                             -3e38f,    -kInfinity, 1e-40f, -1e-9f,     0.01f,  -104.0f,
                             -59.9999f, -61.0f,     -1.0f,  -0.3466f};
    for (std::uint32_t t = 0; t < 16; ++t) row[t] = cases[t];
    const float sum = Softmax::exponentials(row, 0, 16, 1.0f, 0.0f);
    for (std::uint32_t t = 0; t < 16; ++t) {
      const double wanted = cases[t] < -60.0f ? 0.0 : std::exp(static_cast<double>(cases[t]));
      check(std::fabs(static_cast<double>(row[t]) - wanted) <= 3e-7 * wanted, "exp of a case", t,
            t);
    }
    check(row[0] == 1.0f && row[1] == 1.0f, "exp(0) is not 1", 0, 0);
    check(sum == sum, "sum is NaN", 0, 16);
    for (std::uint32_t at = 0; at < 16; ++at) {  // one NaN, with a payload in its last bits
      for (std::uint32_t t = 0; t < 16; ++t) row[t] = -2.0f;
      row[at] = std::bit_cast<float>(0x7fc00001u);
      const float nan = Softmax::exponentials(row, 0, 16, 1.0f, 0.0f);
      check(nan != nan, "a NaN is lost", at, at);
      for (std::uint32_t t = 0; t < 16; ++t) row[t] = -2.0f;
      row[at] = std::bit_cast<float>(0xffffffffu);
      const float negative = Softmax::exponentials(row, 0, 16, 0.25f, 0.0f);
      check(negative != negative, "a negative NaN is lost", at, at);
    }
  }

  void test_exponentials() {
    each_range([&](std::uint32_t begin, std::uint32_t end) {
      alignas(64) float row[kRow];
      alignas(64) float given[kRow];
      fill(given, begin, end, -400.0f, 100.0f);
      for (std::uint32_t t = 0; t < kRow; ++t) row[t] = given[t];
      const float factor = 0.25f;
      const float top = ReferenceKernels::largest(given, begin, end) * factor;
      const float sum = Softmax::exponentials(row, begin, end, factor, top);
      double all = 0.0;
      for (std::uint32_t t = 0; t < kRow; ++t) {
        if (t >= begin && t < end) {
          // factor is a power of two: only the subtraction rounds, by 2^-24 of at most 125, hence
          // the weight by 7.5e-6, and its own 3e-7.
          const double x = 0.25 * static_cast<double>(given[t]) - static_cast<double>(top);
          const double wanted = x < -60.0 ? 0.0 : std::exp(x);
          check(std::fabs(static_cast<double>(row[t]) - wanted) <= 8e-6 * wanted + 1e-26, "weight",
                begin, end);
          all += static_cast<double>(row[t]);
        } else if (t >= begin / 16 * 16 && t < round_up(end, 16u)) {
          check(row[t] == 0.0f, "weight outside", begin, end);
        } else {
          check(std::bit_cast<std::uint32_t>(row[t]) == std::bit_cast<std::uint32_t>(given[t]),
                "written outside", begin, end);
        }
      }
      // 16 sums of at most 16 weights each, and a tree of 4: 20 roundings.
      check(std::fabs(static_cast<double>(sum) - all) <= 20 * 0x1p-24 * all, "sum", begin, end);
    });
  }

  void test_largest() {
    each_range([&](std::uint32_t begin, std::uint32_t end) {
      alignas(64) float row[kRow];
      fill(row, begin, end, -5.0f, 5.0f);
      for (std::uint32_t at = begin; at < end; at += 1 + (end - begin) / 7) {
        const float kept = row[at];
        row[at] = 6.0f;
        check(Softmax::largest(row, begin, end) == 6.0f, "largest", begin, end);
        row[at] = kNan;
        check(std::bit_cast<std::uint32_t>(Softmax::largest(row, begin, end)) ==
                  std::bit_cast<std::uint32_t>(ReferenceKernels::largest(row, begin, end)),
              "largest beside NaN", begin, end);
        row[at] = kInfinity;
        check(Softmax::largest(row, begin, end) == kInfinity, "largest infinity", begin, end);
        row[at] = kept;
      }
      for (std::uint32_t t = begin; t < end; ++t) row[t] = kNan;
      check(Softmax::largest(row, begin, end) == -kInfinity, "largest of NaN", begin, end);
      row[end - 1] = -3e38f;
      check(Softmax::largest(row, begin, end) == -3e38f, "largest of one", begin, end);
    });
  }

  void test_hide() {
    each_range([&](std::uint32_t begin, std::uint32_t end) {
      alignas(64) float row[kRow];
      alignas(64) float given[kRow];
      std::uint8_t shown[kRow];
      fill(given, begin, end, -5.0f, 5.0f);
      if (end - begin > 3) given[begin + 2] = kNan;
      for (std::uint32_t t = 0; t < kRow; ++t) {
        row[t] = given[t];
        shown[t] = static_cast<std::uint8_t>((next() >> 16) % 3 * 100);
      }
      Softmax::hide(shown, begin, end, row);
      for (std::uint32_t t = begin; t < end; ++t) {
        const float wanted = shown[t] == 0 ? -kInfinity : given[t];
        check(std::bit_cast<std::uint32_t>(row[t]) == std::bit_cast<std::uint32_t>(wanted), "hide",
              begin, end);
      }
    });
  }

  // Sums equal, to the bit, what 16 partial sums and the tree give: on every target the same, but
  // for the squares where it fuses.
  template <class Add>
  static float in_order(std::uint32_t begin, std::uint32_t end, Add add) {
    float partial[16] = {};
    for (std::uint32_t t = begin; t < end; ++t) partial[t % 16] = add(partial[t % 16], t);
    for (std::uint32_t width = 8; width > 0; width /= 2) {
      for (std::uint32_t i = 0; i < width; ++i) partial[i] += partial[i + width];
    }
    return partial[0];
  }
  void test_sums() {
    each_range([&](std::uint32_t begin, std::uint32_t end) {
      alignas(64) float row[kRow];
      fill(row, begin, end, 0.0f, 1.0f);
      const float sum =
          in_order(begin, end, [&](float all, std::uint32_t t) { return all + row[t]; });
      check(Softmax::sum(row, begin, end) == sum, "sum", begin, end);
      const float fused = in_order(
          begin, end, [&](float all, std::uint32_t t) { return std::fma(row[t], row[t], all); });
      const float apart = in_order(
          begin, end, [&](float all, std::uint32_t t) { return all + product(row[t], row[t]); });
      const float squares = Softmax::sum_of_squares(row, begin, end);
      check(squares == fused || squares == apart, "squares", begin, end);
    });
  }

  void test_rescale() {
    for (const std::uint32_t n :
         {1u, 2u, 3u, 4u, 5u, 8u, 15u, 16u, 17u, 20u, 64u, 80u, 127u, 200u}) {
      for (std::uint32_t offset = 0; offset < 3; ++offset) {
        float given[kRow];
        float row[kRow];
        fill(given, offset, offset + n, -5.0f, 5.0f);
        for (std::uint32_t t = 0; t < kRow; ++t) row[t] = given[t];
        Softmax::rescale(row + offset, n, 0.3f);
        for (std::uint32_t t = 0; t < kRow; ++t) {
          const float wanted = t >= offset && t < offset + n ? product(given[t], 0.3f) : given[t];
          check(std::bit_cast<std::uint32_t>(row[t]) == std::bit_cast<std::uint32_t>(wanted),
                "rescale", offset, n);
        }
      }
    }
  }

  void run() {
    test_exp();
    test_exponentials();
    test_largest();
    test_hide();
    test_sums();
    test_rescale();
  }
};

void test_softmax(TargetReport& report, const char** name) {
  *name = Lanes::kName;
  SoftmaxTest{report}.run();
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <doctest/doctest.h>

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(test_softmax);

TEST_CASE("softmax: maximum, weights and sums are what scalar code computes, on every target") {
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    TargetReport report;
    const char* name = "";
    HWY_DYNAMIC_DISPATCH(test_softmax)(report, &name);
    MESSAGE(std::string(target) << " (" << std::string(name) << "): " << report.checks
                                << " checks");
    CHECK_MESSAGE(report.failures.empty(), report.text());
    CHECK(report.checks > 10000);
  });
  CHECK(ran >= 1);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
