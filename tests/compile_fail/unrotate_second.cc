// expect: kvpleat: a transform that depends on the position must come first in a Chain
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = Chain<ChannelScale, Unrotate>;

constexpr bool kPositional = Mine::kPositional;
