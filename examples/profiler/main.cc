// oaken_profiler: thresholds of Oaken and checks of a cache that uses them. See oaken_profiler
// --help.
#include "profiler/program.h"

int main(int argc, char** argv) {
  return profiler::run(argc, argv);
}
