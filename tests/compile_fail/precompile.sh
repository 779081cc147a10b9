#!/usr/bin/env bash
# precompile.sh INCLUDE_DIR OUTPUT_DIR: the umbrella header precompiled by g++, for check.sh. What was left by an
# earlier run is removed first: g++ does not notice that a header has changed.
set -euo pipefail
include=$1 output=$2

rm -rf "$output"
mkdir -p "$output/kvpleat"
if ! command -v g++ > /dev/null; then
  echo "g++ is not installed: nothing to precompile"
  exit 0
fi
# By a header that includes it: `#pragma once in main file` is a warning.
printf '#include "kvpleat/kvpleat.h"\n' > "$output/umbrella.h"
g++ -std=c++20 -I "$include" -x c++-header "$output/umbrella.h" -o "$output/kvpleat/kvpleat.h.gch"
