#!/usr/bin/env python3
"""Makes the streams of the table that are no recordings, each with the devices that show it and the policy.

    streams.py cold|flips|joint FOLDER [FLIGHTS.jsonl.gz FOOTBALL.jsonl.gz]
    streams.py weekend FOLDER

Writes NAME-events.jsonl, NAME.jsonl (the devices) and NAME.yaml into the folder; of `weekend`, two days of football, the events alone. `cold` has one change a week. `flips` has changes
without memory, from three to 300 a day. `joint` puts an airport, two boards and a match on one device, so that they share its
pushes. It takes the flights from 8 to 18 July and every fourth match, moved to the weekend among these days.
"""
import gzip
import heapq
import json
import os
import random
import sys
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
START = datetime(2026, 3, 2, tzinfo=timezone.utc)
VIEWS = "[0.571, 0.214, 0.071, 0.036, 0, 0.036, 0, 0.179, 0.393, 0.429, 0.536, 0.75, 0.714, 0.679, 0.643, 0.857, 0.714, 1, 1, 0.893, 0.786, 0.714, 0.714, 0.607]"
POLICY = """version: 2026-11-22.1
limits: # a day's tokens and five minutes between two reloads, and no other limit
  devicePushes: { limit: unlimited }
  backgroundPushes: { limit: unlimited }
kinds:
  %s:
    surface: widget
    budget: { perDay: 48, minInterval: 5m, dayStart: "04:00" }
    views: %s
    displays: [{ field: data.value, weight: %s, initial: 0 }]
    rules: [{ event: value.changed }]
"""
INSTANCES, DAYS = 12, 12


def time(at):
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def device(id, widgets, zone="UTC"):
    made = {"device": id, "app": "com.example.looks", "environment": "production", "platform": "iOS", "osVersion": "26.0"}
    return made | {"timeZone": zone, "tokens": {"widgets": id.encode().hex()}, "widgets": widgets, "updatedAt": "2013-01-01T00:00:00Z"}


def write(folder, name, lines, devices, policy):
    with open("%s/%s-events.jsonl" % (folder, name), "w") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")
    with open("%s/%s.jsonl" % (folder, name), "w") as file:
        for line in devices:
            file.write(json.dumps(line) + "\n")
    with open("%s/%s.yaml" % (folder, name), "w") as file:
        file.write(policy)


def synthetic(folder, name, weight, times):
    """Writes a stream in which every event gives its subject another value."""
    rng = random.Random(3)
    found = []
    for place in range(INSTANCES):
        found += [(at, "value/%d" % place) for at in times(rng, place)]
    events = []
    for number, (at, subject) in enumerate(sorted(found)):
        event = {"specversion": "1.0", "id": str(number), "source": "/table", "type": "value.changed", "subject": subject}
        events.append(event | {"time": time(at), "data": {"value": "v%d" % number}})
    kind = name.capitalize()
    devices = [
        device("d%d" % place, [{"id": "w", "kind": kind, "interests": ["value/%d" % place]}]) for place in range(INSTANCES)
    ]
    write(folder, name, events, devices, POLICY % (kind, VIEWS, weight))


def poisson(rng, perDay, days):
    """Returns the times of a process without memory."""
    times, at = [], 0.0
    while True:
        at += rng.expovariate(perDay)
        if at >= days:
            return times
        times.append(START + timedelta(days=at, hours=4))


def cold(folder):
    synthetic(folder, "cold", 1, lambda rng, place: poisson(rng, 1 / 7, 7 * DAYS))


def flips(folder):
    synthetic(folder, "flips", 1, lambda rng, place: poisson(rng, 3 * 100 ** (place / (INSTANCES - 1)), DAYS))


def lines(path, shift=timedelta()):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        for line in file:
            event = json.loads(line)
            at = datetime.fromisoformat(event["time"].replace("Z", "+00:00")) + shift
            if shift:
                event["time"] = time(at)
            yield at, event["id"], event


