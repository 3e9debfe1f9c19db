#!/usr/bin/env python3
"""Kills `tally run --ledger` at random moments and looks at what is left.

usage: kill.py BUILD SOURCE

After each kill -9 the ledger's chain must hold, the run directory must be readable (whole, or
INCOMPLETE{interrupted}), and the cell that was claimed must stay spent. TALLY_KILLS says how often
(default 8; the moments are drawn with a fixed seed). Output is TAP.
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

BUILD, SOURCE = sys.argv[1], sys.argv[2]
KILLS = int(os.environ.get("TALLY_KILLS", "8"))
TALLY, SIM = os.path.join(BUILD, "tally"), os.path.join(BUILD, "tally-sim")
TOKENIZER = os.path.join(SOURCE, "examples/demo/tokenizer.json")


def tally(*words, **more):
    return subprocess.run(
        [TALLY, *words], capture_output=True, text=True, check=False, timeout=120, **more
    )


def run_words(port, build, out):
    return [
        "run", "--lane", f"subject=http://127.0.0.1:{port}", "--build", f"subject={build}",
        "--tokenizer", TOKENIZER, "--corpus", "w.jsonl", "--bands", "1,2", "--replicates", "1",
        "--requests", "4", "--max-tokens", "8", "--cooldown", "50ms", "--sign", "ci.key",
        "--ledger", "ledger.db", "--out", out, "--quiet",
    ]


def links(kind):
    lines = tally("ledger", "list", "ledger.db").stdout.splitlines()[1:]
    return sum(1 for line in lines if line.split()[1] == kind)


def main():
    problems, seen = [], {"nothing": 0, "claimed": 0, "cut off": 0, "whole": 0}
    draw = random.Random(2026)
    sim = subprocess.Popen(
        [SIM, "--profile", "llama-server", "--tokenizer", TOKENIZER, "--model", "demo",
         "--port", "0", "--decode-base", "10ms", "--decode-per-seq", "0ms"],
        stdout=subprocess.PIPE, text=True,
    )
    try:
        port = "".join(c if c.isdigit() else " " for c in sim.stdout.readline()).split()[-1]
        tally("corpus", "make", "-t", TOKENIZER, "--tokens", "64", "-n", "8", "-o", "w.jsonl")
        tally("key", "new", "ci.key")
        began = time.monotonic()
        if tally(*run_words(port, "whole", "whole")).returncode not in (0, 4):
            problems.append("the run that nobody killed wrote no receipt")
        whole = time.monotonic() - began
        for i in range(KILLS):
            spends, out = links("spend"), f"run-{i}"
            child = subprocess.Popen([TALLY, *run_words(port, i, out)], stderr=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL)
            time.sleep(draw.uniform(0, 1.1 * whole))
            child.send_signal(signal.SIGKILL)
            child.wait()
            chain = tally("ledger", "check", "ledger.db")
            if chain.returncode not in (0, 3):
                problems.append(f"kill {i}: the chain: {chain.stderr}")
            claimed = links("spend") - spends
            if claimed not in (0, 1):
                problems.append(f"kill {i}: {claimed} claims of one run")
            left = "nothing"
            if os.path.exists(os.path.join(out, "run.json")):
                verdict = tally("verify", out)
                left = {0: "whole", 3: "cut off"}.get(verdict.returncode)
                shown = tally("show", out)
                if left is None or shown.returncode not in (0, 3):
                    problems.append(f"kill {i}: {verdict.stdout} {verdict.stderr} {shown.stderr}")
                    continue
            elif claimed:
                left = "claimed"
            seen[left] += 1
            if left != "nothing" and not claimed:
                problems.append(f"kill {i}: a run directory without a claim")
            if claimed and tally(*run_words(port, i, out + "-again")).returncode != 4:
                problems.append(f"kill {i}: the claimed cell could be spent again")
    finally:
        sim.kill()
        sim.wait()
    print("1..2")
    print(f"# {KILLS} kills left: {seen}")
    print(f"{'not ok' if problems else 'ok'} 1 - the ledger and every run directory stand")
    for p in problems[:10]:
        print("# " + p.replace("\n", "\n# "))
    # Kills that all fall into the same moment would prove little.
    print(f"{'ok' if seen['cut off'] > 0 else 'not ok'} 2 - some kills fell into the measurement")
    return 1 if problems or seen["cut off"] == 0 else 0


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    code = main()
    os.chdir("/")
sys.exit(code)
