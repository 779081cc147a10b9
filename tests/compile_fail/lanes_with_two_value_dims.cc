// expect: kvpleat: all lanes of a cache store values alike (same head_dim, or NoValue, or KeyView)
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

struct Mine : CacheTraits<64> {
  using Lanes =
      LaneList<KV<formats::Int4<64>, formats::Int4<64>>, KV<formats::Int2<64>, formats::Int2<32>>>;
};

bool make() {
  return KvCache<Mine>::create({.layers = 1, .kv_heads = 1, .max_tokens = 64}).has_value();
}
