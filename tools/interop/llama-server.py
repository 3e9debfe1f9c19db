#!/usr/bin/env python3
"""Serves a GGUF with llama.cpp's own HTTP server (the xllamacpp wheel runs it in process).

usage: llama-server.py MODEL.gguf [--port N] [--slots N] [--ctx N]

Prints one line, the base URL, once /health answers; serves until SIGTERM or SIGINT.
"""
import argparse
import signal
import threading

import xllamacpp as xlc


def main():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--slots", type=int, default=4)
    p.add_argument("--ctx", type=int, default=8192)
    p.add_argument("--threads", type=int, default=1)
    a = p.parse_args()

    stop = threading.Event()
    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, lambda *_: stop.set())

    params = xlc.CommonParams()
    params.model.path = a.model
    params.hostnames = ["127.0.0.1"]
    params.port = a.port
    params.n_ctx = a.ctx
    params.n_parallel = a.slots
    params.cpuparams.n_threads = a.threads
    params.cpuparams_batch.n_threads = a.threads
    params.endpoint_slots = True
    params.endpoint_props = True
    params.endpoint_metrics = True
    params.warmup = False
    server = xlc.Server(params)
    print(server.listening_address, flush=True)
    stop.wait()


main()
