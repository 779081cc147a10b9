// expect: kvpleat: GroupShiftQuant scales per band over all heads: use FusedCodec
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<NoSplit, GroupShiftQuant<>, DenseCodec>.refusal ==
              Refusal::kGroupShiftNeedsFused);

using Mine = BlockFormat<64, NoTransform, NoSplit, GroupShiftQuant<>, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
