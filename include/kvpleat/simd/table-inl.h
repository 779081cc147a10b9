// TargetFunctions: the kernels of one target as functions of the structs of abi.h, and the table of
// them. Compiled once per target by simd/unit.h.

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/codecs-inl.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/offset-inl.h"
#include "kvpleat/simd/raw-inl.h"
#include "kvpleat/simd/softmax-inl.h"
#include "kvpleat/simd/table.h"

#if defined(KVPLEAT_SIMD_TABLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_TABLE_INL_H_
#undef KVPLEAT_SIMD_TABLE_INL_H_
#else
#define KVPLEAT_SIMD_TABLE_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

struct TargetFunctions {
  static void score_raw_format(const abi::RawView& view, const abi::ScoreArguments& a) {
    Raw::score(view, a);
  }
  static void accumulate_raw_format(const abi::RawView& view, const abi::AccumulateArguments& a) {
    Raw::accumulate(view, a);
  }
  static void score_raw(const abi::RawRows& rows, const float* queries, std::uint32_t group,
                        float* scores, std::uint32_t stride) {
    Raw::score(rows, nullptr, queries, group, scores, stride);
  }
  static void accumulate_raw(const abi::RawRows& rows, const float* weights, std::uint32_t group,
                             std::uint32_t stride, float* sums) {
    Raw::accumulate(rows, nullptr, weights, group, stride, sums);
  }

  static constexpr abi::KernelTable kTable = [] {
    abi::KernelTable table{};
    table.target = Lanes::kName;
    table.score_raw_format = &score_raw_format;
    table.accumulate_raw_format = &accumulate_raw_format;
    table.score_raw = &score_raw;
    table.accumulate_raw = &accumulate_raw;
    table.add_offset = &ScoreOffset::add;
    table.encode = &CodecFunctions::encode;
    table.decode = &CodecFunctions::decode;
    table.hadamard = &CodecFunctions::hadamard;
    table.phase_center = &CodecFunctions::phase_center;
    table.balance = &CodecFunctions::balance;
    table.largest_in = &CodecFunctions::largest;
    table.encode_bands = &CodecFunctions::encode_bands;
    table.decode_bands = &CodecFunctions::decode_bands;
    table.observe_bands = &CodecFunctions::observe_bands;
    table.count_outliers = &CodecFunctions::count_outliers;
    table.hide = &Softmax::hide;
    table.largest = &Softmax::largest;
    table.exponentials = &Softmax::exponentials;
    table.sum = &Softmax::sum;
    table.sum_of_squares = &Softmax::sum_of_squares;
    table.rescale = &Softmax::rescale;
    return table;
  }();
};

// By a function: what HWY_EXPORT takes.
inline const abi::KernelTable* target_table() {
  return &TargetFunctions::kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
