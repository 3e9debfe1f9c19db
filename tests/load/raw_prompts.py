#!/usr/bin/env python3
"""`tally run --wire completions`: one template rendered by the client, the same tokens to every
lane.

usage: raw_prompts.py        (TALLY_BUILD and TALLY_SOURCE name the build and the source tree)

What is sent is caught by servers of this file and decoded with the tokenizer's own table, so that
neither tally's template engine nor its tokenizer is the judge of it. Output is TAP.
"""
import http.server
import json
import os
import re
import shutil
import sys
import tempfile
import threading

import end_to_end as e2e
from end_to_end import FAST, Server, check, measured_or_busy, receipt, samples, tally

CONFIG = os.path.join(e2e.SOURCE, "examples", "demo", "tokenizer_config.json")
CHATML = re.compile(r"<\|im_start\|>user\n(.*)<\|im_end\|>\n<\|im_start\|>assistant\n", re.S)
SHORT = ("--bands", "1", "--replicates", "1", "--requests", "3", "--max-tokens", "4")


def byte_of_each_character():
    """The printable stand-ins of byte-level BPE (GPT-2's table), backwards."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    table = {chr(b): b for b in plain}
    table.update({chr(256 + i): b for i, b in enumerate(others)})
    return table


class Decoder:
    def __init__(self, path):
        with open(path) as f:
            doc = json.load(f)
        self.pieces = {i: p for p, i in doc["model"]["vocab"].items()}
        self.added = {t["id"]: t["content"] for t in doc["added_tokens"]}
        self.bytes = byte_of_each_character()

    def text(self, ids):
        out = b""
        for i in ids:
            out += (self.added[i].encode() if i in self.added
                    else bytes(self.bytes[c] for c in self.pieces[i]))
        return out.decode()


class Catcher(http.server.BaseHTTPRequestHandler):
    """Keeps every raw prompt, counts its ids (or its words), and streams four tokens."""
    protocol_version = "HTTP/1.1"
    caught = None
    path_served = "/v1/completions"
    front = 0        # tokens it claims to put in front
    silent = False   # reports nothing

    def log_message(self, *unused):
        pass

    def answer(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/v1/models":
            self.answer(200, "application/json", json.dumps({"data": [{"id": "demo"}]}))
        else:
            self.answer(404, "application/json", "{}")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != self.path_served:
            self.answer(404, "application/json", "{}")
            return
        self.caught.append(asked)
        n = len(asked["prompt"]) + self.front
        (self.native if self.path == "/completion" else self.openai)(asked, n)

    def openai(self, asked, n):
        usage = {} if self.silent else {"usage": {"prompt_tokens": n,
                                                  "completion_tokens": asked["max_tokens"]}}
        words = [" word"] * asked["max_tokens"]
        if not asked["stream"]:
            self.answer(200, "application/json", json.dumps(
                {"choices": [{"index": 0, "text": "".join(words), "finish_reason": "length"}],
                 **usage}))
            return
        chunks = [{"choices": [{"index": 0, "text": w, "finish_reason": None}]} for w in words]
        chunks.append({"choices": [{"index": 0, "text": "", "finish_reason": "length"}]})
        chunks.append({"choices": [], **usage})
        self.answer(200, "text/event-stream",
                    "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n")

    def native(self, asked, n):
        end = {"content": "", "stop": True, "stop_type": "limit", "tokens_evaluated": n,
               "tokens_predicted": asked["n_predict"], "tokens": []}
        if not asked["stream"]:
            self.answer(200, "application/json", json.dumps({**end, "content": " word"}))
            return
        chunks = [{"content": " word", "tokens": [1000 + i], "stop": False}
                  for i in range(asked["n_predict"])]
        self.answer(200, "text/event-stream",
                    "".join(f"data: {json.dumps(c)}\n\n" for c in [*chunks, end]))


class Catching:
    def __init__(self, **members):
        self.caught = []
        handler = type("H", (Catcher,), {"caught": self.caught, **members})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *unused):
        self.server.shutdown()
        self.server.server_close()


def run(out, a, b, *words, tokenizer=e2e.TOKENIZER, template=CONFIG, corpus="w.jsonl"):
    return tally("run", "--tokenizer", tokenizer, "--corpus", corpus, "--out", out,
                 "--cooldown", "0", "--wire", "completions", "--template", template,
                 "--lane", f"subject={a.url}", "--lane", f"comparator={b.url}", *SHORT, *words)


def rendering(directory):
    r = receipt(directory)
    return r, r["workload"]["rendering"]


def work(directory, busy=True):
    """Whether the lanes' prompt work was found equal; `busy` where a machine too busy to measure
    well left no pair to look at."""
    r = receipt(directory)
    if any(band["status"] != "PASS" for band in r["bands"]):
        return busy
    return r["pairs"][0]["prompt_work"]["equal"] is True


def test_same_ids():
    """What both servers are sent is one list of ids, and spells the template around the prompt."""
    decoder = Decoder(e2e.TOKENIZER)
    with Catching() as a, Catching() as b:
        code, _, err = run("ids", a, b)
    check("two lanes that take ids: measured", measured_or_busy(code), True)
    streamed = [[asked["prompt"] for asked in x.caught if asked["stream"]] for x in (a, b)]
    check("both lanes are sent the same ids", streamed[0], streamed[1])
    check("they are ids", {type(i) for p in streamed[0] for i in p}, {int})
    texts = [decoder.text(p) for p in streamed[0]]
    check("they spell the template around a prompt",
          [t for t in texts if not CHATML.fullmatch(t)], [])
    check("every prompt of the run is another",
          len({t for t in texts[-3:]}), 3)
    r, how = rendering("ids")
    check("the receipt says so", (how["prompt_form"], how["profile"], how["template"],
                                  r["protocol"]["wire"]),
          ("ids", "transformers", "tokenizer_config.json", "completions"))
    check("paths are recorded", [lane["path"] for lane in r["lanes"]], ["/v1/completions"] * 2)
    check("the lanes' wrapper is declared and confirmed",
          {(lane["wrapper"]["source"], lane["wrapper"]["status"],
            lane["wrapper"]["template_sha256"]) for lane in r["lanes"]},
          {("declared", "named", how["template_sha256"])})
    for lane in r["lanes"]:
        check(f"the join key of the {lane['role']} holds form and template",
              (lane["join_key"]["prompt_form"], lane["join_key"]["template"]),
              ("ids", how["template_sha256"]))
    check("every request was predicted exactly",
          [s for s in samples("ids") if s.get("prompt_rendered") != s.get("prompt_reported")], [])


def test_simulated():
    """Wrappers of two servers that differ over chat: raw, their work is equal, and ratios exist."""
    with Server("--profile", "apr", *FAST) as a, Server("--profile", "llama-server", *FAST) as b:
        code, _, err = run("raw", a, b)
        check("apr and llama-server: measured", measured_or_busy(code), True)
        check("no unequal work is warned of", "unequal prompt work" in err, False)
        code2, _, _ = run("other", a, b, "--as", "none")
    mine = samples("raw")
    by = {lane: {s["prompt_id"]: s for s in mine if s["lane"] == lane}
          for lane in ("subject", "comparator")}
    shared = set(by["subject"]) & set(by["comparator"])
    check("the lanes share prompts", len(shared) > 0, True)
    check("rendered the same for both",
          [i for i in shared if by["subject"][i].get("prompt_rendered") !=
           by["comparator"][i].get("prompt_rendered")], [])
    check("8 tokens around every prompt",
          {s.get("prompt_rendered") - s["prompt_body"] for s in mine}, {8})
    check("what is reported is what was rendered",
          {s.get("prompt_reported") - s.get("prompt_rendered") for s in mine
           if s.get("prompt_reported") is not None}, {0})
    check("the work is equal", work("raw"), True)
    verify = ("verify", "raw", "--corpus", "w.jsonl", "--tokenizer", e2e.TOKENIZER)
    code, out, _ = tally(*verify, "--template", CONFIG)
    check("the receipt verifies, and every prompt is rendered again",
          (code, f"rendered_counts       {len(mine)} prompts rendered again" in out), (0, True))
    with open("other.jinja", "w") as f:
        f.write("{{ messages[0].content }}")
    code, out, _ = tally(*verify, "--template", "other.jinja")
    check("with another template it says which one is wanted",
          (code, "needs the template with digest" in out), (0, True))
    check("--as none: measured", measured_or_busy(code2), True)
    check("--as none: nothing around a prompt",
          {s.get("prompt_rendered") - s["prompt_body"] for s in samples("other")}, {0})
    keys = [receipt(d)["lanes"][0]["join_key"] for d in ("raw", "other")]
    check("two renderings have two keys",
          [k for k in keys[0] if keys[0][k] != keys[1][k]], ["request_sha256", "template"])


def test_text():
    """One lane takes no ids: all are sent the text. A lane that reads it otherwise is found out."""
    with Server("--profile", "tgi", *FAST) as a, Server("--profile", "llama-server", *FAST) as b:
        code, _, err = run("text", a, b)
    check("a lane without ids: measured", measured_or_busy(code), True)
    check("it is said which", "lane subject takes no token ids" in err, True)
    check("the form is recorded", rendering("text")[1]["prompt_form"], "text")
    check("every request was predicted exactly",
          [s for s in samples("text") if s.get("prompt_rendered") != s.get("prompt_reported")], [])
    with Server("--profile", "tgi", *FAST) as a, Server("--profile", "apr", *FAST) as b:
        code, _, err = run("plain", a, b)
    check("special tokens read as text: explained",
          "lane comparator counts 28 tokens for 9 that were sent: it reads special tokens in a raw "
          "prompt as plain text" in err, True)
    check("what is not confirmed is not predicted",
          {s.get("prompt_rendered") for s in samples("plain") if s["lane"] == "comparator"}, {None})
    check("there is no equal work", work("plain", busy=False), False)


def with_bos(path):
    """The demo's tokenizer with a BOS that its post-processor puts in front."""
    with open(e2e.TOKENIZER) as f:
        doc = json.load(f)
    bos = max(t["id"] for t in doc["added_tokens"]) + 1
    doc["added_tokens"].append({"id": bos, "content": "<s>", "special": True, "lstrip": False,
                                "rstrip": False, "single_word": False, "normalized": False})
    doc["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                   {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}},
                 {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [bos], "tokens": ["<s>"]}}}
    with open(path, "w") as f:
        json.dump(doc, f)
    return bos


