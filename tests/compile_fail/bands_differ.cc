// expect: kvpleat: the quantizer has other numbers of outer and inner bands than the splitter: give
// GroupShiftQuant the splitter's kOuterBands and kInnerBands
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using TwoOuter = GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5,
                                 ParameterScope::kLayer, 2, 1>;
static_assert(composable<ThresholdSplit, TwoOuter, FusedCodec>.refusal == Refusal::kBandsDiffer);

using Mine = BlockFormat<64, NoTransform, ThresholdSplit, TwoOuter, FusedCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
