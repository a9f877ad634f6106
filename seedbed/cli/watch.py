"""`seedbed watch`: a running sweep, seen from another terminal or machine."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from seedbed.cli.main import EXIT_OK
from seedbed.errors import UserError
from seedbed.storage.paths import as_root
from seedbed.storage.store import Store

_LOOK_S = 1.0
_GOING_ON = ("running", "starting")


def run(arguments: argparse.Namespace) -> int:
    """Look on until the run has ended or its process is gone."""
    from seedbed.local.board import Board, headline, troubles
    from seedbed.phases.context import read_run
    from seedbed.phases.standing import looking_at
    from seedbed.report.screen import folded, screen_width

    watched = read_run(_folder(arguments), plugins=False)
    print(f"{watched.plan.config.name}: {watched.folder}")
    with looking_at(watched) as look:
        if sys.stdout.isatty():
            from rich.live import Live

            board = Board(look)
            with Live(board, refresh_per_second=2, transient=True):
                # The board looks, at its own pace: a look at ten thousand cells takes a while.
                while board.going_on:
                    time.sleep(_LOOK_S)
        now = look()
    print(*(folded(line, screen_width()) for line in (headline(now), *troubles(now))), sep="\n")
    if now.status not in _GOING_ON:
        print(f"{now.status}; `seedbed report {now.sweep}` shows its results" if now.status != "stopped" else "stopped")
    return EXIT_OK


def _folder(arguments: argparse.Namespace) -> Path:
    store = Store(as_root(arguments.out))
    if arguments.sweep:
        return store.latest_sweep(arguments.sweep)
    names = store.sweeps()
    if not names:
        raise UserError(f"no sweep in {store.root} yet; start one with `seedbed run CONFIG`.")
    return max((store.latest_sweep(name) for name in names), key=lambda folder: folder.name)
