// expect: kvpleat: a lane's keys have another head_dim than the cache
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

struct Mine : CacheTraits<64> {
  using Lanes = LaneList<KV<formats::Int4<128>, formats::Int4<64>>>;
};

bool make() {
  return KvCache<Mine>::create({.layers = 1, .kv_heads = 1, .max_tokens = 64}).has_value();
}
