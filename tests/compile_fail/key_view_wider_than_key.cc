// expect: kvpleat: KeyView<n> needs n <= the key's dim and keys whose restore does not depend on
// the position
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = KV<formats::Int8<576>, KeyView<577>>;

constexpr auto kDim = Mine::kValueDim;
