// oaken_profiler as a function.
#pragma once

namespace profiler {

// The program: returns its exit code.
int run(int argc, char** argv);

}  // namespace profiler
