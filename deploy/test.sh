#!/usr/bin/env bash
# Installs the missing packages, builds Rouse and runs its tests. Asks nothing and needs no broker. The exit status is that
# of the tests, and the last lines are the test runners' summaries.
#
#   deploy/test.sh           # everything that is fast: without killing real processes, and without other programs
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
  --all    also the tests that kill real processes or start other programs, which it installs, and 1,500 instead of 500
           simulated pipelines; this is what .ci/run does

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
# A process runs two tests at a time on two cores. Tests that start brokers and programs mostly wait for them, so they run in
# processes of their own, beside those that compute.
waiting='^(DeviceViewTests|KafkaClientTests|PipelineTests|RouseClientTests)\.'
starting='^(BenchmarksTests|RouseTests|FireTests)\.'
# Each of their targets is a process of its own. The runner notices its end by busy waiting, until the test gets a turn: beside
# tests that compute, that took a core for minutes.
fuzzing='^FuzzingTests\.'
packaging='^DeployTests\.(API|Chart|ClientPackage|Compose|ConsolePages|Image|Systemd)Tests'
# They watch a pipeline against the clock, so they run when all others have ended.
deploying='^DeployTests\.'
case $scope in
  quick) groups=(computing fuzzing) ;;
  fast | all) groups=(computing fuzzing waiting starting) ;;
esac
# run_group name: runs the tests of a group.
run_group() {
  local choice
  case $1 in
    computing) choice=(--skip "$waiting" --skip "$starting" --skip "$fuzzing" --skip "$deploying") ;;
    fuzzing) choice=(--filter "$fuzzing") ;;
    waiting) choice=(--filter "$waiting") ;;
    starting)
      choice=(--filter "$starting")
      if [ "$scope" = all ]; then choice+=(--filter "$packaging"); else choice+=(--skip '^FireTests\.'); fi
      ;;
    deploying) choice=(--filter "$deploying" --skip "$packaging") ;;
  esac
  "$runner" --testing-library swift-testing "${choice[@]}"
}
[ "$scope" != all ] || export ROUSE_TEST_SEEDS="${ROUSE_TEST_SEEDS:-1500}"

setup
# The programs that DeployTests start. The tests would be skipped without them, which --all does not allow.
if [ "$scope" = all ]; then setup_test_tools; fi
if [ "$scope" = all ] && ! { command -v prometheus && command -v promtool; } >/dev/null; then
  setup_install prometheus
  # The package starts a service; the tests start their own.
  if command -v systemctl >/dev/null; then
    systemctl disable prometheus
    if [ -d /run/systemd/system ]; then systemctl stop prometheus; fi
  fi
  { command -v prometheus && command -v promtool; } >/dev/null || setup_fail "Debian's package prometheus has no promtool"
fi

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
if [ "$scope" = all ]; then
  printf 'as a release build sees it: '
  deploy/check-release.py
fi
runner=$(swift build --show-bin-path)/rousePackageTests.xctest
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# What runs in the background ignores Ctrl-C, and is ended here.
trap 'trap - INT TERM; kill 0' INT TERM
for group in "${groups[@]}"; do
  { run_group "$group" || echo "$?" >"$logs/$group.status"; } 2>&1 | tee "$logs/$group.log" &
done
wait
if [ "$scope" = all ]; then
  groups+=(deploying)
  { run_group deploying || echo "$?" >"$logs/deploying.status"; } 2>&1 | tee "$logs/deploying.log"
fi
status=0
# The failures are repeated at the end, where they are easy to find, without the codes of colors.
for group in "${groups[@]}"; do
  [ -e "$logs/$group.status" ] || continue
  status=$(cat "$logs/$group.status")
  echo "failed, tests that are $group:"
  sed 's/\x1b\[[0-9;]*m//g' "$logs/$group.log" | grep -aE '✘ |↳ ' |
    grep -avE 'Test run with|Library Version:|Target Platform:' | cut -c1-2000 | head -n 100 || true
done
# The last lines are the runners' summaries, those of failures at the very end.
for group in "${groups[@]}"; do
  if ! grep -aE 'Test run with [0-9]+ tests?' "$logs/$group.log" | tail -n 1 >>"$logs/summaries"; then
    echo "test.sh: the runner of the tests that are $group ended without a summary" >&2
    [ "$status" -ne 0 ] || status=1
  fi
done
grep -av ' failed after ' "$logs/summaries" || true
grep -a ' failed after ' "$logs/summaries" || true
exit "$status"
