// expect: kvpleat: HashSparse marks a free slot by the code 0, which no symmetric code is: use SymmetricQuant<4> with binary16 sides over the whole head
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<TopKSplit<12>, AffineQuant<4>, HashSparse<>>.refusal ==
              Refusal::kHashNeedsSymmetric4);

using Mine = BlockFormat<64, NoTransform, TopKSplit<12>, AffineQuant<4>, HashSparse<>>;

constexpr auto kBytes = Mine::kBlockBytes;
