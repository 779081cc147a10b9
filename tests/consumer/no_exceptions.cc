#include <kvpleat/kvpleat.h>

#include <cstdio>

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this scenario is about -fno-exceptions -fno-rtti"
#endif

int main() {
  std::printf("kvpleat %d.%d.%d\n", kvpleat::kVersionMajor, kvpleat::kVersionMinor,
              kvpleat::kVersionPatch);
}
