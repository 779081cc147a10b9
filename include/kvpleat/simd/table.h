// The table of kernels: what the unit of kernels (simd/unit.h) offers to all other units, whatever
// their flags. Plain data and functions that are defined in that unit; nothing here needs Highway.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/simd/abi.h"

namespace kvpleat::abi {

// The kernels of one target. Each does what the kernel set's function of that name does
// (simd/reference.h), for the formats that its view describes. A function that returns bool may
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

  // Tiles of any width, of uniform codes or levels.
  void (*prepare_tile)(const TileView&, const PrepareArguments&);
  void (*score_tile)(const TileView&, const ScoreArguments&);
  void (*accumulate_tile)(const TileView&, const AccumulateArguments&);

  // Oaken's bytes, but in kExact.
  void (*prepare_oaken)(const OakenView&, const PrepareArguments&);
  void (*score_oaken)(const OakenView&, const ScoreArguments&);
  void (*accumulate_oaken)(const OakenView&, const AccumulateArguments&);

  // What coded keys lose of a score.
  void (*add_offset)(const OffsetView&, const OffsetArguments&);

  // Coding (simd/codecs.h).
  bool (*encode)(const CodeView&, const EncodeArguments&);
  bool (*decode)(const CodeView&, const DecodeArguments&);
  bool (*hadamard)(const HadamardArguments&);
  bool (*phase_center)(const PhaseArguments&);
  bool (*phase_angles)(const std::uint64_t* turns, std::uint32_t pairs, const PhaseAngles&);
  bool (*narrow)(const RawView&, const EncodeArguments&);
  bool (*widen)(const RawView&, const DecodeArguments&);
  bool (*balance)(const BalanceArguments&);
  bool (*largest_in)(const float* rows, std::size_t stride, std::uint32_t count, std::uint32_t dim,
                     std::uint32_t* bits);
  bool (*encode_bands)(const BandView&, const BandArguments&);
  bool (*decode_bands)(const BandView&, const DecodeArguments&);
  bool (*observe_bands)(const BandView&, const float* rows, std::size_t stride, std::uint32_t count,
                        BandRanges* ranges);
  bool (*count_outliers)(const BandView&, const float* row, std::uint8_t* counts);

  // Softmax of one row of scores.
  void (*hide)(const std::uint8_t* shown, std::uint32_t begin, std::uint32_t end, float* scores);
  float (*largest)(const float* scores, std::uint32_t begin, std::uint32_t end);
  float (*exponentials)(float* scores, std::uint32_t begin, std::uint32_t end, float factor,
                        float top);
  float (*sum)(const float* weights, std::uint32_t begin, std::uint32_t end);
  float (*sum_of_squares)(const float* weights, std::uint32_t begin, std::uint32_t end);
  void (*rescale)(float* sums, std::uint32_t n, float factor);
};

// What the unit of kernels defines. The size of the table is part of every symbol, so that units
// compiled with another list of functions do not link. Structs of abi.h may change without that:
// compile all units of a program with the same headers.
template <std::size_t kTableBytes>
struct KernelUnit {
  // The table of the best target that this CPU has, unless another was chosen. The first call asks
  // the CPU; the others read one pointer.
  [[nodiscard]] static const KernelTable& table() noexcept;

  // All compiled targets, the best first; at least one.
  [[nodiscard]] static std::uint32_t target_count() noexcept;
  [[nodiscard]] static const KernelTable& table_of(std::uint32_t target) noexcept;
  // Whether this CPU has it.
  [[nodiscard]] static bool runs(std::uint32_t target) noexcept;
  // From now on table() is that of this target, which must run here. Call it while nothing attends:
  // an attend asks for the table at every kernel.
  static void choose(std::uint32_t target) noexcept;
};
using Kernels = KernelUnit<sizeof(KernelTable)>;

}  // namespace kvpleat::abi
