// expect: kvpleat: HashSparse keeps the elements that the splitter picks: use a splitter with split() and at most 64 outliers (TopKSplit)
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = BlockFormat<64, NoTransform, NoSplit, SymmetricQuant<4>, HashSparse<>>;

constexpr auto kBytes = Mine::kBlockBytes;
