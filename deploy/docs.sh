#!/usr/bin/env bash
# Regenerates the outputs and tables of the pages: runs the commands of README.md and of the documentation catalog with the
# built program, replaces the printed outputs, and makes the reference tables. `git diff` then shows what changed. The tests run the
# same and only compare. How a page marks its blocks: Tests/RouseTests/DocumentationPage.swift.
#
#   deploy/docs.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=deploy/setup.sh
. deploy/setup.sh

case ${1:-} in
  "") ;;
  -h | --help) sed -n '2,6s/^# \{0,1\}//p' deploy/docs.sh && exit 0 ;;
  *) echo "docs.sh: $1: unknown option; usage: deploy/docs.sh" >&2 && exit 2 ;;
esac

setup
swift build --build-tests
ROUSE_TEST_WRITE_PAGES=1 swift test --skip-build --filter '^RouseTests\.DocumentationTests/' \
  --filter '^PlanningTests\.WorkedExampleTests/'
git diff --stat -- README.md Sources/rouse/Documentation.docc
