#!/usr/bin/env bash
# OC-90: find_package from a prefix with a blank in its name; the installed config names no build path.
source "$(dirname "$0")/common.sh" "$@"

prefix="$work/a prefix"
install_library "$prefix"
if grep -rnF -e "$checkout" -e "$work" "$prefix"; then
  echo "the installed files hold an absolute path of this build"
  exit 1
fi
# What the component kernels asks for is in a file of its own, which the config includes for nobody else.
if grep -rnE '^ *find_(package|dependency) *\(' "$prefix"/share/cmake --exclude kvpleatKernels.cmake; then
  echo "the installed config requires a dependency; the headers need none"
  exit 1
fi
# The package must also work after it has been moved: that is how binary packages travel.
mv "$prefix" "$work/another prefix"
build_project "$work/build" find_package -DCMAKE_PREFIX_PATH="$work/another prefix"

# With the unit of kernels, unoptimised: it is the linking that is tested.
if [[ -e ${KVPLEAT_HWY_INCLUDE:-}/hwy/highway.h ]]; then
  build_project "$work/kernels" find_package -DCMAKE_PREFIX_PATH="$work/another prefix" -DWITH_KERNELS=ON \
    -DCMAKE_BUILD_TYPE=Debug
  "$work/kernels/dispatched"
else
  echo "without kernels: Highway is not installed"
fi
