// expect: kvpleat: HashSparse keeps the elements that the splitter picks: use a splitter with split() and at most 64 outliers (TopKSplit)
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<NoSplit, SymmetricQuant<4>, HashSparse<>>.refusal ==
              Refusal::kHashNeedsVectorSplit);

using Mine = BlockFormat<64, NoTransform, NoSplit, SymmetricQuant<4>, HashSparse<>>;

constexpr auto kBytes = Mine::kBlockBytes;
