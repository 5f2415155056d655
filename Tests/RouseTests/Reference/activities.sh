#!/usr/bin/env bash
# Plans a fleet of Live Activities through the matches of a stream, and compares each push with the state of its match.
#   activities.sh FOOTBALL.jsonl[.gz]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -B "$here/activity_fleet.py" "$1" > "$work/devices.jsonl"
"${ROUSE:-rouse}" plan --policy "$here/activities.yaml" --devices "$work/devices.jsonl" --events "$1" \
  --commands "$work/commands.jsonl" --decisions "$work/decisions.jsonl" >&2
python3 -B "$here/activity_check.py" "$1" "$work/devices.jsonl" "$work/commands.jsonl" "$work/decisions.jsonl"
