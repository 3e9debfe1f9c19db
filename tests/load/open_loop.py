#!/usr/bin/env python3
"""The open loop, sweeps, traces and 1,000 streams, end to end against tally-sim.

usage: open_loop.py         (TALLY_BUILD and TALLY_SOURCE name the build and the source tree)

Beside end_to_end.py, whose servers and checks it uses. Nothing here looks at how fast anything was:
when requests were planned follows from the rate, and everything else from the samples. Output is
TAP.
"""
import glob
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys

import end_to_end as e2e
from end_to_end import FAST, Server, check, measured_or_busy, ms_to_ns, receipt, run, samples

RECOMPUTE = os.path.join(e2e.SOURCE, "tests", "metrics", "recompute.py")


def window(directory, lane="subject"):
    found = [s for s in samples(directory) if s["phase"] == "window" and s["lane"] == lane]
    return sorted(found, key=lambda s: s["seq"])


def offsets(directory, lane="subject"):
    r = receipt(directory)
    begin = {(b["lane"], b["replicate"]): ms_to_ns(b["open_ms"]) for b in r["bands"]}
    return [s["t_planned"] - begin[lane, s["replicate"]] for s in window(directory, lane)]


def check_whole(what, directory):
    """It verifies, and another program finds the same metrics."""
    code, out, _ = e2e.tally("verify", directory)
    check(f"{what}: verifies", (code, "drawn again" in " ".join(out.split())), (0, True))
    r = subprocess.run([sys.executable, RECOMPUTE, directory], capture_output=True, text=True)
    check(f"{what}: its metrics, computed again", (r.returncode, "agree" in r.stdout), (0, True))


def seal(directory):
    """Sets every digest and the run id anew, as one would do who knows the format."""
    path = os.path.join(directory, "receipt.json")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    r = json.loads(text)
    stated = {x["name"]: x["sha256"] for x in r["files"]}
    stated.update({b["samples"]["file"]: b["samples"]["sha256"] for b in r["bands"]})
    for name, digest in stated.items():
        with open(os.path.join(directory, name), "rb") as f:
            text = text.replace(digest, hashlib.sha256(f.read()).hexdigest())
    lines = text.split("\n")
    without = "\n".join(lines[:2] + lines[3:])
    lines[2] = f'  "run_id": "{hashlib.sha256(without.encode()).hexdigest()}",'
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


def forged(what, directory, old, new, in_samples):
    """A text changed, everything sealed again: the rule must say so."""
    copy = directory + "-forged"
    shutil.copytree(directory, copy)
    path = os.path.join(copy, "receipt.json")
    if in_samples:
        path = glob.glob(os.path.join(copy, "samples", "*.gz"))[0]
    opener = gzip.open if in_samples else open
    with opener(path, "rt", encoding="utf-8") as f:
        text = f.read()
    check(f"{what}: there is something to change", old in text, True)
    with opener(path, "wt", encoding="utf-8") as f:
        f.write(text.replace(old, new, 1))
    seal(copy)
    code, out, _ = e2e.tally("verify", copy)
    check(f"{what}: is seen", (code, "FAILED  arrivals" in out or "failed  arrivals" in out.lower()),
          (4, True))
    shutil.rmtree(copy)


