#!/usr/bin/env bash
# OC-93: nothing looks for CUDA unless it is asked to. A decoy nvcc, first in PATH and in CUDACXX, must stay
# untouched by configuring and installing the default tree.
source "$(dirname "$0")/common.sh" "$@"

mkdir decoy
printf '#!/bin/sh\necho "$@" >> "%s/touched"\nexit 1\n' "$work" > decoy/nvcc
chmod +x decoy/nvcc
export PATH="$work/decoy:$PATH" CUDACXX="$work/decoy/nvcc"

cmake -S "$checkout" -B tree -DCMAKE_INSTALL_MESSAGE=NEVER --trace --trace-redirect=trace > configure.log 2>&1 ||
  { cat configure.log; exit 1; }
cmake --install tree --prefix prefix
if [[ -e touched ]]; then
  echo "nvcc was called: $(cat touched)"
  exit 1
fi
if grep -niE 'enable_language\(CUDA|check_language\(CUDA|find_package\(CUDA' trace; then
  echo "the default configuration looks for CUDA"
  exit 1
fi
if grep -rnE '# *include *[<"](cuda|kvpleat/cuda/)' prefix/include; then
  echo "a host header includes a CUDA header"
  exit 1
fi
# Exactly one preset asks for it.
[[ $(grep -c '"KVPLEAT_CUDA"' "$checkout/CMakePresets.json") == 1 ]] ||
  { echo "one preset, cuda, may set KVPLEAT_CUDA"; exit 1; }
# The decoy works: asked for CUDA, the build does call it (and fails, since it is no compiler).
if cmake -S "$checkout" -B asked -DKVPLEAT_CUDA=ON > asked.log 2>&1; then
  echo "KVPLEAT_CUDA=ON accepted a compiler that cannot compile"
  exit 1
fi
[[ -e touched ]] || { echo "KVPLEAT_CUDA=ON never called nvcc"; exit 1; }
echo "CUDA is looked for only when asked"
