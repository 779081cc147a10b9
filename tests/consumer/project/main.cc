#include <kvpleat/kvpleat.h>

#include <cstdio>

int main() {
  std::printf("kvpleat %d.%d.%d\n", kvpleat::kVersionMajor, kvpleat::kVersionMinor,
              kvpleat::kVersionPatch);
}
