// Oaken of head_dim 128: published bytes, and the order that kernels read.
#include "bench/subject_of.h"
#include "bench/variants.h"
#include "kvpleat/format/formats.h"

namespace bench {
namespace {

using OuterOnly = kvpleat::BlockFormat<128, kvpleat::NoTransform, kvpleat::ThresholdSplit,
                                       kvpleat::GroupShiftQuant<kvpleat::ShiftPolicy::kOuterOnly>,
                                       kvpleat::JaggedCodec>;

}  // namespace

void add_oaken_variants() {
  add_cache<kvpleat::presets::Oaken<128>>("Oaken", Law::kHeavy);
  add_cache<kvpleat::presets::OakenJds16<128>>("OakenJds16", Law::kHeavy);
  add_cache<kvpleat::presets::Oaken2_96_2<128>>("Oaken2_96_2", Law::kHeavy);
  add_codec<OuterOnly>("OakenOuterOnly", Law::kHeavy);
}

}  // namespace bench
