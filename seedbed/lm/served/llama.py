"""llama.cpp's server on one file of weights: `python -m seedbed.lm.served.llama WEIGHTS PORT [slots=2] [context=4096]
[threads=N]`. It runs until it is ended."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from typing import Any

from seedbed.sweep.model_config import LOCAL_SLOTS

# Its threads wait for each other in loops: with one a core, a busy machine brings it to a standstill.
_DEFAULTS = {"slots": LOCAL_SLOTS, "context": 4096, "threads": max(1, (os.cpu_count() or 1) // 2)}


def main(words: list[str]) -> None:
    # An extra, which may not be there when types are checked.
    llama: Any = importlib.import_module("xllamacpp")
    weights, port = words[:2]
    chosen = _DEFAULTS | {name: int(value) for name, _, value in (word.partition("=") for word in words[2:])}
    params = llama.CommonParams()
    params.model.path = weights
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_parallel = chosen["slots"]
    params.n_ctx = chosen["context"] * chosen["slots"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = chosen["threads"]
    params.endpoint_metrics = True  # its own count of tokens, at /metrics
    # With it a seeded answer depends on what was asked before.
    params.cache_prompt = False
    server = llama.Server(params)
    print(f"serving {weights} at {server.listening_address}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1:])
