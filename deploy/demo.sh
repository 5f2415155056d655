#!/usr/bin/env bash
# Installs what is missing, builds Rouse and plays one real day of flights through it, end to end. Takes what
# `rouse demo` takes:
#
#   deploy/demo.sh
#   deploy/demo.sh --devices 100000 --keep /tmp/demo
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=deploy/setup.sh
. deploy/setup.sh

case " $* " in
  *" -h "* | *" --help "*)
    sed -n '2,6s/^# \{0,1\}//p' deploy/demo.sh
    echo
    echo "After the build, .build/release/rouse demo --help names the options."
    exit 0
    ;;
esac

# kcat is for looking at the topics while it runs.
setup kcat
# Words of the build are not data: standard output is the demo's.
swift build -c release --product rouse >&2
exec "$(swift build -c release --show-bin-path)/rouse" demo "$@"
