// CodecFunctions: the functions of one target that Codecs (codecs.h) calls.

#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/decode-inl.h"
#include "kvpleat/simd/encode-inl.h"
#include "kvpleat/simd/hadamard-inl.h"
#include "kvpleat/simd/phase-inl.h"

#if defined(KVPLEAT_SIMD_CODECS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_CODECS_INL_H_
#undef KVPLEAT_SIMD_CODECS_INL_H_
#else
#define KVPLEAT_SIMD_CODECS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

#if KVPLEAT_VECTOR_CODECS

struct CodecFunctions {
  static bool encode(const abi::CodeView& view, const abi::EncodeArguments& arguments) {
    Encode::rows(view, arguments);
    return true;
  }
  static bool decode(const abi::CodeView& view, const abi::DecodeArguments& arguments) {
    Decode::rows(view, arguments);
    return true;
  }
  static bool hadamard(const abi::HadamardArguments& arguments) {
    HadamardRows::run(arguments);
    return true;
  }
  static bool phase_center(const abi::PhaseArguments& arguments) {
    PhaseRows::run(arguments);
    return true;
  }
};

#else

struct CodecFunctions {
  static bool encode(const abi::CodeView&, const abi::EncodeArguments&) { return false; }
  static bool decode(const abi::CodeView&, const abi::DecodeArguments&) { return false; }
  static bool hadamard(const abi::HadamardArguments&) { return false; }
  static bool phase_center(const abi::PhaseArguments&) { return false; }
};

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
