// Encoding: scales and codes of rows, laid down in a tile. The bytes are those of the format's own
// encode: every step is one that core/numeric.h allows, in its order.
//
// 16 tokens are coded together, so that what is done once per group (rounding a scale to its side)
// is done for 16 tokens in vectors. Codes pass through bytes, one per code, in L1; from there whole
// fields go to the tile.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/decode-inl.h"
#include "kvpleat/simd/encode_ops-inl.h"

#if defined(KVPLEAT_SIMD_ENCODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_ENCODE_INL_H_
#undef KVPLEAT_SIMD_ENCODE_INL_H_
#else
#define KVPLEAT_SIMD_ENCODE_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

#if KVPLEAT_VECTOR_CODECS

// Codes of up to 16 tokens of a unit, as bytes: zeros in padding channels.
struct CodeBytes {
  // 576 channels, rounded up to a line of 1-bit fields and to registers that read or write beyond.
  static constexpr std::uint32_t kRow = 640;
  alignas(64) std::uint8_t codes[16][kRow];

  // Zeros behind a row, as far as any line goes.
  HWY_INLINE void end(std::uint32_t token, std::uint32_t dim) {
    std::memset(codes[token] + dim, 0, round_up(dim, 32u) - dim);
  }
};

// Lays codes down in a tile.
struct PutCodes {
  using O = CodecOps;

  // Tokens [slot, slot + count) of one unit of 16; token t's codes are codes[t]. Other tokens' codes
  // stay as they are.
  static HWY_INLINE void tokens(const TilePlanes& planes, const abi::TileView& view, bool keys,
                                const CodeBytes& bytes, std::uint32_t slot, std::uint32_t count,
                                std::uint8_t* block) {
    if (keys) {
      put_keys(planes, bytes, slot, count, block);
    } else {
      for (std::uint32_t p = 0; p < planes.count; ++p)
        put_values(planes.planes[p], planes.unit_bytes, view.padded_dim, bytes, slot, count, block);
    }
  }

 private:
  using U4 = hn::FixedTag<std::uint32_t, 4>;
  using B64 = hn::Repartition<std::uint8_t, CodecOps::F>;
  using W64 = hn::Repartition<std::uint64_t, CodecOps::F>;

  // Keys: a dword of a line is one token's, so that a token overwrites its dwords and nothing else.
  static HWY_INLINE void put_keys(const TilePlanes& planes, const CodeBytes& bytes,
                                  std::uint32_t slot, std::uint32_t count, std::uint8_t* block) {
    constexpr std::uint32_t kRow = TilePlanes::kMaxPacked;
    alignas(64) std::uint32_t packed[4 * kRow + 32];
    std::uint8_t* unit = block + slot / 16 * planes.unit_bytes;
    const U4 u32;
    for (std::uint32_t t = 0; t < count;) {
      const std::uint32_t lane = (slot + t) % 16;
      const std::uint32_t n = lane % 4 == 0 && t + 4 <= count ? 4 : 1;
      for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t p = 0; p < planes.count; ++p)
          pack(planes.planes[p], bytes.codes[t + i], packed + i * kRow + planes.planes[p].packed);
      }
      std::uint32_t line = 0;
      if (n == 4) {
        for (; line + 4 <= planes.packed_size; line += 4) {
          TileCodes::V4 lines[4];
          TileCodes::transpose(hn::LoadU(u32, packed + line), hn::LoadU(u32, packed + kRow + line),
                               hn::LoadU(u32, packed + 2 * kRow + line),
                               hn::LoadU(u32, packed + 3 * kRow + line), lines);
          KVPLEAT_UNROLL
          for (std::uint32_t i = 0; i < 4; ++i) {
            hn::StoreU(hn::BitCast(U4(), lines[i]), u32,
                       reinterpret_cast<std::uint32_t*>(unit + (line + i) * 64 + lane * 4));
          }
        }
      }
      for (; line < planes.packed_size; ++line) {
        for (std::uint32_t i = 0; i < n; ++i)
          std::memcpy(unit + line * 64 + (lane + i) * 4, packed + i * kRow + line, 4);
      }
      t += n;
    }
  }
  // The dwords of a plane of one token, line by line.
  static HWY_INLINE void pack(const TilePlanes::Plane& plane, const std::uint8_t* codes,
                              std::uint32_t* to) {
    switch (plane.width) {
      case 8:
        std::memcpy(to, codes, plane.lines * 4);
        return;
      case 4:
        return pack_fields<4>(plane, codes, to);
      case 2:
        return pack_fields<2>(plane, codes, to);
      default:
        return pack_fields<1>(plane, codes, to);
    }
  }
  // Pairs of dwords join until a dword has 32 / kWidth channels.
  template <std::uint32_t kWidth>
  static HWY_INLINE void pack_fields(const TilePlanes::Plane& plane, const std::uint8_t* codes,
                                     std::uint32_t* to) {
    const hn::FixedTag<std::uint64_t, 2> u64;
    const hn::FixedTag<std::uint32_t, 4> u32;
    constexpr std::uint64_t kByte = (1u << kWidth) - 1u;
    const auto mask = hn::Set(u64, kByte * 0x0101010101010101u);
    constexpr std::uint32_t kFields = 8 / kWidth;
    // 64 / kWidth bytes of codes and more give 4 dwords and more; what is over is overwritten by
    // the next plane, or lies in the padding of the row.
    for (std::uint32_t line = 0; line < plane.lines; line += 4) {
      const std::uint8_t* from = codes + line * 4 * kFields;
      hn::Vec<decltype(u32)> dwords[kFields];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < kFields; ++i) {
        const auto raw = hn::LoadU(u64, reinterpret_cast<const std::uint64_t*>(from + 16 * i));
        const auto field = hn::And(hn::ShiftRightSame(raw, static_cast<int>(plane.shift)), mask);
        dwords[i] = hn::BitCast(u32, field);
      }
      KVPLEAT_UNROLL
      for (std::uint32_t n = kFields; n > 1; n /= 2) {
        const int shift = static_cast<int>(32 - kWidth * (kFields / n));
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < n / 2; ++i) {
          const auto low = hn::BitCast(u64, dwords[2 * i]);
          const auto high = hn::BitCast(u64, dwords[2 * i + 1]);
          dwords[i] =
              hn::ConcatEven(u32, hn::BitCast(u32, hn::Or(high, hn::ShiftRightSame(high, shift))),
                             hn::BitCast(u32, hn::Or(low, hn::ShiftRightSame(low, shift))));
        }
      }
      hn::StoreU(dwords[0], u32, to + line);
    }
  }

  // Values: a byte of a line is one token of a group of four, a field of it one such group. Channels
  // are first joined field by field, then the bytes of four tokens interleaved.
  static HWY_INLINE void put_values(const TilePlanes::Plane& plane, std::uint32_t unit_bytes,
                                    std::uint32_t padded_dim, const CodeBytes& bytes,
                                    std::uint32_t slot, std::uint32_t count, std::uint8_t* block) {
    const std::uint32_t fields = 8 / plane.width;
    const std::uint32_t ones = (1u << plane.width) - 1u;
    for (std::uint32_t first = slot; first < slot + count;) {
      const std::uint32_t base = first / plane.span * plane.span;  // of the line
      const std::uint32_t end = lower_of(base + plane.span, slot + count);
      // Which bits of a dword are written.
      std::uint32_t written = 0;
      for (std::uint32_t s = first; s < end; ++s)
        written |= ones << (s % 4 * 8 + (s - base) / 4 * plane.width);
      alignas(64) std::uint8_t joined[4][CodeBytes::kRow];
      for (std::uint32_t j = 0; j < 4; ++j) {
        const std::uint8_t* sources[8];
        int shifts[8];
        std::uint32_t n = 0;
        for (std::uint32_t i = 0; i < fields; ++i) {
          const std::uint32_t s = base + 4 * i + j;
          if (s < first || s >= end) continue;
          sources[n] = bytes.codes[s - slot];
          shifts[n++] = static_cast<int>(i * plane.width);
        }
        join(sources, shifts, n, plane, padded_dim, joined[j]);
      }
      std::uint8_t* line = block + plane.at + first / plane.span * 64;
      for (std::uint32_t c = 0; c < padded_dim; c += 16, line += unit_bytes)
        interleave(joined, c, written, line);
      first = end;
    }
  }
  static HWY_INLINE void join(const std::uint8_t* const* sources, const int* shifts,
                              std::uint32_t n, const TilePlanes::Plane& plane,
                              std::uint32_t padded_dim, std::uint8_t* joined) {
    const B64 u8;
    const hn::Repartition<std::uint32_t, B64> u32;
    const auto mask = hn::Set(u8, static_cast<std::uint8_t>((1u << plane.width) - 1u));
    for (std::uint32_t c = 0; c < padded_dim; c += static_cast<std::uint32_t>(hn::Lanes(u8))) {
      auto all = hn::Zero(u8);
      for (std::uint32_t i = 0; i < n; ++i) {
        auto codes = hn::LoadU(u8, sources[i] + c);
        if (plane.shift > 0) {
          codes = hn::BitCast(
              u8, hn::ShiftRightSame(hn::BitCast(u32, codes), static_cast<int>(plane.shift)));
        }
        codes = hn::And(codes, mask);
        // No field leaves its byte.
        if (shifts[i] > 0)
          codes = hn::BitCast(u8, hn::ShiftLeftSame(hn::BitCast(u32, codes), shifts[i]));
        all = hn::Or(all, codes);
      }
      hn::StoreU(all, u8, joined + c);
    }
  }
  static HWY_INLINE void interleave(const std::uint8_t joined[4][CodeBytes::kRow], std::uint32_t c,
                                    std::uint32_t written, std::uint8_t* line) {
    const hn::FixedTag<std::uint8_t, 16> u8;
    const hn::FixedTag<std::uint16_t, 8> u16;
    const U4 u32;
    const auto a = hn::Load(u8, joined[0] + c);
    const auto b = hn::Load(u8, joined[1] + c);
    const auto e = hn::Load(u8, joined[2] + c);
    const auto f = hn::Load(u8, joined[3] + c);
    const auto ab0 = hn::BitCast(u16, hn::InterleaveLower(u8, a, b));
    const auto ab1 = hn::BitCast(u16, hn::InterleaveUpper(u8, a, b));
    const auto ef0 = hn::BitCast(u16, hn::InterleaveLower(u8, e, f));
    const auto ef1 = hn::BitCast(u16, hn::InterleaveUpper(u8, e, f));
    TileCodes::V4 dwords[4] = {hn::BitCast(u32, hn::InterleaveLower(u16, ab0, ef0)),
                               hn::BitCast(u32, hn::InterleaveUpper(u16, ab0, ef0)),
                               hn::BitCast(u32, hn::InterleaveLower(u16, ab1, ef1)),
                               hn::BitCast(u32, hn::InterleaveUpper(u16, ab1, ef1))};
    const auto mask = hn::Set(u32, written);
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < 4; ++i) {
      auto* at = reinterpret_cast<std::uint32_t*>(line + 16 * i);
      if (written != 0xffffffffu)
        dwords[i] = hn::Or(dwords[i], hn::AndNot(mask, hn::LoadU(u32, at)));
      hn::StoreU(dwords[i], u32, at);
    }
  }
};

