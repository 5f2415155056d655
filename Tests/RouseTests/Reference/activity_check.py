#!/usr/bin/env python3
"""Compares what pushes to Live Activities say with the state of the match at that instant, by the events alone.

    activity_check.py EVENTS.jsonl[.gz] DEVICES.jsonl COMMANDS.jsonl DECISIONS.jsonl

Prints the pushes, those whose content is not the match's state, how many tokens of activities that were started by push were answered within
a second of their registration, and the decisions by reason. Exits with 1 if a push is wrong or a token was not answered.
"""
import collections
import gzip
import json
import sys
from datetime import datetime, timedelta

FIELDS = {"home": "homeScore", "away": "awayScore", "period": "period", "minute": "minute", "card": "card"}
DEFAULTS = {"home": 0, "away": 0}


def lines(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        for line in file:
            yield json.loads(line)


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def state(known):
    return {name: known.get(field, (0, DEFAULTS.get(name)))[1] for name, field in FIELDS.items()}


def main(events, devices, commands, decisions):
    match, registered = {}, {}  # of each token and channel
    for device in lines(devices):
        for activity in device.get("activities", []):
            address = activity.get("token") or activity["channel"]
            match[address] = activity["interests"][0]
            if "pushToStart" in device and instant(device["rouselogtime"]) - instant(activity["startedAt"]) < timedelta(hours=8):
                registered.setdefault(address, instant(device["rouselogtime"]))
    stream = sorted(((instant(event.get("rouselogtime", event["time"])), event) for event in lines(events)), key=lambda one: one[0])
    known, place = collections.defaultdict(dict), 0  # of each match and field, the time that said it last, and the value
    last = collections.defaultdict(lambda: (None, []))  # of each match, the time of its newest events, and the state after each
    pushes, wrong, first, answered = collections.Counter(), 0, "", set()
    for command in sorted(lines(commands), key=lambda one: instant(one["at"])):
        while place < len(stream) and stream[place][0] <= instant(command["at"]):
            event = stream[place][1]
            for field, value in event["data"].items():
                said = (instant(event["time"]), value)
                known[event["subject"]][field] = max(said, known[event["subject"]].get(field, said), key=lambda one: one[0])
            place += 1
            arrival = stream[place - 1][0]
            if last[event["subject"]][0] != arrival:
                last[event["subject"]] = (arrival, [])
            last[event["subject"]][1].append(state(known[event["subject"]]))
        aps = command["apns"]["payload"]["aps"]
        address = command["apns"].get("token") or command["apns"]["channel"]
        subject = command.get("subject") or match[address]
        if address in registered and instant(command["at"]) - registered[address] <= timedelta(seconds=1):
            answered.add(address)
        pushes[aps["event"]] += 1
        if "content-state" not in aps:
            pushes["without content"] += 1
            continue
        # A push may be between two events of one instant.
        now = state(known[subject])
        states = last[subject][1] if last[subject][0] == instant(command["at"]) else []
        if aps["content-state"] not in states + [now]:
            wrong += 1
            first = first or "%s %s says %s, and it is %s" % (command["at"], subject, aps["content-state"], now)
    reasons = collections.Counter(line["reason"] for line in lines(decisions))
    print("pushes    %d %s" % (sum(pushes[event] for event in ("start", "update", "end")), dict(pushes)))
    print("wrong     %d %s" % (wrong, first))
    print("answered  %d of %d" % (len(answered), len(registered)))
    print("decisions %d %s" % (sum(reasons.values()), dict(reasons)))
    sys.exit(1 if wrong or len(answered) < len(registered) else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
