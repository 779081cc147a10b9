// expect: kvpleat: AffineQuant stores its side data as Half, BFloat16 or float
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine =
    BlockFormat<64, NoTransform, NoSplit, AffineQuant<4, 32, Axis::kChannels, E8m0>, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