def joint(folder, flights, football):
    boards, matches = {}, []
    for _, _, event in lines(flights):
        data = event["data"]
        if event["type"] == "flight.departed":
            airline = data["flight"][:2]
            counts = boards.setdefault(data["origin"], {})
            counts[airline] = counts.get(airline, 0) + 1
    weekend = datetime(2013, 7, 13, tzinfo=timezone.utc) - datetime(2018, 3, 31, tzinfo=timezone.utc)
    for _, _, event in lines(football):
        if event["subject"] not in matches:
            matches.append(event["subject"])
    devices = []
    for number, match in list(enumerate(matches))[::4]:
        origin = sorted(boards)[number % len(boards)]
        airlines = sorted(boards[origin], key=lambda airline: (-boards[origin][airline], airline))
        chosen = [airlines[(number // len(boards) + step) % len(airlines)] for step in (0, 1)]
        widgets = [{"id": "airport", "kind": "AirportDelays", "interests": ["airport/" + origin]}]
        widgets += [
            {"id": "board%d" % place, "kind": "AirlineBoard", "interests": ["board/%s@%s" % (airline, origin)]}
            for place, airline in enumerate(chosen)
        ]
        widgets.append({"id": "match", "kind": "Match", "interests": [match]})
        devices.append(device("d%02d" % number, widgets, "America/New_York"))
    parts = [open("%s/%s.yaml" % (HERE, name)).read() for name in ("airports", "boards", "matches")]
    kinds = "".join(part[part.index("kinds:\n") + len("kinds:\n"):] for part in parts)
    head = parts[0][:parts[0].index("kinds:\n")]
    merged = heapq.merge(lines(flights), lines(football, weekend), key=lambda line: line[:2])
    kept = (event for _, _, event in merged if "2013-07-08" <= event["time"][:10] <= "2013-07-18")
    write(folder, "joint", kept, devices, head + "kinds:\n" + kinds)


def match(rng, subject, begin):
    """Returns the events of a match, each with the fields that it says. A few arrive late."""
    found, scores = [], {"homeScore": 0, "awayScore": 0}

    def say(minutes, type, **data):
        at = begin + timedelta(minutes=minutes)
        event = {"specversion": "1.0", "source": "/table", "type": "match." + type, "subject": subject, "time": time(at)}
        late = timedelta(seconds=rng.uniform(1, 600) if minutes and rng.random() < 0.03 else 0)
        found.append((at + late, event | ({"rouselogtime": time(at + late)} if late else {}) | {"data": data}))

    breaks = {0: "first-half", 46: "half-time", 61: "second-half", 109: "full-time"}
    for minutes in range(110):
        if minutes in breaks:
            say(minutes, "period.changed", period=breaks[minutes], **scores)
        elif minutes < 46 or minutes > 61:
            say(minutes + rng.random() / 2, "clock.changed", minute=minutes if minutes < 46 else minutes - 15)
            if rng.random() < 0.03:
                scores["homeScore" if rng.random() < 0.55 else "awayScore"] += 1
                say(minutes + 0.6 + rng.random() / 5, "score.changed", **scores)
            if rng.random() < 0.04:
                say(minutes + 0.8 + rng.random() / 5, "card.shown", card="yellow" if rng.random() < 0.9 else "red")
    return found


def weekend(folder):
    rng, found = random.Random(4), []
    for number in range(20):
        hours = rng.choice([12.5, 15, 17.5, 20]) + 24 * (number % 2)
        found += match(rng, "match/league-%d/%02d" % (number % 3, number), START + timedelta(hours=hours))
    with open("%s/weekend-events.jsonl" % folder, "w") as file:
        for number, (_, event) in enumerate(sorted(found, key=lambda one: one[0])):
            file.write(json.dumps(event | {"id": "m-%d" % number}) + "\n")


if __name__ == "__main__":
    name, folder = sys.argv[1:3]
    {"cold": cold, "flips": flips, "joint": joint, "weekend": weekend}[name](folder, *sys.argv[3:])
