#include "all_backward.h"

int version_in_b();

int version_in_b() {
  return kvpleat::kVersionMinor;
}
