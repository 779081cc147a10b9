// Codes of a tile as bytes in lanes, and their dot products with rows of signed bytes.
//
// A unit of a tile is 16 lanes: tokens of a key, channels of a value. Along a unit run its elements:
// channels of a key, tokens of a value; four of them lie in the bytes of a lane. So the two halves
// of attention are one loop: lanes times elements, against rows of 8-bit elements that are broadcast
// four at a time: queries for keys, weights for values.
#include "kvpleat/simd/targets.h"

#if defined(KVPLEAT_SIMD_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_CODES_INL_H_
#undef KVPLEAT_SIMD_CODES_INL_H_
#else
#define KVPLEAT_SIMD_CODES_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

// Part of a tile that a dot product runs over.
struct CodeSpan {
  const std::uint8_t* unit;  // the first unit
  std::uint32_t unit_bytes;
  std::uint32_t units;    // at most 4
  std::uint32_t run;      // elements along a unit, padding included
  std::uint32_t element;  // the first one, a multiple of the span of a step
  std::uint32_t count;    // elements; what is missing in the last step meets zeros in the rows
  std::intptr_t to_next;  // bytes from a line to the same line of what is read next
};

// Loads codes of kBits bits. A step is what a line of the narrowest plane holds: kSpan elements, in
// kQuads registers of 4 elements in every lane. Registers of odd index may hold their code times
// 2^kOddShift: the field where it lies in its byte, without a shift.
template <std::uint32_t kBits>
struct UniformCodes {
  using L = LaneTools;
  static constexpr std::uint32_t kWidest = std::bit_floor(kBits);
  static constexpr std::uint32_t kNarrowest = kBits & (~kBits + 1u);
  static constexpr std::uint32_t kSpan = 32 / kNarrowest;
  static constexpr std::uint32_t kQuads = kSpan / 4;
  static constexpr bool kOnePlane = kWidest == kBits;
  static constexpr std::uint32_t kOddShift =
      kOnePlane && (kBits <= 2 || (kBits == 4 && L::kWholeBytes)) ? kBits : 0;
  // Whether codes take bit 7, in place or not.
  static constexpr bool kWhole = kBits == 8 || (kBits == 4 && kOddShift == 4);
  static constexpr float kCentre = static_cast<float>((1u << kBits) - 1u) * 0.5f;

  // Bytes of the planes before the one that holds bits kShift.. of the code.
  template <std::uint32_t kShift>
  static HWY_INLINE std::uint32_t plane_at(std::uint32_t run) {
    std::uint32_t at = 0;
    for (std::uint32_t rest = kBits, shift = 0; shift < kShift;) {
      const std::uint32_t width = std::bit_floor(rest);
      at += ceil_div(run, 32 / width) * 64;
      shift += width;
      rest -= width;
    }
    return at;
  }
  static constexpr std::uint32_t lines_of(std::uint32_t width) { return kSpan * width / 32; }
  static HWY_INLINE typename L::I32 multiply(typename L::I32 sum, typename L::B8 code,
                                             typename L::B8 row) {
    if constexpr (kWhole) {
      return L::dot_u8s8(sum, code, row);
    } else {
      return L::dot_u7s8(sum, code, row);
    }
  }
  // Asks for the lines of a step, one block further.
  template <std::uint32_t kShift = 0>
  static HWY_INLINE void prefetch(const CodeSpan& span, const std::uint8_t* lane,
                                  std::uint32_t step) {
    constexpr std::uint32_t kWidth = std::bit_floor(kBits - kShift);
    constexpr std::uint32_t kLines = lines_of(kWidth);
    const std::uint8_t* at = lane + plane_at<kShift>(span.run) + step * (kLines * 64);
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kLines; ++i)
        L::prefetch_from(at + 64 * i, span.to_next);
    if constexpr (kShift + kWidth < kBits) prefetch<kShift + kWidth>(span, lane, step);
  }
  // codes[i]: elements step * kSpan + 4 * i .. + 3 of one register of lanes, which begins at `lane`.
  static HWY_INLINE void load(const std::uint8_t* lane, std::uint32_t run, std::uint32_t step,
                              typename L::B8 (&codes)[kQuads]) {
    load_plane<0>(lane, run, step, codes);
  }

 private:
  template <std::uint32_t kShift>
  static HWY_INLINE void load_plane(const std::uint8_t* lane, std::uint32_t run, std::uint32_t step,
                                    typename L::B8 (&codes)[kQuads]) {
    constexpr std::uint32_t kWidth = std::bit_floor(kBits - kShift);
    constexpr std::uint32_t kLines = lines_of(kWidth);
    constexpr std::uint32_t kFields = 8 / kWidth;
    const std::uint8_t* at = lane + plane_at<kShift>(run) + step * (kLines * 64);
    typename L::B8 lines[kLines];
    KVPLEAT_UNROLL for (std::uint32_t i = 0; i < kLines; ++i) lines[i] = L::load_b8(at + 64 * i);
    fields<kShift, kWidth, kFields>(lines, codes, std::make_index_sequence<kQuads>());
    if constexpr (kShift + kWidth < kBits) load_plane<kShift + kWidth>(lane, run, step, codes);
  }
  template <std::uint32_t kShift, std::uint32_t kWidth, std::uint32_t kFields, class Lines,
            std::size_t... kIndices>
  static HWY_INLINE void fields(const Lines& lines, typename L::B8 (&codes)[kQuads],
                                std::index_sequence<kIndices...>) {
    (put<kShift, kWidth, kIndices, kIndices % kFields * kWidth>(lines[kIndices / kFields], codes),
     ...);
  }
  // Adds bits kFrom.. of a line to the code of a quad, at bit kShift, or where an odd quad has it.
  template <std::uint32_t kShift, std::uint32_t kWidth, std::size_t kQuad, std::uint32_t kFrom>
  static HWY_INLINE void put(typename L::B8 line, typename L::B8 (&codes)[kQuads]) {
    constexpr std::uint32_t kTo = kShift + (kQuad % 2 == 1 ? kOddShift : 0);
    constexpr auto kMask = static_cast<std::uint8_t>(((1u << kWidth) - 1u) << kTo);
    typename L::B8 field;
    if constexpr (kWidth == 8) {
      field = line;
    } else if constexpr (kFrom >= kTo) {
      field = L::template field<static_cast<int>(kFrom - kTo)>(line, L::set_byte(kMask));
    } else {
      field = L::template field_up<static_cast<int>(kTo - kFrom)>(line, L::set_byte(kMask));
    }
    codes[kQuad] = kShift == 0 ? field : L::or_(codes[kQuad], field);
  }
};

