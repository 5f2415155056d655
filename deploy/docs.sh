#!/usr/bin/env bash
# Regenerates the outputs and tables of the pages, and the table of `rouse bounds`: runs the commands of README.md and of the
# documentation catalog with the built program, replaces the printed outputs, and makes the reference tables. `git diff` then
# shows what changed. The tests run the same and only compare. How a page marks its blocks:
# Tests/RouseTests/DocumentationPage.swift.
#
#   deploy/docs.sh
#   deploy/docs.sh --all    also outputs that differ only in times, speeds, ids and other figures of one run
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=deploy/setup.sh
. deploy/setup.sh

which=stale
case ${1:-} in
  "") ;;
  --all) which=all ;;
  -h | --help) sed -n '2,8s/^# \{0,1\}//p' deploy/docs.sh && exit 0 ;;
  *) echo "docs.sh: $1: unknown option; usage: deploy/docs.sh [--all]" >&2 && exit 2 ;;
esac

setup
# The figures on the pages are those of a release build.
swift build -c release --product rouse
program="$(swift build -c release --show-bin-path)/rouse"
swift build --build-tests
ROUSE_TEST_PROGRAM="$program" ROUSE_TEST_WRITE_PAGES="$which" swift test --skip-build --filter '^RouseTests\.DocumentationTests/' \
  --filter '^PlanningTests\.WorkedExampleTests/'
git diff --stat -- README.md Sources/rouse/Documentation.docc Sources/rouse/Bounds
