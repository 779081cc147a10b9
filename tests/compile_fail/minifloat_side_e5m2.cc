// expect: kvpleat: MinifloatQuant stores its scale as Half, BFloat16, float, E8m0 or Fp8E4m3
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine =
    BlockFormat<64, NoTransform, NoSplit, MinifloatQuant<Fp4E2m1, Fp8E5m2, 16>, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
