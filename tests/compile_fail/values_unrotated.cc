// expect: kvpleat: values cannot use a transform that depends on the position (PhaseCenter, Unrotate): use
// Center
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Before = BlockFormat<64, Unrotate, NoSplit, AffineQuant<4>, DenseCodec>;

struct Mine : CacheTraits<64> {
  using Lanes = LaneList<KV<Before, Before>>;
};

bool make() {
  return KvCache<Mine>::create({.layers = 1, .kv_heads = 1, .max_tokens = 64}).has_value();
}
