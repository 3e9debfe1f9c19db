#!/usr/bin/env python3
"""A run of this client as it is, and of one slowed on purpose, against the same simulated server.

usage: saturation.py BUILD SOURCE

The slowed one must be refused, and the other must be ok: that is tried up to three times, because
a machine that is busy with other things does slow the client.
"""
import json
import os
import subprocess
import sys
import tempfile

BUILD, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
TOKENIZER = os.path.join(SOURCE, "examples", "demo", "tokenizer.json")
TRIES = 3


def measure(url, corpus, out, *words):
    subprocess.run([os.path.join(BUILD, "tally"), "run", "--lane", url, "-t", TOKENIZER, "-c",
                    corpus, "-o", out, "--bands", "8", "-r", "1", "--window", "5s", "--cooldown",
                    "0", "--max-tokens", "32", "--quiet", *words], stdout=subprocess.DEVNULL)
    with open(os.path.join(out, "receipt.json")) as f:
        return json.load(f)["bands"][0]


def tell(name, band):
    v = band["validity"]
    gap = band["metrics"]["chunk_gap_ms"] or {"p50": None}
    figures = (v["cpu_share"], v["read_lag_ms"]["p50"], v["read_lag_ms"]["p99"], gap["p50"])
    print(f"{name:16}  {v['client']:9}  {band['status']:8}  " +
          "  ".join(f"{'-':>10}" if x is None else f"{x:10.3f}" for x in figures), flush=True)


def main():
    with tempfile.TemporaryDirectory() as work:
        corpus = os.path.join(work, "w.jsonl")
        subprocess.run([os.path.join(BUILD, "tally"), "corpus", "make", "-t", TOKENIZER,
                        "--tokens", "64", "-n", "8", "-o", corpus], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sim = subprocess.Popen(
            [os.path.join(BUILD, "tally-sim"), "--tokenizer", TOKENIZER, "--model", "demo",
             "--port", "0", "--decode-base", "50ms", "--decode-per-seq", "0ms"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        url = "http://127.0.0.1:" + sim.stdout.readline().rstrip().rstrip("/").rsplit(":", 1)[1]
        try:
            print(f"{'client':16}  {'validity':9}  {'band':8}  {'cpu share':>10}  {'lag p50 ms':>10}"
                  f"  {'lag p99 ms':>10}  {'gap p50 ms':>10}")
            slowed = measure(url, corpus, os.path.join(work, "slow"), "--burn", "10ms")
            tell("burning 10 ms", slowed)
            for i in range(TRIES):
                band = measure(url, corpus, os.path.join(work, f"as-it-is-{i}"))
                tell("as it is", band)
                if band["validity"]["client"] == "ok":
                    break
        finally:
            sim.terminate()
            sim.wait()
    sound = (slowed["validity"]["client"], band["validity"]["client"]) == ("saturated", "ok")
    print("the slowed client is refused and the other ok" if sound else
          "NOT as it should be: is this machine busy?")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
