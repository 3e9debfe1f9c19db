"""The program around the answers: options, signals, sockets, limits, connections, and the null mode with
its log of send times."""
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

from sim import (CHAT, DEMO, FAST, PROGRAM, QWEN, Sim, Skip, chat, equal, run, stream, true)

MIB = 1 << 20


def program(*options):
    return subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=60)


def usage_errors():
    for options, part, remedy in (
            ((), "without a tokenizer", "--tokenizer FILE"),
            (("--tokeniser", "x"), "there is no option --tokeniser", "did you mean --tokenizer?"),
            (("--null", "--profile", "lama-server"), "no profile 'lama-server'",
             "did you mean --profile llama-server?"),
            (("--null", "--fault", "rest"), "no fault 'rest'", "did you mean --fault reset?"),
            (("--null", "--port", "99999"), "not within", "--port 0")):
        r = program(*options)
        equal((r.returncode, r.stdout), (2, ""), str(options))
        true(part in r.stderr and remedy in r.stderr, r.stderr)


def bad_files():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "t.json")
        r = program("--tokenizer", path)
        equal((r.returncode, r.stdout), (5, ""))
        true(path in r.stderr, r.stderr)
        with open(path, "w", encoding="utf-8") as f:
            f.write("{\"model\": 5}")
        r = program("--tokenizer", path)
        equal((r.returncode, r.stdout), (2, ""))
        true(path in r.stderr, r.stderr)
        r = program("--null", "--log-times", os.path.join(d, "none", "x"))
        equal((r.returncode, r.stdout), (5, ""))
        r = program("--null", "--unix", os.path.join(d, "x" * 120))
        equal((r.returncode, r.stdout), (2, ""))


def a_port_in_use():
    with Sim("--null", tokenizer=None) as sim:
        r = program("--null", "--port", sim.url.split(":")[2])
        equal(r.returncode, 5)
        true("--port 0" in r.stderr, r.stderr)


def help_and_version():
    r = program("--help")
    equal((r.returncode, r.stderr), (0, ""))
    true(r.stdout.startswith("usage: tally-sim"), r.stdout)
    r = program("--version")
    true(re.fullmatch(r"tally-sim \d+\.\d+\.\d+\n", r.stdout), r.stdout)


def ends_on_signals():
    for number in (signal.SIGINT, signal.SIGTERM):
        with Sim() as sim:
            c = sim.connect()
            body = json.dumps(chat(max_tokens=100000)).encode()
            c.send(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
                   + body)
            equal(sim.ask("/health").status, 200)
            sim.stop(number)  # raises unless the code is 0
            equal(sim.errors, "")


def loopback_only():
    with Sim("--null", tokenizer=None) as sim:
        true(sim.url.startswith("http://127.0.0.1:"), sim.url)
        with open(f"/proc/{sim.process.pid}/net/tcp", encoding="ascii") as f:
            port = f":{int(sim.url.split(':')[2]):04X} "
            local = [line.split()[1] for line in f if port in line and line.split()[3] == "0A"]
        equal(local, ["0100007F" + port.strip()])


def unix_socket():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "s")
        with Sim("--unix", path) as sim:
            equal(sim.url, "unix:" + path)
            equal(sim.ask(CHAT, chat()).status, 200)
            r = program("--null", "--unix", path)
            equal(r.returncode, 5)  # somebody listens there
        true(not os.path.exists(path), "the socket stays behind")
        sim = Sim("--unix", path)
        sim.__enter__()
        sim.stop(signal.SIGKILL)
        with Sim("--unix", path) as sim:  # a socket left behind is taken
            equal(sim.ask("/health").status, 200)
        with open(path, "w", encoding="ascii") as f:
            f.write("mine")
        equal(program("--null", "--unix", path).returncode, 5)
        true(os.path.exists(path), "a file of another was removed")


def keep_alive_and_pipelines():
    with Sim() as sim:
        c = sim.connect()
        for _ in range(3):
            equal(c.ask(CHAT, stream()).events[-1], "[DONE]")
            equal(c.ask("/health").status, 200)
        n = 10000  # more than there are connections, in one write
        c.send(b"GET /health HTTP/1.1\r\n\r\n" * n)
        for _ in range(n):
            equal(c.read().status, 200)
        equal(c.ask("/health", headers=[("Connection", "close")]).end, "eof")


def older_clients():
    with Sim() as sim:
        seen = sim.ask(CHAT, stream(), version="1.0")
        equal(seen.header("transfer-encoding"), None)
        equal((seen.end, seen.events[-1]), ("eof", "[DONE]"))


