// What must be said to Highway before its first header: include this, or any of our -inl headers,
// before <hwy/...>.
#pragma once

#include "kvpleat/core/config.h"

// Highway builds its AVX3_DL target (AVX-512 with VNNI and VBMI) only if asked; without it,
// version 1.0.3 stops with "best baseline should be included in dynamic targets".
#if !defined(HWY_WANT_AVX3_DL)
#if defined(HIGHWAY_HWY_DETECT_TARGETS_H_)
#error "kvpleat: include our headers before <hwy/highway.h>, or define HWY_WANT_AVX3_DL everywhere"
#endif
#define HWY_WANT_AVX3_DL
#endif

// Highway takes AVX2 for a static target only with AES and carry-less products, which nothing here
// uses and which -march=haswell, x86-64-v3 and x86-64-v4 do not say: they would be SSSE3 to it.
#if defined(__AVX2__) && !(defined(__AES__) && defined(__PCLMUL__)) && \
    !defined(HWY_DISABLE_PCLMUL_AES) && !defined(HIGHWAY_HWY_DETECT_TARGETS_H_)
#define HWY_DISABLE_PCLMUL_AES
#endif

// Version 1.0.3 takes AVX3_DL for a static target only with __AVXVNNI__, which it confuses with
// __AVX512VNNI__ and which no AVX-512 machine before Sapphire Rapids has. (Versions that have the
// header named below know the difference.)
#if defined(__AVX512VNNI__) && defined(__AVX512VBMI__) && defined(__AVX512VBMI2__) &&          \
    defined(__AVX512BITALG__) && defined(__AVX512VPOPCNTDQ__) && defined(__VAES__) &&          \
    defined(__VPCLMULQDQ__) && defined(__AVX512DQ__) && defined(__AVX512VL__) &&               \
    defined(__AVX512BW__) && defined(__FMA__) && defined(__F16C__) && !defined(__AVXVNNI__) && \
    !defined(HWY_BASELINE_TARGETS) && !defined(HIGHWAY_HWY_DETECT_TARGETS_H_) &&               \
    !__has_include(<hwy/ops/ppc_vsx-inl.h>)
#define HWY_BASELINE_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL)
#endif
