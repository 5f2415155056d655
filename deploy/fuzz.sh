#!/usr/bin/env bash
# Feeds the readers of Rouse with broken input for as long as you like. Needs no broker.
#
#   deploy/fuzz.sh                     # every target, 60 s each
#   deploy/fuzz.sh policy 600          # one target, 10 minutes
#   deploy/fuzz.sh all 600             # every target, 10 minutes each
#   deploy/fuzz.sh --list              # the names of the targets
#
# Guided by coverage (libFuzzer) if the toolchain has it, else by seeded mutation. ROUSE_TEST_SEED fixes the seed.
# The input of a finding is left in .build/fuzz/finds; put it into Tests/FuzzingTests/Corpus/TARGET.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=deploy/setup.sh
. deploy/setup.sh

usage="usage: deploy/fuzz.sh [TARGET | all] [SECONDS] | --list"

wrong() {
  echo "fuzz.sh: $*; $usage" >&2
  exit 2
}

# The names that the targets give themselves, in their order.
targets() { grep -ohE '^    name: "[a-z-]+"' Tests/FuzzingTests/Targets/*.swift | cut -d '"' -f 2; }

case ${1:-} in
  -h | --help) sed -n '2,10s/^# \{0,1\}//p' deploy/fuzz.sh && exit 0 ;;
  --list) targets && exit 0 ;;
  -*) wrong "$1: unknown option" ;;
esac
[ $# -le 2 ] || wrong "too many arguments"
target=${1:-all}
seconds=${2:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || wrong "$seconds: not a number of seconds"
if [ "$target" = all ]; then
  mapfile -t names < <(targets)
elif targets | grep -qx -- "$target"; then
  names=("$target")
else
  wrong "$target: unknown target; there are $(targets | paste -sd ' ')"
fi

setup
# shellcheck disable=SC2012
runtime=$(ls "$(dirname "$(readlink -f "$(command -v swiftc)")")"/../lib/clang/*/lib/linux/libclang_rt.fuzzer_no_main-"$(uname -m)".a 2>/dev/null | head -n 1 || true)
build=.build
if [ -n "$runtime" ]; then
  ROUSE_FUZZ_RUNTIME=$(readlink -f "$runtime")
  export ROUSE_FUZZ_RUNTIME
  build=.build/fuzz/build
  echo 'guided by coverage'
else
  echo 'this toolchain has no libFuzzer: seeded mutation'
fi
swift build --build-tests --scratch-path "$build"
program=$(swift build --build-tests --scratch-path "$build" --show-bin-path)/rousePackageTests.xctest

export ROUSE_FUZZ_FINDS="$PWD/.build/fuzz/finds" ROUSE_FUZZ_SECONDS=$seconds
# Swift's own report of a trap would keep libFuzzer from writing the input.
export SWIFT_BACKTRACE=enable=no
mkdir -p "$ROUSE_FUZZ_FINDS"
failed=()
for name in "${names[@]}"; do
  log=$ROUSE_FUZZ_FINDS/$name.log
  status=0
  ROUSE_FUZZ_TARGET=$name "$program" --testing-library swift-testing --filter LongFuzzTests >"$log" 2>&1 || status=$?
  runs=$(grep -aoE 'Done [0-9]+ runs|number_of_executed_units: [0-9]+' "$log" | grep -oE '[0-9]+' | tail -n 1 || true)
  if [ "$status" -eq 0 ] && [ -n "$runs" ]; then
    printf '%-16s %12s inputs, no finding\n' "$name" "$runs"
  else
    failed+=("$name")
    printf '%-16s %12s inputs, FINDING: %s\n' "$name" "${runs:-?}" "see $log"
    grep -aE 'finding: |SUMMARY|Test unit written|Fatal error|the input is' "$log" | head -n 5 || true
  fi
done
if [ "${#failed[@]}" -gt 0 ]; then
  echo "findings in: ${failed[*]}; the inputs are in $ROUSE_FUZZ_FINDS" >&2
  exit 1
fi