def test_two_lanes():
    """Both lanes get the same arrivals, each replicate its own; nothing else decides when."""
    with Server("--profile", "llama-server", *FAST) as a, \
            Server("--profile", "vllm", "--decode-base", "9ms") as b:
        code, _, err = run("drawn", "--lane", a.url, "--lane", b.url, "--rate", "20",
                           "--replicates", "2", "--window", "1s", "--min-samples", "5",
                           "--max-tokens", "8", "--slo", "ttft=10s,tpot=1s,e2e=30s")
    check("two lanes, open loop: measured", measured_or_busy(code), True)
    if not measured_or_busy(code):
        print("# " + err.replace("\n", "\n# "))
        return
    r = receipt("drawn")
    check("the receipt says what decided",
          [r["protocol"][k] for k in ("load_model", "arrivals", "arrival_seed", "rate_rps",
                                      "bands", "max_in_flight", "slo_ttft_ms")],
          ["open", "poisson", 2026, [20], [20000], None, 10000])
    check("so do both join keys", [x["join_key"]["arrivals"] for x in r["lanes"]], ["poisson"] * 2)
    check("and they are equal", len({x["join_sha256"] for x in r["lanes"]}), 1)
    mine, other = offsets("drawn"), offsets("drawn", "comparator")
    per = {rep: [[o for o, s in zip(list_, window("drawn", lane)) if s["replicate"] == rep]
                 for list_, lane in ((mine, "subject"), (other, "comparator"))] for rep in (1, 2)}
    for rep, (x, y) in per.items():
        n = min(len(x), len(y))
        check(f"replicate {rep}: the same arrivals for both lanes", (x[:n], n > 5), (y[:n], True))
    check("replicates differ", per[1][0][:5] == per[2][0][:5], False)
    for b in r["bands"]:
        c = b["counts"]
        check("planned = issued + unsent", c["planned"], c["issued"] + c["unsent"])
        check("all of it is within an objective that none can miss",
              b["metrics"]["slo_attainment"]["value"], 1)
    check_whole("two lanes, open loop", "drawn")


def test_rate():
    """Wire case 29: 200 requests/s are planned 5 ms apart, the last as exactly as the first."""
    with Server("--profile", "llama-server", "--decode-base", "1ms") as a:
        code, _, _ = run("even", "--lane", a.url, "--rate", "200", "--arrivals", "constant",
                         "--replicates", "1", "--window", "3s", "--max-tokens", "2",
                         "--warmup", "1")
    check("200 requests/s: measured", measured_or_busy(code), True)
    check("planned 5 ms apart, from absolute deadlines", offsets("even"),
          [5000000 * k for k in range(len(offsets("even")))])
    b = receipt("even")["bands"][0]
    # due before the close less 2 ms: 0, 5, ... 2995
    check("600 are planned in 3 s", (b["counts"]["planned"], b["close_ms"] - b["open_ms"]),
          (600, 3000))
    check("the rate that was planned", b["metrics"]["planned_rps"]["value"], 200)
    check("the rate that was achieved is reported", b["metrics"]["achieved_rps"]["n"] > 1, True)
    check("no request was sent before it was due",
          [s["seq"] for s in window("even") if s["t_issue"] < s["t_planned"]], [])
    check_whole("200 requests/s", "even")


def test_cap():
    """Wire case 26 in real time: a cap delays what is sent, and only one of the two latencies sees
    it. What the cap kept back until the close ranks as infinite."""
    slow = ("--profile", "llama-server", "--fault", "delay:150ms")
    with Server(*slow) as a:
        run("capped", "--lane", a.url, "--rate", "10", "--arrivals", "constant",
            "--max-in-flight", "1", "--requests", "8", "--warmup", "0", "--replicates", "1",
            "--max-tokens", "1")
        run("unsent", "--lane", a.url, "--rate", "40", "--arrivals", "constant",
            "--max-in-flight", "1", "--window", "2s", "--min-samples", "3", "--warmup", "0",
            "--replicates", "1", "--max-tokens", "1")
    found, b = window("capped"), receipt("capped")["bands"][0]
    check("one at a time", e2e.overlaps(found), 1)
    check("planned as without a cap", offsets("capped"), [100000000 * k for k in range(8)])
    sent, plan = (b["metrics"][k]["mean"] for k in ("e2e_ms", "e2e_from_plan_ms"))
    check("from plan it took longer than from the send", plan > sent + 100, True)
    ends = {s["t_end"] for s in found}
    check("who waited was due when another ended",
          [s["seq"] for s in found if "t_due" in s and s["t_due"] not in ends], [])
    check("and some did", sum("t_due" in s for s in found) > 0, True)
    check_whole("a cap", "capped")

    c, m = (receipt("unsent")["bands"][0][k] for k in ("counts", "metrics"))
    check("more was planned than sent", c["planned"] > c["issued"] + 20, True)
    check("what was not sent ranks as infinite in both from plan",
          [m[k]["censored_n"] for k in ("ttft_from_plan_ms", "e2e_from_plan_ms")],
          [c["unsent"]] * 2)
    check("and in none from the send", (m["e2e_ms"]["censored_n"], m["e2e_ms"]["n"]),
          (0, c["issued"]))
    check("the mean from plan is censored", m["e2e_from_plan_ms"]["mean"], None)
    check_whole("unsent arrivals", "unsent")
    forged("arrivals taken out of the plan", "unsent", f'"planned": {c["planned"]}',
           f'"planned": {c["issued"]}', False)
    first = window("unsent")[1]
    forged("a request planned later than drawn", "unsent", f'"t_planned":{first["t_planned"]}',
           f'"t_planned":{first["t_planned"] + 1000}', True)
    forged("a request said to have waited", "unsent", f'"t_due":{first["t_due"]}',
           f'"t_due":{first["t_due"] + 1}', True)


