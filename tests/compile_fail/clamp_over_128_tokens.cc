// expect: kvpleat: a row filter (MadClamp) works on groups of at most 64 tokens
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<MadClamp<>, AffineQuant<4, 128, Axis::kTokens>, DenseCodec>.refusal ==
              Refusal::kFilterNeedsShortGroups);

using Mine =
    BlockFormat<64, NoTransform, MadClamp<>, AffineQuant<4, 128, Axis::kTokens>, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
