// VectorKernels: the kernel set of the instruction set that the unit is compiled for.
//
// Formats are told by family: what a view (views.h) describes has a kernel in one of the -inl
// headers; what none describes is decoded first (Path::kDecode). To add a family: a concept in
// views.h, its kernels, and one line in each function below.
#pragma once

#include <cstdint>

#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/codecs-inl.h"
#include "kvpleat/simd/codecs.h"
#include "kvpleat/simd/decoded.h"
#include "kvpleat/simd/jagged-inl.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/oaken_view.h"
#include "kvpleat/simd/offset-inl.h"
#include "kvpleat/simd/offset_view.h"
#include "kvpleat/simd/path.h"
#include "kvpleat/simd/raw-inl.h"
#include "kvpleat/simd/reference.h"
#include "kvpleat/simd/softmax-inl.h"
#include "kvpleat/simd/tiles-inl.h"
#include "kvpleat/simd/views.h"
#include "kvpleat/simd/work.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
// Inside the namespace of the target: units of the same flags may still see other targets, if one
// of them disables some.
namespace HWY_NAMESPACE {

struct VectorKernels : ReferenceKernels, Codecs<CodecFunctions> {
  static constexpr const char* kName = "vector";
  static const char* target() noexcept { return Lanes::kName; }

  static constexpr Path kRawPath = Path::kFused;
  template <class F>
  static constexpr Path kPath =
      RawRowFormat<F> || UniformTileFormat<F> || OakenFormat<F> ? Path::kFused : Path::kDecode;
  template <class F>
  static constexpr Path kViewPath = RawRowFormat<F> ? Path::kFused : Path::kDecode;
  template <class F>
  static constexpr std::uint32_t kWorkBytes = [] {
    if constexpr (UniformTileFormat<F>) {
      return F::kRole == Role::kKey ? query_work_bytes(views::Tile<F>::kShape) : 0u;
    } else if constexpr (OakenKeyFormat<F>) {
      return simd::kOakenWorkBytes<F>;
    } else {
      return 0u;
    }
  }();

  template <Format F>
  static void prepare(const F& format, const abi::PrepareArguments& a) {
    if constexpr (UniformTileFormat<F>) TileKernels::prepare(tile_view(format), a);
    if constexpr (OakenKeyFormat<F>) OakenQueries::prepare(simd::oaken_view(format), a);
  }
  template <Format F>
  static void score(const F& format, const abi::ScoreArguments& a) {
    if constexpr (RawRowFormat<F>) {
      Raw::score(raw_view(format), a);
    } else if constexpr (UniformTileFormat<F> && F::kRole == Role::kKey) {
      TileKernels::score_bits<views::Tile<F>::kShape.bits>(tile_view(format), a);
    } else if constexpr (OakenKeyFormat<F>) {
      if (a.arithmetic == abi::Arithmetic::kExact) {
        DecodedRows<VectorKernels>::score(format, a);
      } else {
        JaggedKernels::score(simd::oaken_view(format), a);
      }
    } else {
      DecodedRows<VectorKernels>::score(format, a);
    }
  }
  template <Format F>
  static void accumulate(const F& format, const abi::AccumulateArguments& a) {
    // Tiles of keys whose first channels are the values as well (KeyView) lie the other way.
    if constexpr (RawRowFormat<F>) {
      Raw::accumulate(raw_view(format), a);
    } else if constexpr (UniformTileFormat<F> && F::kRole == Role::kValue) {
      TileKernels::accumulate_bits<views::Tile<F>::kShape.bits>(tile_view(format), a);
    } else if constexpr (OakenValueFormat<F>) {
      if (a.arithmetic == abi::Arithmetic::kExact) {
        DecodedRows<VectorKernels>::accumulate(format, a);
      } else {
        JaggedKernels::accumulate(simd::oaken_view(format), a);
      }
    } else {
      DecodedRows<VectorKernels>::accumulate(format, a);
    }
  }
  template <Format F>
  static void add_offset(const F& format, const abi::OffsetArguments& a) {
    if constexpr (kHasOffsetView<F>) {
      const abi::OffsetView view = offset_view_of(format);
      if (usable(format, view)) {
        ScoreOffset::add(view, a);
        return;
      }
    }
    ReferenceKernels::add_offset(format, a);
  }

  // Rows that lie open.
  static void score_rows(Rows rows, std::uint32_t dim, const float* queries, std::uint32_t group,
                         float* scores, std::uint32_t stride) {
    Raw::score(Raw::open(rows, dim), nullptr, queries, group, scores, stride);
  }
  static void accumulate_rows(Rows rows, std::uint32_t dim, const float* weights,
                              std::uint32_t group, std::uint32_t stride, float* sums) {
    Raw::accumulate(Raw::open(rows, dim), nullptr, weights, group, stride, sums);
  }
  static void score_raw(const abi::RawRows& rows, const float* queries, std::uint32_t group,
                        float* scores, std::uint32_t stride) {
    Raw::score(rows, nullptr, queries, group, scores, stride);
  }
  static void accumulate_raw(const abi::RawRows& rows, const float* weights, std::uint32_t group,
                             std::uint32_t stride, float* sums) {
    Raw::accumulate(rows, nullptr, weights, group, stride, sums);
  }

  // Softmax of one row of scores.
  static void hide(const std::uint8_t* shown, std::uint32_t begin, std::uint32_t end,
                   float* scores) {
    Softmax::hide(shown, begin, end, scores);
  }
  static float largest(const float* scores, std::uint32_t begin, std::uint32_t end) {
    return Softmax::largest(scores, begin, end);
  }
  static float exponentials(float* scores, std::uint32_t begin, std::uint32_t end, float factor,
                            float top) {
    return Softmax::exponentials(scores, begin, end, factor, top);
  }
  static float sum(const float* weights, std::uint32_t begin, std::uint32_t end) {
    return Softmax::sum(weights, begin, end);
  }
  static float sum_of_squares(const float* weights, std::uint32_t begin, std::uint32_t end) {
    return Softmax::sum_of_squares(weights, begin, end);
  }
  static void rescale(float* sums, std::uint32_t n, float factor) {
    Softmax::rescale(sums, n, factor);
  }
};

}  // namespace HWY_NAMESPACE

using HWY_NAMESPACE::VectorKernels;

}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();
