// compare: every preset on recorded keys and values. See compare --help.
#include "compare/registry.h"

int main(int argc, char** argv) {
  return compare::run(argc, argv);
}
