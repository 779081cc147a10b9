// Decoding: rows of floats from the codes of a tile, bit-equal to what the format's own decode gives.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/encode_ops-inl.h"

#if defined(KVPLEAT_SIMD_DECODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVPLEAT_SIMD_DECODE_INL_H_
#undef KVPLEAT_SIMD_DECODE_INL_H_
#else
#define KVPLEAT_SIMD_DECODE_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace kvpleat::inline KVPLEAT_ISA {
namespace HWY_NAMESPACE {

#if KVPLEAT_VECTOR_CODECS

// The planes of a tile (codec/tile.h) as numbers: codes of b bits are 1 to 3 planes, widest first.
struct TilePlanes {
  struct Plane {
    std::uint32_t width;   // bits of a field
    std::uint32_t shift;   // lowest bit of the code that it holds
    std::uint32_t at;      // first byte in a unit
    std::uint32_t span;    // elements along a line: 32 / width
    std::uint32_t lines;   // of a unit
    std::uint32_t packed;  // first dword of the plane in a packed row
  };
  // Packed row: the dwords of one token (keys) line by line, plane after plane.
  static constexpr std::uint32_t kMaxPacked = 160;  // 576 channels in 8 bits: 144; 7: 72 + 36 + 18

  Plane planes[3];
  std::uint32_t count;
  std::uint32_t unit_bytes;
  std::uint32_t packed_size;

  TilePlanes(const abi::TileView& view, bool keys) : count(0), unit_bytes(0), packed_size(0) {
    const std::uint32_t run = keys ? view.padded_dim : view.block_tokens;
    std::uint32_t shift = 0;
    for (std::uint32_t width = 8; width > 0; width /= 2) {
      if ((view.bits & width) == 0) continue;
      const std::uint32_t span = 32 / width;
      const std::uint32_t lines = ceil_div(run, span);
      planes[count++] = {width, shift, unit_bytes, span, lines, packed_size};
      shift += width;
      unit_bytes += lines * 64;
      packed_size += lines;
    }
  }
};

// Codes of a tile as bytes, a token after the other.
struct TileCodes {
  using O = CodecOps;
  using U4 = hn::FixedTag<std::uint32_t, 4>;
  using V4 = hn::Vec<U4>;

  // Four tokens' dwords of four lines, transposed: out[i] has token i.
  static HWY_INLINE void transpose(V4 a, V4 b, V4 c, V4 d, V4* out) {
    const U4 u32;
    const hn::Repartition<std::uint64_t, U4> u64;
    const auto ab0 = hn::BitCast(u64, hn::InterleaveLower(u32, a, b));
    const auto ab1 = hn::BitCast(u64, hn::InterleaveUpper(u32, a, b));
    const auto cd0 = hn::BitCast(u64, hn::InterleaveLower(u32, c, d));
    const auto cd1 = hn::BitCast(u64, hn::InterleaveUpper(u32, c, d));
    out[0] = hn::BitCast(u32, hn::InterleaveLower(u64, ab0, cd0));
    out[1] = hn::BitCast(u32, hn::InterleaveUpper(u64, ab0, cd0));
    out[2] = hn::BitCast(u32, hn::InterleaveLower(u64, ab1, cd1));
    out[3] = hn::BitCast(u32, hn::InterleaveUpper(u64, ab1, cd1));
  }

