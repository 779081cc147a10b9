#!/usr/bin/env bash
# The numeric law: every format stores the same bytes, and reads the same values, under every compiler and flag
# that config.h lets pass.
source "$(dirname "$0")/common.sh" "$@"

flags=("-O0" "-O3 -march=native" "-O2 -ffp-contract=fast")
# Only flags whose code this machine can run.
if grep -qw fma /proc/cpuinfo 2> /dev/null && grep -qw avx2 /proc/cpuinfo; then
  flags+=("-O2 -mfma -mavx2" "-O3 -mfma -mavx2 -ffp-contract=fast")
fi

first=
# g++ fuses products by default where it can: -march=native is never left out.
{
  combinations "${flags[@]}"
  [[ -n ${KVPLEAT_LONG:-} ]] || printf '%s\t%s\n' "${compilers[0]}" "-O3 -march=native"
} > wanted_runs
while IFS=$'\t' read -r compiler set; do
  read -r -a words <<< "$set"
  "$compiler" -std=c++20 "${words[@]}" -I "$include" "$here/equal_bytes.cc" -o program
  ./program > found
  if [[ -z $first ]]; then
    first="$compiler $set"
    cp found wanted
    cat wanted
  elif ! diff wanted found > difference; then
    echo "$compiler $set: other bytes or values than $first:"
    cat difference
    exit 1
  fi
  echo "$compiler $set: equal"
done < wanted_runs
