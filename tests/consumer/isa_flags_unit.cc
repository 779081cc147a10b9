// Compiled once per set of -m flags, with UNIT as the name of its one function.
#include <kvpleat/kvpleat.h>

const char* UNIT();

const char* UNIT() {
  return kvpleat::kIsaTag;
}