// Scales of 16 groups at once: lane i is group i.
template <abi::Side kSide>
struct ScaleOps {
  using O = CodecOps;
  using S = SideOps<kSide>;

  // quant/affine.h. step, low: the sides as bits, and what they stand for.
  static HWY_INLINE void affine(O::VF lowest, O::VF highest, float top, O::VU* sides, O::VF* step,
                                O::VF* low) {
    const O::F f32;
    const O::U u32;
    const O::VU below = S::at_most(lowest);
    const O::VF range = hn::Sub(highest, S::to_float(below));
    const O::VU above = S::at_least(hn::Div(range, hn::Set(f32, top)));
    const auto equal = hn::RebindMask(u32, hn::Eq(lowest, highest));
    const auto some = hn::RebindMask(u32, hn::Le(lowest, highest));
    sides[0] = hn::IfThenElseZero(some, hn::IfThenElse(equal, hn::Zero(u32), above));
    sides[1] = hn::IfThenElseZero(some, hn::IfThenElse(equal, S::nearest(lowest), below));
    *step = S::to_float(sides[0]);
    *low = S::to_float(sides[1]);
  }
  // quant/symmetric.h.
  static HWY_INLINE void symmetric(O::VF smallest, O::VF largest, float top, O::VU* sides,
                                   O::VF* step) {
    const O::F f32;
    const O::U u32;
    const O::VU above = S::at_least(hn::Div(largest, hn::Set(f32, top)));
    constexpr float kMost = kSide == abi::Side::kHalf       ? kLargestHalf
                            : kSide == abi::Side::kBFloat16 ? kLargestBFloat16
                                                            : kLargestFloat;
    const auto kept = hn::And(hn::Eq(smallest, largest), hn::Le(largest, hn::Set(f32, kMost)));
    sides[0] = hn::IfThenElse(hn::RebindMask(u32, kept), S::nearest(largest), above);
    *step = S::to_float(sides[0]);
  }
};

// Per group of 16 (tokens or channels): the sides in stored order, and as floats.
struct GroupScales {
  alignas(64) float first[16];   // lowest, or smallest magnitude
  alignas(64) float second[16];  // highest, or largest magnitude
  alignas(64) std::uint32_t sides[2][16];
  alignas(64) float step[16];
  alignas(64) float low[16];

  template <abi::Side kSide>
  HWY_INLINE void choose(bool affine, float top) {
    using O = CodecOps;
    const O::F f32;
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < 16; i += O::kLanes) {
      const O::VF a = hn::Load(f32, first + i);
      const O::VF b = hn::Load(f32, second + i);
      O::VU chosen[2] = {hn::Zero(O::U()), hn::Zero(O::U())};
      O::VF scale = hn::Zero(f32);
      O::VF offset = hn::Zero(f32);
      if (affine) {
        ScaleOps<kSide>::affine(a, b, top, chosen, &scale, &offset);
      } else {
        ScaleOps<kSide>::symmetric(a, b, top, chosen, &scale);
      }
      hn::Store(chosen[0], O::U(), sides[0] + i);
      hn::Store(chosen[1], O::U(), sides[1] + i);
      hn::Store(scale, f32, step + i);
      hn::Store(offset, f32, low + i);
    }
  }
  HWY_INLINE void choose(abi::Side side, bool affine, float top) {
    switch (side) {
      case abi::Side::kHalf:
        return choose<abi::Side::kHalf>(affine, top);
      case abi::Side::kBFloat16:
        return choose<abi::Side::kBFloat16>(affine, top);
      default:
        return choose<abi::Side::kFloat>(affine, top);
    }
  }
};

struct Encode {
  using O = CodecOps;

  // Slots of one block, as the format's encode writes them.
  static void rows(const abi::CodeView& view, const abi::EncodeArguments& a) {
    const TilePlanes planes(view.tile, view.keys);
    if (view.tile.seal > 1) return per_channel(view, planes, a);
    for (std::uint32_t done = 0; done < a.count;) {
      const std::uint32_t slot = a.slot + done;
      const std::uint32_t n = lower_of(a.count - done, 16 - slot % 16);
      const float* rows = a.rows + done * a.stride;
      if (view.tile.direction != nullptr && view.tile.levels != nullptr && view.tile.groups == 1) {
        book_and_direction(view, planes, rows, a.stride, slot, n, a.block);
      } else if (view.tile.direction != nullptr) {
        with_direction(view, planes, rows, a.stride, slot, n, a.block);
      } else {
        unit(view, planes, rows, a.stride, slot, n, a.block);
        if (view.tile.coefficients_at != 0)
          std::memset(a.block + view.tile.coefficients_at + slot, 0, n);
      }
      done += n;
    }
  }

