// Blocks of a format at its own bytes and what a kernel set computes of them: for tests that compare
// targets. No test framework: programs without one use it as well.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/format/formats.h"
#include "kvpleat/format/oaken.h"
#include "kvpleat/format/oaken_resident.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/reference.h"
#include "support/any_format.h"
#include "support/generator.h"

namespace test {

using kvpleat::abi::Arithmetic;

// What one kernel set computes of the runs of a sample.
struct Results {
  std::vector<float> scores;
  std::vector<float> sums;
};

// Two blocks of a format at its own bytes, runs that begin and end inside units of 16, and what
// meets them. What the runs leave out is garbage.
template <class F>
class Sample {
 public:
  static constexpr std::uint32_t kQueries = 5;
  static constexpr std::uint32_t kStride = 256;

  Sample()
      : surroundings_(F::kDim, SampleProfile<F>::make()),
        format_(F::bind(surroundings_.context())),
        queries_(normal(91, std::size_t{kQueries} * F::kCoded)),
        weights_(normal(92, std::size_t{kQueries} * kStride)) {
    for (float& weight : weights_) weight *= weight;
    runs_[0] = fill(blocks_[0], 93, F::kSeal == 1 ? 5u : 0u, F::kBlockTokens);
    runs_[1] = fill(blocks_[1], 94, 0, F::kSeal == 1 ? 23u : F::kSeal);
  }

  template <class Kernels>
  Results run(Arithmetic arithmetic) const {
    alignas(64) static std::uint8_t work[Kernels::template kWorkBytes<F> + 1];
    Results results{std::vector<float>(kQueries * kStride),
                    std::vector<float>(std::size_t{kQueries} * F::kCoded)};
    Kernels::prepare(format_,
                     kvpleat::abi::PrepareArguments{queries_.data(), kQueries, arithmetic, work});
    Kernels::score(
        format_, kvpleat::abi::ScoreArguments{runs_, 2, nullptr, 0, queries_.data(), work, kQueries,
                                              arithmetic, results.scores.data(), kStride});
    Kernels::accumulate(
        format_, kvpleat::abi::AccumulateArguments{runs_, 2, nullptr, 0, weights_.data(), kQueries,
                                                   kStride, arithmetic, results.sums.data()});
    return results;
  }
  // Per result, the sum of the magnitudes of its terms.
  [[nodiscard]] Results magnitudes() const {
    Results results{std::vector<float>(kQueries * kStride),
                    std::vector<float>(std::size_t{kQueries} * F::kCoded)};
    std::uint32_t t = 0;
    for (const kvpleat::BlockRun& run : runs_) {
      for (std::uint32_t s = 0; s < run.count; ++s, ++t) {
        float row[F::kCoded];
        format_.decode(run.bytes, run.slot + s, kvpleat::MutableRows{row, 1, F::kCoded});
        for (std::uint32_t j = 0; j < kQueries; ++j) {
          for (std::uint32_t c = 0; c < F::kCoded; ++c) {
            results.scores[j * kStride + t] +=
                kvpleat::magnitude(row[c] * queries_[j * F::kCoded + c]);
            results.sums[j * F::kCoded + c] +=
                kvpleat::magnitude(row[c] * weights_[j * kStride + t]);
          }
        }
      }
    }
    return results;
  }

 private:
  // Slots [begin, end) of a block whose other slots are 0xff, as far as its codec lets them be.
  kvpleat::BlockRun fill(BlockData& data, std::uint32_t seed, std::uint32_t begin,
                         std::uint32_t end) {
    constexpr bool kOpen = F::kSpills || F::kSeal > 1;  // slots in order, from the first
    data.block.assign(F::kBlockBytes, kOpen ? std::uint8_t{0} : std::uint8_t{0xff});
    data.shared.resize(F::kSharedBytes);
    const std::vector<float> values = normal(seed, std::size_t{F::kBlockTokens} * F::kDim);
    std::vector<float> rows(std::size_t{F::kBlockTokens} * F::kCoded);
    std::uint32_t room = 0;
    for (std::uint32_t t = 0; t < F::kBlockTokens; ++t) {
      float* row = &rows[std::size_t{t} * F::kCoded];
      format_.forward(&values[std::size_t{t} * F::kDim], t, row);
      if constexpr (F::kSpills) room += format_.spill_need(row);
      if constexpr (F::kSharedBytes > 0) {
        typename F::Stat stat;
        format_.observe(row, stat);
        F::write_shared(stat, t, data.shared.data());
      }
    }
    data.spill.resize(room);
    kvpleat::SpillWriter spill{data.spill.data(), 0, room};
    const std::uint32_t first = kOpen ? 0 : begin;
    format_.encode(kvpleat::Rows{rows.data(), end - first, F::kCoded}, first, data.shared.data(),
                   data.block.data(), spill, data.counters);
    data.spill.resize(spill.size);
    return {data.bytes(), begin, end - begin};
  }

