#!/usr/bin/env python3
"""console.py, held to what it promises: documents that must pass, and one that must fail a rule."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK = "```"

# name, document, does it pass, what its report must say
CASES = [
    ("what is printed is compared", f"{BLOCK}console\n$ echo a; echo b >&2\na\nb\n{BLOCK}\n", True, "ok 1"),
    ("another output", f"{BLOCK}console\n$ echo a\nb\n{BLOCK}\n", False, "-b"),
    ("more output", f"{BLOCK}console\n$ echo a; echo b\na\n{BLOCK}\n", False, "+b"),
    ("a run of lines", f"{BLOCK}console\n$ seq 9\n1\n...\n9\n{BLOCK}\n", True, "ok 1"),
    ("a number varies", f"<!-- measured -->\n{BLOCK}console\n$ echo 'p50  3.25 ms'\np50 12 ms\n{BLOCK}\n", True, "ok 1"),
    ("a number that does not", f"{BLOCK}console\n$ echo 3.25\n3.24\n{BLOCK}\n", False, "-3.24"),
    ("a word never varies", f"<!-- measured -->\n{BLOCK}console\n$ echo p50\np50 ms\n{BLOCK}\n", False, "-p50 ms"),
    ("an exit code", f"<!-- exit 4 -->\n{BLOCK}console\n$ exit 4\n{BLOCK}\n", True, "ok 1"),
    ("another exit code", f"{BLOCK}console\n$ exit 4\n{BLOCK}\n", False, "exit code 4, expected 0"),
    ("a line that goes on", f"{BLOCK}console\n$ echo a \\\n    b\na b\n{BLOCK}\n", True, "ok 1"),
    ("a block that is not run", f"<!-- not run: no such card -->\n{BLOCK}console\n$ false\n{BLOCK}\n", True,
     "SKIP no such card"),
    ("a comment nobody knows", f"<!-- mesured -->\n{BLOCK}console\n$ true\n{BLOCK}\n", False, "nobody knows"),
    ("a command in another block", f"{BLOCK}sh\ntally run x\n{BLOCK}\n", False, "outside a console block"),
    ("no example", "Words.\n", False, "no example in it"),
    ("output before a command", f"{BLOCK}console\nx\n{BLOCK}\n", False, "output before a command"),
    ("a server and its port",
     f"{BLOCK}console\n$ sh -c 'echo http://127.0.0.1:$2; sleep 60' server --port 8080 &\n"
     f"http://127.0.0.1:8080\n{BLOCK}\n", True, "ok 1"),
    ("a machine too busy",
     f"<!-- measured -->\n{BLOCK}console\n$ echo 'REFUSED{{client_saturated}}'\nPASS\n{BLOCK}\n", True,
     "SKIP the machine was too busy"),
]


def main():
    failed = 0
    for number, (name, text, passes, says) in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "document.md")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            done = subprocess.run([sys.executable, os.path.join(HERE, "console.py"), path],
                                  capture_output=True, text=True, check=False)
            good = (done.returncode == 0) == passes and says in done.stdout
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {name}")
            if not good:
                print(done.stdout, done.stderr, file=sys.stderr)
    print(f"1..{len(CASES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
