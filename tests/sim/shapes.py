"""What tally-sim sends, against what a real llama-server sent for the same requests: the headers, the
HTTP chunks' boundaries, the events in each, the order of their keys, the types of their values."""
import json
import os

from sim import (CHAT, QWEN, SHARED, Connection, Sim, Skip, chat, equal, events_of, run,
                 stream, true)

CAPTURES = os.path.join(SHARED, "captures", "llama-server")


def skeleton(v, name=""):
    """Values become their type's name; keys keep their order. The model's own name is a value too."""
    if isinstance(v, dict):
        return [(k, skeleton(x, k)) for k, x in v.items()]
    if isinstance(v, list):
        return [skeleton(x) for x in v[:1]] + ["..."]
    if v is None:
        return None
    if name in ("finish_reason", "object", "role", "type", "code", "status"):
        return v
    return type(v).__name__


class Replay(Connection):
    """A captured answer, read by the code that reads a live one."""

    def __init__(self, data):
        self.left, self.ended, self.s = data, "kept", None

    def more(self, answer):
        return False


def capture(name):
    path = os.path.join(CAPTURES, name)
    if not os.path.exists(path + ".response.http"):
        raise Skip(f"{path} is absent")
    request = None
    if os.path.exists(path + ".request.json"):
        with open(path + ".request.json", "rb") as f:
            request = f.read()
    with open(path + ".response.http", "rb") as f:
        return request, Replay(f.read()).read()


def open_sim(*options):
    if not os.path.exists(QWEN):
        raise Skip(f"{QWEN} is absent")
    return Sim("--profile", "llama-server", "--text", "noisy", "--context", "4096", *options,
               tokenizer=QWEN)


def heads(answer):
    return answer.status, [(n, "N" if n == "Content-Length" else v) for n, v in answer.headers]


def chunk_shapes(answer):
    return [[e if isinstance(e, str) else skeleton(e) for e in events_of(c)]
            for c in answer.chunks]


def by_choice(chunks):
    """Choices interleave as they please; within each the order is fixed."""
    groups = {}
    for c in chunks:
        first = events_of(c)[0]
        key = first["choices"][0]["index"] if isinstance(first, dict) and "choices" in first \
            else -1
        groups.setdefault(key, []).append(c)
    return [c for key in sorted(groups, reverse=True) for c in groups[key]]


def same_stream(name, path=CHAT, only=None):
    request, real = capture(name)
    with open_sim() as sim:
        seen = sim.ask(path, request)
    if only:
        real.chunks, seen.chunks = real.chunks[:only], seen.chunks[:only]
    real.chunks, seen.chunks = by_choice(real.chunks), by_choice(seen.chunks)
    equal(heads(seen), heads(real), "head")
    equal(chunk_shapes(seen), chunk_shapes(real), "chunks")
    if not only:
        true(seen.last_chunk, "the body has no end")
    return seen


def stream_with_usage():
    seen = same_stream("stream-usage")
    usage = seen.events[-2]["usage"]
    equal((usage["prompt_tokens"], usage["completion_tokens"]), (30, 8))  # as the capture's
    equal(len(seen.deltas), 10)  # role, eight tokens, the finish


def stream_without_usage():
    same_stream("stream-no-usage")


def stream_with_logprobs():
    seen = same_stream("stream-logprobs")
    for e in seen.events:
        for c in e.get("choices", []) if isinstance(e, dict) else []:
            for t in (c.get("logprobs") or {}).get("content", []):
                equal(bytes(t["bytes"]).decode(), c["delta"]["content"])


def stream_of_two_choices():
    seen = same_stream("stream-n2")
    texts = {}
    for e in seen.events:
        for c in e.get("choices", []) if isinstance(e, dict) else []:
            texts[c["index"]] = texts.get(c["index"], "") + (c["delta"].get("content") or "")
    equal(texts[0], texts[1])  # temperature 0, as in the capture


def stream_with_progress():
    same_stream("stream-progress")


def stream_with_tokens_asked_for():
    same_stream("stream-return-tokens")


def stream_with_timings_per_token():
    same_stream("stream-timings-per-token")


