#!/usr/bin/env python3
"""The documents' examples, run as a reader would type them, their output compared.

usage: console.py [--build DIR] FILE.md...

Every ```console block is run, in order, in one fresh directory a document that holds the demo's
tokenizer.json and tokenizer_config.json:

    $ command            as in a shell; a line that ends in \\ goes on in the next
    $ command &          a server: it runs until the document ends. A port that it is given is
                         replaced by a free one, in this and in every later command and output
    anything else        what both streams together must print; `...` alone is any run of lines

A comment in front of a block says more of it:

    <!-- measured -->    every number stands for any number, and every digest for any
    <!-- exit N -->      the exit code of the block's last command; 0 where it is not said; `exit 0 or
                         3` where a verdict depends on the machine
    <!-- not run: WHY --> it needs what is not here; told as skipped

Both may stand together: <!-- measured, exit 4 -->. Where the machine is too busy to measure
(client_saturated, and the document does not expect it), the document is tried again, TRIES times in
all; then what is measured in it is skipped, saying so. Blocks of other languages are not run, and
may hold no command of tally's: a line that begins with one is an error.
"""
import argparse
import difflib
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT_S = 180
TRIES = 3
NUMBER = r"[0-9]+(?:[.,][0-9]+)*"
VARIES = re.compile(r"(\b[0-9a-f]{12,64}\b|" + NUMBER + r"| +)")


class BadDocument(Exception):
    pass


class Step:
    def __init__(self, line, command, measured):
        self.line, self.command, self.measured = line, command, measured
        self.out, self.code, self.why = [], (0,), None


def options_of(text):
    """What the comment in front of a block says: (measured, exit code, why it is not run)."""
    measured, code, why = False, (0,), None
    if text.startswith("not run:"):
        return False, (0,), text[8:].strip()
    for word in (w.strip() for w in text.split(",") if w.strip()):
        if word == "measured":
            measured = True
        elif re.fullmatch(r"exit [0-9]+( or [0-9]+)*", word):
            code = tuple(int(c) for c in word[5:].split(" or "))
        else:
            return None
    return measured, code, why


def parse(path):
    steps, block, said = [], None, ""
    with open(path, encoding="utf-8") as f:
        for number, raw in enumerate(f, 1):
            line = raw.rstrip("\n")
            if block is None:
                comment = re.fullmatch(r"<!-- (.*) -->", line)
                if comment:
                    said = comment.group(1)
                elif line.startswith("```"):
                    block, first = line[3:].strip(), len(steps)
                    options = options_of(said) if block == "console" else (False, (0,), None)
                    if options is None:
                        raise BadDocument(f"{path}:{number}: nobody knows what '{said}' says")
                elif line:
                    said = ""
            elif line == "```":
                if block == "console" and len(steps) == first:
                    raise BadDocument(f"{path}:{number}: a console block without a command")
                if block == "console":
                    steps[-1].code = options[1]
                block, said = None, ""
            elif block != "console":
                if re.match(r"\s*(\$ )?tally(-sim)? ", line):
                    raise BadDocument(f"{path}:{number}: a command outside a console block")
            elif line.startswith("$ "):
                steps.append(Step(number, line[2:], options[0]))
                steps[-1].why = options[2]
            elif len(steps) == first:
                raise BadDocument(f"{path}:{number}: output before a command")
            elif steps[-1].command.endswith("\\") and not steps[-1].out:
                steps[-1].command = steps[-1].command[:-1] + line.strip()
            else:
                steps[-1].out.append(line)
    return steps


def line_matches(expected, seen, measured):
    if not measured:
        return expected == seen
    def loose(part):
        if re.fullmatch(r"[0-9a-f]{12,64}", part):
            return "[0-9a-f]{%d}" % len(part)
        if re.fullmatch(NUMBER, part):
            return NUMBER
        return " +" if part.strip() == "" and part else re.escape(part)
    pattern = "".join(loose(p) for p in VARIES.split(expected))
    return re.fullmatch(pattern, seen) is not None


