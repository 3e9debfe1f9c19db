#!/usr/bin/env python3
"""The table of wire cases in README.md: each of the 41 has tests, and each test named there exists.

usage: table.py             (TALLY_SOURCE names the source tree)

Output is TAP.
"""
import os
import re
import sys

SOURCE = os.environ["TALLY_SOURCE"]
CASES = 41


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as f:
        return f.read()


def is_there(word, faults):
    """word: cases/NAME.wire, FILE: FUNCTION, FILE, or fault NAME."""
    if word.startswith("cases/"):
        return os.path.exists(os.path.join(SOURCE, "tests", "wire", word))
    path, _, function = word.partition(": ")
    if not os.path.exists(os.path.join(SOURCE, path)):
        return False
    return not function or re.search(
        rf"^(def |static void |int ){re.escape(function)}\(", read(path), re.M) is not None


def main():
    failures = []
    rows = re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", read("tests", "wire", "README.md"), re.M)
    tried = set(re.findall(r'^    "([a-z0-9-]+)', read("tests", "load", "faults.py"), re.M))
    known = set(re.findall(r'X\(FAULT_\w+, "([a-z0-9-]+)"', read("sim", "fault.h")))
    if [int(n) for n, _ in rows] != list(range(1, CASES + 1)):
        failures.append("the cases do not run from 1 to 41, each once")
    for number, tests in rows:
        named = 0
        for fault, word in re.findall(r"(fault )?`([^`]+)`", tests):
            named += 1
            if not (word in known and word in tried if fault else is_there(word, known)):
                failures.append(f"case {number}: there is no {fault}{word}")
        if not named:
            failures.append(f"case {number} has no test")
    mentioned = set(re.findall(r"`([a-z0-9-]+)`", read("tests", "wire", "README.md")))
    for fault in sorted(known - mentioned - {"delay", "bad-chunk-size", "html"}):
        failures.append(f"the fault {fault} plays no case")
    print("1..1")
    print(f"{'not ok' if failures else 'ok'} 1 - {CASES} cases, each with tests that are there")
    for f in failures:
        print("# " + f)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