  // The packed rows of the four tokens from `slot` (a multiple of 4) on.
  //   packed: [4][TilePlanes::kMaxPacked]
  static HWY_INLINE void gather_keys(const TilePlanes& planes, const std::uint8_t* block,
                                     std::uint32_t slot, std::uint32_t* packed) {
    const U4 u32;
    constexpr std::uint32_t kRow = TilePlanes::kMaxPacked;
    const std::uint8_t* unit = block + slot / 16 * planes.unit_bytes + slot % 16 * 4;
    const auto line = [&](std::uint32_t i) HWY_ATTR {
      return hn::LoadU(u32, reinterpret_cast<const std::uint32_t*>(unit + i * 64));
    };
    // All planes of a unit lie one after the other, and so they do in a packed row.
    const std::uint32_t lines = planes.packed_size;
    std::uint32_t i = 0;
    for (; i + 4 <= lines; i += 4) {
      V4 tokens[4];
      transpose(line(i), line(i + 1), line(i + 2), line(i + 3), tokens);
      for (std::uint32_t t = 0; t < 4; ++t) hn::StoreU(tokens[t], u32, packed + t * kRow + i);
    }
    for (; i < lines; ++i) {
      for (std::uint32_t t = 0; t < 4; ++t)
        std::memcpy(packed + t * kRow + i, unit + i * 64 + t * 4, 4);
    }
  }
  // Codes of channels [c, c + 16) of a packed row; c is a multiple of 16.
  template <std::uint32_t kWidth>
  static HWY_INLINE V4 unpack_plane(const std::uint32_t* row, std::uint32_t c) {
    const U4 u32;
    alignas(16) static constexpr std::uint32_t kLow[4] = {0, 1, 2, 3};
    if constexpr (kWidth == 8) {
      return hn::LoadU(u32, row + c / 4);
    } else if constexpr (kWidth == 4) {
      const V4 two = hn::Set(u32, row[c / 8]);
      const V4 other = hn::Set(u32, row[c / 8 + 1]);
      const hn::Repartition<std::uint64_t, U4> u64;
      const V4 pair = hn::BitCast(
          u32, hn::InterleaveLower(u64, hn::BitCast(u64, two), hn::BitCast(u64, other)));
      const V4 shift = hn::Shl(hn::And(hn::Load(u32, kLow), hn::Set(u32, 1u)), hn::Set(u32, 2u));
      return hn::And(hn::Shr(pair, shift), hn::Set(u32, 0x0f0f0f0fu));
    } else {
      const V4 all = hn::Set(u32, row[c / (32 / kWidth)]);
      // Of 1 bit, a dword has 32 channels: the upper 16 are 4 fields on.
      const std::uint32_t first = kWidth == 1 ? c % 32 / 4 : 0;
      const V4 field = hn::Add(hn::Load(u32, kLow), hn::Set(u32, first));
      const V4 shift = kWidth == 2 ? hn::ShiftLeft<1>(field) : field;
      return hn::And(hn::Shr(all, shift), hn::Set(u32, kWidth == 2 ? 0x03030303u : 0x01010101u));
    }
  }
  template <std::uint32_t kBits>
  static HWY_INLINE V4 unpack(const TilePlanes& planes, const std::uint32_t* row, std::uint32_t c) {
    constexpr std::uint32_t kFirst = kBits >= 8 ? 8 : kBits >= 4 ? 4 : kBits >= 2 ? 2 : 1;
    V4 codes = unpack_plane<kFirst>(row, c);
    if constexpr (kBits > kFirst) {
      constexpr std::uint32_t kRest = kBits - kFirst;
      constexpr std::uint32_t kSecond = kRest >= 2 ? 2 : 1;
      codes = hn::Or(
          codes, hn::ShiftLeft<kFirst>(unpack_plane<kSecond>(row + planes.planes[1].packed, c)));
      if constexpr (kRest > kSecond) {
        codes = hn::Or(codes, hn::ShiftLeft<kFirst + kSecond>(
                                  unpack_plane<1>(row + planes.planes[2].packed, c)));
      }
    }
    return codes;
  }
  // Codes of channels [c + lane, c + lane + kLanes) of a packed row; c is a multiple of 16.
  template <std::uint32_t kBits>
  static HWY_INLINE O::VI keys(const TilePlanes& planes, const std::uint32_t* row, std::uint32_t c,
                               std::uint32_t lane) {
    if constexpr (O::kLanes == 16) {
      O::VU codes = fields<first_width(kBits)>(row, c);
      if constexpr (kBits > first_width(kBits)) {
        constexpr std::uint32_t kRest = kBits - first_width(kBits);
        const std::uint32_t* next = row + planes.planes[1].packed;
        codes = hn::Or(codes, hn::ShiftLeft<static_cast<int>(first_width(kBits))>(
                                  fields<first_width(kRest)>(next, c)));
        if constexpr (kRest > first_width(kRest)) {
          codes = hn::Or(codes, hn::ShiftLeft<static_cast<int>(kBits - 1)>(
                                    fields<1>(row + planes.planes[2].packed, c)));
        }
      }
      return hn::BitCast(O::Int(), codes);
    } else {
      alignas(16) std::uint8_t bytes[16];
      hn::Store(unpack<kBits>(planes, row, c), U4(), reinterpret_cast<std::uint32_t*>(bytes));
      return O::load_bytes(bytes + lane);
    }
  }
  // Codes of 16 channels of a token of values, kLanes in each register. c is a multiple of 16.
  template <std::uint32_t kBits>
  static HWY_INLINE O::VI values(const TilePlanes& planes, const std::uint8_t* block,
                                 std::uint32_t slot, std::uint32_t c, std::uint32_t lane) {
    const std::uint8_t* unit = block + c / 16 * planes.unit_bytes + lane * 4;
    O::VU codes = value_fields<first_width(kBits)>(unit, slot);
    if constexpr (kBits > first_width(kBits)) {
      constexpr std::uint32_t kRest = kBits - first_width(kBits);
      codes =
          hn::Or(codes, hn::ShiftLeft<static_cast<int>(first_width(kBits))>(
                            value_fields<first_width(kRest)>(unit + planes.planes[1].at, slot)));
      if constexpr (kRest > first_width(kRest)) {
        codes = hn::Or(codes, hn::ShiftLeft<static_cast<int>(kBits - 1)>(
                                  value_fields<1>(unit + planes.planes[2].at, slot)));
      }
    }
    return hn::BitCast(O::Int(), codes);
  }

