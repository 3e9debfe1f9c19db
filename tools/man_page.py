#!/usr/bin/env python3
"""A man page from scdoc source (standard input), tidied so that mandoc -Tlint has nothing to say.

usage: man_page.py SCDOC <page.scd >page.1

scdoc ends every block with an empty paragraph, keeps a paragraph in one line and the title in lower
case. Here a paragraph macro is left only where text follows, the blank line behind an indented block
stands behind its end, the title is in capitals, and text is filled to WIDTH columns.
"""
import re
import subprocess
import sys

WIDTH = 78
PARAGRAPHS = (".P", ".PP")


def filled(line):
    """The words of a text line in lines of their own; none may look like a request."""
    out, now = [], ""
    for word in re.split(r"(?<!\\) +", line):
        if now and len(now) + 1 + len(word) > WIDTH:
            out.append(now)
            now = ("\\&" if word[:1] in (".", "'") else "") + word
        else:
            now = f"{now} {word}" if now else word
    return out + [now]


def macro(line):
    return line.split(" ", 1)[0] if line.startswith(".") else None


def tidy(lines):
    out, literal, wanted = [], False, False
    for line in lines:
        name = macro(line)
        if literal or name == ".nf":
            if wanted and name == ".nf" and macro(out[-1]) not in (".SH", ".SS"):
                out.append(".PP")
            wanted = False
            literal = name != ".fi"
            out.append(line)
        elif name in PARAGRAPHS:
            wanted = True
        elif name in (".SH", ".SS"):
            out.append(line)
            wanted = False
        elif name == ".TH":
            words = line.split('"')
            words[1] = words[1].upper()
            out.append('"'.join(words))
            wanted = False
        elif name is not None or line.startswith("'"):
            out.append(line) # .RS, .RE: a paragraph that is wanted goes behind them
        else:
            if wanted and out and macro(out[-1]) not in (".SH", ".SS", ".RS"):
                out.append(".PP")
            wanted = False
            out += filled(line) if len(line) > 80 else [line]
    return out


def main():
    made = subprocess.run(sys.argv[1:2], stdin=sys.stdin, stdout=subprocess.PIPE, check=True)
    sys.stdout.write("\n".join(tidy(made.stdout.decode().splitlines())) + "\n")


if __name__ == "__main__":
    main()
