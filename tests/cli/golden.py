#!/usr/bin/env python3
"""Golden runs of the command line: what is typed, and what must come back.

usage: golden.py [--build DIR] FILE.test...

A .test file is a list of cases, run in order in one fresh directory, each line by its first
characters:

    # remark
    need PATH or $VARIABLE   without it the rest of the file is skipped, saying so
    $ command                a shell command; `tally` and `tally-sim` are the built ones
    > line                   continues the command (a here-document, a long pipeline)
    | line                   what standard output must be, line by line
    ! line                   what standard error must be
    = code                   the exit code; 0 where it is not written
    & NAME command           starts a server that runs until the file ends; the last number of the
                             first line it prints becomes $NAME_PORT

Where nothing is written for a stream, it must be empty. A line `| ...` stands for any number of
lines. In an expected line these words stand for what changes from run to run:

    <sha256> 64 hexadecimal digits    <hex> hexadecimal digits     <n> an integer
    <real> a decimal number           <time> a UTC time            <path> no white space
    <any> anything in the line        <version> 1.2.3

The shell is sh. $SOURCE is the source tree, $SHARED the shared vectors (where they exist), and the
environment is otherwise bare: no colour, UTC, LC_ALL=C, HOME an empty directory.
What is expected is written by hand: from the definition, never from what the program printed.
Output is TAP; the exit code is 1 when a case failed.
"""
import argparse
import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

TIMEOUT_S = 120
WORDS = {
    "<sha256>": r"[0-9a-f]{64}",
    "<hex>": r"[0-9a-f]+",
    "<n>": r"-?[0-9][0-9,]*",
    "<real>": r"-?[0-9]+\.[0-9]+(?:e[-+][0-9]+)?",
    "<time>": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z",
    "<path>": r"\S+",
    "<any>": r".*",
    "<version>": r"[0-9]+\.[0-9]+\.[0-9]+",
}
SPLIT = re.compile("(" + "|".join(WORDS) + ")")


class Case:
    def __init__(self, line, command):
        self.line = line
        self.command = command
        self.out, self.err = [], []
        self.code = 0
        self.server = None


class BadFile(Exception):
    pass


def parse(path):
    """The file as a list of ("need", condition) and ("case", Case)."""
    steps, case = [], None
    with open(path, encoding="utf-8") as f:
        for number, raw in enumerate(f, 1):
            line = raw.rstrip("\n")
            mark, rest = line[:2], line[2:]
            if line == "" or line[0] == "#":
                continue
            if line.startswith("need "):
                steps.append(("need", line[5:].strip()))
            elif mark in ("$ ", "& "):
                case = Case(number, rest)
                if mark == "& ":
                    case.server, _, case.command = rest.partition(" ")
                steps.append(("case", case))
            elif case is None or mark not in ("> ", "| ", "! ", "= ") and line not in (">", "|", "!"):
                raise BadFile(f"{path}:{number}: no such line here: {line}")
            elif mark[0] == ">":
                case.command += "\n" + rest
            elif mark[0] == "|":
                case.out.append(rest)
            elif mark[0] == "!":
                case.err.append(rest)
            else:
                case.code = int(rest)
    if not any(kind == "case" for kind, _ in steps):
        raise BadFile(f"{path}: no case")
    return steps


def line_matches(expected, seen):
    parts = SPLIT.split(expected)
    pattern = "".join(WORDS.get(p, None) or re.escape(p) for p in parts)
    return re.fullmatch(pattern, seen) is not None


def lines_match(expected, seen):
    """Both are lists; '...' in expected stands for any run of lines."""
    if not expected:
        return not seen
    if expected[0] == "...":
        return any(lines_match(expected[1:], seen[i:]) for i in range(len(seen) + 1))
    return bool(seen) and line_matches(expected[0], seen[0]) and lines_match(expected[1:], seen[1:])


