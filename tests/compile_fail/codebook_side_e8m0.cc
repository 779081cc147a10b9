// expect: kvpleat: CodebookQuant stores its scale as Half, BFloat16, float or LogScale8
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = BlockFormat<64, RandomHadamard<>, NoSplit,
                         CodebookQuant<4, SphereBook<64>, ScalePolicy::kNorm, E8m0>, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
