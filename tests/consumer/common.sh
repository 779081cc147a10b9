# Sourced by the consumer tests as `source common.sh CHECKOUT WORK_FOLDER`: a clean folder to work in, the
# compilers to try, and the header lists.
set -euo pipefail
checkout=$1 work=$2
here=$checkout/tests/consumer
include=$checkout/include
export LC_ALL=C  # the tests read compiler messages

rm -rf "$work"
mkdir -p "$work"
cd "$work"

compilers=()
for compiler in g++ clang++; do
  command -v "$compiler" > /dev/null && compilers+=("$compiler")
done
if ((${#compilers[@]} == 0)); then
  echo "skipped: neither g++ nor clang++ is installed"
  exit 77
fi
echo "compilers: ${compilers[*]}"

# combinations VALUE...: lines "compiler<TAB>value". Every compiler with every value if KVPLEAT_LONG is set; otherwise
# the first compiler with the first value and the others with the last, which shows most faults in a fraction of the time.
combinations() {
  local i value
  for i in "${!compilers[@]}"; do
    if [[ -n ${KVPLEAT_LONG:-} ]]; then
      for value in "$@"; do printf '%s\t%s\n' "${compilers[i]}" "$value"; done
    else
      ((i == 0)) && value=$1 || value=${!#}
      printf '%s\t%s\n' "${compilers[i]}" "$value"
    fi
  done
}

strict=(-std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Werror)
system=()
[[ -n ${KVPLEAT_EIGEN_INCLUDE:-} ]] && system=(-isystem "$KVPLEAT_EIGEN_INCLUDE")

# Plain headers, one "kvpleat/room/header.h" a line, sorted. An -inl.h is compiled once per SIMD target and is
# no header in this sense, nor is the unit of kernels; what needs Eigen or Highway is left out where there is none.
plain_headers() {
  local header
  local highway='^ *# *include *("kvpleat/simd/([a-z_]*-inl|vector)\.h"|<hwy/)'
  if printf '#include <hwy/highway.h>\n' | "${compilers[0]}" -DHWY_WANT_AVX3_DL -x c++ -E - > /dev/null 2>&1; then
    highway='^nothing$'
  fi
  (cd "$include" && find kvpleat -name '*.h' ! -name '*-inl.h' | LC_ALL=C sort) | while read -r header; do
    if [[ $header == kvpleat/simd/unit.h ]] || grep -qE "$highway" "$include/$header"; then continue; fi
    if ((${#system[@]} == 0)) && grep -qE '^ *# *include *<Eigen/' "$include/$header"; then continue; fi
    echo "$header"
  done
}

# Every foreign header that ours include, as include lines, each only if this machine has it.
foreign_includes() {
  grep -rhoE '^ *# *include *<[^>]+>' "$include/kvpleat" --include='*.h' | grep -oE '<[^>]+>' |
    grep -vE '<(hwy/|arm_)' | sort -u | while read -r header; do
    printf '#if __has_include(%s)\n#include %s\n#endif\n' "$header" "$header"
  done
}

# Runs ./program and prints what it says behind the text $1. By a variable: in echo "$(./program)" a failing
# program would go unnoticed.
run_program() {
  local output
  output=$(./program) || { echo "$1: the program failed: $output"; exit 1; }
  echo "$1: $output"
}

# Configures, builds and runs project/ in the folder $1 the way $2 says; the rest goes to CMake.
build_project() {
  local folder=$1 how=$2
  shift 2
  cmake -S "$here/project" -B "$folder" -DHOW="$how" -DCMAKE_BUILD_TYPE=Release "$@"
  cmake --build "$folder"
  "$folder/consumer"
}

# Installs the library alone into the folder $1.
install_library() {
  cmake -S "$checkout" -B "$work/library" -DKVPLEAT_TESTS=OFF -DKVPLEAT_EXAMPLES=OFF -DKVPLEAT_BENCHES=OFF \
    -DCMAKE_INSTALL_MESSAGE=NEVER
  cmake --install "$work/library" --prefix "$1"
}
