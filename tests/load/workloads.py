#!/usr/bin/env python3
"""Workloads other than one length of prompt, run against tally-sim: mixtures of lengths.

usage: workloads.py        (TALLY_BUILD and TALLY_SOURCE name the build and the source tree)

Servers, runs and checks are end_to_end.py's. Output is TAP.
"""
import collections
import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading

import end_to_end as e
from end_to_end import (FAST, TOKENIZER, Server, check, measured_or_busy, ms_to_ns, receipt, run,
                        samples, tally)


try:
    from jsonschema import Draft202012Validator
except ImportError:  # python3-jsonschema; tests/receipt/schema.py says so when it is missing
    Draft202012Validator = None


def check_schema(out):
    """What this run wrote is what schemas/ says."""
    if not Draft202012Validator:
        return
    with open(os.path.join(out, "run.json")) as f:
        declared = json.load(f)
    for name, docs in (("receipt", [receipt(out)]), ("run", [declared]), ("sample", samples(out))):
        with open(os.path.join(e.SOURCE, "schemas", name + ".schema.json")) as f:
            validator = Draft202012Validator(json.load(f))
        wrong = [f"{x.json_path}: {x.message[:200]}" for doc in docs
                 for x in validator.iter_errors(doc)]
        check(f"{out}: as {name}.schema.json says", wrong[:3], [])


def lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f][1:]


def test_mixture():
    """Once round a mixture: every request asks for what its own prompt says."""
    tally("corpus", "make", "--tokenizer", TOKENIZER, "--mixture", "20:50,100:30,200:20",
          "--outputs", "2:40,5:60", "--tolerance", "4", "--count", "10", "--out", "m.jsonl")
    with Server("--profile", "llama-server", *FAST) as a:
        code, _, err = run("mixed", "--lane", a.url, "--bands", "2", "--replicates", "1",
                           "--requests", "10", corpus="m.jsonl")
        fixed, _, _ = run("fixed", "--lane", a.url, "--bands", "2", "--replicates", "1",
                          "--requests", "10", "--prompts", "fixed", corpus="m.jsonl")
        run("wins", "--lane", a.url, "--bands", "1", "--replicates", "1", "--requests", "3",
            "--max-tokens", "4", corpus="m.jsonl")
    check("a mixture: measured", (measured_or_busy(code), measured_or_busy(fixed)), (True, True))
    corpus = {line["id"]: line for line in lines("m.jsonl")}
    for out in ("mixed", "fixed"):
        mine = [s for s in samples(out) if s["phase"] == "window"]
        of = [corpus[s["prompt_id"].split(":")[0]] for s in mine]
        check(f"{out}: each asks for its own answer", [s["max_tokens"] for s in mine],
              [c["max_tokens"] for c in of])
        check(f"{out}: and got it", [s["output_reported"]["total"] for s in mine],
              [c["max_tokens"] for c in of])
        check(f"{out}: each prompt has its own length",
              [s for s, c in zip(mine, of) if abs(s["prompt_body"] - c["tokens"]) > 4], [])
        check(f"{out}: once round, the shares of lengths are exact",
              sorted(collections.Counter(c["tokens"] for c in of).items()),
              [(20, 5), (100, 3), (200, 2)])
        check(f"{out}: and of answers",
              sorted(collections.Counter(c["max_tokens"] for c in of).items()), [(2, 4), (5, 6)])
        code, text, _ = tally("verify", out, "--corpus", "m.jsonl", "--tokenizer", TOKENIZER)
        check_schema(out)
        check(f"{out}: verifies", (code, "prompts made again and counted" in text), (0, True))
    r = receipt("mixed")
    check("the receipt states the mixture",
          [(m["tokens"], m["percent"]) for m in r["workload"]["corpus"]["mixture"]],
          [(20, 50), (100, 30), (200, 20)])
    check("no one length is promised, none asked for",
          (r["workload"]["corpus"]["tokens"], r["workload"]["request"]["max_tokens"],
           r["unproduced_fields"]["workload.request.max_tokens"]), (None, None, "per_prompt"))
    check("no request is out of the mixture", [x for x in r["refusals"] if x["rule"] ==
                                               "prompt_band"], [])
    check("--max-tokens given beside it wins", {s["max_tokens"] for s in samples("wins")}, {4})
    check("and is what the receipt declares", receipt("wins")["workload"]["request"]["max_tokens"],
          4)


