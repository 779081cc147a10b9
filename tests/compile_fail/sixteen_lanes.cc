// expect: kvpleat: a cache has 1 to 14 lanes of its own (and one raw lane)
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using A = KV<formats::Int4<64>, formats::Int4<64>>;
using Mine = LaneList<A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A>;

constexpr auto kLanes = Mine::kSize;
