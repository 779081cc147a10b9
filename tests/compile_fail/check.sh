#!/usr/bin/env bash
# check.sh SOURCE INCLUDE_DIR [PRECOMPILED_DIR]: passes if every compiler here rejects SOURCE and its first error contains the
# text of SOURCE's first line, "// expect: some text". A second line "// flags: ..." names more flags. A source
# of the Eigen adapter needs KVPLEAT_EIGEN_INCLUDE, one that includes Highway KVPLEAT_HWY_INCLUDE.
#
# PRECOMPILED_DIR (of precompile.sh) holds kvpleat/kvpleat.h.gch, with which g++ takes a tenth of the time. It only
# ever says yes: what does not give the expected error is compiled again from the headers themselves, and that counts.
# clang 14 crashes on our constraints behind a precompiled header.
set -euo pipefail
source=$1 include=$2 precompiled=${3:-}

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

if grep -q '<hwy/' "$source" && [[ ! -e ${KVPLEAT_HWY_INCLUDE:-}/hwy/highway.h ]]; then
  echo "skipped: Highway is not installed"
  exit 77
fi

# rejects COMPILER FLAG...: sets `output`; succeeds if the first error is the expected one.
rejects() {
  local caret
  # Carets off: a quoted source line could contain the expected text by itself.
  case $1 in
    g++) caret=-fno-diagnostics-show-caret ;;
    *) caret=-fno-caret-diagnostics ;;
  esac
  if output=$(LC_ALL=C "$1" -std=c++20 -fsyntax-only "$caret" ${flags[@]+"${flags[@]}"} "${@:2}" \
    -I "$include" "$source" 2>&1); then
    accepted=1
    return 1
  fi
  accepted=0
  # The first one: what comes after it is often noise, and nobody reads so far.
  [[ $(grep -m 1 -E 'error: ' <<< "$output" || true) == *"$expect"* ]]
}

tried=0
for compiler in g++ clang++; do
  command -v "$compiler" > /dev/null || continue
  tried=1
  if [[ -n $precompiled && $compiler == g++ ]] && rejects "$compiler" -I "$precompiled"; then
    echo "$compiler: rejected as expected, headers precompiled"
  elif rejects "$compiler"; then
    echo "$compiler: rejected as expected"
  elif ((accepted)); then
    echo "$compiler accepts $source; it must not"
    exit 1
  else
    printf '%s rejects %s, but its first error does not say "%s":\n%s\n' "$compiler" "$source" "$expect" "$output"
    exit 1
  fi
done
if ((tried == 0)); then
  echo "skipped: neither g++ nor clang++ is installed"
  exit 77
fi
