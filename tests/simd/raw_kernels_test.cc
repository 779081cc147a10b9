// Kernels on open rows and raw formats against ReferenceKernels, on every target.
#include "kvpleat/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_TARGET_INCLUDE "simd/raw_kernels_test.cc"
#include <hwy/foreach_target.h>

// The targets first: their header must be seen once per target.
#include "kvpleat/simd/raw-inl.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kvpleat/core/half.h"
#include "kvpleat/simd/reference.h"
#include "support/simd_targets.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

struct RawTest {
  static constexpr std::uint32_t kStride = 144;  // of scores and weights

  TargetReport& report;
  std::uint64_t state = 4242;

  float next() {  // about normal
    float sum = -6.0f;
    for (int i = 0; i < 12; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sum += static_cast<float>(state >> 40) * 0x1p-24f;
    }
    return sum;
  }
  struct Case {
    abi::Element element;
    std::uint32_t dim;
    std::uint32_t rows;
    std::uint32_t queries;
  };
  void check(bool fine, const char* what, const Case& c) {
    ++report.checks;
    if (fine) return;
    report.check(false, std::string(what) + " element " +
                            std::to_string(static_cast<int>(c.element)) + " dim " +
                            std::to_string(c.dim) + " rows " + std::to_string(c.rows) +
                            " queries " + std::to_string(c.queries));
  }
  static std::uint32_t element_bytes(abi::Element element) {
    return element == abi::Element::kFloat ? 4 : 2;
  }
  void write(std::uint8_t* at, abi::Element element, float x) {
    if (element == abi::Element::kFloat) {
      store(at, x);
    } else if (element == abi::Element::kHalf) {
      store(at, to_half(x));
    } else {
      store(at, to_bfloat16(x));
    }
  }

  // Rows `gap` bytes apart, with NaN in the gaps, in a buffer that ends with the last row (so that
  // a sanitizer sees what reads on).
  std::vector<std::uint8_t> make_rows(const Case& c, std::uint32_t gap, float size) {
    const std::uint32_t bytes = c.dim * element_bytes(c.element);
    std::vector<std::uint8_t> data(std::size_t{c.rows} * (bytes + gap) - gap, std::uint8_t{0xff});
    for (std::uint32_t t = 0; t < c.rows; ++t) {
      for (std::uint32_t i = 0; i < c.dim; ++i) {
        write(&data[std::size_t{t} * (bytes + gap) + i * element_bytes(c.element)], c.element,
              size * next());
      }
    }
    return data;
  }
  std::vector<float> numbers(std::size_t n, bool positive) {
    std::vector<float> all(n);
    for (float& x : all) x = positive ? std::fabs(next()) : next();
    return all;
  }

