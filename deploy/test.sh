#!/usr/bin/env bash
# Installs what is missing, builds Rouse and runs its tests. Asks nothing, needs no broker; exits with the tests' status
# and ends with the runner's own summary.
#
#   deploy/test.sh           # everything
#   deploy/test.sh --quick   # without the tests that start brokers or the program
#
# With ROUSE_TEST_BOOTSTRAP=host:port the tests that can use a real Kafka do so as well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=deploy/setup.sh
. deploy/setup.sh

usage="usage: deploy/test.sh [--quick]"
filter=()
for argument in "$@"; do
  case $argument in
    --quick) filter=(--skip '^(KafkaClientTests|PipelineTests|RouseTests|FireTests)\.') ;;
    -h | --help) echo "$usage" && exit 0 ;;
    *) echo "test.sh: $argument: unknown option; $usage" >&2 && exit 2 ;;
  esac
done

setup

# A line of its own for each: in a list of && a failure would not end the script.
printf 'format: '
swift format lint --strict --recursive Sources Tests Package.swift
echo 'as it should be'

# A test that reads files from beside the project would pass on one machine only.
if grep -rnE '\.\./shared|"(/home|/root|/work|/Users)/' Sources Tests schemas Package.swift; then
  setup_fail "the lines above depend on files outside of the project"
fi

# Every commit tries simulations of its own; a failing one prints the line that runs it again.
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
# What failed stands together at the end, however much was printed since.
if [ "$status" -ne 0 ]; then
  echo 'failed:'
  grep -aE '✘ |↳ ' "$log" | grep -avE 'Test run with' | cut -c1-2000 | head -n 100 || true
fi
# The runner prints other things after its summary when tests end in an odd order; it shall be the last line.
if ! grep -aE 'Test run with [0-9]+ tests?' "$log" | tail -n 1; then
  echo "test.sh: the runner ended without a summary" >&2
  [ "$status" -ne 0 ] || status=1
fi
exit "$status"
