#!/usr/bin/env python3
"""Prints the expected values that stand in tests/stats/test_*.c.

    pip install scipy==1.17.1 mpmath==1.4.1 && tests/stats/reference.py

ln, exp and atan come from mpmath at 40 digits, t and its tails from SciPy, Holm from the definition,
and the bootstrap from an implementation of its own in plain Python, written from the published
algorithms (xoshiro256**, splitmix64, Lemire's bounded draw, FNV-1a) and not from our C.
"""
import math
import mpmath as mp
from scipy import stats

mp.mp.dps = 40
M = (1 << 64) - 1


def fnv1a(text):
    h = 0xCBF29CE484222325
    for b in text.encode():
        h = ((h ^ b) * 0x100000001B3) & M
    return h


class Xoshiro:
    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & M
            z = seed
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M
            self.s.append(z ^ (z >> 31))

    def next(self):
        s = self.s
        rot = lambda x, k: ((x << k) | (x >> (64 - k))) & M
        out = (rot((s[1] * 5) & M, 7) * 9) & M
        t = (s[1] << 17) & M
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rot(s[3], 45)
        return out

    def below(self, n):
        threshold = (1 << 32) % n
        while True:
            m = (self.next() >> 32) * n
            if (m & 0xFFFFFFFF) >= threshold:
                return m >> 32


    def unit(self):
        return (self.next() >> 11) * 2.0**-53

    def exponential(self):
        return -math.log(1 - self.unit())

    def normal(self):  # Marsaglia's polar method
        while True:
            u, v = 2 * self.unit() - 1, 2 * self.unit() - 1
            q = u * u + v * v
            if 0 < q < 1:
                return u * math.sqrt(-2 * math.log(q) / q)

    def gamma(self, shape):  # Marsaglia and Tsang 2000
        if shape < 1:
            return self.gamma(shape + 1) * math.exp(math.log(1 - self.unit()) / shape)
        d = shape - 1.0 / 3
        c = 1 / math.sqrt(9 * d)
        while True:
            x = self.normal()
            v = (1 + c * x) ** 3
            if v > 0 and math.log(1 - self.unit()) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v


def arrivals(gap, rate, n):
    """Offsets in ns of the first n requests whose gaps have mean 1 before the rate."""
    at, out = 0.0, []
    for _ in range(n):
        at += gap() * 1000 / (rate * 1000)
        out.append(int(at * 1e9))
    return out


def nearest_rank_median(values):
    v = sorted(values)
    return v[math.ceil(len(v) / 2) - 1]


def bootstrap(strata, resamples=10000, low=250, high=9750):
    gens = [Xoshiro(fnv1a(seed)) for _, seed in strata]
    medians = []
    for _ in range(resamples):
        pooled = []
        for (values, _), g in zip(strata, gens):
            pooled += [values[g.below(len(values))] for _ in values]
        medians.append(nearest_rank_median(pooled))
    medians.sort()
    pooled = [x for values, _ in strata for x in values]
    return nearest_rank_median(pooled), medians[low - 1], medians[high - 1]


def main():
    for x in (2.0, 10.0, 0.1, 1.0000000001, 1e300, 5e-324, 0.75, 1.5):
        print("ln   %r -> %s" % (x, float(mp.log(mp.mpf(x))).hex()))
    for x in (1.0, -1.0, 0.001, 10.5, -700.25, 700.0, 1e-20):
        print("exp  %r -> %s" % (x, float(mp.exp(mp.mpf(x))).hex()))
    for x in (1.0, 0.03, 0.5, 3.0, 1e9):
        print("atan %r -> %s" % (x, float(mp.atan(mp.mpf(x))).hex()))
    for p in (0.8, 0.95, 0.975):
        print("t(%s)" % p, ["%.12g" % stats.t.ppf(p, df) for df in (1, 4, 5, 29, 999)])
    for t, df in ((0.5, 1), (2.015048372669157, 5), (-1.5, 4), (6.0, 7), (3.0, 999)):
        print("tail %r %d -> %.15g" % (t, df, stats.t.sf(t, df)))
    g = Xoshiro(fnv1a("2026/subject/c4/r1/ttft_ms"))
    print("draws", [g.below(10) for _ in range(12)], [g.below(3000000000) for _ in range(4)])
    seed = fnv1a("2026/arrivals/b2500/r1/window")
    print("poisson", arrivals(Xoshiro(seed).exponential, 2.5, 6))
    for shape in (0.5, 4.0):
        g = Xoshiro(seed)
        print("gamma", shape, arrivals(lambda: g.gamma(shape) / shape, 2.5, 6))
    a = [100 + (i * 7919) % 601 for i in range(37)]
    b = [150 + (i * 104729) % 499 for i in range(24)]
    print("bootstrap", bootstrap([(a, "a"), (b, "b")]), bootstrap([(a, "a")]))
    wide = [(i * 7919) % 100003 for i in range(1000)]
    print("ranks", bootstrap([(wide, "wide")], 20, 1, 20), bootstrap([(wide, "wide")], 20, 2, 19))
    print("interval", bootstrap([(a, "2026/subject/c4/r1/ttft_ms"), (b, "2026/subject/c4/r2/ttft_ms")]))
    x = [0.031, -0.012, 0.054, 0.022, 0.017, 0.040]
    n = len(x)
    mean = sum(x) / n
    s = math.sqrt(sum((v - mean) ** 2 for v in x) / (n - 1))
    e = s / math.sqrt(n)
    t95, t80 = stats.t.ppf(0.95, n - 1), stats.t.ppf(0.80, n - 1)
    one = stats.ttest_1samp(x, 0.0, alternative="less").pvalue
    print("paired mean %.15g s %.15g L %.15g U %.15g mde %.15g p %.12g p(.05) %.12g"
          % (mean, s, mean - t95 * e, mean + t95 * e, 1 - math.exp(-(t95 + t80) * e), one,
             stats.ttest_1samp(x, 0.05, alternative="less").pvalue))


main()
