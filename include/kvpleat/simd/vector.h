// VectorKernels: the kernel set of the instruction set that the unit is compiled for. Which formats
// have kernels: families.h.
#pragma once

#include "kvpleat/core/config.h"
#include "kvpleat/simd/families.h"
#include "kvpleat/simd/functions-inl.h"

namespace kvpleat::inline KVPLEAT_ISA {
// Inside the namespace of the target: units of the same flags may still see other targets, if one
// of them disables some.
namespace HWY_NAMESPACE {

struct VectorKernels : FamilyKernels<TargetFunctions> {};

}  // namespace HWY_NAMESPACE

using HWY_NAMESPACE::VectorKernels;

}  // namespace kvpleat::inline KVPLEAT_ISA
