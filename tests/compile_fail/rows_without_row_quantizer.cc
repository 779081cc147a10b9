// expect: kvpleat: RowCodec stores runs that a RowQuantizer codes
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<NoSplit, AffineQuant<4>, RowCodec>.refusal ==
              Refusal::kRowsNeedRowQuantizer);

using Mine = BlockFormat<64, NoTransform, NoSplit, AffineQuant<4>, RowCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