def lines_match(expected, seen, measured):
    if not expected:
        return not seen
    if expected[0].strip() == "...":
        return any(lines_match(expected[1:], seen[i:], measured) for i in range(len(seen) + 1))
    return bool(seen) and line_matches(expected[0], seen[0], measured) and \
        lines_match(expected[1:], seen[1:], measured)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Reader:
    """One pass through one document."""

    def __init__(self, build):
        self.work = tempfile.mkdtemp(prefix="tally-docs-")
        self.cwd = os.path.join(self.work, "here")
        os.mkdir(self.cwd)
        os.mkdir(os.path.join(self.work, "home"))
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(os.path.join(SOURCE, "examples", "demo", name), self.cwd)
        self.ports, self.servers = {}, []
        self.env = {"PATH": os.path.abspath(build) + ":" + os.environ.get("PATH", "/usr/bin:/bin"),
                    "HOME": os.path.join(self.work, "home"), "LC_ALL": "C", "TZ": "UTC",
                    "TERM": "dumb", "COLUMNS": "80"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def here(self, text):
        for documented, real in self.ports.items():
            text = re.sub(rf"\b{documented}\b", str(real), text)
        return text

    def there(self, text):
        for documented, real in self.ports.items():
            text = re.sub(rf"\b{real}\b", documented, text)
        return text

    def start(self, step):
        command = step.command[:-1].strip()
        for port in re.findall(r"--port ([0-9]+)", command):
            self.ports.setdefault(port, free_port())
        server = subprocess.Popen(["sh", "-c", "exec " + self.here(command)], cwd=self.cwd,
                                  env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        self.servers.append(server)
        timer = threading.Timer(TIMEOUT_S, server.kill)
        timer.start()
        first = self.there(server.stdout.readline().rstrip("\n"))
        timer.cancel()
        threading.Thread(target=server.stdout.read, daemon=True).start()
        return [] if [first] == step.out else [f"printed {first!r}, not {step.out!r}"]

    def busy(self, seen):
        """Whether what was printed, or a receipt that lies here, says that the client was late."""
        texts = ["\n".join(seen)]
        for path in glob.glob(os.path.join(self.cwd, "*", "receipt.json")):
            with open(path, encoding="utf-8") as f:
                texts.append(f.read())
        return any(word in text for text in texts for word in ("client_saturated", "client_suspect"))

    def run(self, step):
        """What is wrong, and whether the machine was too busy."""
        child = subprocess.Popen(["sh", "-c", self.here(step.command)], cwd=self.cwd, env=self.env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            out, _ = child.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return [f"still running after {TIMEOUT_S} s"], False
        seen = [self.there(l) for l in out.decode("utf-8", "backslashreplace").splitlines()]
        busy = step.measured and self.busy(seen) and \
            not any("client_saturated" in l for l in step.out)
        wrong = []
        if child.returncode not in step.code:
            wanted = " or ".join(map(str, step.code))
            wrong.append(f"exit code {child.returncode}, expected {wanted}")
        if not lines_match(step.out, seen, step.measured):
            wrong += difflib.unified_diff(step.out, seen, "documented", "seen", lineterm="")
        return wrong, busy

    def close(self):
        for server in self.servers:
            server.terminate()
        for server in self.servers:
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        shutil.rmtree(self.work, ignore_errors=True)


def read(path, build, last):
    """The results of one pass, [(name, wrong, why skipped)], or None where it is worth another."""
    results, busy = [], False
    reader = Reader(build)
    try:
        for step in parse(path):
            name = f"{os.path.relpath(path, SOURCE)}:{step.line}: {step.command}"
            if step.why:
                results.append((name, [], step.why))
            elif busy and step.measured:
                results.append((name, [], "the machine was too busy to measure"))
            elif step.command.endswith("&"):
                results.append((name, reader.start(step), None))
            else:
                wrong, too_busy = reader.run(step)
                busy = busy or (wrong and too_busy)
                if wrong and too_busy and not last:
                    return None
                results.append((name, [] if too_busy else wrong,
                                "the machine was too busy to measure" if wrong and too_busy else None))
    finally:
        reader.close()
    return results


def main():
    parser = argparse.ArgumentParser(description="the documents' examples, run")
    parser.add_argument("--build", default=os.environ.get("TALLY_BUILD", "build"))
    parser.add_argument("files", nargs="+")
    a = parser.parse_args()
    number = failed = 0
    for path in a.files:
        results = None
        for attempt in range(TRIES):
            try:
                results = read(path, a.build, attempt == TRIES - 1)
            except BadDocument as e:
                results = [(str(e), [str(e)], None)]
            if results is not None:
                break
        if not results:
            results = [(path, ["no example in it"], None)]
        for name, wrong, why in results:
            number += 1
            failed += bool(wrong)
            tail = f" # SKIP {why}" if why else ""
            print(f"{'not ok' if wrong else 'ok'} {number} - {name.replace('#', chr(92) + '#')}{tail}")
            for line in wrong:
                print(f"#   {line}")
                print(line, file=sys.stderr)
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
