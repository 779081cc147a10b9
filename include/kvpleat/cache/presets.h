// Presets: ready-made caches for one head_dim. docs/formats.md has their bytes, `compare` measures
// them.
#pragma once

#include <cstdint>

#include "kvpleat/cache/lanes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/format/formats.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace presets {

// One lane of the given formats.
template <class Key, class Value>
struct Single : CacheTraits<Key::kDim, Value::kDim> {
  using Lanes = LaneList<KV<Key, Value>>;
};

template <std::uint32_t kDim>
struct F32 : Single<formats::F32<kDim>, formats::F32<kDim>> {};
template <std::uint32_t kDim>
struct F16 : Single<formats::F16<kDim>, formats::F16<kDim>> {};
template <std::uint32_t kDim>
struct BF16 : Single<formats::BF16<kDim>, formats::BF16<kDim>> {};

// Groups of head_dim along channels, for keys and values.
template <std::uint32_t kDim>
struct Int8 : Single<formats::Int8<kDim>, formats::Int8<kDim>> {};
template <std::uint32_t kDim>
struct Int6 : Single<formats::Int6<kDim>, formats::Int6<kDim>> {};
template <std::uint32_t kDim>
struct Int5 : Single<formats::Int5<kDim>, formats::Int5<kDim>> {};
template <std::uint32_t kDim>
struct Int4 : Single<formats::Int4<kDim>, formats::Int4<kDim>> {};
template <std::uint32_t kDim>
struct Int3 : Single<formats::Int3<kDim>, formats::Int3<kDim>> {};
template <std::uint32_t kDim>
struct Int2 : Single<formats::Int2<kDim>, formats::Int2<kDim>> {};
template <std::uint32_t kDim>
struct Int4G32 : Single<formats::Int4G32<kDim>, formats::Int4G32<kDim>> {};

// Groups of 32 along tokens, for keys and values.
template <std::uint32_t kDim>
struct Int4Channel : Single<formats::Int4Channel<kDim>, formats::Int4Channel<kDim>> {};
template <std::uint32_t kDim>
struct Int2Channel : Single<formats::Int2Channel<kDim>, formats::Int2Channel<kDim>> {};

// Keys along 32 tokens, values along 32 channels. Source: KIVI, arXiv:2402.02750 (its residual:
// CacheShape::residual).
template <std::uint32_t kDim>
struct Kivi4 : Single<formats::Int4Channel<kDim>, formats::Int4G32<kDim>> {};
template <std::uint32_t kDim>
struct Kivi2 : Single<formats::Int2Channel<kDim>, formats::Int<kDim, 2, 32>> {};

// The four largest values of each head vector in slots.
template <std::uint32_t kDim>
struct Int4TopK : Single<formats::Int4TopK<kDim>, formats::Int4TopK<kDim>> {};

// Needs thresholds for keys and values (calibrate/thresholds.h). Source: Oaken, ISCA 2025.
template <std::uint32_t kDim>
struct Oaken : Single<formats::Oaken<kDim>, formats::Oaken<kDim>> {};
// The first and the last layer in 16 bits.
template <std::uint32_t kDim>
struct OakenEnds : Oaken<kDim> {
  using RawElement = Half;
  static constexpr bool kRawEnds = true;
};
// The same values in the order that kernels read; with shares of 4/90/6 as Oaken, or of 2/96/2
// (BandShares{20000, 20000}): the thresholds decide.
template <std::uint32_t kDim>
struct OakenJds16 : Single<formats::OakenJds16<kDim>, formats::OakenJds16<kDim>> {};
template <std::uint32_t kDim>
struct Oaken2_96_2 : Single<formats::Oaken2_96_2<kDim>, formats::Oaken2_96_2<kDim>> {};

// Keys before RoPE with calibrated channels, values per token, signposts, 1 % of outliers apart.
// Needs RoPE and a profile of the keys (calibrate/kvquant.h makes those of both sides); its first
// tokens in fp16 are CacheShape::sinks. Attention restores keys row by row. Source: KVQuant,
// arXiv:2401.18079.
template <std::uint32_t kDim>
struct KvQuant4 : Single<formats::KvQuantKey<kDim, 4>, formats::KvQuantValue<kDim, 4>> {};
template <std::uint32_t kDim>
struct KvQuant3 : Single<formats::KvQuantKey<kDim, 3>, formats::KvQuantValue<kDim, 3>> {};

// Phase-centred (calibrate/channel_mean.h) and rotated keys, rotated values.
template <std::uint32_t kDim>
struct CenteredRotated4
    : Single<formats::CenteredRotatedKey<kDim, 4>, formats::RotatedValue<kDim, 4>> {};

// Profile: the scale of each head, 1 without one (Mxfp4 has none).
template <std::uint32_t kDim>
struct Fp8E4m3 : Single<formats::Fp8E4m3<kDim>, formats::Fp8E4m3<kDim>> {};
template <std::uint32_t kDim>
struct Mxfp4 : Single<formats::Mxfp4<kDim>, formats::Mxfp4<kDim>> {};
template <std::uint32_t kDim>
struct Nvfp4 : Single<formats::Nvfp4<kDim>, formats::Nvfp4<kDim>> {};

