// expect: kvpleat: views::Code of this quantizer says that a value is (code - kZero) * step + low, with the step first in Scale; its decode gives something else
#include <kvpleat/dispatch.h>
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

struct Mine : SymmetricQuant<4, 64> {
  static constexpr auto kId = Text("quant=mine");
};
template <>
struct kvpleat::views::Code<Mine> : kvpleat::views::UniformCode {};  // no kZero: 8 is forgotten

constexpr bool kKnown = TileFormat<formats::Dense<64, Mine>>;