 private:
  static constexpr std::uint32_t first_width(std::uint32_t bits) { return std::bit_floor(bits); }
  // Fields of 16 channels of a plane, in 16 lanes. What is loaded beyond the plane is not used.
  template <std::uint32_t kWidth>
  static HWY_INLINE O::VU fields(const std::uint32_t* row, std::uint32_t c) {
    constexpr std::uint32_t kSpan = 32 / kWidth;
    alignas(64) static constexpr struct Places {
      std::uint32_t dword[16];
      std::uint32_t shift[16];
      constexpr Places() : dword(), shift() {
        for (std::uint32_t i = 0; i < 16; ++i) {
          dword[i] = i / kSpan;
          shift[i] = i % kSpan % 4 * 8 + i % kSpan / 4 * kWidth;
        }
      }
    } kPlaces;
    const O::U u32;
    const O::VU all = hn::LoadU(u32, row + c / kSpan);
    O::VU mine = hn::TableLookupLanes(all, hn::IndicesFromVec(u32, hn::Load(u32, kPlaces.dword)));
    // Of 1 bit, a dword has 32 channels: the upper 16 are 4 fields on.
    if constexpr (kWidth == 1) mine = hn::ShiftRightSame(mine, static_cast<int>(c % 32 / 4));
    return hn::And(hn::Shr(mine, hn::Load(u32, kPlaces.shift)), hn::Set(u32, (1u << kWidth) - 1u));
  }
  // Fields of a token: of a plane's first line on.
  template <std::uint32_t kWidth>
  static HWY_INLINE O::VU value_fields(const std::uint8_t* plane, std::uint32_t slot) {
    constexpr std::uint32_t kSpan = 32 / kWidth;
    const O::U u32;
    const std::uint8_t* line = plane + slot / kSpan * 64;
    const std::uint32_t shift = slot % 4 * 8 + slot % kSpan / 4 * kWidth;
    const O::VU all = hn::LoadU(u32, reinterpret_cast<const std::uint32_t*>(line));
    return hn::And(hn::ShiftRightSame(all, static_cast<int>(shift)),
                   hn::Set(u32, (1u << kWidth) - 1u));
  }
};

// What a code stands for, of kLanes codes at once.
struct DecodeUniform {
  using O = CodecOps;
  const abi::TileView& view;
  O::VF zero;

