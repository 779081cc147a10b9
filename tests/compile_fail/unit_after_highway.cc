// expect: kvpleat: simd/unit.h must be the first header of a unit of its own
#define HWY_WANT_AVX3_DL
#include <hwy/highway.h>
//
#include "kvpleat/simd/unit.h"