 private:
  // Tokens of one unit of 16, scales per token.
  static void unit(const abi::CodeView& view, const TilePlanes& planes, const float* rows,
                   std::size_t stride, std::uint32_t slot, std::uint32_t count,
                   std::uint8_t* block) {
    CodeBytes bytes;
    for (std::uint32_t g = 0; g < view.tile.groups; ++g) {
      const std::uint32_t begin = g * view.tile.group_channels;
      const std::uint32_t n = lower_of(view.tile.group_channels, view.tile.dim - begin);
      if (view.tile.levels != nullptr) {
        codebook(view, rows + begin, stride, slot, count, g, begin, n, bytes, block);
      } else {
        uniform(view, rows + begin, stride, slot, count, g, begin, n, bytes, block);
      }
    }
    for (std::uint32_t t = 0; t < count; ++t) bytes.end(t, view.tile.dim);
    PutCodes::tokens(planes, view.tile, view.keys, bytes, slot, count, block);
  }

  // n channels of a row as a multiple of 16: the row itself, or a copy filled up.
  struct Padded {
    alignas(64) float copy[592];
    HWY_INLINE const float* of(const float* row, std::uint32_t n, float fill) {
      if (n % 16 == 0) return row;
      std::memcpy(copy, row, n * sizeof(float));
      for (std::uint32_t i = n; i < round_up(n, 16u); ++i) copy[i] = fill;
      return copy;
    }
  };
  static constexpr float kNothing = __builtin_nanf("");  // takes no part in a minimum or maximum

  // Codes of n channels of a token, whole registers.
  static HWY_INLINE void affine_codes(const float* row, std::uint32_t n, float low, float step,
                                      float top, std::uint8_t* codes) {
    const O::F f32;
    if (!(step > 0.0f)) {
      std::memset(codes, 0, n);
      return;
    }
    const O::VF lows = hn::Set(f32, low);
    const O::VF steps = hn::Set(f32, step);
    const O::VF tops = hn::Set(f32, top);
    for (std::uint32_t c = 0; c < n; c += O::kLanes) {
      const O::VF x = hn::LoadU(f32, row + c);
      O::store_bytes(O::to_code(hn::Div(hn::Sub(x, lows), steps), tops), codes + c);
    }
  }
  static HWY_INLINE void symmetric_codes(const float* row, std::uint32_t n, float step, float top,
                                         std::int32_t zero, std::uint8_t* codes) {
    const O::F f32;
    if (!(step > 0.0f)) {
      std::memset(codes, static_cast<int>(zero), n);
      return;
    }
    const O::VF steps = hn::Set(f32, step);
    const O::VF tops = hn::Set(f32, top);
    const O::VI zeros = hn::Set(O::Int(), zero);
    for (std::uint32_t c = 0; c < n; c += O::kLanes) {
      const O::VF x = hn::LoadU(f32, row + c);
      O::store_bytes(hn::Add(O::to_signed(hn::Div(x, steps), tops), zeros), codes + c);
    }
  }
  static constexpr float top_of(const abi::CodeView& view) {
    const std::uint32_t bits =
        view.scaling == abi::Scaling::kAffine ? view.tile.bits : view.tile.bits - 1;
    return static_cast<float>((1u << bits) - 1u);
  }

