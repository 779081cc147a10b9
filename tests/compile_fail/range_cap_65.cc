// expect: kvpleat: RangeSplit caps outliers at 1 to 64 per token, 0: no cap
#include <kvpleat/kvpleat.h>

constexpr std::uint32_t kMost = kvpleat::RangeSplit<65>::kMaxOutliers;
