// TargetFunctions: the kernels of one target as functions of the structs of abi.h.

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/codecs-inl.h"
#include "kvpleat/simd/fused-inl.h"
#include "kvpleat/simd/fused_tiles-inl.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/offset-inl.h"
#include "kvpleat/simd/raw-inl.h"
#include "kvpleat/simd/softmax-inl.h"

#if defined(KVPLEAT_SIMD_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_FUNCTIONS_INL_H_
#undef KVPLEAT_SIMD_FUNCTIONS_INL_H_
#else
#define KVPLEAT_SIMD_FUNCTIONS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// Coding and the softmax are functions of that kind already.
struct TargetFunctions : CodecFunctions, Softmax {
  static constexpr const char* kName = "vector";
  static const char* target() { return Lanes::kName; }

  // Raw formats and rows that lie open.
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

  // Tiles: of a format, its own kernels only.
  template <class F>
  static void prepare_tile(const F& format, const abi::PrepareArguments& a) {
    FusedTiles::prepare_of(format, a);
  }
  template <class F>
  static void score_tile(const F& format, const abi::ScoreArguments& a) {
    FusedTiles::score_of(format, a);
  }
  template <class F>
  static void accumulate_tile(const F& format, const abi::AccumulateArguments& a) {
    FusedTiles::accumulate_of(format, a);
  }

  // Oaken's bytes, but in kExact.
  static void prepare_oaken(const abi::OakenView& view, const abi::PrepareArguments& a) {
    OakenKernels::prepare(view, a);
  }
  static void score_oaken(const abi::OakenView& view, const abi::ScoreArguments& a) {
    OakenKernels::score(view, a);
  }
  static void accumulate_oaken(const abi::OakenView& view, const abi::AccumulateArguments& a) {
    OakenKernels::accumulate(view, a);
  }

  // What coded keys lose of a score.
  static void add_offset(const abi::OffsetView& view, const abi::OffsetArguments& a) {
    ScoreOffset::add(view, a);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
