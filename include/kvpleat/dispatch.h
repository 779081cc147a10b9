// Vector kernels that the CPU chooses at run time: attend<DispatchedKernels>(...), or `using Kernels
// = DispatchedKernels` in a cache's traits. Needs no Highway where it is included; the program links
// kvpleat::kernels, the one unit that is compiled for every target.
#pragma once

#include "kvpleat/simd/dispatched.h"