class BosServer(Server):
    def __init__(self, tokenizer, *words):
        super().__init__("--tokenizer", tokenizer, *words)


def make_corpus(out, tokenizer):
    return tally("corpus", "make", "--tokenizer", tokenizer, "--tokens", "64", "--count", "5",
                 "--out", out)[0]


def test_bos():
    """A BOS that the template writes and that the server adds too reaches no model twice."""
    bos = with_bos("bos.json")
    check("corpus make, with a BOS", make_corpus("bos.jsonl", "bos.json"), 0)
    model = {"tokenizer": "bos.json", "template": "bos.jinja", "corpus": "bos.jsonl"}
    with open("bos.jinja", "w") as f:
        f.write("<s>{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
                "{% endfor %}<|im_start|>assistant{{ '\\n' }}")
    with BosServer("bos.json", "--profile", "tgi", *FAST) as a, \
            BosServer("bos.json", "--profile", "llama-server", *FAST) as b:
        code, _, err = run("bos", a, b, **model)
    check("a doubled BOS: measured", measured_or_busy(code), True)
    for role in ("subject", "comparator"):
        check(f"the {role}'s own BOS is explained",
              f"lane {role} puts a BOS in front of a raw prompt that has one" in err, True)
    check("ours is left out, and recorded",
          [(w["server_front"], w["front_left_out"], w["status"])
           for w in (lane["wrapper"] for lane in receipt("bos")["lanes"])], [(1, True, "named")] * 2)
    check("9 tokens around a prompt, one of them the BOS",
          {(s.get("prompt_rendered") - s["prompt_body"], s.get("prompt_reported") - s["prompt_body"])
           for s in samples("bos")}, {(9, 9)})
    # ids: these servers add nothing in front of them
    with BosServer("bos.json", "--profile", "vllm", *FAST) as a, Catching() as b:
        code, _, _ = run("bos-ids", a, b, **model)
    check("ids begin with the BOS", {asked["prompt"][0] for asked in b.caught}, {bos})
    check("and there is one of it",
          {asked["prompt"].count(bos) for asked in b.caught}, {1})
    # a server that claims to put one in front of ids as well
    with Catching(front=1) as a, Catching() as b:
        code, _, _ = run("bos-front", a, b, **model)
    check("left out for the lane that adds it, and for no other",
          [{asked["prompt"].count(bos) for asked in x.caught if asked["stream"]}
           for x in (a, b)], [{0}, {1}])
    check("equal work all the same",
          [s for s in samples("bos-front") if s.get("prompt_rendered") != s.get("prompt_reported")], [])
    # nothing of ours is in front: what the server adds is counted, not hidden
    with Server("--profile", "vllm", *FAST) as b, Catching(front=1) as a:
        code, _, err = run("adds", a, b)
    check("a token of the server's own is told", "lane subject puts a token (BOS) of its own" in err,
          True)
    check("and makes the work unequal", work("adds", busy=False), False)