  explicit HWY_INLINE DecodeUniform(const abi::TileView& tile)
      : view(tile), zero(hn::Set(O::F(), tile.zero)) {}
  template <bool kLow>
  HWY_INLINE O::VF value(O::VI codes, O::VF step, O::VF low) const {
    const O::VF steps = hn::Sub(hn::ConvertTo(O::F(), codes), zero);
    const O::VF product = O::rounded(hn::Mul(steps, step));
    return kLow ? hn::Add(product, low) : product;
  }
};
// Levels of a codebook, up to 64, looked up in registers.
struct LevelTable {
  using O = CodecOps;
  alignas(64) float levels[64];

  LevelTable() {}
  LevelTable(const float* from, std::uint32_t count, float rest) {
    std::memcpy(levels, from, count * sizeof(float));
    for (std::uint32_t i = count; i < round_up(count, 16u); ++i) levels[i] = rest;
  }
  // levels[i] for i < kCount.
  template <std::uint32_t kCount>
  HWY_INLINE O::VF find(O::VI i) const {
    const O::Int i32;
    if constexpr (kCount <= O::kLanes) {
      return hn::TableLookupLanes(hn::Load(O::F(), levels), hn::IndicesFromVec(O::F(), i));
    } else {
      const O::VI within = hn::And(i, hn::Set(i32, static_cast<std::int32_t>(O::kLanes - 1)));
      const auto indices = hn::IndicesFromVec(O::F(), within);
      O::VF found = hn::TableLookupLanes(hn::Load(O::F(), levels), indices);
      KVPLEAT_UNROLL
      for (std::uint32_t k = O::kLanes; k < kCount; k += O::kLanes) {
        const auto above = hn::Gt(i, hn::Set(i32, static_cast<std::int32_t>(k) - 1));
        found = hn::IfThenElse(hn::RebindMask(O::F(), above),
                               hn::TableLookupLanes(hn::Load(O::F(), levels + k), indices), found);
      }
      return found;
    }
  }
};

// Where scales lie in a block.
struct TileScales {
  // Field 0 of a group; groups along tokens have the number of their channel.
  static HWY_INLINE std::uint32_t at(const abi::TileView& view, bool keys, std::uint32_t slot,
                                     std::uint32_t group) {
    std::uint32_t place = 0;
    if (view.seal > 1) {
      place = slot / view.seal * view.fields * view.padded_dim + group;
    } else if (keys) {
      place = (slot / 16 * view.groups + group) * view.fields * 16 + slot % 16;
    } else {
      place = group * view.fields * view.block_tokens + slot;
    }
    return view.side_at + place * SideAccess::bytes(view.side);
  }
  static HWY_INLINE std::uint32_t field_stride(const abi::TileView& view, bool keys) {
    const std::uint32_t count = view.seal > 1 ? view.padded_dim : keys ? 16 : view.block_tokens;
    return count * SideAccess::bytes(view.side);
  }
};

struct Decode {
  using O = CodecOps;

  // Rows of slots [slot, slot + count) of a tile with its slots, without a direction.
  static void tile(const abi::TileView& view, bool keys, const abi::DecodeArguments& arguments) {
    abi::TileView alone = view;
    alone.direction = nullptr;
    of_any_bits(alone, keys, arguments);
  }
  // The same with the direction, if there is one.
  static void rows(const abi::CodeView& view, const abi::DecodeArguments& arguments) {
    of_any_bits(view.tile, view.keys, arguments);
  }

