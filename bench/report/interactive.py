#!/usr/bin/env python3
"""How soon the page of a large run answers in headless Chromium: a run of 10,320 requests and one of
24,000, written by the real producer. Prints a table; fails when a page is 5 MB or more.

usage: interactive.py WRITE_LARGE TALLY"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    write_large, tally = (os.path.abspath(p) for p in sys.argv[1:3])
    if not shutil.which("node"):
        print("node is absent: nothing is measured")
        return 0
    print(f"{'requests':>9}{'page, MB':>10}{'written, s':>12}{'interactive, ms':>17}"
          f"{'band shown, ms':>16}{'all shown, ms':>15}")
    bad = False
    with tempfile.TemporaryDirectory(prefix="tally-bench-") as work:
        for seconds, requests in ((26, 10_320), (60, 24_000)):
            run, page = os.path.join(work, str(seconds)), os.path.join(work, f"{seconds}.html")
            subprocess.run([write_large, run, str(seconds)], check=True)
            begin = time.monotonic()
            subprocess.run([tally, "report", run, "-o", page], check=True, stderr=subprocess.DEVNULL)
            written, size = time.monotonic() - begin, os.path.getsize(page)
            p = subprocess.run(["node", os.path.join(HERE, "interactive.mjs"), page],
                               stdout=subprocess.PIPE, text=True)
            if p.returncode != 0 or not p.stdout.strip():
                print("Chromium or playwright-core is absent (tools/fetch-peers BROWSER)")
                return 0
            seen = json.loads(p.stdout)
            print(f"{requests:>9}{size / 1e6:>10.2f}{written:>12.2f}{seen['interactive']:>17.0f}"
                  f"{seen['band']:>16.0f}{seen['all']:>15.0f}")
            bad |= size >= 5_000_000
    return bad


sys.exit(main())
