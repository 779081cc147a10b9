// expect: kvpleat: an entry of 8 bits has 6 for the index, one for the fifth bit of a code, and the
// rest for the band: use CooEntry16, or four-bit outliers (kOffsetBinary4)
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using FiveBands = GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5,
                                  ParameterScope::kLayer, 2, 2>;
static_assert(composable<NestedBands<2, 2>, FiveBands, FusedCodec>.refusal ==
              Refusal::kEntryTooNarrow);
static_assert(composable<NestedBands<2, 2>, FiveBands, BasicFusedCodec<CooEntry16>>);

using Mine = BlockFormat<64, NoTransform, NestedBands<2, 2>, FiveBands, FusedCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
