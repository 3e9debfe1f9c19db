#!/usr/bin/env python3
"""The golden runner can fail: it is given wrong expectations, and each must turn it red."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# name, text of the .test file, must it pass?
CASES = [
    ("right in every stream", "$ printf 'a\\nb\\n'; echo c >&2; exit 3\n| a\n| b\n! c\n= 3\n", True),
    ("another exit code", "$ exit 3\n= 4\n", False),
    ("an exit code not named", "$ exit 1\n", False),
    ("a line missing", "$ printf 'a\\n'\n| a\n| b\n", False),
    ("a line too many", "$ printf 'a\\nb\\n'\n| a\n", False),
    ("output not expected", "$ echo a\n", False),
    ("errors not expected", "$ echo a >&2\n", False),
    ("other text", "$ echo a\n| b\n", False),
    ("no line feed at the end", "$ printf a\n| a\n", False),
    ("dots for any lines", "$ printf 'a\\nb\\nc\\n'\n| a\n| ...\n| c\n", True),
    ("dots for no line", "$ printf 'a\\nc\\n'\n| a\n| ...\n| c\n", True),
    ("dots do not hide a wrong end", "$ printf 'a\\nb\\n'\n| a\n| ...\n| c\n", False),
    ("placeholders", "$ echo 12 0.5 2026-12-01T09:30:00Z /a/b 1.2.3 | sed s/^/x/\n"
     "| x<n> <real> <time> <path> <version>\n", True),
    ("a placeholder of another kind", "$ echo abc\n| <n>\n", False),
    ("the rest of the line counts", "$ echo 12 tail\n| <n>\n", False),
    ("regular expressions are text", "$ echo axb\n| a.b\n", False),
    ("a skipped file", "need /nowhere/at/all\n$ exit 1\n", True),
    ("a here-document", "$ cat <<END\n> one\n> END\n| one\n", True),
    ("a server's port", "& S sh -c 'echo listening on http://127.0.0.1:4321; sleep 60'\n"
     "$ echo $S_PORT\n| 4321\n", True),
    ("a server that says nothing", "& S true\n", False),
    ("a line of no kind", "$ true\nhello\n", False),
    ("no case at all", "# nothing\n", False),
]


def main():
    failed = 0
    for number, (name, text, wanted) in enumerate(CASES, 1):
        with tempfile.NamedTemporaryFile("w", suffix=".test", encoding="utf-8") as f:
            f.write(text)
            f.flush()
            run = subprocess.run([sys.executable, os.path.join(HERE, "golden.py"), f.name],
                                 capture_output=True, text=True, timeout=300)
        good = (run.returncode == 0) == wanted
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print("".join("#   " + line + "\n" for line in (run.stdout + run.stderr).splitlines()))
    print(f"1..{len(CASES)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
