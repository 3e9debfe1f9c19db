#!/usr/bin/env python3
"""The check of the arrows can fail: each rule is broken in a small tree and must be named."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GUARDED = "#ifndef H\n#define H\nint f(void);\n#endif\n"

# name, {file: text}, what the complaint must hold (None: no complaint)
CASES = [
    ("lower floors and the own folder are fine",
     {"src/codec/a.c": '#include "codec/a.h"\n#include "base/b.h"\n', "src/codec/a.h": GUARDED,
      "src/base/b.h": GUARDED}, None),
    ("a higher floor",
     {"src/base/a.c": '#include "cli/b.h"\n', "src/cli/b.h": GUARDED}, "stands above base"),
    ("a peer",
     {"src/codec/a.c": '#include "stats/b.h"\n', "src/stats/b.h": GUARDED}, "a peer of codec"),
    ("a header breaks it too",
     {"src/wire/a.h": '#include "load/b.h"\n' + GUARDED, "src/load/b.h": GUARDED},
     "stands above wire"),
    ("a folder on no floor", {"src/attic/a.c": '#include "base/b.h"\n', "src/base/b.h": GUARDED},
     "stands on no floor"),
    ("an include of a folder on no floor",
     {"src/cli/a.c": '#include "attic/b.h"\n', "src/attic/b.h": GUARDED}, "stands on no floor"),
    ("an include without its folder",
     {"src/base/a.c": '#include "b.h"\n', "src/base/b.h": GUARDED}, "names no folder"),
    ("an include that climbs",
     {"src/base/a.c": '#include "base/../cli/b.h"\n', "src/cli/b.h": GUARDED}, "climbs out"),
    ("a header that is not there", {"src/base/a.c": '#include "base/b.h"\n'}, "does not exist"),
    ("an indented directive counts",
     {"src/base/a.c": ' #  include "cli/b.h"\n', "src/cli/b.h": GUARDED}, "stands above base"),
    ("a comment does not count", {"src/base/a.c": '/*\n#include "cli/b.h"\n*/\n'}, None),
    ("sim uses what it may",
     {"sim/a.c": '#include "own.h"\n#include "token/b.h"\n', "sim/own.h": GUARDED,
      "src/token/b.h": GUARDED}, None),
    ("sim uses wire",
     {"sim/a.c": '#include "wire/b.h"\n', "src/wire/b.h": GUARDED}, "sim/ may use only"),
    ("sim uses chat in a header",
     {"sim/a.h": '#include "chat/b.h"\n' + GUARDED, "src/chat/b.h": GUARDED}, "sim/ may use only"),
    ("yajl outside codec", {"src/vocab/a.c": "#include <yajl/yajl_parse.h>\n"}, "only in codec"),
    ("yajl in codec", {"src/codec/a.c": "#include <yajl/yajl_parse.h>\n"}, None),
    ("curl outside wire", {"src/cli/a.c": "#include <curl/curl.h>\n"}, "only in wire"),
    ("sqlite outside ledger", {"src/gate/a.c": "#include <sqlite3.h>\n"}, "only in ledger"),
    ("openssl outside base and receipt",
     {"src/verify/a.c": "#include <openssl/evp.h>\n"}, "only in base, receipt"),
    ("epoll outside wire", {"src/load/a.c": "#include <sys/epoll.h>\n"}, "only in wire"),
    ("the clock may read timex", {"src/base/clock.c": "#include <sys/timex.h>\n"}, None),
    ("another file of base may not",
     {"src/base/file.c": "#include <sys/timex.h>\n"}, "only in wire, base/clock"),
    ("the own header comes second",
     {"src/base/a.c": '#include <stdio.h>\n#include "base/a.h"\n', "src/base/a.h": GUARDED},
     "must be included first"),
    ("the own header is forgotten",
     {"src/base/a.c": "int x;\n", "src/base/a.h": GUARDED}, "must be included first"),
    ("a header that needs another first",
     {"src/base/a.h": "#ifndef A\n#define A\nsize_t f(void);\n#endif\n"}, "compile alone"),
    ("a header without a guard", {"src/base/a.h": "struct a { int x; };\n"}, "compile alone"),
    ("an empty tree", {}, "no sources"),
]


def main():
    failed = 0
    check = os.path.join(ROOT, "tools", "check-arrows")
    for number, (name, files, wanted) in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as tree:
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
                with open(os.path.join(tree, path), "w", encoding="utf-8") as f:
                    f.write(text)
            run = subprocess.run([sys.executable, check, "--root", tree], capture_output=True,
                                 text=True)
        good = run.returncode == (0 if wanted is None else 1)
        good = good and (wanted is None or wanted in run.stdout)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print("".join(f"#   {line}\n" for line in (run.stdout + run.stderr).splitlines()))
    print(f"1..{len(CASES)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
