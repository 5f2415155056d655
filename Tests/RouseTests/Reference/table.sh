#!/usr/bin/env bash
# Prints wrong looks captured, mean and p10, at 48 and at 20 tokens a day: for streams without a recording (one change a week;
# changes without memory), for flights, for football, and for devices whose widgets share a limit of pushes.
#   table.sh [FLIGHTS.jsonl.gz [FOOTBALL.jsonl.gz]]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints a policy with 48 and with 20 tokens a day: row NAME POLICY DEVICES EVENTS
row() {
  for tokens in 48 20; do sed "s/perDay: 48/perDay: $tokens/" "$2" > "$work/$1-$tokens.yaml"; done
  "${ROUSE:-rouse}" simulate --policy "$work/$1-48.yaml" --policy "$work/$1-20.yaml" --devices "$3" --events "$4" \
    | grep -E "tokens  |^$1-|^[a-zA-Z][a-zA-Z0-9 ,+]*  +(48|20) |^wrong looks a day"
}

# Prints the captured share of the first whole day of a log, on which nothing is learnt yet: first NAME EVENTS
first() {
  for tokens in 48 20; do
    "${ROUSE:-rouse}" simulate --no-baselines --policy "$work/$1-$tokens.yaml" --devices "$work/$1.jsonl" --events "$2" \
      --days "$work/days.jsonl" > "$work/first.txt"
    python3 "$here/first_day.py" "$1-$tokens" "$work/days.jsonl" "$2"
  done
}

# Prints a policy with limits of a device's pushes: shared NAME POLICY DEVICES EVENTS
shared() {
  local policies=() name limit
  while read -r name perDay limit; do
    sed "s/devicePushes: .*/devicePushes: $limit/; s/perDay: 48/perDay: $perDay/" "$2" > "$work/$1-$name.yaml"
    policies+=("$work/$1-$name.yaml")
  done << LIMITS
none 48 { limit: unlimited }
5-an-hour 48 { limit: 5, window: 1h, burst: 3 }
5-an-hour-alone 200 { limit: 5, window: 1h, burst: 3 }
2-an-hour 48 { limit: 2, window: 1h, burst: 1 }
2-an-hour-alone 200 { limit: 2, window: 1h, burst: 4 }
24-a-day 48 { limit: 24, window: 24h, burst: 12 }
LIMITS
  "${ROUSE:-rouse}" simulate --no-baselines --devices "$3" --events "$4" "${policies[@]/#/--policy=}" \
    | grep -E "tokens  |^$1-.*  +(48|200) |^wrong looks a day"
}

for stream in cold flips; do
  python3 "$here/streams.py" "$stream" "$work"
  row "$stream" "$work/$stream.yaml" "$work/$stream.jsonl" "$work/$stream-events.jsonl"
done
if [ $# -gt 0 ]; then
  for subject in airports boards; do
    python3 "$here/devices.py" "$subject" "$1" > "$work/$subject.jsonl"
    row "$subject" "$here/$subject.yaml" "$work/$subject.jsonl" "$1"
  done
  first airports "$1"
fi
if [ $# -gt 1 ]; then
  for subject in matches teams; do
    python3 "$here/devices.py" "$subject" "$2" > "$work/$subject.jsonl"
    row "$subject" "$here/$subject.yaml" "$work/$subject.jsonl" "$2"
  done
  python3 "$here/streams.py" joint "$work" "$1" "$2"
  shared joint "$work/joint.yaml" "$work/joint.jsonl" "$work/joint-events.jsonl"
fi
