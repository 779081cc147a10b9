// DispatchedKernels: the kernel set that the CPU chooses at run time. It calls the table of kernels
// (simd/table.h), which one unit of the program fills: link kvpleat::kernels, or compile
// simd/unit.h once. Which formats have kernels: families.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kvpleat/core/config.h"
#include "kvpleat/core/status.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/families.h"
#include "kvpleat/simd/table.h"
#include "kvpleat/simd/views.h"

namespace kvpleat::inline KVPLEAT_ISA {

// The functions of the table that is chosen.
struct TableFunctions {
  static constexpr const char* kName = "dispatched";
  static const char* target() noexcept { return table().target; }

  static void score_raw_format(const abi::RawView& view, const abi::ScoreArguments& a) {
    table().score_raw_format(view, a);
  }
  static void accumulate_raw_format(const abi::RawView& view, const abi::AccumulateArguments& a) {
    table().accumulate_raw_format(view, a);
  }
  static void score_raw(const abi::RawRows& rows, const float* queries, std::uint32_t group,
                        float* scores, std::uint32_t stride) {
    table().score_raw(rows, queries, group, scores, stride);
  }
  static void accumulate_raw(const abi::RawRows& rows, const float* weights, std::uint32_t group,
                             std::uint32_t stride, float* sums) {
    table().accumulate_raw(rows, weights, group, stride, sums);
  }

  template <class F>
  static void prepare_tile(const F& format, const abi::PrepareArguments& a) {
    table().prepare_tile(tile_view(format), a);
  }
  template <class F>
  static void score_tile(const F& format, const abi::ScoreArguments& a) {
    table().score_tile(tile_view(format), a);
  }
  template <class F>
  static void accumulate_tile(const F& format, const abi::AccumulateArguments& a) {
    table().accumulate_tile(tile_view(format), a);
  }

  static void prepare_oaken(const abi::OakenView& view, const abi::PrepareArguments& a) {
    table().prepare_oaken(view, a);
  }
  static void score_oaken(const abi::OakenView& view, const abi::ScoreArguments& a) {
    table().score_oaken(view, a);
  }
  static void accumulate_oaken(const abi::OakenView& view, const abi::AccumulateArguments& a) {
    table().accumulate_oaken(view, a);
  }

  static void add_offset(const abi::OffsetView& view, const abi::OffsetArguments& a) {
    table().add_offset(view, a);
  }

  static bool encode(const abi::CodeView& view, const abi::EncodeArguments& a) {
    return table().encode(view, a);
  }
  static bool decode(const abi::CodeView& view, const abi::DecodeArguments& a) {
    return table().decode(view, a);
  }
  static bool hadamard(const abi::HadamardArguments& a) { return table().hadamard(a); }
  static bool phase_center(const abi::PhaseArguments& a) { return table().phase_center(a); }
  static bool phase_angles(const std::uint64_t* turns, std::uint32_t pairs,
                           const abi::PhaseAngles& to) {
    return table().phase_angles(turns, pairs, to);
  }
  static bool narrow(const abi::RawView& view, const abi::EncodeArguments& a) {
    return table().narrow(view, a);
  }
  static bool widen(const abi::RawView& view, const abi::DecodeArguments& a) {
    return table().widen(view, a);
  }
  static bool balance(const abi::BalanceArguments& a) { return table().balance(a); }
  static bool largest_in(const float* rows, std::size_t stride, std::uint32_t count,
                         std::uint32_t dim, std::uint32_t* bits) {
    return table().largest_in(rows, stride, count, dim, bits);
  }
  static bool encode_bands(const abi::BandView& view, const abi::BandArguments& a) {
    return table().encode_bands(view, a);
  }
  static bool decode_bands(const abi::BandView& view, const abi::DecodeArguments& a) {
    return table().decode_bands(view, a);
  }
  static bool observe_bands(const abi::BandView& view, const float* rows, std::size_t stride,
                            std::uint32_t count, abi::BandRanges* ranges) {
    return table().observe_bands(view, rows, stride, count, ranges);
  }
  static bool count_outliers(const abi::BandView& view, const float* row, std::uint8_t* counts) {
    return table().count_outliers(view, row, counts);
  }

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
  static const abi::KernelTable& table() noexcept { return abi::Kernels::table(); }
};

struct DispatchedKernels : FamilyKernels<TableFunctions> {
  // All targets that the unit of kernels was compiled for, the best first; target() is the one that
  // runs.
  static std::uint32_t target_count() noexcept { return abi::Kernels::target_count(); }
  static const char* target_name(std::uint32_t i) noexcept {
    return abi::Kernels::table_of(i).target;
  }
  // Whether this CPU can run it.
  static bool target_runs(std::uint32_t i) noexcept { return abi::Kernels::runs(i); }
  // Takes the target of that name from now on, in the whole program; an empty name: the best one.
  // {kInvalid, "no kernels for NAME"}: the unit of kernels was not compiled for it; {kUnsupported,
  // "NAME: not on this CPU"}.
  static Error use_target(std::string_view name) noexcept {
    for (std::uint32_t i = 0; i < target_count(); ++i) {
      if (name.empty() ? !target_runs(i) : name != target_name(i)) continue;
      if (!target_runs(i)) return about(Status::kUnsupported, "", name, ": not on this CPU");
      abi::Kernels::choose(i);
      return {};
    }
    return about(Status::kInvalid, "no kernels for ", name, "");
  }

 private:
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