def test_w2():
    """The preset needs the corpus that it names."""
    tally("corpus", "make", "--tokenizer", TOKENIZER, "--mixture", "w2", "--count", "50", "--out",
          "w2.jsonl")
    code, out, _ = tally("run", "--dry-run", "--protocol", "w2", "--tokenizer", TOKENIZER,
                         "--corpus", "w2.jsonl", "--lane", "http://127.0.0.1:1", "--model", "m")
    check("w2: planned", (code, "protocol    w2" in out,
                          "50 prompts of 128, 512, 2048 or 8192 +- 8 tokens, counted" in out),
          (0, True, True))
    for corpus in ("w.jsonl", "m.jsonl"):
        code, _, err = tally("run", "--dry-run", "--protocol", "w2", "--tokenizer", TOKENIZER,
                             "--corpus", corpus, "--lane", "http://127.0.0.1:1", "--model", "m")
        check(f"w2 with {corpus}: refused with the remedy",
              (code, "the corpus does not promise the 128, 512, 2048 or 8192 +- 8 tokens of w2 in "
                     "its shares, and of its answers" in err,
               "tally corpus make --mixture w2 --tolerance 8" in err), (4, True, True))


def test_cold():
    """Who is asked not to reuse a cached prompt, obeys or not, and it is seen."""
    words = ("--bands", "1", "--replicates", "1", "--requests", "3", "--max-tokens", "3")
    for profile, obeys in (("llama-server", True), ("sglang", True), ("ollama", None),
                           ("vllm", None)):
        with Server("--profile", profile, *FAST) as a:
            run("cold-" + profile, "--lane", a.url, *words)
        r = receipt("cold-" + profile)
        band = r["bands"][0]
        check(f"{profile}: asked", r["protocol"]["cache_policy"], "cold")
        check(f"{profile}: the join key says so", r["lanes"][0]["join_key"]["cache_policy"], "cold")
        check(f"{profile}: obeys", band["prompt_work"]["cache_obeyed"], obeys)
        check(f"{profile}: or it is said why nobody knows",
              band["unproduced_fields"].get("bands.0.prompt_work.cache_obeyed") or
              band["unproduced_fields"].get("prompt_work.cache_obeyed"),
              None if obeys else "server_silent")
    with Server("--profile", "llama-server", *FAST) as a:
        run("any", "--lane", a.url, "--cache", "any", *words)
        _, _, err = run("again", "--lane", a.url, "--cache", "any", "--prompts", "fixed", *words)
        code, text, _ = tally("run", "--dry-run", "--lane", a.url, "--model", "m", "--tokenizer",
                              TOKENIZER, "--corpus", "w.jsonl")
    band = receipt("any")["bands"][0]
    check("not asked: the wrapper is cached", band["prompt_work"]["cached_requests"], 3)
    check("and explains all of it",
          (band["prompt_work"]["cached_unexplained"], "cached_tokens" in band["validity"]["flags"]),
          (0, False))
    check("not asked: nothing to obey", (band["prompt_work"]["cache_obeyed"],
                                         band["unproduced_fields"]["prompt_work.cache_obeyed"]),
          (None, "not_asked"))
    check("what is asked stands in the request",
          (code, '"cache_prompt":false' in text, '"cache_salt":"example:' in text),
          (0, True, True))
    check_schema("cold-llama-server")


