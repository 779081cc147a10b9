// expect: kvpleat: the codec spills outliers, but the store has no spill pages: use a store with
// kSpillPageBytes > 0
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<ThresholdSplit, GroupShiftQuant<>, FusedCodec, DenseStore>.refusal ==
              Refusal::kSpillNeedsStore);

struct Mine : CacheTraits<64> {
  using Lanes = LaneList<KV<formats::Oaken<64>, formats::Oaken<64>>>;
  using Store = DenseStore;
};

bool make() {
  return KvCache<Mine>::create({.layers = 1, .kv_heads = 1, .max_tokens = 64}).has_value();
}
