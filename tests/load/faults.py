#!/usr/bin/env python3
"""Every fault of tally-sim against `tally run`: its outcome and kind by spec section 7, its first
bytes kept, nothing of it in a success statistic; and an interruption at any moment leaves a run
directory that can be read.

usage: faults.py            (TALLY_BUILD and TALLY_SOURCE name the build and the source tree)

The wire cases that each fault plays are named in tests/wire/README.md. Output is TAP.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

import end_to_end as e2e
from end_to_end import Server, check, receipt, run

TOKENS = 6
SPARED = 6  # more or less what is asked before the clock, and the one warm-up request
OK = ("ok", None, "")
CUT = ("truncated", None, "the connection ended before the response did: ")
UNFINISHED = ("truncated", None, "no finish_reason came")

# The fault, what becomes of its requests (outcome, failure, how the error begins), the wire cases.
FAULTS = {
    "delay:100ms": OK,
    "stall:1h": ("timed_out", None, "timed out after 1500 ms"),                         # 32
    "reset:2": CUT,                                                                     # 2
    "truncate:2": UNFINISHED,                                                           # 2
    "cut:2": CUT,                                                                       # 2
    "bad-chunk-size:2": ("failed", "protocol", ""),
    "slow-body:64": OK,                                                                 # 4
    "429:7": ("failed", "http", "HTTP 429, Retry-After 7 s: "),                         # 9
    "500-html": ("failed", "http", "HTTP 500: <"),                                      # 9
    "html": ("failed", "protocol", "not a completion but markup: <"),
    "error-before": ("failed", "http", "HTTP 500: "),                                   # 9
    "error-first": ("failed", "server_error", ""),                                      # 1
    "error-mid-stream:2": ("failed", "server_error", ""),                               # 1
    "replay": OK,                                                                       # 22
    "keepalive-close": ("failed", "connect", "the reused connection was closed before"),  # 8
    "header-flood": ("failed", "protocol", "more than 262144 bytes of response headers"),
    "endless-line": ("failed", "client", "a response of more than 67108864 bytes"),
    "no-finish": UNFINISHED,                                                            # 2
    "no-done": OK,                                                                      # 2
    "done-only": ("failed", "protocol", "no token and no finish_reason came: "),        # 3
    "usage-absent": OK,                                                                 # 11
    "usage-cumulative": OK,                                                             # 14
    "split-utf8:2ms": OK,                                                               # 7
    "one-byte-writes:50us": OK,                                                         # 4
    "early-stop:3": ("short", None, ""),                                                # 38
    "wrong-count:2": OK,                                                                # 18
    "repeat": OK,                                                                       # 39
    "batch-repeat": OK,                                                                 # 39
    "batch-drift:3": OK,                                                                # 39
    "comments": OK,                                                                     # 6
    "crlf": OK,                                                                         # 5
    "cap-inflight:1": OK,                                                               # 37
}


def text_of(sample):
    return "".join(e.get("text", "") for e in sample["events"] if e["kind"] == "text")


def tokens_of(sample):
    return sum(e["kind"] == "text" and bool(e.get("text")) for e in sample.get("events", []))


def fail_at_once(fault, out):
    with Server("--profile", "llama-server", "--decode-base", "5ms", "--decode-per-seq", "0ms",
                "--fault", fault, "--fault-after", str(SPARED), "--fault-every", "2") as a:
        code, _, err = run(out, "--lane", a.url, "--bands", "1", "--replicates", "1", "--warmup",
                           "3", "--requests", "6", "--max-tokens", str(TOKENS), "--timeout",
                           "1500ms", "--no-probe", "--no-token-progress")
    return code, err


def try_fault(fault, wanted, parity):
    name = fault.split(":")[0]
    out = "fault-" + name
    code, err = fail_at_once(fault, out)
    if not os.path.exists(os.path.join(out, "receipt.json")):
        check(f"{fault}: measured", (code, err), (0, ""))
        return
    band = receipt(out)["bands"][0]
    window = sorted((s for s in e2e.samples(out) if s["phase"] == "window"),
                    key=lambda s: s["seq"])
    check(f"{fault}: every request issued is there", len(window), 6)
    outcome, failure, begins = wanted
    hit, spared = window[parity::2], window[1 - parity::2]
    if outcome != "ok":
        # Where the server closed behind its answer, the next request may have met a dead connection
        # (wire case 8), which the server never counted.
        hit = [s for s in window if s["outcome"] != "ok" and (failure == "connect" or not s.get(
            "error", "").startswith("the reused connection was closed"))]
        spared = [s for s in window if s["outcome"] == "ok"]
    check(f"{fault}: {outcome}{'/' + failure if failure else ''}",
          ({(s["outcome"], s.get("failure")) for s in hit}, len(hit) > 0),
          ({(outcome, failure)}, True))
    check(f"{fault}: its first words are kept",
          [s.get("error", "") for s in hit if not s.get("error", "").startswith(begins) or
           bool(s.get("error")) != (outcome not in ("ok", "short"))], [])
    check(f"{fault}: the others are ok", ({s["outcome"] for s in spared}, len(spared) > 0),
          ({"ok"}, True))
    check(f"{fault}: the receipt counts every outcome",
          {k: band["counts"][k] for k in ("ok", "failed", "timed_out", "truncated", "short")},
          {k: sum(s["outcome"] == k for s in window)
           for k in ("ok", "failed", "timed_out", "truncated", "short")})
    if outcome != "ok":
        measured = band["metrics"]["chunk_gap_ms"]
        check(f"{fault}: no gap of theirs is measured", measured is None or measured["n"] <=
              sum(tokens_of(s) - 1 for s in spared), True)
        check(f"{fault}: their tokens are wasted ones, and no others",
              bool(band["metrics"]["wasted_tok_s"] and band["metrics"]["wasted_tok_s"]["value"]),
              any(tokens_of(s) for s in hit))
    SPECIAL.get(name, lambda *unused: None)(hit, spared, band)


def replayed(hit, spared, band):
    check("replay: all tokens in one read or two, so bounds are wide and not zero",
          max(len({e["read"] for e in s["events"] if e["kind"] == "text"}) for s in hit) <= 2, True)


def no_done(hit, spared, band):
    check("no-done: finish_reason and [DONE] are two facts",
          {(s.get("saw_finish"), s.get("saw_done")) for s in hit}, {(True, None)})


def no_finish(hit, spared, band):
    check("no-finish: finish_reason and [DONE] are two facts",
          {(s.get("saw_finish"), s.get("saw_done")) for s in hit}, {(None, True)})


def usage_absent(hit, spared, band):
    check("usage-absent: null, never 0", {s.get("output_reported", {}).get("total") for s in hit} |
          {s.get("prompt_reported") for s in hit}, {None})
    check("usage-absent: then the text is counted, for all",
          band["tokens"]["output_count_source"], "retokenized")


def cumulative(hit, spared, band):
    check("usage-cumulative: the last word counts", {s["output_reported"]["total"] for s in hit},
          {TOKENS})


def whole_text(hit, spared, band):
    check("the text is whole: as many tokens as were asked for, no U+FFFD",
          [(s["output_retokenized"]["total"], "\ufffd" in text_of(s)) for s in hit],
          [(TOKENS, False)] * 3)


def wrong_count(hit, spared, band):
    r = band["tokens"]["reconciliation"]["retokenized_less_reported"]
    check("wrong-count: the readings are reconciled, and differ by two in three requests",
          (r["n"], r["differ"], r["min"], r["max"]), (6, 3, -2, 0))


def repeated(hit, spared, band):
    check("repeat: the answers are '!', over and over", {set(text_of(s)) == {"!"} for s in hit},
          {True})


def early(hit, spared, band):
    check("early-stop: judged by what came", {s["output_retokenized"]["total"] for s in hit}, {3})


SPECIAL = {"replay": replayed, "no-done": no_done, "no-finish": no_finish,
           "usage-absent": usage_absent, "usage-cumulative": cumulative, "split-utf8": whole_text,
           "one-byte-writes": whole_text, "comments": whole_text, "crlf": whole_text,
           "slow-body": whole_text, "wrong-count": wrong_count, "repeat": repeated,
           "early-stop": early}


def which_are_hit():
    """Every second request, from the first of the window on or from the second: that depends on how
    many were sent before it."""
    fail_at_once("429:1", "which")
    outcomes = [s["outcome"] for s in sorted(e2e.samples("which"), key=lambda s: s["seq"])
                if s["phase"] == "window"]
    check("every second request is hit", outcomes in (["ok", "failed"] * 3, ["failed", "ok"] * 3),
          True)
    return outcomes.index("failed")


def test_faults():
    listed = subprocess.run([e2e.SIM, "--help"], capture_output=True, text=True).stdout
    names = re.findall(r"^  ([a-z0-9-]+)", listed.split("Faults, with")[1].split("Exit codes")[0],
                       re.M)
    check("every fault that tally-sim knows is tried", sorted(set(names)),
          sorted({f.split(":")[0] for f in FAULTS}))
    parity = which_are_hit()
    for fault, wanted in FAULTS.items():
        try_fault(fault, wanted, parity)


def test_interrupted_anywhere():
    """Ctrl-C at any moment: in warm-up, silence, window, drain, cool-down, the other lane."""
    with Server("--profile", "llama-server", "--decode-base", "20ms") as a, \
            Server("--profile", "vllm", "--decode-base", "20ms") as b:
        for i, delay_s in enumerate((0, 0.02, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.2, 1.6, 2.1)):
            out = f"moment-{i}"
            p = subprocess.Popen(
                [e2e.TALLY, "run", "--tokenizer", e2e.TOKENIZER, "--corpus", "w.jsonl", "--out",
                 out, "--lane", f"subject={a.url}", "--lane", f"comparator={b.url}", "--bands",
                 "1,2", "--replicates", "2", "--requests", "4", "--max-tokens", "6", "--quiesce",
                 "150ms", "--cooldown", "200ms", "--no-probe", "--calibrate"] +
                (["--redact-text"] if i % 2 else []),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            deadline = time.monotonic() + e2e.TIMEOUT_S
            while not os.path.exists(os.path.join(out, "run.json")) and \
                    time.monotonic() < deadline and p.poll() is None:
                time.sleep(0.005)
            time.sleep(delay_s)
            p.send_signal(signal.SIGINT if i % 3 else signal.SIGTERM)
            _, err = p.communicate(timeout=e2e.TIMEOUT_S)
            check(f"interrupted {delay_s} s after the start: exit code", p.returncode, 130)
            if p.returncode != 130:
                print("# " + err.replace("\n", "\n# "))
                continue
            r = receipt(out)
            check(f"interrupted {delay_s} s after the start: the receipt says so",
                  (r["interrupted"], r["status"] in ("INCOMPLETE", "REFUSED", "UNMEASURED")),
                  (True, True))
            check(f"interrupted {delay_s} s after the start: every request is accounted for",
                  [x for x in r["bands"] if x["loop"]["issued"] != x["counts"]["issued"]], [])
            check(f"interrupted {delay_s} s after the start: it verifies, and can be shown",
                  (e2e.tally("verify", out)[0], e2e.tally("show", out)[0]), (0, 0))
            check(f"interrupted {delay_s} s after the start: nothing half-written lies there",
                  [f for _, _, files in os.walk(out) for f in files
                   if f.endswith((".tmp", ".jsonl"))], [])


def test_killed():
    """kill -9: no receipt, and all whole lines that were written can be read."""
    with Server("--profile", "llama-server", "--decode-base", "10ms") as a:
        p = subprocess.Popen(
            [e2e.TALLY, "run", "--tokenizer", e2e.TOKENIZER, "--corpus", "w.jsonl", "--out",
             "killed", "--lane", a.url, "--bands", "2", "--replicates", "1", "--max-tokens", "4",
             "--no-probe"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        path = "killed/samples/subject.c2.r1.jsonl"
        deadline = time.monotonic() + e2e.TIMEOUT_S
        while time.monotonic() < deadline and not (os.path.exists(path) and
                                                   os.path.getsize(path) > 5000):
            time.sleep(0.01)
        p.kill()
        p.communicate()
    code, out, _ = e2e.tally("verify", "killed", "--json")
    check("killed: verify calls it incomplete", (code, json.loads(out)["verdict"]),
          (3, "incomplete"))
    check("killed: show reads it", "INCOMPLETE" in e2e.tally("show", "killed")[1], True)


def main():
    return e2e.main((test_faults, test_interrupted_anywhere, test_killed))


if __name__ == "__main__":
    sys.exit(main())
