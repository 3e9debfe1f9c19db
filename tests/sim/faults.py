"""Every fault of tally-sim, seen on a raw socket. Each test names one kind; the last compares with the
list that --help prints, so that none is left out."""
import json
import os
import socket
import subprocess
import time
import types

from sim import (CHAT, FAST, PROGRAM, Connection, Sim, chat, equal, events_of, run, stream, true)

TRIED = set()


def broken(fault, *options, **more):
    TRIED.add(fault.split(":")[0])
    return Sim("--fault", fault, *options, **more)


def finishes(answer):
    return [e["choices"][0]["finish_reason"] for e in answer.events
            if isinstance(e, dict) and e.get("choices") and e["choices"][0]["finish_reason"]]


def contents(answer):
    return sum(bool(d.get("content")) for d in answer.deltas)


def delay():
    with broken("delay:300ms") as sim:
        begin = time.monotonic()
        seen = sim.ask(CHAT, stream())
        true(time.monotonic() - begin >= 0.3, "not delayed")
        equal((seen.status, contents(seen)), (200, 8))


def stall():
    with broken("stall:300ms") as sim:
        c = sim.connect()
        begin = time.monotonic()
        seen = c.ask(CHAT, stream())
        true(time.monotonic() - begin >= 0.3, "not stalled")
        equal(contents(seen), 8)
        true(len(events_of_reads(seen)[0]) < 5, "more than the first token before the stall")
    with broken("stall") as sim:  # without end: the client leaves, the server goes on
        c = sim.connect()
        c.s.settimeout(0.3)
        try:
            c.ask(CHAT, stream())
            raise AssertionError("it came to an end")
        except socket.timeout:
            pass
        c.close()
        equal(sim.ask("/health").status, 200)


def events_of_reads(seen):
    return [events_of(b"\n".join(x for x in r.split(b"\r\n") if x.startswith(b"data:")))
            for r in seen.reads if b"data:" in r]


def reset():
    with broken("reset:2") as sim:
        seen = sim.ask(CHAT, stream())
        equal((seen.end, contents(seen), seen.last_chunk), ("reset", 2, False))
        equal(sim.ask(CHAT, chat()).end, "reset")


def truncate():
    with broken("truncate:3") as sim:
        seen = sim.ask(CHAT, stream())
        equal((contents(seen), seen.last_chunk, seen.bad_chunk), (3, True, None))
        equal(finishes(seen), [])
        true("[DONE]" not in seen.events, "[DONE] was sent")


def cut():
    with broken("cut:3") as sim:
        seen = sim.ask(CHAT, stream())
        equal((contents(seen), seen.last_chunk, seen.end), (3, False, "eof"))
        equal(sim.ask(CHAT, chat()).status, None)


def bad_chunk_size():
    with broken("bad-chunk-size:2") as sim:
        seen = sim.ask(CHAT, stream())
        equal((contents(seen), seen.bad_chunk), (2, b"xyz"))


def slow_body():
    with broken("slow-body:700") as sim:
        seen = sim.ask(CHAT, stream(max_tokens=3))
        equal((contents(seen), seen.last_chunk), (3, True))
        true(len(seen.reads) >= 2, "all at once")


def too_many_requests():
    with broken("429:7") as sim:
        seen = sim.ask(CHAT, stream())
        equal((seen.status, seen.header("retry-after")), (429, "7"))
        equal(seen.json()["error"]["code"], 429)


def html():
    for fault, status in (("html", 200), ("500-html", 500)):
        with broken(fault) as sim:
            seen = sim.ask(CHAT, stream())
            equal((seen.status, seen.header("content-type")), (status, "text/html; charset=utf-8"))
            true(seen.body.startswith(b"<!DOCTYPE html>"), "no page")


def errors_before():
    with broken("error-before") as sim:
        seen = sim.ask(CHAT, stream())
        equal((seen.status, seen.json()["error"]["type"]), (500, "server_error"))
    with broken("error-first") as sim:
        seen = sim.ask(CHAT, stream())
        equal(seen.status, 200)
        equal([e if isinstance(e, str) else list(e) for e in seen.events], [["error"], "[DONE]"])