  // One group of the tokens of a unit, affine or symmetric codes.
  static HWY_INLINE void uniform(const abi::CodeView& view, const float* rows, std::size_t stride,
                                 std::uint32_t slot, std::uint32_t count, std::uint32_t group,
                                 std::uint32_t begin, std::uint32_t n, CodeBytes& bytes,
                                 std::uint8_t* block) {
    const O::F f32;
    const bool affine = view.scaling == abi::Scaling::kAffine;
    const float top = top_of(view);
    GroupScales scales;
    Padded padded;
    for (std::uint32_t t = 0; t < count; ++t) {
      const float* row = padded.of(rows + t * stride, n, kNothing);
      O::VF first[O::kParts];
      O::VF second[O::kParts];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < O::kParts; ++i) {
        first[i] = hn::Set(f32, kInfinity);
        second[i] = hn::Set(f32, affine ? -kInfinity : 0.0f);
      }
      for (std::uint32_t c = 0; c < n; c += 16) {
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < O::kParts; ++i) {
          O::VF x = hn::LoadU(f32, row + c + i * O::kLanes);
          if (!affine) x = O::absolute(x);
          first[i] = O::lower(x, first[i]);
          second[i] = O::upper(x, second[i]);
        }
      }
      scales.first[t] =
          hn::GetLane(O::tree(first, [](O::VF a, O::VF b) HWY_ATTR { return O::lower(b, a); }));
      scales.second[t] =
          hn::GetLane(O::tree(second, [](O::VF a, O::VF b) HWY_ATTR { return O::upper(b, a); }));
    }
    for (std::uint32_t t = count; t < 16; ++t) scales.first[t] = scales.second[t] = 0.0f;
    scales.choose(view.tile.side, affine, top);
    for (std::uint32_t t = 0; t < count; ++t) {
      const float* row = padded.of(rows + t * stride, n, 0.0f);
      std::uint8_t* codes = bytes.codes[t] + begin;
      if (affine) {
        affine_codes(row, n, scales.low[t], scales.step[t], top, codes);
      } else {
        symmetric_codes(row, n, scales.step[t], top, static_cast<std::int32_t>(view.tile.zero),
                        codes);
      }
    }
    store_sides(view, scales.sides, slot, count, group, block);
  }
  static HWY_INLINE void store_sides(const abi::CodeView& view, const std::uint32_t sides[2][16],
                                     std::uint32_t slot, std::uint32_t count, std::uint32_t group,
                                     std::uint8_t* block) {
    for (std::uint32_t f = 0; f < view.tile.fields; ++f) {
      SideAccess::store_run(view.tile.side, sides[f], count,
                            block + TileScales::at(view.tile, view.keys, slot, group) +
                                f * TileScales::field_stride(view.tile, view.keys));
    }
  }

  // Groups of `seal` tokens of one channel, 16 channels at once.
  static void per_channel(const abi::CodeView& view, const TilePlanes& planes,
                          const abi::EncodeArguments& a) {
    const O::F f32;
    const bool affine = view.scaling == abi::Scaling::kAffine;
    const float top = top_of(view);
    const std::uint32_t seal = view.tile.seal;
    const std::uint32_t dim = view.tile.dim;
    CodeBytes bytes;
    alignas(64) float steps[592];
    alignas(64) float lows[592];
    for (std::uint32_t done = 0; done < a.count; done += seal) {
      const std::uint32_t slot = a.slot + done;
      const float* rows = a.rows + done * a.stride;
      for (std::uint32_t c = 0; c < dim; c += 16) {
        GroupScales scales;
        const std::uint32_t n = lower_of(dim - c, 16u);
        KVPLEAT_UNROLL
        for (std::uint32_t lane = 0; lane < 16; lane += O::kLanes) {
          // 16 partial statistics by token mod 16, and the tree.
          O::VF first[16];
          O::VF second[16];
          const std::uint32_t parts = lower_of(seal, 16u);
          for (std::uint32_t i = 0; i < 16; ++i) {
            first[i] = hn::Set(f32, kInfinity);
            second[i] = hn::Set(f32, affine ? -kInfinity : 0.0f);
          }
          for (std::uint32_t t = 0; t < seal; t += 16) {
            for (std::uint32_t i = 0; i < lower_of(parts, seal - t); ++i) {
              O::VF x = load_part(rows + (t + i) * a.stride + c, n, lane);
              if (!affine) x = O::absolute(x);
              first[i] = O::lower(x, first[i]);
              second[i] = O::upper(x, second[i]);
            }
          }
          for (std::uint32_t width = 8; width > 0; width /= 2) {
            for (std::uint32_t i = 0; i < width; ++i) {
              first[i] = O::lower(first[i + width], first[i]);
              second[i] = O::upper(second[i + width], second[i]);
            }
          }
          hn::Store(first[0], f32, scales.first + lane);
          hn::Store(second[0], f32, scales.second + lane);
        }
        scales.choose(view.tile.side, affine, top);
        std::memcpy(steps + c, scales.step, sizeof scales.step);
        std::memcpy(lows + c, scales.low, sizeof scales.low);
        for (std::uint32_t f = 0; f < view.tile.fields; ++f) {
          SideAccess::store_run(view.tile.side, scales.sides[f], n,
                                a.block + TileScales::at(view.tile, view.keys, slot, c) +
                                    f * TileScales::field_stride(view.tile, view.keys));
        }
      }
      const O::VF tops = hn::Set(f32, top);
      const O::VI zeros = hn::Set(O::Int(), static_cast<std::int32_t>(view.tile.zero));
      for (std::uint32_t t = 0; t < seal; t += 16) {
        // A seal below 16 may begin inside a unit.
        const std::uint32_t count = lower_of(seal - t, 16 - (slot + t) % 16);
        for (std::uint32_t i = 0; i < count; ++i) {
          const float* row = rows + (t + i) * a.stride;
          for (std::uint32_t c = 0; c < dim; c += 16) {
            const std::uint32_t n = lower_of(dim - c, 16u);
            KVPLEAT_UNROLL
            for (std::uint32_t lane = 0; lane < 16; lane += O::kLanes) {
              const O::VF x = load_part(row + c, n, lane);
              const O::VF step = hn::Load(f32, steps + c + lane);
              const auto some = hn::RebindMask(O::Int(), hn::Gt(step, hn::Zero(f32)));
              O::VI codes;
              if (affine) {
                codes = O::to_code(hn::Div(hn::Sub(x, hn::Load(f32, lows + c + lane)), step), tops);
                codes = hn::IfThenElseZero(some, codes);
              } else {
                codes = hn::IfThenElseZero(some, O::to_signed(hn::Div(x, step), tops));
                codes = hn::Add(codes, zeros);
              }
              O::store_bytes(codes, bytes.codes[i] + c + lane);
            }
          }
          bytes.end(i, dim);
        }
        PutCodes::tokens(planes, view.tile, view.keys, bytes, slot + t, count, a.block);
      }
    }
  }
  // Lanes [lane, lane + kLanes) of n floats, zeros beyond.
  static HWY_INLINE O::VF load_part(const float* from, std::uint32_t n, std::uint32_t lane) {
    if (n == 16) return hn::LoadU(O::F(), from + lane);
    alignas(64) float part[16] = {};
    std::memcpy(part, from, n * sizeof(float));
    return hn::Load(O::F(), part + lane);
  }

  // --- Codebooks (quant/codebook.h) ---

  // The side nearest to each of 16 scales, and what it stands for (values: or null).
  static HWY_INLINE void nearest_sides(abi::Side side, const float* scales, std::uint32_t* sides,
                                       float* values) {
    switch (side) {
      case abi::Side::kHalf:
        return nearest_sides<abi::Side::kHalf>(scales, sides, values);
      case abi::Side::kBFloat16:
        return nearest_sides<abi::Side::kBFloat16>(scales, sides, values);
      case abi::Side::kFloat:
        return nearest_sides<abi::Side::kFloat>(scales, sides, values);
      default:
        nearest_log_scales(scales, sides);
        for (std::uint32_t t = 0; values != nullptr && t < 16; ++t)
          values[t] = to_float(LogScale8{static_cast<std::uint8_t>(sides[t])});
    }
  }
  // The code whose value is nearest (core/log_scale.h), of numbers that are not NaN: scales of an
  // octave are those of the next over 2, exactly, and so are the middles between them.
  static HWY_INLINE void nearest_log_scales(const float* scales, std::uint32_t* codes) {
    static constexpr struct Middles {
      float of[15];
      float last;   // between the last of an octave and the next
      float first;  // between 0 and code 1
      constexpr Middles() : of(), last(), first(0.5f * log_scale::kValues[1]) {
        for (std::uint32_t i = 0; i < 15; ++i)
          of[i] = 0.5f * log_scale::kRoots[i] + 0.5f * log_scale::kRoots[i + 1];
        last = 0.5f * log_scale::kRoots[15] + 0.5f * 2.0f;
      }
    } kMiddles;
    const O::F f32;
    const O::Int i32;
    const LevelTable middles(kMiddles.of, 15, kInfinity);
    for (std::uint32_t t = 0; t < 16; t += O::kLanes) {
      const O::VF x = hn::Load(f32, scales + t);
      const O::VI bits = hn::BitCast(i32, x);
      const O::VF within = hn::BitCast(
          f32, hn::Or(hn::And(bits, hn::Set(i32, 0x007fffff)), hn::Set(i32, 0x3f800000)));
      const O::VI octave = hn::ShiftRight<23>(bits);
      O::VI code = hn::Add(hn::ShiftLeft<4>(octave), hn::Set(i32, 120 - 16 * 127));
      code = hn::Add(code, cell<16>(middles, within));
      const auto beyond = hn::RebindMask(i32, hn::Gt(within, hn::Set(f32, kMiddles.last)));
      code = hn::Sub(code, hn::VecFromMask(i32, beyond));
      code = hn::Min(hn::Max(code, hn::Set(i32, 1)), hn::Set(i32, 255));
      const auto some = hn::RebindMask(i32, hn::Gt(x, hn::Set(f32, kMiddles.first)));
      hn::Store(hn::BitCast(O::U(), hn::IfThenElseZero(some, code)), O::U(), codes + t);
    }
  }
  template <abi::Side kSide>
  static HWY_INLINE void nearest_sides(const float* scales, std::uint32_t* sides, float* values) {
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < 16; i += O::kLanes) {
      const O::VU bits = SideOps<kSide>::nearest(hn::Load(O::F(), scales + i));
      hn::Store(bits, O::U(), sides + i);
      if (values != nullptr) hn::Store(SideOps<kSide>::to_float(bits), O::F(), values + i);
    }
  }
  // Number of thresholds below each quotient. The table is filled up with infinities.
  template <std::uint32_t kCount>
  static HWY_INLINE O::VI cell(const LevelTable& thresholds, O::VF quotient) {
    const O::F f32;
    const O::Int i32;
    if constexpr (kCount <= O::kLanes) {
      constexpr auto kHalf = static_cast<std::int32_t>(kCount / 2);
      const auto first = hn::Gt(quotient, hn::Set(f32, thresholds.levels[kHalf - 1]));
      O::VI code = hn::IfThenElseZero(hn::RebindMask(i32, first), hn::Set(i32, kHalf));
      KVPLEAT_UNROLL
      for (std::int32_t half = kHalf / 2; half > 0; half /= 2) {
        const O::VI next = hn::Add(code, hn::Set(i32, half - 1));
        const auto above = hn::Gt(quotient, thresholds.template find<kCount>(next));
        code = hn::Add(code, hn::IfThenElseZero(hn::RebindMask(i32, above), hn::Set(i32, half)));
      }
      return code;
    } else {
      O::VI code = hn::Zero(i32);
      for (std::uint32_t i = 0; i + 1 < kCount; ++i) {
        const auto above = hn::Gt(quotient, hn::Set(f32, thresholds.levels[i]));
        code = hn::Sub(code, hn::VecFromMask(i32, hn::RebindMask(i32, above)));
      }
      return code;
    }
  }
  // The scale of a policy, of 16 tokens.
  static HWY_INLINE void quotients(bool root, const double* above, const double* below, float* to) {
    const O::D f64;
    const hn::Rebind<float, O::D> f32;
    for (std::uint32_t i = 0; i < 16; i += O::kDoubles) {
      const O::VD ratio = hn::Div(hn::Load(f64, above + i), hn::Load(f64, below + i));
      hn::Store(hn::DemoteTo(f32, root ? hn::Sqrt(ratio) : ratio), f32, to + i);
    }
  }
  static HWY_INLINE void codebook(const abi::CodeView& view, const float* rows, std::size_t stride,
                                  std::uint32_t slot, std::uint32_t count, std::uint32_t group,
                                  std::uint32_t begin, std::uint32_t n, CodeBytes& bytes,
                                  std::uint8_t* block) {
    switch (view.tile.bits) {
      case 1:
        return codebook<1>(view, rows, stride, slot, count, group, begin, n, bytes, block);
      case 2:
        return codebook<2>(view, rows, stride, slot, count, group, begin, n, bytes, block);
      case 3:
        return codebook<3>(view, rows, stride, slot, count, group, begin, n, bytes, block);
      case 4:
        return codebook<4>(view, rows, stride, slot, count, group, begin, n, bytes, block);
      case 5:
        return codebook<5>(view, rows, stride, slot, count, group, begin, n, bytes, block);
      default:
        return codebook<6>(view, rows, stride, slot, count, group, begin, n, bytes, block);
    }
  }
  template <std::uint32_t kBits>
  static void codebook(const abi::CodeView& view, const float* rows, std::size_t stride,
                       std::uint32_t slot, std::uint32_t count, std::uint32_t group,
                       std::uint32_t begin, std::uint32_t n, CodeBytes& bytes,
                       std::uint8_t* block) {
    Book<kBits> book(view, n, count);
    Padded padded;
    const auto row_of = [&](std::uint32_t t)
                            HWY_ATTR { return padded.of(rows + t * stride, n, 0.0f); };
    for (std::uint32_t t = 0; t < count; ++t) {
      const float* row = row_of(t);
      Partial squares;
      for (std::uint32_t c = 0; c < n; c += 16) squares.add(row + c, row + c);
      book.energy.put(t, squares);
    }
    book.choose_coding(view, count, row_of);
    for (std::uint32_t t = 0; t < count; ++t)
      book.template code<false>(view, t, row_of(t), bytes.codes[t] + begin, nullptr);
    book.refine(view, count, row_of, [&](std::uint32_t t) { return bytes.codes[t] + begin; });
    store_sides(view, book.sides, slot, count, group, block);
  }
  // --- Sums that decide little ---
  // What is stored of a sum has few bits: a scale of 8 or 16, a coefficient of 8. So sums are made in
  // float, with a bound of what they may be off by, and only if both ends of that interval do not
  // give the same bits, the sum of the numeric law is made.

  // 16 partial sums of products, in float.
  struct Partial {
    O::VF sums[O::kParts];
    HWY_INLINE Partial() {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < O::kParts; ++i) sums[i] = hn::Zero(O::F());
    }
    HWY_INLINE void add(std::uint32_t i, O::VF a, O::VF b) { sums[i] = hn::MulAdd(a, b, sums[i]); }
    HWY_INLINE void add(const float* a, const float* b) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < O::kParts; ++i)
        add(i, hn::LoadU(O::F(), a + i * O::kLanes), hn::LoadU(O::F(), b + i * O::kLanes));
    }
  };
  // The partial sums of 16 tokens, and their sums.
  struct Sums {
    alignas(64) float partial[16 * O::kLanes];
    alignas(64) float of[16];

    // Sums of 0 for tokens [first, 16).
    HWY_INLINE explicit Sums(std::uint32_t first) {
      for (std::uint32_t t = first; t < 16; ++t) put(t, Partial());
    }

    HWY_INLINE void put(std::uint32_t token, const Partial& sums) {
      O::VF all = sums.sums[0];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 1; i < O::kParts; ++i) all = hn::Add(all, sums.sums[i]);
      hn::Store(all, O::F(), partial + token * O::kLanes);
    }
    // Four tokens to a register, then blocks of registers.
    HWY_INLINE void join() {
      const O::F f32;
      const hn::Repartition<double, O::F> f64;
      O::VF four[4];
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < 4; ++i) {
        O::VF two[2];
        KVPLEAT_UNROLL
        for (std::uint32_t k = 0; k < 2; ++k) {
          const O::VF a = hn::Load(f32, partial + (4 * i + 2 * k) * O::kLanes);
          const O::VF b = hn::Load(f32, partial + (4 * i + 2 * k + 1) * O::kLanes);
          two[k] = hn::Add(hn::InterleaveLower(f32, a, b), hn::InterleaveUpper(f32, a, b));
        }
        const auto a = hn::BitCast(f64, two[0]);
        const auto b = hn::BitCast(f64, two[1]);
        four[i] = hn::Add(hn::BitCast(f32, hn::InterleaveLower(f64, a, b)),
                          hn::BitCast(f32, hn::InterleaveUpper(f64, a, b)));
      }
