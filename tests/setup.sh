# Sourced by examples/run.sh and tests/run.sh, from the root of the checkout: packages and build folders.

# need_packages NAME...: installs what Debian does not have yet. Without a missing package there is no network
# access; without the right to install, it says what to install and ends.
need_packages() {
  local package missing=()
  if ! command -v dpkg > /dev/null; then
    echo "Not a Debian system: install the counterparts of: $*"
    return 0  # they may be there under other names; CMake says what is not
  fi
  for package in "$@"; do
    # A removed package still has a record, hence the status line. No grep -q: pipefail would see SIGPIPE.
    dpkg -s "$package" 2> /dev/null | grep '^Status: install ok installed' > /dev/null || missing+=("$package")
  done
  ((${#missing[@]} == 0)) && return 0

  local install=(apt-get install -y --no-install-recommends "${missing[@]}") as_root=()
  echo "Missing packages: ${missing[*]}"
  if ((EUID != 0)); then
    as_root=(sudo -n)
    if ! sudo -n true 2> /dev/null; then
      echo "They need root. Please run:  sudo ${install[*]}"
      exit 1
    fi
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  "${as_root[@]}" apt-get -q update || echo "apt-get update failed; offline? Trying with what is known."
  if ! "${as_root[@]}" "${install[@]}"; then
    echo "Could not install them. With a network, please run:  sudo apt-get update && sudo ${install[*]}"
    exit 1
  fi
}

# configure PRESET: reuses build/PRESET unless it belongs to another source tree or does not configure.
configure() {
  local preset=$1 cache=build/$1/CMakeCache.txt home
  shift
  if [[ -f $cache ]]; then
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
    if [[ $(realpath -m "$home") == "$(pwd -P)" ]]; then
      cmake --preset "$preset" "$@" && return 0
    fi
    echo "build/$preset is broken or was made from another place; starting it afresh"
    cmake --preset "$preset" --fresh "$@"
  else
    cmake --preset "$preset" "$@"
  fi
}