def text_completion():
    # The capture breaks off behind its first token, for the model's sake.
    same_stream("completions-text-stream", "/v1/completions", only=1)
    same_stream("completions-ids-stream", "/v1/completions", only=1)
    same_stream("native-completion-stream", "/completion", only=1)


def error_in_the_middle():
    request, real = capture("error-mid-stream")
    with open_sim("--fault", "error-mid-stream:13") as sim:
        seen = sim.ask(CHAT, request)
    # The real one ends behind the error event; ours says [DONE] after it, which others do.
    equal(chunk_shapes(seen)[:-1], chunk_shapes(real))
    equal(chunk_shapes(seen)[-1], ["[DONE]"])


def same_body(name, path, *, values=False, body=True):
    request, real = capture(name)
    with open_sim() as sim:
        seen = sim.ask(path, request if body else None)
    equal(heads(seen), heads(real), "head")
    if values:
        equal(seen.body, real.body)
    else:
        equal(skeleton(seen.json()), skeleton(real.json()), "body")
    return seen, real


def blocking():
    seen, real = same_body("blocking", CHAT)
    equal(seen.json()["usage"]["prompt_tokens"], real.json()["usage"]["prompt_tokens"])


def errors():
    same_body("error-bad-json", CHAT)
    same_body("error-no-messages", CHAT, values=True)


def context_exceeded():
    _, real = capture("error-context-exceeded")
    with open_sim() as sim:
        seen = sim.ask("/v1/completions", {"prompt": [6023] * 9030, "max_tokens": 4})
        equal(heads(seen), heads(real))
        equal(seen.body, real.body)
        at = sim.ask("/v1/completions", {"prompt": [6023] * 4096, "max_tokens": 4})
        equal(at.status, 400)
        below = sim.ask("/v1/completions", {"prompt": [6023] * 4095, "max_tokens": 4,
                                            "ignore_eos": True})
        equal(below.json()["usage"]["completion_tokens"], 1)  # all that fits


def information():
    same_body("health", "/health", values=True, body=False)
    same_body("tokenize", "/tokenize", values=True)
    same_body("apply-template", "/apply-template", values=True)
    for name, path in (("models", "/v1/models"), ("props", "/props"), ("slots", "/slots")):
        _, real = capture(name)
        with open_sim() as sim:
            seen = sim.ask(path)
        equal(heads(seen), heads(real), name)
        part_of(seen.json(), real.json(), name)


def part_of(ours, theirs, where):
    """Every key of ours is one of theirs, with a value of the same type."""
    equal(type(ours), type(theirs), where)
    if isinstance(ours, dict):
        for k, v in ours.items():
            true(k in theirs, f"{where}.{k} is no key of the real one")
            part_of(v, theirs[k], f"{where}.{k}")
    elif isinstance(ours, list) and ours and theirs:
        part_of(ours[0], theirs[0], where + "[0]")


def counts_of_eight_shapes():
    path = os.path.join(SHARED, "vectors", "lane-counts.json")
    if not os.path.exists(path):
        raise Skip(f"{path} is absent")
    with open(path, encoding="utf-8") as f:
        rows = json.load(f)
    with open_sim() as sim:
        for row in rows:
            body = {"messages": row["messages"], "max_tokens": 1, "stream": True,
                    "stream_options": {"include_usage": True}}
            usage = sim.ask(CHAT, body).events[-2]["usage"]
            equal(usage["prompt_tokens"], row["server_prompt_tokens"], row["shape"])
    with Sim("--profile", "apr", tokenizer=QWEN) as sim:
        for row in rows:
            usage = sim.ask(CHAT, {"messages": row["messages"], "max_tokens": 1}).json()["usage"]
            if len(row["messages"]) == 1:
                equal(usage["prompt_tokens"], row["raw_tokens_special_plain"] + 8, row["shape"])


