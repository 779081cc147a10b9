// expect: kvpleat: both parts of ChannelSplit must seal the same tokens: use the same group along
#include <kvpleat/format/channel_split.h>
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = ChannelSplit<formats::Int4Channel<16>, formats::Int4<48>>;

constexpr auto kBytes = Mine::kBlockBytes;
