// expect: kvpleat: values cannot use a transform that depends on the position (PhaseCenter, Unrotate): use
// Center
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Before = ChannelSplit<formats::Int8<16>, formats::Int4<48>, Unrotate>;

constexpr std::uint32_t kDim = KV<Before, Before>::kKeyDim;
