// expect: kvpleat: head_dim must be 1 to 576
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

constexpr auto kBytes = formats::Int4<0>::kBlockBytes;
