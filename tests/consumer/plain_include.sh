#!/usr/bin/env bash
# No build system: one -I, both compilers, unoptimised and optimised.
source "$(dirname "$0")/common.sh" "$@"

while IFS=$'\t' read -r compiler level; do
  "$compiler" -std=c++20 "$level" -I "$include" "$here/plain_include.cc" -o program
  run_program "$compiler $level"
done < <(combinations -O0 -O2)
