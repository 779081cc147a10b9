// expect: kvpleat: SketchQuant keeps the signs of what its codes missed: use SignSketchCodec
#include <kvpleat/codec/sign_sketch.h>
#include <kvpleat/kvpleat.h>
#include <kvpleat/transform/sketch.h>

using namespace kvpleat;

static_assert(composable<NoSplit, SketchQuant<AffineQuant<3>, IidSketch, 64>, DenseCodec>.refusal ==
              Refusal::kSketchNeedsItsCodec);

using Mine =
    BlockFormat<64, NoTransform, NoSplit, SketchQuant<AffineQuant<3>, IidSketch, 64>, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
