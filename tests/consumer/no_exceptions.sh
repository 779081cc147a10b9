#!/usr/bin/env bash
# OC-94: engines without exceptions and without run-time type information.
source "$(dirname "$0")/common.sh" "$@"

for compiler in "${compilers[@]}"; do
  "$compiler" "${strict[@]}" -O1 -fno-exceptions -fno-rtti -I "$include" "${system[@]}" \
    "$here/no_exceptions.cc" -o program
  run_program "$compiler"
done
