// Configuration: every macro of the library, and the tag of the instruction set.
//
// The tag names the inline namespace that holds all code. It is built from the compiler's own ISA
// macros, so that translation units compiled with other -m flags get other symbols and the linker
// never merges code that one of them could not run. It is read once, on the first inclusion,
// because SIMD libraries redefine those macros around their target regions.
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "kvpleat: -ffast-math, -Ofast and -ffinite-math-only are not supported: NaN decides bytes"
#endif
#if defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)  // g++ only: clang does not tell
#error "kvpleat: the parts of -ffast-math that reorder or divide otherwise are not supported"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "kvpleat: floats must be computed as floats: x87 arithmetic (-mfpmath=387) is not supported"
#endif
#if !defined(__cplusplus) || __cplusplus < 202002L
#error "kvpleat: C++20 is required (-std=c++20)"
#endif

static_assert(0.1 != static_cast<double>(0.1f),
              "kvpleat: -fsingle-precision-constant is not supported: double constants are double");

#define KVPLEAT_JOIN_(a, b, c, d) a##b##c##d
#define KVPLEAT_JOIN(a, b, c, d) KVPLEAT_JOIN_(a, b, c, d)

#if defined(__AVX512F__) && defined(__AVX512VNNI__) && defined(__AVX512VBMI__)
#define KVPLEAT_ISA_LEVEL avx512vnni
#elif defined(__AVX512F__) && defined(__AVX512BW__)
#define KVPLEAT_ISA_LEVEL avx512
#elif defined(__AVX2__)
#define KVPLEAT_ISA_LEVEL avx2
#elif defined(__AVX__)
#define KVPLEAT_ISA_LEVEL avx
#elif defined(__SSE4_1__)
#define KVPLEAT_ISA_LEVEL sse4
#elif defined(__SSSE3__)
#define KVPLEAT_ISA_LEVEL ssse3
#elif defined(__ARM_FEATURE_SVE)
#define KVPLEAT_ISA_LEVEL sve
#elif defined(__ARM_FEATURE_DOTPROD)
#define KVPLEAT_ISA_LEVEL neondot
#elif defined(__ARM_NEON)
#define KVPLEAT_ISA_LEVEL neon
#else
#define KVPLEAT_ISA_LEVEL base
#endif
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define KVPLEAT_ISA_FMA _fma
#else
#define KVPLEAT_ISA_FMA
#endif
#if defined(__F16C__) || defined(__ARM_FP16_FORMAT_IEEE)
#define KVPLEAT_ISA_HALF _f16
#else
#define KVPLEAT_ISA_HALF
#endif

// Name of the inline namespace, for example isa_base or isa_avx2_fma_f16.
#define KVPLEAT_ISA KVPLEAT_JOIN(isa_, KVPLEAT_ISA_LEVEL, KVPLEAT_ISA_FMA, KVPLEAT_ISA_HALF)

#define KVPLEAT_TEXT_(x) #x
#define KVPLEAT_TEXT(x) KVPLEAT_TEXT_(x)

// Marks code that also runs on a device.
#if defined(__CUDACC__)
#define KVPLEAT_HD __host__ __device__
#else
#define KVPLEAT_HD
#endif

// Hides from the compiler how the float or double variable x came about: no rewriting goes across.
// g++ needs it, which narrows float(double(a) * double(b)) to one float multiplication and then, by
// default where the target has FMA, fuses that with a following add (see `product`). Loops with it
// can be vectorized; the vectorizer then drops the barrier itself, so it guards what is rewritten
// before that, not what comes after. clang has none that it honours without fast math, and needs
// none: it does not narrow. Device code: compile with fused contraction off.
#if defined(__CUDACC__)
#define KVPLEAT_ROUNDED(x) static_cast<void>(0)
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define KVPLEAT_ROUNDED(x) x = __builtin_assoc_barrier(x)
#elif defined(__GNUC__) && defined(__SSE2__)
#define KVPLEAT_ROUNDED(x) \
  if (!__builtin_is_constant_evaluated()) asm("" : "+x"(x))
#elif defined(__GNUC__) && defined(__aarch64__)
#define KVPLEAT_ROUNDED(x) \
  if (!__builtin_is_constant_evaluated()) asm("" : "+w"(x))
#else
#define KVPLEAT_ROUNDED(x) static_cast<void>(0)
#endif

// Misuse by the programmer (not bad input): checked in debug builds, free in release builds. A host
// may replace it before the first inclusion.
#if !defined(KVPLEAT_ASSERT)
#if defined(NDEBUG)
#define KVPLEAT_ASSERT(condition) static_cast<void>(0)
#else
#include <cassert>
#define KVPLEAT_ASSERT(condition) assert(condition)
#endif
#endif

namespace kvpleat::inline KVPLEAT_ISA {

// The tag as text: which code a program runs.
inline constexpr const char* kIsaTag = KVPLEAT_TEXT(KVPLEAT_ISA);

}  // namespace kvpleat::inline KVPLEAT_ISA
