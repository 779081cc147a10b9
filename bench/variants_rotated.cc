// Rotated formats of head_dim 128.
#include "bench/subject_of.h"
#include "bench/variants.h"
#include "kvpleat/format/formats.h"

namespace bench {

void add_rotated_variants() {
  add_cache<kvpleat::presets::TurboQuant4<128>>("TurboQuant4");
  add_cache<kvpleat::presets::TurboQuant3<128>>("TurboQuant3");
  add_cache<kvpleat::presets::TurboQuant2<128>>("TurboQuant2");
  add_cache<kvpleat::presets::Rotated4<128>>("Rotated4");
  add_codec<kvpleat::formats::RotatedValue<128, 4>>("RotatedInt4");
}

}  // namespace bench
