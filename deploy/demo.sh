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

# The options of `rouse demo`; one that takes a value ends in `=`. A test compares them with the program's.
options='--devices= --seed= --policy= --keep= --partitions= --speed= --stay'

wrong() {
  echo "demo.sh: $*; the options are ${options//=/}; deploy/demo.sh --help shows examples" >&2
  exit 2
}

# What the program would refuse is refused before the build.
needs_value=
for argument in "$@"; do
  if [ -n "$needs_value" ]; then
    needs_value=
    continue
  fi
  case $argument in
    -h | --help)
      sed -n '2,7s/^# \{0,1\}//p' deploy/demo.sh
      echo
      echo "The options are ${options//=/}. After the build, .build/release/rouse demo --help explains them."
      exit 0
      ;;
  esac
  case " $options " in
    *" ${argument%%=*}= "*) [[ $argument == *=* ]] || needs_value=$argument ;;
    *" $argument "*) ;;
    *) wrong "$argument: unknown option" ;;
  esac
done
[ -z "$needs_value" ] || wrong "$needs_value: a value is missing"

# kcat shows the topics while the demo runs.
setup kcat
# The messages go to standard error, so that standard output has only the demo's answers.
[ -x .build/release/rouse ] || echo 'building Rouse; the first time, that takes ten to twenty minutes on two cores' >&2
swift build -c release --product rouse >&2
exec "$(swift build -c release --show-bin-path)/rouse" demo "$@"
