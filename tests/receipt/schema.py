#!/usr/bin/env python3
"""Holds what the producer writes against schemas/, with an independent JSON Schema validator.

usage: schema.py WRITE_RUNS SOURCE

WRITE_RUNS is the program that writes run directories of every kind below $TMPDIR. The validator is
the Python package jsonschema (Debian: python3-jsonschema); where it cannot be had, every check is
skipped, saying so. Output is TAP.
"""
import copy
import gzip
import json
import os
import subprocess
import sys
import tempfile

write_runs, source = sys.argv[1], sys.argv[2]
try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("1..0 # SKIP no jsonschema of draft 2020-12: apt-get install python3-jsonschema")
    sys.exit(0)

number = 0
failed = False


def ok(passed, what, detail=""):
    global number, failed
    number += 1
    failed = failed or not passed
    print(f"{'ok' if passed else 'not ok'} {number} - {what}")
    if not passed:
        print(f"# {detail}")


def schema(name):
    with open(os.path.join(source, "schemas", name + ".schema.json"), encoding="utf-8") as f:
        text = json.load(f)
    Draft202012Validator.check_schema(text)
    ok(True, f"{name}.schema.json is a schema of draft 2020-12")
    return Draft202012Validator(text)


def first_error(validator, value):
    for error in validator.iter_errors(value):
        return f"{error.json_path}: {error.message[:300]}"
    return ""


def objects(value, path=()):
    """Every object of a document, with its path."""
    if isinstance(value, dict):
        yield path, value
        for k, v in value.items():
            yield from objects(v, path + (k,))
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from objects(v, path + (i,))


def at(value, path):
    for k in path:
        value = value[k]
    return value


# Objects whose members are not the schema's business.
FREE = ("reported", "wrapper", "unproduced_fields")


def strict(validator, value, what):
    """A schema that takes everything proves nothing: each object, with a member more and with each
    member less, must be refused."""
    loose = []
    for path, found in objects(value):
        if any(part in FREE for part in path):
            continue
        changed = copy.deepcopy(value)
        at(changed, path)["nobody_knows"] = 1
        if validator.is_valid(changed):
            loose.append(f"{path} takes a member that nobody knows")
        for name in found:
            changed = copy.deepcopy(value)
            del at(changed, path)[name]
            if validator.is_valid(changed):
                loose.append(f"{path} does not miss {name}")
    ok(not loose, f"{what}: every object of the schema is closed and whole", "; ".join(loose[:5]))


def trimmed(receipt):
    """One band, one lane, one pair are enough to try every object."""
    small = copy.deepcopy(receipt)
    for name in ("commands", "bands", "intervals", "pairs", "files", "refusals", "lanes"):
        small[name] = small[name][:1]
    return small


with tempfile.TemporaryDirectory() as tmp:
    env = dict(os.environ, TMPDIR=tmp)
    run = subprocess.run([write_runs], env=env, capture_output=True, text=True, check=False)
    ok(run.returncode == 0, "run directories of every kind were written", run.stderr)
    receipts, runs, samples = schema("receipt"), schema("run"), schema("sample")
    servers = schema("server")
    seen = server_seen = 0
    for name in sorted(os.listdir(tmp)):
        where = os.path.join(tmp, name)
        with open(os.path.join(where, "run.json"), encoding="utf-8") as f:
            error = first_error(runs, json.load(f))
        ok(not error, "run.json", error)
        path = os.path.join(where, "receipt.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                receipt = json.load(f)
            error = first_error(receipts, receipt)
            seen += 1
            ok(not error, f"receipt.json, {receipt['status']} {receipt['reason']}", error)
            if seen == 1:
                strict(receipts, trimmed(receipt), "receipt.json")
        for file in sorted(os.listdir(os.path.join(where, "server"))):
            with open(os.path.join(where, "server", file), encoding="utf-8") as f:
                document = json.load(f)
            error = first_error(servers, document)
            ok(not error, file, error)
            server_seen += 1
            if server_seen == 1:
                strict(servers, document, "what a server said")
        for file in sorted(os.listdir(os.path.join(where, "samples"))):
            with gzip.open(os.path.join(where, "samples", file), "rt", encoding="utf-8") as f:
                errors = [e for e in (first_error(samples, json.loads(line)) for line in f) if e]
            ok(not errors, file, errors[:1])
    ok(server_seen > 0, "what servers said was looked at")
    ok(seen >= 7, "at least seven receipts were looked at", str(seen))
print(f"1..{number}")
sys.exit(1 if failed else 0)
