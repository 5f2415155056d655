#!/usr/bin/env bash
# Installs the missing packages, builds Rouse and runs its tests. Asks nothing and needs no broker. The exit status is that
# of the tests, and the last line is the test runner's summary.
#
#   deploy/test.sh           # everything that is fast: without killing real processes
#   deploy/test.sh --quick   # also without the tests that start a broker or the program
#   deploy/test.sh --all     # everything, with three times as many simulated pipelines
#
# With ROUSE_TEST_BOOTSTRAP=host:port, the tests that can use a real Kafka use it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=deploy/setup.sh
. deploy/setup.sh

usage="usage: deploy/test.sh [--quick | --all]"

help() {
  cat <<HELP
$usage

Installs the missing packages, builds Rouse and runs its tests.

  --quick  only the tests that start neither a broker nor the program
  --all    also the tests that kill real processes, and 1,500 instead of 500 simulated pipelines; this is what .ci/run does

ENVIRONMENT
  ROUSE_TEST_BOOTSTRAP=host:port  a real Kafka for the tests that can use one
  ROUSE_TEST_SEED=number          the first seed of the simulated pipelines; by default it follows from the commit
  ROUSE_TEST_SEEDS=number         the number of simulated pipelines

Exits 0 when everything passed, 2 for wrong use, and otherwise with the status of what failed.
HELP
}

wrong() {
  echo "test.sh: $*; $usage" >&2
  exit 2
}

scope=fast
for argument in "$@"; do
  case $argument in
    --quick | --all)
      [ "$scope" = fast ] || wrong "--quick and --all exclude each other"
      scope=${argument#--}
      ;;
    -h | --help) help && exit 0 ;;
    *) wrong "$argument: unknown option" ;;
  esac
done
case $scope in
  quick) filter=(--skip '^(KafkaClientTests|PipelineTests|BenchmarksTests|RouseTests|FireTests)\.') ;;
  fast) filter=(--skip '^FireTests\.') ;;
  all)
    filter=()
    export ROUSE_TEST_SEEDS="${ROUSE_TEST_SEEDS:-1500}"
    ;;
esac

setup

# Each check is on a separate line: a failure inside a list of && would not end the script.
printf 'scripts: '
for script in deploy/*.sh .ci/run; do bash -n "$script"; done
if command -v shellcheck >/dev/null; then shellcheck --external-sources deploy/*.sh .ci/run; fi
echo 'no problem found'
printf 'format: '
swift format lint --strict --recursive Sources Tests Package.swift
echo 'no problem found'

# A test that reads files from outside of the project would pass on one machine only.
if grep -rnE '\.\./shared|"(/home|/root|/work|/Users)/' Sources Tests schemas Package.swift; then
  setup_fail "the lines above depend on files outside of the project"
fi

# Each commit simulates other pipelines. A test that fails prints the command that runs its seed again.
if [ -z "${ROUSE_TEST_SEED:-}" ] && commit=$(git rev-parse --short=12 HEAD 2>/dev/null); then
  ROUSE_TEST_SEED=$((16#$commit))
  export ROUSE_TEST_SEED
fi
echo "simulation seed: ${ROUSE_TEST_SEED:-1}"

swift build --build-tests
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
swift test --skip-build "${filter[@]}" 2>&1 | tee "$log" || status=$?
# The failures are repeated at the end, where they are easy to find.
if [ "$status" -ne 0 ]; then
  echo 'failed:'
  grep -aE '✘ |↳ ' "$log" | grep -avE 'Test run with' | cut -c1-2000 | head -n 100 || true
fi
# The runner can print more lines after its summary, so the summary is repeated as the last line.
if ! grep -aE 'Test run with [0-9]+ tests?' "$log" | tail -n 1; then
  echo "test.sh: the runner ended without a summary" >&2
  [ "$status" -ne 0 ] || status=1
fi
exit "$status"
