#!/usr/bin/env bash
# OC-94, OC-97: engines without exceptions and without run-time type information; and nothing in the headers
# that could end the host program or print.
source "$(dirname "$0")/common.sh" "$@"

# Comments are stripped. KVPLEAT_ASSERT is the one way to abort: off in release builds and replaceable.
calls='\<(abort|exit|terminate|printf|fprintf|puts|fputs) *\(|\<(throw|try|catch|typeid|dynamic_cast|cout|cerr)\>'
if grep -rE '' "$include/kvpleat" --include='*.h' | sed 's,:\(.*\)//.*,:\1,' | grep -E "$calls"; then
  echo "the headers must not print, throw or end the program"
  exit 1
fi

while IFS=$'\t' read -r compiler asserts; do
  "$compiler" "${strict[@]}" -O1 "$asserts" -fno-exceptions -fno-rtti -I "$include" "${system[@]}" \
    "$here/no_exceptions.cc" -o program
  run_program "$compiler $asserts"
done < <(combinations -DNDEBUG -UNDEBUG)
