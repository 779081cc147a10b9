// DispatchedKernels: the kernel set that the CPU chooses at run time. It calls the table of kernels
// (simd/table.h), which one unit of the program fills: link kvpleat::kernels, or compile
// simd/unit.h once.
//
// Formats are told by family, exactly as in VectorKernels (simd/vector.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/core/status.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/codecs.h"
#include "kvpleat/simd/decoded.h"
#include "kvpleat/simd/offset_view.h"
#include "kvpleat/simd/path.h"
#include "kvpleat/simd/reference.h"
#include "kvpleat/simd/table.h"
#include "kvpleat/simd/views.h"

namespace kvpleat::inline KVPLEAT_ISA {

// Coding by the table.
struct DispatchedCodecs {
  static bool encode(const abi::CodeView& view, const abi::EncodeArguments& a) {
    return abi::kernel_table().encode(view, a);
  }
  static bool decode(const abi::CodeView& view, const abi::DecodeArguments& a) {
    return abi::kernel_table().decode(view, a);
  }
  static bool hadamard(const abi::HadamardArguments& a) { return abi::kernel_table().hadamard(a); }
  static bool phase_center(const abi::PhaseArguments& a) {
    return abi::kernel_table().phase_center(a);
  }
  static bool balance(const abi::BalanceArguments& a) { return abi::kernel_table().balance(a); }
  static bool largest(const float* rows, std::size_t stride, std::uint32_t count, std::uint32_t dim,
                      std::uint32_t* bits) {
    return abi::kernel_table().largest_in(rows, stride, count, dim, bits);
  }
  static bool encode_bands(const abi::BandView& view, const abi::BandArguments& a) {
    return abi::kernel_table().encode_bands(view, a);
  }
  static bool decode_bands(const abi::BandView& view, const abi::DecodeArguments& a) {
    return abi::kernel_table().decode_bands(view, a);
  }
  static bool observe_bands(const abi::BandView& view, const float* rows, std::size_t stride,
                            std::uint32_t count, abi::BandRanges* ranges) {
    return abi::kernel_table().observe_bands(view, rows, stride, count, ranges);
  }
  static bool count_outliers(const abi::BandView& view, const float* row, std::uint8_t* counts) {
    return abi::kernel_table().count_outliers(view, row, counts);
  }
};

struct DispatchedKernels : ReferenceKernels, Codecs<DispatchedCodecs> {
  static constexpr const char* kName = "dispatched";

  // ---- targets ----

  // The one that runs.
  static const char* target() noexcept { return abi::kernel_table().target; }
  // All that the unit of kernels was compiled for, the best first.
  static std::uint32_t target_count() noexcept { return abi::kernel_target_count(); }
  static const char* target_name(std::uint32_t i) noexcept {
    return abi::kernel_table_of(i).target;
  }
  // Whether this CPU can run it.
  static bool target_runs(std::uint32_t i) noexcept { return abi::kernel_target_runs(i); }
  // Takes the target of that name from now on, in the whole program; an empty name: the best one.
  // {kInvalid, "no kernels for NAME"}: the unit of kernels was not compiled for it; {kUnsupported,
  // "NAME: not on this CPU"}.
  static Error use_target(std::string_view name) noexcept {
    for (std::uint32_t i = 0; i < target_count(); ++i) {
      if (name.empty() ? !target_runs(i) : name != target_name(i)) continue;
      if (!target_runs(i)) return about(Status::kUnsupported, "", name, ": not on this CPU");
      abi::choose_kernel_target(i);
      return {};
    }
    return about(Status::kInvalid, "no kernels for ", name, "");
  }

  // ---- formats ----

  static constexpr Path kRawPath = Path::kFused;
  template <class F>
  static constexpr Path kPath = RawRowFormat<F> ? Path::kFused : Path::kDecode;
  template <class F>
  static constexpr std::uint32_t kWorkBytes = 0;

  template <Format F>
  static void prepare(const F&, const abi::PrepareArguments&) {}
  template <Format F>
  static void score(const F& format, const abi::ScoreArguments& a) {
    if constexpr (RawRowFormat<F>) {
      table().score_raw_format(raw_view(format), a);
    } else {
      DecodedRows<DispatchedKernels>::score(format, a);
    }
  }
  template <Format F>
  static void accumulate(const F& format, const abi::AccumulateArguments& a) {
    if constexpr (RawRowFormat<F>) {
      table().accumulate_raw_format(raw_view(format), a);
    } else {
      DecodedRows<DispatchedKernels>::accumulate(format, a);
    }
  }

  template <Format F>
  static void add_offset(const F& format, const abi::OffsetArguments& a) {
    if constexpr (kHasOffsetView<F>) {
      const abi::OffsetView view = offset_view_of(format);
      if (usable(format, view)) {
        table().add_offset(view, a);
        return;
      }
    }
    ReferenceKernels::add_offset(format, a);
  }

  // ---- rows that lie open ----

  static void score_rows(Rows rows, std::uint32_t dim, const float* queries, std::uint32_t group,
                         float* scores, std::uint32_t stride) {
    table().score_raw(open(rows, dim), queries, group, scores, stride);
  }
  static void accumulate_rows(Rows rows, std::uint32_t dim, const float* weights,
                              std::uint32_t group, std::uint32_t stride, float* sums) {
    table().accumulate_raw(open(rows, dim), weights, group, stride, sums);
  }
  static void score_raw(const abi::RawRows& rows, const float* queries, std::uint32_t group,
                        float* scores, std::uint32_t stride) {
    table().score_raw(rows, queries, group, scores, stride);
  }
  static void accumulate_raw(const abi::RawRows& rows, const float* weights, std::uint32_t group,
                             std::uint32_t stride, float* sums) {
    table().accumulate_raw(rows, weights, group, stride, sums);
  }

  // ---- softmax ----

  static void hide(const std::uint8_t* shown, std::uint32_t begin, std::uint32_t end,
                   float* scores) {
    table().hide(shown, begin, end, scores);
  }
  static float largest(const float* scores, std::uint32_t begin, std::uint32_t end) {
    return table().largest(scores, begin, end);
  }
  static float exponentials(float* scores, std::uint32_t begin, std::uint32_t end, float factor,
                            float top) {
    return table().exponentials(scores, begin, end, factor, top);
  }
  static float sum(const float* weights, std::uint32_t begin, std::uint32_t end) {
    return table().sum(weights, begin, end);
  }
  static float sum_of_squares(const float* weights, std::uint32_t begin, std::uint32_t end) {
    return table().sum_of_squares(weights, begin, end);
  }
  static void rescale(float* sums, std::uint32_t n, float factor) {
    table().rescale(sums, n, factor);
  }

 private:
  static const abi::KernelTable& table() noexcept { return abi::kernel_table(); }
  static abi::RawRows open(Rows rows, std::uint32_t dim) {
    return {static_cast<const std::uint8_t*>(static_cast<const void*>(rows.data)),
            rows.stride * sizeof(float), static_cast<std::uint32_t>(rows.count), dim,
            abi::Element::kFloat};
  }
  static Error about(Status status, std::string_view before, std::string_view name,
                     std::string_view after) noexcept {
    Error error(status, before);
    std::size_t at = before.size();
    const auto add = [&](std::string_view text) {
      for (std::size_t i = 0; i < text.size() && at + 1 < sizeof error.field; ++i)
        error.field[at++] = text[i];
    };
    add(name.substr(0, 32));
    add(after);
    return error;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