def replay(points, verdict):
    """Bracket 0, 1, 3, 7, ... then bisect, as docs/load.md says: the probes, and what was found."""
    met, missed, probes = -1, len(points), []
    while missed - met > 1:
        at = (met + missed) // 2 if missed < len(points) else min(max(2 * met + 1, 0),
                                                                 len(points) - 1)
        probes.append(points[at])
        if points[at] not in verdict:
            break
        met, missed = (at, missed) if verdict[points[at]] else (met, at)
    return probes, met, missed


def test_sweep():
    """Two slots of 8 tokens at 20 ms a token serve about 12 requests/s: more pile up."""
    with Server("--profile", "llama-server", "--slots", "2", "--decode-base", "20ms") as a:
        code, _, err = run("sweep", "--lane", a.url, "--sweep-rate", "2..34/2", "--window", "2s",
                           "--min-samples", "5", "--max-tokens", "8", "--slo", "e2e=700ms",
                           "--slo-share", "0.9")
    check("a sweep: measured", measured_or_busy(code), True)
    if not measured_or_busy(code):
        print("# " + err.replace("\n", "\n# "))
        return
    r = receipt("sweep")
    p = r["protocol"]
    check("the points, the method and the share are declared",
          (p["rate_rps"], p["search"], p["slo_share"], p["slo_e2e_ms"], p["replicates"]),
          (list(range(2, 35, 2)), "bracket_bisect", 0.9, 700, 1))
    verdict = {b["band"]: b["metrics"]["slo_attainment"]["value"] >= 0.9 for b in r["bands"]
               if b["status"] != "REFUSED"}
    probes, met, missed = replay(p["bands"], verdict)
    check("the bands are the probes, in their order", [b["band"] for b in r["bands"]], probes)
    found = r["sweeps"][0]
    rate = lambda i: p["bands"][i] / 1000 if 0 <= i < len(p["bands"]) else None
    check("what was found is one of the points, and its bracket",
          (found["highest_met_rps"], found["lowest_missed_rps"], found["probes"]),
          (rate(met), rate(missed), len(probes)))
    check("it is finished, or says what stopped it",
          (found["finished"], found["stopped_by"]),
          (True, None) if len(verdict) == len(probes) else (False, "client_saturated"))
    check("a sweep that is finished is no failure of the rates that were too high",
          code == 0 or not found["finished"], True)
    check("it is told", "the objective at" in err or "the sweep of lane" in err, True)
    check_whole("a sweep", "sweep")
    copy = "sweep-cut"
    shutil.copytree("sweep", copy)
    path = os.path.join(copy, "receipt.json")
    text = open(path, encoding="utf-8").read()
    wanted = f'"highest_met_rps": {met and p["bands"][met] // 1000}'
    if wanted in text:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(wanted, '"highest_met_rps": 34', 1))
        seal(copy)
        code, out, _ = e2e.tally("verify", copy)
        check("a better result than was found does not verify", code, 4)


