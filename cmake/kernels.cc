// The unit of kernels: all there is to compile. See the header.
#include "kvpleat/simd/unit.h"
