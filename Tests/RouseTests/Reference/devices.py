#!/usr/bin/env python3
"""Makes one device with one widget for each airport, airline at an airport, match or team of a stream.

    devices.py airports|boards|matches|teams EVENTS.jsonl[.gz] > DEVICES.jsonl
"""
import gzip
import json
import sys

KINDS = {"airports": "AirportDelays", "boards": "AirlineBoard", "matches": "Match", "teams": "Team"}
FLIGHTS = ("flight.delay.changed", "flight.departed", "flight.cancelled", "flight.diverted")


def keys(subject, event):
    """Returns the interest keys of an event, each with the time zone in which people look."""
    data, type = event["data"], event["type"]
    if subject == "airports" and type == "airport.delays.changed":
        return [(event["subject"], "America/New_York")]
    if subject == "boards" and type in FLIGHTS:
        return [("board/%s@%s" % (data["flight"][:2], data["origin"]), "America/New_York")]
    if subject == "matches":
        return [(event["subject"], "Europe/London" if "premier" in event["subject"] else "Europe/Paris")]
    if subject == "teams":
        return [("team/" + data[side], "Europe/Paris") for side in ("home", "away") if isinstance(data.get(side), str)]
    return []


def main(subject, path):
    found = set()
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        for line in file:
            found.update(keys(subject, json.loads(line)))
    for key, zone in sorted(found):
        widget = {"id": "w", "kind": KINDS[subject], "interests": [key]}
        device = {"device": key, "app": "com.example.looks", "environment": "production", "platform": "iOS"}
        device |= {"osVersion": "26.0", "timeZone": zone, "tokens": {"widgets": key.encode().hex()}, "widgets": [widget]}
        print(json.dumps(device | {"updatedAt": "2013-01-01T00:00:00Z"}))


if __name__ == "__main__":
    main(*sys.argv[1:])
