// VectorKernels: the kernel set of the instruction set that the unit is compiled for.
//
// Formats are told by family: what a view (views.h) describes has a kernel in one of the -inl
// headers; what none describes is decoded first (Path::kDecode). To add a family: a concept in
// views.h, its kernels, and one line in each function below.
#pragma once

#include <cstdint>

#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/decoded.h"
#include "kvpleat/simd/lanes-inl.h"
#include "kvpleat/simd/path.h"
#include "kvpleat/simd/reference.h"
#include "kvpleat/simd/views.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
// Inside the namespace of the target: units of the same flags may still see other targets, if one
// of them disables some.
namespace HWY_NAMESPACE {

struct VectorKernels : ReferenceKernels {
  static constexpr const char* kName = "vector";
  static const char* target() noexcept { return Lanes::kName; }

  template <class F>
  static constexpr Path kPath = Path::kDecode;
  template <class F>
  static constexpr std::uint32_t kWorkBytes = 0;

  template <Format F>
  static void prepare(const F&, const abi::PrepareArguments&) {}
  template <Format F>
  static void score(const F& format, const abi::ScoreArguments& a) {
    DecodedRows<VectorKernels>::score(format, a);
  }
  template <Format F>
  static void accumulate(const F& format, const abi::AccumulateArguments& a) {
    DecodedRows<VectorKernels>::accumulate(format, a);
  }
};

}  // namespace HWY_NAMESPACE

using HWY_NAMESPACE::VectorKernels;

}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();
