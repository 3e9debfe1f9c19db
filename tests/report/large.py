#!/usr/bin/env python3
"""Pages of large runs: 10,320 requests, all of them drawn in a page under 5 MB that answers; 24,000,
of which the beginnings are drawn, while its numbers are of all. Output is TAP.

usage: large.py WRITE_LARGE"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TALLY = os.path.join(os.environ["TALLY_BUILD"], "tally")
SOURCE = os.environ["TALLY_SOURCE"]
BANDS = [4, 8, 16, 32]
LIMIT = 5_000_000

number = failed = 0


def check(what, seen, wanted):
    global number, failed
    number += 1
    failed += seen != wanted
    print(f"{'ok' if seen == wanted else 'not ok'} {number} - {what}")
    if seen != wanted:
        print(f"# saw    {seen!r}\n# wanted {wanted!r}")


def page_of(work, seconds):
    run, page = os.path.join(work, f"run-{seconds}"), os.path.join(work, f"page-{seconds}.html")
    subprocess.run([sys.argv[1], run, str(seconds)], check=True)
    subprocess.run([TALLY, "report", run, "-o", page], check=True, stderr=subprocess.DEVNULL)
    with open(page, encoding="utf-8") as f:
        return run, page, f.read()


def rows_of(html):
    return [json.loads(t) for t in re.findall(r'<script type=application/json id=\S+>(.*?)</script>', html)]


def main():
    with tempfile.TemporaryDirectory(prefix="tally-large-") as work:
        run, page, html = page_of(work, 26)
        data = rows_of(html)
        requests = [2 * [c * 86] for c in BANDS]  # 26 s / 300 ms
        requests = [n for pair in requests for n in pair]
        check("a picture of every band and lane", len(data), 8)
        check("every request is drawn", [len(d["rows"]) for d in data], requests)
        check("10,000 requests and more", sum(requests) >= 10_000, True)
        check("under 5 MB", os.path.getsize(page) < LIMIT, True)

        _, more, html = page_of(work, 60)
        data = rows_of(html)
        requests = [n for c in BANDS for n in (c * 200, c * 200)]  # 60 s / 300 ms
        drawn = [len(d["rows"]) for d in data]
        check("24,000 requests: still a picture of every band and lane", len(data), 8)
        check("at most 12,000 are drawn, and most of that", 11_000 < sum(drawn) <= 12_000, True)
        check("small bands are drawn whole", drawn[:4], requests[:4])
        check("large ones say of how many", [d["of"] for d in data], requests)
        check("in words too", re.findall(r": the first (\d+) of (\d+) requests", html),
              [(str(d), str(n)) for d, n in zip(drawn, requests) if d < n])
        check("they are the first that were sent", all(
            max(r[1] for r in d["rows"]) < 60_000 * len(d["rows"]) / d["of"] + 300 for d in data), True)
        check("tables are of all requests", [int(n) for n in re.findall(
            r"Time to first token at c = \d+.*?<tbody><tr><td>subject<td>(\d+)", html, re.S)],
              [c * 200 for c in BANDS])
        check("under 5 MB", os.path.getsize(more) < LIMIT, True)
        print(f"1..{number}")
        if failed:
            return 1
        # The page answers: the same checks as for any other, where there is a browser.
        if not shutil.which("node"):
            return 0
        seen = subprocess.run(["node", os.path.join(SOURCE, "tests", "report", "browser.mjs"), run,
                               page], stdout=subprocess.PIPE, text=True)
        for line in seen.stdout.splitlines():
            print("# " + line)
        return seen.returncode


sys.exit(main())
