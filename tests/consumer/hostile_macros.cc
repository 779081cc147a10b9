#include "foreign.h"  // every system header that ours use

#include <cstdio>

// As windows.h, minwindef.h, rpcndr.h, complex.h, math.h, glog and older test frameworks have them.
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#define CHECK(condition) hostile_check_macro(condition)
#define I hostile_i_macro
#define E hostile_e_macro
#define DOMAIN 1

#include "all_headers.h"

int main() {
  std::printf("kvpleat %d.%d.%d\n", kvpleat::kVersionMajor, kvpleat::kVersionMinor,
              kvpleat::kVersionPatch);
}
