#!/usr/bin/env python3
"""Sends made-up requests to every operation of schemas/openapi.yaml, and holds the answers to the document.

usage: check-api.py ROUSE FOLDER

ROUSE is the program, FOLDER gets its files. A demo fills the topics and the audit store. A gateway and a console beside it, with keys, take the
requests that schemathesis makes up from the document: valid ones, ones with a mistake in each place, and ones without a key. Names of paths
and cursors are made up, too, or are ones that exist. It needs the package schemathesis.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

# The requests for each operation, beside those that go through the values of each parameter. With the start of the demo it all takes a minute.
EXAMPLES = 5
SEED = 20261123
# What the document cannot say: a cursor is one that a list gave, `from` is before `to`, a time zone is known. So a request that fits the document
# may be refused. A precondition comes before the body. The check of a policy answers with its mistakes.
SETTINGS = """
[checks]
positive_data_acceptance.enabled = false
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "412", "413", "415", "429", "431", "503"]

[[operations]]
include-operation-id = "checkPolicy"
checks.negative_data_rejection.enabled = false
"""
REPOSITORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# The stream of decisions goes on for a quarter of an hour, so nothing can be said about its end. TailTests looks at it.
ENDLESS = "tailDecisions"


def hooks(known):
    """Puts names and cursors that exist into some of the requests. This file is a module of schemathesis then."""
    import schemathesis

    def is_chosen(value):
        # One that is meant to be wrong stays so.
        return isinstance(value, str) and 0 < len(value) <= 64 and len(value) % 2 == 0

    @schemathesis.hook
    def map_path_parameters(context, path_parameters):
        for name, value in (path_parameters or {}).items():
            if name in known["names"] and is_chosen(value):
                path_parameters[name] = known["names"][name]
        return path_parameters

    @schemathesis.hook
    def map_query(context, query):
        names = known["names"] | {"cursor": known["cursors"].get(context.operation.label.removeprefix("GET "))}
        for name, value in (query or {}).items():
            if names.get(name) is not None and is_chosen(value):
                query[name] = names[name]
        return query


def wait(what, condition, seconds=60):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise SystemExit(f"waited {seconds} s in vain: {what}")


def start(arguments, log):
    """Starts the program, and returns it with a function for what it has printed."""
    path = os.path.join(FOLDER, log)
    with open(path, "wb") as file:
        process = subprocess.Popen([ROUSE] + arguments, stdout=file, stderr=subprocess.STDOUT, cwd=FOLDER)
    programs.append(process)

    def words():
        if process.poll() is not None:
            raise SystemExit(f"rouse {arguments[0]} ended:\n" + open(path, encoding="utf-8").read())
        return open(path, encoding="utf-8", errors="replace").read()
    return words


def ask(url, key, body=None, content="application/json", method=None):
    """Sends one request, and returns the status, the headers and the body."""
    headers = {"authorization": f"Bearer {key}", "content-type": content}
    request = urllib.request.Request(url, body.encode() if body else None, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def names(console, key):
    """Returns names that exist, and the cursor of each list."""
    decision = json.loads(ask(f"{console}/v1/decisions?verdict=emit&limit=1&format=ndjson", key)[2])
    device = decision["device"]
    known = {
        "device": device, "decision": decision["decision"], "command": decision["command"], "event": decision["event"].split("/")[-1],
        "kind": decision["kind"], "instance": decision["instance"], "partition": "0", "offset": "0",
    }
    cursors = {}
    lists = {
        "/v1/devices/{device}/timeline": f"/v1/devices/{device}/timeline", "/v1/devices/{device}/statement": f"/v1/devices/{device}/statement",
        "/v1/decisions": "/v1/decisions", "/v1/dead-letters": "/v1/dead-letters",
    }
    for path, address in lists.items():
        link = ask(f"{console}{address}?limit=1", key)[1].get("link", "")
        cursor = re.search(r"[?&]cursor=([^&>]+)", link)
        if not cursor:
            raise SystemExit(f"{address}?limit=1 leads to no further part")
        cursors[path] = cursor[1]
    return {"names": known, "cursors": cursors}


def check(role, key, address, chosen):
    """Runs schemathesis with a key, and returns what it has printed, and whether it found nothing."""
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "--no-color", "run", os.path.join(REPOSITORY, "schemas/openapi.yaml"), "--url", address,
        "--header", f"Authorization: Bearer {key}", "--seed", str(SEED), "--max-examples", str(EXAMPLES), "--request-timeout", "20",
        "--phases", "coverage,fuzzing", "--continue-on-failure", "--generation-database", "none", "--warnings", "off",
        "--suppress-health-check", "all", "--output-truncate", "false",
    ] + chosen
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=FOLDER,
        env=os.environ | {"SCHEMATHESIS_HOOKS": os.path.abspath(__file__), "CHECK_API_KNOWN": os.path.join(FOLDER, "known.json")})
    with open(os.path.join(FOLDER, f"{role}.txt"), "w", encoding="utf-8") as file:
        file.write(result.stdout)
    return result


def main():
    began = time.monotonic()
    demo = start(["demo", "--devices", "20", "--stay", "--keep", "demo"], "demo.log")
    keys = {}
    for role in ("publisher", "registrar", "operator"):
        made = subprocess.run([ROUSE, "keys", "create", "--role", role, "--file", "keys.json"], cwd=FOLDER, capture_output=True, text=True, check=True)
        keys[role] = made.stdout.strip()
    wait("the end of the day", lambda: "the console stays" in demo(), 240)
    broker = re.search(r"^broker +([0-9.:]+)", demo(), re.M)[1]
    settings = {
        "roles": "gateway,console", "topics.events": "flights", "topics.partitions": "1", "audit.store": "demo/audit.sqlite", "http.listen": "off",
        "gateway.listen": "127.0.0.1:0", "gateway.keys": "keys.json", "gateway.devicesView": "devices.sqlite", "console.listen": "127.0.0.1:0",
        "console.keys": "keys.json",
    }
    run = start(["run", "--bootstrap", broker] + [f"--set={name}={value}" for name, value in settings.items()], "run.log")
    gateway, console = (
        wait(f"the {role}", lambda: re.search(rf"address=(http://\S+) [^\n]*the {role} listens", run()))[1] for role in ("gateway", "console"))

    # Two records of the demo's own topic that intake refuses.
    for _ in range(2):
        subprocess.run(["kcat", "-b", broker, "-P", "-t", "flights"], input='{"specversion":"1.0"}', text=True, check=True, capture_output=True)
    wait("the dead letters", lambda: ask(f"{console}/v1/dead-letters?limit=1", keys["operator"])[1].get("link"))
    known = names(console, keys["operator"])
    wait("the view of devices", lambda: ask(f"{gateway}/v1/devices/{known['names']['device']}", keys["registrar"])[0] == 200)
    with open(os.path.join(FOLDER, "known.json"), "w", encoding="utf-8") as file:
        json.dump(known, file)
    with open(os.path.join(FOLDER, "schemathesis.toml"), "w", encoding="utf-8") as file:
        file.write(SETTINGS)
    runs = {
        "publisher": (gateway, ["--include-operation-id", "publishEvents"]),
        "registrar": (gateway, ["--include-tag", "gateway", "--exclude-operation-id", "publishEvents"]),
        "operator": (console, ["--include-tag", "console", "--exclude-operation-id", ENDLESS]),
    }
    print(f"ready after {time.monotonic() - began:.0f} s", flush=True)
    tested = 0
    is_fine = True
    for role, (address, chosen) in runs.items():
        began = time.monotonic()
        result = check(role, keys[role], address, chosen)
        print(f"{role}: {time.monotonic() - began:.0f} s", flush=True)
        tested += int((re.search(r"Tested: (\d+)", result.stdout) or [0, 0])[1])
        if result.returncode != 0:
            is_fine = False
            print(result.stdout, flush=True)
    run()
    with open(os.path.join(REPOSITORY, "schemas/openapi.yaml"), encoding="utf-8") as file:
        declared = len(re.findall(r"^ +operationId: ", file.read(), re.M))
    print(f"{tested} of {declared} operations were tested", flush=True)
    # All but the stream.
    return 0 if is_fine and tested == declared - 1 else 1


if __name__ == "__main__":
    ROUSE, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    # Threads of a test runner block signals, and what they start inherits that: SIGTERM and SIGINT would end nothing.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("the check was not done after half an hour"))
    signal.alarm(1800)
    programs = []
    try:
        sys.exit(main())
    finally:
        for program in programs:
            program.terminate()
        for program in programs:
            program.wait(30)
else:
    with open(os.environ["CHECK_API_KNOWN"], encoding="utf-8") as file:
        hooks(json.load(file))