def difference(name, expected, seen):
    """What differs, with lines that match shown as they were seen."""
    shown = [s if i < len(expected) and line_matches(expected[i], s) else None
             for i, s in enumerate(seen)]
    wanted = [shown[i] if i < len(shown) and shown[i] is not None else e
              for i, e in enumerate(expected)]
    return list(difflib.unified_diff(wanted, seen, name + " expected", name + " seen", lineterm=""))


def split_lines(data):
    text = data.decode("utf-8", "backslashreplace")
    if text == "":
        return []
    if text.endswith("\n"):
        text = text[:-1]
    else:
        text += "<no line feed at the end>"
    return text.split("\n")


class Runner:
    def __init__(self, build):
        self.number = self.failed = 0
        self.servers = []
        self.work = tempfile.mkdtemp(prefix="tally-cli-")
        home = os.path.join(self.work, "home")
        self.cwd = os.path.join(self.work, "work")
        os.mkdir(home)
        os.mkdir(self.cwd)
        source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        shared = os.environ.get("TALLY_SHARED", os.path.join(source, "..", "shared"))
        self.env = {
            "PATH": os.path.abspath(build) + ":" + os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": home, "LC_ALL": "C", "TZ": "UTC", "TERM": "dumb", "SOURCE": source,
        }
        if os.path.isdir(shared):
            self.env["SHARED"] = os.path.abspath(shared)
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def report(self, good, what, detail=()):
        self.number += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {what}")
        for line in detail:
            print(f"#   {line}")
            print(f"{line}", file=sys.stderr)
        sys.stdout.flush()

    def start_server(self, case, name):
        process = subprocess.Popen(["sh", "-c", "exec " + case.command], cwd=self.cwd, env=self.env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        self.servers.append(process)
        timer = threading.Timer(TIMEOUT_S, process.kill)
        timer.start()
        first = process.stdout.readline().decode("utf-8", "replace").strip()
        timer.cancel()
        numbers = re.findall(r"[0-9]+", first)
        # Both pipes are drained, so that a talkative server never blocks on them.
        for pipe in (process.stdout, process.stderr):
            threading.Thread(target=pipe.read, daemon=True).start()
        if numbers:
            self.env[case.server + "_PORT"] = numbers[-1]
        self.report(bool(numbers), name, [] if numbers else ["printed: " + first])

    def run_case(self, case, name):
        process = subprocess.Popen(["sh", "-c", case.command], cwd=self.cwd, env=self.env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.report(False, name, [f"still running after {TIMEOUT_S} s"])
            return
        out, err = split_lines(out), split_lines(err)
        detail = []
        if process.returncode != case.code:
            detail.append(f"exit code {process.returncode}, expected {case.code}")
        if not lines_match(case.out, out):
            detail += difference("stdout", case.out, out)
        if not lines_match(case.err, err):
            detail += difference("stderr", case.err, err)
        self.report(not detail, name, detail)

    def run_file(self, path):
        for kind, step in parse(path):
            if kind == "need":
                if not os.path.exists(self.expand(step)):
                    self.number += 1
                    print(f"ok {self.number} - {os.path.basename(path)} # SKIP {step} is not there")
                    return
                continue
            first = step.command.split("\n", 1)[0].replace("#", "\\#")
            name = f"{os.path.basename(path)}:{step.line}: {first}"
            if step.server:
                self.start_server(step, name)
            else:
                self.run_case(step, name)

    def expand(self, text):
        return re.sub(r"\$([A-Z_]+)", lambda m: self.env.get(m.group(1), "/nowhere"), text)

    def finish(self):
        for process in self.servers:
            if process.poll() is None:
                process.terminate()
        for process in self.servers:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.work, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description="golden runs of the command line")
    parser.add_argument("--build", default=os.environ.get("TALLY_BUILD", "build"))
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    number = failed = 0
    for path in args.files:
        runner = Runner(args.build)
        runner.number = number
        try:
            runner.run_file(path)
        except (BadFile, OSError, ValueError) as e:
            runner.report(False, f"{path}: {e}")
        finally:
            runner.finish()
        number = runner.number
        failed += runner.failed
    print(f"1..{number}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
