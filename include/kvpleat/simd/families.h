// FamilyKernels: a kernel set made of functions of the structs of abi.h. Formats are told by family:
// what a view (views.h) describes goes to a function; what none describes is decoded first
// (Path::kDecode).
//
// VectorKernels (vector.h) has the functions of the target that its unit is compiled for
// (functions-inl.h), DispatchedKernels (dispatched.h) those of the table that a unit of kernels
// fills (table.h). To add a family: a concept in views.h; its kernels; a function each in
// functions-inl.h, table.h, table-inl.h and dispatched.h; one line in each function below.
#pragma once

#include <cstdint>

#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/codecs.h"
#include "kvpleat/simd/decoded.h"
#include "kvpleat/simd/oaken_view.h"
#include "kvpleat/simd/offset_view.h"
#include "kvpleat/simd/path.h"
#include "kvpleat/simd/reference.h"
#include "kvpleat/simd/views.h"
#include "kvpleat/simd/work.h"

namespace kvpleat::inline KVPLEAT_ISA {

template <class Functions>
struct FamilyKernels : ReferenceKernels, Codecs<Functions> {
 private:
  template <class F, Role kRole>
  static constexpr bool kTile = [] {
    if constexpr (TileFormat<F>) {
      return F::kRole == kRole;
    } else {
      return false;
    }
  }();

 public:
  static constexpr const char* kName = Functions::kName;
  static const char* target() noexcept { return Functions::target(); }

  static constexpr Path kRawPath = Path::kFused;
  static constexpr bool kTakesPhaseTable = true;
  template <class F>
  static constexpr Path kPath =
      RawRowFormat<F> || TileFormat<F> || OakenFormat<F> ? Path::kFused : Path::kDecode;
  template <class F>
  static constexpr Path kViewPath =
      RawRowFormat<F> || OakenValueFormat<F> ? Path::kFused : Path::kDecode;
  template <class F>
  static constexpr std::uint32_t kWorkBytes = [] {
    if constexpr (kTile<F, Role::kKey>) {
      return query_work_bytes(views::Tile<F>::kShape);
    } else if constexpr (OakenKeyFormat<F>) {
      return simd::kOakenWorkBytes<F>;
    } else {
      return 0u;
    }
  }();

  template <Format F>
  static void prepare(const F& format, const abi::PrepareArguments& a) {
    if constexpr (kTile<F, Role::kKey>) Functions::prepare_tile(format, a);
    if constexpr (OakenKeyFormat<F>) Functions::prepare_oaken(simd::oaken_view(format), a);
  }
  template <Format F>
  static void score(const F& format, const abi::ScoreArguments& a) {
    if constexpr (RawRowFormat<F>) {
      Functions::score_raw_format(raw_view(format), a);
    } else if constexpr (kTile<F, Role::kKey>) {
      Functions::score_tile(format, a);
    } else if constexpr (OakenKeyFormat<F>) {
      if (a.arithmetic == abi::Arithmetic::kExact) {
        DecodedRows<FamilyKernels>::score(format, a);
      } else {
        Functions::score_oaken(simd::oaken_view(format), a);
      }
    } else {
      DecodedRows<FamilyKernels>::score(format, a);
    }
  }
  template <Format F>
  static void accumulate(const F& format, const abi::AccumulateArguments& a) {
    // Tiles of keys whose first channels are the values as well (KeyView) lie the other way.
    if constexpr (RawRowFormat<F>) {
      Functions::accumulate_raw_format(raw_view(format), a);
    } else if constexpr (kTile<F, Role::kValue>) {
      Functions::accumulate_tile(format, a);
    } else if constexpr (OakenValueFormat<F>) {
      if (a.arithmetic == abi::Arithmetic::kExact) {
        DecodedRows<FamilyKernels>::accumulate(format, a);
      } else {
        Functions::accumulate_oaken(simd::oaken_view(format), a);
      }
    } else {
      DecodedRows<FamilyKernels>::accumulate(format, a);
    }
  }
  template <Format F>
  static void add_offset(const F& format, const abi::OffsetArguments& a) {
    if constexpr (kHasOffsetView<F>) {
      const abi::OffsetView view = offset_view_of(format);
      if (usable(format, view)) {
        Functions::add_offset(view, a);
        return;
      }
    }
    ReferenceKernels::add_offset(format, a);
  }

  // Rows that lie open.
  static void score_rows(Rows rows, std::uint32_t dim, const float* queries, std::uint32_t group,
                         float* scores, std::uint32_t stride) {
    Functions::score_raw(open(rows, dim), queries, group, scores, stride);
  }
  static void accumulate_rows(Rows rows, std::uint32_t dim, const float* weights,
                              std::uint32_t group, std::uint32_t stride, float* sums) {
    Functions::accumulate_raw(open(rows, dim), weights, group, stride, sums);
  }
  static void score_raw(const abi::RawRows& rows, const float* queries, std::uint32_t group,
                        float* scores, std::uint32_t stride) {
    Functions::score_raw(rows, queries, group, scores, stride);
  }
  static void accumulate_raw(const abi::RawRows& rows, const float* weights, std::uint32_t group,
                             std::uint32_t stride, float* sums) {
    Functions::accumulate_raw(rows, weights, group, stride, sums);
  }

  // Softmax of one row of scores.
  static void hide(const std::uint8_t* shown, std::uint32_t begin, std::uint32_t end,
                   float* scores) {
    Functions::hide(shown, begin, end, scores);
  }
  static float largest(const float* scores, std::uint32_t begin, std::uint32_t end) {
    return Functions::largest(scores, begin, end);
  }
  static float exponentials(float* scores, std::uint32_t begin, std::uint32_t end, float factor,
                            float top) {
    return Functions::exponentials(scores, begin, end, factor, top);
  }
  static float sum(const float* weights, std::uint32_t begin, std::uint32_t end) {
    return Functions::sum(weights, begin, end);
  }
  static float sum_of_squares(const float* weights, std::uint32_t begin, std::uint32_t end) {
    return Functions::sum_of_squares(weights, begin, end);
  }
  static void rescale(float* sums, std::uint32_t n, float factor) {
    Functions::rescale(sums, n, factor);
  }

 private:
  static abi::RawRows open(Rows rows, std::uint32_t dim) {
    return {static_cast<const std::uint8_t*>(static_cast<const void*>(rows.data)),
            rows.stride * sizeof(float), static_cast<std::uint32_t>(rows.count), dim,
            abi::Element::kFloat};
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