def apr_never_sends_usage_in_a_stream():
    with Sim("--profile", "apr") as sim:
        seen = sim.ask(CHAT, stream(max_tokens=3))
        true(all(e == "[DONE]" or "usage" not in e for e in seen.events), "usage was sent")
        equal(len(seen.deltas), 5)  # role, three tokens, finish
        equal(len(seen.chunks), 6)  # each in a chunk of its own, and [DONE]
        equal(seen.deltas[0]["role"], "assistant")
        blocking = sim.ask(CHAT, chat(max_tokens=3)).json()
        equal(blocking["usage"]["completion_tokens"], 3)
        equal(blocking["choices"][0]["message"]["content"], seen.text)


def vllm():
    with Sim("--profile", "vllm") as sim:
        body = stream(max_tokens=3, return_token_ids=True)
        body["stream_options"]["continuous_usage_stats"] = True
        seen = sim.ask(CHAT, body)
        equal([e["usage"]["completion_tokens"] for e in seen.events[:-2]], [0, 1, 2, 3])
        equal([len(c.get("token_ids", [])) for e in seen.events[:-2] for c in e["choices"]],
              [0, 1, 1, 1])
        equal(seen.deltas[0], {"role": "assistant", "content": ""})
        equal([e["choices"][0]["finish_reason"] for e in seen.events[:-2]],
              [None, None, None, "length"])
        equal(seen.events[-2]["choices"], [])
        plain = sim.ask(CHAT, chat(stream=True, max_tokens=3))
        true(all(e == "[DONE]" or "usage" not in e for e in plain.events), "usage unasked")
        old = sim.ask("/v1/completions", {"prompt": "hi", "max_tokens": 2, "logprobs": 1,
                                          "ignore_eos": True}).json()
        equal(len(old["choices"][0]["logprobs"]["token_logprobs"]), 2)


def sglang_and_tgi():
    with Sim("--profile", "sglang") as sim:
        first = sim.ask(CHAT, stream("one two three", max_tokens=3))
        again = sim.ask(CHAT, stream("one two three", max_tokens=3))
        usage = again.events[-2]["usage"]
        equal(usage["prompt_tokens_details"]["cached_tokens"], usage["prompt_tokens"] - 1)
        equal(first.text, again.text)
    with Sim("--profile", "tgi") as sim:
        seen = sim.ask(CHAT, stream(max_tokens=3))
        true(all(d["role"] == "assistant" for d in seen.deltas), "a delta without role")
        true("usage" in seen.events[-2], "no usage")


def ollama():
    with Sim("--profile", "ollama") as sim:
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}],
                "options": {"num_predict": 4, "temperature": 0, "seed": 0}}
        seen = sim.ask("/api/chat", body)
        equal(seen.header("content-type"), "application/x-ndjson")
        lines = [json.loads(x) for x in seen.body.decode().strip().split("\n")]
        equal([x["done"] for x in lines], [False] * (len(lines) - 1) + [True])
        text = "".join(x["message"]["content"] for x in lines)
        equal(lines[-1]["eval_count"], len(lines) - 1 + (lines[-1]["done_reason"] == "stop"))
        whole = sim.ask("/api/chat", dict(body, stream=False)).json()
        equal(whole["message"]["content"], text)
        raw = sim.ask("/api/generate", {"prompt": "hi", "raw": True, "stream": False,
                                        "options": {"num_predict": 1}}).json()
        wrapped = sim.ask("/api/generate", {"prompt": "hi", "stream": False,
                                            "options": {"num_predict": 1}}).json()
        equal(wrapped["prompt_eval_count"], whole["prompt_eval_count"])
        true(raw["prompt_eval_count"] < wrapped["prompt_eval_count"], "raw is wrapped")
        equal(sim.ask("/api/ps").json()["models"][0]["name"], "tokenizer.json")
        equal(sim.ask("/api/tags").status, 200)


def cache_is_known_and_can_be_declined():
    with Sim() as sim:
        one = sim.ask(CHAT, chat("the same prompt")).json()["timings"]
        two = sim.ask(CHAT, chat("the same prompt")).json()["timings"]
        three = sim.ask(CHAT, chat("the same prompt", cache_prompt=False)).json()["timings"]
        equal((one["cache_n"], two["prompt_n"], three["cache_n"]), (0, 1, 0))
        equal(two["cache_n"] + two["prompt_n"], one["prompt_n"])
        salt = sim.ask(CHAT, chat("the same prompt", cache_salt="a")).json()["timings"]
        true(salt["cache_n"] > 0, "llama-server knows no salt")


