#!/usr/bin/env bash
# No build system: one -I, both compilers, unoptimised and optimised.
source "$(dirname "$0")/common.sh" "$@"

for compiler in "${compilers[@]}"; do
  for level in -O0 -O2; do
    "$compiler" -std=c++20 "$level" -I "$include" "$here/plain_include.cc" -o program
    run_program "$compiler $level"
  done
done