 private:
  static HWY_INLINE void of_any_bits(const abi::TileView& view, bool keys,
                                     const abi::DecodeArguments& arguments) {
    switch (view.bits) {
      case 1:
        return of_bits<1>(view, keys, arguments);
      case 2:
        return of_bits<2>(view, keys, arguments);
      case 3:
        return of_bits<3>(view, keys, arguments);
      case 4:
        return of_bits<4>(view, keys, arguments);
      case 5:
        return of_bits<5>(view, keys, arguments);
      case 6:
        return of_bits<6>(view, keys, arguments);
      case 7:
        return of_bits<7>(view, keys, arguments);
      default:
        return of_bits<8>(view, keys, arguments);
    }
  }
  template <std::uint32_t kBits>
  static void of_bits(const abi::TileView& view, bool keys, const abi::DecodeArguments& a) {
    if (view.levels != nullptr) {
      if constexpr (kBits <= 6) {
        const LevelTable table(view.levels, 1u << kBits, 0.0f);
        each_token<kBits>(view, keys, a, [&](O::VI codes, O::VF step, O::VF) HWY_ATTR {
          return hn::Mul(table.template find<1u << kBits>(codes), step);
        });
      }
    } else {
      const DecodeUniform uniform(view);
      if (view.fields == 2) {
        each_token<kBits>(view, keys, a, [&](O::VI codes, O::VF step, O::VF low) HWY_ATTR {
          return uniform.template value<true>(codes, step, low);
        });
      } else {
        each_token<kBits>(view, keys, a, [&](O::VI codes, O::VF step, O::VF low) HWY_ATTR {
          return uniform.template value<false>(codes, step, low);
        });
      }
    }
    if (view.slots > 0) add_slots(view, a);
  }

  static constexpr std::uint32_t kMaxDim = 592;  // 576 and a register

