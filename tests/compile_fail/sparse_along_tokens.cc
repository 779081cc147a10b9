// expect: kvpleat: SparseCodec spills outliers token by token: use groups along channels, or SlotCodec
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<TopKSplit<1>, AffineQuant<4, 32, Axis::kTokens>, SparseCodec>.refusal ==
              Refusal::kSparseNeedsTokens);

using Mine =
    BlockFormat<64, NoTransform, TopKSplit<1>, AffineQuant<4, 32, Axis::kTokens>, SparseCodec>;

constexpr std::uint32_t kBytes = Mine::kBlockBytes;
