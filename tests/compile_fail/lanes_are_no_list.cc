// expect: kvpleat: Lanes must be a LaneList of KV<Key, Value> pairs
#include "kvpleat/kvpleat.h"

struct Traits : kvpleat::CacheTraits<64> {
  using Lanes = kvpleat::KV<kvpleat::formats::Int4<64>, kvpleat::formats::Int4<64>>;
};
using Cache = kvpleat::KvCache<Traits>;
const auto made = Cache::create({});
