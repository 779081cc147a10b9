// expect: kvpleat: KeptCodec keeps the elements that the splitter picks, with one step
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<TopKSplit<12>, AffineQuant<4>, KeptCodec<KeptIndex::kList>>.refusal ==
              Refusal::kKeptNeedsSymmetric);

using Mine =
    BlockFormat<64, NoTransform, TopKSplit<12>, AffineQuant<4>, KeptCodec<KeptIndex::kList>>;

constexpr auto kBytes = Mine::kBlockBytes;
