#!/usr/bin/env bash
# Tests real processes under failures: starts intake and planners, then kills, freezes, ends and multiplies them while
# events flow, and finally recomputes the books from the records that they wrote. Installs the missing packages and builds
# first; needs no input.
#
#   deploy/fire.sh                                          # on an embedded broker: a short form without zombies
#   deploy/fire.sh --bootstrap localhost:9092               # on a Kafka: kills at any moment, zombies, fencing
#   deploy/fire.sh --bootstrap localhost:9092 --seeds 1,2,3,4,5,6 --seconds 60
#   deploy/fire.sh --bootstrap localhost:9092 --stop-broker 'systemctl stop kafka' --start-broker 'systemctl start kafka'
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=deploy/setup.sh
. deploy/setup.sh

usage="usage: deploy/fire.sh [--bootstrap HOST:PORT] [--seeds N,N,…] [--seconds N]
       [--stop-broker COMMAND --start-broker COMMAND] [--outages N,N,…]"

help() {
  cat <<HELP
$usage

Kills, freezes, ends and multiplies real processes while events flow, then checks that no event is lost and no token is
spent twice.

  --bootstrap HOST:PORT  the Kafka to run on. The topics of the test are deleted afterwards. Without this option, an
                         embedded broker is used. It does not isolate transactions, so planners are killed only at
                         moments when isolation does not matter
  --seeds N,N,…          one run for each seed, which determines the failures. Even seeds keep local snapshots, multiples
                         of 3 use static membership. Default: 1,2,3 on a Kafka; the embedded broker runs the first only
  --seconds N            the time during which a run on a Kafka causes failures; default 12
  --stop-broker COMMAND, --start-broker COMMAND
                         the shell commands that end the Kafka and start it again with its data; each returns when that is
                         done. With them, the broker is also taken away from four processes under load and from four
                         without load. No process may end by itself, and decisions must go on 30 s after the broker is back
  --outages N,N,…        how long the broker is away, in seconds; default 10,45,120

EXAMPLES
  deploy/fire.sh --bootstrap localhost:9092 --seeds 1,2,3,4,5,6 --seconds 60
  deploy/fire.sh --bootstrap localhost:9092 --stop-broker 'systemctl stop kafka' --start-broker 'systemctl start kafka'

Exits 0 when every run passed, 1 when a run failed or the build did, 2 for wrong use.
HELP
}

wrong() {
  echo "fire.sh: $*; $usage" >&2
  exit 2
}

# Variables that were set for other purposes must not select the broker.
unset ROUSE_TEST_BOOTSTRAP ROUSE_FIRE_SEEDS ROUSE_FIRE_SECONDS ROUSE_FIRE_STOP ROUSE_FIRE_START ROUSE_FIRE_OUTAGES
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) help && exit 0 ;;
    --bootstrap | --seeds | --seconds | --stop-broker | --start-broker | --outages)
      [ $# -ge 2 ] || wrong "$1 needs a value"
      case $1 in
        --bootstrap)
          [[ $2 =~ ^[^[:space:]]+:[0-9]+$ ]] || wrong "--bootstrap $2: expected HOST:PORT"
          export ROUSE_TEST_BOOTSTRAP=$2
          ;;
        --seeds)
          [[ $2 =~ ^[0-9]{1,18}(,[0-9]{1,18})*$ ]] || wrong "--seeds $2: expected whole numbers separated by commas"
          export ROUSE_FIRE_SEEDS=$2
          ;;
        --seconds)
          [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || wrong "--seconds $2: expected 1 to 99999"
          export ROUSE_FIRE_SECONDS=$2
          ;;
        --stop-broker) export ROUSE_FIRE_STOP=$2 ;;
        --start-broker) export ROUSE_FIRE_START=$2 ;;
        --outages)
          [[ $2 =~ ^[1-9][0-9]{0,3}(,[1-9][0-9]{0,3})*$ ]] ||
            wrong "--outages $2: expected 1 to 9999, whole numbers separated by commas"
          export ROUSE_FIRE_OUTAGES=$2
          ;;
      esac
      shift 2
      ;;
    *) wrong "$1: unknown option" ;;
  esac
done
if [ -n "${ROUSE_FIRE_STOP-}${ROUSE_FIRE_START-}${ROUSE_FIRE_OUTAGES-}" ]; then
  [ -n "${ROUSE_TEST_BOOTSTRAP-}" ] && [ -n "${ROUSE_FIRE_STOP-}" ] && [ -n "${ROUSE_FIRE_START-}" ] ||
    wrong "outages need --bootstrap, --stop-broker and --start-broker"
fi

setup

swift build --build-tests || setup_fail "it does not build; see above"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Through a pipe, the lines of the tests and of the runner appear in order. The status is the runner's.
status=0
swift test --skip-build --filter '^FireTests\.(KilledProcessTests|OutageTests)/' 2>&1 | tee "$log" || status=$?
if [ "$status" -ne 0 ]; then
  echo 'failed:'
  grep -aE '✘ |↳ ' "$log" | grep -avE 'Test run with' | cut -c1-4000 | head -n 100 || true
fi
grep -aE '^fire' "$log" || true
# The runner can print more lines after its summary, so the summary is repeated as the last line. A run without any test
# is a failure.
if ! grep -aE 'Test run with [1-9][0-9]* tests?' "$log" | tail -n 1; then
  echo "fire.sh: the runner ended without a summary" >&2
  status=1
fi
[ "$status" -eq 0 ] || exit 1
