// expect: kvpleat: kRawEnds gives layers lanes of their own
#include "kvpleat/kvpleat.h"

struct Ends : kvpleat::CacheTraits<64> {
  using Lanes =
      kvpleat::LaneList<kvpleat::KV<kvpleat::formats::Int4<64>, kvpleat::formats::Int4<64>>>;
  static constexpr kvpleat::MapScope kScope = kvpleat::MapScope::kSequence;
  static constexpr bool kRawEnds = true;
};

int main() {
  return kvpleat::KvCache<Ends>::create({}) ? 0 : 1;
}
