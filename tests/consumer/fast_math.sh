#!/usr/bin/env bash
# OC-95: flags that make NaN and rounding optional are refused, with a sentence that says so.
source "$(dirname "$0")/common.sh" "$@"

for compiler in "${compilers[@]}"; do
  if ! "$compiler" -std=c++20 -O3 -fsyntax-only -I "$include" "$here/fast_math.cc"; then
    echo "$compiler: does not compile even without the flags"
    exit 1
  fi
  cases=(-ffast-math -Ofast -ffinite-math-only)
  # Clang has no macro that tells of these.
  [[ $compiler == g++ ]] && cases+=(-funsafe-math-optimizations -freciprocal-math)
  # Arithmetic in other widths than the types say (g++ only).
  [[ $compiler == g++ && $(uname -m) == x86_64 ]] && cases+=(-mfpmath=387 -fsingle-precision-constant)
  for flag in "${cases[@]}"; do
    if output=$("$compiler" -std=c++20 -O2 "$flag" -fsyntax-only -I "$include" "$here/fast_math.cc" 2>&1); then
      echo "$compiler $flag: accepted; it must be refused"
      exit 1
    fi
    if ! grep -E 'error: .*kvpleat: .*(-ffast-math|x87|-fsingle-precision-constant)' <<< "$output"; then
      printf '%s %s: refused, but without naming the flag:\n%s\n' "$compiler" "$flag" "$output"
      exit 1
    fi
  done
done
