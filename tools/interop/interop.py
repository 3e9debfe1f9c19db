#!/usr/bin/env python3
"""Measures a real llama.cpp server with tally and holds what tally says against what it knows.

usage: interop.py --tally build/tally --shared ../shared [--keep DIR]

The server is llama.cpp's own, run in process by the PyPI wheel xllamacpp, which is installed into
.peers/interop (ignored). Everything compared here comes from outside tally: the counts in
lane-counts.json and the captured answers were taken from another build of llama-server, and the
percentiles are worked out again below from the raw samples.

Ends with `N passed, N failed, N skipped`. Skips say why; exit code 1 when anything failed.
"""
import argparse
import glob
import gzip
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WHEEL = "xllamacpp"
START_TIMEOUT_S = 120
STEP_TIMEOUT_S = 300

tally_of = {"passed": 0, "failed": 0, "skipped": 0}


def report(outcome, what, detail=""):
    tally_of[outcome] += 1
    mark = {"passed": "ok  ", "failed": "FAIL", "skipped": "skip"}[outcome]
    print(f"{mark} {what}" + (f": {detail}" if detail else ""), flush=True)


def check(what, seen, wanted):
    if seen == wanted:
        report("passed", what)
    else:
        report("failed", what, f"saw {seen!r}, expected {wanted!r}")


def finish():
    c = tally_of
    print(f"{c['passed']} passed, {c['failed']} failed, {c['skipped']} skipped", flush=True)
    sys.exit(1 if c["failed"] else 0)


def skip_all(why):
    report("skipped", "interop with a real llama.cpp server", why)
    finish()


