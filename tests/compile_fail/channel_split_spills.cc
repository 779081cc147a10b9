// expect: kvpleat: a part of ChannelSplit keeps everything in its block (no spill, no side
#include <kvpleat/format/channel_split.h>
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = ChannelSplit<formats::Oaken<16>, formats::Int4<48>>;

constexpr auto kBytes = Mine::kBlockBytes;
