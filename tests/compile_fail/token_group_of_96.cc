// expect: kvpleat: a group along tokens must divide its block: 1, 2, 4, ... 64 tokens, or a
// multiple of 64
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<NoSplit, AffineQuant<4, 96, Axis::kTokens>, DenseCodec>.refusal ==
              Refusal::kTokenGroupDividesNoBlock);

using Mine = BlockFormat<64, NoTransform, NoSplit, AffineQuant<4, 96, Axis::kTokens>, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