#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
      __m512 pairs[2];
      for (int k = 0; k < 2; ++k) {
        const __m512 a = four[2 * k].raw;
        const __m512 b = four[2 * k + 1].raw;
        pairs[k] =
            _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
      }
      _mm512_store_ps(of, _mm512_add_ps(_mm512_shuffle_f32x4(pairs[0], pairs[1], 0x88),
                                        _mm512_shuffle_f32x4(pairs[0], pairs[1], 0xdd)));
#else
      for (std::uint32_t i = 0; i < 4; i += O::kLanes / 4) {
        O::VF all = four[i];
        if constexpr (O::kLanes == 8) {
          all = hn::Add(hn::ConcatLowerLower(f32, four[i + 1], four[i]),
                        hn::ConcatUpperUpper(f32, four[i + 1], four[i]));
        }
        hn::Store(all, f32, of + 4 * i);
      }
#endif
    }
  };
  // What a sum of n products is off by, over the sum of their magnitudes: n / 16 and one roundings in
  // a partial sum (two for a product without FMA), four where these are joined, and five more for
  // what is computed with it.
  static constexpr double spread(std::uint32_t n) {
    return static_cast<double>(n / 16 + 12) * 0x1p-24;
  }
  // Energies of which that holds: products neither overflow nor lose bits below the smallest float.
  static HWY_INLINE O::MF usable(O::VF energy) {
    return hn::And(hn::Ge(energy, hn::Set(O::F(), 0x1p-80f)),
                   hn::Le(energy, hn::Set(O::F(), 0x1p100f)));
  }
  static HWY_INLINE hn::Mask<O::D> usable(O::VD energy) {
    return hn::And(hn::Ge(energy, hn::Set(O::D(), 0x1p-80)),
                   hn::Le(energy, hn::Set(O::D(), 0x1p100)));
  }

  // The sum of products in the order of the numeric law; n a multiple of 16, or filled up with
  // zeros.
  static HWY_INLINE double dot(const float* a, const float* b, std::uint32_t n) {
    O::VD sums[O::kDoubleParts];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < O::kDoubleParts; ++i) sums[i] = hn::Zero(O::D());
    for (std::uint32_t c = 0; c < n; c += 16) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < O::kDoubleParts; ++i) {
        sums[i] = hn::MulAdd(O::to_double(a + c + i * O::kDoubles),
                             O::to_double(b + c + i * O::kDoubles), sums[i]);
      }
    }
    return O::sum_in_tree(sums);
  }

  // A codebook at work on one group of n channels of each of 16 tokens.
  template <std::uint32_t kBits>
  struct Book {
    static constexpr std::uint32_t kCount = 1u << kBits;
    const std::uint32_t members;
    LevelTable thresholds;
    LevelTable levels;
    float largest;  // level
    Sums energy;    // <x, x>
    Sums both;      // <level, x>
    Sums squares;   // <level, level>
    alignas(64) std::uint32_t sides[2][16];
    alignas(64) float coding[16];
    alignas(64) float stored[16];

    HWY_INLINE Book(const abi::CodeView& view, std::uint32_t n, std::uint32_t count)
        : members(n),
          thresholds(view.thresholds, kCount - 1, kInfinity),
          levels(view.tile.levels, kCount, 0.0f),
          largest(upper_of(magnitude(levels.levels[0]), magnitude(levels.levels[kCount - 1]))),
          energy(count),
          both(count),
          squares(count) {}

    // What codes are chosen with, of energies. row_of(token): its members, filled up.
    template <class RowOf>
    HWY_INLINE void choose_coding(const abi::CodeView& view, std::uint32_t count,
                                  const RowOf& row_of) {
      energy.join();
      const O::D f64;
      const O::VD lower = hn::Set(f64, 1.0 - spread(members));
      const O::VD upper = hn::Set(f64, 1.0 + spread(members));
      const O::VD n = hn::Set(f64, static_cast<double>(members));
      Interval interval;
      for (std::uint32_t t = 0; t < 16; t += O::kDoubles) {
        const O::VD e = O::to_double(energy.of + t);
        interval.set(t, usable(e), hn::Mul(e, lower), n, hn::Mul(e, upper), n);
      }
      decide(view, count, true, interval, coding, [&](std::uint32_t t) HWY_ATTR {
        interval.above[0][t] = square(row_of(t));
        interval.below[0][t] = static_cast<double>(members);
      });
      std::memcpy(stored, coding, sizeof stored);
    }
    // Codes of a row, and what its scale is refined from. kKeep: its levels as well.
    template <bool kKeep>
    HWY_INLINE void code(const abi::CodeView& view, std::uint32_t token, const float* row,
                         std::uint8_t* codes, float* kept) {
      if (!(coding[token] > 0.0f)) {
        both.put(token, Partial());
        squares.put(token, Partial());
        std::memset(codes, 0, members);
        if (kKeep) {
          for (std::uint32_t c = 0; c < round_up(members, 16u); ++c) kept[c] = levels.levels[0];
        }
        return;
      }
      switch (view.scaling) {
        case abi::Scaling::kNorm:
          return code_row<kKeep, false, false>(view, token, row, codes, kept);
        case abi::Scaling::kUnbiased:
          return code_row<kKeep, true, false>(view, token, row, codes, kept);
        default:
          return code_row<kKeep, true, true>(view, token, row, codes, kept);
      }
    }
    // What is stored, of the sums.
    template <class RowOf, class CodesOf>
    HWY_INLINE void refine(const abi::CodeView& view, std::uint32_t count, const RowOf& row_of,
                           const CodesOf& codes_of) {
      if (view.scaling == abi::Scaling::kNorm) return;
      both.join();
      squares.join();
      const bool root = view.scaling == abi::Scaling::kMatchedNorm;
      const bool least = view.scaling == abi::Scaling::kLeastSquares;
      const O::D f64;
      const O::VD lower = hn::Set(f64, 1.0 - spread(members));
      const O::VD upper = hn::Set(f64, 1.0 + spread(members));
      // Of <level, x>, magnitudes sum up to |level| |x| at most.
      const O::VD most = hn::Set(
          f64, static_cast<double>(largest * largest) * static_cast<double>(members) * 1.01);
      const O::VD zero = hn::Zero(f64);
      Interval interval;
      for (std::uint32_t t = 0; t < 16; t += O::kDoubles) {
        const O::VD e = O::to_double(energy.of + t);
        const O::VD s = O::to_double(squares.of + t);
        const O::VD b = O::to_double(both.of + t);
        const O::VD off = hn::Mul(hn::Sqrt(hn::Mul(most, e)), hn::Set(f64, spread(members)));
        const O::VD low = hn::Sub(b, off);
        const O::VD high = hn::Add(b, off);
        const auto certain = hn::And(usable(e), hn::Gt(low, zero));
        if (root) {
          interval.set(t, certain, hn::Mul(e, lower), hn::Mul(s, upper), hn::Mul(e, upper),
                       hn::Mul(s, lower));
        } else if (least) {
          interval.set(t, certain, low, hn::Mul(s, upper), high, hn::Mul(s, lower));
        } else {
          interval.set(t, certain, hn::Mul(e, lower), high, hn::Mul(e, upper), low);
        }
        interval.clear(t, hn::Gt(O::to_double(coding + t), zero));
      }
      decide(view, count, root, interval, stored, [&](std::uint32_t t) HWY_ATTR {
        const float* row = row_of(t);
        const double e = square(row);
        double b = 0.0;
        double s = 0.0;
        exact_sums(row, codes_of(t), &b, &s);
        interval.above[0][t] = !(b > 0.0) ? 0.0 : least ? b : e;
        interval.below[0][t] = !(b > 0.0) ? 1.0 : root || least ? s : b;
      });
    }

   private:
    // The scales of 16 tokens lie between the quotients (or their roots) of the first and of the
    // second of both.
    struct Interval {
      alignas(64) double above[2][16];
      alignas(64) double below[2][16];
      // certain: else the ends are 0 and infinity.
      HWY_INLINE void set(std::uint32_t t, hn::Mask<O::D> certain, O::VD above0, O::VD below0,
                          O::VD above1, O::VD below1) {
        const O::D f64;
        const O::VD one = hn::Set(f64, 1.0);
        hn::Store(hn::IfThenElseZero(certain, above0), f64, above[0] + t);
        hn::Store(hn::IfThenElse(certain, below0, one), f64, below[0] + t);
        hn::Store(hn::IfThenElse(certain, above1, hn::Set(f64, static_cast<double>(kInfinity))),
                  f64, above[1] + t);
        hn::Store(hn::IfThenElse(certain, below1, one), f64, below[1] + t);
      }
      // Scales of 0, unless `some`.
      HWY_INLINE void clear(std::uint32_t t, hn::Mask<O::D> some) {
        const O::D f64;
        for (std::uint32_t end = 0; end < 2; ++end) {
          hn::Store(hn::IfThenElseZero(some, hn::Load(f64, above[end] + t)), f64, above[end] + t);
          hn::Store(hn::IfThenElse(some, hn::Load(f64, below[end] + t), hn::Set(f64, 1.0)), f64,
                    below[end] + t);
        }
      }
    };
    [[nodiscard]] HWY_INLINE double square(const float* row) const {
      return dot(row, row, round_up(members, 16u));
    }
    // Sides of the scales, and what they stand for. Where the ends of an interval differ, exactly(t)
    // sets the first one to what the numeric law says.
    template <class Exactly>
    HWY_INLINE void decide(const abi::CodeView& view, std::uint32_t count, bool root,
                           Interval& interval, float* values, const Exactly& exactly) {
      alignas(64) float scales[16];
      quotients(root, interval.above[1], interval.below[1], scales);
      nearest_sides(view.tile.side, scales, sides[1], nullptr);
      quotients(root, interval.above[0], interval.below[0], scales);
      nearest_sides(view.tile.side, scales, sides[0], values);
      bool again = false;
      for (std::uint32_t t = 0; t < count; ++t) {
        if (sides[0][t] == sides[1][t]) continue;
        exactly(t);
        again = true;
      }
      if (!again) return;
      quotients(root, interval.above[0], interval.below[0], scales);
      nearest_sides(view.tile.side, scales, sides[0], values);
    }
    // <level, x> and <level, level> in the order of the numeric law.
    HWY_INLINE void exact_sums(const float* row, const std::uint8_t* codes, double* with_row,
                               double* with_itself) const {
      alignas(64) float level[592] = {};
      for (std::uint32_t c = 0; c < members; ++c) level[c] = levels.levels[codes[c]];
      *with_row = dot(level, row, round_up(members, 16u));
      *with_itself = dot(level, level, round_up(members, 16u));
    }
    template <bool kKeep, bool kBoth, bool kSquares>
    HWY_INLINE void code_row(const abi::CodeView& view, std::uint32_t token, const float* row,
                             std::uint8_t* codes, float* kept) {
      const O::F f32;
      const Cells cells(view, thresholds, coding[token]);
      Partial sums[2];
      const std::uint32_t whole = members / 16 * 16;
      for (std::uint32_t c = 0; c < members; c += 16) {
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < O::kParts; ++i) {
          const std::uint32_t at = c + i * O::kLanes;
          const O::VF x = hn::LoadU(f32, row + at);
          const O::VI code = cells.find(x);
          O::store_bytes(code, codes + at);
          O::VF level = levels.template find<kCount>(code);
          if (kKeep) hn::StoreU(level, f32, kept + at);
          if (c == whole) {  // what fills the last register has no level
            const std::uint32_t rest = members - c;
            level = hn::IfThenElseZero(
                hn::FirstN(f32, rest > i * O::kLanes ? rest - i * O::kLanes : 0), level);
          }
          if (kBoth) sums[0].add(i, level, x);
          if (kSquares) sums[1].add(i, level, level);
        }
      }
      both.put(token, sums[0]);
      squares.put(token, sums[1]);
    }

