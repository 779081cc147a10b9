#!/usr/bin/env bash
# OC-96: what is installed mentions neither our test framework nor our benchmark tool, and lives beside others.
source "$(dirname "$0")/common.sh" "$@"

install_library "$work/prefix"
[[ -f $work/prefix/include/kvpleat/kvpleat.h ]] || { echo "nothing was installed"; exit 1; }
if grep -rniE 'doctest|benchmark' "$work/prefix"; then
  echo "installed files mention a test or benchmark tool"
  exit 1
fi
if find "$work/prefix/include" -type f ! -name '*.h' | grep .; then
  echo "something other than headers was installed"
  exit 1
fi
for compiler in "${compilers[@]}"; do
  "$compiler" -std=c++20 -I "$work/prefix/include" "$here/no_test_tools.cc" -o program
  run_program "$compiler"
done
