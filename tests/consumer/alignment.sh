#!/usr/bin/env bash
# OC-91: the caller's buffers have natural alignment only; checked with the widest vectors this CPU has, by
# UBSan and, as vector instructions fault on their own, by running.
source "$(dirname "$0")/common.sh" "$@"

while IFS=$'\t' read -r compiler flags; do
  read -r -a words <<< "$flags"
  if ! "$compiler" "${strict[@]}" "${words[@]}" -I "$include" "$here/alignment.cc" -o program 2> errors; then
    # clang's sanitizer library is a package of its own.
    if [[ $flags == *sanitize* ]] && grep -qE 'cannot find .*(ubsan|clang_rt)' errors; then
      echo "$compiler: the sanitizer's library is not installed"
      continue
    fi
    cat errors
    exit 1
  fi
  run_program "$compiler $flags"
done < <(combinations "-O3 -march=native" \
  "-O1 -march=native -fsanitize=alignment,bounds -fno-sanitize-recover=all")
