#!/usr/bin/env bash
# OC-94: platform headers that define ordinary words as macros, included before ours.
source "$(dirname "$0")/common.sh" "$@"

# The host's own system headers come first, as in real programs: the macros are our problem, not theirs.
foreign_includes > foreign.h
plain_headers | sed 's/.*/#include "&"/' > all_headers.h
while IFS=$'\t' read -r compiler macros; do
  "$compiler" "${strict[@]}" "$macros" -I "$include" -I "$work" "${system[@]}" "$here/hostile_macros.cc" \
    -o program
  run_program "$compiler $macros"
done < <(combinations -USWAPPED -DSWAPPED)