// sums[row * 64 + lane] = sum over the elements of a span of code * row[element], for kRows rows of
// signed bytes that begin at the first element, `stride` bytes apart. Exact: |row| * code summed
// over the elements, and that times 2^kOddShift, must stay below 2^31.
template <class Codes, std::uint32_t kRows>
struct CodeDots {
  using L = LaneTools;

  static HWY_NOINLINE void dot(const CodeSpan& span, const std::uint8_t* rows, std::uint32_t stride,
                               std::int32_t* sums) {
    const std::uint32_t blocks = span.units * L::kParts;
    std::uint32_t block = 0;
    for (; block + kBlocks <= blocks; block += kBlocks)
      run<kBlocks>(span, block, rows, stride, sums + block * L::kLanes);
    if constexpr (kBlocks > 2) {
      for (; block + 2 <= blocks; block += 2)
        run<2>(span, block, rows, stride, sums + block * L::kLanes);
    }
    if constexpr (kBlocks > 1) {
      for (; block < blocks; ++block) run<1>(span, block, rows, stride, sums + block * L::kLanes);
    }
  }

 private:
  // Registers of lanes at once, so that the broadcasts of a row are shared, and a dot product waits
  // for none before it: vpdpbusd has a latency of 4 to 5.
  static constexpr std::uint32_t kBlocks = L::kLanes == 16 ? (kRows == 4 ? 2 : 4)
                                                           : (kRows == 1   ? 4
                                                              : kRows == 2 ? 2
                                                                           : 1);
  static constexpr std::uint32_t kClasses = Codes::kOddShift > 0 ? 2 : 1;

