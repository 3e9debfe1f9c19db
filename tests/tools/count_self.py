#!/usr/bin/env python3
"""tools/count-tests counts what was checked, and a failure never hides."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CMOCKA_GOOD = "[==========] Running 3 test(s).\n[  PASSED  ] 3 test(s).\n"
CMOCKA_BAD = ("[==========] Running 3 test(s).\n[  PASSED  ] 2 test(s).\n"
              "[  FAILED  ] tests: 1 test(s), listed below:\n[  FAILED  ] one\n")
CMOCKA_SKIP = ("[==========] Running 3 test(s).\n[  PASSED  ] 2 test(s).\n"
               "[  SKIPPED ] tests: 1 test(s), listed below:\n[  SKIPPED ] two\n")
TAP_BAD = "ok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no file\n1..3\n"

# name, [(result, stdout, stderr)], last line, exit code
CASES = [
    ("a plain program counts as one", [("OK", "", "")], "1 passed, 0 failed", 0),
    ("cmocka counts its cases", [("OK", "", CMOCKA_GOOD)], "3 passed, 0 failed", 0),
    ("cmocka's failures", [("FAIL", "", CMOCKA_BAD)], "2 passed, 1 failed", 1),
    ("cmocka's skips", [("OK", "", CMOCKA_SKIP)], "2 passed, 0 failed, 1 skipped", 0),
    ("TAP", [("FAIL", TAP_BAD, "")], "1 passed, 1 failed, 1 skipped", 1),
    ("a crash after good cases", [("FAIL", "", CMOCKA_GOOD)], "3 passed, 1 failed", 1),
    ("a crash before any", [("FAIL", "", "")], "0 passed, 1 failed", 1),
    ("a time-out", [("TIMEOUT", "ok 1 - a\n1..2\n", "")], "1 passed, 1 failed", 1),
    ("a skipped program", [("SKIP", "", "")], "0 passed, 0 failed, 1 skipped", 0),
    ("sums", [("OK", "", ""), ("OK", "", CMOCKA_GOOD)], "4 passed, 0 failed", 0),
    ("nothing ran", [], "0 passed, 1 failed", 1),
]


def main():
    failed = 0
    for number, (name, tests, wanted, code) in enumerate(CASES, 1):
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as f:
            for result, out, err in tests:
                f.write(json.dumps({"name": "t", "result": result, "stdout": out, "stderr": err}))
                f.write("\n")
            f.flush()
            run = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "count-tests"),
                                  f.name], capture_output=True, text=True)
        last = (run.stdout.splitlines() or [""])[-1]
        good = last == wanted and run.returncode == code
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print(f"#   saw '{last}', exit code {run.returncode}: {run.stderr}")
    print(f"1..{len(CASES)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