#if KVPLEAT_LANES >= KVPLEAT_LANES_AVX512
    // Without a division: edges times the scale are compared with x.
    struct Cells {
      static constexpr bool kTable = kBits == 3 || kBits == 4;  // fewer are found sooner by halves
      LevelTable bounds;
      bool by_table;
      O::VF stretch;
      O::VF offset;
      O::VI start[2];

      HWY_INLINE Cells(const abi::CodeView& view, const LevelTable&, float scale)
          : bounds(), by_table(kTable && view.cells != nullptr && scale >= 0x1p-100f) {
        const __m512d scales = _mm512_set1_pd(static_cast<double>(scale));
        for (std::uint32_t i = 0; i < round_up(kCount, 16u); i += 8) {
          const __m512d product = _mm512_mul_pd(_mm512_loadu_pd(view.edges + i), scales);
          _mm256_store_ps(bounds.levels + i, _mm512_cvt_roundpd_ps(product, _MM_FROUND_TO_NEG_INF |
                                                                                _MM_FROUND_NO_EXC));
        }
        if (!by_table) return;
        // Around stretch 16.
        stretch = hn::Set(O::F(), view.cells->scale / scale);
        offset = hn::Set(O::F(), view.cells->offset - 16.0f);
        start[0] = hn::LoadU(O::Int(), view.cells->start + 16);
        start[1] = hn::LoadU(O::Int(), view.cells->start);
      }
      HWY_INLINE O::VI find(O::VF x) const {
        if constexpr (kTable) {
          if (HWY_LIKELY(by_table)) {
            const O::VF place = hn::MulAdd(x, stretch, offset);
            // The smaller magnitude, with the sign of the first: -15 .. 15. Five bits of it count.
            const __m512 within = _mm512_range_ps(place.raw, _mm512_set1_ps(15.0f), 2);
            const O::VI first{
                _mm512_permutex2var_epi32(start[0].raw, _mm512_cvtps_epi32(within), start[1].raw)};
            const __m512 bound = _mm512_permutexvar_ps(first.raw, _mm512_load_ps(bounds.levels));
            const __mmask16 above = _mm512_cmp_ps_mask(x.raw, bound, _CMP_GT_OQ);
            return O::VI{_mm512_mask_add_epi32(first.raw, above, first.raw, _mm512_set1_epi32(1))};
          }
        }
        return cell<kCount>(bounds, x);
      }
    };