// 8-bit codes with one step per head for 128 tokens: renewed as tokens come, or exact for tokens that
// wait for each other.
template <std::uint32_t kDim>
struct Renewed8 : Single<formats::Renewed8<kDim>, formats::Renewed8<kDim>> {};
template <std::uint32_t kDim>
struct Sealed8 : Single<formats::Sealed8<kDim>, formats::Sealed8<kDim>> {};
// The tiers of TieredTurbo by themselves: 8-bit codes whose step is renewed every 128 tokens, up to
// four outliers of a head vector in slots; the largest fifth in a hash table of 4-bit codes.
template <std::uint32_t kDim>
struct Tiered8 : Single<formats::Tiered8<kDim>, formats::Tiered8<kDim>> {};
template <std::uint32_t kDim>
struct Tiered4Hash : Single<formats::HashSparse<kDim>, formats::HashSparse<kDim>> {};
// Three tiers of KV heads: 16 bits, 8 bits, 4 bits in a hash table, as lanes 0, 1 and 2. Which head
// is in which tier: CacheShape::default_lanes of [layers, kv_heads] (allocate/table.h counts the
// heads of a tier). Element: of the top tier, Half or BFloat16: 16-bit input of that type reads back
// bit by bit.
template <std::uint32_t kDim, class Element = Half>
struct TieredTurbo : CacheTraits<kDim> {
  static constexpr MapScope kScope = MapScope::kHead;
  using Top = RawFormat<kDim, Element>;
  using Lanes = LaneList<KV<Top, Top>, KV<formats::Tiered8<kDim>, formats::Tiered8<kDim>>,
                         KV<formats::HashSparse<kDim>, formats::HashSparse<kDim>>>;
};

// A width per token: 2, 4, 8 and 16 bits as lanes 0 to 3 (quant/adaptive.h: tag_of_bits), chosen by
// the tags of append or commit, the same for all layers and heads. KeyStage: NoTransform codes keys
// as appended; PhaseCenter takes the mean before the rotation out (it needs a profile).
template <std::uint32_t kDim, class KeyStage = NoTransform>
struct Adaptive : CacheTraits<kDim> {
  static constexpr MapScope kScope = MapScope::kSequence;
  using Lanes = LaneList<KV<formats::AdaptiveBits2<kDim, KeyStage>, formats::Adaptive2<kDim>>,
                         KV<formats::AdaptiveBits4<kDim, KeyStage>, formats::Adaptive4<kDim>>,
                         KV<formats::AdaptiveBits8<kDim, KeyStage>, formats::Adaptive8<kDim>>,
                         KV<formats::F16<kDim>, formats::F16<kDim>>>;
};
template <std::uint32_t kDim>
struct AdaptiveCentered : Adaptive<kDim, PhaseCenter> {};

// Ours. Keys phase-centred, keys and values balanced, rotated, coded by Lloyd-Max codebooks, one
// direction apart (profiles: calibrate/rotated.h). b + 16/D bits.
template <std::uint32_t kDim>
struct Rotated4 : Single<formats::BalancedKey<kDim, 4>, formats::BalancedValue<kDim, 4>> {};
template <std::uint32_t kDim>
struct Rotated3 : Single<formats::BalancedKey<kDim, 3>, formats::BalancedValue<kDim, 3>> {};
template <std::uint32_t kDim>
struct Rotated2 : Single<formats::BalancedKey<kDim, 2>, formats::BalancedValue<kDim, 2>> {};

// Source: TurboQuant, arXiv:2504.19874 (MSE variant). b + 16/D bits.
template <std::uint32_t kDim>
struct TurboQuant4 : Single<formats::TurboQuant<kDim, 4>, formats::TurboQuant<kDim, 4>> {};
template <std::uint32_t kDim>
struct TurboQuant3 : Single<formats::TurboQuant<kDim, 3>, formats::TurboQuant<kDim, 3>> {};
template <std::uint32_t kDim>
struct TurboQuant2 : Single<formats::TurboQuant<kDim, 2>, formats::TurboQuant<kDim, 2>> {};

// TurboQuant with a quarter of the channels at one more bit: those that the profile names
// (calibrate/channel_stats.h), the first ones without. Source: arXiv:2504.19874, section 4.3.
template <std::uint32_t kDim>
struct TurboQuant2_5 : Single<formats::TurboQuant2_5<kDim>, formats::TurboQuant2_5<kDim>> {};
template <std::uint32_t kDim>
struct TurboQuant3_5 : Single<formats::TurboQuant3_5<kDim>, formats::TurboQuant3_5<kDim>> {};

// ggml's block types, for exchange with engines; GgmlQ4_0Hadamard is what llama.cpp stores where it
// rotates.
template <std::uint32_t kDim>
struct GgmlQ8_0 : Single<formats::GgmlQ8_0<kDim>, formats::GgmlQ8_0<kDim>> {};
template <std::uint32_t kDim>
struct GgmlQ5_1 : Single<formats::GgmlQ5_1<kDim>, formats::GgmlQ5_1<kDim>> {};
template <std::uint32_t kDim>
struct GgmlQ5_0 : Single<formats::GgmlQ5_0<kDim>, formats::GgmlQ5_0<kDim>> {};
template <std::uint32_t kDim>
struct GgmlQ4_1 : Single<formats::GgmlQ4_1<kDim>, formats::GgmlQ4_1<kDim>> {};
template <std::uint32_t kDim>
struct GgmlQ4_0 : Single<formats::GgmlQ4_0<kDim>, formats::GgmlQ4_0<kDim>> {};
template <std::uint32_t kDim>
struct GgmlIq4Nl : Single<formats::GgmlIq4Nl<kDim>, formats::GgmlIq4Nl<kDim>> {};
template <std::uint32_t kDim>
struct GgmlQ4_0Hadamard : Single<formats::GgmlQ4_0Hadamard<kDim>, formats::GgmlQ4_0Hadamard<kDim>> {
};

}  // namespace presets
}  // namespace kvpleat::inline KVPLEAT_ISA
