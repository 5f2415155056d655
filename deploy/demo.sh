#!/usr/bin/env bash
# Installs the missing packages, builds Rouse and plays one real day of flights through it, end to end. It takes the
# options of `rouse demo`:
#
#   deploy/demo.sh
#   deploy/demo.sh --speed 300 --stay                 # slowly, and the console stays until Ctrl-C
#   deploy/demo.sh --devices 100000 --keep /tmp/demo
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=deploy/setup.sh
. deploy/setup.sh

case " $* " in
  *" -h "* | *" --help "*)
    sed -n '2,7s/^# \{0,1\}//p' deploy/demo.sh
    echo
    echo "After the build, .build/release/rouse demo --help lists the options."
    exit 0
    ;;
esac

# kcat shows the topics while the demo runs.
setup kcat
# The messages of the build go to standard error, so that standard output has only the demo's answers.
swift build -c release --product rouse >&2
exec "$(swift build -c release --show-bin-path)/rouse" demo "$@"
