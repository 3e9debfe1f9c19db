#!/usr/bin/env python3
"""Computes the metrics of a run directory again, from its samples and the definitions alone.

    tests/metrics/recompute.py RUN        prints "N values of M bands agree", or what differs

Written from the definitions in docs/metrics.md, not from src/metrics: exact fractions, the
straightforward way, no limits. Every time is compared to the nanosecond, every other real to nine
digits. Standard library only.
"""
import gzip
import json
import math
import sys
from decimal import Decimal
from fractions import Fraction

INF = float("inf")
LEAST = {"p50": 1, "p90": 29, "p95": 59, "p99": 299}


def rank(values, percent):
    return sorted(values)[max(1, math.ceil(Fraction(len(values) * percent, 100))) - 1]


def statistics(values):
    """{name: Fraction, or None where it is null}"""
    if not values:
        return None
    out = {"n": len(values), "censored_n": sum(v == INF for v in values)}
    whole = out["censored_n"] == 0
    out["mean"] = Fraction(sum(values), len(values)) if whole else None
    out["min"] = min(values)
    out["max"] = max(values)
    for name, least in LEAST.items():
        out[name] = rank(values, int(name[1:])) if len(values) >= least else None
    return {k: None if v == INF else v for k, v in out.items()}


class Request:
    def __init__(self, s, kernel):
        self.s = s
        self.ok = s["outcome"] == "ok"
        self.sent = s.get("t_sent")
        self.arrivals = []  # [time, [events]]
        self.visible = None
        at = self.sent if self.sent is not None else -INF
        for e in s.get("events", []):
            text = len(e.get("text", "")) or e.get("text_bytes", 0)
            spoken = e["kind"] in ("text", "reasoning", "tool") and text > 0
            if not (spoken or e.get("ids") or e.get("logprob_n", 0) > 0):
                continue
            read = s["reads"][e["read"]]
            at = max(at, read.get("t_kernel", read["t_user"]) if kernel else read["t_user"])
            if not self.arrivals or self.arrivals[-1][0] != at:
                self.arrivals.append([at, []])
            self.arrivals[-1][1].append(e)
            if e["kind"] == "text" and text > 0 and self.visible is None:
                self.visible = at

    def tokens(self, way, count):
        if len(self.arrivals) == 1 and count is not None:
            return [count]
        out, before = [], 0
        for _, events in self.arrivals:
            n = 0
            for e in events:
                if way == "ids":
                    n += len(e.get("ids", []))
                elif way == "logprobs":
                    n += e.get("logprob_n", 0)
                elif way == "offsets":
                    n += e.get("retokenized", 0)
                elif way == "cumulative_usage":
                    n += e["usage"]["completion"] - before
                    before = e["usage"]["completion"]
            out.append(n)
        return out

    def count(self, source):
        return self.s.get("output_" + source, {}).get("total")


