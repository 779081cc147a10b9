// expect: kvpleat: FusedCodec puts 4-bit payloads of three bands in the dense nibbles: use
// GroupShiftQuant
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<ThresholdSplit, AffineQuant<4>, FusedCodec>.refusal ==
              Refusal::kFusedNeedsGroupShift);

using Mine = BlockFormat<64, NoTransform, ThresholdSplit, AffineQuant<4>, FusedCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