def error_in_the_middle():
    with broken("error-mid-stream:2") as sim:
        seen = sim.ask(CHAT, stream())
        equal((seen.status, contents(seen), seen.last_chunk), (200, 2, True))
        equal(seen.events[-2]["error"]["code"], 500)
        equal(seen.events[-1], "[DONE]")
        equal(finishes(seen), [])


def replay():
    with broken("replay") as sim:
        seen = sim.ask(CHAT, stream())
        equal((contents(seen), seen.last_chunk), (8, True))
        true(b"[DONE]" in seen.reads[0], "not in one piece")
        equal(sim.ask(CHAT, chat()).json()["usage"]["completion_tokens"], 8)


def keepalive_close():
    with broken("keepalive-close") as sim:
        c = sim.connect()
        first = c.ask(CHAT, stream())
        equal((first.last_chunk, first.header("connection"), first.end), (True, None, "kept"))
        second = c.ask(CHAT, stream())
        equal((second.status, second.end in ("eof", "reset")), (None, True))
        equal(c.ended is not None, True)


def floods():
    for fault, n in (("header-flood", 300000), ("endless-line", 300000)):
        with broken(f"{fault}:{n}") as sim:
            c = sim.connect()
            seen = c.ask(CHAT, stream())
            bytes_seen = sum(len(r) for r in seen.reads)
            true(n <= bytes_seen < n + 4096, f"{bytes_seen} bytes")
            equal((seen.end, seen.last_chunk), ("eof", False))
        with broken(fault) as sim:  # a client that reads nothing does not hold the others up
            c = sim.connect()
            c.send(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
            equal(sim.ask("/health").status, 200)
            c.close()


def without_finish_or_done():
    with broken("no-finish") as sim:
        seen = sim.ask(CHAT, stream())
        equal((finishes(seen), contents(seen), seen.events[-1]), ([], 8, "[DONE]"))
    with broken("no-done") as sim:
        seen = sim.ask(CHAT, stream())
        equal((finishes(seen), contents(seen)), (["length"], 8))
        true("[DONE]" not in seen.events, "[DONE] was sent")
    with broken("done-only") as sim:
        seen = sim.ask(CHAT, stream())
        equal((seen.status, seen.body), (200, b"data: [DONE]\n\n"))
    with broken("no-finish", "--profile", "vllm") as sim:
        equal(finishes(sim.ask(CHAT, stream())), [])


def usage():
    with broken("usage-absent") as sim:
        seen = sim.ask(CHAT, stream())
        whole = sim.ask(CHAT, chat()).json()
        for e in [*seen.events, whole]:
            true(e == "[DONE]" or not {"usage", "timings"} & set(e), f"counts in {e}")
    with broken("usage-cumulative", "--profile", "apr") as sim:
        seen = sim.ask(CHAT, chat(stream=True))
        counts = [e["usage"]["completion_tokens"] for e in seen.events if isinstance(e, dict)]
        equal(counts, [0, *range(1, 9), 8])  # role, eight tokens, finish
    with broken("wrong-count:3") as sim:
        equal(sim.ask(CHAT, stream()).events[-2]["usage"]["completion_tokens"], 11)
        equal(sim.ask(CHAT, chat()).json()["usage"]["completion_tokens"], 11)


def split_utf8():
    with broken("split-utf8:2ms") as sim:
        seen = sim.ask(CHAT, stream(max_tokens=4))
        equal(contents(seen), 4)
        inside = 0
        for r in seen.reads[:-1]:
            try:
                r.decode()
            except UnicodeDecodeError:
                inside += 1
        true(inside >= 4, f"{inside} reads end inside a character")
        true(all(ord(ch) > 127 for ch in seen.text if ch != " ") or
             any(ord(ch) > 127 for ch in seen.text), "no wide character")


def one_byte_writes():
    with broken("one-byte-writes") as sim:
        whole = sim.ask(CHAT, stream())
    with Sim() as sim:
        equal(whole.text, sim.ask(CHAT, stream()).text)
    true(len(whole.reads) > 20, f"only {len(whole.reads)} reads")


def early_stop():
    with broken("early-stop:5") as sim:
        seen = sim.ask(CHAT, stream(max_tokens=20))
        equal((contents(seen), finishes(seen)), (5, ["stop"]))
        equal(seen.events[-2]["usage"]["completion_tokens"], 6)  # the stop token counts here
    with broken("early-stop:5", "--profile", "apr") as sim:
        equal(sim.ask(CHAT, chat(max_tokens=20)).json()["usage"]["completion_tokens"], 5)


def repeat():
    with broken("repeat") as sim:
        equal(sim.ask(CHAT, stream()).text, "!" * 8)


def alone_and_beside(sim):
    """The text of one answer, made alone; then made while a long one is under way."""
    def ask():
        return sim.ask(CHAT, chat("prompt", max_tokens=12, ignore_eos=True)).json()["choices"][0][
            "message"]["content"]
    alone = ask()
    other = sim.connect()
    body = json.dumps(stream("another", max_tokens=500, ignore_eos=True)).encode()
    other.send(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
               + body)
    other.until(b"data: ", types.SimpleNamespace(reads=[]))  # its first token: it holds a slot
    beside = ask()
    other.close()
    return alone, beside


def batches():
    """Alone an answer is what it always is; beside others it is not."""
    slow = ("--slots", "4", "--decode-base", "20ms", "--decode-per-seq", "0")
    with Sim(*slow, fast=False) as sim:
        wanted, same = alone_and_beside(sim)
        equal(same, wanted)
    with broken("batch-repeat", *slow, fast=False) as sim:
        equal(alone_and_beside(sim), (wanted, "!" * 12))
    with broken("batch-drift:5", *slow, fast=False) as sim:
        alone, beside = alone_and_beside(sim)
        equal(alone, wanted)
        true(beside != wanted and os.path.commonprefix([beside, wanted]), f"{beside!r} beside")


def comments_and_line_ends():
    with broken("comments") as sim:
        seen = sim.ask(CHAT, stream())
        equal(contents(seen), 8)
        true(b": ping\n\nretry: 1000\n\n:\n\ndata:\n\ndata: {" in seen.body, "no comments")
    with broken("crlf") as sim:
        seen = sim.ask(CHAT, stream())
        equal(contents(seen), 8)
        equal(seen.body.count(b"\n"), seen.body.count(b"\r\n"))
        true(seen.body.startswith(b"data:{"), "a space behind data:")


def cap_inflight():
    # Six answers of 40 steps of 2 ms: one at a time takes 480 ms at least, together about 80.
    with broken("cap-inflight:1", "--decode-base", "2ms", "--decode-per-seq", "0", "--jitter", "0",
                fast=False) as sim:
        equal(sim.ask("/props").json()["total_slots"], 16)
        connections = [sim.connect() for _ in range(6)]
        body = json.dumps(chat(max_tokens=41)).encode()
        begin = time.monotonic()
        for c in connections:
            c.send(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
                   + body)
        for c in connections:
            equal(c.read().status, 200)
        true(time.monotonic() - begin >= 0.48, "several at once")


def which_requests():
    with Sim("--fault", "error-before", "--fault-every", "2", "--fault-first", "4",
             "--fault-after", "1") as sim:
        statuses = [sim.ask(CHAT, chat(max_tokens=1)).status for _ in range(8)]
        equal(statuses, [200, 200, 500, 200, 500, 200, 200, 200])


def two_at_once():
    with Sim("--fault", "usage-absent", "--fault", "truncate:2") as sim:
        seen = sim.ask(CHAT, stream())
        equal((contents(seen), seen.last_chunk), (2, True))


def none_is_left_out():
    text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    listed = set()
    for line in text[text.index("\nFaults, with"):].split("\n")[2:]:
        if line.startswith("  ") and line[2] != " ":
            listed.add(line.split()[0].split(":")[0])
    equal(sorted(listed), sorted(TRIED))


run([delay, stall, reset, truncate, cut, bad_chunk_size, slow_body, too_many_requests, html,
     errors_before, error_in_the_middle, replay, keepalive_close, floods, without_finish_or_done,
     usage, split_utf8, one_byte_writes, early_stop, repeat, batches, comments_and_line_ends,
     cap_inflight, which_requests, two_at_once, none_is_left_out])
