#!/usr/bin/env bash
# OC-88, OC-94: each header compiles alone, without a warning under strict flags.
source "$(dirname "$0")/common.sh" "$@"

mkdir units
plain_headers | while read -r header; do
  # Included twice and from a file of its own: `#pragma once in main file` is a warning, rightly.
  printf '#include "%s"\n#include "%s"\n' "$header" "$header" > "units/${header//\//__}.cc"
done
for compiler in "${compilers[@]}"; do
  if [[ $compiler != "${compilers[0]}" && -z ${KVPLEAT_LONG:-} ]]; then
    # Whether a header includes what it uses is the same for all compilers; their warnings are not.
    plain_headers | sed 's/.*/#include "&"/' > all.cc
    "$compiler" "${strict[@]}" -fsyntax-only -I "$include" "${system[@]}" all.cc
    echo "$compiler: all headers in one unit"
    continue
  fi
  printf '%s\0' units/*.cc |
    xargs -0 -n 1 -P 2 "$compiler" "${strict[@]}" -fsyntax-only -I "$include" "${system[@]}" ||
    { echo "$compiler: see above"; exit 1; }
  echo "$compiler: $(printf '%s\n' units/*.cc | wc -l) headers compile alone"
done
