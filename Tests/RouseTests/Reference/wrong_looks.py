#!/usr/bin/env python3
"""Computes wrong looks and their optimum from files alone, to check `rouse simulate` against a second computation.

    wrong_looks.py POLICY.json DEVICES.jsonl EVENTS.jsonl[.gz] COMMANDS.jsonl > DAYS.jsonl

The policy is a JSON document, which is YAML too. Every kind needs `views` and `budget` with perDay, minInterval in minutes
("5m") and dayStart. Commands are those of `rouse plan`. Nothing here is shared with the Swift code; it uses the standard
library of Python alone, and is written to be read, not to be fast.
"""
import datetime
import gzip
import json
import re
import sys
import zoneinfo

LOOKS_PER_DAY = 50.0
GRID = 300.0


def lines(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


# Events and rules


def flat(value, path, into):
    """Flattens an event's data to paths such as data.home.passes."""
    if isinstance(value, dict):
        for key, part in value.items():
            flat(part, path + "." + key, into)
    elif isinstance(value, list):
        for place, part in enumerate(value):
            flat(part, path + "." + str(place), into)
    else:
        into[path] = value
    return into


def as_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(int(value)) if float(value).is_integer() else str(value)
    return value


def key_of(template, event, fields):
    """Returns the interest key of an event; None if a field or a part is missing."""

    def replaced(match):
        path, *filters = match.group(1).split("|")
        value = event[path] if path in ("subject", "type", "source") else fields.get(path)
        if value is None:
            raise KeyError(path)
        text = as_text(value)
        for step in filters:
            if step == "lower":
                text = text.lower()
            elif step.startswith("prefix:"):
                text = text[: int(step[7:])]
            else:
                separator, number = step[6:].rsplit(":", 1)
                parts = text.split(separator)
                place = int(number) - 1 if int(number) > 0 else len(parts) + int(number)
                if not 0 <= place < len(parts):
                    raise KeyError(path)
                text = parts[place]
            if not text:
                raise KeyError(path)
        return text

    try:
        return re.sub(r"\{([^}]*)\}", replaced, template)
    except KeyError:
        return None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def holds(condition, fields):
    value = fields.get(condition["field"])
    tests = {
        "is": lambda operand: same(value, operand),
        "in": lambda operand: any(same(value, one) for one in operand),
        "atLeast": lambda operand: is_number(value) and value >= operand,
        "below": lambda operand: is_number(value) and value < operand,
        "changed": lambda operand: not same(value, fields.get(operand)),
    }
    return all(tests[name](operand) for name, operand in condition.items() if name != "field")


def rule_for(kind, event, fields):
    for rule in kind["rules"]:
        about = rule["event"]
        if not (event["type"].startswith(about[:-1]) if about.endswith("*") else event["type"] == about):
            continue
        conditions = rule.get("when", [])
        if all(holds(one, fields) for one in (conditions if isinstance(conditions, list) else [conditions])):
            return rule
    return None


# Distances


def distance(display, shown, truth):
    """Returns how wrong a screen is that shows one value while another is true."""
    if same(shown, truth):
        return 0.0
    weight = display.get("weight", 0.1 if "weights" in display else 1)
    if is_number(shown) and is_number(truth):
        unit = display.get("round")
        if unit and steps(shown / unit) == steps(truth / unit):
            return 0.0
        per = display.get("per")
        if per is not None:
            full = float(per[:-1]) / 100 * abs(shown) if isinstance(per, str) else per
            difference = abs(truth - shown)
            return weight * (difference / full if difference < full else 1.0)
    weights = display.get("weights")
    if weights is None:
        return weight
    return max(weight, abs(weights.get(as_text(shown), 0) - weights.get(as_text(truth), 0)))


def steps(number):
    """Rounds to a whole number, halves away from zero."""
    return int(abs(number) + 0.5) * (1 if number >= 0 else -1)


class Screen:
    """The values that are true and those that are shown, and how wrong the screen is."""

    def __init__(self, displays, truth):
        self.displays, self.truth = displays, dict(truth)
        self.reload()

    def reload(self):
        self.shown, self.wrong, self.news = {}, {}, 1.0

    def take(self, change):
        if change[1] is None:
            self.news *= 1 - change[2]
            return
        field, value = change[1], change[2]
        display = self.displays[field[1]]
        before = self.truth.get(field, display.get("initial"))
        shown = self.shown.setdefault(field, before)
        self.truth[field] = value
        self.wrong[field] = distance(display, shown, value)

    def distance(self):
        right = self.news
        for part in self.wrong.values():
            right *= 1 - part
        return 1 - right


# Days and looks


class Day:
    """One budget day in a time zone, with the looks that a view curve leads one to expect."""

    def __init__(self, date, kind, zone):
        hour, minute = map(int, kind["budget"]["dayStart"].split(":"))
        self.date = date

        def anchor(day):
            return datetime.datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone).timestamp()

        self.start, self.end = anchor(date), anchor(date + datetime.timedelta(days=1))
        self.quarters, looks, at = [], 0.0, self.start
        while at < self.end:
            local = datetime.datetime.fromtimestamp(at, zone).hour
            rate = LOOKS_PER_DAY * kind["views"][local] / sum(kind["views"]) / 3600
            self.quarters.append((at, looks, rate))
            looks, at = looks + rate * 900, at + 900

    def looks(self, instant):
        """Returns the looks of the day before an instant."""
        place = min(int((instant - self.start) // 900), len(self.quarters) - 1)
        at, looks, rate = self.quarters[place]
        return looks + rate * (instant - at)


def date_of(instant, kind, zone):
    hour, minute = map(int, kind["budget"]["dayStart"].split(":"))
    local = datetime.datetime.fromtimestamp(instant, zone) - datetime.timedelta(hours=hour, minutes=minute)
    return local.date()


# Costs


def cost(screen, changes, day, until, since):
    """Follows a screen from one instant to another, and returns the wrong looks between them."""
    total, before = 0.0, day.looks(since)
    for change in changes:
        now = day.looks(change[0])
        total += screen.distance() * (now - before)
        before = now
        screen.take(change)
    return total + screen.distance() * (day.looks(until) - before)


def plan_cost(screen, changes, reloads, day):
    total, at, place = 0.0, day.start, 0
    for reload in reloads + [day.end]:
        part = []
        while place < len(changes) and changes[place][0] <= reload:
            part.append(changes[place])
            place += 1
        total += cost(screen, part, day, reload, at)
        if reload < day.end:
            screen.reload()
        at = reload
    return total


def optimum(displays, truth, changes, day, tokens, gap):
    """Returns the wrong looks without a reload, and the least with at most some reloads, by dynamic programming."""
    first = changes[0][0]
    instants = {change[0] for change in changes}
    instants |= {day.start + GRID * n for n in range(int((day.end - day.start) / GRID)) if day.start + GRID * n > first}
    points = [day.start] + sorted(instants)
    infinite = float("inf")
    best = [[infinite] * len(points) for _ in range(tokens + 1)]
    best[0][0] = 0.0
    none, least, base, place = 0.0, infinite, dict(truth), 0
    for start, since in enumerate(points):
        while start > 0 and place < len(changes) and changes[place][0] <= since:
            if changes[place][1] is not None:
                base[changes[place][1]] = changes[place][2]
            place += 1
        screen, at, total, segment = Screen(displays, base), place, 0.0, since
        for end in range(start + 1, len(points) + 1):
            until = points[end] if end < len(points) else day.end
            part = []
            while at < len(changes) and changes[at][0] < until:
                part.append(changes[at])
                at += 1
            total += cost(screen, part, day, until, segment)
            segment = until
            if end == len(points):
                break
            if start > 0 and until - since < gap:
                continue
            for reloads in range(tokens):
                if best[reloads][start] + total < best[reloads + 1][end]:
                    best[reloads + 1][end] = best[reloads][start] + total
        none = total if start == 0 else none
        least = min([least] + [best[reloads][start] + total for reloads in range(tokens + 1)])
    return none, least


# Instances


def changes_of(name, kind, keys, events):
    """Returns the changes of the truth that an instance displays: (time, field, value), and (time, None, relevance)."""
    changes, truth, newest = [], {}, {}
    for event in events:
        time, known = seconds(event["time"]), newest.get((event["subject"], event["type"]))
        if known and (time < known[0] or event["id"] == known[1]):
            continue
        newest[event["subject"], event["type"]] = (time, event["id"])
        fields = flat(event.get("data", {}), "data", {})
        rule = rule_for(kind, event, fields)
        if rule is None or not any(
            key_of(template, event, fields) in keys for template in rule.get("interests", ["{subject}"])
        ):
            continue
        for place, display in enumerate(kind.get("displays", [])):
            field = (event["subject"], place)
            if display["field"] in fields:
                value = fields[display["field"]]
                if not same(truth.get(field, display.get("initial")), value):
                    changes.append((time, field, value))
                truth[field] = value
        if not any(display["field"] in fields for display in kind.get("displays", [])):
            if "relevance" in rule:
                changes.append((time, None, rule["relevance"]["base"]))
    return changes


def main(policy_path, devices_path, events_path, commands_path):
    with open(policy_path) as file:
        policy = json.load(file)
    events = lines(events_path)
    reloads = {}
    for command in lines(commands_path):
        for charge in command.get("charged", []):
            if charge["ledger"] == "instance":
                reloads.setdefault((command["device"], charge["owner"]), []).append(seconds(command["at"]))
    for device in lines(devices_path):
        zone = zoneinfo.ZoneInfo(device["timeZone"])
        for widget in device["widgets"]:
            kind = policy["kinds"][widget["kind"]]
            changes = changes_of(widget["kind"], kind, widget["interests"], events)
            own = sorted(reloads.get((device["device"], widget["id"]), []))
            report(device["device"], widget, kind, changes, own, zone)


def report(device, widget, kind, changes, reloads, zone):
    tokens, gap = kind["budget"]["perDay"], min(GRID, 60.0 * int(kind["budget"]["minInterval"][:-1]))
    displays = kind.get("displays", [])
    screen, truth = Screen(displays, {}), {}
    for date in sorted({date_of(change[0], kind, zone) for change in changes}):
        day = Day(date, kind, zone)
        today = [change for change in changes if day.start <= change[0] < day.end]
        if any(reload < day.start for reload in reloads):
            screen.reload()
        reloads = [reload for reload in reloads if reload >= day.start]
        spent = [reload for reload in reloads if reload < day.end]
        none, least = optimum(displays, truth, today, day, tokens, gap)
        wrong = plan_cost(screen, today, spent, day)
        reloads = [reload for reload in reloads if reload >= day.end]
        for change in today:
            if change[1] is not None:
                truth[change[1]] = change[2]
        row = {
            "kind": widget["kind"],
            "device": device,
            "instance": widget["id"],
            "date": date.isoformat(),
            "changes": len(today),
            "reloads": len(spent),
            "wrongLooks": wrong,
            "wrongLooksWithout": none,
            "wrongLooksOptimum": least,
        }
        if none - least > 0.01:
            row["wrongLooksCaptured"] = (none - wrong) / (none - least)
        print(json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[1:])
