#!/usr/bin/env bash
# check.sh SOURCE INCLUDE_DIR: passes if every compiler here rejects SOURCE and its first error contains the
# text of SOURCE's first line, "// expect: some text". A second line "// flags: ..." names more flags. A source
# of the Eigen adapter needs KVPLEAT_EIGEN_INCLUDE.
set -euo pipefail
source=$1 include=$2

first_line=$(head -n 1 "$source")
expect=${first_line#// expect: }
if [[ $expect == "$first_line" || -z $expect ]]; then
  echo "$source:1: the first line must read '// expect: some text'"
  exit 1
fi
read -r -a flags < <(sed -n '2s,^// flags: ,,p' "$source") || flags=()

if grep -q 'kvpleat/eigen.h' "$source"; then
  if [[ -z ${KVPLEAT_EIGEN_INCLUDE:-} ]]; then
    echo "skipped: Eigen is not installed"
    exit 77
  fi
  flags+=(-isystem "$KVPLEAT_EIGEN_INCLUDE")
fi

tried=0
for compiler in g++ clang++; do
  command -v "$compiler" > /dev/null || continue
  tried=1
  # Carets off: a quoted source line could contain the expected text by itself.
  case $compiler in
    g++) caret=-fno-diagnostics-show-caret ;;
    *) caret=-fno-caret-diagnostics ;;
  esac
  if output=$(LC_ALL=C "$compiler" -std=c++20 -fsyntax-only "$caret" ${flags[@]+"${flags[@]}"} \
    -I "$include" "$source" 2>&1); then
    echo "$compiler accepts $source; it must not"
    exit 1
  fi
  # The first one: what comes after it is often noise, and nobody reads so far.
  first_error=$(grep -m 1 -E 'error: ' <<< "$output" || true)
  if [[ $first_error != *"$expect"* ]]; then
    printf '%s rejects %s, but its first error does not say "%s":\n%s\n' "$compiler" "$source" "$expect" "$output"
    exit 1
  fi
  echo "$compiler: rejected as expected"
done
if ((tried == 0)); then
  echo "skipped: neither g++ nor clang++ is installed"
  exit 77
fi