#else
    struct Cells {
      const LevelTable& thresholds;
      O::VF scales;

      HWY_INLINE Cells(const abi::CodeView&, const LevelTable& table, float scale)
          : thresholds(table), scales(hn::Set(O::F(), scale)) {}
      HWY_INLINE O::VI find(O::VF x) const { return cell<kCount>(thresholds, hn::Div(x, scales)); }
    };
#endif
  };

  // --- A direction apart (codec/direction.h), three rounds ---

  // round half to even(float(<direction, row>) / step), clamped to +-127.
  static HWY_INLINE std::int32_t coefficient(const abi::CodeView& view, const float* row) {
    const std::uint32_t dim = view.tile.dim;
    O::VD sums[O::kDoubleParts];
    KVPLEAT_UNROLL
    for (std::uint32_t i = 0; i < O::kDoubleParts; ++i) sums[i] = hn::Zero(O::D());
    std::uint32_t c = 0;
    for (; c + 16 <= dim; c += 16) {
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < O::kDoubleParts; ++i) {
        const O::VD x = O::to_double(row + c + i * O::kDoubles);
        const O::VD along = O::to_double(view.tile.direction + c + i * O::kDoubles);
        sums[i] = hn::MulAdd(along, x, sums[i]);
      }
    }
    if (c < dim) {
      alignas(64) float rest[2][16] = {};
      std::memcpy(rest[0], row + c, (dim - c) * sizeof(float));
      std::memcpy(rest[1], view.tile.direction + c, (dim - c) * sizeof(float));
      KVPLEAT_UNROLL
      for (std::uint32_t i = 0; i < O::kDoubleParts; ++i) {
        sums[i] = hn::MulAdd(O::to_double(rest[1] + i * O::kDoubles),
                             O::to_double(rest[0] + i * O::kDoubles), sums[i]);
      }
    }
    return round_to_signed(static_cast<float>(O::sum_in_tree(sums)) / view.tile.direction[dim],
                           127);
  }
  static void book_and_direction(const abi::CodeView& view, const TilePlanes& planes,
                                 const float* rows, std::size_t stride, std::uint32_t slot,
                                 std::uint32_t count, std::uint8_t* block) {
    switch (view.tile.bits) {
      case 1:
        return book_and_direction<1>(view, planes, rows, stride, slot, count, block);
      case 2:
        return book_and_direction<2>(view, planes, rows, stride, slot, count, block);
      case 3:
        return book_and_direction<3>(view, planes, rows, stride, slot, count, block);
      case 4:
        return book_and_direction<4>(view, planes, rows, stride, slot, count, block);
      case 5:
        return book_and_direction<5>(view, planes, rows, stride, slot, count, block);
      default:
        return book_and_direction<6>(view, planes, rows, stride, slot, count, block);
    }
  }
  // The same rounds with a codebook of one group: levels are kept, not decoded.
  template <std::uint32_t kBits>
  static void book_and_direction(const abi::CodeView& view, const TilePlanes& planes,
                                 const float* rows, std::size_t stride, std::uint32_t slot,
                                 std::uint32_t count, std::uint8_t* block) {
    const O::F f32;
    const std::uint32_t dim = view.tile.dim;
    const std::uint32_t row_floats = round_up(dim, 16u);
    const float step = view.tile.direction[dim];
    CodeBytes bytes;
    Book<kBits> book(view, dim, count);
    alignas(64) float direction[592];  // filled up with zeros
    alignas(64) float rests[16 * 592];
    alignas(64) float levels[16 * 592];
    std::memcpy(direction, view.tile.direction, dim * sizeof(float));
    for (std::uint32_t c = dim; c < row_floats; ++c) direction[c] = 0.0f;
    Padded padded;
    const auto row_of = [&](std::uint32_t t)
                            HWY_ATTR { return padded.of(rows + t * stride, dim, 0.0f); };
    const auto rest_of = [&](std::uint32_t t) HWY_ATTR { return rests + t * row_floats; };

    // The coefficient of the row.
    const float length = static_cast<float>(std::sqrt(dot(direction, direction, row_floats)));
    Coefficients coefficients(dim, count, length, step);
    Sums squares(count);
    for (std::uint32_t t = 0; t < count; ++t) {
      const float* row = row_of(t);
      Partial sums[2];
      for (std::uint32_t c = 0; c < row_floats; c += 16) {
        sums[0].add(direction + c, row + c);
        sums[1].add(row + c, row + c);
      }
      coefficients.along.put(t, sums[0]);
      squares.put(t, sums[1]);
    }
    squares.join();
    alignas(64) float lengths[16];
    for (std::uint32_t t = 0; t < 16; t += O::kLanes) {
      const O::VF square = hn::Load(f32, squares.of + t);
      hn::Store(hn::IfThenElse(usable(square), hn::Sqrt(square), hn::Set(f32, kInfinity)), f32,
                lengths + t);
    }
    coefficients.decide(lengths, count, [&](std::uint32_t t) HWY_ATTR {
      return dot(direction, row_of(t), row_floats);
    });

    // Codes of the row without it.
    for (std::uint32_t t = 0; t < count; ++t) {
      const float* row = row_of(t);
      float* rest = rest_of(t);
      const O::VF sizes = hn::Set(f32, product(static_cast<float>(coefficients.codes[t]), step));
      Partial sums;
      for (std::uint32_t c = 0; c < row_floats; c += 16) {
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < O::kParts; ++i) {
          const std::uint32_t at = c + i * O::kLanes;
          const O::VF along = O::rounded(hn::Mul(sizes, hn::Load(f32, direction + at)));
          const O::VF x = hn::Sub(hn::LoadU(f32, row + at), along);
          hn::Store(x, f32, rest + at);
          sums.add(i, x, x);
        }
      }
      book.energy.put(t, sums);
    }
    book.choose_coding(view, count, rest_of);
    for (std::uint32_t t = 0; t < count; ++t) {
      book.template code<true>(view, t, rest_of(t), bytes.codes[t], levels + t * row_floats);
      bytes.end(t, dim);
    }
    book.refine(view, count, rest_of, [&](std::uint32_t t) { return bytes.codes[t]; });

    // The coefficient of the row without what the codes stand for.
    const auto left_at = [&](std::uint32_t t, const float* row, std::uint32_t at) HWY_ATTR {
      const O::VF dense = O::rounded(
          hn::Mul(hn::Load(f32, levels + t * row_floats + at), hn::Set(f32, book.stored[t])));
      return hn::Sub(hn::LoadU(f32, row + at), dense);
    };
    for (std::uint32_t t = 0; t < count; ++t) {
      const float* row = row_of(t);
      Partial sums;
      for (std::uint32_t c = 0; c < row_floats; c += 16) {
        KVPLEAT_UNROLL
        for (std::uint32_t i = 0; i < O::kParts; ++i) {
          const std::uint32_t at = c + i * O::kLanes;
          sums.add(i, hn::Load(f32, direction + at), left_at(t, row, at));
        }
      }
      coefficients.along.put(t, sums);
    }
    // |row| + |dense|
    const float most = book.largest * std::sqrt(static_cast<float>(dim));
    for (std::uint32_t t = 0; t < 16; ++t) lengths[t] += most * book.stored[t];
    coefficients.decide(lengths, count, [&](std::uint32_t t) HWY_ATTR {
      const float* row = row_of(t);
      alignas(64) float left[592];
      for (std::uint32_t at = 0; at < row_floats; at += O::kLanes)
        hn::Store(left_at(t, row, at), f32, left + at);
      return dot(direction, left, row_floats);
    });
    for (std::uint32_t t = 0; t < count; ++t) {
      block[view.tile.coefficients_at + slot + t] =
          static_cast<std::uint8_t>(static_cast<std::int8_t>(coefficients.codes[t]));
    }
    store_sides(view, book.sides, slot, count, 0, block);
    PutCodes::tokens(planes, view.tile, view.keys, bytes, slot, count, block);
  }
  // Coefficients of 16 tokens, of sums along the direction.
  struct Coefficients {
    const float off;  // over the length of a row
    const float step;
    Sums along;
    alignas(64) std::int32_t codes[16];

    HWY_INLINE Coefficients(std::uint32_t dim, std::uint32_t count, float length, float unit)
        : off(static_cast<float>(spread(dim)) * length * 1.01f), step(unit), along(count) {}
    // round half to even(float(sum) / step), clamped to +-127. exactly(t): the sum of the numeric
    // law, which a length that is not finite always asks for.
    template <class Exactly>
    HWY_INLINE void decide(const float* lengths, std::uint32_t count, const Exactly& exactly) {
      const O::F f32;
      const O::Int i32;
      along.join();
      alignas(64) std::int32_t others[16];
      const O::VF steps = hn::Set(f32, step);
      const O::VF top = hn::Set(f32, 127.0f);
      const O::VF zero = hn::Zero(f32);
      for (std::uint32_t t = 0; t < 16; t += O::kLanes) {
        const O::VF sum = hn::Load(f32, along.of + t);
        // The least: products that are lost below the smallest float.
        const O::VF error = hn::Add(hn::Mul(hn::Load(f32, lengths + t), hn::Set(f32, off)),
                                    hn::Set(f32, 0x1p-120f));
        const O::VI low = O::to_signed(hn::Div(hn::Sub(sum, error), steps), top);
        const O::VI high = O::to_signed(hn::Div(hn::Add(sum, error), steps), top);
        const auto sure = hn::And(hn::Lt(error, hn::Set(f32, 0x1p100f)), hn::Gt(steps, zero));
        hn::Store(low, i32, codes + t);
        hn::Store(hn::IfThenElse(hn::RebindMask(i32, sure), high, hn::Set(i32, 128)), i32,
                  others + t);
      }
      for (std::uint32_t t = 0; t < count; ++t) {
        if (codes[t] == others[t]) continue;
        codes[t] = round_to_signed(static_cast<float>(exactly(t)) / step, 127);
      }
    }
  };
  static void with_direction(const abi::CodeView& view, const TilePlanes& planes, const float* rows,
                             std::size_t stride, std::uint32_t slot, std::uint32_t count,
                             std::uint8_t* block) {
    const O::F f32;
    const std::uint32_t dim = view.tile.dim;
    alignas(64) float rest[16][592];
    constexpr std::size_t kStride = 592;
    for (std::uint32_t t = 0; t < count; ++t) {
      const float* row = rows + t * stride;
      const float size =
          product(static_cast<float>(coefficient(view, row)), view.tile.direction[dim]);
      std::uint32_t c = 0;
      for (; c + O::kLanes <= dim; c += O::kLanes) {
        const O::VF along =
            O::rounded(hn::Mul(hn::Set(f32, size), hn::LoadU(f32, view.tile.direction + c)));
        hn::StoreU(hn::Sub(hn::LoadU(f32, row + c), along), f32, rest[t] + c);
      }
      for (; c < dim; ++c) rest[t][c] = row[c] - product(size, view.tile.direction[c]);
    }
    unit(view, planes, rest[0], kStride, slot, count, block);
    Decode::tile(view.tile, view.keys,
                 abi::DecodeArguments{BlockBytes{block, nullptr, nullptr, 0}, slot, count, rest[0],
                                      kStride});
    for (std::uint32_t t = 0; t < count; ++t) {
      const float* row = rows + t * stride;
      std::uint32_t c = 0;
      for (; c + O::kLanes <= dim; c += O::kLanes) {
        const O::VF dense = O::rounded(hn::LoadU(f32, rest[t] + c));
        hn::StoreU(hn::Sub(hn::LoadU(f32, row + c), dense), f32, rest[t] + c);
      }
      for (; c < dim; ++c) rest[t][c] = row[c] - rest[t][c];
      block[view.tile.coefficients_at + slot + t] =
          static_cast<std::uint8_t>(static_cast<std::int8_t>(coefficient(view, rest[t])));
    }
  }
};

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
