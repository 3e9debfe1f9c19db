#!/usr/bin/env python3
"""What keeps a run from being evidence, and what is kept of it: end to end against tally-sim.

usage: validity.py          (TALLY_BUILD and TALLY_SOURCE name the build and the source tree)

Beside end_to_end.py, whose servers and checks it uses. Output is TAP.
"""
import sys

import end_to_end as e2e
from end_to_end import Server, check, receipt, run


def test_slow_client():
    """Wire case 28: a client that burns 4 ms before every read, of four streams that each bring a
    token every 10 ms or so."""
    with Server("--profile", "llama-server", "--decode-base", "10ms") as a:
        code, out, _ = run("slow", "--lane", a.url, "--bands", "4", "--replicates", "1",
                           "--requests", "8", "--max-tokens", "16", "--burn", "4ms")
    r = receipt("slow")
    check("a client slowed on purpose: exit code", code, 4)
    check("it is refused as saturated, by the run and by the band",
          [(x["status"], x["reason"]) for x in (r, r["bands"][0])],
          [("REFUSED", "client_saturated")] * 2)
    validity = r["bands"][0]["validity"]
    check("the verdict names what was late",
          (validity["client"], "read_lag" in validity["saturated"]), ("saturated", True))
    check("what to change is said", "remedy: " in out and "client_saturated" in out, True)
    code, out, _ = e2e.tally("run", "--help")
    check("the option for that is in no help", (code, "--quiet" in out, "--burn" in out),
          (0, True, False))
    check("what it was slowed by stands in the receipt's command line",
          "--burn" in r["client"]["command_line"], True)


def main():
    return e2e.main((test_slow_client,))


if __name__ == "__main__":
    sys.exit(main())