def test_answers():
    """Wire case 39: answers made beside others, held against those that were made alone."""
    words = ("--bands", "1,4", "--replicates", "1", "--requests", "8", "--max-tokens", "40")
    outs = {}
    for name, fault in (("sound", ()), ("drift", ("--fault", "batch-drift:3")),
                        ("repeat", ("--fault", "batch-repeat"))):
        with Server("--profile", "vllm", "--slots", "4", "--decode-base", "3ms", *fault) as a:
            run(name, "--lane", a.url, *words)
        outs[name] = {b["band"]: b for b in receipt(name)["bands"]}
        check_schema(name)
        code, _, _ = tally("verify", name, "--corpus", "w.jsonl", "--tokenizer", TOKENIZER)
        check(f"{name}: verifies", code, 0)
    check("c = 1 is what others are held against",
          outs["sound"][1]["unproduced_fields"]["outputs.agreement"], "is_base")
    agreement = outs["sound"][4]["outputs"]["agreement"]
    check("a sound server: all that warm-up sent again is answered alike",
          (agreement["compared"], agreement["diverged"], agreement["agreed"] == agreement["of"],
           agreement["divergence_at"]), (8, 0, True, None))
    agreement = outs["drift"][4]["outputs"]["agreement"]
    check("answers that drift are told, and from where on",
          (agreement["compared"], agreement["diverged"] > 0, agreement["agreed"] < agreement["of"]),
          (8, True, True))
    check("an answer that drifts is still an answer",
          [b for b in outs["drift"].values() if b["reason"] == "invalid_correctness"], [])
    check("alone it answers, beside others it repeats: REFUSED",
          [(b["band"], b["status"]) for b in outs["repeat"].values()
           if any(r["rule"] == "invalid_correctness" and r["band"] == b["band"]
                  for r in receipt("repeat")["refusals"])], [(4, "REFUSED")])
    check("and it is flagged", "degenerate_output" in outs["repeat"][4]["validity"]["flags"], True)
    check("the longest run is the whole answer", outs["repeat"][4]["outputs"]["longest_run"], 40)
    for s in samples("sound"):
        text = "".join(e.get("text", "") for e in s["events"])
        if hashlib.sha256(text.encode()).hexdigest() != s["output_sha256"]:
            check("every sample digests its answer", s["output_sha256"], text)
    window = sorted((s["prompt_id"], s["output_sha256"]) for s in samples("sound")
                    if s["phase"] == "window" and s["band"] == 4)
    check("the band digests its answers", outs["sound"][4]["outputs"]["sha256"],
          hashlib.sha256("".join(f"{i} {d}\n" for i, d in window).encode()).hexdigest())