def server_python():
    """A Python that can import the wheel, installing it into .peers/interop when needed."""
    venv = os.path.join(ROOT, ".peers", "interop")
    python = os.path.join(venv, "bin", "python")
    probe = [python, "-c", "import xllamacpp"]
    if os.path.exists(python) and subprocess.run(probe, capture_output=True).returncode == 0:
        return python, None
    print(f"installing the wheel {WHEEL} into .peers/interop", flush=True)
    for command in (
        [sys.executable, "-m", "venv", venv],
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", WHEEL],
        probe,
    ):
        try:
            r = subprocess.run(command, capture_output=True, text=True, timeout=STEP_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as e:
            return None, f"{command[-1]}: {e}"
        if r.returncode != 0:
            last = (r.stderr.strip() or r.stdout.strip() or "no message").splitlines()[-1]
            return None, f"{' '.join(command[1:])}: {last}"
    return python, None


class Server:
    def __init__(self, python, model, log):
        self.log = open(log, "w")
        self.process = subprocess.Popen(
            [python, os.path.join(HERE, "llama-server.py"), model],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        signal.signal(signal.SIGALRM, lambda *_: self.process.kill())
        signal.alarm(START_TIMEOUT_S)
        self.url = self.process.stdout.readline().strip()
        signal.alarm(0)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()


def run_tally(tally, *words, stdin=None, ok=(0,)):
    r = subprocess.run([tally, *words], input=stdin, capture_output=True, text=True,
                       timeout=STEP_TIMEOUT_S)
    if ok is not None and r.returncode not in ok:
        report("failed", "tally " + " ".join(words[:2]),
               f"exit {r.returncode}: {(r.stderr or r.stdout).strip()[-600:]}")
    return r


def user_text(row):
    return [m["content"] for m in row["messages"] if m["role"] == "user"][-1]


def check_counts(tally, model, rows):
    lines = "".join(json.dumps({"text": user_text(r)}) + "\n" for r in rows)
    for mode in ("parsed", "plain"):
        r = run_tally(tally, "count", "--tokenizer", model, "--jsonl", "--special-text", mode,
                      stdin=lines)
        counts = [json.loads(line)["n"] for line in r.stdout.splitlines()]
        check(f"tally count, special text {mode}, all shapes of lane-counts.json", counts,
              [r[f"raw_tokens_special_{mode}"] for r in rows])


def check_rendering(tally, model, rows):
    """Every shape's ids and count as the server will make them, before it is asked."""
    for row in rows:
        r = run_tally(tally, "render", "--template", model, "--as", "llama-server", "--messages",
                      "-", "--tokens", "--tokenizer", model, "--json",
                      stdin=json.dumps(row["messages"]))
        seen = json.loads(r.stdout)
        check(f"tally render, {row['shape']}, {len(row['messages'])} messages: the server's ids",
              [i for part in seen["parts"] for i in part["tokens"]], row["rendered_ids"])
        check(f"tally render, {row['shape']}, {len(row['messages'])} messages: its count",
              seen["n"], row["server_prompt_tokens"])


def check_probe(tally, model, url):
    """The wrapper of a real server is named, its own renderings and every count predicted."""
    r = run_tally(tally, "probe", "--lane", url, "--tokenizer", model, "--json")
    lane = json.loads(r.stdout)["lanes"][0]
    check("tally probe: the wrapper is named", (lane["wrapper"]["status"],
                                                lane["wrapper"]["profile"]),
          ("named", "llama-server"))
    for shape in lane["shapes"]:
        check(f"tally probe, {shape['name']}: predicted, and rendered as the server renders",
              (shape["predicted"], shape["own_rendering_agrees"], shape["own_tokens_agree"]),
              (shape["reported"], True, True))
    check("tally probe: streams live, with usage, ignore_eos honoured",
          (lane["streams_live"], lane["stream_usage"], lane["ignore_eos"]), (True, True, True))


def check_server(server, rows):
    seen = []
    for row in rows:
        body = json.dumps({"messages": row["messages"], "max_tokens": 1}).encode()
        seen.append(json.loads(server.post("/v1/chat/completions", body)[1])["usage"]["prompt_tokens"])
    check("the server counts each shape as the recorded one did", seen,
          [r["server_prompt_tokens"] for r in rows])


def check_wrapper(tally, model, server, rows, work):
    """Every recorded shape rendered as the server renders it, and counted as it counted; and the
    probe names the wrapper of the server that runs here."""
    messages = os.path.join(work, "messages.json")
    texts, counts = [], []
    for row in rows:
        with open(messages, "w") as f:
            json.dump(row["messages"], f)
        r = run_tally(tally, "render", "--template", model, "--as", "llama-server", "--messages",
                      messages)
        texts.append(r.stdout)
        n = run_tally(tally, "count", "--tokenizer", model, "--jsonl",
                      stdin=json.dumps({"text": r.stdout}) + "\n")
        counts.append(json.loads(n.stdout)["n"] if n.stdout else None)
    check("each shape of lane-counts.json rendered as the server did", texts,
          [r["rendered"] for r in rows])
    check("each shape predicted exactly", counts, [r["server_prompt_tokens"] for r in rows])
    r = run_tally(tally, "probe", "--lane", f"subject={server.url}", "--tokenizer", model)
    check("tally probe names the wrapper and predicts every count", r.returncode, 0)


def events(text):
    return [json.loads(line[5:]) for line in text.splitlines()
            if line.startswith("data:") and "[DONE]" not in line]


def last_usage(documents):
    found = [d["usage"] for d in documents if d.get("usage")]
    return {k: found[-1][k] for k in ("prompt_tokens", "completion_tokens")} if found else None


def unchunk(raw):
    head, _, rest = raw.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    if b"transfer-encoding: chunked" not in head.lower():
        return status, rest.decode()
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        n = int(size, 16)
        body, rest = body + rest[:n], rest[n + 2:]
        if n == 0:
            break
    return status, body.decode()


def check_captures(server, captures):
    paths = {"completions-": "/v1/completions", "tokenize": "/tokenize",
             "apply-template": "/apply-template"}
    for request in sorted(glob.glob(os.path.join(captures, "*.request.json"))):
        name = os.path.basename(request)[:-len(".request.json")]
        path = next((p for k, p in paths.items() if name.startswith(k)), "/v1/chat/completions")
        with open(request.replace(".request.json", ".response.http"), "rb") as f:
            then_status, then = unchunk(f.read())
        if "stream" in name and any("error" in d for d in events(then)):
            report("skipped", f"capture {name}", "it records a failure that no healthy model repeats")
            continue
        with open(request, "rb") as f:
            status, text = server.post(path, f.read())
        # Builds differ in which error status they choose (400 or 500 for bad JSON), not in whether.
        check(f"capture {name}: answered as an error", status >= 400, then_status >= 400)
        if "stream" in name:
            now, before = events(text), events(then)
            check(f"capture {name}: usage", last_usage(now), last_usage(before))
            check(f"capture {name}: chunks with choices",
                  sum(bool(d.get("choices")) for d in now),
                  sum(bool(d.get("choices")) for d in before))
        elif name == "tokenize":
            check("capture tokenize: ids", [t["id"] for t in json.loads(text)["tokens"]],
                  [t["id"] for t in json.loads(then)["tokens"]])
        elif name == "apply-template":
            check("capture apply-template: text", json.loads(text), json.loads(then))


def nearest_rank(values, p):
    return sorted(values)[math.ceil(p * len(values)) - 1]


def read_samples(run):
    samples = []
    for path in sorted(glob.glob(os.path.join(run, "samples", "*.jsonl.gz"))):
        with gzip.open(path, "rt") as f:
            samples += [dict(json.loads(line), file=path) for line in f]
    return samples


def ttft_ns(s):
    """t_sent to the read of the first event that carries text; None without one."""
    for e in s.get("events", []):
        if e["kind"] in ("text", "reasoning", "tool"):
            read = s["reads"][e.get("read", 0)]
            return read.get("t_kernel", read["t_user"]) - s["t_sent"]
    return None


def check_run(tally, model, url, work):
    corpus, run = os.path.join(work, "w1.jsonl"), os.path.join(work, "run")
    run_tally(tally, "corpus", "make", "--tokenizer", model, "--tokens", "512", "--tolerance", "8",
              "--count", "32", "--seed", "7", "--out", corpus)
    check("corpus check", run_tally(tally, "corpus", "check", "--tokenizer", model, corpus).returncode, 0)
    r = run_tally(tally, "run", "--lane", f"subject={url}", "--tokenizer", model, "--corpus", corpus,
                  "--bands", "1,4", "--replicates", "2", "--requests", "10", "--max-tokens", "32",
                  "--cooldown", "0", "--out", run, ok=(0, 4))
    check_status(r, run)
    samples = [s for s in read_samples(run) if s["phase"] == "window"]
    check("samples written", len(samples), 2 * 2 * 10)
    check("prompt_reported = body + 29 on every sample",
          {(s.get("prompt_reported") or 0) - s["prompt_body"] for s in samples}, {29})
    check("every body is 512 tokens", {s["prompt_body"] for s in samples}, {512})
    check("output_reported = max_tokens on every sample",
          {s.get("output_reported", {}).get("total") for s in samples}, {32})
    check("every outcome is ok", {s["outcome"] for s in samples}, {"ok"})
    check("TTFT: every request has a token, and the role chunk carries none",
          sum(ttft_ns(s) is not None and any(e["kind"] == "role" for e in s["events"])
              and not any(e["kind"] == "role" and e.get("text") for e in s["events"])
              for s in samples), 2 * 2 * 10)
    check_percentiles(run, samples)
    check("verify", run_tally(tally, "verify", run).returncode, 0)
    check("show", run_tally(tally, "show", run).returncode, 0)
    check_tampering(tally, run, work)


def check_raw(tally, model, url, work):
    """Both lanes are this server: one template rendered by the client, sent raw as ids."""
    run = os.path.join(work, "raw")
    r = run_tally(tally, "run", "--lane", f"subject={url}", "--lane", f"comparator={url}",
                  "--tokenizer", model, "--corpus", os.path.join(work, "w1.jsonl"), "--bands", "1",
                  "--replicates", "1", "--requests", "5", "--max-tokens", "8", "--cooldown", "0",
                  "--wire", "completions", "--out", run, ok=(0, 4))
    check_status(r, run)
    with open(os.path.join(run, "receipt.json")) as f:
        receipt = json.load(f)
    check("--wire completions: the server takes token ids",
          receipt["workload"]["rendering"]["prompt_form"], "ids")
    check("--wire completions: its count confirms them",
          {(lane["wrapper"]["status"], lane["wrapper"]["server_front"])
           for lane in receipt["lanes"]}, {("named", 0)})
    samples = read_samples(run)
    check("--wire completions: prompt_reported = prompt_rendered on every sample, of both lanes",
          [s["prompt_id"] for s in samples
           if s.get("prompt_reported") != s.get("prompt_rendered", "none")], [])
    # 29: the template's default system turn is 21 tokens, the rest of it 8
    check("--wire completions: the same 29 tokens around every prompt",
          {s["prompt_rendered"] - s["prompt_body"] for s in samples}, {29})
    check("--wire completions: every prompt made, rendered and counted again", run_tally(
        tally, "verify", run, "--corpus", os.path.join(work, "w1.jsonl"), "--tokenizer",
        model).returncode, 0)


def check_status(r, run):
    """A run passes; or it says that this machine was too busy to be a measuring client, which on
    two cores shared with the server is no fault of tally's. Any other refusal is."""
    with open(os.path.join(run, "receipt.json")) as f:
        rules = {refusal["rule"] for refusal in json.load(f)["refusals"]}
    if r.returncode == 4 and rules == {"client_saturated"}:
        report("skipped", "tally run ends PASS", "the client was saturated on this machine, and "
               "the receipt says so")
    else:
        check("tally run ends PASS", (r.returncode, rules), (0, set()))


def check_percentiles(run, samples):
    """The p50 of TTFT of every band, from the samples, against the receipt's printed text."""
    with open(os.path.join(run, "receipt.json")) as f:
        receipt = json.load(f, parse_float=str)
    check("bands in the receipt", len(receipt["bands"]), 2 * 2)
    for band in receipt["bands"]:
        values = [ttft_ns(s) for s in samples
                  if s["band"] == band["band"] and s["replicate"] == band["replicate"]]
        ns = nearest_rank(values, 0.5)
        wanted = f"{ns // 1000000}.{ns % 1000000:06d}"
        check(f"ttft_ms p50 at c = {band['band']}, replicate {band['replicate']}",
              band["metrics"]["ttft_ms"]["p50"], wanted)


def check_tampering(tally, run, work):
    def tampered(name, edit, place):
        copy = os.path.join(work, "tampered-" + name)
        shutil.copytree(run, copy)
        edit(copy)
        r = run_tally(tally, "verify", copy, ok=None)
        failed = [line for line in r.stdout.splitlines() if line.startswith("FAILED") or place in line]
        check(f"verify refuses an edited {name}, naming rule and place",
              (r.returncode, any(place in line for line in failed)), (4, True))
        print("    " + "\n    ".join(failed[:4]))

    def edit_sample(copy):
        path = sorted(glob.glob(os.path.join(copy, "samples", "*.gz")))[0]
        with gzip.open(path, "rt") as f:
            lines = f.readlines()
        sample = json.loads(lines[-1])
        sample["t_sent"] += 1000000
        lines[-1] = json.dumps(sample, separators=(",", ":")) + "\n"
        with gzip.open(path, "wt") as f:
            f.writelines(lines)

    def edit_receipt(copy):
        path = os.path.join(copy, "receipt.json")
        with open(path) as f:
            text = f.read()
        at = text.index('"p50": ') + len('"p50": ')
        digit = "1" if text[at] != "1" else "2"
        with open(path, "w") as f:
            f.write(text[:at] + digit + text[at + 1:])

    tampered("sample", edit_sample, "samples/")
    tampered("receipt", edit_receipt, "receipt.json")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tally", default=os.path.join(ROOT, "build", "tally"))
    p.add_argument("--shared", default=os.path.join(ROOT, "..", "shared"))
    p.add_argument("--keep", help="a directory to work in, emptied first, and leave behind")
    a = p.parse_args()

    model = os.path.join(a.shared, "vectors", "gguf", "tiny-qwen2.gguf")
    if not os.path.exists(model):
        skip_all("../shared/vectors/gguf/tiny-qwen2.gguf is absent")
    python, why = server_python()
    if not python:
        skip_all(f"no llama.cpp server can be installed: {why}")

    work = a.keep or tempfile.mkdtemp(prefix="tally-interop-")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    server = Server(python, os.path.abspath(model), os.path.join(work, "server.log"))
    try:
        if not server.url.startswith("http://127.0.0.1:"):
            with open(os.path.join(work, "server.log")) as f:
                report("failed", "start of the server", f.read()[-600:])
            finish()
        with open(os.path.join(a.shared, "vectors", "lane-counts.json")) as f:
            rows = json.load(f)
        check_server(server, rows)
        check_captures(server, os.path.join(a.shared, "captures", "llama-server"))
        check_counts(a.tally, model, rows)
        check_rendering(a.tally, model, rows)
        check_probe(a.tally, model, server.url)
        check_wrapper(a.tally, model, server, rows, work)
        check_run(a.tally, model, server.url, work)
        check_raw(a.tally, model, server.url, work)
    finally:
        server.stop()
        if not a.keep:
            shutil.rmtree(work, ignore_errors=True)
    finish()


main()
