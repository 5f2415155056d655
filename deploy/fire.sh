#!/usr/bin/env bash
# Real processes under fire: starts intake and planners, kills, freezes, ends and multiplies them while events flow, then
# recomputes the books from what they wrote. Installs what is missing and builds first; asks nothing.
#
#   deploy/fire.sh                                          # on an embedded broker, which isolates nothing: the short form
#   deploy/fire.sh --bootstrap localhost:9092               # on a Kafka: kills at any moment, zombies, fencing
#   deploy/fire.sh --bootstrap localhost:9092 --seeds 1,2,3,4,5,6 --seconds 60
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=deploy/setup.sh
. deploy/setup.sh

usage="usage: deploy/fire.sh [--bootstrap HOST:PORT] [--seeds N,N,…] [--seconds N]"

help() {
  cat <<HELP
$usage

Kills, freezes, ends and multiplies real processes while events flow, then checks that no event is lost and no token is
spent twice.

  --bootstrap HOST:PORT  a Kafka to run on, with topics of its own that are deleted afterwards; without it, an embedded
                         broker, which isolates no transactions: planners are then killed only where that does not matter
  --seeds N,N,…          one run each: where and when something happens. Even ones keep local snapshots, multiples of 3
                         are static members. Default: 1,2,3 on a Kafka; the embedded broker runs the first one only
  --seconds N            how long a run on a Kafka does harm; default 12

EXAMPLE
  deploy/fire.sh --bootstrap localhost:9092 --seeds 1,2,3,4,5,6 --seconds 60

Exits 0 when every run went well, 1 when one did not (or nothing could be built), 2 for wrong use.
HELP
}

wrong() {
  echo "fire.sh: $*; $usage" >&2
  exit 2
}

# What was set for other purposes must not choose the broker.
unset ROUSE_TEST_BOOTSTRAP ROUSE_FIRE_SEEDS ROUSE_FIRE_SECONDS
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) help && exit 0 ;;
    --bootstrap | --seeds | --seconds)
      [ $# -ge 2 ] || wrong "$1 needs a value"
      case $1 in
        --bootstrap)
          [[ $2 =~ ^[^[:space:]]+:[0-9]+$ ]] || wrong "--bootstrap $2: expected HOST:PORT"
          export ROUSE_TEST_BOOTSTRAP=$2
          ;;
        --seeds)
          [[ $2 =~ ^[0-9]{1,18}(,[0-9]{1,18})*$ ]] || wrong "--seeds $2: expected whole numbers with commas between"
          export ROUSE_FIRE_SEEDS=$2
          ;;
        --seconds)
          [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || wrong "--seconds $2: expected 1 to 99999"
          export ROUSE_FIRE_SECONDS=$2
          ;;
      esac
      shift 2
      ;;
    *) wrong "$1: unknown option" ;;
  esac
done

setup

swift build --build-tests || setup_fail "it does not build; see above"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Piped, so that the tests' own lines stand among the runner's; the runner's status is what counts.
status=0
swift test --skip-build --filter '^FireTests\.KilledProcessTests/' 2>&1 | tee "$log" || status=$?
if [ "$status" -ne 0 ]; then
  echo 'failed:'
  grep -aE '✘ |↳ ' "$log" | grep -avE 'Test run with' | cut -c1-4000 | head -n 100 || true
fi
grep -aE '^fire' "$log" || true
# The runner prints other things after its summary when tests end in an odd order; it shall be the last line. No test at
# all is no success.
if ! grep -aE 'Test run with [1-9][0-9]* tests?' "$log" | tail -n 1; then
  echo "fire.sh: the runner ended without a summary" >&2
  status=1
fi
[ "$status" -eq 0 ] || exit 1
