#!/usr/bin/env python3
"""Makes the fleet for the Live Activities of the matches of a stream.

    activity_fleet.py EVENTS.jsonl[.gz] > DEVICES.jsonl

Each registration is planned at its `rouselogtime`. There are

- 400 activities with tokens of their own, which the app begins five minutes before kick-off;
- 100 devices with a push-to-start token for the matches of one league and day. A tenth of their activities never get a token, half get one
  within seconds, and the others within minutes to hours;
- a channel for each match, to which one device listens.
"""
import json
import random
import sys
from datetime import datetime, timedelta

from streams import lines, time

ACTIVITIES, STARTERS = 400, 100


def device(id, at, **more):
    made = {"device": id, "app": "com.example.football", "environment": "production", "platform": "iOS", "osVersion": "26.0"}
    return made | {"timeZone": "Europe/Paris", "updatedAt": time(at), "rouselogtime": time(at)} | more


def kick_offs(path):
    """Returns the time of the first event of each match."""
    found = {}
    for at, _, event in lines(path):
        found.setdefault(event["subject"], at)
    return found


def token_delay(rng):
    """Returns the seconds from a start to the registration of its activity; None if it never comes."""
    roll = rng.random()
    if roll < 0.1:
        return None
    return rng.uniform(0.5, 20) if roll < 0.6 else rng.uniform(20, 600) if roll < 0.9 else rng.uniform(600, 6 * 3600)


def starter(rng, id, token, matches, at):
    """Returns the registrations of a device whose activities are started by push, one for each token that it gets."""
    tokens, activities = [{"kind": "MatchActivity", "token": token, "interests": sorted(matches)}], []
    found = [device(id, at, pushToStart=tokens)]
    delays = [(match, begin, token_delay(rng)) for match, begin in sorted(matches.items())]
    known = [(begin + timedelta(seconds=delay), match, begin) for match, begin, delay in delays if delay is not None]
    for number, (when, match, begin) in enumerate(sorted(known)):
        activity = {"id": match, "kind": "MatchActivity", "token": "%s%02d" % (token, number), "interests": [match]}
        activities = [one for one in activities if when - datetime.fromisoformat(one["startedAt"]) < timedelta(hours=8)]
        activities.append(activity | {"startedAt": time(begin + timedelta(seconds=1))})
        found.append(device(id, when, pushToStart=tokens, activities=list(activities)))
    return found


def main(path):
    rng, kickOff = random.Random(36), kick_offs(path)
    matches, before = sorted(kickOff), timedelta(minutes=5)
    found = []
    for number in range(ACTIVITIES):
        match = matches[number % len(matches)]
        at = kickOff[match] - before
        activity = {"id": "a", "kind": "MatchActivity", "token": "aa%04d" % number, "interests": [match], "startedAt": time(at)}
        found.append(device("card-%03d" % number, at, activities=[activity]))
    rounds = {}
    for match in matches:
        rounds.setdefault((match.rsplit("/", 1)[0], kickOff[match].date()), {})[match] = kickOff[match]
    for number in range(STARTERS):
        chosen = rounds[sorted(rounds)[number % len(rounds)]]
        found += starter(rng, "start-%03d" % number, "dd%04d" % number, chosen, min(chosen.values()) - timedelta(hours=1))
    for number, match in enumerate(matches):
        activity = {"id": "c", "kind": "MatchChannel", "channel": "Y2gt%02d" % number, "interests": [match]}
        at = kickOff[match] - before
        found.append(device("channel-%02d" % number, at, activities=[activity | {"startedAt": time(at)}]))
    for registration in sorted(found, key=lambda one: (one["rouselogtime"], one["device"])):
        print(json.dumps(registration))


if __name__ == "__main__":
    main(*sys.argv[1:])
