#!/usr/bin/env python3
"""A ten-message conversation rendered by us and by Jinja2, side by side in one run.

usage: beside.py BENCH [TEMPLATE.jinja...]

BENCH is the program of render.c. Both parse once; the best of several rounds counts. Without Jinja2
(python3-jinja2) only our own figures are shown. The goal is under 50 us a rendering.
"""
import datetime
import glob
import json
import os
import subprocess
import sys
import time

GOAL_US = 50.0
SHARED = os.environ.get("TALLY_SHARED", "")
SOME = ["Qwen-Qwen3-0.6B", "Qwen-Qwen2.5-7B-Instruct", "meta-llama-Llama-3.1-8B-Instruct",
        "openai-gpt-oss-120b", "deepseek-ai-DeepSeek-V3.1", "Kimi-K2-Instruct"]


def jinja2_environment():
    try:
        import jinja2.ext
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        return None
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[jinja2.ext.loopcontrols])
    env.filters["tojson"] = lambda x, **k: json.dumps(x, ensure_ascii=False, **k)
    env.globals["strftime_now"] = datetime.datetime(2026, 12, 1, 9, 30).strftime
    env.globals["raise_exception"] = lambda m: (_ for _ in ()).throw(ValueError(m))
    return env


def context():
    text = ("The quick brown fox jumps over the lazy dog, and then it does so once more for good "
            "measure.")
    roles = ["system"] + ["user" if i % 2 else "assistant" for i in range(1, 10)]
    return {"messages": [{"role": r, "content": text} for r in roles],
            "add_generation_prompt": True, "tools": None, "bos_token": "<s>"}


def time_jinja2(env, source):
    template, best, given = env.from_string(source), float("inf"), context()
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(100):
            text = template.render(**given)
        best = min(best, (time.perf_counter() - start) / 100)
    return best * 1e6, len(text.encode())


def main():
    bench, paths = sys.argv[1], sys.argv[2:]
    if not paths and SHARED:
        paths = [p for n in SOME for p in glob.glob(f"{SHARED}/vectors/templates/{n}.jinja")]
    done = subprocess.run([bench, *paths], capture_output=True, text=True, check=True)
    env = jinja2_environment()
    by_name = {os.path.basename(p): open(p, encoding="utf-8").read() for p in paths}
    print(f"{'template':45} {'tally us':>9} {'Jinja2 us':>10} {'times':>6}")
    slow = 0
    for line in done.stdout.splitlines()[1:]:
        name, ours, _, size = line.split("\t")
        source = by_name.get(name) or subprocess.run(
            [bench, "--source", name], capture_output=True, text=True, check=True).stdout
        theirs = times = "-"
        if env:
            took, theirs_size = time_jinja2(env, source)
            if theirs_size != int(size):
                sys.exit(f"{name}: {size} bytes here, {theirs_size} by Jinja2")
            theirs, times = f"{took:.1f}", f"{took / float(ours):.0f}"
        print(f"{name:45} {float(ours):9.2f} {theirs:>10} {times:>6}")
        slow += float(ours) > GOAL_US
    print(f"goal of {GOAL_US:.0f} us a rendering: {'missed by %d' % slow if slow else 'met'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
