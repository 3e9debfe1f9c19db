"""What the scripts beside share: a tally-sim of their own, raw requests, answers taken apart.

    with Sim("--profile", "apr") as sim:
        answer = sim.ask("/v1/chat/completions", chat("hi", stream=True))
        answer.status, answer.headers, answer.chunks, answer.body, answer.events, answer.end
"""
import json
import os
import signal
import socket
import subprocess
import sys

SOURCE = os.environ.get("TALLY_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("TALLY_BUILD", os.path.join(SOURCE, "build"))
SHARED = os.environ.get("TALLY_SHARED", os.path.join(SOURCE, "..", "shared"))
PROGRAM = os.environ.get("TALLY_SIM", os.path.join(BUILD, "tally-sim"))
DEMO = os.path.join(SOURCE, "examples", "demo", "tokenizer.json")
QWEN = os.path.join(SHARED, "vectors", "gguf", "tiny-qwen2.gguf")
# Steps of 0.2 ms: nothing here measures time, so the less of it the better.
FAST = ["--decode-base", "200us", "--decode-per-seq", "0", "--prefill-rate", "1000000"]
TIMEOUT = 30  # of any read: only a hang ends there


class Answer:
    """One HTTP answer. end: "kept" (the connection lives), "eof", "reset" or "open" (a chunk was
    announced that never came, or the body's end never did)."""

    def __init__(self):
        self.status, self.headers, self.body, self.end = None, [], b"", "kept"
        self.chunks = []  # bodies of HTTP chunks, in order
        self.reads = []  # bytes of each read
        self.bad_chunk = None
        self.last_chunk = False

    def header(self, name):
        found = [v for n, v in self.headers if n.lower() == name.lower()]
        return found[0] if found else None

    def json(self):
        return json.loads(self.body)

    @property
    def events(self):
        """The data of each server-sent event, JSON read; "[DONE]" as it is."""
        return [e for c in self.chunks for e in events_of(c)]

    @property
    def deltas(self):
        return [e["choices"][0]["delta"] for e in self.events
                if isinstance(e, dict) and e.get("choices")]

    @property
    def text(self):
        return "".join(d.get("content") or "" for d in self.deltas)


def events_of(chunk):
    found = []
    for block in chunk.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n\n"):
        for line in block.split("\n"):
            if line.startswith("data:") and line[5:].strip():
                data = line[5:].strip()
                found.append(data if data == "[DONE]" else json.loads(data))
    return found


class Connection:
    def __init__(self, sim):
        if sim.url.startswith("unix:"):
            self.s = socket.socket(socket.AF_UNIX)
            self.s.settimeout(TIMEOUT)
            self.s.connect(sim.url[5:])
        else:
            host, port = sim.url[len("http://"):].split(":")
            self.s = socket.create_connection((host, int(port)), TIMEOUT)
        self.left = b""
        self.ended = None

    def close(self):
        self.s.close()

    def send(self, data):
        self.s.sendall(data)

    def more(self, answer):
        """Reads once into self.left; False at the end."""
        if self.ended:
            return False
        try:
            data = self.s.recv(65536)
        except ConnectionResetError:
            self.ended = "reset"
            return False
        if not data:
            self.ended = "eof"
            return False
        answer.reads.append(data)
        self.left += data
        return True

    def until(self, mark, answer):
        while mark not in self.left:
            if not self.more(answer):
                return None
        head, self.left = self.left.split(mark, 1)
        return head

    def exactly(self, n, answer):
        while len(self.left) < n:
            if not self.more(answer):
                return None
        data, self.left = self.left[:n], self.left[n:]
        return data

    def read(self):
        """One answer, whatever becomes of it."""
        a = Answer()
        head = self.until(b"\r\n\r\n", a)
        if head is None:
            a.end = self.ended
            return a
        lines = head.decode("latin-1").split("\r\n")
        a.status = int(lines[0].split(" ")[1])
        a.headers = [(n, v.strip()) for n, v in (line.split(":", 1) for line in lines[1:])]
        if a.status == 100:
            return self.read()
        if a.header("transfer-encoding") == "chunked":
            self.read_chunks(a)
        elif a.header("content-length") is not None:
            data = self.exactly(int(a.header("content-length")), a)
            a.body = self.left if data is None else data
        else:
            while self.more(a):
                pass
            a.body, self.left = self.left, b""
            a.chunks = [a.body]
        if (a.header("connection") or "").lower() == "close":
            while self.more(a):
                pass
        a.end = self.ended or "kept"
        return a

    def read_chunks(self, a):
        while True:
            line = self.until(b"\r\n", a)
            if line is None:
                return
            try:
                size = int(line, 16)
            except ValueError:
                a.bad_chunk = line
                while self.more(a):
                    pass
                return
            if size == 0:
                a.last_chunk = self.exactly(2, a) == b"\r\n"
                return
            data = self.exactly(size + 2, a)
            if data is None:
                return
            a.chunks.append(data[:-2])
            a.body += data[:-2]

    def ask(self, path, body=None, headers=(), method=None, version="1.1"):
        data = b"" if body is None else body if isinstance(body, bytes) else \
            json.dumps(body).encode()
        method = method or ("GET" if body is None else "POST")
        head = f"{method} {path} HTTP/{version}\r\nHost: sim\r\n"
        head += "".join(f"{n}: {v}\r\n" for n, v in headers)
        if body is not None:
            head += f"Content-Length: {len(data)}\r\n"
        self.send(head.encode() + b"\r\n" + data)
        return self.read()


class Sim:
    def __init__(self, *options, tokenizer=DEMO, fast=True):
        self.command = [PROGRAM, *options]
        if tokenizer:
            self.command += ["--tokenizer", tokenizer]
        if fast and "--null" not in options:
            self.command += FAST

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            raise RuntimeError(self.process.stderr.read().decode())
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGTERM)

    def stop(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)
        if self.process.stdout.closed:
            return
        code = self.process.wait(TIMEOUT)
        self.process.stdout.close()
        self.errors = self.process.stderr.read().decode()
        self.process.stderr.close()
        if code != 0 and number != signal.SIGKILL:
            raise AssertionError(f"tally-sim ended with {code}: {self.errors}")

    def connect(self):
        return Connection(self)

    def ask(self, path, body=None, **more):
        c = self.connect()
        try:
            return c.ask(path, body, **more)
        finally:
            c.close()


def chat(text="hi", **more):
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": 8, "temperature": 0,
            "seed": 0, "ignore_eos": True}
    body.update(more)
    return body


def stream(text="hi", **more):
    return chat(text, stream=True, stream_options={"include_usage": True}, **more)


CHAT = "/v1/chat/completions"


class Skip(Exception):
    pass


def run(tests):
    """Runs functions as TAP; their names, read as words, are the tests' names."""
    print(f"1..{len(tests)}")
    bad = 0
    for number, test in enumerate(tests, 1):
        name = test.__name__.replace("_", " ")
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Skip as why:
            print(f"ok {number} - {name} # SKIP {why}", flush=True)
        except Exception as why:  # one failure must not hide the others
            bad += 1
            place = why.__traceback__
            while place.tb_next and place.tb_next.tb_frame.f_code.co_filename != __file__:
                place = place.tb_next
            print(f"not ok {number} - {name}")
            print(f"# line {place.tb_lineno}: {type(why).__name__}: {why}", flush=True)
    sys.exit(1 if bad else 0)


def equal(seen, wanted, what=""):
    if seen != wanted:
        raise AssertionError(f"{what}: saw {seen!r}, wanted {wanted!r}")


def true(condition, what):
    if not condition:
        raise AssertionError(what)
