// CodecFunctions: the functions of one target that Codecs (codecs.h) calls.

#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/decode-inl.h"
#include "kvpleat/simd/decode_bands-inl.h"
#include "kvpleat/simd/encode-inl.h"
#include "kvpleat/simd/encode_bands-inl.h"
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
  static bool phase_angles(const std::uint64_t* turns, std::uint32_t pairs,
                           const abi::PhaseAngles& to) {
    PhaseRows::fill(turns, pairs, to);
    return true;
  }
  static bool narrow(const abi::RawView& view, const abi::EncodeArguments& arguments) {
    PlainRows::narrow(view, arguments);
    return true;
  }
  static bool widen(const abi::RawView& view, const abi::DecodeArguments& arguments) {
    PlainRows::widen(view, arguments);
    return true;
  }
  static bool balance(const abi::BalanceArguments& arguments) {
    PlainRows::balance(arguments);
    return true;
  }
  static bool largest_in(const float* rows, std::size_t stride, std::uint32_t count,
                         std::uint32_t dim, std::uint32_t* bits) {
    *bits = PlainRows::largest(rows, stride, count, dim);
    return true;
  }
  static bool encode_bands(const abi::BandView& view, const abi::BandArguments& arguments) {
    if (!EncodeBands::serves(view)) return false;
    if (view.oaken.jagged) {
      EncodeJagged::run(view, arguments);
    } else {
      EncodeBands::published(view, arguments);
    }
    return true;
  }
  static bool decode_bands(const abi::BandView& view, const abi::DecodeArguments& arguments) {
    if (view.oaken.jagged) {
      DecodeJagged::run(view, arguments);
    } else {
      DecodeBands::published(view, arguments);
    }
    return true;
  }
  static bool observe_bands(const abi::BandView& view, const float* rows, std::size_t stride,
                            std::uint32_t count, abi::BandRanges* ranges) {
    if (!EncodeBands::serves(view)) return false;
    EncodeBands::observe(view, rows, stride, count, ranges);
    return true;
  }
  static bool count_outliers(const abi::BandView& view, const float* row, std::uint8_t* counts) {
    EncodeBands::count_outliers(view, row, counts);
    return true;
  }
};

#else

struct CodecFunctions {
  static bool encode(const abi::CodeView&, const abi::EncodeArguments&) { return false; }
  static bool decode(const abi::CodeView&, const abi::DecodeArguments&) { return false; }
  static bool hadamard(const abi::HadamardArguments&) { return false; }
  static bool phase_center(const abi::PhaseArguments&) { return false; }
  static bool phase_angles(const std::uint64_t*, std::uint32_t, const abi::PhaseAngles&) {
    return false;
  }
  static bool narrow(const abi::RawView&, const abi::EncodeArguments&) { return false; }
  static bool widen(const abi::RawView&, const abi::DecodeArguments&) { return false; }
  static bool balance(const abi::BalanceArguments&) { return false; }
  static bool largest_in(const float*, std::size_t, std::uint32_t, std::uint32_t, std::uint32_t*) {
    return false;
  }
  static bool encode_bands(const abi::BandView&, const abi::BandArguments&) { return false; }
  static bool decode_bands(const abi::BandView&, const abi::DecodeArguments&) { return false; }
  static bool observe_bands(const abi::BandView&, const float*, std::size_t, std::uint32_t,
                            abi::BandRanges*) {
    return false;
  }
  static bool count_outliers(const abi::BandView&, const float*, std::uint8_t*) { return false; }
};

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
