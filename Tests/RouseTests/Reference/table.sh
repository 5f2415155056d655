#!/usr/bin/env bash
# Prints wrong looks captured, mean and p10, for streams of flights and of football, at 48 and at 20 tokens a day.
#   table.sh FLIGHTS.jsonl.gz [FOOTBALL.jsonl.gz]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

row() {
  python3 "$here/devices.py" "$1" "$2" > "$work/$1.jsonl"
  for tokens in 48 20; do
    sed "s/perDay: 48/perDay: $tokens/" "$here/$1.yaml" > "$work/$1-$tokens.yaml"
  done
  "${ROUSE:-rouse}" simulate --policy "$work/$1-48.yaml" --policy "$work/$1-20.yaml" --devices "$work/$1.jsonl" \
    --events "$2" | grep -E "tokens  |^$1-|^[a-zA-Z][a-zA-Z0-9 ,+]*  +(48|20) |^wrong looks a day"
}

for subject in airports boards; do row "$subject" "$1"; done
if [ $# -gt 1 ]; then for subject in matches teams; do row "$subject" "$2"; done; fi
