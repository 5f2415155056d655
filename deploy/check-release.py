#!/usr/bin/env python3
"""Checks the types of each module as a release build does, after a debug build.

    swift build && deploy/check-release.py

A debug build compiles the files of a module one by one, a release build all at once. Then the imports of one file are visible to the
others, and the compiler can refuse what it takes in a debug build. This finds such places in a minute; a release build takes many.

The flags come from the manifest that SwiftPM writes for the debug build. The exit status is 1 if a module has an error, or if the
manifest has none of the project's modules.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

MANIFEST = pathlib.Path(".build/debug.yaml")
# What writes files or belongs to compiling the files one by one, without and with an argument.
DROPPED = {"-emit-dependencies", "-emit-module", "-incremental", "-c", "-enable-batch-mode", "-serialize-diagnostics",
           "-parseable-output", "-enable-testing", "-DDEBUG", "-O"}
DROPPED_WITH_ARGUMENT = {"-emit-module-path", "-output-file-map", "-index-store-path", "-assert-config"}


def commands():
    """The compiler's arguments for each module of the project, by its name."""
    sources = f"{os.getcwd()}/Sources/"
    found = {}
    for line in MANIFEST.read_text().splitlines():
        match = re.match(r'\s+args: (\[.*"-module-name".*\])', line)
        arguments = json.loads(match.group(1)) if match else []
        lists = [pathlib.Path(argument[1:]) for argument in arguments if argument.startswith("@")]
        if not lists or not lists[0].exists() or not lists[0].read_text().lstrip("'").startswith(sources):
            continue
        found[arguments[arguments.index("-module-name") + 1]] = list(kept(arguments))
    return found


def kept(arguments):
    """The arguments that a check of types needs."""
    rest = iter(arguments)
    for argument in rest:
        if argument in DROPPED_WITH_ARGUMENT:
            next(rest)
        elif argument not in DROPPED:
            yield argument


def check(arguments):
    """Runs the compiler, and returns its exit status and words."""
    run = subprocess.run(arguments + ["-typecheck", "-whole-module-optimization"], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def main():
    if not MANIFEST.exists():
        sys.exit(f"check-release.py: {MANIFEST} is missing; run swift build first, in the folder of the project")
    modules = commands()
    if "rouse" not in modules:
        sys.exit(f"check-release.py: {MANIFEST} does not have the project's modules in the form that this script reads")
    failed = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (status, words) in zip(modules, pool.map(check, modules.values())):
            if status:
                failed.append(name)
                print(words, file=sys.stderr)
    if failed:
        sys.exit(f"check-release.py: a release build would fail in {', '.join(failed)}")
    print(f"{len(modules)} modules, no problem found")


main()
