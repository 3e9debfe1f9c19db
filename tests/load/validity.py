#!/usr/bin/env python3
"""What keeps a run from being evidence, and what is kept of it: end to end against tally-sim.

usage: validity.py          (TALLY_BUILD and TALLY_SOURCE name the build and the source tree)

Beside end_to_end.py, whose servers and checks it uses. Output is TAP.
"""
import gzip
import hashlib
import http.server
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request

import end_to_end as e2e
from end_to_end import FAST, Server, check, receipt, run


def test_slow_client():
    """Wire case 28: a client that burns 4 ms before every read, of four streams that each bring a
    token every 10 ms or so."""
    with Server("--profile", "llama-server", "--decode-base", "10ms") as a:
        code, out, _ = run("slow", "--lane", a.url, "--bands", "4", "--replicates", "1",
                           "--requests", "8", "--max-tokens", "16", "--burn", "4ms")
    r = receipt("slow")
    check("a client slowed on purpose: exit code", code, 4)
    check("it is refused as saturated, by the run and by the band",
          [(x["status"], x["reason"]) for x in (r, r["bands"][0])],
          [("REFUSED", "client_saturated")] * 2)
    validity = r["bands"][0]["validity"]
    check("the verdict names what was late",
          (validity["client"], "read_lag" in validity["saturated"]), ("saturated", True))
    check("what to change is said", "remedy: " in out and "client_saturated" in out, True)
    code, out, _ = e2e.tally("run", "--help")
    check("the option for that is in no help", (code, "--quiet" in out, "--burn" in out),
          (0, True, False))
    check("what it was slowed by stands in the receipt's command line",
          "--burn" in r["client"]["command_line"], True)


