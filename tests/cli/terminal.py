#!/usr/bin/env python3
"""What a terminal sees of a run: one live line that fits, whatever the width becomes; colour only
where it is wanted; plain lines where there is no terminal. Output is TAP."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

BUILD = os.environ["TALLY_BUILD"]
SOURCE = os.environ["TALLY_SOURCE"]
TALLY = os.path.join(BUILD, "tally")
TOKENIZER = os.path.join(SOURCE, "examples", "demo", "tokenizer.json")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

number = failed = 0


def check(what, good, seen=""):
    global number, failed
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {what}")
    if not good:
        print(f"# saw {seen!r}")


def resize(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def on_terminal(argv, columns, environment, then=None):
    """All that argv prints to a terminal so wide; `then` narrows it when the window has opened."""
    master, slave = pty.openpty()
    resize(master, columns)
    bare = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "TERM")}
    p = subprocess.Popen(argv, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave,
                         env={**bare, "TERM": "xterm", **environment})
    os.close(slave)
    seen, narrowed_at = b"", None
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
        if then and narrowed_at is None and b" window: " in seen:
            resize(master, then)
            narrowed_at = len(seen)
    p.wait()
    os.close(master)
    text = seen.decode("utf-8", "replace")
    return text, len(seen[:narrowed_at].decode("utf-8", "replace"))


def counting(work):
    """`tally count` of a file of two seconds, fed by a pipe that is slow on purpose."""
    slow = os.path.join(work, "slow")
    os.mkfifo(slow)
    feeder = subprocess.Popen(["sh", "-c", 'for i in 1 2 3 4 5 6 7 8; do echo "one more line"; '
                                           'sleep 0.3; done >"$0"', slow])
    text, _ = on_terminal([TALLY, "count", "--tokenizer", TOKENIZER, slow, TOKENIZER], 80, {})
    feeder.wait()
    return live(text)


def live(text):
    """The live lines: behind a CR, ended by erasing what stood there."""
    return [s for s in re.findall(r"\r([^\r\n\x1b]*)\x1b\[K", text) if s]


def main():
    server = subprocess.Popen([os.path.join(BUILD, "tally-sim"), "--tokenizer", TOKENIZER, "--port",
                               "0", "--slots", "4"], stdout=subprocess.PIPE, text=True)
    try:
        with tempfile.TemporaryDirectory(prefix="tally-terminal-") as work:
            corpus = os.path.join(work, "c.jsonl")
            subprocess.run([TALLY, "corpus", "make", "--tokenizer", TOKENIZER, "--tokens", "64",
                            "--tolerance", "4", "--count", "100", "--out", corpus], check=True,
                           stderr=subprocess.DEVNULL)
            url = server.stdout.readline().strip()

            def run(name):
                return [TALLY, "run", "--tokenizer", TOKENIZER, "--corpus", corpus, "--lane",
                        "subject=" + url, "--bands", "2", "--replicates", "1", "--window", "3s",
                        "--min-samples", "3", "--max-tokens", "12", "--cooldown", "0", "--out",
                        os.path.join(work, name)]

            text, at = on_terminal(run("a"), 80, {}, then=46)
            before, after = live(text[:at]), live(text[at:])
            check("live lines in a window of 80 columns", len(before) >= 1 and
                  all(len(s) <= 79 for s in before), before)
            check("they say what is done and what is left", any(
                re.match(r"\[1/1\] subject c=2 rep 1/1 [a-z-]+: \d+ req.*, left \d+ s$", s)
                for s in before), before)
            # The one line that was on its way when the terminal was resized may be the old width's.
            check("narrowed to 46 columns they fit again", len(after) >= 2 and
                  all(len(s) <= 45 for s in after[1:]), after)
            check("rate and TTFT give way, the time left last", all(
                "TTFT" not in s and "tok/s" not in s for s in after[1:]), after)
            check("the band's end is in colour", bool(COLOUR.search(text)))

            text, _ = on_terminal(run("b"), 80, {"NO_COLOR": "1", "COLUMNS": "120"})
            wide = live(text)
            check("NO_COLOR: none", not COLOUR.search(text), COLOUR.findall(text))
            check("COLUMNS goes before the terminal's own width", any(len(s) > 60 for s in wide) and
                  any("tok/s, TTFT" in s and ", left " in s for s in wide), wide)
            text, _ = on_terminal([TALLY, "count", "--nothing"], 80, {"TERM": "dumb"})
            check("TERM=dumb: no colour", "tally:" in text and not COLOUR.search(text), text)

            seen = counting(work)
            check("count shows how far it is, once it takes long", len(seen) >= 2 and all(
                re.match(r"0 of 2 files  [0-9.]+ MB  [0-9.]+ MB/s$", s) for s in seen), seen)

            p = subprocess.run(run("c"), capture_output=True, text=True)
            check("no terminal: no live line, no colour, a line a band",
                  "\r" not in p.stderr and "\x1b" not in p.stderr and
                  "requests in the window\n" in p.stderr, p.stderr)
    finally:
        server.terminate()
        server.wait()
    print(f"1..{number}")
    return failed > 0


sys.exit(main())
