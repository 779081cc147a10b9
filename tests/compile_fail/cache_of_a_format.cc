// expect: kvpleat: KvCache takes cache traits: derive from CacheTraits<head_dim> and name Lanes
#include "kvpleat/kvpleat.h"

// A format is no cache.
using Cache = kvpleat::KvCache<kvpleat::formats::Int4<64>>;
const auto made = Cache::create({});
