#!/usr/bin/env python3
"""Nine runs by the real producer, their trend with a gate's matrix over it, and what trend.mjs sees of
it in a browser. Output is TAP; skipped where node is absent.

usage: trend.py WRITE_TREND"""
import os
import shutil
import subprocess
import sys
import tempfile

TALLY = os.path.join(os.environ["TALLY_BUILD"], "tally")
SOURCE = os.environ["TALLY_SOURCE"]
MATRIX = """version: 1
hosts: [lab-a]
models: [tiny]
workloads: [w1]
bands: [2, 4]
arms:
  parity:
    kind: parity
    metrics: [agg_tok_s, ttft_ms]
    delta: {value: 0.05, class: policy, author: N. N., date: 2026-12-01}
  ratchet:
    kind: self-regression
    metrics: [ttft_ms.p50, agg_tok_s, decode_tok_s]
    delta: {value: 0.03, class: ratchet, author: N. N., date: 2026-12-01}
cells:
  - {host: lab-a, model: tiny, workload: w1, state: MEASURED}
"""


def main():
    if not shutil.which("node"):
        print("1..0 # SKIP node is absent")
        return 0
    with tempfile.TemporaryDirectory(prefix="tally-trend-") as work:
        subprocess.run([sys.argv[1], work], check=True)
        runs = [os.path.join(work, f"run-{i}") for i in range(1, 10)]
        matrix, page = os.path.join(work, "matrix.yaml"), os.path.join(work, "trend.html")
        with open(matrix, "w") as f:
            f.write(MATRIX)
        # Given in any order, shown in that of their start.
        subprocess.run([TALLY, "report", *reversed(runs), "--matrix", matrix, "-o", page],
                       check=True, stderr=subprocess.DEVNULL)
        return subprocess.run(["node", os.path.join(SOURCE, "tests", "report", "trend.mjs"), page,
                               *runs]).returncode


sys.exit(main())
