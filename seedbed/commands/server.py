"""`seedbed server start|stop|status`."""

from __future__ import annotations

import argparse

from seedbed import server
from seedbed.cli import EXIT_FAILED, EXIT_OK


def run(arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "start":
            print(f"Prefect server: {server.start().ui}")
        case "stop":
            print("stopped" if server.stop() else "no server was running")
        case _:
            found = server.running()
            print(
                f"running: {found.ui} (pid {found.pid})"
                if found
                else "not running; start it with `seedbed server start`"
            )
            return EXIT_OK if found else EXIT_FAILED
    return EXIT_OK