def salts_keep_prompts_apart():
    with Sim("--profile", "sglang") as sim:
        cached = [sim.ask(CHAT, chat("the same prompt", **more)).json()["usage"]
                  ["prompt_tokens_details"]["cached_tokens"]
                  for more in ({"cache_salt": "a"}, {"cache_salt": "a"}, {"cache_salt": "b"}, {},
                               {"cache_prompt": False})]
        equal([n > 0 for n in cached], [False, True, False, False, True])
        equal(sim.ask(CHAT, chat("x", cache_salt="")).status, 400)
        equal(sim.ask(CHAT, chat("x", cache_salt=1)).status, 400)


def text_is_the_same_for_prompt_and_seed():
    with Sim() as a, Sim("--batching", "serial", "--slots", "1") as b:
        texts = [s.ask(CHAT, chat("x", seed=n, temperature=1)).json()["choices"][0]["message"]
                 ["content"] for s in (a, b) for n in (1, 2)]
    equal(texts[:2], texts[2:])
    true(texts[0] != texts[1], "the seed changes nothing")


def the_model_ends_by_itself_unless_told():
    with Sim("--natural-tokens", "3") as sim:
        natural = sim.ask(CHAT, chat(ignore_eos=False, max_tokens=500)).json()
        equal(natural["choices"][0]["finish_reason"], "stop")
        forced = sim.ask(CHAT, chat(max_tokens=500)).json()
        equal(forced["choices"][0]["finish_reason"], "length")
        equal(forced["usage"]["completion_tokens"], 500)


def reasoning_and_several_tokens_a_chunk():
    with Sim("--reasoning", "3", "--tokens-per-chunk", "2") as sim:
        seen = sim.ask(CHAT, stream(max_tokens=7))
        deltas = seen.deltas[1:-1]
        equal([("reasoning_content" in d, "content" in d) for d in deltas],
              [(True, False), (True, True), (False, True), (False, True)])
        whole = sim.ask(CHAT, chat(max_tokens=7)).json()["choices"][0]["message"]
        equal("".join(d.get("reasoning_content", "") for d in deltas), whole["reasoning_content"])
        equal(seen.text, whole["content"])


def tool_calls():
    with Sim("--tool-call", "--reasoning", "2") as sim:
        deltas = sim.ask(CHAT, stream(max_tokens=5)).deltas[1:-1]
        equal([sorted(d) for d in deltas],
              [["reasoning_content"]] * 2 + [["tool_calls"]] * 3)
        calls = [d["tool_calls"][0] for d in deltas[2:]]
        equal([sorted(c) for c in calls],
              [["function", "id", "index", "type"]] + [["function", "index"]] * 2)
        equal(calls[0]["function"]["name"], "look_up")
        whole = sim.ask(CHAT, chat(max_tokens=5)).json()["choices"][0]["message"]
        equal("".join(c["function"]["arguments"] for c in calls),
              whole["tool_calls"][0]["function"]["arguments"])
    with Sim("--tool-call", "--natural-tokens", "3") as sim:
        seen = sim.ask(CHAT, stream(max_tokens=500, ignore_eos=False))
        usage = seen.events[-2]["usage"]["completion_tokens"]
        equal(usage, len(seen.deltas) - 2 + 1)  # the stop token counts, and sends nothing
        equal(seen.events[-3]["choices"][0]["finish_reason"], "tool_calls")


run([stream_with_usage, stream_without_usage, stream_with_logprobs, stream_of_two_choices,
     stream_with_progress, stream_with_tokens_asked_for, stream_with_timings_per_token,
     text_completion, error_in_the_middle, blocking, errors, context_exceeded, information,
     counts_of_eight_shapes, apr_never_sends_usage_in_a_stream, vllm, sglang_and_tgi, ollama,
     cache_is_known_and_can_be_declined, salts_keep_prompts_apart, text_is_the_same_for_prompt_and_seed,
     the_model_ends_by_itself_unless_told, tool_calls, reasoning_and_several_tokens_a_chunk])