def per_token(requests):
    """TPOT, decode rates and the two multisets of ITL."""
    tpot, decode, upper, lower, gaps = [], [], [], [], 0
    for r, close in requests:
        times = [(t, k) for (t, _), k in zip(r.arrivals, r.k) if k > 0]
        if len(times) > 1:
            span, n = times[-1][0] - times[0][0], sum(r.k) - times[0][1]
            tpot.append(Fraction(span, n))
            decode.append(Fraction(n * 10**9, span))
        for (a, _), (b, k) in zip(times, times[1:]):
            if b >= close:
                continue
            gaps += b - a
            upper += [-(-(b - a) // j) for j in range(1, k + 1)]
            lower += [(b - a) // k] + [0] * (k - 1)
    return tpot, decode, upper, lower, gaps


def round_ns(v):
    return round(v) if isinstance(v, Fraction) else v  # halves to even


class Check:
    def __init__(self):
        self.values, self.wrong = 0, []

    def same(self, where, seen, want, exact):
        self.values += 1
        if want is None or seen is None:
            good = want is None and seen is None
        elif exact:
            good = Fraction(seen) == want
        else:
            good = abs(Fraction(seen) - want) <= abs(Fraction(want)) * Fraction(1, 10**8) / 2
        if not good:
            self.wrong.append("%s: says %s, computed again %s" % (where, seen, want))

    def times(self, where, seen, want):
        if seen is None or want is None:
            return self.same(where, seen, want, True)
        for name, v in want.items():
            if name in ("n", "censored_n"):
                self.same("%s.%s" % (where, name), seen[name], v, True)
            else:
                ms = None if v is None else Fraction(round_ns(v), 10**6)
                self.same("%s.%s" % (where, name), seen[name], ms, True)

    def real(self, where, seen, want):
        self.same(where, None if seen is None else seen["value"], want, False)


def band(check, b, samples, kernel, where):
    ns = lambda key: int(b[key] * 10**6)
    opened, close = ns("open_ms"), ns("close_ms")
    seconds = Fraction(close - opened, 10**9)
    source, way = b["tokens"]["output_count_source"], b["tokens"]["token_assignment"]
    everyone = [Request(s, kernel) for s in samples]
    window = [r for r in everyone if r.s["phase"] == "window"]
    ranked = [r for r in window if r.s["outcome"] != "cancelled" and "retry_of" not in r.s]
    good = [r for r in ranked if r.ok]
    m = b["metrics"]

    check.same(where + ".issued", b["counts"]["issued"], len(window), True)
    for outcome in ("ok", "failed", "timed_out", "truncated", "short", "cancelled"):
        n = sum(r.s["outcome"] == outcome for r in window)
        check.same(where + "." + outcome, b["counts"][outcome], n, True)
    check.same(where + ".warmup", b["counts"]["warmup"], len(everyone) - len(window), True)
    check.same(where + ".drained", b["counts"]["drained_n"],
               sum(r.s.get("t_end", -1) >= close for r in window), True)

    since = lambda r, t: t - r.sent if r.ok and t is not None else INF
    first = lambda r: r.arrivals[0][0] if r.arrivals else None
    last = lambda r: r.arrivals[-1][0] if r.arrivals else None
    check.times(where + ".ttft_ms", m["ttft_ms"], statistics([since(r, first(r)) for r in ranked]))
    check.times(where + ".ttfc_ms", m["ttfc_ms"], statistics([since(r, r.visible) for r in ranked]))
    check.times(where + ".e2e_ms", m["e2e_ms"], statistics([since(r, last(r)) for r in ranked]))
    chunk = [y[0] - x[0] for r in good for x, y in zip(r.arrivals, r.arrivals[1:]) if y[0] < close]
    check.times(where + ".chunk_gap_ms", m["chunk_gap_ms"], statistics(chunk))

    sums = lambda r: r.count(source) is not None and sum(r.k) == r.count(source)
    success = [r for r in everyone if r.ok and "retry_of" not in r.s]
    for r in success:
        r.k = r.tokens(way, r.count(source))
    assigned = all(sums(r) for r in success if r.arrivals)
    tpot, decode, upper, lower, gaps = per_token([(r, close) for r in good])
    bad = len(ranked) - len(good)
    if not assigned:
        for key in ("itl_ms", "tpot_ms", "decode_tok_s", "agg_tok_s", "peak_tok_s"):
            check.same(where + "." + key, m[key], None, True)
    else:
        tpot_ns = [round(v) for v in tpot] + [INF] * bad
        check.times(where + ".tpot_ms", m["tpot_ms"], statistics(tpot_ns))
        rate = rank([Fraction(0)] * bad + decode, 50) if decode or bad else None
        check.real(where + ".decode_tok_s", m["decode_tok_s"], rate or None)
        if upper:
            above, below = statistics(upper), statistics(lower)
            for name in ("min", "max") + tuple(LEAST):
                seen = m["itl_ms"][name]
                for k, v in ((0, below[name]), (1, above[name])):
                    check.same("%s.itl_ms.%s.%d" % (where, name, k), seen and seen[k],
                               None if v is None else Fraction(v, 10**6), True)
            check.same(where + ".itl_ms.n", m["itl_ms"]["n"], len(upper), True)
            mean = Fraction(round(Fraction(gaps, len(upper))), 10**6)
            check.same(where + ".itl_ms.mean", m["itl_ms"]["mean"], mean, True)
        inside = [(t, k) for r in success for (t, _), k in zip(r.arrivals, r.k)
                  if opened <= t < close]
        check.real(where + ".agg_tok_s", m["agg_tok_s"], sum(k for _, k in inside) / seconds)
        bins = {}
        for t, k in inside:
            bins[(t - opened) // 10**9] = bins.get((t - opened) // 10**9, 0) + k
        peak = Fraction(max(bins.values(), default=0)) if seconds.denominator == 1 else None
        check.real(where + ".peak_tok_s", m["peak_tok_s"], peak)
    ended = sum(opened <= r.s["t_end"] < close for r in success)
    check.real(where + ".completed_rps", m["completed_rps"], ended / seconds)
    rates = {"achieved_rps": [r.sent for r in window if r.sent is not None and "retry_of" not in r.s]}
    rates["planned_rps"] = [r.s["t_planned"] for r in window
                            if r.sent is not None and "retry_of" not in r.s]
    if b["counts"]["planned"] is None:
        check.same(where + ".planned_rps", m["planned_rps"], None, True)
        del rates["planned_rps"]
    for key, at in rates.items():
        span = max(at, default=0) - min(at, default=0)
        check.real(where + "." + key, m[key], Fraction((len(at) - 1) * 10**9, span) if span else None)
    if b["counts"]["planned"] is not None:
        unsent = b["counts"]["planned"] - len(window)
        check.same(where + ".unsent", b["counts"]["unsent"], unsent, True)
        for key, to in (("ttft_from_plan_ms", first), ("e2e_from_plan_ms", last)):
            late = [to(r) - r.s["t_planned"] if r.ok and to(r) is not None else INF for r in ranked]
            check.times(where + "." + key, m[key], statistics(late + [INF] * unsent))
    prefill = [Fraction(r.s["prefill_tokens"] * 10**9, r.s["prefill"]) for r in good
               if r.s.get("prefill_tokens", 0) > 0 and r.s.get("prefill", 0) > 0]
    check.real(where + ".prefill_tok_s", m["prefill_tok_s"], rank(prefill, 50) if prefill else None)

    for key in ("body", "rendered", "reported", "cached"):
        have = [r.s["prompt_" + key] for r in window if "prompt_" + key in r.s]
        seen = b["prompt_work"][key]
        want = have and {"n": len(have), "min": min(have), "median": rank(have, 50), "max": max(have)}
        check.values += 1
        if (seen or []) != want:
            check.wrong.append("%s.prompt_work.%s: says %s, computed again %s" % (where, key, seen, want))


def main():
    run = sys.argv[1]
    receipt = json.load(open(run + "/receipt.json"), parse_float=Decimal)
    kernel = receipt["protocol"].get("time_source") == "kernel"
    check = Check()
    for b in receipt["bands"]:
        with gzip.open("%s/%s" % (run, b["samples"]["file"]), "rt") as lines:
            samples = [json.loads(line) for line in lines]
        band(check, b, samples, kernel, "%s.c%d.r%d" % (b["lane"], b["band"], b["replicate"]))
    for line in check.wrong:
        print(line)
    print("%d of %d values of %d bands agree"
          % (check.values - len(check.wrong), check.values, len(receipt["bands"])))
    return len(check.wrong) > 0


sys.exit(main())