  // A score is a sum of dim products; the kernel rounds at most dim / 16 + 5 times in a row, each
  // time by 2^-24 of the sum so far, which is at most the sum of the magnitudes. The reference sums
  // in double and rounds once.
  void test_rows(const Case& c, std::uint32_t gap, float size) {
    const std::vector<std::uint8_t> data = make_rows(c, gap, size);
    const abi::RawRows rows{data.data(), std::uint64_t{c.dim} * element_bytes(c.element) + gap,
                            c.rows, c.dim, c.element};
    const std::vector<float> queries = numbers(std::size_t{c.queries} * c.dim, false);
    std::vector<float> scores(c.queries * kStride, 9.0f);
    std::vector<float> wanted(c.queries * kStride, 9.0f);
    std::vector<float> bound(c.queries * kStride, 0.0f);
    Raw::score(rows, nullptr, queries.data(), c.queries, scores.data(), kStride);
    ReferenceKernels::score_raw(rows, queries.data(), c.queries, wanted.data(), kStride);
    std::vector<float> magnitudes(c.dim);
    for (std::uint32_t j = 0; j < c.queries; ++j) {
      for (std::uint32_t t = 0; t < c.rows; ++t) {
        double sum = 0.0;
        for (std::uint32_t i = 0; i < c.dim; ++i) {
          const std::uint8_t* at = rows.data + t * rows.stride + i * element_bytes(c.element);
          const float x = c.element == abi::Element::kFloat  ? load<float>(at)
                          : c.element == abi::Element::kHalf ? to_float(load<Half>(at))
                                                             : to_float(load<BFloat16>(at));
          sum += static_cast<double>(magnitude(x * queries[std::size_t{j} * c.dim + i]));
        }
        bound[j * kStride + t] = static_cast<float>(sum * (c.dim / 16 + 6) * 0x1p-24);
      }
    }
    for (std::size_t i = 0; i < scores.size(); ++i)
      check(magnitude(scores[i] - wanted[i]) <= bound[i], "score", c);
    for (std::uint32_t j = 0; j < c.queries; ++j) {  // alone: to the bit
      std::vector<float> one(kStride, 9.0f);
      Raw::score(rows, data.data(), &queries[std::size_t{j} * c.dim], 1, one.data(), kStride);
      check(std::memcmp(one.data(), &scores[j * kStride], kStride * sizeof(float)) == 0,
            "score alone", c);
    }

    // The reference adds the same products in the same order, in float: equal but where it or the
    // target does not fuse, by a rounding per row.
    std::vector<float> weights = numbers(c.queries * kStride, true);
    for (std::size_t i = 0; i < weights.size(); i += 5) weights[i] = 0.0f;
    for (std::uint32_t j = 0; j < c.queries; ++j) {  // what lies behind the rows does not matter
      for (std::uint32_t t = c.rows; t < kStride; ++t)
        weights[j * kStride + t] = std::numeric_limits<float>::quiet_NaN();
    }
    std::vector<float> sums = numbers(std::size_t{c.queries} * c.dim, false);
    std::vector<float> expected = sums;
    const std::vector<float> before = sums;
    Raw::accumulate(rows, nullptr, weights.data(), c.queries, kStride, sums.data());
    ReferenceKernels::accumulate_raw(rows, weights.data(), c.queries, kStride, expected.data());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      double all = static_cast<double>(magnitude(before[i]));
      for (std::uint32_t t = 0; t < c.rows; ++t)
        all +=
            8.0 * static_cast<double>(size) * static_cast<double>(weights[i / c.dim * kStride + t]);
      check(static_cast<double>(magnitude(sums[i] - expected[i])) <= all * 2 * c.rows * 0x1p-24,
            "sum", c);
    }
    for (std::uint32_t j = 0; j < c.queries; ++j) {
      std::vector<float> one(&before[std::size_t{j} * c.dim],
                             &before[std::size_t{j} * c.dim] + c.dim);
      Raw::accumulate(rows, data.data(), &weights[j * kStride], 1, kStride, one.data());
      check(std::memcmp(one.data(), &sums[std::size_t{j} * c.dim], c.dim * sizeof(float)) == 0,
            "sum alone", c);
    }
  }

  // Runs that start and end anywhere in their blocks, NaN in all other slots. in_a_row: the blocks
  // lie one behind the other.
  void test_runs(const Case& c, bool in_a_row) {
    const abi::RawView view{c.dim, c.element};
    const std::uint32_t bytes = c.dim * element_bytes(c.element);
    const std::uint32_t slots[3][2] = {{61, 3}, {0, 64}, {0, 37}};
    const std::size_t pitch = 64 * std::size_t{bytes} + (in_a_row ? 0 : 64);
    std::vector<std::uint8_t> blocks(3 * pitch, std::uint8_t{0xff});
    BlockRun runs[3] = {};
    std::vector<std::uint8_t> joined;
    for (std::uint32_t r = 0; r < 3; ++r) {
      const Case part{c.element, c.dim, slots[r][1], c.queries};
      const std::vector<std::uint8_t> rows = make_rows(part, 0, 1.0f);
      std::memcpy(&blocks[r * pitch + std::size_t{slots[r][0]} * bytes], rows.data(), rows.size());
      joined.insert(joined.end(), rows.begin(), rows.end());
      runs[r].bytes.block = &blocks[r * pitch];
      runs[r].slot = slots[r][0];
      runs[r].count = slots[r][1];
    }
    const abi::RawRows rows{joined.data(), bytes, 104, c.dim, c.element};
    const std::vector<float> queries = numbers(std::size_t{c.queries} * c.dim, false);
    const std::vector<float> weights = numbers(c.queries * kStride, true);
    for (const BlockRun* ahead :
         {static_cast<const BlockRun*>(nullptr), static_cast<const BlockRun*>(runs)}) {
      std::vector<float> scores(c.queries * kStride, 9.0f);
      std::vector<float> wanted(c.queries * kStride, 9.0f);
      Raw::score(view, {runs, 3, ahead, ahead == nullptr ? 0u : 3u, queries.data(), nullptr,
                        c.queries, abi::Arithmetic::kFast, scores.data(), kStride});
      Raw::score(rows, nullptr, queries.data(), c.queries, wanted.data(), kStride);
      check(scores == wanted, "runs: score", c);
      std::vector<float> sums(std::size_t{c.queries} * c.dim, 1.0f);
      std::vector<float> expected = sums;
      Raw::accumulate(view, {runs, 3, ahead, ahead == nullptr ? 0u : 3u, weights.data(), c.queries,
                             kStride, abi::Arithmetic::kFast, sums.data()});
      Raw::accumulate(rows, nullptr, weights.data(), c.queries, kStride, expected.data());
      check(sums == expected, "runs: sum", c);
    }
  }

  void run() {
    for (const abi::Element element :
         {abi::Element::kFloat, abi::Element::kHalf, abi::Element::kBFloat16}) {
      for (const std::uint32_t dim : {1u, 7u, 16u, 20u, 64u, 80u, 96u, 128u, 256u, 576u}) {
        for (const std::uint32_t rows : {1u, 2u, 5u, 8u, 15u, 16u, 17u, 64u, 130u}) {
          const std::uint32_t queries = 1 + (rows + dim) % 5;
          test_rows({element, dim, rows, queries}, rows % 3, 1.0f);
        }
        for (const std::uint32_t queries : {1u, 2u, 3u, 4u, 7u, 8u, 16u})
          test_rows({element, dim, 21, queries}, 1, queries == 7 ? 1e-6f : 1e3f);
        for (const std::uint32_t queries : {1u, 2u, 6u}) {
          test_runs({element, dim, 104, queries}, false);
          test_runs({element, dim, 104, queries}, true);
        }
      }
    }
  }
};

void test_raw(TargetReport& report, const char** name) {
  *name = Lanes::kName;
  RawTest{report}.run();
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <doctest/doctest.h>

namespace kvpleat::inline KVPLEAT_ISA {

HWY_EXPORT(test_raw);

TEST_CASE("raw rows: scores and sums are those of the reference, on every target") {
  const int ran = on_each_target(HWY_TARGETS, [](const char* target) {
    TargetReport report;
    const char* name = "";
    HWY_DYNAMIC_DISPATCH(test_raw)(report, &name);
    MESSAGE(std::string(target) << " (" << std::string(name) << "): " << report.checks
                                << " checks");
    CHECK_MESSAGE(report.failures.empty(), report.text());
    CHECK(report.checks > 100000);
  });
  CHECK(ran >= 1);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
#endif
