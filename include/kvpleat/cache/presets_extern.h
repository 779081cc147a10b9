// The presets at head_dim 64 and 128, declared as instantiated in another unit of the program.
// Include it in every unit but the one that says, for the types the program uses,
//   template class kvpleat::KvCache<kvpleat::presets::Int4<128>>;
// so that each cache type is compiled once. Both units need the same -m flags: types carry a tag.
#pragma once

#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/presets.h"
#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

extern template class KvCache<presets::F32<64>>;
extern template class KvCache<presets::F16<64>>;
extern template class KvCache<presets::BF16<64>>;
extern template class KvCache<presets::Int8<64>>;
extern template class KvCache<presets::Int6<64>>;
extern template class KvCache<presets::Int5<64>>;
extern template class KvCache<presets::Int4<64>>;
extern template class KvCache<presets::Int3<64>>;
extern template class KvCache<presets::Int2<64>>;
extern template class KvCache<presets::Int4G32<64>>;
extern template class KvCache<presets::Int4Channel<64>>;
extern template class KvCache<presets::Int2Channel<64>>;
extern template class KvCache<presets::Kivi4<64>>;
extern template class KvCache<presets::Kivi2<64>>;
extern template class KvCache<presets::Int4TopK<64>>;
extern template class KvCache<presets::Oaken<64>>;
extern template class KvCache<presets::OakenEnds<64>>;
extern template class KvCache<presets::OakenJds16<64>>;
extern template class KvCache<presets::Oaken2_96_2<64>>;
extern template class KvCache<presets::KvQuant4<64>>;
extern template class KvCache<presets::KvQuant3<64>>;
extern template class KvCache<presets::CenteredRotated4<64>>;
extern template class KvCache<presets::Fp8E4m3<64>>;
extern template class KvCache<presets::Mxfp4<64>>;
extern template class KvCache<presets::Nvfp4<64>>;
extern template class KvCache<presets::Renewed8<64>>;
extern template class KvCache<presets::Sealed8<64>>;
extern template class KvCache<presets::Tiered8<64>>;
extern template class KvCache<presets::Tiered4Hash<64>>;
extern template class KvCache<presets::TieredTurbo<64>>;
extern template class KvCache<presets::Adaptive<64>>;
extern template class KvCache<presets::AdaptiveCentered<64>>;
extern template class KvCache<presets::Rotated4<64>>;
extern template class KvCache<presets::Rotated3<64>>;
extern template class KvCache<presets::Rotated2<64>>;
extern template class KvCache<presets::TurboQuant4<64>>;
extern template class KvCache<presets::TurboQuant3<64>>;
extern template class KvCache<presets::TurboQuant2<64>>;
extern template class KvCache<presets::GgmlQ8_0<64>>;
extern template class KvCache<presets::GgmlQ5_1<64>>;
extern template class KvCache<presets::GgmlQ5_0<64>>;
extern template class KvCache<presets::GgmlQ4_1<64>>;
extern template class KvCache<presets::GgmlQ4_0<64>>;
extern template class KvCache<presets::GgmlIq4Nl<64>>;
extern template class KvCache<presets::GgmlQ4_0Hadamard<64>>;
extern template class KvCache<presets::TurboQuant2_5<64>>;
extern template class KvCache<presets::TurboQuant3_5<64>>;

extern template class KvCache<presets::F32<128>>;
extern template class KvCache<presets::F16<128>>;
extern template class KvCache<presets::BF16<128>>;
extern template class KvCache<presets::Int8<128>>;
extern template class KvCache<presets::Int6<128>>;
extern template class KvCache<presets::Int5<128>>;
extern template class KvCache<presets::Int4<128>>;
extern template class KvCache<presets::Int3<128>>;
extern template class KvCache<presets::Int2<128>>;
extern template class KvCache<presets::Int4G32<128>>;
extern template class KvCache<presets::Int4Channel<128>>;
extern template class KvCache<presets::Int2Channel<128>>;
extern template class KvCache<presets::Kivi4<128>>;
extern template class KvCache<presets::Kivi2<128>>;
extern template class KvCache<presets::Int4TopK<128>>;
extern template class KvCache<presets::Oaken<128>>;
extern template class KvCache<presets::OakenEnds<128>>;
extern template class KvCache<presets::OakenJds16<128>>;
extern template class KvCache<presets::Oaken2_96_2<128>>;
extern template class KvCache<presets::KvQuant4<128>>;
extern template class KvCache<presets::KvQuant3<128>>;
extern template class KvCache<presets::CenteredRotated4<128>>;
extern template class KvCache<presets::Fp8E4m3<128>>;
extern template class KvCache<presets::Mxfp4<128>>;
extern template class KvCache<presets::Nvfp4<128>>;
extern template class KvCache<presets::Renewed8<128>>;
extern template class KvCache<presets::Sealed8<128>>;
extern template class KvCache<presets::Tiered8<128>>;
extern template class KvCache<presets::Tiered4Hash<128>>;
extern template class KvCache<presets::TieredTurbo<128>>;
extern template class KvCache<presets::Adaptive<128>>;
extern template class KvCache<presets::AdaptiveCentered<128>>;
extern template class KvCache<presets::Rotated4<128>>;
extern template class KvCache<presets::Rotated3<128>>;
extern template class KvCache<presets::Rotated2<128>>;
extern template class KvCache<presets::TurboQuant4<128>>;
extern template class KvCache<presets::TurboQuant3<128>>;
extern template class KvCache<presets::TurboQuant2<128>>;
extern template class KvCache<presets::GgmlQ8_0<128>>;
extern template class KvCache<presets::GgmlQ5_1<128>>;
extern template class KvCache<presets::GgmlQ5_0<128>>;
extern template class KvCache<presets::GgmlQ4_1<128>>;
extern template class KvCache<presets::GgmlQ4_0<128>>;
extern template class KvCache<presets::GgmlIq4Nl<128>>;
extern template class KvCache<presets::GgmlQ4_0Hadamard<128>>;
extern template class KvCache<presets::TurboQuant2_5<128>>;
extern template class KvCache<presets::TurboQuant3_5<128>>;

}  // namespace kvpleat::inline KVPLEAT_ISA