def test_native():
    """A server that has only llama.cpp's own path."""
    with Catching(path_served="/completion") as a, Catching() as b:
        code, _, err = run("native", a, b)
    check("/completion: measured", measured_or_busy(code), True)
    check("/completion: recorded", [lane["path"] for lane in receipt("native")["lanes"]],
          ["/completion", "/v1/completions"])
    check("the same ids as over the other path",
          [x["prompt"] for x in a.caught if x["stream"]],
          [x["prompt"] for x in b.caught if x["stream"]])
    with Catching(path_served="/nothing") as a, Catching() as b:
        code, _, err = run("none", a, b)
    check("a lane that takes no raw prompt: no run", (code, "takes no raw prompt" in err), (5, True))
    check("nothing is left behind", os.path.exists("none"), False)


def test_silent():
    with Catching(silent=True) as a, Catching() as b:
        code, _, err = run("silent", a, b)
    check("a lane that reports nothing: warned of", "lane subject reports no prompt tokens" in err,
          True)
    check("nothing is predicted for it",
          {s.get("prompt_rendered") for s in samples("silent") if s["lane"] == "subject"}, {None})
    check("its wrapper is unconfirmed", receipt("silent")["lanes"][0]["wrapper"]["status"],
          "unconfirmed")


def test_options():
    lane = "http://127.0.0.1:1"
    base = ["run", "--tokenizer", e2e.TOKENIZER, "--corpus", "w.jsonl", "--lane", lane, "--dry-run"]
    raw = [*base, "--wire", "completions"]
    for name, words, said in (
            ("--as without --wire completions", [*base, "--as", "vllm"], "add --wire completions"),
            ("no template", raw, "no template is given"),
            ("two templates", [*raw, "--template", CONFIG, "--template", CONFIG],
             "renders one template"),
            ("kwargs that are no object", [*raw, "--template", CONFIG, "--kwargs", "[1]"],
             "must be a JSON object"),
            ("kwargs that are no JSON", [*raw, "--template", CONFIG, "--kwargs", "{"], "--kwargs")):
        code, _, err = tally(*words)
        check(f"{name}: exit code 2, or 4 for what cannot be read", code in (2, 4), True)
        check(f"{name}: said", said in err, True)
    with open("kwargs.jinja", "w") as f:
        f.write("{{ messages[0].content }}{% if not think %}<think></think>{% endif %}")
    prompts = []
    for words in ([], ["--kwargs", '{"think" : true}']):
        code, out, _ = tally(*raw, "--template", "kwargs.jinja", *words)
        prompts.append(Decoder(e2e.TOKENIZER).text(json.loads(out[out.index("{"):])["prompt"]))
    check("--kwargs reach the template", [p.endswith("<think></think>") for p in prompts],
          [True, False])
    with open("sys.jinja", "w") as f:
        f.write("{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}")
    code, out, _ = tally(*raw, "--template", "sys.jinja", "--system", "Be brief.")
    text = Decoder(e2e.TOKENIZER).text(json.loads(out[out.index("{"):])["prompt"])
    check("--system is in the rendering", text.startswith("[system]Be brief.[user]"), True)


def main():
    work = tempfile.mkdtemp(prefix="tally-raw-")
    os.chdir(work)
    try:
        check("corpus make", make_corpus("w.jsonl", e2e.TOKENIZER), 0)
        for test in (test_same_ids, test_simulated, test_text, test_bos, test_native, test_silent,
                     test_options):
            test()
    finally:
        os.chdir("/")
        shutil.rmtree(work)
    print(f"1..{len(e2e.results)}")
    return 0 if all(e2e.results) else 1


if __name__ == "__main__":
    sys.exit(main())
