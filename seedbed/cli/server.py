"""`seedbed server start|stop|status|env`."""

from __future__ import annotations

import argparse
import shlex

from seedbed.cli.main import EXIT_FAILED, EXIT_OK
from seedbed.local import server


def run(arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "start":
            print(f"Prefect server: {server.start().ui}")
        case "stop":
            print("stopped" if server.stop() else "no server was running")
        case "env":
            settings = {"PREFECT_API_URL": server.start().api, "PREFECT_API_AUTH_STRING": server.auth_string()}
            print("\n".join(f"export {name}={shlex.quote(value)}" for name, value in settings.items()))
        case _:
            found = server.running()
            print(
                f"running: {found.ui} (pid {found.pid})"
                if found
                else "not running; start it with `seedbed server start`"
            )
            return EXIT_OK if found else EXIT_FAILED
    return EXIT_OK
