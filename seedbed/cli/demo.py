"""`seedbed demo`: all suites in a small size, offline, from the config that ships with Seedbed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import seedbed
from seedbed.cli.run import run as run_sweep
from seedbed.errors import UserError


def run(arguments: argparse.Namespace) -> int:
    arguments.config = str(_demo())
    return run_sweep(arguments)


def _demo() -> Path:
    """In a checkout its own, else the one that was installed."""
    checkout = Path(seedbed.__file__).resolve().parent.parent / "configs" / "demo.yaml"
    shipped = Path(sys.prefix) / "share" / "seedbed" / "configs" / "demo.yaml"
    for path in (checkout, shipped):
        if path.exists():
            return path
    raise UserError(f"configs/demo.yaml was not found at {shipped}; install Seedbed anew.")
