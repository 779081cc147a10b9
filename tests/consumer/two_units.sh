#!/usr/bin/env bash
# OC-88: two units that include every header in opposite order; as a library and a program; as one unit; and
# with link-time optimisation, where the compiler compares the definitions of both units (-Wodr).
source "$(dirname "$0")/common.sh" "$@"

plain_headers | sed 's/.*/#include "&"/' > all_forward.h
tac all_forward.h > all_backward.h
printf '#include "two_units_a.cc"\n#include "two_units_b.cc"\n' > unity.cc

flags=()
while IFS=$'\t' read -r compiler level; do
  flags=(-std=c++20 "$level" -I "$include" -I "$work" -I "$here" "${system[@]}")
  printf '%s\n' a b | xargs -I {} -P 2 "$compiler" "${flags[@]}" -c "$here/two_units_{}.cc" -o {}.o
  rm -f libb.a
  ar rc libb.a b.o
  "$compiler" a.o libb.a -o program
  run_program "$compiler $level"
  if [[ $level == -O0 || -n ${KVPLEAT_LONG:-} ]]; then
    "$compiler" "${flags[@]}" unity.cc -o program
    run_program "$compiler $level unity"
  fi
done < <(combinations -O2 -O0)
flags[1]=-O1  # definitions are compared at any level
if command -v g++ > /dev/null; then
  g++ "${flags[@]}" -flto -Wodr -Wlto-type-mismatch -Werror "$here"/two_units_[ab].cc -o program
  run_program "g++ -flto"
fi
