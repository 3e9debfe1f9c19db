#!/usr/bin/env python3
"""Makes a run of two lanes, four bands and three replicates on simulated servers, writes its report,
and has browser.mjs look at it. Output is TAP; skipped where node is absent."""
import os
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ["TALLY_BUILD"]
SOURCE = os.environ["TALLY_SOURCE"]
TOKENIZER = os.path.join(SOURCE, "examples", "demo", "tokenizer.json")
TALLY = os.path.join(BUILD, "tally")
SIM = os.path.join(BUILD, "tally-sim")


def start(profile):
    p = subprocess.Popen([SIM, "--profile", profile, "--tokenizer", TOKENIZER, "--port", "0",
                          "--slots", "16"], stdout=subprocess.PIPE, text=True)
    return p, p.stdout.readline().strip()


def main():
    if not shutil.which("node"):
        print("1..0 # SKIP node is absent")
        return 0
    servers = []
    with tempfile.TemporaryDirectory(prefix="tally-report-") as work:
        try:
            servers = [start("llama-server"), start("vllm")]
            corpus, run, page = (os.path.join(work, n) for n in ("c.jsonl", "run", "page.html"))
            subprocess.run([TALLY, "corpus", "make", "--tokenizer", TOKENIZER, "--tokens", "64",
                            "--tolerance", "4", "--count", "200", "--out", corpus], check=True,
                           stderr=subprocess.DEVNULL)
            # What the machine makes of it (a busy one is refused) is no matter here.
            subprocess.run([TALLY, "run", "--tokenizer", TOKENIZER, "--corpus", corpus,
                            "--lane", "subject=" + servers[0][1],
                            "--lane", "comparator=" + servers[1][1], "--bands", "1,2,4,8",
                            "--replicates", "3", "--window", "1s", "--min-samples", "3",
                            "--max-tokens", "12", "--cooldown", "0", "--out", run],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run([TALLY, "report", run, "-o", page], check=True,
                           stderr=subprocess.DEVNULL)
            return subprocess.run(["node", os.path.join(SOURCE, "tests", "report", "browser.mjs"),
                                   run, page]).returncode
        finally:
            for p, _ in servers:
                p.terminate()
                p.wait()


sys.exit(main())
