// expect: kvpleat: values cannot use a transform that depends on the position
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = ChannelSplit<formats::Int8<16>, formats::Int4<48>, PhaseCenter>;

constexpr auto kBytes = KV<Mine, Mine>::Value::kBlockBytes;
