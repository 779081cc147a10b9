// expect: kvpleat: a format with side data over all heads (Oaken) cannot be used in a head-scoped
// cache
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

struct Mine : CacheTraits<64> {
  static constexpr MapScope kScope = MapScope::kHead;
  using Lanes = LaneList<KV<formats::Oaken<64>, formats::Oaken<64>>>;
};

bool make() {
  return KvCache<Mine>::create({.layers = 1, .kv_heads = 1, .max_tokens = 64}).has_value();
}
