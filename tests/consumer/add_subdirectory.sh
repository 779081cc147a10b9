#!/usr/bin/env bash
# OC-90: the checkout inside somebody else's build, by add_subdirectory and by FetchContent.
source "$(dirname "$0")/common.sh" "$@"

build_project "$work/subdirectory" add_subdirectory -DKVPLEAT_CHECKOUT="$checkout"
build_project "$work/fetch" fetch -DKVPLEAT_CHECKOUT="$checkout"
