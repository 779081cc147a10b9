// Raw rows and plain codes of head_dim 128.
#include "bench/subject_of.h"
#include "bench/variants.h"
#include "kvpleat/codec/slots.h"
#include "kvpleat/format/formats.h"
#include "kvpleat/split/top_k.h"

namespace bench {
namespace {

namespace formats = kvpleat::formats;

template <std::uint32_t kDim, std::uint32_t kSlots>
using Int4Slots = kvpleat::BlockFormat<kDim, kvpleat::NoTransform, kvpleat::TopKSplit<kSlots>,
                                       kvpleat::AffineQuant<4>, kvpleat::SlotCodec>;

// Blocks of a head in a row even if tokens come one by one.
struct HeadMajorInt4 : CodecTraits<formats::Int<128, 4, 64>> {
  using Store = kvpleat::HeadMajorStore;
};

}  // namespace

void add_plain_variants() {
  add_cache<kvpleat::presets::F32<128>>("F32");
  add_cache<kvpleat::presets::F16<128>>("F16");
  add_cache<kvpleat::presets::Int8<128>>("Int8");
  add_cache<kvpleat::presets::Int4<128>>("Int4");
  add_codec<formats::Int<128, 4, 64>>("Int4G64");
  add_codec<formats::Int<128, 2, 32>>("Int2G32");
  add_codec<Int4Slots<128, 16>>("Int4Slots16", Law::kHeavy);
  add_cache<kvpleat::presets::Int4TopK<128>>("Int4Slots4", Law::kHeavy);
  add_cache<HeadMajorInt4>("Int4G64HeadMajor");
}

}  // namespace bench