  // value(codes, step, low) -> floats.
  template <std::uint32_t kBits, class Value>
  static HWY_INLINE void each_token(const abi::TileView& view, bool keys,
                                    const abi::DecodeArguments& a, const Value& value) {
    if (keys) {
      each_token<kBits, true>(view, a, value);
    } else {
      each_token<kBits, false>(view, a, value);
    }
  }
  template <std::uint32_t kBits, bool kKeys, class Value>
  static HWY_INLINE void each_token(const abi::TileView& view, const abi::DecodeArguments& a,
                                    const Value& value) {
    const TilePlanes planes(view, kKeys);
    alignas(64) std::uint32_t packed[4 * TilePlanes::kMaxPacked];
    alignas(64) float step[kMaxDim];  // per channel: where groups are not multiples of 16 channels
    alignas(64) float low[kMaxDim];
    const bool along_tokens = view.seal > 1;
    const bool per_channel = along_tokens || (view.groups > 1 && view.group_channels % 16 != 0);
    const std::uint32_t stride = TileScales::field_stride(view, kKeys);
    std::uint32_t sealed = 0xffffffffu;
    for (std::uint32_t t = 0; t < a.count; ++t) {
      const std::uint32_t slot = a.slot + t;
      if (kKeys && (t == 0 || slot % 4 == 0))
        TileCodes::gather_keys(planes, a.bytes.block, slot / 4 * 4, packed);
      if (per_channel && !(along_tokens && slot / view.seal == sealed)) {
        load_channels(view, kKeys, a.bytes.block, slot, stride, step, low);
        sealed = slot / view.seal;
      }
      float* row = a.rows + t * a.stride;
      float size = 0.0f;  // along the direction
      if (view.direction != nullptr) {
        const auto code = static_cast<std::int8_t>(a.bytes.block[view.coefficients_at + slot]);
        size = product(static_cast<float>(code), view.direction[view.dim]);
      }
      O::VF group_step = hn::Set(O::F(), 1.0f);
      O::VF group_low = hn::Zero(O::F());
      const auto sixteen = [&](std::uint32_t c, float* to) HWY_ATTR {
        KVPLEAT_UNROLL
        for (std::uint32_t lane = 0; lane < 16; lane += O::kLanes) {
          O::VI codes;
          if constexpr (kKeys) {
            codes =
                TileCodes::keys<kBits>(planes, packed + slot % 4 * TilePlanes::kMaxPacked, c, lane);
          } else {
            codes = TileCodes::values<kBits>(planes, a.bytes.block, slot, c, lane);
          }
          if (per_channel) {
            group_step = hn::Load(O::F(), step + c + lane);
            group_low = hn::Load(O::F(), low + c + lane);
          }
          hn::StoreU(value(codes, group_step, group_low), O::F(), to + lane);
        }
      };
      for (std::uint32_t c = 0, group = 0; c < view.dim; ++group) {
        std::uint32_t end = view.dim;
        if (!per_channel) {
          end = lower_of(end, c + view.group_channels);
          if (view.fields > 0) {
            const std::uint8_t* scale = a.bytes.block + TileScales::at(view, kKeys, slot, group);
            group_step = hn::Set(O::F(), SideAccess::load(view.side, scale));
            if (view.fields > 1)
              group_low = hn::Set(O::F(), SideAccess::load(view.side, scale + stride));
          }
        }
        for (; c + 16 <= end; c += 16) {
          sixteen(c, row + c);
          if (view.direction != nullptr) add_along(view, size, c, row);
        }
        if (c < end) {
          alignas(64) float last[16];
          sixteen(c, last);
          std::memcpy(row + c, last, (end - c) * sizeof(float));
          for (; c < end; ++c) {
            if (view.direction != nullptr) row[c] += product(size, view.direction[c]);
          }
        }
      }
    }
  }
  // row[c ..] += size * direction[c ..], 16 channels.
  static HWY_INLINE void add_along(const abi::TileView& view, float size, std::uint32_t c,
                                   float* row) {
    const O::F f32;
    KVPLEAT_UNROLL
    for (std::uint32_t lane = 0; lane < 16; lane += O::kLanes) {
      const std::uint32_t i = c + lane;
      const O::VF along =
          O::rounded(hn::Mul(hn::Set(f32, size), hn::LoadU(f32, view.direction + i)));
      hn::StoreU(hn::Add(hn::LoadU(f32, row + i), along), f32, row + i);
    }
  }
  // Scales of every channel of a token.
  static HWY_INLINE void load_channels(const abi::TileView& view, bool keys,
                                       const std::uint8_t* block, std::uint32_t slot,
                                       std::uint32_t stride, float* step, float* low) {
    float* const fields[2] = {step, low};
    for (std::uint32_t f = 0; f < 2; ++f) {
      if (f >= view.fields) {
        for (std::uint32_t c = 0; c < view.dim; ++c) fields[f][c] = f == 0 ? 1.0f : 0.0f;
      } else if (view.seal > 1) {
        SideAccess::load_run(view.side, block + TileScales::at(view, keys, slot, 0) + f * stride,
                             view.dim, fields[f]);
      } else {
        for (std::uint32_t g = 0; g < view.groups; ++g) {
          const float x =
              SideAccess::load(view.side, block + TileScales::at(view, keys, slot, g) + f * stride);
          const std::uint32_t end = lower_of((g + 1) * view.group_channels, view.dim);
          for (std::uint32_t c = g * view.group_channels; c < end; ++c) fields[f][c] = x;
        }
      }
    }
  }
  static void add_slots(const abi::TileView& view, const abi::DecodeArguments& a) {
    const std::uint32_t unit_bytes = 16 * (view.slots * (view.index_bytes + 1) + 2);
    for (std::uint32_t t = 0; t < a.count; ++t) {
      const std::uint32_t slot = a.slot + t;
      const std::uint8_t* unit = a.bytes.block + view.slots_at + slot / 16 * unit_bytes;
      const std::uint8_t* deltas = unit + 16 * view.slots * view.index_bytes;
      const float scale =
          to_float(load<Half>(unit + 16 * view.slots * (view.index_bytes + 1) + slot % 16 * 2));
      float* row = a.rows + t * a.stride;
      for (std::uint32_t i = 0; i < view.slots; ++i) {
        const std::uint32_t place = (i / 4 * 16 + slot % 16) * 4 + i % 4;
        const auto delta = static_cast<std::int8_t>(deltas[place]);
        const std::uint8_t* index = unit + place * view.index_bytes;
        const std::uint32_t channel = view.index_bytes == 1 ? index[0] : index[0] + 256u * index[1];
        if (delta != 0 && channel < view.dim)
          row[channel] += product(static_cast<float>(delta), scale);
      }
    }
  }
};

#endif  // KVPLEAT_VECTOR_CODECS

}  // namespace HWY_NAMESPACE
}  // namespace kvpleat::inline KVPLEAT_ISA
HWY_AFTER_NAMESPACE();

#endif  // toggle