def test_clock():
    """The clock's state stands in every band; one that is set meanwhile marks the band."""
    with Server("--profile", "llama-server", "--decode-base", "10ms") as a:
        for out, words in (("steady", ()), ("stepped", ("--step-clock", "3s"))):
            run(out, "--lane", a.url, "--bands", "1", "--replicates", "1", "--requests", "4",
                "--max-tokens", "8", *words)
    steady, stepped = (receipt(d)["bands"][0] for d in ("steady", "stepped"))
    check("the real clock was not set",
          (steady["clock"]["steps"], steady["clock"]["largest_step_ms"],
           "clock_stepped" in steady["validity"]["flags"]), (0, None, False))
    check("without a step the largest is null, with its reason",
          receipt("steady")["unproduced_fields"]["bands.0.clock.largest_step_ms"], "no_step")
    check("the two clocks were laid beside each other", steady["clock"]["error_ms"] >= 0, True)
    if sys.platform == "linux":
        ppb = steady["clock"]["slew_ppb"]
        check("the monotonic clock was held against the raw one: NTP slews less than 1 %",
              ppb is not None and abs(ppb) < 10**7, True)
    check("it was set by three seconds: one step",
          (stepped["clock"]["steps"], round(stepped["clock"]["largest_step_ms"])), (1, 3000))
    check("the band is marked", "clock_stepped" in stepped["validity"]["flags"], True)
    check("its read lag is not judged", "read_lag" in stepped["validity"]["not_judged"], True)
    first = [min(r["t_user"] for r in s["reads"]) - s["t_sent"] for s in e2e.samples("stepped")
             if s["phase"] == "window"]
    p50 = sorted(first)[(len(first) + 1) // 2 - 1]
    check("its times are user times", e2e.ms_to_ns(stepped["metrics"]["ttfb_ms"]["p50"]), p50)
    code, out, _ = e2e.tally("verify", "stepped")
    check("it verifies", (code, "self-consistent, unsigned" in out), (0, True))


def strings_of(value):
    if isinstance(value, dict):
        for v in value.values():
            yield from strings_of(v)
    elif isinstance(value, list):
        for v in value:
            yield from strings_of(v)
    elif isinstance(value, str):
        yield value


def test_redacted():
    """--redact-text: the same numbers, without a word of what was said."""
    with Server("--profile", "vllm", "--decode-base", "10ms", "--fault", "error-mid-stream:3",
                "--fault-after", "6", "--fault-every", "4") as a:
        code, _, err = run("redacted", "--lane", a.url, "--bands", "2", "--replicates", "1",
                           "--requests", "8", "--max-tokens", "8", "--redact-text", "--no-probe")
    r, found = receipt("redacted"), e2e.samples("redacted")
    check("redacted: every request is there", len(found), 8 + r["bands"][0]["loop"]["issued_warmup"])
    check("redacted: some requests failed", {"ok", "failed"} - {s["outcome"] for s in found}, set())
    check("redacted: no event holds a text or ids",
          [e for s in found for e in s["events"] if "text" in e or "ids" in e], [])
    check("redacted: sizes stand in their place",
          sum(e.get("text_bytes", 0) for s in found for e in s["events"] if e["kind"] == "text") > 0,
          True)
    check("redacted: errors hold sizes, no word of the server's",
          {s["error"].split(" ", 1)[1] for s in found if s["outcome"] == "failed"},
          {"bytes, left out)"})
    check("redacted: the counts are there",
          {s["output_retokenized"]["total"] for s in found if s["outcome"] == "ok"}, {8})
    check("redacted: the receipt says so", r["protocol"]["redact_text"], True)
    code, out, _ = e2e.tally("verify", "redacted", "--tokenizer", e2e.TOKENIZER, "--corpus",
                             "w.jsonl")
    out = " ".join(out.split())
    check("redacted: verify calls the counts unverifiable",
          (code, "ok texts all were left out" in out,
           "skipped output_counts the texts were left out: the counts cannot be verified" in out), (0, True, True))


def test_http_facts():
    """What HTTP said of an answer is kept: its version, and Retry-After."""
    with Server("--profile", "llama-server", "--decode-base", "5ms", "--fault", "429:7",
                "--fault-after", "6", "--fault-every", "2") as a:
        run("facts", "--lane", a.url, "--bands", "1", "--replicates", "1", "--requests", "6",
            "--max-tokens", "4", "--no-probe")
    found = e2e.samples("facts")
    check("Retry-After stands with the answers that had it, and with no other",
          {(s["http_status"], s.get("retry_after")) for s in found}, {(200, None), (429, 7)})
    check("the version of HTTP stands with each", {s["http_version"] for s in found}, {11})


def said(directory, side, path):
    with open(os.path.join(directory, receipt(directory)["bands"][0]["server"]["file"])) as f:
        return [a for a in json.load(f)[side] if a["path"] == path]


def test_what_servers_say():
    """Issue 5.6: kept verbatim before and after a band, and what is taken from it."""
    wanted = {  # what each simulated server tells: 3 requests of 4 tokens in the window, 2 before
        "llama-server": ({"slots": 16, "output_tokens": 20}, "/props"),
        "vllm": ({"preemptions": 0, "output_tokens": 20, "kv_use_after": 0}, "/metrics"),
        "sglang": ({"output_tokens": 20, "kv_use_before": 0}, "/metrics"),
        "apr": ({"slots": 16, "in_flight_max": 1, "gpu_layers_requested": 99,
                 "gpu_layers_resolved": 28}, "/v1/effective-config"),
    }
    for profile, (values, path) in wanted.items():
        out = "said-" + profile
        with Server("--profile", profile, *FAST) as a:
            run(out, "--lane", a.url, "--bands", "1", "--replicates", "1", "--requests", "3",
                "--max-tokens", "4", "--no-probe")
            with urllib.request.urlopen(a.url + path) as answer:
                body = answer.read().decode()
        r = receipt(out)
        server = r["bands"][0]["server"]
        check(f"{profile}: what it says stands in the receipt",
              {k: server[k] for k in values}, values)
        check(f"{profile}: what it does not say is null, with the reason",
              {k for k in ("slots", "in_flight_max", "preemptions", "gpu_memory_share")
               if (server[k] is None) !=
               (r["unproduced_fields"].get(f"bands.0.server.{k}") == "server_silent")}, set())
        check(f"{profile}: {path} is kept verbatim", [a["body"] for a in said(out, "after", path)],
              [body])
        check(f"{profile}: a path that it does not know is asked once",
              (said(out, "before", "/api/ps")[0]["status"], said(out, "after", "/api/ps")),
              (404, []))
        code, text, _ = e2e.tally("verify", out)
        check(f"{profile}: it verifies", (code, "ok server 1 of 1 bands" in " ".join(text.split())),
              (0, True))


def test_admission_capped():
    """A server that works on two requests at once is not measured at four."""
    with Server("--profile", "llama-server", "--slots", "2", *FAST) as a:
        code, out, _ = run("capped", "--lane", a.url, "--bands", "2,4", "--replicates", "1",
                           "--requests", "4", "--max-tokens", "4", "--no-probe")
    r = receipt("capped")
    two, four = r["bands"]
    check("capped: the band of two is measured", (two["loop"]["status"], two["server"]["slots"]),
          ("PASS", 2))
    check("capped: the band of four is UNMEASURED{admission_capped}",
          (four["status"], four["reason"], four["loop"]["detail"][:37]),
          ("UNMEASURED", "admission_capped", "the server works on 2 requests at onc"))
    check("capped: no request was spent on it",
          [s for s in e2e.samples("capped") if s["band"] == 4], [])
    check("capped: exit code", code in e2e.UNMEASURED_OR_BUSY, True)
    check("capped: it verifies", e2e.tally("verify", "capped")[0], 0)
    path = os.path.join("capped", four["server"]["file"])
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(text.replace('\\"total_slots\\":2', '\\"total_slots\\":8'))
    code, out, _ = e2e.tally("verify", "capped")
    check("capped: what was kept cannot be edited unseen",
          (code, "FAILED server" in " ".join(out.split()),
           "FAILED digests" in " ".join(out.split())), (4, True, True))


SCRIPT = """#!/bin/sh
# start|stop, for the lane in $TALLY_LANE: one server at a time, as on one GPU
case $1 in
start)
    [ ! -e up ] || { echo "$(cat up) still holds the GPU"; exit 9; }
    echo $TALLY_LANE >up
    case $TALLY_LANE in subject) port=$2 ;; *) port=$3 ;; esac
    "$SIM" --tokenizer "$TOKENIZER" --model demo --port $port --decode-base 2ms \\
        --decode-per-seq 0ms --loading 300ms >/dev/null 2>&1 &
    echo $! >pid
    echo "started $TALLY_LANE at $TALLY_LANE_URL" ;;
stop)
    kill $(cat pid) && rm up pid ;;
esac
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_lane_commands():
    """Servers that share a GPU: at no time two of them are up, and none is left behind."""
    with open("lane.sh", "w") as f:
        f.write(SCRIPT)
    ports = free_port(), free_port()
    os.environ.update(SIM=e2e.SIM, TOKENIZER=e2e.TOKENIZER)
    start = f"sh lane.sh start {ports[0]} {ports[1]}"
    lanes = ["--lane", f"subject=http://127.0.0.1:{ports[0]}",
             "--lane", f"comparator=http://127.0.0.1:{ports[1]}"]
    code, _, err = run("shared", *lanes, "--bands", "1", "--replicates", "2", "--requests", "3",
                       "--max-tokens", "4", "--before-lane", start, "--after-lane",
                       "sh lane.sh stop", "--lane-timeout", "60s")
    check("lane commands: measured", e2e.measured_or_busy(code), True)
    if not e2e.measured_or_busy(code):
        print("# " + err.replace("\n", "\n# "))
        return
    r = receipt("shared")
    commands = r["commands"]
    check("lane commands: each lane is stopped before the other starts, and at the end",
          [(c["when"], c["lane"]) for c in commands],
          [x for lane in switches(r, commands) for x in (("before_lane", lane),
                                                         ("after_lane", lane))])
    check("lane commands: all of them ended well", {(c["exit_code"], c["signal"], c["timed_out"])
                                                    for c in commands}, {(0, None, False)})
    check("lane commands: what they printed is kept", commands[0]["output"],
          f"started subject at http://127.0.0.1:{ports[0]}\n")
    check("lane commands: what was run stands there", commands[0]["command"], start)
    inside = [c for c in commands if c["t_ms"] >= 0 and any(
        b["start_ms"] < c["t_ms"] < b["drained_ms"] for b in r["bands"])]
    check("lane commands: none is run within a band", inside, [])
    check("lane commands: B A in even replicates needs no switch between them",
          [b["lane"] for b in r["bands"]], ["subject", "comparator", "comparator", "subject"])
    check("lane commands: nothing is left behind", (os.path.exists("up"), os.path.exists("pid")),
          (False, False))
    check("lane commands: every request is ok", {s["outcome"] for s in e2e.samples("shared")},
          {"ok"})
    check("lane commands: it verifies", e2e.tally("verify", "shared")[0], 0)


def switches(r, commands):
    """The lanes that were up, in order: before the clock as often as it was asked, then as measured."""
    before = [c["lane"] for c in commands if c["when"] == "before_lane" and c["t_ms"] < 0]
    up = before[-1]
    for band in r["bands"]:
        if band["lane"] != up:
            before.append(band["lane"])
        up = band["lane"]
    return before


def test_lane_commands_that_fail():
    with Server("--profile", "llama-server", *FAST) as a:
        code, _, err = run("unstarted", "--lane", a.url, "--before-lane", "echo no GPU; exit 3")
        check("a command that fails before the clock ends the run",
              (code, "--before-lane of subject ended with exit code 3: no GPU" in err,
               os.path.exists("unstarted")), (5, True, False))
        code, _, err = run("hung", "--lane", a.url, "--before-lane", "sleep 600",
                           "--lane-timeout", "200ms")
        check("one that hangs is ended", (code, "did not end within 0.200 s" in err), (5, True))
        # Twice it is started before the clock (first completion, connections), then for its band.
        command = "echo >>starts; [ $(wc -l <starts) -le 2 ] || exit 4"
        with Server("--profile", "vllm", *FAST) as b:
            code, _, _ = run("later", "--lane", f"subject={a.url}", "--lane",
                             f"comparator={b.url}", "--bands", "1", "--replicates", "1",
                             "--requests", "3", "--max-tokens", "4", "--before-lane",
                             f"comparator={command}", "--no-probe")
    r = receipt("later")
    check("a command that fails later makes its band UNMEASURED, with its type",
          [(b["lane"], b["loop"]["status"], b["loop"]["reason"]) for b in r["bands"]
           if b["lane"] == "comparator"], [("comparator", "UNMEASURED", "before_lane_failed")])
    check("the other lane is measured", r["bands"][0]["loop"]["status"], "PASS")
    failed = [c for c in r["commands"] if c["exit_code"] == 4]
    check("what failed stands in the receipt", len(failed), 1)
    check("it is told why", "exit code 4" in r["bands"][1]["loop"]["detail"], True)


def nearest_rank(values, percent):
    return sorted(values)[max(1, -(-len(values) * percent // 100)) - 1]


def test_calibrate():
    """--calibrate: the client's floor, worked out again here from the samples that are kept."""
    with Server("--profile", "llama-server", *FAST) as a:
        code, _, err = run("floor", "--lane", a.url, "--bands", "2,3", "--replicates", "1",
                           "--requests", "3", "--max-tokens", "4", "--no-probe", "--calibrate")
    check("--calibrate: measured", e2e.measured_or_busy(code), True)
    if not e2e.measured_or_busy(code):
        print("# " + err.replace("\n", "\n# "))
        return
    r = receipt("floor")
    c, zero = r["calibration"], r["clock"]["zero_mono_ns"]
    with gzip.open("floor/calibration.jsonl.gz", "rt") as f:
        streams = [json.loads(line) for line in f]
    check("--calibrate: as many streams as the largest band has, each to its end",
          (c["streams"], c["ok"], len(streams), c["events"]), (3, 3, 3, 300))
    user, kernel = [], []
    for s in streams:
        for e in s["events"]:
            if e["kind"] != "text":
                continue
            read = s["reads"][e["read"]]
            user.append(read["t_user"] + zero - int(e["text"]))
            if "t_kernel" in read:
                kernel.append(read["t_kernel"] + zero - int(e["text"]))
    check("--calibrate: the error of the stamps is that of the samples",
          [e2e.ms_to_ns(c["user_error_ms"][k]) for k in ("p50", "p99", "max")],
          [nearest_rank(user, p) for p in (50, 99, 100)])
    check("--calibrate: of the kernel's too, where there are any",
          c["kernel_error_ms"] and e2e.ms_to_ns(c["kernel_error_ms"]["p99"]),
          nearest_rank(kernel, 99) if kernel else None)
    check("--calibrate: the loop's CPU is shared out among the events",
          abs(c["cpu_us_per_event"] - c["client_load"]["loop_cpu_ms"] * 1000 / 300) < 1e-3, True)
    code, out, _ = e2e.tally("verify", "floor")
    check("--calibrate: it verifies",
          (code, "ok calibration 300 events of 3 streams" in " ".join(out.split())), (0, True))
    shown = " ".join(e2e.tally("show", "floor")[1].split())
    check("--calibrate: show tells it, and what the server said", [w in shown for w in (
        "floor stamps late by", "us of CPU an event, 3 streams",
        "c rep lane slots in flight preempted KV use GPU layers 2 1 subject 16 -")], [True] * 3)
    check("without it the floor is null, and why",
          (receipt("steady")["calibration"],
           receipt("steady")["unproduced_fields"]["calibration"]), (None, "not_asked"))
    shutil.copy(e2e.TALLY, "alone")
    found = subprocess.run(["./alone", "run", "--tokenizer", e2e.TOKENIZER, "--corpus", "w.jsonl",
                            "--out", "no-sim", "--lane", "http://127.0.0.1:9", "--calibrate"],
                           capture_output=True, text=True, env={"PATH": "/nowhere"})
    check("without tally-sim beside it: named, with the remedy",
          (found.returncode, "tally-sim" in found.stderr, "remedy: install tally-sim" in
           found.stderr, os.path.exists("no-sim")), (5, True, True, False))


def test_loading():
    """Wire case 37: a server that is still loading is waited for before the clock starts."""
    with Server("--profile", "llama-server", "--loading", "900ms", *FAST) as a:
        code, _, err = run("loading", "--lane", a.url, "--bands", "1", "--replicates", "1",
                           "--requests", "3", "--max-tokens", "4", "--no-probe")
    check("a server that loads: measured", e2e.measured_or_busy(code), True)
    check("it is said that it is waited for", "is still loading: waiting" in err, True)
    check("no request meets the loading server", {s["outcome"] for s in e2e.samples("loading")},
          {"ok"})


class Keeping(e2e.Strict):
    """Answers as Strict does, and keeps the digest of every body."""
    digests = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.digests.append(hashlib.sha256(body).hexdigest())
        self.rfile = io.BytesIO(body)
        super().do_POST()


def test_exact_request():
    """Wire case 41: the digest of the exact body, the command line, the server's binary."""
    handler = type("H", (Keeping,), {"refused": "nothing of the kind", "protocol_version":
                                     "HTTP/1.0"})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    run("exact", "--lane", f"http://127.0.0.1:{server.server_address[1]}", "--bands", "2",
        "--replicates", "1", "--requests", "4", "--max-tokens", "4", "--no-probe", "--binary",
        f"subject={e2e.SIM}")
    server.shutdown()
    server.server_close()
    r, found = receipt("exact"), e2e.samples("exact")
    check("every body's digest is that of the bytes that the server got",
          [s["seq"] for s in found if s["body_sha256"] not in Keeping.digests], [])
    check("and each is another", len({s["body_sha256"] for s in found}), len(found))
    with open(e2e.SIM, "rb") as f:
        check("the local binary is named by its digest", r["lanes"][0]["build_sha256"],
              hashlib.sha256(f.read()).hexdigest())
    check("the command line is kept", r["client"]["command_line"][1:3], ["run", "--tokenizer"])


def main():
    return e2e.main((test_slow_client, test_clock, test_redacted, test_http_facts,
                     test_what_servers_say, test_admission_capped, test_lane_commands,
                     test_lane_commands_that_fail, test_calibrate, test_loading,
                     test_exact_request))


if __name__ == "__main__":
    sys.exit(main())