def test_ramp():
    """1, 2 and 4 workers, two seconds each, in one window that never pauses."""
    with Server("--profile", "llama-server", *FAST) as a:
        code, _, err = run("ramp", "--lane", a.url, "--ramp", "1,2,4", "--ramp-step", "2s",
                           "--replicates", "1", "--max-tokens", "8")
    check("a ramp: measured", measured_or_busy(code), True)
    if not measured_or_busy(code):
        print("# " + err.replace("\n", "\n# "))
        return
    r = receipt("ramp")
    p, b = r["protocol"], r["bands"][0]
    check("its steps are declared, and its band is the last",
          (p["load_model"], p["ramp"], p["ramp_step_ms"], p["bands"], len(r["bands"])),
          ("ramp", [1, 2, 4], 2000, [4], 1))
    opened = ms_to_ns(b["open_ms"])
    check("the window is its steps", ms_to_ns(b["close_ms"]) - opened, 6 * 10**9)
    check("each step has its own record",
          [(s["c"], ms_to_ns(s["open_ms"]) - opened, ms_to_ns(s["close_ms"]) - opened)
           for s in b["steps"]],
          [(1, 0, 2 * 10**9), (2, 2 * 10**9, 4 * 10**9), (4, 4 * 10**9, 6 * 10**9)])
    found = window("ramp")
    for step in b["steps"]:
        mine = [s for s in found if ms_to_ns(step["open_ms"]) <= s["t_sent"] <
                ms_to_ns(step["close_ms"])]
        check(f"c = {step['c']}: what was sent in it",
              (step["requests"], step["ok"], step["metrics"]["e2e_ms"]["n"]), (len(mine),) * 3)
        check(f"c = {step['c']}: by as many workers", len({s["worker"] for s in mine}), step["c"])
        first = sorted(s["reads"][0].get("t_kernel", s["reads"][0]["t_user"]) - s["t_sent"]
                       for s in mine)
        check(f"c = {step['c']}: the median of its own requests",
              ms_to_ns(step["metrics"]["ttfb_ms"]["p50"]), first[(len(first) + 1) // 2 - 1])
    check("the steps' requests are the window's", sum(s["requests"] for s in b["steps"]),
          b["counts"]["issued"])
    code, _, _ = e2e.tally("verify", "ramp")
    check("it verifies", code, 0)
    copy = "ramp-forged"
    shutil.copytree("ramp", copy)
    path = os.path.join(copy, "receipt.json")
    text = open(path, encoding="utf-8").read()
    ok = b["steps"][1]["requests"]
    at = text.index('"requests": %d' % ok, text.index('"steps"'))
    with open(path, "w", encoding="utf-8") as f:
        f.write(text[:at] + '"requests": %d' % (ok + 1) + text[at + len('"requests": %d' % ok):])
    seal(copy)
    code, out, _ = e2e.tally("verify", copy)
    check("a step's count edited does not verify", (code, "steps" in out), (4, True))


TRACE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,120,10
2023-11-16 18:17:04.0319600,34,8
2023-11-16 18:17:04.0319600,3,1
2023-11-16 18:17:05.2001000,700,12
2023-11-16 18:17:09.0000000,1,1
"""


def test_trace():
    """When requests came, and how long they were, as recorded; at twice the speed in half the time."""
    with open("azure.csv", "w", encoding="utf-8") as f:
        f.write(TRACE)
    with Server("--profile", "llama-server", *FAST) as a:
        code, _, err = e2e.tally("run", "--tokenizer", e2e.TOKENIZER, "--lane", a.url, "--out",
                                 "trace", "--cooldown", "0", "--trace", "azure.csv",
                                 "--trace-limit", "4", "--trace-speed", "1,2", "--replicates", "1")
    check("a trace: measured", measured_or_busy(code), True)
    if not measured_or_busy(code):
        print("# " + err.replace("\n", "\n# "))
        return
    r = receipt("trace")
    p = r["protocol"]
    check("the receipt says what was replayed",
          (p["load_model"], p["trace_format"], p["trace_speed"], p["trace_span_ms"], p["requests"],
           p["rate_rps"], r["workload"]["corpus"]["path"]),
          ("trace", "azure", [1, 2], 1220.14, 4, None, "azure.csv"))
    check("by the digest of its bytes", r["workload"]["corpus"]["sha256"],
          hashlib.sha256(TRACE.encode()).hexdigest())
    for b, speed in zip(r["bands"], (1, 2)):
        found = [s for s in window("trace") if s["band"] == b["band"]]
        check(f"speed {speed}: lengths as recorded, exactly",
              [(s["prompt_body"], s["max_tokens"], s["output_reported"]["total"]) for s in found],
              [(120, 10, 10), (34, 8, 8), (3, 1, 1), (700, 12, 12)])
        check(f"speed {speed}: planned as recorded",
              [s["t_planned"] - ms_to_ns(b["open_ms"]) for s in found],
              [n // speed for n in (0, 52000000, 52000000, 1220140000)])
    code, out, _ = e2e.tally("verify", "trace", "--tokenizer", e2e.TOKENIZER, "--corpus",
                             "azure.csv")
    check("it verifies, each prompt made again", (code, "prompts made again" in out), (0, True))
    second = [s for s in window("trace") if s["band"] == 1000][1]
    copy = "trace-forged"
    shutil.copytree("trace", copy)
    path = os.path.join(copy, "samples", "subject.c1000.r1.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as f:
        text = f.read()
    with gzip.open(path, "wt", encoding="utf-8") as f:
        f.write(text.replace(f'"t_planned":{second["t_planned"]}',
                             f'"t_planned":{second["t_planned"] - 1000}', 1))
    seal(copy)
    code, out, _ = e2e.tally("verify", copy, "--tokenizer", e2e.TOKENIZER, "--corpus", "azure.csv")
    check("another time than recorded does not verify", (code, "by the trace" in " ".join(out.split())), (4, True))
    with open("other.csv", "w", encoding="utf-8") as f:
        f.write(TRACE.replace("700", "701"))
    code, _, _ = e2e.tally("verify", "trace", "--tokenizer", e2e.TOKENIZER, "--corpus", "other.csv")
    check("another trace is not taken for it", code, 4)


def test_thousand_streams():
    """Wire case 30: 1,000 streams at once, no hidden cap; connecting has its own time."""
    with Server("--profile", "llama-server", "--slots", "1000", "--fault", "delay:4s") as a:
        code, _, err = run("many", "--lane", a.url, "--bands", "1000", "--replicates", "1",
                           "--requests", "1000", "--warmup", "0", "--max-tokens", "2",
                           "--no-probe")
    check("1,000 streams: measured", measured_or_busy(code), True)
    if not measured_or_busy(code):
        print("# " + err.replace("\n", "\n# "))
        return
    found, b = window("many"), receipt("many")["bands"][0]
    check("1,000 requests, all ok", (len(found), {s["outcome"] for s in found}), (1000, {"ok"}))
    check("a connection each", len({s["connection"] for s in found}), 1000)
    check("all in flight at once", e2e.overlaps(found), 1000)
    check("each was connected before it was sent",
          [s["seq"] for s in found if s.get("reused") or s["t_connect"] > s["t_sent"]], [])
    check("connecting is a metric of its own, of all of them",
          b["metrics"]["connect_ms"]["n"], 1000)
    first = [s["reads"][0].get("t_kernel", s["reads"][0]["t_user"]) - s["t_sent"] for s in found]
    check("and not inside the time to the first byte, which begins at the send",
          ms_to_ns(b["metrics"]["ttfb_ms"]["min"]), min(first))


def main():
    return e2e.main((test_two_lanes, test_rate, test_cap, test_sweep, test_ramp, test_trace, test_thousand_streams))


if __name__ == "__main__":
    sys.exit(main())