  Surroundings surroundings_;
  F format_;
  std::vector<float> queries_;
  std::vector<float> weights_;
  BlockData blocks_[2];
  kvpleat::BlockRun runs_[2];
};

// Largest |a - b| over `unit` of each.
inline double worst(const std::vector<float>& a, const std::vector<float>& b,
                    const std::vector<float>& unit) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= 1e30)) return 1e30;
    if (difference > 0.0) most = std::fmax(most, difference / static_cast<double>(unit[i]));
  }
  return most;
}
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Sums of at most 576 terms, or of 256 tokens, are off by fewer than 40 roundings of 2^-24 of the
// magnitudes in 16 partial sums, and by 256 where tokens are added one by one.
inline constexpr double kExact = 300 * 0x1p-24;
// Targets without FMA round products as well, and nothing else differs.
inline constexpr double kAcross = 2 * kExact;
// 8-bit queries and 7-bit weights, of the magnitudes: half a step is 1/254 of the largest, and
// errors of either sign add up to less than that; a level of a codebook may be off by 1/254 more.
// kAccurate: 1/128 of that.
inline constexpr double kFast = 3.0 / 127;
inline constexpr double kAccurate = kFast / 128 + kExact;

// What holds for a format beyond that.
struct Law {
  double accurate = kAccurate;
  bool equal_bits = true;   // targets with FMA give the same bits
  double across = kAcross;  // between targets otherwise

  [[nodiscard]] double tolerance(Arithmetic arithmetic) const {
    return arithmetic == Arithmetic::kFast       ? kFast
           : arithmetic == Arithmetic::kAccurate ? accurate
                                                 : kExact;
  }
};
// Oaken in resident order: in kAccurate as well a byte stands for the delta of an outlier, and each
// target has an order of its own to add units in.
inline constexpr Law kResident{kFast, false};
// In published order kernels with 64-byte lookups fold other weights than those without: targets
// agree within what 8 bits hold.
inline constexpr Law kPublished{kFast, false, kFast};

// Calls visit.operator()<F>(law) with formats of every family of kernels, as keys and as values (tiles
// lie the other way).
template <class Visit>
void each_kernel_format(const Visit& visit) {
  namespace f = kvpleat::formats;
  const auto both = [&]<class F>(const Law& law) {
    visit.template operator()<F>(law);
    if constexpr (!F::kPositional) {
      if constexpr (requires { typename F::template As<kvpleat::Role::kValue>; })
        visit.template operator()<typename F::template As<kvpleat::Role::kValue>>(law);
    }
  };
  both.template operator()<f::F32<64>>({});
  both.template operator()<f::F16<80>>({});
  both.template operator()<f::BF16<20>>({});
  both.template operator()<f::Int8<128>>({});
  both.template operator()<f::Int5<96>>({});
  both.template operator()<f::Int4<128>>({});
  both.template operator()<f::Int4G32<64>>({});
  both.template operator()<f::Int4Channel<64>>({});
  both.template operator()<f::Int2<80>>({});
  both.template operator()<f::Int4TopK<64>>({});
  both.template operator()<f::CodebookKey<64, 4>>({});
  both.template operator()<f::CodebookValue<80, 3>>({});
  both.template operator()<f::Oaken<64>>(kPublished);
  both.template operator()<f::OakenJds16<80>>(kResident);
}

}  // namespace test
