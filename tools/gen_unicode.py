#!/usr/bin/env python3
"""Writes src/jinja/unicode_tables.inc from Python's own Unicode data.

    tools/gen_unicode.py > src/jinja/unicode_tables.inc

The template engine must agree with Python's str, so the tables come from Python itself: ranges
{first, last, step} for the classes, {first, last, step, delta} for simple case mappings, and
{from, {to...}} for mappings to several characters.
"""
import sys
import unicodedata

SKIP = range(0xD800, 0xE000)
ALL = [chr(c) for c in range(0x80, 0x110000) if c not in SKIP]


def ranges(points):
    """Ranges with step 1 or 2, greedily."""
    out = []
    for c in points:
        if out:
            lo, hi, step = out[-1]
            if lo == hi and c - hi in (1, 2):
                out[-1] = (lo, c, c - hi)
                continue
            if lo != hi and c - hi == step:
                out[-1] = (lo, c, step)
                continue
        out.append((c, c, 1))
    # a step-2 pair may have stolen the start of a dense run; pairs are cheap, so leave them
    return out


def emit(kind, name, rows):
    print(f"static const struct {kind} {name}[] = {{")
    line = "   "
    for row in rows:
        text = " {" + ", ".join(row) + "},"
        if len(line) + len(text) > 100:
            print(line)
            line = "   "
        line += text
    print(line)
    print("};\n")


def emit_class(name, test):
    rows = ranges([ord(c) for c in ALL if test(c)])
    emit("uni_range", name, [(f"0x{a:X}", f"0x{b:X}", str(s)) for a, b, s in rows])


def emit_map(name, pairs):
    out = []
    for c, to in pairs:
        d = to - c
        if out:
            lo, hi, step, delta = out[-1]
            if delta == d and ((lo == hi and c - hi in (1, 2)) or (lo != hi and c - hi == step)):
                out[-1] = (lo, c, c - hi, d)
                continue
        out.append((c, c, 1, d))
    emit("uni_delta", name, [(f"0x{a:X}", f"0x{b:X}", str(s), str(d)) for a, b, s, d in out])


def emit_case(name, fn, base):
    """Where fn differs from base: one-to-one mappings, then those to several characters."""
    simple, many = [], []
    for c in ALL:
        to = fn(c)
        if to == base(c):
            continue
        if len(to) == 1:
            simple.append((ord(c), ord(to)))
        else:
            many.append((ord(c), [ord(x) for x in to]))
    emit_map(name + "_simple", simple)
    rows = [(f"0x{c:X}", "{" + ", ".join(f"0x{x:X}" for x in to) + "}") for c, to in many]
    emit("uni_many", name + "_many", rows or [("0", "{0}")])


print("/* Made by tools/gen_unicode.py from Unicode " + unicodedata.unidata_version +
      "; ASCII is handled by code. */")
print("/* clang-format off */")
emit_class("alpha_ranges", str.isalpha)
emit_class("decimal_ranges", str.isdecimal)
emit_class("digit_ranges", lambda c: c.isdigit() and not c.isdecimal())
emit_class("numeric_ranges", lambda c: c.isnumeric() and not c.isdigit())
emit_class("unprintable_ranges", lambda c: not c.isprintable())
emit_class("lower_ranges", str.islower)
emit_class("upper_ranges", str.isupper)
emit_class("title_ranges", lambda c: unicodedata.category(c) == "Lt")
# Case_Ignorable, as the rule for a final sigma shows it: lower() looks through such characters.
emit_class("ignorable_ranges",
           lambda c: ("A" + c + "\u03a3").lower().endswith("\u03c2")
           and not ("A." + c + "\u03a3").lower() == ""
           and ("." + c + "\u03a3").lower().endswith("\u03c3"))
emit_case("upper", str.upper, lambda c: c)
emit_case("lower", str.lower, lambda c: c)
emit_case("title", str.title, str.upper)
emit_case("fold", str.casefold, str.lower)
print("/* clang-format on */")
sys.stdout.flush()