def chunked_requests_and_100_continue():
    with Sim() as sim:
        body = json.dumps(chat()).encode()
        c = sim.connect()
        c.send(b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        for i in range(0, len(body), 7):
            c.send(b"%x\r\n%s\r\n" % (len(body[i:i + 7]), body[i:i + 7]))
        c.send(b"0\r\n\r\n")
        equal(c.read().status, 200)
        c.send(b"POST /v1/chat/completions HTTP/1.1\r\nExpect: 100-continue\r\n"
               b"Content-Length: %d\r\n\r\n" % len(body))
        true(c.s.recv(4096).startswith(b"HTTP/1.1 100 Continue\r\n\r\n"), "no 100")
        c.send(body)
        equal(c.read().status, 200)


def paths_and_methods():
    with Sim("--profile", "apr") as sim:
        equal(sim.ask("/nothing").status, 404)
        equal(sim.ask("/props").status, 404)  # llama-server's
        equal(sim.ask(CHAT).status, 405)
        equal(sim.ask("/health", {}).status, 405)
        equal(sim.ask("/health?verbose=1").status, 200)
        equal(sim.ask(CHAT, b"\xff\xfe").status, 400)


def header_limit():
    with Sim("--null", tokenizer=None) as sim:
        fits = 16384 - len("GET /health HTTP/1.1\r\nHost: sim\r\nA: \r\n\r\n")
        equal(sim.ask("/health", headers=[("A", "x" * fits)]).status, 200)
        equal(sim.ask("/health", headers=[("A", "x" * (fits + 1))]).status, 431)
        c = sim.connect()
        c.send(b"GET /" + b"x" * 100000)  # without end; and the answer is read nevertheless
        equal(c.read().status, 431)


def body_limit():
    with Sim("--null", tokenizer=None) as sim:
        c = sim.connect()
        frame = len(json.dumps({"prompt": ""}))
        at = json.dumps({"prompt": "x" * (32 * MIB - frame)}).encode()
        equal(len(at), 32 * MIB)
        equal(c.ask("/v1/completions", at).status, 200)
        c = sim.connect()
        c.send(b"POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (32 * MIB + 1))
        try:
            c.send(b"x" * (4 * MIB))
        except OSError:
            pass  # it may close before all was sent
        equal(c.read().status, 413)


def connection_limit():
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4300:
        raise Skip(f"the system allows {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4300), hard))
    with Sim("--null", tokenizer=None) as sim:
        held = [sim.connect() for _ in range(4096)]
        equal(held[0].ask("/health").status, 200)
        equal(held[4095].ask("/health").status, 200)
        over = sim.connect()
        over.s.settimeout(30)
        equal(over.read().status, 503)
        held.pop().close()
        for _ in range(100):  # the freed place is there once the end was seen
            c = sim.connect()
            try:
                c.send(b"GET /health HTTP/1.1\r\n\r\n")
                status = c.read().status
            except OSError:
                status = 503
            c.close()
            if status == 200:
                break
            time.sleep(0.05)
        equal(status, 200)
        for c in held:
            c.close()


def sockets(sim):
    """How many sockets the server holds, the one it listens on among them."""
    here = f"/proc/{sim.process.pid}/fd"
    held = 0
    for name in os.listdir(here):
        try:
            held += os.readlink(os.path.join(here, name)).startswith("socket:")
        except FileNotFoundError:
            pass
    return held


def a_client_that_reads_nothing():
    with tempfile.TemporaryDirectory() as d:
        # by bytes waiting, or by tokens waiting to be logged
        for options in ((), ("--log-times", os.path.join(d, "times"))):
            with Sim("--null", "--rate", "10000000", *options, tokenizer=None) as sim:
                c = sim.connect()
                body = json.dumps(stream(max_tokens=1000000)).encode()
                c.send(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n"
                       % len(body) + body)
                equal(sim.ask("/health").status, 200)
                end = time.monotonic() + 60
                while sockets(sim) > 1 and time.monotonic() < end:
                    time.sleep(0.01)
                equal(sockets(sim), 1)
                last = b""
                try:
                    while data := c.s.recv(1 << 20):
                        last = data
                except ConnectionResetError:
                    pass
                true(b"[DONE]" not in last, "it was served to the end")
                equal(sim.ask("/health").status, 200)


def out_of_descriptors():
    import resource
    command = [PROGRAM, "--null"]
    p = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
    try:
        host, port = p.stdout.readline().strip()[len("http://"):].split(":")
        held = [socket.create_connection((host, int(port)), 30) for _ in range(60)]
        for s in held:
            s.sendall(b"GET /health HTTP/1.1\r\n\r\n")
        answered = 0
        for s in held:  # those behind the limit come in as those in front leave
            answered += s.recv(4096).startswith(b"HTTP/1.1 200 OK")
            s.close()
        equal(answered, 60)
        time.sleep(0.2)
        with open(f"/proc/{p.pid}/stat", encoding="ascii") as f:
            ticks = sum(int(x) for x in f.read().split()[13:15])
        true(ticks < 100, f"{ticks} ticks of CPU: it spins")
    finally:
        p.terminate()
        equal(p.wait(30), 0)
        p.stdout.close()


def a_model_that_loads():
    with Sim("--loading", "400ms") as sim:
        seen = sim.ask("/health")
        if seen.status == 503:  # unless this machine took so long to get here
            equal(seen.json()["error"]["message"], "Loading model")
            equal(sim.ask(CHAT, chat()).status in (200, 503), True)
        time.sleep(0.5)
        equal(sim.ask("/health").status, 200)
        equal(sim.ask(CHAT, chat()).status, 200)


def faults_in_null_mode():
    for fault, tokens in (("truncate:3", 3), ("repeat", 5), ("split-utf8", 5), ("replay", 5)):
        for rate in ("0", "2000"):
            with Sim("--null", "--rate", rate, "--fault", fault, tokenizer=None) as sim:
                seen = sim.ask(CHAT, stream(max_tokens=5))
                equal(sum(bool(d.get("content")) for d in seen.deltas), tokens, fault)
                equal("[DONE]" in seen.events, tokens == 5, fault)


def a_client_that_leaves_frees_its_slot():
    with Sim("--slots", "1") as sim:
        c = sim.connect()
        body = json.dumps(stream(max_tokens=30000)).encode()
        c.send(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
               + body)
        true(c.s.recv(4096), "nothing came")
        true(sim.ask("/slots").json()[0]["is_processing"], "the slot is free")
        c.close()
        equal(sim.ask(CHAT, chat()).status, 200)  # waits for the slot
        true(not sim.ask("/slots").json()[0]["is_processing"], "the slot is held")
        text = sim.ask("/metrics").body.decode()
        true("llamacpp:requests_processing 0\n" in text, text)


def split_requests():
    with Sim() as sim:
        c = sim.connect()
        body = json.dumps(chat(max_tokens=1)).encode()
        text = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        c.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(len(text)):
            c.send(text[i:i + 1])
        equal(c.read().status, 200)


def log_of_send_times():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "times")
        begin = time.monotonic_ns()
        with Sim("--log-times", path) as sim:
            for n in (1, 2):
                equal(sim.ask(CHAT, stream(max_tokens=5)).status, 200)
        check_log(path, begin, [(1, 5), (2, 5)])


def check_log(path, begin, wanted):
    with open(path, encoding="ascii") as f:
        rows = [tuple(int(x) for x in line.split(" ")) for line in f]
    for request, tokens in wanted:
        mine = [r for r in rows if r[0] == request]
        equal([r[1] for r in mine], list(range(1, tokens + 1)))
        last = begin
        for _, _, before, after in mine:
            true(last <= before <= after <= time.monotonic_ns(), "times out of order")
            last = before
    equal(len(rows), sum(n for _, n in wanted))
    return rows


def null_mode():
    for profile in ("llama-server", "vllm", "apr"):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "times")
            begin = time.monotonic_ns()
            with Sim("--null", "--profile", profile, "--log-times", path, tokenizer=None) as sim:
                seen = sim.ask(CHAT, stream(max_tokens=50))
                equal((seen.text, seen.events[-1]), (" tok" * 50, "[DONE]"))
                if profile != "apr":
                    equal(seen.events[-2]["usage"]["completion_tokens"], 50)
                whole = sim.ask(CHAT, chat(max_tokens=5)).json()
                equal(whole["usage"]["completion_tokens"], 5)
                equal(sim.ask("/v1/models").json()["data"][0]["id"], "null")
            check_log(path, begin, [(1, 50)])


def null_mode_paced():
    with Sim("--null", "--rate", "1000", "--first", "20ms", "--stamp", tokenizer=None) as sim:
        begin = time.monotonic_ns()
        seen = sim.ask(CHAT, stream(max_tokens=200))
        end = time.monotonic_ns()
        stamps = [int(d["content"]) for d in seen.deltas if d.get("content")]
        equal(len(stamps), 200)
        true(begin + 20_000_000 <= stamps[0], "the first came early")
        true(all(a < b for a, b in zip(stamps, stamps[1:])) and stamps[-1] <= end, "no stamps")
        # Token k is never sent before its absolute deadline, k - 1 ms behind the first one's; that
        # first one was sent at or after its own.
        true(stamps[-1] - begin >= 20_000_000 + 199 * 1_000_000, "faster than asked")


def null_mode_ndjson():
    with Sim("--null", "--profile", "ollama", "--stamp", tokenizer=None) as sim:
        body = {"messages": [{"role": "user", "content": "x"}], "options": {"num_predict": 5}}
        seen = sim.ask("/api/chat", body)
        lines = [json.loads(x) for x in seen.body.decode().strip().split("\n")]
        equal((len(lines), lines[-1]["eval_count"]), (6, 5))
        true(all(int(x["message"]["content"]) > 0 for x in lines[:-1]), "no stamps")


def stable_text_reads_back():
    if not os.path.exists(QWEN):
        raise Skip(f"{QWEN} is absent")
    with Sim("--text", "stable", tokenizer=QWEN) as sim:
        seen = sim.ask(CHAT, stream(max_tokens=100))
        ids = sim.ask("/tokenize", {"content": seen.text}).json()["tokens"]
        equal(len(ids), 100)


run([usage_errors, bad_files, a_port_in_use, help_and_version, ends_on_signals, loopback_only,
     unix_socket, keep_alive_and_pipelines, older_clients, chunked_requests_and_100_continue,
     paths_and_methods, header_limit, body_limit, connection_limit,
     a_client_that_leaves_frees_its_slot, split_requests, log_of_send_times, null_mode,
     a_client_that_reads_nothing, out_of_descriptors, a_model_that_loads, faults_in_null_mode, null_mode_paced, null_mode_ndjson, stable_text_reads_back])