def check_injected(out, half):
    """What was injected, and what the receipt says of it, from the samples themselves."""
    band = receipt(out)["bands"][0]
    mine = samples(out)
    injected = [s for s in mine if s["phase"] == "injected"]
    check(f"{out}: one prompt is injected", (len(injected), band["counts"]["injected"],
                                             band["loop"]["issued_injected"]), (1, 1, 1))
    one, told = injected[0], band["injector"]
    check(f"{out}: a longest one, for one token",
          (abs(one["prompt_body"] - 2000) <= 4, one["max_tokens"], one["outcome"]), (True, 1, "ok"))
    check(f"{out}: at half of the window", half(one, band, mine), True)
    check(f"{out}: it is in no count", band["counts"]["issued"],
          sum(s["phase"] == "window" for s in mine))
    first = min(s["t_kernel"] if "t_kernel" in s else s["t_user"] for s in one["reads"])
    before, during = [], []
    for s in mine:
        if s["phase"] != "window" or s["outcome"] != "ok":
            continue
        times = [s["reads"][e["read"]] for e in s["events"] if e["kind"] == "text"]
        times = sorted({t.get("t_kernel", t["t_user"]) for t in times})
        for a, b in zip(times, times[1:]):
            if b <= one["t_sent"]:
                before.append(b - a)
            elif a < ms_to_ns(told["prefill_ms"]) + one["t_sent"]:
                during.append(b - a)
    check(f"{out}: the gaps before and during it are told",
          (told["gaps_before"], told["gaps_during"]), (len(before), len(during)))
    check(f"{out}: the prefill ends with its first token",
          ms_to_ns(told["prefill_ms"]) + one["t_sent"] >= first, True)
    stall = band["metrics"]["injector_stall_ms"]
    if before and during:
        median = sorted(before)[(len(before) + 1) // 2 - 1]
        check(f"{out}: the stall is the largest gap less the median before",
              round(stall["value"], 3), round((max(during) - median) / 1e6, 3))
    # 2,000 tokens at 10,000 a second hold every other sequence for 200 ms; --requests may inject
    # just when all others begin as well, and then nobody waits for a next token
    if out == "inject":
        check(f"{out}: a batch waits for the prefill", stall and stall["value"] > 150, True)
    check(f"{out}: shown", "injected: a prompt of" in tally("show", out)[1], True)
    check_schema(out)
    code, text, _ = tally("verify", out, "--corpus", "long.jsonl", "--tokenizer", TOKENIZER)
    check(f"{out}: verifies", (code, "prompts made again" in text), (0, True))


def test_injector():
    tally("corpus", "make", "--tokenizer", TOKENIZER, "--mixture", "20:90,2000:10", "--outputs",
          "60:100", "--tolerance", "4", "--count", "100", "--out", "long.jsonl")
    slow = ("--profile", "vllm", "--decode-base", "5ms", "--prefill-rate", "10000",
            "--prefill-chunk", "4096", "--slots", "8")
    with Server(*slow) as a:
        code, _, err = run("inject", "--lane", a.url, "--bands", "3", "--replicates", "1",
                           "--window", "2s", "--min-samples", "1", "--inject",
                           corpus="long.jsonl")
        some, _, _ = run("inject-n", "--lane", a.url, "--bands", "3", "--replicates", "1",
                         "--requests", "9", "--inject", corpus="long.jsonl")
    check("--inject: measured", (measured_or_busy(code), measured_or_busy(some)), (True, True))
    check_injected("inject", lambda s, b, mine: s["t_sent"] >= ms_to_ns(b["open_ms"]) + 10**9)
    check_injected("inject-n", lambda s, b, mine: sum(
        x["phase"] == "window" and x["t_issue"] <= s["t_issue"] for x in mine) >= 5)
    r = receipt("inject")
    check("the plan and the join key say so",
          (r["protocol"]["injector"], r["lanes"][0]["join_key"]["injector"]),
          ("longest", "longest"))


def say(*texts):
    return [{"role": ("user", "assistant")[i % 2], "content": t} for i, t in enumerate(texts)]


class Scripted(http.server.BaseHTTPRequestHandler):
    """Answers with the number of its answer, and keeps what it was asked."""
    protocol_version = "HTTP/1.1"
    asked, lock = [], threading.Lock()

    def log_message(self, *unused):
        pass

    def answer(self, code, kind, text):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        known = self.path == "/v1/models"
        self.answer(200 if known else 404, "application/json",
                    json.dumps({"data": [{"id": "m"}]} if known else {}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.lock:
            number = len(self.asked)
            self.asked.append(body)
        chunks = [{"choices": [{"index": 0, "delta": {"content": f" word{number}"}}]}
                  for _ in range(body["max_tokens"])]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 70,
                                                "completion_tokens": body["max_tokens"]}})
        text = "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n"
        self.answer(200, "text/event-stream", text)


def play(out, *words):
    """A run of conversations against Scripted: what was asked of it for these samples."""
    handler = type("H", (Scripted,), {"asked": [], "lock": threading.Lock()})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    code, _, err = tally("run", "--tokenizer", TOKENIZER, "--out", out, "--cooldown", "0", "--lane",
                         f"http://127.0.0.1:{server.server_address[1]}", "--no-probe",
                         "--replicates", "1", "--warmup", "0", *words)
    server.shutdown()
    server.server_close()
    if not measured_or_busy(code):
        print("# " + err.replace("\n", "\n# "))
    return code, err, handler.asked


