#!/usr/bin/env python3
"""Runs against a disk that is full, and one that is read-only.

usage: disk.py BUILD SOURCE

A small tmpfs in a mount namespace of our own stands for the disk. What cannot be written is refused
with exit code 5 and the system's reason; what was written before stays readable; the ledger's chain
holds, and no cell is spent by a run that could not begin. Output is TAP; skipped where the system
allows no mount namespace.
"""
import os
import subprocess
import sys
import tempfile

BUILD, SOURCE = sys.argv[1], sys.argv[2]
TALLY, SIM = os.path.join(BUILD, "tally"), os.path.join(BUILD, "tally-sim")
TOKENIZER = os.path.join(SOURCE, "examples/demo/tokenizer.json")
results = []


def check(name, good, more=""):
    results.append(good)
    print(f"{'ok' if good else 'not ok'} {len(results)} - {name}")
    if not good and more:
        print("# " + more.replace("\n", "\n# "))


def tally(*words):
    return subprocess.run([TALLY, *words], capture_output=True, text=True, check=False, timeout=300)


def run(port, out, ledger, build, *more):
    return tally(
        "run", "--lane", f"subject=http://127.0.0.1:{port}", "--build", f"subject={build}",
        "--tokenizer", TOKENIZER, "--corpus", "w.jsonl", "--bands", "1,2", "--replicates", "2",
        "--requests", "20", "--max-tokens", "16", "--cooldown", "0s", "--ledger", ledger,
        "--out", out, "--quiet", *more,
    )


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def full(port):
    """Big enough to begin a run, too small to end it."""
    os.mkdir("small")
    mount("-t", "tmpfs", "-o", "size=48k", "tmpfs", "small")
    got = run(port, "small/run", "ledger.db", "full")
    check("a disk that fills up ends the run with exit code 5, and its reason",
          got.returncode == 5 and "No space left" in got.stderr, got.stdout + got.stderr)
    left = tally("verify", "small/run")
    check("what was written before is read as a run that was cut off", left.returncode == 3,
          left.stdout + left.stderr)
    shown = tally("show", "small/run")
    check("and shown", shown.returncode in (0, 3), shown.stderr)
    chain = tally("ledger", "check", "ledger.db")
    check("the ledger stands, and knows a claim without its receipt", chain.returncode == 3,
          chain.stdout + chain.stderr)
    again = run(port, "again", "ledger.db", "full")
    check("the cell stays spent", again.returncode == 4 and "was spent" in again.stderr,
          again.stderr)


def full_ledger(port):
    """The ledger's disk has no room for one more claim."""
    os.mkdir("tight")
    mount("-t", "tmpfs", "-o", "size=128k", "tmpfs", "tight")
    first = run(port, "first", "tight/ledger.db", "one")
    check("a ledger with room takes a run", first.returncode in (0, 4), first.stderr)
    before = tally("ledger", "export", "tight/ledger.db").stdout
    ballast = os.open("tight/ballast", os.O_WRONLY | os.O_CREAT)
    try:
        while os.write(ballast, b"x" * 512):
            pass
    except OSError:
        pass
    os.close(ballast)
    got = run(port, "second", "tight/ledger.db", "two")
    check("a ledger without room refuses the run before it is timed", got.returncode == 5
          and not os.path.exists("second/run.json"), got.stdout + got.stderr)
    check("and says why", "full" in got.stderr or "No space" in got.stderr, got.stderr)
    os.remove("tight/ballast")
    after = tally("ledger", "export", "tight/ledger.db").stdout
    check("nothing of it was lost", after == before and before != "", after)
    check("nor spent: with room again the run is taken",
          run(port, "third", "tight/ledger.db", "two").returncode in (0, 4))


def read_only(port):
    os.mkdir("stone")
    mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", "stone")
    first = run(port, "stone/run", "stone/ledger.db", "one")
    check("a run on a disk that will be read-only", first.returncode in (0, 4), first.stderr)
    # A copy whose last links stand in a log that only a disk with room can read.
    with open("stone/ledger.db", "rb") as f, open("stone/torn.db", "wb") as torn:
        torn.write(f.read())
    with open("stone/torn.db-wal", "wb") as f:
        f.write(b"x" * 64)
    mount("-o", "remount,ro", "stone")
    torn = tally("ledger", "list", "stone/torn.db")
    check("a log that cannot be read is not passed over", torn.returncode == 5
          and "torn.db-wal" in torn.stderr, torn.stdout + torn.stderr)
    for command in (["verify", "stone/run"], ["show", "stone/run"],
                    ["ledger", "list", "stone/ledger.db"], ["ledger", "check", "stone/ledger.db"]):
        got = tally(*command)
        check(f"read-only: tally {' '.join(command[:2])}", got.returncode == 0, got.stderr)
    got = run(port, "fourth", "stone/ledger.db", "two")
    check("a read-only ledger refuses the run before it is timed", got.returncode == 5
          and not os.path.exists("fourth/run.json"), got.stdout + got.stderr)
    check("and says that it is read-only", "read-only" in got.stderr.lower()
          or "readonly" in got.stderr.lower(), got.stderr)
    got = run(port, "stone/new", "ledger.db", "three")
    check("a run directory on a read-only disk is refused", got.returncode == 5, got.stderr)
    check("with the system's reason", "Read-only file system" in got.stderr, got.stderr)


def main():
    sim = subprocess.Popen(
        [SIM, "--profile", "llama-server", "--tokenizer", TOKENIZER, "--model", "demo",
         "--port", "0", "--decode-base", "2ms", "--decode-per-seq", "0ms"],
        stdout=subprocess.PIPE, text=True,
    )
    try:
        port = "".join(c if c.isdigit() else " " for c in sim.stdout.readline()).split()[-1]
        tally("corpus", "make", "-t", TOKENIZER, "--tokens", "64", "-n", "8", "-o", "w.jsonl")
        full(port)
        full_ledger(port)
        read_only(port)
    finally:
        sim.kill()
        sim.wait()
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


def enter():
    """Again, in a mount namespace of our own."""
    if os.environ.get("TALLY_DISK_INSIDE"):
        return
    words = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-r", "-m"]
    trial = subprocess.run(
        [*words, "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"], capture_output=True,
        check=False) if os.path.exists("/usr/bin/unshare") else None
    if trial is None or trial.returncode != 0:
        print("1..0 # SKIP no mount namespace of our own can be had here")
        sys.exit(0)
    os.environ["TALLY_DISK_INSIDE"] = "1"
    os.execvp(words[0], [*words, sys.executable, *sys.argv])


enter()
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    try:
        code = main()
    finally:
        os.chdir("/")
        for name in ("small", "tight", "stone"):
            subprocess.run(["umount", os.path.join(directory, name)], check=False,
                           capture_output=True)
sys.exit(code)
