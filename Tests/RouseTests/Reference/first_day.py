"""Prints the share of wrong looks captured on the first whole day of a log, and on all days, from `rouse simulate --days`.

    first_day.py NAME DAYS.jsonl EVENTS.jsonl.gz

The days of the log are west of Greenwich: the first whole day is the first one whose date, at midnight UTC, is not before the log.
"""
import gzip
import json
import sys

name, path, events = sys.argv[1:]
with gzip.open(events, "rt") as lines:
    begin = json.loads(next(lines))["time"]
days = {}
with open(path) as lines:
    for line in lines:
        row = json.loads(line)
        if row.get("wrongLooksCaptured") is not None:
            days.setdefault(row["date"], []).append(row["wrongLooksCaptured"])
first = min(day for day in days if day + "T00:00:00Z" >= begin)
every = [captured for day in days.values() for captured in day]
print(f"{name}, {first} alone: {sum(days[first]) / len(days[first]):.3f}, all days: {sum(every) / len(every):.3f}")