def test_conversations():
    with open("talk.jsonl", "w") as f:
        for texts in (("one", "A", "two", "B", "three"), ("uno", "X", "due", "Y")):
            f.write(json.dumps({"messages": [{"role": "system", "content": "be brief"}]
                                + say(*texts)}) + "\n")
    with open("gpt.json", "w") as f:
        json.dump([{"id": "z", "conversations": [{"from": "human", "value": "eins"},
                                                 {"from": "gpt", "value": "ja nein"},
                                                 {"from": "human", "value": "zwei"}]},
                   {"id": "bad", "conversations": [{"from": "gpt", "value": "hello"}]}], f)
    words = ("--bands", "1", "--requests", "5", "--prompts", "fixed", "--max-tokens", "2")
    code, _, asked = play("recorded", "--conversations", "talk.jsonl", "--answers", "recorded",
                          *words)
    check("recorded answers: measured", measured_or_busy(code), True)
    mine = sorted(samples("recorded"), key=lambda s: s["seq"])
    check("turn by turn, conversation after conversation", [s["turn"] for s in mine],
          [1, 2, 3, 1, 2])
    check("each turn is named", [s["prompt_id"].split(":r1.c1.")[1] for s in mine],
          ["k0.t1", "k0.t2", "k0.t3", "k1.t1", "k1.t2"])
    system = [{"role": "system", "content": "be brief"}]
    check("the prompt is the conversation as recorded so far",
          [a["messages"] for a in asked[-5:]],
          [system + say("one"), system + say("one", "A", "two"),
           system + say("one", "A", "two", "B", "three"), system + say("uno"),
           system + say("uno", "X", "due")])
    check("the body of a turn is what is new in it",
          {s["prompt_body"] for s in mine if s["turn"] == 2} and
          [s["prompt_body"] for s in mine] ==
          [count(t) for t in ("one", "two", "three", "uno", "due")], True)
    code, _, asked = play("live", "--conversations", "talk.jsonl", *words)
    check("live answers: measured", measured_or_busy(code), True)
    answers = [m["content"] for a in asked[-5:] for m in a["messages"] if m["role"] == "assistant"]
    n = len(asked) - 5
    check("what the server said becomes part of the next prompt", answers,
          [f" word{i} word{i}" for i in (n, n, n + 1, n + 3)])
    r = receipt("live")
    check("the receipt says so", (r["workload"]["request"]["answers"],
                                  r["protocol"]["cache_policy"]), ("live", "friendly"))
    code, err, asked = play("gpt", "--conversations", "gpt.json", "--answers", "recorded", "--bands",
                            "2", "--requests", "4", "--think", "50ms", "--prompts", "fixed")
    check("ShareGPT's form: measured", measured_or_busy(code), True)
    check("what cannot be played is told",
          "1 of 2 conversations cannot be played (conversation 2: message 1 answers nothing)" in err,
          True)
    check("an answer is as long as the recorded one",
          [a["max_tokens"] for a in asked[-4:]].count(count("ja nein")) >= 2, True)
    for worker in (0, 1):
        own = sorted((s for s in samples("gpt") if s["worker"] == worker), key=lambda s: s["seq"])
        gaps = [b["t_sent"] - a["t_end"] for a, b in zip(own, own[1:])]
        check(f"worker {worker} thinks between turns", [g for g in gaps if g < 50 * 10**6], [])
    code, _, asked = play("new", "--conversations", "talk.jsonl", "--bands", "2", "--requests", "6",
                          "--max-tokens", "2")
    first = [a["messages"][1]["content"] for a in asked if len(a["messages"]) == 2]
    check("unique: every conversation begins in its own way",
          (len(set(first)) == len(first), all(t.split(". ", 1)[1] in ("one", "uno")
                                              for t in first[-3:])), (True, True))
    for out in ("recorded", "live", "gpt", "new"):
        check_schema(out)
        code, text, _ = tally("verify", out, "--tokenizer", TOKENIZER)
        check(f"{out}: verifies", code, 0)


