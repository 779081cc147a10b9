// The table of kernels: what the unit of kernels (simd/unit.h) offers to all other units, whatever
// their flags. Plain data and functions that are defined in that unit; nothing here needs Highway.
#pragma once

#include <cstdint>

#include "kvpleat/simd/abi.h"

namespace kvpleat::abi {

// The kernels of one target. Each does what the kernel set's function of that name does
// (simd/reference.h), for the formats that a view describes. A function that returns bool may
// decline, by false and before it has written anything.
struct KernelTable {
  const char* target;  // name of the target: plain, avx2, avx512vnni, neon

  // Raw formats and rows that lie open.
  void (*score_raw_format)(const RawView&, const ScoreArguments&);
  void (*accumulate_raw_format)(const RawView&, const AccumulateArguments&);
  void (*score_raw)(const RawRows&, const float* queries, std::uint32_t group, float* scores,
                    std::uint32_t stride);
  void (*accumulate_raw)(const RawRows&, const float* weights, std::uint32_t group,
                         std::uint32_t stride, float* sums);

  // What coded keys lose of a score.
  void (*add_offset)(const OffsetView&, const OffsetArguments&);

  // Coding (simd/codecs.h).
  bool (*encode)(const CodeView&, const EncodeArguments&);
  bool (*decode)(const CodeView&, const DecodeArguments&);
  bool (*hadamard)(const HadamardArguments&);
  bool (*phase_center)(const PhaseArguments&);
  bool (*balance)(const BalanceArguments&);
  bool (*largest_in)(const float*, std::size_t, std::uint32_t, std::uint32_t, std::uint32_t*);
  bool (*encode_bands)(const BandView&, const BandArguments&);
  bool (*decode_bands)(const BandView&, const DecodeArguments&);
  bool (*observe_bands)(const BandView&, const float*, std::size_t, std::uint32_t, BandRanges*);
  bool (*count_outliers)(const BandView&, const float*, std::uint8_t*);

  // Softmax of one row of scores.
  void (*hide)(const std::uint8_t* shown, std::uint32_t begin, std::uint32_t end, float* scores);
  float (*largest)(const float* scores, std::uint32_t begin, std::uint32_t end);
  float (*exponentials)(float* scores, std::uint32_t begin, std::uint32_t end, float factor,
                        float top);
  float (*sum)(const float* weights, std::uint32_t begin, std::uint32_t end);
  float (*sum_of_squares)(const float* weights, std::uint32_t begin, std::uint32_t end);
  void (*rescale)(float* sums, std::uint32_t n, float factor);
};

// The table of the best target that this CPU has, unless another was chosen. The first call asks
// the CPU; the others read one pointer.
[[nodiscard]] const KernelTable& kernel_table() noexcept;

// All compiled targets, the best first; at least one.
[[nodiscard]] std::uint32_t kernel_target_count() noexcept;
[[nodiscard]] const KernelTable& kernel_table_of(std::uint32_t target) noexcept;
// Whether this CPU has it.
[[nodiscard]] bool kernel_target_runs(std::uint32_t target) noexcept;
// From now on kernel_table() is that of this target, which must run here. Calls that work at this
// moment finish with the one before.
void choose_kernel_target(std::uint32_t target) noexcept;

}  // namespace kvpleat::abi
