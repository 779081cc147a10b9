#include "all_forward.h"

#include <cstdio>

int version_in_b();

int main() {
  const bool same = version_in_b() == kvpleat::kVersionMinor;
  std::puts(same ? "both units agree" : "the units differ");
  return same ? 0 : 1;
}
