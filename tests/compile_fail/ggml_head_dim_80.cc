// expect: kvpleat: RowCodec stores whole runs: head_dim must be a multiple of the
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

constexpr auto kBytes = formats::GgmlQ4_0<80>::kBlockBytes;
