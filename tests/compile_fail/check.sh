#!/usr/bin/env bash
# check.sh SOURCE INCLUDE_DIR: passes if every compiler here rejects SOURCE with a message that contains
# the text of its first line, "// expect: some text".
set -euo pipefail
source=$1 include=$2

first_line=$(head -n 1 "$source")
expect=${first_line#// expect: }
if [[ $expect == "$first_line" || -z $expect ]]; then
  echo "$source:1: the first line must read '// expect: some text'"
  exit 1
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
  if output=$(LC_ALL=C "$compiler" -std=c++20 -fsyntax-only "$caret" -I "$include" "$source" 2>&1); then
    echo "$compiler accepts $source; it must not"
    exit 1
  fi
  if [[ $output != *"$expect"* ]]; then
    printf '%s rejects %s without saying "%s":\n%s\n' "$compiler" "$source" "$expect" "$output"
    exit 1
  fi
  echo "$compiler: rejected as expected"
done
if ((tried == 0)); then
  echo "skipped: neither g++ nor clang++ is installed"
  exit 77
fi
