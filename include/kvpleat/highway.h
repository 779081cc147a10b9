// Vector kernels for the instruction set that a unit is compiled for: attend<VectorKernels>(...), or
// `using Kernels = VectorKernels` in a cache's traits. Not in the umbrella: kvpleat itself needs no
// Highway. Written for Highway 1.0.3 and later; nothing has to be linked. Include it before
// <hwy/...>.
#pragma once

#include "kvpleat/simd/vector.h"