  template <std::uint32_t kCount>
  static HWY_INLINE void run(const CodeSpan& span, std::uint32_t block, const std::uint8_t* rows,
                             std::uint32_t stride, std::int32_t* sums) {
    typename L::I32 acc[kRows][kCount][kClasses];
    KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRows; ++r) {
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
        KVPLEAT_UNROLL for (std::uint32_t c = 0; c < kClasses; ++c) acc[r][b][c] = L::zero_i32();
      }
    }
    const std::uint8_t* lanes[kCount];
    KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
      lanes[b] = span.unit + (block + b) / L::kParts * span.unit_bytes +
                 (block + b) % L::kParts * L::kBytes;
    }
    const std::uint32_t first = span.element / Codes::kSpan;
    const std::uint32_t end = ceil_div(span.element + span.count, Codes::kSpan);
    for (std::uint32_t step = first; step < end; ++step) {
      typename L::B8 codes[kCount][Codes::kQuads];
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
        Codes::load(lanes[b], span.run, step, codes[b]);
        if (L::kParts == 1 || (block + b) % L::kParts == 0) Codes::prefetch(span, lanes[b], step);
      }
      KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRows; ++r) {
        KVPLEAT_UNROLL for (std::uint32_t i = 0; i < Codes::kQuads; ++i) {
          const typename L::B8 four = L::bcast4(rows + r * stride + 4 * i);
          KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
            typename L::I32& sum = acc[r][b][kClasses == 1 ? 0 : i % 2];
            sum = Codes::multiply(sum, codes[b][i], four);
          }
        }
      }
      rows += Codes::kSpan;
    }
    KVPLEAT_UNROLL for (std::uint32_t r = 0; r < kRows; ++r) {
      KVPLEAT_UNROLL for (std::uint32_t b = 0; b < kCount; ++b) {
        typename L::I32 sum = acc[r][b][0];
        if constexpr (kClasses == 2) {
          sum = L::add(sum,
                       L::template shift_right<static_cast<int>(Codes::kOddShift)>(acc[r][b][1]));
        }
        L::store_i32(sums + r * 64 + b * L::kLanes, sum);
      }
    }
  }
};

// The same in floats, for one row: sums[lane] = sum of (code - centre) * row[element]. The centre
// keeps the sum small where the rest of it is known exactly.
template <class Codes>
struct CodeFloats {
  using L = LaneTools;

  static HWY_NOINLINE void dot(const CodeSpan& span, const float* row, float centre, float* sums) {
    for (std::uint32_t block = 0; block < span.units * L::kParts; ++block) {
      const std::uint8_t* lane =
          span.unit + block / L::kParts * span.unit_bytes + block % L::kParts * L::kBytes;
      const std::uint32_t first = span.element / Codes::kSpan;
      const std::uint32_t end = ceil_div(span.element + span.count, Codes::kSpan);
      const float* at = row;
      // Two: the sum of one would wait for each addition before it.
      typename L::F32 sum[2] = {L::zero_f32(), L::zero_f32()};
      for (std::uint32_t step = first; step < end; ++step, at += Codes::kSpan) {
        typename L::B8 codes[Codes::kQuads];
        Codes::load(lane, span.run, step, codes);
        KVPLEAT_UNROLL for (std::uint32_t i = 0; i < Codes::kQuads; ++i) {
          const float unit = i % 2 == 1 ? 1.0f / static_cast<float>(1u << Codes::kOddShift) : 1.0f;
          const typename L::I32 four = L::as_i32(codes[i]);
          sum[0] = add<0>(four, unit, centre, at + 4 * i, sum[0]);
          sum[1] = add<8>(four, unit, centre, at + 4 * i + 1, sum[1]);
          sum[0] = add<16>(four, unit, centre, at + 4 * i + 2, sum[0]);
          sum[1] = add<24>(four, unit, centre, at + 4 * i + 3, sum[1]);
        }
      }
      L::store_f32(sums + block * L::kLanes, L::add(sum[0], sum[1]));
    }
  }

 private:
  template <int kByte>
  static HWY_INLINE typename L::F32 add(typename L::I32 four, float unit, float centre,
                                        const float* row, typename L::F32 sum) {
    const typename L::I32 code =
        L::and_(kByte == 0 ? four : L::template shift_right<kByte>(four), L::set_i32(255));
    const typename L::F32 value =
        L::mul_add(L::to_f32(code), L::set_f32(unit), L::set_f32(-centre));
    return L::mul_add(value, L::set_f32(*row), sum);
  }
};

// The dot products of one kind of codes, for drivers that do not depend on it.
struct CodeKernels {
  using Dot = void (*)(const CodeSpan&, const std::uint8_t*, std::uint32_t, std::int32_t*);
  Dot dot1;
  Dot dot2;
  Dot dot4;
  void (*floats)(const CodeSpan&, const float*, float, float*);
  float centre;  // the middle of the codes

  template <class Codes>
  static constexpr CodeKernels of() {
    return {&CodeDots<Codes, 1>::dot, &CodeDots<Codes, 2>::dot, &CodeDots<Codes, 4>::dot,
            &CodeFloats<Codes>::dot, Codes::kCentre};
  }
  // Sums of any number of rows up to 4.
  HWY_INLINE void dot(const CodeSpan& span, const std::uint8_t* rows, std::uint32_t stride,
                      std::uint32_t count, std::int32_t* sums) const {
    (count == 1 ? dot1 : count == 2 ? dot2 : dot4)(span, rows, stride, sums);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif
