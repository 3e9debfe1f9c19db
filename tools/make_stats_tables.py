#!/usr/bin/env python3
"""Writes src/stats/tables.c: constants of ln, exp and atan, and the t quantiles.

    pip install mpmath==1.4.1 && tools/make_stats_tables.py > src/stats/tables.c

Everything is computed with mpmath at 60 digits and rounded once to the nearest double. The t
quantiles solve I(df/(df+t^2); df/2, 1/2) = 2(1-p) for t (regularized incomplete beta function).
"""
import mpmath as mp

mp.mp.dps = 60
DF_MAX = 999


def hexf(x):
    return float(x).hex()


def pair(x):
    hi = float(x)
    return hi, float(x - mp.mpf(hi))


def cut(x, bits):
    """x with only its leading `bits` bits kept."""
    m, e = mp.frexp(x)
    return mp.ldexp(mp.floor(mp.ldexp(m, bits)), e - bits)


def t_quantile(p, df):
    tail = 2 * (1 - mp.mpf(p))

    def excess(t):
        return mp.betainc(mp.mpf(df) / 2, mp.mpf(1) / 2, 0, df / (df + t * t), regularized=True) - tail

    z = mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1)
    if df == 1:
        return mp.tan(mp.pi * (mp.mpf(p) - mp.mpf(1) / 2))
    # Two terms of the Cornish-Fisher expansion are close enough for the secant method.
    guess = z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df * df)
    return mp.findroot(excess, (guess, guess * mp.mpf("1.001")), tol=mp.mpf(10) ** -45)


def array(name, values, per_line=4, text=hexf):
    print("const double %s[] = {" % name)
    for i in range(0, len(values), per_line):
        print("    " + ", ".join(text(v) for v in values[i : i + per_line]) + ",")
    print("};\n")


def pairs(name, values):
    print("const double %s[][2] = {" % name)
    for v in values:
        hi, lo = pair(v)
        print("    {%s, %s}," % (hi.hex(), lo.hex()))
    print("};\n")


def constants(name, x, bits):
    hi = cut(x, bits)
    print("const double %s_hi = %s, %s_lo = %s;\n" % (name, hexf(hi), name, hexf(x - hi)))


def main():
    print("/* Made by tools/make_stats_tables.py; do not edit. */")
    print('#include "stats/tables.h"\n')
    print("/* Few enough bits above that a product with a small integer is exact. */")
    constants("stats_ln2", mp.log(2), 40)
    constants("stats_ln2_32", mp.log(2) / 32, 34)
    print("/* 2^(j/32), rounded, and what rounding left. */")
    pairs("stats_exp2_32", [mp.power(2, mp.mpf(j) / 32) for j in range(32)])
    print("/* atan(j/16) likewise. */")
    pairs("stats_atan_16", [mp.atan(mp.mpf(j) / 16) for j in range(17)])
    for p, name in (("0.80", "80"), ("0.95", "95"), ("0.975", "975")):
        print("/* t(%s, df) for df = 1 ... %d. */" % (p, DF_MAX))
        array("stats_t%s" % name, [t_quantile(p, df) for df in range(1, DF_MAX + 1)], 4,
              lambda v: repr(float(v)))


main()