def test_turns():
    """Each turn's prompt is predicted, counted by the server alike, and told apart by turn."""
    with open("long-talk.jsonl", "w") as f:
        for i in range(3):
            f.write(json.dumps({"messages": say(*(f"question {i} {k}" if k % 2 == 0 else "so"
                                                  for k in range(5)))}) + "\n")
    with Server("--profile", "llama-server", *FAST) as a:
        code, _, err = tally("run", "--tokenizer", TOKENIZER, "--conversations", "long-talk.jsonl",
                             "--out", "turns", "--cooldown", "0", "--lane", a.url, "--bands", "2",
                             "--replicates", "1", "--requests", "12", "--max-tokens", "6")
    check("turns: measured", measured_or_busy(code), True)
    band = receipt("turns")["bands"][0]
    mine = [s for s in samples("turns") if s["phase"] == "window"]
    check("every turn's prompt is counted as predicted",
          [s["prompt_id"] for s in mine if s["prompt_reported"] != s["prompt_rendered"]], [])
    check("turns are told apart", [(t["turn"], t["n"], t["departed"])
                                   for t in band["prompt_work"]["turns"]],
          sorted((t, n, 0) for t, n in collections.Counter(s["turn"] for s in mine).items()))
    for t in band["prompt_work"]["turns"]:
        own = sorted(s["prompt_reported"] for s in mine if s["turn"] == t["turn"])
        check(f"turn {t['turn']}: its prompts as reported",
              (t["reported"]["min"], t["reported"]["median"], t["reported"]["max"]),
              (own[0], own[(len(own) + 1) // 2 - 1], own[-1]))
    later = [s for s in mine if s["turn"] > 1]
    check("a later turn's prompt is longer than what it adds",
          [s for s in later if s["prompt_rendered"] <= s["prompt_body"] + 6], [])
    check("cached tokens are no fault", "cached_tokens" in band["validity"]["flags"], False)
    check_schema("turns")
    check("turns: verifies", tally("verify", "turns", "--tokenizer", TOKENIZER)[0], 0)


def count(text):
    r = subprocess.run([e.TALLY, "count", "--tokenizer", TOKENIZER, "-"], input=text,
                       capture_output=True, text=True, check=True)
    return int(r.stdout)


def test_shared_prefix():
    words = ("--bands", "2", "--replicates", "1", "--requests", "4", "--max-tokens", "3")
    with Server("--profile", "llama-server", *FAST) as a:
        for out in ("prefix", "prefix2"):
            code, _, err = run(out, "--lane", a.url, "--shared-prefix", "300", *words)
        check("--shared-prefix: measured", measured_or_busy(code), True)
        code, _, err = run("none", "--lane", a.url, "--shared-prefix", "10", "--system", "x", *words)
        check("with --system: refused", (code, "are both given" in err), (2, True))
    r = receipt("prefix")
    request = r["workload"]["request"]
    check("the prefix is exact, and stands in the receipt",
          (request["shared_prefix_tokens"], count(request["system"])), (300, 300))
    check("a plan has one prefix", receipt("prefix2")["workload"]["request_sha256"],
          r["workload"]["request_sha256"])
    band = r["bands"][0]
    check("cached tokens are expected", (r["protocol"]["cache_policy"],
                                         band["prompt_work"]["cached_requests"],
                                         "cached_tokens" in band["validity"]["flags"]),
          ("friendly", 4, False))
    check("and the prefix is among them", band["prompt_work"]["cached"]["min"] >= 300, True)
    check_schema("prefix")
    check("it verifies", tally("verify", "prefix", "--tokenizer", TOKENIZER, "--corpus",
                               "w.jsonl")[0], 0)


TESTS = (test_mixture, test_w2, test_cold, test_answers, test_injector, test_conversations,
         test_turns, test_shared_prefix)

if __name__ == "__main__":
    sys.exit(e.main(TESTS))
