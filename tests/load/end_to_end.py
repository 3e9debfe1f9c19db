#!/usr/bin/env python3
"""Short runs of `tally run` against tally-sim: what must hold of them on any machine, however busy.

usage: end_to_end.py        (TALLY_BUILD and TALLY_SOURCE name the build and the source tree)

Nothing here looks at how fast anything was. Expected values follow from spec section 5, and from
the samples themselves where one of their facts must agree with another. Output is TAP.
"""
import collections
import gzip
import glob
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

BUILD, SOURCE = os.environ["TALLY_BUILD"], os.environ["TALLY_SOURCE"]
TALLY, SIM = os.path.join(BUILD, "tally"), os.path.join(BUILD, "tally-sim")
TOKENIZER = os.path.join(SOURCE, "examples", "demo", "tokenizer.json")
TIMEOUT_S = 120
UNMEASURED_OR_BUSY = (3, 4)  # a machine too busy to measure well makes a band REFUSED: worse
results = []


def check(name, got, wanted):
    ok = got == wanted
    results.append(ok)
    print(f"{'ok' if ok else 'not ok'} {len(results)} - {name}", flush=True)
    if not ok:
        print(f"# got    {got!r}\n# wanted {wanted!r}", flush=True)


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen(
            [SIM, "--tokenizer", TOKENIZER, "--model", "demo", "--port", "0", *words],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        first = self.process.stdout.readline()
        digits = "".join(c if c.isdigit() else " " for c in first).split()
        self.url = f"http://127.0.0.1:{digits[-1]}"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        self.process.wait()


FAST = ("--decode-base", "2ms", "--decode-per-seq", "200us", "--prefill-rate", "20000")


def tally(*words):
    r = subprocess.run([TALLY, *words], capture_output=True, text=True, timeout=TIMEOUT_S)
    return r.returncode, r.stdout, r.stderr


def run(out, *words, corpus="w.jsonl"):
    return tally("run", "--tokenizer", TOKENIZER, "--corpus", corpus, "--out", out,
                 "--cooldown", "0", *words)


def samples(directory):
    found = []
    for path in sorted(glob.glob(os.path.join(directory, "samples", "*.gz"))):
        with gzip.open(path, "rt") as f:
            found += [json.loads(line) for line in f]
    return found


def receipt(directory):
    with open(os.path.join(directory, "receipt.json")) as f:
        return json.load(f)


def key(s):
    return s["lane"], s["band"], s["replicate"]


def measured_or_busy(code):
    """0, or 4 where this machine was too busy to measure well: the records are whole either way."""
    return code in (0, 4)


def ms_to_ns(ms):
    return round(ms * 1000000)


def test_protocol():
    with Server("--profile", "llama-server", *FAST) as a, Server("--profile", "vllm", *FAST) as b:
        code, _, err = run("two", "--lane", f"subject={a.url}", "--lane", f"comparator={b.url}",
                           "--bands", "3,1", "--replicates", "2", "--window", "1s",
                           "--min-samples", "6", "--max-tokens", "8")
    check("two lanes: measured", measured_or_busy(code), True)
    if not measured_or_busy(code):
        print("# " + err.replace("\n", "\n# "))
        return
    r, all_samples = receipt("two"), samples("two")
    order = [(b["lane"], b["band"], b["replicate"]) for b in r["bands"]]
    check("lanes alternate, A B then B A, bands ascending", order,
          [("subject", 1, 1), ("comparator", 1, 1), ("subject", 3, 1), ("comparator", 3, 1),
           ("comparator", 1, 2), ("subject", 1, 2), ("comparator", 3, 2), ("subject", 3, 2)])
    check("one band ends before the next begins",
          [i for i in range(1, len(r["bands"]))
           if r["bands"][i]["start_ms"] < r["bands"][i - 1]["drained_ms"]], [])
    check("every outcome is ok", {s["outcome"] for s in all_samples}, {"ok"})
    check("every body has 64 tokens", {s["prompt_body"] for s in all_samples}, {64})
    check("every answer has 8 tokens", {s["output_reported"]["total"] for s in all_samples}, {8})
    by_band = collections.defaultdict(list)
    for s in all_samples:
        by_band[key(s)].append(s)
    for band in r["bands"]:
        check_band(band, by_band[band["lane"], band["band"], band["replicate"]])
    check_prompts(by_band)


def check_band(band, mine):
    name = f"{band['lane']} c={band['band']} r={band['replicate']}"
    opened, closed = ms_to_ns(band["open_ms"]), ms_to_ns(band["close_ms"])
    window = [s for s in mine if s["phase"] == "window"]
    warmup = [s for s in mine if s["phase"] == "warmup"]
    check(f"{name}: the window is whole seconds", (closed - opened) % 10**9, 0)
    check(f"{name}: the close is the first second with 6 ended",
          first_second(window, opened), (closed - opened) // 10**9)
    check(f"{name}: no request of the window is sent before it opens or after it closes",
          [s["seq"] for s in window if not opened <= s["t_sent"] < closed], [])
    check(f"{name}: at least two warm-up requests a worker",
          min(collections.Counter(s["worker"] for s in warmup).get(w, 0)
              for w in range(band["band"])) >= 2, True)
    check(f"{name}: the order of issue has no gap", sorted(s["seq"] for s in mine),
          list(range(len(mine))))
    check(f"{name}: never more in flight than workers", overlaps(mine) <= band["band"], True)
    check(f"{name}: all were drained", max(s["t_end"] for s in mine) <= ms_to_ns(band["drained_ms"]),
          True)


def first_second(window, opened):
    for second in range(1, 100):
        if sum(s["t_end"] < opened + second * 10**9 for s in window) >= 6:
            return second
    return None


def overlaps(mine):
    moments = sorted([(s["t_issue"], 1) for s in mine] + [(s["t_end"], -1) for s in mine])
    now = most = 0
    for _, step in sorted(moments, key=lambda m: (m[0], m[1])):
        now += step
        most = max(most, now)
    return most


def check_prompts(by_band):
    """Both lanes of a replicate get the same prompts in the same order; none comes twice."""
    for (lane, c, r), mine in by_band.items():
        if lane != "subject":
            continue
        other = by_band["comparator", c, r]
        ids = [[s["prompt_id"] for s in sorted(x, key=lambda s: s["seq"]) if s["phase"] == "window"]
               for x in (mine, other)]
        n = min(len(ids[0]), len(ids[1]))
        check(f"c={c} r={r}: the same prompts in the same order", ids[0][:n], ids[1][:n])
    for lane in ("subject", "comparator"):
        digests = [s["body_sha256"] for k, mine in by_band.items() if k[0] == lane for s in mine]
        check(f"{lane}: no request body comes twice", len(set(digests)), len(digests))


def test_requests_and_quiesce():
    with Server("--profile", "llama-server", *FAST) as a:
        code, _, err = run("one", "--lane", a.url, "--bands", "2", "--replicates", "1",
                           "--requests", "5", "--quiesce", "300ms", "--max-tokens", "4")
    check("--requests: measured", measured_or_busy(code), True)
    mine = samples("one")
    window = [s for s in mine if s["phase"] == "window"]
    warmup = [s for s in mine if s["phase"] == "warmup"]
    check("--requests 5: exactly five in the window", len(window), 5)
    check("--quiesce: exactly two warm-up requests a worker", len(warmup), 4)
    silence = min(s["t_sent"] for s in window) - max(s["t_end"] for s in warmup)
    check("--quiesce 300ms: so long nothing is in flight", silence >= 300 * 10**6, True)
    check("the first request of each worker met an idle server",
          sorted((s["worker"], s.get("start_cohort", False)) for s in window)[:1] and
          collections.Counter(s.get("start_cohort", False) for s in window),
          collections.Counter({True: 2, False: 3}))


def test_no_stream():
    with Server("--profile", "llama-server", *FAST) as a:
        code, _, _ = run("block", "--lane", a.url, "--bands", "1", "--replicates", "1",
                         "--requests", "3", "--no-stream", "--max-tokens", "4")
    check("--no-stream: measured", measured_or_busy(code), True)
    band = receipt("block")["bands"][0]
    check("--no-stream: no time to first token, and why", band["metrics"]["ttft_ms"], None)
    check("--no-stream: the reason stands there",
          band["unproduced_fields"].get("metrics.ttft_ms"), "streaming_off")


def test_server_usage():
    with Server("--profile", "apr", *FAST) as a, Server("--profile", "llama-server", *FAST) as b:
        code, out, err = run("never", "--lane", f"subject={a.url}", "--lane",
                             f"comparator={b.url}", "--count", "server-usage")
    check("--count server-usage: refused", code, 4)
    check("the reason for each lane", [w in err for w in (
        "subject sends no usage in the stream", "comparator counts", "outside the band 64 +- 8")],
        [True, True, True])
    check("nothing is left behind", os.path.exists("never"), False)


def test_interrupted():
    with Server("--profile", "llama-server", *FAST) as a:
        p = subprocess.Popen(
            [TALLY, "run", "--tokenizer", TOKENIZER, "--corpus", "w.jsonl", "--out", "cut",
             "--lane", a.url, "--bands", "1,2", "--replicates", "1", "--requests", "3",
             "--cooldown", "60s", "--max-tokens", "4"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + TIMEOUT_S
        while not glob.glob("cut/samples/*.gz") and time.monotonic() < deadline:
            time.sleep(0.05)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=TIMEOUT_S)
    check("interrupted: exit code", p.returncode, 130)
    r = receipt("cut")
    check("interrupted: the receipt says so",
          (r["interrupted"], r["status"] in ("INCOMPLETE", "REFUSED")), (True, True))
    check("interrupted: what was measured is kept",
          [s["outcome"] for s in samples("cut") if s["phase"] == "window"], ["ok"] * 3)


def test_interrupted_in_a_band():
    with Server("--profile", "llama-server", "--decode-base", "50ms") as a:
        p = subprocess.Popen(
            [TALLY, "run", "--tokenizer", TOKENIZER, "--corpus", "w.jsonl", "--out", "cut2",
             "--lane", a.url, "--bands", "2", "--replicates", "1", "--warmup", "0",
             "--max-tokens", "20"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + TIMEOUT_S
        path = "cut2/samples/subject.c2.r1.jsonl"
        while time.monotonic() < deadline and not (os.path.exists(path) and os.path.getsize(path)):
            time.sleep(0.05)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=TIMEOUT_S)
    check("interrupted in a band: exit code", p.returncode, 130)
    band = receipt("cut2")["bands"][0]
    check("interrupted in a band: INCOMPLETE", (band["loop"]["status"], band["loop"]["reason"]),
          ("INCOMPLETE", "interrupted"))
    mine = samples("cut2")
    check("what was in flight is cancelled, the rest is kept",
          {s["outcome"] for s in mine} - {"ok", "cancelled"}, set())
    check("every request is accounted for", len(mine), band["loop"]["issued"])


def test_wrappers():
    """What each lane puts around a prompt is found out, told, and predicted for every request."""
    with Server("--profile", "apr", *FAST) as a, Server("--profile", "llama-server", *FAST) as b:
        run("wrapped", "--lane", "subject=" + a.url, "--lane", "comparator=" + b.url, "--bands",
            "1", "--replicates", "1", "--requests", "4", "--max-tokens", "4")
        run("unasked", "--lane", a.url, "--bands", "1", "--replicates", "1", "--requests", "4",
            "--max-tokens", "4", "--no-probe")
    lanes = {lane["role"]: lane["wrapper"] for lane in receipt("wrapped")["lanes"]}
    check("the wrappers are named", [w["status"] for w in lanes.values()], ["named", "named"])
    check("apr's is its own", lanes["subject"]["profile"], "apr")
    mine = samples("wrapped")
    check("every request is predicted", [s for s in mine if s.get("prompt_rendered") is None], [])
    check("where a server reports its count, the prediction is that count",
          {s["prompt_reported"] - s["prompt_rendered"] for s in mine
           if s["lane"] == "comparator"}, {0})
    with open(os.path.join("wrapped", "probe.json")) as f:
        evidence = json.load(f)
    check("the probe's evidence lies in the run directory, count by count",
          [[shape["reported"] - shape["predicted"] for shape in lane["shapes"]]
           for lane in evidence["lanes"]], [[0] * 8, [0] * 8])
    check("and every difference with its causes",
          [d["comparator_less_subject"] - sum(c["tokens"] for c in d["causes"])
           for d in evidence["differences"]], [0] * 8)
    check("it is listed with its digest",
          "probe.json" in [f["name"] for f in receipt("wrapped")["files"]], True)
    check("--no-probe leaves no evidence", os.path.exists(os.path.join("unasked", "probe.json")),
          False)
    check("--no-probe predicts nothing", [s for s in samples("unasked")
                                          if s.get("prompt_rendered") is not None], [])
    check("--no-probe is recorded", receipt("unasked")["lanes"][0]["wrapper"], None)


def test_failing():
    with Server("--profile", "llama-server", "--fault", "error-before", "--fault-after", "8",
                *FAST) as a:
        code, _, err = run("failing", "--lane", a.url, "--bands", "1", "--replicates", "1",
                           "--window", "60s", "--max-tokens", "4", "--no-probe")
    check("a server that only fails: exit code", code in UNMEASURED_OR_BUSY, True)
    loop = receipt("failing")["bands"][0]["loop"]
    check("a server that only fails: UNMEASURED", (loop["status"], loop["reason"]),
          ("UNMEASURED", "failing"))
    outcomes = [s["outcome"] for s in sorted(samples("failing"), key=lambda s: s["seq"])]
    check("it stops after twenty failures in a row (and what was in flight)",
          20 <= outcomes.count("failed") <= 22, True)


def test_warmup_failed():
    with Server("--profile", "llama-server", "--fault", "error-before", "--fault-after", "4",
                *FAST) as a:
        code, _, err = run("cold", "--lane", a.url, "--bands", "4", "--replicates", "1",
                           "--warmup", "5", "--max-tokens", "4")
    check("a warm-up that fails: exit code", code in UNMEASURED_OR_BUSY, True)
    loop = receipt("cold")["bands"][0]["loop"]
    check("a warm-up that fails: UNMEASURED", (loop["status"], loop["reason"]),
          ("UNMEASURED", "warmup_failed"))


def test_nothing_ok():
    """Wire case 38: ignore_eos accepted, then a stop at token 3 of 8. Case 34: no PASS then."""
    with Server("--profile", "llama-server", "--fault", "early-stop:3", *FAST) as a:
        code, _, err = run("early", "--lane", a.url, "--bands", "1", "--replicates", "1",
                           "--requests", "3", "--max-tokens", "8")
    check("a server that always stops early: exit code", code in UNMEASURED_OR_BUSY, True)
    check("it is warned of before the clock starts", " of 8 tokens: such requests are 'short'" in err, True)
    check("its requests are short, not ok", {s["outcome"] for s in samples("early")}, {"short"})
    loop = receipt("early")["bands"][0]["loop"]
    check("a band without any ok request is UNMEASURED", (loop["status"], loop["reason"]),
          ("UNMEASURED", "nothing_ok"))


def test_bad_servers():
    for fault, words in (
            ("html", "answers HTML (HTTP 200), not a completion"),
            ("500-html", "answers HTML (HTTP 500), not a completion"),
            ("429", "HTTP 429"), ("done-only", "no token and no finish_reason"),
            ("error-mid-stream:2", "failed/server_error")):
        with Server("--profile", "llama-server", "--fault", fault, *FAST) as a:
            code, _, err = run("bad", "--lane", a.url)
        check(f"{fault}: exit code before the clock starts", code, 5)
        check(f"{fault}: the lane and what came are named",
              "lane subject" in err and words in err, True)
        check(f"{fault}: nothing is left behind", os.path.exists("bad"), False)


class Strict(http.server.BaseHTTPRequestHandler):
    """A server that knows no parameter named `refused`, and says so with 400."""
    protocol_version = "HTTP/1.1"
    refused = ""

    def log_message(self, *unused):
        pass

    def answer(self, code, kind, text):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        if self.path == "/v1/models":
            self.answer(200, "application/json", json.dumps({"data": [{"id": "m"}]}))
        else:
            self.answer(404, "application/json", "{}")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.startswith("/v1/"):
            self.answer(404, "application/json", "{}")
            return
        if self.refused in asked:
            self.answer(400, "application/json",
                        json.dumps({"error": {"message": f"unknown field {self.refused}"}}))
            return
        chunks = [{"choices": [{"index": 0, "delta": {"content": " word"}}]}
                  for _ in range(asked["max_tokens"])]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
        if "stream_options" in asked:
            chunks.append({"choices": [], "usage": {"prompt_tokens": 70,
                                                    "completion_tokens": asked["max_tokens"]}})
        text = "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n"
        self.answer(200, "text/event-stream", text)


def test_refused_parameters():
    """What a server refuses is left out, said before the clock starts, and stands in the receipt."""
    for refused, recorded in (("ignore_eos", "ignore_eos_refused"),
                              ("stream_options", "stream_usage_refused"),
                              ("cache_salt", "cache_policy_refused")):
        said = ("refuses to be asked not to reuse a cached prompt" if refused == "cache_salt" else
                f"refuses {refused}")
        handler = type("H", (Strict,), {"refused": refused})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        out = "refuses-" + refused
        code, _, err = run(out, "--lane", f"http://127.0.0.1:{server.server_address[1]}",
                           "--bands", "1", "--replicates", "1", "--requests", "2",
                           "--max-tokens", "4")
        server.shutdown()
        server.server_close()
        check(f"a server that refuses {refused}: measured", measured_or_busy(code), True)
        check(f"{refused}: said before the clock starts", said in err, True)
        lane = receipt(out)["lanes"][0]
        check(f"{refused}: recorded", lane.get(recorded), True)
        check(f"{refused}: every request is ok", {s["outcome"] for s in samples(out)}, {"ok"})


TESTS = (test_protocol, test_requests_and_quiesce, test_no_stream, test_server_usage,
         test_interrupted, test_interrupted_in_a_band, test_wrappers, test_failing,
         test_warmup_failed, test_nothing_ok, test_bad_servers, test_refused_parameters)


def main(tests=TESTS):
    work = tempfile.mkdtemp(prefix="tally-e2e-")
    os.chdir(work)
    try:
        code, _, err = tally("corpus", "make", "--tokenizer", TOKENIZER, "--tokens", "64",
                             "--count", "5", "--out", "w.jsonl")
        check("corpus make", code, 0)
        for test in tests:
            test()
    finally:
        os.chdir("/")
        shutil.rmtree(work)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
