// expect: kvpleat: a RowQuantizer (GgmlQuant) lays out its own bytes: use RowCodec
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<NoSplit, GgmlQuant<GgmlType::kQ4_0>, DenseCodec>.refusal ==
              Refusal::kRowQuantizerNeedsRows);

using Mine = BlockFormat<64, NoTransform, NoSplit, GgmlQuant<GgmlType::kQ4_0>, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
