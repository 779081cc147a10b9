// TargetTable: the table of one target. Compiled once per target by simd/unit.h.

#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/functions-inl.h"
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

struct TargetTable {
  static constexpr abi::KernelTable kTable = [] {
    using Functions = TargetFunctions;
    abi::KernelTable table{};
    table.target = Lanes::kName;
    table.score_raw_format = &Functions::score_raw_format;
    table.accumulate_raw_format = &Functions::accumulate_raw_format;
    table.score_raw = &Functions::score_raw;
    table.accumulate_raw = &Functions::accumulate_raw;
    // All widths: these choose by the view.
    table.prepare_tile = &FusedTiles::prepare;
    table.score_tile = &FusedTiles::score;
    table.accumulate_tile = &FusedTiles::accumulate;
    table.prepare_oaken = &Functions::prepare_oaken;
    table.score_oaken = &Functions::score_oaken;
    table.accumulate_oaken = &Functions::accumulate_oaken;
    table.add_offset = &Functions::add_offset;
    table.encode = &Functions::encode;
    table.decode = &Functions::decode;
    table.hadamard = &Functions::hadamard;
    table.phase_center = &Functions::phase_center;
    table.phase_angles = &Functions::phase_angles;
    table.narrow = &Functions::narrow;
    table.widen = &Functions::widen;
    table.balance = &Functions::balance;
    table.largest_in = &Functions::largest_in;
    table.encode_bands = &Functions::encode_bands;
    table.decode_bands = &Functions::decode_bands;
    table.observe_bands = &Functions::observe_bands;
    table.count_outliers = &Functions::count_outliers;
    table.hide = &Functions::hide;
    table.largest = &Functions::largest;
    table.exponentials = &Functions::exponentials;
    table.sum = &Functions::sum;
    table.sum_of_squares = &Functions::sum_of_squares;
    table.rescale = &Functions::rescale;
    return table;
  }();
};

// By a function: what HWY_EXPORT takes.
inline const abi::KernelTable* target_table() {
  return &TargetTable::kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
