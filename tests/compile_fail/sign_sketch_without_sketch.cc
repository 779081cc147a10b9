// expect: kvpleat: SignSketchCodec keeps the signs of a sketch and no outliers: use SketchQuant and
#include <kvpleat/codec/sign_sketch.h>
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<NoSplit, AffineQuant<3>, SignSketchCodec>.refusal ==
              Refusal::kSketchNeedsSketchQuant);

using Mine = BlockFormat<64, NoTransform, NoSplit, AffineQuant<3>, SignSketchCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
