#!/usr/bin/env python3
"""Turns text files into C string constants.

usage: embed.py OUT.c HEADER NAME=FILE...

Each becomes `const char NAME[]`, which HEADER declares, ending in NUL: an array of numbers, since a compiler need not
take a string literal beyond 4,095 characters.
"""
import sys


PER_LINE = 24


def main():
    lines = ["/* Made by tools/embed.py; edit the sources instead. */", f'#include "{sys.argv[2]}"']
    for pair in sys.argv[3:]:
        name, path = pair.split("=", 1)
        with open(path, "rb") as f:
            data = f.read() + b"\0"
        numbers = [str(b if b < 128 else b - 256) for b in data]
        lines.append(f"const char {name}[] = {{")
        for at in range(0, len(numbers), PER_LINE):
            lines.append("    " + ", ".join(numbers[at:at + PER_LINE]) + ",")
        lines.append("};")
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


main()
