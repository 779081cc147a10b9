// expect: kvpleat: the codec is none of the library
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<NoSplit, AffineQuant<4>, formats::Int4<64>>.refusal ==
              Refusal::kNotACodec);

using Mine = BlockFormat<64, NoTransform, NoSplit, AffineQuant<4>, formats::Int4<64>>;

constexpr auto kBytes = Mine::kBlockBytes;
